"""``publish --model``: each model is reached, and options that do not apply are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet
from discreet.model.class_recoding import RecodingModel
from tests.cli.conftest import SPEC, Run
from tests.local.test_adult import NINE

PUBLISH = ("publish", "discreet.toml", "--output", "release.csv", "--json")
SHORT = {"mondrian": "ordered-multi-dimension", "relaxed-mondrian": "relaxed-multi-dimension"}
SHORT["local"] = "cell-generalization"


@pytest.mark.parametrize("model", [*list(RecodingModel)[1:], *SHORT])
def test_every_model_is_published_and_audited(model: str, run: Run, people: Path) -> None:
    found = run(*PUBLISH, "--model", model, "--k", "3")
    assert (found.status, found.err) == (0, ""), found
    assert found.json["model"] == SHORT.get(model, model)
    assert (found.json["levels"], found.json["relaxed"]) == ({}, None)
    assert (found.json["k"], found.json["l"]) == (3, None)
    assert found.json["audit"]["k"] >= 3
    recoding = found.json["recoding"]
    assert recoding["smallest"] >= 3
    assert 0 <= recoding["granularity"] <= 1
    assert run("audit", "release.csv").status == 0


def test_levels_are_negotiated_without_a_model_and_cheapest_with_full_domain(run: Run, people: Path) -> None:
    """The minimum height is one generalization, of twelve jobs; the minimum loss two, of two sexes."""
    rows = [f"{sex},{job}" for sex in ("f", "m") for job in "abcdefghijkl"]
    (people / "people.csv").write_text("\n".join(["sex,job", *rows * 2]) + "\n", encoding="utf-8")
    sex = '[attributes.sex.hierarchy]\nkind = "taxonomy"\ntree = {x = ["f"], y = ["m"]}\n'
    job = (
        '[attributes.job.hierarchy]\nkind = "taxonomy"\ntree = {all = ["'
        + '", "'.join("abcdefghijkl")
        + '"]}\n'
    )
    roles = "".join(f'[attributes.{name}]\nrole = "quasi-identifier"\n' for name in ("sex", "job"))
    (people / "discreet.toml").write_text(
        f'[source]\npath = "people.csv"\n{roles}{sex}{job}', encoding="utf-8"
    )
    negotiated = run(*PUBLISH, "--k", "4").json
    chosen = run(*PUBLISH, "--model", "full-domain", "--k", "4", "--overwrite").json
    assert negotiated["model"] == chosen["model"] == "full-domain"
    assert negotiated["levels"] == {"sex": 0, "job": 1}, negotiated
    assert chosen["levels"]["job"] == 0, chosen
    table = discreet.open(people / "discreet.toml")
    assert table.publish("full-domain", people / "again.csv", k=4).levels == chosen["levels"]
    kept = table.recode("full-domain", k=4).granularity
    metrics = run("inspect", "discreet.toml", "--release", "release.csv", "--json").json["metrics"]
    assert metrics["granularity"] == pytest.approx(kept)
    bounded = run(*PUBLISH, "--model", "full-domain", "--k", "4", "--max-level", "sex=0", "--overwrite")
    assert bounded.json["levels"] == {"sex": 0, "job": 1}


@pytest.mark.parametrize(("summary", "ages"), [("ranges", "…"), ("sets", "{"), ("means", "("), ("lca", "-")])
def test_mondrian_publishes_each_summary(summary: str, ages: str, run: Run, people: Path) -> None:
    found = run(*PUBLISH, "--model", "mondrian", "--k", "4", "--cut", "median", "--summary", summary)
    assert found.json["recoding"]["summary"] == summary
    rows = (people / "release.csv").read_text().splitlines()[1:]
    assert any(ages in row or "*" in row for row in rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "monk"), "model 'monk'"),
        (("--cut", "best"), "--cut: applies to a --model, and none is given"),
        (("--model", "full-domain", "--cut", "best"), "'cut' does not apply to the full-domain model"),
        (("--model", "full-domain", "--level", "age=1"), "--level: --model full-domain does not negotiate"),
        (("--effort", "2"), "--effort: applies to a --model, and none is given"),
        (("--model", "mondrian", "--effort", "2"), "'effort' does not apply"),
        (("--model", "mondrian", "--seed", "2"), "'seed' does not apply"),
        (("--model", "relaxed-mondrian", "--cut", "best"), "'cut' does not apply"),
        (("--model", "local", "--summary", "means"), "summary 'means' of the cell-generalization model"),
        (("--model", "mondrian", "--cut", "worst"), "cut 'worst' of the ordered-multi-dimension model"),
        (("--model", "full-subtree", "--summary", "lca"), "'summary' does not apply"),
        (("--model", "mondrian", "--level", "age=1"), "--level: --model mondrian does not negotiate"),
        (
            ("--model", "mondrian", "--accept-relaxation", "k"),
            "--accept-relaxation: --model mondrian does not negotiate",
        ),
        (("--model", "mondrian", "--scope", "above"), "--scope: --model mondrian does not negotiate"),
        (("--model", "mondrian", "--max-level", "age=1"), "a highest level does not apply"),
        (("--model", "full-subtree", "--min-level", "age=1"), "the least level of 'age' does not apply"),
        (("--model", "local", "--time-budget", "soon"), "--time-budget soon"),
        (("--model", "local", "--seed", "x"), "--seed x"),
        (("--model", "local", "--workload", "work.sql"), "workload"),
        (("--model", "full-domain", "--keep", "age"), "'keep' does not apply to the full-domain model"),
        (("--model", "mondrian", "--e", "5"), "'e' does not apply"),
    ],
)
def test_options_that_do_not_apply_are_refused(
    options: tuple[str, ...], message: str, run: Run, people: Path
) -> None:
    found = run(*PUBLISH, "--k", "3", *options)
    assert (found.status, found.json["error"]["kind"]) == (2, "bad-input")
    assert message in found.json["error"]["message"]
    assert not (people / "release.csv").exists()


@pytest.mark.parametrize("model", ["full-subtree", "patterns"])
def test_level_limits_of_the_spec_warn_or_are_refused(model: str, run: Run, people: Path) -> None:
    """A minimum level is binding and refused; a maximum level is only a preference and gives a warning."""
    (people / "discreet.toml").write_text(SPEC + "\n[request]\nk = 3\n[request.max_level]\nage = 1\n")
    found = run(*PUBLISH, "--model", model)
    assert found.status == 0
    assert f"do not bind the {model} model" in found.err
    (people / "discreet.toml").write_text(SPEC + "\n[request]\nk = 3\n[request.min_level]\nage = 1\n")
    assert run(*PUBLISH, "--model", model, "--overwrite").status == 2


def test_no_solution_writes_nothing(run: Run, people: Path) -> None:
    for model in list(RecodingModel)[1:]:
        found = run(*PUBLISH, "--model", model, "--k", "9")
        assert (found.status, found.json["error"]["kind"]) == (3, "no-solution"), model
        assert not (people / "release.csv").exists()


def test_mondrian_cuts_at_workload_predicates(run: Run, people: Path) -> None:
    """Ages 23 and 24 are below the predicate's bound; without the workload the first cut is elsewhere."""
    (people / "work.sql").write_text("SELECT COUNT(*) FROM people WHERE age <= 24;\n", encoding="utf-8")
    found = run(*PUBLISH, "--model", "mondrian", "--k", "2", "--workload", "work.sql")
    assert (found.status, found.err) == (0, ""), found
    plain = run("inspect", "discreet.toml", "--release", "release.csv", "--workload", "work.sql", "--json")
    (query,) = plain.json["workload"]["queries"]
    assert query["lower"] == query["upper"] == 2


@pytest.mark.parametrize("model", ["full-subtree", "full-subgraph", "mondrian", "local", "patterns"])
def test_class_of_null_sensitive_values_has_no_l(model: str, run: Run, people: Path) -> None:
    """By size only, the three rows without a value would form a class; an l of 1 forbids it."""
    rows = ["20,Berlin,"] * 3 + ["30,Berlin,flu"] * 3 + ["30,Bonn,cold"] * 3
    (people / "people.csv").write_text("\n".join(["age,city,disease", *rows]) + "\n", encoding="utf-8")
    spec = SPEC.replace('[attributes.name]\nrole = "identifier"\n', "")
    (people / "discreet.toml").write_text(spec, encoding="utf-8")
    found = run(*PUBLISH, "--model", model, "--k", "2", "--l", "1")
    assert (found.status, found.err) == (0, ""), found
    assert found.json["audit"]["l"] == {"disease": 1}


def test_optimal_single_dimension_division_reports_its_proof(run: Run, people: Path) -> None:
    options = ("--model", "ordered-single-dimension", "--method", "optimal", "--k", "3")
    found = run(*PUBLISH, *options, "--time-limit", "30")
    evidence = found.json["recoding"]["evidence"]
    assert (found.status, evidence["status"], evidence["cost"], evidence["gap"]) == (0, "optimal", "c-dm", 0)
    sizes = found.json["audit"]["class_sizes"]
    assert sum(int(size) ** 2 * number for size, number in sizes.items()) == evidence["value"]
    counted = run(*PUBLISH, *options, "--cost", "c-avg", "--overwrite").json
    assert counted["recoding"]["evidence"]["value"] == counted["rows"] / counted["audit"]["classes"] / 3
    text = run(*[word for word in PUBLISH if word != "--json"], *options, "--overwrite").out
    assert "no recoding of the model has less than" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cost", "c-dm"), "'cost' does not apply to the method 'greedy'"),
        (("--time-limit", "3"), "'time-limit' does not apply to the method 'greedy'"),
        (("--method", "exact"), "method 'exact' of the ordered-single-dimension model"),
        (("--method", "optimal", "--cost", "loss"), "cost 'loss' of the ordered-single-dimension model"),
        (("--method", "optimal", "--l", "2"), "the optimal division for k=3, l=2"),
    ],
)
def test_options_of_the_optimal_division(
    options: tuple[str, ...], message: str, run: Run, people: Path
) -> None:
    found = run(*PUBLISH, "--model", "ordered-single-dimension", "--k", "3", *options)
    assert (found.status, found.json["error"]["kind"]) == (2, "bad-input")
    assert message in found.json["error"]["message"]


def test_full_domain_of_adult_has_the_granularity_of_the_page(run: Run, people: Path, data_dir: Path) -> None:
    """docs/recoding-models.md: Adult, nine quasi-identifiers, k = 5, with the command of the page."""
    home = data_dir / "adult"
    spec = f'[source]\npath = "{home / "adult_30162.csv"}"\n'
    for name in NINE:
        hierarchy = home / "hierarchies_arx" / f"{name}.csv"
        spec += f'[attributes.{name}]\nrole = "quasi-identifier"\nhierarchy = "{hierarchy}"\n'
    (people / "discreet.toml").write_text(spec, encoding="utf-8")
    found = run(*PUBLISH, "--model", "full-domain", "--k", "5")
    assert (found.status, found.json["audit"]["classes"]) == (0, 24), found.err
    metrics = run("inspect", "discreet.toml", "--release", "release.csv", "--json").json["metrics"]
    assert metrics["granularity"] == pytest.approx(0.292, abs=5e-4)
