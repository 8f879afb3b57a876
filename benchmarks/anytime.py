"""A lattice of 4^25 nodes: 25 quasi-identifiers of four levels, 100,000 generated rows, nearly all distinct.

From row types to an answer of ``anytime`` under loss, k = 5, at most 1 % suppressed, for growing budgets of
nodes: the time, the loss and the proven bound of each. On Adult, where ``optimal`` finds the optimum, the
same budgets' losses are compared with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchmarks.adult import frequency_set
from benchmarks.harness import Benchmark, parser
from benchmarks.tables import Column, Table, make
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.measures.cost_registry import cost_named
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Request
from discreet.model.search_result import SearchResult
from discreet.search.anytime import anytime
from discreet.search.optimal import optimal
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec

WIDE_25 = Table("wide_25", rows=100_000, columns=tuple(Column(f"q{i:02d}", 16, (2, 8)) for i in range(25)))
BUDGETS = (1, 40, 200, 1_000)


def wide(settings: Settings, rows: int | None) -> FrequencySet:
    """Return the generated table's frequency set."""
    spec = load_spec(make(WIDE_25, rows=rows))
    with connect(settings) as engine:
        return count_frequency_set(engine, spec, settings)


def least(result: SearchResult) -> float:
    """Return the cost of the only solution."""
    (solution,) = result.solutions
    return solution.cost if solution.cost is not None else float("nan")


def main() -> None:
    """Time the budgets and report the result of each."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=None, help="a smaller table of the same kind")
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=2), memory_limit=2 * 10**9)
    table = wide(settings, chosen.rows)
    adult = frequency_set(settings)

    def task(counted: FrequencySet, nodes: int, limit: str) -> SearchProblem:
        request = Request.of(k=5, max_suppressed=limit)
        return SearchProblem.of(counted, request, settings, cost=cost_named("loss"), node_budget=nodes)

    def case(nodes: int) -> Callable[[], SearchResult]:
        return lambda: anytime(task(table, nodes, "1%"))

    bench = Benchmark("anytime", "25 quasi-identifiers of four levels over 100,000 generated rows")
    bench.fact("nodes of the lattice", f"{task(table, 1, '1%').lattice.size:.3g}")
    bench.fact("row types", table.row_types)
    bench.alternate({f"{nodes:,} nodes": case(nodes) for nodes in BUDGETS}, min(chosen.repeats, 3))
    known = least(optimal(task(adult, 1, "5%")))
    for nodes in BUDGETS:
        found = case(nodes)()
        bench.state(f"loss after {nodes:,} nodes", least(found))
        bench.state(f"proven after {nodes:,} nodes", found.bound or 0.0)
        reached = least(anytime(task(adult, nodes, "5%")))
        bench.state(f"Adult's loss after {nodes:,} nodes / its least", reached / known)
    bench.state("seconds to the first answer", bench.timings["1 nodes"].median, at_most=2.0)
    bench.state(
        "seconds to the end of the first descent, about", bench.timings["40 nodes"].median, at_most=5.0
    )
    bench.report(chosen)


if __name__ == "__main__":
    main()
