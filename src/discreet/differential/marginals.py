"""Marginals: which attributes are counted together, each at a level of its hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from discreet.errors import InputError

MarginalLike: TypeAlias = "Marginal | Mapping[str, int] | Iterable[str] | str"
"""Levels by attribute; or names of attributes, counted as they are; or one name."""


@dataclass(frozen=True)
class Marginal:
    """A table of counts over some attributes: ``levels`` are pairs of an attribute and its level.

    Of one attribute it is a histogram, of several a contingency table.
    """

    levels: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        names = self.attributes
        if not names:
            raise InputError("a marginal of no attribute", allowed="at least one attribute")
        twice = [name for place, name in enumerate(names) if name in names[:place]]
        if twice:
            raise InputError(
                f"a marginal has the attribute '{twice[0]}' twice", allowed="each attribute once"
            )

    @classmethod
    def of(cls, given: MarginalLike) -> Marginal:
        """From what Python gives; ``InputError`` for a level that is no whole number."""
        if isinstance(given, Marginal):
            return given
        if isinstance(given, str):
            return cls(((given, 0),))
        if not isinstance(given, Mapping):
            return cls(tuple((str(name), 0) for name in given))
        for name, level in given.items():
            if isinstance(level, bool) or not isinstance(level, int) or level < 0:
                raise InputError(f"level {level} of '{name}'", allowed="a whole number of at least 0")
        return cls(tuple((str(name), int(level)) for name, level in given.items()))

    @classmethod
    def of_text(cls, text: str, names: Iterable[str]) -> Marginal:
        """From ``age=2,sex``, where ``names`` are the attributes that there are; ``InputError`` otherwise.

        A name that has a comma or an equals sign in it is read where it is an attribute by itself.
        """
        known = set(names)
        levels = []
        for part in [text] if text in known else text.split(","):
            name, equals, level = part.rpartition("=")
            if part in known or not equals:
                levels.append((part, 0))
            elif level.isascii() and level.isdigit():
                levels.append((name, int(level)))
            else:
                raise InputError(f"--marginal {text}", allowed="ATTR=LEVEL,ATTR=LEVEL, such as age=2,sex")
        return cls(tuple(levels))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(name for name, _ in self.levels)

    def __str__(self) -> str:
        return " × ".join(f"{name} at level {level}" if level else name for name, level in self.levels)
