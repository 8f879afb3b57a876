"""Load over REST: opening, correcting, the NULL policy, specs, the summary."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from discreet.model.table_spec import NullPolicy
from discreet.verbs.spec_editor import with_format
from discreet.verbs.table import open as open_table
from tests.web.conftest import MakeClient
from tests.web.routes.preparation import error_of, finished, open_people, upload, workspace_of


def test_empty_workspace_has_no_source(client: TestClient) -> None:
    found = client.get("/api/load/summary").json()
    assert (found["source"], found["rows"], found["quasi_identifiers"]) == (None, None, [])
    assert (found["steps"][0]["name"], found["steps"][0]["state"]) == ("load", "todo")
    assert len(found["steps"]) == 7
    assert client.get("/api/load").json()["source"] is None


def test_opened_table_gets_a_readable_spec(client: TestClient) -> None:
    summary = open_people(client)
    assert (summary["rows"], summary["columns"]) == (61, 5)
    assert set(summary["quasi_identifiers"]) == {"age", "city", "sex"}
    assert [s["state"] for s in summary["steps"][:3]] == ["done", "done", "done"]
    text = workspace_of(client).spec_path.read_text(encoding="utf-8")
    assert "HIPAA R, other unique numbers and codes" in text
    table = open_table(workspace_of(client).spec_path)
    assert table.spec.source.null_values == ("?",)
    assert table.frequency_set.rows == 61
    found = client.get("/api/load").json()
    assert found["view"]["form"]["delimiter"] == ","
    assert found["view"]["preview"][0] == ["p0", "20", "A", "m", "x"]
    assert found["null_texts"] == ["?"]


def test_view_saves_nothing_and_refuses_invalid_sources(client: TestClient) -> None:
    path = upload(client, "t.csv", "Ort;n\nZürich;1\n")
    (workspace_of(client).uploads / "t.csv").write_bytes("Ort;n\nZürich;-\n".encode("latin-1"))
    found = client.post("/api/load/view", json={"path": path, "null_values": ["-"]}).json()
    assert found["source"]["encoding"] == "latin-1"
    assert found["view"]["preview"] == [["Zürich", None]]
    upload(client, "x.doc", "a,b\n1,2\n")
    for change, fields in (
        ({"encoding": "no-such"}, {"encoding"}),
        ({"delimiter": '"'}, {"delimiter"}),
        ({"path": "uploads/none.csv"}, {"path"}),
        ({"path": "/etc/passwd"}, {"path"}),
        ({"path": "uploads/x.doc"}, {"format", "path"}),
    ):
        error = error_of(client.post("/api/load/view", json={"path": path, **change}))
        assert error["field"] in fields
    assert not workspace_of(client).has_spec


def test_changed_reading_keeps_the_roles(client: TestClient) -> None:
    open_people(client)
    source = client.get("/api/load").json()["source"]
    changed = {**source, "null_policy": "drop", "null_values": ["?", "A"], "unlisted_columns": "insensitive"}
    found = client.put("/api/load/source", json=changed).json()
    assert found["source"] == changed
    spec = workspace_of(client).spec()
    assert (spec.source.null_policy, spec.source.null_values) == (NullPolicy.DROP, ("?", "A"))
    assert len(spec.quasi_identifiers) == 3
    columns = {c["name"]: c for c in client.get("/api/columns").json()["columns"]}
    assert (columns["city"]["values"], columns["city"]["null_rows"]) == (2, 21)
    client.put("/api/load/source", json={**source, "subject": "city"})
    assert "city" not in client.get("/api/load/summary").json()["quasi_identifiers"]
    assert workspace_of(client).spec().source.subject == "city"
    error = error_of(client.put("/api/load/source", json={**source, "subject": "nobody"}))
    assert error["field"] == "subject"


@pytest.mark.parametrize("form", ["subset", "population"])
def test_changed_reading_keeps_the_population(form: str, make_client: MakeClient, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "people.csv").write_text("age,study\n1,yes\n2,no\n1,no\n", encoding="utf-8")
    subset = 'subset = {column = "study", values = ["yes"]}' if form == "subset" else ""
    population = '[population]\npath = "people.csv"\n' if form == "population" else ""
    (folder / "discreet.toml").write_text(
        f'[source]\npath = "people.csv"\n{subset}\n{population}[attributes.age]\nrole = "quasi-identifier"\n',
        encoding="utf-8",
    )
    client = make_client(root=tmp_path)
    client.post("/api/load/spec", json={"path": str(folder / "discreet.toml")})
    source = client.get("/api/load").json()["source"]
    assert client.put("/api/load/source", json={**source, "null_policy": "drop"}).status_code == 200
    spec = workspace_of(client).spec()
    assert (spec.source.null_policy, spec.source.subset is not None) == (NullPolicy.DROP, form == "subset")
    assert spec.population is not None
    assert spec.population.path is not None
    assert spec.population.path.resolve() == folder / "people.csv"
    table = open_table(workspace_of(client).spec_path).frequency_set
    assert (table.rows, table.population and table.population.people) == (1 if form == "subset" else 3, 3)


def test_unreadable_file_has_an_error(client: TestClient) -> None:
    path = upload(client, "t.csv", "a,a\n1,2\n")
    job = finished(client, client.post("/api/load/open", json={"path": path}).json()["job"])
    assert (job["state"], "two columns 'a'" in job["error"]["message"]) == ("failed", True)
    open_people(client)
    (workspace_of(client).uploads / "people.csv").unlink()
    found = client.get("/api/load").json()
    assert found["view"] is None
    assert "missing" in found["error"]["message"]
    steps = client.get("/api/load/summary").json()["steps"]
    assert (steps[0]["state"], steps[0]["note"]) == ("attention", "The table's file is missing")


def test_existing_spec_is_opened_with_its_files(make_client: MakeClient, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "people.csv").write_text("age,sex\n1,m\n2,f\n", encoding="utf-8")
    (folder / "sex.csv").write_text("m;*\nf;*\n", encoding="utf-8")
    (folder / "discreet.toml").write_text(
        '[source]\npath = "people.csv"\n[attributes.age]\nrole = "quasi-identifier"\nweight = 0.5\n'
        '[attributes.sex]\nrole = "quasi-identifier"\nhierarchy = "sex.csv"\n[request]\nk = 2\n',
        encoding="utf-8",
    )
    client = make_client(root=tmp_path)
    found = client.post("/api/load/spec", json={"path": str(folder / "discreet.toml")})
    assert found.status_code == 200, found.text
    spec = workspace_of(client).spec()
    assert spec.source.path is not None
    assert spec.source.path.resolve() == folder / "people.csv"
    assert (spec.attributes[0].weight, spec.request.k) == (0.5, 2)
    assert open_table(workspace_of(client).spec_path).frequency_set.hierarchies[1].height == 1
    assert error_of(client.post("/api/load/spec", json={"path": str(folder / "sex.csv")}))["field"] == "path"


def test_sample_is_opened(client: TestClient) -> None:
    job = finished(client, client.post("/api/load/sample").json()["job"])
    assert job["state"] == "done", job
    assert job["result"]["rows"] == 30_000
    assert "diagnosis" in job["result"]["sensitive"]


def test_cell_formats_are_inferred_and_saved(client: TestClient) -> None:
    rows = "".join(
        f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 40};{i % 7}.{i:03},5{i % 10} €;m{' ' * (i % 2)}\n"
        for i in range(60)
    )
    path = upload(client, "t.csv", "x")
    text = "Geburtsdatum;Kosten;Geschlecht\n" + rows
    (workspace_of(client).uploads / "t.csv").write_bytes(text.encode("windows-1252"))
    finished(client, client.post("/api/load/open", json={"path": path}).json()["job"])
    found = client.get("/api/load").json()
    assert found["source"]["encoding"] == "windows-1252"
    assert found["source"]["strip"] is True
    assert found["rows"] == 60, "the study is that of the source as it is read from now on"
    columns = {column["name"]: column for column in found["view"]["columns"]}
    assert (
        columns["Kosten"]["format"] == "numbers with decimals behind ',', thousands by '.', with or without €"
    )
    assert columns["Geburtsdatum"]["format"] == "dates in the form %d.%m.%Y"
    assert (columns["Geschlecht"]["own_form"], columns["Kosten"]["own_form"]) == (False, True)
    assert found["view"]["preview"][1] == ["1951-02-02", "1001.51", "m"]
    changed = client.put("/api/load/source", json={**found["source"], "decimal": ",", "strip": False}).json()
    assert changed["view"]["preview"][1][2] == "m "
    spec = workspace_of(client).spec()
    assert (spec.source.decimal, spec.source.strip) == (",", False)
    assert spec.source.formats["Kosten"].units == ("€",)


def test_cell_format_is_changed(client: TestClient) -> None:
    text = "born,cost\n" + "".join(f"{1 + i % 28:02}.05.19{50 + i % 40},{i}\n" for i in range(60))
    open_people(client, text)
    workspace = workspace_of(client)
    with_others = workspace.document()
    with_others["attributes"]["born"]["format"] = {"dates": ["%d.%m.%Y"], "others": ["never"]}
    workspace.save_spec(with_others)
    body = {"column": "born", "format": {"dates": ["%d.%m.%Y", "%Y-%m-%d"], "decimal": "", "pivot": None}}
    answer = client.put("/api/load/format", json=body).json()
    assert answer["error"] is None
    form = workspace.spec().source.formats["born"]
    assert (form.dates, form.others) == (("%d.%m.%Y", "%Y-%m-%d"), ("never",))
    for wrong, field in (
        ({"dates": ["%Q"]}, "dates"),
        ({"decimal": ";"}, "decimal"),
        ({"pivot": 2030}, "pivot"),
    ):
        refused = client.put("/api/load/format", json={"column": "born", "format": wrong})
        assert error_of(refused)["field"] == field
    assert client.put("/api/load/format", json={"column": "born"}).status_code == 200
    assert "born" not in workspace.spec().source.formats
    assert error_of(client.put("/api/load/format", json={"column": "nobody"}))["field"] == "column"


def test_cells_without_the_format_are_refused_or_listed(client: TestClient) -> None:
    text = "cost,sex\n" + "".join(f'"{100 + i},5",{"mf"[i % 2]}\n' for i in range(60))
    open_people(client, text + "k.A.,m\n1 free,f\nk.A.,m\n")
    workspace = workspace_of(client)
    plain = with_format(workspace.document(), "cost", None)
    workspace.save_spec({**plain, "source": {**plain["source"], "null_values": []}})
    body = {"column": "cost", "format": {"decimal": ","}}
    refused = error_of(client.put("/api/load/format", json=body))
    assert refused["field"] == "missed"
    assert "“k.A.”, 2 times, first in row 61; “1 free” in row 62" in refused["message"]
    assert "cost" not in workspace.spec().source.formats
    many = error_of(client.put("/api/load/format", json={"column": "cost", "format": {"decimal": "."}}))
    assert many["field"] == "decimal"
    assert "and over 48 others" in many["message"]
    assert client.put("/api/load/format", json={**body, "missed": "keep"}).status_code == 200
    assert workspace.spec().source.formats["cost"].others == ("k.A.", "1 free")
    client.put("/api/load/format", json={"column": "cost"})
    assert client.put("/api/load/format", json={**body, "missed": "null"}).status_code == 200
    assert workspace.spec().source.null_values == ("k.A.", "1 free")
    assert workspace.table().frequency_set.rows == 63


def test_spreadsheet_is_opened(client: TestClient) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["age", "sex"], *([20 + i % 9, "mf"[i % 2]] for i in range(60))):
        book.active.append(row)
    book.save(workspace_of(client).uploads / "people.xlsx")
    answer = client.post("/api/load/open", json={"path": "uploads/people.xlsx"})
    assert finished(client, answer.json()["job"])["state"] == "done"
    found = client.get("/api/load").json()
    assert (found["rows"], found["view"]["form"]["format"]) == (60, "xlsx")
    assert "xlsx" in found["formats"]
    assert client.put("/api/load/source", json={**found["source"], "format": "xlsx"}).status_code == 200
