"""Release as an attacker sees it: classes of equal rows with their sensitive values.

Only the published file is read. Rows that agree in all quasi-identifiers form one class, whatever the
recoding; starred rows are in no class. Sensitive values that were permuted within groups are counted per
group. The columns come from the arguments, the manifest or the spec, in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine, SourceTable
from discreet.engines.connection import engine_for
from discreet.engines.source_tables import open_source_table
from discreet.errors import InputError
from discreet.measures.generalized_table import merge_equal_groups
from discreet.model.cell_format import is_star
from discreet.model.hierarchy import TOP
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import CLASS_RELEASE, SENSITIVE_FILE, ReleaseKind
from discreet.model.table_spec import AttributeRole, SourceSpec, TableSpec
from discreet.release.manifest import Manifest, has_manifest, read_manifest
from discreet.settings import Settings
from discreet.workload.answerable_table import (
    ColumnGroups,
    count_column_groups,
    count_starred_rows,
    release_source,
)

NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Counts of each sensitive value in each unit, a class or a group.

    Entry j: ``rows[j]`` rows of unit ``units[j]`` have value ``values[j]``, an index into ``texts`` or
    ``NO_VALUE``; entries are distinct pairs. ``unit_rows`` is the number of rows of each unit.
    """

    attribute: str
    texts: tuple[str, ...]
    units: NDArray[np.int64]
    values: NDArray[np.int64]
    rows: NDArray[np.int64]
    unit_rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReleaseClasses:
    """Classes of a release.

    Class c shows ``labels[i][shown[c, i]]`` for quasi-identifier i, where the last label is NULL, in
    ``rows[c]`` rows. ``sensitive`` counts values by the unit of ``kind``. ``starred`` rows are in no class.
    """

    attributes: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    shown: NDArray[np.int64]
    rows: NDArray[np.int64]
    sensitive: tuple[ValueCounts, ...]
    starred: int = 0
    kind: ReleaseKind = CLASS_RELEASE

    @property
    def total(self) -> int:
        """Number of rows in classes."""
        return int(self.rows.sum())

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.rows)


@dataclass(frozen=True)
class PublishedColumns:
    """Roles of a release's columns.

    ``starred`` is true if the release may contain rows of only stars. ``kind`` defines the groups
    within which the sensitive values are permuted; ``values_source`` is the separate source of these values,
    if any. ``table`` names the release's table in a database file.
    """

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    starred: bool = True
    kind: ReleaseKind = CLASS_RELEASE
    values_source: SourceSpec | None = None
    table: str | None = None

    @property
    def group(self) -> str | None:
        """Column of the groups; None for a release of classes."""
        return self.kind.unit_column


def read_published(
    engine: Engine,
    release: Path | SourceSpec,
    columns: PublishedColumns,
    settings: Settings,
    null_values: Sequence[str] = (),
) -> ReleaseClasses:
    """Read a release, a file or a database table, in one scan; two where sensitive values are separate.

    Raise ``InputError`` for a file that cannot be read, a column that it lacks, or no quasi-identifier at
    all.
    """
    if not columns.quasi_identifiers:
        raise InputError(
            "no quasi-identifier was named",
            advice="Name the columns that an attacker may know, each by --quasi-identifier COLUMN.",
        )
    names = columns.quasi_identifiers
    further_columns = (*columns.sensitive, *([columns.group] if columns.group else []))
    apart = columns.values_source is not None
    source = release_source(release, null_values)
    if columns.table is not None:
        source = replace(source, table=columns.table)
    with engine_for(engine, settings, source) as reader, open_source_table(reader, source) as table:
        counted, starred = _count_rows(
            reader, table, (*names, *(() if apart else further_columns)), columns, settings
        )
    keys, class_of = _number_rows(counted.codes[:, : len(names)])
    rows = np.bincount(class_of, counted.rows, minlength=len(keys)).astype(np.int64)
    return ReleaseClasses(
        attributes=names,
        labels=tuple((*texts, None) for texts in counted.texts[: len(names)]),
        shown=keys,
        rows=rows,
        sensitive=_count_sensitive(engine, columns, counted, class_of, settings, null_values),
        starred=starred,
        kind=columns.kind,
    )


def _count_rows(
    engine: Engine,
    table: SourceTable,
    names: Sequence[str],
    columns: PublishedColumns,
    settings: Settings,
) -> tuple[ColumnGroups, int]:
    """Count the groups of rows by some columns without starred rows, and the starred rows."""
    counted = count_column_groups(engine, table, names, settings)
    starred = count_starred_rows(engine, table) if columns.starred else 0
    if not starred:
        return counted, 0
    # A group of only stars may also contain rows whose cells show the top value: subtract the starred rows
    # only.
    stars = np.ones(len(counted.rows), dtype=np.bool_)
    for i, texts in enumerate(counted.texts):
        stars &= counted.codes[:, i] == (texts.index(TOP) if TOP in texts else -1)
    rows = counted.rows.copy()
    rows[stars] -= np.minimum(rows[stars], starred)
    nonempty = rows > 0
    return ColumnGroups(counted.columns, counted.texts, counted.codes[nonempty], rows[nonempty]), starred


def _count_sensitive(
    engine: Engine,
    columns: PublishedColumns,
    counted: ColumnGroups,
    class_of: NDArray[np.int64],
    settings: Settings,
    null_values: Sequence[str],
) -> tuple[ValueCounts, ...]:
    """Count the values of each sensitive attribute by class, or by group."""
    if columns.group is None:
        return tuple(_count_values(counted, name, class_of) for name in columns.sensitive)
    if columns.values_source is not None:
        source = release_source(columns.values_source, null_values)
        with engine_for(engine, settings, source) as reader, open_source_table(reader, source) as table:
            counted = count_column_groups(reader, table, (columns.group, *columns.sensitive), settings)
    _, group_of = _number_rows(counted.codes[:, [counted.columns.index(columns.group)]])
    return tuple(_count_values(counted, name, group_of) for name in columns.sensitive)


def _count_values(counted: ColumnGroups, name: str, unit_of: NDArray[np.int64]) -> ValueCounts:
    column_index = counted.columns.index(name)
    values_of_rows = counted.texts[column_index]
    texts = tuple(text for text in values_of_rows if not is_star(text))
    place_of = {text: code for code, text in enumerate(texts)}
    codes = np.array([*(place_of.get(text, NO_VALUE) for text in values_of_rows), NO_VALUE])[
        counted.codes[:, column_index]
    ]
    pairs, rows = merge_equal_groups(np.column_stack([unit_of, codes]), counted.rows)
    return ValueCounts(
        attribute=name,
        texts=texts,
        units=pairs[:, 0],
        values=pairs[:, 1],
        rows=rows,
        unit_rows=np.bincount(pairs[:, 0], rows).astype(np.int64),
    )


def _number_rows(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows of ``codes`` in lexicographic order, and each row's index among them."""
    if not len(codes):
        return codes, np.empty(0, dtype=np.int64)
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    starts = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))
    position_of = np.empty(len(codes), dtype=np.int64)
    position_of[order] = np.cumsum(starts) - 1
    return ordered[starts], position_of


def find_manifest(address: Path | ReleaseAddress, engine: Engine | None = None) -> Manifest | None:
    """Return the manifest of a release; None where there is none.

    ``engine`` is required for a release in a database table.
    """
    return read_manifest(address, engine) if has_manifest(address, engine) else None


def select_columns(
    address: Path | ReleaseAddress,
    manifest: Manifest | None,
    spec: TableSpec | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
) -> PublishedColumns:
    """Return the given columns, else the manifest's, else the spec's; raise ``InputError`` without any."""
    if manifest is not None:
        published = [(a.name, a.role) for a in manifest.attributes if a.published]
        keys = [name for name, role in published if role == AttributeRole.QUASI_IDENTIFIER]
        values = [name for name, role in published if role == AttributeRole.SENSITIVE]
    elif spec is not None:
        keys, values = [a.name for a in spec.quasi_identifiers], [a.name for a in spec.sensitive]
    elif quasi_identifiers:
        keys, values = [], []
    else:
        raise InputError(
            f"{ReleaseAddress.of(address).label} has no manifest, and no quasi-identifier was named",
            advice="Name the columns that an attacker may know, each by --quasi-identifier COLUMN.",
        )
    release, kind = ReleaseAddress.of(address), CLASS_RELEASE if manifest is None else manifest.kind
    apart = kind.further_files.get(SENSITIVE_FILE)
    return PublishedColumns(
        quasi_identifiers=tuple(quasi_identifiers or keys),
        sensitive=kind.select_sensitive(sensitive, values),
        starred=manifest is None or manifest.stars_rows,
        kind=kind,
        values_source=None
        if apart is None
        else release.part(SENSITIVE_FILE, apart.file).source(table=apart.table),
        table=None if release.in_database else kind.data_table,
    )


def find_exact_columns(manifest: Manifest | None) -> frozenset[str]:
    """Return the quasi-identifiers that a release shows unchanged, according to its manifest."""
    if manifest is None or not manifest.has_levels:
        return frozenset()
    return frozenset(name for name, level in manifest.levels.items() if level == 0)
