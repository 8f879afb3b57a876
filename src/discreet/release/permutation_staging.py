"""Rows of a table staged in the engine while permutation groups are computed.

The source is read once. In the embedded engine Python holds one sensitive code per row and, if groups depend
on them, the leaf codes of quasi-identifiers; with other engines only a frequency set (strata). Texts become
numbers only if each text is exactly the number's printed form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables, open_release_table
from discreet.errors import InputError, InternalError
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.release_kind import GroupPartition, SensitiveColumn
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.permutation.sensitive_column import (
    NumberForm,
    RowStrata,
    count_strata,
    largest_magnitude,
    read_sensitive,
    read_texts,
    total_magnitude,
)
from discreet.recoding.coded_rows import StoredColumns, check_rows, leaf_columns
from discreet.recoding.published_columns import PublishedColumn, build_published_columns, texts_at_levels
from discreet.recoding.stored_classes import CountedTable
from discreet.sql import recoded_rows
from discreet.sql import value_permutation as sql
from discreet.sql.cell_expressions import (
    batched,
    decimals_of,
    fits_long,
    is_floating,
    is_never_text,
)

STAGED_COLUMN = re.compile(r"\bo[0-9]+\b")
"""Pattern of a column of the staged table."""

_WHOLE = re.compile(r"-?[1-9][0-9]{0,17}|0")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.([0-9]+)")
_NEGATIVE_ZERO = re.compile(r"-0\.0+")
_MOST_DIGITS = 18


def drop_negative_zeros(column: PublishedColumn) -> PublishedColumn:
    """Return a column of floating-point numbers with negative zeros stored as zero."""
    assert column.stored is not None
    return replace(column, stored=sql.without_negative_zero(column.stored, as_text=_is_text(column)))


def convert_plain_numbers(
    engine: Engine,
    staged: str,
    columns: Sequence[PublishedColumn],
    hierarchies: Sequence[GeneralizationHierarchy],
    node: Sequence[int],
) -> tuple[PublishedColumn, ...]:
    """Convert text columns of a staged table to numbers, where each text is the number's printed form.

    Cost: one statement per batch of columns, of the size in ``sql.cell_expressions``.
    """
    texts = {column.name: column for column in columns if _is_text(column)}
    types = {
        hierarchy.attribute: plain_number_type(hierarchy.labels[level])
        for hierarchy, level in zip(hierarchies, node, strict=True)
        if hierarchy.attribute in texts
    }
    for part in batched([column for column in texts.values() if column.stored is not None]):
        query = sql.non_integer_counts(engine.dialect, staged, [staged_column(column) for column in part])
        types |= {part[index].name: None if other else "BIGINT" for index, other in engine.fetch_rows(query)}

    def typed(column: PublishedColumn) -> PublishedColumn:
        number = types.get(column.name)
        if number is None:
            return column
        return replace(column, published=engine.dialect.cast(column.published, number))

    return tuple(map(typed, columns))


def plain_number_type(texts: Sequence[str]) -> str | None:
    """Return the type of numbers that print as exactly these texts, or None where there is none.

    >>> plain_number_type(["7", "-12"]), plain_number_type(["1.50", "2.25"]), plain_number_type(["07"])
    ('BIGINT', 'DECIMAL(18, 2)', None)
    """
    if not texts:
        return None
    if all(_WHOLE.fullmatch(text) for text in texts):
        return "BIGINT"
    matches = [_DECIMAL.fullmatch(text) for text in texts]
    scales = {len(match.group(1)) if match else -1 for match in matches}
    widest = max(len(text.lstrip("-")) - 1 for text in texts)
    if len(scales) > 1 or -1 in scales or widest > _MOST_DIGITS:
        return None
    if any(_NEGATIVE_ZERO.fullmatch(text) for text in texts):
        return None
    return f"DECIMAL({_MOST_DIGITS}, {scales.pop()})"


def staged_column(column: PublishedColumn) -> str:
    """Return the staged table's column from which a published column is computed."""
    found = STAGED_COLUMN.search(column.counted_text)
    assert found is not None
    return found.group()


def _is_text(column: PublishedColumn) -> bool:
    """Return true if a column is published as its text."""
    return column.published == column.published_text


@dataclass(frozen=True, eq=False)
class StagedRows:
    """Staged rows in the engine's ``table``, with the ``sensitive`` column to permute.

    If ``strata`` is None, rows are numbered from 0 and ``sensitive`` is indexed by row number; otherwise it
    is indexed by the positions of ``strata``, whose values have the codes of the table ``coded``. ``columns``
    are the other published columns, ``labels`` the tables of the quasi-identifiers' labels by index.
    ``value`` is the staged column of the sensitive attribute, ``value_text`` the SQL of its text. ``form`` is
    the number form of the texts, None for texts that are no numbers; for exact numbers ``widest`` is the
    largest magnitude and ``total`` the sum of all rows' magnitudes, in units of the last decimal. ``subject``
    is the staged column of people, if people with several rows are counted; ``person`` is the name and the
    staged column of values that may name people. ``never_text`` is true if the source has no texts there,
    ``exact`` if exact numbers are stored. The tables exist until the context that created them ends.
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
    strata: RowStrata | None = None
    coded: str | None = None
    subject: str | None = None
    person: tuple[str, str] | None = None
    widest: int = 0
    total: int = 0

    def with_column(self, column: SensitiveColumn) -> StagedRows:
        """Return the staged rows with the sensitive values of the rows."""
        return replace(
            self, sensitive=column, widest=largest_magnitude(column), total=total_magnitude(column)
        )

    def without_arrays(self) -> StagedRows:
        """Return the staged rows without their arrays; the engine needs the memory after the permutation."""
        none = replace(self.sensitive, codes=np.empty(0, dtype=np.int64), numbers=None, subjects=None)
        return replace(self, sensitive=none, strata=None)

    def codes(self) -> NDArray[np.int64]:
        """Return the leaf codes of each row (or position), shape ``(rows, quasi-identifiers)``."""
        width = len(self.hierarchies)
        if self.strata is not None:
            if self.strata.keys != width:
                raise InternalError("groups depend on quasi-identifiers that were not counted")
            return self.strata.leaf_codes[self.strata.stratum_of_position]
        found = self.engine.fetch_arrays(sql.row_leaf_codes(self.table, width))
        codes = np.empty((self.rows, width), dtype=np.int64)
        for i in range(width):
            codes[found[sql.ROW_NUMBER], i] = found[recoded_rows.key_name(i)]
        return codes

    @property
    def source_cells(self) -> tuple[str, ...]:
        """Columns of the staged table from which published columns are computed."""
        others = [staged_column(column) for column in self.columns if column.stored is not None]
        return (*(recoded_rows.key_name(i) for i in range(len(self.hierarchies))), *others)

    @property
    def as_numbers(self) -> bool:
        """True if exact numbers preserve the sensitive values, so that they can be published as numbers.

        Texts often lose by this: ``010`` and ``10`` are two codes of one number, and a double rounds numbers
        longer than 64 bits.
        """
        form = self.form
        return form is not None and form.scale is not None and (form.canonical or self.never_text)

    def text_of(self, column: str) -> str:
        """Return the SQL text of a sensitive value in another column."""
        return STAGED_COLUMN.sub(lambda _: column, self.value_text)


@dataclass(frozen=True, eq=False)
class ChosenGroups:
    """Groups of the published rows: all staged rows, or those with the indices ``rows``.

    ``proximity`` is the warning of values that are near each other (``permutation.group_checks``).
    """

    partition: GroupPartition
    rows: NDArray[np.int64] | None = None
    warnings: tuple[str, ...] = ()
    proximity: str | None = None

    def without_arrays(self) -> ChosenGroups:
        """Return the metadata of the groups without the arrays, after the permutation."""
        none = np.empty(0, dtype=np.int64)
        rows = None if self.rows is None else none
        return replace(self, partition=replace(self.partition, groups=none), rows=rows)


@contextmanager
def stage_rows(
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
) -> Iterator[StagedRows]:
    """Stage a spec's rows; quasi-identifiers will be shown at ``node``'s levels, in the order of ``counted``.

    Other sensitive attributes are omitted. ``typed`` requests the source's own types where a file can store
    them, and numbers where all texts are plain numbers. ``row_types`` is true if groups depend on
    quasi-identifiers, ``people`` if people with several rows are counted. ``person`` is a column that may
    name people; it is staged where the engine holds arrays of rows. Raise ``InputError`` where the source
    changed since it was counted, and for people in an engine without arrays of rows.
    """
    hierarchies = tuple(counted.hierarchies)
    if people and engine.dialect.random_key is not None:
        raise InputError(
            "permuting with several rows per person needs the embedded engine",
            allowed="files and tables that the embedded engine reads",
            advice="Permute a copy as a Parquet file.",
        )
    with open_release_table(engine, spec.source) as table, TemporaryTables(engine) as tables:
        label_texts, published = texts_at_levels(hierarchies, node), _with_one_sensitive(spec, sensitive)
        columns = build_published_columns(published, table, label_texts, native=typed)
        kind = table.types[sensitive]
        if is_floating(kind):
            columns = tuple(drop_negative_zeros(c) if c.name == sensitive else c for c in columns)
        by_row = engine.dialect.random_key is None
        stored = StoredColumns.of(spec, table, columns, person if by_row else None)
        keys = leaf_columns(tables, table, hierarchies)
        staged = tables.create(
            recoded_rows.coded_table(engine.dialect, table.relation, keys, stored.others, stored.never_null)
        )
        rows = check_rows(engine, staged, len(keys), spec, counted)
        (chosen,) = (column for column in columns if column.name == sensitive)
        others = tuple(column for column in columns if column.name != sensitive)
        if typed:
            others = convert_plain_numbers(engine, staged, others, hierarchies, node)
        found = StagedRows(
            engine=engine,
            tables=tables,
            table=staged,
            rows=rows,
            hierarchies=hierarchies,
            sensitive=SensitiveColumn(sensitive, np.empty(0, dtype=np.int64), 0, None),
            form=None,
            never_text=is_never_text(kind),
            exact=typed and decimals_of(kind) is not None,
            columns=others,
            value=staged_column(chosen),
            value_text=chosen.counted_text,
            labels=_load_labels(tables, hierarchies, node),
            subject=stored.subject if people else None,
            person=None if person is None or stored.person is None else (person, stored.person),
            source_columns=table.columns,
        )
        integers = fits_long(kind) and decimals_of(kind) == 0
        if by_row:
            yield _read_row_values(found)
        else:
            yield _count_strata_values(found, row_types=row_types, integers=integers)


def _read_row_values(staged: StagedRows) -> StagedRows:
    """Read the value of each row by its number."""
    column, form = read_sensitive(
        staged.engine,
        staged.tables,
        staged.table,
        staged.value_text,
        staged.sensitive.attribute,
        staged.rows,
        exact=staged.value if staged.exact else None,
    )
    if staged.subject is not None:
        column = replace(column, subjects=fetch_row_subjects(staged, staged.subject))
    return replace(staged, form=form).with_column(column)


def fetch_row_subjects(staged: StagedRows, subject: str) -> NDArray[np.int64]:
    """Return the number of each row's person."""
    found = staged.engine.fetch_arrays(sql.row_subjects(staged.table, subject))
    subjects = np.full(staged.rows, -1, dtype=np.int64)
    subjects[found[sql.ROW_NUMBER]] = found[sql.VALUE_CODE]
    if len(found[sql.ROW_NUMBER]) != staged.rows or (subjects < 0).any():
        raise InternalError(f"the subjects are not those of {staged.rows} rows")
    return subjects


def _count_strata_values(staged: StagedRows, *, row_types: bool, integers: bool) -> StagedRows:
    """Count the rows by value, and by row type if ``row_types``; ``integers`` is as in ``read_texts``."""
    keys = len(staged.hierarchies) if row_types else 0
    coded = read_texts(
        staged.engine, staged.tables, staged.table, staged.value_text, integers=integers, counted=not keys
    )
    strata = count_strata(
        staged.engine, staged.tables, staged.table, staged.value_text, coded, keys, staged.rows
    )
    column = coded.column(staged.sensitive.attribute, np.repeat(strata.codes, strata.counts))
    return replace(staged, form=coded.form, strata=strata, coded=coded.table).with_column(column)


def _with_one_sensitive(spec: TableSpec, sensitive: str) -> TableSpec:
    """Return the spec without its other sensitive attributes."""
    attributes = tuple(
        replace(a, role=AttributeRole.IDENTIFIER)
        if a.role is AttributeRole.SENSITIVE and a.name != sensitive
        else a
        for a in spec.attributes
    )
    return replace(spec, attributes=attributes)


def _load_labels(
    tables: TemporaryTables, hierarchies: Sequence[GeneralizationHierarchy], node: Sequence[int]
) -> tuple[tuple[int, str], ...]:
    """Load the label of each leaf code at its level; NULL below the top stays NULL."""
    loaded = []
    for i, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True)):
        if level < hierarchy.height:
            texts = [hierarchy.labels[level][ancestor] for ancestor in hierarchy.ancestors[level].tolist()]
            codes = np.arange(len(texts) + 1, dtype=np.int64)
            loaded.append(
                (i, tables.load({recoded_rows.POSITION: codes, recoded_rows.LABEL_TEXT: [*texts, None]}))
            )
    return tuple(loaded)


LARGEST_BIGINT = (1 << 63) - 1
_SHORT_DIGITS = 18


def sensitive_number_type(staged: StagedRows) -> str:
    """Return the type that stores every sensitive number exactly."""
    return exact_number_type(staged.widest, staged.form)


def exact_number_type(widest: int, form: NumberForm | None) -> str:
    """Return the type of integers of units up to a magnitude."""
    if form is None or form.scale is None:
        return "DOUBLE"
    if form.scale == 0 and widest <= LARGEST_BIGINT:
        return "BIGINT"
    digits = _SHORT_DIGITS if widest < 10**_SHORT_DIGITS and form.scale <= _SHORT_DIGITS else sql.EXACT_DIGITS
    return f"DECIMAL({digits},{form.scale})"
