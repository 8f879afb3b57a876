"""``publish --model patterns``: masks by options and by file, the manifest's counts, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.models import Patterns
from discreet.verbs.table import open as open_table
from tests.cli.conftest import Run

PUBLISH = ("publish", "discreet.toml", "--output", "release.csv", "--model", "patterns", "--k", "3", "--json")


def test_release_by_patterns_is_audited_and_counted_in_the_manifest(run: Run, people: Path) -> None:
    found = run(*PUBLISH)
    assert (found.status, found.err) == (0, ""), found
    assert found.json["model"] == "cell-suppression"
    guidance = found.json["recoding"]["patterns"]
    assert guidance["allowed"] == 4
    assert guidance["bound"] <= guidance["cost"]
    manifest = json.loads((people / "release.csv.manifest.json").read_text())
    assert manifest["recoding"]["patterns"] == guidance["used"]
    assert sum(used["rows"] for used in guidance["used"]) + found.json["suppressed"] == 8
    assert run("audit", "release.csv").status == 0
    for row in (people / "release.csv").read_text().splitlines()[1:]:
        age, city, _ = row.split(",")
        assert (age == "*") or age.isdecimal()
        assert city in {"*", "Berlin", "Bonn", "Bremen"}


def test_constraints_determine_starred_cells(run: Run, people: Path) -> None:
    found = run(*PUBLISH, "--keep", "city", "--always-generalize", "age", "--outliers", "delete")
    assert found.json["recoding"]["patterns"]["used"] == [{"pattern": "*.", "classes": 2, "rows": 7}]
    assert found.json["suppressed"] == 1
    found = run(*PUBLISH, "--generalize-together", "age,city", "--overwrite")
    assert [used["pattern"] for used in found.json["recoding"]["patterns"]["used"]] == ["**"]
    found = run(*PUBLISH, "--max-stars", "0", "--overwrite")
    assert found.json["recoding"]["patterns"]["allowed"] == 2
    found = run(*PUBLISH, "--exclusive", "age,city", "--tie", "best", "--overwrite")
    assert found.json["recoding"]["patterns"]["allowed"] == 4


@pytest.mark.parametrize("words", [("age,city",), ("age, city",), ("age", "city")])
def test_names_are_split_at_commas_or_repeated(words: tuple[str, ...], run: Run, people: Path) -> None:
    """All options split names in the same way; ``--keep age,city`` was refused as one attribute."""
    for option, pattern in (("--keep", ".."), ("--always-generalize", "**")):
        options = [word for name in words for word in (option, name)]
        found = run(*PUBLISH, *options, "--overwrite")
        assert found.status == 0, found
        shown = {used["pattern"] for used in found.json["recoding"]["patterns"]["used"]}
        assert shown <= {pattern, "**"}
        assert found.json["recoding"]["patterns"]["allowed"] <= 2


def test_cells_by_levels_and_patterns_by_vectors_are_published(run: Run, people: Path) -> None:
    found = run(*PUBLISH, "--cells", "levels", "--cost", "loss")
    assert found.json["model"] == "cell-generalization"
    found = run(*PUBLISH, "--pattern", "11", "--pattern", "2*", "--overwrite")
    assert found.status == 0
    assert {used["pattern"] for used in found.json["recoding"]["patterns"]["used"]} <= {"11", "2*", "**"}


def test_patterns_file_is_read_and_options_take_precedence(run: Run, people: Path) -> None:
    (people / "mask.toml").write_text('keep = ["city"]\noutliers = "error"\n[weights]\nage = 2\n')
    found = run(*PUBLISH, "--patterns", "mask.toml", "--outliers", "delete")
    assert found.status == 0
    guidance = found.json["recoding"]["patterns"]
    assert (guidance["allowed"], guidance["outliers"]) == (2, "delete")
    assert guidance["cost"] == 7 * 2 + (2 + 1)


def test_text_lists_the_patterns(run: Run, people: Path) -> None:
    found = run(*[word for word in PUBLISH if word != "--json"])
    assert "no recoding costs less than" in found.out
    assert "pattern *." in found.out
    assert "tie order" in found.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--pattern", "."), "has 1 entries for 2"),
        (("--pattern", ".*", "--keep", "age"), "pattern vectors cannot be combined with 'keep'"),
        (("--keep", "age", "--always-generalize", "age"), "contradict each other"),
        (("--keep", "name"), "'name', which is not a quasi-identifier"),
        (("--keep", "age,"), "--keep age,"),
        (("--generalize-together", "age"), "--generalize-together age"),
        (("--max-stars", "x"), "--max-stars x"),
        (("--tie", "worst"), "tie 'worst'"),
        (("--cells", "all"), "cells 'all'"),
        (("--cost", "height"), "cost 'height' of the patterns model"),
        (("--outliers", "drop"), "outliers 'drop'"),
        (("--method", "magic"), "method 'magic'"),
        (("--time-limit", "5"), "'time-limit' does not apply"),
        (("--method", "exact", "--tie", "best"), "'tie' does not apply"),
        (("--method", "exact", "--time-limit", "0"), "time limit"),
        (("--seed", "5"), "'seed' does not apply to the patterns model"),
        (("--max-level", "age=1"), "a highest level does not apply to the patterns model"),
        (("--patterns", "none.toml"), "none.toml cannot be read"),
        (("--patterns", "bad.toml"), "bad.toml: unknown key 'max_star'"),
        (("--patterns", "weights.toml"), "weights"),
    ],
)
def test_bad_input_is_refused(options: tuple[str, ...], message: str, run: Run, people: Path) -> None:
    (people / "bad.toml").write_text("max_star = 2\n")
    (people / "weights.toml").write_text("[weights]\nage = -1\n")
    found = run(*PUBLISH, *options)
    assert (found.status, found.json["error"]["kind"]) == (2, "bad-input"), found
    assert message in found.json["error"]["message"]
    assert not (people / "release.csv").exists()


def test_rows_that_fit_no_pattern_without_a_policy_are_no_solution(run: Run, people: Path) -> None:
    for options in (("--outliers", "error"), ("--outliers", "delete", "--max-suppressed", "0")):
        found = run(*PUBLISH, "--pattern", "*.", *options)
        assert (found.status, found.json["error"]["kind"]) == (3, "no-solution")
        assert "1 of 8 rows fit no pattern" in found.json["error"]["message"]
        assert not (people / "release.csv").exists()


def test_python_accepts_a_predicate_and_weights(people: Path) -> None:
    table = open_table(people / "discreet.toml")
    result = table.recode(Patterns(custom=lambda pattern: not pattern.starred[1], weights={"age": 3}), k=3)
    guidance = result.as_json()["patterns"]
    assert {used["pattern"] for used in guidance["used"]} <= {"..", "*.", "**"}
    assert guidance["cost"] == 7 * 3 + (3 + 1)
    assert "Recoding of the cell-suppression model" in str(result)


PATTERNS = tuple(word for word in PUBLISH if word != "--json")


def test_optimum_is_published_and_costs_at_most_the_greedy(run: Run, people: Path) -> None:
    greedy = run(*PATTERNS, "--json").json["recoding"]["patterns"]
    found = run(*PATTERNS, "--method", "exact", "--json", "--overwrite")
    assert (found.status, found.err) == (0, ""), found
    exact = found.json["recoding"]["patterns"]
    assert exact["method"] == "exact"
    assert greedy["bound"] <= exact["bound"] == exact["cost"] <= greedy["cost"]
    assert run("audit", "release.csv").status == 0
    shown = run(*PATTERNS, "--method", "exact", "--time-limit", "600", "--overwrite")
    assert shown.status == 0
    assert "optimal" in shown.out + shown.err
    assert (greedy["cost"], exact["cost"]) == (9, 9)


def test_all_rows_are_published_if_none_may_be_suppressed(run: Run, people: Path) -> None:
    found = run(*PATTERNS, "--method", "exact", "--max-suppressed", "0", "--json")
    assert (found.json["suppressed"], found.json["recoding"]["patterns"]["cost"]) == (0, 12)


def test_fixed_parameter_search_costs_as_much_as_the_integer_program(run: Run, people: Path) -> None:
    for limit in ((), ("--max-suppressed", "0")):
        command = (*PATTERNS, *limit, "--json", "--overwrite", "--method")
        program, tried = run(*command, "exact"), run(*command, "fixed-parameter")
        assert (tried.status, tried.err) == (0, ""), tried
        found, expected = tried.json["recoding"]["patterns"], program.json["recoding"]["patterns"]
        assert found["method"] == "fixed-parameter"
        assert found["cost"] == found["bound"] == expected["cost"]
        assert tried.json["suppressed"] == program.json["suppressed"]
    assert run("audit", "release.csv").status == 0
    assert run(*PATTERNS, "--method", "fixed-parameter", "--time-limit", "3").status == 2
    assert run(*PATTERNS, "--method", "fixed-parameter", "--tie", "best").status == 2


def test_fixed_parameter_search_reports_its_limit(run: Run, people: Path) -> None:
    rows = [f"{i % 5},{i % 7},{i % 11}" for i in range(400)]
    (people / "many.csv").write_text("\n".join(["a,b,c", *rows, ""]), encoding="utf-8")
    keys = "".join(f'[attributes.{name}]\nrole = "quasi-identifier"\n' for name in "abc")
    (people / "many.toml").write_text(f'[source]\npath = "many.csv"\n{keys}', encoding="utf-8")
    command = ("publish", "many.toml", "--output", "many.out.csv", "--model", "patterns", "--k", "2")
    found = run(*command, "--method", "fixed-parameter", "--json")
    assert found.status == 4
    assert found.json["error"]["allowed"] == "20 cells"
