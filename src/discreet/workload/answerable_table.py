"""Tables that queries can be answered from: an original, or a release read from its file.

Both are groups of rows with a cell per attribute; in an original every cell is one value. One function
therefore answers queries on both, and the answer of an original is the truth. The engine groups the rows by
the texts of some columns in one scan; this module encodes the groups as arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.connection import engine_for
from discreet.engines.source_tables import confirm_all_rows, open_source_table
from discreet.errors import InputError, LimitReached
from discreet.frequency.encoding import sort_rows
from discreet.frequency.table_scan import GroupCodes, stage_groups
from discreet.measures.generalized_table import GeneralizedTable, exact_cells, merge_equal_groups
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.published_cells import Cells
from discreet.model.table_spec import NullPolicy, SourceSpec, TableSpec
from discreet.queries.region import AttributeDomain
from discreet.settings import Settings
from discreet.sql import group_counts as sql
from discreet.sql.cell_expressions import cell_text, group_key, group_key_type, is_binary, is_nested
from discreet.sql.quoting import literal
from discreet.workload.published_labels import ReadCells, build_cells_of_codes, read_cells


@dataclass(frozen=True, eq=False)
class ColumnGroups:
    """Groups of rows with equal texts in some columns.

    ``texts[i]`` contains the distinct texts of column i, in order; ``codes``, shape ``(groups, columns)``,
    contains indices into them, or ``len(texts[i])`` for NULL. ``rows`` contains the number of rows of each
    group.
    """

    columns: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    rows: NDArray[np.int64]


def count_column_groups(
    engine: Engine, table: SourceTable, columns: Sequence[str], settings: Settings
) -> ColumnGroups:
    """Count the groups of an opened source by the texts of ``columns`` (at least one), in one scan.

    Raises ``InputError`` for a column that is missing or contains nested or binary values, and
    ``LimitReached`` before fetching if the groups would not fit the memory limit.
    """
    for name in columns:
        table.position(name)
        if is_nested(table.types[name]) or is_binary(table.types[name]):
            raise InputError(
                f"{table.label}: column '{name}' contains nested or binary values",
                allowed="text, numbers, dates or booleans",
            )
    keys = [group_key(table.column(name), table.types[name], table.dialect) for name in columns]
    texts = [
        cell_text(sql.group_key_name(i), group_key_type(table.types[name]), table.null_values, table.dialect)
        for i, name in enumerate(columns)
    ]
    size = 12 * len(columns) + 64
    most = settings.memory_limit // size
    with stage_groups(engine, table.relation, keys, texts, most) as staged:
        if staged.groups > most:
            raise LimitReached(
                f"the rows have more than {most:,} distinct combinations of {len(columns)} columns; each "
                f"needs about {size} bytes, and the memory limit is {settings.memory_limit:,}",
                advice="Raise DISCREET_MEMORY_LIMIT, or name fewer columns.",
            )
        confirm_all_rows(engine, table, staged.rows)
        return _sort_texts(tuple(columns), staged.codes())


def count_starred_rows(engine: Engine, table: SourceTable) -> int:
    """Count the rows with ``*`` in every cell."""
    cells = " AND ".join(f"{table.text(name)} = {literal('*')}" for name in table.columns)
    return int(engine.fetch_rows(f"SELECT count(*) FROM {table.relation} WHERE {cells}")[0][0])


def _sort_texts(columns: tuple[str, ...], groups: GroupCodes) -> ColumnGroups:
    """Sort each column's texts, and merge groups with equal texts."""
    ordered, codes = [], np.empty((len(groups.rows), len(columns)), dtype=np.int64)
    for i, texts in enumerate(groups.values):
        order = sorted(range(len(texts)), key=texts.__getitem__)
        rank = np.empty(len(texts) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(texts)), len(texts)
        ordered.append(tuple(texts[index] for index in order))
        codes[:, i] = rank[groups.codes[i]]
    if not len(codes):
        return ColumnGroups(columns, tuple(ordered), codes, groups.rows.astype(np.int64))
    index, starts = sort_rows(list(codes.T), [len(texts) + 1 for texts in ordered])
    rows = np.add.reduceat(groups.rows[index], starts).astype(np.int64)
    return ColumnGroups(columns, tuple(ordered), codes[index[starts]], rows)


@dataclass(frozen=True, eq=False)
class AnswerableTable:
    """Table with the domain of each attribute.

    ``classes`` are the attributes by which rows form equivalence classes. ``attained`` marks, for each
    attribute, the cells whose ends occur in each class with that cell (range summaries), shape
    ``(cells,)``; ``means`` contains the means that cells state of their classes. ``missing`` is the number
    of original rows that the table lacks, which may have any values; ``starred`` is the number of rows with
    ``*`` in every cell.
    """

    table: GeneralizedTable
    domains: Mapping[str, AttributeDomain]
    classes: tuple[str, ...] = ()
    attained: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    means: Mapping[str, ReadCells] = field(default_factory=dict)
    missing: int = 0
    starred: int = 0

    @property
    def quasi_identifiers(self) -> GeneralizedTable:
        """Table restricted to the attributes of its classes."""
        return self.table.project(self.classes)


def domains_of_hierarchies(hierarchies: Sequence[GeneralizationHierarchy]) -> dict[str, AttributeDomain]:
    """Return the domain of each quasi-identifier, the leaves of its hierarchy."""
    return {h.attribute: AttributeDomain(h.attribute, h.leaves) for h in hierarchies}


def table_of_frequency_set(frequency_set: FrequencySet) -> AnswerableTable:
    """Return a table's ungeneralized quasi-identifiers."""
    return AnswerableTable(
        table=GeneralizedTable.ungeneralized(frequency_set),
        domains=domains_of_hierarchies(frequency_set.hierarchies),
        classes=frequency_set.attributes,
    )


def table_of_recoding(
    frequency_set: FrequencySet, recoding: ClassRecoding, *, attained: bool = False
) -> AnswerableTable:
    """Return the quasi-identifiers that a recoding would publish.

    Set ``attained`` if its cells are range summaries.
    """
    table = GeneralizedTable.of_recoding(recoding)
    return AnswerableTable(
        table=table,
        domains=domains_of_hierarchies(frequency_set.hierarchies),
        classes=recoding.attributes,
        attained=_find_attained(table, frequency_set.hierarchies) if attained else {},
        missing=frequency_set.rows - table.total,
    )


def read_original(
    engine: Engine, spec: TableSpec, frequency_set: FrequencySet, others: Sequence[str], settings: Settings
) -> AnswerableTable:
    """Read the original with ``others``, columns that are not quasi-identifiers.

    One more scan is needed if there are any. Rows that the NULL policy drops are left out, as in the
    frequency set.
    """
    if not others:
        return table_of_frequency_set(frequency_set)
    names = frequency_set.attributes
    dropping = spec.source.null_policy is NullPolicy.DROP
    further_columns = [a.name for a in spec.sensitive if dropping and a.name not in others]
    where = spec.source
    with engine_for(engine, settings, where) as reader, open_source_table(reader, where) as source:
        counted = count_column_groups(reader, source, (*names, *others, *further_columns), settings)
    if dropping:
        retained = np.ones(len(counted.rows), dtype=np.bool_)
        for i, name in enumerate(counted.columns):
            if name in names or name in {a.name for a in spec.sensitive}:
                retained &= counted.codes[:, i] != len(counted.texts[i])
        counted = replace(counted, codes=counted.codes[retained], rows=counted.rows[retained])
    domains = domains_of_hierarchies(frequency_set.hierarchies)
    domains |= {name: AttributeDomain(name, counted.texts[len(names) + i]) for i, name in enumerate(others)}
    codes = counted.codes[:, : len(names) + len(others)].copy()
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        leaf_of_text = [hierarchy.code_of_leaf.get(text, hierarchy.null_code) for text in counted.texts[i]]
        codes[:, i] = np.array([*leaf_of_text, hierarchy.null_code])[codes[:, i]]
    cell_codes, rows = merge_equal_groups(codes, counted.rows)
    cells = tuple(exact_cells(name, domains[name].texts) for name in (*names, *others))
    return AnswerableTable(GeneralizedTable(cells, cell_codes, rows), domains, names)


def read_release(
    engine: Engine,
    release: Path | SourceSpec,
    spec: TableSpec,
    original: AnswerableTable,
    hierarchies: Sequence[GeneralizationHierarchy],
    settings: Settings,
    *,
    attained: bool = False,
) -> AnswerableTable:
    """Read a release with the attributes of ``original``, from a file or a table of a database.

    The release may be written by another tool. Cells of quasi-identifiers are read with their hierarchies
    (``workload.published_labels``); cells of other attributes are values of the original's, or ``*``. Set
    ``attained`` if the cells of quasi-identifiers are range summaries. Raises ``InputError`` for a file
    that cannot be read, a missing column, labels that cover nothing, or more rows than the original has.
    """
    source = release_source(release, spec.source.null_values)
    names = original.table.attributes
    with engine_for(engine, settings, source) as reader, open_source_table(reader, source) as published:
        counted = count_column_groups(reader, published, names, settings)
        starred = count_starred_rows(reader, published)
    total = int(counted.rows.sum())
    if total > original.table.total:
        raise InputError(
            f"{source.label} has {total:,} rows, more than the {original.table.total:,} of the original",
            advice="Compare a release with its original.",
        )
    by_name = {h.attribute: h for h in hierarchies}
    has_null = _has_null(original)
    cells: list[Cells] = []
    means: dict[str, ReadCells] = {}
    for i, name in enumerate(names):
        labels = (*counted.texts[i], None)
        if name in by_name:
            read = read_cells(by_name[name], labels, nullable=has_null[name])
            cells.append(read.cells)
            if not np.isnan(read.means).all():
                means[name] = read
        else:
            cells.append(_cells_of_values(original.domains[name], labels, has_null[name]))
    table = GeneralizedTable(tuple(cells), counted.codes, counted.rows)
    return AnswerableTable(
        table=table,
        domains=original.domains,
        classes=original.classes,
        attained=_find_attained(table, hierarchies) if attained else {},
        means=means,
        missing=original.table.total - total,
        starred=starred,
    )


def release_source(release: Path | SourceSpec, null_values: Sequence[str]) -> SourceSpec:
    """Return the source of a release, with further texts that are read as NULL."""
    source = release if isinstance(release, SourceSpec) else SourceSpec(path=release)
    return replace(source, null_values=tuple(dict.fromkeys((*source.null_values, *null_values))))


def _find_attained(
    table: GeneralizedTable, hierarchies: Sequence[GeneralizationHierarchy]
) -> dict[str, NDArray[np.bool_]]:
    """Mark all cells of range summaries except the top value, which may also represent NULL."""
    tops = {h.attribute: {TOP, h.labels[-1][0]} for h in hierarchies}
    return {
        cells.attribute: np.array([label not in tops[cells.attribute] for label in cells.labels])
        for cells in table.cells
        if cells.attribute in tops
    }


def _has_null(original: AnswerableTable) -> dict[str, bool]:
    table = original.table
    return {
        cells.attribute: bool((table.shown[:, i] == cells.leaves).any())
        for i, cells in enumerate(table.cells)
    }


def _cells_of_values(domain: AttributeDomain, labels: Sequence[str | None], nullable: bool) -> Cells:
    """Return the cells of an attribute that is published unchanged, or starred."""
    places = {text: index for index, text in enumerate(domain.texts)}
    codes, unknown = [], 0
    for label in labels:
        if label is None or label in places:
            codes.append(np.array([domain.null_code if label is None else places[label]]))
        else:
            unknown += label != TOP
            codes.append(np.arange(domain.null_code + nullable))
    if unknown:
        raise InputError(
            f"column '{domain.attribute}' of the release: {unknown:,} of {len(labels) - 1:,} values do not "
            "occur in the original",
            allowed="the original's values, or *",
        )
    return build_cells_of_codes(domain.attribute, domain.null_code, labels, codes)
