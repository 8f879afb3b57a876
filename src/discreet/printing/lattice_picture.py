"""A lattice as an HTML drawing for notebooks: one dot per node, coloured by its suppressed rows.

Heights go up; within a height nodes with fewer suppressed rows are on the left. Buttons dim the nodes above a
limit by CSS only, so an untrusted notebook keeps the drawing. It contains names, levels and counts, never a
cell.
"""

from __future__ import annotations

import secrets
from html import escape

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import Lattice, LatticeNode
from discreet.printing.document import format_share
from discreet.printing.rendering import escape_control_characters

SUPPRESSION_LIMITS = (("0", 0.0), ("1%", 0.01), ("5%", 0.05), ("10%", 0.1))
_MAX_NODES = 200_000
_MAX_NODES_PER_HEIGHT = 60
_MAX_NODES_WITH_EDGES = 120
_COLUMN_WIDTH, _ROW_HEIGHT, _MARGIN = 12, 22, 34
_SHADES = ("#2f7d4f", "#7aa63a", "#c9a227", "#c8702d", "#9c3b32")

_Positions = dict[LatticeNode, tuple[float, int]]


def draw_lattice_html(lattice: Lattice, suppressed: NDArray[np.int64], rows: int) -> str:
    """Return HTML with the drawing, or an empty text for a lattice that is too large to draw.

    ``suppressed`` has shape ``(nodes,)``, in mixed-radix order, the last attribute fastest.
    """
    if lattice.size > _MAX_NODES:
        return ""
    drawn = _drawn_nodes(lattice, suppressed)
    widest = max(len(positions) for positions in drawn)
    width, height = 2 * _MARGIN + widest * _COLUMN_WIDTH, (len(drawn) + 1) * _ROW_HEIGHT
    positions = {
        lattice.node(index): (
            width / 2 + (column - (len(row) - 1) / 2) * _COLUMN_WIDTH,
            height - _ROW_HEIGHT * (level + 1),
        )
        for level, row in enumerate(drawn)
        for column, index in enumerate(row)
    }
    # A notebook may contain several drawings, so the ids and radio buttons of each need their own name.
    name = f"lattice-{secrets.token_hex(4)}"
    parts = [
        _limit_buttons(name),
        f'<svg viewBox="0 0 {width} {height}" width="{width}" style="max-width:100%" role="img">',
        "<title>Each dot is a node; higher nodes are more general</title>",
        *(_edge_lines(lattice, positions) if lattice.size <= _MAX_NODES_WITH_EDGES else ()),
        *(_height_label(level, height) for level in range(len(drawn))),
        *(
            _node_circle(lattice, node, position, int(suppressed[lattice.index(node)]), rows)
            for node, position in positions.items()
        ),
        "</svg>",
    ]
    left = lattice.size - len(positions)
    note = (
        f"; only the {_MAX_NODES_PER_HEIGHT} nodes with the fewest suppressed rows per height, {left:,} "
        "omitted"
        if left
        else ""
    )
    legend = f"Green suppresses nothing, red more than 10%{note}. Point at a dot for its levels."
    return f'<div id="{name}">{"".join(parts)}<p><small>{legend}</small></p></div>'


def _drawn_nodes(lattice: Lattice, suppressed: NDArray[np.int64]) -> list[list[int]]:
    """Return the indexes of the drawn nodes by height, those with fewest suppressed rows first."""
    heights = lattice.all_levels().sum(axis=1)
    order = np.lexsort((suppressed, heights))
    by_height = np.split(order, np.searchsorted(heights[order], np.arange(1, sum(lattice.heights) + 1)))
    return [row[:_MAX_NODES_PER_HEIGHT].tolist() for row in by_height]


def _limit_bucket(suppressed: int, rows: int) -> int:
    """Return the index of the first limit that a node meets, or the number of limits if it meets none."""
    return sum(suppressed > limit * rows for _, limit in SUPPRESSION_LIMITS)


def _node_circle(
    lattice: Lattice, node: LatticeNode, position: tuple[float, int], suppressed: int, rows: int
) -> str:
    levels = ", ".join(f"{name} {level}" for name, level in lattice.levels_of(node).items())
    title = escape(
        escape_control_characters(
            f"{levels}: {suppressed:,} rows suppressed ({format_share(suppressed, rows)})"
        )
    )
    bucket = _limit_bucket(suppressed, rows)
    return (
        f'<circle class="b{bucket}" cx="{position[0]:g}" cy="{position[1]:g}" r="4.5" '
        f'fill="{_SHADES[bucket]}">'
        f"<title>{title}</title></circle>"
    )


def _edge_lines(lattice: Lattice, positions: _Positions) -> list[str]:
    return [
        f'<line x1="{x:g}" y1="{y:g}" x2="{positions[parent][0]:g}" y2="{positions[parent][1]:g}" '
        'stroke="#8886" stroke-width="1"/>'
        for node, (x, y) in positions.items()
        for parent in lattice.parents(node)
        if parent in positions
    ]


def _height_label(level: int, height: int) -> str:
    return (
        f'<text x="4" y="{height - _ROW_HEIGHT * (level + 1) + 4}" font-size="11" fill="#888">{level}</text>'
    )


def _limit_buttons(name: str) -> str:
    """Return radio buttons for the limits, and the CSS rules that dim nodes."""
    rules = [f"#{name} circle:hover{{stroke:#888;stroke-width:3px}}"]
    buttons = []
    for position, (text, _) in enumerate(SUPPRESSION_LIMITS):
        above = ",".join(
            f"#{name}-{position}:checked~svg .b{b}" for b in range(position + 1, len(SUPPRESSION_LIMITS) + 1)
        )
        rules.append(f"{above}{{opacity:.12}}")
        buttons.append(
            f'<input type="radio" name="{name}" id="{name}-{position}">'
            f'<label for="{name}-{position}"> at most {text} suppressed </label>'
        )
    every = f'<input type="radio" name="{name}" id="{name}-all" checked><label for="{name}-all"> all</label>'
    return f"<style>{''.join(rules)}</style>{''.join(buttons)}{every}<br>"
