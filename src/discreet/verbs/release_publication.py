"""Publication of an answer, levels, a request's answer or a recoding, to a file, a database table or memory.

A table whose frequency set exceeds the memory limit is counted and recoded in its engine. Warnings report the
effect of suppression on survey weights. A release in memory is written, audited and read back like any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.attacks.linkage import OriginalTable
from discreet.attacks.population_risk import compute_lost_share, compute_share_shifts, read_survey
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.delivery import DATA
from discreet.engines.files import dataframes
from discreet.engines.process_resources import TemporaryFolder
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InputError, LimitReached
from discreet.lattice.evaluation import build_lattice
from discreet.model.audit_report import Release
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.coded_warnings import CodedWarning
from discreet.model.frequency_set import FrequencySet
from discreet.model.json_documents import parse_json
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import CLASS_RELEASE, ReleaseKind
from discreet.model.request import Request
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.places.protected_files import ProtectedFile
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    format_quantity,
    heading_line,
)
from discreet.release.file_delivery import check_table_target
from discreet.release.publication import publish_release
from discreet.release.publication_evidence import shifted_weights_warning, unknown_weights_warning
from discreet.results.answers import AnswerResult
from discreet.results.publish_result import (
    ReleaseIntersection,
    ReleaseResult,
    choose_answer,
    count_suppressed_rows,
    parse_relaxation,
    parse_suppression_policy,
    require_rows_left,
    require_within_limit,
    resolve_node,
)
from discreet.results.request_defaults import LevelsByAttribute
from discreet.results.table_lattice import TableLattice
from discreet.search.database_frequency_sets import DatabaseFrequencySets
from discreet.search.search_problem import FactTable, is_countable_in_database, table_lattice
from discreet.search.star_schema_loader import star_schema
from discreet.settings import Settings
from discreet.verbs.class_warnings import EXCEEDS_MEMORY, ClassParts, publish_warnings
from discreet.verbs.earlier_releases import (
    ClassAssignment,
    EarlierReleases,
    intersect_registered,
    list_uncounted_releases,
)
from discreet.verbs.locations import PublishTarget, ReleaseLocation
from discreet.verbs.output_checks import check_release_files
from discreet.verbs.table_context import TableContext

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from discreet.results.recoding_result import RecodingResult


@dataclass(frozen=True)
class StoredAnswer:
    """Answer for a star schema; it is valid as long as the context that created the schema."""

    engine: Engine
    facts: FactTable
    answer: AnswerResult


@contextmanager
def answer_stored_levels(
    table: TableContext, levels: LevelsByAttribute, request: Request
) -> Iterator[StoredAnswer]:
    """Yield given levels as an answer; one GROUP BY over the fact table counts the suppressed rows.

    Raises ``NoSolution`` if the levels suppress more rows than the limit, or all rows; ``LimitReached`` if
    the distinct values of a column exceed the memory limit.
    """
    with (
        table.engine("Counting in the engine") as engine,
        star_schema(engine, table.spec, table.settings) as facts,
    ):
        lattice = table_lattice(facts)
        node = resolve_node(lattice, levels, request.min_level)
        with TemporaryTables(engine) as tables:
            frequencies = DatabaseFrequencySets(
                facts, request.requirement, table.settings.memory_limit, tables
            )
            suppressed = frequencies.count(range(len(node)), node).suppressed()
        answer = require_within_limit(lattice, node, request, suppressed, facts.rows)
        yield StoredAnswer(engine, facts, require_rows_left(answer))


def weight_warnings(
    table: TableContext, counted: FrequencySet, classes_of: ClassAssignment
) -> tuple[CodedWarning, ...]:
    """Warn that weights are not recalibrated, if the spec names weights and rows are suppressed.

    ``classes_of`` returns the class of each row type in the release. Raises ``InputError`` if the column
    contains invalid weights.
    """
    column = table.spec.source.survey_weight
    if column is None:
        return ()
    original = OriginalTable(table.spec, counted)
    with table.engine("Adding up weights") as engine:
        survey = read_survey(engine, table.settings, original, column)
    try:
        retained = classes_of(EarlierReleases(counted)) != SUPPRESSED
    except InputError:  # rows of one type are split: the suppressed ones are unknown in advance
        return unknown_weight_warnings(table)
    lost = compute_lost_share(survey, retained)
    if not lost:
        return ()
    name, _, largest = max(compute_share_shifts(original, survey, retained), key=lambda moved: moved[2])
    return (shifted_weights_warning(column, lost, name, largest),)


def unknown_weight_warnings(table: TableContext) -> tuple[CodedWarning, ...]:
    """Warn about weights if their shift is unknown, as for a table that exceeds the memory limit."""
    column = table.spec.source.survey_weight
    return () if column is None else (unknown_weights_warning(column),)


@dataclass(frozen=True)
class _WriteOptions:
    """Options of writing: target, suppression policy, and the spec with the requested row order."""

    output: Path | ReleaseAddress
    policy: SuppressionPolicy
    spec: TableSpec
    overwrite: bool

    @classmethod
    def of(cls, table: TableContext, target: PublishTarget) -> _WriteOptions:
        """Return the options of a target; raise ``InputError`` for invalid ones."""
        spec = table.spec.with_order(target.row_order)
        return cls(target.output, parse_suppression_policy(target.suppressed_rows), spec, target.overwrite)


def check_publish_target(
    table: TableContext,
    target: PublishTarget,
    *,
    kind: ReleaseKind = CLASS_RELEASE,
    protected: Sequence[ProtectedFile] = (),
) -> None:
    """Check the target of a release before any row is counted: key files are written with the first read.

    ``kind`` determines the companion files of the release. ``protected`` are files of the model's options.
    Raises ``InputError`` if the release would replace a file of the publisher, or may not become a table of
    the database. Formats of files are checked when they are written, since they depend on the model.
    """
    output = target.output
    check_release_files(table.spec, table.settings, target, kind=kind, protected=protected)
    if isinstance(output, ReleaseAddress) and output.in_database:
        with table.engine("Checking the target") as engine:
            check_table_target(engine, table.spec, output, overwrite=target.overwrite)


def publish_answer(
    table: TableContext,
    answer: AnswerResult | None,
    target: PublishTarget,
) -> ReleaseResult:
    """Publish one answer of a negotiation; raise ``NoSolution`` without an answer, or if it leaves no row."""
    write_options = _WriteOptions.of(table, target)
    check_publish_target(table, target)
    found = require_rows_left(answer)
    return _write_answer(
        table, found, write_options, _require_safe_answer(table, target.previous_releases, found)
    )


def publish_levels(
    table: TableContext,
    levels: LevelsByAttribute,
    request: Request,
    target: PublishTarget,
) -> ReleaseResult:
    """Publish at given levels; the request contains k, l, the limit and the lowest levels.

    If the frequency set exceeds the memory limit, the table stays in its engine; ``LimitReached`` is raised
    if the engine cannot count every criterion. Raises ``NoSolution`` if the levels suppress more rows than
    the limit.
    """
    write_options = _WriteOptions.of(table, target)
    check_publish_target(table, target)
    requirement = request.requirement
    # The attempt to count decides between memory and the engine; earlier releases need the row types.
    try:
        frequency_set = table.counted_for(requirement)
    except LimitReached:
        if target.previous_releases or not is_countable_in_database(requirement):
            raise
        return _publish_stored(table, levels, request, write_options)
    lattice = build_lattice(frequency_set)
    node = resolve_node(lattice, levels, request.min_level)
    number = count_suppressed_rows(frequency_set, node, requirement)
    answer = require_rows_left(require_within_limit(lattice, node, request, number, frequency_set.rows))
    return _write_answer(
        table, answer, write_options, _require_safe_answer(table, target.previous_releases, answer)
    )


def publish_request(
    table: TableContext,
    request: Request,
    target: PublishTarget,
    *,
    accept_relaxation: str | None = None,
) -> ReleaseResult:
    """Publish a request's exact answer, or else the relaxation that ``accept_relaxation`` names.

    With ``previous_releases`` the exact answer is the lowest node within the request that is safe together
    with them. Raises ``NoSolution`` without an answer; nothing is written then.
    """
    write_options = _WriteOptions.of(table, target)
    relaxation = parse_relaxation(accept_relaxation, request.requirement)
    check_publish_target(table, target)
    table.count_values()
    lattice = table.negotiable_lattice_for(request.requirement)
    answer = require_rows_left(choose_answer(lattice.answer(request), relaxation))
    earlier = EarlierReleases.of(table, target.previous_releases, request.requirement)
    if earlier is not None:
        if relaxation is None and isinstance(lattice, TableLattice):
            answer = earlier.lowest(lattice, request)
        _require_safe_classes(earlier, answer)
    return _write_answer(table, answer, write_options, earlier)


def publish_recoding(
    table: TableContext,
    result: RecodingResult,
    target: PublishTarget,
) -> ReleaseResult:
    """Publish a recoding by classes; raise ``InputError`` if the output may not be written.

    Raises ``InternalError`` if a class fails when the recoding is applied; nothing is written then.
    """
    write_options = _WriteOptions.of(table, target)
    recoding = replace(result.recoding, suppression=write_options.policy)
    check_publish_target(table, target)
    earlier = EarlierReleases.of(table, target.previous_releases, recoding.requirement)
    if earlier is not None:
        earlier.require_safe(earlier.classes_of(recoding), recoding.requirement)
    counted = table.counted_for(recoding.requirement)
    parts, facts = ClassParts.of_recoding(counted, recoding), result.facts
    further = {"summary": facts.summary, "usefulness": facts.usefulness}
    classes_of: ClassAssignment = lambda one: one.classes_of(recoding)  # noqa: E731 - as its type
    release, intersections = _write(
        table, counted, recoding, parts, classes_of, write_options, earlier, further
    )
    return ReleaseResult(release, recoding=facts, intersections=intersections)


def _write(
    table: TableContext,
    counted: FrequencySet,
    recoding: FullDomainRecoding | ClassRecoding,
    parts: ClassParts,
    classes_of: ClassAssignment,
    write_options: _WriteOptions,
    earlier: EarlierReleases | None,
    further: Mapping[str, Any],
) -> tuple[Release, tuple[ReleaseIntersection, ...]]:
    """Write a recoding with the warnings about its classes, after counting the registered releases."""
    requirement, output = recoding.requirement, write_options.output
    intersections = intersect_registered(table, counted, output, requirement, classes_of)
    weights = weight_warnings(table, counted, classes_of)
    people = publish_warnings(table, parts, requirement)
    with table.engine("Writing and auditing") as engine:
        release = publish_release(
            engine,
            write_options.spec,
            counted,
            recoding,
            output,
            overwrite=write_options.overwrite,
            settings=table.settings,
            previous_releases=() if earlier is None else earlier.digests,
            further=(*people, *weights),
            **further,
        )
    return release, intersections


def _publish_stored(
    table: TableContext,
    levels: LevelsByAttribute,
    request: Request,
    write_options: _WriteOptions,
) -> ReleaseResult:
    """Publish at given levels from a star schema in the engine."""
    with answer_stored_levels(table, levels, request) as stored:
        answer = stored.answer
        release = publish_release(
            stored.engine,
            write_options.spec,
            stored.facts,
            _full_domain_recoding(answer, write_options.policy),
            write_options.output,
            overwrite=write_options.overwrite,
            settings=table.settings,
            expected_suppressed=answer.suppressed,
            further=(
                *publish_warnings(table, None, request.requirement, EXCEEDS_MEMORY),
                *unknown_weight_warnings(table),
            ),
        )
    return ReleaseResult(release, answer, intersections=list_uncounted_releases(table, write_options.output))


def _require_safe_answer(
    table: TableContext, previous_releases: Sequence[ReleaseLocation], answer: AnswerResult
) -> EarlierReleases | None:
    """Return the earlier releases; raise ``RequirementNotMet`` if the answer is unsafe with them."""
    earlier = EarlierReleases.of(table, previous_releases, answer.answer.requirement)
    if earlier is not None:
        _require_safe_classes(earlier, answer)
    return earlier


def _require_safe_classes(earlier: EarlierReleases, answer: AnswerResult) -> None:
    requirement = answer.answer.requirement
    earlier.require_safe(earlier.classes_at(answer.answer.node, requirement), requirement)


def _full_domain_recoding(answer: AnswerResult, policy: SuppressionPolicy) -> FullDomainRecoding:
    return FullDomainRecoding(
        answer.lattice.attributes, answer.answer.node, answer.answer.requirement, policy
    )


def _write_answer(
    table: TableContext,
    answer: AnswerResult,
    write_options: _WriteOptions,
    earlier: EarlierReleases | None,
) -> ReleaseResult:
    recoding = _full_domain_recoding(answer, write_options.policy)
    node, requirement = recoding.node, recoding.requirement
    counted = table.counted_for(requirement)
    parts = ClassParts.at_node(counted, node, requirement)
    classes_of: ClassAssignment = lambda one: one.classes_at(node, requirement)  # noqa: E731 - as its type
    further = {"expected_suppressed": answer.suppressed}
    release, intersections = _write(
        table, counted, recoding, parts, classes_of, write_options, earlier, further
    )
    return ReleaseResult(release, answer, intersections=intersections)


_MEMORY_FILE = "release.parquet"
_MAX_ROWS, _MAX_COLUMNS = 5, 12


@dataclass(frozen=True, repr=False)
class ReleasedTable(ReleaseResult):
    """Release in memory; ``to_pandas()``, ``to_polars()`` and ``to_arrow()`` return its table.

    The release was written and audited like every other, as Parquet in a private temporary folder that no
    longer exists; frames are read from the audited bytes. Rows have the release's own order, which is
    independent of the input's, and a pandas index counts them. ``manifest`` is the evidence, ``audit`` the
    result of the audit. A permuted release has several tables: ``parts`` names them.

    >>> table.publish(table.negotiate(k=5).exact).to_pandas()  # doctest: +SKIP
    """

    manifest: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    first_rows: tuple[tuple[str | None, ...], ...] = ()
    _parquet: Mapping[str, bytes] = field(default_factory=dict)

    def to_pandas(self, part: str = DATA) -> pandas.DataFrame:
        """Return the released rows as a new pandas frame.

        ``part`` is one of ``parts``. Whole numbers and booleans with NULLs have pandas' nullable types, and
        dates are ``datetime.date``. Raises ``InputError`` if pandas or pyarrow is not installed.

        >>> table.publish(table.negotiate(k=5).exact).to_pandas()  # doctest: +SKIP
        """
        return dataframes.to_pandas(self._bytes(part))

    def to_polars(self, part: str = DATA) -> polars.DataFrame:
        """Return the released rows as a new polars frame; raise ``InputError`` if polars is not installed.

        >>> table.publish(table.negotiate(k=5).exact).to_polars()  # doctest: +SKIP
        """
        return dataframes.to_polars(self._bytes(part))

    def to_arrow(self, part: str = DATA) -> pyarrow.Table:
        """Return the released rows as an Arrow table; raise ``InputError`` if pyarrow is not installed.

        >>> table.publish(table.negotiate(k=5).exact).to_arrow()  # doctest: +SKIP
        """
        return dataframes.to_arrow(self._bytes(part))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the released rows to Arrow readers: DuckDB, Ibis, polars and others."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def parts(self) -> tuple[str, ...]:
        """Tables of the release: ``data``, and for a permuted one ``help`` and possibly ``sensitive``."""
        return tuple(self._parquet)

    @property
    def address(self) -> ReleaseAddress:
        """Raise ``InputError``: a release in memory has no address, no path and no manifest file."""
        raise InputError(
            "the release is in memory: it has no path",
            allowed="to_pandas(), to_polars(), to_arrow(), manifest, audit",
            advice="To have files, publish with a path: table.publish(answer, PATH).",
        )

    @property
    def path(self) -> Path:
        """Raise ``InputError``: a release in memory has no path."""
        return self.address.path  # type: ignore[return-value]  # ``address`` raises

    @property
    def manifest_path(self) -> Path:
        """Raise ``InputError``: a release in memory has no manifest file; ``manifest`` is the document."""
        return self.path

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet publish --json``, with the manifest instead of paths."""
        document = {**super().as_json(), "manifest": dict(self.manifest)}
        del document["path"]
        return document

    def document(self) -> Document:
        """Return the request, the levels and the audit, and the first released rows."""
        first_columns = self.columns[:_MAX_COLUMNS]
        more = len(self.columns) - len(first_columns)
        rows = tuple(
            tuple("NULL" if cell is None else cell for cell in row[: len(first_columns)])
            for row in self.first_rows
        )
        released = format_quantity(self.manifest["data"]["rows"], "released row")
        beyond = f", and {format_quantity(more, 'more column')}" if more else ""
        return (
            *super().document(),
            BLANK,
            heading_line(f"The first {len(rows)} of {released}{beyond}"),
            Grid(tuple(Column(name, shrinks=True) for name in first_columns), rows),
        )

    def _published(self, done: str) -> Line:
        return Line(f"Published in memory for {done}; .manifest holds its manifest.", Tone.GOOD)

    def _file_rows(self) -> tuple[tuple[str, str], ...]:
        purposes = (purpose for purpose, _ in super()._file_rows())
        return tuple(
            (
                purpose,
                ".to_pandas()" if purpose == DATA else f'.to_pandas("{purpose.removesuffix(" table")}")',
            )
            for purpose in purposes
        )

    def _bytes(self, part: str) -> bytes:
        result = self._parquet.get(part)
        if result is None:
            raise InputError(f"the release has no part '{part}'", allowed=", ".join(self.parts))
        return result


def publish_in_memory(
    settings: Settings, publish: Callable[[ReleaseAddress], ReleaseResult]
) -> ReleasedTable:
    """Publish into a temporary folder and keep the audited bytes; the folder is removed.

    ``publish`` publishes to an address. Raises ``LimitReached`` if the bytes differ from the audited ones.
    """
    with TemporaryFolder() as folder:
        file = folder / _MEMORY_FILE
        result = publish(ReleaseAddress(path=file, in_memory=True))
        manifest = parse_json(result.manifest_path.read_text(encoding="utf-8"))
        columns, rows = _read_first_rows(file, settings)
        return ReleasedTable(
            release=result.release,
            answer=result.answer,
            recoding=result.recoding,
            intersections=result.intersections,
            manifest=manifest,
            columns=columns,
            first_rows=rows,
            _parquet=_read_parts(folder, manifest),
        )


def _read_parts(folder: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the bytes of each table, after comparing them with the manifest's digests."""
    files = {DATA: manifest["data"], **manifest.get("permutation", {}).get("files", {})}
    result = {}
    for part, entry in files.items():
        result[part] = (folder / entry["file"]).read_bytes()
        if hashlib.sha256(result[part]).hexdigest() != entry["sha256"]:
            raise LimitReached(
                f"the {part} table was changed after it was audited",
                advice="No table was returned. Try again with a private TMPDIR.",
            )
    return result


def _read_first_rows(
    path: Path, settings: Settings
) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
    """Return the columns and some rows of the written file, as texts."""
    with connect(settings) as engine:
        table = engine.open_source(SourceSpec(path=path, format="parquet"))
        texts = ", ".join(table.text(name) for name in table.columns[:_MAX_COLUMNS])
        rows = engine.fetch_rows(f"SELECT {texts} FROM {table.relation} LIMIT {_MAX_ROWS}")
        return table.columns, tuple(rows)
