"""Applying a full-domain recoding to a source, in the engine.

The engine copies the source once into a coded table, joins nothing but small tables (values to positions,
positions to labels), counts classes and finds those that fail. No row passes through Python; how many rows
there are is bounded by the engine's disk, not by memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, opened
from discreet.errors import InputError, InternalError
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.recoding import FullDomainRecoding, SuppressionPolicy
from discreet.model.requirement import Requirement
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.recoding.columns import Column, published_columns
from discreet.recoding.failing import FailingClasses
from discreet.sql import recode


@dataclass(frozen=True)
class RecodedTable:
    """A recoding applied: the coded rows, the classes that fail, and how rows are published from them.

    ``rows`` are the rows after the NULL policy, ``suppressed`` those of failing classes. The tables live in
    the engine until ``recoded`` ends.
    """

    source_columns: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: int
    suppressed: int
    suppression: SuppressionPolicy
    coded: str
    failing: str
    keys: int
    labels: tuple[tuple[int, str], ...]
    subject: str | None

    @property
    def kept(self) -> int:
        """Rows that are published with their values."""
        return self.rows - self.suppressed

    def query(self) -> str:
        """The published rows, one result column per entry of ``columns``, in the order of their sort keys."""
        star = self.suppression is SuppressionPolicy.STAR
        return self._published([column.published for column in self.columns], ordered=True, star=star)

    def witness_query(self, names: Sequence[str]) -> str:
        """The subject of each row that is kept, behind the texts of the columns in ``names``; in no order.

        The last result column says whether every published cell of the row is ``*``.
        """
        by_name = {column.name: column for column in self.columns}
        texts = [by_name[name].published_text for name in names]
        cells = [f"coalesce({column.published_text} = '{recode.STAR}', FALSE)" for column in self.columns]
        starred = f"CAST({' AND '.join(cells)} AS VARCHAR)"
        return self._published([*texts, f"t.{self.subject}", starred], ordered=False, star=False)

    def _published(self, cells: Sequence[str], *, ordered: bool, star: bool) -> str:
        return recode.published_rows(
            self.coded, self.failing, self.keys, cells, self.labels, ordered=ordered, star=star
        )


@contextmanager
def recoded(
    engine: Engine,
    spec: TableSpec,
    frequency_set: FrequencySet,
    recoding: FullDomainRecoding,
    *,
    native: bool,
    draw_keys: Callable[[Engine, str, int], None],
    expected_suppressed: int | None = None,
) -> Iterator[RecodedTable]:
    """Apply a recoding; its tables are dropped when the context ends.

    ``native`` asks for the source's own types in columns that are not generalized; everything is text
    otherwise, and always where suppressed rows are starred. ``draw_keys`` creates a table, of a given name,
    of that many sort keys (columns ``sql.recode.SORT_KEYS``), which order the published rows. The hierarchies
    are those of ``frequency_set``. Rows are left out by the spec's NULL policy first; then the rows of each
    class that fails ``recoding.requirement`` are suppressed (k counts subjects, and l values of different
    subjects, where the spec names a subject; NULL is no sensitive value).

    Raises ``InputError`` where the source is no longer the one that was counted, ``InternalError`` where
    ``expected_suppressed`` is given and differs from the number of suppressed rows.
    """
    hierarchies = _aligned(spec, frequency_set, recoding)
    native = native and recoding.suppression is SuppressionPolicy.DROP
    with opened(engine, spec.source) as table, TemporaryTables(engine) as tables:
        columns = published_columns(spec, table, recoding.node, hierarchies, native=native)
        coded, subject = _code_rows(engine, tables, spec, table, columns, hierarchies, recoding.node)
        rows = _checked_rows(engine, coded, spec, frequency_set)
        coded = _with_sort_keys(engine, tables, coded, rows, draw_keys)
        failing = FailingClasses(engine, tables, coded, len(hierarchies), subject).table(
            recoding.requirement.k, _thresholds(spec, columns, recoding.requirement)
        )
        suppressed = int(engine.fetch_rows(recode.failing_rows(coded, failing, len(hierarchies)))[0][0])
        if expected_suppressed is not None and suppressed != expected_suppressed:
            raise InternalError(
                f"the engine suppresses {suppressed} rows at node {recoding.node}, "
                f"but the lattice says {expected_suppressed}",
                advice="Nothing was published. Please report this, with the spec if you may show it.",
            )
        yield RecodedTable(
            source_columns=table.columns,
            columns=columns,
            rows=rows,
            suppressed=suppressed,
            suppression=recoding.suppression,
            coded=coded,
            failing=failing,
            keys=len(hierarchies),
            labels=_load_labels(tables, hierarchies, recoding.node),
            subject=subject,
        )


def _aligned(
    spec: TableSpec, frequency_set: FrequencySet, recoding: FullDomainRecoding
) -> tuple[GeneralizationHierarchy, ...]:
    """The hierarchies in the recoding's attribute order."""
    by_name = {hierarchy.attribute: hierarchy for hierarchy in frequency_set.hierarchies}
    named = {attribute.name for attribute in spec.require_quasi_identifiers()}
    if set(recoding.attributes) != named or set(by_name) != named:
        raise InputError(
            f"the recoding is of {', '.join(recoding.attributes)}", allowed=", ".join(sorted(named))
        )
    hierarchies = tuple(by_name[name] for name in recoding.attributes)
    for hierarchy, level in zip(hierarchies, recoding.node, strict=True):
        if not 0 <= level <= hierarchy.height:
            raise InputError(f"level {level} of '{hierarchy.attribute}'", allowed=f"0 to {hierarchy.height}")
    return hierarchies


def _code_rows(
    engine: Engine,
    tables: TemporaryTables,
    spec: TableSpec,
    table: SourceTable,
    columns: Sequence[Column],
    hierarchies: Sequence[GeneralizationHierarchy],
    node: Sequence[int],
) -> tuple[str, str | None]:
    """Create the coded table; its name, and its column of subjects."""
    keys = []
    for hierarchy, level in zip(hierarchies, node, strict=True):
        positions = None
        if level < hierarchy.height:
            positions = tables.load(
                {
                    recode.VALUE: hierarchy.leaves,
                    recode.POSITION: hierarchy.ancestors[level].astype(
                        np.min_scalar_type(len(hierarchy.leaves))
                    ),
                }
            )
        text = table.text(hierarchy.attribute, "s")
        keys.append(recode.KeyColumn(text, positions, len(hierarchy.labels[level])))
    others = [column.stored for column in columns if column.stored is not None]
    subject = None
    if spec.source.subject is not None:
        subject = recode.other_name(len(others))
        others.append(table.text(spec.source.subject, "s"))
    never_null: list[str] = []
    if spec.source.nulls is NullPolicy.DROP:
        never_null = [table.text(a.name, "s") for a in (*spec.quasi_identifiers, *spec.sensitive)]
    coded = tables.new_name()
    engine.execute(recode.coded_table(coded, table.relation, keys, others, never_null))
    return coded, subject


def _with_sort_keys(
    engine: Engine,
    tables: TemporaryTables,
    coded: str,
    rows: int,
    draw_keys: Callable[[Engine, str, int], None],
) -> str:
    """Replace the coded table by one in which each row has its sort keys; its name."""
    sort_keys, ordered = tables.new_name(), tables.new_name()
    draw_keys(engine, sort_keys, rows)
    engine.execute(recode.with_sort_keys(ordered, coded, sort_keys))
    tables.drop(sort_keys)
    tables.drop(coded)
    return ordered


def _checked_rows(engine: Engine, coded: str, spec: TableSpec, frequency_set: FrequencySet) -> int:
    rows, uncovered = engine.fetch_rows(recode.coded_rows(coded, len(frequency_set.hierarchies)))[0]
    if uncovered or rows != frequency_set.rows:
        raise InputError(
            f"{spec.source.label} changed after it was counted: {rows} rows now, {frequency_set.rows} then"
            + (f", {uncovered} of them with a new value" if uncovered else ""),
            advice="Nothing was published. Start again when nothing writes to it.",
        )
    return int(rows)


def _thresholds(
    spec: TableSpec, columns: Sequence[Column], requirement: Requirement
) -> list[tuple[str, int]]:
    """The l of each sensitive attribute that has one, with the expression of its text in the coded table."""
    by_name = {column.name: column for column in columns}
    names = tuple(attribute.name for attribute in spec.sensitive)
    return [
        (by_name[name].counted_text, l)
        for name, l in zip(names, requirement.l_of(names), strict=True)
        if l is not None
    ]


def _load_labels(
    tables: TemporaryTables,
    hierarchies: Sequence[GeneralizationHierarchy],
    node: Sequence[int],
) -> tuple[tuple[int, str], ...]:
    loaded = []
    for i, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True)):
        if level < hierarchy.height:
            labels: list[str | None] = [*hierarchy.labels[level], None]
            positions = np.arange(len(labels), dtype=np.int64)
            loaded.append((i, tables.load({recode.POSITION: positions, recode.LABEL: labels})))
    return tuple(loaded)
