"""The partial lattice of a table: negotiation if not every node is counted.

Loaded on demand: only tables whose lattice exceeds the memory limit, and ``--partial``, need it.
"""

from __future__ import annotations

from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.table_spec import TableSpec
from discreet.negotiation.partial_lattice import PartialLattice
from discreet.negotiation.partial_negotiation import (
    PartialNegotiator,
    count_failing_levels,
    descend_answers,
    prove_bound,
)
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    format_quantity,
    format_share,
    heading_line,
    make_columns,
)
from discreet.results.answer_alternatives import AttributeSuppressionResult
from discreet.results.answers import NegotiationResult, PartialEvidence
from discreet.results.table_lattice import NegotiationLattice
from discreet.settings import Settings


class TablePartialLattice(NegotiationLattice):
    """Partial lattice: the most important nodes with their suppression; others are counted when needed.

    With ``runtime`` a request's own node is counted too, which decides whether there is an exact answer, how
    few rows must be suppressed, and the largest k and l. With ``descends`` answers descend to minimal nodes,
    and bounds are probed; both count nodes at run time.
    """

    def __init__(
        self,
        partial: PartialLattice,
        frequency_set: FrequencySet,
        spec: TableSpec,
        settings: Settings | None = None,
        *,
        runtime: bool = True,
        descends: bool = False,
    ) -> None:
        super().__init__(partial, frequency_set, spec, settings)
        self.partial = partial
        self.runtime = runtime
        self.descends = descends

    def answer(self, request: Request) -> NegotiationResult:
        """Return the exact answer to a request, or its relaxations, with the proven bounds."""
        partial = self.partial
        negotiation = PartialNegotiator(partial, runtime=self.runtime).negotiate(request)
        if self.descends:
            negotiation = descend_answers(partial, request, negotiation)
            count_failing_levels(partial, request)
        basis = PartialEvidence(
            nodes=partial.size,
            of=self.lattice.size,
            metric=str(partial.metric),
            runtime=self.runtime,
            descended=self.descends,
            counted=len(partial.available_nodes()) - partial.size,
            nbytes=partial.nbytes,
            preparation=partial.preparation,
            bound=prove_bound(partial, request, negotiation),
        )
        return NegotiationResult(negotiation, request, basis)

    def rows_by_signature(self, node: LatticeNode) -> dict[tuple[int, ...], int]:
        """Count one node's rows by signature."""
        found = self.partial.counter.histogram(node)
        return dict(zip(map(tuple, found.signatures.T.tolist()), found.rows.tolist(), strict=True))

    def attribute_suppression_of(self, request: Request) -> AttributeSuppressionResult:
        """Return the cost of a request with each attribute at its top, by one count per attribute."""
        proposals = PartialNegotiator(self.partial).suppress_attributes(request)
        return AttributeSuppressionResult(proposals, self.lattice, self.rows, request)

    def document(self) -> Document:
        """Return size and cost, and the grouping power of each level."""
        partial = self.partial
        size = self.lattice.size
        part = f"{format_quantity(partial.size, 'node')} of {size:,} ({format_share(partial.size, size)})"
        times = partial.preparation
        rows = tuple(
            (
                p.attribute,
                f"{p.level}",
                f"{p.groups:,}",
                f"{p.average_size:,.2f}",
                f"{p.relative_importance:.2f}",
            )
            for p in partial.powers
        )
        columns = make_columns(
            "~quasi-identifier", ">level", ">groups", ">average size", ">relative importance"
        )
        facts = (
            f"Ranked by {partial.metric}; the histograms take {partial.nbytes:,} bytes.",
            f"Prepared in {times.overall:.3g} s: level statistics {times.level_statistics:.3g} s, "
            f"node scores {times.node_scores:.3g} s, histograms {times.histograms:.3g} s.",
        )
        return (
            heading_line(f"Partial lattice: {part}"),
            *map(Line, facts),
            BLANK,
            Grid(columns, rows),
        )
