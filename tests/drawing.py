"""How many examples a test draws, and how many pairs of its cases it tries: all in ``make test-all``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import product
from typing import Any

NEW = os.environ.get("DISCREET_DRAW", "same") == "new"
"""True where each run draws examples of its own (``make test-all``), False where all draw the same."""

_FEWEST = 8


def some_of(most: int) -> int:
    """Of ``most`` examples a third, but no fewer than eight, where the same are drawn each time; else all.

    Who draws the same again learns little from the rest; new ones are worth all of them.
    """
    return most if NEW else max(min(_FEWEST, most), (most + 2) // 3)


def in_turn(first: Iterable[Any], *others: Iterable[Any], rounds: int = 1) -> list[tuple[Any, ...]]:
    """Each of the first with a choice of the others, which take turns; with all of them in ``make test-all``.

    For axes that do not touch each other: a fault shows with any of the others, and each of these has its
    turn where the first are no fewer. Turns are shifted by one after each cycle, so that what alternates
    among the first does not go along with one of the others. ``rounds`` choices are for each of the first.
    """
    each, choices = list(first), list(product(*others))
    if NEW:
        return [(one, *rest) for one in each for rest in choices]
    many = len(choices)
    return [(one, *choices[(i + i // many) % many]) for i, one in enumerate(each * rounds)]
