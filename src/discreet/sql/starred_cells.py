"""Cells of stars in SQL: read as NULL in some columns, and the rows that have nothing else in others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discreet.model.starred_cells import BLANKS
from discreet.sql.dialect import DUCKDB, Dialect
from discreet.sql.names import literal
from discreet.sql.source import canonical_text, is_binary, is_nested, is_never_text

_STARS = literal(f"[{BLANKS}*]+")


def holds_stars(type_name: str) -> bool:
    """Test whether a cell of a type can be a text of stars."""
    return not (is_never_text(type_name) or is_nested(type_name) or is_binary(type_name))


def is_star(text: str, dialect: Dialect = DUCKDB) -> str:
    """Return the predicate that a text consists of stars (``model.starred_cells.is_star``).

    It is never NULL. What begins it costs next to nothing and refuses nearly all; a CASE looks at the rest
    for the others alone, as AND does not where it is no condition.
    """
    stars = f"{text} LIKE '%*%' AND {dialect.full_match.format(text, _STARS)}"
    return f"CASE WHEN {dialect.may_be_stars.format(text)} THEN {stars} ELSE FALSE END"


def is_star_in_words(text: str, dialect: Dialect = DUCKDB) -> str:
    """Return the same predicate for people who read it; it knows no other blanks than spaces."""
    del dialect
    return f"({text} LIKE '%*%' AND trim(replace({text}, '*', '')) = '')"


Test = Callable[[str, Dialect], str]


def star_free(column: str, type_name: str, dialect: Dialect = DUCKDB, test: Test = is_star) -> str:
    """Return a column's cell, NULL where it is a text of stars."""
    if not holds_stars(type_name):
        return column
    found = test(canonical_text(column, type_name, dialect), dialect)
    return f"CASE WHEN {found} THEN NULL ELSE {column} END"


def shows_nothing(
    cells: Sequence[tuple[str, str]], null_texts: Sequence[str], dialect: Dialect, test: Test = is_star
) -> str:
    """Return the predicate that each cell is of stars or NULL, and one of stars; never NULL itself.

    ``cells`` are pairs of a column and its house type; ``null_texts``, a list of literals in SQL, are read as
    NULL.
    """
    # Texts first: their test fails at once in nearly every row, and the others are then not looked at.
    ordered = sorted(cells, key=lambda cell: not holds_stars(cell[1]))
    stars, empty = [], []
    for column, type_name in ordered:
        text = canonical_text(column, type_name, dialect)
        nothing = f"{column} IS NULL"
        if null_texts:
            nothing += f" OR {text} IN ({', '.join(null_texts)})"
        if holds_stars(type_name):
            stars.append(f"coalesce({test(text, dialect)}, FALSE)")
            nothing = f"{nothing} OR {test(text, dialect)}"
        empty.append(f"({nothing})")
    if not stars:
        return "FALSE"
    first, *rest = empty
    others = " AND ".join([*rest, f"({' OR '.join(stars)})"])
    return f"CASE WHEN {first} THEN {others} ELSE FALSE END"
