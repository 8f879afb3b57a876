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
from discreet.measures.named_costs import NamedCost, cost_over
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode, tie_break_key
from discreet.model.request import Request, node_bounds
from discreet.model.requirement import Requirement, is_growing, is_monotone, require_growing, require_monotone
from discreet.model.search_result import cost_parts
from discreet.settings import Settings
from discreet.sql.recoded_rows import is_engine_counted, require_countable


@dataclass(frozen=True, eq=False)
class FactTable:
    """A star schema in an engine: one fact table and a dimension table per quasi-identifier.

    ``facts`` names the fact table: one row per row of the source after the NULL policy, holding leaf codes
    of ``hierarchies`` (NULL is ``hierarchy.null_code``), codes of the sensitive values (-1 for NULL) and,
    where the spec names a subject, its number. ``dimensions[i]`` names the table of attribute i: a leaf code
    and its generalization at every level. ``dropped`` is the number of rows that the NULL policy left out,
    ``remove_isolated`` that of rows that show nothing (``FrequencySet``).
    The tables live as long as the context that made them (``search.star_schema_loader.in_database``).
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
    """Whether classes of a fact table can be judged by all criteria of a requirement."""
    return all(map(is_engine_counted, requirement.criteria))


def require_countable_in_database(requirement: Requirement) -> None:
    """Raise ``InputError`` for a criterion by which they cannot."""
    require_countable(requirement, "a search in the database", "Leave --in-database out.")


SearchProgress = Callable[[int, int], None]
"""Called with the nodes done and the nodes in all."""

SearchNotice = Callable[[str], None]
"""Called with one line that the user should see."""


class Marking(StrEnum):
    """Which nodes a checked node that meets the requirement marks, so that they need no check.

    ``direct``: its direct generalizations, and a node skipped because it is marked does not mark on (the
    pseudo-code of LeFevre et al. 2005, whose counts come from it). ``transitive``: every generalization.
    """

    DIRECT = "direct"
    TRANSITIVE = "transitive"


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """One search: solutions are nodes between ``low`` and ``high`` that suppress at most ``limit`` rows.

    ``table`` is the counted table, or a fact table in an engine (``--in-database``). ``cost`` is what a
    solution costs, where that is asked; ``weights`` are the attributes' (1 where not named).
    ``cube_budget`` is in bytes (algorithm ``incognito-cube``).
    ``known`` is the evaluated lattice, where somebody has it already (algorithm ``optimal``).
    ``time_budget`` (seconds) and ``node_budget`` (nodes checked) bound an anytime search.
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
                "a cost was asked of a search in the database",
                advice="Leave --in-database or --cost out: a cost is reckoned from the table in memory.",
            )

    @classmethod
    def of(
        cls, table: FrequencySet | FactTable, request: Request, settings: Settings, **how: Any
    ) -> SearchProblem:
        """A task from a request; ``how`` are further fields.

        Raises ``InputError`` for levels out of range or crossed, an attribute that is no quasi-identifier,
        and an l of an attribute that is not sensitive.
        """
        lattice = table_lattice(table)
        low, high = node_bounds(lattice, request)
        limit = request.max_suppressed.of(table.rows)
        return cls(table, request.requirement, limit, low, high, settings, **how)

    @cached_property
    def lattice(self) -> Lattice:
        """The whole lattice of the table's hierarchies; the search stays between ``low`` and ``high``."""
        return table_lattice(self.table)

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """The hierarchy of each quasi-identifier."""
        return self.table.hierarchies

    @property
    def rows(self) -> int:
        """The table's rows after the NULL policy."""
        return self.table.rows

    @property
    def suppression_never_rises(self) -> bool:
        """Whether what meets the requirement within the limit does so at every node above, too."""
        return is_growing(self.requirement) or (self.limit == 0 and is_monotone(self.requirement))

    def cost_or(self, default: str) -> Cost:
        """The cost that was asked, else the one of that name, over the table."""
        return cost_over(self.cost or default, self.frequency_set, self.requirement, self.weights)

    def require_monotone(self, algorithm: str) -> None:
        """Raise ``InputError`` where it is not so, for an algorithm that concludes from a node to others."""
        if self.suppression_never_rises:
            return
        advice = "Use --algorithm exhaustive, or optimal, which look at every node by itself"
        require_monotone(self.requirement, f"the search {algorithm}", advice=f"{advice}.")
        who = f"the search {algorithm} with up to {self.limit:,} rows suppressed"
        require_growing(self.requirement, who, advice=f"{advice}; or let no row be suppressed.")

    @property
    def frequency_set(self) -> FrequencySet:
        """The counted table; ``InputError`` where the search was asked to stay in the database."""
        if isinstance(self.table, FactTable):
            raise InputError(
                "this search works on the frequency set in memory, not in the database",
                allowed="samarati, bottom-up, bottom-up-rollup, incognito, incognito-superroots, "
                "incognito-cube, exhaustive",
                advice="Leave --in-database out, or choose one of these algorithms.",
            )
        return self.table

    def advance(self, done: int, total: int) -> None:
        """Tell whoever listens how many nodes are done."""
        if self.progress is not None:
            self.progress(done, total)


def table_lattice(table: FrequencySet | FactTable) -> Lattice:
    """The lattice of a table's hierarchies."""
    return Lattice(tuple(h.attribute for h in table.hierarchies), tuple(h.height for h in table.hierarchies))


def evaluate_if_fits(task: SearchProblem) -> EvaluatedLattice | None:
    """The lattice with what the requirement asks for; None where it would not fit the memory limit.

    One that is known already is not evaluated again. ``InputError`` where the task's table is in a database.
    """
    if task.known is not None:
        return task.known
    table, bound = task.frequency_set, task.requirement.bound(task.table.sensitive_attributes)
    places = {one.place for one in bound}
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
    """Whether the lattice fits the memory limit, where sizes alone are counted."""
    try:
        check_memory(task.lattice, task.frequency_set, 0, task.settings)
    except LimitReached:
        return False
    return True


def solution_indices(task: SearchProblem, suppressed: NDArray[np.int64]) -> NDArray[np.int64]:
    """The indices of the task's solutions, from the suppressed rows of every node of the lattice."""
    within = suppressed <= task.limit
    if (task.low, task.high) != (task.lattice.bottom, task.lattice.top):
        box = np.zeros([h + 1 for h in task.lattice.heights if h], dtype=np.bool_)
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
    """The nodes of these indices, shape ``(nodes, attributes)``."""
    levels = np.empty((len(nodes), len(task.lattice.heights)), dtype=np.int64)
    for i, (stride, height) in enumerate(zip(task.lattice.strides, task.lattice.heights, strict=True)):
        levels[:, i] = nodes // stride % (height + 1)
    return levels


def parents_within(node: LatticeNode, high: LatticeNode) -> Iterator[LatticeNode]:
    """The direct generalizations at or below ``high``."""
    for i, level in enumerate(node):
        if level < high[i]:
            yield (*node[:i], level + 1, *node[i + 1 :])


def children_within(node: LatticeNode, low: LatticeNode) -> Iterator[LatticeNode]:
    """The direct specializations at or above ``low``."""
    for i, level in enumerate(node):
        if level > low[i]:
            yield (*node[:i], level - 1, *node[i + 1 :])


def nodes_by_height_between(low: LatticeNode, high: LatticeNode) -> Iterator[list[LatticeNode]]:
    """The nodes of each height from ``low`` to ``high``, each list in the paper's node order."""
    nodes = [low]
    while nodes:
        yield nodes
        above = {parent for node in nodes for parent in parents_within(node, high)}
        nodes = sorted(above, key=tie_break_key)


def nodes_at_height(low: LatticeNode, high: LatticeNode, height: int) -> list[LatticeNode]:
    """The nodes of one height between ``low`` and ``high``, in the paper's node order."""

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
    """The number of nodes of one height between ``low`` and ``high``, without listing them."""
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
    """A node within the suppression limit, with its exact cost."""

    node: LatticeNode
    cost: float
    suppressed: int

    @property
    def tie_order(self) -> tuple[Any, ...]:
        """Height, suppressed rows, the paper's node order: the smaller, the better among equal costs."""
        return (sum(self.node), self.suppressed, tie_break_key(self.node))


def preferred_of_two(first: Candidate | None, second: Candidate) -> Candidate:
    """The preferred of two; costs that differ by rounding alone are equal."""
    if first is None or clearly_less(second.cost, first.cost):
        return second
    if exceeds_best(second.cost, first):
        return first
    return second if second.tie_order < first.tie_order else first


def exceeds_best(bound: float, best: Candidate | None) -> bool:
    """Whether nothing of at least this cost can be preferred; bounds are trusted up to rounding."""
    return best is not None and clearly_less(best.cost, bound)


def exceed_best(bounds: NDArray[np.float64], best: Candidate) -> NDArray[np.bool_]:
    """``beyond`` of many bounds, shape ``(nodes,)``; or of their parts, the first to be compared in front."""
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
    """The preferred of one or more nodes; ``levels`` has shape ``(nodes, attributes)``."""
    least = float(costs.min())
    equal = np.flatnonzero(costs <= least + rounding_tolerance(least))
    first = equal[order_of_preference(levels[equal], suppressed[equal], np.zeros(len(equal)))[0]]
    return Candidate(tuple(levels[first].tolist()), float(costs[first]), int(suppressed[first]))


def order_of_preference(
    levels: NDArray[np.int64], suppressed: NDArray[np.int64], costs: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Positions of nodes (``levels`` has shape ``(nodes, attributes)``) from the preferred one down.

    ``costs`` has one for each node, or its parts, the first to be compared in front.
    """
    order = [levels[:, i] for i in range(levels.shape[1])]
    parts = [costs] if costs.ndim == 1 else [costs[:, i] for i in range(costs.shape[1])]
    return np.lexsort((*order[-2::-1], *order[-1:], suppressed, levels.sum(axis=1), *parts[::-1]))
