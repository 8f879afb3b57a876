"""A source's cells as their written forms say: canonical texts, and which of them have not their form.

The rows pass through a few nested SELECTs, so that each finding of a cell has a name and is made once. Behind
the columns ``c0``, ``c1``, … comes ``misread``: the place of a column whose cell has not its form and stands
as it was written, NULL in rows without one. Engines leave it out of what does not ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.model.written_form import WrittenForm
from discreet.sql.dialect import Dialect
from discreet.sql.names import literal
from discreet.sql.source import column_name
from discreet.sql.written_dates import date_steps
from discreet.sql.written_numbers import number_steps
from discreet.sql.written_steps import Steps, stripped

MISREAD = "misread"
"""The column that tells of cells without their form."""


def read_as_written(
    rows: str,
    columns: int,
    forms: Mapping[int, WrittenForm],
    null_values: Sequence[str],
    dialect: Dialect,
) -> str:
    """The query that reads rows by the forms of some of their columns, which are texts.

    ``rows`` stands behind FROM and has ``columns`` columns, of which ``forms`` are keyed by place.
    ``null_values`` are taken out before a cell is looked at, with the blanks around it or without.
    """
    query = f"SELECT * FROM {rows}"
    steps = {place: _steps(place, form, dialect) for place, form in forms.items()}
    depth = max(len(found.named) for found in steps.values())
    for level in range(depth):
        named = {n: e for s in steps.values() if level < len(s.named) for n, e in s.named[level].items()}
        new = ", ".join(f"{expression} AS {name}" for name, expression in named.items())
        query = f"SELECT *, {new} FROM ({query}) AS s{level}"
    cells = [
        f"{_cell(i, forms[i], steps[i], null_values)} AS {column_name(i)}" if i in forms else column_name(i)
        for i in range(columns)
    ]
    wrong = " ".join(
        f"WHEN {_misread(i, form, steps[i], null_values)} THEN {i}"
        for i, form in forms.items()
        if form.refuses
    )
    cells.append(f"{f'CASE {wrong} END' if wrong else 'CAST(NULL AS INTEGER)'} AS {MISREAD}")
    return f"SELECT {', '.join(cells)} FROM ({query}) AS written"


def _steps(place: int, form: WrittenForm, dialect: Dialect) -> Steps:
    """What is found of a cell, step by step; the first is its text without blanks around it."""
    text = f"t{place}"
    first = {text: stripped(column_name(place))}
    if form.is_number:
        found = number_steps(place, text, form, dialect)
    elif form.dates:
        found = date_steps(place, text, form, dialect)
    else:
        found = Steps((), text)
    return Steps((first, *found.named), found.value)


def _cell(place: int, form: WrittenForm, steps: Steps, null_values: Sequence[str]) -> str:
    column = f"t{place}" if form.lenient and form.strip else column_name(place)
    nulls = _is_one_of(place, null_values)
    apart = _is_one_of(place, form.others)
    return (
        f"CASE WHEN {nulls} THEN NULL WHEN {apart} THEN t{place} "
        f"WHEN {steps.value} IS NOT NULL THEN {steps.value} ELSE {column} END"
    )


def _misread(place: int, form: WrittenForm, steps: Steps, null_values: Sequence[str]) -> str:
    known = _is_one_of(place, (*null_values, *form.others))
    return f"{column_name(place)} IS NOT NULL AND NOT ({known}) AND {steps.value} IS NULL"


def _is_one_of(place: int, texts: Sequence[str]) -> str:
    if not texts:
        return "FALSE"
    listed = ", ".join(map(literal, dict.fromkeys(texts)))
    return f"({column_name(place)} IN ({listed}) OR t{place} IN ({listed}))"
