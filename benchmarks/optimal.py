"""The cheapest node without cached results, from row types to answer: ``optimal`` under its costs.

Adult with nine quasi-identifiers, 12,960 nodes; the accidents of FARS, 20,736; a generated table with a
postal code of 100,000 leaves, 45,000. Against the evaluated lattice in the same run, on as many threads; k =
5, at most 5 % suppressed. ``searched`` is the same answer for a lattice that does not fit the memory limit;
``own`` a function in Python, called for all 45,000 nodes, any number of rows suppressed: as arrays, node by
node (of numbers), and node by node of the sizes of the classes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.adult import data_folder, frequency_set
from benchmarks.harness import Benchmark, parser
from benchmarks.tables import POSTAL_63K, make
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.cost_registry import cost_named
from discreet.measures.named_costs import node_cost
from discreet.measures.node_statistics import NodesStatistics, NodeStatistics
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Request
from discreet.model.search_result import SearchResult
from discreet.model.table_spec import TableSpec
from discreet.search.optimal import optimal
from discreet.search.search_problem import SearchProblem
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec, spec_from_mapping

COSTS = ("loss", "height", "entropy", "dm", "ambiguity")
REQUEST = Request.of(k=5, max_suppressed="5%")
FARS = ("iage", "irace", "ideathmon", "ideathday", "isex", "ihispanic", "istatenum", "iinjury")


def fars() -> TableSpec:
    """Return the spec of the accidents, all eight attributes quasi-identifiers."""
    home = data_folder() / "arx_benchmark"
    attributes = {
        name: {"role": "quasi-identifier", "hierarchy": str(home / "fars_int_hierarchies" / f"{name}.csv")}
        for name in FARS
    }
    document = {"source": {"path": str(home / "fars_100937.csv")}, "attributes": attributes}
    return spec_from_mapping(document, base=home, label="the FARS benchmark")


def counted(spec: TableSpec, settings: Settings) -> FrequencySet:
    """Return a spec's frequency set."""
    with connect(settings) as engine:
        return count_frequency_set(engine, spec, settings)


def evaluated(table: FrequencySet, settings: Settings) -> Callable[[], object]:
    """Evaluate every node, as the baseline."""
    return lambda: evaluate_lattice(table, settings, evaluator="kernels", diversity=False)


def answer(table: FrequencySet, settings: Settings, cost: str = "loss") -> Callable[[], SearchResult]:
    """Find the cheapest node of a table without cached results."""
    return lambda: optimal(SearchProblem.of(replace(table), REQUEST, settings, cost=cost_named(cost)))


def by_node(statistics: NodeStatistics) -> float:
    """Return squared levels plus suppressed rows."""
    return float(sum(level**2 for level in statistics.node) + statistics.suppressed / statistics.rows)


def by_nodes(statistics: NodesStatistics) -> NDArray[np.float64]:
    """Return the same for several nodes."""
    found: NDArray[np.float64] = (statistics.levels**2).sum(axis=1) + statistics.suppressed / statistics.rows
    return found


def largest_class(statistics: NodeStatistics) -> float:
    """Return the rows of the largest published class."""
    return float(statistics.sizes.max(initial=0))


def one_by_one(
    table: FrequencySet, settings: Settings, function: Callable[[NodeStatistics], float]
) -> Callable[[], SearchResult]:
    """Evaluate an undeclared function of one node for every node; any number of rows suppressed."""
    every = Request.of(k=5, max_suppressed="100%")
    cost = node_cost("own", "a function of one node", function)
    return lambda: optimal(SearchProblem.of(table, every, settings, cost=cost))


def main() -> None:
    """Alternate the cases and report."""
    options = parser(__doc__)
    options.add_argument("--threads", type=int, default=2, help="threads (default 2)")
    options.add_argument("--slow-repeats", type=int, default=1, help="runs of the search (default 1)")
    chosen = options.parse_args()
    os.environ["DISCREET_COMPILE"] = "wait"
    settings = replace(Settings.from_environment(threads=chosen.threads), memory_limit=4 * 10**9)
    bench = Benchmark("optimal", "the cheapest node, nothing known before: k = 5, 5 % suppressed")
    tables = {
        "Adult": frequency_set(settings),
        "FARS": counted(fars(), settings),
        "postal code": counted(load_spec(make(POSTAL_63K)), settings),
    }
    cases: dict[str, Callable[[], object]] = {}
    for name, table in tables.items():
        (best,) = (found := answer(table, settings)()).solutions
        bench.fact(f"{name}: row types", table.row_types)
        bench.fact(f"{name}: nodes", found.lattice.size)
        bench.fact(f"{name}: nodes checked", found.nodes_checked)
        bench.fact(
            f"{name}: least loss", f"{best.cost:.6f} at {best.node}, {best.suppressed:,} rows suppressed"
        )
        cases[f"{name}: evaluated lattice"] = evaluated(table, settings)
        cases[f"{name}: optimal, loss"] = answer(table, settings)
    every = Request.of(k=5, max_suppressed="100%")
    postal = tables["postal code"]
    cases["postal code: optimal, own"] = lambda: optimal(
        SearchProblem.of(postal, every, settings, cost=node_cost("own", "squared levels", by_node, by_nodes))
    )
    adult = tables["Adult"]
    cases |= {f"Adult: optimal, {cost}": answer(adult, settings, cost) for cost in COSTS[1:]}
    bench.alternate(cases, chosen.repeats)
    small = replace(settings, memory_limit=20 * 10**6)
    bench.alternate({"Adult: searched, loss": answer(adult, small)}, chosen.slow_repeats)
    for name, goal, most in zip(tables, (0.5, 0.2, 0.1), (20, 100, 400), strict=True):
        bench.ratio(f"{name}: optimal, loss", f"{name}: evaluated lattice", at_most=goal)
        found = bench.timings[f"{name}: optimal, loss"].median
        bench.state(f"{name}: ms of optimal, loss", found * 1e3, at_most=most)
    by_one = {"node by node": by_node, "sizes, node by node": largest_class}
    for name, function in by_one.items():
        case = f"postal code: own, {name}"
        bench.alternate({case: one_by_one(postal, settings, function)}, 1)
        bench.state(f"postal code: seconds of own, {name}", bench.timings[case].median, at_most=20)
    bench.ratio("postal code: optimal, own", "postal code: evaluated lattice", at_most=2)
    for cost in COSTS[1:]:
        bench.ratio(f"Adult: optimal, {cost}", "Adult: evaluated lattice")
    bench.ratio("Adult: searched, loss", "Adult: evaluated lattice")
    bench.report(chosen)


if __name__ == "__main__":
    main()
