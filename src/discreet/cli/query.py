"""``discreet query``: aggregate answers of a release, with bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.progress import TerminalReporter
from discreet.errors import InputError

Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="RELEASE… SQL",
        help="A release with its manifest, or several to compare; then one SELECT.",
    ),
]
Spec = Annotated[
    Path | None,
    typer.Option("--spec", metavar="SPEC", help="Whose hierarchies say what generalized labels stand for."),
]
Hierarchy = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="ATTRIBUTE=FILE",
        help="A public hierarchy, as CSV: what an attribute's labels stand for; repeatable.",
    ),
]
Explain = Annotated[bool, typer.Option("--explain", help="Print the rewritten SQL, which runs by itself.")]
SqlDialect = Annotated[
    str | None,
    typer.Option(
        "--sql",
        metavar="{dialects}",
        help="The dialect of the query, and of the rewritten one. [of where the release lies]",
        show_default=False,
    ),
]
Views = Annotated[
    bool, typer.Option("--views", help="Print statements that make views over a permuted release; no SQL.")
]
ReleaseTable = Annotated[
    str | None,
    typer.Option("--release-table", metavar="NAME", help="The release's table in your database. [release]"),
]
HelpTable = Annotated[
    str | None,
    typer.Option("--help-table", metavar="NAME", help="The help table's name there. [help]"),
]


def query(
    arguments: Arguments,
    table: options.ReleaseTable = None,
    spec: Spec = None,
    hierarchy: Hierarchy = None,
    explain: Explain = False,
    sql: SqlDialect = None,
    views: Views = False,
    release_table: ReleaseTable = None,
    help_table: HelpTable = None,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Ask a release for aggregates: answers between sure bounds.

    Conditions and GROUP BY are over quasi-identifiers; whatever is not supported is refused, with the reason.
    """
    from discreet.verbs import querying

    settings, reporter = options.settings_of(threads, memory_limit), TerminalReporter()
    if views:
        if len(arguments) != 1:
            raise InputError("--views with more than a release", allowed="discreet query RELEASE --views")
        script = querying.views(
            arguments[0],
            table=table,
            dialect=sql,
            release_table=release_table,
            help_table=help_table,
            settings=settings,
        )
        output.print_json(script.as_json()) if json else output.show(script.document())
        return 0
    paths, text = _asked(arguments)
    hierarchies = _hierarchies(hierarchy or [])
    if len(paths) > 1:
        if table is not None:
            raise InputError("--table with several releases", allowed="--table with one release")
        if explain:
            raise InputError("--explain with several releases", allowed="--explain with one release")
        compared = querying.compare_query(
            paths, text, spec=spec, hierarchies=hierarchies, settings=settings, reporter=reporter
        )
        output.print_json(compared.as_json()) if json else output.show(compared.document())
        return 0
    result = querying.query(
        paths[0],
        text,
        table=table,
        spec=spec,
        hierarchies=hierarchies,
        dialect=sql,
        release_table=release_table,
        help_table=help_table,
        settings=settings,
        reporter=reporter,
    )
    if json:
        output.print_json(result.as_json())
    else:
        output.show(result.explanation() if explain else result.document())
    return 0


def _asked(arguments: list[str]) -> tuple[list[str], str]:
    """The releases, and the query behind them."""
    if len(arguments) < 2:
        raise InputError("no query was asked", allowed='discreet query RELEASE "SELECT … FROM … WHERE …"')
    return arguments[:-1], arguments[-1]


def _hierarchies(texts: list[str]) -> dict[str, Path]:
    """``ATTRIBUTE=FILE`` texts, split at the first ``=``."""
    found = {}
    for text in texts:
        name, sign, path = text.partition("=")
        if not (name and sign and path):
            raise InputError(f"--hierarchy {text}", allowed="ATTRIBUTE=FILE, such as --hierarchy age=age.csv")
        found[name] = Path(path)
    return found
