"""A part of section 7 for each attack that was tried, made of what the attack itself declares."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind
from discreet.report.markup import Numbering, facts, heading, items, paragraph
from discreet.report.numbers import decimal, percent, whole
from discreet.results.attack_result import AttackResult


def attack_sections(attack: AttackResult, numbering: Numbering) -> Iterator[str]:
    """The attacks in the order of their declarations; tables of single persons have no place here."""
    tried = [found for found in attack.findings if found.skipped is None]
    for found in tried:
        yield from _section(found, numbering)
    skipped = [f"{found.title}: {found.skipped}." for found in attack.findings if found.skipped is not None]
    if skipped:
        yield heading("Attacks that were not tried")
        yield items(skipped)


def _section(found: Finding, numbering: Numbering) -> Iterator[str]:
    yield heading(found.title)
    yield paragraph(found.lead)
    if found.figures:
        yield facts((each.label, written(each.value, each.kind)) for each in found.figures)
    for table in found.tables:
        if table.rows and not table.persons:
            yield _table(table, numbering)
    if found.notes:
        yield items(found.notes)


def _table(table: FoundTable, numbering: Numbering) -> str:
    rows = [
        tuple(written(value, column.kind) for value, column in zip(row, table.columns, strict=True))
        for row in table.rows
    ]
    right = [i for i, column in enumerate(table.columns) if column.kind is not ValueKind.TEXT]
    heads = tuple(column.title for column in table.columns)
    return numbering.table(table.title, heads, rows, numbers=right, note=table.note)


def written(value: Value, kind: ValueKind) -> str:
    """A value by its kind, a dash where there is none."""
    if value is None:
        return "–"
    if isinstance(value, str) or kind is ValueKind.TEXT:
        return str(value)
    if kind is ValueKind.CHANCE:
        return percent(value)
    return whole(int(value)) if kind is ValueKind.COUNT else decimal(value)
