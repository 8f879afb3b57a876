"""Number of drawn examples and of combined cases per test: all of them in ``make test-all``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import product
from typing import Any

NEW = os.environ.get("DISCREET_DRAW", "same") == "new"
"""True if each run draws new examples (``make test-all``), False if all draw the same."""

_FEWEST = 8


def some_of(most: int) -> int:
    """Return a third of ``most`` examples, at least eight, if draws are fixed; else all.

    Repeating the same draws shows little that the rest would not; new draws are worth the full number.
    """
    return most if NEW else max(min(_FEWEST, most), (most + 2) // 3)


def in_turn(first: Iterable[Any], *others: Iterable[Any], rounds: int = 1) -> list[tuple[Any, ...]]:
    """Pair each of the first with rotating choices of the others; with all of them in ``make test-all``.

    For axes that are independent: a fault shows with any of the others, and each of these occurs if the first
    are at least as numerous. Turns are shifted by one after each cycle, so that alternation among the first
    does not coincide with one of the others. ``rounds`` is the number of choices for each of the first.
    """
    each, choices = list(first), list(product(*others))
    if NEW:
        return [(one, *rest) for one in each for rest in choices]
    many = len(choices)
    return [(one, *choices[(i + i // many) % many]) for i, one in enumerate(each * rounds)]
