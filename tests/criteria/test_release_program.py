"""A criterion of the whole release in the whole program: commands, Python API, and workbench."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.criteria import AverageRisk, RecordsAtRisk
from discreet.errors import InputError
from discreet.model.requirement import Requirement
from discreet.verbs.models.model_registry import MODELS
from tests.cli.conftest import Run, run
from tests.criteria.plain_release import plain_rest, plain_share
from tests.extending.test_toy_criterion import SPEC, draw, generalized, published_classes, spec
from tests.waiting import wait_for
from tests.web.conftest import Client, MakeClient, make_client
from tests.web.negotiation import evaluated, is_done
from tests.web.test_negotiate import post

__all__ = ["make_client", "run", "spec"]

ASKED = ["--k", 2, "--average-risk", 0.05]
BY_LEVELS = ("full-domain", "attribute-suppression")
NODES = list(product(range(4), range(2)))


def suppressed_rows(levels: tuple[int, int], k: int, risk: float) -> int:
    """Count the suppressed rows of a node."""
    sizes = Counter(generalized(row, levels) for row in draw()).values()
    rest = plain_rest([size for size in sizes if size >= k], Requirement(criteria=[AverageRisk(risk)]))
    return len(draw()) - sum(rest)


def test_help_names_it(run: Run) -> None:
    text = " ".join(run("negotiate", "--help").out.split())
    assert "--average-risk VALUE Average risk of re-identification" in text


def test_every_node_is_suppressed_as_the_oracle_says(run: Run, spec: Path) -> None:
    found = run("lattice", spec, *ASKED, "--json").json
    told = {(a, c): rows for a, c, rows in found["nodes"]}
    assert told == {node: suppressed_rows(node, 2, 0.05) for node in NODES}
    assert any(0 < rows < len(draw()) for rows in told.values())


def test_negotiated_with_a_relaxation_of_its_own(run: Run, spec: Path) -> None:
    within = ["--max-level", "age=1", "--max-level", "city=0"]
    found = run("negotiate", spec, *ASKED, *within, "--json").json
    assert found["outcome"] == "relaxed"
    answers = {answer["relaxed"]: answer for answer in found["answers"]}
    relaxed = answers["average_risk"]
    sizes = list(Counter(generalized(row, (1, 0)) for row in draw()).values())
    assert relaxed["average_risk"] == pytest.approx(float(plain_share(AverageRisk(1), sizes)), abs=1e-9)
    assert answers["max_suppressed"]["suppressed"] == min(suppressed_rows((a, 0), 2, 0.05) for a in (0, 1))
    assert "--k 2 --average-risk 0.05" in run("negotiate", spec, *ASKED, *within).out


@pytest.mark.parametrize("algorithm", ["exhaustive", "optimal"])
def test_searched(algorithm: str, run: Run, spec: Path) -> None:
    wanted = {node for node in NODES if suppressed_rows(node, 2, 0.05) <= 12}
    how = ["--algorithm", algorithm, "--max-suppressed", 12, "--json"]
    found = run("search", spec, *ASKED, *how).json["solutions"]
    levels = {(s["levels"]["age"], s["levels"]["city"]) for s in found}
    assert levels
    assert levels <= wanted
    assert levels == wanted or algorithm == "optimal"


def test_published_as_negotiated_and_audited(run: Run, spec: Path) -> None:
    spec.write_text(
        SPEC + "\n[request]\nk = 2\naverage_risk = 0.1\nmax_suppressed = '20%'\n", encoding="utf-8"
    )
    found = run("publish", spec, "--output", "out.csv", "--json")
    assert found.status == 0, found.out + found.err
    manifest = json.loads((spec.parent / "out.csv.manifest.json").read_text(encoding="utf-8"))
    assert manifest["requirement"] == {"k": 2, "l": None, "average_risk": 0.1}
    classes = published_classes(spec.parent / "out.csv")
    sizes = [len(rows) for rows in classes]
    assert len(sizes) <= 0.1 * sum(sizes)
    levels = (found.json["levels"]["age"], found.json["levels"]["city"])
    assert len(draw()) - sum(sizes) == suppressed_rows(levels, 2, 0.1) == found.json["suppressed"]
    assert run("audit", "out.csv", "--json").status == 0
    failed = run("audit", "out.csv", "--average-risk", 0.0001, "--json")
    assert failed.status != 0
    told = failed.json["criteria"][0]
    assert (told["passed"], told["failing_classes"]) == (False, 0)
    assert told["found"] == pytest.approx(len(sizes) / sum(sizes), abs=1e-9)


def test_asked_in_python(spec: Path) -> None:
    table, asked = discreet.open(spec), [AverageRisk(0.1), RecordsAtRisk(0.05, above=0.2)]
    lattice = table.lattice()
    assert table.lattice(criteria=asked) is lattice, "sizes are all that is asked"
    wish = table.negotiate(k=2, criteria=asked, max_suppressed="30%")
    assert wish.exact is not None
    assert [str(criterion) for criterion in wish.exact.criteria][1] == "average_risk=0.1"
    assert lattice.negotiate(k=2, criteria=asked, max_suppressed="30%").exact == wish.exact
    node = lattice.node(wish.exact.levels, k=2, criteria=asked)
    assert node.suppressed == wish.exact.suppressed
    assert lattice.preview(wish.exact.levels, k=2, criteria=asked, number=2).rows
    assert lattice.frontier(k=2, criteria=asked).points


@pytest.mark.parametrize("model", [model.name for model in MODELS.all()])
def test_every_model_keeps_it_or_says_that_it_cannot(model: str, spec: Path, tmp_path: Path) -> None:
    try:
        release = discreet.open(spec).publish(model, tmp_path / "out.csv", k=3, criteria=[AverageRisk(0.1)])
    except InputError as error:
        assert "average_risk" in str(error)  # noqa: PT017 - a refusal is right, too
        assert model not in BY_LEVELS
        return
    assert model in BY_LEVELS
    sizes = [len(rows) for rows in published_classes(release.path)]
    assert len(sizes) <= 0.1 * sum(sizes)


@pytest.fixture
def negotiating(make_client: MakeClient, spec: Path) -> Client:
    """Return a client whose lattice is evaluated for k and l."""
    client = make_client(spec=spec)
    evaluated(client)
    return client


def test_the_workbench_answers_without_another_evaluation(negotiating: Client) -> None:
    request: dict[str, Any] = {"k": 2, "criteria": {"average_risk": 0.05}}
    request["max_level"] = {"age": 1, "city": 0}
    answer = post(negotiating, "answer?suppressed=true", {"request": request})
    card = next(each for each in answer["cards"] if each["relaxed"] == "average_risk")
    assert card["title"] == "Raise average risk of re-identification"
    assert post(negotiating, "answer", {"request": card["request"]})["outcome"] == "exact"
    facts = negotiating.get("/api/negotiate/lattice").json()["criteria"]
    (slider,) = (each for each in facts if each["name"] == "average_risk")
    assert (slider["of_attribute"], slider["whole"], slider["first"]) == (False, False, 0.5)


def test_published_from_the_workbench(negotiating: Client) -> None:
    body: dict[str, Any] = {"model": "negotiated", "name": "out.csv", "k": 2, "max_suppressed": "50%"}
    body |= {"criteria": {"average_risk": 0.1}, "levels": {"age": 1, "city": 1}}
    started = negotiating.post("/api/publish/jobs", json=body)
    assert started.status_code == 202, started.text
    path = f"/api/jobs/{started.json()['job']}"
    wait_for(lambda: is_done(negotiating.get(path).json()), "it is published")
    assert negotiating.get(path).json()["result"]["audit"]["passed"]
    folder = negotiating.app.state.server.workspace_of("local").releases  # type: ignore[attr-defined]
    sizes = [len(rows) for rows in published_classes(folder / "out.csv")]
    assert len(sizes) <= 0.1 * sum(sizes)
