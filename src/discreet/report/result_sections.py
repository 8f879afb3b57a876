"""Sections 6 and 8 to 10 and appendix A of a report: guarantees, utility, limits, sign-off, verification SQL.

The guarantees are counted again in the written file. Criteria other than k and l are listed with their title,
citation, parameter and verdict. A preset adds its points to be checked by people, without a verdict on them.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.model.audit_report import AuditReport, CriterionFinding
from discreet.model.coded_warnings import unreported_warnings
from discreet.model.criteria.base import Criterion, Need, parameter_text
from discreet.report.html import (
    BarSeries,
    Numbering,
    bar_chart,
    bullet_list,
    code_block,
    column_chart,
    definition_list,
    emphasize_single_series,
    numbered_section,
    paragraph,
    signature_lines,
    subheading,
)
from discreet.report.translation import Translator, class_size_bands, count_rows_by_band
from discreet.spec.preset import Preset
from discreet.verbs.report_evidence import ReleaseEvidence


def required_criteria(report: AuditReport, translator: Translator) -> list[tuple[str, str]]:
    """Return each criterion with its requirement, for the facts of section 4."""
    return [
        (
            translator("{criterion} required", criterion=_criterion_title(found, translator)),
            f"{translator.number(found.required)}: {translator.external(found.criterion.parameter.hint)}",
        )
        for found in report.criteria
    ]


def counted_criteria(report: AuditReport, translator: Translator) -> list[tuple[str, ...]]:
    """Return each criterion with citation, value of the worst class, requirement, and verdict."""
    return [
        (
            f"{_criterion_title(found, translator)}, {found.criterion.citation}",
            "–" if found.found is None else translator.number(parameter_text(found.found)),
            translator.number(found.required),
            verdict_text(translator, passed=found.passed, failing=found.failing_classes),
        )
        for found in report.criteria
    ]


def verdict_text(translator: Translator, *, passed: bool, failing: int = 0) -> str:
    """Return the verdict on a criterion, with the number of failing classes if it is known."""
    if passed:
        return translator("passed")
    if not failing:
        return translator("not passed")
    return translator("not passed: {classes}", classes=translator.count(failing, "class", "classes"))


def _criterion_title(finding: CriterionFinding, translator: Translator) -> str:
    title, attribute = translator.external(finding.criterion.title), finding.criterion.attribute
    return (
        title
        if attribute is None
        else translator("{criterion} of {column}", criterion=title, column=attribute)
    )


def preset_checklist(report: AuditReport, rule: Preset, translator: Translator) -> str:
    """Return a preset's rule, its source and year, its numeric requirements, and the counted values."""
    pairs = [
        (translator("Rule"), translator.external(rule.title)),
        (translator("Source"), f"{rule.citation} ({rule.as_of})"),
    ]
    pairs += [
        (
            translator("Required: {criterion}", criterion=criterion),
            _counted_text(report, criterion, translator),
        )
        for criterion in rule.criteria
    ]
    return (
        subheading(translator("A published rule, as interpreted"))
        + definition_list(pairs)
        + paragraph(translator.external(rule.note), "note")
        + bullet_list(map(translator.external, rule.checks), "boxes")
    )


def _counted_text(report: AuditReport, criterion: Criterion, translator: Translator) -> str:
    """Return the counted value of a criterion: class sizes, or the audit's result if it was required."""
    by_size = criterion.need is Need.SIZE and not (criterion.of_release or criterion.of_population)
    if by_size and report.k:
        return translator(
            "classes of at least {least}; the smallest has {k}", least=criterion.threshold, k=report.k
        )
    found = next((one for one in report.criteria if one.criterion.name == criterion.name), None)
    if found is None:
        return translator("not required of this release")
    return translator("counted: {value}", value=found.found)


def verification_appendix(evidence: ReleaseEvidence, translator: Translator) -> str:
    """Appendix A: SQL with which recipients can count again, or the reason why there is none."""
    return numbered_section(
        "A", translator("Checked without discreet"), *_appendix_parts(evidence, translator)
    )


def _appendix_parts(evidence: ReleaseEvidence, translator: Translator) -> tuple[str, ...]:
    found = evidence.statements
    if found is None:
        return (
            paragraph(
                translator(
                    "There are no statements for this release: nothing was required of it, or portable "
                    "SQL cannot read its format."
                )
            ),
        )
    return (
        paragraph(
            translator(
                "Recipients of the release can repeat the counts of section 6 with {program} and without "
                "the program that wrote this report: each query is independent, and must find failing = 0. "
                "Files are named without their folder. A comment without a query describes a count that "
                "needs more than the release, or that a report does not print.",
                program=found.reader,
            )
        ),
        code_block(found.script),
    )


_HEIGHT_METRICS = ("height", "precision")
"""Metrics that reveal the heights of hierarchies; a report is as public as the manifest."""

LIMIT_STATEMENTS = (
    "This is evidence, not a verdict. Whether it is sufficient depends on the recipients and their "
    "knowledge.",
    "Membership is not protected: an attacker who knows the quasi-identifiers may learn that a person is "
    "in the table.",
    "Two releases of overlapping tables can be intersected, even if each is safe. Keep a register of "
    "releases.",
    "A release that is as fine as its requirement allows discloses that finer ones failed, and therefore "
    "facts about the rows (minimality, downcoding).",
    "Distinct l counts values, not their similarity in meaning or their frequencies.",
    "A class of k rows is k people only where each person has one row.",
)
CHECKLIST = (
    "Roles of the columns checked by a person who knows the table",
    "Earlier releases of the same people considered",
    "Recipient, purpose and controls agreed in writing",
    "Manifest and file delivered together; checksum compared",
)
SIGNATURE_LABELS = ("Prepared by, date", "Reviewed by, date", "Released by, date", "Valid until")


def guarantees_section(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 6: the current counts of the audit in the written file."""
    audit, manifest, translator = evidence.audit, evidence.manifest, numbering.translator
    report = audit.report
    unit, units = manifest.kind.unit, manifest.kind.units
    found = [(translator("smallest {unit}", unit=translator(unit)), report.k, manifest.k)]
    for name, l in report.l.items():
        what = translator(
            "fewest distinct values of {column} in a {unit}", column=name, unit=translator(unit)
        )
        found.append((what, l, _required_l(evidence, name)))
    rows: list[tuple[str, ...]] = [
        (what, translator.integer(number), "–" if required is None else translator.integer(required))
        for what, number, required in found
    ]
    rows += [
        (translator.external(what), translator.number(number), translator.number(required))
        for what, number, required in manifest.kind.guarantee_rows(report.permutation)
    ]
    read = translator(
        "The file was read again for this report and its rows counted by SQL that shares nothing with the "
        "program that made them: {rows} in {classes}",
        rows=translator.count(report.rows, "row"),
        classes=translator.count(report.classes, unit, units),
    )
    starred = translator.count(report.starred, "starred row", "starred rows")
    apart = translator(", {starred} apart.", starred=starred) if report.starred else "."
    title = translator("Rows by the size of their {unit}", unit=translator(unit))
    chart = column_chart(
        title,
        _class_size_bars(report, translator),
        x_title=translator("rows of the {unit}", unit=translator(unit)),
        y_title=translator("share of rows"),
    )
    return numbered_section(
        6,
        translator("Achieved guarantees"),
        paragraph(read + apart),
        _guarantees_table(report, rows, [(number, required) for _, number, required in found], numbering),
        numbering.figure(
            emphasize_single_series(chart), translator("{title}, in the written file.", title=title)
        ),
    )


def _class_size_bars(report: AuditReport, translator: Translator) -> BarSeries:
    """Return the rows by bands of class sizes, without the empty bands at both ends."""
    sizes = count_rows_by_band(report.class_sizes)
    bands = [i for i, number in enumerate(sizes) if number]
    first, last = (bands[0], bands[-1] + 1) if bands else (0, 1)
    return BarSeries(
        tuple(translator.band(band) for band in class_size_bands()[first:last]),
        (translator("rows"),),
        (tuple(float(n) for n in sizes[first:last]),),
        (tuple(translator.percent(n, sum(sizes)) for n in sizes[first:last]),),
    )


def _guarantees_table(
    report: AuditReport,
    rows: Sequence[tuple[str, ...]],
    numbers: Sequence[tuple[int, int | None]],
    numbering: Numbering,
) -> str:
    """Return the table of k and l and of further criteria; with further criteria it has a verdict column."""
    translator = numbering.translator
    heads: tuple[str, ...] = ("", translator("counted"), translator("required"))
    if report.criteria:
        heads = (*heads, translator("verdict"))
        verdicts = [
            "–"
            if required is None or not report.classes
            else verdict_text(translator, passed=number >= required)
            for number, required in numbers
        ]
        rows = [(*row, each) for row, each in zip(rows, verdicts, strict=True)] + counted_criteria(
            report, translator
        )
    return numbering.table(translator("Counts"), heads, rows, numbers=(1, 2))


def utility_section(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 8: utility measured against the original, or only from the release's class sizes."""
    found, translator = evidence.comparison, numbering.translator
    metrics = evidence.audit.metrics if found is None else found.metrics
    if not evidence.manifest.reports_heights:
        metrics = tuple(m for m in metrics if m.metric.name not in _HEIGHT_METRICS)
    rows = [
        (
            translator.external(m.metric.title),
            translator.decimal(m.value),
            translator.external(m.metric.unit),
            "" if m.metric.better == "neither" else translator.external(str(m.metric.better)),
        )
        for m in metrics
    ]
    heads = (translator("metric"), translator("value"), translator("unit"), translator("better"))
    parts = (
        [] if evidence.unmeasured is None else [paragraph(translator.external(evidence.unmeasured), "note")]
    )
    if found is not None and found.losses:
        chart = BarSeries(
            tuple(name for name, _ in found.losses),
            (translator("loss"),),
            (tuple(loss for _, loss in found.losses),),
            (tuple(translator.number(f"{loss:.3f}") for _, loss in found.losses),),
        )
        parts.append(
            numbering.figure(
                emphasize_single_series(bar_chart(translator("Loss by quasi-identifier"), chart, most=1.0)),
                translator("Loss of each quasi-identifier: 0 shows every value unchanged, 1 shows none."),
            )
        )
    if rows:
        parts.append(numbering.table(translator("Metrics"), heads, rows, numbers=(1,)))
    return numbered_section(8, translator("Utility"), *parts)


def limits_section(evidence: ReleaseEvidence, translator: Translator) -> str:
    """Section 9: warnings of the publication, of the audit and of the attacks; limits in plain words."""
    texts: list[str] = [*evidence.manifest.warnings]
    texts += [*unreported_warnings(evidence.audit.report.warnings, evidence.manifest.warnings)]
    texts += evidence.attack.warnings
    if evidence.comparison is not None:
        texts += evidence.comparison.warnings
    found = [translator.external(text) for text in dict.fromkeys(texts)]
    return numbered_section(
        9,
        translator("Warnings and limits"),
        subheading(translator("Warnings")),
        bullet_list(found) if found else paragraph(translator("No warning was given.")),
        subheading(translator("Limits")),
        bullet_list(translator(text) for text in LIMIT_STATEMENTS),
    )


def sign_off_section(evidence: ReleaseEvidence, rule: Preset | None, translator: Translator) -> str:
    """Section 10: responsibility for the release, and the points that a preset requires people to check."""
    about = evidence.about
    known = [(translator("Prepared by"), about.prepared_by), (translator("Valid until"), about.valid_until)]
    entries = [(name, text) for name, text in known if text]
    return numbered_section(
        10,
        translator("Governance and sign-off"),
        bullet_list((translator(text) for text in CHECKLIST), "boxes"),
        "" if rule is None else preset_checklist(evidence.audit.report, rule, translator),
        definition_list(entries) if entries else "",
        signature_lines(translator(line) for line in SIGNATURE_LABELS),
    )


def _required_l(evidence: ReleaseEvidence, name: str) -> int | None:
    manifest = evidence.manifest
    if manifest.kind.required_values is not None:
        return manifest.kind.required_values
    return manifest.l if manifest.l is None or isinstance(manifest.l, int) else manifest.l.get(name)
