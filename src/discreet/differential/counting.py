"""The true counts, on their way to the noise: no other module sees them, and none prints them.

Two kinds of tables of counts. Where every axis is public, a vector has a count for each cell of the cross
product, zeros included. Elsewhere a mapping has the combinations of labels that occur, by a text of them.

The engine scans the rows once and groups them; public values are looked up there, so that what comes back
has no more groups than public cells. Where a subject has several rows, at most so many of them count
(``sql.contingency.bounded_rows``), over all marginals together: rows that count in one count in all.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.differential.axes import Axis
from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables, confirm_all_read, opened
from discreet.engines.written import check_reads_forms
from discreet.errors import DiscreetError, InputError, LimitReached
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.sql import contingency as sql
from discreet.sql.source import any_null, is_binary


@dataclass(frozen=True, eq=False)
class Cells:
    """The axes of one marginal, and how many cells it has where they are all public.

    A ``sparse`` one has the cells that occur alone, public or not.
    """

    axes: tuple[Axis, ...]
    sparse: bool = False

    @property
    def public(self) -> bool:
        """Whether each cell is there, and known without a look at a row."""
        return not self.sparse and all(axis.public for axis in self.axes)

    @property
    def number(self) -> int:
        """The cells of the cross product of public labels."""
        return prod(len(axis.labels) for axis in self.axes)


@dataclass(frozen=True, eq=False)
class TrueCounts:
    """Counts of marginals, in order: of public ones vectors in the order of cells, else by ``key_of``."""

    public: tuple[NDArray[np.int64], ...]
    others: tuple[dict[str, int], ...]


def key_of(labels: Sequence[str]) -> str:
    """A text of several labels that ``labels_of`` takes apart."""
    return json.dumps(labels, ensure_ascii=False)


def labels_of(key: str) -> tuple[str, ...]:
    """The labels of a text of them."""
    return tuple(json.loads(key))


def count_cells(
    engine: Engine, spec: TableSpec, marginals: Sequence[Cells], rows_per_subject: int | None
) -> TrueCounts:
    """Count the marginals of a spec's table; ``rows_per_subject`` bounds what a subject counts.

    What a file or a row has wrong with it is not told, as it could tell of a row: the ``InputError`` or
    ``LimitReached`` says the same whatever the cause. A column that is not there is named.
    """
    if spec.source.path is not None and not spec.source.path.exists():
        raise InputError(f"{spec.source.label} does not exist")
    with ExitStack() as stack:
        with _reasons_untold():
            table = stack.enter_context(opened(engine, spec.source))
        check_reads_forms(engine, table, spec.source)
        _check_columns(table, spec, marginals)
        with _reasons_untold():
            return _counted(engine, table, spec, marginals, rows_per_subject)


def _check_columns(table: SourceTable, spec: TableSpec, marginals: Sequence[Cells]) -> None:
    """Raise ``InputError`` for a column that is missing, or whose type cannot be counted by text."""
    names = {axis.attribute for cells in marginals for axis in cells.axes}
    names |= {*_policed(spec), *([spec.source.subject] if spec.source.subject is not None else [])}
    table.check_flat(sorted(names))
    for name in sorted(names):
        if is_binary(table.types[name]):
            raise InputError(
                f"{table.label}: column '{name}' holds bytes that are not declared to be text",
                allowed="text, numbers, dates or booleans",
            )


def _counted(
    engine: Engine,
    table: SourceTable,
    spec: TableSpec,
    marginals: Sequence[Cells],
    rows_per_subject: int | None,
) -> TrueCounts:
    axes = list(dict.fromkeys(axis for cells in marginals for axis in cells.axes))
    with TemporaryTables(engine) as tables:
        counted = tables.create(_grouped(table, spec, axes, tables, rows_per_subject))
        rows = engine.fetch_rows(sql.number_of_rows(table.relation))[0][0]
        confirm_all_read(engine, table, int(rows))
        found = []
        for cells in marginals:
            places = [axes.index(axis) for axis in cells.axes]
            found.append(engine.fetch_rows(sql.summed(counted, places, table.dialect)))
    public = [_vector(cells, rows) for cells, rows in zip(marginals, found, strict=True) if cells.public]
    others = [_mapping(cells, rows) for cells, rows in zip(marginals, found, strict=True) if not cells.public]
    return TrueCounts(tuple(public), tuple(others))


def _grouped(
    table: SourceTable,
    spec: TableSpec,
    axes: Sequence[Axis],
    tables: TemporaryTables,
    rows_per_subject: int | None,
) -> str:
    """The query that groups the rows by all axes: places of public labels, texts of other values."""
    keys, lookups = [], {}
    for i, axis in enumerate(axes):
        text = table.text(axis.attribute, sql.ROWS)
        if not axis.public:
            keys.append(text)
            continue
        values, places = list(axis.places), np.array(list(axis.places.values()), dtype=np.int64)
        lookups[i] = (tables.load({"value": values, "place": places}), text)
        keys.append(sql.place_of(i, len(axis.labels) - 1))
    policed = [table.text(name, sql.ROWS) for name in _policed(spec)]
    kept = f"NOT {any_null(policed)}" if policed else None
    name = spec.source.subject
    subject = None if name is None else table.text(name, sql.ROWS)
    rows = sql.keyed_rows(table.relation, keys, lookups, kept, subject)
    if rows_per_subject is not None:
        rows = sql.bounded_rows(rows, len(keys), rows_per_subject, secrets.token_hex(16), table.dialect)
    return sql.counted_rows(rows, len(keys))


def _policed(spec: TableSpec) -> list[str]:
    """The columns in which NULL leaves a row out (decision 0002)."""
    if spec.source.nulls is not NullPolicy.DROP:
        return []
    return [attribute.name for attribute in (*spec.quasi_identifiers, *spec.sensitive)]


def _vector(cells: Cells, rows: Sequence[Sequence[object]]) -> NDArray[np.int64]:
    counts = np.zeros([len(axis.labels) for axis in cells.axes], dtype=np.int64)
    for *places, number in rows:
        counts[tuple(int(str(place)) for place in places)] += int(str(number))
    return counts.ravel()


def _mapping(cells: Cells, rows: Sequence[Sequence[object]]) -> dict[str, int]:
    labels: list[dict[object, str]] = [{} for _ in cells.axes]
    counts: dict[str, int] = {}
    for *values, number in rows:
        for axis, known, value in zip(cells.axes, labels, values, strict=True):
            if value not in known:
                known[value] = _label(axis, value)
        key = key_of([known[value] for known, value in zip(labels, values, strict=True)])
        counts[key] = counts.get(key, 0) + int(str(number))
    return counts


def _label(axis: Axis, value: object) -> str:
    if axis.public:
        return axis.labels[int(str(value))]
    return axis.label(None if value is None else str(value))


@contextmanager
def _reasons_untold() -> Iterator[None]:
    """Raise what goes wrong within the context without its reason, which may be a row's."""
    try:
        yield
    except DiscreetError as error:
        kind = LimitReached if isinstance(error, LimitReached) else InputError
        raise kind(
            "the rows could not be counted; the reason is not told here, as it could tell of a row",
            advice="discreet inspect SPEC counts the same rows and tells the publisher. No budget was spent.",
        ) from None
