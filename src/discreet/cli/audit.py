"""``discreet audit``: the independent check of published files, also for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options, output, relational
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
    release: _Releases,
    *,
    table: options.ReleaseTable = None,
    columns: options.ColumnTexts,
    form: options.FileTexts,
    criteria: options.CriterionTexts,
    spec: _PublisherSpec = None,
    strictest: _Strictest = False,
    sql: _Sql = False,
    junit: _Junit = None,
    sarif: _Sarif = None,
) -> int:
    """Count published files or tables anew and check their criteria.

    Options that are not given come from the manifests. The exit status is 0 if every check of every file
    passes, 1 if one fails, and 2 if a file cannot be checked or nothing is required of it.
    """
    arguments: dict[str, Any] = {**columns.keywords(), **form.keywords(), **criteria.keywords()}
    single = {"table": table, "strictest": strictest, "sql": sql}
    records = {"junit": junit, "sarif": sarif}
    if len(release) > 1:
        message = "{} cannot be combined with several files; audit one of them at a time"
        options.refuse_given(single, message, advice="Leave out {}.")
    elif relational.is_relational_release(release[0]):
        return relational.audit_related(release[0], {**arguments, "spec": spec, **single, **records})
    arguments |= {"settings": options.parse_settings(), "reporter": TerminalReporter()}
    if sql:
        further = {"spec": spec, "strictest": strictest, **records}
        message = "{} cannot be combined with --sql, which checks no requirement"
        options.refuse_given(further, message, advice="Leave out {}, or --sql.")
        return _print_sql(release[0], table, arguments)
    arguments |= {"spec": spec, "strictest": strictest}
    if len(release) > 1 or junit or sarif:
        return _check_files(release, table, arguments, records)
    from discreet.verbs import audits

    result = audits.audit(release[0], table=table, **arguments)
    return _print_audit(result)


def _print_sql(release: str, table: str | None, arguments: dict[str, Any]) -> int:
    from discreet.verbs import audits

    statements = audits.audit_sql(release, table=table, **arguments)
    if output.prints_json():
        return output.print_result(statements)
    output.print_text(statements.script)
    return 0


def _check_files(
    releases: list[str],
    table: str | None,
    arguments: dict[str, Any],
    records: dict[str, Path | None],
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
        return _print_audit(file.audit)
    return output.print_result(found.in_cli_words(), found.status)


def _print_audit(result: AuditResult) -> int:
    """Print an audit and return its exit status; it checks something, or shows the strictest values."""
    output.print_result(result)
    if not result.passed:
        return AUDIT_FAILED
    if result.has_requirement or result.strictest:
        return 0
    TerminalReporter().notice("Nothing is required of this release. Give a criterion, such as --k 5.")
    return NOTHING_REQUIRED
