"""How a report writes numbers, and what it counts classes by."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite

from discreet.printing.document import ratio

_SPACE = "\u00a0"
_SLACK = 1e-9
SIZE_STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
CHANCES = tuple(Fraction(text) for text in ("1/2", "1/3", "0.2", "0.1", "0.09", "0.05", "0.02", "0.01"))


def whole(number: int) -> str:
    """``30,162``."""
    return f"{number:,}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """``1 row``, ``30,162 rows``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(part: float, of: float = 1.0) -> str:
    """Format a part of a whole in percent; it never rounds to 0 % or 100 % unless it is.

    ``part`` must be a part of ``of``; ``printing.document.ratio`` formats other quotients.
    """
    if of <= 0 or part == 0:
        return f"0{_SPACE}%"
    if not -_SLACK <= part / of <= 1 + _SLACK:
        return ratio(part / of).replace("%", f"{_SPACE}%")
    found = min(max(100 * part / of, 0.0), 100.0)
    if found in (0.0, 100.0):
        return f"{found:.0f}{_SPACE}%"
    if found < 0.01:
        return f"<{_SPACE}0.01{_SPACE}%"
    if found > 99.99:
        return f">{_SPACE}99.99{_SPACE}%"
    return (f"{found:.2f}" if found < 10 or found > 99.9 else f"{found:.1f}") + f"{_SPACE}%"


def decimal(value: float | int | None) -> str:
    """A metric's value."""
    if value is None:
        return "–"
    if not isfinite(value):
        return "infinite"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}" if abs(value) < 1e15 else f"{value:.4g}"
    if abs(value) >= 1000:
        return f"{value:,.1f}" if abs(value) < 1e9 else f"{value:.4g}"
    return f"{value:.4f}"


def size_bands() -> tuple[str, ...]:
    """The bands of class sizes, in words."""
    names = []
    for i, least in enumerate(SIZE_STEPS):
        if i + 1 == len(SIZE_STEPS):
            names.append(f"{least:,}+")
        else:
            most = SIZE_STEPS[i + 1] - 1
            names.append(f"{least}" if most == least else f"{least}–{most}")
    return tuple(names)


def rows_by_band(class_sizes: Mapping[int, int]) -> tuple[int, ...]:
    """The rows of classes in each band of sizes; ``class_sizes`` maps rows to numbers of classes."""
    found = [0] * len(SIZE_STEPS)
    for size, number in class_sizes.items():
        place = max(i for i, least in enumerate(SIZE_STEPS) if size >= least)
        found[place] += size * number
    return tuple(found)


def rows_above(class_sizes: Mapping[int, int], chance: Fraction) -> int:
    """The rows whose chance of being named right, 1 / class size, exceeds ``chance``."""
    return sum(size * number for size, number in class_sizes.items() if Fraction(1, size) > chance)
