"""Start-up time: ``import discreet``, and ``discreet negotiate`` on Adult as a fresh process.

``cached`` finds the compiled kernels on disk; ``first`` has an empty cache, as right after installation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.adult import write_spec
from benchmarks.harness import Benchmark, parser

IMPORT = "import time; s = time.perf_counter(); import {0}; print(time.perf_counter() - s)"
PATIENCE = 90.0
REQUEST = ("--k", "10", "--max-suppressed", "1%", "--json")


def import_seconds(module: str) -> float:
    """Return the seconds of importing a module in a fresh interpreter."""
    command = [sys.executable, "-c", IMPORT.format(module)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def negotiate(spec: Path, cache: Path, compile_kernels: str = "background") -> tuple[float, str]:
    """Return the seconds of one ``discreet negotiate`` as a fresh process, and its stderr."""
    command = [str(Path(sys.executable).parent / "discreet"), "negotiate", str(spec), *REQUEST]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "DISCREET_COMPILE": compile_kernels}
    # A user's Python caches byte code; with this variable each start would compile it again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    spent = time.perf_counter() - start
    if done.returncode not in {0, 3}:
        raise SystemExit(f"discreet negotiate ended with status {done.returncode}: {done.stderr}")
    return spent, done.stderr


def first_run(spec: Path, cache: Path) -> tuple[float, str, float]:
    """Return seconds and stderr of a run without compiled kernels, and seconds until they are compiled."""
    start = time.perf_counter()
    spent, said = negotiate(spec, cache)
    words = said
    while "compile" in words and time.perf_counter() - start < PATIENCE:
        time.sleep(1)
        _, words = negotiate(spec, cache)
    return spent, said, time.perf_counter() - start


def main() -> None:
    """Time imports, cached runs and first runs; report."""
    options = parser(__doc__)
    options.add_argument("--sensitive", default="", help="a sensitive attribute, to count for l as well")
    chosen = options.parse_args()
    bench = Benchmark("startup", "fresh processes: import discreet, discreet negotiate on Adult")
    for module in ("discreet", "numpy"):
        bench.record(f"import {module}", [import_seconds(module) for _ in range(chosen.repeats)])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = write_spec(folder, *([chosen.sensitive] if chosen.sensitive else []))
        waited, _ = negotiate(spec, folder / "cached", "wait")
        cached = [negotiate(spec, folder / "cached")[0] for _ in range(chosen.repeats)]
        first = [first_run(spec, folder / f"first{i}") for i in range(2)]
    bench.record("negotiate, kernels cached", cached)
    bench.record("negotiate, first run", [spent for spent, _, _ in first])
    bench.record("negotiate, first run that waits for the compiler", [waited])
    bench.record("until the kernels are compiled in the background", [ready for _, _, ready in first])
    bench.fact("the first run said", " / ".join(first[0][1].split("\n")).strip(" /") or "nothing")
    bench.state("import discreet in s", bench.timings["import discreet"].median, at_most=0.3)
    bench.state("cached run in s", bench.timings["negotiate, kernels cached"].median, at_most=0.6)
    bench.state("first run in s", bench.timings["negotiate, first run"].median, at_most=6.0)
    bench.ratio("negotiate, kernels cached", "import numpy")
    bench.report(chosen)


if __name__ == "__main__":
    main()
