"""Named costs of lattice nodes: declarations with options, and their registry; smaller is better.

``docs/costs.md`` has the formulas. Most costs are monotone: while the same rows are suppressed they never
fall on the way up the lattice. Lower bounds hold for all nodes at or above a node and require no class
counts. Sums are exact and factors are multiplied in ascending order, so that costs that are equal by symmetry
are equal to the last bit.

Cost: a table of a few numbers per level, computed once; then one pass over the classes of a node.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast

from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet
from discreet.model.option import Option, check_options, option_names, options_of
from discreet.model.requirement import Requirement

if TYPE_CHECKING:
    from discreet.measures.cost_kinds import Cost
    from discreet.measures.node_statistics import NodesStatistics, NodeStatistics


class NamedCost(ABC):
    """A declared cost of nodes; a subclass is a frozen dataclass with fields as options (``model.option``).

    ``name`` is the value of ``--cost``, ``meaning`` describes the cost in a clause. Raises ``InputError`` for
    an invalid value of an option.
    """

    name: str
    meaning: str

    def __post_init__(self) -> None:
        check_options(self, f"the cost '{self.name}'")

    @abstractmethod
    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Build the cost of the nodes of a table; ``weights`` has one weight per attribute, at most 1."""

    def options(self) -> tuple[Option, ...]:
        """Return the declared options."""
        return options_of(type(self))

    def having(self, options: Mapping[str, object]) -> Self:
        """Return a copy with these options, by name; None leaves an option unchanged.

        Raises ``InputError`` for an option that the cost does not have.
        """
        known = {each.name for each in self.options()}
        set_options: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        for name in set_options:
            if name not in known:
                raise InputError(
                    f"the option {option_names([name])} of the cost '{self.name}'",
                    allowed=option_names(sorted(known)),
                )
        changed: Self = replace(cast(Any, self), **set_options)
        return changed


@dataclass(frozen=True)
class FunctionCost(NamedCost):
    """A named cost defined by a function of one node's statistics; weights have no effect."""

    name: str
    meaning: str
    function: Callable[[NodeStatistics], float]
    over_nodes: Callable[[NodesStatistics], Any] | None = None

    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """Wrap the function as a cost."""
        from discreet.measures.cost_kinds import UserCost

        return UserCost(self.function, self.name, self.over_nodes)


def node_cost(
    name: str,
    meaning: str,
    function: Callable[[NodeStatistics], float],
    over_nodes: Callable[[NodesStatistics], Any] | None = None,
) -> NamedCost:
    """Return a named cost defined by a function of one node's statistics; weights have no effect.

    A function with a true attribute ``monotone`` is assumed never to fall on the way up while the same rows
    are suppressed. ``over_nodes`` is the same function of arrays of nodes and returns an array of costs,
    shape ``(nodes,)``; a search then calls it once. It may also be an attribute of the function.
    """
    return FunctionCost(name, meaning, function, over_nodes or getattr(function, "over_nodes", None))


def user_cost(function: Callable[[NodeStatistics], float]) -> NamedCost:
    """Return a user's function as a cost, named as the function or, if that has no identifier, ``own``."""
    called = str(getattr(function, "__name__", ""))
    return node_cost(called if called.isidentifier() else "own", "a function of one's own", function)
