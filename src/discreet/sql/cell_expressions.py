"""Cell expressions: text, type, NULL, stars, scaled decimals and sort keys of a column's cells.

A value is the canonical text of a cell (the same on every engine); texts in ``null_values`` are NULL. The
module builds predicates on type names, converts exact decimals to 64-bit integers and back, unpivots the
cells of many columns to rows, tests for cells of stars, and orders released rows by their cells
(docs/decisions/0014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TypeVar

from discreet.model.cell_format import BLANKS
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.quoting import literal, numbered

ENUMERATED = "ENUM"
"""House type of a column of few distinct texts."""
_TEXT = {"VARCHAR", "CHAR", "BPCHAR", "TEXT", "STRING"}
_WHOLE = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE")}
_NATIVE = _TEXT | _WHOLE | {"INTEGER", "UINTEGER", "BOOLEAN", "DATE", "TIME", "UUID", "DECIMAL", ENUMERATED}
_NATIVE |= {f"TIMESTAMP{suffix}" for suffix in ("", "_S", "_MS", "_NS")}
_NATIVE |= {"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMPTZ_NS"}
_FLOATING = {"DOUBLE", "FLOAT", "REAL"}
_NEVER_TEXT = (_NATIVE - _TEXT - {ENUMERATED}) | _FLOATING
LIST = "LIST"
"""House type of a column of lists or structures that an engine reads as text."""
_NESTED = {"STRUCT", "MAP", "UNION", LIST, "ARRAY", "VARIANT"}
_BINARY = {"BLOB", "BYTEA", "BINARY", "VARBINARY", "GEOMETRY"}


column_name = numbered("c")
"""SQL name of a source's column: ``c0``, ``c1``, … by its index."""


def canonical_text(column: str, type_name: str, dialect: Dialect = DUCKDB) -> str:
    """Return the text of a column's cells; NULL stays NULL."""
    return column if _base(type_name) in _TEXT else dialect.text(column, type_name)


def cell_text(column: str, type_name: str, null_values: Sequence[str] = (), dialect: Dialect = DUCKDB) -> str:
    """Return the text of a column's cells, with ``null_values`` (exact whole texts) read as NULL."""
    text = canonical_text(column, type_name, dialect)
    if not null_values:
        return text
    return f"CASE WHEN {text} IN ({', '.join(map(literal, null_values))}) THEN NULL ELSE {text} END"


def group_key(column: str, type_name: str, dialect: Dialect = DUCKDB) -> str:
    """Return a grouping expression such that all cells of a group have the same text.

    This is the column itself where equal values have equal texts: grouping texts, integers and dates directly
    is faster than grouping their casts. Floating-point numbers and intervals are grouped by text, since 0.0
    and -0.0, or a month and 30 days, are equal.
    """
    return column if _base(type_name) in _NATIVE else dialect.text(column, type_name)


def group_key_type(type_name: str) -> str:
    """Return the type of ``group_key``."""
    return type_name if _base(type_name) in _NATIVE else "VARCHAR"


def is_nested(type_name: str) -> bool:
    """Test whether cells contain lists, structures or other nested values."""
    return _base(type_name) in _NESTED


def is_binary(type_name: str) -> bool:
    """Test whether cells contain bytes that are not declared as text."""
    return _base(type_name) in _BINARY


def is_text(type_name: str) -> bool:
    """Test whether cells are texts of any length."""
    return _base(type_name) in _TEXT


def is_never_text(type_name: str) -> bool:
    """Test whether cells are numbers, dates, times or booleans, whose texts are never words or stars."""
    return _base(type_name) in _NEVER_TEXT


def decimals_of(type_name: str) -> int | None:
    """Return the number of decimals of an exact numeric type; None for any other type."""
    base = _base(type_name)
    if base in _WHOLE | {"INTEGER", "UINTEGER"}:
        return 0
    scale = type_name.rstrip(") ").rpartition(",")[2].strip()
    return int(scale) if base == "DECIMAL" and scale.isdecimal() else None


def fits_long(type_name: str) -> bool:
    """Test whether every value of an exact numeric type fits in a BIGINT, in units of its last decimal."""
    digits = type_name.partition("(")[2].partition(",")[0].strip()
    if _base(type_name) == "DECIMAL":
        return digits.isdecimal() and int(digits) <= 18
    return is_long(type_name)


def is_long(type_name: str) -> bool:
    """Test whether a type is an integer type whose values all fit in a BIGINT."""
    return _base(type_name) in (_WHOLE | {"INTEGER", "UINTEGER"}) - {"HUGEINT", "UHUGEINT", "UBIGINT"}


def is_floating(type_name: str) -> bool:
    """Test whether cells are floating-point numbers, where 0.0 and -0.0 are equal but read differently."""
    return _base(type_name) in _FLOATING


def any_null(texts: Sequence[str]) -> str:
    """Return the predicate that one of several cell texts is NULL (decision 0002: policy ``drop``)."""
    return "(" + " OR ".join(f"({text}) IS NULL" for text in texts) + ")" if texts else "FALSE"


def _base(type_name: str) -> str:
    if type_name.endswith("]"):
        return LIST
    return type_name.partition("(")[0].strip().upper()


LONG_DIGITS = 19
"""Digits of a 64-bit integer; exact numbers with fewer decimals can be expressed in units."""


def to_units(dialect: Dialect, number: str, scale: int) -> str:
    """Return an exact number in units of its last decimal, as a 64-bit integer."""
    if scale:
        digits = dialect.cast(number, f"DECIMAL({LONG_DIGITS},{scale})")
        number = f"{digits} * {dialect.cast(str(10**scale), f'DECIMAL({scale + 1},0)')}"
    return dialect.cast(number, "BIGINT")


def from_units(dialect: Dialect, units: str, scale: int) -> str:
    """Return the exact number for a count of units of the last decimal."""
    if not scale:
        return units
    unit = dialect.cast(f"'{Decimal(1).scaleb(-scale):f}'", f"DECIMAL({scale + 1},{scale})")
    return f"{dialect.cast(units, f'DECIMAL({LONG_DIGITS},0)')} * {unit}"


T = TypeVar("T")

UNPIVOTED_COLUMNS = 1000
"""Most columns that one statement unpivots: an engine holds some thousand rows of each."""


def unpivot(dialect: Dialect, relation: str, texts: Sequence[str]) -> str:
    """Select every cell of some columns: ``place``, the index of its column from 0, and ``v``, its text.

    ``texts`` are expressions over the relation.
    """
    if dialect.cells is None:
        each = (f"SELECT {i} AS place, {text} AS v FROM {relation}" for i, text in enumerate(texts))
        return " UNION ALL ".join(each)
    turned = dialect.cells.format(", ".join(texts), len(texts))
    return f"SELECT {turned} FROM {relation}"


def batched(columns: Sequence[T], at_once: int = UNPIVOTED_COLUMNS) -> Iterator[Sequence[T]]:
    """Yield the columns in batches of ``at_once``.

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

    It is never NULL. A cheap first test refuses nearly all texts; CASE guarantees that the pattern is matched
    only for the others, which AND does not guarantee outside of a condition.
    """
    stars = f"{text} LIKE '%*%' AND {dialect.full_match.format(text, _STARS)}"
    return f"CASE WHEN {dialect.may_be_stars.format(text)} THEN {stars} ELSE FALSE END"


def readable_star_predicate(text: str, dialect: Dialect = DUCKDB) -> str:
    """Return the same predicate in a form for readers; it knows no blanks other than spaces."""
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
    """Return the predicate that each cell is stars or NULL, and at least one is stars; never NULL itself.

    ``cells`` are pairs of a column and its house type; ``null_texts``, SQL literals, are read as NULL.
    """
    # Texts first: their test fails at once in nearly every row, so that CASE skips the other columns.
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
    """Return sort expressions such that cells of a house type that tie in all of them have the same text.

    Numbers sort by size, and the equal zeros 0.0 and -0.0 by their texts; types without an order sort by
    their texts. The type is the empty text where the house has no name for it.
    """
    if is_floating(type_name):
        return [cell, _bytewise(dialect, f"CASE WHEN {cell} = 0 THEN {dialect.text(cell, type_name)} END")]
    key = group_key(cell, type_name, dialect)
    return [_bytewise(dialect, key) if key != cell or is_text(type_name) else key]


def order_clause(dialect: Dialect, keys: Iterable[str]) -> str:
    """Return the end of a query that sorts its rows by keys, NULL last."""
    listed = list(dict.fromkeys(keys))
    ordered = ", ".join(dialect.nulls_last.format(key) for key in listed)
    return " " + dialect.sorted_rows.format(ordered, ", ".join(listed)) if listed else ""


def sorted_by_cells(
    dialect: Dialect, query: str, types: Sequence[str], names: Sequence[str], first: Sequence[int] = ()
) -> str:
    """Select the rows of a query sorted by their cells, starting with the columns at the indices ``first``.

    ``types`` and ``names`` are those of its columns, by index.
    """
    places = [*first, *(i for i in range(len(types)) if i not in first)]
    keys = [key for i in places for key in cell_sort_keys(dialect, f"{ORDERED_ALIAS}.{names[i]}", types[i])]
    return f"SELECT * FROM ({query}) AS {ORDERED_ALIAS}{order_clause(dialect, keys)}"


def _bytewise(dialect: Dialect, text: str) -> str:
    return dialect.binary_order.format(f"({text})")
