"""Criteria of a whole release: by its class sizes, and by the cells that its classes show.

By class sizes. A criterion of classes says of each by itself whether it may be published. One of the
release looks at all classes together: an average, or a share of the records. Which rows go is a rule of its
own, as no class is to blame:

1. The classes that fail a criterion of classes are suppressed.
2. Where a criterion of the release fails what remains, the smallest of its classes are suppressed, all of one
   size at a time, until every criterion of the release holds or nothing is left.

Which classes go depends on their sizes alone, and never on order or values: classes of one size go or stay
together. So a node's suppressed rows follow from its histogram of class sizes, which every lattice has, and a
release is settled by one number, the least size that stays (``model.requirement.smallest_kept_size``).

ARX (Prasser et al. 2020) begins likewise, but suppresses classes of one size one by one, in an order of the
data's, and finds how many by bisection, as if what holds went on holding; docs/criteria/release.md has more.

The rule suppresses small classes, so a criterion should gain by it; it need not hold ever after. What holds
at a node may fail above it where rows are suppressed, so no such criterion is ``growing``. ``monotone`` here
says that where a release meets it, the one in which two of its classes are merged does: enough for the
searches where no row may be suppressed. Models that make classes one by one refuse all of them.

By cells. Who knows some quasi-identifiers of a person finds all classes that show these values: a *group*
of classes. A group is judged by the rows that are published, so a class that goes takes its rows from other
groups, which may fail then. Which classes go is therefore a rule of its own:

1. The classes that fail a criterion of classes are suppressed.
2. Every class of a group that fails ``value`` = 1 goes, all at once; what is left is judged again, until no
   group fails. The same then for ``value`` = 2 with what is left, and so on up to the value that is asked.

So what stays with a larger value stays with a smaller one, and a class has a score: the largest value that it
stays with. The rule depends on no order of rows, and what it leaves meets the criterion. Where no class fails
it takes none.

Beside another requirement of classes a class may have another score, since other rows are left. A lattice
counts scores for what is asked beside (``lattice.cells_lookup``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.model.criteria.base import Criterion, Need, ScoreKey
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criterion_inputs import ClassStatistics, ClassValues, SizeArray, SizeTails

RISK_UNIT = 10**9
"""Shares and risks have scores in units of 1e-9."""

AUDITED_SIZES = "audited_sizes"
"""What an audit calls the relation of the published class sizes."""


@dataclass(frozen=True)
class ReleaseCriterion(Criterion):
    """A requirement of a release by its class sizes; see the module."""

    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    of_release: ClassVar[bool] = True

    @abstractmethod
    def tail_scores(self, tails: SizeTails) -> SizeArray:
        """The score of every tail, larger is safer, shape ``(entries,)``."""

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """No class has a score: ``InternalError`` for whoever asks."""
        del sizes, values
        raise InternalError(f"{self.name} was asked of single classes, but it is of the whole release")

    @property
    def counted(self) -> ScoreKey:
        """Sizes, which k asks for, too."""
        return ScoreKey(KAnonymity)

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
    def parts(self, tails: SizeTails) -> tuple[SizeArray, SizeArray]:
        """Numerator and denominator of every tail's share; the one is at most the other."""

    def tail_scores(self, tails: SizeTails) -> SizeArray:
        """What is missing to 1, rounded down."""
        part, whole = self.parts(tails)
        return RISK_UNIT - -(-RISK_UNIT * part // whole)

    @property
    def threshold(self) -> int:
        """What must be missing, rounded up."""
        return RISK_UNIT - int(Fraction(repr(float(self.value))) * RISK_UNIT)

    def value_of(self, score: int) -> float:
        """The share."""
        return (RISK_UNIT - score) / RISK_UNIT

    def audit_query(self, rows: str) -> str:
        """The share of the two sums that ``audited_parts`` names."""
        part, whole = self.audited_parts()
        # The remainder is taken away first, as engines divide and round each in its own way.
        sums = f"SELECT {RISK_UNIT} * CAST({part} AS BIGINT) AS p, CAST({whole} AS BIGINT) AS w FROM {rows}"
        share = "CAST((p - p % w) / w + CASE WHEN p % w > 0 THEN 1 ELSE 0 END AS BIGINT)"
        return f"SELECT {RISK_UNIT} - {share} AS score FROM ({sums}) AS sums WHERE w > 0"

    @abstractmethod
    def audited_parts(self) -> tuple[str, str]:
        """Numerator and denominator as sums in SQL over ``size`` and ``number``."""


Integers = NDArray[np.int64]

SHARE_UNIT = 1_000_000_000
"""Shares are compared in billionths."""

_MAX_DENSE = 4_000_000


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of classes, and what fails in one whatever its rows: a value with too large a share.

    ``of`` has shape ``(groups of a class, classes)``, ``number`` groups in all; ``sizes`` are the classes'
    rows. Of the sensitive attributes that are asked, ``values`` pairs the class, the value and the rows of
    each entry; more than ``billionths`` of a group's rows that have a value may not have one, and a group
    without any fails.
    """

    of: Integers
    number: int
    sizes: Integers
    values: tuple[ClassValues, ...] = ()
    billionths: int = SHARE_UNIT


def peel_classes(groups: Groups, retained: NDArray[np.bool_], most: int) -> Integers:
    """The largest value that each class stays with (see the module), shape ``(classes,)``.

    ``most`` for more; 0 for none, -1 for a class that does not stand.
    """
    left = retained.copy()
    scores = np.where(left, 0, -1)
    held = [_GroupValues.of_groups(values, groups) for values in groups.values]
    value = 1
    while left.any():
        rows = np.broadcast_to(np.where(left, groups.sizes, 0), groups.of.shape)
        found = np.bincount(groups.of.ravel(), rows.ravel(), minlength=groups.number).astype(np.int64)
        fails = found < value
        for values in held:
            fails |= values.likely(left, groups.billionths)
        gone = left.copy()
        gone[left] = fails[groups.of[:, left]].any(axis=0)
        if gone.any():
            left &= ~gone
            continue
        # No group fails this value, nor any up to the least of all.
        least = int(found[found > 0].min())
        scores[left] = min(least, most)
        value = least + 1
        if least >= most:
            break
    return scores


PeelingRule = Callable[[Groups, NDArray[np.bool_], int], Integers]
"""``peeled``, or what tells the same."""


@dataclass(frozen=True, eq=False)
class _GroupValues:
    """A sensitive attribute in groups: which class each entry is of, its rows, and its slots.

    A slot is a group and a value, numbered in the order of groups; ``slots`` has shape ``(groups of a class,
    entries)``, and the slots of group g begin at ``begins[g]``.
    """

    owners: Integers
    counts: Integers
    slots: Integers
    begins: Integers

    @classmethod
    def of_groups(cls, values: ClassValues, groups: Groups) -> _GroupValues:
        assert values.owners is not None
        assert values.codes is not None
        assert values.counts is not None
        width = int(values.codes.max(initial=0)) + 1
        slots = groups.of[:, values.owners] * width + values.codes
        begins = np.arange(groups.number + 1) * width
        if groups.number * width > max(_MAX_DENSE, 4 * slots.size):
            taken, slots = np.unique(slots, return_inverse=True)
            begins = np.searchsorted(taken, begins)
        return cls(values.owners, values.counts, slots.reshape(groups.of.shape[0], -1), begins)

    def likely(self, left: NDArray[np.bool_], billionths: int) -> NDArray[np.bool_]:
        """Whether each group has no value, or one with a larger share, where ``left`` classes are counted."""
        weights = np.broadcast_to(np.where(left[self.owners], self.counts, 0), self.slots.shape)
        slots = int(self.begins[-1])
        rows = np.bincount(self.slots.ravel(), weights.ravel(), minlength=slots).astype(np.int64)
        sums = np.concatenate(([0], np.cumsum(rows)))
        known = sums[self.begins[1:]] - sums[self.begins[:-1]]
        most = np.zeros(len(known), np.int64)
        filled = self.begins[1:] > self.begins[:-1]
        if filled.any():
            most[filled] = np.maximum.reduceat(rows, self.begins[:-1][filled])
        found: NDArray[np.bool_] = (known == 0) | (SHARE_UNIT * most > billionths * known)
        return found


@dataclass(frozen=True)
class CellsCriterion(Criterion):
    """A requirement of the groups of a release's classes; see the module."""

    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    of_release: ClassVar[bool] = True

    @abstractmethod
    def groups(self, facts: ClassStatistics) -> Groups:
        """The groups of classes of which the cells are told."""

    @abstractmethod
    def audit_groups(self, rows: str, keys: Sequence[str], values: Sequence[str]) -> Sequence[str]:
        """SQL of the audit: queries of one row with the column ``score``, of which the least counts.

        ``rows`` names a relation of the published rows: the texts of quasi-identifiers by the columns
        ``keys``, those of sensitive attributes by ``values``, and the ``number`` of such rows.
        """

    def scores_among(
        self, facts: ClassStatistics, retained: NDArray[np.bool_], most: int, rule: PeelingRule = peel_classes
    ) -> Integers:
        """The largest value that each class stays with, ``most`` for more; 0 for none, -1 where it fails.

        ``standing`` is whether each class meets all that is asked beside. ``InputError`` where the facts tell
        no cells: the classes are no node's.
        """
        if facts.cells is None:
            raise InputError(
                f"{self}: {self.title} is judged on what all classes of a release show together",
                allowed="criteria of single classes",
                advice="Negotiate over the lattice, or search by optimal or exhaustive.",
            )
        return rule(self.groups(facts), retained & (facts.sizes > 0), most)

    def scores(self, sizes: Integers, values: ClassValues | None) -> Integers:
        """No class has a score by itself: ``InternalError`` for whoever asks."""
        del sizes, values
        raise InternalError(f"{self.name} was asked of single classes, but it is of the whole release")

    @property
    def counted(self) -> ScoreKey:
        """Sizes, which k asks for, too; its own score is counted beside what else is asked."""
        return ScoreKey(KAnonymity)
