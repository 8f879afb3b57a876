"""One node, summed up: levels, loss, suppressed rows, and the sizes and distinct values of its classes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.frequency.class_facts import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.measures.loss import LossTables
from discreet.model.cost_value import cost_in_json, cost_text
from discreet.model.counted_values import of_subjects_refused
from discreet.model.criteria.base import Score
from discreet.model.criteria.counts import distinct_of
from discreet.model.frequency_set import FrequencySet
from discreet.model.judge import below, least_size, suppressed
from discreet.model.lattice import Lattice, LatticeNode, height
from discreet.model.requirement import Requirement
from discreet.printing.document import BLANK, Column, Document, Grid, count, heading, rows_and_share
from discreet.printing.printed import Printed
from discreet.results.homogeneous import homogeneous_classes

_FIRSTS = (0, 1, 2, 3, 5, *(step * 10**power for power in range(1, 19) for step in (1, 2, 5)))
"""Where bins begin."""


class ClassLookup(Protocol):
    """What a summary asks of a lattice, whole or partial (``results.negotiable`` has it)."""

    @property
    def lattice(self) -> Lattice:
        """Attributes and heights."""

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""

    @property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts."""

    @property
    def loss_tables(self) -> LossTables:
        """Each attribute's loss by level."""

    @property
    def scores(self) -> tuple[Score, ...]:
        """The parts of a signature."""

    def rows_by_signature(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """One node's rows by the scores of their classes."""


@dataclass(frozen=True)
class ClassBin:
    """The classes whose size, or number of distinct values, lies from ``first`` to ``last``.

    ``kept`` and ``suppressed`` are rows. ``classes`` counts the classes, suppressed ones too; None where the
    sizes are in subjects, or the bin is of distinct values.
    """

    first: int
    last: int
    kept: int
    suppressed: int
    classes: int | None

    def as_json(self) -> dict[str, int | None]:
        """The bin as a document."""
        return {
            "first": self.first,
            "last": self.last,
            "kept": self.kept,
            "suppressed": self.suppressed,
            "classes": self.classes,
        }


@dataclass(frozen=True, repr=False)
class NodeSummary(Printed):
    """One node under a requirement.

    ``unit`` is what class sizes count: rows, or subjects where the spec names one. ``classes``, ``kept`` (the
    classes that are published) and ``mean`` are None for subjects. ``smallest`` and ``largest`` are of the
    classes that are published, None where all are suppressed; ``least_distinct`` likewise, by sensitive
    attribute. ``sizes`` are bins of class sizes, ``distinct`` of distinct values per sensitive attribute.
    ``homogeneous`` counts the published classes with at most one value, by sensitive attribute.
    ``cost`` is that of the node by the name ``cost_name``, where one was asked.
    """

    levels: dict[str, int]
    height: int
    loss: float
    rows: int
    suppressed: int
    unit: str
    classes: int | None
    kept: int | None
    smallest: int | None
    largest: int | None
    mean: float | None
    least_distinct: dict[str, int | None]
    sizes: tuple[ClassBin, ...]
    distinct: dict[str, tuple[ClassBin, ...]]
    homogeneous: dict[str, int]
    cost: float | None = None
    cost_name: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The node as a document; ``cost`` is there where one was asked, a ranked one as its parts."""
        asked = {"name": self.cost_name, "value": cost_in_json(self.cost)}
        return {
            **({} if self.cost_name is None else {"cost": asked}),
            "levels": self.levels,
            "height": self.height,
            "loss": self.loss,
            "rows": self.rows,
            "suppressed": self.suppressed,
            "unit": self.unit,
            "classes": self.classes,
            "kept": self.kept,
            "smallest": self.smallest,
            "largest": self.largest,
            "mean": self.mean,
            "least_distinct": self.least_distinct,
            "homogeneous": self.homogeneous,
            "sizes": [b.as_json() for b in self.sizes],
            "distinct": {name: [b.as_json() for b in bins] for name, bins in self.distinct.items()},
        }

    def document(self) -> Document:
        """Levels, suppressed rows, classes, and the bins of class sizes."""
        levels = " ".join(f"{level}" for level in self.levels.values())
        facts = [
            ("height", f"{self.height}"),
            ("loss", f"{self.loss:.4f}"),
            ("suppressed", rows_and_share(self.suppressed, self.rows)),
        ]
        if self.cost_name is not None:
            facts.insert(2, (f"cost, {self.cost_name}", cost_text(self.cost)))
        if self.classes is not None:
            facts.append(("classes", f"{self.classes:,}, {self.kept:,} of them published"))
        if self.smallest is not None:
            facts.append(("smallest class", f"{self.smallest:,} {self.unit}"))
        facts += [
            (f"classes with one value of {name}", f"{number:,}")
            for name, number in self.homogeneous.items()
            if number
        ]
        rows = tuple((_range(b), f"{b.kept:,}", f"{b.suppressed:,}") for b in self.sizes)
        columns = (
            Column(f"class size in {self.unit}"),
            Column("published rows", right=True),
            Column("suppressed rows", right=True),
        )
        title = f"Node {levels}: {count(self.rows, 'row')}"
        return (
            heading(title),
            Grid((Column(""), Column("", shrinks=True)), tuple(facts)),
            BLANK,
            Grid(columns, rows),
        )


def summarize_node(lattice: ClassLookup, node: LatticeNode, requirement: Requirement) -> NodeSummary:
    """One node of a lattice, whole or partial, under a requirement.

    ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one pass over the node's
    signatures; a roll-up of the row types where they do not tell all that is asked.
    """
    table = lattice.frequency_set
    names = table.sensitive_attributes
    told, signatures = _looked_up(lattice, node, requirement) or (names, _counted(table, node, requirement))
    places = {name: place for place, name in enumerate(told, 1)}
    by_rows = table.subjects is None
    kept = [(signature, rows) for signature, rows, fails in signatures if not fails]
    kept_classes = sum(rows // signature[0] for signature, rows in kept) if by_rows else None
    kept_rows = sum(rows for _, rows in kept)
    return NodeSummary(
        levels=lattice.lattice.levels_of(node),
        height=height(node),
        loss=lattice.loss_tables.loss_of_node(node),
        rows=lattice.rows,
        suppressed=lattice.rows - kept_rows,
        unit="rows" if by_rows else "subjects",
        classes=sum(rows // signature[0] for signature, rows, _ in signatures) if by_rows else None,
        kept=kept_classes,
        smallest=min((signature[0] for signature, _ in kept), default=None),
        largest=max((signature[0] for signature, _ in kept), default=None),
        mean=kept_rows / kept_classes if kept_classes else None,
        least_distinct={
            name: min((signature[places[name]] for signature, _ in kept if name in places), default=None)
            for name in names
        },
        homogeneous=(
            {name: _classes_of_one(kept, places[name]) for name in names}
            if by_rows and set(names) <= set(places)
            else homogeneous_classes(table, node, requirement)
        ),
        sizes=_bins(((s[0], rows, fails) for s, rows, fails in signatures), classes=by_rows),
        distinct={
            name: _bins(
                ((s[places[name]], rows, fails) for s, rows, fails in signatures if name in places),
                classes=False,
            )
            for name in names
        },
    )


def _classes_of_one(kept: Iterable[tuple[tuple[int, ...], int]], place: int) -> int:
    """Count the classes whose number of distinct values, at a place of their signature, is at most 1."""
    return sum(rows // signature[0] for signature, rows in kept if signature[place] <= 1)


Judged = tuple[tuple[int, ...], int, bool]
"""A signature (class size, then distinct values), the rows of classes that have it, whether these fail."""


def _looked_up(
    lattice: ClassLookup, node: LatticeNode, requirement: Requirement
) -> tuple[tuple[str, ...], list[Judged]] | None:
    """A node's signatures as evaluated, with the attributes that they tell; None where that is too little."""
    names, scores = lattice.frequency_set.sensitive_attributes, lattice.scores
    if requirement.of_cells is not None or any(one.of_rest for one in requirement.criteria):
        return None
    if not {one.criterion.counted for one in requirement.bound(names)} <= {*scores}:
        return None
    if requirement.of_release and lattice.frequency_set.subjects is not None:
        raise of_subjects_refused(requirement.of_release[0])
    found = lattice.rows_by_signature(node)
    columns = np.array(list(found), np.int64).reshape(len(found), len(scores)).T
    rows = np.array(list(found.values()), np.int64)
    fails = below(list(columns), requirement.of_classes.thresholds(scores, names))
    if requirement.of_release:
        sizes = np.repeat(columns[0], np.where(fails, 0, rows // columns[0]))
        fails |= columns[0] < least_size(requirement.of_release, sizes)
    told = tuple(name for name in names if distinct_of(name) in scores)
    shown = columns[[0, *(scores.index(distinct_of(name)) for name in told)]].T.tolist()
    return told, list(zip(map(tuple, shown), rows.tolist(), fails.tolist(), strict=True))


def _counted(table: FrequencySet, node: LatticeNode, requirement: Requirement) -> list[Judged]:
    """The same from the row types, by any criteria."""
    classes = roll_up(table, node)
    counter = FactCounter.of(table, requirement, exact=True)
    facts = counter.at_node(classes)
    parts = [facts.sizes, *(values.distinct for values in facts.values if values is not None)]
    columns = np.stack([*parts, suppressed(counter.bound, facts)], axis=1)
    kinds, kind = np.unique(columns, axis=0, return_inverse=True)
    rows = np.bincount(kind.ravel(), classes.counts, minlength=len(kinds)).astype(np.int64)
    return [
        (tuple(signature), number, bool(fails))
        for (*signature, fails), number in zip(kinds.tolist(), rows.tolist(), strict=True)
    ]


def _bins(found: Iterable[tuple[int, int, bool]], *, classes: bool) -> tuple[ClassBin, ...]:
    """Rows by value, in bins that begin at 1, 2, 3, 5, 10, 20, 50, 100, …; empty ones in between are kept."""
    bins: dict[int, list[int]] = {}
    for value, rows, fails in found:
        tally = bins.setdefault(bisect_right(_FIRSTS, value) - 1, [0, 0, 0])
        tally[fails] += rows
        tally[2] += rows // value if classes and value else 0
    if not bins:
        return ()
    tallies = [(i, *bins.get(i, (0, 0, 0))) for i in range(min(bins), max(bins) + 1)]
    return tuple(
        ClassBin(_FIRSTS[i], _FIRSTS[i + 1] - 1, kept, suppressed, number if classes else None)
        for i, kept, suppressed, number in tallies
    )


def _range(b: ClassBin) -> str:
    return f"{b.first:,}" if b.first == b.last else f"{b.first:,}–{b.last:,}"
