"""Sections 6 and 8 to 10 of a report: guarantees counted anew, utility, limits, and room to sign."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.audit_report import AuditReport
from discreet.model.coded_warning import not_told
from discreet.report.criteria import counted, verdict
from discreet.report.figures import Bars, bar_chart, column_chart, one_series
from discreet.report.markup import Numbering, facts, heading, items, paragraph, section, signatures
from discreet.report.numbers import rows_by_band, size_bands
from discreet.report.rule import rule_section
from discreet.report.words import Words
from discreet.spec.preset import Preset
from discreet.verbs.evidence import ReleaseEvidence

_OF_HEIGHTS = ("height", "precision")
"""Metrics that tell how many levels a hierarchy has: a report is handed over as the manifest is."""

LIMITS = (
    "This is evidence, not a verdict. Whether it is enough depends on who gets the file and what they know.",
    "Membership is not protected: who knows the quasi-identifiers may find out that a person is in the "
    "table.",
    "Two releases of overlapping tables can be intersected, each fine by itself. Keep a register of "
    "releases.",
    "A release that is as fine as its requirement allows tells that finer ones failed, and so something of "
    "the rows (minimality, downcoding).",
    "Distinct l counts values, not how alike in meaning or how unevenly spread they are.",
    "A class of k rows is k people only where each person has one row.",
)
BOXES = (
    "Roles of the columns checked by somebody who knows the table",
    "Earlier releases of the same people considered",
    "Recipient, purpose and controls agreed in writing",
    "Manifest and file handed over together; checksum compared",
)
SIGNATURES = ("Prepared by, date", "Reviewed by, date", "Released by, date", "Valid until")


def guarantees(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 6: what the audit counted in the written file today."""
    audit, manifest, words = evidence.audit, evidence.manifest, numbering.words
    report = audit.report
    unit, units = manifest.kind.unit, manifest.kind.units
    found = [(words("smallest {unit}", unit=words(unit)), report.k, manifest.k)]
    for name, l in report.l.items():
        what = words("fewest distinct values of {column} in a {unit}", column=name, unit=words(unit))
        found.append((what, l, _l_asked(evidence, name)))
    rows: list[tuple[str, ...]] = [
        (what, words.whole(number), "–" if asked is None else words.whole(asked))
        for what, number, asked in found
    ]
    rows += [
        (words.told(what), words.number(number), words.number(asked))
        for what, number, asked in manifest.kind.guaranteed(report.permutation)
    ]
    read = words(
        "The file was read again for this report and its rows counted by SQL that shares nothing with the "
        "program that made them: {rows} in {classes}",
        rows=words.count(report.rows, "row"),
        classes=words.count(report.classes, unit, units),
    )
    starred = words.count(report.starred, "starred row", "starred rows")
    apart = words(", {starred} apart.", starred=starred) if report.starred else "."
    title = words("Rows by the size of their {unit}", unit=words(unit))
    chart = column_chart(
        title,
        _sizes(report, words),
        x_title=words("rows of the {unit}", unit=words(unit)),
        y_title=words("share of rows"),
    )
    return section(
        6,
        words("Achieved guarantees"),
        paragraph(read + apart),
        _counted(report, rows, [(number, asked) for _, number, asked in found], numbering),
        numbering.figure(one_series(chart), words("{title}, in the written file.", title=title)),
    )


def _sizes(report: AuditReport, words: Words) -> Bars:
    """Rows by bands of class sizes, without the empty bands at both ends."""
    sizes = rows_by_band(report.class_sizes)
    kept = [i for i, number in enumerate(sizes) if number]
    first, last = (kept[0], kept[-1] + 1) if kept else (0, 1)
    return Bars(
        tuple(words.band(band) for band in size_bands()[first:last]),
        (words("rows"),),
        (tuple(float(n) for n in sizes[first:last]),),
        (tuple(words.percent(n, sum(sizes)) for n in sizes[first:last]),),
    )


def _counted(
    report: AuditReport,
    rows: Sequence[tuple[str, ...]],
    found: Sequence[tuple[int, int | None]],
    numbering: Numbering,
) -> str:
    """The table of k and l, and of further criteria where there are any: then with a verdict on each."""
    words = numbering.words
    heads: tuple[str, ...] = ("", words("counted"), words("required"))
    if report.criteria:
        heads = (*heads, words("verdict"))
        verdicts = [
            "–" if asked is None or not report.classes else verdict(words, passed=number >= asked)
            for number, asked in found
        ]
        rows = [(*row, each) for row, each in zip(rows, verdicts, strict=True)] + counted(report, words)
    return numbering.table(words("What was counted"), heads, rows, numbers=(1, 2))


def utility(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 8: what the release keeps of its original, or what its sizes alone tell."""
    found, words = evidence.comparison, numbering.words
    metrics = evidence.audit.metrics if found is None else found.metrics
    if not evidence.manifest.tells_heights:
        metrics = tuple(m for m in metrics if m.metric.name not in _OF_HEIGHTS)
    rows = [
        (
            words.told(m.metric.title),
            words.decimal(m.value),
            words.told(m.metric.unit),
            "" if m.metric.better == "neither" else words.told(str(m.metric.better)),
        )
        for m in metrics
    ]
    heads = (words("metric"), words("value"), words("unit"), words("better"))
    parts = [] if evidence.unmeasured is None else [paragraph(words.told(evidence.unmeasured), "note")]
    if found is not None and found.losses:
        chart = Bars(
            tuple(name for name, _ in found.losses),
            (words("loss"),),
            (tuple(loss for _, loss in found.losses),),
            (tuple(words.number(f"{loss:.3f}") for _, loss in found.losses),),
        )
        parts.append(
            numbering.figure(
                one_series(bar_chart(words("Loss by quasi-identifier"), chart, most=1.0)),
                words("Loss of each quasi-identifier: 0 shows every value as it is, 1 shows none."),
            )
        )
    if rows:
        parts.append(numbering.table(words("Metrics"), heads, rows, numbers=(1,)))
    return section(8, words("Utility"), *parts)


def limits(evidence: ReleaseEvidence, words: Words) -> str:
    """Section 9: warnings of the publication, of the audit and of the attacks; limits in plain words."""
    texts: list[str] = [*evidence.manifest.warnings]
    texts += [*not_told(evidence.audit.report.warnings, evidence.manifest.warnings)]
    texts += evidence.attack.warnings
    if evidence.comparison is not None:
        texts += evidence.comparison.warnings
    found = [words.told(text) for text in dict.fromkeys(texts)]
    return section(
        9,
        words("Warnings and limits"),
        heading(words("Warnings")),
        items(found) if found else paragraph(words("No warning was given.")),
        heading(words("What no number here says")),
        items(words(text) for text in LIMITS),
    )


def sign_off(evidence: ReleaseEvidence, rule: Preset | None, words: Words) -> str:
    """Section 10: who answers for the release, and for what a rule asks of people."""
    about = evidence.about
    known = [(words("Prepared by"), about.prepared_by), (words("Valid until"), about.valid_until)]
    given = [(name, text) for name, text in known if text]
    return section(
        10,
        words("Governance and sign-off"),
        items((words(text) for text in BOXES), "boxes"),
        "" if rule is None else rule_section(evidence.audit.report, rule, words),
        facts(given) if given else "",
        signatures(words(line) for line in SIGNATURES),
    )


def _l_asked(evidence: ReleaseEvidence, name: str) -> int | None:
    manifest = evidence.manifest
    if manifest.kind.least_values is not None:
        return manifest.kind.least_values
    return manifest.l if manifest.l is None or isinstance(manifest.l, int) else manifest.l.get(name)
