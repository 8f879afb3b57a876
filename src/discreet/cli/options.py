"""Options shared by several verbs, and their values: requests, files, settings, opened tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.output import TerminalReporter
from discreet.errors import InputError
from discreet.model import option as option_values
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.model.criteria.base import Criterion
    from discreet.model.request import Request
    from discreet.verbs.table import Table


_READING_PANEL = "How the file is read"

FileFormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="csv, tsv, parquet, jsonl, xlsx or sqlite. [its ending]",
        rich_help_panel=_READING_PANEL,
    ),
]
FileEncoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Such as latin-1, windows-1252 or utf-16. [detected from the file]",
        rich_help_panel=_READING_PANEL,
    ),
]
FileDelimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="C",
        help="Cell separator: a character, or comma, semicolon, tab, bar. [detected from the header]",
        rich_help_panel=_READING_PANEL,
    ),
]
FileQuote = Annotated[
    str | None,
    typer.Option(
        "--quote",
        metavar="C",
        help='Quote character, "" for none. [detected from the header]',
        rich_help_panel=_READING_PANEL,
    ),
]
NullTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--null",
        metavar="TEXT",
        help="A cell of this text is NULL; repeatable.",
        rich_help_panel=_READING_PANEL,
    ),
]
DecimalMark = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar=", | .",
        help="Decimal mark of numbers. [detected from each column]",
        rich_help_panel=_READING_PANEL,
    ),
]
StripBlanks = Annotated[
    bool,
    typer.Option("--strip", help="Strip blanks around texts.", rich_help_panel=_READING_PANEL),
]
NullPolicyOption = Annotated[
    str,
    typer.Option(
        "--nulls",
        metavar="value|drop",
        help="NULL is a separate value, or its row is dropped.",
        rich_help_panel=_READING_PANEL,
    ),
]
SubjectColumn = Annotated[
    str | None,
    typer.Option(
        "--subject",
        metavar="COLUMN",
        help="The column that names the person, where rows are visits, say: k counts people.",
        rich_help_panel=_READING_PANEL,
    ),
]


_REUSED_TABLES: ContextVar[dict[tuple[Path, str | None, str | None], Table] | None] = ContextVar(
    "remembered", default=None
)

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
ReleaseTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="SCHEMA.NAME",
        help="The release is this table; RELEASE is its database: {table_addresses}.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Threads = Annotated[str | None, typer.Option("--threads", metavar="N", help="Worker threads. [every core]")]
MemoryLimit = Annotated[
    str | None,
    typer.Option("--memory-limit", metavar="SIZE", help="Memory to use at most, such as 4GB. [half of it]"),
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


def parse_settings(threads: str | None, memory_limit: str | None) -> Settings:
    """Build settings from the options, else from the environment."""
    number = None
    if threads is not None:
        number = option_values.parse_whole_number("--threads", threads, "a whole number of at least 1")
    return Settings.from_environment(memory_limit=memory_limit, threads=number)


def open_table_of_spec(spec: Path, threads: str | None, memory_limit: str | None) -> Table:
    """Open the table of a spec and show progress on the terminal."""
    from discreet.verbs.table import open as open_table

    remembered, key = _REUSED_TABLES.get(), (spec, threads, memory_limit)
    if remembered is not None and key in remembered:
        return remembered[key]
    table = open_table(spec, settings=parse_settings(threads, memory_limit), reporter=TerminalReporter())
    if remembered is not None:
        remembered[key] = table
    return table


@contextmanager
def reuse_tables() -> Iterator[None]:
    """Reuse a table within the context, so that a spec is opened, counted and evaluated once."""
    outer = _REUSED_TABLES.get()
    token = _REUSED_TABLES.set({} if outer is None else outer)
    try:
        yield
    finally:
        _REUSED_TABLES.reset(token)


def parse_request(
    table: Table,
    k: str | None,
    l: list[str] | None,
    max_suppressed: str | None,
    max_level: list[str] | None,
    min_level: list[str] | None,
    criteria: Sequence[Criterion],
    scope: str | None,
) -> Request:
    """Build the request from the options; the spec's ``[request]`` fills in those that are not given."""
    from discreet.results.request_defaults import build_request

    return build_request(
        table.spec,
        k=parse_k(k),
        l=parse_l(l),
        max_suppressed=max_suppressed,
        max_level=parse_level_options("--max-level", max_level),
        min_level=parse_level_options("--min-level", min_level),
        scope=scope,
        criteria=criteria,
    )
