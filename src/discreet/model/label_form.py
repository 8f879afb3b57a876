"""How the labels of a hierarchy that builds them by a rule read, for whoever has no more than a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class LabelKind(StrEnum):
    """What a label tells: numbers between ends, unmasked characters, a period of days, or its own value."""

    INTERVALS = "intervals"
    MASK = "mask"
    DATES = "dates"
    VALUES = "values"


@dataclass(frozen=True)
class LabelForm:
    """A rule's form alone, as its author wrote it: nothing of the data, no end, length or list of values.

    Of a mask, ``side`` and ``character`` are what is masked and by what, ``pad`` whether values are filled
    up; of dates, ``format`` is that of the values, None for ISO 8601.
    """

    kind: LabelKind
    side: str = "right"
    character: str = "*"
    pad: bool = False
    format: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry in a manifest."""
        if self.kind is LabelKind.MASK:
            told = {"from": self.side, "character": self.character, "pad": self.pad}
        else:
            told = {"format": self.format} if self.kind is LabelKind.DATES else {}
        return {"kind": str(self.kind), **told}

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> LabelForm | None:
        """The form in a manifest; None for a kind that is not known here."""
        if entry["kind"] not in list(LabelKind):
            return None
        return cls(
            LabelKind(entry["kind"]),
            side=entry.get("from", "right"),
            character=entry.get("character", "*"),
            pad=entry.get("pad", False),
            format=entry.get("format"),
        )
