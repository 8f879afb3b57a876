"""Statistics of trials: counts of releases, audits and nodes, and the features that were covered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Notes:
    """Counts of one trial or of many; ``covered`` are features of published trials."""

    releases: int = 0
    audits: int = 0
    mutated: int = 0
    nodes: int = 0
    covered: list[str] = field(default_factory=list)
    table: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, other: Notes) -> None:
        """Add the counts of another."""
        self.releases += other.releases
        self.audits += other.audits
        self.mutated += other.mutated
        self.nodes += other.nodes
        self.covered += other.covered
        self.table.update(other.table)
