"""The evaluated lattice of a table and its queries: negotiation, frontier, neighbours, single nodes.

``NegotiationLattice`` is the interface that evaluated and partial lattices share. Every query is a look-up
in the suppressed rows of all nodes; results that few callers need are imported inside the methods.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.measures.loss import LossTables
from discreet.measures.named_costs import AnyCost, NamedCost
from discreet.model.criteria.base import Criterion, ScoreKey
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, node_height, tie_break_key
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.negotiation.negotiator import Negotiator, NodeQueries
from discreet.printing.document import Column, Document, Grid, format_quantity, heading_line
from discreet.printing.rendering import Printable
from discreet.results.answers import AnswerResult, NegotiationResult
from discreet.results.request_defaults import LevelsByAttribute, build_request, build_requirement, choose_cost
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.negotiation.frontier import FrontierPoint
    from discreet.results.answer_alternatives import (
        AttributeSuppressionResult,
        FrontierResult,
        NeighboursResult,
        SuppressionResult,
    )
    from discreet.results.node_rows import RowPreview, SuppressionReport
    from discreet.results.node_summary import NodeHistogramResult, NodeSummary
    from discreet.search.node_costs import NodeCosts


class NegotiationLattice(Printable):
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
    def scores(self) -> tuple[ScoreKey, ...]:
        """What was counted of every class: the parts of a signature."""

    @property
    @abstractmethod
    def _lookup(self) -> NodeQueries:
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
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        scope: str | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> NegotiationResult:
        """The exact answer to a wish, or its relaxations.

        ``max_suppressed`` is a number of rows or a percentage such as ``"1%"``; levels are by attribute.
        ``InputError`` for values that are not allowed.
        """
        return self.answer(
            build_request(
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
        max_level: LevelsByAttribute | None = None,
        min_level: LevelsByAttribute | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> AttributeSuppressionResult:
        """What the wish would cost with one attribute at its top, or left out: all attributes in turn."""
        return self.attribute_suppression_of(
            build_request(
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
        of: AnswerResult | LevelsByAttribute,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> NeighboursResult:
        """What one level more or less would change, from an answer or from levels (0 where not named)."""
        from discreet.negotiation.alternatives import find_neighbours
        from discreet.results.answer_alternatives import NeighboursResult

        node, requirement = self._node_and_requirement(of, k, l, criteria)
        name = "these levels"
        if isinstance(of, AnswerResult):
            name = f"the answer that relaxes {of.relaxed}" if of.relaxed else "the exact answer"
        found = find_neighbours(self._lookup, node, requirement, self._loss_tables)
        suppressed = self._lookup.suppressed(node, requirement)
        return NeighboursResult(found, node, self.lattice, self.rows, suppressed, name)

    def node(
        self,
        of: AnswerResult | LevelsByAttribute,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
        cost: AnyCost | None = None,
    ) -> NodeSummary:
        """One node summed up: loss, suppressed rows, class sizes, distinct sensitive values.

        With a ``cost``, or one that the spec's ``[request]`` names, that of the node, too.
        """
        return self.summary_of(*self._node_and_requirement(of, k, l, criteria), choose_cost(self._spec, cost))

    def histogram(self, of: AnswerResult | LevelsByAttribute) -> NodeHistogramResult:
        """One node's classes by size and by distinct sensitive values, with the rows below each."""
        from discreet.results.node_summary import make_node_histogram

        node = of.answer.node if isinstance(of, AnswerResult) else self.node_of(of)
        return make_node_histogram(self._frequency_set, node, self.lattice)

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
        of: AnswerResult | LevelsByAttribute,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
        number: int = 8,
    ) -> RowPreview:
        """Some real rows before and after a node's generalization; for the publisher's eyes only."""
        from discreet.results.node_rows import preview_rows

        return preview_rows(self._frequency_set, *self._node_and_requirement(of, k, l, criteria), number)

    def left_out(
        self,
        of: AnswerResult | LevelsByAttribute,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> SuppressionReport:
        """Who is left out at a node: rows by value, and the attribute that costs most.

        For the publisher's eyes only: counts of rare values.
        """
        from discreet.results.node_rows import report_suppression

        asked = self._node_and_requirement(of, k, l, criteria)
        return report_suppression(self._frequency_set, self._lookup, self.lattice, *asked)

    def _node_and_requirement(
        self,
        of: AnswerResult | LevelsByAttribute,
        k: int | None,
        l: int | Mapping[str, int] | None,
        criteria: Sequence[Criterion],
    ) -> tuple[LatticeNode, Requirement]:
        if isinstance(of, AnswerResult):
            return of.answer.node, of.answer.requirement
        return self.node_of(of), build_requirement(self._spec, k=k, l=l, criteria=criteria)

    def node_of(self, levels: LevelsByAttribute) -> LatticeNode:
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
        from discreet.negotiation.frontier import compute_cost_frontier

        costs = self._costs_of(requirement, cost, levels, suppressed, self._evaluated_lattice)
        return compute_cost_frontier(suppressed, costs.bounds, costs.at)

    def _costs_of(
        self,
        requirement: Requirement,
        cost: NamedCost,
        levels: NDArray[np.int64],
        suppressed: NDArray[np.int64],
        evaluated: EvaluatedLattice | None = None,
    ) -> NodeCosts:
        from discreet.search.node_costs import NodeCosts
        from discreet.search.search_problem import SearchProblem

        task = SearchProblem.of(
            self._frequency_set,
            Request(requirement),
            self._settings or Settings.from_environment(),
            cost=cost,
            weights={a.name: a.weight for a in self._spec.quasi_identifiers},
        )
        return NodeCosts.of(task, levels, suppressed, evaluated)

    @property
    def _evaluated_lattice(self) -> EvaluatedLattice | None:
        """The evaluated lattice, None of a partial one."""
        return None

    @cached_property
    def _loss_tables(self) -> LossTables:
        weights = {a.name: a.weight for a in self._spec.quasi_identifiers}
        return LossTables.of(self._frequency_set, weights)


class TableLattice(NegotiationLattice):
    """Every node's suppression for any k and l; each question below is a look-up.

    Where k and l are not given, the spec's ``[request]`` says them.
    """

    def __init__(
        self,
        evaluated: EvaluatedLattice,
        frequency_set: FrequencySet,
        spec: TableSpec,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(frequency_set, spec, settings)
        self.evaluated = evaluated

    @property
    def lattice(self) -> Lattice:
        """Attributes and heights."""
        return self.evaluated.lattice

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""
        return self.evaluated.rows

    @property
    def scores(self) -> tuple[ScoreKey, ...]:
        """What was counted of every class."""
        return self.evaluated.scores

    @property
    def _lookup(self) -> NodeQueries:
        return self.evaluated

    @property
    def _evaluated_lattice(self) -> EvaluatedLattice:
        return self.evaluated

    def answer(self, request: Request) -> NegotiationResult:
        """The exact answer to a request, or its relaxations."""
        return NegotiationResult(self._negotiator.negotiate(request), request)

    def attribute_suppression_of(self, request: Request) -> AttributeSuppressionResult:
        """What a request would cost with one attribute at its top, or left out."""
        from discreet.negotiation.alternatives import suppress_attributes
        from discreet.results.answer_alternatives import AttributeSuppressionResult

        proposals = suppress_attributes(self.evaluated, request)
        return AttributeSuppressionResult(proposals, self.lattice, self.rows, request)

    def rows_by_signature(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """One node's rows by signature, looked up."""
        return self.evaluated.histogram(node)

    def suppression(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Sequence[Criterion] = (),
    ) -> SuppressionResult:
        """Every node's suppressed rows."""
        return self.suppression_of(build_requirement(self._spec, k=k, l=l, criteria=criteria))

    def suppression_of(self, requirement: Requirement) -> SuppressionResult:
        """The same for a requirement that is already made."""
        from discreet.results.answer_alternatives import SuppressionResult

        return SuppressionResult(
            self.lattice, self.rows, requirement, self.evaluated.suppression(requirement)
        )

    def frontier(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        criteria: Sequence[Criterion] = (),
        cost: AnyCost | None = None,
    ) -> FrontierResult:
        """The nodes not dominated in height, loss and suppression; the limit only marks those within it.

        With a ``cost``, or one that the spec's ``[request]`` names, they are those not dominated in that cost
        and suppression: a name, one of ``discreet.costs``, or a function of a node's statistics.
        """
        request = build_request(self._spec, k=k, l=l, max_suppressed=max_suppressed, criteria=criteria)
        return self.frontier_of(request, choose_cost(self._spec, cost))

    def frontier_of(self, request: Request, cost: NamedCost | None = None) -> FrontierResult:
        """The same for a request that is already made; its levels do not matter, nor the spec's cost."""
        from discreet.negotiation.frontier import compute_frontier
        from discreet.results.answer_alternatives import FrontierResult

        requirement = request.requirement
        points = (
            compute_frontier(self.evaluated, requirement, self._loss_tables)
            if cost is None
            else self._points_of_cost(requirement, cost)
        )
        limit = request.max_suppressed.of(self.rows)
        name = None if cost is None else cost.name
        return FrontierResult(points, self.lattice, self.rows, requirement, limit, name)

    def _points_of_cost(self, requirement: Requirement, cost: NamedCost) -> tuple[FrontierPoint, ...]:
        """From the least cost up; equal ones by the tie rule."""
        from discreet.negotiation.frontier import FrontierPoint

        suppressed = self.evaluated.suppression(requirement)
        found = self.frontier_of_cost(requirement, cost, self.lattice.all_levels(), suppressed)
        losses = self._loss_tables.losses
        points = []
        for place, value in found.items():
            node = self.lattice.node(place)
            points.append(
                FrontierPoint(node, node_height(node), float(losses[place]), int(suppressed[place]), value)
            )
        return tuple(sorted(points, key=lambda p: (-p.suppressed, p.height, tie_break_key(p.node))))

    def document(self) -> Document:
        """Size, and the height of each attribute."""
        size = f"{format_quantity(self.lattice.size, 'node')}, {format_quantity(self.rows, 'row')}"
        row_types = format_quantity(self._frequency_set.row_types, "row type")
        rows = tuple((h.attribute, f"{h.height}", f"{len(h.leaves):,}") for h in self.evaluated.hierarchies)
        columns = (Column("quasi-identifier"), Column("height", right=True), Column("leaves", right=True))
        return (heading_line(f"Lattice of {size}, {row_types}"), Grid(columns, rows))

    @cached_property
    def _negotiator(self) -> Negotiator:
        return Negotiator(self.evaluated)
