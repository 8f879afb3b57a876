"""Frequency sets of one table, for whoever searches: counted, rolled up, summed out, tested.

A frequency set here belongs to some of the quasi-identifiers (their positions in the lattice) at levels of
theirs. There are two kinds, which report equal numbers: arrays in memory (``memory_sets``) and temporary
tables of a database (``database_sets``). A *scan* makes a frequency set from the table itself: a pass over
the row types in memory, a GROUP BY over the fact table in the database. All else is made from frequency sets:

* rolled up (LeFevre et al. 2005, rollup property): the counts of values that become equal are added;
* summed out: an attribute is left out, and the counts of what only it told apart are added.

Who makes a frequency set releases it; ``held_bytes`` is what those not yet released take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from discreet.errors import LimitReached


class FrequencySetsTooLarge(LimitReached):
    """Frequency sets in memory would exceed the memory limit; the database has room on disk."""


class FrequencyClasses(Protocol):
    """One frequency set: the equivalence classes of some attributes at some levels, with their rows."""

    @property
    def attributes(self) -> tuple[int, ...]:
        """Positions of the attributes in the lattice, ascending."""

    @property
    def levels(self) -> tuple[int, ...]:
        """The level of each of them."""

    @property
    def classes(self) -> int:
        """Its size: classes, told apart by sensitive values too where the database needs them."""

    @property
    def nbytes(self) -> int:
        """The bytes it takes, about."""

    def roll_up(self, levels: Sequence[int]) -> FrequencyClasses:
        """The frequency set of the same attributes at levels none of which is lower."""

    def sum_out(self, attribute: int) -> FrequencyClasses:
        """The frequency set of the other attributes at the same levels."""

    def suppressed(self) -> int:
        """Rows in classes that fail the requirement."""

    def release(self) -> None:
        """Free it; a second call does nothing."""


class Frequencies(Protocol):
    """The frequency sets of one table under one requirement.

    ``scans`` is how many of them were made from the table itself.
    """

    scans: int

    @property
    def held_bytes(self) -> int:
        """What the frequency sets not yet released take, about."""

    def count(self, attributes: Sequence[int], levels: Sequence[int]) -> FrequencyClasses:
        """The frequency set of some attributes at some levels, made from the table: one scan.

        ``FrequencySetsTooLarge`` where it would exceed the memory limit.
        """
