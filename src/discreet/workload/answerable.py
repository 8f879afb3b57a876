"""Tables that queries are asked of: an original, or a release read back from its file.

Both are the same thing, groups of rows with a cell per attribute; in an original every cell is one value. So
one function answers queries of both, and the answer of an original is the truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.engines.connect import engine_for
from discreet.engines.scratch import opened
from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable, exact_cells, merged
from discreet.model.cells import Cells
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.table_spec import NullPolicy, SourceSpec, TableSpec
from discreet.queries.domain import Domain
from discreet.settings import Settings
from discreet.workload.counting import CountedColumns, count_columns, count_starred
from discreet.workload.labels import cells_of_codes, read_cells


@dataclass(frozen=True, eq=False)
class StatedMeans:
    """The mean that each cell of an attribute states, and how far rounding may have moved it.

    Both have shape ``(cells,)``; NaN where a cell states none.
    """

    means: NDArray[np.float64]
    half_units: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AnswerableTable:
    """A table with the domain of each attribute.

    ``classes`` are the attributes by which rows form equivalence classes. ``attained`` says which of an
    attribute's cells end at values that occur in each class that shows them (range summaries), shape
    ``(cells,)``; ``means`` what mean of each class they state. ``missing`` rows of the original are not in
    the table, and may be anything; ``starred`` ones are, and show ``*`` in every cell.
    """

    table: GeneralizedTable
    domains: Mapping[str, Domain]
    classes: tuple[str, ...] = ()
    attained: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    means: Mapping[str, StatedMeans] = field(default_factory=dict)
    missing: int = 0
    starred: int = 0

    @property
    def quasi_identifiers(self) -> GeneralizedTable:
        """The table of its classes alone."""
        return self.table.project(self.classes)


def domains_of(hierarchies: Sequence[GeneralizationHierarchy]) -> dict[str, Domain]:
    """The domain of each quasi-identifier: its hierarchy's leaves."""
    return {h.attribute: Domain(h.attribute, h.leaves) for h in hierarchies}


def as_it_stands(frequency_set: FrequencySet) -> AnswerableTable:
    """A table's quasi-identifiers, before anything is generalized."""
    return AnswerableTable(
        table=GeneralizedTable.as_it_stands(frequency_set),
        domains=domains_of(frequency_set.hierarchies),
        classes=frequency_set.attributes,
    )


def of_recoding(
    frequency_set: FrequencySet, recoding: ClassRecoding, *, attained: bool = False
) -> AnswerableTable:
    """What a recoding would publish of the quasi-identifiers.

    ``attained``: its cells are range summaries.
    """
    table = GeneralizedTable.of_recoding(recoding)
    return AnswerableTable(
        table=table,
        domains=domains_of(frequency_set.hierarchies),
        classes=recoding.attributes,
        attained=_attained(table, frequency_set.hierarchies) if attained else {},
        missing=frequency_set.rows - table.total,
    )


def read_original(
    engine: Engine,
    spec: TableSpec,
    frequency_set: FrequencySet,
    others: Sequence[str],
    settings: Settings,
) -> AnswerableTable:
    """The original with columns beyond the quasi-identifiers; one more scan where there are any.

    Rows that the NULL policy drops are left out, as in the frequency set.
    """
    if not others:
        return as_it_stands(frequency_set)
    names = frequency_set.attributes
    dropping = spec.source.nulls is NullPolicy.DROP
    beside = [a.name for a in spec.sensitive if dropping and a.name not in others]
    where = spec.source
    with engine_for(engine, settings, where) as reader, opened(reader, where) as source:
        counted = count_columns(reader, source, (*names, *others, *beside), settings)
    if dropping:
        counted = _without_null(counted, {*names, *(a.name for a in spec.sensitive)})
    domains = domains_of(frequency_set.hierarchies)
    domains |= {name: Domain(name, counted.texts[len(names) + i]) for i, name in enumerate(others)}
    codes = counted.codes[:, : len(names) + len(others)].copy()
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        leaf_of_text = [hierarchy.code_of_leaf.get(text, hierarchy.null_code) for text in counted.texts[i]]
        codes[:, i] = np.array([*leaf_of_text, hierarchy.null_code])[codes[:, i]]
    shown, rows = merged(codes, counted.rows)
    cells = tuple(exact_cells(name, domains[name].texts) for name in (*names, *others))
    return AnswerableTable(GeneralizedTable(cells, shown, rows), domains, names)


def _without_null(counted: CountedColumns, policed: set[str]) -> CountedColumns:
    """The groups without NULL in any of some columns."""
    kept = np.ones(len(counted.rows), dtype=np.bool_)
    for i, name in enumerate(counted.columns):
        if name in policed:
            kept &= counted.codes[:, i] != len(counted.texts[i])
    return replace(counted, codes=counted.codes[kept], rows=counted.rows[kept])


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
    """A release, ours or foreign, a file or a table of a database, with the attributes of ``original``.

    Cells of quasi-identifiers are read with their hierarchies (``workload.labels``); cells of other
    attributes are values of the original's, or ``*``. ``attained``: the cells of quasi-identifiers are range
    summaries. Raises ``InputError`` for a file that cannot be read, a column that it lacks, labels that cover
    nothing, or more rows than the original has.
    """
    source = source_of(release, spec.source.null_values)
    names = original.table.attributes
    with engine_for(engine, settings, source) as reader, opened(reader, source) as published:
        counted = count_columns(reader, published, names, settings)
        starred = count_starred(reader, published)
    total = int(counted.rows.sum())
    if total > original.table.total:
        raise InputError(
            f"{source.label} has {total:,} rows, more than the {original.table.total:,} of the original",
            advice="Compare a release with the table that it was made of.",
        )
    by_name = {h.attribute: h for h in hierarchies}
    has_null = _has_null(original)
    cells: list[Cells] = []
    means: dict[str, StatedMeans] = {}
    for i, name in enumerate(names):
        labels = (*counted.texts[i], None)
        if name in by_name:
            read = read_cells(by_name[name], labels, nullable=has_null[name])
            cells.append(read.cells)
            if not np.isnan(read.means).all():
                means[name] = StatedMeans(read.means, read.half_units)
        else:
            cells.append(_values(original.domains[name], labels, has_null[name]))
    table = GeneralizedTable(tuple(cells), counted.codes, counted.rows)
    return AnswerableTable(
        table=table,
        domains=original.domains,
        classes=original.classes,
        attained=_attained(table, hierarchies) if attained else {},
        means=means,
        missing=original.table.total - total,
        starred=starred,
    )


def source_of(release: Path | SourceSpec, null_values: Sequence[str]) -> SourceSpec:
    """Where a release lies, with texts of its cells read as NULL."""
    source = release if isinstance(release, SourceSpec) else SourceSpec(path=release)
    return replace(source, null_values=tuple(dict.fromkeys((*source.null_values, *null_values))))


def _attained(
    table: GeneralizedTable, hierarchies: Sequence[GeneralizationHierarchy]
) -> dict[str, NDArray[np.bool_]]:
    """Of range summaries all cells but the top value, which also stands for NULL together with values."""
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


def _values(domain: Domain, labels: Sequence[str | None], nullable: bool) -> Cells:
    """The cells of an attribute that is published as it is, or starred."""
    places = {text: place for place, text in enumerate(domain.texts)}
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
    return cells_of_codes(domain.attribute, domain.null_code, labels, codes)
