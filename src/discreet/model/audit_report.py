"""What an audit of a published file found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FailingClass:
    """An equivalence class below the requirement, by its published values."""

    values: Mapping[str, str | None]
    rows: int


@dataclass(frozen=True)
class AuditReport:
    """The independent count of a published file.

    ``rows`` leaves ``starred`` rows out; ``k`` is the smallest class (0 where there is no class), ``l`` the
    smallest number of distinct values per sensitive attribute in any class. ``class_sizes`` maps a size to
    the number of classes of that size. ``failing`` lists at most a hundred classes; ``failing_classes``
    counts all.
    """

    passed: bool
    rows: int
    classes: int
    k: int
    l: Mapping[str, int]
    starred: int
    failing: tuple[FailingClass, ...]
    failing_classes: int
    class_sizes: Mapping[int, int]
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The contract's document of ``discreet audit --json``."""
        return {
            "passed": self.passed,
            "rows": self.rows,
            "classes": self.classes,
            "k": self.k,
            "l": dict(self.l),
            "starred": self.starred,
            "failing": [{"values": dict(f.values), "rows": f.rows} for f in self.failing],
            "failing_classes": self.failing_classes,
            "class_sizes": {str(size): number for size, number in self.class_sizes.items()},
            "warnings": list(self.warnings),
        }
