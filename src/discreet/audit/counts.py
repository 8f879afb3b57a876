"""The classes of a published file, as a table in the engine, and what they amount to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables
from discreet.sql import verify as sql
from discreet.sql import verify_bits as by_bits
from discreet.sql.source import canonical_text, group_key, group_key_type, is_never_text

_FIRST_ROWS = 10_000


@dataclass(frozen=True)
class CheckedSum:
    """A number of each row (``term``, in SQL over the release), added up as rows are counted.

    ``check`` is told the number of all rows and the sum before anything else is made of them, and may raise.
    ``factor`` makes a number that the terms of a class are multiplied by of the texts of its
    quasi-identifiers, by their names; not where subjects are counted.
    """

    term: str
    check: Callable[[int, int], None]
    factor: Callable[[Mapping[str, str]], str] | None = None


Along = Callable[[SourceTable], CheckedSum]
"""What is added up along with the counting of an opened release."""


@dataclass(frozen=True)
class PublishedRows:
    """The rows of an opened release: ``query`` yields their texts (``sql.verify.rows_of``).

    ``keyed`` yields the same rows with what tells cells apart in the texts' place, which is faster to group
    by, and ``key_texts`` are the texts of its quasi-identifiers. ``along`` is added up in the same scan.
    """

    table: SourceTable
    query: str
    keyed: str
    key_texts: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    starred_apart: bool
    along: CheckedSum | None

    @property
    def summed(self) -> str:
        """What adds the terms up; nothing where there are none."""
        return "" if self.along is None else self.table.dialect.hash_sum.format("h")

    @classmethod
    def of(
        cls,
        table: SourceTable,
        keys: Sequence[str],
        values: Sequence[str],
        along: CheckedSum | None,
        *,
        starred_apart: bool,
    ) -> PublishedRows:
        """The rows of an opened release; ``InputError`` for a column that it does not have."""
        every = [table.text(name) for name in table.columns]
        apart = starred_apart and not any(map(is_never_text, table.types.values()))
        texts = [table.text(name) for name in keys], [table.text(name) for name in values]
        term = None if along is None else along.term
        query = sql.rows_of(table.relation, texts[0], texts[1], every, term, starred_apart=apart)
        keyed, key_texts = query, [sql.key(i) for i in range(len(keys))]
        if not table.null_values:
            raw = [_raw(table, name) for name in keys], [_raw(table, name) for name in values]
            keyed = sql.rows_of(table.relation, raw[0], raw[1], every, term, starred_apart=apart)
            kinds = [group_key_type(table.types[name]) for name in keys]
            key_texts = [
                canonical_text(key, kind, table.dialect) for key, kind in zip(key_texts, kinds, strict=True)
            ]
        return cls(table, query, keyed, tuple(key_texts), tuple(keys), tuple(values), starred_apart, along)


def _raw(table: SourceTable, name: str) -> str:
    return group_key(table.column(name), table.types[name], table.dialect)


@dataclass(frozen=True)
class ClassTotals:
    """Totals over the classes in ``table``: see ``AuditReport``.

    Where subjects were counted, ``table`` has ``id``, and ``members`` names a table of every class's subjects
    (``sql.verify_criteria.lent_members``).
    """

    table: str
    rows: int
    classes: int
    k: int
    starred: int
    l: Mapping[str, int]
    members: str | None = None


def count_rows(engine: Engine, tables: TemporaryTables, published: PublishedRows) -> ClassTotals:
    """The classes by rows; ``InputError`` where the file has rows that could not be read."""
    bits = _value_bits(engine, tables, published)
    if bits is None:
        query = sql.classes_table(
            published.keyed, published.key_texts, len(published.sensitive), published.summed
        )
    else:
        query = by_bits.classes_by_bits(
            engine.dialect, published.keyed, published.key_texts, bits, published.summed
        )
    table = tables.create(query)
    counts = totals(engine, table, published.sensitive)
    along = published.along
    if along is not None:
        texts = {name: sql.key(i) for i, name in enumerate(published.quasi_identifiers)}
        factor = None if along.factor is None else along.factor(texts)
        total = engine.fetch_rows(sql.sum_of_classes(table, factor))[0][0]
        along.check(counts.rows + counts.starred, int(total or 0))
    engine.confirm_rows(published.table, counts.rows + counts.starred)
    return counts


def _value_bits(engine: Engine, tables: TemporaryTables, published: PublishedRows) -> list[str] | None:
    """A table of bits for each sensitive attribute; None where one has more different cells than bits.

    The first rows tell cheaply of most attributes with many values.
    """
    rows, found = published.keyed, []
    for i in range(len(published.sensitive)):
        some = engine.fetch_rows(by_bits.values_of_some(rows, i, _FIRST_ROWS))[0][0]
        if some > by_bits.MOST_VALUES + 1:
            return None
        found.append(tables.create(by_bits.value_bits(engine.dialect, rows, i)))
        if engine.fetch_rows(by_bits.too_many(found[-1]))[0][0]:
            return None
    return found


def totals(engine: Engine, table: str, sensitive: Sequence[str]) -> ClassTotals:
    """What a table of classes amounts to."""
    rows, classes, k, starred, *least = engine.fetch_rows(sql.totals(table, len(sensitive)))[0]
    return ClassTotals(table, rows, classes, k, starred, dict(zip(sensitive, least, strict=True)))
