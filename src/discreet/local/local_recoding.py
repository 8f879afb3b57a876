"""The result of local recoding: the recoding, its granularity, and the proven bound."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.model.class_recoding import ClassRecoding

FAST = "fast"
"""The effort of the greedy alone."""


class CellSummary(StrEnum):
    """What a class shows: lowest common ancestors, ranges of leaves, or sets of leaves."""

    LCA = "lca"
    RANGES = "ranges"
    SETS = "sets"


@dataclass(frozen=True)
class CurvePoint:
    """The granularity after so many rounds of improvement, and the seconds since their start."""

    rounds: int
    granularity: float
    seconds: float


@dataclass(frozen=True)
class LocalRecoding:
    """A recoding by cell generalization and its measure.

    ``granularity`` is that of what is shown (``measures.recoding_metrics``), unweighted. ``rounds`` says how
    many rounds of improvement were done: as ``effort``, with the same seed, they give the same recoding
    again. ``curve`` holds the granularity of lowest common ancestors, by the weights that were asked, after
    each round; round 0 is the greedy. ``bound`` is a proven upper bound of it for every recoding with the
    same rows suppressed; None where it was not asked.
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
        """The number of classes."""
        return self.recoding.class_count

    @property
    def suppressed(self) -> int:
        """Rows in no class."""
        return self.recoding.suppressed

    @property
    def gap(self) -> float | None:
        """How far the recoding may be from the best one: bound − granularity; None without a bound.

        Both are of lowest common ancestors: ranges and sets may show more than any hierarchy's value does.
        """
        return None if self.bound is None else max(self.bound - self.curve[-1].granularity, 0.0)
