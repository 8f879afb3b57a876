"""Local recoding: Adult, nine quasi-identifiers, k = 5; the greedy against the evaluated lattice; rounds.

The greedy and the lattice alternate on two threads (the greedy uses one). Then rounds of improvement on one
thread and on two, the curve of granularity, and the certified bound. With ``--large`` also five million rows.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.adult import frequency_set
from benchmarks.harness import Benchmark, in_child, parser, timed
from benchmarks.tables import TABLES, make
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.lattice.evaluation import evaluate_lattice
from discreet.local.cell_generalization import generalize_cells
from discreet.local.local_recoding import LocalRecoding
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec

FIVE = Requirement(5)
LARGE = ("wide_50m", "distinct_5m")


def large(name: str) -> object:
    """Run the greedy on five million rows, in a separate process."""
    settings = replace(Settings.from_environment(threads=2), memory_limit=8 * 10**9)
    with connect(settings) as engine:
        counted = count_frequency_set(engine, load_spec(make(TABLES[name], rows=5_000_000)), settings)
    generalize_cells(counted, FIVE, settings, evaluator="kernels")
    found = timed(lambda: generalize_cells(counted, FIVE, settings, evaluator="kernels"))
    return replace(found, result=(counted.row_types, found.result.classes, found.result.granularity))


def main() -> None:
    """Alternate the cases, run the rounds, and report."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=16, help="rounds of improvement (default 16)")
    options.add_argument("--large", action="store_true", help="five million rows too")
    chosen = options.parse_args()
    two = replace(Settings.from_environment(threads=2), memory_limit=4 * 10**9)
    one = replace(two, threads=1)
    adult = frequency_set(one)

    def run(settings: Settings, rounds: int | str = "fast", **more: object) -> LocalRecoding:
        return generalize_cells(adult, FIVE, settings, effort=rounds, evaluator="kernels", **more)  # type: ignore[arg-type]

    bench = Benchmark("local", "Local recoding: Adult, nine quasi-identifiers, k = 5, nothing suppressed")
    fast = run(two)
    bench.fact("classes of the greedy", fast.classes)
    bench.fact("smallest class", int(fast.recoding.class_rows().min()))
    bench.alternate(
        {
            "evaluated lattice, two threads": lambda: evaluate_lattice(adult, two, evaluator="kernels"),
            "evaluated lattice, one thread": lambda: evaluate_lattice(adult, one, evaluator="kernels"),
            "greedy": lambda: run(two),
        },
        chosen.repeats,
    )
    bench.alternate(
        {"1 round, one thread": lambda: run(one, 1), "1 round, two threads": lambda: run(two, 1)}, 3
    )
    bench.ratio("greedy", "evaluated lattice, two threads", at_most=0.65)
    bench.ratio("greedy", "evaluated lattice, one thread")
    bench.ratio("1 round, two threads", "1 round, one thread")
    bench.state("granularity of the greedy", fast.granularity, at_least=0.9415)
    bench.state("the same classes as sets", run(two, shown="sets").granularity, at_least=0.975)
    far = run(two, chosen.rounds, bound=True)
    for point in far.curve:
        bench.fact(
            f"granularity after {point.rounds} rounds", f"{point.granularity:.5f}, {point.seconds:.1f} s"
        )
    bench.state(f"granularity after {chosen.rounds} rounds", far.granularity, at_least=0.9435)
    bench.state("certified bound", far.bound or 1.0, at_most=0.9619)
    bench.state("gap", far.gap or 0.0)
    for name in LARGE if chosen.large else ():
        child = in_child(large, name)
        types, classes, kept = child.result
        bench.record(f"greedy, five million rows of {name}", [child.wall], [child.processor])
        bench.fact(f"{name}: row types, classes, granularity", f"{types:,}, {classes:,}, {kept:.4f}")
        bench.fact(f"{name}: peak memory", f"{child.peak / 1e9:.2f} GB")
    bench.report(chosen)


if __name__ == "__main__":
    main()
