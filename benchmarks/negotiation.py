"""One negotiation answer: Adult, nine quasi-identifiers, 12,960 nodes.

Random requests: k from 2 to 50, in the second half also l from 2 to 5 of ``relationship``; a limit of 0 rows
to 10 %; a greatest level for about two attributes in three. One negotiator answers them twice: ``asked
first`` it meets each requirement for the first time, ``asked again`` it has them cached. For ``nothing
known`` a new lattice and negotiator answer each request.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence

from benchmarks.adult import frequency_set
from benchmarks.harness import Benchmark, parser
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.lattice import Lattice
from discreet.model.request import Request
from discreet.model.search_result import Negotiation
from discreet.negotiation.negotiator import Negotiator
from discreet.settings import Settings

GOALS: tuple[float | None, float | None] = (0.2, 1.0)
"""Milliseconds: the median, and the 99th percentile."""

LIMITS: tuple[str | int, ...] = (0, 32, 301, "1%", "5%", "10%")


def random_requests(lattice: Lattice, number: int, *, diversity: bool) -> list[Request]:
    """Return the same requests in every run."""
    chance = random.Random(20_000)
    heights = dict(zip(lattice.attributes, lattice.heights, strict=True))
    return [
        Request.of(
            k=chance.randint(2, 50),
            l=chance.randint(2, 5) if diversity else None,
            max_suppressed=chance.choice(LIMITS),
            max_level={name: chance.randint(0, h) for name, h in heights.items() if chance.random() < 0.7},
            scope=chance.choice(("above", "global")),
        )
        for _ in range(number)
    ]


def timed_answers(
    answer: Callable[[Request], Negotiation], requests: Sequence[Request]
) -> tuple[list[float], list[float]]:
    """Return seconds of each answer: wall time, and this thread's processor time."""
    walls, processors = [], []
    for request in requests:
        processor, wall = time.thread_time(), time.perf_counter()
        answer(request)
        wall, processor = time.perf_counter() - wall, time.thread_time() - processor
        walls.append(wall)
        processors.append(processor)
    return walls, processors


def knowing_nothing(evaluated: EvaluatedLattice) -> EvaluatedLattice:
    """Return the same histograms without cached look-ups."""
    return EvaluatedLattice(
        lattice=evaluated.lattice,
        hierarchies=evaluated.hierarchies,
        sensitive_attributes=evaluated.sensitive_attributes,
        rows=evaluated.rows,
        histograms=evaluated.histograms,
        scores=evaluated.scores,
    )


def measure(bench: Benchmark, name: str, evaluated: EvaluatedLattice, requests: list[Request]) -> None:
    """Time the requests; report median and 99th percentile in milliseconds."""
    negotiator = Negotiator(evaluated)
    strangers = requests[: max(len(requests) // 10, 1)]
    relaxed = sum(negotiator.negotiate(request).exact is None for request in requests)
    bench.fact(f"{name}: relaxed", f"{relaxed:,} of {len(requests):,} requests")
    negotiator = Negotiator(knowing_nothing(evaluated))
    for case, goals, (walls, processors) in (
        ("asked first", GOALS, timed_answers(negotiator.negotiate, requests)),
        ("asked again", GOALS, timed_answers(negotiator.negotiate, requests)),
        (
            "nothing known",
            (None, None),
            timed_answers(lambda r: Negotiator(knowing_nothing(evaluated)).negotiate(r), strangers),
        ),
    ):
        bench.record(f"{name}, {case}", walls, processors)
        median, percentile = statistics.median(walls) * 1e3, percentile_99(walls) * 1e3
        bench.state(f"{name}, {case}: median in ms", median, at_most=goals[0])
        bench.state(f"{name}, {case}: 99th percentile in ms", percentile, at_most=goals[1])
        bench.state(f"{name}, {case}: 99th percentile in processor ms", percentile_99(processors) * 1e3)


def percentile_99(seconds: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return statistics.quantiles(seconds, n=100)[98]


def main() -> None:
    """Time the requests for k, then for k and l; report."""
    options = parser(__doc__)
    options.add_argument("--requests", type=int, default=2000, help="random requests (default 2000)")
    chosen = options.parse_args()
    settings = Settings.from_environment(threads=1)
    bench = Benchmark("negotiation", "one negotiation answer: Adult, nine quasi-identifiers")
    for name, sensitive in (("k", ()), ("k and l", ("relationship",))):
        evaluated = evaluate_lattice(frequency_set(settings, *sensitive), settings)
        bench.fact("nodes", evaluated.lattice.size)
        requests = random_requests(evaluated.lattice, chosen.requests, diversity=bool(sensitive))
        measure(bench, name, evaluated, requests)
    bench.report(chosen)


if __name__ == "__main__":
    main()
