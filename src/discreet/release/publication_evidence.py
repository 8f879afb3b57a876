"""Evidence of a publication: its warnings, its manifest, and its entry in the private log.

Warnings of the manifest name no value of the data. Heights and levels that come from the data are not
reported, as they could be those of a suppressed row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from discreet.engines.delivery import Delivery
from discreet.errors import DiscreetError
from discreet.model.audit_report import AuditReport
from discreet.model.class_recoding import ClassRecoding
from discreet.model.coded_warnings import (
    FEW_PEOPLE,
    INSENSITIVE_PUBLISHED,
    UNLISTED_PUBLISHED,
    CodedWarning,
    order_warnings,
    public_warnings,
    unreported_warnings,
)
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy, HierarchySource, PublicPart
from discreet.model.json_documents import program_version
from discreet.model.published_cells import LabelForm, LabelKind
from discreet.model.release_address import MEMORY_LABEL, ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding
from discreet.model.table_spec import AttributeRole, SourceSpec, TableSpec, UnlistedPolicy
from discreet.places.address import resolve_address
from discreet.places.file_access import files_digest, is_pattern
from discreet.recoding.recoded_table import RecodedTable
from discreet.recoding.stored_classes import CountedTable, Recoding
from discreet.release.manifest import Manifest, ManifestAttribute
from discreet.release.private_log import compute_file_digest
from discreet.release.publication_job import PublicationJob

HIGH_SUPPRESSION_PERCENT = 10


def collect_warnings(
    spec: TableSpec,
    recoding: Recoding,
    derived: Sequence[str],
    roles: dict[str, AttributeRole],
    *,
    rows: int,
    suppressed: int,
    audit: AuditReport,
) -> tuple[CodedWarning, ...]:
    """Collect the warnings of the manifest; none names a value of the data.

    Each criterion provides the warnings about its own value (``Criterion.warnings``).

    ``derived`` are the attributes that show generalized values derived from the data, ``roles`` those of the
    published columns, ``rows`` the number of rows before suppression.
    """
    return (
        *_requirement_warnings(spec, recoding.requirement, audit),
        *hierarchy_warnings(spec, derived),
        *_recoding_warnings(recoding),
        *column_warnings(spec, roles),
        *identifier_warnings(spec),
        *row_warnings(rows, suppressed),
    )


def add_audit_warnings(
    warnings: Sequence[CodedWarning], audit: AuditReport, *, rows_are_people: bool
) -> tuple[CodedWarning, ...]:
    """Add the coded warnings of the audit of the output, where no warning has their code or text.

    The audit counts pseudonyms as people, unless the spec declares ``rows_are_people``.
    """
    observed = public_warnings(warning for warning in audit.warnings if isinstance(warning, CodedWarning))
    if rows_are_people:
        observed = tuple(warning for warning in observed if warning.code != FEW_PEOPLE)
    return order_warnings((*warnings, *(w for w in observed if w in unreported_warnings(observed, warnings))))


def collect_publisher_notes(spec: TableSpec, columns: Sequence[str]) -> tuple[CodedWarning, ...]:
    """Collect unused parts of the spec, and columns that it does not list and that are not published.

    These notes are only for the publisher.
    """
    notes = tuple(CodedWarning("not-used", note) for note in spec.notes)
    if spec.source.unlisted_columns is not UnlistedPolicy.DROP:
        return notes
    listed = {attribute.name for attribute in spec.attributes} | {spec.source.subject}
    names = [name for name in columns if name not in listed]
    if not names:
        return notes
    unlisted = CodedWarning(
        "unlisted-left-out", f"Not listed in the spec, so left out: {quote_names(names)}."
    )
    return (*notes, unlisted)


def _requirement_warnings(
    spec: TableSpec, requirement: Requirement, audit: AuditReport
) -> list[CodedWarning]:
    if requirement.is_empty:
        return [CodedWarning("no-requirement", "No criterion was required: the release was not tested.")]
    warnings = []
    if requirement.k is None:
        warnings.append(CodedWarning("no-k", "No k was required: a class may be a single person."))
    warnings += [
        CodedWarning(*message) for criterion in requirement.criteria for message in criterion.warnings()
    ]
    names = tuple(attribute.name for attribute in spec.sensitive)
    promising = {one.index for one in requirement.bound(names) if one.criterion.promises}
    # Where all people of a group have the same value, the audit's own warning says more than this one.
    several = [name for name in names if audit.l.get(name, 0) > 1]
    bare = [name for index, name in enumerate(names) if index not in promising and name in several]
    if bare:
        warnings.append(
            CodedWarning("no-l", f"No l of at least 2 was required of the sensitive {quote_names(bare)}.")
        )
    return warnings


def _recoding_warnings(recoding: Recoding) -> list[CodedWarning]:
    """Return the warnings of the search."""
    if isinstance(recoding, FullDomainRecoding):
        return []
    return [CodedWarning("recoding", text) for text in recoding.warnings]


def hierarchy_warnings(spec: TableSpec, derived: Sequence[str]) -> list[CodedWarning]:
    """Warn of generalized values derived from the data, and of quasi-identifiers without a hierarchy."""
    flat = [attribute.name for attribute in spec.quasi_identifiers if attribute.hierarchy is None]
    warnings = []
    if derived:
        warnings.append(
            CodedWarning(
                "derived-hierarchy",
                f"The generalized values of {quote_names(derived)} were derived from the data and reveal "
                "some of it.",
            )
        )
    if flat:
        warnings.append(
            CodedWarning(
                "no-hierarchy", f"No hierarchy was given for {quote_names(flat)}: each value, or * for all."
            )
        )
    return warnings


def identifier_warnings(spec: TableSpec) -> list[CodedWarning]:
    """Warn of identifiers that are published in another form, and of shifted dates."""
    ways = spec.source.pseudonymizations
    joining = [name for name, way in ways.items() if way.is_deterministic and way.is_injective]
    masked = [name for name, way in ways.items() if not way.is_injective]
    warnings = []
    if joining:
        warnings.append(
            CodedWarning(
                "rows-can-be-linked",
                f"Rows of one person can be linked by {quote_names(joining)}. Classes are counted row by "
                "row, so a reader who knows several rows of a person may identify them.",
            )
        )
    if masked:
        warnings.append(
            CodedWarning(
                "identifier-shown-in-part",
                f"Characters of {quote_names(masked)} are published, and no criterion counts them.",
            )
        )
    if spec.source.date_shifts:
        names = list(spec.source.date_shifts)
        warnings.append(
            CodedWarning(
                "dates-shifted",
                f"{quote_names(names)}: the dates of each person are moved by a secret number of days. "
                "Intervals between them are unchanged and may be known.",
            )
        )
    return warnings


def shifted_weights_warning(column: str, lost: float, name: str, moved: float) -> CodedWarning:
    """Warn that suppressed rows of a survey remove a share of its people."""
    return CodedWarning(
        "weights-not-recalibrated",
        f"The weights '{column}' are not recalibrated: suppressed rows represent {_percent(lost)} % of the "
        f"people, and the weighted share of a value of '{name}' moves by {_percent(moved)} points.",
    )


def unknown_weights_warning(column: str) -> CodedWarning:
    """Warn that the people removed by suppressed rows of a survey are unknown."""
    return CodedWarning(
        "weights-not-recalibrated",
        f"The weights '{column}' are not recalibrated: sums omit the people of suppressed rows.",
    )


def _percent(share: float) -> str:
    """Return a share in percent with one decimal, at least 0.1."""
    return f"{max(100 * share, 0.1):.1f}"


def column_warnings(spec: TableSpec, roles: dict[str, AttributeRole]) -> list[CodedWarning]:
    """Warn of columns that are published unchanged."""
    listed = {attribute.name for attribute in spec.attributes}
    insensitive = [name for name, role in roles.items() if role is AttributeRole.INSENSITIVE]
    unlisted = [name for name in insensitive if name not in listed]
    named = [name for name in insensitive if name in listed]
    warnings = []
    if named:
        warnings.append(
            CodedWarning(INSENSITIVE_PUBLISHED, f"Published unchanged and unchecked: {quote_names(named)}.")
        )
    if unlisted:
        warnings.append(
            CodedWarning(
                UNLISTED_PUBLISHED,
                f"Not listed in the spec, yet published unchanged and unchecked: {quote_names(unlisted)}.",
            )
        )
    return warnings


def row_warnings(rows: int, suppressed: int) -> list[CodedWarning]:
    """Warn of many suppressed rows."""
    if suppressed * 100 > HIGH_SUPPRESSION_PERCENT * rows:
        text = (
            f"{suppressed} of {rows} rows are suppressed, more than {HIGH_SUPPRESSION_PERCENT} %: the "
            "remaining rows may misrepresent the table."
        )
        return [CodedWarning("high-suppression", text)]
    return []


def quote_names(names: Sequence[str]) -> str:
    """Quote names for a sentence."""
    return ", ".join(f"'{name}'" for name in names)


def build_manifest_frame(
    spec: TableSpec,
    counted: CountedTable,
    delivery: Delivery,
    audit: AuditReport,
    warnings: Sequence[CodedWarning],
) -> dict[str, Any]:
    """Build the fields of a manifest that all kinds of release have; ``warnings`` are its own."""
    path, source = delivery.address.path, spec.source
    return {
        "discreet": program_version(),
        "date": datetime.now(UTC).date().isoformat(),
        "file": None if path is None else path.name,
        "file_format": delivery.file_format,
        "table": delivery.address.table,
        "rows_are_people": source.rows_are_people,
        "null_policy": str(source.null_policy),
        "dropped": counted.dropped,
        "set_apart": counted.set_apart,
        "population": count_population(counted),
        "input_version": source.version,
        "audit": {
            "passed": audit.passed,
            "rows": audit.rows,
            "classes": audit.classes,
            "k": audit.k,
            "l": dict(audit.l),
            "starred": audit.starred,
            **({"criteria": [found.as_json() for found in audit.criteria]} if audit.criteria else {}),
            **audit.kind_part(),
        },
        "warnings": add_audit_warnings(warnings, audit, rows_are_people=source.rows_are_people),
    }


def build_manifest(job: PublicationJob, table: RecodedTable, audit: AuditReport, sha256: str) -> Manifest:
    """Build the manifest of a written and audited release; ``sha256`` is the data's digest."""
    roles = {column.name: column.role for column in table.columns}
    size = {"rows": table.rows, "suppressed": table.suppressed}
    warnings = collect_warnings(job.spec, job.recoding, job.derived, roles, audit=audit, **size)
    return Manifest(
        sha256=sha256,
        rows=audit.rows + audit.starred,
        attributes=build_manifest_attributes(job.spec, job.hierarchies, job.levels, roles),
        requirement=job.recoding.requirement.as_json(),
        counted="rows" if table.subject is None else "subjects",
        previous_releases=job.previous_releases,
        suppression=str(job.recoding.suppression),
        suppressed=table.suppressed,
        model=str(job.model),
        summary=job.summary,
        patterns=_used_patterns(job),
        **build_manifest_frame(
            job.spec, job.counted, job.delivery, audit, (*public_warnings(job.further), *warnings)
        ),
    )


def count_population(counted: CountedTable) -> int | None:
    """Return the number of people in the table's population; None where none was counted."""
    population = counted.population if isinstance(counted, FrequencySet) else None
    return None if population is None else population.people


def _used_patterns(job: PublicationJob) -> tuple[Mapping[str, Any], ...]:
    """Return the used patterns with their counts; they reveal no more than the stars of the release."""
    if not isinstance(job.recoding, ClassRecoding):
        return ()
    return tuple(
        {"pattern": str(used.pattern), "classes": used.classes, "rows": used.rows}
        for used in job.recoding.patterns
    )


def build_manifest_attributes(
    spec: TableSpec,
    built: Sequence[GeneralizationHierarchy],
    levels: Mapping[str, int],
    roles: Mapping[str, AttributeRole],
) -> tuple[ManifestAttribute, ...]:
    """Describe the spec's attributes in its order, then the subject and the unlisted published columns.

    Where the number of a hierarchy's levels comes from the data, the longest code or the number of values may
    be a suppressed row's: then neither the height is reported, nor a level above 0, which bounds it.
    """
    hierarchies = {h.attribute: h for h in built}
    entries = []
    for attribute in spec.attributes:
        name, role = attribute.name, str(attribute.role)
        form = spec.source.form_of(name)
        written = None if form is None or name not in roles else form.as_json()
        shift = None if attribute.date_shift is None else attribute.date_shift.as_json()
        if name not in hierarchies:
            way = None if attribute.pseudonymization is None else attribute.pseudonymization.as_json()
            whose = way is not None and name == spec.source.subject
            entries.append(
                ManifestAttribute(
                    name,
                    role,
                    published=name in roles,
                    format=written,
                    pseudonymization=way,
                    date_shift=shift,
                    subject=whose,
                )
            )
            continue
        hierarchy, level = hierarchies[name], levels.get(name)
        is_public = find_public_part(attribute.hierarchy) is not PublicPart.NOTHING
        entries.append(
            ManifestAttribute(
                name,
                role,
                published=True,
                level=level if is_public or level == 0 else None,
                height=hierarchy.height if is_public else None,
                hierarchy_from_data=hierarchy.from_data,
                hierarchy_sha256=compute_public_digest(attribute.hierarchy, hierarchy),
                format=written,
                date_shift=shift,
                label_form=find_label_form(attribute.hierarchy),
            )
        )
    listed = {attribute.name for attribute in spec.attributes}
    subject = spec.source.subject
    if subject is not None and subject not in listed:
        entries.append(ManifestAttribute(subject, str(AttributeRole.IDENTIFIER), published=False))
    unlisted = [(name, role) for name, role in roles.items() if name not in listed]
    return (*entries, *(ManifestAttribute(name, str(role), published=True) for name, role in unlisted))


def find_public_part(source: HierarchySource | None) -> PublicPart:
    """Return the public part of an attribute's hierarchy; nothing where a user's source does not declare it.

    The source declares it. Deriving it from the built hierarchy would reveal values.
    """
    if source is None:
        return PublicPart.LEVELS
    return getattr(source, "public_part", PublicPart.NOTHING)


def find_label_form(source: HierarchySource | None) -> LabelForm | None:
    """Return the form of the labels of an attribute's hierarchy; None where no rule builds them."""
    if source is None:
        return LabelForm(LabelKind.VALUES)
    return getattr(source, "label_form", None)


def compute_public_digest(source: HierarchySource | None, hierarchy: GeneralizationHierarchy) -> str | None:
    """Return the digest of a hierarchy that existed before the data; None if it contains values of the data.

    A digest of the data's values would allow a reader to confirm a guess of them. The hierarchy is compared
    with a newly built one, as a file may have changed since it was read.
    """
    if source is None or find_public_part(source) is not PublicPart.HIERARCHY:
        return None
    try:
        empty = source.build(hierarchy.attribute, ())
    except DiscreetError:
        return None
    return hierarchy.digest if empty.digest == hierarchy.digest else None


def build_log_entry(job: PublicationJob, table: RecodedTable, manifest: Manifest) -> dict[str, object]:
    """Build the private log's entry of a publication, including its digests."""
    digests = {attribute.name: attribute.hierarchy_sha256 for attribute in manifest.attributes}
    return {
        **describe_source(job.spec),
        **({} if job.spec.population is None else {"population": describe_input(job.spec.population)}),
        "requirement": job.recoding.requirement.as_json(),
        "model": manifest.model,
        "summary": manifest.summary,
        "levels": job.levels,
        "hierarchies": {
            hierarchy.attribute: {"origin": hierarchy.origin, "sha256": digests[hierarchy.attribute]}
            for hierarchy in job.hierarchies
        },
        "suppression": str(job.recoding.suppression),
        "rows": table.rows,
        **({} if job.usefulness is None else {"usefulness": job.usefulness}),
        **describe_release(job.delivery.address, manifest),
    }


def describe_source(spec: TableSpec) -> dict[str, object]:
    """Describe the input, its subject, and the spec for the private log."""
    path = spec.path
    return {
        **describe_input(spec.source),
        **({} if spec.source.subject is None else {"subject": spec.source.subject}),
        "spec": None if path is None else str(path.absolute()),
        "spec_sha256": None if path is None else compute_file_digest(path),
    }


def describe_release(address: ReleaseAddress, manifest: Manifest) -> dict[str, object]:
    """Describe the output and the rows that it lacks for the private log."""
    return {
        "dropped": manifest.dropped,
        "set_apart": manifest.set_apart,
        "suppressed": manifest.suppressed,
        "output": describe_output(address),
        "output_sha256": manifest.sha256,
        "discreet": manifest.discreet,
    }


def describe_input(source: SourceSpec) -> dict[str, object]:
    """Describe the input for the private log: a file and its digest, or the table and its database.

    From a database's address only host, port and name are stored, never user and password.
    """
    if source.path is not None:
        digest = None
        if is_pattern(source.path):
            digest = files_digest(source.path)
        elif not source.path.is_dir():
            digest = compute_file_digest(source.path)
        version = {} if source.version is None else {"input_version": source.version}
        return {"input": str(source.path.absolute()), "input_sha256": digest, **version}
    result: dict[str, object] = {"input": source.table, "input_sha256": None}
    if source.url is not None:
        parts = urlsplit(resolve_address(source.url))
        result["input_database"] = f"{parts.netloc.rpartition('@')[2]}{parts.path}"
    return result


def describe_output(address: ReleaseAddress) -> str:
    """Return the location of a release for the private log."""
    if address.in_memory:
        return MEMORY_LABEL
    return str(address.table) if address.path is None else str((address.placed or address.path).absolute())
