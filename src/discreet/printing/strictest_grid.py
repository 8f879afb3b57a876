"""The strictest value of every criterion: a grid of those that were told, and why others were not."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.strictest_value import StrictestValue
from discreet.printing.document import BLANK, Column, Document, Grid, Line

_TITLE = Line("The strictest value of each criterion that the file meets, without a verdict:")
_COMPARED = (
    "Compared with the distribution of the published rows, which differs from the publisher's where rows are "
    "suppressed: {}."
)


def strictest_grid(found: Sequence[StrictestValue]) -> Document:
    """The values, then the criteria without one by their reasons; nothing where none was asked."""
    if not found:
        return ()
    told = [one for one in found if one.reason is None]
    reasons: dict[str, list[str]] = {}
    for one in found:
        if one.reason is not None:
            reasons.setdefault(one.reason, []).append(_label(one))
    untold = (Line(f"Not told ({reason}): {', '.join(labels)}.") for reason, labels in reasons.items())
    compared = dict.fromkeys(one.criterion.flag() for one in told if one.publisher is False)
    by_release = (Line(_COMPARED.format(", ".join(compared))),) if compared else ()
    return (BLANK, _TITLE, *((_grid(told),) if told else ()), *by_release, *untold)


def _grid(told: Sequence[StrictestValue]) -> Grid:
    """Columns that say nothing of any line are left out."""
    columns = (
        Column("criterion", shrinks=True),
        Column("option"),
        Column("attribute", shrinks=True),
        Column("with", shrinks=True),
        Column("strictest value", right=True),
    )
    rows = [
        (one.criterion.title, one.criterion.flag(), one.attribute or "", one.told_parts, one.told)
        for one in told
    ]
    kept = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    return Grid(
        tuple(columns[place] for place in kept), tuple(tuple(row[place] for place in kept) for row in rows)
    )


def _label(one: StrictestValue) -> str:
    of = "" if one.attribute is None else f" of {one.attribute}"
    parts = f" ({one.told_parts})" if one.parts else ""
    return f"{one.criterion.flag()}{of}{parts}"
