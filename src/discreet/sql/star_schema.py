"""Star schema of leaf codes: frequency sets of a full-domain search and partitions of Mondrian, by GROUP BY.

One fact table has the codes of each row, a dimension table per quasi-identifier the positions of its values
at each level (LeFevre, DeWitt and Ramakrishnan 2005). Row types are counted from the facts; a tree of cuts
assigns them to fragments by one CASE expression, and histograms are counted per fragment. Functions return
queries; the engine creates the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.model.criteria.base import BoundCriterion
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, numbered
from discreet.sql.recoded_rows import failure_predicate

FACT_ROWS, SUBJECT, TEXT_VALUE, TEXT_NUMBER = "n", "u", "v", "i"


code_name = numbered("c")
"""Column name of a quasi-identifier, by its index in the lattice."""

sensitive_name = numbered("s")
"""Column name of a sensitive attribute, by its index in the spec."""

text_name = numbered("t")
"""Column name of a cell text in the table of texts."""

level_name = numbered("l")
"""Column name of a level's positions in a dimension table."""


def cell_texts(relation: str, texts: Sequence[str]) -> str:
    """Select the cell texts of a source's rows."""
    columns = ", ".join(f"{text} AS {text_name(i)}" for i, text in enumerate(texts))
    return f"SELECT {columns} FROM {relation}"


def table_row_count(table: str) -> str:
    """Count the rows of a table."""
    return f"SELECT count(*) FROM {identifier(table)}"


def row_counts_where(table: str, predicates: Sequence[str]) -> str:
    """Select one row: the number of rows of a table, and the number that satisfies each predicate."""
    counted = [f"coalesce(sum(CASE WHEN {predicate} THEN 1 ELSE 0 END), 0)" for predicate in predicates]
    return f"SELECT {', '.join(['count(*)', *counted])} FROM {identifier(table)}"


def texts_with_rows(table: str, index: int, where: str) -> str:
    """Select the distinct texts ``v`` of a column, without NULL, with their rows ``n``."""
    text = text_name(index)
    rows = f"{identifier(table)} WHERE ({where}) AND {text} IS NOT NULL"
    return f"SELECT {text} AS {TEXT_VALUE}, count(*) AS {FACT_ROWS} FROM {rows} GROUP BY {text}"


def every_text(texts: str) -> str:
    """Select the texts of a table of texts, with their rows."""
    return f"SELECT {TEXT_VALUE}, {FACT_ROWS} FROM {identifier(texts)}"


def numbered_texts(table: str, index: int, number: str) -> str:
    """Select the distinct texts ``v`` of a column, without NULL, each with a unique number ``i``.

    ``number`` is the expression that numbers rows.
    """
    text = text_name(index)
    values = f"SELECT DISTINCT {text} AS {TEXT_VALUE} FROM {identifier(table)} WHERE {text} IS NOT NULL"
    return f"SELECT {TEXT_VALUE}, {number} AS {TEXT_NUMBER} FROM ({values}) AS held"


def dense_number(dialect: Dialect) -> str:
    """Return the expression that numbers rows from 0 without gaps."""
    return f"CAST(row_number() OVER ({dialect.any_order}) - 1 AS INTEGER)"


@dataclass(frozen=True)
class CodedColumn:
    """Encoding of a column of the fact table.

    ``table`` maps its texts (column ``v``) to codes (column ``code``); NULL becomes ``null_code``.
    """

    name: str
    table: str
    code: str
    null_code: int


def fact_table(texts: str, columns: Sequence[CodedColumn], where: str) -> str:
    """Build the fact table from the table of cell texts."""
    selected, joins = [], []
    for i, column in enumerate(columns):
        selected.append(f"coalesce(d{i}.{column.code}, {column.null_code}) AS {column.name}")
        joins.append(f"LEFT JOIN {identifier(column.table)} AS d{i} ON t.{text_name(i)} = d{i}.{TEXT_VALUE}")
    return f"SELECT {', '.join(selected)} FROM {identifier(texts)} AS t {' '.join(joins)} WHERE {where}"


@dataclass(frozen=True)
class LevelStep:
    """Generalization of one attribute of a frequency set from a level to another, by a dimension table.

    With ``target`` None it is unchanged; ``top`` means that the target level has a single value.
    """

    attribute: int
    dimension: str
    level: int
    target: int | None
    top: bool = False


def frequency_set(source: str, steps: Sequence[LevelStep], columns: Sequence[str], rows: str) -> str:
    """Build a frequency set: one GROUP BY over a fact table or another frequency set.

    ``rows`` is the aggregate that counts rows, ``ROWS_OF_FACTS`` or ``ROWS_OF_COUNTS``; ``columns`` contains
    the columns that are unchanged.
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
    selected += [f"f.{column} AS {column}" for column in columns]
    keys += [f"f.{column}" for column in columns]
    source = " ".join([f"{identifier(source)} AS f", *joins])
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(selected)}, {rows} AS {FACT_ROWS} FROM {source}{grouped}"


ROWS_OF_FACTS = "count(*)"
"""Number of rows of a frequency set built from facts."""

ROWS_OF_COUNTS = f"CAST(sum(f.{FACT_ROWS}) AS BIGINT)"
"""Number of rows of a frequency set built from another one."""


def _generalization(step: LevelStep) -> str:
    low, high = level_name(step.level), level_name(step.target or 0)
    return f"(SELECT DISTINCT {low} AS low, {high} AS high FROM {identifier(step.dimension)})"


def suppressed_row_count(
    table: str, codes: Sequence[str], bound: Sequence[BoundCriterion], *, by_subject: bool
) -> str:
    """Count the rows in the classes of a frequency set that fail one of the criteria.

    With ``by_subject`` sizes are distinct subjects; values are distinct codes (see ``classes_to_match``).
    Raises ``InputError`` for a criterion that the engine does not count.
    """
    total = f"SELECT CAST(coalesce(sum({FACT_ROWS}), 0) AS BIGINT) "
    places, failing = _sensitive_indices(bound), _failing_predicate(bound, by_subject=by_subject)
    if not places and not by_subject:
        return total + f"FROM {identifier(table)} WHERE {failing}"
    return total + f"FROM ({_classes(table, codes, places, by_subject=by_subject)}) AS g WHERE {failing}"


def classes_to_match(
    dialect: Dialect, table: str, codes: Sequence[str], bound: Sequence[BoundCriterion]
) -> str:
    """Select the classes that pass by distinct subjects and values, each with a unique number ``g``.

    If a subject has several values, it remains open whether l values belong to l different subjects.
    """
    columns = f"{', '.join(codes)}, {FACT_ROWS}, {dialect.distinct_number} AS g"
    classes = _classes(table, codes, _sensitive_indices(bound), by_subject=True)
    return (
        f"SELECT {columns} FROM ({classes}) AS held WHERE NOT ({_failing_predicate(bound, by_subject=True)})"
    )


def values_of_subjects(classes: str, table: str, codes: Sequence[str], column: str) -> str:
    """Select the distinct values of each subject by numbered class: ``g``, class rows ``n``, ``s``, ``u``."""
    same = " AND ".join(f"m.{code} = f.{code}" for code in codes)
    return (
        f"SELECT DISTINCT m.g AS g, m.{FACT_ROWS} AS n, f.{column} AS s, f.{SUBJECT} AS u "
        f"FROM {identifier(classes)} AS m JOIN {identifier(table)} AS f ON {same} WHERE f.{column} >= 0"
    )


def _classes(table: str, codes: Sequence[str], places: Sequence[int], *, by_subject: bool) -> str:
    # Rows of a group differ in the counted columns; a single one is therefore already distinct.
    distinct = "DISTINCT " if len(places) + by_subject > 1 else ""
    counted = [f"CAST(sum({FACT_ROWS}) AS BIGINT) AS {FACT_ROWS}"]
    counted += [f"count({distinct}{SUBJECT}) AS subjects"] if by_subject else []
    counted += [
        f"count({distinct}CASE WHEN {column} >= 0 THEN {column} END) AS distinct_{column}"
        for column in map(sensitive_name, places)
    ]
    keys = ", ".join(codes)
    return f"SELECT {keys}, {', '.join(counted)} FROM {identifier(table)} GROUP BY {keys}"


def _sensitive_indices(bound: Sequence[BoundCriterion]) -> list[int]:
    return sorted({one.index for one in bound if one.index is not None})


def _failing_predicate(bound: Sequence[BoundCriterion], *, by_subject: bool) -> str:
    size, places = "subjects" if by_subject else FACT_ROWS, _sensitive_indices(bound)
    tests = [failure_predicate(bound, size, {index: f"distinct_{sensitive_name(index)}" for index in places})]
    if by_subject and places:
        # At most one value per subject can be matched, so the subjects bound the matched values.
        tests.append(
            failure_predicate(
                [one for one in bound if one.index is not None], size, dict.fromkeys(places, size)
            )
        )
    return " OR ".join(tests)


FRAGMENT, FRAGMENT_CLASS = "fragment", "class"
LEAF_CODE, CUT_POSITION = "code", "place"
ENTRY_KIND, CELL_LABEL = "kind", "label"
ATTRIBUTE, CELL, CELL_NUMBER, FIRST_CLASS, LABEL_POSITION = "attribute", "cell", "number", "first", "position"
NO_CODE = -2

ROW_TYPE_ENTRY, CLASS_ENTRY, CELL_ENTRY = 0, 1, 2
"""Kinds of entries of finished fragments, whose values are in ``v0``, ``v1``, ….

A row type has its leaf codes and its ``class``. A class has one cell number per attribute, its ``class`` and
its rows ``n``. A cell has the index of its attribute, its number, and two flags (1 or 0): whether the
fragment's cells of the attribute are all unchanged leaves, and whether some are derived from the data. Its
``label`` is never NULL: a mark before its text, and the empty text for NULL. Classes and cells are numbered
within the fragment.
"""

LABEL_MARK = "="
"""Prefix of a cell's text in ``label``."""

CELL_VALUES = 4
"""Number of values of a cell entry."""


cut_position_name = numbered("p")
"""Column name of an attribute's position."""

class_cell_name = numbered("q")
"""Column name of a class's cell in an attribute."""

entry_value_name = numbered("v")
"""Column name of a value of an entry of finished fragments."""


@dataclass(frozen=True)
class Branch:
    """A cut: row types whose position in ``attribute`` is at most ``last`` belong to ``left``."""

    attribute: int
    last: int
    left: Tree
    right: Tree


Tree: TypeAlias = "Branch | int"
"""A tree of cuts; a leaf is the number of a fragment."""


def count_row_types(facts: str, orders: Sequence[str | None], sensitive: int) -> str:
    """Count the row types of a fact table of leaf codes.

    ``orders[i]`` names the table of an attribute's codes and positions; None if they are equal.
    """
    columns, joins = [], []
    for i, order in enumerate(orders):
        if order is None:
            columns.append((f"f.{code_name(i)}", cut_position_name(i)))
        else:
            columns.append((f"o{i}.{CUT_POSITION}", cut_position_name(i)))
            joins.append(f"JOIN {identifier(order)} AS o{i} ON f.{code_name(i)} = o{i}.{LEAF_CODE}")
    columns += [(f"f.{sensitive_name(a)}", sensitive_name(a)) for a in range(sensitive)]
    named = ", ".join(f"{expression} AS {name}" for expression, name in columns)
    return (
        f"SELECT {named}, count(*) AS {FACT_ROWS} FROM {' '.join([f'{identifier(facts)} AS f', *joins])} "
        f"GROUP BY {', '.join(expression for expression, _ in columns)}"
    )


def fragment_expression(tree: Tree) -> str:
    """Return the expression of a row type's fragment number."""
    if not isinstance(tree, Branch):
        return str(tree)
    left, right = fragment_expression(tree.left), fragment_expression(tree.right)
    return f"CASE WHEN {cut_position_name(tree.attribute)} <= {tree.last} THEN {left} ELSE {right} END"


def histograms(
    table: str, tree: Tree, fragments: Sequence[int], attributes: int, sensitive: Sequence[int]
) -> str:
    """Count rows by position of each attribute in each of some fragments, in one scan of the row types.

    ``sensitive`` contains the indices of the sensitive attributes whose values are also counted. Columns:
    ``fragment``, ``p0``, … (-1 in all but one), ``s0``, … (``NO_CODE`` in all but at most one), ``n`` (rows)
    and ``types`` (entries of the table). Entries without a position count the whole fragment.
    """
    names = [cut_position_name(i) for i in range(attributes)]
    values = [sensitive_name(a) for a in sensitive]
    sets = [[FRAGMENT], *([FRAGMENT, name] for name in names)]
    sets += [[FRAGMENT, name, value] for name in names for value in values]
    grouping = ", ".join(f"({', '.join(columns)})" for columns in sets)
    columns = [FRAGMENT, *(f"coalesce({name}, -1) AS {name}" for name in names)]
    columns += [f"coalesce({value}, {NO_CODE}) AS {value}" for value in values]
    inner = f"SELECT *, {fragment_expression(tree)} AS {FRAGMENT} FROM {identifier(table)}"
    wanted = ", ".join(map(str, fragments))
    return (
        f"SELECT {', '.join(columns)}, CAST(sum({FACT_ROWS}) AS BIGINT) AS {FACT_ROWS}, count(*) AS types "
        f"FROM ({inner}) AS held WHERE {FRAGMENT} IN ({wanted}) GROUP BY GROUPING SETS ({grouping})"
    )


def with_fragments(table: str, tree: Tree, attributes: int, sensitive: int) -> str:
    """Select the row types, ``p0``, …, ``s0``, … and ``n``, each with its ``fragment``."""
    columns = [cut_position_name(i) for i in range(attributes)] + [
        sensitive_name(a) for a in range(sensitive)
    ]
    return (
        f"SELECT {', '.join(columns)}, {FACT_ROWS}, {fragment_expression(tree)} AS {FRAGMENT} "
        f"FROM {identifier(table)}"
    )


def fragment_totals(finished: str) -> str:
    """Count the classes and the rows of each fragment, as ``fragment``, ``classes`` and ``n``."""
    return (
        f"SELECT {FRAGMENT}, count(*) AS classes, CAST(sum({FACT_ROWS}) AS BIGINT) AS {FACT_ROWS} "
        f"FROM {identifier(finished)} WHERE {ENTRY_KIND} = {CLASS_ENTRY} GROUP BY {FRAGMENT}"
    )


def cell_facts(finished: str) -> str:
    """Select per attribute whether all cells are unchanged leaves, and whether some derive from the data."""
    return (
        f"SELECT {entry_value_name(0)}, min({entry_value_name(2)}), max({entry_value_name(3)}) "
        f"FROM {identifier(finished)} WHERE {ENTRY_KIND} = {CELL_ENTRY} GROUP BY {entry_value_name(0)}"
    )


def numbered_cells(dialect: Dialect, finished: str) -> str:
    """Select the distinct cells of each attribute, by their labels, each with a unique ``number``."""
    distinct_cells = (
        f"SELECT DISTINCT {entry_value_name(0)} AS {ATTRIBUTE}, {CELL_LABEL} FROM {identifier(finished)} "
        f"WHERE {ENTRY_KIND} = {CELL_ENTRY}"
    )
    return (
        f"SELECT {ATTRIBUTE}, {CELL_LABEL}, {dialect.distinct_number} AS {CELL_NUMBER} "
        f"FROM ({distinct_cells}) AS held"
    )


def cell_labels(numbers: str, attribute: int) -> str:
    """Select the text ``label`` of each ``position`` of an attribute, from its ``numbered_cells``."""
    text = f"CASE WHEN {CELL_LABEL} = '' THEN NULL ELSE substr({CELL_LABEL}, {len(LABEL_MARK) + 1}) END"
    return (
        f"SELECT {CELL_NUMBER} AS {LABEL_POSITION}, {text} AS {CELL_LABEL} FROM {identifier(numbers)} "
        f"WHERE {ATTRIBUTE} = {attribute}"
    )


def cell_numbers(finished: str, numbers: str) -> str:
    """Select the ``number`` of each ``cell`` of an ``attribute`` in a ``fragment``, by ``numbered_cells``."""
    return (
        f"SELECT t.{FRAGMENT}, t.{entry_value_name(0)} AS {ATTRIBUTE}, t.{entry_value_name(1)} AS {CELL}, "
        f"m.{CELL_NUMBER} FROM {identifier(finished)} AS t "
        f"JOIN {identifier(numbers)} AS m ON t.{entry_value_name(0)} = m.{ATTRIBUTE} "
        f"AND t.{CELL_LABEL} = m.{CELL_LABEL} WHERE t.{ENTRY_KIND} = {CELL_ENTRY}"
    )


def classed_row_types(finished: str, offsets: str, attributes: int) -> str:
    """Select the leaf codes of each row type, ``c0``, …, and its ``class``, numbered across fragments.

    ``offsets`` is a table of the ``first`` class of each fragment.
    """
    codes = ", ".join(f"t.{entry_value_name(i)} AS {code_name(i)}" for i in range(attributes))
    return f"SELECT {codes}, {_numbered_classes(finished, offsets)} WHERE t.{ENTRY_KIND} = {ROW_TYPE_ENTRY}"


def class_cell_numbers(finished: str, offsets: str, cells: str, attributes: int) -> str:
    """Select the cells of each ``class``, numbered across fragments, ``q0``, …, and its rows ``n``.

    ``cells`` names the table of ``cell_numbers``.
    """
    columns = ", ".join(f"m{i}.{CELL_NUMBER} AS {class_cell_name(i)}" for i in range(attributes))
    joins = " ".join(
        f"JOIN {identifier(cells)} AS m{i} ON m{i}.{ATTRIBUTE} = {i} AND m{i}.{FRAGMENT} = t.{FRAGMENT} "
        f"AND m{i}.{CELL} = t.{entry_value_name(i)}"
        for i in range(attributes)
    )
    rows = f"t.{FACT_ROWS} AS {FACT_ROWS}"
    return (
        f"SELECT {columns}, {rows}, {_numbered_classes(finished, offsets)} {joins} "
        f"WHERE t.{ENTRY_KIND} = {CLASS_ENTRY}"
    )


def _numbered_classes(finished: str, offsets: str) -> str:
    return (
        f"t.{FRAGMENT_CLASS} + o.{FIRST_CLASS} AS {FRAGMENT_CLASS} FROM {identifier(finished)} AS t "
        f"JOIN {identifier(offsets)} AS o ON t.{FRAGMENT} = o.{FRAGMENT}"
    )
