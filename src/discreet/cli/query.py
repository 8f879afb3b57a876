"""``discreet query``: aggregate answers of a release, with bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options, output
from discreet.cli.output import TerminalReporter
from discreet.errors import InputError

_Arguments = Annotated[
    list[str],
    typer.Argument(
        metavar="RELEASE… SQL",
        help="A release with its manifest, or several to compare; then one SELECT.",
    ),
]
_Spec = Annotated[
    Path | None,
    typer.Option("--spec", metavar="SPEC", help="A spec whose hierarchies define generalized labels."),
]
_Hierarchy = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="ATTRIBUTE=FILE",
        help="A public hierarchy, as CSV, that defines an attribute's labels; repeatable.",
    ),
]
_Explain = Annotated[
    bool, typer.Option("--explain", help="Print the rewritten SQL, which runs without discreet.")
]
_SqlDialect = Annotated[
    str | None,
    typer.Option(
        "--sql",
        metavar="{dialect_choices}",
        help="The dialect of the query, and of the rewritten one. [that of the release's engine]",
        show_default=False,
    ),
]
_Views = Annotated[
    bool, typer.Option("--views", help="Print statements that make views over a permuted release; no SQL.")
]
_ReleaseTable = Annotated[
    str | None,
    typer.Option("--release-table", metavar="NAME", help="The release's table in your database. [release]"),
]
_HelpTable = Annotated[
    str | None,
    typer.Option("--help-table", metavar="NAME", help="The help table's name there. [help]"),
]


def query(
    arguments: _Arguments,
    table: options.ReleaseTable = None,
    spec: _Spec = None,
    hierarchy: _Hierarchy = None,
    explain: _Explain = False,
    sql: _SqlDialect = None,
    views: _Views = False,
    release_table: _ReleaseTable = None,
    help_table: _HelpTable = None,
) -> int:
    """Query aggregates of a release: answers between guaranteed bounds.

    Conditions and GROUP BY are over quasi-identifiers; whatever is not supported is refused, with the reason.
    """
    from discreet.verbs import release_query

    settings, reporter = options.parse_settings(), TerminalReporter()
    if views:
        if len(arguments) != 1:
            raise InputError("--views with more than a release", allowed="discreet query RELEASE --views")
        script = release_query.views(
            arguments[0],
            table=table,
            dialect=sql,
            release_table=release_table,
            help_table=help_table,
            settings=settings,
        )
        return output.print_result(script)
    paths, text = _split_arguments(arguments)
    hierarchies = _parse_hierarchies(hierarchy or [])
    if len(paths) > 1:
        single = {"table": table, "explain": explain}
        options.refuse_given(single, "{} with several releases", allowed="{} with one release")
        compared = release_query.compare_query(
            paths, text, spec=spec, hierarchies=hierarchies, settings=settings, reporter=reporter
        )
        return output.print_result(compared)
    result = release_query.query(
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
    if explain and not output.prints_json():
        output.print_document(result.explanation())
        return 0
    return output.print_result(result)


def _split_arguments(arguments: list[str]) -> tuple[list[str], str]:
    """Split the arguments into the releases and the query, which is last."""
    if len(arguments) < 2:
        raise InputError("the query is empty", allowed='discreet query RELEASE "SELECT … FROM … WHERE …"')
    return arguments[:-1], arguments[-1]


def _parse_hierarchies(texts: list[str]) -> dict[str, Path]:
    """Parse ``ATTRIBUTE=FILE`` texts, split at the first ``=``."""
    result = {}
    for text in texts:
        name, sign, path = text.partition("=")
        if not (name and sign and path):
            raise InputError(f"--hierarchy {text}", allowed="ATTRIBUTE=FILE, such as --hierarchy age=age.csv")
        result[name] = Path(path)
    return result
