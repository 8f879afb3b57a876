"""Loader of a table into a star schema in its engine (LeFevre et al. 2005).

The source is read once into the cell texts of the columns that the spec counts. Their distinct values give
the hierarchies, which are loaded as materialized dimension tables; a join with them makes the fact table of
codes. Python stores only the hierarchies; rows and frequency sets stay in the engine, which spills to disk.

Cost: one read of the source, one GROUP BY per column over the texts, one join per column.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables, confirm_all_rows, open_source_table
from discreet.errors import InputError, LimitReached
from discreet.frequency.encoding import EncodedGroups, encode_hierarchies
from discreet.frequency.table_scan import (
    GroupingKeys,
    ValueLocator,
    check_grouping_columns,
    no_rows_left_error,
    no_visible_rows_error,
    null_subjects_error,
)
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import Attribute, NullPolicy, TableSpec
from discreet.search.search_problem import FactTable
from discreet.settings import Settings
from discreet.sql import star_schema as sql
from discreet.sql.cell_expressions import all_stars_predicate, any_null
from discreet.sql.quoting import literal

_BYTES_PER_VALUE = 400


@contextmanager
def star_schema(engine: Engine, spec: TableSpec, settings: Settings) -> Iterator[FactTable]:
    """Load a spec's table as a star schema for the duration of the context.

    Raises ``InputError`` as counting the table does; ``LimitReached`` if the distinct values of a column
    would not fit the memory limit, or the engine has no more room.
    """
    keys = GroupingKeys.of(spec)
    source = replace(spec.source, set_apart=())
    with open_source_table(engine, source) as table, TemporaryTables(engine) as tables:
        check_grouping_columns(table, spec, keys)
        yield _StarSchemaLoader(engine, spec, settings, keys, table, tables).fact_table()


@dataclass(frozen=True, eq=False)
class _StarSchemaLoader:
    """Inputs that the loading steps share."""

    engine: Engine
    spec: TableSpec
    settings: Settings
    keys: GroupingKeys
    table: SourceTable
    tables: TemporaryTables

    def fact_table(self) -> FactTable:
        columns = [*map(self.table.text, self.keys.grouped), self._shows_nothing()]
        texts = self.tables.create(sql.cell_texts(self.table.relation, columns))
        condition = self._kept()
        rows, published, left = self._check_rows(texts, condition)
        hierarchies = tuple(
            self._hierarchy(texts, i, attribute, condition)
            for i, attribute in enumerate(self.spec.quasi_identifiers)
        )
        dimensions = [self.tables.load(_dimension_columns(h)) for h in hierarchies]
        facts = self.tables.create(
            sql.fact_table(texts, self._coded(texts, hierarchies, dimensions), condition)
        )
        self.tables.drop(texts)
        return FactTable(
            engine=self.engine,
            facts=facts,
            dimensions=tuple(dimensions),
            hierarchies=hierarchies,
            sensitive_attributes=self.keys.sensitive,
            rows=left,
            dropped=published - left,
            set_apart=rows - published,
            by_subject=self.keys.subject is not None,
        )

    def _shows_nothing(self) -> str:
        """SQL of the column after the counted ones: a text in rows that show nothing, else NULL."""
        keys = [(self.table.column(name), self.table.types[name]) for name in self.keys.quasi_identifiers]
        test = all_stars_predicate(keys, list(map(literal, self.table.null_values)), self.table.dialect)
        return f"CASE WHEN {test} THEN '*' END"

    @property
    def _shown(self) -> str:
        """Predicate of the rows that show something."""
        return f"{sql.text_name(len(self.keys.grouped))} IS NULL"

    def _kept(self) -> str:
        """Return the predicate of the rows that show something and that the NULL policy retains."""
        if self.spec.source.null_policy is not NullPolicy.DROP:
            return self._shown
        known = [sql.text_name(i) for i in range(len(self.keys.encoded))]
        return f"{self._shown} AND NOT {any_null(known)}"

    def _check_rows(self, texts: str, condition: str) -> tuple[int, int, int]:
        """Count all rows, those that show something and the retained ones; raise ``InputError`` if unusable.

        Unusable are tables without rows, without visible rows, without retained rows, or with rows without
        subject.
        """
        predicates = [self._shown, condition]
        if self.keys.subject is not None:
            predicates.append(f"({condition}) AND {sql.text_name(len(self.keys.encoded))} IS NULL")
        rows, published, left, *nameless = map(
            int, self.engine.fetch_rows(sql.row_counts_where(texts, predicates))[0]
        )
        confirm_all_rows(self.engine, self.table, rows)
        if not rows:
            raise InputError(f"{self.table.label} has no rows", allowed="at least one row below the header")
        if not published:
            raise no_visible_rows_error(self.spec, rows)
        if not left:
            raise no_rows_left_error(self.spec, published)
        if self.keys.subject is not None and nameless[0]:
            raise null_subjects_error(self.spec, self.keys.subject, nameless[0])
        return rows, published, left

    def _hierarchy(
        self, texts: str, index: int, attribute: Attribute, condition: str
    ) -> GeneralizationHierarchy:
        text_table = self.tables.create(sql.texts_with_rows(texts, index, condition))
        values = int(self.engine.fetch_rows(sql.table_row_count(text_table))[0][0])
        if values * _BYTES_PER_VALUE > self.settings.memory_limit:
            raise LimitReached(
                f"the {values:,} distinct values of '{attribute.name}' need about "
                f"{values * _BYTES_PER_VALUE:,} bytes, above the memory limit of "
                f"{self.settings.memory_limit:,}",
                advice="Raise DISCREET_MEMORY_LIMIT, or coarsen the column first.",
            )
        found = self.engine.fetch_rows(sql.every_text(text_table))
        self.tables.drop(text_table)
        groups = EncodedGroups(
            attributes=(attribute.name,),
            values=(tuple(str(text) for text, _ in found),),
            codes=(np.arange(len(found)),),
            rows=np.array([rows for _, rows in found], dtype=np.int64),
        )
        single_spec = replace(self.spec, attributes=(attribute,))
        hierarchies, _ = encode_hierarchies(groups, single_spec, ValueLocator(self.engine, self.table))
        return hierarchies[0]

    def _coded(
        self, texts: str, hierarchies: tuple[GeneralizationHierarchy, ...], dimensions: list[str]
    ) -> list[sql.CodedColumn]:
        dialect = self.engine.dialect
        coded = [
            sql.CodedColumn(sql.code_name(i), name, sql.level_name(0), int(h.level_map(0)[-1]))
            for i, (h, name) in enumerate(zip(hierarchies, dimensions, strict=True))
        ]
        numbered = [
            (sql.sensitive_name(i), sql.dense_number(dialect)) for i in range(len(self.keys.sensitive))
        ]
        numbered += [(sql.SUBJECT, dialect.distinct_number)] if self.keys.subject is not None else []
        for index, (name, number) in enumerate(numbered, start=len(hierarchies)):
            numbers = self.tables.create(sql.numbered_texts(texts, index, number))
            coded.append(sql.CodedColumn(name, numbers, sql.TEXT_NUMBER, -1))
        return coded


def _dimension_columns(hierarchy: GeneralizationHierarchy) -> dict[str, Any]:
    """Build the columns of a dimension table: the leaves, then NULL, with their positions in each level."""
    columns: dict[str, Any] = {sql.TEXT_VALUE: [*hierarchy.leaves, None]}
    for level in range(hierarchy.height + 1):
        columns[sql.level_name(level)] = hierarchy.level_map(level).astype(np.int32)
    return columns
