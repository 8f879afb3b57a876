"""Auditing a permuted release by its manifest, which is read as plain JSON, by nothing that wrote it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from discreet.audit.permuted import PermutedClaims, PermutedSources, audit_permuted
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport
from discreet.model.table_spec import SourceSpec


def is_permuted(document: Mapping[str, Any]) -> bool:
    """Whether a manifest is that of a permuted release."""
    return document.get("permutation") is not None


def audit_permuted_release(
    engine: Engine, path: Path, document: Mapping[str, Any], k: int | None = None
) -> AuditReport:
    """Audit a permuted release; ``k`` takes the place of the manifest's.

    A file that is missing, or that differs from its checksum in the manifest, fails or is an ``InputError``.
    """
    try:
        claims, sources, digests = _read(path, document)
        data, permuted = document["data"], document["permutation"]
        said = (data["rows"], permuted["groups"], permuted["rows_without_value"])
    except (KeyError, TypeError, AttributeError, ValueError, InvalidOperation) as error:
        raise InputError(
            f"the manifest of {path} is not one of a permuted release: {error} is missing or of another kind"
        ) from None
    report = audit_permuted(engine, sources, claims if k is None else replace(claims, k=k))
    faults = [
        f"{file.name} is not the one that the manifest describes: its SHA-256 is {found}."
        for file, sha256 in digests
        if (found := _sha256(file)) != sha256
    ]
    counts = report.permutation
    assert counts is not None
    for name, claimed, counted in zip(
        ("rows", "groups", "rows without a value"),
        said,
        (report.rows, counts.groups, counts.rows_without_value),
        strict=True,
    ):
        if claimed != counted:
            faults.append(f"There are {counted} {name}, but the manifest says {claimed}.")
    return replace(report, passed=report.passed and not faults, warnings=(*faults, *report.warnings))


def _read(
    path: Path, document: Mapping[str, Any]
) -> tuple[PermutedClaims, PermutedSources, list[tuple[Path, str]]]:
    """What a manifest claims, where the tables lie, and the checksum of each file."""
    permuted, data = document["permutation"], document["data"]
    named = [(entry["name"], entry["role"]) for entry in document["attributes"] if entry["published"]]
    first = permuted["first_group"]
    claims = PermutedClaims(
        group_column=permuted["group_column"],
        sensitive=permuted["sensitive"],
        quasi_identifiers=tuple(name for name, role in named if role == "quasi-identifier"),
        k=int(permuted["k"]),
        e=Decimal(permuted["e"]),
        first_group=None if first is None else (int(first["k"]), Decimal(first["e"])),
        numeric=bool(permuted["numeric"]),
        doubles=bool(permuted["numeric"]) and permuted["scale"] is None,
    )
    files = permuted["files"]
    digests = [(path, str(data["sha256"]))]
    places = {}
    for name, entry in files.items():
        places[name] = _source(path, entry, data["format"])
        if entry["table"] is None:
            digests.append((path.with_name(_plain_name(entry["file"])), str(entry["sha256"])))
    two = permuted["form"] == "two-tables"
    sources = PermutedSources(
        data=_source(path, {"file": path.name, "table": permuted["table"]}, data["format"]),
        help=places["help"],
        sensitive=places["sensitive"] if two else None,
    )
    return claims, sources, digests


def _source(path: Path, entry: Mapping[str, Any], file_format: str) -> SourceSpec:
    if entry["table"] is not None:
        return SourceSpec(path=path, table=str(entry["table"]))
    delimiter = "," if file_format == "csv" else None
    return SourceSpec(
        path=path.with_name(_plain_name(entry["file"])), format=file_format, delimiter=delimiter
    )


def _plain_name(name: str) -> str:
    """A file's name; ``ValueError`` for one that leads to another folder."""
    if not name or Path(name).name != name:
        raise ValueError(f"the file name {name}")
    return name


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
