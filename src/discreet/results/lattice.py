"""A table's lattice, evaluated: what negotiations are answered from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.model.criteria.base import Criterion, Score
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.negotiation.attribute_suppression import suppress_attributes
from discreet.negotiation.frontier import frontier
from discreet.negotiation.lookup import NodeLookup
from discreet.negotiation.negotiate import Negotiator
from discreet.printing.document import Column, Document, Grid, count, heading
from discreet.results.answers import NegotiationResult
from discreet.results.attributes import AttributeSuppressionResult
from discreet.results.choices import FrontierResult, SuppressionResult
from discreet.results.negotiable import NegotiableLattice
from discreet.results.requests import request_of, requirement_of


class TableLattice(NegotiableLattice):
    """Every node's suppression for any k and l; each question below is a look-up.

    Where k and l are not given, the spec's ``[request]`` says them.
    """

    def __init__(self, evaluated: EvaluatedLattice, frequency_set: FrequencySet, spec: TableSpec) -> None:
        super().__init__(frequency_set, spec)
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

    def answer(self, request: Request) -> NegotiationResult:
        """The exact answer to a request, or its relaxations."""
        return NegotiationResult(self._negotiator.negotiate(request), request)

    def attribute_suppression_of(self, request: Request) -> AttributeSuppressionResult:
        """What a request would cost with one attribute at its top, or left out."""
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
    ) -> FrontierResult:
        """The nodes not dominated in height, loss and suppression; the limit only marks those within it."""
        return self.frontier_of(
            request_of(self._spec, k=k, l=l, max_suppressed=max_suppressed, criteria=criteria)
        )

    def frontier_of(self, request: Request) -> FrontierResult:
        """The same for a request that is already made; its levels do not matter."""
        points = frontier(self.evaluated, request.requirement, self._loss_tables)
        limit = request.max_suppressed.of(self.rows)
        return FrontierResult(points, self.lattice, self.rows, request.requirement, limit)

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
