"""A release with a population requirement, audited with and without the population, in every verb."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

import discreet
from discreet.errors import InputError
from discreet.model.criteria.k_map import KMap
from tests.cli.conftest import Run, run

__all__ = ["run"]

SPEC = """\
[source]
path = "people.csv"
subset = {column = "study", values = ["yes"]}

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [5, 10]}

[attributes.city]
role = "quasi-identifier"
"""


def people() -> list[tuple[int, str, str]]:
    chance = random.Random(7)
    return [
        (chance.randrange(20, 40), chance.choice(["Bonn", "Jena"]), chance.choice(["yes", "no", "no"]))
        for _ in range(200)
    ]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Write people, a third of them in a study; return the path of their spec."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    lines = "".join(f"{age},{city},{study}\n" for age, city, study in people())
    (folder / "people.csv").write_text(f"age,city,study\n{lines}", encoding="utf-8")
    (folder / "discreet.toml").write_text(SPEC, encoding="utf-8")
    return folder / "discreet.toml"


def fewest(width: int) -> int:
    """Return the minimum count of people per interval and city that contains somebody of the study."""
    matching = Counter((age // width, city) for age, city, _ in people())
    return min(matching[age // width, city] for age, city, study in people() if study == "yes")


def test_release_with_k_map_is_audited_and_reported_with_its_spec(run: Run, spec: Path) -> None:
    k = fewest(5)
    found = run("negotiate", spec, "--k-map", k, "--json").json["answers"][0]
    assert (found["levels"], found["k_map"]) == ({"age": 1, "city": 0}, k)
    assert run("publish", spec, "--k-map", k, "--output", "out.csv").status == 0
    release = spec.parent / "out.csv"
    manifest = json.loads(Path(f"{release}.manifest.json").read_text(encoding="utf-8"))
    assert manifest["population"] == {"people": 200}
    assert manifest["requirement"] == {"k": None, "l": None, "k_map": k}
    assert manifest["audit"]["criteria"][0]["found"] == k
    assert not {"people.csv", "study"} & set(json.dumps(manifest).replace('"', " ").split())

    without_spec = run("audit", release)
    assert without_spec.status == 1
    assert "No population was given" in " ".join(without_spec.out.split())
    assert run("audit", release, "--spec", spec).status == 0
    assert run("audit", release, "--spec", spec, "--k-map", k + 1).status == 1
    assert run("report", release, "--spec", spec).status == 0
    assert run("report", release, "--overwrite").status == 1
    assert discreet.audit(release, spec=spec).passed


def test_audit_without_a_population_is_refused(run: Run, spec: Path) -> None:
    assert run("publish", spec, "--k-map", 2, "--output", "out.csv").status == 0
    release = spec.parent / "out.csv"
    without = spec.with_name("without.toml")
    without.write_text(SPEC.replace('subset = {column = "study", values = ["yes"]}\n', ""), encoding="utf-8")
    with pytest.raises(InputError, match="has no population"):
        discreet.audit(release, spec=without)
    assert run("negotiate", without, "--k-map", 2).status == 2


@pytest.mark.parametrize("model", ["mondrian", "cell-generalization", "patterns"])
def test_models_refuse_k_map_without_an_estimator(model: str, spec: Path, tmp_path: Path) -> None:
    table = discreet.open(spec)
    with pytest.raises(InputError, match="k_map"):
        table.publish(model, tmp_path / "out.csv", criteria=[KMap(3)])
    estimated = KMap(3, estimator="poisson", fraction=0.5, significance=0.3)
    release = table.publish(model, tmp_path / "out.csv", criteria=[estimated])
    assert release.audit.passed
    assert min(release.audit.report.class_sizes) >= estimated.rows_needed(3)
