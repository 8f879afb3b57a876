"""The cheapest node of Adult, nine quasi-identifiers, from row types to answer: ``optimal`` under its costs.

Against the evaluated lattice in the same run, on as many threads. k = 5, 5 % suppressed at most. ``searched``
is the same answer without the evaluated lattice, as for one that does not fit the memory limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchmarks.adult import frequency_set
from benchmarks.harness import Benchmark, parser
from discreet.lattice.evaluate import evaluate_lattice
from discreet.measures.costs import cost_named
from discreet.model.request import Request
from discreet.model.search_result import SearchResult
from discreet.search.optimal import optimal
from discreet.search.task import SearchTask
from discreet.settings import Settings

COSTS = ("loss", "dm", "entropy", "ambiguity")


def main() -> None:
    """Alternate the cases and report."""
    options = parser(__doc__)
    options.add_argument("--threads", type=int, default=2, help="threads (default 2)")
    options.add_argument("--slow-repeats", type=int, default=1, help="runs of the search (default 1)")
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=chosen.threads), memory_limit=4 * 10**9)
    table = frequency_set(settings)
    request = Request.of(k=5, max_suppressed="5%")

    def case(cost: str, given: Settings = settings) -> Callable[[], SearchResult]:
        return lambda: optimal(SearchTask.of(table, request, given, cost=cost_named(cost)))

    evaluate_lattice(table, settings, evaluator="kernels", diversity=False)
    bench = Benchmark("optimal", "the cheapest node: Adult, nine quasi-identifiers, k = 5, 5 % suppressed")
    bench.fact("nodes", SearchTask.of(table, request, settings).lattice.size)
    bench.fact("row types", table.row_types)
    (best,) = case("loss")().solutions
    bench.fact("least loss", f"{best.cost:.6f} at {best.node}, {best.suppressed:,} rows suppressed")
    cases: dict[str, Callable[[], object]] = {
        "evaluated lattice": lambda: evaluate_lattice(table, settings, evaluator="kernels", diversity=False)
    }
    cases |= {f"optimal, {cost}": case(cost) for cost in COSTS}
    bench.alternate(cases, chosen.repeats)
    bench.alternate(
        {"searched, loss": case("loss", replace(settings, memory_limit=20 * 10**6))}, chosen.slow_repeats
    )
    bench.ratio("optimal, loss", "evaluated lattice", at_most=1.5)
    for cost in COSTS[1:]:
        bench.ratio(f"optimal, {cost}", "evaluated lattice")
    bench.ratio("searched, loss", "evaluated lattice")
    bench.report(chosen)


if __name__ == "__main__":
    main()
