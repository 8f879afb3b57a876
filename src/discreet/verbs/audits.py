"""``discreet.audit``: the independent count of a published file, table or frame, and its SQL.

Most criteria are judged from the release alone. ``AuditReference`` reads the original only for criteria
that compare with the population or with the original distribution.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from discreet.audit.criterion_checks import GeneralizedPopulation
from discreet.audit.portable_statements import build_check_statements
from discreet.audit.release_audit import audit_release, audit_rows, read_claims
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.process_resources import TemporaryFolder
from discreet.engines.registry import engine_of
from discreet.errors import InputError
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.audit_report import AuditReport
from discreet.model.coded_warnings import FEW_PEOPLE
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import CRITERIA, criteria_from
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.frequency_set import FrequencySet
from discreet.model.release_address import MEMORY_LABEL, FileOptions, ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.address import parse_path
from discreet.release.manifest import has_manifest, read_manifest
from discreet.release.publication_job import generalize_population
from discreet.results.audit_result import AuditResult, CheckStatements
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.verbs.class_warnings import release_people_warnings
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.release_facts import read_manifest_if_present
from discreet.verbs.run_context import SILENT, Reporter, interruptible_engine
from discreet.verbs.source_reading import infer_release_form
from discreet.verbs.table_context import TableContext


@dataclass(frozen=True, eq=False)
class AuditReference:
    """The ``people`` of the population as the release shows them, and sensitive attributes by name."""

    people: GeneralizedPopulation | None = None
    known: Mapping[str, SensitiveAttribute] = field(default_factory=dict)


def read_required_criteria(address: ReleaseAddress, engine: Engine) -> tuple[Criterion, ...]:
    """What a release's manifest requires beside k and l; nothing where there is none.

    ``InputError`` for a manifest that cannot be read.
    """
    if not has_manifest(address, engine):
        return ()
    required = read_manifest(address, engine).requirement
    return criteria_from({name: value for name, value in required.items() if name in CRITERIA and value})


def resolve_spec(spec: str | Path | TableSpec) -> TableSpec:
    """Load a spec where it is named by its path."""
    return spec if isinstance(spec, TableSpec) else load_spec(parse_path(spec, "the path of a spec"))


@contextmanager
def read_audit_reference(
    spec: str | Path | TableSpec | None,
    criteria: Sequence[Criterion],
    address: ReleaseAddress,
    settings: Settings,
    reporter: Reporter,
    *,
    all_known: bool = False,
) -> Iterator[AuditReference]:
    """What criteria ask of the table that a spec names, for as long as the context lasts.

    Nothing is counted for criteria that ask nothing; with ``all_known`` it is whatever the spec can tell.
    Levels are those of the release's manifest; what was suppressed is not told here. ``InputError`` for
    criteria of a population where the spec names none, the release lies in a database, or its manifest does
    not tell every level.
    """
    if spec is None or not (all_known or any(criterion.asks_original for criterion in criteria)):
        yield AuditReference()
        return
    found = resolve_spec(spec)
    with (
        TemporaryFolder() as folder,
        connect(settings, found.source) as engine,
        interruptible_engine(engine),
        reporter.stage("Counting the original"),
    ):
        counted = count_frequency_set(engine, found, settings)
        people = None
        told = all_known and address.path is not None and found.of_population is not None
        if told or any(criterion.of_population for criterion in criteria):
            people = _read_population(engine, found, counted, address, folder)
        known = {sets.attribute: sets.of for sets in counted.sensitive if sets.of is not None}
        yield AuditReference(people, known)


def _read_population(
    engine: Engine, spec: TableSpec, counted: FrequencySet, address: ReleaseAddress, folder: Path
) -> GeneralizedPopulation:
    """The spec's population by the release's levels, in a file that the audit's engine can read."""
    beside = spec.of_population
    if beside is None:
        raise InputError(
            f"{spec.label} names no population",
            advice="Give [population] with a path, or subset in [source].",
        )
    path = Path(folder, "population.parquet")
    with generalize_population(engine, beside, counted, _manifest_recoding(spec, address)) as shown:
        engine.write_file(shown.unordered(), path, "parquet")
        columns = tuple(column.name for column in shown.columns)
    return GeneralizedPopulation(SourceSpec(path=path, format="parquet"), columns, 0)


def _manifest_recoding(spec: TableSpec, address: ReleaseAddress) -> FullDomainRecoding:
    """The levels of a release, by its manifest."""
    if address.path is None:
        raise InputError(f"a population beside {address.label}", allowed="beside a file or a folder")
    names = tuple(attribute.name for attribute in spec.require_quasi_identifiers())
    levels = read_manifest(address).levels
    lacking = [name for name in names if name not in levels]
    if lacking:
        raise InputError(
            f"the manifest of {address.label} tells no level of '{lacking[0]}'",
            allowed="a release by levels, all of which its manifest tells",
        )
    return FullDomainRecoding(names, tuple(levels[name] for name in names), Requirement())


AuditInput: TypeAlias = ReleaseLocation | object
"""A release's path or address, or a table in memory: pandas, polars, Arrow, Spark, a stream of batches."""

_TABLE_ATTRIBUTES = ("__arrow_c_stream__", "to_arrow", "schema", "columns")


def is_table(release: object) -> bool:
    """Whether something is a table in memory, and no path, address or release in a file.

    >>> is_table("release.csv"), is_table({"age": 3})
    (False, False)
    """
    if isinstance(release, str | os.PathLike | ReleaseAddress):
        return False
    return any(hasattr(type(release), name) or hasattr(release, name) for name in _TABLE_ATTRIBUTES)


def audit_frame(
    data: Any,
    form: FileOptions,
    requirement: Requirement | None,
    *,
    table: str | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    spec: str | Path | TableSpec | None,
    strictest: bool,
    settings: Settings,
    reporter: Reporter,
) -> AuditReport:
    """Count the classes of a table in memory and judge a requirement.

    A frame has no manifest, so its quasi-identifiers are named; a release that ``publish`` keeps in memory
    brings its own. ``InputError`` where nothing names quasi-identifiers, and for a ``table`` or for what
    concerns files.
    """
    if table is not None or form != FileOptions(null_values=form.null_values):
        raise InputError(
            f"{MEMORY_LABEL} with {'a table name' if table is not None else 'a form of a file'}",
            allowed="quasi_identifiers, sensitive, null_values and what is required",
        )
    manifest = getattr(data, "manifest", None)
    document: dict[str, Any] = {}
    claims = None
    if isinstance(manifest, Mapping) and callable(getattr(data, "to_arrow", None)):
        document = dict(manifest)
        claims = read_claims(ReleaseAddress(in_memory=True), document)
        data = data.to_arrow()
        requirement = requirement or claims.requirement
    if not quasi_identifiers and claims is None:
        raise InputError(
            f"{MEMORY_LABEL} has no manifest, and no quasi-identifier was named",
            advice="Name the columns that an attacker may know: quasi_identifiers=[…].",
        )
    wanted = requirement or Requirement()
    source = SourceSpec(data=data, null_values=form.null_values)
    with connect(settings, source) as engine, interruptible_engine(engine), ExitStack() as stack:
        original = stack.enter_context(
            read_audit_reference(
                spec, wanted.criteria, ReleaseAddress(in_memory=True), settings, reporter, all_known=strictest
            )
        )
        stack.enter_context(reporter.stage("Auditing"))
        return audit_rows(
            engine,
            source,
            claims,
            document,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            requirement=wanted,
            population=original.people,
            known=original.known,
            strictest=strictest,
            real_values={} if spec is None else resolve_spec(spec).real_values,
        )


def audit(
    release: AuditInput,
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

    ``release`` is a path, the address of a database (``verbs.locations``) with a ``table``, or a table in
    memory that ``discreet.open`` takes: an Arrow, pandas, polars or Spark table, a stream of record batches.
    Columns that are not given come from the manifest beside it, and the requirement too where nothing is
    asked; a table in memory has none, so ``quasi_identifiers`` names its columns.
    How a file of another program's is read (``format``, ``encoding``, ``delimiter``, ``quote``) is told from
    the file where it is not given; cells of one of ``null_values`` are NULL. ``spec`` is the publisher's: its
    table and population are counted for criteria that ask of them (``verbs.audits``).
    ``strictest`` tells also, without a verdict, the strictest value of every criterion that the file meets
    (``strictest`` of the result): not by itself, as that groups the rows again for each criterion.
    ``InputError`` where the file cannot be read, or where nothing names its quasi-identifiers.
    """
    asked = Requirement.of(k, l, criteria)
    requirement = None if asked.is_empty and l is None else asked
    form = FileOptions(format, encoding, delimiter, quote, tuple(null_values))
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
    address = infer_release_form(address_of(cast("ReleaseLocation", release), table), form, reporter)
    with connect(limits, address.source()) as engine, interruptible_engine(engine), ExitStack() as stack:
        wanted = read_required_criteria(address, engine) if requirement is None else requirement.criteria
        original = stack.enter_context(
            read_audit_reference(spec, wanted, address, limits, reporter, all_known=strictest)
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
            real_values={} if spec is None else resolve_spec(spec).real_values,
        )
    if spec is not None:
        report = _add_people_warnings(report, address, spec, limits, reporter)
    return AuditResult(report, asked.k)


def _add_people_warnings(
    report: AuditReport,
    address: ReleaseAddress,
    spec: str | Path | TableSpec,
    settings: Settings,
    reporter: Reporter,
) -> AuditReport:
    """The report with the people of the classes by the publisher's table, where nothing says who they are."""
    if any(getattr(text, "code", None) == FEW_PEOPLE for text in report.warnings):
        return report
    known = (
        spec if isinstance(spec, TableSpec) else load_spec(parse_path(spec, "the path of a spec"), settings)
    )
    table = TableContext(known, settings, reporter)
    told = release_people_warnings(table, read_manifest_if_present(address, settings))
    return replace(report, warnings=(*told, *report.warnings))


def audit_sql(
    release: ReleaseLocation,
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
    form = FileOptions(format, encoding, delimiter, quote, tuple(null_values))
    return _make_statements(
        infer_release_form(address_of(release, table), form, reporter),
        quasi_identifiers,
        sensitive,
        None if asked.is_empty else asked,
        settings,
        by_name=False,
    )


def publishable_statements(release: ReleaseLocation, *, settings: Settings | None = None) -> CheckStatements:
    """The statements for what a manifest requires, to be handed over: files by name, and no cell in them.

    ``InputError`` as of ``audit_sql``; its text may name the path.
    """
    return _make_statements(address_of(release), None, None, None, settings, by_name=True).without_values


def _make_statements(
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
    with connect(settings or Settings.from_environment(), source) as engine, interruptible_engine(engine):
        found = build_check_statements(
            engine,
            address,
            where.read_as,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            requirement=requirement,
            by_name=by_name,
        )
    return CheckStatements(found, where.name)
