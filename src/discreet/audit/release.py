"""Auditing a release: the columns, the requirement and the checksum come from its manifest.

The manifest is read here as plain JSON, by nothing that wrote it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discreet.audit.digests import digest_of
from discreet.audit.permuted_release import audit_permuted_release, is_permuted
from discreet.audit.population import ShownPopulation
from discreet.audit.required import required_by
from discreet.audit.verify import audit_source
from discreet.audit.whole_table import KnownAttributes
from discreet.engines.base import Engine
from discreet.engines.stored_text import stored_text
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport
from discreet.model.coded_warning import FEW_PEOPLE, CodedWarning, not_told
from discreet.model.json_text import json_of
from discreet.model.manifest_shape import check_manifest
from discreet.model.release_address import MANIFEST, ReleaseAddress
from discreet.model.release_kind import check_of_rows
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.places.regular_file import read_text

_SUFFIX = ".manifest.json"
_OF_GROUPS = (
    "No criterion is told of the groups of a permuted release: name columns, and its classes are asked."
)


@dataclass(frozen=True)
class Claims:
    """What a manifest says of the file beside it, as far as an audit can check it."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    requirement: Requirement
    sha256: str
    rows: int
    starred: bool
    suppressed: int
    counts_subjects: bool
    subject: str | None
    replaced: tuple[str, ...]
    held_k: int | None


def audit_release(
    engine: Engine,
    address: Path | ReleaseAddress,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    requirement: Requirement | None = None,
    population: ShownPopulation | None = None,
    known: KnownAttributes = MappingProxyType({}),
    strictest: bool = False,
    real_values: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> AuditReport:
    """Audit a release, ours or foreign; what is not given comes from its manifest where there is one.

    ``engine`` is that of the address. A file, folder or table that differs from its manifest's checksum
    fails, whatever its classes. Where the release counted subjects they are counted by their pseudonyms, if
    it has these; else rows are, and a warning says so. Of a permuted release the groups and the help table
    are audited, unless columns, an l or another criterion beside k are named: its classes are audited then.
    ``population`` is needed for criteria of the population; what was suppressed comes from the manifest where
    there is one. ``known`` is as ``audit_source`` has it, and so is ``strictest``; groups have no classes to
    tell it of, which a warning says. ``real_values`` are the publisher's, by column.

    Raises ``InputError`` where the file or the manifest cannot be read, where neither an argument nor a
    manifest names the quasi-identifiers, and where the manifest requires a criterion that is not here.
    """
    place = ReleaseAddress.of(address)
    document = read_manifest(engine, place)
    asked_k = None if requirement is None else requirement.k
    named = (
        quasi_identifiers
        or sensitive is not None
        or (requirement is not None and (requirement.l is not None or requirement.others))
    )
    if document is not None and is_permuted(document) and not named:
        report = with_manifest_warnings(audit_permuted_release(engine, place, document, asked_k), document)
        return replace(report, warnings=(*report.warnings, _OF_GROUPS)) if strictest else report
    claims = None if document is None else read_claims(place, document)
    names = required_names(place, quasi_identifiers) if claims is None else quasi_identifiers
    report = audit_rows(
        engine,
        place.source() if claims is None else as_written(place),
        claims,
        document or {},
        quasi_identifiers=names,
        sensitive=sensitive,
        requirement=requirement,
        population=population,
        known=known,
        strictest=strictest,
        digest=claims is not None and place.in_database,
        real_values=real_values,
    )
    if claims is None:
        return report
    return _compared(report, claims, place, report.sha256 or digest_of(engine, place))


def audit_rows(
    engine: Engine,
    source: SourceSpec,
    claims: Claims | None,
    document: Mapping[str, Any],
    *,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    requirement: Requirement | None,
    population: ShownPopulation | None,
    known: KnownAttributes,
    strictest: bool,
    digest: bool = False,
    real_values: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> AuditReport:
    """Count the classes of a source, a file or a table in memory, and judge them by what is claimed of it.

    ``claims`` and ``document`` are those of its manifest; without claims it is another program's, and the
    quasi-identifiers are those that are named. Other arguments are as in ``audit_source``.
    """
    if claims is None:
        return audit_source(
            engine,
            source,
            quasi_identifiers=quasi_identifiers or (),
            sensitive=sensitive or (),
            requirement=requirement or Requirement(),
            population=population,
            known=known,
            strictest=strictest,
            foreign=True,
            real_values=real_values,
        )
    report = audit_source(
        engine,
        source,
        quasi_identifiers=quasi_identifiers or claims.quasi_identifiers,
        sensitive=claims.sensitive if sensitive is None else sensitive,
        requirement=claims.requirement if requirement is None or requirement.is_empty else requirement,
        subject=claims.subject,
        starred_apart=claims.starred and claims.suppressed > 0,
        suppressed=claims.suppressed if claims.starred else None,
        population=None if population is None else replace(population, suppressed=claims.suppressed),
        known=known,
        strictest=strictest,
        digest=digest,
        replaced=claims.replaced,
        real_values=real_values,
    )
    return with_manifest_warnings(report, document)


def with_manifest_warnings(report: AuditReport, document: Mapping[str, Any]) -> AuditReport:
    """The report with what the publisher counted by a column that the release does not have: people.

    Where the publisher declares that rows are people, pseudonyms are not counted as people.
    """
    if document.get("rows_are_people") is True:
        kept = [text for text in report.warnings if getattr(text, "code", None) != FEW_PEOPLE]
        return replace(report, warnings=tuple(kept))
    entries = [entry for entry in document.get("warnings", ()) if isinstance(entry, dict)]
    told = [
        CodedWarning(FEW_PEOPLE, str(entry.get("text")))
        for entry in entries
        if entry.get("code") == FEW_PEOPLE
    ]
    return replace(report, warnings=(*told, *not_told(report.warnings, told)))


def as_written(place: ReleaseAddress) -> SourceSpec:
    """The release as this program writes it: that ``a;b`` is one name, its file alone does not tell."""
    is_csv = place.path is not None and place.path.suffix == ".csv"
    source = place.source(delimiter="," if is_csv else None)
    return replace(source, unquoted_nulls=()) if is_csv else source


def required_names(place: ReleaseAddress, quasi_identifiers: Sequence[str] | None) -> Sequence[str]:
    """The quasi-identifiers of a release without a manifest; ``InputError`` where nobody names them."""
    if quasi_identifiers:
        return quasi_identifiers
    if place.path is not None and not place.path.exists() and not set("*?[") & set(str(place.path)):
        raise InputError(f"{place.label} is missing", advice="Check the path.")
    raise InputError(
        f"{place.label} has no manifest, and no quasi-identifier was named",
        advice="Name the columns that an attacker may know, each by --quasi-identifier COLUMN.",
    )


def _compared(report: AuditReport, claims: Claims, place: ReleaseAddress, found: str) -> AuditReport:
    """The report with what the manifest adds to it; ``found`` is the release's SHA-256."""
    kind = "table" if place.path is None else "folder" if place.path.is_dir() else "file"
    warnings = list(report.warnings)
    passed = report.passed
    if found != claims.sha256:
        passed = False
        warnings.insert(0, f"The {kind} is not the one that its manifest describes: its SHA-256 is {found}.")
    if report.rows + report.starred != claims.rows:
        passed = False
        warnings.insert(
            0, f"The {kind} has {report.rows + report.starred} rows, but its manifest says {claims.rows}."
        )
    if claims.counts_subjects and claims.subject is None:
        warnings.append(
            "The release counted subjects, which it does not hold, so nobody can count them from it; this "
            "audit counted rows. The count of subjects stands in the manifest"
            f"{'' if claims.held_k is None else f': k = {claims.held_k}'}."
        )
    return replace(
        report,
        passed=passed,
        warnings=tuple(warnings),
        suppressed=min(claims.suppressed, report.starred) if claims.starred else claims.suppressed,
        required_k=report.required_k or claims.requirement.k,
    )


def read_manifest(engine: Engine, place: ReleaseAddress) -> dict[str, Any] | None:
    """The manifest beside a release as JSON; None where there is no manifest."""
    label = _manifest_label(place)
    try:
        if place.path is None:
            text = stored_text(engine, place.companion(MANIFEST).source(), place.source())
            if text is None:
                return None
        else:
            text = read_text(place.path.with_name(place.path.name + _SUFFIX), f"the manifest {label}")
        document = json_of(text)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"the manifest {label} cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"the manifest {label} is not one of discreet's")
    check_of_rows(document, f"the manifest {label}")
    try:
        check_manifest(document)
    except ValueError as error:
        raise InputError(
            f"the manifest {label} is not one of discreet's: {error}",
            advice="Name the columns yourself after moving the manifest away.",
        ) from None
    return document


def _manifest_label(place: ReleaseAddress) -> str:
    if place.path is None:
        return f"in {place.companion(MANIFEST).label}"
    return str(place.path.with_name(place.path.name + _SUFFIX))


def read_claims(place: ReleaseAddress, document: dict[str, Any]) -> Claims:
    """The claims of the manifest beside a file."""
    try:
        return _claims(document)
    except InputError as error:
        raise InputError(
            f"the manifest {_manifest_label(place)} has a requirement that cannot be judged: {error.message}",
            allowed=error.allowed,
            advice=error.advice,
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"the manifest {_manifest_label(place)} is not one of discreet's: {error} is "
            "missing or of another kind",
            advice="Name the columns yourself after moving the manifest away.",
        ) from None


def _claims(document: dict[str, Any]) -> Claims:
    roles = [(entry["name"], entry["role"]) for entry in document["attributes"] if entry["published"]]
    return Claims(
        quasi_identifiers=tuple(name for name, role in roles if role == "quasi-identifier"),
        sensitive=tuple(name for name, role in roles if role == "sensitive"),
        requirement=required_by(document),
        sha256=document["data"]["sha256"],
        rows=document["data"]["rows"],
        starred=document["suppression"]["policy"] == "star",
        suppressed=index(document["suppression"]["rows"]),
        counts_subjects=document["counted"] == "subjects",
        subject=next(
            (e["name"] for e in document["attributes"] if e["published"] and e.get("subject")), None
        ),
        replaced=tuple(e["name"] for e in document["attributes"] if e["published"] and e.get("identifier")),
        held_k=document["audit"].get("k"),
    )
