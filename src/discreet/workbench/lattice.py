"""A table's lattice, evaluated: what negotiations are answered from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.measures.loss import LossTables
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.negotiation.frontier import frontier
from discreet.negotiation.negotiate import Negotiator
from discreet.negotiation.neighbours import neighbours
from discreet.workbench.answers import AnswerResult, NegotiationResult
from discreet.workbench.choices import FrontierResult, NeighboursResult, SuppressionResult
from discreet.workbench.document import Column, Document, Grid, count, heading
from discreet.workbench.printed import Printed
from discreet.workbench.requests import Levels, request_of, requirement_of


class TableLattice(Printed):
    """Every node's suppression for any k and l; each question below is a look-up.

    Where k and l are not given, the spec's ``[request]`` says them.
    """

    def __init__(self, evaluated: EvaluatedLattice, frequency_set: FrequencySet, spec: TableSpec) -> None:
        self.evaluated = evaluated
        self._frequency_set = frequency_set
        self._spec = spec

    @property
    def lattice(self) -> Lattice:
        """Attributes and heights."""
        return self.evaluated.lattice

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""
        return self.evaluated.rows

    def negotiate(
        self,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int | None = None,
        max_level: Levels | None = None,
        min_level: Levels | None = None,
        scope: str | None = None,
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
            )
        )

    def answer(self, request: Request) -> NegotiationResult:
        """The same for a request that is already made."""
        return NegotiationResult(self._negotiator.negotiate(request), request)

    def suppression(
        self, *, k: int | None = None, l: int | Mapping[str, int] | None = None
    ) -> SuppressionResult:
        """Every node's suppressed rows."""
        return self.suppression_of(requirement_of(self._spec, k=k, l=l))

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
    ) -> FrontierResult:
        """The nodes not dominated in height, loss and suppression; the limit only marks those within it."""
        return self.frontier_of(request_of(self._spec, k=k, l=l, max_suppressed=max_suppressed))

    def frontier_of(self, request: Request) -> FrontierResult:
        """The same for a request that is already made; its levels do not matter."""
        points = frontier(self.evaluated, request.requirement, self._loss_tables)
        limit = request.max_suppressed.of(self.rows)
        return FrontierResult(points, self.lattice, self.rows, request.requirement, limit)

    def neighbours(
        self,
        of: AnswerResult | Levels,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
    ) -> NeighboursResult:
        """What one level more or less would change, from an answer or from levels (0 where not named)."""
        if isinstance(of, AnswerResult):
            node, requirement = of.answer.node, of.answer.requirement
            name = f"the answer that relaxes {of.relaxed}" if of.relaxed else "the exact answer"
        else:
            node, requirement = self.node_of(of), requirement_of(self._spec, k=k, l=l)
            name = "these levels"
        found = neighbours(self.evaluated, node, requirement, self._loss_tables)
        suppressed = self.evaluated.suppressed(node, requirement)
        return NeighboursResult(found, node, self.lattice, self.rows, suppressed, name)

    def node_of(self, levels: Levels) -> LatticeNode:
        """A node from levels, 0 where not named; ``InputError`` for what is out of range."""
        return self.lattice.node_of(levels, self.lattice.bottom)

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

    @cached_property
    def _loss_tables(self) -> LossTables:
        weights = {a.name: a.weight for a in self._spec.quasi_identifiers}
        return LossTables.of(self._frequency_set, weights)
