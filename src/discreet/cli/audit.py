"""``discreet audit``: the independent check of a published file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import declared_options, options, output, relational
from discreet.cli.output import TerminalReporter
from discreet.errors import InputError

AUDIT_FAILED = 1

_ReleasePath = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE",
        help="A CSV or Parquet file, a folder, or a database's address; ours or not.",
    ),
]
QuasiIdentifierOption = Annotated[
    list[str] | None,
    typer.Option("--quasi-identifier", metavar="C", help="A quasi-identifier; repeatable. [the manifest's]"),
]
SensitiveOption = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="C", help="A sensitive attribute; repeatable. [the manifest's]"),
]

PublisherSpecOption = Annotated[
    Path | None,
    typer.Option(
        "--spec",
        metavar="SPEC",
        help="The publisher's spec: the table and the population that criteria compare classes with.",
    ),
]
_Strictest = Annotated[
    bool,
    typer.Option(
        "--strictest", help="Also show the strictest value of every criterion that the file satisfies."
    ),
]
_Sql = Annotated[
    bool,
    typer.Option("--sql", help="Print SQL that checks each guarantee without discreet."),
]


def audit(
    context: typer.Context,
    release: _ReleasePath,
    table: options.ReleaseTable = None,
    quasi_identifier: QuasiIdentifierOption = None,
    sensitive: SensitiveOption = None,
    k: options.KOption = None,
    l: options.LOption = None,
    format_name: options.FileFormatOption = None,
    encoding: options.FileEncoding = None,
    delimiter: options.FileDelimiter = None,
    quote: options.FileQuote = None,
    null: options.NullTexts = None,
    spec: PublisherSpecOption = None,
    strictest: _Strictest = False,
    sql: _Sql = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Count a published file or table anew and check its criteria.

    Options that are not given come from its manifest. The exit status is 1 if the check fails.
    """
    from discreet.verbs import audits

    arguments: dict[str, Any] = {
        "table": table,
        "quasi_identifiers": quasi_identifier or None,
        "sensitive": sensitive or None,
        "k": options.parse_k(k),
        "l": options.parse_l(l),
        "criteria": declared_options.parse_criteria(context),
        "format": format_name,
        "encoding": encoding,
        "delimiter": delimiter,
        "quote": quote,
        "null_values": null or (),
        "settings": options.parse_settings(threads, memory_limit),
        "reporter": TerminalReporter(),
    }
    if relational.is_relational_release(release):
        single = {**arguments, "spec": spec, "strictest": strictest, "sql": sql}
        del single["settings"], single["reporter"]
        return relational.audit_related(release, single, json=json, limits=(threads, memory_limit))
    if sql:
        for option, is_set in (("--spec", spec is not None), ("--strictest", strictest)):
            if is_set:
                raise InputError(
                    f"{option} cannot be combined with --sql, which checks no requirement",
                    advice=f"Leave out {option}, or --sql.",
                )
        statements = audits.audit_sql(release, **arguments)
        output.print_json(statements.as_json()) if json else output.print_text(statements.script)
        return 0
    result = audits.audit(release, **arguments, spec=spec, strictest=strictest)
    if json:
        output.print_json(result.as_json())
    else:
        output.print_document(result.document())
    return 0 if result.passed else AUDIT_FAILED
