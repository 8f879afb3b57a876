"""``publish --model patterns --method exact``: the proven optimum, its facts, and what it refuses."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

PUBLISH = ("publish", "discreet.toml", "--output", "release.csv", "--model", "patterns", "--k", "3")


def test_the_optimum_is_published_and_costs_no_more_than_the_greedy(run: Run, people: Path) -> None:
    greedy = run(*PUBLISH, "--json").json["recoding"]["patterns"]
    found = run(*PUBLISH, "--method", "exact", "--json", "--overwrite")
    assert (found.status, found.err) == (0, ""), found
    exact = found.json["recoding"]["patterns"]
    assert exact["method"] == "exact"
    assert greedy["bound"] <= exact["bound"] == exact["cost"] <= greedy["cost"]
    assert run("audit", "release.csv").status == 0
    shown = run(*PUBLISH, "--method", "exact", "--time-limit", "600", "--overwrite")
    assert shown.status == 0
    assert "optimal" in shown.out + shown.err
    assert (greedy["cost"], exact["cost"]) == (9, 9)


def test_all_rows_are_published_where_none_may_be_suppressed(run: Run, people: Path) -> None:
    found = run(*PUBLISH, "--method", "exact", "--max-suppressed", "0", "--json")
    assert (found.json["suppressed"], found.json["recoding"]["patterns"]["cost"]) == (0, 12)


def test_what_the_exact_method_refuses(run: Run, people: Path) -> None:
    assert run(*PUBLISH, "--method", "exact", "--tie", "best").status == 2
    assert run(*PUBLISH, "--method", "greedy", "--time-limit", "3").status == 2
    assert run(*PUBLISH, "--method", "exact", "--time-limit", "0").status == 2
    assert not (people / "release.csv").exists()
