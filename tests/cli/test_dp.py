"""``discreet dp histogram`` and ``discreet dp budget``: output and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

PEOPLE = "age,sex\n" + "25,F\n" * 30 + "44,M\n" * 20
SPEC = """\
[source]
path = "people.csv"

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [10]}
domain = {least = 20, most = 49}

[attributes.sex]
role = "quasi-identifier"

[privacy_budget]
epsilon = 1.1
delta = 0.00001
"""


@pytest.fixture
def spec(run: Run) -> Path:
    """Write the spec to the working folder that ``run`` makes."""
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("discreet.toml").write_text(SPEC, encoding="utf-8")
    return Path("discreet.toml")


def test_counts_and_remaining_budget_are_printed(run: Run, spec: Path) -> None:
    command = ("dp", "histogram", str(spec), "--marginal", "age=1", "--epsilon", "0.1")
    found = run(*command, "--output", "one.csv")
    assert (found.status, found.err) == (0, "")
    assert "4 noisy counts, ε = 0.1" in found.out
    assert "Budget left: ε = 1, δ = 0.00001." in found.out
    again = run(*command, "--output", "one.csv")
    assert (again.status, again.out) == (2, "")
    without_delta = run(
        "dp", "histogram", str(spec), "--marginal", "sex", "--epsilon", "0.9", "--output", "two.json"
    )
    assert without_delta.status == 2
    assert "--delta" in without_delta.err
    two = run(
        *("dp", "histogram", str(spec), "--marginal", "age=1,sex", "--epsilon", "0.9", "--delta", "1e-6"),
        *("--output", "two.json", "--json"),
    )
    assert two.status == 0
    assert two.json["budget"]["left"] == {"epsilon": "0.1", "delta": "0.000009"}
    assert two.json["marginals"][0]["public"] is False
    assert run("dp", "budget", str(spec), "--json").json["left"] == two.json["budget"]["left"]
    listed = run("dp", "budget", str(spec))
    assert listed.status == 0
    assert "noisy counts: one.csv" in listed.out
    over = run(*command[:-1], "0.2", "--output", "three.csv", "--json")
    assert over.status == 4
    assert over.json["error"]["kind"] == "limit-reached"
    assert not Path("three.csv").exists()


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        (["--epsilon", "0"], "epsilon = 0"),
        (["--epsilon", "x"], "epsilon = x"),
        (["--epsilon", "1", "--delta", "1"], "delta = 1"),
        (["--epsilon", "1", "--marginal", "age=x"], "--marginal age=x"),
        (["--epsilon", "1", "--rows-per-subject", "many"], "--rows-per-subject"),
        (["--epsilon", "1", "--mechanism", "none"], "mechanism 'none'"),
    ],
)
def test_invalid_options_are_refused_without_spending(
    run: Run, spec: Path, options: list[str], fact: str
) -> None:
    found = run("dp", "histogram", str(spec), "--marginal", "age", "--output", "counts.csv", *options)
    assert found.status == 2
    assert fact in found.err
    assert not Path("discreet.budget.json").exists()


def test_verbs_without_a_budget_are_refused(run: Run, spec: Path) -> None:
    spec.write_text(SPEC.split("[privacy_budget]")[0], encoding="utf-8")
    histogram = ["histogram", "--marginal", "age", "--epsilon", "1", "--output", "c.csv"]
    for verb in (histogram, ["budget"]):
        found = run("dp", verb[0], str(spec), *verb[1:])
        assert found.status == 2
        assert "[privacy_budget]" in found.err


def test_manifest_records_the_spent_budget(run: Run, spec: Path) -> None:
    run("dp", "histogram", str(spec), "--marginal", "age=1", "--epsilon", "1", "--output", "counts.csv")
    manifest = json.loads(Path("counts.csv.manifest.json").read_text(encoding="utf-8"))
    assert manifest["privacy"]["epsilon"] == "1"
    assert manifest["privacy"]["scale"] == 1.0
    assert "seed" in manifest["privacy"]
    assert "rows" not in manifest["data"]
    assert manifest["audit"] is None
