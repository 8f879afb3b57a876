"""History of recorded runs: a line of ``history.jsonl`` each, the latest in ``RESULTS.md``, and a plot.

``python -m benchmarks.history`` rewrites the table and the plot from the lines; ``--record`` of any benchmark
adds its line first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
_MODULE = "python -m benchmarks."
_HEAD = """# Results

The latest recorded run of each benchmark, written by `make bench BENCH=--record`. A ratio is taken within one
run; times of different machines, and of the same machine on different days, do not compare. Every run, with
the medians that its ratios are made of, is a line of [history.jsonl](history.jsonl).

![Each figure as a share of its goal, by recorded commit](history.svg)
"""


@dataclass(frozen=True)
class Figure:
    """A printed figure; a goal in words such as ``at most 0.5``, and whether it was met."""

    name: str
    value: str
    goal: str | None = None
    verdict: str | None = None

    @property
    def share(self) -> float | None:
        """The figure as a share of its goal, above 1 if it was missed; None without a goal."""
        if self.goal is None:
            return None
        kind, bound = self.goal.rsplit(" ", 1)
        value = float(self.value)
        return value / float(bound) if kind == "at most" else float(bound) / value


@dataclass(frozen=True)
class Run:
    """One recorded run of a benchmark: its figures, and the median of each of its cases with its unit."""

    date: str
    commit: str
    command: str
    figures: tuple[Figure, ...]
    medians: dict[str, str]

    @property
    def name(self) -> str:
        """The benchmark with its arguments."""
        return self.command.removeprefix(_MODULE)


def read(folder: Path = FOLDER) -> list[Run]:
    """Read all recorded runs, the oldest first."""
    found = []
    for line in (folder / "history.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        found.append(Run(**{**entry, "figures": tuple(Figure(**figure) for figure in entry["figures"])}))
    return found


def record(run: Run, folder: Path = FOLDER) -> None:
    """Add a run to the history, and rewrite the table and the plot."""
    with (folder / "history.jsonl").open("a", encoding="utf-8") as history:
        history.write(json.dumps(asdict(run), ensure_ascii=False) + "\n")
    write(folder)


def write(folder: Path = FOLDER) -> None:
    """Write the table and the plot from the history."""
    from benchmarks.history_plot import drawn

    runs = read(folder)
    (folder / "RESULTS.md").write_text(table(runs), encoding="utf-8")
    (folder / "history.svg").write_text(drawn(runs), encoding="utf-8")


def table(runs: Sequence[Run]) -> str:
    """Format the latest run of each benchmark: figures with goals, then those without."""
    latest = list({run.command: run for run in runs}.values())
    with_goals = [(run, figure) for run in latest for figure in run.figures if figure.goal]
    others = [(run, figure) for run in latest for figure in run.figures if not figure.goal]
    missed = sum(figure.verdict == "missed" for _, figure in with_goals)
    lines = [_HEAD, f"## Beside their goals: {len(with_goals) - missed} met, {missed} missed", ""]
    lines += ["| benchmark | figure | value | goal | | date | commit |", "|---|---|--:|---|---|---|---|"]
    for run, figure in with_goals:
        verdict = f"**{figure.verdict}**" if figure.verdict == "missed" else figure.verdict
        facts = f"{figure.value} | {figure.goal} | {verdict} | {run.date} | {run.commit}"
        lines.append(f"| `{run.name}` | {figure.name} | {facts} |")
    lines += ["", "## Without a goal", ""]
    lines += ["| benchmark | figure | value | date | commit |", "|---|---|--:|---|---|"]
    lines += [f"| `{r.name}` | {f.name} | {f.value} | {r.date} | {r.commit} |" for r, f in others]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write()
    sys.exit(0)
