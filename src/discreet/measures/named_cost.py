"""A cost that has a name: what it is, and which options it declares, before it is given a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast

from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet
from discreet.model.option import Option, check_options, options_of, spelt
from discreet.model.requirement import Requirement

if TYPE_CHECKING:
    from discreet.measures.cost_kinds import Cost
    from discreet.measures.node_statistics import NodesStatistics, NodeStatistics


class NamedCost(ABC):
    """A cost of nodes. A subclass is a frozen dataclass; its fields are options (``model.option``).

    ``name`` is what ``--cost`` takes, ``meaning`` says in a clause what it is. Raises ``InputError`` for an
    option that has no such value.
    """

    name: str
    meaning: str

    def __post_init__(self) -> None:
        check_options(self, f"the cost '{self.name}'")

    @abstractmethod
    def over(self, table: FrequencySet, requirement: Requirement, weights: tuple[float, ...]) -> Cost:
        """The cost of the nodes of a table; ``weights`` has one for each attribute, at most 1."""

    def options(self) -> tuple[Option, ...]:
        """The options that it declares."""
        return options_of(type(self))

    def having(self, options: Mapping[str, object]) -> Self:
        """The same with these options, by name; None leaves one as it is.

        ``InputError`` for an option that it does not have.
        """
        known = {each.name for each in self.options()}
        given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        for name in given:
            if name not in known:
                raise InputError(
                    f"the option {spelt([name])} of the cost '{self.name}'", allowed=spelt(sorted(known))
                )
        changed: Self = replace(cast(Any, self), **given)
        return changed


@dataclass(frozen=True)
class FunctionCost(NamedCost):
    """A function of one node's statistics under a name; weights have no part in it."""

    name: str
    meaning: str
    function: Callable[[NodeStatistics], float]
    over_nodes: Callable[[NodesStatistics], Any] | None = None

    def over(
        self,
        table: FrequencySet,  # noqa: ARG002
        requirement: Requirement,  # noqa: ARG002
        weights: tuple[float, ...],  # noqa: ARG002
    ) -> Cost:
        """The function itself."""
        from discreet.measures.cost_kinds import OwnCost

        return OwnCost(self.function, self.name, self.over_nodes)


def node_cost(
    name: str,
    meaning: str,
    function: Callable[[NodeStatistics], float],
    over_nodes: Callable[[NodesStatistics], Any] | None = None,
) -> NamedCost:
    """A cost that is a function of one node's statistics, under a name; weights have no part in it.

    A function with a true attribute ``monotone`` is taken at its word: it never falls on the way up while the
    same rows are suppressed. ``over_nodes`` is the same function of arrays of nodes, which returns an array
    of costs, shape ``(nodes,)``: a search then asks it once. It may also stand as the function's attribute.
    """
    return FunctionCost(name, meaning, function, over_nodes or getattr(function, "over_nodes", None))


def own_cost(function: Callable[[NodeStatistics], float]) -> NamedCost:
    """A user's own function, called as it is in Python where that is a name."""
    called = str(getattr(function, "__name__", ""))
    return node_cost(called if called.isidentifier() else "own", "a function of one's own", function)
