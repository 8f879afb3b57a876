"""A published table and its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.model.audit_report import AuditReport
from discreet.model.class_recoding import RecodingModel
from discreet.model.permuted_release import PermutationFacts


@dataclass(frozen=True)
class Release:
    """Where a release lies, what was done to make it, and what its audit found.

    ``rows`` are the table's rows after the NULL policy, the ``suppressed`` ones included. ``model`` names the
    recoding model; ``levels`` are empty where its classes have no level in common. ``permutation`` tells of a
    permuted release, its further files too.
    """

    path: Path
    manifest_path: Path
    rows: int
    suppressed: int
    levels: Mapping[str, int]
    audit: AuditReport
    warnings: tuple[str, ...] = ()
    model: str = str(RecodingModel.FULL_DOMAIN)
    permutation: PermutationFacts | None = None

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet publish --json``."""
        permuted = {} if self.permutation is None else {"permutation": self.permutation.as_json()}
        return {
            "path": str(self.path),
            "manifest": str(self.manifest_path),
            "rows": self.rows,
            "suppressed": self.suppressed,
            "model": self.model,
            "levels": dict(self.levels),
            "audit": self.audit.as_json(),
            "warnings": list(self.warnings),
            **permuted,
        }
