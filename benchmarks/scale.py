"""Row types beyond the memory limit: the cost of each stage.

A generated table whose rows are nearly all distinct is loaded as a star schema, partitioned by strict
Mondrian and searched by its levels, in the embedded engine or in Spark, with a memory limit that its row
types exceed. Prints processor seconds of this process and all its children (the Java process and its Python
workers) and wall seconds, of one run. ``docs/scale.md`` uses the figures.

``python -m benchmarks.scale --engine spark --tasks 2 --rows 1000000``
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.harness import parser
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.model.requirement import Requirement
from discreet.mondrian.external import partition_in_engine
from discreet.search.algorithms import load_algorithm
from discreet.search.search_problem import SearchProblem
from discreet.search.star_schema_loader import star_schema
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec

ENTRIES = 120_000
"""Approximate row types of a fragment: the memory limit is set for this number."""

_TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds() -> float:
    """Return processor seconds of this process and of all its descendants, including ended ones."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        parents[number], used[number] = int(fields[1]), sum(map(int, fields[11:15])) / _TICKS
    ours = {os.getpid()}
    while True:
        more = {number for number, parent in parents.items() if parent in ours} - ours
        if not more:
            return sum(used[number] for number in ours)
        ours |= more


@dataclass
class Stages:
    """Cost so far of each kind of call to an engine: calls, processor and wall seconds."""

    spent: dict[str, tuple[int, float, float]] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the cost of the context to a stage."""
        used, clock = processor_seconds(), time.perf_counter()
        yield
        calls, before, wall = self.spent.get(name, (0, 0.0, 0.0))
        spent = processor_seconds() - used
        self.spent[name] = (calls + 1, before + spent, wall + time.perf_counter() - clock)

    def lines(self) -> list[str]:
        """Format one line per stage."""
        return [
            f"{name:<44} {calls:>4} {used:>9.1f} {wall:>9.1f}"
            for name, (calls, used, wall) in self.spent.items()
        ]


_KINDS = (
    ("GROUPING SETS", "histograms of fragments"),
    (" AS p0, ", "row types: GROUP BY of the facts"),
    ("AS t0", "cell texts of the rows"),
    ("t.t0 = d0.v", "facts: texts to codes"),
    ("v0 AS c0", "classes of row types, numbered through"),
    ("AS q0", "what classes show"),
    ("count(*) AS n", "frequency sets and distinct values"),
)


class Watched:
    """An engine whose statements are counted by kind."""

    def __init__(self, engine: Engine, stages: Stages) -> None:
        self._engine, self._stages = engine, stages

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._engine, name)
        if name in ("create_table", "fetch_rows", "fetch_arrays", "load_table", "apply_to_groups"):
            return self._counted(name, found)
        return found

    def _counted(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            with self._stages.stage(_kind(name, arguments)):
                return call(*arguments, **options)

        return run


def _kind(method: str, arguments: tuple[Any, ...]) -> str:
    if method == "apply_to_groups":
        return "fragments cut to the end by the kernels"
    if method == "load_table":
        return "tables loaded (dimensions, offsets)"
    statement = str(arguments[-1])
    return next((said for part, said in _KINDS if part in statement), "numbers fetched, and small tables")


def main() -> None:
    """Measure one engine."""
    options = parser(__doc__)
    options.add_argument("--engine", choices=["duckdb", "spark"], default="duckdb")
    options.add_argument("--tasks", type=int, default=2, help="tasks that Spark runs at a time")
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--k", type=int, default=10)
    given = options.parse_args()
    os.environ.setdefault("DISCREET_SPARK_MASTER", f"local[{given.tasks}]")
    spec = load_spec(tables.make(tables.DISTINCT_5M, rows=given.rows))
    spec = replace(spec, source=replace(spec.source, engine="spark" if given.engine == "spark" else None))
    settings = Settings(memory_limit=2 * 10**9, threads=given.tasks, private_log=Path("unused.jsonl"))
    small = replace(settings, memory_limit=ENTRIES * (40 * len(spec.quasi_identifiers) + 200))
    stages = Stages()
    with connect(settings, spec.source) as engine:
        watched: Any = Watched(engine, stages)
        with star_schema(watched, spec, settings) as facts:
            with partition_in_engine(facts, Requirement(given.k), small) as stored:
                print(
                    f"{given.engine}, {given.tasks} tasks: {stored.rows:,} rows, {stored.classes:,} classes, "
                    f"{stored.fragments} fragments, {stored.scans} scans of the row types"
                )
            print(f"{'stage':<44} {'n':>4} {'cpu s':>9} {'wall s':>9}")
            print("\n".join(stages.lines()))
            stages.spent.clear()
            low = tuple(0 for _ in facts.hierarchies)
            high = tuple(h.height for h in facts.hierarchies)
            task = SearchProblem(facts, Requirement(given.k), given.rows // 100, low, high, settings)
            with stages.stage("search (samarati) in all"):
                found = load_algorithm("samarati")(task)
            print(f"search: {len(found.solutions)} solutions, {found.nodes_checked} nodes checked")
            print("\n".join(stages.lines()))


if __name__ == "__main__":
    main()
