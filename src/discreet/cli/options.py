"""The options that several verbs share, each declared once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.progress import TerminalReporter
from discreet.errors import InputError
from discreet.model import option as option_values
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.model.criteria.base import Criterion
    from discreet.model.request import Request
    from discreet.verbs.table import Table

_REMEMBERED: ContextVar[dict[tuple[Path, str | None, str | None], Table] | None] = ContextVar(
    "remembered", default=None
)

SpecPath = Annotated[Path, typer.Argument(metavar="SPEC", help="The spec, such as discreet.toml.")]
K = Annotated[
    str | None,
    typer.Option("--k", metavar="N", help="Each class has at least N rows (subjects, where named)."),
]
L = Annotated[
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
Scope = Annotated[
    str | None,
    typer.Option(
        "--scope",
        metavar="above|global",
        help="Where relaxing the height looks: at the height asked and above, or everywhere. [above]",
    ),
]
ReleaseTable = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="SCHEMA.NAME",
        help="The release is this table; RELEASE is its database: {table_places}.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
Threads = Annotated[str | None, typer.Option("--threads", metavar="N", help="Worker threads. [every core]")]
MemoryLimit = Annotated[
    str | None,
    typer.Option("--memory-limit", metavar="SIZE", help="Memory to use at most, such as 4GB. [half of it]"),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]


def levels_of(option: str, texts: list[str] | None) -> dict[str, int]:
    """``ATTR=N`` texts as levels by attribute; ``InputError`` for another form."""
    return option_values.levels_of(option, texts or [])


def k_of(text: str | None) -> int | None:
    """``--k N`` as a number; ``InputError`` for anything else."""
    return None if text is None else option_values.whole_of("--k", text, "a whole number of at least 1")


def l_of(texts: list[str] | None) -> int | dict[str, int] | None:
    """``--l N`` as a number, ``--l ATTR=N`` as numbers by attribute; ``InputError`` for a mixture."""
    if not texts:
        return None
    if any("=" in text for text in texts):
        return levels_of("--l", texts)
    if len(texts) > 1:
        raise InputError(f"--l {' --l '.join(texts)}", allowed="one --l N, or --l ATTR=N once or more")
    return option_values.whole_of("--l", texts[0], "a whole number of at least 1, or ATTR=N")


def whole_of(option: str, text: str | None) -> int | None:
    """A whole number as an option gives it; ``InputError`` for anything else."""
    return None if text is None else option_values.whole_of(option, text)


def settings_of(threads: str | None, memory_limit: str | None) -> Settings:
    """Settings from the options, else from the environment."""
    number = None
    if threads is not None:
        number = option_values.whole_of("--threads", threads, "a whole number of at least 1")
    return Settings.from_environment(memory_limit=memory_limit, threads=number)


def opened(spec: Path, threads: str | None, memory_limit: str | None) -> Table:
    """The table of a spec, its progress shown on the terminal."""
    from discreet.verbs.opening import open as open_table

    remembered, key = _REMEMBERED.get(), (spec, threads, memory_limit)
    if remembered is not None and key in remembered:
        return remembered[key]
    table = open_table(spec, settings=settings_of(threads, memory_limit), reporter=TerminalReporter())
    if remembered is not None:
        remembered[key] = table
    return table


@contextmanager
def remembering_tables() -> Iterator[None]:
    """Within the context a spec that was opened is not opened, counted and evaluated again."""
    outer = _REMEMBERED.get()
    token = _REMEMBERED.set({} if outer is None else outer)
    try:
        yield
    finally:
        _REMEMBERED.reset(token)


def request_for(
    table: Table,
    k: str | None,
    l: list[str] | None,
    max_suppressed: str | None,
    max_level: list[str] | None,
    min_level: list[str] | None,
    criteria: Sequence[Criterion],
    scope: str | None,
) -> Request:
    """The request that the options ask, with the spec's ``[request]`` for those that were left out."""
    from discreet.results.requests import request_of

    return request_of(
        table.spec,
        k=k_of(k),
        l=l_of(l),
        max_suppressed=max_suppressed,
        max_level=levels_of("--max-level", max_level),
        min_level=levels_of("--min-level", min_level),
        scope=scope,
        criteria=criteria,
    )
