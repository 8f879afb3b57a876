"""LKC-privacy in the whole program: commands, Python API, and workbench."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.criteria import LKCPrivacy
from discreet.errors import InputError
from discreet.verbs.models.model_registry import MODELS
from tests.cli.conftest import Run, run
from tests.criteria.plain_cells import PlainClass, plain_left, plain_score
from tests.extending.test_toy_criterion import SPEC, draw, generalized, published_classes, spec
from tests.waiting import wait_for
from tests.web.conftest import Client, MakeClient, make_client
from tests.web.negotiation import evaluated, is_done
from tests.web.test_negotiate import post

__all__ = ["make_client", "run", "spec"]

ASKED = ["--k", 2, "--lkc", 8, "--lkc-known", 1, "--lkc-confidence", 0.7]
LKC = LKCPrivacy(8, known=1, confidence=0.7)
NODES = list(product(range(4), range(2)))


def left(levels: tuple[int, int], k: int = 2) -> list[PlainClass]:
    """Return the classes of a node that remain."""
    classes = defaultdict(list)
    for row in draw():
        classes[generalized(row, levels)].append((row[2] or None, row[3]))
    whole = [PlainClass(cells, tuple(rows)) for cells, rows in classes.items() if len(rows) >= k]
    return [whole[i] for i in plain_left(LKC, whole)]


def suppressed_rows(levels: tuple[int, int], k: int = 2) -> int:
    return len(draw()) - sum(len(one.rows) for one in left(levels, k))


def test_every_node_and_the_relaxation(run: Run, spec: Path) -> None:
    assert "--lkc-known" in run("negotiate", "--help").out
    found = run("lattice", spec, *ASKED, "--json").json
    assert {(a, c): rows for a, c, rows in found["nodes"]} == {n: suppressed_rows(n) for n in NODES}
    within = ["--max-level", "age=1", "--max-level", "city=0"]
    asked = ["--lkc", 30, *ASKED[4:], *within, "--json"]
    answers = {each["relaxed"]: each for each in run("negotiate", spec, *asked).json["answers"]}
    assert 2 <= answers["lkc"]["lkc"][0]["value"] < 30
    assert answers["lkc"]["suppressed"] == 0


@pytest.mark.parametrize("algorithm", ["exhaustive", "optimal"])
def test_searched(algorithm: str, run: Run, spec: Path) -> None:
    wanted = {node for node in NODES if suppressed_rows(node) <= 12}
    how = ["--algorithm", algorithm, "--max-suppressed", 12, "--json"]
    found = run("search", spec, *ASKED, *how).json["solutions"]
    levels = {(s["levels"]["age"], s["levels"]["city"]) for s in found}
    assert levels
    assert levels <= wanted
    assert levels == wanted or algorithm == "optimal"


def test_published_as_negotiated_and_audited(run: Run, spec: Path) -> None:
    asked = "\n[request]\nk = 2\nlkc = [{value = 8, known = 1, confidence = 0.7}]\nmax_suppressed = '40%'\n"
    spec.write_text(SPEC + asked, encoding="utf-8")
    found = run("publish", spec, "--output", "out.csv", "--json")
    assert found.status == 0, found.out + found.err
    manifest = json.loads((spec.parent / "out.csv.manifest.json").read_text(encoding="utf-8"))
    told = {"value": 8, "known": 1, "confidence": 0.7}
    assert manifest["requirement"] == {"k": 2, "l": None, "lkc": [told]}
    levels = (found.json["levels"]["age"], found.json["levels"]["city"])
    assert found.json["suppressed"] == suppressed_rows(levels)
    assert run("audit", "out.csv", "--json").status == 0
    failed = run("audit", "out.csv", "--lkc", 100, "--lkc-known", 2, "--lkc-confidence", 1, "--json")
    assert failed.status != 0
    (criterion,) = failed.json["criteria"]
    assert criterion["found"] == min(len(one.rows) for one in left(levels))


def test_asked_in_python(spec: Path) -> None:
    table = discreet.open(spec)
    wish = table.negotiate(k=2, criteria=[LKC], max_suppressed="40%")
    assert wish.exact is not None
    lattice, wish_levels = table.lattice(criteria=[LKC]), wish.exact.levels
    node = lattice.node(wish.exact.levels, k=2, criteria=[LKC])
    assert node.suppressed == wish.exact.suppressed
    assert lattice.preview(wish.exact.levels, k=2, criteria=[LKC], number=2).rows
    assert lattice.frontier(k=2, criteria=[LKC]).points
    # A lattice evaluated for one sensitive attribute cannot answer for both.
    of_one = discreet.open(spec).lattice(sensitive=["disease"])
    for ask in (of_one.negotiate, lambda **wish: of_one.node(wish_levels, **wish)):
        with pytest.raises(InputError, match=r"lkc.* was required of every sensitive attribute"):
            ask(k=2, criteria=[LKC])
    assert of_one.negotiate(k=2, criteria=[LKCPrivacy(8, confidence=1.0)]).answers


@pytest.mark.parametrize("model", [model.name for model in MODELS.all()])
def test_every_model_keeps_it_or_says_that_it_cannot(model: str, spec: Path, tmp_path: Path) -> None:
    try:
        release = discreet.open(spec).publish(model, tmp_path / "out.csv", k=3, criteria=[LKC])
    except InputError as error:
        assert "lkc" in str(error)  # noqa: PT017 - a refusal is right, too
        return
    classes = [
        PlainClass(rows[0][:2], tuple((row[2] or None, row[3]) for row in rows))
        for rows in published_classes(release.path)
    ]
    score = plain_score(LKC, classes)
    assert score is not None
    assert score >= 8


@pytest.fixture
def negotiating(make_client: MakeClient, spec: Path) -> Client:
    """Return a client whose lattice is evaluated for k and l."""
    client = make_client(spec=spec)
    evaluated(client)
    return client


def test_the_workbench_negotiates_and_publishes_it(negotiating: Client) -> None:
    facts = negotiating.get("/api/negotiate/lattice").json()["criteria"]
    (slider,) = (each for each in facts if each["name"] == "lkc")
    assert (slider["of_attribute"], slider["whole"]) == (False, True)
    criteria: dict[str, Any] = {"lkc": [{"value": 8, "known": 1, "confidence": 0.7}]}
    request = {"k": 2, "criteria": criteria, "max_level": {"age": 3, "city": 1}}
    answer = post(negotiating, "answer?suppressed=true", {"request": request})
    assert answer["outcome"] == "exact"
    body: dict[str, Any] = {"model": "negotiated", "name": "out.csv", "k": 2, "max_suppressed": "50%"}
    body |= {"criteria": criteria, "levels": {"age": 2, "city": 1}}
    started = negotiating.post("/api/publish/jobs", json=body)
    assert started.status_code == 202, started.text
    path = f"/api/jobs/{started.json()['job']}"
    wait_for(lambda: is_done(negotiating.get(path).json()), "it is published")
    assert negotiating.get(path).json()["result"]["audit"]["passed"]
