"""A published table and its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InternalError
from discreet.model.audit_report import AuditReport
from discreet.model.class_recoding import RecodingModel
from discreet.model.permuted_release import PermutationFacts
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import CLASSES


@dataclass(frozen=True)
class Release:
    """Where a release lies, what was done to make it, and what its audit found.

    ``rows`` are the table's rows after the NULL policy, the ``suppressed`` ones included. ``model`` names the
    recoding model; ``levels`` are empty where its classes have no level in common. ``permutation`` tells of a
    permuted release, its further files too.
    """

    address: ReleaseAddress
    manifest_address: ReleaseAddress
    rows: int
    suppressed: int
    levels: Mapping[str, int]
    audit: AuditReport
    warnings: tuple[str, ...] = ()
    model: str = str(RecodingModel.FULL_DOMAIN)
    permutation: PermutationFacts | None = None

    @property
    def path(self) -> Path:
        """The published file or folder; ``InternalError`` where the release is a table."""
        return _path(self.address)

    @property
    def manifest_path(self) -> Path:
        """Its manifest, likewise."""
        return _path(self.manifest_address)

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet publish --json``."""
        return {
            **_place(self.address),
            "manifest": next(iter(_place(self.manifest_address).values())),
            "rows": self.rows,
            "suppressed": self.suppressed,
            "model": self.model,
            "levels": dict(self.levels),
            "audit": self.audit.as_json(),
            "warnings": list(self.warnings),
            **(self.permutation or CLASSES).part(),
        }


def _place(address: ReleaseAddress) -> dict[str, str]:
    return {"table": str(address.table)} if address.path is None else {"path": str(address.path)}


def _path(address: ReleaseAddress) -> Path:
    if address.path is None:
        raise InternalError(f"{address.label} is no file")
    return address.path
