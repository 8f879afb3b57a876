"""Disk usage of discreet's core, separately for each dependency, in megabytes (10^6 bytes).

The sizes are those of the installed files, including compiled byte code, of every distribution that the core
(no extras) needs. ``--fresh`` creates a new virtual environment and measures that instead of this one.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from benchmarks.harness import ROOT, Benchmark, parser

LARGE, SMALL = 30.0, 0.1


def core_distributions(name: str = "discreet") -> list[metadata.Distribution]:
    """Return the distribution and all its dependencies without extras, by name."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [name]
    while waiting:
        wanted = waiting.pop()
        key = re.sub(r"[-_.]+", "-", wanted).lower()
        if key in found:
            continue
        try:
            found[key] = metadata.distribution(wanted)
        except metadata.PackageNotFoundError:
            continue  # a dependency of another platform or of an extra
        for requirement in found[key].requires or []:
            if "extra ==" not in requirement:
                waiting.append(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0])
    return [found[key] for key in sorted(found)]


def megabytes(distribution: metadata.Distribution) -> float:
    """Return the megabytes of a distribution's installed files."""
    paths = {Path(str(file.locate())).resolve() for file in distribution.files or ()}
    total = 0
    for path in paths:
        cached = (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc") if path.suffix == ".py" else ()
        total += sum(p.stat().st_size for p in {path, *cached} if p.is_file())
    return total / 1e6


def measure() -> dict[str, tuple[str, float]]:
    """Return version and megabytes of every distribution of the core."""
    return {d.metadata["Name"]: (d.version, megabytes(d)) for d in core_distributions()}


def measure_fresh() -> dict[str, tuple[str, float]]:
    """Measure the same in a new virtual environment, created and removed here."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-c", ROOT / "constraints.txt", ROOT], check=True)
        command = [python, "-m", "benchmarks.install_size", "--sizes"]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        return {name: (version, size) for name, version, size in json.loads(done.stdout)}


def main() -> None:
    """Print the sizes, largest first."""
    options = parser(__doc__)
    options.add_argument("--fresh", action="store_true", help="measure a new virtual environment")
    options.add_argument("--sizes", action="store_true", help="the bare sizes of this environment, as JSON")
    chosen = options.parse_args()
    sizes = measure_fresh() if chosen.fresh else measure()
    if chosen.sizes:
        print(json.dumps([[name, version, size] for name, (version, size) in sizes.items()]))
        return
    bench = Benchmark("install_size", "installed size of the core", " --fresh" if chosen.fresh else "")
    for name, (version, size) in sorted(sizes.items(), key=lambda item: -item[1][1]):
        if size >= SMALL:
            mark = ", over 30 MB: justified in the README" if size > LARGE else ""
            bench.fact(f"{name} {version}", f"{size:.1f} MB{mark}")
    bench.state("megabytes in all", sum(size for _, size in sizes.values()))
    bench.report(chosen)


if __name__ == "__main__":
    main()
