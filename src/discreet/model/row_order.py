"""In which order the rows of a release stand."""

from __future__ import annotations

from enum import StrEnum

from discreet.errors import InputError


class RowOrder(StrEnum):
    """By what the rows show, so that the order tells nothing beside them; or in an order that is drawn."""

    SORTED = "sorted"
    RANDOM = "random"

    @classmethod
    def of(cls, text: str) -> RowOrder:
        """The order of a name; ``InputError`` for another text."""
        if text not in tuple(cls):
            raise InputError(f"order of rows: '{text}'", allowed=", ".join(cls))
        return cls(text)
