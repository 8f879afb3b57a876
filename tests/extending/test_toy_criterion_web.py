"""The criterion in the workbench: a slider, an evaluation for it, a relaxation, a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extending.registered import toy_criterion
from tests.extending.test_toy_criterion import draw, largest_share, published_classes, spec, suppressed_rows
from tests.waiting import wait_for
from tests.web.conftest import Client, MakeClient, make_client
from tests.web.negotiation import evaluated, is_done
from tests.web.test_negotiate import post

__all__ = ["make_client", "spec", "toy_criterion"]

pytestmark = pytest.mark.usefixtures("toy_criterion")
REQUEST = {"k": 2, "criteria": {"homogeneity": {"disease": 0.3}}}


def evaluated_for(client: Client, request: dict[str, Any]) -> Client:
    """Evaluate the lattice for a request and wait for the job."""
    started = client.post("/api/negotiate/evaluation", json={"request": request}).json()
    if started["job"] is not None:
        wait_for(lambda: is_done(client.get(f"/api/jobs/{started['job']}").json()), "it is evaluated")
    return client


@pytest.fixture
def negotiating(make_client: MakeClient, spec: Path) -> Client:
    """Return a client whose lattice is evaluated for k and l."""
    client = make_client(spec=spec)
    evaluated(client)
    return client


def test_page_receives_the_slider_of_the_criterion(negotiating: Client) -> None:
    criteria = negotiating.get("/api/negotiate/lattice").json()["criteria"]
    (facts,) = (each for each in criteria if each["name"] == "homogeneity")
    assert facts == {
        "name": "homogeneity",
        "title": "homogeneity of a sensitive value",
        "hint": "the largest share of a class's rows that have the same value",
        "lacks_population": False,
        "of_attribute": True,
        "whole": False,
        "least": 0,
        "most": 1,
        "stops": [0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        "first": 0.9,
        "fields": [
            {
                "name": "base",
                "label": "base",
                "kind": "choice",
                "choices": ["rows", "values"],
                "default": "rows",
                "hint": "all rows, or those that have a value",
                "repeatable": False,
            }
        ],
    }
    assert negotiating.get("/api/publish").json()["criterion_kinds"] == criteria


def test_lattice_is_evaluated_again_for_the_criterion(negotiating: Client) -> None:
    refused = negotiating.post("/api/negotiate/answer", json={"request": REQUEST})
    assert refused.status_code == 409
    assert refused.json()["error"]["kind"] == "not-evaluated"
    before = post(negotiating, "answer", {"request": {"k": 2}})
    evaluated_for(negotiating, REQUEST)
    after = post(negotiating, "answer", {"request": {"k": 2}})
    assert after["version"] == before["version"], "what asks for k alone is answered as fast as before"
    for body in (REQUEST, {"k": 3, "criteria": {"homogeneity": 0.8}}):
        answer = post(negotiating, "answer", {"request": body})
        assert answer["request"]["criteria"] == body["criteria"]


def test_card_relaxes_the_criterion(negotiating: Client) -> None:
    answer = post(evaluated_for(negotiating, REQUEST), "answer?suppressed=true", {"request": REQUEST})
    card = next(each for each in answer["cards"] if each["relaxed"] == "homogeneity")
    share = largest_share([draw()])
    assert card["title"] == "Raise homogeneity of a sensitive value"
    assert card["change"] == f"homogeneity(disease) = {share:g} instead of homogeneity(disease) = 0.3."
    assert card["request"]["criteria"]["homogeneity"]["disease"] == pytest.approx(share, abs=1e-6)
    assert post(negotiating, "answer", {"request": card["request"]})["outcome"] == "exact"


def test_fixed_part_is_answered_and_written_into_the_spec(negotiating: Client) -> None:
    tables = [{"value": 0.6, "attribute": "disease", "base": "values"}]
    request = {"k": 3, "criteria": {"homogeneity": tables}}
    answer = post(evaluated_for(negotiating, request), "answer?suppressed=true", {"request": request})
    assert answer["request"]["criteria"] == {"homogeneity": tables}
    rows = draw()
    expected = {
        (age, city): suppressed_rows(rows, (age, city), 3, 0.6, known=True)
        for age in range(4)
        for city in range(2)
    }
    node = (answer["node"]["levels"]["age"], answer["node"]["levels"]["city"])
    assert expected[node] == 0
    post(negotiating, "spec", {"request": request})
    saved = negotiating.app.state.server.workspace_of("local").document()["request"]  # type: ignore[attr-defined]
    assert saved["homogeneity"] == tables
    assert negotiating.get("/api/publish").json()["criteria"] == {"homogeneity": tables}
    wrong = {"k": 3, "criteria": {"homogeneity": [{**tables[0], "base": "cells"}]}}
    refused = negotiating.post("/api/negotiate/answer", json={"request": wrong})
    assert refused.status_code == 400
    assert refused.json()["error"]["allowed"] == "rows, values"


def test_choice_is_kept_and_written_into_the_spec(negotiating: Client, spec: Path) -> None:
    request = {"k": 3, "criteria": {"homogeneity": {"disease": 0.6}}}
    answer = post(evaluated_for(negotiating, request), "answer", {"request": request})
    body = {"request": request, "levels": answer["node"]["levels"]}
    chosen = negotiating.put("/api/negotiate/choice", json=body).json()
    assert chosen["requirement"] == {"k": 3, "l": None, "criteria": {"homogeneity": {"disease": 0.6}}}
    assert negotiating.get("/api/negotiate").json()["choice"] == chosen
    post(negotiating, "spec", {"request": request})
    saved = negotiating.app.state.server.workspace_of("local").document()["request"]  # type: ignore[attr-defined]
    assert saved == {"k": 3, "max_suppressed": 0, "homogeneity": {"disease": 0.6}}
    assert negotiating.get("/api/publish").json()["criteria"] == {"homogeneity": {"disease": 0.6}}


def test_model_publishes_with_the_criterion(negotiating: Client) -> None:
    body: dict[str, Any] = {"model": "mondrian", "name": "out.csv", "k": 3, "max_suppressed": "50%"}
    body |= {"criteria": {"homogeneity": {"disease": 0.6}}}
    started = negotiating.post("/api/publish/jobs", json=body)
    assert started.status_code == 202, started.text
    path = f"/api/jobs/{started.json()['job']}"
    wait_for(lambda: is_done(negotiating.get(path).json()), "it is published")
    assert negotiating.get(path).json()["result"]["audit"]["passed"]
    folder = negotiating.app.state.server.workspace_of("local").releases  # type: ignore[attr-defined]
    assert largest_share(published_classes(folder / "out.csv")) <= 0.6
