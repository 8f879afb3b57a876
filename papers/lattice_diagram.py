"""SVG drawing of a generalization lattice: a box per node, a row per height, lines to direct generalizations.

The text is written without matplotlib. The bottom of the lattice is at the bottom of the picture. Equal
lattices give equal bytes; the picture loads nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import groupby
from xml.sax.saxutils import escape

from discreet.errors import InputError
from papers.charts import COLOURS

DiagramNode = tuple[int, ...]

_WIDTH, _HEIGHT, _GAP, _ROW_GAP, _MARGIN, _LEGEND = 52, 34, 12, 40, 16, 30
_TEXT_COLOUR, _EDGE_COLOUR, _WITHIN_COLOUR, _BACKGROUND = "#222222", "#C8C8C8", "#E8F1F8", "#FFFFFF"


def draw_lattice_diagram(
    title: str,
    notes: Mapping[DiagramNode, str],
    *,
    within: Collection[DiagramNode] = (),
    marked: Mapping[str, DiagramNode] | None = None,
    description: str = "",
) -> str:
    """Return the SVG text of the nodes: levels as digits with a note below.

    ``within`` nodes are shaded, such as those at or below the node of a request; ``marked`` nodes have a
    frame in their own colour and an entry in the legend. Raises ``InputError`` without a node.
    """
    if not notes:
        raise InputError(f"the lattice '{title}' has no node", allowed="one node or more")
    rows = [list(row) for _, row in groupby(sorted(notes, key=lambda node: (sum(node), node)), key=sum)]
    width = max(len(row) for row in rows) * (_WIDTH + _GAP) - _GAP + 2 * _MARGIN
    height = len(rows) * (_HEIGHT + _ROW_GAP) - _ROW_GAP + 2 * _MARGIN + (_LEGEND if marked else 0)
    places = {
        node: (
            width / 2 + (place - (len(row) - 1) / 2) * (_WIDTH + _GAP),
            _MARGIN + _HEIGHT / 2 + (len(rows) - 1 - risen) * (_HEIGHT + _ROW_GAP),
        )
        for risen, row in enumerate(rows)
        for place, node in enumerate(row)
    }
    frames = dict(zip((marked or {}).values(), COLOURS[1:], strict=False))
    text = f"<title>{escape(title)}</title>" + (f"<desc>{escape(description)}</desc>" if description else "")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="DejaVu Sans, Arial, sans-serif" font-size="11" '
        f'text-anchor="middle">{text}<rect width="{width}" height="{height}" fill="{_BACKGROUND}"/>',
        *_draw_edges(places),
        *(_draw_node(node, notes[node], places[node], node in within, frames.get(node)) for node in places),
        *_draw_legend(marked or {}, frames, width, height),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _draw_edges(places: Mapping[DiagramNode, tuple[float, float]]) -> list[str]:
    found = []
    for node, (x, y) in places.items():
        for axis in range(len(node)):
            above = (*node[:axis], node[axis] + 1, *node[axis + 1 :])
            if above in places:
                to_x, to_y = places[above]
                ends = f'x1="{x:g}" y1="{y - _HEIGHT / 2:g}" x2="{to_x:g}" y2="{to_y + _HEIGHT / 2:g}"'
                found.append(f'<line {ends} stroke="{_EDGE_COLOUR}"/>')
    return found


def _draw_node(
    node: DiagramNode, note: str, place: tuple[float, float], within: bool, frame: str | None
) -> str:
    x, y = place
    size = f'x="{x - _WIDTH / 2:g}" y="{y - _HEIGHT / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"'
    colour, line = frame or _EDGE_COLOUR, 2.5 if frame else 1
    label = "".join(map(str, node))
    return (
        f'<rect {size} fill="{_WITHIN_COLOUR if within else _BACKGROUND}" '
        f'stroke="{colour}" stroke-width="{line}"/>'
        f'<text x="{x:g}" y="{y - 3:g}" font-weight="bold" fill="{_TEXT_COLOUR}">{escape(label)}</text>'
        f'<text x="{x:g}" y="{y + 11:g}" fill="{_TEXT_COLOUR}">{escape(note)}</text>'
    )


def _draw_legend(
    marked: Mapping[str, DiagramNode], frames: Mapping[DiagramNode, str], width: float, height: float
) -> list[str]:
    """Return one entry per marked name; a node with several names has the colour of the last."""
    room = width / max(len(marked), 1)
    found = []
    for place, (name, node) in enumerate(marked.items()):
        x, y = room * (place + 0.5), height - 14
        found.append(
            f'<text x="{x:g}" y="{y:g}" fill="{_TEXT_COLOUR}">'
            f'<tspan fill="{frames[node]}" font-weight="bold">■ '
            f"</tspan>{escape(name)}</text>"
        )
    return found
