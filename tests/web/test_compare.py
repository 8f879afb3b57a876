"""Compare: metrics against plain loops over rows, the points of every node, and pairs of rows."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cli.main import main
from discreet.errors import InputError
from tests.attacks.test_linkage import PATIENTS, table_of
from tests.waiting import PATIENCE
from tests.web.conftest import Client, MakeClient
from tests.web.test_negotiate import read_frame
from tests.web.test_publish_routes import done

REQUEST = {"k": 2, "max_suppressed": "50%"}
AGES = range(20, 28)
EAST = ("Berlin", "Dresden")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    table_of(made, [*PATIENTS, {"name": "odd", "age": "27", "city": "Trier", "disease": "b"}])
    return made


@pytest.fixture
def client(make_client: MakeClient, folder: Path) -> Client:
    found = make_client(spec=folder / "discreet.toml")
    job = found.post("/api/negotiate/evaluation").json()["job"]
    found.app.state.server.jobs_of("local").wait(job, PATIENCE)  # type: ignore[attr-defined]
    return found


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "people.csv").open() as file:
        return list(csv.DictReader(file))


def classes_of(rows: list[dict[str, str]], levels: dict[str, int], k: int) -> dict[tuple[str, str], int]:
    """Count the rows of each published class of a node, row by row."""
    found: dict[tuple[str, str], int] = {}
    for row in rows:
        age, city = row["age"], row["city"]
        if levels["age"]:
            age = "*" if levels["age"] == 3 else str((int(age) - 20) // (2 * levels["age"]))
        if levels["city"]:
            city = "*" if levels["city"] == 2 else ("east" if city in EAST else "west")
        found[age, city] = found.get((age, city), 0) + 1
    return {shown: size for shown, size in found.items() if size >= k}


def save(client: Client, name: str, levels: dict[str, int]) -> None:
    answer = client.post("/api/compare/saved", json={"name": name, "request": REQUEST, "levels": levels})
    assert answer.status_code == 201, answer.text


def test_figures_of_answers_equal_a_plain_count(client: Client, folder: Path) -> None:
    rows = rows_of(folder)
    nodes = [{"age": a, "city": c} for a, c in product((0, 1, 2, 3), (0, 1, 2))]
    for i, levels in enumerate(nodes):
        save(client, f"node {i}", levels)
    found = done(client, "/api/compare/jobs", {})["result"]
    assert [row["letter"] for row in found["candidates"]] == list("ABCDEFGHIJKL")
    for levels, row in zip(nodes, found["candidates"], strict=True):
        classes = classes_of(rows, levels, 2)
        figures, kept = row["figures"], sum(classes.values())
        assert (figures["kept"], figures["classes"]) == (kept, len(classes))
        assert figures["found"] == pytest.approx(len(classes) / kept if kept else None)
        assert figures["highest"] == (1 / min(classes.values()) if classes else None)
    kept = client.get("/api/compare/saved").json()
    for answer, row in zip(kept, found["candidates"], strict=True):
        assert answer["detail"] == pytest.approx(row["figures"]["detail"])
        assert answer["suppressed"] == len(rows) - row["figures"]["kept"]
    with client.websocket_connect("/api/negotiate/socket") as socket:
        for levels, row in zip(nodes, found["candidates"], strict=True):
            socket.send_text(json.dumps({"id": 1, "request": REQUEST, "levels": levels, "looks": {}}))
            header, _ = read_frame(socket.receive_bytes())
            detail = header["effects"]["detail"]
            assert detail == pytest.approx(row["figures"]["detail"]), "one measure on both screens"
    best = max(found["candidates"], key=lambda row: row["figures"]["detail"])
    assert best["letter"] in found["best"]["detail"]


def test_points_are_the_nodes_and_the_line_is_not_dominated(client: Client, folder: Path) -> None:
    rows = rows_of(folder)
    answer = client.post("/api/compare/nodes", json={"request": REQUEST}).json()
    expected = {}
    for a, c in product((0, 1, 2, 3), (0, 1, 2)):
        classes = classes_of(rows, {"age": a, "city": c}, 2)
        kept = sum(classes.values())
        if kept:
            expected[a, c] = (round(len(classes) / kept, 3), kept >= len(rows) - len(rows) // 2)
    found = sorted(zip((round(f, 3) for f in answer["found"]), map(bool, answer["meets"]), strict=True))
    assert found == sorted(expected.values())
    points = list(zip(answer["detail"], answer["found"], answer["meets"], strict=True))
    line = {points[place][:2] for place in answer["frontier"]}
    allowed = [point[:2] for point in points if point[2]]
    for point in allowed:
        beaten = any(o[0] >= point[0] and o[1] <= point[1] and o != point for o in allowed)
        assert beaten or point in line
    assert all(a not in line or not any(b[0] > a[0] and b[1] < a[1] for b in allowed) for a in allowed)


def test_answer_and_its_release_have_the_same_figures(client: Client) -> None:
    levels = {"age": 1, "city": 1}
    save(client, "both", levels)
    body = {"model": "negotiated", "levels": levels, "name": "both.csv", **REQUEST}
    assert done(client, "/api/publish/jobs", body)["state"] == "done"
    answer, release = done(client, "/api/compare/jobs", {})["result"]["candidates"]
    assert (answer["kind"], release["kind"]) == ("answer", "release")
    for name in ("kept", "classes", "detail", "found", "highest", "query_error"):
        assert answer["figures"][name] == pytest.approx(release["figures"][name]), name


def test_every_model_is_tried_and_a_failure_has_a_reason(client: Client) -> None:
    client.post("/api/negotiate/requests", json={"request": {"k": 2, "max_suppressed": 0}})
    found = done(client, "/api/compare/jobs", {"every_model": True})["result"]["candidates"]
    by_name = {row["name"]: row["figures"] for row in found}
    assert {"mondrian", "full-domain", "local"} <= set(by_name)
    assert all(row["kind"] == "model" and row["title"] != "" for row in found)
    assert any(each["detail"] is not None for each in by_name.values())
    assert all((each["why"] is None) == (each["detail"] is not None) for each in by_name.values())
    client.post("/api/negotiate/requests", json={"request": {"k": 3, "max_suppressed": 0}})
    assert client.get("/api/compare").json()["candidates"] == []


def test_rows_are_paired_and_suppressed_ones_only_on_request(client: Client, folder: Path) -> None:
    save(client, "one", {"age": 1, "city": 1})
    body = {"kind": "answer", "name": "one", "number": 500}
    page = client.post("/api/compare/rows", json=body).json()
    classes = classes_of(rows_of(folder), {"age": 1, "city": 1}, 2)
    assert page["total"] == sum(classes.values())
    assert page["left_out"] == page["people"] - page["total"] > 0
    assert all(row["after"] is not None for row in page["rows"])
    for row in page["rows"]:
        assert row["after"][1] == ("east" if row["before"][1] in EAST else "west")
    whole = client.post("/api/compare/rows", json={**body, "left_out": True}).json()
    before = sorted((row["before"][0], row["before"][1]) for row in whole["rows"])
    assert before == sorted((row["age"], row["city"]) for row in rows_of(folder))
    out = client.post("/api/compare/rows", json={**body, "which": "left-out", "left_out": True}).json()
    assert out["total"] == page["left_out"]
    assert client.post("/api/compare/rows", json={**body, "which": "left-out"}).json()["total"] == 0
    parts = [client.post("/api/compare/rows", json={**body, "first": i, "number": 1}).json() for i in (0, 1)]
    assert [part["rows"][0] for part in parts] == page["rows"][:2]


def test_answer_of_a_changed_table_is_stale(client: Client, folder: Path) -> None:
    save(client, "old", {"age": 1, "city": 1})
    workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    document = workspace.document()
    document["attributes"]["age"]["hierarchy"]["widths"] = [4, 8]
    workspace.save_spec(document)
    (row,) = client.get("/api/compare").json()["candidates"]
    assert row["stale"]
    assert row["figures"] is None
    refused = client.post("/api/compare/rows", json={"kind": "answer", "name": "old"})
    assert refused.status_code == 409
    assert client.delete("/api/compare/saved/old").status_code == 204
    assert client.get("/api/compare").json()["candidates"] == []


def test_release_pairs_command_and_python_agree(
    client: Client, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done(client, "/api/publish/jobs", {"model": "mondrian", "name": "m.csv", "k": 2})
    page = client.post("/api/compare/rows", json={"kind": "release", "name": "m.csv"}).json()
    assert page["linked"]
    assert page["total"] == page["people"]
    spec, release = folder / "discreet.toml", client.app.state.server.workspace_of("local").releases / "m.csv"  # type: ignore[attr-defined]
    words = ["--node", "age=1,city=1", "--model", "local", "--k", "2", "--max-suppressed", "50%"]
    assert main(["compare", str(spec), str(release), *words, "--json"]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    found = discreet.compare(
        discreet.open(spec),
        [release],
        levels={"age=1,city=1": {"age": 1, "city": 1}},
        models=["local"],
        k=2,
        max_suppressed="50%",
    )
    assert found.as_json() == printed
    assert [each["kind"] for each in printed["candidates"]] == ["answer", "model", "release"]
    assert "the best of its column" in str(found)
    with pytest.raises(InputError, match="nothing to compare"):
        discreet.compare(discreet.open(spec))
