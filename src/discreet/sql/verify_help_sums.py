"""The sums of hashes that a help table must have, for the audit alone: they tell that it is right as a whole.

Every value is read once, in the order of groups and values, and a running sum goes over all of them. From it
the sum before a value's group is taken: that leaves the sum of a group's h lowest, and the group's own sum
without it that of its highest. So a value says half of what stands in two rows of the help table, of which
its place from below and from above are the hits; both halves are hashed and added up, and so is what the help
table says. Nothing is joined but the groups, of which every value is to be a row's own (no NULL).

The hash begins with a number drawn for each audit, so that nobody can look for other rows of the same sums.
Sums that differ say that some row is wrong, or that the engine gave rows in another order than it was asked;
``sql.verify_permuted`` then compares row by row.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.sql.dialect import Dialect
from discreet.sql.multiset import row_hash
from discreet.sql.names import identifier
from discreet.sql.verify_permuted import DIGITS, expected_help

VALUE_DIGITS = DIGITS // 2
"""With more, the running sum of all values might have more digits than an exact number can."""
_FROM_BELOW = (0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13)
_FROM_ABOVE = (0, 1, 8, 10, 14)
LARGEST = 9e17
"""What no sum may exceed, in units of the last decimal, for 18 digits to hold it."""
COUNTED = 6
"""How many of a help table's columns are counts, the first ones."""


def kinds_of_groups(dialect: Dialect, groups: str) -> str:
    """One row: groups with rows without a value, or without a number, and what no sum in a group exceeds."""
    low, high, rows = (dialect.cast(name, "DOUBLE") for name in ("low", "high", "m"))
    return (
        "SELECT count(*) FILTER (WHERE n <> m OR g IS NULL), "
        f"coalesce(max({rows} * greatest(abs({low}), abs({high}))), 0) FROM {identifier(groups)}"
    )


def due_sums(dialect: Dialect, groups: str, numbers: str, scale: int, salt: int) -> str:
    """One row: the rows that are due, and the sums of the hashes of their halves."""
    running = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    ordered = f"SELECT g, v FROM {identifier(numbers)} ORDER BY g, v"
    values = (
        f"SELECT g, v, row_number() OVER () AS place, sum(v) OVER ({running}) AS upto FROM ({ordered}) AS o"
    )
    # Cast by group and once by value: DuckDB takes long to make a BIGINT of a sum.
    exact = _exact_type(scale)
    ends = ", ".join(f"{dialect.cast(name, exact)} AS {name}" for name in ("every", "low", "high"))
    starts = (
        f"SELECT g, m, {ends}, {dialect.cast('sum(m) OVER w - m', 'BIGINT')} AS places, "
        f"sum(every) OVER w - every AS before FROM {identifier(groups)} WINDOW w AS (ORDER BY g {running})"
    )
    rows = (
        f"SELECT s.g, {dialect.cast('x.v', exact)} AS v, x.place - s.places AS i, "
        f"{dialect.cast('x.upto - s.before', exact)} AS least, s.m, s.every, s.low, s.high "
        f"FROM ({values}) AS x JOIN ({starts}) AS s ON s.g = x.g"
    )
    below = ["g", "i", "i", "i", "m", "m", "every", "least", "low", "v", "high", "v"]
    above = ["g", "m + 1 - i", "every - least + v", "v", "v"]
    low = _hashed(dialect, below, _FROM_BELOW, scale, salt)
    return _sums(dialect, f"({rows}) AS r", low, _hashed(dialect, above, _FROM_ABOVE, scale, salt))


def due_counts(dialect: Dialect, groups: str, salt: int) -> str:
    """As ``due_sums``, of values that are no numbers: rows, and one sum."""
    cells = ["g", "h", "j0", "j1", "n", "m"]
    hashed = _hashed(dialect, cells, range(COUNTED), 0, salt)
    return _sums(dialect, f"({expected_help(dialect, groups, 'TRUE', None, None)}) AS r", hashed)


def stated_sums(dialect: Dialect, relation: str, columns: Sequence[str], scale: int, salt: int) -> str:
    """As ``due_sums`` or ``due_counts``, of a help table's columns as they stand, exact numbers all."""
    if len(columns) == COUNTED:
        return _sums(dialect, relation, _hashed(dialect, columns, range(COUNTED), 0, salt))
    low, high = (
        _hashed(dialect, [columns[i] for i in half], half, scale, salt) for half in (_FROM_BELOW, _FROM_ABOVE)
    )
    return _sums(dialect, relation, low, high)


def _hashed(dialect: Dialect, cells: Sequence[str], places: Sequence[int], scale: int, salt: int) -> str:
    """The hash of some cells of a help table's row, in the types that both sides have.

    These have the size of a BIGINT: DuckDB gives some larger numbers of one type the same hash, 0 and -1 too.
    """
    typed = [
        dialect.cast(cell, "BIGINT" if place < COUNTED else _exact_type(scale))
        for cell, place in zip(cells, places, strict=True)
    ]
    return row_hash(dialect, [dialect.cast(str(salt), "BIGINT"), *typed])


def _exact_type(scale: int) -> str:
    return "BIGINT" if scale == 0 else f"DECIMAL(18,{scale})"


def _sums(dialect: Dialect, relation: str, first: str, second: str = "0") -> str:
    added = ", ".join(dialect.hash_sum.format(name) for name in ("a", "b"))
    return f"SELECT count(*), {added} FROM (SELECT {first} AS a, {second} AS b FROM {relation}) AS h"
