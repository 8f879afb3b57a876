"""Draws the pictures of ``pictures.md``: ``python docs/images/concepts.py`` writes them beside this file.

What they show is computed by the program from ten philosophers and twelve made-up rows, not drawn by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).resolve().parent
_INK, _QUIET, _GOOD, _BAD, _GROUND = "#1d2b33", "#6b7780", "#2f7d5b", "#c2571a", "#fbfaf7"
_FILLS = ("#dbe9f1", "#f6e3c5", "#dcecd9", "#eddcea", "#f3d9d2", "#e3e3ee", "#d8ebe9")

AGES = (39, 38, 37, 38, 28, 31, 30, 32, 35, 33)
"""The philosophers' ages, in the order of ``concepts.md``."""

WORK = ("Private",) * 4 + ("Gov",) * 3 + ("Self-emp",) * 3
LEARNED = (False, False, False, False, *(True,) * 6)
POINTS = (
    *((23, 2), (24, 9), (27, 3), (29, 8), (33, 1), (36, 5)),
    *((41, 9), (44, 2), (52, 7), (58, 3), (61, 8), (67, 6)),
)
"""Twelve people's ages and years of schooling."""

SALARIES = (21, 22, 24, 29, 31, 33, 48, 52, 55, 60, 74, 90)


def lattice() -> str:
    """Every node of three small hierarchies, and how many philosophers each suppresses for k = 4."""
    tops = (3, 2, 1)
    by_height: dict[int, list[tuple[int, ...]]] = {}
    for node in product(*(range(top + 1) for top in tops)):
        by_height.setdefault(sum(node), []).append(node)
    place = {
        node: (480 + (order - (len(nodes) - 1) / 2) * 150, 470 - height * 68)
        for height, nodes in by_height.items()
        for order, node in enumerate(nodes)
    }
    parts = []
    for low, high in product(place, place):
        if sum(high) == sum(low) + 1 and all(a <= b for a, b in zip(low, high, strict=True)):
            (x1, y1), (x2, y2) = place[low], place[high]
            parts.append(_line(x1, y1 - 17, x2, y2 + 17, "#c3c9cd"))
    for node, (x, y) in place.items():
        lost = suppressed(node, k=4)
        colour = _GOOD if lost == 0 else _QUIET if lost < 8 else _BAD
        parts.append(_box(x - 58, y - 17, 116, 34, "#ffffff", colour))
        words = f"{''.join(map(str, node))} · {'nobody' if lost == 0 else f'{lost} of 10'}"
        parts.append(_text(x, y + 5, words, size=14, colour=colour))
    told = "levels of age, work class, education · who is suppressed for k = 4"
    parts.append(_text(480, 510, told, size=13, colour=_QUIET))
    return _picture("The lattice of ten philosophers", 960, 525, parts)


def suppressed(node: Sequence[int], *, k: int) -> int:
    """Rows in classes of fewer than ``k`` rows, at the levels of age, work class and education."""
    shown = [
        (
            (age, (age - 2) // 5, (age + 3) // 10, 0)[node[0]],
            (work, "Private" if work == "Private" else "other", "*")[node[1]],
            (learned, "*")[node[2]],
        )
        for age, work, learned in zip(AGES, WORK, LEARNED, strict=True)
    ]
    return sum(shown.count(row) < k for row in shown)


def mondrian() -> str:
    """Three steps of cutting at medians, until no box can be cut with k = 3."""
    parts = []
    stages = [cut(POINTS, rounds, k=3) for rounds in (0, 1, 2)]
    for place, (boxes, told) in enumerate(
        zip(stages, ("one class of 12", "cut at the median age", "each half cut by schooling"), strict=True)
    ):
        left = 20 + place * 310
        parts.append(_box(left, 20, 290, 250, "#ffffff", "#c3c9cd"))
        for number, rows in enumerate(boxes):
            x1, x2 = min(a for a, _ in rows), max(a for a, _ in rows)
            y1, y2 = min(b for _, b in rows), max(b for _, b in rows)
            x, y = left + (x1 - 20) * 5.4, 250 - y2 * 23
            parts.append(_box(x, y, (x2 - x1) * 5.4 + 26, (y2 - y1) * 23 + 26, _FILLS[number % 7], "#8fa3af"))
        for age, years in POINTS:
            parts.append(_dot(left + (age - 20) * 5.4 + 13, 263 - years * 23))
        parts.append(_text(left + 145, 295, told, size=14))
    parts.append(_text(480, 325, "across: age · upward: years of schooling · k = 3", size=13, colour=_QUIET))
    return _picture("Mondrian cuts a table into classes", 960, 340, parts)


Rows = tuple[tuple[int, int], ...]


def cut(rows: Rows, rounds: int, *, k: int) -> list[Rows]:
    """The classes after so many rounds of cuts at the median, by age first and by schooling then."""
    boxes = [tuple(rows)]
    for turn in range(rounds):
        cut_boxes: list[Rows] = []
        for box in boxes:
            ordered = tuple(sorted(box, key=lambda row: row[turn % 2]))
            middle = len(ordered) // 2
            halves = [ordered[:middle], ordered[middle:]]
            cut_boxes += halves if min(map(len, halves)) >= k else [box]
        boxes = cut_boxes
    return boxes


def patterns() -> str:
    """All patterns of three attributes, and which of them a mask allows."""
    parts = []
    names = ("age", "city", "job")
    allowed = [stars for size in (0, 1) for stars in combinations(range(3), size)]
    everything = [stars for size in range(4) for stars in combinations(range(3), size)]
    for number, stars in enumerate(everything):
        column, row = number % 4, number // 4
        x, y = 30 + column * 232, 50 + row * 130
        fine = stars in allowed or len(stars) == 3
        parts.append(_box(x, y, 204, 84, "#ffffff" if fine else "#f1efe9", _GOOD if fine else "#c3c9cd"))
        for place, name in enumerate(names):
            starred = place in stars
            parts.append(
                _box(x + 12 + place * 62, y + 14, 56, 30, "#ffffff" if starred else _FILLS[0], "#8fa3af")
            )
            colour = _INK if fine else _QUIET
            parts.append(_text(x + 40 + place * 62, y + 34, "*" if starred else name, size=14, colour=colour))
        cost = f"{len(stars)} star{'' if len(stars) == 1 else 's'}"
        told = "for outliers" if len(stars) == 3 else cost if fine else f"{cost}: not allowed"
        parts.append(_text(x + 102, y + 69, told, size=13, colour=_GOOD if fine else _QUIET))
    parts.append(
        _text(480, 28, "the mask: at most one star a row; every row goes under one pattern", size=14)
    )
    return _picture("The patterns of three attributes", 960, 305, parts)


def bands() -> str:
    """Sorted salaries in groups of three values or more, ranges of five or more: a permutation's bands."""
    parts = []
    low, high = min(SALARIES), max(SALARIES)
    across = [60 + (value - low) / (high - low) * 840 for value in SALARIES]
    for number, group in enumerate(groups(SALARIES, k=3, e=5)):
        x1, x2 = across[group[0]], across[group[-1]]
        parts.append(_box(x1 - 14, 60, x2 - x1 + 28, 90, _FILLS[number], "#8fa3af"))
        told = f"{SALARIES[group[0]]}–{SALARIES[group[-1]]}"
        parts.append(_text((x1 + x2) / 2, 172 + 20 * (number % 2), told, size=13))
    parts += [_dot(x, 105) for x in across]
    parts.append(_text(480, 36, "salaries in thousands; within a band they are dealt out anew", size=14))
    told = "k = 3 values, e = 5: a row's own salary is known up to its band"
    parts.append(_text(480, 225, told, size=13, colour=_QUIET))
    return _picture("Bands of a permuted number", 960, 240, parts)


def groups(values: Sequence[int], *, k: int, e: int) -> list[list[int]]:
    """Neighbours closed as soon as they have k values with a range of e; the rest joins the last."""
    found: list[list[int]] = [[]]
    for place, value in enumerate(values):
        found[-1].append(place)
        if len(found[-1]) >= k and value - values[found[-1][0]] >= e:
            found.append([])
    rest = found.pop()
    if rest:
        found[-1] += rest
    return found


def _picture(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="DejaVu Sans, Verdana, sans-serif">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" rx="10" fill="{_GROUND}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _box(x: float, y: float, width: float, height: float, fill: str, stroke: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="1.4"/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}" stroke="{colour}"/>'


def _dot(x: float, y: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{_INK}"/>'


def _text(x: float, y: float, words: str, *, size: int, colour: str = _INK) -> str:
    told = escape(words)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="middle">{told}</text>'
    )


DRAWN = {"lattice": lattice, "mondrian": mondrian, "patterns": patterns, "bands": bands}


if __name__ == "__main__":
    for name, draw in DRAWN.items():
        (FOLDER / f"concept-{name}.svg").write_text(draw(), encoding="utf-8")
