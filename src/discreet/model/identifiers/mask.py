"""A partial mask in the place of an identifier: a few characters stay, the others are stars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import InputError
from discreet.model.identifiers.base import IdentifierWay, Replacements, refuse_original, register_way

_ENDS = ("start", "end")
_STAR = "*"


@register_way
@dataclass(frozen=True)
class Mask(IdentifierWay):
    """The first, or last, ``keep`` characters of a text; as many stars for every text in the others' place.

    The number of stars says nothing of the length. A text of ``keep`` characters or fewer, of which all would
    stay, is stars alone.
    """

    keep: int = 1
    end: str = "start"

    name: ClassVar[str] = "mask"
    title: ClassVar[str] = "a few of its characters, the others masked"
    keeps_apart: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the options; ``InputError`` for what is out of range."""
        if isinstance(self.keep, bool) or not isinstance(self.keep, int) or not 1 <= self.keep <= 100:
            raise InputError(f"keep = {self.keep}", allowed="a whole number from 1 to 100")
        if self.end not in _ENDS:
            raise InputError(f"end = {self.end!r}", allowed=", ".join(_ENDS))

    def replaced(self, texts: Sequence[str], secret: bytes | None) -> Replacements:
        """The masked texts."""
        found = tuple(self._masked(text) for text in texts)
        refuse_original(texts, found)
        return Replacements(found, secret)

    def _masked(self, text: str) -> str:
        stars = _STAR * 3
        if len(text) <= self.keep:
            return stars
        return text[: self.keep] + stars if self.end == "start" else stars + text[-self.keep :]
