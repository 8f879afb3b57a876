"""``lattice``, ``negotiate`` and ``inspect`` on eight people, against counts in plain Python."""

from __future__ import annotations

import csv
import io
import itertools
from collections import defaultdict
from pathlib import Path

import pytest

from tests.cli.conftest import PEOPLE, SPEC, Run

CITY = {"Berlin": "B", "Bonn": "B", "Bremen": "North"}
ROWS = list(csv.DictReader(io.StringIO(PEOPLE)))


def age_at(age: int, level: int) -> str:
    width = (1, 10, 20)[level] if level < 3 else 1000
    return str(age // width)


def city_at(city: str, level: int) -> str:
    return (city, CITY[city], "*")[level]


def suppressed(age_level: int, city_level: int, k: int, l: int = 1) -> int:
    classes = defaultdict(list)
    for row in ROWS:
        key = age_at(int(row["age"]), age_level), city_at(row["city"], city_level)
        classes[key].append(row["disease"])
    return sum(len(found) for found in classes.values() if len(found) < k or len(set(found)) < l)


NODES = list(itertools.product(range(4), range(3)))


@pytest.mark.parametrize(
    ("options", "k", "l"),
    [("--k 2", 2, 1), ("--l 2", 1, 2), ("--k 3 --l 2", 3, 2), ("--k 3 --l disease=3", 3, 3)],
)
def test_lattice_in_json_is_every_node_in_mixed_radix_order(
    options: str, k: int, l: int, run: Run, people: Path
) -> None:
    found = run("lattice", "discreet.toml", *options.split(), "--json")
    assert found.status == 0
    assert found.json == {
        "attributes": ["age", "city"],
        "heights": [3, 2],
        "rows": 8,
        "nodes": [[a, c, suppressed(a, c, k, l)] for a, c in NODES],
    }


def test_lattice_in_text(run: Run, people: Path) -> None:
    found = run("lattice", "discreet.toml", "--k", "2", "--all")
    assert found.status == 0
    lines = found.out.splitlines()
    assert lines[0] == "Suppressed rows for k=2: 12 nodes, 8 rows"
    by_height: dict[int, list[int]] = defaultdict(list)
    for a, c in NODES:
        by_height[a + c].append(suppressed(a, c, 2))
    rows = [line.split() for line in lines[4:10]]
    assert [(row[0], row[1], row[2], row[4]) for row in rows] == [
        (str(h), str(len(v)), str(min(v)), str(max(v))) for h, v in sorted(by_height.items())
    ]
    assert "levels: age city" in lines
    (node,) = [line.split() for line in lines if line.split()[:3] == ["3", "1", "2"]]
    assert node[3] == str(suppressed(1, 2, 2))


def test_exact_answer_is_printed(run: Run, people: Path) -> None:
    found = run("negotiate", "discreet.toml", "--k", "3", "--max-suppressed", "1", "--json")
    assert found.status == 0
    best = min((a + c, suppressed(a, c, 3), c, a) for a, c in NODES if suppressed(a, c, 3) <= 1)
    assert found.json == {
        "outcome": "exact",
        "rows": 8,
        "answers": [
            {
                "relaxed": None,
                "levels": {"age": best[3], "city": best[2]},
                "height": best[0],
                "k": 3,
                "l": None,
                "suppressed": best[1],
            }
        ],
        "warnings": [],
    }


def test_relaxations_are_answered_and_printed(run: Run, people: Path) -> None:
    found = run("negotiate", "discreet.toml", "--k", "4", "--max-level", "age=1", "--json")
    assert found.status == 3
    assert found.json["outcome"] == "relaxed"
    by_part = {answer["relaxed"]: answer for answer in found.json["answers"]}
    assert list(by_part) == ["max_suppressed", "height"]
    assert by_part["max_suppressed"]["suppressed"] == suppressed(1, 2, 4)
    assert by_part["height"]["levels"]["age"] > 1
    text = run("negotiate", "discreet.toml", "--k", "4", "--max-level", "age=1")
    assert text.status == 3
    assert "No exact answer for k=4." in text.out
    assert "No solution by relaxing k." in text.out
    assert "(+2)" in text.out
    assert "--accept-relaxation height" in text.out


def test_total_suppression_is_reported(run: Run, people: Path) -> None:
    found = run("negotiate", "discreet.toml", "--k", "9")
    assert found.status == 3
    assert "every row must be suppressed" in found.out
    assert "--accept-relaxation k" in found.out


def test_frontier_and_neighbours_in_json(run: Run, people: Path) -> None:
    found = run(
        "negotiate",
        "discreet.toml",
        "--k",
        "3",
        "--max-suppressed",
        "1",
        "--frontier",
        "--neighbours",
        "--json",
    )
    frontier = found.json["frontier"]
    assert all(set(point) == {"levels", "height", "loss", "suppressed"} for point in frontier)
    assert {(p["levels"]["age"], p["levels"]["city"]): p["suppressed"] for p in frontier} == {
        node: suppressed(*node, 3) for node in [(p["levels"]["age"], p["levels"]["city"]) for p in frontier]
    }
    assert {"age": 0, "city": 0} in [p["levels"] for p in frontier]
    (neighbours,) = found.json["neighbours"]
    assert neighbours["relaxed"] is None
    chosen = found.json["answers"][0]
    for step in neighbours["steps"]:
        levels = {**chosen["levels"], step["attribute"]: chosen["levels"][step["attribute"]] + step["step"]}
        assert step["levels"] == levels
        assert step["suppressed"] == suppressed(levels["age"], levels["city"], 3)
        assert step["suppressed_change"] == step["suppressed"] - chosen["suppressed"]


def test_text_shows_neighbours_frontier_and_the_next_command(run: Run, people: Path) -> None:
    found = run("negotiate", "discreet.toml", "--k", "3", "--max-suppressed", "1", "--frontier")
    assert found.status == 0
    assert "Exact answer: k=3 holds with" in found.out
    assert "one less" in found.out
    assert "Frontier for k=3" in found.out
    assert "  discreet publish discreet.toml --k 3 --max-suppressed 1 --output release.csv" in found.out


def test_suggested_command_is_quoted_for_a_shell(run: Run, people: Path) -> None:
    (people / "my spec.toml").write_text(SPEC.replace("attributes.age", 'attributes."age in = years"'))
    (people / "people.csv").write_text(PEOPLE.replace(",age,", ",age in = years,"))
    found = run("negotiate", "my spec.toml", "--k", "2", "--max-level", "age in = years=3")
    assert found.status == 0
    assert "discreet publish 'my spec.toml' --k 2 --max-level 'age in = years=3'" in found.out


def test_spec_fills_in_options_and_options_take_precedence(run: Run, people: Path) -> None:
    request = '\n[request]\nk = 3\nmax_suppressed = "12.5%"\nscope = "global"\n[request.max_level]\nage = 1\n'
    (people / "discreet.toml").write_text(SPEC + request)
    by_spec = run("negotiate", "discreet.toml", "--json")
    by_options = run(
        "negotiate",
        "discreet.toml",
        "--k",
        "3",
        "--max-suppressed",
        "1",
        "--max-level",
        "age=1",
        "--scope",
        "global",
        "--json",
    )
    assert (by_spec.status, by_spec.json) == (by_options.status, by_options.json)
    wider = run("negotiate", "discreet.toml", "--k", "2", "--max-level", "age=3", "--json")
    assert (wider.status, wider.json["answers"][0]["k"]) == (0, 2)


def test_inspect_counts_rows_and_lists_attributes(run: Run, people: Path) -> None:
    found = run("inspect", "discreet.toml", "--json").json
    assert {
        key: found[key] for key in ("rows", "dropped", "row_types", "unique_rows", "smallest_class", "nodes")
    } == {
        "rows": 8,
        "dropped": 0,
        "row_types": 8,
        "unique_rows": 8,
        "smallest_class": 1,
        "nodes": 12,
    }
    assert found["risk"] == {"highest": 1.0, "mean": 1.0, "unique_share": 1.0}
    assert [(a["name"], a["role"], a.get("values")) for a in found["attributes"]] == [
        ("age", "quasi-identifier", 8),
        ("city", "quasi-identifier", 3),
        ("disease", "sensitive", 3),
        ("name", "identifier", None),
    ]
    assert found["attributes"][1]["unique_by_value"] == 1
    text = run("inspect", "discreet.toml").out
    assert "8 rows, 8 row types" in text
    assert "23 → 20-29 → 20-39 → *" in text
    assert "Sensitive: disease (3 values)." in text
    assert "Identifiers, dropped: name." in text


def test_inspect_warns_of_unlisted_columns_and_missing_hierarchies(run: Run, people: Path) -> None:
    spec = SPEC.replace('[attributes.name]\nrole = "identifier"\n', "").replace(
        'hierarchy = "city.csv"\n', ""
    )
    (people / "discreet.toml").write_text(spec)
    warnings = run("inspect", "discreet.toml", "--json").json["warnings"]
    assert any("never published: name" in warning for warning in warnings)
    assert any("No hierarchy is given for city" in warning for warning in warnings)


def test_request_on_adult_has_the_relaxations_of_the_paper(data_dir: Path, run: Run, tmp_path: Path) -> None:
    """QI6 of the negotiation paper, k=10: 211012 fails; the paper prints 401211 with 285 rows."""
    names = ("age", "education", "marital_status", "occupation", "race", "work_class")
    folder = data_dir / "adult"
    spec = f"[source]\npath = '{folder / 'adult_30162.csv'}'\n" + "".join(
        f"[attributes.{name}]\nrole = 'quasi-identifier'\n"
        f"hierarchy = '{folder / 'hierarchies_negotiation' / f'{name}.csv'}'\n"
        for name in names
    )
    path = tmp_path / "adult.toml"
    path.write_text(spec)
    levels = [f"--max-level={name}={level}" for name, level in zip(names, (2, 1, 1, 0, 1, 2), strict=True)]
    found = run("negotiate", path, "--k", "10", "--max-suppressed", "1%", *levels, "--json")
    assert (found.status, found.err) == (3, "")
    by_part = {answer["relaxed"]: answer for answer in found.json["answers"]}
    assert list(by_part) == ["max_suppressed", "height"]
    assert tuple(by_part["height"]["levels"].values()) == (4, 0, 1, 2, 1, 1)
    assert by_part["height"]["suppressed"] == 285


@pytest.mark.parametrize("number", [2**63, 10**30])
def test_k_beyond_64_bits_is_above_the_rows(number: int, run: Run, people: Path) -> None:
    found = run("negotiate", "discreet.toml", "--k", str(number), "--json")
    assert (found.status, found.json["outcome"]) == (3, "relaxed")
    assert run("publish", "discreet.toml", "--k", str(number), "--output", "r.csv").status == 3


def test_cost_applies_to_the_frontier_and_the_answers(run: Run, people: Path) -> None:
    command = ("negotiate", "discreet.toml", "--k", "3", "--max-suppressed", "3", "--frontier")
    found = run(*command, "--cost", "dm", "--json").json
    assert found["frontier_cost"] == "dm"
    assert all(isinstance(point["cost"], float) for point in found["frontier"])
    ranked = ("--cost", "loss", "--aggregate", "rank")
    assert all(len(p["cost"]) == 2 for p in run(*command, *ranked, "--json").json["frontier"])
    assert "Frontier of loss for k=3" in run(*command, *ranked).out
    spec = people / "discreet.toml"
    spec.write_text(spec.read_text("utf-8") + '[request]\ncost = "dm"\n', "utf-8")
    assert run(*command, "--json").json["frontier"] == found["frontier"]
    bare = run("negotiate", "discreet.toml", "--k", "3", "--cost", "dm", "--json")
    assert "frontier" not in bare.json
    assert "cost" in bare.json["answers"][0]


def test_suppressed_rows_are_listed_by_value(run: Run, people: Path) -> None:
    command = ("negotiate", "discreet.toml", "--k", "2", "--max-suppressed", "40%", "--left-out")
    (found,) = run(*command, "--json").json["left_out"]
    answer = run(*command, "--json").json["answers"][0]
    assert found["suppressed"] == answer["suppressed"] > 0
    text = run(*command).out
    assert found["sentence"] in " ".join(text.split())
    assert "Suppressed: " not in run(*command[:-1]).out
