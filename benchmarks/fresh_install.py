"""Cost of installation: the wheel by pip and uv, into a new environment of each Python, core and extras.

Each environment installs the wheel of ``dist`` (``make packages``), loads the packages of the extra, queries
the version four times (the first time without byte code) and, for the core, runs the demonstration.
``--python`` names interpreters; missing ones are reported, and so is an extra that cannot be installed.
Packages come from the sources that pip and uv are configured with.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from benchmarks.harness import ROOT, Benchmark, parser

INSTALLERS = ("pip", "uv")
NO_EXTRAS = ("dev", "packages", "site")
PUBLISH = ("demo", "--quiet", "--output", "demo")
MODULES = {
    "classification": "sklearn",
    "exact": "highspy, networkx",
    "dp": "opendp",
    "postgres": "psycopg",
    "spark": "pyspark, pyarrow, pandas",
    "sklearn": "discreet.sklearn",
    "stats": "pyreadstat, pandas",
    "excel": "openpyxl",
    "delta": "deltalake, pyarrow",
    "mariadb": "pymysql",
    "iceberg": "pyiceberg, pyarrow",
    "web": "fastapi, uvicorn, websockets, discreet.web.server",
}
"""Modules to import after an extra is installed."""


class Failed(Exception):
    """A command that failed; the text is the end of its output."""


def extras() -> tuple[str, ...]:
    """Return the extras that users install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return tuple(name for name in project["optional-dependencies"] if name not in NO_EXTRAS)


def seconds(command: list[str], folder: Path) -> tuple[float, float]:
    """Return wall and processor seconds of one command; ``Failed`` if it does not succeed."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode:
        raise Failed(f"{command[0]} {command[1]} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begin, processor


def megabytes(folder: Path) -> float:
    """Return the megabytes (10^6 bytes) of a folder's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def install(bench: Benchmark, python: str, installer: str, extra: str, wheel: Path) -> None:
    """Install once, start, publish; record seconds and megabytes, or the failure."""
    label = f"{Path(python).name} {installer} {extra or 'core'}"
    with tempfile.TemporaryDirectory() as name:
        try:
            measured(bench, label, python, installer, extra, wheel, Path(name))
        except Failed as error:
            bench.fact(label, str(error))


def measured(
    bench: Benchmark, label: str, python: str, installer: str, extra: str, wheel: Path, folder: Path
) -> None:
    """Install into a folder, and record the cost; ``Failed`` if a step did not succeed."""
    without_pip = ["--without-pip"] * (installer == "uv")
    subprocess.run([python, "-m", "venv", *without_pip, str(folder)], check=True)
    inside = folder / "bin" / "python"
    before = megabytes(folder)
    pip = ["uv", "pip", "install", "--quiet", "--python", str(inside)]
    if installer == "pip":
        pip = [str(inside), "-m", "pip", "install", "--quiet"]
    installed, _ = seconds([*pip, f"{wheel}[{extra}]" if extra else str(wheel)], folder)
    size = megabytes(folder) - before
    if extra:
        seconds([str(inside), "-c", f"import {MODULES[extra]}"], folder)
    command = str(folder / "bin" / "discreet")
    starts = [seconds([command, "--version"], folder) for _ in range(4)]
    warm = min(starts[1:])
    told = (
        f"{size:.0f} MB, installed in {installed:.0f} s, --version {starts[0][0]:.2f} s then {warm[0]:.2f} s"
    )
    if not extra:
        published, processor = seconds([command, *PUBLISH], folder)
        told += f", demo {published:.1f} s ({processor:.1f} s of processor time)"
    bench.fact(label, told)
    bench.state(f"{label}: megabytes", size)
    bench.state(f"{label}: processor seconds of --version", warm[1])
    if not extra:
        bench.record(f"{label}: --version", [wall for wall, _ in starts[1:]], [own for _, own in starts[1:]])


def choices() -> argparse.Namespace:
    """Parse the command line."""
    options = parser(__doc__)
    options.add_argument("--python", action="append", help="an interpreter, in the place of this one")
    options.add_argument("--installer", action="append", choices=INSTALLERS, help="one of pip and uv alone")
    options.add_argument("--extras", action="store_true", help="each extra too, one by one")
    return options.parse_args()


def main() -> None:
    """Install everywhere; report."""
    chosen = choices()
    wheels = sorted((ROOT / "dist").glob("*.whl"))
    if not wheels:
        print("dist has no wheel: make packages builds it; nothing was measured")
        return
    bench = Benchmark("fresh_install", "installing the wheel into new environments")
    this = f"python{sys.version_info.major}.{sys.version_info.minor}"
    asked = ("", *extras()) if chosen.extras else ("",)
    for python in chosen.python or [this]:
        for installer in chosen.installer or INSTALLERS:
            if shutil.which(python) is None:
                bench.fact(f"{python} {installer}", "the interpreter is not here")
            elif installer == "uv" and shutil.which("uv") is None:
                bench.fact(f"{python} uv", "uv is not installed here")
            else:
                for extra in asked:
                    install(bench, python, installer, extra, wheels[-1])
    bench.report(chosen)


if __name__ == "__main__":
    main()
