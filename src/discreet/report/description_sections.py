"""Sections 1 to 5 of a report: purpose, data inventory, threat model, recoding model, transformation log.

Pseudonymized identifiers and shifted dates are described by the title of their method, never by a secret.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.model.identifiers.methods import known_methods
from discreet.release.manifest import Manifest, ManifestAttribute
from discreet.report.html import Numbering, definition_list, numbered_section, paragraph, text_or_blank_lines
from discreet.report.result_sections import required_criteria
from discreet.report.translation import Translator
from discreet.verbs.models.model_registry import model_title
from discreet.verbs.report_evidence import ReleaseEvidence

IDENTIFIER = "identifier"


def describe_replacement(attribute: ManifestAttribute, translator: Translator) -> str:
    """Describe the pseudonym of a published identifier; the subject's column also counts people."""
    unknown = translator("a form that this version does not know")
    method = (
        unknown if attribute.pseudonymization is None else _pseudonymization_method(attribute, translator)[0]
    )
    return translator("{form}; people are counted by it", form=method) if attribute.subject else method


def describe_date_shift(attribute: ManifestAttribute, translator: Translator) -> str:
    """Describe the largest shift of dates; empty if they are not shifted."""
    shift = attribute.date_shift
    return "" if shift is None else translator(", dates moved by up to {days} days", days=shift["days"])


def identifier_table(attributes: Iterable[ManifestAttribute], numbering: Numbering) -> str:
    """Return the table of identifiers and of shifted dates in the log; empty if there are none."""
    translator = numbering.translator
    rows = [row for attribute in attributes for row in _identifier_rows(attribute, translator)]
    if not rows:
        return ""
    return numbering.table(
        translator("Identifiers and dates"),
        (
            translator("column"),
            translator("method"),
            translator("options"),
            translator("rows of one person"),
        ),
        rows,
        note=translator(
            "The keys, the lists and the numbers of days are the publisher's secret; neither the "
            "manifest nor this report contains their location."
        ),
    )


def _identifier_rows(
    attribute: ManifestAttribute, translator: Translator
) -> Iterable[tuple[str, str, str, str]]:
    name = attribute.name
    if attribute.role == IDENTIFIER and not attribute.published:
        yield (name, translator("left out"), "–", "–")
    elif attribute.pseudonymization is not None:
        title, joins = _pseudonymization_method(attribute, translator)
        options = [
            f"{name} = {value}" for name, value in attribute.pseudonymization.items() if name != "method"
        ]
        yield (name, translator("replaced by {form}", form=title), ", ".join(options) or "–", joins)
    if attribute.date_shift is not None and attribute.published:
        yield (
            name,
            translator("each person's dates moved by one secret number of days, earlier or later"),
            translator("1 to {days} days", days=attribute.date_shift["days"]),
            translator("days between them are kept"),
        )


def _pseudonymization_method(attribute: ManifestAttribute, translator: Translator) -> tuple[str, str]:
    """Return the title of a pseudonymization method, and whether rows can be linked by it.

    For a method that is not installed the title is its name.
    """
    assert attribute.pseudonymization is not None
    name = str(attribute.pseudonymization["method"])
    way = known_methods().get(name)
    if way is None:
        return translator("'{name}', a method of another package", name=name), "–"
    linked = way.is_deterministic and way.is_injective
    return (
        translator.external(way.title),
        translator("can be linked by it") if linked else translator("cannot be linked by it"),
    )


_ROLE_MEANINGS = {
    IDENTIFIER: "identifies a person",
    "quasi-identifier": "an attacker may know it",
    "sensitive": "the value to protect",
    "insensitive": "unchanged, not checked",
}


def purpose_section(evidence: ReleaseEvidence, translator: Translator) -> str:
    """Section 1: purpose and recipients."""
    about = evidence.about
    return numbered_section(
        1,
        translator("Purpose and recipients"),
        text_or_blank_lines(translator("Purpose of the release"), about.purpose),
        text_or_blank_lines(translator("Recipients"), about.recipient),
    )


def inventory_section(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 2: every column of the spec, and its form in the release."""
    manifest, translator = evidence.manifest, numbering.translator
    rows = [
        (
            attribute.name,
            translator(str(attribute.role)),
            translator(_ROLE_MEANINGS[attribute.role]) if attribute.role in _ROLE_MEANINGS else "",
            _released_form(attribute, manifest, translator),
        )
        for attribute in manifest.attributes
    ]
    file = translator("Published file") if manifest.table is None else translator("Published table")
    people = [] if manifest.population is None else [manifest.population]
    heads = (translator("column"), translator("role"), translator("meaning"), translator("in the release"))
    return numbered_section(
        2,
        translator("Data inventory and attribute roles"),
        definition_list(
            (
                (file, manifest.name),
                (translator("Format"), manifest.file_format),
                (translator("Rows in it"), translator.integer(manifest.rows)),
                (translator("Rows left out for NULL"), translator.integer(manifest.dropped)),
                *((translator("People in the population"), translator.integer(n)) for n in people),
                (translator("NULL policy"), translator(str(manifest.null_policy))),
                (translator("k and l count"), translator(manifest.counted)),
            )
        ),
        numbering.table(translator("Columns and their roles"), heads, rows),
        paragraph(
            translator(
                "The roles are the publisher's statement. The numbers below do not account for an "
                "attacker who knows a column that is not among the quasi-identifiers."
            ),
            "note",
        ),
    )


def _released_form(attribute: ManifestAttribute, manifest: Manifest, translator: Translator) -> str:
    """Describe the form of a column in the release."""
    if not attribute.published:
        form = translator("not published")
    elif attribute.role == IDENTIFIER:
        form = describe_replacement(attribute, translator)
    elif attribute.name == manifest.kind.permuted_attribute:
        form = translator("permuted within groups")
    elif attribute.level:
        form = translator("level {level}", level=_level_text(attribute, translator))
    elif attribute.role == "quasi-identifier" and attribute.level is None:
        form = translator("generalized") if manifest.has_levels else translator("generalized by class")
    else:
        form = translator("unchanged")
    if attribute.hierarchy_from_data:
        form += translator(", hierarchy from the data")
    return form + (describe_date_shift(attribute, translator) if attribute.published else "")


def _level_text(attribute: ManifestAttribute, translator: Translator) -> str:
    """Format the level and height as far as the manifest contains them."""
    if attribute.level is None:
        return translator("above 0")
    if attribute.height is None:
        return f"{attribute.level}"
    return translator("{level} of {height}", level=attribute.level, height=attribute.height)


def threat_model_section(evidence: ReleaseEvidence, translator: Translator) -> str:
    """Section 3: the attacker's assumed knowledge, population and controls."""
    about = evidence.about
    names = [a.name for a in evidence.manifest.attributes if a.published and a.role == "quasi-identifier"]
    return numbered_section(
        3,
        translator("Threat model"),
        paragraph(
            translator(
                "Every number below assumes an attacker who knows of a person all of {columns}, and looks "
                "for that person's row or sensitive values. A prosecutor knows that the person is in the "
                "release; a marketer attacks every person.",
                columns=", ".join(names) or translator("nothing"),
            )
        ),
        text_or_blank_lines(
            translator("Possible attackers, their knowledge, and controls against them"),
            about.threat_model,
            4,
        ),
        text_or_blank_lines(translator("Population that the table was drawn from"), about.population, 2),
        text_or_blank_lines(translator("Controls of the recipient"), about.controls, 2),
    )


def _model_name(model: str) -> str:
    """Return a model's title, followed by the name of commands and manifests if that differs."""
    title = model_title(model)
    return title if title.lower() == model else f"{title} ({model})"


def model_section(evidence: ReleaseEvidence, translator: Translator) -> str:
    """Section 4: the recoding model and the requirement."""
    manifest = evidence.manifest
    pairs = [(translator("Recoding model"), _model_name(manifest.model))]
    if manifest.summary:
        pairs.append((translator("A class shows"), manifest.summary))
    of_groups = [
        (translator.external(name), translator.cell(requirement_rows))
        for name, requirement_rows in manifest.kind.requirement_rows()
    ]
    pairs += of_groups or (
        (
            translator("k required"),
            translator("none")
            if manifest.k is None
            else translator("{k} {people} a class", k=manifest.k, people=translator(manifest.counted)),
        ),
        (translator("l required"), _l_text(evidence, translator)),
        *required_criteria(evidence.audit.report, translator),
        (
            translator("Suppressed rows are"),
            translator("starred") if manifest.suppression == "star" else translator("left out"),
        ),
    )
    explained = paragraph(translator.external(manifest.kind.explained))
    return numbered_section(4, translator("Model and parameters"), definition_list(pairs), explained)


def transformation_section(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 5: the transformation of each column, reproducible by level and digest, without any value."""
    manifest, translator = evidence.manifest, numbering.translator
    rows = [
        (
            a.name,
            "–" if a.level is None and not manifest.has_levels else _level_text(a, translator),
            a.hierarchy_sha256[:16] + "…" if a.hierarchy_sha256 else translator("made from the data"),
        )
        for a in manifest.attributes
        if a.published and a.role == "quasi-identifier"
    ]
    parts = [
        definition_list(
            (
                (translator("Made on"), manifest.date),
                (translator("Made by"), f"discreet {manifest.discreet}"),
                (translator("Suppressed rows"), translator.integer(manifest.suppressed)),
                (translator("SHA-256 of the file"), manifest.sha256),
            )
        ),
        numbering.table(
            translator("Quasi-identifiers"),
            (translator("column"), translator("level"), translator("hierarchy (SHA-256)")),
            rows,
            note=translator(
                "The digest identifies the hierarchy without disclosing its values. The manifest next to "
                "the file has it in full."
            ),
        ),
        identifier_table(manifest.attributes, numbering),
        _pattern_table(manifest, numbering),
        _further_file_table(manifest, numbering),
    ]
    return numbered_section(5, translator("Transformation log"), *parts)


def _pattern_table(manifest: Manifest, numbering: Numbering) -> str:
    """Return the table of patterns that guided the recoding; empty if there are none."""
    translator = numbering.translator
    if not manifest.patterns:
        return ""
    return numbering.table(
        translator("Patterns in use"),
        (translator("pattern"), translator("classes"), translator("rows")),
        [
            (str(p["pattern"]), translator.integer(p["classes"]), translator.integer(p["rows"]))
            for p in manifest.patterns
        ],
        numbers=(1, 2),
    )


def _further_file_table(manifest: Manifest, numbering: Numbering) -> str:
    """Return the table of the release's further files; empty if there are none."""
    translator, found = numbering.translator, manifest.kind.further_files
    if not found:
        return ""
    return numbering.table(
        translator("Further files of the release"),
        (translator("content"), translator("file"), translator("rows")),
        [(translator(name), f.file or str(f.table), translator.integer(f.rows)) for name, f in found.items()],
        numbers=(2,),
    )


def _l_text(evidence: ReleaseEvidence, translator: Translator) -> str:
    l = evidence.manifest.l
    if l is None:
        return translator("none")
    if isinstance(l, int):
        return translator("{l} for each sensitive attribute", l=l)
    return ", ".join(f"{name} {number}" for name, number in l.items())
