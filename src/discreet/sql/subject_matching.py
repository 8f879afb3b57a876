"""Distinct diversity by subjects: classes in which l values belong to l different subjects.

SQL decides most classes (a value with l subjects always finds one; König's theorem on vertex covers) and
returns the remaining pairs of value and subject for bipartite matching in Python.
"""

from __future__ import annotations

from discreet.sql.quoting import identifier
from discreet.sql.recoded_rows import CLASS_ID, key_list, key_name, keys_agree


def value_subject_pairs(coded: str, keys: int, value: str, subject: str) -> str:
    """Select the distinct (class, value ``v``, subject ``u``), without NULLs."""
    known = f"{value} IS NOT NULL AND {subject} IS NOT NULL"
    columns = f"{key_list(keys)}, {value} AS v, {subject} AS u"
    return f"SELECT DISTINCT {columns} FROM {identifier(coded)} WHERE {known}"


def classes_with_certainty(pairs: str, keys: int, l: int) -> str:
    """Select the classes that may reach ``l``, and in ``reached`` whether they certainly do.

    Certain are classes in which each value has one subject or each subject one value, and classes with ``l``
    values of ``l`` or more subjects each: such a value always finds a free subject.
    """
    columns = key_list(keys)
    by_value = f"SELECT {columns}, count(*) AS n FROM {identifier(pairs)} GROUP BY {columns}, v"
    of_values = (
        f"SELECT {columns}, sum(n) AS p, count(*) AS nv, count(*) FILTER (WHERE n >= {l}) AS rich "
        f"FROM ({by_value}) AS v GROUP BY {columns}"
    )
    subjects = f"SELECT DISTINCT {columns}, u FROM {identifier(pairs)}"
    of_subjects = f"SELECT {columns}, count(*) AS nu FROM ({subjects}) AS u GROUP BY {columns}"
    named = ", ".join(f"t.{key_name(i)}" for i in range(keys))
    reached = f"(t.p = t.nv OR t.p = f.nu OR t.rich >= {l})"
    return (
        f"SELECT {named}, {reached} AS reached FROM ({of_values}) AS t JOIN ({of_subjects}) AS f "
        f"ON {keys_agree(keys)} WHERE t.nv >= {l} AND f.nu >= {l}"
    )


def uncertain_classes(judged: str, keys: int) -> str:
    """Number the classes that do not certainly reach ``l``, from 1, as ``class_id``."""
    columns = key_list(keys)
    number = f"row_number() OVER (ORDER BY {columns})"
    return f"SELECT {number} AS {CLASS_ID}, {columns} FROM {identifier(judged)} WHERE NOT reached"


def open_pairs(pairs: str, uncertain: str, keys: int, l: int) -> str:
    """Select the pairs ``class_id, v, u`` of uncertain classes: at most ``l`` subjects per value, and back.

    The limit does not change whether ``l`` values find different subjects: a value or subject that had more
    pairs always finds a free partner among those that remain.
    """
    found = (
        f"SELECT f.{CLASS_ID}, t.v, t.u FROM {identifier(pairs)} AS t JOIN {identifier(uncertain)} AS f "
        f"ON {keys_agree(keys)}"
    )
    return _first(_first(found, "v", "u", l), "u", "v", l)


def _first(query: str, of: str, by: str, number: int) -> str:
    rank = f"row_number() OVER (PARTITION BY {CLASS_ID}, {of} ORDER BY {by})"
    numbered = f"SELECT {CLASS_ID}, v, u, {rank} AS place FROM ({query}) AS {of}{by}"
    return f"SELECT {CLASS_ID}, v, u FROM ({numbered}) AS first_{of} WHERE place <= {number}"


def unsettled_classes(pairs: str, l: int) -> str:
    """Select the ``class_id`` of classes whose open pairs ``l - 1`` values and subjects can cover.

    By König's theorem the others reach ``l``, since no value or subject has more than ``l`` of the
    ``open_pairs``.
    """
    return f"SELECT {CLASS_ID} FROM {identifier(pairs)} GROUP BY {CLASS_ID} HAVING count(*) <= {l * (l - 1)}"


def last_class(unsettled: str) -> str:
    """Return the largest ``class_id`` of a table, or 0."""
    return f"SELECT coalesce(max({CLASS_ID}), 0) FROM {identifier(unsettled)}"


def numbered_open_pairs(pairs: str, unsettled: str, first: int, last: int) -> str:
    """Select the open pairs of unsettled classes in a range of ``class_id``, as numbers, by class."""
    rank = f"CAST(dense_rank() OVER (PARTITION BY p.{CLASS_ID} ORDER BY {{}}) AS BIGINT)"
    return (
        f"SELECT p.{CLASS_ID} AS class, {rank.format('p.v')} AS value, {rank.format('p.u')} AS subject "
        f"FROM {identifier(pairs)} AS p JOIN {identifier(unsettled)} AS c ON p.{CLASS_ID} = c.{CLASS_ID} "
        f"WHERE p.{CLASS_ID} BETWEEN {first} AND {last} ORDER BY 1, 2, 3"
    )


def classes_not_reaching(
    coded: str, judged: str, uncertain: str, unsettled: str, matched: str, keys: int
) -> str:
    """Select the classes that cannot reach ``l``, and the unsettled classes that are not ``matched``."""
    columns = key_list(keys)
    named = ", ".join(f"f.{key_name(i)}" for i in range(keys))
    every, likely = identifier(coded), identifier(judged)
    return (
        f"(SELECT DISTINCT {columns} FROM {every} EXCEPT SELECT {columns} FROM {likely}) "
        f"UNION SELECT {named} FROM {identifier(uncertain)} AS f "
        f"JOIN {identifier(unsettled)} AS c ON f.{CLASS_ID} = c.{CLASS_ID} "
        f"LEFT JOIN {identifier(matched)} AS m ON f.{CLASS_ID} = m.{CLASS_ID} WHERE m.{CLASS_ID} IS NULL"
    )
