"""Sections 1 to 5 of a report: why, what data, against whom, under which model, and what was done."""

from __future__ import annotations

from discreet.release.manifest import Manifest, ManifestAttribute
from discreet.report.criteria import required
from discreet.report.identifiers import IDENTIFIER, shifted, shown_instead, treated
from discreet.report.markup import Numbering, facts, paragraph, section, written
from discreet.report.words import Words
from discreet.verbs.evidence import ReleaseEvidence
from discreet.verbs.models.registry import title_of

_ROLES = {
    IDENTIFIER: "tells who somebody is",
    "quasi-identifier": "an attacker may know it",
    "sensitive": "what an attacker wants to learn",
    "insensitive": "as it is, outside every check",
}


def purpose(evidence: ReleaseEvidence, words: Words) -> str:
    """Section 1."""
    about = evidence.about
    return section(
        1,
        words("Purpose and recipients"),
        written(words("Purpose of the release"), about.purpose),
        written(words("Recipients"), about.recipient),
    )


def inventory(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 2: every column of the spec, and what became of it."""
    manifest, words = evidence.manifest, numbering.words
    rows = [
        (
            attribute.name,
            words(str(attribute.role)),
            words(_ROLES[attribute.role]) if attribute.role in _ROLES else "",
            _shown(attribute, manifest, words),
        )
        for attribute in manifest.attributes
    ]
    file = words("Published file") if manifest.table is None else words("Published table")
    people = [] if manifest.population is None else [manifest.population]
    heads = (words("column"), words("role"), words("meaning"), words("in the release"))
    return section(
        2,
        words("Data inventory and attribute roles"),
        facts(
            (
                (file, manifest.name),
                (words("Format"), manifest.file_format),
                (words("Rows in it"), words.whole(manifest.rows)),
                (words("Rows left out for NULL"), words.whole(manifest.dropped)),
                *((words("People in the population"), words.whole(n)) for n in people),
                (words("NULL policy"), words(str(manifest.nulls))),
                (words("k and l count"), words(manifest.counted)),
            )
        ),
        numbering.table(words("Columns and their roles"), heads, rows),
        paragraph(
            words(
                "The roles are the publisher's statement. A column that an attacker knows and that is not "
                "among the quasi-identifiers is outside everything that follows."
            ),
            "note",
        ),
    )


def _shown(attribute: ManifestAttribute, manifest: Manifest, words: Words) -> str:
    """What of a column is in the release."""
    if not attribute.published:
        shown = words("not published")
    elif attribute.role == IDENTIFIER:
        shown = shown_instead(attribute, words)
    elif attribute.name == manifest.kind.permuted_attribute:
        shown = words("permuted within groups")
    elif attribute.level:
        shown = words("level {level}", level=_level(attribute, words))
    elif attribute.role == "quasi-identifier" and attribute.level is None:
        shown = words("generalized") if manifest.has_levels else words("generalized by class")
    else:
        shown = words("as it is")
    if attribute.hierarchy_from_data:
        shown += words(", hierarchy from the data")
    return shown + (shifted(attribute, words) if attribute.published else "")


def _level(attribute: ManifestAttribute, words: Words) -> str:
    """The level, as far as it is told."""
    if attribute.level is None:
        return words("above 0")
    if attribute.height is None:
        return f"{attribute.level}"
    return words("{level} of {height}", level=attribute.level, height=attribute.height)


def threat_model(evidence: ReleaseEvidence, words: Words) -> str:
    """Section 3."""
    about = evidence.about
    names = [a.name for a in evidence.manifest.attributes if a.published and a.role == "quasi-identifier"]
    return section(
        3,
        words("Threat model"),
        paragraph(
            words(
                "Every number below assumes an attacker who knows of a person all of {columns}, and looks "
                "for that person's row or sensitive values. A prosecutor knows that the person is in the "
                "release; a marketer tries everybody.",
                columns=", ".join(names) or words("nothing"),
            )
        ),
        written(words("Who might try, what they know, what keeps them from it"), about.threat_model, 4),
        written(words("Population that the table was drawn from"), about.population, 2),
        written(words("Controls of the recipient"), about.controls, 2),
    )


def _called(model: str) -> str:
    """A model as the workbench calls it, and by the name of commands and manifests where that differs."""
    title = title_of(model)
    return title if title.lower() == model else f"{title} ({model})"


def model(evidence: ReleaseEvidence, words: Words) -> str:
    """Section 4: the recoding model and what was required."""
    manifest = evidence.manifest
    pairs = [(words("Recoding model"), _called(manifest.model))]
    if manifest.summary:
        pairs.append((words("A class shows"), manifest.summary))
    of_groups = [(words.told(name), words.cell(asked)) for name, asked in manifest.kind.asked()]
    pairs += of_groups or (
        (
            words("k required"),
            words("none")
            if manifest.k is None
            else words("{k} {people} a class", k=manifest.k, people=words(manifest.counted)),
        ),
        (words("l required"), _l_text(evidence, words)),
        *required(evidence.audit.report, words),
        (
            words("Suppressed rows are"),
            words("starred") if manifest.suppression == "star" else words("left out"),
        ),
    )
    explained = paragraph(words.told(manifest.kind.explained))
    return section(4, words("Model and parameters"), facts(pairs), explained)


def transformation(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 5: what was done to each column, reproducible by level and digest, without any value."""
    manifest, words = evidence.manifest, numbering.words
    rows = [
        (
            a.name,
            "–" if a.level is None and not manifest.has_levels else _level(a, words),
            a.hierarchy_sha256[:16] + "…" if a.hierarchy_sha256 else words("made from the data"),
        )
        for a in manifest.attributes
        if a.published and a.role == "quasi-identifier"
    ]
    parts = [
        facts(
            (
                (words("Made on"), manifest.date),
                (words("Made by"), f"discreet {manifest.discreet}"),
                (words("Suppressed rows"), words.whole(manifest.suppressed)),
                (words("SHA-256 of the file"), manifest.sha256),
            )
        ),
        numbering.table(
            words("Quasi-identifiers"),
            (words("column"), words("level"), words("hierarchy (SHA-256)")),
            rows,
            note=words(
                "The digest identifies the hierarchy without telling a value of it. The manifest beside the "
                "file has it in full."
            ),
        ),
        treated(manifest.attributes, numbering),
        _patterns(manifest, numbering),
        _further_files(manifest, numbering),
    ]
    return section(5, words("Transformation log"), *parts)


def _patterns(manifest: Manifest, numbering: Numbering) -> str:
    """The patterns that guided the recoding; nothing where none did."""
    words = numbering.words
    if not manifest.patterns:
        return ""
    return numbering.table(
        words("Patterns in use"),
        (words("pattern"), words("classes"), words("rows")),
        [(str(p["pattern"]), words.whole(p["classes"]), words.whole(p["rows"])) for p in manifest.patterns],
        numbers=(1, 2),
    )


def _further_files(manifest: Manifest, numbering: Numbering) -> str:
    """The files beside the data; nothing where there is none."""
    words, found = numbering.words, manifest.kind.further_files
    if not found:
        return ""
    return numbering.table(
        words("Further files of the release"),
        (words("what"), words("file"), words("rows")),
        [(words(name), f.file or str(f.table), words.whole(f.rows)) for name, f in found.items()],
        numbers=(2,),
    )


def _l_text(evidence: ReleaseEvidence, words: Words) -> str:
    l = evidence.manifest.l
    if l is None:
        return words("none")
    if isinstance(l, int):
        return words("{l} for each sensitive attribute", l=l)
    return ", ".join(f"{name} {number}" for name, number in l.items())
