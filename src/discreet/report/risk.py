"""Section 7 of a report: what attacks found, the three tests, and thresholds that others name."""

from __future__ import annotations

from discreet.report.attacks import attack_sections
from discreet.report.figures import Bars, bar_chart, one_series
from discreet.report.markup import Numbering, heading, paragraph, section
from discreet.report.numbers import CHANCES, rows_above
from discreet.report.thresholds import CONTEXT, HIPAA, RULES, THREE_TESTS
from discreet.report.words import Words
from discreet.results.attack_result import AttackResult, TableRisk
from discreet.verbs.attacking import PERMUTED_WARNINGS
from discreet.verbs.evidence import ReleaseEvidence


def risk(evidence: ReleaseEvidence, numbering: Numbering) -> str:
    """Section 7: what attacks found, the three tests, and thresholds that others name."""
    attack, words = evidence.attack, numbering.words
    parts = [
        *([_permutation_warning(words)] if attack.by_group else []),
        _risk_table(attack, numbering),
        _risk_figure(attack, numbering),
        *_disclosure(attack, numbering),
        *attack_sections(attack, numbering),
        heading(words("Three tests")),
        _three_tests(attack, numbering),
        heading(words("Thresholds that others name")),
        _rules(attack, numbering),
        paragraph(words(HIPAA), "note"),
        paragraph(words(CONTEXT), "note"),
    ]
    return section(7, words("Residual risk and attacks"), *parts)


def _tables(attack: AttackResult, words: Words) -> tuple[tuple[str, TableRisk], ...]:
    after = (words("release"), attack.after)
    return (after,) if attack.before is None else ((words("original"), attack.before), after)


def _risk_table(attack: AttackResult, numbering: Numbering) -> str:
    words = numbering.words
    tables = _tables(attack, words)
    over = words("rows with a chance above {chance}", chance=words.number(f"{attack.threshold:g}"))
    rows = [
        (words("prosecutor risk, highest"), *(words.percent(t.prosecutor.highest) for _, t in tables)),
        (words("prosecutor risk, mean"), *(words.percent(t.prosecutor.mean) for _, t in tables)),
        (over, *(_with_share(t.prosecutor.over, t.rows, words) for _, t in tables)),
        (words("rows alone in their class"), *(words.whole(t.uniques.rows) for _, t in tables)),
        *(
            (
                words("… by {size} of the columns already", size=size),
                *(_size(t.uniques.rows_by_size, size - 1, words) for _, t in tables),
            )
            for size in range(1, max(t.uniques.largest for _, t in tables) + 1)
            if any(t.uniques.rows for _, t in tables)
        ),
    ]
    before = "–" if attack.marketer_before is None else words.percent(attack.marketer_before)
    rows.append((words("marketer risk"), *[before] * (len(tables) - 1), words.percent(attack.marketer)))
    return numbering.table(
        words("The chance that an attacker names a row's person right"),
        ("", *(name for name, _ in tables)),
        rows,
        numbers=tuple(range(1, len(tables) + 1)),
        note=words(
            "Marketer risk rests on {basis}. A row's chance is 1 / rows of its class; journalist risk needs "
            "a file of the population.",
            basis=words.told(attack.marketer_basis),
        ),
    )


def _risk_figure(attack: AttackResult, numbering: Numbering) -> str:
    words = numbering.words
    tables = _tables(attack, words)
    above = [[rows_above(t.class_sizes, chance) for chance in CHANCES] for _, t in tables]
    pairs = list(zip(above, tables, strict=True))
    chart = Bars(
        tuple(words("above {chance}", chance=words.number(f"{float(chance):.2g}")) for chance in CHANCES),
        tuple(name for name, _ in tables),
        tuple(tuple(n / t.rows if t.rows else 0.0 for n in found) for found, (_, t) in pairs),
        tuple(tuple(words.percent(n, t.rows) for n in found) for found, (_, t) in pairs),
    )
    svg = bar_chart(words("Share of rows at risk, by the chance of being named right"), chart, most=1.0)
    return numbering.figure(
        svg if len(tables) > 1 else one_series(svg),
        words("Share of rows whose chance of being named right lies above each value."),
    )


def _disclosure(attack: AttackResult, numbering: Numbering) -> list[str]:
    if not attack.disclosure:
        return []
    words = numbering.words
    unit = words("group" if attack.by_group else "class")
    found = attack.disclosure
    chart = Bars(
        tuple(d.attribute for d in found),
        (words("without the release"), words("with it")),
        (tuple(d.baseline for d in found), tuple(d.guessed for d in found)),
        (
            tuple(words.percent(d.baseline) for d in found),
            tuple(words.percent(d.guessed) for d in found),
        ),
    )
    rows = [
        (
            d.attribute,
            words.whole(d.fewest_values),
            words.number(f"{d.entropy_l:.2f}"),
            _with_share(d.homogeneous_rows, d.rows, words),
            _with_share(d.dominated_rows, d.rows, words),
        )
        for d in found
    ]
    share = words.percent(attack.dominance)
    heads = (
        words("attribute"),
        words("distinct l"),
        words("entropy l"),
        words("rows whose {unit} has one value", unit=unit),
        words("rows with a value in over {share} of it", share=share),
    )
    return [
        heading(words("What is learnt of sensitive attributes")),
        numbering.table(words("Sensitive values by {unit}", unit=unit), heads, rows, numbers=(1, 2, 3, 4)),
        numbering.figure(
            bar_chart(words("Sensitive values guessed right"), chart, most=1.0),
            words(
                "Share of rows whose value is guessed right by taking the most frequent one: of the whole "
                "table, and of each {unit}.",
                unit=unit,
            ),
        ),
    ]


def _three_tests(attack: AttackResult, numbering: Numbering) -> str:
    after, words = attack.after, numbering.words
    unit = words("group" if attack.by_group else "class")
    learnt = [
        words(
            "{column}: {share} of rows are in a {unit} with one value",
            column=d.attribute,
            share=words.percent(d.homogeneous_rows, d.rows),
            unit=unit,
        )
        for d in attack.disclosure
    ]
    alone = words(
        "{number} of {rows} are alone in their class",
        number=words.whole(after.uniques.rows),
        rows=words.count(after.rows, "row"),
    )
    singled = [
        words(
            "{column}: {number} have a value that no other row has, {alike} one that none of their class has",
            column=each.column,
            number=words.whole(each.alone),
            alike=words.whole(each.in_class),
        )
        for each in attack.single_values
        if each.alone or each.in_class
    ]
    rows = [
        (words("singling out"), "; ".join([alone, *singled])),
        (
            words("linkability"),
            words(
                "highest chance {highest}, mean {mean}",
                highest=words.percent(after.prosecutor.highest),
                mean=words.percent(after.prosecutor.mean),
            ),
        ),
        (words("inference"), "; ".join(learnt) or words("no sensitive attribute is published")),
    ]
    title = words("The tests of the {source}, as counted", source=THREE_TESTS)
    return numbering.table(title, (words("test"), words("finding")), rows)


def _rules(attack: AttackResult, numbering: Numbering) -> str:
    words = numbering.words
    smallest = min(attack.after.class_sizes, default=0)
    rows = [
        (
            words(rule.source),
            words(rule.asks),
            words.whole(rule.least),
            words("reached") if smallest >= rule.least else words("not reached"),
            words(rule.note),
        )
        for rule in RULES
    ]
    title = "Rules beside this release, whose smallest class has {rows}"
    return numbering.table(
        words(title, rows=words.count(smallest, "row")),
        (words("rule"), words("asks"), words("least class, strictly"), words("here"), words("remark")),
        rows,
        numbers=(2,),
        note=words(
            "Strictly: the least class n with 1/n no larger than the threshold. Whether a rule applies, and "
            "in which version, is for the publisher to check."
        ),
    )


def _permutation_warning(words: Words) -> str:
    texts = "".join(paragraph(words.told(text)) for text in PERMUTED_WARNINGS)
    return f'<div class="warning">{texts}</div>'


def _with_share(part: int, of: int, words: Words) -> str:
    return f"{words.whole(part)} ({words.percent(part, of)})"


def _size(numbers: tuple[int, ...], place: int, words: Words) -> str:
    return words.whole(numbers[place]) if place < len(numbers) else "–"
