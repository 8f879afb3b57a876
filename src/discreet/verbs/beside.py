"""Side by side: releases, nodes of the lattice and models, each measured alike against one original.

Of each contender are told

* **detail kept**: 1 less the mean, over the quasi-identifiers, of their losses (``measures.loss``: x without
  weights: ARX's Loss of one attribute); a row that is left out keeps nothing;
* **found on average** and **highest risk**: the mean and the largest chance that a published row is its
  target's for who knows the quasi-identifiers: classes by rows, and 1 by the smallest class (El Emam and
  Dankar, 2008, the prosecutor's risk);
* rows kept, and classes;
* the **error of queries**: the mean relative error of ``QUERIES`` counts of two attributes each that select
  about a twentieth of the rows, answered from the release alone (``workload``). They are drawn once for the
  original, with a fixed seed: every contender is asked the same.

Nothing is written: nodes and models are recoded in memory. Cost: one recoding and ``QUERIES`` answers each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import DiscreetError, InputError
from discreet.measures.cell_metrics import attribute_losses
from discreet.measures.comparison import ReleasePair
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.criteria.base import Criterion
from discreet.model.read_only import ReadOnlyDict
from discreet.model.requirement import Requirement
from discreet.places.address import shown_address
from discreet.printing.document import BLANK, Column, Document, Grid, Line, heading, ratio, share
from discreet.printing.printed import Printed
from discreet.results.requests import Levels
from discreet.verbs.addresses import ReleasePlace, address_of
from discreet.verbs.comparing import read_beside
from discreet.verbs.models.base import Asked, Model
from discreet.verbs.models.registry import MODELS, model_of
from discreet.verbs.opened_table import OpenedTable
from discreet.verbs.reporting import SILENT, Reporter
from discreet.verbs.workloads import load_workload
from discreet.workload.accuracy import workload_error
from discreet.workload.answerable import AnswerableTable, as_it_stands, of_recoding

QUERIES = 40
"""How many queries each contender is asked."""

ANSWER, RELEASE, MODEL = "answer", "release", "model"
"""What a contender is: levels, something published, a model that was tried."""

BETTER: dict[str, Callable[..., float]] = {
    "detail": max,
    "found": min,
    "highest": min,
    "kept": max,
    "query_error": min,
}
"""The columns that have a best value, and which that is."""


@dataclass(frozen=True)
class Contender:
    """One line of the comparison.

    ``detail``, ``found`` and ``highest`` are shares from 0 to 1; ``query_error`` is a ratio and may exceed 1.

    What is not known is None, and ``why`` says it.
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

    def as_json(self) -> dict[str, Any]:
        """The line as a document."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, repr=False)
class SideBySide(Printed):
    """The contenders in the order in which they were named."""

    label: str
    contenders: tuple[Contender, ...]
    queries: int

    @property
    def best(self) -> ReadOnlyDict[str, list[str]]:
        """The names that have the best value of each column."""
        return ReadOnlyDict(best_of(self.contenders), "the best of a comparison")

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet compare --json``."""
        return {
            "source": self.label,
            "queries": self.queries,
            "contenders": [each.as_json() for each in self.contenders],
            "best": self.best,
        }

    def document(self) -> Document:
        """A table, the best of each column with a star behind it."""
        columns = (
            Column("", shrinks=True),
            *(Column(t, right=True) for t in ("detail kept", "found on average", "highest risk")),
            *(Column(t, right=True) for t in ("rows kept", "classes", f"error of {self.queries} queries")),
        )
        why = tuple(Line(f"{each.name}: {each.why}") for each in self.contenders if each.why is not None)
        grid = Grid(columns, tuple(self._cells(each) for each in self.contenders))
        stars = Line("* the best of its column.")
        return (heading(f"Side by side, of {self.label}"), grid, BLANK, stars, *why)

    def _cells(self, each: Contender) -> tuple[str, ...]:
        def told(column: str, text: Callable[[Any], str]) -> str:
            value = getattr(each, column)
            star = " *" if each.name in self.best.get(column, ()) else ""
            return "–" if value is None else f"{text(value)}{star}"

        percent = lambda value: share(value, 1)  # noqa: E731 - as each column is written
        return (
            each.name,
            *(told(column, percent) for column in ("detail", "found", "highest")),
            told("kept", "{:,}".format),
            told("classes", "{:,}".format),
            told("query_error", ratio),
        )


def best_of(contenders: Sequence[Contender]) -> dict[str, list[str]]:
    """The names that have the best value of each column, where two or more have one."""
    found = {}
    for column, better in BETTER.items():
        values = {c.name: getattr(c, column) for c in contenders if getattr(c, column) is not None}
        if len(values) > 1:
            best = better(values.values())
            found[column] = [name for name, value in values.items() if value == best]
    return found


class Yardstick:
    """Measures contenders against one original. The queries are drawn when it is made."""

    def __init__(self, table: OpenedTable, queries: int = QUERIES) -> None:
        self.table = table
        names = table.frequency_set.attributes
        if not names:
            raise InputError("no column is a quasi-identifier", advice="Name some in the spec.")
        described = {"queries": queries, "dimensions": min(2, len(names)), "selectivity": 0.05}
        self.queries = load_workload(described, table)
        self.original = as_it_stands(table.frequency_set)

    def of_levels(self, name: str, levels: Levels, requirement: Requirement) -> Contender:
        """A node of the lattice, whose failing classes are left out; levels that are not named are 0."""
        return self._of_recoding(name, ANSWER, recoding_of_levels(self.table, levels, requirement))

    def of_model(self, name: str, model: Model | str, asked: Asked, reporter: Reporter = SILENT) -> Contender:
        """What a model would publish; one that finds nothing, or recodes nothing, is told with its reason."""
        try:
            found = model_of(model).recode(self.table, asked, reporter)
        except DiscreetError as error:
            return self._without(name, MODEL, error)
        return self._of_recoding(name, MODEL, found.recoding)

    def of_release(self, name: str, release: ReleasePlace) -> Contender:
        """A release, ours or another program's; one that cannot be read beside the table, with its reason."""
        try:
            pair, released = read_beside(self.table, release, self.original)
        except DiscreetError as error:
            return self._without(name, RELEASE, error)
        return self._measured(name, RELEASE, pair, released)

    def _of_recoding(self, name: str, kind: str, recoding: ClassRecoding) -> Contender:
        counted = self.table.frequency_set
        pair = ReleasePair.of_recoding(counted, recoding, numeric=self.table.spec.numeric)
        return self._measured(name, kind, pair, of_recoding(counted, recoding))

    def _measured(self, name: str, kind: str, pair: ReleasePair, released: AnswerableTable) -> Contender:
        sizes, losses = pair.class_sizes, attribute_losses(pair)
        kept = pair.rows - pair.suppressed
        return Contender(
            name=name,
            kind=kind,
            rows=pair.rows,
            kept=kept,
            classes=sizes.classes,
            detail=1.0 - sum(losses) / len(losses),
            found=sizes.classes / kept if kept else None,
            highest=1.0 / sizes.smallest if sizes.smallest else None,
            query_error=workload_error(self.queries, self.original, released).mean_relative,
        )

    def _without(self, name: str, kind: str, error: DiscreetError) -> Contender:
        return Contender(name=name, kind=kind, rows=self.table.frequency_set.rows, why=error.message)


def recoding_of_levels(table: OpenedTable, levels: Levels, requirement: Requirement) -> ClassRecoding:
    """The recoding of a node, its failing classes left out; ``InputError`` for a level out of range."""
    from discreet.lattice.evaluate import lattice_of
    from discreet.taxonomy.class_counts import ClassCounts
    from discreet.taxonomy.full_domain import level_cells
    from discreet.taxonomy.single_dimension import recoding_of_columns

    counted = table.frequency_set  # the one that is measured against: its row types
    lattice = lattice_of(counted)
    node = lattice.node_of(levels, lattice.bottom)
    pairs = list(zip(counted.hierarchies, node, strict=True))
    columns = [h.level_map(level)[counted.codes[:, i]] for i, (h, level) in enumerate(pairs)]
    cells = [level_cells(hierarchy, level) for hierarchy, level in pairs]
    return recoding_of_columns(
        counted, ClassCounts(counted, requirement), columns, cells, RecodingModel.FULL_DOMAIN
    )


def tried_models() -> Iterator[tuple[str, type[Model]]]:
    """The models that recode, by the name that users type: those that permute have nothing to compare."""
    return ((model.called(), model) for model in MODELS if not model.permuted)


def compare(
    table: OpenedTable,
    releases: Sequence[ReleasePlace] = (),
    *,
    levels: Mapping[str, Levels] | None = None,
    models: Sequence[Model | str] = (),
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    max_suppressed: str | int | None = None,
    max_level: Levels | None = None,
    min_level: Levels | None = None,
    criteria: Sequence[Criterion] = (),
    reporter: Reporter = SILENT,
) -> SideBySide:
    """Releases, nodes and models side by side, measured alike; see the module.

    ``releases`` are paths or addresses, ``levels`` nodes by a name of yours, ``models`` values or names.
    ``k`` to ``criteria`` are what nodes and models must meet; what is left out comes from the spec's
    ``[request]``. A contender that cannot be measured stays in the table, with why.
    ``InputError`` where nothing is named, and for levels out of range.
    """
    wish = Asked(k, l, max_suppressed, max_level, min_level, tuple(criteria))
    if not releases and not levels and not models:
        raise InputError("nothing to compare", advice="Name releases, levels or models.")
    requirement = wish.request(table.spec).requirement if levels or models else Requirement()
    yardstick = Yardstick(table)
    found: list[Contender] = []
    total = len(releases) + len(levels or {}) + len(models)
    with reporter.stage("Measuring side by side") as advance:
        for name, node in (levels or {}).items():
            found.append(yardstick.of_levels(shown_address(name), node, requirement))
            advance(len(found), total)
        for model in models:
            name = shown_address(model) if isinstance(model, str) else model.called()
            found.append(yardstick.of_model(name, model, wish))
            advance(len(found), total)
        for release in releases:
            address = address_of(release)
            found.append(yardstick.of_release(address.name, address))
            advance(len(found), total)
    return SideBySide(table.spec.source.label, tuple(found), len(yardstick.queries))
