"""How many rows a published column singles out by itself and together with the quasi-identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SingleValues:
    """Rows whose value of a column no other row has.

    ``alone`` rows are the only ones of the table with their value, ``in_class`` rows the only ones with it
    among those with the same quasi-identifiers as published; of ``rows`` rows, starred ones left out.
    """

    column: str
    rows: int
    alone: int
    in_class: int

    def as_json(self) -> dict[str, Any]:
        """The document's part."""
        return {"column": self.column, "rows": self.rows, "alone": self.alone, "in_class": self.in_class}
