"""Writer of workload files."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.queries.aggregate_query import AggregateQuery
from discreet.queries.workload_text import query_text


def write_workload(queries: Sequence[AggregateQuery]) -> str:
    """Format queries as a file: one per line, with a weight if it is not 1."""
    lines = []
    for query in queries:
        weight = "" if query.weight == 1 else f"  -- weight {query.weight:g}"
        lines.append(f"{query_text(query)};{weight}\n")
    return "".join(lines)
