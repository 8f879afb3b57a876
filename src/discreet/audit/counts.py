"""The classes of a published file, as a table in the engine, and what they amount to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.engines.base import Engine, SourceTable
from discreet.engines.distinct_rows import DistinctRows
from discreet.engines.meanwhile import meanwhile
from discreet.engines.scratch import TemporaryTables
from discreet.model.starred_cells import is_star
from discreet.sql import verify as sql
from discreet.sql import verify_bits as by_bits
from discreet.sql.digest import ROWS, line_digest
from discreet.sql.names import literal
from discreet.sql.source import canonical_text, group_key, group_key_type, is_never_text
from discreet.sql.starred_cells import holds_stars, shows_nothing, star_free

_FIRST_ROWS = 10_000

Cell = Callable[[SourceTable, str], str]
"""The expression of a column's cell."""


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
    by, and ``key_texts`` are the texts of its quasi-identifiers; ``with_stars`` has sensitive stars as they
    stand, where ``keyed`` has NULL. ``counting`` says how its rows are counted,
    which may stand there once each, with their number. ``along`` is added up in the same scan.
    """

    table: SourceTable
    query: str
    keyed: str
    key_texts: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    starred_apart: bool
    along: CheckedSum | None
    counting: sql.Counting
    with_stars: str

    def with_subject(self, name: str) -> str:
        """The rows as texts, with the column that tells subjects apart as ``subject``."""
        keys = [self.table.text(each) for each in self.quasi_identifiers]
        values = [_value_text(self.table, each) for each in self.sensitive]
        every = [self.table.text(each) for each in self.table.columns]
        return sql.rows_of(
            self.table.relation,
            keys,
            values,
            every,
            starred_apart=self.starred_apart and not any(map(is_never_text, self.table.types.values())),
            subject=self.table.text(name),
        )

    def holds_texts(self, index: int) -> bool:
        """Whether the cells of a sensitive attribute are plain texts, in ``keyed`` too."""
        return self.table.types[self.sensitive[index]] == "VARCHAR"

    @property
    def summed(self) -> str:
        """What adds up the terms of ``query``; nothing where there are none."""
        return sql.Counting.of(self.table.dialect, summed=self.along is not None).summed

    @classmethod
    def of(
        cls,
        table: SourceTable,
        keys: Sequence[str],
        values: Sequence[str],
        along: Along | None,
        *,
        starred_apart: bool,
        distinct: DistinctRows | None = None,
        foreign: bool = False,
    ) -> PublishedRows:
        """The rows of an opened release; ``InputError`` for a column that it does not have.

        ``distinct`` are those of them that differ, where they are counted by these. In a ``foreign`` file a
        row is starred that has NULL in the place of stars, too.
        """
        counted = table if distinct is None else distinct.table
        apart = foreign or (starred_apart and not any(map(is_never_text, table.types.values())))
        lines = None if distinct is None else distinct.lines
        added = None if along is None else along(counted)
        term = None if added is None else added.term

        def rows(of: SourceTable, cell: Cell, value: Cell, **further: str | None) -> str:
            cells, sensitive = [cell(of, name) for name in keys], [value(of, name) for name in values]
            every = [of.text(name) for name in of.columns]
            stars = {"starred": _shows_nothing(of)} if foreign else {}
            return sql.rows_of(of.relation, cells, sensitive, every, starred_apart=apart, **stars, **further)

        term_of_row = None if distinct is not None else term
        query = rows(table, SourceTable.text, _value_text, term=term_of_row)
        key_texts, keyed = [sql.key(i) for i in range(len(keys))], query
        with_stars = rows(table, SourceTable.text, SourceTable.text, term=term_of_row)
        if not counted.null_values:
            number, entry = (None if distinct is None else ROWS), (None if lines is None else lines.entry)
            keyed = rows(counted, _raw, _raw_value, term=term, repeated=number, entry=entry)
            with_stars = rows(counted, _raw, _raw, term=term, repeated=number, entry=entry)
            kinds = [group_key_type(counted.types[name]) for name in keys]
            key_texts = [
                canonical_text(key, kind, table.dialect) for key, kind in zip(key_texts, kinds, strict=True)
            ]
        counting = sql.Counting.of(
            table.dialect,
            summed=term is not None,
            repeated=distinct is not None,
            pairs=distinct is not None and {*keys, *values} == {*table.columns},
        )
        if lines is not None:
            by = tuple(sorted(range(len(keys)), key=lambda i: table.columns.index(keys[i])))
            line = line_digest(table.dialect, [key_texts[i] for i in by], lines.joined.format("e"))
            counting = replace(counting, line=line, by=by)
        return cls(
            table,
            query,
            keyed,
            tuple(key_texts),
            tuple(keys),
            tuple(values),
            starred_apart,
            added,
            counting,
            with_stars,
        )

    def cell_type(self, index: int) -> str:
        """The type of the cells of a sensitive attribute in ``with_stars``."""
        read = "VARCHAR" if self.table.null_values else self.table.types[self.sensitive[index]]
        return group_key_type(read)


def _shows_nothing(table: SourceTable) -> str:
    """The predicate that a row has a star or NULL in every column, and a star in one."""
    cells = [(table.column(name), table.types[name]) for name in table.columns]
    return shows_nothing(cells, list(map(literal, table.null_values)), table.dialect)


def _raw(table: SourceTable, name: str) -> str:
    return group_key(table.column(name), table.types[name], table.dialect)


def _raw_value(table: SourceTable, name: str) -> str:
    return star_free(_raw(table, name), group_key_type(table.types[name]), table.dialect)


def _value_text(table: SourceTable, name: str) -> str:
    """The text of a sensitive cell, NULL where it consists of stars, which are no value."""
    text = table.text(name)
    return star_free(text, "VARCHAR", table.dialect) if holds_stars(table.types[name]) else text


@dataclass(frozen=True)
class ClassTotals:
    """Totals over the classes in ``table``: see ``AuditReport``.

    Where subjects were counted, ``table`` has ``id``, and ``members`` names a table of every class's subjects
    (``sql.verify_criteria.lent_members``). ``values`` are tables of ``sql.verify_bits.value_bits`` for the
    sensitive attributes in their order, each with the type of its cells, where there are such.
    """

    table: str
    rows: int
    classes: int
    k: int
    starred: int
    l: Mapping[str, int]
    members: str | None = None
    values: tuple[tuple[str, str], ...] = ()


def count_rows(engine: Engine, tables: TemporaryTables, published: PublishedRows) -> ClassTotals:
    """The classes by rows; ``InputError`` where the file has rows that could not be read."""
    told = published.counting.pairs and len(published.sensitive) == 1
    bits = None if told else _value_bits(engine, tables, published)
    if bits is None:
        query = sql.classes_table(
            published.keyed, published.key_texts, len(published.sensitive), published.counting
        )
    else:
        query = by_bits.classes_by_bits(
            engine.dialect, published.with_stars, published.key_texts, bits, published.counting
        )
    with meanwhile(engine, engine.dialect.sorted_groups if published.counting.line else None):
        table = tables.create(query)
    along = published.along
    if along is None:
        counts = totals(engine, table, published.sensitive)
    else:
        texts = {name: sql.key(i) for i, name in enumerate(published.quasi_identifiers)}
        term = sql.term_of_class(None if along.factor is None else along.factor(texts))
        counts, total = _totals(engine, table, published.sensitive, [term])
        along.check(counts.rows + counts.starred, int(total[0] or 0))
    engine.confirm_rows(published.table, counts.rows + counts.starred)
    named = [] if bits is None else [(name, published.cell_type(i)) for i, name in enumerate(bits)]
    return replace(counts, values=tuple(named))


def _value_bits(engine: Engine, tables: TemporaryTables, published: PublishedRows) -> list[str] | None:
    """A table of bits for each sensitive attribute; None where one has more different cells than bits.

    The first rows tell cheaply of most attributes with many values.
    """
    rows, found = published.with_stars, []
    for i in range(len(published.sensitive)):
        some = engine.fetch_rows(by_bits.values_of_some(rows, i, _FIRST_ROWS))[0][0]
        if some > by_bits.MOST_VALUES + 1:
            return None
        if engine.dialect.cells_sent and published.holds_texts(i):
            bits = _sent_bits(engine, tables, rows, i, published.counting)
            if bits is None:
                return None
            found.append(bits)
            continue
        kind = published.cell_type(i)
        query = by_bits.value_bits(engine.dialect, rows, i, kind, published.counting)
        found.append(tables.create(query))
        if engine.fetch_rows(by_bits.too_many(found[-1]))[0][0]:
            return None
    return found


def _sent_bits(
    engine: Engine, tables: TemporaryTables, rows: str, index: int, counting: sql.Counting
) -> str | None:
    """As ``_value_bits``, of an attribute of texts: fetched, numbered here and loaded.

    A cell of stars has no bit: 0 changes nothing of what is or-ed.
    """
    found = engine.fetch_rows(by_bits.different_values(rows, index, counting))
    if len(found) > by_bits.MOST_VALUES:
        return None
    cells, numbers = [str(cell) for cell, _ in found], np.array([n for _, n in found], dtype=np.int64)
    bits = np.array([0 if is_star(cell) else 1 << i for i, cell in enumerate(cells)], dtype=np.int64)
    return tables.load({"v": cells, "n": numbers, "bit": bits})


def ascending(engine: Engine, query: str) -> dict[int, int]:
    """The pairs of a query by their first number.

    They are few: a database that is to sort them may plan for many, as Spark does, by a sample of its own.
    """
    return dict(sorted(engine.fetch_rows(query)))


def totals(engine: Engine, table: str, sensitive: Sequence[str]) -> ClassTotals:
    """What a table of classes amounts to."""
    return _totals(engine, table, sensitive, ())[0]


def _totals(
    engine: Engine, table: str, sensitive: Sequence[str], terms: Sequence[str]
) -> tuple[ClassTotals, list[int | None]]:
    """As ``totals``, and the sums of ``terms`` over all classes."""
    found = engine.fetch_rows(sql.totals(table, len(sensitive), terms))[0]
    rows, classes, k, starred, *least = found[: 4 + len(sensitive)]
    told = ClassTotals(table, rows, classes, k, starred, dict(zip(sensitive, least, strict=True)))
    return told, list(found[4 + len(sensitive) :])
