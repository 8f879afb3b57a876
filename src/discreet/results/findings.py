"""What attacks found, as words and grids."""

from __future__ import annotations

from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind
from discreet.printing.document import BLANK, Column, Document, Grid, Line, Tone, heading, share

_DASH = "–"


def finding_document(found: Finding) -> Document:
    """A heading, what the attacker does, figures, tables, notes; or why it was not tried."""
    begin = (BLANK, heading(found.title))
    if found.skipped is not None:
        return (*begin, Line(f"Not tried: {found.skipped}."))
    figures = Grid(
        (Column(""), Column("", right=True)),
        tuple((each.label, written(each.value, each.kind)) for each in found.figures),
    )
    return (
        *begin,
        Line(found.lead),
        *((figures,) if found.figures else ()),
        *(block for table in found.tables for block in _table(table)),
        *(Line(note, Tone.HINT) for note in found.notes),
    )


def written(value: Value, kind: ValueKind) -> str:
    """A value by its kind, a dash where there is none."""
    if value is None:
        return _DASH
    if isinstance(value, str) or kind is ValueKind.TEXT:
        return str(value)
    if kind is ValueKind.CHANCE:
        return share(value, 1)
    return f"{value:,}" if kind is ValueKind.COUNT else f"{value:,.4g}"


def _table(table: FoundTable) -> Document:
    grid = Grid(
        tuple(
            Column(column.title, right=column.kind is not ValueKind.TEXT, shrinks=True)
            for column in table.columns
        ),
        tuple(
            tuple(written(value, column.kind) for value, column in zip(row, table.columns, strict=True))
            for row in table.rows
        ),
    )
    notes = (Line(table.note),) if table.note else ()
    return (BLANK, Line(table.title, Tone.HEADING), *((grid,) if table.rows else (Line("None."),)), *notes)
