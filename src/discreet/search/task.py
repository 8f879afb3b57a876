"""What a full-domain search is given: a table, a requirement, a part of the lattice, and how to search it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from discreet.errors import InputError
from discreet.frequency.class_facts import FactCounter
from discreet.lattice.evaluated import EvaluatedLattice
from discreet.measures.cost_kinds import Cost
from discreet.measures.costs import NamedCost, cost_over
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.monotone import is_growing, is_monotone, require_growing, require_monotone
from discreet.model.request import Request, bounds_of
from discreet.model.requirement import Requirement
from discreet.search.fact_table import FactTable, require_counted_there
from discreet.settings import Settings

Progress = Callable[[int, int], None]
"""Called with the nodes done and the nodes in all."""

Notice = Callable[[str], None]
"""Called with one line that the user should see."""


class Marking(StrEnum):
    """Which nodes a checked node that meets the requirement marks, so that they need no check.

    ``direct``: its direct generalizations, and a node skipped because it is marked does not mark on (the
    pseudo-code of LeFevre et al. 2005, whose counts come from it). ``transitive``: every generalization.
    """

    DIRECT = "direct"
    TRANSITIVE = "transitive"


@dataclass(frozen=True, eq=False)
class SearchTask:
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
    progress: Progress | None = None
    notice: Notice | None = None

    def __post_init__(self) -> None:
        self.requirement.check(self.table.sensitive_attributes)
        if isinstance(self.table, FactTable):
            require_counted_there(self.requirement)
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
    ) -> SearchTask:
        """A task from a request; ``how`` are further fields.

        Raises ``InputError`` for levels out of range or crossed, an attribute that is no quasi-identifier,
        and an l of an attribute that is not sensitive.
        """
        lattice = lattice_of(table)
        low, high = bounds_of(lattice, request)
        limit = request.max_suppressed.of(table.rows)
        return cls(table, request.requirement, limit, low, high, settings, **how)

    @cached_property
    def lattice(self) -> Lattice:
        """The whole lattice of the table's hierarchies; the search stays between ``low`` and ``high``."""
        return lattice_of(self.table)

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """The hierarchy of each quasi-identifier."""
        return self.table.hierarchies

    @property
    def rows(self) -> int:
        """The table's rows after the NULL policy."""
        return self.table.rows

    @property
    def rises_nowhere(self) -> bool:
        """Whether what meets the requirement within the limit does so at every node above, too."""
        return is_growing(self.requirement) or (self.limit == 0 and is_monotone(self.requirement))

    def cost_or(self, default: str) -> Cost:
        """The cost that was asked, else the one of that name, over the table."""
        return cost_over(self.cost or default, self.frequency_set, self.requirement, self.weights)

    def require_monotone(self, algorithm: str) -> None:
        """Raise ``InputError`` where it is not so, for an algorithm that concludes from a node to others."""
        if self.rises_nowhere:
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


def lattice_of(table: FrequencySet | FactTable) -> Lattice:
    """The lattice of a table's hierarchies."""
    return Lattice(tuple(h.attribute for h in table.hierarchies), tuple(h.height for h in table.hierarchies))
