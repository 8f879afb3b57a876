"""``discreet.audit``: the independent check of a published file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import cast

from discreet.audit.release import audit_release
from discreet.audit.statements import check_statements
from discreet.engines.connect import connect
from discreet.engines.registry import engine_of
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport
from discreet.model.coded_warning import FEW_PEOPLE
from discreet.model.criteria.base import Criterion
from discreet.model.file_form import FileForm
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.places.address import path_of
from discreet.results.audit_result import AuditResult
from discreet.results.check_statements import CheckStatements
from discreet.settings import Settings
from discreet.spec.load import load_spec
from discreet.verbs.addresses import ReleasePlace, address_of
from discreet.verbs.class_warnings import release_people
from discreet.verbs.file_reading import release_read_so
from discreet.verbs.frame_audit import Audited, audit_frame, is_table
from discreet.verbs.interruption import interruptible
from discreet.verbs.opened_table import OpenedTable
from discreet.verbs.original import criteria_of_release, original_beside, spec_of
from discreet.verbs.releases import manifest_beside
from discreet.verbs.reporting import SILENT, Reporter


def audit(
    release: Audited,
    *,
    table: str | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    criteria: Sequence[Criterion] = (),
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    null_values: Sequence[str] = (),
    spec: str | Path | TableSpec | None = None,
    strictest: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> AuditResult:
    """Re-read a published file, folder, table or frame, count its classes by SQL of its own, and check them.

    ``criteria`` are further ones to check, each by the SQL that it brings.

    ``release`` is a path, the address of a database (``verbs.addresses``) with a ``table``, or a table in
    memory that ``discreet.open`` takes: an Arrow, pandas, polars or Spark table, a stream of record batches.
    Columns that are not given come from the manifest beside it, and the requirement too where nothing is
    asked; a table in memory has none, so ``quasi_identifiers`` names its columns.
    How a file of another program's is read (``format``, ``encoding``, ``delimiter``, ``quote``) is told from
    the file where it is not given; cells of one of ``null_values`` are NULL. ``spec`` is the publisher's: its
    table and population are counted for criteria that ask of them (``verbs.original``).
    ``strictest`` tells also, without a verdict, the strictest value of every criterion that the file meets
    (``strictest`` of the result): not by itself, as that groups the rows again for each criterion.
    ``InputError`` where the file cannot be read, or where nothing names its quasi-identifiers.
    """
    asked = Requirement.of(k, l, criteria)
    requirement = None if asked.is_empty and l is None else asked
    form = FileForm(format, encoding, delimiter, quote, tuple(null_values))
    limits = settings or Settings.from_environment()
    if is_table(release):
        report = audit_frame(
            release,
            form,
            requirement,
            table=table,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            spec=spec,
            strictest=strictest,
            settings=limits,
            reporter=reporter,
        )
        return AuditResult(report, asked.k)
    address = release_read_so(address_of(cast("ReleasePlace", release), table), form, reporter)
    with connect(limits, address.source()) as engine, interruptible(engine), ExitStack() as stack:
        wanted = criteria_of_release(address, engine) if requirement is None else requirement.criteria
        original = stack.enter_context(
            original_beside(spec, wanted, address, limits, reporter, all_known=strictest)
        )
        stack.enter_context(reporter.stage("Auditing"))
        report = audit_release(
            engine,
            address,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            requirement=requirement,
            population=original.people,
            known=original.known,
            strictest=strictest,
            real_values={} if spec is None else spec_of(spec).real_values,
        )
    if spec is not None:
        report = _with_people(report, address, spec, limits, reporter)
    return AuditResult(report, asked.k)


def _with_people(
    report: AuditReport,
    address: ReleaseAddress,
    spec: str | Path | TableSpec,
    settings: Settings,
    reporter: Reporter,
) -> AuditReport:
    """The report with the people of the classes by the publisher's table, where nothing says who they are."""
    if any(getattr(text, "code", None) == FEW_PEOPLE for text in report.warnings):
        return report
    known = spec if isinstance(spec, TableSpec) else load_spec(path_of(spec, "the path of a spec"), settings)
    table = OpenedTable(known, settings, reporter)
    told = release_people(table, manifest_beside(address, settings))
    return replace(report, warnings=(*told, *report.warnings))


def audit_sql(
    release: ReleasePlace,
    *,
    table: str | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    criteria: Sequence[Criterion] = (),
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    null_values: Sequence[str] = (),
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> CheckStatements:
    """The statements by which anybody checks a release with psql, DuckDB or Spark, without this program.

    What is asked, and how a file is read, is said as of ``audit``; here nothing is judged. Files are read by
    DuckDB's statements, tables by those of where they lie. ``InputError`` as of ``audit``, where nothing is
    required, for a file that is neither CSV or TSV in UTF-8 nor Parquet, and for an engine whose SQL is not
    written for people.
    """
    asked = Requirement.of(k, l, criteria)
    form = FileForm(format, encoding, delimiter, quote, tuple(null_values))
    return _statements(
        release_read_so(address_of(release, table), form, reporter),
        quasi_identifiers,
        sensitive,
        None if asked.is_empty else asked,
        settings,
        by_name=False,
    )


def statements_to_show(release: ReleasePlace, *, settings: Settings | None = None) -> CheckStatements:
    """The statements for what a manifest requires, to be handed over: files by name, and no cell in them.

    ``InputError`` as of ``audit_sql``; its text may name the path.
    """
    return _statements(address_of(release), None, None, None, settings, by_name=True).without_values


def _statements(
    address: ReleaseAddress,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    requirement: Requirement | None,
    settings: Settings | None,
    *,
    by_name: bool,
) -> CheckStatements:
    source = address.source()
    where = engine_of(None if source.path is not None else source)
    if not where.queried:
        raise InputError(
            f"no statements are written for {where.title}", allowed="files, and tables of PostgreSQL or Spark"
        )
    with connect(settings or Settings.from_environment(), source) as engine, interruptible(engine):
        found = check_statements(
            engine,
            address,
            where.read_as,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            requirement=requirement,
            by_name=by_name,
        )
    return CheckStatements(found, where.name)
