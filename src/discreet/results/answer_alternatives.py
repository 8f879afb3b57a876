"""Alternatives to an answer: frontier, neighbours, the suppression of every node, suppressed attributes.

Loaded when one of them is requested, since a plain negotiation prints none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import Lattice, LatticeNode, node_height
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import cost_as_json, format_cost
from discreet.negotiation.alternatives import Neighbour, SuppressedAttribute
from discreet.negotiation.frontier import FrontierPoint
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    format_quantity,
    format_rows,
    format_share,
    heading_line,
    make_columns,
)
from discreet.printing.lattice_picture import draw_lattice_html
from discreet.printing.rendering import Printable

_BAR_WIDTH = 20
_MAX_ROWS = 40


@dataclass(frozen=True, repr=False)
class FrontierResult(Printable):
    """Frontier: the nodes not dominated in height, loss and suppression, for one requirement.

    With a named cost, the nodes not dominated in that cost and suppression.

    >>> table.lattice().frontier(k=10).points  # doctest: +SKIP
    """

    points: tuple[FrontierPoint, ...]
    lattice: Lattice
    rows: int
    requirement: Requirement
    limit: int
    cost_name: str | None = None

    def as_json(self) -> list[dict[str, Any]]:
        """Return one object per node, in the frontier's order."""
        return [
            {
                "levels": self.lattice.levels_of(p.node),
                "height": p.height,
                "loss": p.loss,
                "suppressed": p.suppressed,
                **({} if self.cost_name is None else {"cost": cost_as_json(p.cost)}),
            }
            for p in self.points
        ]

    def document(self) -> Document:
        """Return height, loss and suppression of the nodes within the limit, or of those closest to it."""
        within = [p for p in self.points if p.suppressed <= self.limit]
        of = "" if self.cost_name is None else f" of {self.cost_name}"
        title = f"Frontier{of} for {self.requirement}: {format_quantity(len(self.points), 'node')}"
        title += f", {len(within):,} of them with at most {format_quantity(self.limit, 'row')} suppressed"
        chosen = within or sorted(self.points, key=lambda p: p.suppressed)
        rows = tuple(
            (
                f"{p.height}",
                f"{p.loss:.4f}" if p.cost is None else format_cost(p.cost),
                format_rows(p.suppressed, self.rows),
                levels_text(p.node),
            )
            for p in chosen[:_MAX_ROWS]
        )
        columns = make_columns(">height", f">{self.cost_name or 'loss'}", ">suppressed", "~levels")
        left = len(self.points) - len(rows)
        more = (Line(f"… and {left:,} more; --json lists them all."),) if left else ()
        return (heading_line(title), levels_legend(self.lattice), BLANK, Grid(columns, rows), *more)


@dataclass(frozen=True, repr=False)
class NeighboursResult(Printable):
    """Neighbours of a node: the effect of one level more or less in each attribute.

    >>> table.lattice().neighbours({"age": 2}, k=10).neighbours  # doctest: +SKIP
    """

    neighbours: tuple[Neighbour, ...]
    node: LatticeNode
    lattice: Lattice
    rows: int
    suppressed: int
    of: str = "this node"

    def as_json(self) -> list[dict[str, Any]]:
        """Return one object per neighbour: the step, the node, and the differences."""
        return [
            {
                "attribute": n.attribute,
                "step": n.step,
                "levels": self.lattice.levels_of(n.node),
                "height": n.height,
                "suppressed": n.suppressed,
                "suppressed_change": n.suppressed_change,
                "loss": n.loss,
                "loss_change": n.loss_change,
            }
            for n in self.neighbours
        ]

    def document(self) -> Document:
        """Return one row per attribute: suppressed rows one level below and one above."""
        steps = {(n.attribute, n.step): n for n in self.neighbours}
        rows = tuple(
            (
                name,
                f"{level} of {top}",
                _change_text(steps.get((name, -1))),
                _change_text(steps.get((name, 1))),
            )
            for name, level, top in zip(self.lattice.attributes, self.node, self.lattice.heights, strict=True)
        )
        columns = make_columns("", ">level", ">one less", ">one more")
        return (
            heading_line(f"Suppressed rows one level away from {self.of} ({self.suppressed:,})"),
            Grid(columns, rows),
        )


@dataclass(frozen=True, repr=False)
class SuppressionResult(Printable):
    """Suppressed rows of every node for one requirement; ``values`` has shape ``(nodes,)``.

    Nodes are in mixed-radix order, the last attribute fastest.

    >>> table.lattice().suppression(k=10).values  # doctest: +SKIP
    """

    lattice: Lattice
    rows: int
    requirement: Requirement
    values: NDArray[np.int64]

    def as_json(self) -> dict[str, Any]:
        """Return the contract's document of ``discreet lattice --json``."""
        table = np.column_stack([self._levels, self.values])
        return {
            "attributes": list(self.lattice.attributes),
            "heights": list(self.lattice.heights),
            "rows": self.rows,
            "nodes": table.tolist(),
        }

    def document(self) -> Document:
        """Return a row per height: nodes, least, mean and most suppressed rows, and a bar for the mean."""
        lattice = format_quantity(self.lattice.size, "node")
        title = f"Suppressed rows for {self.requirement}: {lattice}, {format_quantity(self.rows, 'row')}"
        return (heading_line(title), BLANK, Grid(_HEIGHT_COLUMNS, tuple(self._height_rows())))

    def _repr_html_(self) -> str:
        """Return the table of heights and, for a small lattice, a drawing of it."""
        return super()._repr_html_() + draw_lattice_html(self.lattice, self.values, self.rows)

    def every_node(self) -> Document:
        """Return one row per node, in mixed-radix order."""
        rows = tuple(
            (f"{sum(levels)}", levels_text(levels), f"{value:,}", format_share(value, self.rows))
            for levels, value in zip(map(tuple, self._levels.tolist()), self.values.tolist(), strict=True)
        )
        columns = make_columns(">height", "levels", ">suppressed", ">of the rows")
        return (levels_legend(self.lattice), Grid(columns, rows))

    @cached_property
    def _levels(self) -> NDArray[np.int64]:
        return self.lattice.all_levels()

    def _height_rows(self) -> list[tuple[str, ...]]:
        heights = self._levels.sum(axis=1)
        rows: list[tuple[str, ...]] = []
        for h in range(node_height(self.lattice.top) + 1):
            values = self.values[heights == h]
            mean = float(values.mean())
            bar = "█" * round(_BAR_WIDTH * mean / max(self.rows, 1))
            rows.append(
                (f"{h}", f"{len(values):,}", f"{values.min():,}", f"{mean:,.1f}", f"{values.max():,}", bar)
            )
        return rows


_HEIGHT_COLUMNS = make_columns(">height", ">nodes", ">least", ">mean", ">most", "mean of the rows")


def levels_text(node: tuple[int, ...]) -> str:
    """Return a node as its levels: ``2 1 1 0 1 2``."""
    return " ".join(str(level) for level in node)


def levels_legend(lattice: Lattice) -> Line:
    """Return a legend with the attribute of each level."""
    return Line(f"levels: {' '.join(lattice.attributes)}")


def _change_text(neighbour: Neighbour | None) -> str:
    return "" if neighbour is None else f"{neighbour.suppressed:,} ({neighbour.suppressed_change:+,})"


_SUPPRESSION_NOTE = (
    'At its top an attribute shows "*" in every row. The classes are the same where its column is left out '
    'of the release (role = "identifier" in the spec); the last column is the height without it.'
)


@dataclass(frozen=True, repr=False)
class AttributeSuppressionResult(Printable):
    """Effect of one attribute at its top, or left out, on a request: one proposal per attribute."""

    proposals: tuple[SuppressedAttribute, ...]
    lattice: Lattice
    rows: int
    request: Request

    def as_json(self) -> list[dict[str, Any]]:
        """Return one object per attribute, in the lattice's order; ``exact``: the request is met."""
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
        """Return one row per attribute: the verdict, suppressed rows, heights, levels."""
        bounds = dict(self.request.max_level)
        rows = tuple(
            (
                p.attribute,
                self._verdict(p, bounds),
                format_rows(p.suppressed, self.rows),
                f"{p.height}",
                f"{p.height_without}",
                levels_text(p.node),
            )
            for p in self.proposals
        )
        columns = make_columns(
            "~attribute at its top", "request", ">suppressed", ">height", ">without", "~levels"
        )
        title = f"With one attribute at its top, {self.request.requirement}:"
        return (
            heading_line(title),
            levels_legend(self.lattice),
            Grid(columns, rows),
            Line(_SUPPRESSION_NOTE),
        )

    def _verdict(self, proposal: SuppressedAttribute, bounds: dict[str, int]) -> str:
        if proposal.meets:
            return "met"
        top = self.lattice.heights[self.lattice.attributes.index(proposal.attribute)]
        return "no change" if bounds.get(proposal.attribute, top) == top else "not met"
