"""Criteria of a whole release by what its classes show: attackers see classes together, not each by itself.

Who knows some quasi-identifiers of a person finds all classes that show these values: a *group* of classes.
A group is judged by the rows that are published, so a class that goes takes its rows from other groups, which
may fail then. Which classes go is therefore a rule of its own:

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.model.class_facts import ClassFacts, ClassValues
from discreet.model.criteria.base import Criterion, Need, Score
from discreet.model.criteria.k_anonymity import KAnonymity

Whole = NDArray[np.int64]

UNIT = 1_000_000_000
"""Shares are compared in billionths."""

_DENSE = 4_000_000


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of classes, and what fails in one whatever its rows: a value with too large a share.

    ``of`` has shape ``(groups of a class, classes)``, ``number`` groups in all; ``sizes`` are the classes'
    rows. Of the sensitive attributes that are asked, ``values`` pairs the class, the value and the rows of
    each entry; more than ``billionths`` of a group's rows that have a value may not have one, and a group
    without any fails.
    """

    of: Whole
    number: int
    sizes: Whole
    values: tuple[ClassValues, ...] = ()
    billionths: int = UNIT


def peeled(groups: Groups, standing: NDArray[np.bool_], most: int) -> Whole:
    """The largest value that each class stays with (see the module), shape ``(classes,)``.

    ``most`` for more; 0 for none, -1 for a class that does not stand.
    """
    left = standing.copy()
    scores = np.where(left, 0, -1)
    held = [_Values.of_groups(values, groups) for values in groups.values]
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


Rule = Callable[[Groups, NDArray[np.bool_], int], Whole]
"""``peeled``, or what tells the same."""


@dataclass(frozen=True, eq=False)
class _Values:
    """A sensitive attribute in groups: which class each entry is of, its rows, and its slots.

    A slot is a group and a value, numbered in the order of groups; ``slots`` has shape ``(groups of a class,
    entries)``, and the slots of group g begin at ``begins[g]``.
    """

    owners: Whole
    counts: Whole
    slots: Whole
    begins: Whole

    @classmethod
    def of_groups(cls, values: ClassValues, groups: Groups) -> _Values:
        assert values.owners is not None
        assert values.codes is not None
        assert values.counts is not None
        width = int(values.codes.max(initial=0)) + 1
        slots = groups.of[:, values.owners] * width + values.codes
        begins = np.arange(groups.number + 1) * width
        if groups.number * width > max(_DENSE, 4 * slots.size):
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
        found: NDArray[np.bool_] = (known == 0) | (UNIT * most > billionths * known)
        return found


@dataclass(frozen=True)
class CellsCriterion(Criterion):
    """A requirement of the groups of a release's classes; see the module."""

    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    of_release: ClassVar[bool] = True

    @abstractmethod
    def groups(self, facts: ClassFacts) -> Groups:
        """The groups of classes of which the cells are told."""

    @abstractmethod
    def audit_groups(self, rows: str, keys: Sequence[str], values: Sequence[str]) -> Sequence[str]:
        """SQL of the audit: queries of one row with the column ``score``, of which the least counts.

        ``rows`` names a relation of the published rows: the texts of quasi-identifiers by the columns
        ``keys``, those of sensitive attributes by ``values``, and the ``number`` of such rows.
        """

    def scores_among(
        self, facts: ClassFacts, standing: NDArray[np.bool_], most: int, rule: Rule = peeled
    ) -> Whole:
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
        return rule(self.groups(facts), standing & (facts.sizes > 0), most)

    def scores(self, sizes: Whole, values: ClassValues | None) -> Whole:
        """No class has a score by itself: ``InternalError`` for whoever asks."""
        del sizes, values
        raise InternalError(f"{self.name} was asked of single classes, but it is of the whole release")

    @property
    def counted(self) -> Score:
        """Sizes, which k asks for, too; its own score is counted beside what else is asked."""
        return Score(KAnonymity)
