"""Steps that tests of the first three screens share."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from discreet.web.server_state import LOCAL_USER
from discreet.web.workspace import Workspace
from tests.waiting import PATIENCE

PEOPLE = (
    "id,age,city,sex,disease\n"
    + "".join(f"p{i},{20 + i % 9},{'ABC'[i % 3]},{'mf'[i % 2]},{'xyz'[i % 3]}\n" for i in range(60))
    + "q,?,A,m,x\n"
)


def workspace_of(client: TestClient) -> Workspace:
    """The signed-in user's workspace."""
    found: Workspace = client.app.state.server.workspace_of(LOCAL_USER)  # type: ignore[attr-defined]
    return found


def finished(client: TestClient, job: str) -> dict[str, Any]:
    """A job once it has ended."""
    client.app.state.server.jobs_of(LOCAL_USER).wait(job, PATIENCE)  # type: ignore[attr-defined]
    found: dict[str, Any] = client.get(f"/api/jobs/{job}").json()
    return found


def upload(client: TestClient, name: str, text: str) -> str:
    """A file among the uploads; its path as the spec names it."""
    path = workspace_of(client).uploads / name
    path.write_text(text, encoding="utf-8")
    return f"uploads/{name}"


def open_people(client: TestClient, text: str = PEOPLE) -> dict[str, Any]:
    """A small table opened; the summary."""
    answer = client.post("/api/load/open", json={"path": upload(client, "people.csv", text)})
    assert answer.status_code == 202, answer.text
    job = finished(client, answer.json()["job"])
    assert job["state"] == "done", job
    found: dict[str, Any] = job["result"]
    return found


def error_of(answer: Any, status: int = 400) -> dict[str, Any]:
    """The error of an answer."""
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()["error"]
    return found
