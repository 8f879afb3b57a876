"""Sure bounds of SUM, AVG, MIN and MAX from what each group's rows may be (Zhang et al. 2007)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.queries.query import Aggregate

Bound = float | None


@dataclass(frozen=True, eq=False)
class Ends:
    """Groups of rows: how many, whether surely or possibly selected, and between which numbers they lie.

    All of shape ``(groups,)``; ``certain`` groups are ``possible`` too. ``attained`` says of a certain group
    that its class holds both ends.
    """

    rows: NDArray[np.int64]
    certain: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    attained: NDArray[np.bool_]

    def with_missing(self, rows: int, certain: bool, ends: tuple[float, float]) -> Ends:
        """With rows of which nothing is known but that they may be selected."""
        return replace(
            self,
            rows=np.append(self.rows, rows),
            certain=np.append(self.certain, certain),
            possible=np.append(self.possible, True),
            low=np.append(self.low, ends[0]),
            high=np.append(self.high, ends[1]),
            attained=np.append(self.attained, False),
        )


def bounds_of(
    aggregate: Aggregate,
    ends: Ends,
    stated: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
) -> tuple[Bound, Bound]:
    """The least and the largest answer; None where no row can be selected.

    ``stated`` are the means and half units that the first groups state, NaN for none; they tighten SUM and
    AVG, so every group of a class must be certain where one is.
    """
    if not ends.possible.any():
        return None, None
    if aggregate is Aggregate.MIN:
        return _least(ends)
    if aggregate is Aggregate.MAX:
        mirrored = replace(ends, low=-ends.high, high=-ends.low)
        low, high = _least(mirrored)
        return (None if high is None else -high), (None if low is None else -low)
    if stated is not None:
        ends = _tightened(ends, stated)
    if aggregate is Aggregate.SUM:
        return _sum(ends)
    upper = _largest_average(ends)
    lower = _largest_average(replace(ends, low=-ends.high, high=-ends.low))
    return (None if lower is None else -lower), upper


def _least(ends: Ends) -> tuple[Bound, Bound]:
    low = float(ends.low[ends.possible].min())
    if not ends.certain.any():
        return low, float(ends.high[ends.possible].max())
    reached = np.where(ends.attained, ends.low, ends.high)
    return low, float(reached[ends.certain].min())


def _sum(ends: Ends) -> tuple[Bound, Bound]:
    surely, maybe = ends.certain, ends.possible & ~ends.certain
    lower = (ends.rows * ends.low)[surely].sum() + np.minimum(0.0, (ends.rows * ends.low)[maybe]).sum()
    upper = (ends.rows * ends.high)[surely].sum() + np.maximum(0.0, (ends.rows * ends.high)[maybe]).sum()
    return float(lower), float(upper)


def _largest_average(ends: Ends) -> Bound:
    """The certain rows at their largest, then the others, largest first, while they raise the average."""
    surely, maybe = ends.certain, ends.possible & ~ends.certain
    if not ends.possible.any():
        return None
    rows, total = int(ends.rows[surely].sum()), float((ends.rows * ends.high)[surely].sum())
    if rows == 0:
        return float(ends.high[maybe].max())
    order = np.argsort(-ends.high[maybe], kind="stable")
    high, number = ends.high[maybe][order], ends.rows[maybe][order]
    rows_so_far = rows + np.concatenate(([0], np.cumsum(number)))
    totals = total + np.concatenate(([0.0], np.cumsum(number * high)))
    return float((totals / rows_so_far).max())


def _tightened(ends: Ends, stated: tuple[NDArray[np.float64], NDArray[np.float64]]) -> Ends:
    """Certain groups with a stated mean, as if all their rows lay within half a unit of it."""
    beyond = np.full(len(ends.rows) - len(stated[0]), np.nan)
    means, half = np.append(stated[0], beyond), np.append(stated[1], beyond)
    known = ends.certain & ~np.isnan(means)
    return replace(
        ends,
        low=np.where(known, np.maximum(ends.low, means - half), ends.low),
        high=np.where(known, np.minimum(ends.high, means + half), ends.high),
    )
