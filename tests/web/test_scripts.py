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


def script(client: Client, what: str, body: dict[str, Any]) -> dict[str, str]:
    answer = client.post(f"/api/scripts/{what}", json=body)
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
def test_a_request_is_answered_alike(
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
    told = by_command(copied["command"])
    counted = [(a["levels"], a["suppressed"]) for a in shown["answers"]]
    assert [(a["levels"], a["suppressed"]) for a in told["answers"]] == counted
    answer = by_python(copied["python"], "answer").as_json()
    assert answer["outcome"] == shown["outcome"]
    assert [(a["levels"], a["suppressed"]) for a in answer["answers"]] == counted


def test_a_criterion_of_the_settings_that_the_request_lacks_is_said(client: Client) -> None:
    workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    workspace.save_spec({**workspace.document(), "request": {"k": 2, "t": 0.4}})
    refused = client.post("/api/scripts/request", json={"request": {"k": 2}})
    assert refused.status_code == 400
    assert "t=0.4" in refused.json()["error"]["message"]


RELEASES: list[dict[str, Any]] = [
    {"model": "negotiated", "levels": {"age": 1, "city": 0}, "k": 2, "max_suppressed": "50%"},
    {"model": "mondrian", "k": 2, "options": {"cut": "median", "summary": "sets"}, "suppressed": "star"},
    {
        "model": "patterns",
        "k": 2,
        "max_suppressed": "20%",
        "options": {"together": "age,city", "max_stars": "2"},
    },
    {"model": "patterns", "k": 2, "options": {"never": ["age"]}, "max_suppressed": "100%"},
    {"model": "permutation", "k": 2, "options": {"partition": "recoding", "merge_failing": True}},
    {"model": "full-domain", "k": 3, "l": 2, "order": "sorted"},
]


@pytest.mark.parametrize(
    "body", RELEASES, ids=lambda body: "-".join([body["model"], *body.get("options", {})])
)
def test_a_release_is_published_alike(client: Client, tmp_path: Path, body: dict[str, Any]) -> None:
    named = {**body, "name": "the people.csv"}
    job = done(client, "/api/publish/jobs", named)
    assert job["state"] == "done", job["error"]
    made = client.app.state.server.workspace_of("local").releases / named["name"]  # type: ignore[attr-defined]
    copied = script(client, "release", named)
    by_command(copied["command"])
    here = tmp_path / "runs" / named["name"]
    assert comparable(here) == comparable(made)
    here.unlink()
    for beside in here.parent.iterdir():
        beside.unlink()
    by_python(copied["python"], "release")
    assert comparable(here) == comparable(made)


def comparable(release: Path) -> list[str]:
    """Return the lines without the randomly drawn part: the sensitive values of a permutation."""
    lines = release.read_text().splitlines()
    return [line.rpartition(",")[0] for line in lines] if "group" in lines[0] else lines


def test_a_query_is_answered_alike(client: Client) -> None:
    done(client, "/api/publish/jobs", {"model": "mondrian", "name": "out.csv", "k": 2})
    body = {"release": "out.csv", "sql": "SELECT COUNT(*) FROM release WHERE age < 25 GROUP BY city"}
    shown = client.post("/api/analyst/query", json=body).json()["rows"]
    bounds = [(row["lower"], row["upper"], row["estimate"]) for row in shown]
    copied = script(client, "query", body)
    told = by_command(copied["command"])["rows"]
    assert [(row["lower"], row["upper"], row["estimate"]) for row in told] == bounds
    answer = by_python(copied["python"], "answer")
    assert [(row.lower, row.upper, row.estimate) for row in answer.rows] == bounds


def test_an_attack_finds_the_same(client: Client) -> None:
    done(client, "/api/publish/jobs", {"model": "mondrian", "name": "out.csv", "k": 2})
    workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    people = (workspace.spec_path.parent / "people.csv").read_bytes()
    assert client.put("/api/workspace/uploads/a file.csv", content=people).status_code == 201
    body = {
        "release": "out.csv",
        "outside": "a file.csv",
        "match": {"age": "age"},
        "key": "name=name",
        "threshold": "0.2",
        "dominance": "0.7",
    }
    shown = done(client, "/api/attacker/jobs", body)["result"]
    copied = script(client, "attack", body)
    told = by_command(copied["command"])
    found = by_python(copied["python"], "result").as_json()
    assert told == found
    for name in set(told) - {"release"}:
        assert shown[name] == told[name], name


def test_an_attack_by_name_and_a_release_beside_an_earlier_one_are_copied(client: Client) -> None:
    """The scripts include the given files, and both forms reproduce the page's result."""
    for name, k in (("out.csv", 2), ("before.csv", 3)):
        done(client, "/api/publish/jobs", {"model": "mondrian", "name": name, "k": k})
    body = {"release": "out.csv", "by": "intersection", "files": {"earlier": ["before.csv"]}}
    shown = done(client, "/api/attacker/jobs", body)["result"]
    copied = script(client, "attack", body)
    assert "--by intersection --earlier" in copied["command"]
    told = by_command(copied["command"])
    assert told == by_python(copied["python"], "result").as_json()
    assert told["findings"] == shown["findings"]
    again = {"model": "mondrian", "name": "again.csv", "k": 2, "after": ["out.csv"]}
    copied = script(client, "release", again)
    assert " --after " in copied["command"]
    by_command(copied["command"])
    Path("again.csv").unlink()
    Path("again.csv.manifest.json").unlink()
    by_python(copied["python"], "release")
    assert Path("again.csv").is_file()


def test_what_no_line_can_say_is_said_in_python(client: Client) -> None:
    body = {"model": "patterns", "name": "a.csv", "k": 2, "max_suppressed": "50%"}
    body |= {"options": {"weights": "age=2\ncity=1.5"}}
    copied = script(client, "release", body)
    assert copied["command"] is None
    assert "Copy it as Python" in copied["advice"]
    by_python(copied["python"], "release")
    assert Path("a.csv").is_file()


def test_an_address_with_a_password_is_never_written(client: Client) -> None:
    address = ReleaseAddress(table="out.people", url="postgresql://anna:secret@host/db")
    for found in (
        make_query_script(address, "SELECT COUNT(*) FROM release", None),
        make_attack_script(address, None, threshold="0.1"),
    ):
        assert found.command is not None
        assert "secret" not in found.command + found.python
        assert "--table out.people" in found.command
        compile(found.python, "copied", "exec")
