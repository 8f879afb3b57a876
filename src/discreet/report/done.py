"""Sections 1 to 5 of a report: why, what data, against whom, under which model, and what was done."""

from __future__ import annotations

from discreet.report.criteria import required
from discreet.report.identifiers import IDENTIFIER, shifted, shown_instead, treated
from discreet.report.markup import Numbering, facts, paragraph, section, written
from discreet.report.numbers import whole
from discreet.verbs.evidence import ReleaseEvidence

_ROLES = {
    IDENTIFIER: "tells who somebody is",
    "quasi-identifier": "an attacker may know it",
    "sensitive": "what an attacker wants to learn",
    "insensitive": "as it is, outside every check",
}


def purpose(evidence: ReleaseEvidence) -> str:
    """Section 1."""
    about = evidence.about
    return section(
        1,
        "Purpose and recipients",
        written("Purpose of the release", about.purpose),
        written("Recipients", about.recipient),
    )


def inventory(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 2: every column of the spec, and what became of it."""
    manifest = evidence.manifest
    rows = []
    for attribute in manifest.attributes:
        role = str(attribute.role)
        if not attribute.published:
            shown = "not published"
        elif role == IDENTIFIER:
            shown = shown_instead(attribute)
        elif attribute.name == manifest.kind.permuted_attribute:
            shown = "permuted within groups"
        elif attribute.level is not None:
            shown = "as it is" if attribute.level == 0 else f"level {attribute.told_level}"
        elif role == "quasi-identifier":
            shown = "generalized" if manifest.has_levels else "generalized by class"
        else:
            shown = "as it is"
        if attribute.hierarchy_from_data:
            shown += ", hierarchy from the data"
        if attribute.published:
            shown += shifted(attribute)
        rows.append((attribute.name, role, _ROLES.get(role, ""), shown))
    return section(
        2,
        "Data inventory and attribute roles",
        facts(
            (
                ("Published file" if manifest.table is None else "Published table", manifest.name),
                ("Format", manifest.file_format),
                ("Rows in it", whole(manifest.rows)),
                ("Rows left out for NULL", whole(manifest.dropped)),
                *(("People in the population", whole(n)) for n in (manifest.population,) if n is not None),
                ("NULL policy", f"{manifest.nulls}"),
                ("k and l count", manifest.counted),
            )
        ),
        numbering.table("Columns and their roles", ("column", "role", "meaning", "in the release"), rows),
        paragraph(
            "The roles are the publisher's statement. A column that an attacker knows and that is not "
            "among the "
            "quasi-identifiers is outside everything that follows.",
            "note",
        ),
    )


def threat_model(evidence: ReleaseEvidence) -> str:
    """Section 3."""
    about = evidence.about
    names = [a.name for a in evidence.manifest.attributes if a.published and a.role == "quasi-identifier"]
    return section(
        3,
        "Threat model",
        paragraph(
            f"Every number below assumes an attacker who knows of a person all of {_listed(names)}, and "
            "looks for "
            "that person's row or sensitive values. A prosecutor knows that the person is in the release; a "
            "marketer tries everybody."
        ),
        written("Who might try, what they know, what keeps them from it", about.threat_model, 4),
        written("Population that the table was drawn from", about.population, 2),
        written("Controls of the recipient", about.controls, 2),
    )


def model(evidence: ReleaseEvidence) -> str:
    """Section 4: the recoding model and what was required."""
    manifest = evidence.manifest
    pairs = [("Recoding model", str(manifest.model))]
    if manifest.summary:
        pairs.append(("A class shows", manifest.summary))
    pairs += manifest.kind.asked() or (
        ("k required", "none" if manifest.k is None else f"{manifest.k} {manifest.counted} a class"),
        ("l required", _l_text(evidence)),
        *required(evidence.audit.report),
        ("Suppressed rows are", "starred" if manifest.suppression == "star" else "left out"),
    )
    return section(4, "Model and parameters", facts(pairs), paragraph(manifest.kind.explained))


def transformation(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 5: what was done to each column, reproducible by level and digest, without any value."""
    manifest = evidence.manifest
    rows = [
        (
            a.name,
            "–" if a.level is None and not manifest.has_levels else a.told_level,
            a.hierarchy_sha256[:16] + "…" if a.hierarchy_sha256 else "made from the data",
        )
        for a in manifest.attributes
        if a.published and a.role == "quasi-identifier"
    ]
    parts = [
        facts(
            (
                ("Made on", manifest.date),
                ("Made by", f"discreet {manifest.discreet}"),
                ("Suppressed rows", whole(manifest.suppressed)),
                ("SHA-256 of the file", manifest.sha256),
            )
        ),
        numbering.table(
            "Quasi-identifiers",
            ("column", "level", "hierarchy (SHA-256)"),
            rows,
            note="The digest identifies the hierarchy without telling a value of it. The manifest "
            "beside the file "
            "has it in full.",
        ),
    ]
    parts.append(treated(manifest.attributes, numbering))
    if manifest.patterns:
        parts.append(
            numbering.table(
                "Patterns in use",
                ("pattern", "classes", "rows"),
                [(str(p["pattern"]), whole(p["classes"]), whole(p["rows"])) for p in manifest.patterns],
                numbers=(1, 2),
            )
        )
    if manifest.kind.further_files:
        parts.append(
            numbering.table(
                "Further files of the release",
                ("what", "file", "rows"),
                [
                    (name, f.file or str(f.table), whole(f.rows))
                    for name, f in manifest.kind.further_files.items()
                ],
                numbers=(2,),
            )
        )
    return section(5, "Transformation log", *parts)


def _l_text(evidence: ReleaseEvidence) -> str:
    l = evidence.manifest.l
    if l is None:
        return "none"
    if isinstance(l, int):
        return f"{l} for each sensitive attribute"
    return ", ".join(f"{name} {number}" for name, number in l.items())


def _listed(names: list[str]) -> str:
    return ", ".join(names) if names else "nothing"
