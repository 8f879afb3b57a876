"""A workbench on a PostgreSQL table: from Load to a release that is a table of the same database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engines.clinic import Clinic
from tests.web.conftest import Client, MakeClient
from tests.web.test_publish_routes import done

TABLE = "out.people"
NAME = "out.people (table)"
AT = f"/api/publish/releases/{NAME}"
SPEC = """
[source]
url = "{url}"
table = "clinic.patients"

[attributes.age]
role = "quasi-identifier"
hierarchy = {{ kind = "intervals", widths = [10, 30] }}

[attributes.ward]
role = "sensitive"
"""


@pytest.fixture
def spec(clinic: Clinic, tmp_path: Path) -> Path:
    """Write a spec whose source is the clinic's table of patients."""
    path = tmp_path / "clinic.toml"
    path.write_text(SPEC.format(url=clinic.url), encoding="utf-8")
    return path


@pytest.fixture
def client(make_client: MakeClient, spec: Path) -> Client:
    """Return a signed-in client of a server that was started with the spec."""
    return make_client(spec=spec)


def publish(client: Client, **changes: Any) -> dict[str, Any]:
    body = {"model": "mondrian", "table": TABLE, "k": 5, **changes}
    job = done(client, "/api/publish/jobs", body)
    assert job["state"] == "done", job["error"]
    found: dict[str, Any] = job["result"]
    return found


def failed(client: Client, **changes: Any) -> dict[str, Any]:
    body = {"model": "mondrian", "table": TABLE, "k": 5, **changes}
    job = done(client, "/api/publish/jobs", body)
    assert job["state"] == "failed"
    found: dict[str, Any] = job["error"]
    return found


def test_load_says_where_the_rows_are_and_shows_none(client: Client, clinic: Clinic) -> None:
    found = client.get("/api/load").json()
    assert found["place"] == {"table": "clinic.patients", "database": clinic.url}
    assert found["error"] is None
    assert [column["name"] for column in found["view"]["columns"]] == ["age", "ward", "secret"]
    assert found["view"]["preview"] == []
    summary = done(client, "/api/load/study", {})["result"]
    assert (summary["rows"], summary["quasi_identifiers"]) == (1000, ["age"])


def test_how_cells_are_read_can_be_changed_but_not_which_table(client: Client, spec: Path) -> None:
    source = client.get("/api/load").json()["source"]
    changed = client.put("/api/load/source", json={**source, "null_values": ["a 1"], "nulls": "drop"})
    assert changed.status_code == 200, changed.text
    assert changed.json()["source"]["null_values"] == ["a 1"]
    text = spec.read_text(encoding="utf-8")
    assert 'table = "clinic.patients"' in text
    assert 'nulls = "drop"' in text
    refused = client.put("/api/load/source", json={**source, "subject": "none"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "subject")
    assert client.post("/api/load/view", json={"path": ""}).status_code == 400


def test_columns_hierarchies_and_negotiate_work(client: Client) -> None:
    done(client, "/api/load/study", {})
    for screen in ("columns", "hierarchies", "negotiate"):
        found = client.get(f"/api/{screen}")
        assert found.status_code == 200, found.text
    assert "age" in json.dumps(client.get("/api/hierarchies").json())
    assert client.get("/api/load/summary").json()["nodes"] == 4


def test_a_release_becomes_a_table_with_audit_and_manifest(client: Client, clinic: Clinic) -> None:
    assert client.get("/api/publish").json()["database"] == clinic.url
    found = publish(client)
    assert found["audit"]["passed"]
    assert found["release"]["name"] == NAME
    assert found["release"]["tables"] == {"data": TABLE, "manifest": f"{TABLE}_manifest"}
    assert clinic.published() == ["people", "people_age_idx", "people_manifest"]
    assert client.get("/api/load/summary").json()["releases"] == 1
    manifest = client.get(f"{AT}/files/manifest")
    assert manifest.headers["content-disposition"] == 'attachment; filename="manifest.json"'
    assert manifest.json()["requirement"]["k"] == 5
    assert client.get(f"{AT}/files/data").status_code == 404
    assert client.get(AT).json()["audit"]["rows"] == found["audit"]["rows"]


def test_a_table_is_replaced_only_where_that_is_allowed(client: Client) -> None:
    first = publish(client)
    assert "already exists" in failed(client)["message"]
    again = publish(client, k=40, overwrite=True)
    assert again["audit"]["k"] >= 40 > first["audit"]["k"]
    (listed,) = client.get("/api/publish/releases").json()
    assert listed["k"] == again["audit"]["k"]


def test_a_release_by_levels_and_one_in_a_file_beside_it(client: Client) -> None:
    publish(client, model="full-domain", levels={"age": 1}, max_suppressed="5%")
    publish(client, table=None, name="people.csv")
    names = [each["name"] for each in client.get("/api/publish/releases").json()]
    assert names == ["people.csv", NAME]


def test_the_other_screens_take_a_table(client: Client) -> None:
    publish(client)
    for screen in ("analyst", "attacker"):
        (told,) = client.get(f"/api/{screen}").json()["releases"]
        assert (told["name"], told["comparable"]) == (NAME, True)
    asked = {"release": NAME, "sql": "SELECT COUNT(*) FROM release WHERE age < 30"}
    (row,) = client.post("/api/analyst/query", json=asked).json()["rows"]
    assert row["lower"] <= row["truth"] <= row["upper"]
    measured = done(client, "/api/analyst/jobs", {"release": NAME})
    assert measured["state"] == "done", measured["error"]
    assert sum(measured["result"]["distributions"][0]["before"]) == 1000
    attacked = done(client, "/api/attacker/jobs", {"release": NAME})
    assert attacked["state"] == "done", attacked["error"]
    assert attacked["result"]["release"] == NAME


def test_the_report_of_a_table_is_a_file_of_the_workspace(client: Client) -> None:
    publish(client)
    made = done(client, f"{AT}/report", {"purpose": "Beds."})
    assert made["state"] == "done", made["error"]
    assert made["result"]["passed"]
    page = client.get(f"{AT}/report")
    assert (page.status_code, "Beds." in page.text) == (200, True)
    publish(client, overwrite=True)
    assert client.get(f"{AT}/report").status_code == 404


def test_a_table_that_was_changed_or_dropped_is_handed_over_no_more(client: Client, clinic: Clinic) -> None:
    publish(client)
    clinic.run("UPDATE out.people SET age = 999 WHERE ctid = (SELECT min(ctid) FROM out.people)")
    assert not client.get(AT).json()["audit"]["passed"]
    assert client.get(f"{AT}/files/manifest").status_code == 409
    clinic.run("DROP TABLE out.people, out.people_manifest")
    assert client.get(AT).status_code == 400
    assert client.get("/api/publish").status_code == 200
    assert client.delete(AT).status_code == 200
    assert client.get("/api/publish/releases").json() == []


def test_taking_a_table_off_the_list_leaves_it_where_it_is(client: Client, clinic: Clinic) -> None:
    publish(client)
    client.delete(AT)
    assert clinic.published() == ["people", "people_age_idx", "people_manifest"]


def test_a_permuted_table_has_its_companions_and_views(client: Client) -> None:
    found = publish(client, model="permutation", k=3, options={"sensitive": "ward"})
    purposes = {"data", "manifest", "help", "groups", "with_bounds"}
    assert found["audit"]["passed"]
    assert set(found["release"]["tables"]) == purposes
    assert found["release"]["cautions"]


def test_a_missing_right_is_said(client: Client, clinic: Clinic) -> None:
    clinic.run(f"REVOKE CREATE ON SCHEMA out FROM {clinic.role}")
    error = failed(client)
    assert "may not create tables in the schema 'out'" in error["message"]
    assert client.get("/api/publish/releases").json() == []
    clinic.run(f"GRANT CREATE ON SCHEMA out TO {clinic.role}")
    publish(client)


@pytest.mark.parametrize("table", ["people", "a.b.c", "out./etc", 'out."x', ""])
def test_what_is_no_table_name(client: Client, table: str) -> None:
    refused = client.post("/api/publish/jobs", json={"model": "mondrian", "table": table, "k": 2})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "table")


def test_a_source_that_is_a_file_takes_no_table(make_client: MakeClient, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n1\n1\n", encoding="utf-8")
    path = tmp_path / "a.toml"
    path.write_text(
        '[source]\npath = "a.csv"\n[attributes.age]\nrole = "quasi-identifier"\n', encoding="utf-8"
    )
    client = make_client(spec=path)
    assert client.get("/api/publish").json()["database"] is None
    refused = client.post("/api/publish/jobs", json={"model": "mondrian", "table": TABLE, "k": 2})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "table")
