"""Memory estimates before work begins, divided by the memory that it takes, at several sizes.

Each case is a separate process. The table is counted, and the step run once, to load its code; only the peak
of the second run counts (Linux lets a process reset its peak). The estimate is the value that is compared
with ``--memory-limit`` if the upper bound of the step exceeds the limit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.harness import Benchmark, in_child, parser, peak_memory

SIZES: dict[str, tuple[tables.Table, tuple[int, ...]]] = {
    "census": (tables.CENSUS_600K, (60_000, 600_000)),
    "distinct": (tables.DISTINCT_5M, (100_000, 400_000)),
    "postal": (tables.POSTAL_63K, (20_000, 63_441)),
}
MEMORY = 8 * 10**9


@dataclass(frozen=True)
class Told:
    """The estimated and the measured bytes."""

    said: int
    took: int


def measured(step: str, spec_path: Path, threads: int) -> Told:
    """Measure one step on one table."""
    from discreet.engines.connection import connect
    from discreet.frequency.table_scan import count_frequency_set
    from discreet.settings import Settings
    from discreet.spec.spec_reader import load_spec

    settings = replace(Settings.from_environment(threads=threads), memory_limit=MEMORY)
    spec = load_spec(spec_path)
    with connect(settings) as engine:
        table = count_frequency_set(engine, spec, settings)
    return STEPS[step](table, settings)


def _took(work: Callable[[], Any]) -> int:
    """Return the largest growth of the process in bytes while a function runs."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = peak_memory()
    kept = work()
    found = peak_memory() - before
    del kept
    return found


def lattice(table: Any, settings: Any, *, values: bool) -> Told:
    """Evaluate every node for k, or for k and l."""
    from discreet.lattice.evaluation import build_lattice, evaluate_lattice
    from discreet.lattice.resource_estimates import sample_memory

    told = table if values else replace(table, sensitive=())
    said = sample_memory(build_lattice(told), told, len(told.sensitive), settings.threads)
    evaluate_lattice(told, settings, diversity=values, evaluator="kernels")
    return Told(
        said,
        _took(lambda: evaluate_lattice(told, settings, diversity=values, evaluator="kernels")),
    )


STEPS: dict[str, Callable[[Any, Any], Told]] = {
    "lattice, k": lambda table, settings: lattice(table, settings, values=False),
    "lattice, k and l": lambda table, settings: lattice(table, settings, values=True),
}


def main() -> None:
    """Run the steps at each size, and report estimated by measured memory."""
    options = parser(__doc__)
    options.add_argument("--threads", type=int, default=2)
    chosen = options.parse_args()
    # Freed memory returns to the system at once; otherwise reusing it would lower the measured growth.
    os.environ |= {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    os.environ["DISCREET_COMPILE"] = "wait"
    bench = Benchmark("estimates", "memory said before the work, by what the work took")
    for name, (table, sizes) in SIZES.items():
        for rows in sizes:
            spec = tables.make(table, rows=rows)
            for step in STEPS:
                if step == "lattice, k and l" and table.sensitive is None:
                    continue
                case = f"{name}, {rows:,} rows: {step}"
                told = in_child(measured, step, spec, chosen.threads).result
                bench.fact(case, f"said {told.said / 10**6:.1f} MB, took {told.took / 10**6:.1f} MB")
                bench.state(f"{case}: said / took", told.said / max(told.took, 1), at_most=2, at_least=0.5)
    bench.report(chosen)


if __name__ == "__main__":
    main()
