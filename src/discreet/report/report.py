"""``discreet.report``: write the evidence of a release as one offline HTML file.

The page contains its style and pictures, loads nothing and runs no script. It names columns and counts, and
no cell of the release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.model.identifiers.methods import known_methods
from discreet.printing.document import Document, Line, Tone, format_quantity
from discreet.printing.rendering import Printable
from discreet.release.manifest import Manifest, ManifestAttribute
from discreet.report import result_sections, risk_section
from discreet.report.html import Numbering, definition_list, numbered_section, paragraph, text_or_blank_lines
from discreet.report.result_sections import required_criteria, verification_appendix
from discreet.report.translation import ENGLISH, ReportLanguage, Translator, language_of
from discreet.settings import Settings
from discreet.spec.preset import Preset, preset
from discreet.verbs.locations import ReleaseLocation, address_of, check_output_file, write_text
from discreet.verbs.models.model_registry import model_title
from discreet.verbs.output_checks import collect_release_files, list_option_files, list_spec_files
from discreet.verbs.report_evidence import ReleaseEvidence, gather_evidence, merge_report_metadata
from discreet.verbs.run_context import SILENT, Reporter

if TYPE_CHECKING:
    from discreet.verbs.table import Table


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


def report_page(evidence: ReleaseEvidence, language: ReportLanguage, rule: Preset | None = None) -> str:
    """Return the report's HTML text in a language; it names columns and counts, never a released cell."""
    translator = Translator(language)
    numbering = Numbering(translator)
    name = evidence.manifest.name
    title = evidence.about.title or translator("Evidence of the release {name}", name=name)
    style = files("discreet.report").joinpath("report.css").read_text(encoding="utf-8")
    sections = (
        purpose_section(evidence, translator),
        inventory_section(evidence, numbering),
        threat_model_section(evidence, translator),
        model_section(evidence, translator),
        transformation_section(evidence, numbering),
        result_sections.guarantees_section(evidence, numbering),
        risk_section.risk_section(evidence, numbering),
        result_sections.utility_section(evidence, numbering),
        result_sections.limits_section(evidence, translator),
        result_sections.sign_off_section(evidence, rule, translator),
        verification_appendix(evidence, translator),
    )
    return (
        f'<!doctype html>\n<html lang="{language.code}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{_page_header(evidence, title, translator)}<main>"
        f"{_audit_verdict(evidence, translator)}{_headline(evidence, translator)}"
        f"{''.join(sections)}</main>\n"
        f"{_page_footer(evidence, translator)}</body>\n</html>\n"
    )


def _page_header(evidence: ReleaseEvidence, title: str, translator: Translator) -> str:
    manifest = evidence.manifest
    made = translator(
        "{name}, published {day}; counted again {today}",
        name=manifest.name,
        day=manifest.date,
        today=evidence.date,
    )
    return (
        f'<header class="title"><p class="kind">{escape(translator("Report of a release"))}</p>'
        f'<h1>{escape(title)}</h1><p class="made">{escape(made)}</p></header>'
    )


def _audit_verdict(evidence: ReleaseEvidence, translator: Translator) -> str:
    audit = evidence.audit
    kind = "" if audit.passed else " bad"
    word = translator("Audit passed.") if audit.passed else translator("Audit failed.")
    counted = translator(
        "{rows} in {classes}; the smallest has {least}.",
        rows=translator.count(audit.rows, "row"),
        classes=translator.count(audit.classes, *_class_unit(evidence)),
        least=translator.count(audit.k, "row"),
    )
    return (
        f'<div class="verdict{kind}"><p><b>{escape(word)}</b> {escape(counted)}</p>'
        + paragraph(
            translator(
                "Counted in the written file, for the roles named in section 2. It is evidence for a "
                "decision, not "
                "a guarantee that no person can be recognized."
            )
        )
        + "</div>"
    )


def _headline(evidence: ReleaseEvidence, translator: Translator) -> str:
    attack, audit = evidence.attack, evidence.audit
    suppressed = evidence.manifest.suppressed
    total = audit.rows + suppressed
    risk_of = attack.after.prosecutor
    pairs = [
        (
            translator("Rows published"),
            translator.integer(audit.rows),
            translator("in {classes}", classes=translator.count(audit.classes, *_class_unit(evidence))),
        ),
        (
            translator("Rows suppressed"),
            translator.integer(suppressed),
            translator("{share} of all", share=translator.percent(suppressed, total)),
        ),
        (
            translator("Highest prosecutor risk"),
            translator.percent(risk_of.highest),
            translator("of any row"),
        ),
        (translator("Mean prosecutor risk"), translator.percent(risk_of.mean), translator("over all rows")),
    ]
    losses = (
        []
        if evidence.comparison is None
        else [m for m in evidence.comparison.metrics if m.metric.name == "loss"]
    )
    if losses and losses[0].value is not None:
        pairs.append(
            (translator("Loss"), translator.number(f"{losses[0].value:.3f}"), translator("0 none, 1 all"))
        )
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in pairs
    )
    return f'<dl class="headline">{body}</dl>'


def _class_unit(evidence: ReleaseEvidence) -> tuple[str, str]:
    """Return the unit of groups of rows, in singular and plural."""
    return (evidence.manifest.kind.unit, evidence.manifest.kind.units)


def _page_footer(evidence: ReleaseEvidence, translator: Translator) -> str:
    """Return the footer, with a notice if a sentence has no translation.

    It must be built last: ``untranslated`` is complete only after all other parts are translated.
    """
    texts = [
        translator(
            "Made by discreet {version} on {day}. This file holds its style and pictures and loads nothing.",
            version=evidence.discreet,
            day=evidence.date,
        )
    ]
    if translator.untranslated:
        texts.append(translator("Sentences without a translation are in English."))
    return f"<footer>{''.join(map(paragraph, texts))}</footer>\n"


REPORT_FILE_SUFFIX = ".report.html"


@dataclass(frozen=True, repr=False)
class ReportResult(Printable):
    """A written report and its evidence."""

    path: Path
    evidence: ReleaseEvidence

    @property
    def passed(self) -> bool:
        """True if the audit made for the report passed."""
        return self.evidence.audit.passed

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet report --json``."""
        found = self.evidence
        return {
            "path": str(self.path),
            "release": str(found.path),
            "date": found.date,
            "audit": found.audit.as_json(),
            "attack": found.attack.as_json(),
            "comparison": None if found.comparison is None else found.comparison.as_json(),
            "statements": None if found.statements is None else found.statements.as_json(),
        }

    def document(self) -> Document:
        """Return the report's path and the result of the audit as text."""
        audit = self.evidence.audit
        verdict = "passed" if audit.passed else "failed"
        kind = self.evidence.manifest.kind
        units = format_quantity(audit.classes, kind.unit, kind.units)
        return (
            Line(f"Wrote {self.path}.", Tone.GOOD),
            Line(
                f"Audit {verdict}: {format_quantity(audit.rows, 'row')} in {units}.",
                Tone.GOOD if audit.passed else Tone.BAD,
            ),
            *audit.criteria_lines(),
        )


def report(
    release: ReleaseLocation,
    *,
    output: str | Path | None = None,
    table: Table | None = None,
    about: str | Path | None = None,
    threshold: str | float = "0.05",
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
    title: str | None = None,
    purpose: str | None = None,
    recipient: str | None = None,
    threat_model: str | None = None,
    population: str | None = None,
    controls: str | None = None,
    prepared_by: str | None = None,
    valid_until: str | None = None,
    checks: str | None = None,
    language: str | None = None,
    options: Mapping[str, object] | None = None,
) -> ReportResult:
    """Write the report of a release: manifest, new audit, attacks, utility, limits, signatures.

    ``release`` is a path or a ``ReleaseAddress``; ``output`` is ``PATH.report.html`` by default; ``table`` is
    the original (``discreet.open``), against which utility is measured. ``about`` is a TOML file of the
    publisher's texts, which override those of the table's spec; the texts given here (``purpose``,
    ``recipient``, ``threat_model``, …) override both, and missing texts are left blank to be filled in by
    hand. ``checks`` is the name of a preset (``discreet list presets``), whose points are listed before the
    signatures. ``language`` is the code of one of ``languages()``, English by default. ``options`` are
    options of attacks, by name. A release whose audit fails gets a report too, which says so. Raises
    ``InputError`` for a release without a manifest, or if the output must not be written.
    """
    texts = {
        "title": title,
        "purpose": purpose,
        "recipient": recipient,
        "threat_model": threat_model,
        "population": population,
        "controls": controls,
        "prepared_by": prepared_by,
        "valid_until": valid_until,
        "language": language,
    }
    words = merge_report_metadata(table, about, texts)
    spoken = language_of(words.language or ENGLISH)
    rule = None if checks is None else preset(checks)
    address = address_of(release)
    display_path = address.display_path
    target = (
        display_path.with_name(display_path.name + REPORT_FILE_SUFFIX) if output is None else Path(output)
    )
    known = settings or Settings.from_environment()
    protected = (
        *collect_release_files([address], "the release"),
        *list_spec_files(None if table is None else table.spec, known),
        *list_option_files({"about": about, **(options or {})}),
    )
    check_output_file(target, overwrite=overwrite, name="a report", protected=protected)
    evidence = gather_evidence(
        address,
        table=table,
        about=words,
        threshold=threshold,
        options=options,
        settings=settings,
        reporter=reporter,
    )
    with reporter.stage("Writing the report"):
        write_text(target, report_page(evidence, spoken, rule), overwrite=overwrite, owner_only=True)
    return ReportResult(target, evidence)
