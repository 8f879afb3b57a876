"""Negotiate without a browser: every route, and the socket's frames against the REST answers."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from discreet.settings import Settings
from discreet.web import negotiations
from tests.waiting import PATIENCE
from tests.web.conftest import MakeClient
from tests.web.negotiation import evaluated, write_large, write_philosophers

LEVEL_1 = {"age": 1, "work_class": 1, "education": 1}
LIMITED = {"k": 4, "max_level": LEVEL_1}
KINDS = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "f4": "<f4"}


def read_frame(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Decode a frame from its documented format only."""
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    base = 4 + length
    arrays = {}
    for name, (at, size, kind) in header["arrays"].items():
        assert (base + at) % 8 == 0
        arrays[name] = np.frombuffer(data[base + at : base + at + size], KINDS[kind])
    return header, arrays


@pytest.fixture
def negotiating(make_client: MakeClient, tmp_path: Path) -> TestClient:
    """Return a client whose table is the documentation's example, with an evaluated lattice."""
    return evaluated(make_client(spec=write_philosophers(tmp_path)))


def post(client: TestClient, path: str, body: dict[str, Any]) -> Any:
    answer = client.post(f"/api/negotiate/{path}", json=body)
    assert answer.status_code < 300, answer.text
    return answer.json()


def test_workspace_without_a_spec_advises_to_load(client: TestClient) -> None:
    answer = client.get("/api/negotiate")
    assert answer.status_code == 404
    assert "Load" in answer.json()["error"]["advice"]


def test_request_before_the_evaluation_is_a_conflict(make_client: MakeClient, tmp_path: Path) -> None:
    client = make_client(spec=write_philosophers(tmp_path))
    assert client.get("/api/negotiate").json()["evaluated"] is False
    refused = client.post("/api/negotiate/answer", json={"request": {"k": 2}})
    assert refused.status_code == 409
    assert refused.json()["error"]["kind"] == "conflict"


def test_evaluation_for_a_criterion_starts_during_another(
    make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request arrives during an evaluation for k only, which does not answer it."""
    client = make_client(spec=write_philosophers(tmp_path))
    may_go_on, evaluate = Event(), negotiations.run_evaluation

    def held(*arguments: Any) -> Any:
        assert may_go_on.wait(PATIENCE)
        return evaluate(*arguments)

    monkeypatch.setattr(negotiations, "run_evaluation", held)
    first = client.post("/api/negotiate/evaluation").json()["job"]
    again = client.post("/api/negotiate/evaluation").json()["job"]
    with_t = {"request": {"k": 2, "criteria": {"t": 0.9}}}
    other = client.post("/api/negotiate/evaluation", json=with_t).json()["job"]
    may_go_on.set()
    assert first == again != other
    evaluated(client, with_t)
    assert post(client, "answer", with_t)["outcome"]


def test_lattice_lists_levels_with_examples(negotiating: TestClient) -> None:
    facts = negotiating.get("/api/negotiate/lattice").json()
    assert (facts["nodes"], facts["of"], facts["rows"], facts["partial"]) == (60, 60, 10, False)
    assert facts["starts"][0] == 0
    assert facts["starts"][-1] == 60
    education = facts["attributes"][2]
    assert education["height"] == 2
    assert education["levels"][2] == {"values": 1, "examples": ["*"]}
    assert education["levels"][1]["values"] == 2
    assert facts["sensitive"] == [{"name": "hours_per_week", "values": 6}]
    assert facts["defaults"]["k"] == 5
    assert facts["defaults"]["max_suppressed"] == "1%"


def test_answer_has_relaxations_and_suppression(negotiating: TestClient) -> None:
    answer = post(negotiating, "answer?suppressed=true", {"request": LIMITED})
    assert answer["outcome"] == "relaxed"
    found = {each["relaxed"]: (each["levels"], each["k"], each["suppressed"]) for each in answer["answers"]}
    assert found == {
        "max_suppressed": ({"age": 1, "work_class": 0, "education": 1}, 4, 6),
        "height": ({"age": 2, "work_class": 2, "education": 1}, 4, 0),
        "k": ({"age": 1, "work_class": 1, "education": 1}, 3, 0),
    }
    assert "at least 6 (60.0%)" in answer["sentences"][0]["text"]
    assert len(answer["suppressed"]) == 60
    assert answer["suppressed"][answer["high_place"]] == 6
    assert answer["node"]["place"] == answer["answers"][0]["place"]


@pytest.mark.parametrize("relaxed", ["max_suppressed", "height", "k"])
def test_card_leads_to_an_exact_answer(negotiating: TestClient, relaxed: str) -> None:
    answer = post(negotiating, "answer", {"request": LIMITED})
    card = next(each for each in answer["cards"] if each["relaxed"] == relaxed)
    node = next(each for each in answer["answers"] if each["relaxed"] == relaxed)
    after = post(negotiating, "answer", {"request": card["request"]})
    assert after["outcome"] == "exact"
    assert after["answers"][0]["height"] <= node["height"]
    assert after["answers"][0]["suppressed"] <= max(node["suppressed"], after["limit"])


@pytest.mark.parametrize(("l", "changed"), [(4, 3), ({"hours_per_week": 4}, {"hours_per_week": 3})])
def test_l_is_relaxed_by_a_card(negotiating: TestClient, l: Any, changed: Any) -> None:
    answer = post(negotiating, "answer", {"request": {"k": 3, "l": l, "max_level": LEVEL_1}})
    card = next(each for each in answer["cards"] if each["relaxed"] == "l")
    assert card["request"]["l"] == changed
    assert isinstance(l, dict) or card["change"] == "l = 3 instead of l = 4."


def test_nodes_have_classes_neighbours_and_a_comparison(negotiating: TestClient) -> None:
    node = post(negotiating, "node", {"request": {"k": 4}, "levels": LEVEL_1})
    assert (node["classes"], node["kept"], node["smallest"], node["suppressed"]) == (3, 1, 4, 6)
    assert sum(part["kept"] for part in node["sizes"]) == 4
    assert sum(part["suppressed"] for part in node["sizes"]) == 6
    assert {(n["attribute"], n["step"]): n["suppressed"] for n in node["neighbours"]}[("age", -1)] == 10
    body = {"request": LIMITED, "nodes": [LEVEL_1, {"age": 4, "work_class": 3, "education": 2}]}
    first, second = post(negotiating, "comparison", body)["nodes"]
    assert (first["meets"], first["within_levels"]) == (False, True)
    assert (second["meets"], second["within_levels"], second["loss"]) == (True, False, 1.0)
    attributes = post(negotiating, "attributes", {"request": LIMITED})["attributes"]
    assert [each["attribute"] for each in attributes] == ["age", "work_class", "education"]


def test_rows_before_and_after(negotiating: TestClient) -> None:
    body = {"request": {"k": 4}, "levels": LEVEL_1, "number": 20}
    found = post(negotiating, "rows", body)
    assert found["attributes"] == ["age", "work_class", "education"]
    rows = {tuple(row["before"]): row for row in found["rows"]}
    assert rows[("39", "Private", "HS-grad")]["after"] == ["37-41", "Private", "Without-post-secondary"]
    assert rows[("39", "Private", "HS-grad")]["size"] == 4
    assert rows[("28", "Local-gov", "Bachelors")]["suppressed"] is True
    assert sum(row["rows"] for row in found["rows"]) == 10


def test_table_of_nodes_is_paged_sorted_and_filtered(negotiating: TestClient) -> None:
    page = post(negotiating, "nodes", {"request": {"k": 4}, "number": 7, "first": 14, "order": "suppressed"})
    assert page["total"] == 60
    assert len(page["nodes"]) == 7
    suppressed = [node["suppressed"] for node in page["nodes"]]
    assert suppressed == sorted(suppressed)
    meeting = post(negotiating, "nodes", {"request": {"k": 4}, "only": "meets", "number": 60})
    assert all(node["meets"] and node["suppressed"] == 0 for node in meeting["nodes"])
    frontier = post(negotiating, "nodes", {"request": {"k": 4}, "only": "frontier", "number": 60})
    named = post(negotiating, "frontier", {"request": {"k": 4}})
    assert [tuple(n["levels"].values()) for n in named["nodes"]] == [(0, 0, 0), (1, 0, 1), (2, 2, 1)]
    assert [n["place"] for n in frontier["nodes"]] == [n["place"] for n in named["nodes"]]


def test_history_choice_and_spec_are_stored(negotiating: TestClient) -> None:
    post(negotiating, "requests", {"request": LIMITED})
    assert negotiating.get("/api/negotiate/requests").json()["requests"][0]["outcome"] == "relaxed"
    assert negotiating.get("/api/negotiate").json()["request"]["max_level"] == LEVEL_1
    body = {"request": {"k": 3}, "levels": LEVEL_1}
    chosen = negotiating.put("/api/negotiate/choice", json=body).json()
    assert (chosen["height"], chosen["suppressed"]) == (3, 0)
    assert negotiating.get("/api/negotiate/choice").json() == chosen
    refused = negotiating.put("/api/negotiate/choice", json={"request": {"k": 4}, "levels": LEVEL_1})
    assert refused.status_code == 409
    assert negotiating.delete("/api/negotiate/choice").status_code == 204
    assert negotiating.get("/api/negotiate/choice").json() is None
    post(negotiating, "spec", {"request": {**LIMITED, "l": 2, "max_suppressed": "2%"}})
    document = negotiating.get("/api/workspace/spec").json()["document"]
    assert document["request"] == {"k": 4, "l": 2, "max_suppressed": "2%", "max_level": LEVEL_1}
    assert negotiating.get("/api/negotiate").json()["evaluated"] is True, "the table is the same"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 4, "max_level": {"age": 9}}, "level 9 of 'age'"),
        ({"k": 4, "max_level": {"size": 1}}, "'size' is not a quasi-identifier"),
        ({"k": 4, "l": {"age": 2}}, "not a sensitive attribute"),
        ({"k": 4, "max_suppressed": "200%"}, "a suppression limit of 200%"),
        ({}, "no privacy criterion was given"),
        ({"k": 4, "max_level": {"age": 1}, "min_level": {"age": 2}}, "is above its greatest"),
    ],
)
def test_invalid_request_is_refused_by_rest_and_socket(
    negotiating: TestClient, wrong: dict[str, Any], message: str
) -> None:
    answer = negotiating.post("/api/negotiate/answer", json={"request": wrong})
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
    with negotiating.websocket_connect("/api/negotiate/socket") as socket:
        socket.send_text(json.dumps({"id": 3, "request": wrong}))
        header, arrays = read_frame(socket.receive_bytes())
    assert header["id"] == 3
    assert message in header["error"]["message"]
    assert arrays == {}


def test_frames_equal_rest_and_send_nothing_twice(negotiating: TestClient) -> None:
    rest = post(negotiating, "answer?suppressed=true", {"request": LIMITED})
    with negotiating.websocket_connect("/api/negotiate/socket") as socket:
        socket.send_text(json.dumps({"id": 1, "request": LIMITED, "frontier": True}))
        header, arrays = read_frame(socket.receive_bytes())
        assert set(arrays) == {"levels", "losses", "suppressed"}
        assert arrays["suppressed"].tolist() == rest["suppressed"]
        assert header["frontier"] == rest["frontier"]
        assert header["cards"] == rest["cards"]
        levels = arrays["levels"].reshape(60, 3)
        heights = levels.sum(axis=1)
        assert np.array_equal(np.searchsorted(heights, range(11)), header["starts"])
        assert levels[header["high_place"]].tolist() == [1, 1, 1]

        socket.send_text(json.dumps({"id": 2, "request": {**LIMITED, "max_suppressed": 6}}))
        header, arrays = read_frame(socket.receive_bytes())
        assert (header["id"], header["outcome"], header["limit"]) == (2, "exact", 6)
        assert arrays == {}, "the same requirement: every colour is known"

        socket.send_text(json.dumps({"id": 3, "request": {"k": 2}, "levels": LEVEL_1, "frontier": True}))
        header, arrays = read_frame(socket.receive_bytes())
        assert set(arrays) == {"suppressed"}
        assert header["node"]["asked"] is True
        assert header["node"]["levels"] == LEVEL_1

        socket.send_text('{"request": {"k": "five"}, "surprise": 1}')
        assert read_frame(socket.receive_bytes())[0]["error"]["kind"] == "bad-input"
        socket.send_text(json.dumps({"id": 9, "request": {"k": 11}}))
        sentences = read_frame(socket.receive_bytes())[0]["sentences"]
        assert sentences[-1]["text"] == "No solution by relaxing the limit of suppressed rows or the levels."


def test_large_lattice_is_negotiated_in_part(make_client: MakeClient, tmp_path: Path) -> None:
    settings = Settings(memory_limit=32 * 10**6, threads=1, private_log=tmp_path / "log.jsonl")
    client = evaluated(make_client(spec=write_large(tmp_path), settings=settings))
    facts = client.get("/api/negotiate/lattice").json()
    assert facts["partial"] is True
    assert 32 <= facts["nodes"] < facts["of"] == 180_000
    with client.websocket_connect("/api/negotiate/socket") as socket:
        socket.send_text(
            json.dumps({"id": 1, "request": {"k": 20, "max_suppressed": "5%"}, "frontier": True})
        )
        header, arrays = read_frame(socket.receive_bytes())
        nodes = len(arrays["losses"])
        assert nodes == len(arrays["suppressed"]) == header["starts"][-1]
        (text,) = [line["text"] for line in header["sentences"] if "partial lattice" in line["text"]]
        assert "ranked by" not in text
        place = header["answers"][0]["place"]
        assert arrays["suppressed"][place] == header["answers"][0]["suppressed"]
        assert set(header["frontier"]) <= set(range(nodes))


def test_frontier_of_a_cost_agrees_everywhere(negotiating: TestClient) -> None:
    """REST, the socket and Python agree; the spec accepts the cost, and the cards keep it."""
    cost = {"name": "loss", "aggregate": "rank"}
    request = {**LIMITED, "cost": cost}
    named = post(negotiating, "frontier", {"request": request})
    found = {
        node["place"]: parts
        for node, parts in zip(named["nodes"], named["frontier_cost"]["costs"], strict=True)
    }
    assert named["frontier_cost"]["name"] == "loss"
    for node, parts in zip(named["nodes"], named["frontier_cost"]["costs"], strict=True):
        body = {"request": request, "levels": node["levels"]}
        shown = post(negotiating, "node", body)["cost"]
        assert shown == {"name": "loss", "value": parts[0] if len(parts) == 1 else parts}
        [compared] = post(negotiating, "comparison", {"request": request, "nodes": [node["levels"]]})["nodes"]
        assert compared["cost"] == shown
    off = post(negotiating, "node", {"request": request, "levels": {}})
    assert off["cost"]["value"] is not None
    assert "cost" not in post(negotiating, "node", {"request": LIMITED, "levels": {}})
    assert all(len(parts) == 3 for parts in found.values())
    keys = {node["place"]: (found[node["place"]], node["suppressed"]) for node in named["nodes"]}
    assert not any(a != b and a[0] <= b[0] and a[1] <= b[1] for a in keys.values() for b in keys.values())
    plain = post(negotiating, "frontier", {"request": LIMITED})
    assert "frontier_cost" not in plain
    with negotiating.websocket_connect("/api/negotiate/socket") as socket:
        for requested, number in ((LIMITED, 1), (request, 2), (request, 3)):
            socket.send_text(json.dumps({"id": number, "request": requested, "frontier": number < 3}))
            header, arrays = read_frame(socket.receive_bytes())
            assert ("suppressed" in arrays) == (number == 1)
            if number == 2:
                assert header["frontier"] == list(found)
                assert header["frontier_cost"] == named["frontier_cost"]
                assert all(card["request"]["cost"] == cost for card in header["cards"])
            assert ("frontier" in header) == (number < 3)
    refused = negotiating.post("/api/negotiate/frontier", json={"request": {**LIMITED, "cost": "los"}})
    assert refused.status_code == 400
    assert "Did you mean 'loss'?" in refused.text
    assert negotiating.post("/api/negotiate/spec", json={"request": request}).status_code == 200
    facts = negotiating.get("/api/negotiate").json()
    assert facts["request"]["k"] == 4
