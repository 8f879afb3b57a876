"""Applying a full-domain recoding: coded rows, failing classes, and the published rows.

The rows are copied once into a *coded table*: per quasi-identifier the position of its generalized value
(``q0``, ``q1``, …; a position of its own for NULL below the top), beside it the other columns that are
published or counted (``o0``, ``o1``, …). Positions are never NULL, so classes join by plain equality, and
NULLs form classes like any other value. Labels are joined back, as in a star schema, when rows are published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.sql.names import identifier, literal, qualified
from discreet.sql.source import any_null

VALUE, POSITION, LABEL = "value", "position", "label"
SORT_KEYS = ("a", "b")
CLASS_ID = "class_id"
STAR = "*"


@dataclass(frozen=True)
class KeyColumn:
    """A quasi-identifier on its way to its level.

    ``text`` is the SQL of its cell text in the source; ``positions`` names the table value → position, None
    at the top, where every cell has position 0; ``null_position`` is NULL's.
    """

    text: str
    positions: str | None
    null_position: int


def key_name(index: int) -> str:
    """The coded table's column of the quasi-identifier at a place in the lattice's order."""
    return f"q{index}"


def other_name(index: int) -> str:
    """The coded table's column of the other column at a place."""
    return f"o{index}"


def coded_table(
    name: str, relation: str, keys: Sequence[KeyColumn], others: Sequence[str], never_null: Sequence[str] = ()
) -> str:
    """Create the coded table from a source whose alias is ``s``.

    ``others`` are expressions over ``s``. Rows in which one of ``never_null`` is NULL are left out. A value
    without a position, which is no leaf, becomes NULL (``uncovered_rows``).
    """
    columns = [f"{_position(key, i)} AS {key_name(i)}" for i, key in enumerate(keys)]
    columns += [f"{expression} AS {other_name(i)}" for i, expression in enumerate(others)]
    joins = [
        f"LEFT JOIN {identifier(key.positions)} AS p{i} ON ({key.text}) = p{i}.{VALUE}"
        for i, key in enumerate(keys)
        if key.positions is not None
    ]
    where = f"WHERE NOT {any_null(never_null)}" if never_null else ""
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT {', '.join(columns)} "
        f"FROM {relation} AS s {' '.join(joins)} {where}"
    )


def _position(key: KeyColumn, index: int) -> str:
    if key.positions is None:
        return "0::UTINYINT"
    return f"CASE WHEN ({key.text}) IS NULL THEN {key.null_position} ELSE p{index}.{POSITION} END"


def coded_rows(coded: str, keys: int) -> str:
    """Rows of the coded table, and the number of those with a value without a position."""
    uncovered = any_null([key_name(i) for i in range(keys)])
    return f"SELECT count(*), count(*) FILTER (WHERE {uncovered}) FROM {identifier(coded)}"


def small_classes(coded: str, keys: int, k: int) -> str:
    """The classes of fewer than ``k`` rows."""
    columns = _keys(keys)
    return f"SELECT {columns} FROM {identifier(coded)} GROUP BY {columns} HAVING count(*) < {k}"


def classes_of_few(coded: str, keys: int, expression: str, number: int) -> str:
    """The classes with fewer than ``number`` distinct values of an expression, NULL left out.

    Two plain groupings, which may spill to disk, in place of a distinct count.
    """
    columns = _keys(keys)
    distinct = f"SELECT DISTINCT {columns}, {expression} AS v FROM {identifier(coded)}"
    return f"SELECT {columns} FROM ({distinct}) GROUP BY {columns} HAVING count(v) < {number}"


def failing_table(name: str, coded: str, keys: int, criteria: Sequence[str]) -> str:
    """Create the table of classes that one of several queries names, each class once."""
    none = f"SELECT {_keys(keys)} FROM {identifier(coded)} WHERE FALSE"
    return f"CREATE TEMP TABLE {identifier(name)} AS {' UNION '.join([none, *criteria])}"


def failing_rows(coded: str, failing: str, keys: int) -> str:
    """The number of rows in failing classes."""
    return (
        f"SELECT count(*) FROM {identifier(coded)} AS t SEMI JOIN {identifier(failing)} AS f ON {_same(keys)}"
    )


def published_rows(
    coded: str,
    failing: str,
    keys: int,
    columns: Sequence[str],
    labels: Sequence[tuple[int, str]],
    *,
    sort_keys: str | None = None,
    star: bool = False,
) -> str:
    """The published rows, in the order of a table of sort keys.

    ``columns`` are expressions over the coded table's ``t`` and the label tables ``l0``, ``l1``, …;
    ``labels`` names the table of labels by quasi-identifier. Rows of failing classes are left out, or every
    cell is ``*``. The sort keys belong to the coded rows one by one; which to which does not matter.
    """
    rows = f"{identifier(coded)}"
    if sort_keys is not None:
        rows = f"(SELECT * FROM {identifier(coded)} POSITIONAL JOIN {identifier(sort_keys)})"
    if star:
        cells = [f"CASE WHEN f.{key_name(0)} IS NULL THEN {c} ELSE {literal(STAR)} END" for c in columns]
        kept = "LEFT JOIN"
    else:
        cells, kept = list(columns), "ANTI JOIN"
    joins = " ".join(
        f"LEFT JOIN {identifier(table)} AS l{i} ON t.{key_name(i)} = l{i}.{POSITION}" for i, table in labels
    )
    order = "" if sort_keys is None else "ORDER BY " + ", ".join(f"t.{key}" for key in SORT_KEYS)
    named = ", ".join(f"{cell} AS {qualified(f'c{i}')}" for i, cell in enumerate(cells))
    return (
        f"SELECT {named} FROM {rows} AS t {kept} {identifier(failing)} AS f ON {_same(keys)} {joins} {order}"
    )


def carried_pairs(name: str, coded: str, keys: int, value: str, subject: str, l: int) -> str:
    """Create the table of distinct (class, value, subject), at most ``l`` subjects per value and the reverse.

    Whether ``l`` values can be carried by ``l`` different subjects does not change by that: a value with
    ``l`` subjects always finds one that is still free, and so does a subject with ``l`` values.
    """
    columns = _keys(keys)
    pairs = (
        f"SELECT DISTINCT {columns}, {value} AS v, {subject} AS u FROM {identifier(coded)} "
        f"WHERE {value} IS NOT NULL AND {subject} IS NOT NULL"
    )
    by_value = (
        f"SELECT * FROM ({pairs}) QUALIFY row_number() OVER (PARTITION BY {columns}, v ORDER BY u) <= {l}"
    )
    by_subject = (
        f"SELECT * FROM ({by_value}) QUALIFY row_number() OVER (PARTITION BY {columns}, u ORDER BY v) <= {l}"
    )
    return f"CREATE TEMP TABLE {identifier(name)} AS {by_subject}"


def judged_classes(name: str, pairs: str, keys: int, l: int) -> str:
    """Create the table of classes that may reach ``l``: ``class_id``, keys, and ``reached`` where certain.

    The uncertain ones have the lowest numbers. Certain are classes in which each value has one subject or
    each subject one value, and those with more pairs than ``l - 1`` values and subjects can cover (König; no
    value or subject has more than ``l`` pairs).
    """
    columns = _keys(keys)
    reached = f"(p = nv OR p = nu OR p > {l * (l - 1)})"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS "
        f"SELECT row_number() OVER (ORDER BY {reached}) AS {CLASS_ID}, {columns}, {reached} AS reached FROM ("
        f"SELECT {columns}, count(*) AS p, count(DISTINCT v) AS nv, count(DISTINCT u) AS nu "
        f"FROM {identifier(pairs)} GROUP BY {columns}) WHERE nv >= {l} AND nu >= {l}"
    )


def uncertain_classes(judged: str) -> str:
    """The number of judged classes of which it is not certain whether they reach ``l``."""
    return f"SELECT count(*) FROM {identifier(judged)} WHERE NOT reached"


def open_pairs(judged: str, pairs: str, keys: int, first: int, last: int) -> str:
    """The pairs of uncertain classes in a range of ``class_id``, as numbers, class by class."""
    return (
        f"SELECT f.{CLASS_ID} AS class, dense_rank() OVER (PARTITION BY f.{CLASS_ID} ORDER BY t.v) AS value, "
        f"dense_rank() OVER (PARTITION BY f.{CLASS_ID} ORDER BY t.u) AS subject "
        f"FROM {identifier(pairs)} AS t JOIN {identifier(judged)} AS f ON {_same(keys)} "
        f"WHERE NOT f.reached AND f.{CLASS_ID} BETWEEN {first} AND {last} ORDER BY class, value, subject"
    )


def classes_not_reaching(coded: str, judged: str, matched: str, keys: int) -> str:
    """The classes that are neither certain to reach ``l`` nor among the ``matched`` class ids."""
    columns = _keys(keys)
    ids = f"SELECT {CLASS_ID} FROM {identifier(matched)}"
    return (
        f"(SELECT DISTINCT {columns} FROM {identifier(coded)} EXCEPT "
        f"SELECT {columns} FROM {identifier(judged)} WHERE reached OR {CLASS_ID} IN ({ids}))"
    )


def _keys(number: int) -> str:
    return ", ".join(key_name(i) for i in range(number))


def _same(keys: int) -> str:
    return " AND ".join(f"t.{key_name(i)} = f.{key_name(i)}" for i in range(keys))
