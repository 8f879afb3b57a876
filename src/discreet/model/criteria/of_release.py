"""Criteria of a whole release: functions of its class sizes, judged on the classes that remain.

A criterion of classes says of each by itself whether it may be published. One of the release looks at all
classes together: an average, or a share of the records. Which rows go is a rule of its own, as no class is
to blame:

1. The classes that fail a criterion of classes are suppressed.
2. Where a criterion of the release fails what remains, the smallest of its classes are suppressed, all of one
   size at a time, until every criterion of the release holds or nothing is left.

Which classes go depends on their sizes alone, and never on order or values: classes of one size go or stay
together. So a node's suppressed rows follow from its histogram of class sizes, which every lattice has, and a
release is settled by one number, the least size that stays (``model.judge.least_size``).

ARX (Prasser et al. 2020) begins likewise, but suppresses classes of one size one by one, in an order of the
data's, and finds how many by bisection, as if what holds went on holding; docs/criteria/release.md has more.

The rule suppresses small classes, so a criterion should gain by it; it need not hold ever after. What holds
at a node may fail above it where rows are suppressed, so no such criterion is ``growing``. ``monotone`` here
says that where a release meets it, the one in which two of its classes are merged does: enough for the
searches where no row may be suppressed. Models that make classes one by one refuse all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.model.class_facts import ClassValues
from discreet.model.criteria.base import Criterion, Need, Score
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.size_tails import SizeTails, Whole

UNIT = 10**9
"""Shares and risks have scores in units of 1e-9."""

SIZES = "audited_sizes"
"""What an audit calls the relation of the published class sizes."""


@dataclass(frozen=True)
class ReleaseCriterion(Criterion):
    """A requirement of a release by its class sizes; see the module."""

    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    of_release: ClassVar[bool] = True

    @abstractmethod
    def tail_scores(self, tails: SizeTails) -> Whole:
        """The score of every tail, larger is safer, shape ``(entries,)``."""

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """No class has a score: ``InternalError`` for whoever asks."""
        del sizes, values
        raise InternalError(f"{self.name} was asked of single classes, but it is of the whole release")

    @property
    def counted(self) -> Score:
        """Sizes, which k asks for, too."""
        return Score(KAnonymity)

    def audit_query(self, rows: str) -> str:
        """SQL of one row with the column ``score``, over the published classes.

        ``rows`` names a relation with a row for each size of a class: ``size`` and ``number``, of classes.
        It is not asked where ``audited_by`` is ``SCORE``.
        """
        raise NotImplementedError(self.name)

    def audit_score(self, sizes: Mapping[int, int]) -> int:
        """The score of published classes, the number of each size, where ``audited_by`` is ``SCORE``."""
        raise NotImplementedError(self.name)


@dataclass(frozen=True)
class ShareOfRelease(ReleaseCriterion):
    """One of a share that is at most ``value``: the score is what is missing to 1, in units of 1e-9.

    The share is rounded up and the value down, both to 1e-9, so that no larger share passes and one that is
    equal to a value of nine decimals does.
    """

    @abstractmethod
    def parts(self, tails: SizeTails) -> tuple[Whole, Whole]:
        """Numerator and denominator of every tail's share; the one is at most the other."""

    def tail_scores(self, tails: SizeTails) -> Whole:
        """What is missing to 1, rounded down."""
        part, whole = self.parts(tails)
        return UNIT - -(-UNIT * part // whole)

    @property
    def threshold(self) -> int:
        """What must be missing, rounded up."""
        return UNIT - int(Fraction(repr(float(self.value))) * UNIT)

    def value_of(self, score: int) -> float:
        """The share."""
        return (UNIT - score) / UNIT

    def audit_query(self, rows: str) -> str:
        """The share of the two sums that ``audited_parts`` names."""
        part, whole = self.audited_parts()
        # The remainder is taken away first, as engines divide and round each in its own way.
        sums = f"SELECT {UNIT} * CAST({part} AS BIGINT) AS p, CAST({whole} AS BIGINT) AS w FROM {rows}"
        share = "CAST((p - p % w) / w + CASE WHEN p % w > 0 THEN 1 ELSE 0 END AS BIGINT)"
        return f"SELECT {UNIT} - {share} AS score FROM ({sums}) AS sums WHERE w > 0"

    @abstractmethod
    def audited_parts(self) -> tuple[str, str]:
        """Numerator and denominator as sums in SQL over ``size`` and ``number``."""
