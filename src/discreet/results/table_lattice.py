"""The evaluated lattice of a table and its queries: negotiation, frontier, neighbours, single nodes.

``NegotiationLattice`` is the interface that evaluated and partial lattices share. Every query is a look-up in
the suppressed rows of all nodes; results that few callers need are imported inside the methods.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.measures.cost_registry import AnyCost
from discreet.measures.loss import LossTables
from discreet.measures.named_costs import NamedCost
from discreet.model.criteria.base import ScoreKey
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, node_height, tie_break_key
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.negotiation.negotiator import Negotiator
from discreet.printing.document import Document, Grid, format_quantity, heading_line, make_columns
from discreet.printing.rendering import Printable
from discreet.results.answers import AnswerResult, NegotiationResult
from discreet.results.request_defaults import (
    CriterionKeywords,
    LevelsByAttribute,
    RequestKeywords,
    ScopedRequestKeywords,
    build_request,
    build_requirement,
    choose_cost,
    with_keywords,
)
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.negotiation.frontier import FrontierPoint
    from discreet.negotiation.partial_lattice import PartialLattice
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
    """Lattice of a table that answers requests.

    Classes must meet k, l, and further ``criteria``; defaults come from the spec's ``[request]``.
    """

    def __init__(
        self,
        lookup: EvaluatedLattice | PartialLattice,
        frequency_set: FrequencySet,
        spec: TableSpec,
        settings: Settings | None = None,
    ) -> None:
        self._lookup = lookup
        self._frequency_set = frequency_set
        self._spec = spec
        self._settings = settings

    @property
    def lattice(self) -> Lattice:
        """Attributes and heights."""
        return self._lookup.lattice

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""
        return self._lookup.rows

    @property
    def scores(self) -> tuple[ScoreKey, ...]:
        """Scores of every class: the parts of a signature."""
        return self._lookup.scores

    @property
    def frequency_set(self) -> FrequencySet:
        """Row types with counts, and the values of the sensitive attributes that may have an l."""
        return self._frequency_set

    @cached_property
    def loss_tables(self) -> LossTables:
        """Loss of each attribute by level."""
        weights = {a.name: a.weight for a in self._spec.quasi_identifiers}
        return LossTables.of(self._frequency_set, weights)

    @abstractmethod
    def rows_by_signature(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """Return one node's rows by signature: a class's ``scores``.

        The first score is the class size, in subjects if the spec has one, else in rows. The distinct values
        of sensitive attributes and further scores follow.
        """

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        """Count one node's suppressed rows."""
        return self._lookup.suppressed(node, requirement)

    @with_keywords(ScopedRequestKeywords)
    def negotiate(
        self,
        **options: Unpack[ScopedRequestKeywords],
    ) -> NegotiationResult:
        """Return the exact answer to a request, or its relaxations.

        ``max_suppressed`` is a number of rows or a percentage such as ``"1%"``; levels are by attribute.
        Raises ``InputError`` for values that are not allowed.

        >>> table.lattice().negotiate(k=10, max_suppressed="1%").exact  # doctest: +SKIP
        """
        return self.answer(build_request(self._spec, **options))

    @abstractmethod
    def answer(self, request: Request) -> NegotiationResult:
        """Return the exact answer to a ``Request``, or its relaxations."""

    @with_keywords(RequestKeywords)
    def attribute_suppression(
        self,
        **options: Unpack[RequestKeywords],
    ) -> AttributeSuppressionResult:
        """Return the cost of a request with one attribute at its top, or left out, for each attribute.

        >>> table.lattice().attribute_suppression(k=10).proposals  # doctest: +SKIP
        """
        return self.attribute_suppression_of(build_request(self._spec, **options))

    @abstractmethod
    def attribute_suppression_of(self, request: Request) -> AttributeSuppressionResult:
        """Return the cost of a ``Request`` with each attribute at its top."""

    @with_keywords(CriterionKeywords)
    def neighbours(
        self,
        of: AnswerResult | LevelsByAttribute,
        **options: Unpack[CriterionKeywords],
    ) -> NeighboursResult:
        """Return the effect of one level more or less, from an answer or from levels (default 0).

        >>> table.lattice().neighbours({"age": 2}, k=10).neighbours  # doctest: +SKIP
        """
        from discreet.negotiation.alternatives import find_neighbours
        from discreet.results.answer_alternatives import NeighboursResult

        node, requirement = self._node_and_requirement(of, options)
        name = "these levels"
        if isinstance(of, AnswerResult):
            name = f"the answer that relaxes {of.relaxed}" if of.relaxed else "the exact answer"
        found = find_neighbours(self._lookup, node, requirement, self.loss_tables)
        suppressed = self._lookup.suppressed(node, requirement)
        return NeighboursResult(found, node, self.lattice, self.rows, suppressed, name)

    @with_keywords(CriterionKeywords)
    def node(
        self,
        of: AnswerResult | LevelsByAttribute,
        *,
        cost: AnyCost | None = None,
        **options: Unpack[CriterionKeywords],
    ) -> NodeSummary:
        """Summarize one node: loss, suppressed rows, class sizes, distinct sensitive values.

        With a ``cost``, given here or in the spec's ``[request]``, the summary includes it.

        >>> table.lattice().node({"age": 2}, k=10).suppressed  # doctest: +SKIP
        """
        return self.summary_of(*self._node_and_requirement(of, options), choose_cost(self._spec, cost))

    def histogram(self, of: AnswerResult | LevelsByAttribute) -> NodeHistogramResult:
        """Count one node's classes by size and by distinct sensitive values, with the rows below each.

        >>> table.lattice().histogram({"age": 2}).sizes  # doctest: +SKIP
        """
        from discreet.results.node_summary import make_node_histogram

        node = of.answer.node if isinstance(of, AnswerResult) else self.node_of(of)
        return make_node_histogram(self._frequency_set, node, self.lattice)

    def summary_of(
        self, node: LatticeNode, requirement: Requirement, cost: NamedCost | None = None
    ) -> NodeSummary:
        """Summarize a node under a ``Requirement``."""
        from discreet.results.node_summary import summarize_node

        result = summarize_node(self, node, requirement)
        if cost is None:
            return result
        node_cost = self._cost_of(node, requirement, cost, result.suppressed)
        return replace(result, cost=node_cost, cost_name=cost.name)

    def with_costs(self, result: NegotiationResult, cost: NamedCost | None) -> NegotiationResult:
        """Return a result with the cost of each answer, each under its own requirement."""
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

    @with_keywords(CriterionKeywords)
    def preview(
        self,
        of: AnswerResult | LevelsByAttribute,
        *,
        number: int = 8,
        **options: Unpack[CriterionKeywords],
    ) -> RowPreview:
        """Preview real rows before and after a node's generalization; only for the publisher.

        >>> print(table.lattice().preview({"age": 2}, k=10))  # doctest: +SKIP
        """
        from discreet.results.node_rows import preview_rows

        return preview_rows(self._frequency_set, *self._node_and_requirement(of, options), number)

    @with_keywords(CriterionKeywords)
    def left_out(
        self,
        of: AnswerResult | LevelsByAttribute,
        **options: Unpack[CriterionKeywords],
    ) -> SuppressionReport:
        """Count the suppressed rows of a node by value, and find the attribute that costs most.

        Only for the publisher, since it contains counts of rare values.

        >>> table.lattice().left_out({"age": 2}, k=10).costliest  # doctest: +SKIP
        """
        from discreet.results.node_rows import report_suppression

        requested = self._node_and_requirement(of, options)
        return report_suppression(self._frequency_set, self.suppressed, self.lattice, *requested)

    def _node_and_requirement(
        self, of: AnswerResult | LevelsByAttribute, options: CriterionKeywords
    ) -> tuple[LatticeNode, Requirement]:
        if isinstance(of, AnswerResult):
            return of.answer.node, of.answer.requirement
        return self.node_of(of), build_requirement(self._spec, **options)

    def node_of(self, levels: LevelsByAttribute) -> LatticeNode:
        """Return a node from levels, default 0; raise ``InputError`` for a level out of range."""
        return self.lattice.node_of(levels, self.lattice.bottom)

    def frontier_of_cost(
        self,
        requirement: Requirement,
        cost: NamedCost,
        levels: NDArray[np.int64],
        suppressed: NDArray[np.int64],
    ) -> dict[int, float]:
        """Return the indexes of the nodes not dominated in a cost and suppressed rows, with their costs.

        ``levels`` has shape ``(nodes, quasi-identifiers)``; for an evaluated lattice it has all nodes in
        order. Raises ``InputError`` for an option of the cost that the table does not allow.
        """
        from discreet.negotiation.frontier import compute_cost_frontier

        evaluated = self._lookup if isinstance(self._lookup, EvaluatedLattice) else None
        costs = self._costs_of(requirement, cost, levels, suppressed, evaluated)
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


class TableLattice(NegotiationLattice):
    """Evaluated lattice: every node's suppression for any k and l; each query is a look-up.

    Defaults of k and l come from the spec's ``[request]``.

    >>> lattice = table.lattice()  # doctest: +SKIP
    >>> lattice.negotiate(k=10).exact, lattice.frontier(k=10)  # doctest: +SKIP
    """

    def __init__(
        self,
        evaluated: EvaluatedLattice,
        frequency_set: FrequencySet,
        spec: TableSpec,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(evaluated, frequency_set, spec, settings)
        self.evaluated = evaluated

    def answer(self, request: Request) -> NegotiationResult:
        """Return the exact answer to a request, or its relaxations."""
        return NegotiationResult(self._negotiator.negotiate(request), request)

    def attribute_suppression_of(self, request: Request) -> AttributeSuppressionResult:
        """Return the cost of a request with each attribute at its top, or left out."""
        from discreet.negotiation.alternatives import suppress_attributes
        from discreet.results.answer_alternatives import AttributeSuppressionResult

        proposals = suppress_attributes(self.evaluated, request)
        return AttributeSuppressionResult(proposals, self.lattice, self.rows, request)

    def rows_by_signature(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """Look up one node's rows by signature."""
        return self.evaluated.histogram(node)

    @with_keywords(CriterionKeywords)
    def suppression(
        self,
        **options: Unpack[CriterionKeywords],
    ) -> SuppressionResult:
        """Return every node's suppressed rows.

        >>> table.lattice().suppression(k=10).values  # doctest: +SKIP
        """
        return self.suppression_of(build_requirement(self._spec, **options))

    def suppression_of(self, requirement: Requirement) -> SuppressionResult:
        """Return every node's suppressed rows for a ``Requirement``."""
        from discreet.results.answer_alternatives import SuppressionResult

        return SuppressionResult(
            self.lattice, self.rows, requirement, self.evaluated.suppression(requirement)
        )

    @with_keywords(RequestKeywords)
    def frontier(self, *, cost: AnyCost | None = None, **options: Unpack[RequestKeywords]) -> FrontierResult:
        """Return the nodes not dominated in height, loss and suppression; the limit only marks nodes.

        With a ``cost``, given here or in the spec's ``[request]``, return the nodes not dominated in that
        cost and suppression. A cost is a name, one of ``discreet.costs``, or a function of a node's
        statistics.

        >>> table.lattice().frontier(k=10, max_suppressed="1%").points  # doctest: +SKIP
        """
        return self.frontier_of(build_request(self._spec, **options), choose_cost(self._spec, cost))

    def frontier_of(self, request: Request, cost: NamedCost | None = None) -> FrontierResult:
        """Return the frontier for a ``Request``; its level bounds and the spec's cost are ignored."""
        from discreet.negotiation.frontier import compute_frontier
        from discreet.results.answer_alternatives import FrontierResult

        requirement = request.requirement
        points = (
            compute_frontier(self.evaluated, requirement, self.loss_tables)
            if cost is None
            else self._points_of_cost(requirement, cost)
        )
        limit = request.max_suppressed.of(self.rows)
        name = None if cost is None else cost.name
        return FrontierResult(points, self.lattice, self.rows, requirement, limit, name)

    def _points_of_cost(self, requirement: Requirement, cost: NamedCost) -> tuple[FrontierPoint, ...]:
        """Return the frontier of a cost, from the least cost up; ties by the tie rule."""
        from discreet.negotiation.frontier import FrontierPoint

        suppressed = self.evaluated.suppression(requirement)
        found = self.frontier_of_cost(requirement, cost, self.lattice.all_levels(), suppressed)
        losses = self.loss_tables.losses
        points = []
        for position, value in found.items():
            node = self.lattice.node(position)
            points.append(
                FrontierPoint(
                    node, node_height(node), float(losses[position]), int(suppressed[position]), value
                )
            )
        return tuple(sorted(points, key=lambda p: (-p.suppressed, p.height, tie_break_key(p.node))))

    def document(self) -> Document:
        """Return the size, and the height of each attribute."""
        size = f"{format_quantity(self.lattice.size, 'node')}, {format_quantity(self.rows, 'row')}"
        row_types = format_quantity(self._frequency_set.row_types, "row type")
        rows = tuple((h.attribute, f"{h.height}", f"{len(h.leaves):,}") for h in self.evaluated.hierarchies)
        columns = make_columns("quasi-identifier", ">height", ">leaves")
        return (heading_line(f"Lattice of {size}, {row_types}"), Grid(columns, rows))

    @cached_property
    def _negotiator(self) -> Negotiator:
        return Negotiator(self.evaluated)
