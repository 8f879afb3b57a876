"""Sections 6 to 10 of a report: guarantees counted anew, risk, utility, limits, and room to sign."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from discreet.model.audit_report import AuditReport
from discreet.report.attacks import attack_sections
from discreet.report.criteria import counted, verdict
from discreet.report.figures import Bars, bar_chart, column_chart
from discreet.report.markup import Numbering, facts, heading, items, paragraph, section
from discreet.report.numbers import (
    CHANCES,
    count,
    decimal,
    percent,
    rows_above,
    rows_by_band,
    size_bands,
    whole,
)
from discreet.report.rule import rule_section
from discreet.report.thresholds import CONTEXT, HIPAA, RULES, THREE_TESTS
from discreet.results.attack_result import AttackResult, TableRisk
from discreet.spec.preset import Preset
from discreet.verbs.attacking import PERMUTED_WARNINGS
from discreet.verbs.evidence import ReleaseEvidence

_OF_HEIGHTS = ("height", "precision")
"""Metrics that tell how many levels a hierarchy has: a report is handed over as the manifest is."""

LIMITS = (
    "This is evidence, not a verdict. Whether it is enough depends on who gets the file and what they know.",
    "Membership is not protected: who knows the quasi-identifiers may find out that a person is in the "
    "table.",
    "Two releases of overlapping tables can be intersected, each fine by itself. Keep a register of "
    "releases.",
    "A release that is as fine as its requirement allows tells that finer ones failed, and so something "
    "of the "
    "rows (minimality, downcoding).",
    "Distinct l counts values, not how alike in meaning or how unevenly spread they are.",
    "A class of k rows is k people only where each person has one row.",
)


def guarantees(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 6: what the audit counted in the written file today."""
    audit, manifest = evidence.audit, evidence.manifest
    report = audit.report
    unit, units = manifest.kind.unit, manifest.kind.units
    found = [(f"smallest {unit}", report.k, manifest.k)]
    for name, l in report.l.items():
        found.append((f"fewest distinct values of {name} in a {unit}", l, _l_asked(evidence, name)))
    rows = [(what, whole(number), "–" if asked is None else whole(asked)) for what, number, asked in found]
    rows += manifest.kind.guaranteed(report.permutation)
    bands = size_bands()
    sizes = rows_by_band(report.class_sizes)
    total = sum(sizes)
    kept = [i for i, number in enumerate(sizes) if number]
    first, last = (kept[0], kept[-1] + 1) if kept else (0, 1)
    chart = Bars(
        bands[first:last],
        ("rows",),
        (tuple(float(n) for n in sizes[first:last]),),
        (tuple(percent(n, total) for n in sizes[first:last]),),
    )
    total_rows = f"{count(report.rows, 'row')} in {count(report.classes, unit, units)}"
    return section(
        6,
        "Achieved guarantees",
        paragraph(
            "The file was read again for this report and its rows counted by SQL that shares nothing with "
            "the "
            f"program that made them: {total_rows}"
            + (f", {count(report.starred, 'starred row')} apart." if report.starred else ".")
        ),
        _counted(report, rows, [(number, asked) for _, number, asked in found], numbering),
        numbering.figure(
            _one(
                column_chart(
                    f"Rows by the size of their {unit}",
                    chart,
                    x_title=f"rows of the {unit}",
                    y_title="share of rows",
                )
            ),
            f"Rows by the size of their {unit}, in the written file.",
        ),
    )


def _counted(
    report: AuditReport,
    rows: Sequence[tuple[str, ...]],
    found: Sequence[tuple[int, int | None]],
    numbering: Numbering,
) -> str:
    """The table of k and l, and of further criteria where there are any: then with a verdict on each."""
    heads: tuple[str, ...] = ("", "counted", "required")
    if report.criteria:
        heads = (*heads, "verdict")
        verdicts = [
            "–" if asked is None or not report.classes else verdict(passed=number >= asked)
            for number, asked in found
        ]
        rows = [(*row, each) for row, each in zip(rows, verdicts, strict=True)] + counted(report)
    return numbering.table("What was counted", heads, rows, numbers=(1, 2))


def risk(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 7: what attacks found, the three tests, and thresholds that others name."""
    attack = evidence.attack
    parts = [
        *([_permutation_warning()] if attack.by_group else []),
        _risk_table(attack, numbering),
        _risk_figure(attack, numbering),
        *_disclosure(attack, numbering),
        *attack_sections(attack, numbering),
        heading("Three tests"),
        _three_tests(attack, numbering),
        heading("Thresholds that others name"),
        _rules(attack, numbering),
        paragraph(HIPAA, "note"),
        paragraph(CONTEXT, "note"),
    ]
    return section(7, "Residual risk and attacks", *parts)


def utility(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 8: what the release keeps of its original, or what its sizes alone tell."""
    found = evidence.comparison
    metrics = evidence.audit.metrics if found is None else found.metrics
    if not evidence.manifest.tells_heights:
        metrics = tuple(m for m in metrics if m.metric.name not in _OF_HEIGHTS)
    table = numbering.table(
        "Metrics",
        ("metric", "value", "unit", "better"),
        [
            (
                m.metric.title,
                decimal(m.value),
                m.metric.unit,
                "" if m.metric.better == "neither" else str(m.metric.better),
            )
            for m in metrics
        ],
        numbers=(1,),
    )
    parts = [] if evidence.unmeasured is None else [paragraph(evidence.unmeasured, "note")]
    if found is not None and found.losses:
        chart = Bars(
            tuple(name for name, _ in found.losses),
            ("loss",),
            (tuple(loss for _, loss in found.losses),),
            (tuple(f"{loss:.3f}" for _, loss in found.losses),),
        )
        parts.append(
            numbering.figure(
                _one(bar_chart("Loss by quasi-identifier", chart, most=1.0)),
                "Loss of each quasi-identifier: 0 shows every value as it is, 1 shows none.",
            )
        )
    return section(8, "Utility", *parts, *([table] if metrics else []))


def limits(evidence: ReleaseEvidence) -> str:
    """Section 9: warnings of the publication, of the audit and of the attacks; limits in plain words."""
    texts: list[str] = [*evidence.manifest.warnings]
    texts += [*evidence.audit.report.warnings, *evidence.attack.warnings]
    if evidence.comparison is not None:
        texts += evidence.comparison.warnings
    found = list(dict.fromkeys(texts))
    warnings = items(found) if found else paragraph("No warning was given.")
    return section(
        9,
        "Warnings and limits",
        heading("Warnings"),
        warnings,
        heading("What no number here says"),
        items(LIMITS),
    )


def sign_off(evidence: ReleaseEvidence, rule: Preset | None) -> str:
    """Section 10: who answers for the release, and for what a rule asks of people."""
    about = evidence.about
    lines = ("Prepared by, date", "Reviewed by, date", "Released by, date", "Valid until")
    known = [("Prepared by", about.prepared_by), ("Valid until", about.valid_until)]
    boxes = (
        "Roles of the columns checked by somebody who knows the table",
        "Earlier releases of the same people considered",
        "Recipient, purpose and controls agreed in writing",
        "Manifest and file handed over together; checksum compared",
    )
    given = [(name, text) for name, text in known if text]
    signatures = "".join(f"<div><span>{escape(line)}</span></div>" for line in lines)
    return section(
        10,
        "Governance and sign-off",
        items(boxes, "boxes"),
        "" if rule is None else rule_section(evidence.audit.report, rule),
        facts(given) if given else "",
        f'<div class="signatures">{signatures}</div>',
    )


def _l_asked(evidence: ReleaseEvidence, name: str) -> int | None:
    manifest = evidence.manifest
    if manifest.kind.least_values is not None:
        return manifest.kind.least_values
    return manifest.l if manifest.l is None or isinstance(manifest.l, int) else manifest.l.get(name)


def _one(svg: str) -> str:
    """A chart of a single series, in the strong colour."""
    return svg.replace("<svg ", '<svg class="one" ', 1)


def _tables(attack: AttackResult) -> tuple[tuple[str, TableRisk], ...]:
    return (
        (("release", attack.after),)
        if attack.before is None
        else (("original", attack.before), ("release", attack.after))
    )


def _risk_table(attack: AttackResult, numbering: Numbering) -> str:
    tables = _tables(attack)
    over = f"rows with a chance above {attack.threshold:g}"
    rows = [
        ("prosecutor risk, highest", *(percent(t.prosecutor.highest) for _, t in tables)),
        ("prosecutor risk, mean", *(percent(t.prosecutor.mean) for _, t in tables)),
        (over, *(f"{t.prosecutor.over:,} ({percent(t.prosecutor.over, t.rows)})" for _, t in tables)),
        ("rows alone in their class", *(f"{t.uniques.rows:,}" for _, t in tables)),
        *(
            (
                f"… by {size} of the columns already",
                *(_size(t.uniques.rows_by_size, size - 1) for _, t in tables),
            )
            for size in range(1, max(t.uniques.largest for _, t in tables) + 1)
            if any(t.uniques.rows for _, t in tables)
        ),
    ]
    before = "–" if attack.marketer_before is None else percent(attack.marketer_before)
    rows.append(("marketer risk", *[before] * (len(tables) - 1), percent(attack.marketer)))
    return numbering.table(
        "The chance that an attacker names a row's person right",
        ("", *(name for name, _ in tables)),
        rows,
        numbers=tuple(range(1, len(tables) + 1)),
        note=f"Marketer risk rests on {attack.marketer_basis}. A row's chance is 1 / rows of its class; "
        "journalist "
        "risk needs a file of the population.",
    )


def _risk_figure(attack: AttackResult, numbering: Numbering) -> str:
    tables = _tables(attack)
    above = [[rows_above(t.class_sizes, chance) for chance in CHANCES] for _, t in tables]
    chart = Bars(
        tuple(f"above {float(chance):.2g}" for chance in CHANCES),
        tuple(name for name, _ in tables),
        tuple(
            tuple(n / t.rows if t.rows else 0.0 for n in found)
            for found, (_, t) in zip(above, tables, strict=True)
        ),
        tuple(tuple(percent(n, t.rows) for n in found) for found, (_, t) in zip(above, tables, strict=True)),
    )
    svg = bar_chart("Share of rows at risk, by the chance of being named right", chart, most=1.0)
    return numbering.figure(
        svg if len(tables) > 1 else _one(svg),
        "Share of rows whose chance of being named right lies above each value.",
    )


def _disclosure(attack: AttackResult, numbering: Numbering) -> list[str]:
    if not attack.disclosure:
        return []
    unit = "group" if attack.by_group else "class"
    chart = Bars(
        tuple(d.attribute for d in attack.disclosure),
        ("without the release", "with it"),
        (tuple(d.baseline for d in attack.disclosure), tuple(d.guessed for d in attack.disclosure)),
        (
            tuple(percent(d.baseline) for d in attack.disclosure),
            tuple(percent(d.guessed) for d in attack.disclosure),
        ),
    )
    rows = [
        (
            d.attribute,
            whole(d.fewest_values),
            f"{d.entropy_l:.2f}",
            f"{d.homogeneous_rows:,} ({percent(d.homogeneous_rows, d.rows)})",
            f"{d.dominated_rows:,} ({percent(d.dominated_rows, d.rows)})",
        )
        for d in attack.disclosure
    ]
    return [
        heading("What is learnt of sensitive attributes"),
        numbering.table(
            f"Sensitive values by {unit}",
            (
                "attribute",
                "distinct l",
                "entropy l",
                f"rows whose {unit} has one value",
                f"rows with a value in over {percent(attack.dominance)} of it",
            ),
            rows,
            numbers=(1, 2, 3, 4),
        ),
        numbering.figure(
            bar_chart("Sensitive values guessed right", chart, most=1.0),
            f"Share of rows whose value is guessed right by taking the most frequent one: of the whole "
            "table, and "
            f"of each {unit}.",
        ),
    ]


def _three_tests(attack: AttackResult, numbering: Numbering) -> str:
    after = attack.after
    unit = "group" if attack.by_group else "class"
    learnt = [
        f"{d.attribute}: {percent(d.homogeneous_rows, d.rows)} of rows are in a {unit} with one value"
        for d in attack.disclosure
    ]
    rows = [
        ("singling out", f"{after.uniques.rows:,} of {count(after.rows, 'row')} are alone in their class"),
        (
            "linkability",
            f"highest chance {percent(after.prosecutor.highest)}, mean {percent(after.prosecutor.mean)}",
        ),
        ("inference", "; ".join(learnt) or "no sensitive attribute is published"),
    ]
    return numbering.table(f"The tests of the {THREE_TESTS}, as counted", ("test", "finding"), rows)


def _rules(attack: AttackResult, numbering: Numbering) -> str:
    smallest = min(attack.after.class_sizes, default=0)
    rows = [
        (
            rule.source,
            rule.asks,
            whole(rule.least),
            "reached" if smallest >= rule.least else "not reached",
            rule.note,
        )
        for rule in RULES
    ]
    return numbering.table(
        f"Rules beside this release, whose smallest class has {count(smallest, 'row')}",
        ("rule", "asks", "least class, strictly", "here", "remark"),
        rows,
        numbers=(2,),
        note="Strictly: the least class n with 1/n no larger than the threshold. Whether a rule "
        "applies, and in "
        "which version, is for the publisher to check.",
    )


def _permutation_warning() -> str:
    return '<div class="warning">' + "".join(paragraph(text) for text in PERMUTED_WARNINGS) + "</div>"


def _size(numbers: tuple[int, ...], place: int) -> str:
    return whole(numbers[place]) if place < len(numbers) else "–"
