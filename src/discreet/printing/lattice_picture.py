"""A lattice as a small drawing for notebooks: a dot for each node, redder the more rows it suppresses.

Heights go up; in each the nodes with the fewest suppressed rows stand on the left. A dot tells its levels
and its rows where one points at it, and buttons dim the nodes above a limit: style rules alone, no script,
so a notebook that is not trusted keeps the still drawing. It holds names, levels and counts, never a value
of a row.
"""

from __future__ import annotations

import secrets
from html import escape

import numpy as np
from numpy.typing import NDArray

from discreet.model.lattice import Lattice, LatticeNode
from discreet.printing.document import share
from discreet.printing.plain_text import printable

LIMITS = (("0", 0.0), ("1%", 0.01), ("5%", 0.05), ("10%", 0.1))
_LARGEST = 200_000
_WIDEST = 60
_EDGES_TO = 120
_ACROSS, _UP, _LEFT = 12, 22, 34
_SHADES = ("#2f7d4f", "#7aa63a", "#c9a227", "#c8702d", "#9c3b32")

_Places = dict[LatticeNode, tuple[float, int]]


def lattice_picture(lattice: Lattice, suppressed: NDArray[np.int64], rows: int) -> str:
    """HTML with the drawing; the empty text for a lattice too large to draw.

    Shapes:
        suppressed: ``(nodes,)``, in mixed-radix order, the last attribute fastest.
    """
    if lattice.size > _LARGEST:
        return ""
    shown = _shown(lattice, suppressed)
    widest = max(len(places) for places in shown)
    width, height = 2 * _LEFT + widest * _ACROSS, (len(shown) + 1) * _UP
    places = {
        lattice.node(index): (width / 2 + (column - (len(row) - 1) / 2) * _ACROSS, height - _UP * (level + 1))
        for level, row in enumerate(shown)
        for column, index in enumerate(row)
    }
    name = f"lattice-{secrets.token_hex(4)}"
    parts = [
        _buttons(name),
        f'<svg viewBox="0 0 {width} {height}" width="{width}" style="max-width:100%" role="img">',
        "<title>Each dot is a node; the higher, the more general</title>",
        *(_edges(lattice, places) if lattice.size <= _EDGES_TO else ()),
        *(_height_label(level, height) for level in range(len(shown))),
        *(
            _dot(lattice, node, place, int(suppressed[lattice.index(node)]), rows)
            for node, place in places.items()
        ),
        "</svg>",
    ]
    left = lattice.size - len(places)
    note = f"; of each height the {_WIDEST} nodes that suppress least, {left:,} are not drawn" if left else ""
    legend = f"Green suppresses nothing, red more than 10%{note}. Point at a dot for its levels."
    return f'<div id="{name}">{"".join(parts)}<p><small>{legend}</small></p></div>'


def _shown(lattice: Lattice, suppressed: NDArray[np.int64]) -> list[list[int]]:
    """The numbers of the drawn nodes by height, those that suppress least first."""
    heights = lattice.all_levels().sum(axis=1)
    order = np.lexsort((suppressed, heights))
    by_height = np.split(order, np.searchsorted(heights[order], np.arange(1, sum(lattice.heights) + 1)))
    return [row[:_WIDEST].tolist() for row in by_height]


def _bucket(suppressed: int, rows: int) -> int:
    """The first limit that a node keeps to; one more than the last where it keeps to none."""
    return sum(suppressed > limit * rows for _, limit in LIMITS)


def _dot(lattice: Lattice, node: LatticeNode, place: tuple[float, int], suppressed: int, rows: int) -> str:
    levels = ", ".join(f"{name} {level}" for name, level in lattice.levels_of(node).items())
    told = escape(printable(f"{levels}: {suppressed:,} rows suppressed ({share(suppressed, rows)})"))
    bucket = _bucket(suppressed, rows)
    return (
        f'<circle class="b{bucket}" cx="{place[0]:g}" cy="{place[1]:g}" r="4.5" fill="{_SHADES[bucket]}">'
        f"<title>{told}</title></circle>"
    )


def _edges(lattice: Lattice, places: _Places) -> list[str]:
    return [
        f'<line x1="{x:g}" y1="{y:g}" x2="{places[parent][0]:g}" y2="{places[parent][1]:g}" '
        'stroke="#8886" stroke-width="1"/>'
        for node, (x, y) in places.items()
        for parent in lattice.parents(node)
        if parent in places
    ]


def _height_label(level: int, height: int) -> str:
    return f'<text x="4" y="{height - _UP * (level + 1) + 4}" font-size="11" fill="#888">{level}</text>'


def _buttons(name: str) -> str:
    """A choice of limits, and the rules by which it dims."""
    rules = [f"#{name} circle:hover{{stroke:#888;stroke-width:3px}}"]
    buttons = []
    for place, (text, _) in enumerate(LIMITS):
        above = ",".join(f"#{name}-{place}:checked~svg .b{b}" for b in range(place + 1, len(LIMITS) + 1))
        rules.append(f"{above}{{opacity:.12}}")
        buttons.append(
            f'<input type="radio" name="{name}" id="{name}-{place}">'
            f'<label for="{name}-{place}"> at most {text} suppressed </label>'
        )
    every = f'<input type="radio" name="{name}" id="{name}-all" checked><label for="{name}-all"> all</label>'
    return f"<style>{''.join(rules)}</style>{''.join(buttons)}{every}<br>"
