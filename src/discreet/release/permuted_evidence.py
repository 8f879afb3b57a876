"""What is written down of a permuted release: its manifest, and its line in the private log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from discreet.engines.delivery import DATA, Delivery
from discreet.model.audit_report import AuditReport
from discreet.model.coded_warning import CodedWarning, public
from discreet.model.criteria.k_anonymity import LOW_K
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.own_version import own_version
from discreet.model.permuted_release import DE_FINETTI, NOT_PROTECTED, PERMUTATION, PermutationFacts
from discreet.model.recoding import SuppressionPolicy
from discreet.model.requirement import Requirement
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.recoding.stored_classes import CountedTable
from discreet.release.evidence import attributes_of, input_of, output_of, people_of, subject_of
from discreet.release.held import Chosen, HeldRows
from discreet.release.manifest import Manifest
from discreet.release.private_log import file_digest
from discreet.release.warnings import (
    column_warnings,
    hierarchy_warnings,
    in_words,
    row_warnings,
    with_observed,
)


def permuted_manifest(
    spec: TableSpec,
    counted: CountedTable,
    node: Sequence[int],
    chosen: Chosen,
    facts: PermutationFacts,
    held: HeldRows,
    audit: AuditReport,
    delivery: Delivery,
    further: Sequence[CodedWarning] = (),
) -> Manifest:
    """The manifest of what was written and audited; ``further`` are warnings of the caller."""
    roles = {column.name: column.role for column in held.columns} | {facts.sensitive: AttributeRole.SENSITIVE}
    levels = levels_of(counted, node)
    return Manifest(
        discreet=own_version(),
        date=datetime.now(UTC).date().isoformat(),
        file=None if delivery.address.path is None else delivery.address.path.name,
        file_format=delivery.file_format,
        table=delivery.address.table,
        sha256=delivery.digest(DATA) or "",
        rows=audit.rows,
        attributes=attributes_of(spec, tuple(counted.hierarchies), levels, roles),
        requirement=Requirement().as_json(),
        counted="rows" if held.subject is None else "subjects",
        rows_are_people=spec.source.rows_are_people,
        nulls=str(spec.source.nulls),
        dropped=counted.dropped,
        set_apart=counted.set_apart,
        population=people_of(counted),
        input_version=spec.source.version,
        suppression=str(SuppressionPolicy.DROP),
        suppressed=held.rows - audit.rows,
        model=PERMUTATION,
        permutation=facts,
        audit={
            "passed": audit.passed,
            "rows": audit.rows,
            "classes": audit.classes,
            "k": audit.k,
            "l": dict(audit.l),
            "starred": audit.starred,
            "permutation": None if audit.permutation is None else audit.permutation.as_json(),
        },
        warnings=with_observed(
            (
                *public(further),
                *_warnings(spec, counted.hierarchies, node, chosen, facts, held, audit.rows, roles),
            ),
            audit,
            rows_are_people=spec.source.rows_are_people,
        ),
    )


def levels_of(counted: CountedTable, node: Sequence[int]) -> dict[str, int]:
    """The level of each quasi-identifier, for the publisher: the manifest does not tell all."""
    return {h.attribute: level for h, level in zip(counted.hierarchies, node, strict=True)}


def _warnings(
    spec: TableSpec,
    hierarchies: Sequence[GeneralizationHierarchy],
    node: Sequence[int],
    chosen: Chosen,
    facts: PermutationFacts,
    held: HeldRows,
    rows: int,
    roles: dict[str, AttributeRole],
) -> tuple[CodedWarning, ...]:
    """What stands in the manifest, first what no permuted release protects; none names a value."""
    warnings = [
        CodedWarning("identity-and-membership", NOT_PROTECTED),
        CodedWarning("definetti", DE_FINETTI),
    ]
    if chosen.near is not None:
        warnings.append(CodedWarning("proximity", chosen.near))
    if facts.k < LOW_K:
        text = f"A group needs only {facts.k} distinct values; publishers commonly ask for {LOW_K} or more."
        warnings.append(CodedWarning("low-k", text))
    others = [a.name for a in spec.sensitive if a.name != facts.sensitive]
    if others:
        text = f"One sensitive attribute is permuted; left out of the release: {in_words(others)}."
        warnings.append(CodedWarning("sensitive-left-out", text))
    warnings += [CodedWarning("partition", text) for text in (*chosen.partition.warnings, *chosen.warnings)]
    levels = list(zip(hierarchies, node, strict=True))
    derived = [h.attribute for h, level in levels if h.from_data and 0 < level < h.height]
    raised = {h.attribute for h, level in levels if level > 0}
    generalized = replace(spec, attributes=tuple(a for a in spec.attributes if a.name in raised))
    warnings += hierarchy_warnings(generalized, derived)
    warnings += column_warnings(spec, roles)
    warnings += row_warnings(held.rows, held.rows - rows)
    return tuple(warnings)


def permuted_log_entry(
    spec: TableSpec,
    counted: CountedTable,
    node: Sequence[int],
    chosen: Chosen,
    manifest: Manifest,
    delivery: Delivery,
) -> dict[str, object]:
    """What the private log keeps of a publication; of the permutation it keeps nothing."""
    source, facts = spec.source, manifest.permutation
    assert facts is not None
    return {
        **input_of(source),
        **subject_of(source),
        "spec": None if spec.path is None else str(spec.path.absolute()),
        "spec_sha256": None if spec.path is None else file_digest(spec.path),
        "requirement": {"k": facts.k, "e": str(facts.e)},
        "model": manifest.model,
        "partition": facts.partition,
        "error": None if chosen.partition.error is None else str(chosen.partition.error),
        "sensitive": facts.sensitive,
        "levels": levels_of(counted, node),
        "rows": manifest.rows,
        "dropped": counted.dropped,
        "set_apart": counted.set_apart,
        "suppressed": manifest.suppressed,
        "output": output_of(delivery.address),
        "output_sha256": manifest.sha256,
        "files": {name: file.sha256 for name, file in facts.files.items()},
        "discreet": manifest.discreet,
    }
