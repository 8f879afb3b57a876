"""Pattern-guided k-anonymity to the proven optimum: the paper's instances, all thirteen k of each.

Adult-2 with the user's fifteen patterns, and CMC with at most two stars: seconds of each k and of all
together, from row types to the verified recoding, on two threads. For some k this is compared with the
integer program of the paper (every instance, the rows of the whole table as bound, integers of rows), by the
same solver with the same tolerances on one thread, ended after ``--plain-limit`` seconds; an open gap is
reported.
"""

from __future__ import annotations

import csv
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.adult import data_folder
from benchmarks.harness import Benchmark, parser
from discreet.model.class_recoding import PatternConstraints, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.patterns.components import bound_by_prices
from discreet.patterns.exact import solve_exactly
from discreet.patterns.exact_problem import build_pattern_table, find_cells
from discreet.patterns.masks import build_mask_from_constraints
from discreet.settings import Settings

ALL_K = (2, 3, 4, 5, 6, 7, 8, 9, 10, 25, 50, 75, 100)
USER = PatternConstraints(
    max_stars=2,
    keep=("education", "salary_class"),
    generalize_together=(("work_class", "occupation"),),
    exclusive=(("age", "sex", "race"),),
)


@dataclass(frozen=True)
class Plain:
    """Result of the paper's own program: seconds, and the remaining gap."""

    seconds: float
    gap: float


def main() -> None:
    """Solve, compare and report."""
    options = parser(__doc__)
    options.add_argument("--plain-limit", type=float, default=120, help="seconds of the plain program")
    options.add_argument("--plain-k", type=int, nargs="*", default=[100, 25], help="its k (default 100 25)")
    options.add_argument("--k", type=int, nargs="+", default=list(ALL_K), help="k (default: the paper's)")
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=2), memory_limit=4 * 10**9)
    bench = Benchmark("patterns_exact", "pattern-guided k-anonymity, proven optimal")
    folder = data_folder()
    adult = table_of_file(folder / "adult" / "adult2_32561.csv")
    user = build_mask_from_constraints(adult, USER, settings)
    cmc = table_of_file(folder / "cmc" / "cmc.csv")
    two = build_mask_from_constraints(cmc, PatternConstraints(max_stars=2), settings)
    solve_all(bench, "Adult-2", adult, user, chosen.k, settings, chosen.repeats, 40)
    solve_all(bench, "CMC", cmc, two, chosen.k, settings, chosen.repeats, 12)
    for k in chosen.plain_k:
        plain = solve_plainly(adult, user, k, chosen.plain_limit)
        bench.record(f"Adult-2, k={k}, the paper's program", [plain.seconds])
        bench.state(f"Adult-2, k={k}, the paper's program: gap in %", plain.gap * 100)
        if k in chosen.k:
            bench.ratio(f"Adult-2, k={k}", f"Adult-2, k={k}, the paper's program")
    bench.report(chosen)


def solve_all(
    bench: Benchmark,
    name: str,
    table: FrequencySet,
    mask: PatternMask,
    every_k: list[int],
    settings: Settings,
    repeats: int,
    goal: float,
) -> None:
    """Time each k; report the sum of the medians, and the gaps of prices and of the greedy start."""
    total = 0.0
    for k in every_k:
        walls, processors = [], []
        for _ in range(repeats):
            processor, wall = time.process_time(), time.perf_counter()
            found = solve_exactly(table, mask, Requirement(k=k), settings)
            walls.append(time.perf_counter() - wall)
            processors.append(time.process_time() - processor)
        bench.record(f"{name}, k={k}", walls, processors)
        prices = bound_by_prices(table, mask, Requirement(k=k), settings)
        facts = f"{found.status} at {found.cost:,.0f}, by prices at least {prices:,.0f}"
        bench.fact(f"{name}, k={k}", f"{facts}, greedy {found.start_cost or 0:,.0f}")
        total += bench.timings[f"{name}, k={k}"].median
    bench.state(f"{name}, all k: seconds", total, at_most=goal)


def table_of_file(path: Path) -> FrequencySet:
    """Return the row types of all columns of a CSV file, each value or star."""
    with path.open(encoding="utf-8", newline="") as text:
        header, *rows = csv.reader(text)
    values = np.array(rows)
    hierarchies, codes = [], []
    for name, column in zip(header, values.T, strict=True):
        labels, code = np.unique(column, return_inverse=True)
        leaves = np.arange(len(labels), dtype=np.int64)
        hierarchies.append(
            GeneralizationHierarchy(name, (tuple(labels.tolist()), (TOP,)), (leaves, leaves * 0), "flat")
        )
        codes.append(code)
    types, counts = np.unique(np.stack(codes, axis=1), axis=0, return_counts=True)
    return FrequencySet(tuple(hierarchies), types.astype(np.int64), counts.astype(np.int64))


def solve_plainly(table: FrequencySet, mask: PatternMask, k: int, limit: float) -> Plain:
    """Solve the integer program of Bredereck et al. (2013, section 2.2), all stars one instance more."""
    import highspy

    steps, _ = build_pattern_table(table, mask)
    cover = find_cells(steps, 1, 10**12)
    types, cells = len(steps.counts), cover.cell_count + 1
    members = np.concatenate([cover.members, np.arange(types)])
    places = np.concatenate([cover.cell_of_pair(), np.full(types, cells - 1)])
    costs = np.append(cover.costs, steps.outlier_cost)
    pairs, pair = len(members), np.arange(len(members))
    rows = [
        members,
        types + places,
        types + np.arange(cells),
        types + cells + places,
        types + cells + np.arange(cells),
    ]
    columns = [pair, pair, pairs + np.arange(cells), pair, pairs + np.arange(cells)]
    values = [np.ones(pairs), np.ones(pairs), np.full(cells, -float(k)), np.ones(pairs)]
    values.append(np.full(cells, -float(steps.rows)))
    row, column, value = (np.concatenate(part) for part in (rows, columns, values))
    order = np.lexsort((column, row))
    lp: Any = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = pairs + cells, types + 2 * cells
    lp.col_cost_ = np.concatenate([costs[places], np.zeros(cells)]).astype(np.float64)
    lp.col_lower_ = np.zeros(pairs + cells)
    lp.col_upper_ = np.concatenate([steps.counts[members], np.ones(cells)]).astype(np.float64)
    lp.row_lower_ = np.concatenate([steps.counts, np.zeros(cells), np.full(cells, -np.inf)])
    lp.row_upper_ = np.concatenate([steps.counts, np.full(cells, np.inf), np.zeros(cells)])
    lp.integrality_ = [highspy.HighsVarType.kInteger] * (pairs + cells)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=lp.num_row_))]).astype(
        np.int32
    )
    lp.a_matrix_.index_, lp.a_matrix_.value_ = column[order].astype(np.int32), value[order]
    highs: Any = highspy.Highs()
    wanted = {
        "output_flag": False,
        "threads": 1,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.99,
        "time_limit": limit,
    }
    for name, setting in wanted.items():
        highs.setOptionValue(name, setting)
    highs.passModel(lp)
    begun = time.perf_counter()
    highs.run()
    info = highs.getInfo()
    cost = info.objective_function_value
    gap = (cost - info.mip_dual_bound) / cost if np.isfinite(cost) and cost > 0 else 1.0
    return Plain(time.perf_counter() - begun, gap)


if __name__ == "__main__":
    main()
