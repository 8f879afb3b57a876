"""Benchmark harness: alternating runs, medians, ratios with their goals, the machine, the report.

A benchmark creates one ``Benchmark``, times its cases with ``alternate`` (A, B, A, B, … so that a disturbance
of the machine affects all), adds ratios, and ends with ``report``. Processor time is reported next to wall
time, because other load on a shared machine affects it less.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.history import Figure, Run, record

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ("numpy", "numba", "duckdb")


@dataclass(frozen=True)
class Timing:
    """Seconds of each run of one case: wall time, and processor time if it is known."""

    wall: tuple[float, ...]
    processor: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median wall time."""
        return statistics.median(self.wall)

    @property
    def best(self) -> float:
        """The smallest wall time."""
        return min(self.wall)


@dataclass(frozen=True)
class Ratio:
    """Ratio of two figures of the same run; ``at_most`` or ``at_least`` is the goal."""

    name: str
    value: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def goal(self) -> str:
        """The goal in words, empty if there is none."""
        if self.at_most is not None:
            return f"at most {self.at_most:g}"
        return "" if self.at_least is None else f"at least {self.at_least:g}"

    @property
    def verdict(self) -> str:
        """``met``, ``missed``, or empty without a goal."""
        if not self.goal:
            return ""
        low = self.at_least is None or self.value >= self.at_least
        high = self.at_most is None or self.value <= self.at_most
        return "met" if low and high else "missed"


@dataclass
class Benchmark:
    """Facts, timings, ratios and lists of names of one benchmark."""

    name: str
    title: str
    arguments: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    timings: dict[str, Timing] = field(default_factory=dict)
    ratios: list[Ratio] = field(default_factory=list)
    lists: dict[str, Sequence[str]] = field(default_factory=dict)

    def fact(self, name: str, value: object) -> None:
        """Record a property of the input: a number of rows, nodes, bytes."""
        self.facts[name] = f"{value:,}" if isinstance(value, int) else str(value)

    def alternate(self, cases: Mapping[str, Callable[[], object]], repeats: int) -> None:
        """Time the cases in turn, ``repeats`` times, after one unmeasured turn."""
        walls: dict[str, list[float]] = {name: [] for name in cases}
        processors: dict[str, list[float]] = {name: [] for name in cases}
        for turn in range(repeats + 1):
            for name, run in cases.items():
                gc.collect()
                processor, wall = time.process_time(), time.perf_counter()
                run()
                wall, processor = time.perf_counter() - wall, time.process_time() - processor
                if turn:
                    walls[name].append(wall)
                    processors[name].append(processor)
        for name in cases:
            self.timings[name] = Timing(tuple(walls[name]), tuple(processors[name]))

    def record(self, name: str, walls: list[float], processors: list[float] | None = None) -> None:
        """Store timings that were measured elsewhere, for example in a child process."""
        self.timings[name] = Timing(tuple(walls), tuple(processors or ()))

    def ratio(
        self, case: str, baseline: str, *, at_most: float | None = None, at_least: float | None = None
    ) -> Ratio:
        """Add the ratio of two cases' medians, with its goal."""
        value = self.timings[case].median / self.timings[baseline].median
        return self.state(f"{case} / {baseline}", value, at_most=at_most, at_least=at_least)

    def state(
        self, name: str, value: float, *, at_most: float | None = None, at_least: float | None = None
    ) -> Ratio:
        """Add any other figure, with its goal."""
        self.ratios.append(Ratio(name, value, at_most, at_least))
        return self.ratios[-1]

    def as_json(self) -> dict[str, Any]:
        """Return the benchmark as one document."""
        return {
            "benchmark": self.name,
            "facts": self.facts,
            "seconds": {
                name: {"median": t.median, "min": t.best, "wall": t.wall, "processor": t.processor}
                for name, t in self.timings.items()
            },
            "ratios": [
                {"name": r.name, "value": r.value, "goal": r.goal or None, "verdict": r.verdict or None}
                for r in self.ratios
            ],
            **({"lists": self.lists} if self.lists else {}),
            "machine": machine(),
        }

    def as_text(self) -> str:
        """Return the benchmark as lines for a terminal."""
        lines = [self.title]
        lines += [f"  {name}: {value}" for name, value in self.facts.items()]
        width = max((len(name) for name in self.timings), default=0)
        for name, t in self.timings.items():
            processor = f"  processor {seconds(statistics.median(t.processor)):>9}" if t.processor else ""
            lines.append(
                f"  {name:<{width}}  median {seconds(t.median):>9}  min {seconds(t.best):>9}"
                f"{processor}  runs {len(t.wall)}"
            )
        for r in self.ratios:
            goal = f"  (goal: {r.goal}: {r.verdict})" if r.goal else ""
            lines.append(f"  {r.name} = {r.value:.4g}{goal}")
        for name, entries in self.lists.items():
            lines += [f"  {name}:", *(f"    {entry}" for entry in entries)]
        return "\n".join([*lines, "  " + ", ".join(f"{k} {v}" for k, v in machine().items())])

    def as_run(self) -> Run:
        """Return the benchmark as a run of the history."""
        return Run(
            date=datetime.now(UTC).date().isoformat(),
            commit=machine()["commit"],
            command=f"python -m benchmarks.{self.name}{self.arguments}",
            figures=tuple(
                Figure(r.name, f"{r.value:.4g}", r.goal or None, r.verdict or None) for r in self.ratios
            ),
            medians={name: seconds(t.median) for name, t in self.timings.items()},
        )

    def report(self, options: argparse.Namespace) -> None:
        """Print the result, and add it to the history if ``--record`` was given."""
        print(json.dumps(self.as_json(), indent=2) if options.json else self.as_text(), flush=True)
        if options.record:
            record(self.as_run())


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options of every benchmark."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    options.add_argument("--record", action="store_true", help="add the run to benchmarks/history.jsonl")
    options.add_argument("--repeats", type=int, default=7, help="runs per case (default 7)")
    return options


def seconds(value: float) -> str:
    """Format seconds in the most readable unit."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} µs"
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def machine() -> dict[str, str]:
    """Describe the machine and the versions."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parts = {
        "cpu": _processor(),
        "cores": str(cores),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    parts |= {name: metadata.version(name) for name in LIBRARIES}
    return {**parts, "commit": _commit()}


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _commit() -> str:
    try:
        command = ["git", "describe", "--always", "--dirty", "--abbrev=9"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


@dataclass(frozen=True)
class Child:
    """Cost of one run in a separate process: seconds, processor seconds, peak memory in bytes."""

    wall: float
    processor: float
    peak: int
    result: Any


def in_child(run: Callable[..., Any], *arguments: object) -> Child:
    """Run a module-level function in a fresh process; its result must be small and picklable."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, run, arguments))
    process.start()
    theirs.close()
    try:
        child: Child = ours.recv()
    except EOFError:
        process.join()
        raise RuntimeError(f"{run.__name__} ended with status {process.exitcode}") from None
    process.join()
    return child


def _child(pipe: Connection, run: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    processor, wall = time.process_time(), time.perf_counter()
    result = run(*arguments)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    if isinstance(result, Timed):
        wall, processor, result = result.wall, result.processor, result.result
    pipe.send(Child(wall, processor, peak_memory(), result))
    pipe.close()


@dataclass(frozen=True)
class Timed:
    """Result of a child that times only a part of its work."""

    wall: float
    processor: float
    result: Any


@dataclass(frozen=True)
class Written:
    """Number of rows that a child wrote, and the peak memory in bytes of the process that did the work."""

    rows: int
    peak: int | None = None


def timed(run: Callable[[], Any]) -> Timed:
    """Time one call."""
    processor, wall = time.process_time(), time.perf_counter()
    result = run()
    return Timed(time.perf_counter() - wall, time.process_time() - processor, result)


def peak_memory(process: int | None = None) -> int:
    """Return the peak resident memory of this process, or of another on Linux, in bytes.

    Linux reports it for this program only (``VmHWM``); ``ru_maxrss`` would include the parent's peak.
    """
    try:
        for line in Path(f"/proc/{process or 'self'}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) * (1 if sys.platform == "darwin" else 1024)
