"""``discreet.audit``: independent count of a published file, table or frame, and its SQL.

Most criteria are computed from the release only. ``AuditReference`` reads the original only for criteria that
compare a release with the population or with the original distribution.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, Unpack, cast

from discreet.audit.criterion_checks import GeneralizedPopulation
from discreet.audit.portable_statements import build_check_statements
from discreet.audit.release_audit import ManifestClaims, audit_release, audit_rows, read_claims
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
from discreet.results.request_defaults import CriterionKeywords, with_keywords
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.verbs.class_warnings import release_people_warnings
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.release_facts import read_manifest_if_present
from discreet.verbs.run_context import SILENT, Reporter, interruptible_engine
from discreet.verbs.source_reading import FileKeywords, infer_release_form, parse_file_options
from discreet.verbs.table_context import TableContext


@dataclass(frozen=True, eq=False)
class AuditReference:
    """Original data of criteria: the population by the release's labels, and sensitive attributes by name."""

    people: GeneralizedPopulation | None = None
    known: Mapping[str, SensitiveAttribute] = field(default_factory=dict)


def read_required_criteria(address: ReleaseAddress, engine: Engine) -> tuple[Criterion, ...]:
    """Return the criteria other than k and l that a release's manifest requires; empty without a manifest.

    Raises ``InputError`` if the manifest cannot be read.
    """
    if not has_manifest(address, engine):
        return ()
    required = read_manifest(address, engine).requirement
    return criteria_from({name: value for name, value in required.items() if name in CRITERIA and value})


def resolve_spec(spec: str | Path | TableSpec, settings: Settings | None = None) -> TableSpec:
    """Load a spec that is given as a path; return any other spec unchanged."""
    return (
        spec if isinstance(spec, TableSpec) else load_spec(parse_path(spec, "the path of a spec"), settings)
    )


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
    """Read the data that criteria need from the table of a spec, for the duration of the context.

    Nothing is counted if no criterion needs the original; with ``all_known``, everything that the spec
    provides is counted. Levels come from the release's manifest; suppressed rows are not excluded here.

    Raises ``InputError`` for a population criterion if the spec has no population, the release is in a
    database, or its manifest does not record every level.
    """
    if spec is None or not (all_known or any(criterion.needs_original for criterion in criteria)):
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
        known_population = all_known and address.path is not None and found.of_population is not None
        if known_population or any(criterion.of_population for criterion in criteria):
            people = _read_population(engine, found, counted, address, folder)
        known = {sets.attribute: sets.of for sets in counted.sensitive if sets.of is not None}
        yield AuditReference(people, known)


def _read_population(
    engine: Engine, spec: TableSpec, counted: FrequencySet, address: ReleaseAddress, folder: Path
) -> GeneralizedPopulation:
    """Generalize the spec's population to the release's levels, into a file for the audit's engine."""
    population_spec = spec.of_population
    if population_spec is None:
        raise InputError(
            f"{spec.label} has no population",
            advice="Give [population] with a path, or subset in [source].",
        )
    path = Path(folder, "population.parquet")
    with generalize_population(
        engine, population_spec, counted, _manifest_recoding(spec, address)
    ) as generalized:
        engine.write_file(generalized.unordered(), path, "parquet")
        columns = tuple(column.name for column in generalized.columns)
    return GeneralizedPopulation(SourceSpec(path=path, format="parquet"), columns, 0)


def _manifest_recoding(spec: TableSpec, address: ReleaseAddress) -> FullDomainRecoding:
    if address.path is None:
        raise InputError(f"a population with {address.label}", allowed="a release in a file or a folder")
    names = tuple(attribute.name for attribute in spec.require_quasi_identifiers())
    levels = read_manifest(address).levels
    lacking = [name for name in names if name not in levels]
    if lacking:
        raise InputError(
            f"the manifest of {address.label} records no level of '{lacking[0]}'",
            allowed="a full-domain release with all levels in its manifest",
        )
    return FullDomainRecoding(names, tuple(levels[name] for name in names), Requirement())


AuditInput: TypeAlias = ReleaseLocation | object
"""Release to audit: a path, an address, or a table in memory that ``discreet.open`` accepts."""

_TABLE_ATTRIBUTES = ("__arrow_c_stream__", "to_arrow", "schema", "columns")


def is_table(release: object) -> bool:
    """Return True if ``release`` is a table in memory, and not a path, an address or a release in a file.

    >>> is_table("release.csv"), is_table({"age": 3})
    (False, False)
    """
    if isinstance(release, str | os.PathLike | ReleaseAddress):
        return False
    return any(hasattr(type(release), name) or hasattr(release, name) for name in _TABLE_ATTRIBUTES)


class SqlAuditKeywords(CriterionKeywords, FileKeywords, total=False):
    """Keywords of audits: columns, criteria, the form of a file, and the process."""

    quasi_identifiers: Sequence[str] | None
    sensitive: Sequence[str] | None
    settings: Settings | None
    reporter: Reporter


class AuditKeywords(SqlAuditKeywords, total=False):
    """Keywords of audits that count: also the publisher's spec."""

    spec: str | Path | TableSpec | None
    strictest: bool


def _requirement(options: SqlAuditKeywords) -> Requirement:
    return Requirement.of(options.get("k"), options.get("l"), tuple(options.get("criteria", ())))


@with_keywords(AuditKeywords)
def audit(release: AuditInput, *, table: str | None = None, **options: Unpack[AuditKeywords]) -> AuditResult:
    """Audit a release: read the file, folder, table or frame again, and count its classes by separate SQL.

    ``release`` is a path, the address of a database (``verbs.locations``) with a ``table``, or a table in
    memory that ``discreet.open`` accepts: an Arrow, pandas, polars or Spark table, or a stream of record
    batches. Columns that are not given come from the manifest, and so does the requirement if no criterion is
    given; a table in memory has no manifest and needs ``quasi_identifiers``.

    ``criteria`` are criteria other than k and l; each provides the SQL that checks it. ``format``,
    ``encoding``, ``delimiter`` and ``quote`` describe a file of another program; those that are not given are
    detected. Cells equal to one of ``null_values`` are NULL. ``spec`` is the publisher's spec: its table and
    population are counted for criteria that need them. ``strictest`` also computes the strictest value of
    every criterion that the file satisfies, without a verdict (``strictest`` of the result); it is off by
    default, since it groups the rows again for each criterion.

    Raises ``InputError`` if the file cannot be read, or if its quasi-identifiers are unknown.

    >>> result = discreet.audit("release.csv", k=5)  # doctest: +SKIP
    >>> result.passed, result.k  # doctest: +SKIP
    """
    required, form = _requirement(options), parse_file_options(options)
    requirement = None if required.is_empty and options.get("l") is None else required
    settings = options.get("settings") or Settings.from_environment()
    reporter, spec, strictest = (
        options.get("reporter") or SILENT,
        options.get("spec"),
        options.get("strictest"),
    )
    frame = None
    if is_table(release):
        frame = _open_frame(release, form, table, has_columns=bool(options.get("quasi_identifiers")))
        address, source = ReleaseAddress(in_memory=True), frame.source
        requirement = requirement or (Requirement() if frame.claims is None else frame.claims.requirement)
    else:
        address = infer_release_form(address_of(cast("ReleaseLocation", release), table), form, reporter)
        source = address.source()
    with connect(settings, source) as engine, interruptible_engine(engine), ExitStack() as stack:
        wanted = read_required_criteria(address, engine) if requirement is None else requirement.criteria
        original = stack.enter_context(
            read_audit_reference(spec, wanted, address, settings, reporter, all_known=bool(strictest))
        )
        stack.enter_context(reporter.stage("Auditing"))
        arguments: dict[str, Any] = {
            "quasi_identifiers": options.get("quasi_identifiers"),
            "sensitive": options.get("sensitive"),
            "requirement": requirement,
            "population": original.people,
            "known": original.known,
            "strictest": bool(strictest),
            "real_values": {} if spec is None else resolve_spec(spec).real_values,
        }
        if frame is None:
            report = audit_release(engine, address, **arguments)
        else:
            report = audit_rows(engine, source, frame.claims, frame.manifest, **arguments)
    if spec is not None and frame is None:
        report = _add_people_warnings(report, address, spec, settings, reporter)
    return AuditResult(report, required.k)


@dataclass(frozen=True)
class _Frame:
    """Table in memory; a release that ``publish`` keeps in memory has a manifest with its claims."""

    source: SourceSpec
    manifest: dict[str, Any]
    claims: ManifestClaims | None


def _open_frame(data: Any, form: FileOptions, table: str | None, *, has_columns: bool) -> _Frame:
    """Return a table in memory; ``InputError`` for a table name or a form of a file, and without columns."""
    if table is not None or form != FileOptions(null_values=form.null_values):
        raise InputError(
            f"{MEMORY_LABEL} with {'a table name' if table is not None else 'a form of a file'}",
            allowed="quasi_identifiers, sensitive, null_values and criteria",
        )
    manifest = getattr(data, "manifest", None)
    if isinstance(manifest, Mapping) and callable(getattr(data, "to_arrow", None)):
        document = dict(manifest)
        claims = read_claims(ReleaseAddress(in_memory=True), document)
        return _Frame(SourceSpec(data=data.to_arrow(), null_values=form.null_values), document, claims)
    if not has_columns:
        raise InputError(
            f"{MEMORY_LABEL} has no manifest, and no quasi-identifier was given",
            advice="Give the columns that an attacker may know: quasi_identifiers=[…].",
        )
    return _Frame(SourceSpec(data=data, null_values=form.null_values), {}, None)


def _add_people_warnings(
    report: AuditReport,
    address: ReleaseAddress,
    spec: str | Path | TableSpec,
    settings: Settings,
    reporter: Reporter,
) -> AuditReport:
    """Add warnings about few people per class, from the publisher's table, unless the report has one."""
    if any(getattr(text, "code", None) == FEW_PEOPLE for text in report.warnings):
        return report
    table = TableContext(resolve_spec(spec, settings), settings, reporter)
    people_warnings = release_people_warnings(table, read_manifest_if_present(address, settings))
    return replace(report, warnings=(*people_warnings, *report.warnings))


@with_keywords(SqlAuditKeywords)
def audit_sql(
    release: ReleaseLocation, *, table: str | None = None, **options: Unpack[SqlAuditKeywords]
) -> CheckStatements:
    """Return SQL statements that check a release with psql, DuckDB or Spark, without this program.

    Arguments are those of ``audit``; nothing is checked here. Files are read by DuckDB's statements, tables
    by those of their own engine.

    Raises ``InputError`` as ``audit`` does, if nothing is required, for a file that is neither Parquet nor
    CSV or TSV in UTF-8, and for an engine without published SQL.

    >>> print(discreet.audit_sql("release.csv", k=5).script)  # doctest: +SKIP
    """
    required, reporter = _requirement(options), options.get("reporter") or SILENT
    return _make_statements(
        infer_release_form(address_of(release, table), parse_file_options(options), reporter),
        options.get("quasi_identifiers"),
        options.get("sensitive"),
        None if required.is_empty else required,
        options.get("settings"),
        by_name=False,
    )


def publishable_statements(release: ReleaseLocation, *, settings: Settings | None = None) -> CheckStatements:
    """Return statements for the manifest's requirement that may be handed over: file names only, no cell.

    Raises ``InputError`` as ``audit_sql`` does; its text may contain the path.
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
