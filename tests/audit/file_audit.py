"""Audit of a file, whose format is detected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.audit.class_audit import audit_source
from discreet.engines.base import Engine
from discreet.model.audit_report import AuditReport
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec


def audit_file(
    engine: Engine,
    path: Path,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    requirement: Requirement,
) -> AuditReport:
    return audit_source(
        engine,
        SourceSpec(path=path),
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        requirement=requirement,
    )
