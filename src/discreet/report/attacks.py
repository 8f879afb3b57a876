"""A part of section 7 for each attack that was tried, made of what the attack itself declares."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind
from discreet.report.markup import Numbering, facts, heading, items, paragraph
from discreet.report.words import Words
from discreet.results.attack_result import AttackResult


def attack_sections(attack: AttackResult, numbering: Numbering) -> Iterator[str]:
    """The attacks in the order of their declarations; tables of single persons have no place here."""
    tried = [found for found in attack.findings if found.skipped is None]
    for found in tried:
        yield from _section(found, numbering)
    words = numbering.words
    skipped = [
        f"{words.told(found.title)}: {words.told(found.skipped)}."
        for found in attack.findings
        if found.skipped is not None
    ]
    if skipped:
        yield heading(words("Attacks that were not tried"))
        yield items(skipped)


def _section(found: Finding, numbering: Numbering) -> Iterator[str]:
    words = numbering.words
    yield heading(words.told(found.title))
    yield paragraph(words.told(found.lead))
    if found.figures:
        yield facts((words.told(each.label), written(each.value, each.kind, words)) for each in found.figures)
    for table in found.tables:
        if table.rows and not table.persons:
            yield _table(table, numbering)
    if found.notes:
        yield items(map(words.told, found.notes))


def _table(table: FoundTable, numbering: Numbering) -> str:
    words = numbering.words
    rows = [
        tuple(written(value, column.kind, words) for value, column in zip(row, table.columns, strict=True))
        for row in table.rows
    ]
    right = [i for i, column in enumerate(table.columns) if column.kind is not ValueKind.TEXT]
    heads = tuple(words.told(column.title) for column in table.columns)
    title, note = words.told(table.title), words.told(table.note)
    return numbering.table(title, heads, rows, numbers=right, note=note)


def written(value: Value, kind: ValueKind, words: Words) -> str:
    """A value by its kind, a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, str) or kind is ValueKind.TEXT:
        return words.cell(str(value))
    if kind is ValueKind.CHANCE:
        return words.percent(value)
    return words.whole(int(value)) if kind is ValueKind.COUNT else words.decimal(value)
