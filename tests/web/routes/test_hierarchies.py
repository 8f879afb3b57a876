"""Hierarchies over REST: building, editing, undoing, checking, ARX CSV import and export."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from discreet.verbs.table import open as open_table
from tests.web.routes.preparation import PEOPLE, error_of, finished, open_people, upload, workspace_of


def one(client: TestClient, attribute: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/hierarchies/one", params={"attribute": attribute}).json()
    return found


def edit(client: TestClient, attribute: str, change: str, **more: Any) -> Any:
    return client.post("/api/hierarchies/edit", json={"attribute": attribute, "change": change, **more})


def leaves(answer: dict[str, Any]) -> list[str]:
    return sorted(answer["levels"][0]["labels"])


def test_builder_previews_and_saves(client: TestClient) -> None:
    open_people(client)
    found = client.get("/api/hierarchies").json()
    assert {h["name"]: h["height"] for h in found["hierarchies"]} == {"age": 3, "city": 1, "sex": 1}
    assert found["builders"][0]["kind"] == "intervals"
    answer = one(client, "age")
    assert (answer["values"], answer["null_rows"], answer["typed"]["widths"]) == (9, 1, "2, 4")
    assert sum(answer["levels"][0]["rows"]) == 60
    body = {"attribute": "age", "kind": "intervals", "typed": {"widths": "5, 10"}}
    before = workspace_of(client).spec_version
    shown = client.post("/api/hierarchies/preview", json=body).json()
    assert [figure["values"] for figure in shown["figures"]] == [9, 2, 1, 1]
    assert workspace_of(client).spec_version == before
    saved = client.put("/api/hierarchies", json=body).json()
    assert saved["kind"] == "intervals"
    assert workspace_of(client).spec().attributes[1].hierarchy is not None
    undone = client.post("/api/versions/undo").json()
    assert (undone["words"], undone["steps"]["redo"]) == ("Hierarchy of age", "Hierarchy of age")
    assert one(client, "age")["typed"]["widths"] == "2, 4"
    flat = client.put("/api/hierarchies", json={"attribute": "age", "kind": "flat"}).json()
    assert flat["height"] == 1
    assert client.get("/api/versions/steps").json()["redo"] is None


def test_invalid_parameters_and_edits_are_refused_at_their_field(client: TestClient) -> None:
    open_people(client)
    for kind, typed, field in (
        ("intervals", {"widths": "5, 7"}, "widths"),
        ("intervals", {"lower": "x"}, "lower"),
        ("mask", {"steps": "0"}, "steps"),
        ("taxonomy", {"tree": "A\n  20\n"}, "tree"),
        ("magic", {}, "kind"),
    ):
        body = {"attribute": "age", "kind": kind, "typed": typed}
        assert error_of(client.post("/api/hierarchies/preview", json=body))["field"] == field
        assert error_of(client.put("/api/hierarchies", json=body))["field"] == field
    for change, options, field in (
        ("group", {"labels": ["A", "B"], "name": " "}, "name"),
        ("group", {"labels": ["A", "B"], "name": "*"}, "name"),
        ("group", {"labels": ["nobody"], "name": "x"}, "labels"),
        ("rename", {"labels": ["A"], "name": "x"}, "labels"),
        ("remove_level", {"level": 1}, "labels"),
    ):
        assert error_of(edit(client, "city", change, **options))["field"] == field
    assert one(client, "city")["height"] == 1
    answer = client.get("/api/hierarchies/one", params={"attribute": "disease"})
    assert error_of(answer)["field"] == "attribute"


def test_edit_is_saved_as_a_file_and_can_be_undone(client: TestClient) -> None:
    open_people(client)
    grouped = edit(client, "city", "group", labels=["A", "C"], name="AC").json()
    assert [level["labels"] for level in grouped["levels"]] == [["A", "C", "B"], ["AC", "B"], ["*"]]
    assert grouped["levels"][1]["rows"] == [41, 20]
    workspace = workspace_of(client)
    path = workspace.hierarchies / "city.csv"
    assert path.read_text(encoding="utf-8") == "A;AC;*\nB;B;*\nC;AC;*\n"
    assert workspace.document()["attributes"]["city"]["hierarchy"] == "hierarchies/city.csv"
    edit(client, "city", "rename", level=1, labels=["AC"], name="both")
    assert open_table(workspace.spec_path).frequency_set.hierarchies[1].labels[1] == ("both", "B")
    client.post("/api/versions/undo")
    assert one(client, "city")["levels"][1]["labels"] == ["AC", "B"]
    assert path.read_text(encoding="utf-8").startswith("A;AC;*")
    client.post("/api/versions/redo")
    assert one(client, "city")["levels"][1]["labels"] == ["both", "B"]
    for _ in range(2):
        undone = client.post("/api/versions/undo").json()
    assert (undone["steps"]["undo"], undone["changed"]) == (None, ["spec", "hierarchies"])
    assert (one(client, "city")["height"], one(client, "city")["kind"]) == (1, "flat")
    assert error_of(client.post("/api/versions/undo"), 409)["kind"] == "conflict"


def test_text_is_checked_and_imported(client: TestClient) -> None:
    open_people(client)
    body = {"attribute": "city", "text": "A;G;*\nA;H;*\nB;G;T\n"}
    found = client.post("/api/hierarchies/check", json=body).json()
    assert [(p["row"], p["level"]) for p in found["problems"]] == [(1, 0), (2, 2), (None, 0)]
    assert error_of(client.put("/api/hierarchies/file", json=body))["field"] == "text"
    sound = {"attribute": "city", "text": "A,G,*\nB,G,*\nC,C,*\nZ,Z,*\n"}
    assert client.post("/api/hierarchies/check", json=sound).json()["problems"] == []
    saved = client.put("/api/hierarchies/file", json=sound).json()
    assert saved["height"] == 2
    text = client.get("/api/hierarchies/file", params={"attribute": "city"})
    assert text.text == "A;G;*\nB;G;*\nC;C;*\nZ;Z;*\n"
    assert text.headers["content-disposition"].startswith("attachment")
    quotes = {"attribute": "city", "text": 'A;"x\n'}
    assert client.post("/api/hierarchies/check", json=quotes).json()["problems"]


def test_missing_values_are_reported_and_added(client: TestClient) -> None:
    open_people(client)
    edit(client, "city", "group", labels=["A", "C"], name="AC")
    upload(client, "people.csv", PEOPLE + "r,33,D,f,x\n")
    jobs = [client.get("/api/columns").json()["job"] for _ in range(3)]
    assert finished(client, jobs[0])["state"] == "done"
    found = one(client, "city")
    assert found["missing"] == ["D"]
    assert "no leaf" in found["problems"][0]["message"]
    assert "no leaf" in str(client.get("/api/hierarchies").json()["hierarchies"][1]["error"])
    steps = client.get("/api/load/summary").json()["steps"]
    assert steps[2]["state"] == "attention"
    mended = edit(client, "city", "add_values").json()
    assert (mended["problems"], leaves(mended)) == ([], ["A", "B", "C", "D"])


def test_hierarchy_of_a_name_that_no_file_can_have(client: TestClient) -> None:
    name = "Größe / <b>\u202e*?"
    open_people(client, PEOPLE.replace("city", f'"{name}"'))
    client.put("/api/columns", json={"changes": [{"name": name, "role": "quasi-identifier"}]})
    client.put("/api/hierarchies", json={"attribute": name, "kind": "flat"})
    found = edit(client, name, "group", labels=["A", "B"], name="\u00e4;\u201e\u201c")
    assert found.status_code == 200, found.text
    assert len(list(workspace_of(client).hierarchies.glob("*.csv"))) == 1
    assert open_table(workspace_of(client).spec_path).frequency_set.rows == 61
