"""Requests in words: every part, in versions, saved answers, the history and Compare."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from discreet.model.criteria.base import fixed_parameters
from discreet.model.criteria.registry import CRITERIA
from discreet.spec.spec_sections import RequestSection
from discreet.web.negotiation_forms import RequestBody
from discreet.web.screen_messages import describe_request
from tests.web.conftest import Client, MakeClient
from tests.web.negotiation import evaluated, write_philosophers
from tests.web.test_compare import classes_of, client, folder, rows_of, save
from tests.web.test_publish_routes import done

__all__ = ["client", "folder"]

PARTS: dict[str, tuple[Any, str]] = {
    "k": (7, "k = 7"),
    "l": ({"disease": 3, "income": 2}, "l = 3 of disease, l = 2 of income"),
    "max_suppressed": ("1.5%", "at most 1.5% suppressed"),
    "max_level": ({"age": 2}, "age at most level 2"),
    "min_level": ({"city": 1}, "city at least level 1"),
    "scope": ("global", "relaxed height anywhere"),
    "row_order": ("random", "rows in random order"),
    "cost": ({"name": "loss", "gs_factor": 0.66}, "by the cost loss (gs_factor 0.66)"),
    "criteria": ({"t": {"disease": 0.2}}, "t-closeness 0.2 of disease"),
}


def test_every_part_of_a_request_is_described() -> None:
    """A key of requests or of the spec without words fails."""
    criteria = {kind.name for kind in CRITERIA if not kind.has_keyword}
    keys = {*RequestBody.model_fields, *RequestSection.model_fields} - criteria
    assert keys == set(PARTS)
    for key, (value, words) in PARTS.items():
        assert describe_request({key: value}) == words
    assert describe_request({key: value for key, (value, _) in PARTS.items()}).count(", ") == 9
    assert describe_request({"max_suppressed": 12_000}) == "at most 12,000 suppressed"


@pytest.mark.parametrize(
    "kind", [kind for kind in CRITERIA if not kind.has_keyword], ids=lambda kind: kind.name
)
def test_every_criterion_is_described_by_its_title(kind: Any) -> None:
    stop = kind.parameter.slider[0]
    for given in (stop, [{"value": stop, "attribute": "disease"}], {"disease": stop}):
        words = describe_request({"k": 2, "criteria": {kind.name: given}})
        assert words.startswith(f"k = 2, {kind.title} {stop}")
        assert ("disease" in words) == (given != stop)
        assert describe_request({"k": 2, kind.name: given}) == words, "as the spec has it"
    for part in fixed_parameters(kind):
        assert f"({part.name} x)" in describe_request({kind.name: [{"value": stop, part.name: "x"}]})


def test_versions_saved_answers_and_history_describe_requests(
    make_client: MakeClient, tmp_path: Path
) -> None:
    found = evaluated(make_client(spec=write_philosophers(tmp_path)))
    request = {"k": 2, "max_suppressed": "50%", "criteria": {"t": 0.3}}
    evaluated(found, {"request": request})
    requests = [{**request, "criteria": {"t": t}} for t in (0.3, 0.5, 0.7)]
    requests += [
        {**request, "min_level": {"age": 1}},
        {**request, "cost": "lambda"},
        {**request, "scope": "global"},
    ]
    for i, each in enumerate(requests):
        answer = found.post("/api/negotiate/requests", json={"request": each})
        if answer.status_code == 400:  # unknown cost
            each["cost"] = "loss"
            answer = found.post("/api/negotiate/requests", json={"request": each})
        assert answer.status_code == 201, answer.text
        body = {"name": f"answer {i}", "levels": {}, "request": each}
        assert found.post("/api/compare/saved", json=body).status_code == 201
    versions = [each["words"] for each in found.get("/api/versions").json()["versions"]][: len(requests)]
    saved = [each["asked"] for each in found.get("/api/compare/saved").json()]
    history = [each["asked"] for each in found.get("/api/negotiate/requests").json()["requests"]]
    for texts in (versions, saved, history):
        assert len(set(texts)) == len(requests)
        assert all("t-closeness" in words for words in texts)
    assert [f"Request: {words}" for words in history] == versions[::-1]


def test_contender_is_checked_against_the_current_request(client: Client, folder: Path) -> None:
    """The expected verdict is a plain count of the groups that each answer publishes."""
    rows = rows_of(folder)
    nodes = [{"age": a, "city": c} for a, c in product((0, 1, 3), (0, 2))]
    owns = (1, 2, 4)
    for k in owns:
        for i, levels in enumerate(nodes):
            body = {"request": {"k": k, "max_suppressed": "90%"}, "name": f"{k} {i}", "levels": levels}
            assert client.post("/api/compare/saved", json=body).status_code == 201
    verdicts = set()
    for k, limit, bounds in ((3, "100%", {}), (2, 1, {}), (2, "100%", {"max_level": {"age": 1}})):
        client.post("/api/negotiate/requests", json={"request": {"k": k, "max_suppressed": limit, **bounds}})
        assert all(row["meets"] is None for row in client.get("/api/compare").json()["candidates"])
        found = done(client, "/api/compare/jobs", {})["result"]
        assert f"k = {k}" in found["asked"]
        for row, (own, levels) in zip(found["candidates"], product(owns, nodes), strict=True):
            assert row["asked"] == f"k = {own}, at most 90% suppressed"
            classes = classes_of(rows, levels, own)
            out = len(rows) - sum(classes.values())
            meets = all(size >= k for size in classes.values())
            meets &= out <= (limit if isinstance(limit, int) else len(rows) - 1)
            meets &= not bounds or levels["age"] <= 1
            assert row["meets"] == meets, row
            assert (row["unmet"] is None) == meets
            verdicts.add((row["unmet"] or "met").partition(" do ")[0].partition(",")[0])
    assert {"met", "its groups", "its levels are not allowed"} < verdicts
    assert any("suppressed" in words for words in verdicts)


def test_release_is_checked_by_counting_its_file(client: Client) -> None:
    save(client, "kept", {"age": 1, "city": 1})
    done(client, "/api/publish/jobs", {"model": "mondrian", "name": "m.csv", "k": 2})
    done(client, "/api/publish/jobs", {"model": "mondrian", "name": "n.csv", "k": 4})
    for k, expected in ((2, {"m.csv": True, "n.csv": True}), (4, {"m.csv": False, "n.csv": True})):
        client.post("/api/negotiate/requests", json={"request": {"k": k, "max_suppressed": "50%"}})
        found = done(client, "/api/compare/jobs", {})["result"]["candidates"]
        releases = {row["name"]: row for row in found if row["kind"] == "release"}
        assert {name: row["meets"] for name, row in releases.items()} == expected
        assert releases["m.csv"]["asked"].startswith("k = 2")
    client.post("/api/negotiate/requests", json={"request": {"k": 2, "max_level": {"age": 1}}})
    found = done(client, "/api/compare/jobs", {})["result"]["candidates"]
    row = next(row for row in found if row["name"] == "m.csv")
    assert (row["meets"], row["unmet"]) == (None, "its levels are unknown")
    assert client.get("/api/publish").json()["requested_levels"] == "age at most level 1"
