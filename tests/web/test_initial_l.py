"""The default l = 2 of requests on sensitive columns; request values survive a change of roles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.web.conftest import Client, MakeClient
from tests.web.negotiation import evaluated, write_philosophers
from tests.web.routes.preparation import open_people, workspace_of
from tests.web.test_negotiate import read_frame


def initial_request(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/negotiate").json()["request"]
    return found


def give(client: Client, **roles: str) -> None:
    changes = [{"name": name, "role": role} for name, role in roles.items()]
    answer = client.put("/api/columns", json={"changes": changes})
    assert answer.status_code == 200, answer.text


def test_initial_request_has_l_2_for_a_sensitive_column(client: Client) -> None:
    open_people(client)
    assert (initial_request(client)["k"], initial_request(client)["l"]) == (5, 2)
    assert client.get("/api/publish").json()["l"] == 2
    give(client, disease="insensitive")
    assert initial_request(client)["l"] is None


def test_request_of_the_spec_is_unchanged(make_client: MakeClient, tmp_path: Path) -> None:
    spec = write_philosophers(tmp_path)
    spec.write_text(spec.read_text() + "[request]\nk = 3\n")
    found = initial_request(make_client(spec=spec))
    assert (found["k"], found["l"]) == (3, None)


@pytest.mark.parametrize(
    ("requested", "roles", "then"),
    [
        (None, {"disease": "sensitive"}, 2),
        (None, {"disease": "sensitive", "sex": "sensitive"}, 2),
        (3, {"sex": "sensitive", "disease": "sensitive"}, 3),
        ({"sex": 1}, {"disease": "sensitive"}, {"sex": 1, "disease": 2}),
    ],
)
def test_column_that_becomes_sensitive_gets_l_2(
    client: Client, requested: Any, roles: dict[str, str], then: Any
) -> None:
    """An existing request gets the value in the same version as the role."""
    open_people(client)
    first = {"sex": "sensitive", "disease": "insensitive"} if isinstance(requested, dict) else {}
    give(client, **(first or {"disease": "insensitive"}))
    workspace = workspace_of(client)
    workspace.set_state("request", {"k": 25, "l": requested, "max_suppressed": "3%"})
    workspace.record_version()
    before = len(workspace.history.versions)
    give(client, **roles)
    assert initial_request(client)["l"] == then
    assert (initial_request(client)["k"], initial_request(client)["max_suppressed"]) == (25, "3%")
    assert len(workspace.history.versions) == before + 1
    client.post("/api/versions/undo")
    assert workspace.state("request")["l"] == requested


def test_change_of_roles_keeps_the_other_parts_of_the_request(client: Client) -> None:
    """Only the parts of a request that name the changed column are reset."""
    open_people(client)
    give(client, sex="sensitive")
    criteria = {"t": {"sex": 0.3, "disease": 0.2}, "alpha": [{"value": 0.7, "attribute": "sex"}]}
    request = {
        "k": 25,
        "l": {"sex": 2, "disease": 3},
        "max_suppressed": 7,
        "max_level": {"age": 1, "city": 1},
    }
    workspace_of(client).set_state("request", {**request, "criteria": criteria})
    give(client, sex="insensitive", city="insensitive")
    found = initial_request(client)
    assert (found["k"], found["l"], found["max_suppressed"]) == (25, {"disease": 3}, 7)
    assert found["max_level"] == {"age": 1}
    assert found["criteria"] == {"t": {"disease": 0.2}}
    both = {"t": 0.2, "average_risk": 0.5}
    workspace_of(client).set_state("request", {**request, "l": 3, "criteria": both})
    give(client, disease="insensitive")
    found = initial_request(client)
    assert (found["k"], found["l"], found["max_suppressed"]) == (25, None, 7)
    assert found["criteria"] == {"average_risk": 0.5}


def test_answer_counts_homogeneous_groups(make_client: MakeClient, tmp_path: Path) -> None:
    client = evaluated(make_client(spec=write_philosophers(tmp_path)))
    table = client.app.state.server.workspace_of("local").table()  # type: ignore[attr-defined]
    with client.websocket_connect("/api/negotiate/socket") as socket:
        for l, levels in ((None, None), (None, {"age": 4}), (2, None)):
            request = {"k": 1, "l": l, "max_suppressed": "90%"}
            socket.send_text(json.dumps({"id": 1, "request": request, "levels": levels}))
            header, _ = read_frame(socket.receive_bytes())
            answer = table.lattice().negotiate(k=1, l=l, max_suppressed="90%").answers[0]
            summary = table.lattice().node(answer, k=1, l=l)
            assert header["homogeneous"] == summary.homogeneous
            assert (header["homogeneous"]["hours_per_week"] > 0) == (l is None)
    body = {"request": {"k": 1, "max_suppressed": "90%"}, "levels": {}}
    assert client.put("/api/negotiate/choice", json=body).json()["homogeneous"] == {"hours_per_week": 10}
