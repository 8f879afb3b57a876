"""``publish --model patterns --method exact``: the proven optimum, its facts, and refusals."""

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


def test_the_fixed_parameter_search_is_a_method_and_costs_what_the_integer_program_does(
    run: Run, people: Path
) -> None:
    for limit in ((), ("--max-suppressed", "0")):
        how = (*PUBLISH, *limit, "--json", "--overwrite", "--method")
        program, tried = run(*how, "exact"), run(*how, "fixed-parameter")
        assert (tried.status, tried.err) == (0, ""), tried
        found, expected = tried.json["recoding"]["patterns"], program.json["recoding"]["patterns"]
        assert found["method"] == "fixed-parameter"
        assert found["cost"] == found["bound"] == expected["cost"]
        assert tried.json["suppressed"] == program.json["suppressed"]
    assert run("audit", "release.csv").status == 0
    assert run(*PUBLISH, "--method", "fixed-parameter", "--time-limit", "3").status == 2
    assert run(*PUBLISH, "--method", "fixed-parameter", "--tie", "best").status == 2


def test_the_fixed_parameter_search_says_where_it_ends(run: Run, people: Path) -> None:
    rows = [f"{i % 5},{i % 7},{i % 11}" for i in range(400)]
    (people / "many.csv").write_text("\n".join(["a,b,c", *rows, ""]), encoding="utf-8")
    keys = "".join(f'[attributes.{name}]\nrole = "quasi-identifier"\n' for name in "abc")
    (people / "many.toml").write_text(f'[source]\npath = "many.csv"\n{keys}', encoding="utf-8")
    asked = ("publish", "many.toml", "--output", "many.out.csv", "--model", "patterns", "--k", "2")
    found = run(*asked, "--method", "fixed-parameter", "--json")
    assert found.status == 4
    assert found.json["error"]["allowed"] == "20 cells"


def test_what_the_exact_method_refuses(run: Run, people: Path) -> None:
    assert run(*PUBLISH, "--method", "exact", "--tie", "best").status == 2
    assert run(*PUBLISH, "--method", "greedy", "--time-limit", "3").status == 2
    assert run(*PUBLISH, "--method", "exact", "--time-limit", "0").status == 2
    assert not (people / "release.csv").exists()
