"""Where Incognito gets the frequency sets of roots: three variants (LeFevre et al. 2005, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from discreet.model.lattice import LatticeNode
from discreet.search.candidates import Family
from discreet.search.frequencies import Frequencies, FrequencyClasses


class RootSets(Protocol):
    """Frequency sets of the roots of one family after the other."""

    def enter(self, family: Family, roots: Sequence[LatticeNode]) -> None:
        """Begin with a family, whose roots are these."""

    def of(self, root: LatticeNode) -> FrequencyClasses:
        """The frequency set of a root of the family."""

    def keeps(self, counts: FrequencyClasses) -> bool:
        """Whether it will be asked for again, and must not be released by who got it."""

    def leave(self) -> None:
        """End with the family."""


class CountedRoots:
    """Basic Incognito: every root is counted from the table."""

    def __init__(self, frequencies: Frequencies) -> None:
        self._frequencies = frequencies
        self._family: Family = ()

    def enter(self, family: Family, roots: Sequence[LatticeNode]) -> None:  # noqa: ARG002
        """Nothing is made before a root is asked for."""
        self._family = family

    def of(self, root: LatticeNode) -> FrequencyClasses:
        """Counted from the table."""
        return self._frequencies.count(self._family, root)

    def keeps(self, counts: FrequencyClasses) -> bool:  # noqa: ARG002
        """Nothing is kept."""
        return False

    def leave(self) -> None:
        """Nothing is left."""


class SuperRoots:
    """Super-roots: a family's roots are rolled up from one frequency set.

    It is that of their greatest common specialization, level by level the least (the paper calls it the least
    upper bound), and the only one of the family that is counted from the table. It is no candidate itself,
    unless it is the only root.
    """

    def __init__(self, frequencies: Frequencies) -> None:
        self._frequencies = frequencies
        self._base: FrequencyClasses | None = None

    def enter(self, family: Family, roots: Sequence[LatticeNode]) -> None:
        """Count the super-root."""
        levels = tuple(min(level) for level in zip(*roots, strict=True))
        self._base = self._frequencies.count(family, levels)

    def of(self, root: LatticeNode) -> FrequencyClasses:
        """Rolled up from the super-root."""
        assert self._base is not None
        return self._base if self._base.levels == root else self._base.roll_up(root)

    def keeps(self, counts: FrequencyClasses) -> bool:
        """The super-root is kept."""
        return counts is self._base

    def leave(self) -> None:
        """Release the super-root."""
        if self._base is not None:
            self._base.release()
            self._base = None
