"""Summary and histogram of one node: loss, suppressed rows, class sizes, distinct sensitive values.

The summary reads the evaluated signatures if they suffice for all criteria, else it rolls the row types up
once. The histogram and the count of homogeneous classes always roll up.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.fact_counter import FactCounter
from discreet.frequency.rollup import roll_up
from discreet.measures.loss import LossTables
from discreet.model.criteria.base import ScoreKey
from discreet.model.criteria.registry import distinct_score
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, node_height
from discreet.model.requirement import (
    Requirement,
    smallest_kept_size,
    subject_count_error,
    suppression_mask,
    threshold_mask,
)
from discreet.model.search_result import cost_as_json, format_cost
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    format_quantity,
    format_rows,
    heading_line,
    make_columns,
)
from discreet.printing.rendering import Printable, Record, record_as_json


def count_homogeneous_classes(
    table: FrequencySet, node: LatticeNode, requirement: Requirement
) -> dict[str, int]:
    """Count the published classes of a node with at most one value of a sensitive attribute.

    ``requirement`` decides which classes are published. The result maps each sensitive attribute to the
    number of such classes. NULL is not a value: a class of ``flu`` and NULL has one, and a class of only NULL
    has none. Raises ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one roll-up
    of the row types, and one pass over the sensitive values.
    """
    classes = roll_up(table, node)
    counter = FactCounter.of(table, requirement, exact=True)
    facts = counter.at_node(classes)
    published = ~suppression_mask(counter.bound, facts) & (facts.sizes > 0)
    return {
        name: int((published & (values.distinct <= 1)).sum())
        for name, values in zip(table.sensitive_attributes, facts.values, strict=True)
        if values is not None
    }


_BAR_WIDTH = 24
_MAX_LINES = 30


@dataclass(frozen=True)
class HistogramLine(Record):
    """Classes of one value: a size or a number of distinct sensitive values.

    ``rows`` are those of the classes; ``upto`` are those of all classes of at most this value, which would be
    suppressed by a bound of ``value`` + 1.
    """

    value: int
    classes: int
    rows: int
    upto: int


@dataclass(frozen=True, repr=False)
class NodeHistogramResult(Record, Printable):
    """Histogram of one node's classes by size and, per sensitive attribute, by distinct values.

    ``unit`` is the unit of sizes: rows, or subjects if the spec has one.
    """

    levels: dict[str, int]
    rows: int
    classes: int
    unit: str
    sizes: tuple[HistogramLine, ...]
    distinct: dict[str, tuple[HistogramLine, ...]]

    def document(self) -> Document:
        """Return a grid with bars for the sizes, and one per sensitive attribute; long ones are cut."""
        levels = " ".join(f"{level}" for level in self.levels.values())
        found: list[Line | Grid] = [
            heading_line(
                f"Node {levels}: {format_quantity(self.rows, 'row')} in "
                f"{format_quantity(self.classes, 'class', 'classes')}"
            )
        ]
        found += _histogram_grid(f"class size in {self.unit}", self.sizes)
        for name, lines in self.distinct.items():
            found += [BLANK, *_histogram_grid(f"distinct values of {name}", lines)]
        return tuple(found)


def make_node_histogram(table: FrequencySet, node: LatticeNode, lattice: Lattice) -> NodeHistogramResult:
    """Count the classes of one node by size and by distinct sensitive values, in one roll-up."""
    classes = roll_up(table, node)
    facts = FactCounter.of(table, Requirement(1), exact=True).at_node(classes)
    rows = np.bincount(classes.class_of, table.counts, facts.classes).astype(np.int64)
    occurring = rows > 0
    return NodeHistogramResult(
        levels=lattice.levels_of(node),
        rows=int(rows.sum()),
        classes=int(occurring.sum()),
        unit="rows" if table.subjects is None else "subjects",
        sizes=_histogram_lines(facts.sizes[occurring], rows[occurring]),
        distinct={
            name: _histogram_lines(values.distinct[occurring], rows[occurring])
            for name, values in zip(table.sensitive_attributes, facts.values, strict=True)
            if values is not None
        },
    )


def _histogram_lines(values: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[HistogramLine, ...]:
    kinds, kind, classes = np.unique(values, return_inverse=True, return_counts=True)
    of_kind = np.bincount(kind.reshape(-1), rows, len(kinds)).astype(np.int64)
    columns = (kinds, classes, of_kind, np.cumsum(of_kind))
    return tuple(HistogramLine(*line) for line in zip(*(c.tolist() for c in columns), strict=True))


def _histogram_grid(value_title: str, lines: tuple[HistogramLine, ...]) -> Iterable[Line | Grid]:
    """Yield a grid of the first lines with bars, and a line on the rest."""
    shown_lines = lines if len(lines) <= _MAX_LINES else lines[: _MAX_LINES - 1]
    most = max((line.rows for line in lines), default=1)
    columns = make_columns(f">{value_title}", ">classes", ">rows", ">rows up to it", "")
    yield Grid(
        columns,
        tuple(
            (
                f"{line.value:,}",
                f"{line.classes:,}",
                f"{line.rows:,}",
                f"{line.upto:,}",
                "█" * max(round(_BAR_WIDTH * line.rows / most), int(line.rows > 0)),
            )
            for line in shown_lines
        ),
    )
    rest = lines[len(shown_lines) :]
    if rest:
        classes, rows = sum(line.classes for line in rest), sum(line.rows for line in rest)
        yield Line(
            f"Larger values, up to {rest[-1].value:,}: {format_quantity(classes, 'class', 'classes')} of "
            f"{format_quantity(rows, 'row')}. --json lists all."
        )


_BIN_STARTS = (0, 1, 2, 3, 5, *(step * 10**power for power in range(1, 19) for step in (1, 2, 5)))
"""First value of each bin."""


class SignatureLookup(Protocol):
    """Lattice, whole or partial, that a summary reads.

    ``results.table_lattice`` implements it and imports this module, so it cannot be imported here.
    """

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
        """Loss of each attribute by level."""

    @property
    def scores(self) -> tuple[ScoreKey, ...]:
        """Parts of a signature."""

    def rows_by_signature(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """Return one node's rows by the scores of their classes."""


@dataclass(frozen=True)
class ClassBin(Record):
    """Classes with a size, or number of distinct values, from ``first`` to ``last``.

    ``kept`` and ``suppressed`` are rows. ``classes`` counts the classes, including suppressed ones; None if
    the sizes are in subjects, or if the bin is of distinct values.
    """

    first: int
    last: int
    kept: int
    suppressed: int
    classes: int | None


@dataclass(frozen=True, repr=False)
class NodeSummary(Printable):
    """Summary of one node under a requirement.

    ``unit`` is the unit of class sizes: rows, or subjects if the spec has one. ``classes``, ``kept``
    (published classes) and ``mean`` are None for subjects. ``smallest`` and ``largest`` are of the published
    classes, None if all are suppressed; ``least_distinct`` likewise, by sensitive attribute. ``sizes`` are
    bins of class sizes, ``distinct`` of distinct values per sensitive attribute. ``homogeneous`` counts the
    published classes with at most one value, by sensitive attribute. ``cost`` is the node's cost under
    ``cost_name``, if one was requested.
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
    homogeneous: dict[str, int]
    sizes: tuple[ClassBin, ...]
    distinct: dict[str, tuple[ClassBin, ...]]
    cost: float | None = None
    cost_name: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the node as a document; ``cost`` is included on request, a ranked one as its parts."""
        cost = {"name": self.cost_name, "value": cost_as_json(self.cost)}
        found = record_as_json(self)
        del found["cost"], found["cost_name"]
        return found if self.cost_name is None else {"cost": cost} | found

    def document(self) -> Document:
        """Return levels, suppressed rows, classes, and the bins of class sizes."""
        levels = " ".join(f"{level}" for level in self.levels.values())
        facts = [
            ("height", f"{self.height}"),
            ("loss", f"{self.loss:.4f}"),
            ("suppressed", format_rows(self.suppressed, self.rows)),
        ]
        if self.cost_name is not None:
            facts.insert(2, (f"cost, {self.cost_name}", format_cost(self.cost)))
        if self.classes is not None:
            facts.append(("classes", f"{self.classes:,}, {self.kept:,} of them published"))
        if self.smallest is not None:
            facts.append(("smallest class", f"{self.smallest:,} {self.unit}"))
        facts += [
            (f"classes with one value of {name}", f"{number:,}")
            for name, number in self.homogeneous.items()
            if number
        ]
        rows = tuple((_bin_text(b), f"{b.kept:,}", f"{b.suppressed:,}") for b in self.sizes)
        columns = make_columns(f"class size in {self.unit}", ">published rows", ">suppressed rows")
        title = f"Node {levels}: {format_quantity(self.rows, 'row')}"
        return (
            heading_line(title),
            Grid(make_columns("", "~"), tuple(facts)),
            BLANK,
            Grid(columns, rows),
        )


def summarize_node(lattice: SignatureLookup, node: LatticeNode, requirement: Requirement) -> NodeSummary:
    """Summarize one node of a lattice, whole or partial, under a requirement.

    Raises ``InputError`` for a criterion of an attribute that is not sensitive. Cost: one pass over the
    node's signatures; a roll-up of the row types if the signatures do not suffice.
    """
    table = lattice.frequency_set
    names = table.sensitive_attributes
    counted_names, signatures = _lookup_signatures(lattice, node, requirement) or (
        names,
        _count_signatures(table, node, requirement),
    )
    indexes = {name: index for index, name in enumerate(counted_names, 1)}
    by_rows = table.subjects is None
    published = [(signature, rows) for signature, rows, fails in signatures if not fails]
    # All classes of a signature have the size ``signature[0]``, so the rows divided by it count the classes.
    kept_classes = sum(rows // signature[0] for signature, rows in published) if by_rows else None
    kept_rows = sum(rows for _, rows in published)
    return NodeSummary(
        levels=lattice.lattice.levels_of(node),
        height=node_height(node),
        loss=lattice.loss_tables.loss_of_node(node),
        rows=lattice.rows,
        suppressed=lattice.rows - kept_rows,
        unit="rows" if by_rows else "subjects",
        classes=sum(rows // signature[0] for signature, rows, _ in signatures) if by_rows else None,
        kept=kept_classes,
        smallest=min((signature[0] for signature, _ in published), default=None),
        largest=max((signature[0] for signature, _ in published), default=None),
        mean=kept_rows / kept_classes if kept_classes else None,
        least_distinct={
            name: min(
                (signature[indexes[name]] for signature, _ in published if name in indexes), default=None
            )
            for name in names
        },
        homogeneous=(
            {name: _count_single_valued(published, indexes[name]) for name in names}
            if by_rows and set(names) <= set(indexes)
            else count_homogeneous_classes(table, node, requirement)
        ),
        sizes=_make_bins(((s[0], rows, fails) for s, rows, fails in signatures), classes=by_rows),
        distinct={
            name: _make_bins(
                ((s[indexes[name]], rows, fails) for s, rows, fails in signatures if name in indexes),
                classes=False,
            )
            for name in names
        },
    )


def _count_single_valued(published: Iterable[tuple[tuple[int, ...], int]], index: int) -> int:
    """Count the classes with at most one distinct value, at an index of their signature."""
    return sum(rows // signature[0] for signature, rows in published if signature[index] <= 1)


JudgedSignature = tuple[tuple[int, ...], int, bool]
"""Signature (class size, then distinct values), the rows of its classes, and True if these classes fail."""


def _lookup_signatures(
    lattice: SignatureLookup, node: LatticeNode, requirement: Requirement
) -> tuple[tuple[str, ...], list[JudgedSignature]] | None:
    """Return the attributes and signatures of an evaluated node; None if its scores do not suffice."""
    names, scores = lattice.frequency_set.sensitive_attributes, lattice.scores
    if requirement.of_cells is not None or any(one.judges_suppressed_rows for one in requirement.criteria):
        return None
    if not {one.criterion.counted for one in requirement.bound(names)} <= {*scores}:
        return None
    if requirement.of_release and lattice.frequency_set.subjects is not None:
        raise subject_count_error(requirement.of_release[0])
    found = lattice.rows_by_signature(node)
    columns = np.array(list(found), np.int64).reshape(len(found), len(scores)).T
    rows = np.array(list(found.values()), np.int64)
    fails = threshold_mask(list(columns), requirement.of_classes.thresholds(scores, names))
    if requirement.of_release:
        # One size per published class: criteria of the whole release suppress the smallest classes.
        sizes = np.repeat(columns[0], np.where(fails, 0, rows // columns[0]))
        fails |= columns[0] < smallest_kept_size(requirement.of_release, sizes)
    counted_names = tuple(name for name in names if distinct_score(name) in scores)
    columns_of_scores = columns[
        [0, *(scores.index(distinct_score(name)) for name in counted_names)]
    ].T.tolist()
    return counted_names, list(zip(map(tuple, columns_of_scores), rows.tolist(), fails.tolist(), strict=True))


def _count_signatures(
    table: FrequencySet, node: LatticeNode, requirement: Requirement
) -> list[JudgedSignature]:
    """Count a node's signatures from the row types, for any criteria."""
    classes = roll_up(table, node)
    counter = FactCounter.of(table, requirement, exact=True)
    facts = counter.at_node(classes)
    parts = [facts.sizes, *(values.distinct for values in facts.values if values is not None)]
    columns = np.stack([*parts, suppression_mask(counter.bound, facts)], axis=1)
    kinds, kind = np.unique(columns, axis=0, return_inverse=True)
    rows = np.bincount(kind.ravel(), classes.counts, minlength=len(kinds)).astype(np.int64)
    return [
        (tuple(signature), number, bool(fails))
        for (*signature, fails), number in zip(kinds.tolist(), rows.tolist(), strict=True)
    ]


def _make_bins(sizes: Iterable[tuple[int, int, bool]], *, classes: bool) -> tuple[ClassBin, ...]:
    """Sum rows by value, in bins from 1, 2, 3, 5, 10, 20, 50, 100, …; empty bins in between are kept."""
    bins: dict[int, list[int]] = {}
    for value, rows, fails in sizes:
        tally = bins.setdefault(bisect_right(_BIN_STARTS, value) - 1, [0, 0, 0])
        tally[fails] += rows
        tally[2] += rows // value if classes and value else 0
    if not bins:
        return ()
    tallies = [(i, *bins.get(i, (0, 0, 0))) for i in range(min(bins), max(bins) + 1)]
    return tuple(
        ClassBin(_BIN_STARTS[i], _BIN_STARTS[i + 1] - 1, published, suppressed, number if classes else None)
        for i, published, suppressed, number in tallies
    )


def _bin_text(b: ClassBin) -> str:
    return f"{b.first:,}" if b.first == b.last else f"{b.first:,}–{b.last:,}"
