"""The lattice of a small table by enumeration: suppressed rows of every node, and answers to requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import prod

from tests.criteria.plain_cells import PlainClass as CellsClass
from tests.criteria.plain_cells import plain_left
from tests.fuzz.cases import Column, Condition, Trial
from tests.fuzz.chains import Chain, chain_of, leaves_of, shown_at
from tests.fuzz.definitions import (
    OF_CELLS,
    OF_CLASSES,
    OF_RELEASES,
    UNJUDGED,
    PlainClass,
    Texts,
    WholeTable,
    classes_of,
    expanded,
    holds,
    measure,
    release_measure,
    rest_fails,
    value_of,
)
from tests.fuzz.recount import source_texts

Node = tuple[int, ...]
Answer = tuple[int, int]
"""The height and the suppressed rows of an answer."""
MOST_NODES = 160


@dataclass(frozen=True, eq=False)
class PlainLattice:
    """A trial's table and the chains of its quasi-identifiers, all of which are known."""

    trial: Trial
    chains: Mapping[str, Mapping[str, Chain]]
    table: WholeTable

    @classmethod
    def of(cls, trial: Trial, table: WholeTable) -> PlainLattice | None:
        """Build the lattice; None if a chain is unknown, or if there are too many nodes."""
        chains = {name: found for name, found in trial.chains().items() if found}
        if len(chains) < len(trial.keys):
            return None
        made = cls(trial, chains, table)
        return made if prod(height + 1 for height in made.heights) <= MOST_NODES else None

    @property
    def heights(self) -> Node:
        """The height of each hierarchy."""
        return tuple(len(next(iter(chain.values()))) - 1 for chain in self.chains.values())

    def nodes(self) -> list[Node]:
        """Return every node, the last attribute's levels changing first."""
        return list(product(*(range(height + 1) for height in self.heights)))

    @cached_property
    def rows(self) -> list[Texts]:
        """The kept rows as texts."""
        return list(source_texts(self.trial, self.trial.columns))

    @cached_property
    def persons(self) -> list[str | None] | None:
        """Return the subject of each kept row, if people count."""
        subject = self.trial.subject
        return None if subject is None else [row[subject.name] for row in self.rows]

    def shown(self, row: Mapping[str, str | None], node: Node) -> dict[str, str | None]:
        """Return a row with its quasi-identifiers at a node."""
        levels = zip(self.chains.items(), node, strict=True)
        return dict(row) | {name: shown_at(chain, row[name], level) for (name, chain), level in levels}

    @lru_cache(maxsize=256)  # noqa: B019 - a lattice lives as long as its trial
    def classes(self, node: Node) -> list[PlainClass]:
        """Return the classes of a node."""
        return classes_of([self.shown(row, node) for row in self.rows], list(self.chains), self.persons)

    @lru_cache(maxsize=256)  # noqa: B019
    def people(self, node: Node) -> Counter[tuple[str | None, ...]]:
        """Count the population by its published cells at a node."""
        found: Counter[tuple[str | None, ...]] = Counter()
        for one in [*self.rows, *self._others()]:
            shown = self.shown(one, node)
            found[tuple(shown[name] for name in self.chains)] += 1
        return found

    def _others(self) -> list[dict[str, str | None]]:
        return [
            {name: None if one[name] is None else str(one[name]) for name in self.chains}
            for one in self.trial.people
        ]

    def at(self, node: Node) -> WholeTable:
        """Return the whole table with its population at a node."""
        return replace(self.table, people=self.people(node) if self.trial.people else None)

    def suppressed(self, node: Node, conditions: Sequence[Condition]) -> int | None:
        """Count the rows that a node suppresses; None if a definition cannot evaluate it."""
        gone = self.gone(node, conditions)
        return None if gone is None else sum(len(one.rows) for one in gone)

    def gone(self, node: Node, conditions: Sequence[Condition]) -> list[PlainClass] | None:
        """Return the classes that a node suppresses; None if a definition cannot evaluate it."""
        classes, required = self.classes(node), expanded(conditions, list(self.table.values))
        left = [one for one in classes if not _fails(one, required, self.at(node))]
        left = _after_cells(left, required, list(self.table.values))
        kept = _after_release(left, required)
        if kept is None:
            return None
        gone = [one for one in classes if one not in kept]
        rows = sum(len(one.rows) for one in gone)
        people = self.people(node)
        unmatched = people.total() - sum(people[one.cells] for one in kept)
        return classes if any(rest_fails(condition, rows, unmatched) for condition in required) else gone

    def detail_lost(self, node: Node, gone: Sequence[PlainClass]) -> Fraction:
        """Add up (m - 1) / D over all cells, times the column's weight; suppressed rows cover every leaf."""
        starred = {one.cells for one in gone}
        lost = Fraction(0)
        for column, level in zip(self.trial.keys, node, strict=True):
            chain = self._leaves(column)
            under = Counter(labels[level] for labels in chain.values())
            top = level == len(next(iter(chain.values()))) - 1
            covered = 0
            for row in self.rows:
                shown = self.shown(row, node)
                suppressed = tuple(shown[name] for name in self.chains) in starred
                is_null = row[column.name] is None
                many = 1 if is_null else under[shown[column.name] or ""]
                covered += (len(chain) if suppressed or top else many) - 1
            lost += Fraction(covered, len(chain)) * Fraction(column.more.get("weight", 1))
        return lost

    def _leaves(self, column: Column) -> Mapping[str, Chain]:
        """Return the chains of all leaves of a hierarchy: those that it lists, else those of the table."""
        found = chain_of(column.hierarchy, leaves_of(column.hierarchy, list(self.chains[column.name])))
        assert found is not None
        return found


def _fails(one: PlainClass, conditions: Sequence[Condition], table: WholeTable) -> bool:
    judged = [condition for condition in conditions if condition.name in OF_CLASSES]
    return not all(holds(condition, measure(condition, one, table)) for condition in judged)


def _after_cells(
    left: list[PlainClass], conditions: Sequence[Condition], sensitive: Sequence[str]
) -> list[PlainClass]:
    """Return the classes that remain if every combination of a few known cells must match enough rows."""
    for condition in conditions:
        if condition.name in OF_CELLS:
            shown = [cells_class(one, sensitive) for one in left]
            left = [left[place] for place in plain_left(condition.criterion, shown)]  # type: ignore[arg-type]
    return left


def cells_class(one: PlainClass, sensitive: Sequence[str]) -> CellsClass:
    """Return a class in the form of the oracle of LKC-privacy."""
    return CellsClass(one.cells, tuple(tuple(value_of(row[name]) for name in sensitive) for row in one.rows))


def _after_release(left: list[PlainClass], conditions: Sequence[Condition]) -> list[PlainClass] | None:
    """Return the classes that remain if the smallest are suppressed until the release meets everything."""
    judged = [condition for condition in conditions if condition.name in OF_RELEASES]
    while left:
        found = [release_measure(condition, [len(one.rows) for one in left]) for condition in judged]
        if any(each is UNJUDGED for each in found):
            return None
        if all(holds(condition, each) for condition, each in zip(judged, found, strict=True)):
            break
        least = min(len(one.rows) for one in left)
        left = [one for one in left if len(one.rows) > least]
    return left


@dataclass(frozen=True)
class Box:
    """The nodes of a request: suppressed rows of each node, the limit, the lowest and the highest node."""

    counts: Mapping[Node, int]
    limit: int
    low: Node
    high: Node


def answers(lattice: PlainLattice, box: Box) -> dict[str | None, Answer | None]:
    """Answer a request by enumeration: exact, or by more suppression or a larger height."""
    most = len(lattice.rows) - 1
    above = {node: rows for node, rows in box.counts.items() if _between(node, box.low, lattice.heights)}
    inside = {node: rows for node, rows in above.items() if _between(node, box.low, box.high)}
    exact = _lowest(inside, min(box.limit, most))
    if exact is not None:
        return {None: exact}
    fewest = min(min(inside.values()), most)
    higher = {node: rows for node, rows in above.items() if sum(node) >= sum(box.high)}
    height = _lowest(higher, min(box.limit, most))
    return {None: None, "max_suppressed": _lowest(inside, fewest), "height": height}


def relaxed_k(lattice: PlainLattice, conditions: Sequence[Condition], box: Box) -> int | None:
    """Find the largest k below the requested one that the highest node meets, at least 2."""
    others = [condition for condition in conditions if condition.name != "k"]
    requested = next(int(condition.value) for condition in conditions if condition.name == "k")
    for k in range(requested, 1, -1):
        rows = lattice.suppressed(box.high, [Condition("k", k), *others])
        if rows is not None and rows <= min(box.limit, len(lattice.rows) - 1):
            return k
    return None


def _between(node: Node, low: Node, high: Node) -> bool:
    return all(a <= level <= b for a, level, b in zip(low, node, high, strict=True))


def _lowest(among: Mapping[Node, int], limit: int) -> Answer | None:
    """Return the least height, then the fewest suppressed rows."""
    found = [(sum(node), rows) for node, rows in among.items() if rows <= limit]
    return min(found, default=None)
