"""What is written down of a publication: the manifest for everybody, the log entry for the publisher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from discreet.errors import DiscreetError
from discreet.model.audit_report import AuditReport
from discreet.model.class_recoding import ClassRecoding
from discreet.model.coded_warning import public
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy, Given, HierarchySource
from discreet.model.label_form import LabelForm, LabelKind
from discreet.model.own_version import own_version
from discreet.model.release_address import IN_MEMORY, ReleaseAddress
from discreet.model.table_spec import AttributeRole, SourceSpec, TableSpec
from discreet.places.address import address_said
from discreet.places.file_pattern import files_digest, is_pattern
from discreet.recoding.recoded_table import RecodedTable
from discreet.recoding.stored_classes import CountedTable
from discreet.release.job import Job
from discreet.release.manifest import Manifest, ManifestAttribute
from discreet.release.private_log import file_digest
from discreet.release.warnings import release_warnings, with_observed


def manifest_of(job: Job, table: RecodedTable, audit: AuditReport, sha256: str) -> Manifest:
    """The manifest of a file that was written and audited; ``sha256`` is the file's."""
    roles = {column.name: column.role for column in table.columns}
    return Manifest(
        discreet=own_version(),
        date=datetime.now(UTC).date().isoformat(),
        file=None if job.delivery.address.path is None else job.delivery.address.path.name,
        file_format=job.delivery.file_format,
        table=job.delivery.address.table,
        sha256=sha256,
        rows=audit.rows + audit.starred,
        attributes=attributes_of(job.spec, job.hierarchies, job.levels, roles),
        requirement=job.recoding.requirement.as_json(),
        counted="rows" if table.subject is None else "subjects",
        rows_are_people=job.spec.source.rows_are_people,
        nulls=str(job.spec.source.nulls),
        dropped=job.counted.dropped,
        set_apart=job.counted.set_apart,
        population=people_of(job.counted),
        input_version=job.spec.source.version,
        after=job.after,
        suppression=str(job.recoding.suppression),
        suppressed=table.suppressed,
        model=str(job.model),
        summary=job.summary,
        patterns=_patterns(job),
        audit={
            "passed": audit.passed,
            "rows": audit.rows,
            "classes": audit.classes,
            "k": audit.k,
            "l": dict(audit.l),
            "starred": audit.starred,
            **({"criteria": [found.as_json() for found in audit.criteria]} if audit.criteria else {}),
        },
        warnings=with_observed(
            (
                *public(job.further),
                *release_warnings(
                    job.spec,
                    job.recoding,
                    job.derived,
                    roles,
                    rows=table.rows,
                    suppressed=table.suppressed,
                    audit=audit,
                ),
            ),
            audit,
            rows_are_people=job.spec.source.rows_are_people,
        ),
    )


def people_of(counted: CountedTable) -> int | None:
    """The number of people in the population beside a table; None where none was counted."""
    population = counted.population if isinstance(counted, FrequencySet) else None
    return None if population is None else population.people


def _patterns(job: Job) -> tuple[Mapping[str, Any], ...]:
    """The patterns that are used, with their counts; they say no more than the stars of the release do."""
    if not isinstance(job.recoding, ClassRecoding):
        return ()
    return tuple(
        {"pattern": str(used.pattern), "classes": used.classes, "rows": used.rows}
        for used in job.recoding.patterns
    )


def attributes_of(
    spec: TableSpec,
    built: Sequence[GeneralizationHierarchy],
    levels: Mapping[str, int],
    roles: Mapping[str, AttributeRole],
) -> tuple[ManifestAttribute, ...]:
    """The spec's attributes in its order, then the subject and the unlisted columns that are published.

    Where the number of a hierarchy's levels comes from the data, the longest code or the number of values may
    be a suppressed row's: neither the height is told then, nor a level above 0, which bounds it.
    """
    hierarchies = {h.attribute: h for h in built}
    entries = []
    for attribute in spec.attributes:
        name, role = attribute.name, str(attribute.role)
        form = spec.source.form_of(name)
        written = None if form is None or name not in roles else form.as_json()
        shift = None if attribute.shift is None else attribute.shift.as_json()
        if name not in hierarchies:
            way = None if attribute.way is None else attribute.way.as_json()
            whose = way is not None and name == spec.source.subject
            entries.append(
                ManifestAttribute(
                    name,
                    role,
                    published=name in roles,
                    written=written,
                    way=way,
                    shift=shift,
                    subject=whose,
                )
            )
            continue
        hierarchy, level = hierarchies[name], levels.get(name)
        told = given_of(attribute.hierarchy) is not Given.NOTHING
        entries.append(
            ManifestAttribute(
                name,
                role,
                published=True,
                level=level if told or level == 0 else None,
                height=hierarchy.height if told else None,
                hierarchy_from_data=hierarchy.from_data,
                hierarchy_sha256=public_digest(attribute.hierarchy, hierarchy),
                written=written,
                shift=shift,
                label_form=form_of(attribute.hierarchy),
            )
        )
    listed = {attribute.name for attribute in spec.attributes}
    subject = spec.source.subject
    if subject is not None and subject not in listed:
        entries.append(ManifestAttribute(subject, str(AttributeRole.IDENTIFIER), published=False))
    unlisted = [(name, role) for name, role in roles.items() if name not in listed]
    return (*entries, *(ManifestAttribute(name, str(role), published=True) for name, role in unlisted))


def given_of(source: HierarchySource | None) -> Given:
    """What of an attribute's hierarchy may be told; nothing where a source of somebody's own does not say.

    It is asked of the source, never found by looking at what was built: that would tell of the values.
    """
    if source is None:
        return Given.LEVELS
    return getattr(source, "given", Given.NOTHING)


def form_of(source: HierarchySource | None) -> LabelForm | None:
    """How the labels of an attribute's hierarchy read; None where no rule builds them."""
    if source is None:
        return LabelForm(LabelKind.VALUES)
    return getattr(source, "label_form", None)


def public_digest(source: HierarchySource | None, hierarchy: GeneralizationHierarchy) -> str | None:
    """The digest of a hierarchy that was there before the data; None where values of the data are in it.

    A digest of the data's values would let anybody confirm a guess of them. What the source builds now is
    compared, as a file may have changed since it was read.
    """
    if source is None or given_of(source) is not Given.HIERARCHY:
        return None
    try:
        empty = source.build(hierarchy.attribute, ())
    except DiscreetError:
        return None
    return hierarchy.digest if empty.digest == hierarchy.digest else None


def log_entry(job: Job, table: RecodedTable, manifest: Manifest) -> dict[str, object]:
    """What the private log keeps of a publication, its digests included."""
    source = job.spec.source
    digests = {attribute.name: attribute.hierarchy_sha256 for attribute in manifest.attributes}
    return {
        **input_of(source),
        **subject_of(source),
        **({} if job.spec.population is None else {"population": input_of(job.spec.population)}),
        "spec": None if job.spec.path is None else str(job.spec.path.absolute()),
        "spec_sha256": None if job.spec.path is None else file_digest(job.spec.path),
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
        "dropped": job.counted.dropped,
        "set_apart": job.counted.set_apart,
        "suppressed": table.suppressed,
        **({} if job.usefulness is None else {"usefulness": job.usefulness}),
        "output": output_of(job.delivery.address),
        "output_sha256": manifest.sha256,
        "discreet": manifest.discreet,
    }


def input_of(source: SourceSpec) -> dict[str, object]:
    """What the private log says of the input: a file and its digest, or the table and its database.

    Of a database's address it keeps host, port and name, and never who asked with what password.
    """
    if source.path is not None:
        digest = None
        if is_pattern(source.path):
            digest = files_digest(source.path)
        elif not source.path.is_dir():
            digest = file_digest(source.path)
        told = {} if source.version is None else {"input_version": source.version}
        return {"input": str(source.path.absolute()), "input_sha256": digest, **told}
    found: dict[str, object] = {"input": source.table, "input_sha256": None}
    if source.url is not None:
        parts = urlsplit(address_said(source.url))
        found["input_database"] = f"{parts.netloc.rpartition('@')[2]}{parts.path}"
    return found


def subject_of(source: SourceSpec) -> dict[str, object]:
    """The subject's column, by which tables are known to have the same people; nothing without one."""
    return {} if source.subject is None else {"subject": source.subject}


def output_of(address: ReleaseAddress) -> str:
    """What the private log says of where a release lies."""
    if address.held:
        return IN_MEMORY
    return str(address.table) if address.path is None else str((address.placed or address.path).absolute())
