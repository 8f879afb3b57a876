"""Cutting a table where its rows live: row types by places, fragments by conditions, histograms by GROUP BY.

The *table of row types* has the place of each quasi-identifier's value in its order (``p0``, ``p1``, …),
codes of the sensitive values (``s0``, …; -1 for NULL) and the rows ``n``. A *fragment* is what a tree of
cuts makes of it, told apart by one CASE expression, so that nothing is written again when a fragment is
cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.sql.names import identifier
from discreet.sql.star_schema import ROWS, code_name, sensitive_name

FRAGMENT, CLASS = "fragment", "class"
CODE, PLACE = "code", "place"
NO_CODE = -2


def place_name(attribute: int) -> str:
    """The column of an attribute's place."""
    return f"p{attribute}"


def shown_name(attribute: int) -> str:
    """The column of the cell that a class shows of an attribute."""
    return f"q{attribute}"


@dataclass(frozen=True)
class Branch:
    """A cut: row types whose place in ``attribute`` is at most ``last`` belong below ``left``."""

    attribute: int
    last: int
    left: Tree
    right: Tree


Tree: TypeAlias = "Branch | int"
"""A tree of cuts; a leaf is the number of a fragment."""


def row_types(name: str, facts: str, orders: Sequence[str | None], sensitive: int) -> str:
    """Create the table of row types from a fact table of leaf codes.

    ``orders[i]`` names the table of an attribute's codes and places; None where they are the same.
    """
    columns, joins = [], []
    for i, order in enumerate(orders):
        if order is None:
            columns.append(f"f.{code_name(i)} AS {place_name(i)}")
        else:
            columns.append(f"o{i}.{PLACE} AS {place_name(i)}")
            joins.append(f"JOIN {identifier(order)} AS o{i} ON f.{code_name(i)} = o{i}.{CODE}")
    columns += [f"f.{sensitive_name(a)} AS {sensitive_name(a)}" for a in range(sensitive)]
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT {', '.join(columns)}, count(*) AS {ROWS} "
        f"FROM {identifier(facts)} AS f {' '.join(joins)} GROUP BY ALL"
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
        f"FROM ({inner}) WHERE {FRAGMENT} IN ({wanted}) GROUP BY GROUPING SETS ({grouping})"
    )


def fragment(table: str, tree: Tree, number: int, attributes: int, sensitive: int) -> str:
    """The row types of one fragment: ``p0``, …, ``s0``, … and ``n``."""
    columns = [place_name(i) for i in range(attributes)] + [sensitive_name(a) for a in range(sensitive)]
    return (
        f"SELECT {', '.join(columns)}, {ROWS} FROM {identifier(table)} WHERE {fragment_of(tree)} = {number}"
    )


def empty_table(name: str, columns: Sequence[str]) -> str:
    """Create a table of whole numbers without rows."""
    return f"CREATE TEMP TABLE {identifier(name)} ({', '.join(f'{column} BIGINT' for column in columns)})"


def append(target: str, source: str, columns: Sequence[str]) -> str:
    """Put the rows of one table behind those of another."""
    names = ", ".join(columns)
    return f"INSERT INTO {identifier(target)} ({names}) SELECT {names} FROM {identifier(source)}"
