"""What giving up one attribute would buy, printed: one row per quasi-identifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.model.lattice import Lattice
from discreet.model.request import Request
from discreet.negotiation.attribute_suppression import AttributeSuppression
from discreet.printing.document import Column, Document, Grid, Line, heading, rows_and_share
from discreet.printing.printed import Printed
from discreet.results.choices import levels_legend, levels_text

_NOTE = (
    'At its top an attribute shows "*" in every row. The classes are the same where its column is left out '
    'of the release (role = "identifier" in the spec); the last column is the height without it.'
)


@dataclass(frozen=True, repr=False)
class AttributeSuppressionResult(Printed):
    """What a request costs with one attribute at its top, or left out: one proposal per attribute."""

    proposals: tuple[AttributeSuppression, ...]
    lattice: Lattice
    rows: int
    request: Request

    def as_json(self) -> list[dict[str, Any]]:
        """One object per attribute, in the lattice's order; ``exact``: the request is met."""
        return [
            {
                "attribute": p.attribute,
                "exact": p.meets,
                "levels": self.lattice.levels_of(p.node),
                "height": p.height,
                "height_without": p.height_without,
                "suppressed": p.suppressed,
            }
            for p in self.proposals
        ]

    def document(self) -> Document:
        """One row per attribute: whether the request is met, suppressed rows, heights, levels."""
        bounds = dict(self.request.max_level)
        rows = tuple(
            (
                p.attribute,
                self._verdict(p, bounds),
                rows_and_share(p.suppressed, self.rows),
                f"{p.height}",
                f"{p.height_without}",
                levels_text(p.node),
            )
            for p in self.proposals
        )
        columns = (
            Column("given up", shrinks=True),
            Column("request"),
            Column("suppressed", right=True),
            Column("height", right=True),
            Column("without", right=True),
            Column("levels", shrinks=True),
        )
        title = f"With one attribute at its top, {self.request.requirement}:"
        return (heading(title), levels_legend(self.lattice), Grid(columns, rows), Line(_NOTE))

    def _verdict(self, proposal: AttributeSuppression, bounds: dict[str, int]) -> str:
        if proposal.meets:
            return "met"
        top = self.lattice.heights[self.lattice.attributes.index(proposal.attribute)]
        return "no change" if bounds.get(proposal.attribute, top) == top else "not met"
