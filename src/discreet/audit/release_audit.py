"""Audit of a release, own or foreign, with columns, requirement and checksums from its manifest.

The manifest is read as plain JSON, by code that shares nothing with its writer. A permuted release is audited
by groups and help table, unless columns or criteria are named; then by classes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discreet.audit.class_audit import audit_source
from discreet.audit.criterion_checks import GeneralizedPopulation, KnownAttributes
from discreet.audit.manifest_claims import compute_digest, read_requirement
from discreet.audit.permuted_audit import PermutedClaims, PermutedSources, audit_permuted
from discreet.engines.base import Engine
from discreet.engines.source_tables import read_text_table
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport
from discreet.model.coded_warnings import FEW_PEOPLE, CodedWarning, unreported_warnings
from discreet.model.json_documents import check_manifest, parse_json
from discreet.model.release_address import MANIFEST_TABLE, ReleaseAddress
from discreet.model.release_kind import HELP_FILE, SENSITIVE_FILE, refuse_private_release
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.places.file_access import read_text


def is_permuted(document: Mapping[str, Any]) -> bool:
    """Return true if a manifest describes a permuted release."""
    return document.get("permutation") is not None


def audit_permuted_release(
    engine: Engine, address: ReleaseAddress, document: Mapping[str, Any], k: int | None = None
) -> AuditReport:
    """Audit a permuted release; ``k`` replaces the manifest's.

    A file or table that is missing, or that differs from its checksum in the manifest, fails or raises
    ``InputError``, as does a required criterion other than k and e.
    """
    with _report_manifest_errors(address):
        claims, sources, digests = _parse_permuted_manifest(address, document)
        data, permuted = document["data"], document["permutation"]
        said = (data["rows"], permuted["groups"], permuted["rows_without_value"])
        further = read_requirement(document).others
        counts_people = document["counted"] == "subjects"
    if further:
        raise InputError(
            f"the manifest of {address.label} requires {further[0]}, which the audit does not count in "
            "groups",
            allowed="k and e",
        )
    report = audit_permuted(engine, sources, claims if k is None else replace(claims, k=k))
    faults = [
        f"{part.name} differs from the manifest: its SHA-256 is {found}."
        for part, sha256 in digests
        if (found := compute_digest(engine, part, (claims.group_column,))) != sha256
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
    people_warnings = (_people_warning(claims),) if counts_people else ()
    return replace(
        report, passed=report.passed and not faults, warnings=(*faults, *people_warnings, *report.warnings)
    )


def _people_warning(claims: PermutedClaims) -> str:
    """Return the warning on people of a release that counted people."""
    counted = (
        "this audit counted values"
        if claims.subject is None
        else "this audit counted the people and the values of each group separately"
    )
    return (
        f"The release counted people with different values but does not link people and values, so {counted}."
    )


def read_permuted_claims(
    address: ReleaseAddress, document: Mapping[str, Any]
) -> tuple[PermutedClaims, PermutedSources]:
    """Read claims and table sources of a permuted release's manifest; raise ``InputError`` for others."""
    with _report_manifest_errors(address):
        return _parse_permuted_manifest(address, document)[:2]


@contextmanager
def _report_manifest_errors(address: ReleaseAddress) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, InvalidOperation) as error:
        raise InputError(
            f"the manifest of {address.label} is not one of a permuted release: {error} is missing or of "
            "another kind"
        ) from None


def _parse_permuted_manifest(
    address: ReleaseAddress, document: Mapping[str, Any]
) -> tuple[PermutedClaims, PermutedSources, list[tuple[ReleaseAddress, str]]]:
    """Parse the claims of a manifest, the table sources, and the checksum of each part."""
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
        subject=_published_subject(document),
    )
    digests = [(address, str(data["sha256"]))]
    sources = {}
    for name, entry in permuted["files"].items():
        part = _part_address(address, name, entry)
        sources[name] = _part_source(part, entry["table"], data["format"])
        if address.in_database or entry["table"] is None:
            digests.append((part, str(entry["sha256"])))
    return (
        claims,
        PermutedSources(
            data=_part_source(address, permuted["table"], data["format"]),
            help=sources["help"],
            sensitive=sources["sensitive"] if permuted["form"] == "two-tables" else None,
        ),
        digests,
    )


def _published_subject(document: Mapping[str, Any]) -> str | None:
    """Return the published column that identifies people, where people were counted."""
    if document["counted"] != "subjects":
        return None
    return next((e["name"] for e in document["attributes"] if e["published"] and e.get("subject")), None)


def _part_address(address: ReleaseAddress, purpose: str, entry: Mapping[str, Any]) -> ReleaseAddress:
    """Return the address of a companion of the data; raise ``ValueError`` for a name in another folder."""
    if address.in_database:
        if purpose not in (HELP_FILE, SENSITIVE_FILE):
            raise ValueError(f"the table {purpose}")
        return address.companion(purpose)
    name = entry["file"]
    if not name or Path(name).name != name:
        raise ValueError(f"the file name {name}")
    return address.sibling(name)


def _part_source(address: ReleaseAddress, table: str | None, file_format: str) -> SourceSpec:
    delimiter = "," if file_format == "csv" else None
    return address.source(file_format=file_format, delimiter=delimiter, table=table)


_SUFFIX = ".manifest.json"
_GROUPS_WITHOUT_CRITERIA = (
    "Strictest values are not computed for the groups of a permuted release; name columns to compute them "
    "for its classes."
)


@dataclass(frozen=True)
class ManifestClaims:
    """Claims of a manifest about its file, as far as an audit can check them."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    requirement: Requirement
    sha256: str
    rows: int
    starred: bool
    suppressed: int
    counts_subjects: bool
    subject: str | None
    pseudonymized: tuple[str, ...]
    recorded_k: int | None


def audit_release(
    engine: Engine,
    address: Path | ReleaseAddress,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    requirement: Requirement | None = None,
    population: GeneralizedPopulation | None = None,
    known: KnownAttributes = MappingProxyType({}),
    strictest: bool = False,
    real_values: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> AuditReport:
    """Audit a release, own or foreign; defaults come from its manifest where there is one.

    Parameters
    ----------
    engine
        Engine that reads the address.
    population
        Population for criteria of the population; the number of suppressed rows comes from the manifest.
    known, strictest
        As in ``audit_source``. A permuted release audited by groups has no strictest values, with a warning.
    real_values
        The publisher's texts by column that are no marks for missing values.

    Raises
    ------
    InputError
        Where the file or the manifest cannot be read, where neither an argument nor a manifest names the
        quasi-identifiers, and where the manifest requires a criterion that is not installed.

    Notes
    -----
    A file, folder or table that differs from its manifest's checksum fails, whatever its classes. Where the
    release counted subjects, they are counted by their pseudonyms if it has these; else rows are counted,
    with a warning. For a permuted release the groups and the help table are audited, unless columns, an l or
    a criterion other than k are named; then its classes are audited.
    """
    release_address = ReleaseAddress.of(address)
    document = read_manifest_document(engine, release_address)
    requested_k = None if requirement is None else requirement.k
    named = (
        quasi_identifiers
        or sensitive is not None
        or (requirement is not None and (requirement.l is not None or requirement.others))
    )
    if document is not None and is_permuted(document) and not named:
        report = add_manifest_warnings(
            audit_permuted_release(engine, release_address, document, requested_k), document
        )
        return replace(report, warnings=(*report.warnings, _GROUPS_WITHOUT_CRITERIA)) if strictest else report
    claims = None if document is None else read_claims(release_address, document)
    names = (
        require_quasi_identifiers(release_address, quasi_identifiers) if claims is None else quasi_identifiers
    )
    report = audit_rows(
        engine,
        release_address.source() if claims is None else own_release_source(release_address),
        claims,
        document or {},
        quasi_identifiers=names,
        sensitive=sensitive,
        requirement=requirement,
        population=population,
        known=known,
        strictest=strictest,
        digest=claims is not None and release_address.in_database,
        real_values=real_values,
    )
    if claims is None:
        return report
    return _compare_with_claims(
        report, claims, release_address, report.sha256 or compute_digest(engine, release_address)
    )


def audit_rows(
    engine: Engine,
    source: SourceSpec,
    claims: ManifestClaims | None,
    document: Mapping[str, Any],
    *,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    requirement: Requirement | None,
    population: GeneralizedPopulation | None,
    known: KnownAttributes,
    strictest: bool,
    digest: bool = False,
    real_values: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> AuditReport:
    """Count the classes of a source, a file or a table in memory, and judge them by its claims.

    ``claims`` and ``document`` are those of its manifest. Without claims another program wrote it, and the
    quasi-identifiers are the named ones. Other arguments are as in ``audit_source``.
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
        pseudonymized=claims.pseudonymized,
        real_values=real_values,
    )
    return add_manifest_warnings(report, document)


def add_manifest_warnings(report: AuditReport, document: Mapping[str, Any]) -> AuditReport:
    """Return the report with the publisher's count of people by a column that the release lacks.

    Where the publisher declares that rows are people, pseudonyms are not counted as people.
    """
    if document.get("rows_are_people") is True:
        others = [text for text in report.warnings if getattr(text, "code", None) != FEW_PEOPLE]
        return replace(report, warnings=tuple(others))
    entries = [entry for entry in document.get("warnings", ()) if isinstance(entry, dict)]
    recorded = [
        CodedWarning(FEW_PEOPLE, str(entry.get("text")))
        for entry in entries
        if entry.get("code") == FEW_PEOPLE
    ]
    return replace(report, warnings=(*recorded, *unreported_warnings(report.warnings, recorded)))


def own_release_source(address: ReleaseAddress) -> SourceSpec:
    """Return the source of a release that this program wrote, with its known delimiter and NULLs.

    A single-column file with the name ``a;b`` would otherwise be ambiguous.
    """
    is_csv = address.path is not None and address.path.suffix == ".csv"
    source = address.source(delimiter="," if is_csv else None)
    return replace(source, unquoted_nulls=()) if is_csv else source


def require_quasi_identifiers(
    address: ReleaseAddress, quasi_identifiers: Sequence[str] | None
) -> Sequence[str]:
    """Return the quasi-identifiers of a release without a manifest; raise ``InputError`` without names."""
    if quasi_identifiers:
        return quasi_identifiers
    if address.path is not None and not address.path.exists() and not set("*?[") & set(str(address.path)):
        raise InputError(f"{address.label} is missing", advice="Check the path.")
    raise InputError(
        f"{address.label} has no manifest, and no quasi-identifier was named",
        advice="Name the columns that an attacker may know, each by --quasi-identifier COLUMN.",
    )


def _compare_with_claims(
    report: AuditReport, claims: ManifestClaims, address: ReleaseAddress, digest: str
) -> AuditReport:
    """Add the comparison with the manifest to the report; ``digest`` is the release's SHA-256."""
    kind = "table" if address.path is None else "folder" if address.path.is_dir() else "file"
    warnings = list(report.warnings)
    passed = report.passed
    if digest != claims.sha256:
        passed = False
        warnings.insert(0, f"The {kind} differs from its manifest: its SHA-256 is {digest}.")
    if report.rows + report.starred != claims.rows:
        passed = False
        warnings.insert(
            0, f"The {kind} has {report.rows + report.starred} rows, but its manifest says {claims.rows}."
        )
    if claims.counts_subjects and claims.subject is None:
        warnings.append(
            "The release counted subjects but does not contain them; this audit counted rows. The manifest "
            "contains the count of "
            f"subjects{'' if claims.recorded_k is None else f': k = {claims.recorded_k}'}."
        )
    return replace(
        report,
        passed=passed,
        warnings=tuple(warnings),
        suppressed=min(claims.suppressed, report.starred) if claims.starred else claims.suppressed,
        required_k=report.required_k or claims.requirement.k,
    )


def read_manifest_document(engine: Engine, address: ReleaseAddress) -> dict[str, Any] | None:
    """Read the manifest of a release as JSON; None where there is no manifest."""
    label = _manifest_label(address)
    try:
        if address.path is None:
            text = read_text_table(engine, address.companion(MANIFEST_TABLE).source(), address.source())
            if text is None:
                return None
        else:
            text = read_text(address.path.with_name(address.path.name + _SUFFIX), f"the manifest {label}")
        document = parse_json(text)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"the manifest {label} cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"the manifest {label} is not a discreet manifest")
    refuse_private_release(document, f"the manifest {label}")
    try:
        check_manifest(document)
    except ValueError as error:
        raise InputError(
            f"the manifest {label} is not a discreet manifest: {error}",
            advice="Name the columns yourself after moving the manifest away.",
        ) from None
    return document


def _manifest_label(address: ReleaseAddress) -> str:
    if address.path is None:
        return f"in {address.companion(MANIFEST_TABLE).label}"
    return str(address.path.with_name(address.path.name + _SUFFIX))


def read_claims(address: ReleaseAddress, document: dict[str, Any]) -> ManifestClaims:
    """Read the claims of a release's manifest."""
    try:
        return _parse_claims(document)
    except InputError as error:
        raise InputError(
            f"the manifest {_manifest_label(address)} has a requirement that cannot be judged: "
            f"{error.message}",
            allowed=error.allowed,
            advice=error.advice,
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"the manifest {_manifest_label(address)} is not a discreet manifest: {error} is missing or of "
            "another kind",
            advice="Name the columns yourself after moving the manifest away.",
        ) from None


def _parse_claims(document: dict[str, Any]) -> ManifestClaims:
    roles = [(entry["name"], entry["role"]) for entry in document["attributes"] if entry["published"]]
    return ManifestClaims(
        quasi_identifiers=tuple(name for name, role in roles if role == "quasi-identifier"),
        sensitive=tuple(name for name, role in roles if role == "sensitive"),
        requirement=read_requirement(document),
        sha256=document["data"]["sha256"],
        rows=document["data"]["rows"],
        starred=document["suppression"]["policy"] == "star",
        suppressed=index(document["suppression"]["rows"]),
        counts_subjects=document["counted"] == "subjects",
        subject=next(
            (e["name"] for e in document["attributes"] if e["published"] and e.get("subject")), None
        ),
        pseudonymized=tuple(
            e["name"] for e in document["attributes"] if e["published"] and e.get("identifier")
        ),
        recorded_k=document["audit"].get("k"),
    )
