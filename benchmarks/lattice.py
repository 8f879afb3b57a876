"""Full suppression histograms of all nodes: Adult, nine quasi-identifiers, 12,960 nodes.

The compiled rotation on one thread and on two, against the same plan in plain numpy (the twin) and against
numpy summing as many 8-byte integers as there are classes in all nodes, which reveals a slow twin. Then the
same with distinct l: ``relationship`` (6 values), and ``hours_per_week`` (94 values) with k and l jointly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.adult import frequency_set
from benchmarks.harness import Benchmark, parser
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings


def main() -> None:
    """Alternate the cases and report."""
    options = parser(__doc__)
    options.add_argument("--twin-repeats", type=int, default=3, help="runs of the numpy twin (default 3)")
    chosen = options.parse_args()
    one = replace(Settings.from_environment(threads=1), memory_limit=4 * 10**9)
    two = replace(one, threads=2)
    plain = frequency_set(one)
    few, many = frequency_set(one, "relationship"), frequency_set(one, "hours_per_week")

    def case(
        counted: FrequencySet, settings: Settings, code: str = "kernels"
    ) -> Callable[[], EvaluatedLattice]:
        return lambda: evaluate_lattice(counted, settings, evaluator=code)

    evaluated = evaluate_lattice(plain, one, evaluator="kernels")
    classes = int(evaluated.classes().sum())
    numbers = np.arange(classes, dtype=np.int64)
    bench = Benchmark("lattice", "every node's suppression histogram: Adult, nine quasi-identifiers")
    bench.fact("nodes", evaluated.lattice.size)
    bench.fact("row types", plain.row_types)
    bench.fact("classes in all nodes", classes)
    bench.fact("bytes of all histograms", evaluated.histograms.nbytes)
    bench.alternate({"k, one thread": case(plain, one), "k, two threads": case(plain, two)}, chosen.repeats)
    bench.alternate(
        {
            "numpy sum": numbers.sum,
            "k and l of relationship, one thread": case(few, one),
            "k and l of hours_per_week, one thread": case(many, one),
        },
        chosen.repeats,
    )
    bench.alternate({"k, numpy twin": case(plain, one, "twin")}, chosen.twin_repeats)
    bench.ratio("k, one thread", "k, numpy twin", at_most=1 / 8)
    bench.ratio("k, two threads", "k, one thread", at_most=0.6)
    bench.ratio("k and l of relationship, one thread", "k, one thread", at_most=2.6)
    bench.ratio("k and l of hours_per_week, one thread", "k, one thread", at_most=4.0)
    bench.ratio("k, one thread", "numpy sum")
    bench.state("ms of k, one thread", bench.timings["k, one thread"].median * 1e3, at_most=65)
    bench.ratio("k, numpy twin", "numpy sum")
    bench.report(chosen)


if __name__ == "__main__":
    main()
