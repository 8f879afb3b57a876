"""Every node of a lattice for each criterion of values, compared with only k: Adult, eight quasi-identifiers.

Two threads; occupation is sensitive; 4,320 nodes. Then a slider: the time of each stop of a criterion once
the lattice is evaluated, with k = 5.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.adult import data_folder, document
from benchmarks.harness import Benchmark, parser
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import criteria_from
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping

CASES: dict[str, tuple[dict[str, Any], float]] = {
    "distinct l": ({"l": 2}, 2.6),
    "entropy l": ({"entropy_l": 2}, 8),
    "recursive (c,l)": ({"recursive_c": 2}, 8),
    "α": ({"alpha": 0.5}, 8),
    "β": ({"beta": 1}, 8),
    "δ-disclosure": ({"delta_disclosure": 1}, 8),
    "t, equal": ({"t": 0.2}, 8),
    "t, ordered": ({"t": [{"value": 0.2, "distance": "ordered"}]}, 12),
    "t, hierarchical": ({"t": [{"value": 0.2, "distance": "hierarchical"}]}, 12),
}
"""The request, and the largest allowed multiple of the time for only k."""


def frequency_set(settings: Settings) -> FrequencySet:
    """Return Adult's frequency set with a hierarchy of the sensitive occupation, not a quasi-identifier."""
    told = dict(document())
    told["attributes"] = told["attributes"] | {
        "occupation": told["attributes"]["occupation"] | {"role": "sensitive"}
    }
    spec = spec_from_mapping(told, base=data_folder(), label="the Adult benchmark")
    with connect(settings) as engine:
        return count_frequency_set(engine, spec, settings)


def main() -> None:
    """Alternate the criteria and report."""
    chosen = parser(__doc__).parse_args()
    settings = replace(Settings.from_environment(threads=2), memory_limit=4 * 10**9)
    counted = frequency_set(settings)
    bench = Benchmark("criteria", "every node for each criterion of values: Adult, eight quasi-identifiers")

    def case(*criteria: Criterion, diversity: bool = False) -> Callable[[], EvaluatedLattice]:
        return lambda: evaluate_lattice(
            counted, settings, diversity=diversity, criteria=criteria, evaluator="kernels"
        )

    asked = {name: criteria_from(told) for name, (told, _) in CASES.items()}
    cases = {name: case(*criteria, diversity=name == "distinct l") for name, criteria in asked.items()}
    evaluated = {name: run() for name, run in cases.items()}
    bench.fact("nodes", evaluated["entropy l"].lattice.size)
    bench.fact("row types", counted.row_types)
    bench.fact("classes in all nodes", int(evaluated["entropy l"].classes().sum()))
    for name, lattice in evaluated.items():
        bench.fact(f"bytes of the histograms, {name}", lattice.histograms.nbytes)
    bench.alternate({"k alone": case(), **cases}, chosen.repeats)
    for name, (_, goal) in CASES.items():
        bench.ratio(name, "k alone", at_most=goal)
    for name in list(CASES)[1:]:
        [criterion] = asked[name]
        bench.state(f"milliseconds of a stop, {name}", slider(evaluated[name], criterion), at_most=1)
    bench.report(chosen)


def slider(evaluated: EvaluatedLattice, criterion: Criterion) -> float:
    """Return the median of the stops except the first, in milliseconds.

    Each stop is requested once, so that none is cached.
    """
    taken = []
    for stop in criterion.parameter.slider:
        begin = time.perf_counter()
        evaluated.suppression(Requirement(5, criteria=[replace(criterion, value=stop)]))
        taken.append(time.perf_counter() - begin)
    return 1000 * statistics.median(taken[1:])


if __name__ == "__main__":
    main()
