"""``discreet audit``: the independent check of published files, also for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declared_options, options, output, relational
from discreet.cli.output import TerminalReporter

if TYPE_CHECKING:
    from discreet.results.audit_result import AuditResult

AUDIT_FAILED = 1

NOTHING_REQUIRED = 2

_Releases = Annotated[
    list[str],
    typer.Argument(
        metavar="RELEASE…",
        help="CSV or Parquet files, folders, or a database's address; ours or not.",
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
_PublisherSpec = Annotated[
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
_Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write the results as JUnit XML.")
]
_Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write the results as SARIF 2.1.0.")
]


def audit(
    context: typer.Context,
    release: _Releases,
    table: options.ReleaseTable = None,
    quasi_identifier: _QuasiIdentifiers = None,
    sensitive: _Sensitive = None,
    k: options.KOption = None,
    l: options.LOption = None,
    format_name: options.FileFormatOption = None,
    encoding: options.FileEncoding = None,
    delimiter: options.FileDelimiter = None,
    quote: options.FileQuote = None,
    null: options.NullTexts = None,
    spec: _PublisherSpec = None,
    strictest: _Strictest = False,
    sql: _Sql = False,
    junit: _Junit = None,
    sarif: _Sarif = None,
    json: options.Json = False,
    threads: options.Threads = None,
    memory_limit: options.MemoryLimit = None,
) -> int:
    """Count published files or tables anew and check their criteria.

    Options that are not given come from the manifests. The exit status is 0 if every check of every file
    passes, 1 if one fails, and 2 if a file cannot be checked or nothing is required of it.
    """
    arguments: dict[str, Any] = {
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
    }
    single = {"table": table, "strictest": strictest, "sql": sql}
    records = {"junit": junit, "sarif": sarif}
    if len(release) > 1:
        relational.refuse_options(single, "several files; audit one of them at a time")
    elif relational.is_relational_release(release[0]):
        refused = {**arguments, "spec": spec, **single, **records}
        return relational.audit_related(release[0], refused, json=json, limits=(threads, memory_limit))
    arguments["settings"] = options.parse_settings(threads, memory_limit)
    arguments["reporter"] = TerminalReporter()
    if sql:
        further = {"spec": spec, "strictest": strictest, **records}
        relational.refuse_options(further, "--sql, which checks no requirement")
        return _print_sql(release[0], table, arguments, json=json)
    if len(release) > 1 or junit or sarif:
        return _check_files(
            release, table, {**arguments, "spec": spec, "strictest": strictest}, records, json=json
        )
    from discreet.verbs import audits

    result = audits.audit(release[0], table=table, **arguments, spec=spec, strictest=strictest)
    return _print_audit(result, json=json)


def _print_sql(release: str, table: str | None, arguments: dict[str, Any], *, json: bool) -> int:
    from discreet.verbs import audits

    statements = audits.audit_sql(release, table=table, **arguments)
    output.print_json(statements.as_json()) if json else output.print_text(statements.script)
    return 0


def _check_files(
    releases: list[str],
    table: str | None,
    arguments: dict[str, Any],
    records: dict[str, Path | None],
    *,
    json: bool,
) -> int:
    """Check each file and write the records; one file is printed as without records."""
    from discreet.verbs import release_check
    from discreet.verbs.locations import address_of

    files: list[Any] = releases if table is None else [address_of(releases[0], table)]
    found = release_check.check(files, **arguments, junit_to=records["junit"], sarif_to=records["sarif"])
    if len(files) == 1:
        (file,) = found.files
        if file.audit is None:
            assert file.error is not None
            raise file.error
        return _print_audit(file.audit, json=json)
    output.print_json(found.as_json()) if json else output.print_document(found.document(typed=True))
    return found.status


def _print_audit(result: AuditResult, *, json: bool) -> int:
    """Print an audit and return its exit status; it checks something, or shows the strictest values."""
    output.print_json(result.as_json()) if json else output.print_document(result.document())
    if not result.passed:
        return AUDIT_FAILED
    if result.has_requirement or result.strictest:
        return 0
    TerminalReporter().notice("Nothing is required of this release. Give a criterion, such as --k 5.")
    return NOTHING_REQUIRED
