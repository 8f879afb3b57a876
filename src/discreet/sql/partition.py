"""Cutting a table where its rows live: row types by places, fragments by conditions, histograms by GROUP BY.

The *table of row types* has the place of each quasi-identifier's value in its order (``p0``, ``p1``, …),
codes of the sensitive values (``s0``, …; -1 for NULL) and the rows ``n``. A *fragment* is what a tree of
cuts makes of it, told apart by one CASE expression, so that nothing is written again when a fragment is
cut. The *finished* fragments are one table of three kinds of entries (``KINDS``), each with the number of its
fragment. Every function gives a query; the engine makes tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.sql.dialect import Dialect
from discreet.sql.names import identifier
from discreet.sql.star_schema import ROWS, code_name, sensitive_name

FRAGMENT, CLASS = "fragment", "class"
CODE, PLACE = "code", "place"
KIND, LABEL = "kind", "label"
ATTRIBUTE, CELL, NUMBER, FIRST, POSITION = "attribute", "cell", "number", "first", "position"
NO_CODE = -2

ROW_TYPE, SHOWN, SHOWN_CELL = 0, 1, 2
"""Kinds of entries of finished fragments, whose values are in ``v0``, ``v1``, ….

A row type has its leaf codes and its ``class``. What a class shows is one cell by its number per attribute,
with the ``class`` and its rows ``n``. A cell has the place of its attribute, its number, and whether the
fragment's cells of the attribute are all leaves as they are, and whether some are derived from the data (1 or
0); its ``label`` is never NULL: a mark before its text, and nothing at all for NULL. Classes and cells are
numbered within the fragment.
"""

LABEL_MARK = "="
"""What stands before a cell's text in ``label``."""

LEAST_VALUES = 4
"""The values that a cell takes."""


def place_name(attribute: int) -> str:
    """The column of an attribute's place."""
    return f"p{attribute}"


def shown_name(attribute: int) -> str:
    """The column of the cell that a class shows of an attribute."""
    return f"q{attribute}"


def value_name(place: int) -> str:
    """The column of a value of an entry of finished fragments."""
    return f"v{place}"


@dataclass(frozen=True)
class Branch:
    """A cut: row types whose place in ``attribute`` is at most ``last`` belong below ``left``."""

    attribute: int
    last: int
    left: Tree
    right: Tree


Tree: TypeAlias = "Branch | int"
"""A tree of cuts; a leaf is the number of a fragment."""


def row_types(facts: str, orders: Sequence[str | None], sensitive: int) -> str:
    """The row types of a fact table of leaf codes.

    ``orders[i]`` names the table of an attribute's codes and places; None where they are the same.
    """
    columns, joins = [], []
    for i, order in enumerate(orders):
        if order is None:
            columns.append((f"f.{code_name(i)}", place_name(i)))
        else:
            columns.append((f"o{i}.{PLACE}", place_name(i)))
            joins.append(f"JOIN {identifier(order)} AS o{i} ON f.{code_name(i)} = o{i}.{CODE}")
    columns += [(f"f.{sensitive_name(a)}", sensitive_name(a)) for a in range(sensitive)]
    named = ", ".join(f"{expression} AS {name}" for expression, name in columns)
    return (
        f"SELECT {named}, count(*) AS {ROWS} FROM {' '.join([f'{identifier(facts)} AS f', *joins])} "
        f"GROUP BY {', '.join(expression for expression, _ in columns)}"
    )


def fragment_of(tree: Tree) -> str:
    """The number of a row type's fragment."""
    if not isinstance(tree, Branch):
        return str(tree)
    left, right = fragment_of(tree.left), fragment_of(tree.right)
    return f"CASE WHEN {place_name(tree.attribute)} <= {tree.last} THEN {left} ELSE {right} END"


def histograms(
    table: str, tree: Tree, fragments: Sequence[int], attributes: int, sensitive: Sequence[int]
) -> str:
    """Rows by place of each attribute in each of some fragments, in one scan of the row types.

    ``sensitive`` are the places of the sensitive attributes whose values are wanted beside. Result columns:
    ``fragment``, ``p0``, … (-1 but for one), ``s0``, … (``NO_CODE`` but for at most one), ``n`` (rows) and
    ``types`` (entries of the table). Entries without a place hold the whole fragment.
    """
    names = [place_name(i) for i in range(attributes)]
    values = [sensitive_name(a) for a in sensitive]
    sets = [[FRAGMENT], *([FRAGMENT, name] for name in names)]
    sets += [[FRAGMENT, name, value] for name in names for value in values]
    grouping = ", ".join(f"({', '.join(columns)})" for columns in sets)
    columns = [FRAGMENT, *(f"coalesce({name}, -1) AS {name}" for name in names)]
    columns += [f"coalesce({value}, {NO_CODE}) AS {value}" for value in values]
    inner = f"SELECT *, {fragment_of(tree)} AS {FRAGMENT} FROM {identifier(table)}"
    wanted = ", ".join(map(str, fragments))
    return (
        f"SELECT {', '.join(columns)}, CAST(sum({ROWS}) AS BIGINT) AS {ROWS}, count(*) AS types "
        f"FROM ({inner}) AS held WHERE {FRAGMENT} IN ({wanted}) GROUP BY GROUPING SETS ({grouping})"
    )


def with_fragments(table: str, tree: Tree, attributes: int, sensitive: int) -> str:
    """The row types, ``p0``, …, ``s0``, … and ``n``, each with its ``fragment``."""
    columns = [place_name(i) for i in range(attributes)] + [sensitive_name(a) for a in range(sensitive)]
    return f"SELECT {', '.join(columns)}, {ROWS}, {fragment_of(tree)} AS {FRAGMENT} FROM {identifier(table)}"


def totals(finished: str) -> str:
    """The classes and the rows of each fragment, as ``fragment``, ``classes`` and ``n``."""
    return (
        f"SELECT {FRAGMENT}, count(*) AS classes, CAST(sum({ROWS}) AS BIGINT) AS {ROWS} "
        f"FROM {identifier(finished)} WHERE {KIND} = {SHOWN} GROUP BY {FRAGMENT}"
    )


def cell_facts(finished: str) -> str:
    """Of each attribute whether all cells are leaves as they are, and whether some derive from the data."""
    return (
        f"SELECT {value_name(0)}, min({value_name(2)}), max({value_name(3)}) FROM {identifier(finished)} "
        f"WHERE {KIND} = {SHOWN_CELL} GROUP BY {value_name(0)}"
    )


def numbered_cells(dialect: Dialect, finished: str) -> str:
    """The distinct cells of each attribute, by their labels, each with a ``number`` of its own."""
    held = (
        f"SELECT DISTINCT {value_name(0)} AS {ATTRIBUTE}, {LABEL} FROM {identifier(finished)} "
        f"WHERE {KIND} = {SHOWN_CELL}"
    )
    return f"SELECT {ATTRIBUTE}, {LABEL}, {dialect.distinct_number} AS {NUMBER} FROM ({held}) AS held"


def labels(numbers: str, attribute: int) -> str:
    """The text ``label`` of each ``position`` of an attribute, from its ``numbered_cells``."""
    text = f"CASE WHEN {LABEL} = '' THEN NULL ELSE substr({LABEL}, {len(LABEL_MARK) + 1}) END"
    return (
        f"SELECT {NUMBER} AS {POSITION}, {text} AS {LABEL} FROM {identifier(numbers)} "
        f"WHERE {ATTRIBUTE} = {attribute}"
    )


def cell_numbers(finished: str, numbers: str) -> str:
    """The ``number`` of each ``cell`` of an ``attribute`` in a ``fragment``, by ``numbered_cells``."""
    return (
        f"SELECT t.{FRAGMENT}, t.{value_name(0)} AS {ATTRIBUTE}, t.{value_name(1)} AS {CELL}, m.{NUMBER} "
        f"FROM {identifier(finished)} AS t JOIN {identifier(numbers)} AS m "
        f"ON t.{value_name(0)} = m.{ATTRIBUTE} AND t.{LABEL} = m.{LABEL} WHERE t.{KIND} = {SHOWN_CELL}"
    )


def classed_row_types(finished: str, offsets: str, attributes: int) -> str:
    """The leaf codes of each row type, ``c0``, …, and its ``class``, numbered through.

    ``offsets`` is a table of the ``first`` class of each fragment.
    """
    codes = ", ".join(f"t.{value_name(i)} AS {code_name(i)}" for i in range(attributes))
    return f"SELECT {codes}, {_through(finished, offsets)} WHERE t.{KIND} = {ROW_TYPE}"


def shown_cells(finished: str, offsets: str, cells: str, attributes: int) -> str:
    """What each ``class``, numbered through, shows (``q0``, …), and its rows ``n``.

    ``cells`` names the table of ``cell_numbers``.
    """
    shown = ", ".join(f"m{i}.{NUMBER} AS {shown_name(i)}" for i in range(attributes))
    joins = " ".join(
        f"JOIN {identifier(cells)} AS m{i} ON m{i}.{ATTRIBUTE} = {i} AND m{i}.{FRAGMENT} = t.{FRAGMENT} "
        f"AND m{i}.{CELL} = t.{value_name(i)}"
        for i in range(attributes)
    )
    rows = f"t.{ROWS} AS {ROWS}"
    return f"SELECT {shown}, {rows}, {_through(finished, offsets)} {joins} WHERE t.{KIND} = {SHOWN}"


def _through(finished: str, offsets: str) -> str:
    return (
        f"t.{CLASS} + o.{FIRST} AS {CLASS} FROM {identifier(finished)} AS t "
        f"JOIN {identifier(offsets)} AS o ON t.{FRAGMENT} = o.{FRAGMENT}"
    )
