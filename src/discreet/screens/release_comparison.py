"""A release compared with its original: distributions, true answers of queries, and rows in pairs.

* Distributions: rows of the original per value, and rows expected in the release, where each cell's rows are
  spread evenly over the leaves that it covers.
* True answers: a query parsed by the rules for releases (``queries``), run on the original's cell texts.
* Paired rows: original rows linked with released rows by the recoding, or by the classes of a release that is
  read back. They are ordered by value, never by the order of the file. Real values: only for the owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import SourceTable
from discreet.engines.source_tables import open_source_table
from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable, ReleasePair
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.published_cells import Cells
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.queries.aggregate_query import Aggregate
from discreet.queries.select_query import ReleaseQuery, SelectedAggregate
from discreet.queries.select_query_parser import QueryableColumns, parse_release_query
from discreet.queries.sql_expression import ColumnKind
from discreet.queries.syntax import label_column
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.release_facts import read_manifest_if_present
from discreet.workload.answerable_table import read_release, table_of_frequency_set

if TYPE_CHECKING:
    from discreet.verbs.table import Table


MAX_DISTRIBUTION_VALUES = 24


@dataclass(frozen=True)
class AttributeDistribution:
    """One quasi-identifier: values of a level with the rows before, and the rows expected after.

    The last value is NULL if it occurs. ``level`` is the level of the values.
    """

    attribute: str
    level: int
    values: list[str | None]
    before: list[int]
    after: list[float]


def compare_distributions(table: Table, release: ReleaseLocation) -> tuple[AttributeDistribution, ...]:
    """Return the distributions of a release and its original; raise ``InputError`` if it does not fit."""
    address = address_of(release)
    counted = table.frequency_set
    original = table_of_frequency_set(counted)
    manifest = read_manifest_if_present(address, table.settings)
    if manifest is not None and manifest.kind.data_table is not None:
        raise InputError(
            f"{address.name} is a database",
            allowed="a release that is a file of rows",
            advice="Query it instead.",
        )
    with table.engine("Reading the release") as engine:
        found = read_release(
            engine,
            address.source(),
            table.spec,
            original,
            counted.hierarchies,
            table.settings,
        ).quasi_identifiers
    return tuple(
        _distribution(hierarchy, i, original.table, found) for i, hierarchy in enumerate(counted.hierarchies)
    )


def _distribution(
    hierarchy: GeneralizationHierarchy, index: int, before: GeneralizedTable, after: GeneralizedTable
) -> AttributeDistribution:
    level = next(
        (level for level, labels in enumerate(hierarchy.labels) if len(labels) <= MAX_DISTRIBUTION_VALUES),
        hierarchy.height,
    )
    labels: list[str | None] = list(hierarchy.labels[level])
    at = np.append(hierarchy.ancestors[level], len(labels))
    rows = np.bincount(at, _expected_rows_by_leaf(before, index), minlength=len(labels) + 1)
    expected = np.bincount(at, _expected_rows_by_leaf(after, index), minlength=len(labels) + 1)
    if rows[-1] or expected[-1]:
        labels.append(None)
    return AttributeDistribution(
        attribute=hierarchy.attribute,
        level=level,
        values=labels,
        before=[round(x) for x in rows[: len(labels)].tolist()],
        after=[round(x, 3) for x in expected[: len(labels)].tolist()],
    )


def _expected_rows_by_leaf(table: GeneralizedTable, index: int) -> NDArray[np.float64]:
    """Return the expected rows of each leaf, then of NULL, shape ``(leaves + 1,)``."""
    cells = table.cells[index]
    rows = table.rows_of_cells(index).astype(np.float64)
    share = rows / np.maximum(cells.sizes(), 1)
    # Difference array: each cell adds its share at its first leaf and removes it after its last one.
    steps = np.zeros(cells.leaves + 2)
    numbers = np.diff(cells.offsets)
    each = np.repeat(share, numbers)
    with_null = (cells.last == cells.leaves) & (cells.first < cells.leaves)
    last = np.where(with_null, cells.leaves - 1, cells.last)
    np.add.at(steps, cells.first, each)
    np.add.at(steps, last + 1, -each)
    result: NDArray[np.float64] = np.maximum(np.cumsum(steps)[:-1].round(6), 0.0)
    return result


QueryGroup = tuple[str | None, ...]


def true_answers(table: Table, sql: str) -> dict[tuple[QueryGroup, str], float | None]:
    """Return the original's answer for each group and aggregate; a group's values are texts.

    Cost: one scan in the engine. Empty for a query of label columns, which the original does not have. Raises
    ``InputError`` for a query that is refused, or that names a column that the original does not have.
    """
    spec = table.spec
    with table.engine("Querying the original") as engine, open_source_table(engine, spec.source) as source:
        release_query = parse_release_query(sql, _readable_columns(source), written=engine.dialect)
        if {label_column(name) for name in source.columns}.intersection(release_query.attributes):
            return {}
        lines = engine.fetch_rows(_query_statement(release_query, source, spec))
    result = {}
    for line in lines:
        group = tuple(_group_text(value) for value in line[: len(release_query.keys)])
        for aggregate, value in zip(release_query.aggregates, line[len(release_query.keys) :], strict=True):
            result[group, aggregate.title] = None if value is None else float(value)
    return result


def query_group(values: tuple[Any, ...]) -> QueryGroup:
    """Return a group's values in the form of ``true_answers``."""
    return tuple(_group_text(value) for value in values)


def _readable_columns(source: SourceTable) -> QueryableColumns:
    return QueryableColumns(
        dict.fromkeys(source.columns, ColumnKind.TEXT), dict.fromkeys(source.columns, True), {}
    )


def _query_statement(release_query: ReleaseQuery, source: SourceTable, spec: TableSpec) -> str:
    names = list(dict.fromkeys([*release_query.attributes, *release_query.measures]))
    columns = [f"{source.text(name)} AS {source.dialect.identifier(name)}" for name in names]
    # Read the columns as text in a subquery, so that conditions see the same cells as a release's.
    where_clause = ""
    if spec.source.null_policy is NullPolicy.DROP:
        policed = [a.name for a in (*spec.quasi_identifiers, *spec.sensitive)]
        where_clause = " WHERE " + " AND ".join(f"{source.text(name)} IS NOT NULL" for name in policed)
    inner = f"SELECT {', '.join(columns) or '1'} FROM {source.relation}{where_clause}"
    keys = [key.sql for key in release_query.keys]
    condition = "" if release_query.condition is None else f" WHERE {release_query.condition.sql}"
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    chosen = [*keys, *(_aggregate_sql(source, aggregate) for aggregate in release_query.aggregates)]
    return f"SELECT {', '.join(chosen)} FROM ({inner}) AS original{condition}{grouped}"


def _aggregate_sql(source: SourceTable, selected: SelectedAggregate) -> str:
    if selected.measure is None:
        return "COUNT(*)"
    column = source.dialect.identifier(selected.measure)
    if selected.aggregate is Aggregate.COUNT:
        return f"COUNT({column})"
    return f"{selected.aggregate}({source.dialect.try_double.format(column)})"


def _group_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, Decimal | float) and value == int(value):
        return str(int(value))
    return str(value)


EntryArray = NDArray[np.int64]
ROW_FILTERS = ("all", "changed", "left-out")


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Pairs of original and released rows, grouped into entries.

    Entry ``e`` represents ``rows[e]`` rows of row type ``types[e]``, in class ``classes[e]`` (or none).
    ``shown`` has shape ``(classes, attributes)``: codes of ``cells``. ``sizes`` are the rows per class.
    """

    table: FrequencySet
    types: EntryArray
    rows: EntryArray
    classes: EntryArray
    shown: EntryArray
    cells: tuple[Cells, ...]
    sizes: EntryArray
    changed: NDArray[np.bool_]

    @classmethod
    def of_recoding(cls, table: FrequencySet, recoding: ClassRecoding) -> PairedRows:
        """Build the pairs of a recoding."""
        return cls._of(
            table, recoding.row_types, recoding.rows, recoding.classes, recoding.shown, recoding.cells
        )

    @classmethod
    def of_release(cls, pair: ReleasePair) -> PairedRows | None:
        """Build the pairs of a release that was read; None if its classes do not determine their rows."""
        members, table = pair.members, pair.frequency_set
        if members is None:
            return None
        classes = np.where(members.classes < pair.release.groups, members.classes, SUPPRESSED)
        rows = table.counts[members.row_types]
        return cls._of(table, members.row_types, rows, classes, pair.release.shown, pair.release.cells)

    @classmethod
    def _of(
        cls,
        table: FrequencySet,
        types: EntryArray,
        rows: EntryArray,
        classes: EntryArray,
        cell_codes: EntryArray,
        cells: tuple[Cells, ...],
    ) -> PairedRows:
        # Order by value: the order of row types would reveal the order of the file.
        position_of = np.empty(table.row_types, dtype=np.int64)
        position_of[np.lexsort(table.codes.T[::-1])] = np.arange(table.row_types)
        order = np.lexsort((classes, position_of[types]))
        types, rows, classes = types[order], rows[order], classes[order]
        retained = classes != SUPPRESSED
        sizes = np.bincount(classes[retained], rows[retained], minlength=len(cell_codes)).astype(np.int64)
        changed = np.zeros(len(types), dtype=np.bool_)
        for i, column in enumerate(cells):
            if len(cell_codes):
                exact = (column.sizes() == 1)[cell_codes[classes, i]]
                changed |= retained & ~exact
        return cls(table, types, rows, classes, cell_codes, cells, sizes, changed)

    @property
    def left_out(self) -> int:
        """The number of rows that belong to no class."""
        return int(self.rows[self.classes == SUPPRESSED].sum())

    def entries_of(self, row_filter: str, *, with_left_out: bool) -> EntryArray:
        """Return the entries of a view: all rows, the changed ones, or those left out (``ROW_FILTERS``)."""
        out = self.classes == SUPPRESSED
        found = {"all": ~out | with_left_out, "changed": self.changed, "left-out": out & with_left_out}
        return np.flatnonzero(np.broadcast_to(found[row_filter], out.shape))

    def page(
        self, first: int, number: int, row_filter: str = "all", *, with_left_out: bool = False
    ) -> dict[str, Any]:
        """Return ``number`` rows from ``first`` on: cells before and after the release.

        ``after`` is None for a suppressed row, and ``alike`` then counts the rows of its row type; otherwise
        ``size`` counts the rows of its class.
        """
        entries = self.entries_of(row_filter, with_left_out=with_left_out)
        ends = np.cumsum(self.rows[entries])
        total = int(ends[-1]) if len(ends) else 0
        found = []
        for at in range(first, min(first + number, total)):
            found.append(self._row(int(entries[np.searchsorted(ends, at, side="right")])))
        return {"first": first, "total": total, "rows": found}

    def _row(self, entry: int) -> dict[str, Any]:
        type_, class_ = int(self.types[entry]), int(self.classes[entry])
        before = [
            h.leaves[code] if (code := int(self.table.codes[type_, i])) < len(h.leaves) else None
            for i, h in enumerate(self.table.hierarchies)
        ]
        if class_ == SUPPRESSED:
            return {"before": before, "after": None, "alike": int(self.table.counts[type_])}
        codes = self.shown[class_].tolist()
        after = [column.labels[code] for column, code in zip(self.cells, codes, strict=True)]
        return {"before": before, "after": after, "size": int(self.sizes[class_])}
