"""What installing takes: the wheel by pip and uv, into a new environment of each Python, core and extras.

Each environment installs the wheel of ``dist`` (``make packages``), asks for the version four times (the
first time nothing is compiled to byte code) and runs the demonstration. ``--python`` names further
interpreters; those that are not found are said. Packages come from where pip and uv are set to take them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from benchmarks.harness import ROOT, Benchmark, parser

NO_EXTRAS = ("dev", "packages")
PUBLISH = ("demo", "--quiet", "--output", "demo")


def extras() -> tuple[str, ...]:
    """The extras that users install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return tuple(name for name in project["optional-dependencies"] if name not in NO_EXTRAS)


def seconds(command: list[str], folder: Path) -> float:
    """Seconds of one command, which must succeed."""
    begin = time.perf_counter()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return time.perf_counter() - begin


def megabytes(folder: Path) -> float:
    """Megabytes (10^6 bytes) of a folder's files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def install(bench: Benchmark, python: str, installer: str, extra: str, wheel: Path) -> None:
    """Install once, start, publish; note seconds and megabytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([python, "-m", "venv", *(["--without-pip"] * (installer == "uv")), name], check=True)
        inside = folder / "bin" / "python"
        before = megabytes(folder)
        pip = ["uv", "pip", "install", "--quiet", "--python", str(inside)]
        if installer == "pip":
            pip = [str(inside), "-m", "pip", "install", "--quiet"]
        what = f"{wheel}[{extra}]" if extra else str(wheel)
        installed = seconds([*pip, what], folder)
        size = megabytes(folder) - before
        command = str(folder / "bin" / "discreet")
        starts = [seconds([command, "--version"], folder) for _ in range(4)]
        published = seconds([command, *PUBLISH], folder)
    label = f"{Path(python).name} {installer} {extra or 'core'}"
    started = f"--version {starts[0]:.2f} s then {min(starts[1:]):.2f} s"
    bench.fact(label, f"{size:.0f} MB, installed in {installed:.0f} s, {started}, demo {published:.1f} s")
    if not extra:
        bench.state(f"{label}: megabytes", size)
        bench.record(f"{label}: --version", starts[1:])


def choices() -> argparse.Namespace:
    """What was asked on the command line."""
    options = parser(__doc__)
    options.add_argument("--python", action="append", default=[], help="a further interpreter")
    options.add_argument("--extras", action="store_true", help="each extra too, by pip in this Python")
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
    for python in (this, *chosen.python):
        if shutil.which(python) is None:
            bench.fact(python, "not found here")
            continue
        for installer in ("pip", "uv"):
            if installer == "uv" and shutil.which("uv") is None:
                bench.fact(f"{python} uv", "uv is not installed here")
            else:
                install(bench, python, installer, "", wheels[-1])
    for extra in extras() if chosen.extras else ():
        install(bench, this, "pip", extra, wheels[-1])
    bench.report(chosen)


if __name__ == "__main__":
    main()
