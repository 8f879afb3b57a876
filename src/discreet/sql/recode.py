"""Applying a full-domain recoding: coded rows, failing classes, and the published rows.

The rows are copied once into a *coded table*: per quasi-identifier the position of its generalized value
(``q0``, ``q1``, …; a position of its own for NULL below the top), beside it the other columns that are
published or counted (``o0``, ``o1``, …). Positions are never NULL, so classes join by plain equality, and
NULLs form classes like any other value. Labels are joined back, as in a star schema, when rows are published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.sql.names import identifier, literal
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


def with_sort_keys(name: str, coded: str, sort_keys: str) -> str:
    """Create a copy of the coded table that has the columns of a table of as many sort keys beside it.

    Which key belongs to which row does not matter. A table of its own: the engine guesses the size of a
    positional join wrongly, and would plan what follows badly.
    """
    pairs = f"{identifier(coded)} POSITIONAL JOIN {identifier(sort_keys)}"
    return f"CREATE TEMP TABLE {identifier(name)} AS SELECT * FROM {pairs}"


def published_rows(
    coded: str,
    failing: str,
    keys: int,
    columns: Sequence[str],
    labels: Sequence[tuple[int, str]],
    *,
    ordered: bool,
    star: bool,
) -> str:
    """The published rows; where ``ordered``, in the order of the coded table's sort keys.

    ``columns`` are expressions over the coded rows ``t`` and the label tables ``l0``, ``l1``, …; ``labels``
    names the table of labels by quasi-identifier. Rows of failing classes are left out, or every cell is
    ``*``. Codes are sorted before labels are joined, as they are smaller; the join sees the rows in their new
    order only, so whatever it does to that order cannot bring the old one back.
    """
    order = f" ORDER BY {', '.join(f't.{key}' for key in SORT_KEYS)}" if ordered else ""
    if star:
        rows = f"SELECT t.*, f.{key_name(0)} IS NOT NULL AS starred FROM {identifier(coded)} AS t LEFT JOIN"
        cells = [f"CASE WHEN t.starred THEN {literal(STAR)} ELSE {cell} END" for cell in columns]
    else:
        rows = f"SELECT t.* FROM {identifier(coded)} AS t ANTI JOIN"
        cells = list(columns)
    named = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells))
    joins = " ".join(
        f"LEFT JOIN {identifier(table)} AS l{i} ON t.{key_name(i)} = l{i}.{POSITION}" for i, table in labels
    )
    return f"SELECT {named} FROM ({rows} {identifier(failing)} AS f ON {_same(keys)}{order}) AS t {joins}"


def carried_values(name: str, coded: str, keys: int, value: str, subject: str) -> str:
    """Create the table of distinct (class, value ``v``, subject ``u``), NULLs left out."""
    pairs = f"SELECT DISTINCT {_keys(keys)}, {value} AS v, {subject} AS u FROM {identifier(coded)}"
    known = f"{value} IS NOT NULL AND {subject} IS NOT NULL"
    return f"CREATE TEMP TABLE {identifier(name)} AS {pairs} WHERE {known}"


def judged_classes(name: str, pairs: str, keys: int, l: int) -> str:
    """Create the table of classes that may reach ``l``: ``class_id``, keys, and ``reached`` where certain.

    The uncertain ones have the lowest numbers. Certain are classes in which each value has one subject or
    each subject one value, and those with ``l`` values of ``l`` or more subjects each: such a value always
    finds a subject that is still free.
    """
    columns = _keys(keys)
    by_value = f"SELECT {columns}, count(*) AS n FROM {identifier(pairs)} GROUP BY {columns}, v"
    of_values = (
        f"SELECT {columns}, sum(n) AS p, count(*) AS nv, count(*) FILTER (WHERE n >= {l}) AS rich "
        f"FROM ({by_value}) GROUP BY {columns}"
    )
    of_subjects = (
        f"SELECT {columns}, count(*) AS nu FROM (SELECT DISTINCT {columns}, u FROM {identifier(pairs)}) "
        f"GROUP BY {columns}"
    )
    named = ", ".join(f"t.{key_name(i)}" for i in range(keys))
    reached = f"(p = nv OR p = nu OR rich >= {l})"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS "
        f"SELECT row_number() OVER (ORDER BY {reached}) AS {CLASS_ID}, {named}, {reached} AS reached "
        f"FROM ({of_values}) AS t JOIN ({of_subjects}) AS f ON {_same(keys)} WHERE nv >= {l} AND nu >= {l}"
    )


def open_pairs(name: str, pairs: str, judged: str, keys: int, l: int) -> str:
    """Create the table ``class_id, v, u`` of uncertain classes: at most ``l`` subjects per value, and back.

    Whether ``l`` values find different subjects does not change by that: what is left of a value or subject
    that had more always finds a free partner.
    """
    found = (
        f"SELECT f.{CLASS_ID}, t.v, t.u FROM {identifier(pairs)} AS t JOIN {identifier(judged)} AS f "
        f"ON {_same(keys)} WHERE NOT f.reached"
    )
    kept = "SELECT * FROM ({}) QUALIFY row_number() OVER (PARTITION BY {}, {} ORDER BY {}) <= {}"
    by_value = kept.format(found, CLASS_ID, "v", "u", l)
    by_subject = kept.format(by_value, CLASS_ID, "u", "v", l)
    return f"CREATE TEMP TABLE {identifier(name)} AS {by_subject}"


def reach_by_number(judged: str, pairs: str, l: int) -> str:
    """Mark the classes with more pairs than ``l - 1`` values and subjects can cover (König's theorem).

    No value or subject has more than ``l`` of the ``open_pairs``.
    """
    many = f"SELECT {CLASS_ID} FROM {identifier(pairs)} GROUP BY {CLASS_ID} HAVING count(*) > {l * (l - 1)}"
    return f"UPDATE {identifier(judged)} SET reached = TRUE WHERE {CLASS_ID} IN ({many})"


def uncertain_classes(judged: str) -> str:
    """The largest ``class_id`` of the classes of which it is not certain whether they reach ``l``, or 0."""
    return f"SELECT coalesce(max({CLASS_ID}), 0) FROM {identifier(judged)} WHERE NOT reached"


def pairs_between(pairs: str, judged: str, first: int, last: int) -> str:
    """The pairs of uncertain classes in a range of ``class_id``, as numbers, class by class."""
    rank = f"dense_rank() OVER (PARTITION BY {CLASS_ID} ORDER BY {{}})"
    uncertain = f"SELECT {CLASS_ID} FROM {identifier(judged)} WHERE NOT reached"
    return (
        f"SELECT {CLASS_ID} AS class, {rank.format('v')} AS value, {rank.format('u')} AS subject "
        f"FROM {identifier(pairs)} WHERE {CLASS_ID} BETWEEN {first} AND {last} "
        f"AND {CLASS_ID} IN ({uncertain}) ORDER BY class, value, subject"
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
