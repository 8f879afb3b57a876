"""Speed-up of Spark from one worker to two: a standalone cluster, one core and one executor per worker.

The same negotiation and publication as in ``benchmarks.engines``, into a folder. The driver and the master
run on the same machine, so two workers gain less here than on separate machines: with two cores the driver's
work takes from the second worker's.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks import engine_spark, engine_table
from benchmarks.engines import ROWS
from benchmarks.harness import Benchmark, Child, Timed, in_child, parser

FALLS_TO = 0.75
"""Largest allowed share of one worker's time that two workers may take."""
_FAST_JAVA = "-XX:TieredStopAtLevel=4"
_BESIDE_EXECUTOR = 100
"""Mebibytes of a worker that its executor does not get."""


def on_cluster(variables: Mapping[str, str], spec: Path, folder: Path, memory: int) -> Timed:
    """Negotiate and publish on the cluster that the variables name."""
    os.environ.update(variables)
    return engine_spark.ours(spec, folder, memory, threads=1)


def measure(workers: int, spec: Path, folder: Path, chosen: argparse.Namespace) -> Child:
    """Measure one run on a new cluster; options undo the tests' small and slow Java settings."""
    from tests.servers.spark_cluster import running_cluster

    memory = chosen.executor_memory
    arguments = (
        f"--executor-memory {memory}m --conf spark.executor.extraJavaOptions={_FAST_JAVA} pyspark-shell"
    )
    with running_cluster(workers, memory=f"{memory + _BESIDE_EXECUTOR}m") as cluster:
        variables = {"PYSPARK_SUBMIT_ARGS": arguments, "JDK_JAVA_OPTIONS": _FAST_JAVA}
        child = in_child(on_cluster, {**cluster.environment, **variables}, spec, folder, chosen.memory)
    print(f"  {workers} of 2 workers: {child.wall:.1f} s", file=sys.stderr, flush=True)
    return child


def main() -> None:
    """Alternate one worker and two."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=ROWS)
    options.add_argument("--memory", type=int, default=2 * 10**9, help="the driver's memory in bytes")
    options.add_argument("--executor-memory", type=int, default=3000, help="an executor's memory in MiB")
    options.add_argument("--folder", type=Path, help="where tables go (default: a temporary folder)")
    options.set_defaults(repeats=2)
    chosen = options.parse_args()
    reason = engine_spark.missing()
    if reason:
        print(f"not measured: {reason}")
        return
    bench = Benchmark("spark_workers", f"negotiate and publish {chosen.rows:,} rows on a Spark cluster")
    names = {1: "one worker", 2: "two workers"}
    with tempfile.TemporaryDirectory(prefix="discreet-bench-", dir=chosen.folder) as made:
        folder = chosen.folder or Path(made)
        data = engine_table.write_rows(folder, chosen.rows)
        spec = engine_table.write_spec(folder, "spark", {"path": str(data), "engine": "spark"})
        runs: dict[int, list[Child]] = {workers: [] for workers in names}
        for _ in range(chosen.repeats):
            for workers in names:
                runs[workers].append(measure(workers, spec, folder, chosen))
    bench.fact("cores for the driver, the master and all workers", len(os.sched_getaffinity(0)))
    for workers, children in runs.items():
        bench.record(names[workers], [child.wall for child in children])
    bench.ratio("two workers", "one worker", at_most=FALLS_TO)
    bench.report(chosen)


if __name__ == "__main__":
    main()
