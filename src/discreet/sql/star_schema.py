"""A star schema of leaf codes, and the frequency sets that are counted from it (LeFevre et al. 2005).

One *fact table* holds the rows: the code of each quasi-identifier's value (``c0``, ``c1``, …), of each
sensitive value (``s0``, …; -1 for NULL) and of the subject (``u``). One *dimension table* per
quasi-identifier holds its values with their generalizations: the text ``v`` and the position in each level
(``l0``, ``l1``, …). A *frequency set* is a table with the position of each of its attributes (``c`` and the
attribute's place), what the requirement asks for beside the rows (``s`` and place, ``u``) and the rows ``n``.
Codes are never NULL, so plain equality joins them. Every function gives a query; the engine makes tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.model.criteria.base import Bound
from discreet.sql.dialect import Dialect
from discreet.sql.failing import fails
from discreet.sql.names import identifier

ROWS, SUBJECT, VALUE, NUMBER = "n", "u", "v", "i"


def code_name(attribute: int) -> str:
    """The column of the quasi-identifier at a place in the lattice's order."""
    return f"c{attribute}"


def sensitive_name(place: int) -> str:
    """The column of the sensitive attribute at a place in the spec's order."""
    return f"s{place}"


def text_name(place: int) -> str:
    """The column of a cell text in the table of texts."""
    return f"t{place}"


def level_name(level: int) -> str:
    """The column of a level's positions in a dimension table."""
    return f"l{level}"


def cell_texts(relation: str, texts: Sequence[str]) -> str:
    """The cell texts of a source's rows."""
    columns = ", ".join(f"{text} AS {text_name(i)}" for i, text in enumerate(texts))
    return f"SELECT {columns} FROM {relation}"


def rows_of(table: str) -> str:
    """The number of rows of a table."""
    return f"SELECT count(*) FROM {identifier(table)}"


def rows_where(table: str, predicates: Sequence[str]) -> str:
    """The number of rows of a table, and of those that each predicate holds for: one row."""
    counted = [f"coalesce(sum(CASE WHEN {predicate} THEN 1 ELSE 0 END), 0)" for predicate in predicates]
    return f"SELECT {', '.join(['count(*)', *counted])} FROM {identifier(table)}"


def texts_with_rows(table: str, place: int, where: str) -> str:
    """The distinct texts ``v`` of a column, NULL left out, with their rows ``n``."""
    text = text_name(place)
    held = f"{identifier(table)} WHERE ({where}) AND {text} IS NOT NULL"
    return f"SELECT {text} AS {VALUE}, count(*) AS {ROWS} FROM {held} GROUP BY {text}"


def every_text(held: str) -> str:
    """The texts of a table of them, with their rows."""
    return f"SELECT {VALUE}, {ROWS} FROM {identifier(held)}"


def numbered_texts(table: str, place: int, number: str) -> str:
    """The distinct texts ``v`` of a column, NULL left out, each with a number ``i`` of its own.

    ``number`` is the expression that numbers rows.
    """
    text = text_name(place)
    values = f"SELECT DISTINCT {text} AS {VALUE} FROM {identifier(table)} WHERE {text} IS NOT NULL"
    return f"SELECT {VALUE}, {number} AS {NUMBER} FROM ({values}) AS held"


def dense_number(dialect: Dialect) -> str:
    """The expression that numbers rows from 0 without gaps."""
    return f"CAST(row_number() OVER ({dialect.any_order}) - 1 AS INTEGER)"


@dataclass(frozen=True)
class Coded:
    """A column on its way into the fact table.

    ``table`` maps its texts (column ``v``) to codes (column ``code``); NULL gets ``null_code``.
    """

    name: str
    table: str
    code: str
    null_code: int


def fact_table(texts: str, columns: Sequence[Coded], where: str) -> str:
    """The facts, from the table of cell texts."""
    selected, joins = [], []
    for i, column in enumerate(columns):
        selected.append(f"coalesce(d{i}.{column.code}, {column.null_code}) AS {column.name}")
        joins.append(f"LEFT JOIN {identifier(column.table)} AS d{i} ON t.{text_name(i)} = d{i}.{VALUE}")
    return f"SELECT {', '.join(selected)} FROM {identifier(texts)} AS t {' '.join(joins)} WHERE {where}"


@dataclass(frozen=True)
class LevelStep:
    """One attribute of a frequency set on its way from a level to another, by a dimension table.

    ``target`` None leaves it as it is; ``top`` says that the target has a single value.
    """

    attribute: int
    dimension: str
    level: int
    target: int | None
    top: bool = False


def frequency_set(source: str, steps: Sequence[LevelStep], kept: Sequence[str], rows: str) -> str:
    """A frequency set: one GROUP BY over a fact table (``rows`` is ``count(*)``) or another one.

    ``kept`` are the columns that stay as they are.
    """
    selected, keys, joins = [], [], []
    for step in steps:
        code, alias = code_name(step.attribute), f"d{step.attribute}"
        if step.target is not None and step.top:
            selected.append(f"0 AS {code}")
            continue
        key = f"f.{code}"
        if step.target is not None:
            joins.append(f"JOIN {_generalization(step)} AS {alias} ON f.{code} = {alias}.low")
            key = f"{alias}.high"
        keys.append(key)
        selected.append(f"{key} AS {code}")
    selected += [f"f.{column} AS {column}" for column in kept]
    keys += [f"f.{column}" for column in kept]
    source = " ".join([f"{identifier(source)} AS f", *joins])
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(selected)}, {rows} AS {ROWS} FROM {source}{grouped}"


COUNTED = "count(*)"
"""The rows of a frequency set made from facts."""

ADDED = f"CAST(sum(f.{ROWS}) AS BIGINT)"
"""The rows of a frequency set made from another one."""


def _generalization(step: LevelStep) -> str:
    low, high = level_name(step.level), level_name(step.target or 0)
    return f"(SELECT DISTINCT {low} AS low, {high} AS high FROM {identifier(step.dimension)})"


def suppressed_rows(table: str, codes: Sequence[str], bound: Sequence[Bound], *, by_subject: bool) -> str:
    """Rows in the classes of a frequency set that fail one of the criteria.

    With ``by_subject`` sizes are distinct subjects; values are distinct codes (see ``classes_to_match``).
    ``InputError`` for a criterion that the engine does not count.
    """
    total = f"SELECT CAST(coalesce(sum({ROWS}), 0) AS BIGINT) "
    places, failing = _places(bound), _fails(bound, by_subject=by_subject)
    if not places and not by_subject:
        return total + f"FROM {identifier(table)} WHERE {failing}"
    return total + f"FROM ({_classes(table, codes, places, by_subject=by_subject)}) AS g WHERE {failing}"


def classes_to_match(dialect: Dialect, table: str, codes: Sequence[str], bound: Sequence[Bound]) -> str:
    """The classes that pass by distinct subjects and values, each with a number ``g`` of its own.

    Whether their values can be told of different subjects is still open where a subject has several values.
    """
    columns = f"{', '.join(codes)}, {ROWS}, {dialect.distinct_number} AS g"
    classes = _classes(table, codes, _places(bound), by_subject=True)
    return f"SELECT {columns} FROM ({classes}) AS held WHERE NOT ({_fails(bound, by_subject=True)})"


def values_of_subjects(classes: str, table: str, codes: Sequence[str], column: str) -> str:
    """The distinct values of each subject in each numbered class: ``g``, its rows ``n``, ``s`` and ``u``."""
    same = " AND ".join(f"m.{code} = f.{code}" for code in codes)
    return (
        f"SELECT DISTINCT m.g AS g, m.{ROWS} AS n, f.{column} AS s, f.{SUBJECT} AS u "
        f"FROM {identifier(classes)} AS m JOIN {identifier(table)} AS f ON {same} WHERE f.{column} >= 0"
    )


def _classes(table: str, codes: Sequence[str], places: Sequence[int], *, by_subject: bool) -> str:
    # Groups differ in what is counted: where that is one column, its values are distinct as they are.
    distinct = "DISTINCT " if len(places) + by_subject > 1 else ""
    counted = [f"CAST(sum({ROWS}) AS BIGINT) AS {ROWS}"]
    counted += [f"count({distinct}{SUBJECT}) AS subjects"] if by_subject else []
    counted += [
        f"count({distinct}CASE WHEN {column} >= 0 THEN {column} END) AS distinct_{column}"
        for column in map(sensitive_name, places)
    ]
    keys = ", ".join(codes)
    return f"SELECT {keys}, {', '.join(counted)} FROM {identifier(table)} GROUP BY {keys}"


def _places(bound: Sequence[Bound]) -> list[int]:
    return sorted({one.place for one in bound if one.place is not None})


def _fails(bound: Sequence[Bound], *, by_subject: bool) -> str:
    size, places = "subjects" if by_subject else ROWS, _places(bound)
    tests = [fails(bound, size, {place: f"distinct_{sensitive_name(place)}" for place in places})]
    if by_subject and places:
        # No more values can be told of different subjects than there are subjects.
        tests.append(
            fails([one for one in bound if one.place is not None], size, dict.fromkeys(places, size))
        )
    return " OR ".join(tests)
