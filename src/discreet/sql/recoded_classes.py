"""Recoding by classes in SQL: from rows to row types, classes, and the published cells of each class.

A row's leaf codes are packed into as few integers as possible, so that one equality join finds its row type.
The coded table has one column of class numbers, ``q0``; ``SUPPRESSED_CLASS`` marks suppressed rows.
``ClassCells`` are the cells that a row takes from its class, so that they are hashed once per class. Every
function returns SQL text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.sql.cell_expressions import any_null
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier, literal, numbered
from discreet.sql.recoded_rows import (
    CELL_VALUE,
    LABEL_TEXT,
    POSITION,
    SORT_KEYS,
    STAR,
    KeyColumn,
    key_list,
    key_name,
    keys_agree,
    other_name,
    position_join,
    position_of,
)

LABELS_ALIAS = "l0"
"""Alias of the table of labels."""


@dataclass(frozen=True)
class ClassCells:
    """Cells that depend only on a row's class.

    ``cells`` contains expressions over the table ``labels`` by their index in the release. ``rows`` builds
    the query of the other cells, in no order, after one column of another relation of labels: its arguments
    are that relation and column. ``others`` are those cells over the coded rows ``t``, and ``sums`` builds
    the query of the rows ``n`` of each class ``q0`` and of ``b``, an aggregate over those cells, which is its
    argument.
    """

    labels: str
    cells: dict[int, str]
    rows: Callable[[str, str], str]
    others: Sequence[str]
    sums: Callable[[str], str]


CLASS_COLUMN, FIRST_PLACE, CLASS_ROWS = "class", "first", "rows"
ID, CLASS_NUMBER = "id", "number"
SUPPRESSED_CLASS = -1
FIRST_SPLIT = -2
CLASS_KEY = key_name(0)

Word = Sequence[tuple[int, int]]
"""The quasi-identifiers in one word, each with the factor of its code."""


@dataclass(frozen=True)
class AttributeLabels:
    """Published texts of an attribute: a ``table`` of them by position.

    ``type_name`` is their published house type, None for text. ``few`` contains all distinct texts, if they
    are few; it contains only published texts, since a file may list them.
    """

    table: str
    type_name: str | None = None
    few: Sequence[str] | None = None


word_name = numbered("w")
"""Column name of a word of a row type."""

label_name = numbered(LABEL_TEXT)
"""Column name of a quasi-identifier's published text in the table of labels."""


def published_class_numbers(dialect: Dialect, class_cells: str, keys: int) -> str:
    """Select an ``id`` for each published combination of labels, and its ``rows``.

    ``class_cells`` has ``class``, ``q0``, ``q1``, … (labels by number) and ``rows``. The ``id`` is the lowest
    number among classes with the same labels: a new numbering would require all of them in one partition.
    """
    columns = key_list(keys)
    rows = dialect.cast(f"sum({CLASS_ROWS})", "BIGINT")
    return (
        f"SELECT min({CLASS_COLUMN}) AS id, {columns}, {rows} AS {CLASS_ROWS} FROM {identifier(class_cells)} "
        f"GROUP BY {columns}"
    )


def with_numbers(
    dialect: Dialect, table: str, class_cells: str, numbers: str, keys: int, other_columns: Sequence[str]
) -> str:
    """Select the columns ``other_columns`` of a table with ``number``, the published number of its ``class``.

    A negative ``class`` is unchanged.
    """
    columns = ", ".join(f"t.{column}" for column in other_columns)
    ids = (
        f"SELECT s.{CLASS_COLUMN} AS {CLASS_COLUMN}, n.id AS id FROM {identifier(class_cells)} AS s "
        f"JOIN {identifier(numbers)} AS n ON {keys_agree(keys, 's', 'n')}"
    )
    number = dialect.cast(f"CASE WHEN t.{CLASS_COLUMN} < 0 THEN t.{CLASS_COLUMN} ELSE c.id END", "BIGINT")
    return (
        f"SELECT {columns}, {number} AS number FROM {identifier(table)} AS t "
        f"LEFT JOIN ({ids}) AS c ON t.{CLASS_COLUMN} = c.{CLASS_COLUMN}"
    )


def stored_class_cells(class_cells: str, keys: int) -> str:
    """Select the input of ``published_class_numbers`` from a table whose rows are in the column ``n``."""
    return f"SELECT {CLASS_COLUMN}, {key_list(keys)}, n AS {CLASS_ROWS} FROM {identifier(class_cells)}"


def stored_row_types(dialect: Dialect, row_types: str, words: Sequence[Word]) -> str:
    """Select the row types as words with their ``class``, from a table of leaf codes ``c0``, …."""
    packed = ", ".join(
        f"{' + '.join(dialect.cast(f'c{i}', 'BIGINT') + f' * {factor}' for i, factor in word)} "
        f"AS {word_name(index)}"
        for index, word in enumerate(words)
    )
    return f"SELECT {packed}, {CLASS_COLUMN} FROM {identifier(row_types)}"


def labels_table(dialect: Dialect, numbers: str, labels: Sequence[AttributeLabels]) -> str:
    """Select the published cells by class; ``labels`` contains the table and type of each attribute."""
    cells = ", ".join(
        f"{_cell(dialect, f'l{i}.{LABEL_TEXT}', found)} AS {label_name(i)}" for i, found in enumerate(labels)
    )
    joins = " ".join(
        f"JOIN {identifier(found.table)} AS l{i} ON n.{key_name(i)} = l{i}.{POSITION}"
        for i, found in enumerate(labels)
    )
    return f"SELECT n.id AS {POSITION}, {cells} FROM {identifier(numbers)} AS n {joins}"


def typed_columns(dialect: Dialect, table: str, first: str, columns: Mapping[str, str | None]) -> str:
    """Select a table's column ``first``, and ``columns`` of texts cast to their house types, where given."""
    cells = [
        name if kind is None else f"{dialect.cast(name, kind)} AS {name}" for name, kind in columns.items()
    ]
    return f"SELECT {', '.join([first, *cells])} FROM {identifier(table)}"


def _cell(dialect: Dialect, text: str, labels: AttributeLabels) -> str:
    if labels.type_name is not None:
        return dialect.cast(text, labels.type_name)
    if labels.few is not None and dialect.few_texts is not None:
        return enumerated_text(dialect, text, labels.few)
    return text


def enumerated_text(dialect: Dialect, text: str, few: Sequence[str]) -> str:
    """Cast a text to a type of the ``few`` texts, in a database with such types."""
    assert dialect.few_texts is not None
    return f"CAST({text} AS {dialect.few_texts.format(', '.join(map(literal, few)))})"


def classed_table(
    dialect: Dialect,
    relation: str,
    keys: Sequence[KeyColumn],
    words: Sequence[Word],
    row_types: str,
    others: Sequence[str],
    never_null: Sequence[str] = (),
) -> str:
    """Build the coded table of a source with alias ``s``: ``q0``, the row type's number, and ``o0``, ….

    ``row_types`` has the words of each row type and its ``number``. A row without a row type has NULL in
    ``q0``. ``others`` are expressions over ``s``; rows in which one of ``never_null`` is NULL are left out.
    """
    columns = [f"{_packed_word(dialect, word, keys)} AS {word_name(i)}" for i, word in enumerate(words)]
    columns += [f"{expression} AS {other_name(i)}" for i, expression in enumerate(others)]
    joins = " ".join(position_join(dialect, key, i) for i, key in enumerate(keys))
    where = f"WHERE NOT {any_null(never_null)}" if never_null else ""
    rows = f"SELECT {', '.join(columns)} FROM {relation} AS s {joins} {where}"
    same = " AND ".join(f"t.{word_name(i)} = r.{word_name(i)}" for i in range(len(words)))
    selected = ", ".join([f"r.number AS {CLASS_KEY}", *(f"t.{other_name(i)}" for i in range(len(others)))])
    return f"SELECT {selected} FROM ({rows}) AS t LEFT JOIN {identifier(row_types)} AS r ON {same}"


@dataclass(frozen=True)
class RowTypeKey:
    """A quasi-identifier that distinguishes row types; ``nullable`` means that NULL occurs in one of them."""

    column: KeyColumn
    nullable: bool


def row_type_table(dialect: Dialect, codes: str, keys: Mapping[int, RowTypeKey]) -> str:
    """Select the row types by values ``k0``, … (of the attributes in ``keys``), each with its ``number``.

    ``codes`` has the positions of those values, ``q0``, ….
    """
    values, joins = "", ""
    for i, key in keys.items():
        assert key.column.positions is not None
        value = f"p{i}.{CELL_VALUE}"
        if key.column.type_name is not None:
            value = dialect.cast(value, key.column.type_name)
        values += f", {value} AS k{i}"
        positions = identifier(key.column.positions)
        joins += f" LEFT JOIN {positions} AS p{i} ON c.{key_name(i)} = p{i}.{POSITION}"
    return f"SELECT c.{CLASS_NUMBER}{values} FROM {identifier(codes)} AS c{joins}"


def rows_of_row_types(
    dialect: Dialect,
    relation: str,
    keys: Mapping[int, RowTypeKey],
    row_types: str,
    others: Sequence[str],
    never_null: Sequence[str] = (),
) -> str:
    """Build the coded table of the rows of a source, with alias ``s``, that have a row type.

    ``row_types`` is a ``row_type_table``. One join on all keys is used, since one join per quasi-identifier
    is slower where rows pass through them one by one. ``others`` and ``never_null`` are as in
    ``classed_table``.
    """
    columns = [f"r.{CLASS_NUMBER} AS {CLASS_KEY}"]
    columns += [f"{expression} AS {other_name(i)}" for i, expression in enumerate(others)]
    same = " AND ".join(
        _equality(dialect, key).format(f"({key.column.cell})", f"r.k{i}") for i, key in keys.items()
    )
    where = f" WHERE NOT {any_null(never_null)}" if never_null else ""
    return (
        f"SELECT {', '.join(columns)} FROM {relation} AS s JOIN {identifier(row_types)} AS r "
        f"ON {same or 'TRUE'}{where}"
    )


def _equality(dialect: Dialect, key: RowTypeKey) -> str:
    if not key.nullable:
        return "{0} = {1}"
    return dialect.same_text if key.column.type_name is None else dialect.same


def published_classes(
    coded: str, labels: str, cells: Sequence[str], *, order: str = "", star: Sequence[bool] = ()
) -> str:
    """Build the published rows of ``coded``, a table without rows of other classes.

    ``order`` is the end of the query; if empty, rows have no order. ``cells`` are expressions over the coded
    rows ``t`` and the relation ``labels`` of the cells of each class. If suppressed rows are starred, that
    relation has a row for ``SUPPRESSED_CLASS`` too, and ``star`` marks the cells that do not come from it.
    """
    starred_cells = [
        star_suppressed(cell) if own else cell
        for cell, own in zip(cells, star or [False] * len(cells), strict=True)
    ]
    named = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(starred_cells))
    rows = f"FROM {identifier(coded)} AS t LEFT JOIN {labels} AS l0 ON t.{CLASS_KEY} = l0.{POSITION}"
    return f"SELECT {named} {rows}{order}"


def star_suppressed(cell: str) -> str:
    """Return a cell of coded rows ``t``, replaced by ``*`` in suppressed rows."""
    return f"CASE WHEN t.{CLASS_KEY} = {SUPPRESSED_CLASS} THEN {literal(STAR)} ELSE {cell} END"


def sums_of_classes(coded: str, aggregate: str) -> str:
    """Select the rows ``n`` of each class ``q0`` of coded rows ``t``, and an aggregate over them as ``b``."""
    return (
        f"SELECT t.{CLASS_KEY}, count(*) AS n, {aggregate} AS b FROM {identifier(coded)} AS t "
        f"GROUP BY t.{CLASS_KEY}"
    )


def sorted_by_loaded_keys(coded: str, sort_keys: str, others: int) -> str:
    """Sort the rows of a coded table by a loaded table of half as many sort keys (rounded up).

    A sort key contains the random bits of two rows. Rows with equal bits, which are very rare, are ordered by
    their class, not by their old order. For the embedded engine, and to be stored as a table, because the
    engine misestimates the size of a positional join.
    """
    columns = ", ".join([CLASS_KEY, *map(other_name, range(others))])
    drawn = " UNION ALL ".join(f"SELECT {key} AS drawn FROM {identifier(sort_keys)}" for key in SORT_KEYS)
    pairs = f"{identifier(coded)} POSITIONAL JOIN ({drawn}) AS k"
    return f"SELECT {columns} FROM {pairs} WHERE {CLASS_KEY} IS NOT NULL ORDER BY drawn, {CLASS_KEY}"


def rows_of_split_types(coded: str) -> str:
    """Select the rows whose row type belongs to several classes."""
    return f"SELECT * FROM {identifier(coded)} WHERE {CLASS_KEY} <= {FIRST_SPLIT}"


def part_places(dialect: Dialect, parts: str) -> str:
    """Select the part ``number`` for each row of ``split`` row types, by its ``place`` from 1.

    ``parts`` has ``split`` (as in ``q0``), ``first`` (the place of the part's first row), ``rows`` and
    ``number``. The result has as many rows as the split row types, so that a row finds its part by an
    equality join, whatever the number of parts.
    """
    steps = (
        f"SELECT split, number, {FIRST_PLACE}, {dialect.numbers_to.format(CLASS_ROWS)} AS step "
        f"FROM {identifier(parts)}"
    )
    return f"SELECT split, number, {FIRST_PLACE} - 1 + step AS place FROM ({steps}) AS p"


def assigned_rows(coded: str, split: str, places: str, others: int) -> str:
    """Build the coded table with the rows of ``split`` row types assigned to their parts (``part_places``).

    ``split`` has sort keys; each part takes its rows in their order. The keys serve only this purpose: if the
    published rows were sorted by them too, their order would reveal the parts.
    """
    order = ", ".join(SORT_KEYS)
    columns = "".join(f", {other_name(i)}" for i in range(others))
    row_number = f"row_number() OVER (PARTITION BY {CLASS_KEY} ORDER BY {order})"
    numbered = f"SELECT {CLASS_KEY}{columns}, {row_number} AS place FROM {identifier(split)}"
    drawn = (
        f"SELECT p.number AS {CLASS_KEY}{columns} FROM ({numbered}) AS t JOIN {identifier(places)} AS p "
        f"ON t.{CLASS_KEY} = p.split AND t.place = p.place"
    )
    return (
        f"SELECT {CLASS_KEY}{columns} FROM {identifier(coded)} WHERE {CLASS_KEY} > {FIRST_SPLIT} UNION ALL "
        f"{drawn}"
    )


def miscounted_classes(coded: str, numbers: str) -> str:
    """Count the published classes whose number of rows differs from the recoding's."""
    counted = (
        f"SELECT {CLASS_KEY}, count(*) AS n FROM {identifier(coded)} WHERE {CLASS_KEY} >= 0 "
        f"GROUP BY {CLASS_KEY}"
    )
    return (
        f"SELECT count(*) FROM ({counted}) AS t FULL JOIN {identifier(numbers)} AS n ON t.{CLASS_KEY} = n.id "
        f"WHERE t.n IS DISTINCT FROM n.{CLASS_ROWS}"
    )


def count_failing_classes(failing: str) -> str:
    """Count the classes to be published that are in a table of failing classes."""
    return f"SELECT count(*) FROM {identifier(failing)} WHERE {CLASS_KEY} >= 0"


def _packed_word(dialect: Dialect, word: Word, keys: Sequence[KeyColumn]) -> str:
    """Return the value of a word; a column at the top level adds nothing to it."""
    parts = [
        f"{dialect.cast(position_of(dialect, keys[i], i), 'BIGINT')} * {factor}"
        for i, factor in word
        if keys[i].positions is not None
    ]
    return " + ".join(parts) or dialect.cast("0", "BIGINT")
