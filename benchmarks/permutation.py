"""Partitions for (k,e): the least sum on ten million values, the exact least maximum, widths of age queries.

The least sum, including sorting, against numpy's own sort of the same values: 62-bit integers, amounts in
cents of a lognormal distribution, and a hundred distinct values, whose sort is short. The exact least maximum
of Adult's 1,427 capital losses, compiled and in plain Python, and of columns with more and more distinct
values. Then the widths of the bounds of averages over windows of ages, by partition.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from benchmarks.adult import data_folder
from benchmarks.harness import Benchmark, parser
from discreet.model.release_kind import GroupPartition, GroupRequirement, SensitiveColumn
from discreet.model.request import Backend
from discreet.permutation.optimal_partitions import GroupNeed, PartitionLoops, sorted_cuts
from discreet.permutation.partitions import partition_rows
from papers.aggregate_bounds import GroupedNumbers, bound_permuted

ROWS = 10_000_000
K = 10
WINDOW = 5
Whole = NDArray[np.int64]


def column_of(values: Whole) -> SensitiveColumn:
    """Generate a sensitive column of integers."""
    numbers, codes = np.unique(values, return_inverse=True)
    return SensitiveColumn("value", codes, len(numbers), numbers)


def losses() -> tuple[SensitiveColumn, Whole]:
    """Return Adult's capital losses above 0, with the ages."""
    with (data_folder() / "adult" / "adult_30162.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["capital_loss"] != "0"]
    ages = np.array([int(row["age"]) for row in rows])
    return column_of(np.array([int(row["capital_loss"]) for row in rows])), ages


def on_sorted(bench: Benchmark, rows: int, repeats: int) -> None:
    """Time sorting, and sorting with cutting, of columns of several shapes."""
    random = np.random.default_rng(1)
    loops = PartitionLoops(True)
    columns: dict[str, tuple[Whole, int]] = {
        "62 bits": (random.integers(0, 2**62, rows), 0),
        "cents": (np.floor(random.lognormal(10, 1, rows) * 100).astype(np.int64), 0),
        "cents, e = 1,000.00": (np.floor(random.lognormal(10, 1, rows) * 100).astype(np.int64), 100_000),
        "100 values": (random.integers(0, 100, rows), 0),
    }
    bench.fact("values", rows)
    for name, (values, e) in columns.items():

        def cut(values: Whole = values, e: int = e) -> int:
            ordered = np.sort(values)
            ordered -= ordered[0]
            return len(sorted_cuts(ordered, GroupNeed(K, e, K, e), loops)) + 1

        bench.fact(f"groups of least sum, {name}", cut())
        bench.alternate(
            {f"sort, {name}": lambda v=values: np.sort(v), f"sort and cut, {name}": cut},  # type: ignore[misc]
            repeats,
        )
        bench.ratio(f"sort and cut, {name}", f"sort, {name}", at_most=None if name == "100 values" else 2.0)


def on_maxima(bench: Benchmark, column: SensitiveColumn, repeats: int) -> None:
    """Time the exact least maximum."""

    def case(column: SensitiveColumn, e: int, how: Backend) -> Callable[[], GroupPartition]:
        requirement = GroupRequirement(5, Decimal(e))
        return lambda: partition_rows(column, requirement, "min-max", evaluator=how)

    cases = {
        "least maximum, Adult": case(column, 500, Backend.KERNELS),
        "least maximum, Adult, plain Python": case(column, 500, Backend.TWIN),
    }
    bench.fact("rows with a loss", column.rows)
    bench.fact("least maximum error, Adult, k=5, e=500", str(cases["least maximum, Adult"]().error))
    bench.alternate(cases, repeats)
    for name in cases:
        bench.state(f"seconds, {name}", bench.timings[name].median, at_most=1.0)
    random = np.random.default_rng(2)
    for distinct in (1_000, 10_000, 100_000):
        many = column_of(random.integers(0, distinct * 20, distinct))
        name = f"least maximum, {many.distinct:,} values"
        bench.alternate({name: case(many, 100, Backend.KERNELS)}, 1)
        bench.state(f"seconds, {name}", bench.timings[name].median)


def on_widths(bench: Benchmark, column: SensitiveColumn, ages: Whole) -> None:
    """Compute the mean relative width of AVG over windows of five years of age, k=5 and e=500."""
    starts = np.arange(ages.min(), ages.max() - WINDOW + 2)
    chosen = (ages >= starts[:, None]) & (ages < starts[:, None] + WINDOW)
    chosen = chosen[chosen.any(axis=1)]
    assert column.numbers is not None
    amounts = column.numbers[column.codes]
    truth = np.array([amounts[rows].mean() for rows in chosen])
    widths = {}
    for strategy in ("min-sum", "weighted-min-sum", "min-max", "random", "qi-aware"):
        found = partition_rows(
            column, GroupRequirement(5, Decimal(500)), strategy, quasi_identifiers=ages[:, None]
        )
        values = GroupedNumbers.of(column, found.groups, found.group_count)
        bounds = bound_permuted(values, values.hits(chosen))
        widths[strategy] = float(((bounds.avg_upper - bounds.avg_lower) / truth).mean())
        bench.fact(f"groups, {strategy}", found.group_count)
        bench.fact(f"mean width of AVG / AVG, {strategy}", f"{widths[strategy]:.4f}")
    bench.state("width, qi-aware / min-sum", widths["qi-aware"] / widths["min-sum"], at_most=0.6)


def main() -> None:
    """Time the partitions and report."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=ROWS, help="values to sort")
    chosen = options.parse_args()
    bench = Benchmark("permutation", "Partitions for (k,e)")
    column, ages = losses()
    on_sorted(bench, chosen.rows, min(chosen.repeats, 5))
    on_maxima(bench, column, chosen.repeats)
    on_widths(bench, column, ages)
    bench.report(chosen)


if __name__ == "__main__":
    main()
