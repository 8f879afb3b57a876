"""``discreet audit``: the independent check of a published file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import criterion_options, file_options, options, output, related_tables
from discreet.cli.progress import TerminalReporter
from discreet.errors import InputError

FAILED = 1

ReleasePath = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE",
        help="A CSV or Parquet file, a folder, or a database's address; ours or not.",
    ),
]
QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option("--quasi-identifier", metavar="C", help="A quasi-identifier; repeatable. [the manifest's]"),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="C", help="A sensitive attribute; repeatable. [the manifest's]"),
]

Spec = Annotated[
    Path | None,
    typer.Option(
        "--spec",
        metavar="SPEC",
        help="The publisher's spec: the table and the population that criteria compare classes with.",
    ),
]
Strictest = Annotated[
    bool,
    typer.Option("--strictest", help="Tell also the strictest value of every criterion that the file meets."),
]
Sql = Annotated[
    bool,
    typer.Option("--sql", help="Print the SQL by which anybody checks each guarantee without discreet."),
]


def audit(
    context: typer.Context,
    release: ReleasePath,
    table: options.ReleaseTable = None,
    quasi_identifier: QuasiIdentifiers = None,
    sensitive: Sensitive = None,
    k: options.K = None,
    l: options.L = None,
    format_name: file_options.Format = None,
    encoding: file_options.Encoding = None,
    delimiter: file_options.Delimiter = None,
    quote: file_options.Quote = None,
    null: file_options.Null = None,
    spec: Spec = None,
    strictest: Strictest = False,
    sql: Sql = False,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Count a published file or table anew and check its criteria.

    What is left out comes from its manifest. The exit status is 1 where the check fails.
    """
    from discreet.verbs import auditing

    asked: dict[str, Any] = {
        "table": table,
        "quasi_identifiers": quasi_identifier or None,
        "sensitive": sensitive or None,
        "k": options.k_of(k),
        "l": options.l_of(l),
        "criteria": criterion_options.asked(context),
        "format": format_name,
        "encoding": encoding,
        "delimiter": delimiter,
        "quote": quote,
        "null_values": null or (),
        "settings": options.settings_of(threads, memory_limit),
        "reporter": TerminalReporter(),
    }
    if related_tables.is_folder_of_tables(release):
        single = {**asked, "spec": spec, "strictest": strictest, "sql": sql}
        del single["settings"], single["reporter"]
        return related_tables.audit(release, single, json=json, limits=(threads, memory_limit))
    if sql:
        for option, given in (("--spec", spec is not None), ("--strictest", strictest)):
            if given:
                raise InputError(
                    f"{option} beside --sql, which judges nothing", advice=f"Leave out {option}, or --sql."
                )
        told = auditing.audit_sql(release, **asked)
        output.print_json(told.as_json()) if json else output.print_text(told.script)
        return 0
    result = auditing.audit(release, **asked, spec=spec, strictest=strictest)
    if json:
        output.print_json(result.as_json())
    else:
        output.show(result.document())
    return 0 if result.passed else FAILED
