"""Publishing at given levels a table whose frequency set exceeds the memory limit: it stays in its engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.model.request import Request
from discreet.results.answers import AnswerResult
from discreet.results.publication import answer_within_limit, node_of_levels, require_rows_left
from discreet.results.requests import Levels
from discreet.search.database_sets import DatabaseFrequencies
from discreet.search.fact_table import FactTable
from discreet.search.star_schema import in_database
from discreet.search.task import lattice_of
from discreet.verbs.opened_table import OpenedTable


@dataclass(frozen=True)
class StoredAnswer:
    """An answer about a star schema, which lives in its engine as long as the context that made it."""

    engine: Engine
    facts: FactTable
    answer: AnswerResult


@contextmanager
def stored_levels(table: OpenedTable, levels: Levels, request: Request) -> Iterator[StoredAnswer]:
    """Given levels as an answer, what they suppress counted by one GROUP BY over the fact table.

    ``NoSolution`` where they suppress more rows than the request's limit, or all; ``LimitReached`` where the
    distinct values of a column exceed the memory limit.
    """
    with (
        table.engine("Counting in the engine") as engine,
        in_database(engine, table.spec, table.settings) as facts,
    ):
        lattice = lattice_of(facts)
        node = node_of_levels(lattice, levels, request.min_level)
        with TemporaryTables(engine) as tables:
            frequencies = DatabaseFrequencies(facts, request.requirement, table.settings.memory_limit, tables)
            suppressed = frequencies.count(range(len(node)), node).suppressed()
        answer = answer_within_limit(lattice, node, request, suppressed, facts.rows)
        yield StoredAnswer(engine, facts, require_rows_left(answer))
