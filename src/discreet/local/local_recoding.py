"""Result of local recoding: the recoding, its granularity, and the proven bound."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.model.class_recoding import ClassRecoding

FAST = "fast"
"""Effort of the greedy without improvement."""


class CellSummary(StrEnum):
    """Published cells of a class: lowest common ancestors, ranges of leaves, or sets of leaves."""

    LCA = "lca"
    RANGES = "ranges"
    SETS = "sets"


@dataclass(frozen=True)
class CurvePoint:
    """Granularity after ``rounds`` rounds of improvement, and the seconds since their start."""

    rounds: int
    granularity: float
    seconds: float


@dataclass(frozen=True)
class LocalRecoding:
    """Recoding by cell generalization and its measure.

    ``granularity`` is that of the published cells (``measures.recoding_metrics``), unweighted. ``rounds``
    is the number of rounds of improvement; given as ``effort`` with the same seed, it reproduces the
    recoding. ``curve`` contains the weighted granularity of lowest common ancestors after each round; round
    0 is the greedy. ``bound`` is a proven upper bound of it for every recoding with the same suppressed
    rows, or None if it was not requested.
    """

    recoding: ClassRecoding
    shown: CellSummary
    granularity: float
    rounds: int
    curve: tuple[CurvePoint, ...]
    seconds: float
    bound: float | None = None

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.recoding.class_count

    @property
    def suppressed(self) -> int:
        """Number of rows in no class."""
        return self.recoding.suppressed

    @property
    def gap(self) -> float | None:
        """Greatest distance to the best recoding: bound − granularity; None without a bound.

        Both refer to lowest common ancestors: ranges and sets may contain more information than any
        hierarchy's value.
        """
        return None if self.bound is None else max(self.bound - self.curve[-1].granularity, 0.0)
