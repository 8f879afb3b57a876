"""Recorded benchmarks: a run becomes a line, the latest runs the table, all runs the plot."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.harness import Benchmark
from benchmarks.history import FOLDER, Figure, read, record, table


def benchmark(value: float) -> Benchmark:
    found = Benchmark("lattice", "The lattice", " --large")
    found.record("kernel, one thread", [value, value, value])
    found.record("twin", [1.0])
    found.ratio("kernel, one thread", "twin", at_most=0.5)
    found.state("bytes", 7.0)
    return found


def test_recorded_run_updates_table_and_plot(tmp_path: Path) -> None:
    for value in (0.25, 0.75):
        record(benchmark(value).as_run(), tmp_path)
    first, last = read(tmp_path)
    assert first.medians == {"kernel, one thread": "250 ms", "twin": "1 s"}
    assert first.figures[0] == Figure("kernel, one thread / twin", "0.25", "at most 0.5", "met")
    assert (first.figures[0].share, last.figures[0].share, last.figures[1].share) == (0.5, 1.5, None)
    text = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "0 met, 1 missed" in text
    assert "| `lattice --large` | kernel, one thread / twin | 0.75 | at most 0.5 | **missed** |" in text
    assert "0.25" not in text
    assert "| `lattice --large` | bytes | 7 |" in text
    ElementTree.fromstring((tmp_path / "history.svg").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("goal", "value", "share"), [("at most 4", "2", 0.5), ("at least 4", "2", 2.0)])
def test_share_above_one_marks_a_missed_goal(goal: str, value: str, share: float) -> None:
    assert Figure("x", value, goal).share == share


def test_results_page_equals_the_table_of_the_history() -> None:
    runs = read()
    text = (FOLDER / "RESULTS.md").read_text(encoding="utf-8")
    assert text == table(runs)
    assert max(map(len, text.splitlines())) < 200
    for run in runs:
        for figure in run.figures:
            if figure.share is not None:
                assert (figure.verdict == "missed") == (figure.share > 1)
