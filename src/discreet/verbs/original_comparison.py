"""Comparison of a release with its original: metrics, workload error, classification.

Workloads are SQL files or descriptions from which queries are generated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.audit.manifest_claims import compute_digest
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.errors import InputError
from discreet.measures.classification_accuracy import ClassificationAccuracy, measure_accuracy
from discreet.measures.generalized_table import ReleasePair
from discreet.measures.metrics import MetricValue, metric_values
from discreet.measures.release_metrics import attribute_losses
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import CLASS_RELEASE
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    format_quantity,
    format_ratio,
    format_rows,
    format_share,
    heading_line,
    make_columns,
    warning_block,
)
from discreet.printing.metric_grid import format_measure, metric_grid
from discreet.printing.rendering import Printable
from discreet.queries.aggregate_query import AggregateQuery, attributes_of_queries
from discreet.release.manifest import Manifest
from discreet.release.private_log import find_publication
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.models.model_registry import MODELS
from discreet.verbs.release_facts import read_manifest_if_present
from discreet.verbs.run_context import SILENT, Reporter
from discreet.verbs.table_context import TableContext
from discreet.verbs.workloads import Workload, load_workload
from discreet.workload.answerable_table import (
    AnswerableTable,
    read_original,
    read_release,
)
from discreet.workload.query_answer import QueryError, WorkloadError, measure_workload_error

_MAX_QUERIES = 20
_RANGE_SUMMARIES = ("ranges", "means")


@dataclass(frozen=True, repr=False)
class ReleaseComparison(Printable):
    """Utility of a release compared with its original.

    ``suppressed`` rows are starred, or missing in the release. ``losses`` are those of the quasi-identifiers,
    from 0 to 1.

    >>> table.compare("release.csv", workload="queries.sql").losses  # doctest: +SKIP
    """

    path: Path
    label: str
    rows: int
    suppressed: int
    metrics: tuple[MetricValue, ...]
    losses: tuple[tuple[str, float], ...]
    workload: WorkloadError | None
    classification: ClassificationAccuracy | None
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet inspect --release --json``."""
        found: dict[str, Any] = {
            "release": str(self.path),
            "source": self.label,
            "rows": self.rows,
            "suppressed": self.suppressed,
            "metrics": {m.metric.name: m.json_value for m in self.metrics},
            "loss": dict(self.losses),
        }
        if self.workload is not None:
            found["workload"] = self.workload.as_json()
        if self.classification is not None:
            found["classification"] = self.classification.as_json()
        return found | {"warnings": list(self.warnings)}

    def document(self) -> Document:
        """Return the metrics, the loss of each attribute, workload errors, classification and warnings."""
        losses = tuple((name, f"{loss:.4f}") for name, loss in self.losses)
        return (
            heading_line(f"{self.path} compared with {self.label}: {format_quantity(self.rows, 'row')}"),
            Line(f"Suppressed: {format_rows(self.suppressed, self.rows)} rows."),
            BLANK,
            metric_grid(self.metrics),
            BLANK,
            Grid(make_columns("quasi-identifier", ">loss"), losses),
            *self._workload(),
            *self._classification(),
            *warning_block(self.warnings),
        )

    def _workload(self) -> Document:
        errors = self.workload
        if errors is None:
            return ()
        worst_queries = sorted(errors.queries, key=lambda q: -(q.absolute or 0.0) * q.query.weight)[
            :_MAX_QUERIES
        ]
        columns = make_columns(">truth", ">estimate", ">at least", ">at most", ">error", "~query")
        left = len(errors.queries) - len(worst_queries)
        return (
            BLANK,
            heading_line(f"Workload: {format_quantity(len(errors.queries), 'query', 'queries')}"),
            Line(
                f"Absolute error {format_measure(errors.mean_absolute)} on average (standard deviation "
                f"{format_measure(errors.deviation)}), relative error {format_ratio(errors.mean_relative)}."
            ),
            Grid(columns, tuple(_query_cells(query) for query in worst_queries)),
            *((Line(f"… and {left:,} more, of smaller weighted error."),) if left else ()),
        )

    def _classification(self) -> Document:
        found = self.classification
        if found is None:
            return ()
        recovered = ""
        if found.recovered is not None:
            recovered = f" The release keeps {format_ratio(found.recovered)} of the achievable accuracy."
        return (
            BLANK,
            heading_line(f"Classification of '{found.target}'"),
            Line(
                f"Of {found.held_out:,} rows of the original that were held out, a classifier trained on the "
                f"release names {format_share(found.release, 1)} right, one trained on the original "
                f"{format_share(found.original, 1)}, always the most frequent value "
                f"{format_share(found.majority, 1)}." + recovered
            ),
        )


def compare_with_original(
    table: TableContext,
    release: ReleaseLocation,
    *,
    workload: Workload | None = None,
    target: str | None = None,
    seed: int = 0,
    k: int | None = None,
    reporter: Reporter = SILENT,
) -> ReleaseComparison:
    """Compare a release with its original: every metric, the workload error and classification accuracy.

    The manifest decides which rows are suppressed: if it says that they were dropped, rows of stars are
    ordinary rows, as are rows of stars beyond the number that it records. Without a manifest all rows of
    stars are suppressed.

    ``workload`` is a file of queries or a description (``Workload``); ``target`` is a column for
    classification, which must not be a quasi-identifier. ``k`` normalizes C_AVG; None means the manifest's k,
    without a manifest the spec's k or the smallest class.

    Raises ``InputError`` for a file that cannot be read or does not fit the spec.
    """
    queries = () if workload is None else load_workload(workload, table)
    others = _other_columns(table, queries, target)
    counted, spec = table.frequency_set, table.spec
    address = address_of(release)
    manifest = read_manifest_if_present(address, table.settings)
    permuted = _permutation_cautions(manifest, others)
    with table.engine("Reading the release") as engine:
        original = read_original(engine, spec, counted, others, table.settings)
        released = _read_answerable_release(engine, table, address, original, manifest)
    compared = make_release_pair(table, released, manifest, k)
    with reporter.stage("Measuring the release"):
        if compared.members is None and manifest is not None:
            compared = replace(compared, stated=_stated_usefulness(table, address, manifest))
        metrics = metric_values(compared)
    errors = None
    if queries:
        with reporter.stage("Answering the workload") as advance:
            errors = measure_workload_error(queries, original, released, advance)
    return ReleaseComparison(
        path=address.display_path,
        label=spec.source.label,
        rows=counted.rows,
        suppressed=compared.suppressed,
        metrics=metrics,
        losses=tuple(zip(counted.attributes, attribute_losses(compared), strict=True)),
        workload=errors,
        classification=_train_classifiers(table, original, released, target, seed, reporter),
        warnings=(*permuted, *_comparison_warnings(compared, errors)),
    )


def read_release_pair(
    table: TableContext, release: ReleaseLocation, original: AnswerableTable
) -> tuple[ReleasePair, AnswerableTable]:
    """Read a release for metrics and for queries.

    Raises ``InputError`` for a file that cannot be read or does not fit the spec.
    """
    address = address_of(release)
    manifest = read_manifest_if_present(address, table.settings)
    with table.engine("Reading the release") as engine:
        released = _read_answerable_release(engine, table, address, original, manifest)
    return make_release_pair(table, released, manifest), released


def make_release_pair(
    table: TableContext, released: AnswerableTable, manifest: Manifest | None, k: int | None = None
) -> ReleasePair:
    """Pair a release with its original; ``k`` as in ``compare_with_original``."""
    spec = table.spec
    return ReleasePair.of_release(
        table.frequency_set,
        released.quasi_identifiers,
        _count_suppressed_rows(released, manifest),
        k or (spec.request.k if manifest is None else manifest.k),
        {attribute.name: attribute.weight for attribute in spec.quasi_identifiers},
        spec.numeric,
    )


def _count_suppressed_rows(released: AnswerableTable, manifest: Manifest | None) -> int:
    """Count the rows of stars that are suppressed rows."""
    if manifest is None:
        return released.starred
    return min(released.starred, manifest.suppressed) if manifest.stars_rows else 0


def _stated_usefulness(table: TableContext, address: ReleaseAddress, manifest: Manifest) -> float | None:
    """Return the usefulness that the private log records for an unchanged release; None otherwise.

    The digest is compared again, since a file that was changed after publication has another usefulness.
    """
    entry = find_publication(table.settings.private_log, manifest.sha256)
    found = None if entry is None else entry.get("usefulness")
    if not isinstance(found, int | float):
        return None
    with connect(table.settings, address.source()) as engine:
        return float(found) if compute_digest(engine, address) == manifest.sha256 else None


def _other_columns(
    table: TableContext, queries: Sequence[AggregateQuery], target: str | None
) -> tuple[str, ...]:
    """Return the columns other than the quasi-identifiers that the workload and the target name."""
    names = table.frequency_set.attributes
    if target is not None and target in names:
        raise InputError(
            f"the target '{target}' is a quasi-identifier, whose values the release generalizes",
            allowed="a column that is published unchanged",
        )
    named = [*attributes_of_queries(tuple(queries)), *([] if target is None else [target])]
    return tuple(dict.fromkeys(name for name in named if name not in names))


def _permutation_cautions(manifest: Manifest | None, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the cautions of a permuted release; raise ``InputError`` if ``columns`` has its attribute."""
    kind = CLASS_RELEASE if manifest is None else manifest.kind
    kind.require_values_in_rows(columns)
    return kind.cautions


def _read_answerable_release(
    engine: Engine,
    table: TableContext,
    address: ReleaseAddress,
    original: AnswerableTable,
    manifest: Manifest | None,
) -> AnswerableTable:
    ranges = False
    if manifest is not None and manifest.summary in _RANGE_SUMMARIES:
        model = MODELS.get(manifest.model)
        ranges = model is not None and model.tells_ranges
    hierarchies = table.frequency_set.hierarchies
    return read_release(
        engine, address.source(), table.spec, original, hierarchies, table.settings, attained=ranges
    )


def _train_classifiers(
    table: TableContext,
    original: AnswerableTable,
    release: AnswerableTable,
    target: str | None,
    seed: int,
    reporter: Reporter,
) -> ClassificationAccuracy | None:
    if target is None:
        return None
    names = (*table.frequency_set.attributes, target)
    with reporter.stage("Training classifiers"):
        return measure_accuracy(
            original.table.project(names),
            release.table.project(names),
            table.frequency_set.hierarchies,
            seed=seed,
        )


def _comparison_warnings(compared: ReleasePair, errors: WorkloadError | None) -> tuple[str, ...]:
    found, names = [], compared.frequency_set.attributes
    uncovered = _count_uncovered_rows(compared)
    if uncovered:
        found.append(
            f"{format_quantity(uncovered, 'row')} of the release match no row of the original: its cells of "
            f"{', '.join(names)} are wrong, or it was made of another table."
        )
    elif compared.can_cover and compared.members is None and compared.stated is None:
        found.append(
            "Usefulness is unknown: classes overlap, so the release does not determine which rows each "
            "was made of, and the private log has no publication of it."
        )
    if errors is not None and errors.outside:
        found.append(
            f"{format_quantity(errors.outside, 'query', 'queries')} of the workload have their true answer "
            "outside the guaranteed bounds."
        )
    if errors is not None and errors.unanswered:
        found.append(
            f"{format_quantity(errors.unanswered, 'query', 'queries')} could not be compared: "
            "no row to answer with."
        )
    return tuple(found)


def _count_uncovered_rows(compared: ReleasePair) -> int:
    """Count the rows of classes with cells that cover no row of the original."""
    if not compared.can_cover or not compared.release.groups:
        return 0
    left = compared.release.rows.copy()
    for classes, _ in compared.covered():
        left[classes] = 0
    return int(left.sum())


def _query_cells(error: QueryError) -> tuple[str, ...]:
    answer = error.answer
    numbers = (error.truth, answer.estimate, answer.lower, answer.upper, error.absolute)
    return (*(format_measure(number) for number in numbers), error.query.text)
