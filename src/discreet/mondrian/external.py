"""Mondrian on a table larger than memory: the first cuts are made where the rows live (paper 001).

A cut needs the rows by place of each attribute, and such a histogram is far smaller than the table. So the
engine counts the row types once, into a table of its own, and then the histograms of all fragments at once,
by one GROUP BY with grouping sets. Fragments are cut by them until the row types of each fit the memory
limit; each is then fetched and cut on by the kernels. The classes are those that a table in memory gives,
to the last one.

Of the source this takes two reads and one write, as the paper says: the count, and the recoding that follows.
The table of row types is read once for each level of the first cuts, and once per fragment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.class_cells import MergedCells, Summary
from discreet.frequency.class_summary import classes_to_recoding
from discreet.frequency.encode import EncodedGroups
from discreet.frequency.merge import row_types
from discreet.model.cells import Cells
from discreet.model.class_recoding import RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import leaf_order
from discreet.model.requirement import Requirement
from discreet.mondrian.greedy import Progress
from discreet.mondrian.options import MondrianOptions
from discreet.mondrian.partition import Notice, strict_classes
from discreet.mondrian.space import Space
from discreet.mondrian.stored import Histograms, StoredFragment, first_cut
from discreet.settings import Settings
from discreet.sql import partition as sql
from discreet.sql.star_schema import ROWS, code_name, sensitive_name

_BYTES_PER_CODE = 40
_BYTES_PER_ENTRY = 200


class Facts(Protocol):
    """A fact table of leaf codes in an engine, as ``search.fact_table.FactTable`` describes one.

    Its columns: ``c0``, … (leaf codes; NULL is ``null_code``) and ``s0``, … (sensitive codes; -1 for NULL).
    """

    @property
    def engine(self) -> Engine:
        """Where it lies."""

    @property
    def facts(self) -> str:
        """The name of the fact table."""

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """The quasi-identifiers'."""

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The sensitive attributes, in the spec's order."""

    @property
    def dropped(self) -> int:
        """Rows that the NULL policy left out."""

    @property
    def by_subject(self) -> bool:
        """Whether the spec names a subject."""


@dataclass(frozen=True, eq=False)
class StoredPartition:
    """A recoding by classes whose row types and classes stay in the engine.

    ``row_types`` names a table with the leaf codes of each row type (``c0``, …) and its ``class``;
    ``shown`` one with, for each ``class``, the number in ``cells[i]`` of what it shows (``q0``, …) and its
    rows (``n``). Both live as long as the context that made them. ``fragments`` says into how many the
    engine cut the table, and ``scans`` how often it read the row types for that.
    """

    model: RecodingModel
    hierarchies: tuple[GeneralizationHierarchy, ...]
    requirement: Requirement
    cells: tuple[Cells, ...]
    row_types: str
    shown: str
    rows: int
    dropped: int
    classes: int
    fragments: int
    scans: int
    warnings: tuple[str, ...]


@contextmanager
def partition_stored(
    facts: Facts,
    requirement: Requirement,
    settings: Settings,
    options: MondrianOptions = MondrianOptions(),  # noqa: B008
    *,
    notice: Notice | None = None,
    progress: Progress | None = None,
) -> Iterator[StoredPartition]:
    """Strict Mondrian of a fact table, in the engine until fragments fit ``settings.memory_limit``.

    Raises ``InputError`` for relaxed Mondrian, for no requirement, and where subjects are named;
    ``NoSolution`` where the table as a whole fails; ``LimitReached`` where a fragment can neither be cut
    nor fetched.
    """
    if options.relaxed:
        raise InputError(
            "relaxed Mondrian divides row types, which the table in the engine is too large for",
            allowed="strict Mondrian, or a memory limit that holds the frequency set",
        )
    if facts.by_subject:
        raise InputError("Mondrian counts rows, and the spec names a subject", allowed="tables without one")
    if requirement.is_empty:
        raise InputError("no requirement", allowed="k, l, or both")
    with TemporaryTables(facts.engine) as tables:
        yield _Run(facts, requirement, settings, options, tables, notice, progress).partition()


@dataclass(frozen=True, eq=False)
class _Run:
    """What the steps of one run share."""

    facts: Facts
    requirement: Requirement
    settings: Settings
    options: MondrianOptions
    tables: TemporaryTables
    notice: Notice | None
    progress: Progress | None

    def partition(self) -> StoredPartition:
        entries = self._count()
        needs = self._needs()
        whole = self._histograms(entries, 0, [0], [place for place, _ in needs])[0]
        occurring = [whole.rows_by_place(i)[0] for i in range(len(self.facts.hierarchies))]
        space = Space.of(self._empty(), self.options, occurring)
        root = StoredFragment(space, whole)
        if not root.total or not root.holds(self.requirement.k or 1, needs):
            raise NoSolution(
                f"the table as a whole, {root.total:,} rows, does not meet {self.requirement}",
                advice="Ask for less: a smaller k or l.",
            )
        tree, fragments, scans = self._cut_fragments(entries, root, needs)
        output = _Output(self.facts, self.tables)
        for number in fragments:
            output.add(self._classes(entries, tree, number, occurring))
            if self.progress is not None:
                self.progress(output.rows, root.total)
        return output.partition(self.requirement, self.options, len(fragments), scans + 1)

    def _count(self) -> str:
        """The table of row types, with places instead of codes."""
        orders: list[str | None] = []
        for hierarchy in self.facts.hierarchies:
            rank = leaf_order(hierarchy).rank
            codes = np.arange(len(rank))
            columns = {sql.CODE: codes, sql.PLACE: rank}
            orders.append(None if np.array_equal(rank, codes) else self.tables.load(columns))
        name = self.tables.new_name()
        sensitive = len(self.facts.sensitive_attributes)
        self.facts.engine.execute(sql.row_types(name, self.facts.facts, orders, sensitive))
        return name

    def _needs(self) -> list[tuple[int, int]]:
        """Which sensitive attributes need how many values."""
        thresholds = self.requirement.l_of(self.facts.sensitive_attributes)
        return [(place, least) for place, least in enumerate(thresholds) if least is not None]

    def _empty(self) -> FrequencySet:
        hierarchies = self.facts.hierarchies
        codes = np.empty((0, len(hierarchies)), dtype=np.int64)
        return FrequencySet(hierarchies, codes, np.empty(0, dtype=np.int64))

    def _histograms(
        self, entries: str, tree: sql.Tree, fragments: Sequence[int], sensitive: Sequence[int]
    ) -> dict[int, Histograms]:
        attributes = len(self.facts.hierarchies)
        query = sql.histograms(entries, tree, fragments, attributes, sensitive)
        return Histograms.split(self.facts.engine.fetch_arrays(query), attributes, sensitive)

    def _cut_fragments(
        self, entries: str, root: StoredFragment, needs: list[tuple[int, int]]
    ) -> tuple[sql.Tree, list[int], int]:
        """Cut until every fragment fits; the tree of cuts, its leaves from left to right, and the scans."""
        most = self.settings.memory_limit // (
            _BYTES_PER_CODE * len(self.facts.hierarchies) + _BYTES_PER_ENTRY
        )
        cuts: dict[int, tuple[int, int, int, int]] = {}
        large = {0: root} if root.entries > most else {}
        scans, numbers = 0, 1
        while large:
            for number, fragment in large.items():
                cut = first_cut(fragment, self.options, self.requirement.k or 1, needs)
                if cut is None:
                    raise LimitReached(
                        f"{fragment.entries:,} row types in one class that cannot be cut are too many for "
                        f"the memory limit of {self.settings.memory_limit:,} bytes",
                        advice="Raise DISCREET_MEMORY_LIMIT, or ask for a smaller k or l.",
                    )
                cuts[number] = (cut.attribute, cut.last, numbers, numbers + 1)
                numbers += 2
            halves = [half for number in large for half in cuts[number][2:]]
            sensitive = [place for place, _ in needs]
            found = self._histograms(entries, _tree(cuts, 0), halves, sensitive)
            scans += 1
            sides = {number: StoredFragment(root.space, found[number]) for number in halves}
            large = {number: side for number, side in sides.items() if side.entries > most}
        tree = _tree(cuts, 0)
        return tree, _leaves(tree), scans

    def _classes(
        self, entries: str, tree: sql.Tree, number: int, occurring: list[NDArray[np.int64]]
    ) -> _Fragment:
        """Fetch a fragment and cut it on."""
        table = self._fetched(entries, tree, number)
        classes = strict_classes(
            table,
            self.requirement,
            self.settings,
            self.options,
            occurring=occurring,
            notice=self.notice,
        )
        model = RecodingModel.ORDERED_MULTI
        recoding = classes_to_recoding(table, classes, self.requirement, model, self.options.summary)
        return _Fragment(table.codes, classes, recoding.shown, recoding.class_rows(), recoding.cells)

    def _fetched(self, entries: str, tree: sql.Tree, number: int) -> FrequencySet:
        hierarchies, sensitive = self.facts.hierarchies, self.facts.sensitive_attributes
        query = sql.fragment(entries, tree, number, len(hierarchies), len(sensitive))
        arrays = self.facts.engine.fetch_arrays(query)
        codes = [leaf_order(h).code[arrays[sql.place_name(i)]] for i, h in enumerate(hierarchies)]
        values: list[tuple[str, ...]] = [h.leaves for h in hierarchies]
        for place in range(len(sensitive)):
            found = arrays[sensitive_name(place)].astype(np.int64)
            size = int(found.max(initial=-1)) + 1
            codes.append(np.where(found < 0, size, found))
            values.append(("",) * size)
        names = tuple(h.attribute for h in hierarchies) + sensitive
        groups = EncodedGroups(names, tuple(values), tuple(codes), arrays[ROWS].astype(np.int64))
        return row_types(groups, hierarchies, sensitive, None, 0)


def _tree(cuts: dict[int, tuple[int, int, int, int]], number: int) -> sql.Tree:
    if number not in cuts:
        return number
    attribute, last, left, right = cuts[number]
    return sql.Branch(attribute, last, _tree(cuts, left), _tree(cuts, right))


def _leaves(tree: sql.Tree) -> list[int]:
    return [*_leaves(tree.left), *_leaves(tree.right)] if isinstance(tree, sql.Branch) else [tree]


@dataclass(frozen=True, eq=False)
class _Fragment:
    """The classes of one fragment, numbered from 0."""

    codes: NDArray[np.int64]
    classes: NDArray[np.int64]
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]
    cells: tuple[Cells, ...]


class _Output:
    """The tables of a stored partition, written fragment by fragment."""

    def __init__(self, facts: Facts, tables: TemporaryTables) -> None:
        attributes = range(len(facts.hierarchies))
        self.rows = self._classes = 0
        self._facts, self._tables = facts, tables
        self._merged = [MergedCells(hierarchy) for hierarchy in facts.hierarchies]
        self._row_types, self._shown = tables.new_name(), tables.new_name()
        self._type_columns = [*(code_name(i) for i in attributes), sql.CLASS]
        self._shown_columns = [*(sql.shown_name(i) for i in attributes), sql.CLASS, ROWS]
        facts.engine.execute(sql.empty_table(self._row_types, self._type_columns))
        facts.engine.execute(sql.empty_table(self._shown, self._shown_columns))

    def add(self, fragment: _Fragment) -> None:
        """Write one fragment's row types and classes."""
        types = [*fragment.codes.T, fragment.classes + self._classes]
        self._append(self._row_types, self._type_columns, types)
        cells = [merged.add(held) for merged, held in zip(self._merged, fragment.cells, strict=True)]
        shown = [numbers[column] for numbers, column in zip(cells, fragment.shown.T, strict=True)]
        numbers = self._classes + np.arange(len(fragment.rows))
        self._append(self._shown, self._shown_columns, [*shown, numbers, fragment.rows])
        self._classes += len(fragment.rows)
        self.rows += int(fragment.rows.sum())

    def _append(self, table: str, names: list[str], columns: list[NDArray[Any]]) -> None:
        arrays = [np.ascontiguousarray(column) for column in columns]
        loaded = self._tables.load(dict(zip(names, arrays, strict=True)))
        self._facts.engine.execute(sql.append(table, loaded, names))
        self._tables.drop(loaded)

    def partition(
        self, requirement: Requirement, options: MondrianOptions, fragments: int, scans: int
    ) -> StoredPartition:
        """What was written."""
        return StoredPartition(
            model=RecodingModel.ORDERED_MULTI,
            hierarchies=self._facts.hierarchies,
            requirement=requirement,
            cells=tuple(merged.cells() for merged in self._merged),
            row_types=self._row_types,
            shown=self._shown,
            rows=self.rows,
            dropped=self._facts.dropped,
            classes=self._classes,
            fragments=fragments,
            scans=scans,
            warnings=_SAID[options.summary],
        )


_SAID: dict[Summary, tuple[str, ...]] = {
    Summary.LCA: (),
    Summary.SETS: ("Sets show exactly which values occur in each class.",),
    Summary.RANGES: ("Ranges end at values that occur in each class.",),
    Summary.MEANS: (
        "Ranges end at values that occur in each class.",
        "In classes of at most 3 rows, mean and range together tell every row's value.",
    ),
}
