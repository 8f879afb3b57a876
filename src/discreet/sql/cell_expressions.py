"""Cell expressions: text, type, NULL, stars, scaled decimals and sort keys of a column's cells.

A value is the canonical text of a cell (the same on every engine); texts in ``null_values`` are NULL.
Predicates on type names, conversion of exact decimals to 64-bit integers and back, cells of many columns
unpivoted to rows, the predicate for cells of stars, and the order of released rows by their cells
(docs/decisions/0014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TypeVar

from discreet.model.cell_format import BLANKS
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.quoting import literal

ENUMERATED = "ENUM"
"""The house type of a column of few different texts, whichever they are."""
_TEXT = {"VARCHAR", "CHAR", "BPCHAR", "TEXT", "STRING"}
_WHOLE = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
_NATIVE = _TEXT | _WHOLE | {"INTEGER", "UINTEGER", "BOOLEAN", "DATE", "TIME", "UUID", "DECIMAL", ENUMERATED}
_NATIVE |= {f"TIMESTAMP{suffix}" for suffix in ("", "_S", "_MS", "_NS")}
_NATIVE |= {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMPTZ_NS"}
_FLOATING = {"DOUBLE", "FLOAT", "REAL"}
_NEVER_TEXT = (_NATIVE - _TEXT - {ENUMERATED}) | _FLOATING
LIST = "LIST"
"""The house type of a column of lists or structures that an engine reads as their text."""
_NESTED = {"STRUCT", "MAP", "UNION", LIST, "ARRAY", "VARIANT"}
_BINARY = {"BLOB", "BYTEA", "BINARY", "VARBINARY", "GEOMETRY"}


def column_name(position: int) -> str:
    """The name that a source's column has in SQL: ``c0``, ``c1``, … by its place."""
    return f"c{position}"


def canonical_text(column: str, type_name: str, dialect: Dialect = DUCKDB) -> str:
    """The text of a column's cells; NULL stays NULL."""
    return column if _base(type_name) in _TEXT else dialect.text(column, type_name)


def cell_text(column: str, type_name: str, null_values: Sequence[str] = (), dialect: Dialect = DUCKDB) -> str:
    """The text of a column's cells, with ``null_values`` (whole texts, exactly) read as NULL."""
    text = canonical_text(column, type_name, dialect)
    if not null_values:
        return text
    return f"CASE WHEN {text} IN ({', '.join(map(literal, null_values))}) THEN NULL ELSE {text} END"


def group_key(column: str, type_name: str, dialect: Dialect = DUCKDB) -> str:
    """An expression to group by, such that cells of one group have one text.

    The column itself where equal values have one text: grouping text, whole numbers and dates as they are is
    faster than grouping their casts. Floating-point numbers and intervals are grouped by text, since 0.0 and
    -0.0, or a month and 30 days, are equal.
    """
    return column if _base(type_name) in _NATIVE else dialect.text(column, type_name)


def group_key_type(type_name: str) -> str:
    """The type of ``group_key``."""
    return type_name if _base(type_name) in _NATIVE else "VARCHAR"


def is_nested(type_name: str) -> bool:
    """Whether cells hold lists, structures or the like."""
    return _base(type_name) in _NESTED


def is_binary(type_name: str) -> bool:
    """Whether cells hold bytes that are not declared to be text."""
    return _base(type_name) in _BINARY


def is_text(type_name: str) -> bool:
    """Whether cells are texts, of any length."""
    return _base(type_name) in _TEXT


def is_never_text(type_name: str) -> bool:
    """Whether cells are numbers, dates, times or booleans, whose texts are no words or stars."""
    return _base(type_name) in _NEVER_TEXT


def decimals_of(type_name: str) -> int | None:
    """The decimals of a type of exact numbers; None for any other type."""
    base = _base(type_name)
    if base in _WHOLE | {"INTEGER", "UINTEGER"}:
        return 0
    scale = type_name.rstrip(") ").rpartition(",")[2].strip()
    return int(scale) if base == "DECIMAL" and scale.isdecimal() else None


def fits_long(type_name: str) -> bool:
    """Whether cells are exact numbers of which every one, in units of its last decimal, is a BIGINT."""
    digits = type_name.partition("(")[2].partition(",")[0].strip()
    if _base(type_name) == "DECIMAL":
        return digits.isdecimal() and int(digits) <= 18
    return is_long(type_name)


def is_long(type_name: str) -> bool:
    """Whether cells are whole numbers by their type, of which every one is a BIGINT."""
    return _base(type_name) in (_WHOLE | {"INTEGER", "UINTEGER"}) - {"HUGEINT", "UHUGEINT", "UBIGINT"}


def is_floating(type_name: str) -> bool:
    """Whether cells are floating-point numbers, of which 0.0 and -0.0 are equal and read otherwise."""
    return _base(type_name) in _FLOATING


def any_null(texts: Sequence[str]) -> str:
    """The predicate that one of several cell texts is NULL (decision 0002: ``nulls = "drop"``)."""
    return "(" + " OR ".join(f"({text}) IS NULL" for text in texts) + ")" if texts else "FALSE"


def _base(type_name: str) -> str:
    if type_name.endswith("]"):
        return LIST
    return type_name.partition("(")[0].strip().upper()


LONG_DIGITS = 19
"""Of whole numbers of 64 bits. Fewer decimals than this can be told by units."""


def to_units(dialect: Dialect, number: str, scale: int) -> str:
    """An exact number in units of its last decimal, as a whole number of 64 bits."""
    if scale:
        digits = dialect.cast(number, f"DECIMAL({LONG_DIGITS},{scale})")
        number = f"{digits} * {dialect.cast(str(10**scale), f'DECIMAL({scale + 1},0)')}"
    return dialect.cast(number, "BIGINT")


def from_units(dialect: Dialect, units: str, scale: int) -> str:
    """The exact number of so many units of the last decimal."""
    if not scale:
        return units
    unit = dialect.cast(f"'{Decimal(1).scaleb(-scale):f}'", f"DECIMAL({scale + 1},{scale})")
    return f"{dialect.cast(units, f'DECIMAL({LONG_DIGITS},0)')} * {unit}"


T = TypeVar("T")

UNPIVOTED_COLUMNS = 1000
"""A statement turns at most so many columns into rows: an engine holds some thousand rows of each."""


def unpivot(dialect: Dialect, relation: str, texts: Sequence[str]) -> str:
    """Every cell of some columns: ``place``, its column's from 0, and ``v``, its text.

    ``texts`` are expressions over the relation.
    """
    if dialect.cells is None:
        each = (f"SELECT {i} AS place, {text} AS v FROM {relation}" for i, text in enumerate(texts))
        return " UNION ALL ".join(each)
    turned = dialect.cells.format(", ".join(texts), len(texts))
    return f"SELECT {turned} FROM {relation}"


def batched(columns: Sequence[T], at_once: int = UNPIVOTED_COLUMNS) -> Iterator[Sequence[T]]:
    """Columns, so many at once.

    >>> list(batched("abcde", 2))
    ['ab', 'cd', 'e']
    """
    for start in range(0, len(columns), at_once):
        yield columns[start : start + at_once]


_STARS = literal(f"[{BLANKS}*]+")


def can_hold_stars(type_name: str) -> bool:
    """Test whether a cell of a type can be a text of stars."""
    return not (is_never_text(type_name) or is_nested(type_name) or is_binary(type_name))


def star_predicate(text: str, dialect: Dialect = DUCKDB) -> str:
    """Return the predicate that a text consists of stars (``model.cell_format.is_star``).

    It is never NULL. What begins it costs next to nothing and refuses nearly all; a CASE looks at the rest
    for the others alone, as AND does not where it is no condition.
    """
    stars = f"{text} LIKE '%*%' AND {dialect.full_match.format(text, _STARS)}"
    return f"CASE WHEN {dialect.may_be_stars.format(text)} THEN {stars} ELSE FALSE END"


def readable_star_predicate(text: str, dialect: Dialect = DUCKDB) -> str:
    """Return the same predicate for people who read it; it knows no other blanks than spaces."""
    del dialect
    return f"({text} LIKE '%*%' AND trim(replace({text}, '*', '')) = '')"


StarPredicate = Callable[[str, Dialect], str]


def null_stars(
    column: str, type_name: str, dialect: Dialect = DUCKDB, test: StarPredicate = star_predicate
) -> str:
    """Return a column's cell, NULL where it is a text of stars."""
    if not can_hold_stars(type_name):
        return column
    found = test(canonical_text(column, type_name, dialect), dialect)
    return f"CASE WHEN {found} THEN NULL ELSE {column} END"


def all_stars_predicate(
    cells: Sequence[tuple[str, str]],
    null_texts: Sequence[str],
    dialect: Dialect,
    test: StarPredicate = star_predicate,
) -> str:
    """Return the predicate that each cell is of stars or NULL, and one of stars; never NULL itself.

    ``cells`` are pairs of a column and its house type; ``null_texts``, a list of literals in SQL, are read as
    NULL.
    """
    # Texts first: their test fails at once in nearly every row, and the others are then not looked at.
    ordered = sorted(cells, key=lambda cell: not can_hold_stars(cell[1]))
    stars, empty = [], []
    for column, type_name in ordered:
        text = canonical_text(column, type_name, dialect)
        nothing = f"{column} IS NULL"
        if null_texts:
            nothing += f" OR {text} IN ({', '.join(null_texts)})"
        if can_hold_stars(type_name):
            stars.append(f"coalesce({test(text, dialect)}, FALSE)")
            nothing = f"{nothing} OR {test(text, dialect)}"
        empty.append(f"({nothing})")
    if not stars:
        return "FALSE"
    first, *rest = empty
    others = " AND ".join([*rest, f"({' OR '.join(stars)})"])
    return f"CASE WHEN {first} THEN {others} ELSE FALSE END"


ORDERED_ALIAS = "shown"


def cell_sort_keys(dialect: Dialect, cell: str, type_name: str) -> list[str]:
    """Expressions to sort by, such that cells of a house type that tie in all of them read the same.

    Numbers go by size, 0.0 and -0.0, which are equal, by their texts; what has no order of its own goes by
    its text. A text may come as a type that the house has no name for, which is the empty text.
    """
    if is_floating(type_name):
        return [cell, _bytewise(dialect, f"CASE WHEN {cell} = 0 THEN {dialect.text(cell, type_name)} END")]
    key = group_key(cell, type_name, dialect)
    return [_bytewise(dialect, key) if key != cell or is_text(type_name) else key]


def order_clause(dialect: Dialect, keys: Iterable[str]) -> str:
    """The end of a query whose rows are to go by keys, NULL last."""
    listed = list(dict.fromkeys(keys))
    ordered = ", ".join(dialect.nulls_last.format(key) for key in listed)
    return " " + dialect.sorted_rows.format(ordered, ", ".join(listed)) if listed else ""


def sorted_by_cells(
    dialect: Dialect, query: str, types: Sequence[str], names: Sequence[str], first: Sequence[int] = ()
) -> str:
    """The rows of a query by their cells, those of the columns at the places ``first`` before the others.

    ``types`` and ``names`` are those of its columns, by place.
    """
    places = [*first, *(i for i in range(len(types)) if i not in first)]
    keys = [key for i in places for key in cell_sort_keys(dialect, f"{ORDERED_ALIAS}.{names[i]}", types[i])]
    return f"SELECT * FROM ({query}) AS {ORDERED_ALIAS}{order_clause(dialect, keys)}"


def _bytewise(dialect: Dialect, text: str) -> str:
    return dialect.binary_order.format(f"({text})")
