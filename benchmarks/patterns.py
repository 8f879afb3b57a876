"""The greedy guided by patterns: Adult with all 16,384, Adult-2 with all 512, and 325,000 generated rows.

For each k of the paper the whole greedy of Adult's fourteen attributes is timed on one thread, from row types
to the recoding, without and with its lower bound; at k = 100 also in plain numpy. The paper took 5.5 to 163.6
s on its machine.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.adult import data_folder
from benchmarks.harness import Benchmark, parser
from discreet.model.class_recoding import PatternConstraints, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.patterns.greedy_assignment import GreedyResult, solve_greedily
from discreet.patterns.masks import build_mask_from_constraints
from discreet.settings import Settings

KS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 25, 50, 75, 100)
LARGE_ROWS = 325_000
LARGE_LEAVES = (3, 3, 90, 8, 120, 90, 2, 6, 5)


def flat(names: list[str], leaves: list[list[str]], codes: NDArray[np.int64]) -> FrequencySet:
    """Return the frequency set of coded rows under hierarchies of value and star."""
    hierarchies = tuple(
        GeneralizationHierarchy(
            name, (tuple(values), (TOP,)), (np.arange(len(values)), np.zeros(len(values), np.int64)), "flat"
        )
        for name, values in zip(names, leaves, strict=True)
    )
    found, counts = np.unique(codes, axis=0, return_counts=True)
    return FrequencySet(hierarchies, found, counts)


def adult(path: Path, without: str = "") -> FrequencySet:
    """Read a CSV file in which all columns except one are quasi-identifiers."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    chosen = [j for j, name in enumerate(head) if name != without]
    leaves = [sorted({row[j] for row in rows}) for j in chosen]
    places = [{value: code for code, value in enumerate(values)} for values in leaves]
    codes = np.array([[place[row[j]] for j, place in zip(chosen, places, strict=True)] for row in rows])
    return flat([head[j] for j in chosen], leaves, codes)


def large(rows: int) -> FrequencySet:
    """Generate rows of nine attributes, the first values of each the most frequent."""
    random = np.random.default_rng(2013)
    columns = [np.minimum(random.geometric(min(0.9, 6 / n), rows) - 1, n - 1) for n in LARGE_LEAVES]
    names = [f"q{j}" for j in range(len(LARGE_LEAVES))]
    leaves = [[str(value) for value in range(n)] for n in LARGE_LEAVES]
    return flat(names, leaves, np.stack(columns, axis=1).astype(np.int64))


def main() -> None:
    """Time them and report the ratios."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=LARGE_ROWS, help="generated rows")
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=1), memory_limit=2 * 10**9)

    def mask_of(table: FrequencySet) -> PatternMask:
        return build_mask_from_constraints(table, PatternConstraints(), settings)

    def case(
        table: FrequencySet, mask: PatternMask, k: int, evaluator: str = "kernels", bound: bool = False
    ) -> Callable[[], GreedyResult]:
        return lambda: solve_greedily(table, mask, Requirement(k), settings, evaluator=evaluator, bound=bound)

    home = data_folder() / "adult"
    wide, nine = adult(home / "adult_32561.csv", "fnlwgt"), adult(home / "adult2_32561.csv")
    many = large(chosen.rows)
    all_wide, all_nine, all_many = mask_of(wide), mask_of(nine), mask_of(many)
    case(wide, all_wide, 100)()
    bench = Benchmark("patterns", "the greedy guided by all patterns, one thread")
    bench.fact("Adult", f"{wide.row_types:,} row types, {len(all_wide):,} patterns")
    bench.fact("Adult-2", f"{nine.row_types:,} row types, {len(all_nine):,} patterns")
    bench.fact("generated", f"{many.rows:,} rows, {many.row_types:,} row types, {len(all_many):,} patterns")
    bench.alternate({f"Adult, k = {k}": case(wide, all_wide, k) for k in KS}, chosen.repeats)
    bench.alternate({f"Adult-2, k = {k}": case(nine, all_nine, k) for k in KS}, chosen.repeats)
    bench.alternate({f"generated, k = {k}": case(many, all_many, k) for k in (2, 10, 100)}, chosen.repeats)
    bench.alternate({"Adult, k = 100, with its bound": case(wide, all_wide, 100, bound=True)}, 3)
    bench.alternate({"Adult, k = 100, plain numpy": case(wide, all_wide, 100, "twin")}, 1)
    slowest = max(bench.timings[f"Adult, k = {k}"].median for k in KS)
    bench.state("Adult's slowest k, s", slowest, at_most=1.0)
    bench.state(
        "k = 100 / plain numpy",
        bench.timings["Adult, k = 100"].median / bench.timings["Adult, k = 100, plain numpy"].median,
        at_most=0.1,
    )
    slowest = max(bench.timings[f"Adult-2, k = {k}"].median for k in KS)
    bench.state("Adult-2's slowest k, s", slowest, at_most=0.03)
    slowest = max(bench.timings[f"generated, k = {k}"].median for k in (2, 10, 100))
    bench.state("325,000 rows, slowest k, s", slowest, at_most=1.0)
    bench.report(chosen)


if __name__ == "__main__":
    main()
