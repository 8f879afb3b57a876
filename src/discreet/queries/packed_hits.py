"""The rows that meet a query's condition as whole numbers, for whoever counts them in arrays.

A number is the row's group before some bits of its key's number; keys are numbered in the query's order. A
single key of whole numbers that are not far apart is numbered by them, which costs nothing but their ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.queries.asked import AskedQuery
from discreet.queries.rewriting import PermutedTables, key_names, key_order, rows_asked
from discreet.sql.dialect import Dialect

CODE, PACKED = "code", "packed"
_INTEGER_BITS = 31
_MOST_KEYS = 1 << 12
_SHORT = ("TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "INTEGER")


@dataclass(frozen=True)
class KeyNumbers:
    """The keys of a query in its order; not each need occur.

    ``number`` is the SQL of one's place among them, over the rows ``r`` and, where it is named, the table
    ``joined`` of ``numbered_keys``.
    """

    keys: tuple[tuple[Any, ...], ...] = ((),)
    number: str | None = None
    joined: str | None = None

    @property
    def bits(self) -> int:
        """The bits of the largest number."""
        return max(len(self.keys) - 1, 0).bit_length()


def key_types(asked: AskedQuery, tables: PermutedTables) -> str:
    """A query with a column for each key."""
    return f"SELECT {_keys(asked)}\nFROM {tables.release} AS release"


def key_ends(asked: AskedQuery, tables: PermutedTables) -> str:
    """The least and the largest value of the one key in the release."""
    return f"SELECT min(key_1), max(key_1) FROM (\n{key_types(asked, tables)}\n) AS r"


def numbers_between(
    asked: AskedQuery, dialect: Dialect, kind: str, ends: tuple[Any, Any]
) -> KeyNumbers | None:
    """The one key, of type ``kind``, numbered by value, NULL last; None where its ends are far apart."""
    low, high = ends
    if low is None or high - low >= _MOST_KEYS:
        return None
    value = dialect.cast("r.key_1", "INTEGER" if kind in _SHORT else "BIGINT")
    descends = dict(asked.order).get(0, False)
    number = f"{high} - {value}" if descends else f"{value} - {low}"
    found = range(low, high + 1)
    keys = (*((value,) for value in (reversed(found) if descends else found)), (None,))
    return KeyNumbers(keys, f"coalesce({number}, {len(found)})")


def numbered_keys(asked: AskedQuery, tables: PermutedTables, dialect: Dialect) -> str:
    """The keys that occur, and the number of each from 0 (``CODE``), which is its place in the answer."""
    number = f"row_number() OVER (ORDER BY {', '.join(key_order(asked))}) - 1"
    rows = f"SELECT DISTINCT {_keys(asked)}\n{rows_asked(asked, tables)}"
    return f"SELECT {dialect.cast(number, 'INTEGER')} AS {CODE}, * FROM (\n{rows}\n) AS occurring"


def packed_hits(
    asked: AskedQuery, tables: PermutedTables, dialect: Dialect, numbers: KeyNumbers, last: int
) -> str:
    """A number for each row: the group's, at most ``last``, before the bits of its key's number."""
    bits = numbers.bits
    whole = "INTEGER" if ((last + 1) << bits).bit_length() <= _INTEGER_BITS else "BIGINT"
    group = dialect.cast(dialect.identifier(tables.group_column), whole)
    if numbers.number is None:
        return f"SELECT {group} AS {PACKED}\n{rows_asked(asked, tables)}"
    rows = f"SELECT {group} AS group_id, {_keys(asked)}\n{rows_asked(asked, tables)}"
    alike = " AND ".join(dialect.same.format(f"r.{name}", f"k.{name}") for name in key_names(asked))
    joined = "" if numbers.joined is None else f" JOIN {numbers.joined} AS k ON {alike}"
    packed = f"r.group_id * {dialect.cast(str(1 << bits), whole)} + {dialect.cast(numbers.number, whole)}"
    return f"SELECT {packed} AS {PACKED}\nFROM (\n{rows}\n) AS r{joined}"


def _keys(asked: AskedQuery) -> str:
    names = key_names(asked)
    return ", ".join(f"{key.sql} AS {name}" for key, name in zip(asked.keys, names, strict=True))
