"""Mondrian on a table larger than memory, with the first cuts made by the engine (LeFevre et al. 2006).

The engine counts the row types into a table, then counts the histograms of all fragments in one GROUP BY
with grouping sets. Fragments are cut by their histograms until their row types fit the memory limit; the
kernels then cut each one to the end, in this process or in the engine's workers (``FragmentCutter`` can be
pickled). Row types, classes and their cells stay in the engine. The classes equal those of a table in
memory.

Cost: two reads and one write of the source, as in the paper; the table of row types is read once per level
of the first cuts, and once more for the fragments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import ColumnData, Engine
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.frequency.encoding import EncodedGroups, build_row_types
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.criteria.base import BoundCriterion
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import Cells, has_derived_label, has_only_leaves
from discreet.model.requirement import Requirement, no_criterion_error
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.mondrian.partition import MondrianNotice, strict_classes
from discreet.mondrian.space import CutSpace, leaf_order_of_cuts
from discreet.mondrian.stored_classes import (
    FragmentHistograms,
    StoredClassTables,
    StoredFragment,
    choose_cut,
    sensitive_positions,
)
from discreet.settings import Settings
from discreet.sql import star_schema as sql
from discreet.sql.star_schema import FACT_ROWS, sensitive_name


@dataclass(frozen=True, eq=False)
class StoredPartition:
    """Recoding by classes whose row types and classes stay in the engine.

    ``tables`` exist as long as the context that created them. ``fragments`` is the number of fragments that
    the engine cut the table into, ``scans`` the number of times it read the row types for that.
    """

    model: RecodingModel
    hierarchies: tuple[GeneralizationHierarchy, ...]
    requirement: Requirement
    tables: StoredClassTables
    dropped: int
    set_apart: int
    rows: int
    classes: int
    fragments: int
    scans: int
    warnings: tuple[str, ...]


def number_stored_classes(
    engine: Engine, tables: TemporaryTables, finished: str, fragments: Sequence[int], attributes: int
) -> StoredClassTables:
    """Number the classes and cells of finished fragments consecutively in the engine (``sql.star_schema``).

    Only the totals of each fragment and two facts of each attribute are fetched.
    """
    totals = {int(f): (int(c), int(n)) for f, c, n in engine.fetch_rows(sql.fragment_totals(finished))}
    classes = np.array([totals[fragment][0] for fragment in fragments], dtype=np.int64)
    first = np.cumsum(classes) - classes
    offsets = tables.load({sql.FRAGMENT: np.array(fragments, dtype=np.int64), sql.FIRST_CLASS: first})
    facts = sorted(engine.fetch_rows(sql.cell_facts(finished)))
    numbers = tables.create(sql.numbered_cells(engine.dialect, finished))
    mapped = tables.create(sql.cell_numbers(finished, numbers))
    result = StoredClassTables(
        row_types=tables.create(sql.classed_row_types(finished, offsets, attributes)),
        class_cells=tables.create(sql.class_cell_numbers(finished, offsets, mapped, attributes)),
        labels=tuple(tables.create(sql.cell_labels(numbers, attribute)) for attribute in range(attributes)),
        leaves=tuple(bool(leaves) for _, leaves, _ in facts),
        derived=tuple(bool(derived) for *_, derived in facts),
        rows=sum(n for _, n in totals.values()),
        classes=int(classes.sum()),
    )
    for done in (finished, mapped, numbers, offsets):
        tables.drop(done)
    return result


@dataclass(frozen=True, eq=False)
class FragmentCutter:
    """Callable that cuts one fragment to the end by strict Mondrian.

    ``occurring`` contains the positions of each attribute that occur in the whole table. ``notice`` is
    dropped when the cutter is pickled for a worker.
    """

    hierarchies: tuple[GeneralizationHierarchy, ...]
    sensitive: tuple[str, ...]
    requirement: Requirement
    settings: Settings
    options: MondrianOptions
    occurring: tuple[NDArray[np.int64], ...]
    notice: MondrianNotice | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "notice": None}

    @property
    def columns(self) -> dict[str, str]:
        """Column names and types of the table of finished fragments."""
        values = (sql.entry_value_name(i) for i in range(self._width))
        numbers = dict.fromkeys(
            [sql.FRAGMENT, sql.ENTRY_KIND, *values, sql.FRAGMENT_CLASS, FACT_ROWS], "BIGINT"
        )
        return {**numbers, sql.CELL_LABEL: "VARCHAR"}

    def __call__(self, arrays: Mapping[str, NDArray[Any]]) -> ColumnData:
        """Cut one fragment of row types and return the entries of its classes (``sql.star_schema``)."""
        table = self._frequency_set(arrays)
        options = self.options
        classes = strict_classes(
            table, self.requirement, self.settings, options, occurring=self.occurring, notice=self.notice
        )
        model = RecodingModel.ORDERED_MULTI
        recoding = classes_to_recoding(
            table, classes, self.requirement, model, options.summary, by_tree=options.by_tree
        )
        return self._entries(int(arrays[sql.FRAGMENT][0]), table, recoding)

    @property
    def _width(self) -> int:
        return max(len(self.hierarchies), sql.CELL_VALUES)

    def _frequency_set(self, arrays: Mapping[str, NDArray[Any]]) -> FrequencySet:
        """Rebuild the frequency set of a fragment from its positions and sensitive codes.

        Sensitive codes are renumbered to those that occur in the fragment; values have empty texts because
        only distinct counts are needed.
        """
        orders = [leaf_order_of_cuts(h, self.options.categorical) for h in self.hierarchies]
        codes = [order.code[arrays[sql.cut_position_name(i)]] for i, order in enumerate(orders)]
        values: list[tuple[str, ...]] = [h.leaves for h in self.hierarchies]
        for index in range(len(self.sensitive)):
            found = arrays[sensitive_name(index)].astype(np.int64)
            occurring = np.unique(found[found >= 0])
            codes.append(np.where(found < 0, len(occurring), np.searchsorted(occurring, found)))
            values.append(("",) * len(occurring))
        names = tuple(h.attribute for h in self.hierarchies) + self.sensitive
        groups = EncodedGroups(names, tuple(values), tuple(codes), arrays[FACT_ROWS].astype(np.int64))
        return build_row_types(groups, self.hierarchies, self.sensitive, None, 0)

    def _entries(self, fragment: int, table: FrequencySet, recoding: ClassRecoding) -> ColumnData:
        """Build one table with the three kinds of entries: row types, classes and cells."""
        numbers = np.arange(recoding.class_count)
        kinds = [
            (sql.ROW_TYPE_ENTRY, table.codes, recoding.classes, recoding.rows, [""] * table.row_types),
            (sql.CLASS_ENTRY, recoding.shown, numbers, recoding.class_rows(), [""] * len(numbers)),
        ]
        for attribute, (cells, hierarchy) in enumerate(zip(recoding.cells, self.hierarchies, strict=True)):
            entries, labels = _cell_entries(attribute, cells, hierarchy)
            nothing = np.zeros(len(labels), dtype=np.int64)
            kinds.append((sql.CELL_ENTRY, entries, nothing, nothing, labels))
        sizes = [len(labels) for *_, labels in kinds]
        values = np.zeros((sum(sizes), self._width), dtype=np.int64)
        ends = np.cumsum(sizes).tolist()
        for (_, value, *_), end, size in zip(kinds, ends, sizes, strict=True):
            values[end - size : end, : value.shape[1]] = value
        columns: dict[str, Any] = {
            sql.FRAGMENT: np.full(len(values), fragment, dtype=np.int64),
            sql.ENTRY_KIND: np.repeat(np.array([kind for kind, *_ in kinds], dtype=np.int64), sizes),
            sql.FRAGMENT_CLASS: np.concatenate([classes for _, _, classes, _, _ in kinds]),
            FACT_ROWS: np.concatenate([rows for _, _, _, rows, _ in kinds]),
            sql.CELL_LABEL: [label for *_, labels in kinds for label in labels],
        }
        columns |= {sql.entry_value_name(i): np.ascontiguousarray(values[:, i]) for i in range(self._width)}
        return columns


def _cell_entries(
    attribute: int, cells: Cells, hierarchy: GeneralizationHierarchy
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the cells of one attribute as entry values, and the label of each cell."""
    values = np.empty((len(cells.labels), sql.CELL_VALUES), dtype=np.int64)
    values[:, 0], values[:, 1] = attribute, np.arange(len(values))
    values[:, 2], values[:, 3] = has_only_leaves(cells, hierarchy), has_derived_label(cells, hierarchy)
    return values, ["" if label is None else sql.LABEL_MARK + label for label in cells.labels]


_BYTES_PER_CODE = 40
_BYTES_PER_ENTRY = 200
_FRAGMENTS_PER_WORKER = 3
_FEWEST_SHARED_ENTRIES = 1 << 16


class FactTableView(Protocol):
    """Fact table of leaf codes in an engine, as ``search.search_problem.FactTable`` defines it.

    Its columns are ``c0``, … (leaf codes; NULL is ``null_code``) and ``s0``, … (sensitive codes; -1 for
    NULL).
    """

    @property
    def engine(self) -> Engine:
        """Engine that contains the fact table."""

    @property
    def facts(self) -> str:
        """Name of the fact table."""

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """Hierarchies of the quasi-identifiers."""

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """Sensitive attributes, in the spec's order."""

    @property
    def dropped(self) -> int:
        """Number of rows that the NULL policy dropped."""

    @property
    def set_apart(self) -> int:
        """Number of rows without a value in any quasi-identifier, removed before counting."""

    @property
    def by_subject(self) -> bool:
        """True if the spec names a subject."""


@contextmanager
def partition_in_engine(
    facts: FactTableView,
    requirement: Requirement,
    settings: Settings,
    options: MondrianOptions = MondrianOptions(),  # noqa: B008
    *,
    notice: MondrianNotice | None = None,
) -> Iterator[StoredPartition]:
    """Partition a fact table by strict Mondrian, in the engine until fragments fit the memory limit.

    Parameters
    ----------
    facts
        The fact table of leaf codes.
    requirement
        k and distinct l.
    settings
        ``memory_limit`` bounds the row types of a fragment; ``threads`` are shared by the engine's workers.
    options
        Options of strict Mondrian.

    Yields
    ------
    StoredPartition
        The recoding; its tables are dropped when the context ends.

    Raises
    ------
    InputError
        For relaxed Mondrian, for no requirement or one with more than k and l, and if the spec names a
        subject.
    NoSolution
        If the table as a whole fails the requirement.
    LimitReached
        If a fragment can neither be cut nor fetched.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
    """
    if options.relaxed:
        raise InputError(
            "relaxed Mondrian needs the table in memory",
            allowed="strict Mondrian, or a memory limit that fits the frequency set",
        )
    if facts.by_subject:
        raise InputError("Mondrian in the engine does not support a subject", allowed="tables without one")
    if requirement.is_empty:
        raise no_criterion_error()
    for criterion in requirement.others:
        raise InputError(
            f"{criterion}: Mondrian in the engine does not evaluate {criterion.title}",
            allowed="k and l, or a memory limit that fits the frequency set",
            advice="Raise --memory-limit.",
        )
    with TemporaryTables(facts.engine) as tables:
        yield _ExternalRun(facts, requirement, settings, options, tables, notice).partition()


@dataclass(frozen=True, eq=False)
class _ExternalRun:
    """Shared state of the steps of one run."""

    facts: FactTableView
    requirement: Requirement
    settings: Settings
    options: MondrianOptions
    tables: TemporaryTables
    notice: MondrianNotice | None

    def partition(self) -> StoredPartition:
        engine, hierarchies = self.facts.engine, self.facts.hierarchies
        entries = self._count()
        bound = self.requirement.bound(self.facts.sensitive_attributes)
        whole_table = self._histograms(entries, 0, [0], sensitive_positions(bound))[0]
        occurring = tuple(whole_table.positions[i] for i in range(len(hierarchies)))
        codes = np.empty((0, len(hierarchies)), dtype=np.int64)
        no_rows = FrequencySet(hierarchies, codes, np.empty(0, dtype=np.int64))
        root = StoredFragment(CutSpace.of(no_rows, self.options, occurring), whole_table)
        if not root.total or not root.holds(bound):
            failing = dict.fromkeys(one.criterion for one in bound if not root.holds([one]))
            failed = Requirement(criteria=failing) if failing else self.requirement
            raise NoSolution(
                f"the table as a whole, {root.total:,} rows, does not meet {self.requirement}",
                advice=f"Relax the requirement: {failed.relaxing}.",
            )
        tree, fragments, scans = self._cut_fragments(entries, root, bound)
        finished = self._cut_to_the_end(entries, tree, fragments, occurring)
        tables = number_stored_classes(engine, self.tables, finished, fragments, len(hierarchies))
        return StoredPartition(
            model=RecodingModel.ORDERED_MULTI,
            hierarchies=hierarchies,
            requirement=self.requirement,
            tables=tables,
            rows=tables.rows,
            classes=tables.classes,
            dropped=self.facts.dropped,
            set_apart=self.facts.set_apart,
            fragments=len(fragments),
            scans=scans + 1,
            warnings=_SUMMARY_WARNINGS[self.options.summary],
        )

    def _count(self) -> str:
        """Count the row types into a table, with positions instead of codes, and return its name."""
        orders: list[str | None] = []
        for hierarchy in self.facts.hierarchies:
            rank = leaf_order_of_cuts(hierarchy, self.options.categorical).rank
            codes = np.arange(len(rank))
            columns = {sql.LEAF_CODE: codes, sql.CUT_POSITION: rank}
            orders.append(None if np.array_equal(rank, codes) else self.tables.load(columns))
        sensitive = len(self.facts.sensitive_attributes)
        return self.tables.create(sql.count_row_types(self.facts.facts, orders, sensitive))

    def _histograms(
        self, entries: str, tree: sql.Tree, fragments: Sequence[int], sensitive: Sequence[int]
    ) -> dict[int, FragmentHistograms]:
        attributes = len(self.facts.hierarchies)
        query = sql.histograms(entries, tree, fragments, attributes, sensitive)
        return FragmentHistograms.split(self.facts.engine.fetch_arrays(query), attributes, sensitive)

    def _cut_fragments(
        self, entries: str, root: StoredFragment, bound: Sequence[BoundCriterion]
    ) -> tuple[sql.Tree, list[int], int]:
        """Cut until every fragment fits; return the cut tree, its leaves from left to right, and the scans.

        If the engine works on several fragments in parallel, fragments are cut smaller so that no worker is
        idle.
        """
        fits = self.settings.memory_limit // (
            _BYTES_PER_CODE * len(self.facts.hierarchies) + _BYTES_PER_ENTRY
        )
        workers = self.facts.engine.groups_at_once
        share = max(root.entries // (_FRAGMENTS_PER_WORKER * workers), _FEWEST_SHARED_ENTRIES)
        most = min(fits, share) if workers > 1 else fits
        cuts: dict[int, tuple[int, int, int, int]] = {}
        large = {0: root} if root.entries > most else {}
        scans, numbers = 0, 1
        while large:
            halves: list[int] = []
            for number, fragment in large.items():
                cut = choose_cut(fragment, self.options, self.requirement.least_rows, bound)
                if cut is not None:
                    cuts[number] = (cut.attribute, cut.last, numbers, numbers + 1)
                    halves += [numbers, numbers + 1]
                    numbers += 2
                elif fragment.entries > fits:
                    raise LimitReached(
                        f"{fragment.entries:,} row types in one class that cannot be cut exceed the memory "
                        f"limit of {self.settings.memory_limit:,} bytes",
                        advice=f"Raise DISCREET_MEMORY_LIMIT, or {self.requirement.relaxing}.",
                    )
            if not halves:
                break
            found = self._histograms(entries, _build_cut_tree(cuts, 0), halves, sensitive_positions(bound))
            scans += 1
            sides = {number: StoredFragment(root.space, found[number]) for number in halves}
            large = {number: side for number, side in sides.items() if side.entries > most}
        tree = _build_cut_tree(cuts, 0)
        return tree, _leaves_of_tree(tree), scans

    def _cut_to_the_end(
        self, entries: str, tree: sql.Tree, fragments: Sequence[int], occurring: tuple[NDArray[np.int64], ...]
    ) -> str:
        """Cut all fragments to the end and return the name of the table of their entries."""
        engine, sensitive = self.facts.engine, self.facts.sensitive_attributes
        threads = max(1, self.settings.threads // engine.groups_at_once)
        cutter = FragmentCutter(
            hierarchies=self.facts.hierarchies,
            sensitive=sensitive,
            requirement=self.requirement,
            settings=replace(self.settings, threads=threads),
            options=self.options,
            occurring=occurring,
            notice=self.notice,
        )
        query = sql.with_fragments(entries, tree, len(self.facts.hierarchies), len(sensitive))
        name = self.tables.new_name()
        engine.apply_to_groups(name, query, sql.FRAGMENT, fragments, cutter, cutter.columns)
        return name


def _build_cut_tree(cuts: dict[int, tuple[int, int, int, int]], number: int) -> sql.Tree:
    if number not in cuts:
        return number
    attribute, last, left, right = cuts[number]
    return sql.Branch(attribute, last, _build_cut_tree(cuts, left), _build_cut_tree(cuts, right))


def _leaves_of_tree(tree: sql.Tree) -> list[int]:
    return (
        [*_leaves_of_tree(tree.left), *_leaves_of_tree(tree.right)]
        if isinstance(tree, sql.Branch)
        else [tree]
    )


_SUMMARY_WARNINGS: dict[Summary, tuple[str, ...]] = {
    Summary.LCA: (),
    Summary.SETS: ("Sets show exactly which values occur in each class.",),
    Summary.RANGES: ("Ranges end at values that occur in each class.",),
    Summary.MEANS: (
        "Ranges end at values that occur in each class.",
        "In classes of at most 3 rows, mean and range together determine every row's value.",
    ),
}
