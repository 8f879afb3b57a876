"""Patterns of dates as they are written: ``strptime``'s directives with text between."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InputError

DIRECTIVES = {
    "Y": "the year in four digits",
    "y": "the year in two digits",
    "m": "the month as a number",
    "b": "the month's name in three letters",
    "B": "the month's name",
    "d": "the day of the month",
    "H": "the hour, 0 to 23",
    "I": "the hour, 1 to 12",
    "p": "AM or PM",
    "M": "the minute",
    "S": "the second",
    "f": "a fraction of the second",
    "z": "the offset of the time zone",
}
"""What a pattern may hold behind ``%``, and what it stands for."""

_NEEDED = (("year", "Yy"), ("month", "mbB"), ("day", "d"))
_DIGITS = "YymdHIMSf"
_PART = re.compile(r"%(.?)|([^%]+)", re.DOTALL)


@dataclass(frozen=True)
class PatternPart:
    """A directive, or a text that stands as it is (``directive`` is empty).

    ``padded`` says that a day, month or hour has two digits always, as another number touches it.
    """

    directive: str = ""
    text: str = ""
    padded: bool = False


@dataclass(frozen=True)
class DatePattern:
    """A pattern taken apart; ``text`` is what was written."""

    text: str
    parts: tuple[PatternPart, ...]

    @classmethod
    def parse(cls, text: str) -> DatePattern:
        """Take a pattern apart; ``InputError`` for one that does not say a day.

        >>> [part.directive or part.text for part in DatePattern.parse("%d.%m.%Y").parts]
        ['d', '.', 'm', '.', 'Y']
        """
        raw: list[tuple[str, str]] = []
        for directive, plain in (m.groups() for m in _PART.finditer(text)):
            if plain is not None or directive == "%":
                raw.append(("", plain or "%"))
            elif directive in DIRECTIVES:
                raw.append((directive, ""))
            else:
                raise _wrong(text, f"holds %{directive}", f"{_with_signs(DIRECTIVES)}, and %%")
        _check([directive for directive, _ in raw if directive], text)
        touching = {
            place
            for first in range(len(raw) - 1)
            if all(d and d in _DIGITS for d, _ in raw[first : first + 2])
            for place in (first, first + 1)
        }
        return cls(text, tuple(PatternPart(d, t, i in touching) for i, (d, t) in enumerate(raw)))

    @property
    def directives(self) -> tuple[str, ...]:
        """The directives, in their order."""
        return tuple(part.directive for part in self.parts if part.directive)

    @property
    def has_time(self) -> bool:
        """Whether it tells a time of the day."""
        return "H" in self.directives or "I" in self.directives


def _check(directives: Sequence[str], text: str) -> None:
    """Raise unless the directives say one day, and a time of it completely or not at all."""
    twice = next((d for i, d in enumerate(directives) if d in directives[:i]), None)
    if twice is not None:
        raise _wrong(text, f"holds %{twice} twice", "each directive once")
    for name, choice in _NEEDED:
        held = [d for d in directives if d in choice]
        if len(held) != 1:
            fact = f"has no {name}" if not held else f"has the {name} twice"
            raise _wrong(text, fact, f"one of {_with_signs(choice)}")
    if ("I" in directives) != ("p" in directives) or {"H", "I"} <= set(directives):
        raise _wrong(text, "does not tell the hour in one way", "%H, or %I with %p")
    order = ["M" in directives, "S" in directives, "f" in directives]
    if (any(order) and not {"H", "I"} & set(directives)) or order != sorted(order, reverse=True):
        raise _wrong(text, "tells a part of the time alone", "hours, then minutes, then seconds")


def _wrong(text: str, fact: str, allowed: str) -> InputError:
    return InputError(f"the date pattern '{text}' {fact}", allowed=allowed)


def _with_signs(directives: Sequence[str] | dict[str, str]) -> str:
    return " ".join(f"%{directive}" for directive in directives)
