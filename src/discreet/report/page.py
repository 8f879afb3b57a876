"""The whole report: one HTML file that holds its style and pictures, loads nothing, and runs no script."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from discreet.report import done, found
from discreet.report.appendix import checked_without
from discreet.report.markup import Numbering, paragraph
from discreet.report.numbers import count, percent
from discreet.spec.preset import Preset
from discreet.verbs.evidence import ReleaseEvidence


def report_page(evidence: ReleaseEvidence, rule: Preset | None = None) -> str:
    """The report's HTML text; it names columns and counts, and no cell of the release."""
    numbering = Numbering()
    title = evidence.about.title or f"Evidence of the release {evidence.manifest.name}"
    style = files("discreet.report").joinpath("report.css").read_text(encoding="utf-8")
    sections = (
        done.purpose(evidence),
        done.inventory(evidence, numbering),
        done.threat_model(evidence),
        done.model(evidence),
        done.transformation(evidence, numbering),
        found.guarantees(evidence, numbering),
        found.risk(evidence, numbering),
        found.utility(evidence, numbering),
        found.limits(evidence),
        found.sign_off(evidence, rule),
        checked_without(evidence),
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{_head(evidence, title)}<main>{_verdict(evidence)}{_headline(evidence)}{''.join(sections)}</main>\n"
        f"{_foot(evidence)}</body>\n</html>\n"
    )


def _head(evidence: ReleaseEvidence, title: str) -> str:
    made = f"{evidence.manifest.name}, published {evidence.manifest.date}; counted anew {evidence.date}"
    return (
        f'<header class="title"><p class="kind">Report of a release</p><h1>{escape(title)}</h1>'
        f'<p class="made">{escape(made)}</p></header>'
    )


def _verdict(evidence: ReleaseEvidence) -> str:
    audit = evidence.audit
    kind = "" if audit.passed else " bad"
    word = "Audit passed." if audit.passed else "Audit failed."
    smallest = f"the smallest has {count(audit.k, 'row')}"
    counted = f"{count(audit.rows, 'row')} in {count(audit.classes, *_unit(evidence))}; {smallest}."
    return (
        f'<div class="verdict{kind}"><p><b>{word}</b> {escape(counted)}</p>'
        + paragraph(
            "Counted in the written file, for the roles named in section 2. It is evidence for those who "
            "decide, "
            "not a promise that nobody can be recognized."
        )
        + "</div>"
    )


def _headline(evidence: ReleaseEvidence) -> str:
    attack, audit = evidence.attack, evidence.audit
    suppressed = evidence.manifest.suppressed
    total = audit.rows + suppressed
    pairs = [
        ("Rows published", f"{audit.rows:,}", f"in {count(audit.classes, *_unit(evidence))}"),
        ("Rows suppressed", f"{suppressed:,}", percent(suppressed, total) + " of all"),
        ("Highest prosecutor risk", percent(attack.after.prosecutor.highest), "of any row"),
        ("Mean prosecutor risk", percent(attack.after.prosecutor.mean), "over all rows"),
    ]
    losses = (
        []
        if evidence.comparison is None
        else [m for m in evidence.comparison.metrics if m.metric.name == "loss"]
    )
    if losses and losses[0].value is not None:
        pairs.append(("Loss", f"{losses[0].value:.3f}", "0 none, 1 all"))
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in pairs
    )
    return f'<dl class="headline">{body}</dl>'


def _unit(evidence: ReleaseEvidence) -> tuple[str, str]:
    """What rows are counted by, one and several."""
    return (evidence.manifest.kind.unit, evidence.manifest.kind.units)


def _foot(evidence: ReleaseEvidence) -> str:
    text = (
        f"Made by discreet {evidence.discreet} on {evidence.date}. This file holds its style and pictures "
        "and loads "
        "nothing."
    )
    return f"<footer>{escape(text)}</footer>\n"
