"""``discreet.compare``: releases, nodes and models measured against one original with the same metrics.

Per candidate: detail kept (1 less the mean loss of the quasi-identifiers), mean and highest prosecutor risk
(El Emam and Dankar, 2008), published rows, classes, and the mean relative error of ``QUERY_COUNT`` random
count queries drawn once with a fixed seed. Nothing is written. Cost: one recoding and the queries per
candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from discreet.errors import DiscreetError, InputError
from discreet.measures.generalized_table import ReleasePair
from discreet.measures.release_metrics import attribute_losses
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.requirement import Requirement
from discreet.model.search_result import ReadOnlyDict
from discreet.places.address import redact_address
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    format_ratio,
    format_share,
    heading_line,
    make_columns,
)
from discreet.printing.rendering import Printable, Record
from discreet.results.request_defaults import LevelsByAttribute, RequestKeywords, with_keywords
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.models.model_registry import MODELS, resolve_model
from discreet.verbs.models.recoding_model import Model, RequestOptions
from discreet.verbs.original_comparison import read_release_pair
from discreet.verbs.run_context import SILENT, Reporter
from discreet.verbs.table_context import TableContext
from discreet.verbs.workloads import load_workload
from discreet.workload.answerable_table import AnswerableTable, table_of_frequency_set, table_of_recoding
from discreet.workload.query_answer import measure_workload_error

QUERY_COUNT = 40
"""Number of random count queries that each candidate answers."""

LEVELS_KIND, RELEASE_KIND, MODEL_KIND = "answer", "release", "model"
"""Kinds of candidate: levels of a node, a release, a model's recoding."""

BEST_VALUE: dict[str, Callable[..., float]] = {
    "detail": max,
    "found": min,
    "highest": min,
    "kept": max,
    "query_error": min,
}
"""Columns with a best value, and the function that selects it."""


@dataclass(frozen=True)
class ComparedRelease(Record):
    """Metrics of one candidate.

    ``detail``, ``found`` and ``highest`` are shares from 0 to 1; ``query_error`` is a ratio and may exceed 1.
    Unknown values are None, and ``why`` gives the reason.
    """

    name: str
    kind: str
    rows: int
    kept: int | None = None
    classes: int | None = None
    detail: float | None = None
    found: float | None = None
    highest: float | None = None
    query_error: float | None = None
    why: str | None = None


@dataclass(frozen=True, repr=False)
class SideBySide(Printable):
    """Comparison of candidates, in the order of the arguments.

    >>> discreet.compare(table, ["release.csv"], models=["mondrian"], k=5).best  # doctest: +SKIP
    """

    label: str
    candidates: tuple[ComparedRelease, ...]
    queries: int

    @property
    def best(self) -> ReadOnlyDict[str, list[str]]:
        """Names with the best value of each column."""
        return ReadOnlyDict(find_best(self.candidates), "the best of a comparison")

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet compare --json``."""
        return {
            "source": self.label,
            "queries": self.queries,
            "candidates": [each.as_json() for each in self.candidates],
            "best": self.best,
        }

    def document(self) -> Document:
        """Return a grid that marks the best value of each column with a star."""
        kept = (">detail kept", ">found on average", ">highest risk", ">rows kept", ">classes")
        columns = make_columns("~", *kept, f">error of {self.queries} queries")
        why = tuple(Line(f"{each.name}: {each.why}") for each in self.candidates if each.why is not None)
        grid = Grid(columns, tuple(self._cells(each) for each in self.candidates))
        stars = Line("* the best of its column.")
        return (heading_line(f"Side by side, of {self.label}"), grid, BLANK, stars, *why)

    def _cells(self, each: ComparedRelease) -> tuple[str, ...]:
        def format_cell(column: str, text: Callable[[Any], str]) -> str:
            value = getattr(each, column)
            star = " *" if each.name in self.best.get(column, ()) else ""
            return "–" if value is None else f"{text(value)}{star}"

        percent = lambda value: format_share(value, 1)  # noqa: E731 - as each column is written
        return (
            each.name,
            *(format_cell(column, percent) for column in ("detail", "found", "highest")),
            format_cell("kept", "{:,}".format),
            format_cell("classes", "{:,}".format),
            format_cell("query_error", format_ratio),
        )


def find_best(candidates: Sequence[ComparedRelease]) -> dict[str, list[str]]:
    """Return the names with the best value of each column that has two or more values."""
    result = {}
    for column, better in BEST_VALUE.items():
        values = {c.name: getattr(c, column) for c in candidates if getattr(c, column) is not None}
        if len(values) > 1:
            best = better(values.values())
            result[column] = [name for name, value in values.items() if value == best]
    return result


class Benchmark:
    """Benchmark of candidates against one original; its queries are drawn in the constructor."""

    def __init__(self, table: TableContext, queries: int = QUERY_COUNT) -> None:
        self.table = table
        names = table.frequency_set.attributes
        if not names:
            raise InputError("no column is a quasi-identifier", advice="Name some in the spec.")
        described = {"queries": queries, "dimensions": min(2, len(names)), "selectivity": 0.05}
        self.queries = load_workload(described, table)
        self.original = table_of_frequency_set(table.frequency_set)

    def of_levels(self, name: str, levels: LevelsByAttribute, requirement: Requirement) -> ComparedRelease:
        """Measure a node of the lattice without its failing classes; levels that are not given are 0."""
        return self._of_recoding(name, LEVELS_KIND, recode_at_levels(self.table, levels, requirement))

    def of_model(
        self, name: str, model: Model | str, request_options: RequestOptions, reporter: Reporter = SILENT
    ) -> ComparedRelease:
        """Measure a model's recoding; a model that fails or recodes nothing gets a line with the reason."""
        try:
            found = resolve_model(model).recode(self.table, request_options, reporter)
        except DiscreetError as error:
            return self._without(name, MODEL_KIND, error)
        return self._of_recoding(name, MODEL_KIND, found.recoding)

    def of_release(self, name: str, release: ReleaseLocation) -> ComparedRelease:
        """Measure a release of any program; one that cannot be read gives a line with the reason."""
        try:
            pair, released = read_release_pair(self.table, release, self.original)
        except DiscreetError as error:
            return self._without(name, RELEASE_KIND, error)
        return self._measured(name, RELEASE_KIND, pair, released)

    def _of_recoding(self, name: str, kind: str, recoding: ClassRecoding) -> ComparedRelease:
        counted = self.table.frequency_set
        pair = ReleasePair.of_recoding(counted, recoding, numeric=self.table.spec.numeric)
        return self._measured(name, kind, pair, table_of_recoding(counted, recoding))

    def _measured(
        self, name: str, kind: str, pair: ReleasePair, released: AnswerableTable
    ) -> ComparedRelease:
        sizes, losses = pair.class_sizes, attribute_losses(pair)
        published = pair.rows - pair.suppressed
        return ComparedRelease(
            name=name,
            kind=kind,
            rows=pair.rows,
            kept=published,
            classes=sizes.classes,
            detail=1.0 - sum(losses) / len(losses),
            found=sizes.classes / published if published else None,
            highest=1.0 / sizes.smallest if sizes.smallest else None,
            query_error=measure_workload_error(self.queries, self.original, released).mean_relative,
        )

    def _without(self, name: str, kind: str, error: DiscreetError) -> ComparedRelease:
        return ComparedRelease(name=name, kind=kind, rows=self.table.frequency_set.rows, why=error.message)


def recode_at_levels(
    table: TableContext, levels: LevelsByAttribute, requirement: Requirement
) -> ClassRecoding:
    """Recode at a node and suppress its failing classes; raise ``InputError`` for a level out of range."""
    from discreet.lattice.evaluation import build_lattice
    from discreet.taxonomy.class_counts import ClassCounts
    from discreet.taxonomy.full_domain import level_cells
    from discreet.taxonomy.value_tree import build_recoding_of_columns

    counted = table.frequency_set  # the set that candidates are measured against: its row types
    lattice = build_lattice(counted)
    node = lattice.node_of(levels, lattice.bottom)
    pairs = list(zip(counted.hierarchies, node, strict=True))
    columns = [h.level_map(level)[counted.codes[:, i]] for i, (h, level) in enumerate(pairs)]
    cells = [level_cells(hierarchy, level) for hierarchy, level in pairs]
    return build_recoding_of_columns(
        ClassCounts(counted, requirement), columns, cells, RecodingModel.FULL_DOMAIN
    )


def list_comparable_models() -> Iterator[tuple[str, type[Model]]]:
    """Yield the models that recode, by the name that users type; permutation models are excluded."""
    return ((model.called(), model) for model in MODELS if model.recodes())


@with_keywords(RequestKeywords)
def compare(
    table: TableContext,
    releases: Sequence[ReleaseLocation] = (),
    *,
    levels: Mapping[str, LevelsByAttribute] | None = None,
    models: Sequence[Model | str] = (),
    reporter: Reporter = SILENT,
    **options: Unpack[RequestKeywords],
) -> SideBySide:
    """Compare releases, nodes and models of one original with the same metrics (see the module).

    ``releases`` are paths or addresses, ``levels`` maps a name of your choice to a node, ``models`` are
    models or their names. ``k`` to ``criteria`` apply to nodes and models; values that are not given come
    from the spec's ``[request]``. A candidate that cannot be measured keeps its line, with the reason.

    Raises ``InputError`` without any candidate, and for levels out of range.

    >>> discreet.compare(table, ["release.csv"], levels={"coarse": {"age": 2}}, k=5)  # doctest: +SKIP
    """
    wish = RequestOptions(**options)
    if not releases and not levels and not models:
        raise InputError("nothing to compare", advice="Give releases, levels or models.")
    requirement = wish.request(table.spec).requirement if levels or models else Requirement()
    yardstick = Benchmark(table)
    found: list[ComparedRelease] = []
    total = len(releases) + len(levels or {}) + len(models)
    with reporter.stage("Measuring side by side") as advance:
        for name, node in (levels or {}).items():
            found.append(yardstick.of_levels(redact_address(name), node, requirement))
            advance(len(found), total)
        for model in models:
            name = redact_address(model) if isinstance(model, str) else model.called()
            found.append(yardstick.of_model(name, model, wish))
            advance(len(found), total)
        for release in releases:
            address = address_of(release)
            found.append(yardstick.of_release(address.name, address))
            advance(len(found), total)
    return SideBySide(table.spec.source.label, tuple(found), len(yardstick.queries))
