"""``negotiate`` on partial lattices, requested or as the fallback, and giving up an attribute."""

from __future__ import annotations

import csv
import random
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run

REQUEST = ("negotiate", "discreet.toml", "--k", "3", "--max-suppressed", "1")
WIDE = 14


@pytest.fixture
def wide(people: Path) -> Path:
    """Write 60 rows with 14 quasi-identifiers of height 4, a lattice of six thousand million nodes."""
    chance = random.Random(5)
    names = [f"q{i}" for i in range(WIDE)]
    with (people / "wide.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "disease"])
        for _ in range(60):
            base = chance.randrange(8)
            cells = [min(base + chance.randrange(3), 9) if i < 4 else base // 4 for i in range(WIDE)]
            writer.writerow([*cells, chance.choice(["flu", "cold", "gout"])])
    spec = '[source]\npath = "wide.csv"\n[attributes.disease]\nrole = "sensitive"\n' + "".join(
        f"[attributes.{name}]\nrole = 'quasi-identifier'\n"
        "hierarchy = {kind = 'intervals', widths = [2, 4, 8]}\n"
        for name in names
    )
    (people / "wide.toml").write_text(spec, encoding="utf-8")
    return people


def test_partial_lattice_of_all_nodes_answers_like_the_full_lattice(run: Run, people: Path) -> None:
    whole, partial = run(*REQUEST, "--json"), run(*REQUEST, "--partial", "100%", "--json")
    assert (whole.status, partial.status) == (0, 0)
    assert set(whole.json) == {"outcome", "rows", "answers", "warnings"}
    document = partial.json
    assert {key: document[key] for key in whole.json} == whole.json
    assert document["lattice"] == "partial"
    assert (document["partial"]["nodes"], document["partial"]["of"]) == (12, 12)
    assert document["partial"]["metric"] == "lambda"
    assert set(document["partial"]["seconds"]) == {"level_statistics", "node_scores", "histograms"}
    assert document["bound"]["heights"] == [document["answers"][0]["height"]]


def test_proven_bounds_are_printed(run: Run, people: Path) -> None:
    options = ("--max-level", "age=0", "--partial", "10%", "--metric", "gamma-mu")
    found = run(*REQUEST, *options)
    assert found.status == 3
    text = " ".join(found.out.split())
    assert "Answered from a partial lattice: 6 nodes of 12 (50.0%, ranked by gamma-mu)" in text
    assert "must be suppressed within the levels, so there is no exact answer." in text
    assert text.index("Proven: ") < text.index("Each column below relaxes one part of the request:")
    assert "With one attribute at its top, k=3:" in text
    without = run(*REQUEST, *options, "--no-runtime", "--json").json
    assert without["partial"]["runtime"] is False
    assert without["bound"]["suppressed"] <= without["answers"][0]["suppressed"]


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        (("--partial", "0%"), "percentage 0%"),
        (("--partial", "5"), "percentage 5"),
        (("--partial", "5%", "--metric", "best"), "metric 'best'"),
        (("--metric", "mu"), "--metric without --partial"),
        (("--no-runtime",), "--no-runtime without --partial"),
        (("--partial", "5%", "--frontier"), "--frontier cannot be combined with --partial"),
    ],
)
def test_options_of_partial_lattices_are_checked(
    options: tuple[str, ...], fact: str, run: Run, people: Path
) -> None:
    found = run(*REQUEST, *options)
    assert found.status == 2
    assert f"Error: {fact}" in found.err


def test_answers_with_one_attribute_at_its_top(run: Run, people: Path) -> None:
    """At age 0 all classes but Ada's fail k=3 at every level of city; without age, city 2 is one class."""
    relaxed = run(*REQUEST, "--max-level", "age=0", "--attributes", "--json")
    assert relaxed.status == 3
    age, city = relaxed.json["attributes"]
    assert (age["attribute"], age["exact"], age["levels"]["age"]) == ("age", True, 3)
    assert age["height"] == age["height_without"] + 3
    assert age["suppressed"] <= 1
    assert (city["attribute"], city["exact"], city["levels"]) == ("city", False, {"age": 0, "city": 2})
    assert "attributes" not in run(*REQUEST, "--max-level", "age=0", "--json").json
    text = run(*REQUEST, "--max-level", "age=0").out
    assert "With one attribute at its top, k=3:" in text
    assert "no change" in text
    assert "With one attribute" not in run(*REQUEST).out
    assert "With one attribute" in run(*REQUEST, "--attributes").out


def test_lattice_too_large_to_evaluate_is_answered_partially(run: Run, wide: Path) -> None:
    command = ("negotiate", "wide.toml", "--k", "3", "--l", "2", "--max-suppressed", "10%")
    found = run(*command, "--json")
    assert found.status == 0
    assert "the lattice has 6,103,515,625 nodes" in found.err
    assert "A partial lattice answers instead." in found.err
    document = found.json
    assert document["lattice"] == "partial"
    assert document["partial"]["of"] == 5**WIDE
    (answer,) = document["answers"]
    (least,) = document["bound"]["heights"]
    assert 0 < least <= answer["height"]
    assert answer["suppressed"] <= 6
    assert run(*command, "--json").json["answers"] == document["answers"]


def test_suggested_command_publishes_the_partial_answer(run: Run, wide: Path) -> None:
    found = run("negotiate", "wide.toml", "--k", "3", "--max-suppressed", "10%", "--max-level", "q0=3")
    assert found.status == 0
    (command,) = [line for line in found.out.splitlines() if line.startswith("  discreet publish")]
    published = run(*shlex.split(command)[1:], "--json")
    assert published.status == 0, published.err
    assert published.json["k"] == 3
    assert run("audit", "release.csv").status == 0


def test_missing_exact_answer_of_a_large_lattice_is_proven(run: Run, wide: Path) -> None:
    levels = [f"--max-level=q{i}={1 if i < 4 else 0}" for i in range(WIDE)]
    found = run("negotiate", "wide.toml", "--k", "3", "--max-suppressed", "10%", *levels, "--json")
    assert found.status == 3
    document = found.json
    fewest = document["answers"][0]
    assert (fewest["relaxed"], fewest["height"]) == ("max_suppressed", 4)
    assert document["bound"]["suppressed"] == fewest["suppressed"] > 6
    assert "height" in [answer["relaxed"] for answer in document["answers"]]
