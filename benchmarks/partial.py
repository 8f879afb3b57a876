"""The partial lattice of Adult with nine quasi-identifiers: cost of preparation and of answers.

Preparation at 1, 5 and 10 % of each height, its three parts separately, against evaluating all 12,960 nodes
by the compiled kernels on one thread; bytes of the histograms. Then the random requests of the benchmark
``negotiation``: from only the prepared nodes, with the request's own node counted at run time, and by
SimpleAnonymityNegotiation node by node, against the look-up in the evaluated lattice.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from functools import partial

from benchmarks.adult import frequency_set
from benchmarks.harness import Benchmark, parser
from benchmarks.negotiation import percentile_99, random_requests, timed_answers
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.negotiation.negotiator import Negotiator
from discreet.negotiation.partial_lattice import PartialLattice, prepare_partial_lattice
from discreet.negotiation.partial_negotiation import PartialNegotiator
from discreet.settings import Settings
from papers.printed_negotiation import negotiate_as_printed

PERCENTAGES = ("1%", "5%", "10%")
ONE_ANSWER_MS = 1.0
"""The goal of an answer from prepared nodes; one with a node counted at run time may take ten times that."""


def main() -> None:
    """Prepare and answer; report."""
    options = parser(__doc__)
    options.add_argument("--requests", type=int, default=500, help="random requests (default 500)")
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=1), memory_limit=4 * 10**9)
    table = frequency_set(settings)
    bench = Benchmark("partial", "the partial lattice: Adult, nine quasi-identifiers")
    prepared: dict[str, PartialLattice] = {}

    def prepare(percent: str) -> None:
        prepared[percent] = prepare_partial_lattice(table, percent)

    evaluated = evaluate_lattice(table, settings, evaluator="kernels")
    bench.alternate(
        {
            "evaluated": lambda: evaluate_lattice(table, settings, evaluator="kernels"),
            **{percent: partial(prepare, percent) for percent in PERCENTAGES},
        },
        chosen.repeats,
    )
    bench.fact("nodes of the lattice", evaluated.lattice.size)
    bench.fact("bytes of all histograms", evaluated.histograms.nbytes)
    for percent, some in prepared.items():
        times = some.preparation
        bench.fact(f"{percent}: nodes", some.size)
        bench.fact(f"{percent}: bytes", some.nbytes)
        for part in ("level_statistics", "node_scores", "histograms"):
            bench.fact(f"{percent}: {part.replace('_', ' ')} in ms", f"{getattr(times, part) * 1e3:.2f}")
        bench.ratio(percent, "evaluated")
    answers(bench, evaluated, prepared["5%"], chosen.requests)
    bench.report(chosen)


def answers(bench: Benchmark, evaluated: EvaluatedLattice, some: PartialLattice, number: int) -> None:
    """Answer the random requests each way, and add medians and 99th percentiles in milliseconds."""
    requests = random_requests(evaluated.lattice, number, diversity=False)
    ways = {
        "looked up": (Negotiator(evaluated).negotiate, None),
        "prepared nodes": (PartialNegotiator(some, runtime=False).negotiate, ONE_ANSWER_MS),
        "own node at run time": (PartialNegotiator(some).negotiate, 10 * ONE_ANSWER_MS),
    }
    for name, (answer, goal) in ways.items():
        walls, processors = timed_answers(answer, requests)
        bench.record(name, walls, processors)
        bench.state(f"{name}: median in ms", statistics.median(walls) * 1e3, at_most=goal)
        bench.state(f"{name}: 99th percentile in ms", percentile_99(walls) * 1e3)
    few = requests[: max(number // 20, 2)]
    walls, processors = timed_answers(lambda r: negotiate_as_printed(evaluated, r).negotiation, few)
    bench.record("node by node", walls, processors)
    bench.ratio("node by node", "looked up")


if __name__ == "__main__":
    main()
