"""Copied scripts: each runs and returns the answer that the page shows."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.main import main
from discreet.model.release_address import ReleaseAddress
from discreet.verbs.scripts import make_attack_script, make_query_script
from tests.attacks.test_linkage import PATIENTS, table_of
from tests.drawing import in_turn
from tests.web.conftest import Client, MakeClient
from tests.web.negotiation import evaluated
from tests.web.test_publish_routes import done


@pytest.fixture
def client(make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Return a client with an evaluated lattice; scripts run in a separate folder."""
    data = tmp_path / "the data"
    data.mkdir()
    table_of(data, [*PATIENTS, {"name": "odd", "age": "27", "city": "Trier", "disease": "b"}])
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path / "runs")
    found = make_client(spec=data / "discreet.toml")
    return evaluated(found)


def script(client: Client, kind: str, body: dict[str, Any]) -> dict[str, str]:
    answer = client.post(f"/api/scripts/{kind}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, str] = answer.json()
    return found


def by_command(text: str) -> dict[str, Any]:
    """Run a copied command with ``--json`` and return the parsed output."""
    program, *words = shlex.split(text)
    assert program == "discreet"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main([*words, "--json"])
    found: dict[str, Any] = json.loads(printed.getvalue())
    return found


def by_python(text: str, shown: str) -> Any:
    """Run a copied program and return the variable ``shown``."""
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "copied", "exec"), names)
    assert printed.getvalue().strip()
    return names[shown]


REQUESTS: list[dict[str, Any]] = [
    {"k": 2},
    {"k": 3, "max_suppressed": "20%", "max_level": {"age": 1}},
    {"k": 2, "l": 2, "max_suppressed": 4, "min_level": {"city": 1}, "scope": "global"},
    {"l": {"disease": 2}, "max_suppressed": "5%"},
    {"k": 2, "criteria": {"t": 0.9}},
]


DEFAULTS: list[dict[str, Any]] = [{}, {"k": 4, "l": 2, "max_level": {"age": 0}, "scope": "above"}]


@pytest.mark.parametrize(("request_", "defaults"), in_turn(REQUESTS, DEFAULTS))
def test_request_script_returns_the_same_answer(
    client: Client, request_: dict[str, Any], defaults: dict[str, Any]
) -> None:
    workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    if defaults:
        workspace.save_spec({**workspace.document(), "request": defaults})
    body = {"request": request_}
    evaluated(client, body)
    answered = client.post("/api/negotiate/answer", json=body)
    assert answered.status_code == 200, answered.text
    shown = answered.json()
    copied = script(client, "request", body)
    printed = by_command(copied["command"])
    counted = [(a["levels"], a["suppressed"]) for a in shown["answers"]]
    assert [(a["levels"], a["suppressed"]) for a in printed["answers"]] == counted
    answer = by_python(copied["python"], "answer").as_json()
    assert answer["outcome"] == shown["outcome"]
    assert [(a["levels"], a["suppressed"]) for a in answer["answers"]] == counted


def test_script_without_a_criterion_of_the_spec_is_refused(client: Client) -> None:
    workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    workspace.save_spec({**workspace.document(), "request": {"k": 2, "t": 0.4}})
    refused = client.post("/api/scripts/request", json={"request": {"k": 2}})
    assert refused.status_code == 400
    assert "t=0.4" in refused.json()["error"]["message"]


RELEASES: list[dict[str, Any]] = [
    {"model": "negotiated", "levels": {"age": 1, "city": 0}, "k": 2, "max_suppressed": "50%"},
    {"model": "mondrian", "k": 2, "options": {"cut": "median", "summary": "sets"}, "suppressed_rows": "star"},
    {"model": "patterns", "k": 2, "max_suppressed": "100%", "options": {"keep": ["age"], "max_stars": "2"}},
    {"model": "permutation", "k": 2, "options": {"partition": "recoding", "merge_failing": True}},
    {"model": "full-domain", "k": 3, "l": 2, "order": "sorted"},
]


@pytest.mark.parametrize(
    "body", RELEASES, ids=lambda body: "-".join([body["model"], *body.get("options", {})])
)
def test_release_script_publishes_the_same(client: Client, tmp_path: Path, body: dict[str, Any]) -> None:
    named = {**body, "name": "the people.csv"}
    job = done(client, "/api/publish/jobs", named)
    assert job["state"] == "done", job["error"]
    made = client.app.state.server.workspace_of("local").releases / named["name"]  # type: ignore[attr-defined]
    copied = script(client, "release", named)
    by_command(copied["command"])
    here = tmp_path / "runs" / named["name"]
    assert comparable(here) == comparable(made)
    here.unlink()
    for each in here.parent.iterdir():
        each.unlink()
    by_python(copied["python"], "release")
    assert comparable(here) == comparable(made)


def comparable(release: Path) -> list[str]:
    """Return the lines without the randomly drawn part: the sensitive values of a permutation."""
    lines = release.read_text().splitlines()
    return [line.rpartition(",")[0] for line in lines] if "group" in lines[0] else lines


def test_query_script_returns_the_same_answer(client: Client) -> None:
    done(client, "/api/publish/jobs", {"model": "mondrian", "name": "out.csv", "k": 2})
    body = {"release": "out.csv", "sql": "SELECT COUNT(*) FROM release WHERE age < 25 GROUP BY city"}
    shown = client.post("/api/analyst/query", json=body).json()["rows"]
    bounds = [(row["lower"], row["upper"], row["estimate"]) for row in shown]
    copied = script(client, "query", body)
    printed = by_command(copied["command"])["rows"]
    assert [(row["lower"], row["upper"], row["estimate"]) for row in printed] == bounds
    answer = by_python(copied["python"], "answer")
    assert [(row.lower, row.upper, row.estimate) for row in answer.rows] == bounds


LINKAGE = {
    "outside": "a file.csv",
    "match": {"age": "age"},
    "key": "name=name",
    "threshold": "0.2",
    "dominance": "0.7",
}


@pytest.mark.parametrize("options", [LINKAGE, {"by": "intersection", "files": {"earlier": ["before.csv"]}}])
def test_attack_script_returns_the_same_result(client: Client, options: dict[str, Any]) -> None:
    for name, k in (("out.csv", 2), ("before.csv", 3)):
        done(client, "/api/publish/jobs", {"model": "mondrian", "name": name, "k": k})
    workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    people = (workspace.spec_path.parent / "people.csv").read_bytes()
    assert client.put("/api/workspace/uploads/a file.csv", content=people).status_code == 201
    body = {"release": "out.csv", **options}
    shown = done(client, "/api/attacker/jobs", body)["result"]
    copied = script(client, "attack", body)
    printed = by_command(copied["command"])
    assert printed == by_python(copied["python"], "result").as_json()
    for name in set(printed) - {"release"}:
        assert shown[name] == printed[name], name


def test_release_without_a_command_has_a_program(client: Client) -> None:
    body = {"model": "patterns", "name": "a.csv", "k": 2, "max_suppressed": "50%"}
    done(client, "/api/publish/jobs", {**body, "name": "out.csv"})
    body |= {"options": {"weights": "age=2\ncity=1.5"}, "previous_releases": ["out.csv"]}
    copied = script(client, "release", body)
    assert copied["command"] is None
    assert "Copy it as Python" in copied["advice"]
    by_python(copied["python"], "release")
    assert Path("a.csv").is_file()


def test_script_contains_no_password(client: Client) -> None:
    address = ReleaseAddress(table="out.people", url="postgresql://anna:secret@host/db")
    for found in (
        make_query_script(address, "SELECT COUNT(*) FROM release", None),
        make_attack_script(address, None, threshold="0.1"),
    ):
        assert found.command is not None
        assert "secret" not in found.command + found.python
        assert "--table out.people" in found.command
        compile(found.python, "copied", "exec")
