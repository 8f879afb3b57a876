"""The whole report: one HTML file that holds its style and pictures, loads nothing, and runs no script."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from discreet.report import done, found, risk
from discreet.report.appendix import checked_without
from discreet.report.markup import Numbering, paragraph
from discreet.report.words import Language, Words
from discreet.spec.preset import Preset
from discreet.verbs.evidence import ReleaseEvidence


def report_page(evidence: ReleaseEvidence, language: Language, rule: Preset | None = None) -> str:
    """The report's HTML text in a language; it names columns and counts, and no cell of the release."""
    words = Words(language)
    numbering = Numbering(words)
    name = evidence.manifest.name
    title = evidence.about.title or words("Evidence of the release {name}", name=name)
    style = files("discreet.report").joinpath("report.css").read_text(encoding="utf-8")
    sections = (
        done.purpose(evidence, words),
        done.inventory(evidence, numbering),
        done.threat_model(evidence, words),
        done.model(evidence, words),
        done.transformation(evidence, numbering),
        found.guarantees(evidence, numbering),
        risk.risk(evidence, numbering),
        found.utility(evidence, numbering),
        found.limits(evidence, words),
        found.sign_off(evidence, rule, words),
        checked_without(evidence, words),
    )
    return (
        f'<!doctype html>\n<html lang="{language.code}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{_head(evidence, title, words)}<main>{_verdict(evidence, words)}{_headline(evidence, words)}"
        f"{''.join(sections)}</main>\n"
        f"{_foot(evidence, words)}</body>\n</html>\n"
    )


def _head(evidence: ReleaseEvidence, title: str, words: Words) -> str:
    manifest = evidence.manifest
    made = words(
        "{name}, published {day}; counted anew {today}",
        name=manifest.name,
        day=manifest.date,
        today=evidence.date,
    )
    return (
        f'<header class="title"><p class="kind">{escape(words("Report of a release"))}</p>'
        f'<h1>{escape(title)}</h1><p class="made">{escape(made)}</p></header>'
    )


def _verdict(evidence: ReleaseEvidence, words: Words) -> str:
    audit = evidence.audit
    kind = "" if audit.passed else " bad"
    word = words("Audit passed.") if audit.passed else words("Audit failed.")
    counted = words(
        "{rows} in {classes}; the smallest has {least}.",
        rows=words.count(audit.rows, "row"),
        classes=words.count(audit.classes, *_unit(evidence)),
        least=words.count(audit.k, "row"),
    )
    return (
        f'<div class="verdict{kind}"><p><b>{escape(word)}</b> {escape(counted)}</p>'
        + paragraph(
            words(
                "Counted in the written file, for the roles named in section 2. It is evidence for those who "
                "decide, not a promise that nobody can be recognized."
            )
        )
        + "</div>"
    )


def _headline(evidence: ReleaseEvidence, words: Words) -> str:
    attack, audit = evidence.attack, evidence.audit
    suppressed = evidence.manifest.suppressed
    total = audit.rows + suppressed
    risk_of = attack.after.prosecutor
    pairs = [
        (
            words("Rows published"),
            words.whole(audit.rows),
            words("in {classes}", classes=words.count(audit.classes, *_unit(evidence))),
        ),
        (
            words("Rows suppressed"),
            words.whole(suppressed),
            words("{share} of all", share=words.percent(suppressed, total)),
        ),
        (words("Highest prosecutor risk"), words.percent(risk_of.highest), words("of any row")),
        (words("Mean prosecutor risk"), words.percent(risk_of.mean), words("over all rows")),
    ]
    losses = (
        []
        if evidence.comparison is None
        else [m for m in evidence.comparison.metrics if m.metric.name == "loss"]
    )
    if losses and losses[0].value is not None:
        pairs.append((words("Loss"), words.number(f"{losses[0].value:.3f}"), words("0 none, 1 all")))
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in pairs
    )
    return f'<dl class="headline">{body}</dl>'


def _unit(evidence: ReleaseEvidence) -> tuple[str, str]:
    """What rows are counted by, one and several."""
    return (evidence.manifest.kind.unit, evidence.manifest.kind.units)


def _foot(evidence: ReleaseEvidence, words: Words) -> str:
    """Who made it; and, as all others have been looked up by now, that some sentences have no translation."""
    texts = [
        words(
            "Made by discreet {version} on {day}. This file holds its style and pictures and loads nothing.",
            version=evidence.discreet,
            day=evidence.date,
        )
    ]
    if words.missed:
        texts.append(words("Sentences that have no translation stand here in English."))
    return f"<footer>{''.join(map(paragraph, texts))}</footer>\n"
