"""Steps shared by the tests of the first three screens."""

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
    """Return the signed-in user's workspace."""
    found: Workspace = client.app.state.server.workspace_of(LOCAL_USER)  # type: ignore[attr-defined]
    return found


def finished(client: TestClient, job: str) -> dict[str, Any]:
    """Wait for a job and return it."""
    client.app.state.server.jobs_of(LOCAL_USER).wait(job, PATIENCE)  # type: ignore[attr-defined]
    found: dict[str, Any] = client.get(f"/api/jobs/{job}").json()
    return found


def upload(client: TestClient, name: str, text: str) -> str:
    """Write a file to the uploads and return its path as used in the spec."""
    path = workspace_of(client).uploads / name
    path.write_text(text, encoding="utf-8")
    return f"uploads/{name}"


def open_people(client: TestClient, text: str = PEOPLE) -> dict[str, Any]:
    """Upload and open a small table; return the summary."""
    answer = client.post("/api/load/open", json={"path": upload(client, "people.csv", text)})
    assert answer.status_code == 202, answer.text
    job = finished(client, answer.json()["job"])
    assert job["state"] == "done", job
    found: dict[str, Any] = job["result"]
    return found


def error_of(answer: Any, status: int = 400) -> dict[str, Any]:
    """Check the status of an answer and return its error."""
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()["error"]
    return found
