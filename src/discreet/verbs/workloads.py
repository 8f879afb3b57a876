"""Workloads from files: SQL, or a description to generate queries from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.measures.cell_sums import rows_by_code
from discreet.places.regular_file import read_text
from discreet.queries.binding import bound
from discreet.queries.generate import WorkloadDescription, generate
from discreet.queries.parse import parse_workload
from discreet.queries.query import Aggregate, AggregateQuery
from discreet.spec.workload import description_of, load_workload_description
from discreet.verbs.opened_table import OpenedTable
from discreet.workload.answerable import domains_of

Workload = str | Path | Mapping[str, Any]
"""A file of SQL, a file that ends in ``.toml`` with a description, or the description itself."""


def load_workload(workload: Workload, table: OpenedTable) -> tuple[AggregateQuery, ...]:
    """The queries of a workload, their names as the table spells them.

    Raises ``InputError`` for a file that cannot be read, a statement that is no aggregate query, a
    description that makes no sense, or a column that the table does not have.
    """
    if isinstance(workload, Mapping):
        return _generated(description_of(workload, "the workload"), table)
    path = Path(workload)
    if path.suffix.lower() == ".toml":
        return _generated(load_workload_description(path), table)
    try:
        text = read_text(path, f"the workload {path}")
    except OSError as error:
        raise InputError(f"the workload {path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"the workload {path} is not UTF-8", allowed="SQL text in UTF-8") from None
    return bound(parse_workload(text, str(path)), _columns(table))


def _generated(description: Mapping[str, Any], table: OpenedTable) -> tuple[AggregateQuery, ...]:
    counted = table.frequency_set
    wanted = WorkloadDescription(**{**description, "aggregate": Aggregate(description["aggregate"])})
    rows = {
        name: rows_by_code(counted, i)[: len(counted.hierarchies[i].leaves)]
        for i, name in enumerate(counted.attributes)
    }
    queries = generate(wanted, domains_of(counted.hierarchies), rows)
    return bound(queries, _columns(table)) if wanted.measure is not None else queries


def _columns(table: OpenedTable) -> tuple[str, ...]:
    with table.engine("Reading the header") as engine:
        source = engine.open_source(table.spec.source)
        found = source.columns
        engine.close_source(source)
    return found
