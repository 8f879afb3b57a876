"""Auditing a permuted release by its manifest, which is read as plain JSON, by nothing that wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from discreet.audit.digests import digest_of
from discreet.audit.permuted import PermutedClaims, PermutedSources, audit_permuted
from discreet.audit.required import required_by
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport
from discreet.model.permuted_release import HELP, SENSITIVE
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec


def is_permuted(document: Mapping[str, Any]) -> bool:
    """Whether a manifest is that of a permuted release."""
    return document.get("permutation") is not None


def audit_permuted_release(
    engine: Engine, place: ReleaseAddress, document: Mapping[str, Any], k: int | None = None
) -> AuditReport:
    """Audit a permuted release; ``k`` takes the place of the manifest's.

    A file or table that is missing, or that differs from its checksum in the manifest, fails or is an
    ``InputError``, as is a criterion beside k and e that the manifest requires.
    """
    with _told(place):
        claims, sources, digests = _read(place, document)
        data, permuted = document["data"], document["permutation"]
        said = (data["rows"], permuted["groups"], permuted["rows_without_value"])
        further = required_by(document).others
        counts_people = document["counted"] == "subjects"
    if further:
        raise InputError(
            f"the manifest of {place.label} requires {further[0]}, which no audit counts in groups",
            allowed="k and e",
        )
    report = audit_permuted(engine, sources, claims if k is None else replace(claims, k=k))
    faults = [
        f"{part.name} is not the one that the manifest describes: its SHA-256 is {found}."
        for part, sha256 in digests
        if (found := digest_of(engine, part, (claims.group_column,))) != sha256
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
    told = (_people_told(claims),) if counts_people else ()
    return replace(report, passed=report.passed and not faults, warnings=(*faults, *told, *report.warnings))


def _people_told(claims: PermutedClaims) -> str:
    """What an audit of a release that counted people could count of them."""
    counted = (
        "nobody can count people from it, and this audit counted values"
        if claims.subject is None
        else "this audit counted each group's people and values apart"
    )
    return (
        "The release counted people who have different values. Whose a value was it does not tell, so "
        f"{counted}."
    )


def read_permuted(
    place: ReleaseAddress, document: Mapping[str, Any]
) -> tuple[PermutedClaims, PermutedSources]:
    """What a manifest claims and where the tables lie; ``InputError`` where it is none of such a release."""
    with _told(place):
        return _read(place, document)[:2]


@contextmanager
def _told(place: ReleaseAddress) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, InvalidOperation) as error:
        raise InputError(
            f"the manifest of {place.label} is not one of a permuted release: {error} is missing or of "
            "another kind"
        ) from None


def _read(
    place: ReleaseAddress, document: Mapping[str, Any]
) -> tuple[PermutedClaims, PermutedSources, list[tuple[ReleaseAddress, str]]]:
    """What a manifest claims, where the tables lie, and the checksum of each part."""
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
        subject=_subject_of(document),
    )
    digests = [(place, str(data["sha256"]))]
    sources = {}
    for name, entry in permuted["files"].items():
        part = _part(place, name, entry)
        sources[name] = _source(part, entry["table"], data["format"])
        if place.in_database or entry["table"] is None:
            digests.append((part, str(entry["sha256"])))
    return (
        claims,
        PermutedSources(
            data=_source(place, permuted["table"], data["format"]),
            help=sources["help"],
            sensitive=sources["sensitive"] if permuted["form"] == "two-tables" else None,
        ),
        digests,
    )


def _subject_of(document: Mapping[str, Any]) -> str | None:
    """The published column that tells people apart, where people were counted."""
    if document["counted"] != "subjects":
        return None
    return next((e["name"] for e in document["attributes"] if e["published"] and e.get("subject")), None)


def _part(place: ReleaseAddress, purpose: str, entry: Mapping[str, Any]) -> ReleaseAddress:
    """Where a part beside the data lies; ``ValueError`` for a name that leads elsewhere."""
    if place.in_database:
        if purpose not in (HELP, SENSITIVE):
            raise ValueError(f"the table {purpose}")
        return place.companion(purpose)
    name = entry["file"]
    if not name or Path(name).name != name:
        raise ValueError(f"the file name {name}")
    return place.beside(name)


def _source(place: ReleaseAddress, table: str | None, file_format: str) -> SourceSpec:
    delimiter = "," if file_format == "csv" else None
    return place.source(file_format=file_format, delimiter=delimiter, table=table)
