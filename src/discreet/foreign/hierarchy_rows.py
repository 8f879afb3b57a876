"""Another tool's hierarchy, whose last level may hold several values, as rows that end in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.model.hierarchy import TOP


@dataclass(frozen=True)
class ForeignHierarchy:
    """Rows, leaf first, that end in one value; ``highest`` is the other tool's last level.

    ``topped``: the last value was added here, so that the other tool never went up to it.
    """

    rows: tuple[tuple[str, ...], ...]
    highest: int
    topped: bool


def with_one_top(rows: Sequence[Sequence[str]]) -> ForeignHierarchy:
    """Rows of equal length with ``*`` behind them, unless they end in one value of a level above the leaves.

    >>> with_one_top([("23", "20-29"), ("41", "40-49")]).rows
    (('23', '20-29', '*'), ('41', '40-49', '*'))
    """
    highest = len(rows[0]) - 1
    if highest > 0 and len({row[-1] for row in rows}) == 1:
        return ForeignHierarchy(tuple(map(tuple, rows)), highest, topped=False)
    return ForeignHierarchy(tuple((*row, TOP) for row in rows), highest, topped=True)
