"""The name that a mistaken one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(word: object, known: Iterable[str]) -> str | None:
    """Advice that names the known word which is most like ``word``, whatever the case, if any is.

    >>> closest("mondrain", ["full-domain", "mondrian"])
    "Did you mean 'mondrian'?"
    """
    by_folded = {name.casefold().strip(): name for name in known}
    near = get_close_matches(str(word).casefold().strip(), by_folded, n=1)
    return f"Did you mean '{by_folded[near[0]]}'?" if near else None
