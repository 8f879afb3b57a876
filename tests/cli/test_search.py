"""``discreet search`` on eight people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.search.algorithms import ALGORITHMS
from tests.cli.conftest import Run
from tests.cli.test_negotiation_verbs import NODES, suppressed
from tests.drawing import in_turn

EVERY = [name for name in ALGORITHMS if name not in ("samarati", "optimal", "anytime")]


def solutions(k: int, l: int, limit: int) -> list[dict[str, Any]]:
    """Enumerate the solutions in the JSON form of the contract."""
    found = {node: suppressed(*node, k, l) for node in NODES if suppressed(*node, k, l) <= limit}
    below = {(a, c): [(a - 1, c), (a, c - 1)] for a, c in found}
    return [
        {
            "levels": {"age": a, "city": c},
            "suppressed": rows,
            "minimal": not any(child in found for child in below[a, c]),
            "cost": None,
        }
        for (a, c), rows in found.items()
    ]


@pytest.mark.parametrize(("name", "place"), in_turn(EVERY, ["", "--in-database"]))
def test_search_json_lists_every_solution(name: str, place: str, run: Run, people: Path) -> None:
    options = ["--algorithm", name, "--k", "2", "--l", "2", "--max-suppressed", "2", *place.split()]
    found = run("search", "discreet.toml", *options, "--json")
    assert (found.status, found.err) == (0, "")
    assert found.json["algorithm"] == name
    assert found.json["solutions"] == solutions(2, 2, 2)
    keys = ["algorithm", "solutions", "nodes_checked", "nodes_marked", "scans", "seconds"]
    assert list(found.json)[:6] == keys
    assert ("build_seconds" in found.json) == (name == "incognito-cube")


@pytest.mark.parametrize("name", ["samarati", "optimal"])
def test_one_solution_in_json(name: str, run: Run, people: Path) -> None:
    found = run("search", "discreet.toml", "--algorithm", name, "--k", "3", "--json")
    best = min((a + c, suppressed(a, c, 3), c, a) for a, c in NODES if suppressed(a, c, 3) == 0)
    assert found.status == 0
    (one,) = found.json["solutions"]
    assert one["levels"] == {"age": best[3], "city": best[2]}
    assert one["minimal"] is True


@pytest.mark.parametrize("name", ["samarati", "incognito", "optimal", "anytime"])
def test_no_solution_exits_with_3(name: str, run: Run, people: Path) -> None:
    found = run("search", "discreet.toml", "--algorithm", name, "--k", "9", "--json")
    assert found.status == 3
    assert found.json["solutions"] == []
    text = run("search", "discreet.toml", "--algorithm", name, "--k", "2", "--l", "4")
    assert text.status == 3
    assert text.out.startswith("No solution: no node meets k=2, l=4")


def test_text_lists_minimal_solutions_and_on_request_all(run: Run, people: Path) -> None:
    options = ["--algorithm", "incognito", "--k", "2", "--max-suppressed", "3", "--cost", "height"]
    found = run("search", "discreet.toml", *options)
    assert found.status == 0
    listed = solutions(2, 1, 3)
    minimal = sum(s["minimal"] for s in listed)
    assert found.out.startswith(f"incognito: {len(listed)} solutions for k=2 with at most 3 (37.5%)")
    assert f"{minimal} of them minimal" in found.out
    assert len(run("search", "discreet.toml", *options, "--all").out.splitlines()) > len(
        found.out.splitlines()
    )


def test_optimal_and_anytime_minimize_the_cost_of_the_spec(run: Run, people: Path) -> None:
    spec, options = people / "discreet.toml", ("--k", "2", "--max-suppressed", "3", "--json")

    def least(algorithm: str, *cost: str) -> Any:
        return run("search", "discreet.toml", "--algorithm", algorithm, *options, *cost).json["solutions"]

    ranked = ("--cost", "loss", "--aggregate", "rank")
    expected = {name: least(name, *ranked) for name in ("optimal", "anytime")}
    plain, height = least("optimal", "--cost", "loss"), least("optimal")
    cost = '[request]\ncost = {name = "loss", aggregate = "rank"}\n'
    spec.write_text(spec.read_text("utf-8") + cost, "utf-8")
    assert {name: least(name) for name in ("optimal", "anytime")} == expected
    assert least("optimal", "--aggregate", "geometric-mean") == plain
    assert least("optimal", "--cost", "height") == height
    assert least("incognito")[0]["cost"] is None
    assert isinstance(expected["optimal"][0]["cost"], list)
    assert isinstance(plain[0]["cost"], float)


def test_solutions_are_within_the_level_bounds(run: Run, people: Path) -> None:
    options = ["--algorithm", "bottom-up", "--k", "2", "--max-level", "age=2", "--min-level", "city=1"]
    found = run("search", "discreet.toml", *options, "--marking", "transitive", "--json")
    inside = [(a, c) for a, c in NODES if a <= 2 and c >= 1 and suppressed(a, c, 2) == 0]
    assert [tuple(s["levels"].values()) for s in found.json["solutions"]] == inside


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ("--k 2", "--algorithm samarati"),
        ("--algorithm best --k 2", "samarati, bottom-up"),
        ("--algorithm incognito --k 2 --marking all", "direct, transitive"),
        ("--algorithm anytime --k 2 --time-budget soon", "a number of seconds above 0"),
        ("--algorithm anytime --k 2 --time-budget 0", "a number of seconds above 0"),
        ("--algorithm anytime --k 2 --node-budget few", "a whole number"),
        ("--algorithm incognito-cube --k 2 --cube-budget big", "a number with B"),
        ("--algorithm optimal --k 2 --in-database", "samarati, bottom-up"),
        ("--algorithm incognito", "k, l, or another criterion"),
    ],
)
def test_invalid_search_options_are_refused(options: str, allowed: str, run: Run, people: Path) -> None:
    found = run("search", "discreet.toml", *options.split(), "--json")
    assert found.status == 2
    assert allowed in found.json["error"]["allowed"]
