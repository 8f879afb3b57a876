"""The rows of a table whose sensitive values are to be permuted, held in the engine while groups are chosen.

The source is read once. Of each row of the embedded engine Python sees one code of its sensitive value, and
the leaf codes of its quasi-identifiers where groups depend on them; texts and other columns stay in the
engine. Of another engine it sees a frequency set alone: how many rows have each value, by row type where
groups depend on it. There the arrays stand for *places*, as many of each kind as it has rows, not for rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables, opened_for_release
from discreet.errors import InputError, InternalError
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.permutation import GroupPartition, SensitiveColumn
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.permutation.sensitive import (
    NumberForm,
    largest_magnitude,
    read_sensitive,
    read_texts,
    total_magnitude,
)
from discreet.permutation.strata import Strata, count_strata
from discreet.recoding.coded_rows import StoredColumns, check_rows, leaf_columns
from discreet.recoding.columns import PublishedColumn, published_columns, shown_at_levels
from discreet.recoding.stored_classes import CountedTable
from discreet.release.number_columns import STORED, stored_name, with_plain_numbers, without_negative_zeros
from discreet.sql import permuted as sql
from discreet.sql import recode
from discreet.sql.source import decimals_of, fits_long, is_floating, is_never_text
from discreet.sql.units import LONG_DIGITS


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Held rows: ``table`` has them in the engine; ``sensitive`` is what is to be permuted.

    Where ``strata`` is None, rows are numbered from 0, and ``sensitive`` has them by number; else it has the
    places of ``strata``, whose values have the codes of the table ``coded``. ``columns`` are published beside
    it, ``labels`` the tables of what quasi-identifiers show, by their place. ``value`` is the held column of
    the sensitive attribute, ``value_text`` its text. ``form`` says how the texts say numbers, None where they
    do not; of exact ones ``widest`` is the largest magnitude, and ``total`` the sum of all rows' magnitudes,
    in units of the last decimal. ``subject`` is the held column of people who have several rows, where they
    count, ``person`` the name and the held column of what may name people. ``never_text`` says that the
    source has no texts there, ``exact`` that exact numbers are held. The tables live until the context that
    made them ends.
    """

    engine: Engine
    tables: TemporaryTables
    table: str
    rows: int
    hierarchies: tuple[GeneralizationHierarchy, ...]
    sensitive: SensitiveColumn
    form: NumberForm | None
    never_text: bool
    exact: bool
    columns: tuple[PublishedColumn, ...]
    value: str
    value_text: str
    labels: tuple[tuple[int, str], ...]
    source_columns: tuple[str, ...]
    strata: Strata | None = None
    coded: str | None = None
    subject: str | None = None
    person: tuple[str, str] | None = None
    widest: int = 0
    total: int = 0

    def with_column(self, column: SensitiveColumn) -> HeldRows:
        """The same with the sensitive values of its rows."""
        return replace(
            self, sensitive=column, widest=largest_magnitude(column), total=total_magnitude(column)
        )

    def without_arrays(self) -> HeldRows:
        """What is left once values have changed places: the engine needs the memory that arrays have."""
        none = replace(self.sensitive, codes=np.empty(0, dtype=np.int64), numbers=None, subjects=None)
        return replace(self, sensitive=none, strata=None)

    def codes(self) -> NDArray[np.int64]:
        """The leaf codes of each row (or place), shape ``(rows, quasi-identifiers)``."""
        width = len(self.hierarchies)
        if self.strata is not None:
            if self.strata.keys != width:
                raise InternalError("groups depend on quasi-identifiers that were not counted")
            return self.strata.leaf_codes[self.strata.of_places]
        found = self.engine.fetch_arrays(sql.leaf_codes(self.table, width))
        codes = np.empty((self.rows, width), dtype=np.int64)
        for i in range(width):
            codes[found[sql.ROW], i] = found[recode.key_name(i)]
        return codes

    @property
    def kept(self) -> tuple[str, ...]:
        """The held table's columns that published columns are made of."""
        others = [stored_name(column) for column in self.columns if column.stored is not None]
        return (*(recode.key_name(i) for i in range(len(self.hierarchies))), *others)

    @property
    def as_numbers(self) -> bool:
        """Whether exact numbers say all that the sensitive values do, so that they can be published as such.

        Texts often do not: ``010`` and ``10`` are two codes of one number, and a double rounds what is longer
        than 64 bits.
        """
        form = self.form
        return form is not None and form.scale is not None and (form.canonical or self.never_text)

    @property
    def told_by_codes(self) -> bool:
        """Whether the codes tell all that the values say: each row has an exact number, held as such."""
        scale = None if self.form is None else self.form.scale
        if not self.exact or scale is None or scale >= LONG_DIGITS:
            return False
        return bool(self.sensitive.codes.min(initial=0) >= 0)

    def text_of(self, column: str) -> str:
        """The text of a sensitive value that stands in another column."""
        return STORED.sub(lambda _: column, self.value_text)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The groups of the rows that are published: all held ones, or those at the places ``rows``.

    ``near`` is the warning of values that lie near each other (``permutation.checks``).
    """

    partition: GroupPartition
    rows: NDArray[np.int64] | None = None
    warnings: tuple[str, ...] = ()
    near: str | None = None

    def without_arrays(self) -> Chosen:
        """What is told of the partition once values have changed places."""
        none = np.empty(0, dtype=np.int64)
        rows = None if self.rows is None else none
        return replace(self, partition=replace(self.partition, groups=none), rows=rows)


@contextmanager
def held_rows(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    sensitive: str,
    node: Sequence[int],
    *,
    typed: bool,
    row_types: bool = False,
    people: bool = False,
    person: str | None = None,
) -> Iterator[HeldRows]:
    """Hold a spec's rows; quasi-identifiers will be shown at ``node``'s levels, in the order of ``counted``.

    Other sensitive attributes are left out. ``typed`` asks for the source's own types where a file can hold
    them, and for numbers where all texts are plain ones. ``row_types`` says that groups depend on
    quasi-identifiers, ``people`` that people have several rows, and are counted; ``person`` is a column that
    may name people, and is held where the engine holds arrays of rows. ``InputError`` where the
    source is no longer the one that was counted, and for people in an engine that holds no arrays of rows.
    """
    hierarchies = tuple(counted.hierarchies)
    if people and engine.dialect.random_key is not None:
        raise InputError(
            "people with several rows are permuted where Python sees whose each row is",
            allowed="files and tables that the embedded engine reads",
            advice="Permute a copy as a Parquet file.",
        )
    with opened_for_release(engine, spec.source) as table, TemporaryTables(engine) as tables:
        shown = shown_at_levels(hierarchies, node)
        columns = published_columns(_with_one(spec, sensitive), table, shown, native=typed)
        if is_floating(table.types[sensitive]):
            columns = tuple(without_negative_zeros(c) if c.name == sensitive else c for c in columns)
        by_row = engine.dialect.random_key is None
        stored = StoredColumns.of(spec, table, columns, person if by_row else None)
        keys = leaf_columns(tables, table, hierarchies)
        held = tables.create(
            recode.coded_table(engine.dialect, table.relation, keys, stored.others, stored.never_null)
        )
        rows = check_rows(engine, held, len(keys), spec, counted)
        chosen = next(column for column in columns if column.name == sensitive)
        others = tuple(column for column in columns if column.name != sensitive)
        if typed:
            others = with_plain_numbers(engine, held, others, hierarchies, node)
        found = HeldRows(
            engine=engine,
            tables=tables,
            table=held,
            rows=rows,
            hierarchies=hierarchies,
            sensitive=SensitiveColumn(sensitive, np.empty(0, dtype=np.int64), 0, None),
            form=None,
            never_text=is_never_text(table.types[sensitive]),
            exact=typed and decimals_of(table.types[sensitive]) is not None,
            columns=others,
            value=stored_name(chosen),
            value_text=chosen.counted_text,
            labels=_labels(tables, hierarchies, node),
            subject=stored.subject if people else None,
            person=None if person is None or stored.person is None else (person, stored.person),
            source_columns=table.columns,
        )
        if by_row:
            yield _by_row(found)
        else:
            kind = table.types[sensitive]
            whole = fits_long(kind) and decimals_of(kind) == 0
            yield _by_stratum(found, row_types=row_types, whole=whole)


def _by_row(held: HeldRows) -> HeldRows:
    """The value of each row by its number."""
    column, form = read_sensitive(
        held.engine,
        held.tables,
        held.table,
        held.value_text,
        held.sensitive.attribute,
        held.rows,
        exact=held.value if held.exact else None,
    )
    if held.subject is not None:
        column = replace(column, subjects=subjects_of_rows(held, held.subject))
    return replace(held, form=form).with_column(column)


def subjects_of_rows(held: HeldRows, subject: str) -> NDArray[np.int64]:
    """The number of each row's person."""
    found = held.engine.fetch_arrays(sql.subjects_of_rows(held.table, subject))
    subjects = np.full(held.rows, -1, dtype=np.int64)
    subjects[found[sql.ROW]] = found[sql.CODE]
    if len(found[sql.ROW]) != held.rows or (subjects < 0).any():
        raise InternalError(f"the subjects are not those of {held.rows} rows")
    return subjects


def _by_stratum(held: HeldRows, *, row_types: bool, whole: bool) -> HeldRows:
    """The rows counted by value (``whole`` as of ``read_texts``), and by row type where that matters."""
    keys = len(held.hierarchies) if row_types else 0
    coded = read_texts(held.engine, held.tables, held.table, held.value_text, whole=whole, counted=not keys)
    strata = count_strata(held.engine, held.tables, held.table, held.value_text, coded, keys, held.rows)
    column = coded.column(held.sensitive.attribute, np.repeat(strata.codes, strata.counts))
    return replace(held, form=coded.form, strata=strata, coded=coded.table).with_column(column)


def _with_one(spec: TableSpec, sensitive: str) -> TableSpec:
    """The spec without its other sensitive attributes."""
    attributes = tuple(
        replace(a, role=AttributeRole.IDENTIFIER)
        if a.role is AttributeRole.SENSITIVE and a.name != sensitive
        else a
        for a in spec.attributes
    )
    return replace(spec, attributes=attributes)


def _labels(
    tables: TemporaryTables, hierarchies: Sequence[GeneralizationHierarchy], node: Sequence[int]
) -> tuple[tuple[int, str], ...]:
    """What each leaf code shows at its level, NULL below the top staying NULL."""
    loaded = []
    for i, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True)):
        if level < hierarchy.height:
            texts = [hierarchy.labels[level][place] for place in hierarchy.ancestors[level].tolist()]
            codes = np.arange(len(texts) + 1, dtype=np.int64)
            loaded.append((i, tables.load({recode.POSITION: codes, recode.LABEL: [*texts, None]})))
    return tuple(loaded)
