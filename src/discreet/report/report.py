"""``discreet.report``: write the evidence of a release as one offline HTML file.

The page contains its style and pictures, loads nothing and runs no script. It names columns and counts, and
no cell of the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.printing.document import Document, Line, Tone, format_quantity
from discreet.printing.rendering import Printable
from discreet.report import description_sections, result_sections, risk_section
from discreet.report.html import Numbering, paragraph
from discreet.report.result_sections import verification_appendix
from discreet.report.translation import ENGLISH, ReportLanguage, Translator, language_of
from discreet.settings import Settings
from discreet.spec.preset import Preset, preset
from discreet.verbs.locations import ReleaseLocation, address_of, check_output_file, write_text
from discreet.verbs.output_checks import collect_release_files, list_option_files, list_spec_files
from discreet.verbs.report_evidence import ReleaseEvidence, gather_evidence, merge_report_metadata
from discreet.verbs.run_context import SILENT, Reporter

if TYPE_CHECKING:
    from discreet.verbs.table import Table


def report_page(evidence: ReleaseEvidence, language: ReportLanguage, rule: Preset | None = None) -> str:
    """Return the report's HTML text in a language; it names columns and counts, never a released cell."""
    translator = Translator(language)
    numbering = Numbering(translator)
    name = evidence.manifest.name
    title = evidence.about.title or translator("Evidence of the release {name}", name=name)
    style = files("discreet.report").joinpath("report.css").read_text(encoding="utf-8")
    sections = (
        description_sections.purpose_section(evidence, translator),
        description_sections.inventory_section(evidence, numbering),
        description_sections.threat_model_section(evidence, translator),
        description_sections.model_section(evidence, translator),
        description_sections.transformation_section(evidence, numbering),
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
