"""How many examples a test draws."""

from __future__ import annotations

import os

NEW = os.environ.get("DISCREET_DRAW", "same") == "new"
"""True where each run draws examples of its own (``make test-all``), False where all draw the same."""

_FEWEST = 8


def some_of(most: int) -> int:
    """Of ``most`` examples half, but no fewer than eight, where the same are drawn each time; else all.

    Who draws the same again learns little from the second half; new ones are worth all of them.
    """
    return most if NEW else max(min(_FEWEST, most), (most + 1) // 2)
