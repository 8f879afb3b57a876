"""Run of all benchmarks, one process each, in sequence; options such as ``--record`` are passed to each.

``python -m benchmarks --only lattice startup`` runs some.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

RUNS = (
    ("install_size",),
    ("fresh_install",),
    ("startup",),
    ("journeys",),
    ("lattice",),
    ("criteria",),
    ("group_by_nodes",),
    ("negotiation",),
    ("partial",),
    ("optimal",),
    ("anytime",),
    ("search",),
    ("mondrian",),
    ("local", "--large"),
    ("patterns",),
    ("patterns_exact", "--repeats", "3"),
    ("permutation",),
    ("permuted",),
    ("query_rewriting", "--repeats", "5"),
    ("workload",),
    ("suda", "--repeats", "3"),
    ("subjects", "--repeats", "3"),
    ("linkage_errors", "--repeats", "2"),
    ("written",),
    ("workbench",),
    ("audited_600k",),
    ("pipeline_600k",),
    ("engines", "--only", "duckdb", "spark", "--repeats", "3"),
    ("engines", "--only", "postgres", "--rows", "4000000", "--repeats", "3"),
    ("engines", "--only", "spark", "--rows", "2000000", "--repeats", "3"),
    ("engines", "--large", "--repeats", "3"),
    ("spark_workers", "--repeats", "2"),
    ("scale", "--rows", "200000"),
    ("wide",),
    ("wide_keys", "--repeats", "3"),
    ("estimates",),
    ("memory", "--rows", "1000000"),
    ("base_step", "--repeats", "3"),
    ("base_step", "--table", "distinct_5m", "--repeats", "2"),
)


def main() -> int:
    """Run them; return 1 if one did not finish."""
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--only", nargs="+", default=[], help="names of benchmarks")
    chosen, handed = options.parse_known_args()
    failed = []
    start = time.perf_counter()
    for name, *arguments in RUNS:
        if chosen.only and name not in chosen.only:
            continue
        command = [sys.executable, "-m", f"benchmarks.{name}", *arguments, *handed]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
        print(flush=True)
    print(f"{time.perf_counter() - start:.0f} s in all", *(f"did not finish: {name}" for name in failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
