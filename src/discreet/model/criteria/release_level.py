"""Criteria of a whole release: of its class sizes, and of the cells that its classes show.

Class sizes. A criterion of classes decides separately for each class whether it may be published. A criterion
of the release judges all classes together: an average, or a share of the records. Since no single class is
responsible, a rule determines the suppressed rows:

1. The classes that fail a criterion of classes are suppressed.
2. If a criterion of the release fails for the rest, its smallest classes are suppressed, all classes of one
   size at a time, until every criterion of the release holds or no class is left.

The suppressed classes depend only on class sizes, not on order or values: classes of one size are suppressed
or retained together. A node's suppressed rows therefore follow from its histogram of class sizes, which every
lattice has, and one number determines the release, the smallest retained size
(``model.requirement.smallest_kept_size``).

ARX (Prasser et al. 2020) begins likewise, but suppresses classes of one size one by one, in the order of the
data, and finds their number by bisection, as if the criterion remained true once it holds;
docs/criteria/release.md has more.

The rule suppresses small classes, so a criterion should benefit from it, but need not remain true once it
holds. A criterion that holds at a node may fail above it if rows are suppressed, so no such criterion is
``growing``. Here ``monotone`` means that if a release meets the criterion, so does the release in which two
of its classes are merged; that suffices for searches without suppression. Models that build classes one by
one refuse all of these criteria.

Cells. An attacker with some quasi-identifiers of a person finds all classes that show these values: a *group*
of classes. A group is judged by its published rows, so a suppressed class removes its rows from other groups,
which may fail then. A rule determines the suppressed classes:

1. The classes that fail a criterion of classes are suppressed.
2. Every class of a group that fails ``value`` = 1 is suppressed, all at once; the rest is judged again, until
   no group fails. Then the same is done for ``value`` = 2 with the rest, and so on up to the requested value.

A class that is retained for a larger value is also retained for a smaller one, so a class has a score: the
largest value for which it is retained. The rule does not depend on the order of rows, and its result meets
the criterion. If no class fails, it suppresses none.

In combination with another requirement of classes a class may have a different score, because other rows are
left. A lattice counts scores for each such combination (``lattice.scores``).
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
"""Scores per unit: shares and risks have scores in units of 1e-9."""

AUDITED_SIZES = "audited_sizes"
"""Name of the audit's relation of the published class sizes."""


@dataclass(frozen=True)
class _WholeCriterion(Criterion):
    """A requirement of all classes of a release together."""

    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    of_release: ClassVar[bool] = True

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Raise ``InternalError``: single classes have no score."""
        del sizes, values
        raise InternalError(f"{self.name} was applied to single classes, but judges the whole release")

    @property
    def counted(self) -> ScoreKey:
        """Score of the class sizes, which k uses, too; the own score may depend on other criteria."""
        return ScoreKey(KAnonymity)


@dataclass(frozen=True)
class ReleaseCriterion(_WholeCriterion):
    """A requirement of a release by its class sizes; see the module."""

    @abstractmethod
    def tail_scores(self, tails: SizeTails) -> SizeArray:
        """Return the score of every tail, larger is safer, shape ``(entries,)``."""

    def audit_query(self, rows: str) -> str:
        """Return SQL of one row with the column ``score``, over the published classes.

        ``rows`` names a relation with a row for each class size: ``size`` and ``number``, the number of
        classes. The method is not called if ``audited_by`` is ``SCORE``.
        """
        raise NotImplementedError(self.name)

    def audit_score(self, sizes: Mapping[int, int]) -> int:
        """Return the score of published classes, given as number by size, if ``audited_by`` is ``SCORE``."""
        raise NotImplementedError(self.name)


@dataclass(frozen=True)
class ShareOfRelease(ReleaseCriterion):
    """A criterion of a share that is at most ``value``; the score is 1 minus the share, in units of 1e-9.

    The share is rounded up and the value down, both to 1e-9, so that no larger share passes and a share that
    is equal to a value of nine decimals does.
    """

    monotone: ClassVar[bool] = True
    floor: ClassVar[float] = 0.5

    @abstractmethod
    def parts(self, tails: SizeTails) -> tuple[SizeArray, SizeArray]:
        """Return numerator and denominator of every tail's share, which is at most 1."""

    def tail_scores(self, tails: SizeTails) -> SizeArray:
        """Return 1 minus the share of every tail, rounded down."""
        part, total = self.parts(tails)
        return RISK_UNIT - -(-RISK_UNIT * part // total)

    @property
    def threshold(self) -> int:
        """1 minus the value, rounded up."""
        return RISK_UNIT - int(Fraction(repr(float(self.value))) * RISK_UNIT)

    def value_of(self, score: int) -> float:
        """Return the share of a score."""
        return (RISK_UNIT - score) / RISK_UNIT

    def audit_query(self, rows: str) -> str:
        """Return SQL of the score from the two sums of ``audited_parts``."""
        part, total = self.audited_parts()
        # Subtracting the remainder first makes the division exact: engines divide and round differently.
        sums = f"SELECT {RISK_UNIT} * CAST({part} AS BIGINT) AS p, CAST({total} AS BIGINT) AS w FROM {rows}"
        share = "CAST((p - p % w) / w + CASE WHEN p % w > 0 THEN 1 ELSE 0 END AS BIGINT)"
        return f"SELECT {RISK_UNIT} - {share} AS score FROM ({sums}) AS sums WHERE w > 0"

    @abstractmethod
    def audited_parts(self) -> tuple[str, str]:
        """Return numerator and denominator as SQL sums over ``size`` and ``number``."""


Integers = NDArray[np.int64]

SHARE_UNIT = 1_000_000_000
"""Shares are compared in billionths."""

_MAX_DENSE = 4_000_000


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of classes, and the sensitive values whose share in a group is limited whatever its rows.

    ``of`` has shape ``(groups of a class, classes)``, ``number`` is the number of groups; ``sizes`` contains
    the classes' rows. For each requested sensitive attribute, ``values`` contains the class, the value and
    the rows of each entry. A group fails if one value has more than ``billionths`` of its rows with a value,
    and if no row has a value.
    """

    of: Integers
    number: int
    sizes: Integers
    values: tuple[ClassValues, ...] = ()
    billionths: int = SHARE_UNIT


def peel_classes(groups: Groups, retained: NDArray[np.bool_], most: int) -> Integers:
    """Return the largest value for which each class is retained (see the module), shape ``(classes,)``.

    The score is capped at ``most``; it is 0 for a class that is never retained, and -1 for a class outside
    ``retained``.
    """
    left = retained.copy()
    scores = np.where(left, 0, -1)
    group_values = [_GroupValues.of_groups(values, groups) for values in groups.values]
    value = 1
    while left.any():
        rows = np.broadcast_to(np.where(left, groups.sizes, 0), groups.of.shape)
        found = np.bincount(groups.of.ravel(), rows.ravel(), minlength=groups.number).astype(np.int64)
        fails = found < value
        for values in group_values:
            fails |= values.likely(left, groups.billionths)
        gone = left.copy()
        gone[left] = fails[groups.of[:, left]].any(axis=0)
        if gone.any():
            left &= ~gone
            continue
        # No group fails this value. The values up to the smallest group's size then suppress nothing either,
        # so they are skipped.
        least = int(found[found > 0].min())
        scores[left] = min(least, most)
        value = least + 1
        if least >= most:
            break
    return scores


PeelingRule = Callable[[Groups, NDArray[np.bool_], int], Integers]
"""``peel_classes`` or an equivalent function."""


@dataclass(frozen=True, eq=False)
class _GroupValues:
    """A sensitive attribute in groups: the class of each entry, its rows, and its slots.

    A slot is a pair of group and value, numbered by group; ``slots`` has shape ``(groups of a class,
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
        """Return whether each group has no value, or one with too large a share, in classes ``left``."""
        weights = np.broadcast_to(np.where(left[self.owners], self.counts, 0), self.slots.shape)
        slots = int(self.begins[-1])
        rows = np.bincount(self.slots.ravel(), weights.ravel(), minlength=slots).astype(np.int64)
        sums = np.concatenate(([0], np.cumsum(rows)))
        known = sums[self.begins[1:]] - sums[self.begins[:-1]]
        most = np.zeros(len(known), np.int64)
        filled = self.begins[1:] > self.begins[:-1]
        if filled.any():
            most[filled] = np.maximum.reduceat(rows, self.begins[:-1][filled])
        result: NDArray[np.bool_] = (known == 0) | (SHARE_UNIT * most > billionths * known)
        return result


@dataclass(frozen=True)
class CellsCriterion(_WholeCriterion):
    """A requirement of the groups of a release's classes; see the module."""

    @abstractmethod
    def groups(self, facts: ClassStatistics) -> Groups:
        """Return the groups of classes, from facts that contain the classes' cells."""

    @abstractmethod
    def audit_groups(self, rows: str, keys: Sequence[str], values: Sequence[str]) -> Sequence[str]:
        """Return SQL of the audit: queries of one row with the column ``score``; the smallest score counts.

        ``rows`` names a relation of the published rows: the texts of quasi-identifiers in the columns
        ``keys``, those of sensitive attributes in ``values``, and the ``number`` of such rows.
        """

    def scores_among(
        self, facts: ClassStatistics, retained: NDArray[np.bool_], most: int, rule: PeelingRule = peel_classes
    ) -> Integers:
        """Return the largest value for which each class is retained, as ``peel_classes`` does.

        ``retained`` marks the classes that meet all other criteria. Raises ``InputError`` if the facts
        contain no cells, because the classes are not those of a node.
        """
        if facts.cells is None:
            raise InputError(
                f"{self}: {self.title} is judged on what all classes of a release show together",
                allowed="criteria of single classes",
                advice="Negotiate over the lattice, or search by optimal or exhaustive.",
            )
        return rule(self.groups(facts), retained & (facts.sizes > 0), most)
