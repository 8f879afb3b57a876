"""``discreet negotiate --model local``: answers, relaxations, bounds, and incompatible options."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_exact_answer_in_json(run: Run, people: Path) -> None:
    done = run("negotiate", people / "discreet.toml", "--k", 2, "--model", "local", "--bound", "--json")
    assert done.status == 0
    document = done.json
    assert document["outcome"] == "exact"
    assert document["model"] == "cell-generalization"
    (answer,) = document["answers"]
    assert answer["relaxed"] is None
    assert answer["suppressed"] == 0
    assert 0 < answer["granularity"] <= answer["bound"] <= 1
    assert answer["gap"] >= 0


def test_relaxations_in_text(run: Run, people: Path) -> None:
    done = run(
        "negotiate",
        people / "discreet.toml",
        "--k",
        3,
        "--max-level",
        "age=0",
        "--max-level",
        "city=0",
        "--model",
        "local",
    )
    assert done.status == 3
    assert "No exact answer for k=3 by local recoding" in done.out
    assert "granularity kept" in done.out


def test_exact_answer_suggests_its_publication(run: Run, people: Path) -> None:
    done = run("negotiate", people / "discreet.toml", "--k", 2, "--model", "local", "--effort", 1)
    assert done.status == 0
    assert "discreet publish" in done.out
    assert "--model local --k 2 --effort 1 --output release.csv" in done.out


def test_options_of_the_other_kind_of_answer_are_refused(run: Run, people: Path) -> None:
    for options in (
        ("--model", "local", "--frontier"),
        ("--model", "local", "--partial", "5%"),
        ("--effort", 1),
        ("--bound",),
        ("--model", "mondrian"),
    ):
        assert run("negotiate", people / "discreet.toml", "--k", 2, *options).status == 2
