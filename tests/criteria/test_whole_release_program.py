"""Criteria of a whole release, of its sizes and of its cells, in commands, the Python API and the workbench.

Options of criteria, and searches by command, are those of every criterion: tests/extending.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.criteria import AverageRisk, LKCPrivacy, RecordsAtRisk
from discreet.errors import InputError
from discreet.model.requirement import Requirement
from discreet.verbs.models.model_registry import MODELS
from tests.cli.conftest import Run, run
from tests.criteria.plain_cells import PlainClass, plain_left, plain_score
from tests.criteria.plain_release import plain_rest, plain_share
from tests.extending.test_toy_criterion import SPEC, Row, draw, generalized, published_classes, spec
from tests.waiting import wait_for
from tests.web.conftest import Client, MakeClient, make_client
from tests.web.negotiation import evaluated, is_done
from tests.web.test_negotiate import post

__all__ = ["make_client", "run", "spec"]

NODES = list(product(range(4), range(2)))
RISK = ["--k", 2, "--average-risk", 0.05]
CELLS = ["--k", 2, "--lkc", 8, "--lkc-known", 1, "--lkc-confidence", 0.7]
LKC = LKCPrivacy(8, known=1, confidence=0.7)
BY_LEVELS = ("full-domain", "attribute-suppression")


def suppressed_by_risk(levels: tuple[int, int], risk: float = 0.05) -> int:
    """Count the suppressed rows of a node under k = 2 and an average risk."""
    sizes = Counter(generalized(row, levels) for row in draw()).values()
    rest = plain_rest([size for size in sizes if size >= 2], Requirement(criteria=[AverageRisk(risk)]))
    return len(draw()) - sum(rest)


def plain_classes(classes: list[list[Row]], levels: tuple[int, int] | None = None) -> list[PlainClass]:
    return [
        PlainClass(
            rows[0][:2] if levels is None else generalized(rows[0], levels),
            tuple((row[2] or None, row[3]) for row in rows),
        )
        for rows in classes
    ]


def left_by_cells(levels: tuple[int, int]) -> list[PlainClass]:
    """Return the classes of a node that remain under k = 2 and ``LKC``."""
    classes = defaultdict(list)
    for row in draw():
        classes[generalized(row, levels)].append(row)
    whole = plain_classes([rows for rows in classes.values() if len(rows) >= 2], levels)
    return [whole[i] for i in plain_left(LKC, whole)]


def suppressed_by_cells(levels: tuple[int, int]) -> int:
    return len(draw()) - sum(len(one.rows) for one in left_by_cells(levels))


@pytest.mark.parametrize(
    ("options", "suppressed"),
    [(RISK, suppressed_by_risk), (CELLS, suppressed_by_cells)],
    ids=["sizes", "cells"],
)
def test_lattice_suppresses_the_rows_of_the_oracle(
    options: list[object], suppressed: Any, run: Run, spec: Path
) -> None:
    found = run("lattice", spec, *options, "--json").json
    rows_of_nodes = {(a, c): rows for a, c, rows in found["nodes"]}
    assert rows_of_nodes == {node: suppressed(node) for node in NODES}
    assert len(set(rows_of_nodes.values())) > 1


def test_negotiation_relaxes_each_criterion(run: Run, spec: Path) -> None:
    within = ["--max-level", "age=1", "--max-level", "city=0"]
    found = run("negotiate", spec, *RISK, *within, "--json").json
    answers = {answer["relaxed"]: answer for answer in found["answers"]}
    sizes = list(Counter(generalized(row, (1, 0)) for row in draw()).values())
    share = float(plain_share(AverageRisk(1), sizes))
    assert answers["average_risk"]["average_risk"] == pytest.approx(share, abs=1e-9)
    assert answers["max_suppressed"]["suppressed"] == min(suppressed_by_risk((a, 0)) for a in (0, 1))
    assert "--k 2 --average-risk 0.05" in run("negotiate", spec, *RISK, *within).out
    options = ["--lkc", 30, *CELLS[4:], *within, "--json"]
    answers = {each["relaxed"]: each for each in run("negotiate", spec, *options).json["answers"]}
    assert 2 <= answers["lkc"]["lkc"][0]["value"] < 30
    assert answers["lkc"]["suppressed"] == 0


def published(run: Run, spec: Path, request: str) -> tuple[dict[str, Any], tuple[int, int], int]:
    """Publish a release by the spec's request; return its requirement, levels and suppressed rows."""
    spec.write_text(f"{SPEC}\n[request]\nk = 2\n{request}\n", encoding="utf-8")
    found = run("publish", spec, "--output", "out.csv", "--json")
    assert found.status == 0, found.out + found.err
    assert run("audit", "out.csv", "--json").status == 0
    manifest = json.loads((spec.parent / "out.csv.manifest.json").read_text(encoding="utf-8"))
    levels = (found.json["levels"]["age"], found.json["levels"]["city"])
    return manifest["requirement"], levels, found.json["suppressed"]


def test_release_by_sizes_is_published_and_audited(run: Run, spec: Path) -> None:
    requirement, levels, suppressed = published(run, spec, "average_risk = 0.1\nmax_suppressed = '20%'")
    assert requirement == {"k": 2, "l": None, "average_risk": 0.1}
    sizes = [len(rows) for rows in published_classes(spec.parent / "out.csv")]
    assert len(sizes) <= 0.1 * sum(sizes)
    assert len(draw()) - sum(sizes) == suppressed_by_risk(levels, 0.1) == suppressed
    failed = run("audit", "out.csv", "--average-risk", 0.0001, "--json")
    assert failed.status != 0
    judged = failed.json["criteria"][0]
    assert (judged["passed"], judged["failing_classes"]) == (False, 0)
    assert judged["found"] == pytest.approx(len(sizes) / sum(sizes), abs=1e-9)


def test_release_by_cells_is_published_and_audited(run: Run, spec: Path) -> None:
    required = {"value": 8, "known": 1, "confidence": 0.7}
    request = "lkc = [{value = 8, known = 1, confidence = 0.7}]\nmax_suppressed = '40%'"
    requirement, levels, suppressed = published(run, spec, request)
    assert requirement == {"k": 2, "l": None, "lkc": [required]}
    assert suppressed == suppressed_by_cells(levels)
    failed = run("audit", "out.csv", "--lkc", 100, "--lkc-known", 2, "--lkc-confidence", 1, "--json")
    assert failed.status != 0
    (criterion,) = failed.json["criteria"]
    assert criterion["found"] == min(len(one.rows) for one in left_by_cells(levels))


@pytest.mark.parametrize(
    "criteria", [[AverageRisk(0.1), RecordsAtRisk(0.05, above=0.2)], [LKC]], ids=["sizes", "cells"]
)
def test_python_answers_agree_on_a_node(criteria: list[Any], spec: Path) -> None:
    table = discreet.open(spec)
    answer = table.negotiate(k=2, criteria=criteria, max_suppressed="40%")
    assert answer.exact is not None
    before, lattice = table.lattice(), table.lattice(criteria=criteria)
    assert lattice is before or criteria == [LKC], "sizes are all that a share needs"
    assert lattice.negotiate(k=2, criteria=criteria, max_suppressed="40%").exact == answer.exact
    assert lattice.node(answer.exact.levels, k=2, criteria=criteria).suppressed == answer.exact.suppressed
    assert lattice.preview(answer.exact.levels, k=2, criteria=criteria, number=2).rows
    assert lattice.frontier(k=2, criteria=criteria).points


def test_lattice_of_one_sensitive_attribute_refuses_cells_of_both(spec: Path) -> None:
    of_one = discreet.open(spec).lattice(sensitive=["disease"])
    for call in (of_one.negotiate, lambda **options: of_one.node({"age": 1, "city": 0}, **options)):
        with pytest.raises(InputError, match=r"lkc.* was required of every sensitive attribute"):
            call(k=2, criteria=[LKC])
    assert of_one.negotiate(k=2, criteria=[LKCPrivacy(8, confidence=1.0)]).answers


@pytest.mark.parametrize("model", [model.name for model in MODELS.all()])
@pytest.mark.parametrize("criterion", [AverageRisk(0.1), LKC], ids=["sizes", "cells"])
def test_model_meets_the_criterion_or_refuses_it(
    criterion: Any, model: str, spec: Path, tmp_path: Path
) -> None:
    try:
        release = discreet.open(spec).publish(model, tmp_path / "out.csv", k=3, criteria=[criterion])
    except InputError as error:
        assert criterion.name in str(error)  # noqa: PT017 - a refusal is right, too
        assert criterion is LKC or model not in BY_LEVELS
        return
    classes = published_classes(release.path)
    if criterion is LKC:
        score = plain_score(LKC, plain_classes(classes))
        assert score is not None
        assert score >= 8
    else:
        assert model in BY_LEVELS
        assert len(classes) <= 0.1 * sum(map(len, classes))


@pytest.mark.parametrize(
    ("criteria", "levels"),
    [
        ({"average_risk": 0.1}, {"age": 1, "city": 1}),
        ({"lkc": [{"value": 8, "known": 1, "confidence": 0.7}]}, {"age": 2, "city": 1}),
    ],
    ids=["sizes", "cells"],
)
def test_workbench_negotiates_and_publishes(
    criteria: dict[str, Any], levels: dict[str, int], make_client: MakeClient, spec: Path
) -> None:
    """The lattice that was evaluated for k and l answers."""
    client: Client = make_client(spec=spec)
    evaluated(client)
    facts = client.get("/api/negotiate/lattice").json()["criteria"]
    (slider,) = (each for each in facts if each["name"] in criteria)
    assert slider["of_attribute"] is False
    request: dict[str, Any] = {"k": 2, "criteria": criteria, "max_level": {"age": 3, "city": 1}}
    assert post(client, "answer?suppressed=true", {"request": request})["outcome"] == "exact"
    body: dict[str, Any] = {"model": "negotiated", "name": "out.csv", "k": 2, "max_suppressed": "50%"}
    started = client.post("/api/publish/jobs", json=body | {"criteria": criteria, "levels": levels})
    assert started.status_code == 202, started.text
    path = f"/api/jobs/{started.json()['job']}"
    wait_for(lambda: is_done(client.get(path).json()), "it is published")
    assert client.get(path).json()["result"]["audit"]["passed"]
