"""The parts of a permuted release: what an audit counted of its groups, and the files beside its data."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True)
class GroupCounts:
    """The groups of a permuted release: the fewest distinct values in any, and the smallest range.

    ``smallest_range`` is None where values are no numbers; ``rows_without_value`` have a NULL.
    """

    groups: int
    fewest_values: int
    smallest_range: Decimal | None
    rows_without_value: int
    requirement: str

    def as_json(self) -> dict[str, Any]:
        """The part of ``discreet audit --json`` that speaks of groups."""
        return {
            "groups": self.groups,
            "fewest_values": self.fewest_values,
            "smallest_range": None if self.smallest_range is None else str(self.smallest_range),
            "rows_without_value": self.rows_without_value,
            "requirement": self.requirement,
        }


@dataclass(frozen=True)
class PermutedFile:
    """A file beside the data, or a ``table`` in the database that holds all.

    A database file's digest covers its tables; in another database each table has its own, and ``file`` is
    None.
    """

    file: str | None
    rows: int
    sha256: str | None = None
    table: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry in the manifest."""
        return {"file": self.file, "table": self.table, "sha256": self.sha256, "rows": self.rows}
