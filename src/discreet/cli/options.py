"""Options shared by several verbs, and their values: requests, files, settings, opened tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from discreet.cli.command import LIMITS
from discreet.cli.output import TerminalReporter
from discreet.errors import InputError
from discreet.model import option as option_values
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.model.request import Request
    from discreet.verbs.table import Table


FileFormatOption = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="csv, tsv, parquet, jsonl, xlsx or sqlite. [its ending]"),
]
FileEncoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="NAME", help="Such as latin-1, windows-1252 or utf-16. [detected from the file]"
    ),
]
FileDelimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="C",
        help="Cell separator: a character, or comma, semicolon, tab, bar. [detected from the header]",
    ),
]
FileQuote = Annotated[
    str | None,
    typer.Option("--quote", metavar="C", help='Quote character, "" for none. [detected from the header]'),
]
NullTexts = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="TEXT", help="A cell of this text is NULL; repeatable."),
]
DecimalMark = Annotated[
    str | None,
    typer.Option("--decimal", metavar=", | .", help="Decimal mark of numbers. [detected from each column]"),
]
StripBlanks = Annotated[
    bool,
    typer.Option("--strip", help="Strip blanks around texts."),
]
NullPolicyOption = Annotated[
    str,
    typer.Option(
        "--null-policy", metavar="value|drop", help="NULL is a separate value, or its row is dropped."
    ),
]
SubjectColumn = Annotated[
    str | None,
    typer.Option(
        "--subject",
        metavar="COLUMN",
        help="The column that names the person, where rows are visits, say: k counts people.",
    ),
]
SpecPath = Annotated[Path, typer.Argument(metavar="SPEC", help="The spec, such as discreet.toml.")]
KOption = Annotated[
    str | None,
    typer.Option("--k", metavar="N", help="Each class has at least N rows (subjects, where named)."),
]
LOption = Annotated[
    list[str] | None,
    typer.Option(
        "--l",
        metavar="N|ATTR=N",
        help="Each class has at least N distinct values of each sensitive attribute, or of ATTR; repeatable.",
    ),
]
MaxSuppressed = Annotated[
    str | None,
    typer.Option(
        "--max-suppressed", metavar="N|P%", help="At most N rows, or P percent, are suppressed. [0]"
    ),
]
MaxLevel = Annotated[
    list[str] | None,
    typer.Option(
        "--max-level", metavar="ATTR=N", help="ATTR rises to level N at most; repeatable. [its top]"
    ),
]
MinLevel = Annotated[
    list[str] | None,
    typer.Option("--min-level", metavar="ATTR=N", help="ATTR rises to level N at least; repeatable. [0]"),
]
ScopeOption = Annotated[
    str | None,
    typer.Option(
        "--scope",
        metavar="above|global",
        help="Heights that a relaxation may use: the requested height and above, or all. [above]",
    ),
]
_QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option("--quasi-identifier", metavar="C", help="A quasi-identifier; repeatable. [the manifest's]"),
]
_Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="C", help="A sensitive attribute; repeatable. [the manifest's]"),
]
ReleaseTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="SCHEMA.NAME",
        help="The release is this table; RELEASE is its database: {table_addresses}.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]


def parse_level_options(option: str, texts: list[str] | None) -> dict[str, int]:
    """Parse ``ATTR=N`` texts as levels by attribute; ``InputError`` for another form."""
    return option_values.parse_levels(option, texts or [])


def parse_k(text: str | None) -> int | None:
    """Parse ``--k N``; ``InputError`` if it is not a whole number of at least 1."""
    return (
        None
        if text is None
        else option_values.parse_whole_number("--k", text, "a whole number of at least 1")
    )


def parse_l(texts: list[str] | None) -> int | dict[str, int] | None:
    """Parse ``--l N`` as a number, ``--l ATTR=N`` as numbers by attribute; ``InputError`` for a mixture."""
    if not texts:
        return None
    if any("=" in text for text in texts):
        return parse_level_options("--l", texts)
    if len(texts) > 1:
        raise InputError(f"--l {' --l '.join(texts)}", allowed="one --l N, or --l ATTR=N once or more")
    return option_values.parse_whole_number("--l", texts[0], "a whole number of at least 1, or ATTR=N")


def parse_whole_option(option: str, text: str | None) -> int | None:
    """Parse a whole number; ``InputError`` for anything else."""
    return None if text is None else option_values.parse_whole_number(option, text)


class CriterionTexts(NamedTuple):
    """Options of the criteria as typed; other criteria are declared options."""

    k: KOption
    l: LOption

    def keywords(self) -> dict[str, Any]:
        """Return the criteria as keywords of a verb; ``InputError`` for an invalid value."""
        from discreet.cli.declared_options import parse_criteria

        return {"k": parse_k(self.k), "l": parse_l(self.l), "criteria": parse_criteria()}


class RequestTexts(NamedTuple):
    """Options of a request as typed."""

    k: KOption
    l: LOption
    max_suppressed: MaxSuppressed
    max_level: MaxLevel
    min_level: MinLevel

    def keywords(self) -> dict[str, Any]:
        """Return the request as keywords of a verb; ``InputError`` for an invalid value."""
        return {
            **CriterionTexts(self.k, self.l).keywords(),
            "max_suppressed": self.max_suppressed,
            "max_level": parse_level_options("--max-level", self.max_level),
            "min_level": parse_level_options("--min-level", self.min_level),
        }


class ColumnTexts(NamedTuple):
    """Columns of a release."""

    quasi_identifier: _QuasiIdentifiers
    sensitive: _Sensitive

    def keywords(self) -> dict[str, Any]:
        """Return the columns as keywords of a verb."""
        return {"quasi_identifiers": self.quasi_identifier or None, "sensitive": self.sensitive or None}


class FileTexts(NamedTuple):
    """Form of a file of another program."""

    format_name: FileFormatOption
    encoding: FileEncoding
    delimiter: FileDelimiter
    quote: FileQuote
    null: NullTexts

    def keywords(self) -> dict[str, Any]:
        """Return the form as keywords of a verb."""
        format_name, encoding, delimiter, quote, null = self
        texts = {"format": format_name, "encoding": encoding, "delimiter": delimiter, "quote": quote}
        return {**texts, "null_values": null or ()}


def limit_words() -> list[str]:
    """Return the limits of the command line as options, for a verb that runs others."""
    pairs = zip(("--threads", "--memory-limit"), LIMITS.get(), strict=True)
    return [word for flag, text in pairs if text is not None for word in (flag, text)]


def parse_settings() -> Settings:
    """Build settings from the limits of the command line, else from the environment."""
    threads, memory_limit = LIMITS.get()
    number = None
    if threads is not None:
        number = option_values.parse_whole_number("--threads", threads, "a whole number of at least 1")
    return Settings.from_environment(memory_limit=memory_limit, threads=number)


_REUSED_TABLES: ContextVar[dict[Path, Table] | None] = ContextVar("remembered", default=None)


def open_table_of_spec(spec: Path) -> Table:
    """Open the table of a spec and show progress on the terminal."""
    from discreet.verbs.table import open as open_table

    remembered = _REUSED_TABLES.get()
    if remembered is not None and spec in remembered:
        return remembered[spec]
    table = open_table(spec, settings=parse_settings(), reporter=TerminalReporter())
    if remembered is not None:
        remembered[spec] = table
    return table


@contextmanager
def reuse_tables() -> Iterator[None]:
    """Reuse a table within the context, so that a spec is opened, counted and evaluated once."""
    token = _REUSED_TABLES.set({})
    try:
        yield
    finally:
        _REUSED_TABLES.reset(token)


def parse_request(table: Table, request: RequestTexts, scope: str | None) -> Request:
    """Build the request from the options; the spec's ``[request]`` fills in those that are not given."""
    from discreet.results.request_defaults import build_request

    return build_request(table.spec, **request.keywords(), scope=scope)


def refuse_given(
    arguments: Mapping[str, object], message: str, *, allowed: str | None = None, advice: str | None = None
) -> None:
    """Raise ``InputError`` for the first option that is given; its flag replaces ``{}`` in the texts."""
    for name, value in arguments.items():
        if value not in (None, False, "", [], ()):
            flag = f"--{name.replace('_', '-')}"
            # ``format`` would fail for braces in a path.
            texts = [None if text is None else text.replace("{}", flag) for text in (allowed, advice)]
            raise InputError(message.replace("{}", flag), allowed=texts[0], advice=texts[1])
