"""What is asked of a table's lattice, evaluated or partial."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.measures.costs import AnyCost, NamedCost
from discreet.measures.loss import LossTables
from discreet.model.criteria.base import Criterion, Score
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.negotiation.lookup import NodeLookup
from discreet.printing.printed import Printed
from discreet.results.answers import AnswerResult, NegotiationResult
from discreet.results.requests import Levels, cost_of, request_of, requirement_of
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.results.attributes import AttributeSuppressionResult
    from discreet.results.choices import NeighboursResult
    from discreet.results.left_out import LeftOut
    from discreet.results.node_histogram import NodeHistogram
    from discreet.results.node_summary import NodeSummary
    from discreet.results.row_preview import RowPreview
    from discreet.search.node_costs import NodeCosts


class NegotiableLattice(Printed):
    """A lattice that answers requests.

    Asked of classes are k, l, and further ``criteria``; the spec's ``[request]`` says what is not given.
    """

    def __init__(
        self, frequency_set: FrequencySet, spec: TableSpec, settings: Settings | None = None
    ) -> None:
        self._frequency_set = frequency_set
        self._spec = spec
        self._settings = settings

    @property
    @abstractmethod
    def lattice(self) -> Lattice:
        """Attributes and heights."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """Rows after the NULL policy."""

    @property
    @abstractmethod
    def scores(self) -> tuple[Score, ...]:
        """What was counted of every class: the parts of a signature."""

    @property
    @abstractmethod
    def _lookup(self) -> NodeLookup:
        """Any node's suppression."""

    @property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts, and the values of the sensitive attributes whose l can be asked."""
        return self._frequency_set

    @property
    def loss_tables(self) -> LossTables:
        """Each attribute's loss by level."""
        return self._loss_tables

    @abstractmethod
    def rows_by_signature(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """One node's rows by signature: a class's ``scores``.

        The size, which is the first, is in subjects where the spec names one, else in rows. Then come the
        distinct values of sensitive attributes, and further scores.
        """

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """One node's suppressed rows."""
        return self._lookup.suppressed(node, requirement)

    def negotiate(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        scope: str | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> NegotiationResult:
        """The exact answer to a wish, or its relaxations.

        ``max_suppressed`` is a number of rows or a percentage such as ``"1%"``; levels are by attribute.
        ``InputError`` for values that are not allowed.
        """
        return self.answer(
            request_of(
                self._spec,
                k=k,
                l=l,
                max_suppressed=max_suppressed,
                max_level=max_level,
                min_level=min_level,
                scope=scope,
                criteria=criteria,
            )
        )

    @abstractmethod
    def answer(self, request: Request) -> NegotiationResult:
        """The same for a request that is already made."""

    def attribute_suppression(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> AttributeSuppressionResult:
        """What the wish would cost with one attribute at its top, or left out: all attributes in turn."""
        return self.attribute_suppression_of(
            request_of(
                self._spec,
                k=k,
                l=l,
                max_suppressed=max_suppressed,
                max_level=max_level,
                min_level=min_level,
                criteria=criteria,
            )
        )

    @abstractmethod
    def attribute_suppression_of(self, request: Request) -> AttributeSuppressionResult:
        """The same for a request that is already made."""

    def neighbours(
        self,
        of: AnswerResult | Levels,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> NeighboursResult:
        """What one level more or less would change, from an answer or from levels (0 where not named)."""
        from discreet.negotiation.neighbours import neighbours
        from discreet.results.choices import NeighboursResult

        node, requirement = self._node_and_requirement(of, k, l, criteria)
        name = "these levels"
        if isinstance(of, AnswerResult):
            name = f"the answer that relaxes {of.relaxed}" if of.relaxed else "the exact answer"
        found = neighbours(self._lookup, node, requirement, self._loss_tables)
        suppressed = self._lookup.suppressed(node, requirement)
        return NeighboursResult(found, node, self.lattice, self.rows, suppressed, name)

    def node(
        self,
        of: AnswerResult | Levels,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
        cost: AnyCost | None = None,
    ) -> NodeSummary:
        """One node summed up: loss, suppressed rows, class sizes, distinct sensitive values.

        With a ``cost``, or one that the spec's ``[request]`` names, that of the node, too.
        """
        return self.summary_of(*self._node_and_requirement(of, k, l, criteria), cost_of(self._spec, cost))

    def histogram(self, of: AnswerResult | Levels) -> NodeHistogram:
        """One node's classes by size and by distinct sensitive values, with the rows below each."""
        from discreet.results.node_histogram import histogram_of

        node = of.answer.node if isinstance(of, AnswerResult) else self.node_of(of)
        return histogram_of(self._frequency_set, node, self.lattice)

    def summary_of(
        self, node: LatticeNode, requirement: Requirement, cost: NamedCost | None = None
    ) -> NodeSummary:
        """The same of a node under a requirement that is already made."""
        from discreet.results.node_summary import summarize_node

        found = summarize_node(self, node, requirement)
        if cost is None:
            return found
        told = self._cost_of(node, requirement, cost, found.suppressed)
        return replace(found, cost=told, cost_name=cost.name)

    def with_costs(self, result: NegotiationResult, cost: NamedCost | None) -> NegotiationResult:
        """A result that tells what each of its answers costs, each under what it meets."""
        if cost is None:
            return result
        costs = tuple(
            self._cost_of(answer.node, answer.requirement, cost, answer.suppressed)
            for answer in result.negotiation.answers
        )
        return replace(result, costs=costs, cost_name=cost.name)

    def _cost_of(
        self, node: LatticeNode, requirement: Requirement, cost: NamedCost, suppressed: int
    ) -> float:
        levels, rows = np.array([node], dtype=np.int64), np.array([suppressed], dtype=np.int64)
        return self._costs_of(requirement, cost, levels, rows).at(0)

    def preview(
        self,
        of: AnswerResult | Levels,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
        number: int = 8,
    ) -> RowPreview:
        """Some real rows before and after a node's generalization; for the publisher's eyes only."""
        from discreet.results.row_preview import preview_rows

        return preview_rows(self._frequency_set, *self._node_and_requirement(of, k, l, criteria), number)

    def left_out(
        self,
        of: AnswerResult | Levels,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> LeftOut:
        """Who is left out at a node: rows by value, and the attribute that costs most.

        For the publisher's eyes only: counts of rare values.
        """
        from discreet.results.left_out import left_out

        asked = self._node_and_requirement(of, k, l, criteria)
        return left_out(self._frequency_set, self._lookup, self.lattice, *asked)

    def _node_and_requirement(
        self,
        of: AnswerResult | Levels,
        k: int | None,
        l: int | Mapping[str, int] | None,
        criteria: Sequence[Criterion],
    ) -> tuple[LatticeNode, Requirement]:
        if isinstance(of, AnswerResult):
            return of.answer.node, of.answer.requirement
        return self.node_of(of), requirement_of(self._spec, k=k, l=l, criteria=criteria)

    def node_of(self, levels: Levels) -> LatticeNode:
        """A node from levels, 0 where not named; ``InputError`` for what is out of range."""
        return self.lattice.node_of(levels, self.lattice.bottom)

    def frontier_of_cost(
        self,
        requirement: Requirement,
        cost: NamedCost,
        levels: NDArray[np.int64],
        suppressed: NDArray[np.int64],
    ) -> dict[int, float]:
        """The positions of the nodes not dominated in a cost and suppressed rows, with their costs.

        ``levels`` has shape ``(nodes, quasi-identifiers)``; of an evaluated lattice all nodes in its order.
        ``InputError`` for an option of the cost that the table does not allow.
        """
        from discreet.negotiation.cost_frontier import cost_frontier

        costs = self._costs_of(requirement, cost, levels, suppressed, self._whole)
        return cost_frontier(suppressed, costs.bounds, costs.at)

    def _costs_of(
        self,
        requirement: Requirement,
        cost: NamedCost,
        levels: NDArray[np.int64],
        suppressed: NDArray[np.int64],
        evaluated: EvaluatedLattice | None = None,
    ) -> NodeCosts:
        from discreet.search.node_costs import NodeCosts
        from discreet.search.task import SearchTask

        task = SearchTask.of(
            self._frequency_set,
            Request(requirement),
            self._settings or Settings.from_environment(),
            cost=cost,
            weights={a.name: a.weight for a in self._spec.quasi_identifiers},
        )
        return NodeCosts.of(task, levels, suppressed, evaluated)

    @property
    def _whole(self) -> EvaluatedLattice | None:
        """The evaluated lattice, None of a partial one."""
        return None

    @cached_property
    def _loss_tables(self) -> LossTables:
        weights = {a.name: a.weight for a in self._spec.quasi_identifiers}
        return LossTables.of(self._frequency_set, weights)
