"""Mondrian on a table larger than memory: the first cuts are made where the rows live (LeFevre et al. 2006).

A cut needs the rows by place of each attribute, and such a histogram is far smaller than the table. So the
engine counts the row types once, into a table of its own, and then the histograms of all fragments at once,
by one GROUP BY with grouping sets. Fragments are cut by them until the row types of each fit the memory
limit; each is then cut on by the kernels, one after the other in this process, or, where the engine runs
Python beside the rows, by its workers (``finishing``). Row types, classes and what they show stay in the
engine: what comes here are histograms and totals. The classes are those that a table in memory gives, to the
last one.

Of the source this takes two reads and one write, as the paper says: the count, and the recoding that follows.
The table of row types is read once for each level of the first cuts, and once more for the fragments (once
for each, where they come here).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.class_cells import Summary
from discreet.model.class_recoding import RecodingModel
from discreet.model.criteria.base import Bound
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement, nothing_required
from discreet.mondrian.finishing import FragmentCutter
from discreet.mondrian.greedy import Progress
from discreet.mondrian.options import MondrianOptions
from discreet.mondrian.partition import Notice
from discreet.mondrian.space import Space, cutting_order
from discreet.mondrian.stored import Histograms, StoredFragment, first_cut, places_of
from discreet.mondrian.stored_partition import StoredPartition, number_through
from discreet.settings import Settings
from discreet.sql import partition as sql

_BYTES_PER_CODE = 40
_BYTES_PER_ENTRY = 200
_FRAGMENTS_PER_WORKER = 3
_GRAIN = 1 << 16


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
    def set_apart(self) -> int:
        """Rows that show nothing in any quasi-identifier, left out before."""

    @property
    def by_subject(self) -> bool:
        """Whether the spec names a subject."""


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

    Raises ``InputError`` for relaxed Mondrian, for no requirement or more than k and l, and where subjects
    are named; ``NoSolution`` where the table as a whole fails; ``LimitReached`` where a fragment can neither
    be cut nor fetched.
    """
    if options.relaxed:
        raise InputError(
            "relaxed Mondrian divides row types, which the table in the engine is too large for",
            allowed="strict Mondrian, or a memory limit that holds the frequency set",
        )
    if facts.by_subject:
        raise InputError("Mondrian counts rows, and the spec names a subject", allowed="tables without one")
    if requirement.is_empty:
        raise nothing_required()
    for criterion in requirement.others:
        raise InputError(
            f"{criterion}: Mondrian in the engine counts no classes for {criterion.title}",
            allowed="k and l, or a memory limit that holds the frequency set",
            advice="Raise --memory-limit.",
        )
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
        engine, hierarchies = self.facts.engine, self.facts.hierarchies
        entries = self._count()
        bound = self.requirement.bound(self.facts.sensitive_attributes)
        whole = self._histograms(entries, 0, [0], places_of(bound))[0]
        occurring = tuple(whole.rows_by_place(i)[0] for i in range(len(hierarchies)))
        root = StoredFragment(Space.of(self._empty(), self.options, occurring), whole)
        if not root.total or not root.holds(bound):
            raise NoSolution(
                f"the table as a whole, {root.total:,} rows, does not meet {self.requirement}",
                advice=f"Ask for less: {self._failing(root, bound).relaxing}.",
            )
        tree, fragments, scans = self._cut_fragments(entries, root, bound)
        finished = self._finished(entries, tree, fragments, occurring)
        return StoredPartition(
            model=RecodingModel.ORDERED_MULTI,
            hierarchies=hierarchies,
            requirement=self.requirement,
            tables=number_through(engine, self.tables, finished, fragments, len(hierarchies)),
            dropped=self.facts.dropped,
            set_apart=self.facts.set_apart,
            fragments=len(fragments),
            scans=scans + 1,
            warnings=_SAID[self.options.summary],
        )

    def _count(self) -> str:
        """The table of row types, with places instead of codes."""
        orders: list[str | None] = []
        for hierarchy in self.facts.hierarchies:
            rank = cutting_order(hierarchy, self.options.categorical).rank
            codes = np.arange(len(rank))
            columns = {sql.CODE: codes, sql.PLACE: rank}
            orders.append(None if np.array_equal(rank, codes) else self.tables.load(columns))
        sensitive = len(self.facts.sensitive_attributes)
        return self.tables.create(sql.row_types(self.facts.facts, orders, sensitive))

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
        self, entries: str, root: StoredFragment, bound: Sequence[Bound]
    ) -> tuple[sql.Tree, list[int], int]:
        """Cut until every fragment fits; the tree of cuts, its leaves from left to right, and the scans.

        Where several fragments are worked on at once, smaller ones are wanted, so that no worker is idle.
        """
        fits = self.settings.memory_limit // (
            _BYTES_PER_CODE * len(self.facts.hierarchies) + _BYTES_PER_ENTRY
        )
        workers = self.facts.engine.groups_at_once
        share = max(root.entries // (_FRAGMENTS_PER_WORKER * workers), _GRAIN)
        most = min(fits, share) if workers > 1 else fits
        cuts: dict[int, tuple[int, int, int, int]] = {}
        large = {0: root} if root.entries > most else {}
        scans, numbers = 0, 1
        while large:
            halves: list[int] = []
            for number, fragment in large.items():
                cut = first_cut(fragment, self.options, self.requirement.least_rows, bound)
                if cut is not None:
                    cuts[number] = (cut.attribute, cut.last, numbers, numbers + 1)
                    halves += [numbers, numbers + 1]
                    numbers += 2
                elif fragment.entries > fits:
                    raise self._too_large(fragment)
            if not halves:
                break
            found = self._histograms(entries, _tree(cuts, 0), halves, places_of(bound))
            scans += 1
            sides = {number: StoredFragment(root.space, found[number]) for number in halves}
            large = {number: side for number, side in sides.items() if side.entries > most}
        tree = _tree(cuts, 0)
        return tree, _leaves(tree), scans

    def _failing(self, whole: StoredFragment, bound: Sequence[Bound]) -> Requirement:
        """The criteria that all rows together fail; all where there are no rows."""
        failing = [one.criterion for one in bound if not whole.holds([one])]
        return Requirement(criteria=dict.fromkeys(failing)) if failing else self.requirement

    def _too_large(self, fragment: StoredFragment) -> LimitReached:
        return LimitReached(
            f"{fragment.entries:,} row types in one class that cannot be cut are too many for "
            f"the memory limit of {self.settings.memory_limit:,} bytes",
            advice=f"Raise DISCREET_MEMORY_LIMIT, or {self.requirement.relaxing}.",
        )

    def _finished(
        self, entries: str, tree: sql.Tree, fragments: Sequence[int], occurring: tuple[NDArray[np.int64], ...]
    ) -> str:
        """The table of all fragments cut to the end."""
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
        engine.apply_to_groups(
            name, query, sql.FRAGMENT, fragments, cutter, cutter.columns, progress=self.progress
        )
        return name


def _tree(cuts: dict[int, tuple[int, int, int, int]], number: int) -> sql.Tree:
    if number not in cuts:
        return number
    attribute, last, left, right = cuts[number]
    return sql.Branch(attribute, last, _tree(cuts, left), _tree(cuts, right))


def _leaves(tree: sql.Tree) -> list[int]:
    return [*_leaves(tree.left), *_leaves(tree.right)] if isinstance(tree, sql.Branch) else [tree]


_SAID: dict[Summary, tuple[str, ...]] = {
    Summary.LCA: (),
    Summary.SETS: ("Sets show exactly which values occur in each class.",),
    Summary.RANGES: ("Ranges end at values that occur in each class.",),
    Summary.MEANS: (
        "Ranges end at values that occur in each class.",
        "In classes of at most 3 rows, mean and range together tell every row's value.",
    ),
}
