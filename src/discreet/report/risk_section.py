"""Section 7 of a report: re-identification risk, attacks, the three tests of WP216, and published thresholds.

A threshold of the highest risk τ requires classes of at least the smallest n with 1/n ≤ τ. The reading
matters: 0.09 is commonly equated with classes of 11, but 1/11 = 0.0909… exceeds 0.09, so that strictly it
requires 12. Thresholds are shown next to the release's smallest class; the publisher checks which of them
apply.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind
from discreet.report.html import (
    BarSeries,
    Numbering,
    bar_chart,
    bullet_list,
    definition_list,
    emphasize_single_series,
    numbered_section,
    paragraph,
    subheading,
)
from discreet.report.translation import RISK_STEPS, Translator, count_rows_above_risk
from discreet.results.attack_result import AttackResult, TableRisk
from discreet.verbs.report_evidence import ReleaseEvidence


@dataclass(frozen=True)
class RiskThreshold:
    """A published rule: source, requirement, smallest class by the strict reading, and common reading."""

    source: str
    requirement: str
    least: int
    note: str = ""


def smallest_class_size(threshold: Fraction) -> int:
    """Return the least number of people n whose risk 1/n does not exceed a threshold."""
    return -(-threshold.denominator // threshold.numerator)


RISK_THRESHOLDS: tuple[RiskThreshold, ...] = (
    RiskThreshold(
        "EMA Policy 0070 and Health Canada, public release of clinical data",
        "highest risk 0.09",
        smallest_class_size(Fraction("0.09")),
        "practice reads 11",
    ),
    RiskThreshold("CMS cell size suppression policy", "no cell of 1 to 10", 11, "for microdata, by analogy"),
    RiskThreshold(
        "Five Safes practice, public release",
        "highest risk 0.05",
        smallest_class_size(Fraction("0.05")),
        "0.05 to 0.09 are common; check the local policy",
    ),
    RiskThreshold(
        "Five Safes practice, data use agreement",
        "highest risk 0.1",
        smallest_class_size(Fraction("0.1")),
        "0.1 to 0.2 are common; check the local policy",
    ),
    RiskThreshold(
        "Five Safes practice, secure enclave",
        "highest risk 0.33",
        smallest_class_size(Fraction("0.33")),
        "practice reads 3; check the local policy",
    ),
    RiskThreshold(
        "Statistics offices (StatCan, ONS), tables", "3 to 10 people a cell", 10, "check the office's rules"
    ),
)

THREE_TESTS_SOURCE = "Article 29 Working Party, Opinion 05/2014 (WP216)"
HIPAA_NOTE = (
    "HIPAA's expert determination (45 CFR 164.514(b)(1)) names no number: a qualified person must find "
    "the risk very small and document methods and results. This report documents results; it is not that "
    "finding."
)
CONTEXT_NOTE = (
    "ISO/IEC 27559:2022 requires the context too: the recipients, possible attacks, and controls against "
    "them. The risks above assume that an attack is made; sections 1 and 3 state the context."
)


def attack_sections(attack: AttackResult, numbering: Numbering) -> Iterator[str]:
    """Yield the attacks in the order of their declarations, without tables of single persons."""
    tried = [finding for finding in attack.findings if finding.skipped is None]
    for finding in tried:
        yield from _finding_section(finding, numbering)
    translator = numbering.translator
    skipped = [
        f"{translator.external(finding.title)}: {translator.external(finding.skipped)}."
        for finding in attack.findings
        if finding.skipped is not None
    ]
    if skipped:
        yield subheading(translator("Attacks that were not tried"))
        yield bullet_list(skipped)


def _finding_section(finding: Finding, numbering: Numbering) -> Iterator[str]:
    translator = numbering.translator
    yield subheading(translator.external(finding.title))
    yield paragraph(translator.external(finding.lead))
    if finding.figures:
        yield definition_list(
            (translator.external(each.label), format_value(each.value, each.kind, translator))
            for each in finding.figures
        )
    for table in finding.tables:
        if table.rows and not table.persons:
            yield _finding_table(table, numbering)
    if finding.notes:
        yield bullet_list(map(translator.external, finding.notes))


def _finding_table(table: FoundTable, numbering: Numbering) -> str:
    translator = numbering.translator
    rows = [
        tuple(
            format_value(value, column.kind, translator)
            for value, column in zip(row, table.columns, strict=True)
        )
        for row in table.rows
    ]
    right = [i for i, column in enumerate(table.columns) if column.kind is not ValueKind.TEXT]
    heads = tuple(translator.external(column.title) for column in table.columns)
    title, note = translator.external(table.title), translator.external(table.note)
    return numbering.table(title, heads, rows, numbers=right, note=note)


def format_value(value: Value, kind: ValueKind, translator: Translator) -> str:
    """Format a value by its kind; a dash for None."""
    if value is None:
        return "–"
    if isinstance(value, str) or kind is ValueKind.TEXT:
        return translator.cell(str(value))
    if kind is ValueKind.CHANCE:
        return translator.percent(value)
    return translator.integer(int(value)) if kind is ValueKind.COUNT else translator.decimal(value)


def risk_section(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 7: findings of the attacks, the three tests, and published thresholds."""
    attack, translator = evidence.attack, numbering.translator
    parts = [
        *_kind_warnings(attack, translator),
        _risk_table(attack, numbering),
        _risk_figure(attack, numbering),
        *_disclosure_parts(attack, numbering),
        *attack_sections(attack, numbering),
        subheading(translator("Three tests")),
        _three_tests_table(attack, numbering),
        subheading(translator("Published thresholds")),
        _threshold_table(attack, numbering),
        paragraph(translator(HIPAA_NOTE), "note"),
        paragraph(translator(CONTEXT_NOTE), "note"),
    ]
    return numbered_section(7, translator("Residual risk and attacks"), *parts)


def _compared_tables(attack: AttackResult, translator: Translator) -> tuple[tuple[str, TableRisk], ...]:
    after = (translator("release"), attack.after)
    return (after,) if attack.before is None else ((translator("original"), attack.before), after)


def _risk_table(attack: AttackResult, numbering: Numbering) -> str:
    translator = numbering.translator
    tables = _compared_tables(attack, translator)
    over = translator("rows with a risk above {chance}", chance=translator.number(f"{attack.threshold:g}"))
    rows = [
        (
            translator("prosecutor risk, highest"),
            *(translator.percent(t.prosecutor.highest) for _, t in tables),
        ),
        (translator("prosecutor risk, mean"), *(translator.percent(t.prosecutor.mean) for _, t in tables)),
        (over, *(_count_and_share(t.prosecutor.over, t.rows, translator) for _, t in tables)),
        (translator("unique rows"), *(translator.integer(t.uniques.rows) for _, t in tables)),
        *(
            (
                translator("… by {size} of the columns already", size=size),
                *(_count_at(t.uniques.rows_by_size, size - 1, translator) for _, t in tables),
            )
            for size in range(1, max(t.uniques.largest for _, t in tables) + 1)
            if any(t.uniques.rows for _, t in tables)
        ),
    ]
    before = "–" if attack.marketer_before is None else translator.percent(attack.marketer_before)
    rows.append(
        (translator("marketer risk"), *[before] * (len(tables) - 1), translator.percent(attack.marketer))
    )
    return numbering.table(
        translator("Re-identification risk of a row"),
        ("", *(name for name, _ in tables)),
        rows,
        numbers=tuple(range(1, len(tables) + 1)),
        note=translator(
            "Marketer risk is based on {basis}. A row's risk is 1 / rows of its class; journalist risk needs "
            "a file of the population.",
            basis=translator.external(attack.marketer_basis),
        ),
    )


def _risk_figure(attack: AttackResult, numbering: Numbering) -> str:
    translator = numbering.translator
    tables = _compared_tables(attack, translator)
    above = [[count_rows_above_risk(t.class_sizes, chance) for chance in RISK_STEPS] for _, t in tables]
    pairs = list(zip(above, tables, strict=True))
    chart = BarSeries(
        tuple(
            translator("above {chance}", chance=translator.number(f"{float(chance):.2g}"))
            for chance in RISK_STEPS
        ),
        tuple(name for name, _ in tables),
        tuple(tuple(n / t.rows if t.rows else 0.0 for n in found) for found, (_, t) in pairs),
        tuple(tuple(translator.percent(n, t.rows) for n in found) for found, (_, t) in pairs),
    )
    svg = bar_chart(translator("Share of rows at risk, by re-identification risk"), chart, most=1.0)
    return numbering.figure(
        svg if len(tables) > 1 else emphasize_single_series(svg),
        translator("Share of rows whose re-identification risk is above each value."),
    )


def _disclosure_parts(attack: AttackResult, numbering: Numbering) -> list[str]:
    if not attack.disclosure:
        return []
    translator = numbering.translator
    unit = translator(attack.kind.unit)
    found = attack.disclosure
    chart = BarSeries(
        tuple(d.attribute for d in found),
        (translator("without the release"), translator("with it")),
        (tuple(d.baseline for d in found), tuple(d.guessed for d in found)),
        (
            tuple(translator.percent(d.baseline) for d in found),
            tuple(translator.percent(d.guessed) for d in found),
        ),
    )
    rows = [
        (
            d.attribute,
            translator.integer(d.fewest_values),
            translator.number(f"{d.entropy_l:.2f}"),
            _count_and_share(d.homogeneous_rows, d.rows, translator),
            _count_and_share(d.dominated_rows, d.rows, translator),
        )
        for d in found
    ]
    share = translator.percent(attack.dominance)
    heads = (
        translator("attribute"),
        translator("distinct l"),
        translator("entropy l"),
        translator("rows whose {unit} has one value", unit=unit),
        translator("rows with a value in over {share} of it", share=share),
    )
    return [
        subheading(translator("Disclosure of sensitive attributes")),
        numbering.table(
            translator("Sensitive values by {unit}", unit=unit), heads, rows, numbers=(1, 2, 3, 4)
        ),
        numbering.figure(
            bar_chart(translator("Sensitive values guessed correctly"), chart, most=1.0),
            translator(
                "Share of rows whose value an attacker guesses by taking the most frequent one: of the "
                "whole table, and of each {unit}.",
                unit=unit,
            ),
        ),
    ]


def _three_tests_table(attack: AttackResult, numbering: Numbering) -> str:
    after, translator = attack.after, numbering.translator
    unit = translator(attack.kind.unit)
    learnt = [
        translator(
            "{column}: {share} of rows are in a {unit} with one value",
            column=d.attribute,
            share=translator.percent(d.homogeneous_rows, d.rows),
            unit=unit,
        )
        for d in attack.disclosure
    ]
    unique_text = translator(
        "{number} of {rows} are unique",
        number=translator.integer(after.uniques.rows),
        rows=translator.count(after.rows, "row"),
    )
    singled = [
        translator(
            "{column}: {number} have a value that no other row has, {alike} one that none of their class has",
            column=each.column,
            number=translator.integer(each.unique_rows),
            alike=translator.integer(each.in_class),
        )
        for each in attack.single_values
        if each.unique_rows or each.in_class
    ]
    rows = [
        (translator("singling out"), "; ".join([unique_text, *singled])),
        (
            translator("linkability"),
            translator(
                "highest risk {highest}, mean {mean}",
                highest=translator.percent(after.prosecutor.highest),
                mean=translator.percent(after.prosecutor.mean),
            ),
        ),
        (translator("inference"), "; ".join(learnt) or translator("no sensitive attribute is published")),
    ]
    title = translator("The tests of the {source}, as counted", source=THREE_TESTS_SOURCE)
    return numbering.table(title, (translator("test"), translator("finding")), rows)


def _threshold_table(attack: AttackResult, numbering: Numbering) -> str:
    translator = numbering.translator
    smallest = min(attack.after.class_sizes, default=0)
    rows = [
        (
            translator(rule.source),
            translator(rule.requirement),
            translator.integer(rule.least),
            translator("reached") if smallest >= rule.least else translator("not reached"),
            translator(rule.note),
        )
        for rule in RISK_THRESHOLDS
    ]
    title = "Published rules and this release, whose smallest class has {rows}"
    return numbering.table(
        translator(title, rows=translator.count(smallest, "row")),
        (
            translator("rule"),
            translator("requirement"),
            translator("least class, strictly"),
            translator("this release"),
            translator("remark"),
        ),
        rows,
        numbers=(2,),
        note=translator(
            "Strictly: the least class n with 1/n no larger than the threshold. Whether a rule applies, and "
            "in which version, is for the publisher to check."
        ),
    )


def _kind_warnings(attack: AttackResult, translator: Translator) -> list[str]:
    texts = [paragraph(translator.external(text)) for text in attack.kind.cautions]
    return [f'<div class="warning">{"".join(texts)}</div>'] if texts else []


def _count_and_share(part: int, of: int, translator: Translator) -> str:
    return f"{translator.integer(part)} ({translator.percent(part, of)})"


def _count_at(numbers: tuple[int, ...], index: int, translator: Translator) -> str:
    return translator.integer(numbers[index]) if index < len(numbers) else "–"
