"""The true answers of an analyst's query, which only its publisher can know: asked of the original.

The query is read by the same rules as for a release (``queries.reading``), and then runs over the original's
cell texts, so that labels compare as they do in a published CSV file. Rows that the NULL policy drops are
left out, as they are in the release.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from discreet.engines.base import SourceTable
from discreet.engines.scratch import opened
from discreet.model.table_spec import NullPolicy, TableSpec
from discreet.queries.asked import AskedAggregate, AskedQuery
from discreet.queries.labels import label_of
from discreet.queries.operand import ColumnKind
from discreet.queries.query import Aggregate
from discreet.queries.reading import Readable, read_query

if TYPE_CHECKING:
    from discreet.verbs.table import Table

Group = tuple[str | None, ...]


def true_answers(table: Table, sql: str) -> dict[tuple[Group, str], float | None]:
    """The answer of each group and aggregate; a group's values are texts. One scan, where the rows live.

    None of a query of labels, which the original does not have.
    ``InputError`` for a query that is refused, or that names a column that the original does not have.
    """
    spec = table.spec
    with table.engine("Asking the original") as engine, opened(engine, spec.source) as source:
        asked = read_query(sql, _readable(source), written=engine.dialect)
        if {label_of(name) for name in source.columns}.intersection(asked.attributes):
            return {}
        lines = engine.fetch_rows(_statement(asked, source, spec))
    found = {}
    for line in lines:
        group = tuple(_text(value) for value in line[: len(asked.keys)])
        for aggregate, value in zip(asked.aggregates, line[len(asked.keys) :], strict=True):
            found[group, aggregate.title] = None if value is None else float(value)
    return found


def group_of(values: tuple[Any, ...]) -> Group:
    """A group's values as ``true_answers`` names them."""
    return tuple(_text(value) for value in values)


def _readable(source: SourceTable) -> Readable:
    return Readable(dict.fromkeys(source.columns, ColumnKind.TEXT), dict.fromkeys(source.columns, True), {})


def _statement(asked: AskedQuery, source: SourceTable, spec: TableSpec) -> str:
    names = list(dict.fromkeys([*asked.attributes, *asked.measures]))
    columns = [f"{source.text(name)} AS {source.dialect.identifier(name)}" for name in names]
    kept = ""
    if spec.source.nulls is NullPolicy.DROP:
        policed = [a.name for a in (*spec.quasi_identifiers, *spec.sensitive)]
        kept = " WHERE " + " AND ".join(f"{source.text(name)} IS NOT NULL" for name in policed)
    inner = f"SELECT {', '.join(columns) or '1'} FROM {source.relation}{kept}"
    keys = [key.sql for key in asked.keys]
    condition = "" if asked.condition is None else f" WHERE {asked.condition.sql}"
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    chosen = [*keys, *(_aggregate(source, aggregate) for aggregate in asked.aggregates)]
    return f"SELECT {', '.join(chosen)} FROM ({inner}) AS original{condition}{grouped}"


def _aggregate(source: SourceTable, asked: AskedAggregate) -> str:
    if asked.measure is None:
        return "COUNT(*)"
    column = source.dialect.identifier(asked.measure)
    if asked.aggregate is Aggregate.COUNT:
        return f"COUNT({column})"
    return f"{asked.aggregate}({source.dialect.try_double.format(column)})"


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, Decimal | float) and value == int(value):
        return str(int(value))
    return str(value)
