"""The problem of a full-domain search: table, requirement, bounds of the lattice, cost and budgets.

The table is a frequency set in memory or a star schema in an engine (``FactTable``; LeFevre et al.
2005). Next to it the operations that every search uses: evaluate the lattice within the memory limit,
enumerate the nodes between two nodes by height, and order nodes by cost and the tie rule (decision
0004).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.errors import InputError, LimitReached
from discreet.frequency.fact_counter import FactCounter
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.lattice.resource_estimates import check_memory
from discreet.measures.cell_sums import clearly_less, rounding_tolerance, rounding_tolerances
from discreet.measures.cost_kinds import Cost
from discreet.measures.cost_registry import cost_over
from discreet.measures.named_costs import NamedCost
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode, tie_break_key
from discreet.model.request import Request, node_bounds
from discreet.model.requirement import Requirement, is_growing, is_monotone, require_growing, require_monotone
from discreet.model.search_result import SearchResult, Solution, cost_parts
from discreet.settings import Settings
from discreet.sql.recoded_rows import is_engine_counted, require_countable


@dataclass(frozen=True, eq=False)
class FactTable:
    """Star schema in an engine: one fact table and a dimension table per quasi-identifier.

    ``facts`` names the fact table: one row per row of the source after the NULL policy, with leaf codes of
    ``hierarchies`` (NULL is ``hierarchy.null_code``), codes of the sensitive values (-1 for NULL) and, if the
    spec names a subject, its number. ``dimensions[i]`` names the table of attribute i: a leaf code and its
    generalization at every level. ``dropped`` counts the rows that the NULL policy removed, ``set_apart``
    those that show nothing (``FrequencySet``). The tables exist as long as the context that made them
    (``star_schema_loader.star_schema``).
    """

    engine: Engine
    facts: str
    dimensions: Sequence[str]
    hierarchies: tuple[GeneralizationHierarchy, ...]
    sensitive_attributes: tuple[str, ...]
    rows: int
    dropped: int = 0
    set_apart: int = 0
    by_subject: bool = False


def is_countable_in_database(requirement: Requirement) -> bool:
    """Check whether the engine can judge classes of a fact table by all criteria of a requirement."""
    return all(map(is_engine_counted, requirement.criteria))


def require_countable_in_database(requirement: Requirement) -> None:
    """Raise ``InputError`` for a criterion that the engine cannot judge."""
    require_countable(requirement, "a search in the database", "Leave --in-database out.")


SearchProgress = Callable[[int, int], None]
"""Called with the number of finished nodes and the total."""

SearchNotice = Callable[[str], None]
"""Called with one line for the user."""


class Marking(StrEnum):
    """Nodes that a checked node marks if it meets the requirement, so that they need no check.

    ``direct``: its direct generalizations; a node skipped because it is marked does not mark others (the
    pseudo-code of LeFevre et al. 2005, which produced the paper's counts). ``transitive``: every
    generalization.
    """

    DIRECT = "direct"
    TRANSITIVE = "transitive"


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """One search: solutions are nodes between ``low`` and ``high`` that suppress at most ``limit`` rows.

    ``table`` is the counted table, or a fact table in an engine (``--in-database``). ``cost`` is the cost of
    solutions, if requested; ``weights`` are those of attributes (default 1). ``cube_budget`` is in bytes
    (algorithm ``incognito-cube``). ``known`` is the evaluated lattice if the caller has it already (algorithm
    ``optimal``). ``time_budget`` (seconds) and ``node_budget`` (checked nodes) limit an anytime search.
    """

    table: FrequencySet | FactTable
    requirement: Requirement
    limit: int
    low: LatticeNode
    high: LatticeNode
    settings: Settings
    marking: Marking = Marking.DIRECT
    cost: NamedCost | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    known: EvaluatedLattice | None = None
    cube_budget: int = 0
    time_budget: float | None = None
    node_budget: int | None = None
    progress: SearchProgress | None = None
    notice: SearchNotice | None = None

    def __post_init__(self) -> None:
        self.requirement.check(self.table.sensitive_attributes)
        if isinstance(self.table, FactTable):
            require_countable_in_database(self.requirement)
        else:
            FactCounter.of(self.table, self.requirement)
        if isinstance(self.table, FactTable) and self.cost is not None:
            raise InputError(
                "a cost cannot be combined with --in-database",
                advice="Omit --in-database or --cost: costs are computed from the table in memory.",
            )

    @classmethod
    def of(
        cls, table: FrequencySet | FactTable, request: Request, settings: Settings, **how: Any
    ) -> SearchProblem:
        """Build the problem of a request; ``how`` contains further fields.

        Raises ``InputError`` for levels out of range or crossed, an attribute that is no quasi-identifier,
        and an l of an attribute that is not sensitive.
        """
        lattice = table_lattice(table)
        low, high = node_bounds(lattice, request)
        limit = request.max_suppressed.of(table.rows)
        return cls(table, request.requirement, limit, low, high, settings, **how)

    @cached_property
    def lattice(self) -> Lattice:
        """Whole lattice of the table's hierarchies; the search stays between ``low`` and ``high``."""
        return table_lattice(self.table)

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """Hierarchy of each quasi-identifier."""
        return self.table.hierarchies

    @property
    def rows(self) -> int:
        """Number of rows of the table after the NULL policy."""
        return self.table.rows

    @property
    def suppression_never_rises(self) -> bool:
        """True if every node above one that meets the requirement within the limit does so too."""
        return is_growing(self.requirement) or (self.limit == 0 and is_monotone(self.requirement))

    def cost_or(self, default: str) -> Cost:
        """Return the requested cost over the table, or the cost named ``default``."""
        return cost_over(self.cost or default, self.frequency_set, self.requirement, self.weights)

    def require_monotone(self, algorithm: str) -> None:
        """Raise ``InputError`` if suppression may rise, for algorithms that infer from one node to others."""
        if self.suppression_never_rises:
            return
        advice = "Use --algorithm exhaustive, or optimal, which check every node separately"
        require_monotone(self.requirement, f"the search {algorithm}", advice=f"{advice}.")
        who = f"the search {algorithm} with up to {self.limit:,} rows suppressed"
        require_growing(self.requirement, who, advice=f"{advice}; or allow no suppressed rows.")

    @property
    def frequency_set(self) -> FrequencySet:
        """Counted table; raises ``InputError`` if the search must stay in the database."""
        if isinstance(self.table, FactTable):
            raise InputError(
                "this search algorithm needs the table in memory and does not support --in-database",
                allowed="samarati, bottom-up, bottom-up-rollup, incognito, incognito-superroots, "
                "incognito-cube, exhaustive",
                advice="Omit --in-database, or choose one of these algorithms.",
            )
        return self.table

    def advance(self, done: int, total: int) -> None:
        """Report the number of finished nodes to the progress listener."""
        if self.progress is not None:
            self.progress(done, total)

    def result(self, algorithm: str, solutions: tuple[Solution, ...], **work: Any) -> SearchResult:
        """Build the result of an algorithm; ``work`` contains its further fields."""
        return SearchResult(
            algorithm=algorithm,
            lattice=self.lattice,
            rows=self.rows,
            requirement=self.requirement,
            limit=self.limit,
            solutions=solutions,
            **work,
        )


def table_lattice(table: FrequencySet | FactTable) -> Lattice:
    """Return the lattice of a table's hierarchies."""
    return Lattice(tuple(h.attribute for h in table.hierarchies), tuple(h.height for h in table.hierarchies))


def evaluate_if_fits(task: SearchProblem) -> EvaluatedLattice | None:
    """Evaluate the lattice for the criteria of the requirement; None if it would not fit the memory limit.

    A known lattice is returned unchanged. Raises ``InputError`` if the problem's table is in a database.
    """
    if task.known is not None:
        return task.known
    table, bound = task.frequency_set, task.requirement.bound(task.table.sensitive_attributes)
    places = {one.index for one in bound}
    if not any(one.criterion.of_every_attribute for one in bound):
        table = replace(table, sensitive=tuple(s for i, s in enumerate(table.sensitive) if i in places))
    try:
        return evaluate_lattice(
            table,
            task.settings,
            diversity=False,
            criteria=task.requirement.criteria,
            progress=task.progress,
            notice=task.notice,
        )
    except LimitReached:
        return None


def fits_memory(task: SearchProblem) -> bool:
    """Check whether the evaluated lattice fits the memory limit if only class sizes are counted."""
    try:
        check_memory(task.lattice, task.frequency_set, 0, task.settings)
    except LimitReached:
        return False
    return True


def solution_indices(task: SearchProblem, suppressed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of the problem's solutions, given the suppressed rows of every node."""
    within = suppressed <= task.limit
    if (task.low, task.high) != (task.lattice.bottom, task.lattice.top):
        box = np.zeros([h + 1 for h in task.lattice.heights if h], dtype=np.bool_)
        # Attributes of height 0 have no axis.
        box[
            tuple(
                slice(a, b + 1)
                for a, b, h in zip(task.low, task.high, task.lattice.heights, strict=True)
                if h
            )
        ] = True
        within &= box.ravel()
    return np.flatnonzero(within)


def levels_of_nodes(task: SearchProblem, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the levels of the nodes with the given indices, shape ``(nodes, attributes)``."""
    levels = np.empty((len(nodes), len(task.lattice.heights)), dtype=np.int64)
    for i, (stride, height) in enumerate(zip(task.lattice.strides, task.lattice.heights, strict=True)):
        levels[:, i] = nodes // stride % (height + 1)
    return levels


def parents_within(node: LatticeNode, high: LatticeNode) -> Iterator[LatticeNode]:
    """Yield the direct generalizations at or below ``high``."""
    for i, level in enumerate(node):
        if level < high[i]:
            yield (*node[:i], level + 1, *node[i + 1 :])


def children_within(node: LatticeNode, low: LatticeNode) -> Iterator[LatticeNode]:
    """Yield the direct specializations at or above ``low``."""
    for i, level in enumerate(node):
        if level > low[i]:
            yield (*node[:i], level - 1, *node[i + 1 :])


def nodes_at_height(low: LatticeNode, high: LatticeNode, height: int) -> list[LatticeNode]:
    """Return the nodes of one height between ``low`` and ``high``, in the paper's node order."""

    def chosen(i: int, left: int) -> Iterator[LatticeNode]:
        if i == len(low):
            yield ()
            return
        rest = sum(high[i + 1 :])
        floor = sum(low[i + 1 :])
        for level in range(max(low[i], left - rest), min(high[i], left - floor) + 1):
            for tail in chosen(i + 1, left - level):
                yield (level, *tail)

    if not sum(low) <= height <= sum(high):
        return []
    return sorted(chosen(0, height), key=tie_break_key)


def width_at(low: LatticeNode, high: LatticeNode, height: int) -> int:
    """Count the nodes of one height between ``low`` and ``high`` without listing them."""
    widths = {0: 1}
    for least, greatest in zip(low, high, strict=True):
        above: dict[int, int] = {}
        for reached, number in widths.items():
            for level in range(least, greatest + 1):
                above[reached + level] = above.get(reached + level, 0) + number
        widths = above
    return widths.get(height, 0)


@dataclass(frozen=True)
class Candidate:
    """Node within the suppression limit, with its exact cost."""

    node: LatticeNode
    cost: float
    suppressed: int

    @property
    def tie_order(self) -> tuple[Any, ...]:
        """Height, suppressed rows and the paper's node order; among equal costs the smallest is preferred."""
        return (sum(self.node), self.suppressed, tie_break_key(self.node))


def solutions_of(
    task: SearchProblem, best: Candidate | None, exceeds_limit: Callable[[LatticeNode], bool]
) -> tuple[Solution, ...]:
    """Return the best node as the only solution; it is minimal if all of its children exceed the limit."""
    if best is None:
        return ()
    minimal = all(map(exceeds_limit, children_within(best.node, task.low)))
    return (Solution(best.node, best.suppressed, minimal, best.cost),)


def preferred_of_two(first: Candidate | None, second: Candidate) -> Candidate:
    """Return the preferred of two candidates; costs that differ only by rounding are equal."""
    if first is None or clearly_less(second.cost, first.cost):
        return second
    if exceeds_best(second.cost, first):
        return first
    return second if second.tie_order < first.tie_order else first


def exceeds_best(bound: float, best: Candidate | None) -> bool:
    """Check whether no node of at least this cost can be preferred; bounds are exact up to rounding."""
    return best is not None and clearly_less(best.cost, bound)


def exceed_best(bounds: NDArray[np.float64], best: Candidate) -> NDArray[np.bool_]:
    """Apply ``exceeds_best`` to many bounds.

    ``bounds`` has shape ``(nodes,)``, or ``(nodes, parts)`` for costs of several parts, the most significant
    first.
    """
    if bounds.ndim == 1:
        cost = float(best.cost)
        return (cost < bounds) & (
            bounds - cost > np.minimum(rounding_tolerance(cost), rounding_tolerances(bounds))
        )
    less, equal = np.zeros(len(bounds), np.bool_), np.ones(len(bounds), np.bool_)
    for part, column in zip(cost_parts(best.cost), bounds.T, strict=True):
        less |= equal & (part < column)
        equal &= part == column
    return less


def preferred_node(
    levels: NDArray[np.int64], suppressed: NDArray[np.int64], costs: NDArray[np.float64]
) -> Candidate:
    """Return the preferred of one or more nodes; ``levels`` has shape ``(nodes, attributes)``."""
    least = float(costs.min())
    equal = np.flatnonzero(costs <= least + rounding_tolerance(least))
    first = equal[order_of_preference(levels[equal], suppressed[equal], np.zeros(len(equal)))[0]]
    return Candidate(tuple(levels[first].tolist()), float(costs[first]), int(suppressed[first]))


def order_of_preference(
    levels: NDArray[np.int64], suppressed: NDArray[np.int64], costs: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the positions of nodes (``levels`` has shape ``(nodes, attributes)``), the preferred one first.

    ``costs`` has shape ``(nodes,)``, or ``(nodes, parts)`` with the most significant part first.
    """
    order = [levels[:, i] for i in range(levels.shape[1])]
    parts = [costs] if costs.ndim == 1 else [costs[:, i] for i in range(costs.shape[1])]
    # lexsort compares its last key first: cost, height, suppressed rows, then the node order of the tie rule.
    return np.lexsort((*order[-2::-1], *order[-1:], suppressed, levels.sum(axis=1), *parts[::-1]))
