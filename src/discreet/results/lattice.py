"""A table's lattice, evaluated: what negotiations are answered from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.measures.costs import AnyCost, NamedCost
from discreet.model.criteria.base import Criterion, Score
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, height, tie_key
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.negotiation.lookup import NodeLookup
from discreet.negotiation.negotiate import Negotiator
from discreet.printing.document import Column, Document, Grid, count, heading
from discreet.results.answers import NegotiationResult
from discreet.results.negotiable import NegotiableLattice
from discreet.results.requests import cost_of, request_of, requirement_of
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.negotiation.frontier import FrontierPoint
    from discreet.results.attributes import AttributeSuppressionResult
    from discreet.results.choices import FrontierResult, SuppressionResult


class TableLattice(NegotiableLattice):
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
    def scores(self) -> tuple[Score, ...]:
        """What was counted of every class."""
        return self.evaluated.scores

    @property
    def _lookup(self) -> NodeLookup:
        return self.evaluated

    @property
    def _whole(self) -> EvaluatedLattice:
        return self.evaluated

    def answer(self, request: Request) -> NegotiationResult:
        """The exact answer to a request, or its relaxations."""
        return NegotiationResult(self._negotiator.negotiate(request), request)

    def attribute_suppression_of(self, request: Request) -> AttributeSuppressionResult:
        """What a request would cost with one attribute at its top, or left out."""
        from discreet.negotiation.attribute_suppression import suppress_attributes
        from discreet.results.attributes import AttributeSuppressionResult

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
        return self.suppression_of(requirement_of(self._spec, k=k, l=l, criteria=criteria))

    def suppression_of(self, requirement: Requirement) -> SuppressionResult:
        """The same for a requirement that is already made."""
        from discreet.results.choices import SuppressionResult

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
        request = request_of(self._spec, k=k, l=l, max_suppressed=max_suppressed, criteria=criteria)
        return self.frontier_of(request, cost_of(self._spec, cost))

    def frontier_of(self, request: Request, cost: NamedCost | None = None) -> FrontierResult:
        """The same for a request that is already made; its levels do not matter, nor the spec's cost."""
        from discreet.negotiation.frontier import frontier
        from discreet.results.choices import FrontierResult

        requirement = request.requirement
        points = (
            frontier(self.evaluated, requirement, self._loss_tables)
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
                FrontierPoint(node, height(node), float(losses[place]), int(suppressed[place]), value)
            )
        return tuple(sorted(points, key=lambda p: (-p.suppressed, p.height, tie_key(p.node))))

    def document(self) -> Document:
        """Size, and the height of each attribute."""
        size = f"{count(self.lattice.size, 'node')}, {count(self.rows, 'row')}"
        row_types = count(self._frequency_set.row_types, "row type")
        rows = tuple((h.attribute, f"{h.height}", f"{len(h.leaves):,}") for h in self.evaluated.hierarchies)
        columns = (Column("quasi-identifier"), Column("height", right=True), Column("leaves", right=True))
        return (heading(f"Lattice of {size}, {row_types}"), Grid(columns, rows))

    @cached_property
    def _negotiator(self) -> Negotiator:
        return Negotiator(self.evaluated)
