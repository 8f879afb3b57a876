"""Workloads from files: queries as SQL text, or a description from which queries are generated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.places.file_access import read_text
from discreet.queries.aggregate_query import Aggregate, AggregateQuery, bind_queries
from discreet.queries.workload_generation import WorkloadDescription, generate_workload
from discreet.queries.workload_text import parse_workload
from discreet.spec.workload_description import load_workload_description, parse_workload_description
from discreet.verbs.table_context import TableContext
from discreet.workload.answerable_table import (
    domains_of_hierarchies,
)

Workload = str | Path | Mapping[str, Any]
"""Workload: an SQL file, a ``.toml`` file with a description, or the description as a mapping."""


def load_workload(workload: Workload, table: TableContext) -> tuple[AggregateQuery, ...]:
    """Load the queries of a workload, with names as the table spells them.

    Raises ``InputError`` for a file that cannot be read, a statement that is not an aggregate query, an
    invalid description, or an unknown column.
    """
    if isinstance(workload, Mapping):
        return _generate_queries(parse_workload_description(workload, "the workload"), table)
    path = Path(workload)
    if path.suffix.lower() == ".toml":
        return _generate_queries(load_workload_description(path), table)
    try:
        text = read_text(path, f"the workload {path}")
    except OSError as error:
        raise InputError(f"the workload {path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"the workload {path} is not UTF-8", allowed="SQL text in UTF-8") from None
    return bind_queries(parse_workload(text, str(path)), _source_columns(table))


def _generate_queries(description: Mapping[str, Any], table: TableContext) -> tuple[AggregateQuery, ...]:
    counted = table.frequency_set
    wanted = WorkloadDescription(**{**description, "aggregate": Aggregate(description["aggregate"])})
    rows = {
        name: counted.rows_by_code[i][: len(counted.hierarchies[i].leaves)]
        for i, name in enumerate(counted.attributes)
    }
    queries = generate_workload(wanted, domains_of_hierarchies(counted.hierarchies), rows)
    return bind_queries(queries, _source_columns(table)) if wanted.measure is not None else queries


def _source_columns(table: TableContext) -> tuple[str, ...]:
    with table.engine("Reading the header") as engine:
        source = engine.open_source(table.spec.source)
        result = source.columns
        engine.close_source(source)
    return result
