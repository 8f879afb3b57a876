"""The privacy requirement of a release: k, distinct l, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from discreet.errors import InputError

LARGEST = 2**62
"""The largest k or l that is told from a larger one."""


@dataclass(frozen=True)
class Requirement:
    """k-anonymity and distinct l-diversity, each optional (papers 000 and 001; science M1, M2).

    A class fails when it has fewer than ``k`` rows (distinct subjects where the spec names a subject), or
    fewer than ``l`` distinct values of a sensitive attribute; with both it fails when it fails either.
    ``l`` is one number for each sensitive attribute by itself, or numbers by attribute. Numbers above
    ``LARGEST`` become it: no table has as many rows, and 64 bits hold what is computed with them.
    """

    k: int | None = None
    l: int | tuple[tuple[str, int], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", _threshold("k", self.k))
        if isinstance(self.l, tuple):
            found = tuple((name, _threshold(f"l of {name}", threshold)) for name, threshold in self.l)
            object.__setattr__(self, "l", found)
        else:
            object.__setattr__(self, "l", _threshold("l", self.l))

    @classmethod
    def of(cls, k: int | None = None, l: int | Mapping[str, int] | None = None) -> Requirement:
        """A requirement from plain values; ``l`` may be a mapping by sensitive attribute."""
        return cls(k=k, l=tuple(l.items()) if isinstance(l, Mapping) else l)

    @property
    def is_empty(self) -> bool:
        """Whether neither k nor l is asked."""
        return self.k is None and self.l is None

    def l_of(self, attributes: tuple[str, ...]) -> tuple[int | None, ...]:
        """The threshold of each sensitive attribute in ``attributes``; ``InputError`` for an unknown one."""
        if self.l is None:
            return (None,) * len(attributes)
        if isinstance(self.l, int):
            if not attributes:
                raise InputError(
                    f"l = {self.l} was asked, but no attribute is sensitive",
                    advice='Give an attribute role = "sensitive", or ask for k alone.',
                )
            return (self.l,) * len(attributes)
        thresholds = dict(self.l)
        for name in thresholds:
            if name not in attributes:
                raise InputError(
                    f"l was asked for '{name}', which is not a sensitive attribute",
                    allowed=", ".join(attributes) or "none: no attribute is sensitive",
                )
        return tuple(thresholds.get(name) for name in attributes)

    def check(self, attributes: tuple[str, ...]) -> None:
        """``InputError`` where neither k nor l is asked, or an l of an attribute not in ``attributes``."""
        if self.k is None and self.largest_l is None:
            raise InputError("neither k nor l was asked", allowed="k, l, or both", advice="Give k=10, say.")
        self.l_of(attributes)

    def with_k(self, k: int) -> Requirement:
        """The same requirement with another k."""
        return replace(self, k=k)

    def with_l_at_most(self, l: int) -> Requirement:
        """The same requirement with every l lowered to at most ``l``."""
        if self.l is None or isinstance(self.l, int):
            return replace(self, l=None if self.l is None else min(self.l, l))
        return replace(self, l=tuple((name, min(threshold, l)) for name, threshold in self.l))

    @property
    def largest_l(self) -> int | None:
        """The largest l asked of any attribute."""
        if isinstance(self.l, tuple):
            return max((threshold for _, threshold in self.l), default=None)
        return self.l

    def l_as_json(self) -> int | dict[str, int] | None:
        """``l`` as it was asked: a number, numbers by attribute, or None."""
        return dict(self.l) if isinstance(self.l, tuple) else self.l

    def __str__(self) -> str:
        parts = [] if self.k is None else [f"k={self.k}"]
        if isinstance(self.l, tuple):
            parts += [f"l({name})={threshold}" for name, threshold in self.l]
        elif self.l is not None:
            parts.append(f"l={self.l}")
        return ", ".join(parts) or "no requirement"


def _threshold(name: str, value: int | None) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} = {value}", allowed="a whole number of at least 1")
    return min(value, LARGEST)
