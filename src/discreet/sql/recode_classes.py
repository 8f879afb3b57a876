"""Applying a recoding by classes: from rows to row types, to classes, to what each class shows.

A row's leaf codes are packed into as few whole numbers as hold them (*words*), so finding its row type is one
equality join. The coded table has one column of classes, ``q0``, numbered by what is published: classes that
show the same have one number. ``SUPPRESSED_CLASS`` marks suppressed rows, smaller numbers the row types whose
rows are drawn among several classes.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.names import identifier
from discreet.sql.recode import LABEL, POSITION, SORT_KEYS, VALUE, KeyColumn, key_name, other_name
from discreet.sql.source import any_null

CLASS, FIRST, ROWS = "class", "first", "rows"
SUPPRESSED_CLASS = -1
FIRST_SPLIT = -2
KEY = key_name(0)

Word = Sequence[tuple[int, int]]
"""The quasi-identifiers in one word, each with what its code is multiplied by."""


def word_name(index: int) -> str:
    """The column of a word of a row type."""
    return f"w{index}"


def label_name(index: int) -> str:
    """The column of a quasi-identifier's published text in the table of labels."""
    return f"{LABEL}{index}"


def number_classes(name: str, shown: str, keys: int) -> str:
    """Create the table of what is published: an ``id`` for each combination of labels, and its ``rows``.

    ``shown`` has ``class``, ``q0``, ``q1``, … (labels by number) and ``rows``.
    """
    columns = _keys(keys)
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT (row_number() OVER ())::INTEGER AS id, * FROM "
        f"(SELECT {columns}, sum({ROWS})::BIGINT AS {ROWS} FROM {identifier(shown)} GROUP BY {columns})"
    )


def with_numbers(name: str, table: str, shown: str, numbers: str, keys: int, kept: Sequence[str]) -> str:
    """Create a copy of a table's columns ``kept`` with ``q0``, the published number of its ``class``.

    A negative ``class`` stays as it is.
    """
    columns = ", ".join(f"t.{column}" for column in kept)
    same = " AND ".join(f"s.{key_name(i)} = n.{key_name(i)}" for i in range(keys))
    ids = (
        f"SELECT s.{CLASS} AS {CLASS}, n.id AS id FROM {identifier(shown)} AS s "
        f"JOIN {identifier(numbers)} AS n ON {same}"
    )
    number = f"CASE WHEN t.{CLASS} < 0 THEN t.{CLASS} ELSE c.id END"
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT {columns}, ({number})::INTEGER AS number "
        f"FROM {identifier(table)} AS t LEFT JOIN ({ids}) AS c ON t.{CLASS} = c.{CLASS}"
    )


def stored_shown(name: str, shown: str, keys: int) -> str:
    """Create the table that ``number_classes`` reads from one whose rows are in the column ``n``."""
    columns = f"{CLASS}, {_keys(keys)}, n AS {ROWS}"
    return f"CREATE TEMP TABLE {identifier(name)} AS SELECT {columns} FROM {identifier(shown)}"


def stored_row_types(name: str, row_types: str, words: Sequence[Word]) -> str:
    """Create the table of row types by words from one of leaf codes ``c0``, …, each with its ``class``."""
    packed = ", ".join(
        f"{' + '.join(f'c{i} * {factor}' for i, factor in word)} AS {word_name(place)}"
        for place, word in enumerate(words)
    )
    return f"CREATE TEMP TABLE {identifier(name)} AS SELECT {packed}, {CLASS} FROM {identifier(row_types)}"


def labels_table(name: str, numbers: str, labels: Sequence[str]) -> str:
    """Create the table of published texts by class; ``labels`` names each attribute's table of texts."""
    texts = ", ".join(f"l{i}.{LABEL} AS {label_name(i)}" for i in range(len(labels)))
    joins = " ".join(
        f"JOIN {identifier(table)} AS l{i} ON n.{key_name(i)} = l{i}.{POSITION}"
        for i, table in enumerate(labels)
    )
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT n.id AS {POSITION}, {texts} "
        f"FROM {identifier(numbers)} AS n {joins}"
    )


def classed_table(
    name: str,
    relation: str,
    keys: Sequence[KeyColumn],
    words: Sequence[Word],
    row_types: str,
    others: Sequence[str],
    never_null: Sequence[str] = (),
) -> str:
    """Create the coded table of a source whose alias is ``s``: ``q0``, the row type's number, and ``o…``.

    ``row_types`` has the words of each row type and its ``number``. A row of no row type has NULL in ``q0``.
    ``others`` are expressions over ``s``; rows in which one of ``never_null`` is NULL are left out.
    """
    columns = [f"{_word(word, keys)} AS {word_name(i)}" for i, word in enumerate(words)]
    columns += [f"{expression} AS {other_name(i)}" for i, expression in enumerate(others)]
    joins = " ".join(
        f"LEFT JOIN {identifier(key.positions)} AS p{i} ON ({key.text}) = p{i}.{VALUE}"
        for i, key in enumerate(keys)
        if key.positions is not None
    )
    where = f"WHERE NOT {any_null(never_null)}" if never_null else ""
    rows = f"SELECT {', '.join(columns)} FROM {relation} AS s {joins} {where}"
    same = " AND ".join(f"t.{word_name(i)} = r.{word_name(i)}" for i in range(len(words)))
    kept = ", ".join([f"r.number AS {KEY}", *(f"t.{other_name(i)}" for i in range(len(others)))])
    return (
        f"CREATE TEMP TABLE {identifier(name)} AS SELECT {kept} FROM ({rows}) AS t "
        f"LEFT JOIN {identifier(row_types)} AS r ON {same}"
    )


def split_rows(name: str, coded: str) -> str:
    """Create the table of rows whose row type belongs to several classes."""
    rows = f"SELECT * FROM {identifier(coded)} WHERE {KEY} <= {FIRST_SPLIT}"
    return f"CREATE TEMP TABLE {identifier(name)} AS {rows}"


def drawn_rows(name: str, coded: str, split: str, parts: str) -> str:
    """Create the coded table again, the rows of ``split`` row types put into their parts.

    ``split`` has sort keys: in their order each part takes its rows. ``parts`` has ``split`` (as in ``q0``),
    ``first`` (the place of the part's first row, from 1) and ``number``. These sort keys are for this alone:
    were the published rows ordered by them too, their order would tell the parts apart.
    """
    order = ", ".join(SORT_KEYS)
    keys = ", ".join(SORT_KEYS)
    numbered = (
        f"SELECT * EXCLUDE ({keys}), row_number() OVER (PARTITION BY {KEY} ORDER BY {order}) AS place "
        f"FROM {identifier(split)}"
    )
    drawn = (
        f"SELECT p.number AS {KEY}, t.* EXCLUDE ({KEY}, place) FROM ({numbered}) AS t "
        f"ASOF JOIN {identifier(parts)} AS p ON t.{KEY} = p.split AND t.place >= p.{FIRST}"
    )
    whole = f"SELECT * FROM {identifier(coded)} WHERE {KEY} > {FIRST_SPLIT}"
    return f"CREATE TEMP TABLE {identifier(name)} AS {whole} UNION ALL {drawn}"


def miscounted_classes(coded: str, numbers: str) -> str:
    """How many published classes have not the rows that the recoding says."""
    counted = f"SELECT {KEY}, count(*) AS n FROM {identifier(coded)} WHERE {KEY} >= 0 GROUP BY {KEY}"
    return (
        f"SELECT count(*) FROM ({counted}) AS t FULL JOIN {identifier(numbers)} AS n ON t.{KEY} = n.id "
        f"WHERE t.n IS DISTINCT FROM n.{ROWS}"
    )


def failing_classes(failing: str) -> str:
    """How many classes that are to be published are in a table of failing classes."""
    return f"SELECT count(*) FROM {identifier(failing)} WHERE {KEY} >= 0"


def _word(word: Word, keys: Sequence[KeyColumn]) -> str:
    return " + ".join(f"({_code(keys[i], i)})::BIGINT * {factor}" for i, factor in word)


def _code(key: KeyColumn, index: int) -> str:
    return f"CASE WHEN ({key.text}) IS NULL THEN {key.null_position} ELSE p{index}.{POSITION} END"


def _keys(number: int) -> str:
    return ", ".join(key_name(i) for i in range(number))
