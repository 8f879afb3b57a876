"""``discreet inspect SPEC --release PATH``: a release, ours or foreign, beside its original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.audit.digests import digest_of
from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.errors import InputError
from discreet.measures.cell_metrics import attribute_losses
from discreet.measures.classification import Classification, classification
from discreet.measures.comparison import ReleasePair
from discreet.measures.metrics import MetricValue, metrics_of
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import CLASSES
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    count,
    heading,
    ratio,
    rows_and_share,
    share,
    warnings_of,
)
from discreet.printing.metric_grid import metric_grid, number_text
from discreet.printing.printed import Printed
from discreet.queries.query import AggregateQuery, attributes_of
from discreet.release.manifest import Manifest
from discreet.release.private_log import publication_of
from discreet.verbs.addresses import ReleasePlace, address_of
from discreet.verbs.models.registry import MODELS
from discreet.verbs.opened_table import OpenedTable
from discreet.verbs.releases import manifest_beside
from discreet.verbs.reporting import SILENT, Reporter
from discreet.verbs.workloads import Workload, load_workload
from discreet.workload.accuracy import QueryError, WorkloadError, workload_error
from discreet.workload.answerable import AnswerableTable, read_original, read_release

_SHOWN = 20
_RANGE_SUMMARIES = ("ranges", "means")


@dataclass(frozen=True, repr=False)
class ReleaseComparison(Printed):
    """What a release keeps of its original.

    ``suppressed`` rows are starred, or missing in the release. ``losses`` are each quasi-identifier's, from 0
    to 1.
    """

    path: Path
    label: str
    rows: int
    suppressed: int
    metrics: tuple[MetricValue, ...]
    losses: tuple[tuple[str, float], ...]
    workload: WorkloadError | None
    classification: Classification | None
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet inspect --release --json``."""
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
        """The metrics, each attribute's loss, the workload's errors, the classification, the warnings."""
        losses = tuple((name, f"{loss:.4f}") for name, loss in self.losses)
        return (
            heading(f"{self.path} beside {self.label}: {count(self.rows, 'row')}"),
            Line(f"Suppressed: {rows_and_share(self.suppressed, self.rows)} rows."),
            BLANK,
            metric_grid(self.metrics),
            BLANK,
            Grid((Column("quasi-identifier"), Column("loss", right=True)), losses),
            *self._workload(),
            *self._classification(),
            *warnings_of(self.warnings),
        )

    def _workload(self) -> Document:
        errors = self.workload
        if errors is None:
            return ()
        shown = sorted(errors.queries, key=lambda q: -(q.absolute or 0.0) * q.query.weight)[:_SHOWN]
        columns = (
            *(Column(title, right=True) for title in ("truth", "estimate", "surely from", "to", "error")),
            Column("query", shrinks=True),
        )
        left = len(errors.queries) - len(shown)
        return (
            BLANK,
            heading(f"Workload: {count(len(errors.queries), 'query', 'queries')}"),
            Line(
                f"Absolute error {number_text(errors.mean_absolute)} on average (standard deviation "
                f"{number_text(errors.deviation)}), relative error {ratio(errors.mean_relative)}."
            ),
            Grid(columns, tuple(_query_cells(query) for query in shown)),
            *((Line(f"… and {left:,} more, of smaller weighted error."),) if left else ()),
        )

    def _classification(self) -> Document:
        found = self.classification
        if found is None:
            return ()
        recovered = ""
        if found.recovered is not None:
            recovered = f" The release keeps {ratio(found.recovered)} of what can be learnt."
        return (
            BLANK,
            heading(f"Classification of '{found.target}'"),
            Line(
                f"Of {found.held_out:,} rows of the original that were held out, a classifier trained on the "
                f"release names {share(found.release, 1)} right, one trained on the original "
                f"{share(found.original, 1)}, always the most frequent value {share(found.majority, 1)}."
                + recovered
            ),
        )


def compare(
    table: OpenedTable,
    release: ReleasePlace,
    *,
    workload: Workload | None = None,
    target: str | None = None,
    seed: int = 0,
    k: int | None = None,
    reporter: Reporter = SILENT,
) -> ReleaseComparison:
    """A release beside its original: every metric, and what a workload and a classifier make of it.

    Which rows are suppressed is told by the manifest: where it says that they were dropped, a row of stars is
    a row like any other, and so are rows of stars beyond those that it counts. Without a manifest all rows of
    stars are suppressed.

    ``workload`` is a file of queries or a description (``verbs.workloads``); ``target`` a column that is
    no quasi-identifier, for classification. ``k`` normalizes C_AVG (None: the manifest's, without one the
    spec's, or the smallest class). Raises ``InputError`` for a file that cannot be read or does not fit the
    spec.
    """
    queries = () if workload is None else load_workload(workload, table)
    others = _other_columns(table, queries, target)
    counted, spec = table.frequency_set, table.spec
    address = address_of(release)
    manifest = manifest_beside(address, table.settings)
    permuted = _not_protected(manifest, others)
    with table.engine("Reading the release") as engine:
        original = read_original(engine, spec, counted, others, table.settings)
        released = _release(engine, table, address, original, manifest)
    compared = pair_of(table, released, manifest, k)
    with reporter.stage("Measuring the release"):
        if compared.members is None and manifest is not None:
            compared = replace(compared, stated=_stated_usefulness(table, address, manifest))
        metrics = metrics_of(compared)
    errors = None
    if queries:
        with reporter.stage("Asking the workload") as advance:
            errors = workload_error(queries, original, released, advance)
    return ReleaseComparison(
        path=address.shown_path,
        label=spec.source.label,
        rows=counted.rows,
        suppressed=compared.suppressed,
        metrics=metrics,
        losses=tuple(zip(counted.attributes, attribute_losses(compared), strict=True)),
        workload=errors,
        classification=_classified(table, original, released, target, seed, reporter),
        warnings=(*permuted, *_warnings(compared, errors)),
    )


def read_beside(
    table: OpenedTable, release: ReleasePlace, original: AnswerableTable
) -> tuple[ReleasePair, AnswerableTable]:
    """A release as it is measured against its original, and as it answers queries.

    ``InputError`` for a file that cannot be read or does not fit the spec.
    """
    address = address_of(release)
    manifest = manifest_beside(address, table.settings)
    with table.engine("Reading the release") as engine:
        released = _release(engine, table, address, original, manifest)
    return pair_of(table, released, manifest), released


def pair_of(
    table: OpenedTable, released: AnswerableTable, manifest: Manifest | None, k: int | None = None
) -> ReleasePair:
    """A release that was read, beside its original; ``k`` as of ``compare``."""
    spec = table.spec
    return ReleasePair.of_release(
        table.frequency_set,
        released.quasi_identifiers,
        _suppressed_rows(released, manifest),
        k or (spec.request.k if manifest is None else manifest.k),
        {attribute.name: attribute.weight for attribute in spec.quasi_identifiers},
        spec.numeric,
    )


def _suppressed_rows(released: AnswerableTable, manifest: Manifest | None) -> int:
    """How many of the release's rows of stars are suppressed ones."""
    if manifest is None:
        return released.starred
    return min(released.starred, manifest.suppressed) if manifest.stars_rows else 0


def _stated_usefulness(table: OpenedTable, address: ReleaseAddress, manifest: Manifest) -> float | None:
    """What the publisher's log says of a release that is still as it was published; else None."""
    entry = publication_of(table.settings.private_log, manifest.sha256)
    found = None if entry is None else entry.get("usefulness")
    if not isinstance(found, int | float):
        return None
    with connect(table.settings, address.source()) as engine:
        return float(found) if digest_of(engine, address) == manifest.sha256 else None


def _other_columns(
    table: OpenedTable, queries: Sequence[AggregateQuery], target: str | None
) -> tuple[str, ...]:
    """The columns beyond the quasi-identifiers that the workload and the target name."""
    names = table.frequency_set.attributes
    if target is not None and target in names:
        raise InputError(
            f"the target '{target}' is a quasi-identifier, whose values the release generalizes",
            allowed="a column that is published as it is",
        )
    named = [*attributes_of(tuple(queries)), *([] if target is None else [target])]
    return tuple(dict.fromkeys(name for name in named if name not in names))


def _not_protected(manifest: Manifest | None, asked: Sequence[str]) -> tuple[str, ...]:
    """What a permuted release does not protect; ``InputError`` where its permuted attribute is asked for."""
    kind = CLASSES if manifest is None else manifest.kind
    if kind.permuted_attribute in asked:
        raise InputError(
            f"'{kind.permuted_attribute}' is permuted within groups: its values do not stand beside the rows "
            "they belong to",
            allowed="quasi-identifiers and columns that are published as they are",
            advice="Ask for its bounds with discreet query.",
        )
    return kind.cautions


def _release(
    engine: Engine,
    table: OpenedTable,
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


def _classified(
    table: OpenedTable,
    original: AnswerableTable,
    release: AnswerableTable,
    target: str | None,
    seed: int,
    reporter: Reporter,
) -> Classification | None:
    if target is None:
        return None
    names = (*table.frequency_set.attributes, target)
    with reporter.stage("Training classifiers"):
        return classification(
            original.table.project(names),
            release.table.project(names),
            table.frequency_set.hierarchies,
            seed=seed,
        )


def _warnings(compared: ReleasePair, errors: WorkloadError | None) -> tuple[str, ...]:
    found, names = [], compared.frequency_set.attributes
    uncovered = _uncovered_rows(compared)
    if uncovered:
        found.append(
            f"{count(uncovered, 'row')} of the release stand for no row of the original: its cells of "
            f"{', '.join(names)} do not tell the truth, or it was made of another table."
        )
    elif compared.can_cover and compared.members is None and compared.stated is None:
        found.append(
            "Usefulness is not known: classes overlap, so the release does not tell which rows each was made "
            "of, and the private log has no publication of it."
        )
    if errors is not None and errors.outside:
        found.append(
            f"{count(errors.outside, 'query', 'queries')} of the workload have their true answer outside the "
            "bounds that the release would make sure."
        )
    if errors is not None and errors.unanswered:
        found.append(
            f"{count(errors.unanswered, 'query', 'queries')} could not be compared: no row to answer with."
        )
    return tuple(found)


def _uncovered_rows(compared: ReleasePair) -> int:
    """Rows of classes whose cells cover no row of the original."""
    if not compared.can_cover or not compared.release.groups:
        return 0
    left = compared.release.rows.copy()
    for classes, _ in compared.covered():
        left[classes] = 0
    return int(left.sum())


def _query_cells(error: QueryError) -> tuple[str, ...]:
    answer = error.answer
    numbers = (error.truth, answer.estimate, answer.lower, answer.upper, error.absolute)
    return (*(number_text(number) for number in numbers), error.query.text)
