"""A workbench on a PostgreSQL table: from Load to a release that is a table of the same database."""

from __future__ import annotations

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


def refusal(client: Client, **changes: Any) -> str:
    """Return the message with which the publishing job fails."""
    job = done(client, "/api/publish/jobs", {"model": "mondrian", "table": TABLE, "k": 5, **changes})
    assert job["state"] == "failed"
    return str(job["error"]["message"])


def test_load_shows_the_location_and_changes_the_null_policy(
    client: Client, clinic: Clinic, spec: Path
) -> None:
    found = client.get("/api/load").json()
    assert found["place"] == {"table": "clinic.patients", "database": clinic.url}
    assert found["error"] is None
    assert [column["name"] for column in found["view"]["columns"]] == ["age", "ward", "secret"]
    assert found["view"]["preview"] == []
    summary = done(client, "/api/load/study", {})["result"]
    assert (summary["rows"], summary["quasi_identifiers"], summary["nodes"]) == (1000, ["age"], 4)
    changed = client.put(
        "/api/load/source", json={**found["source"], "null_values": ["a 1"], "null_policy": "drop"}
    )
    assert changed.json()["source"]["null_values"] == ["a 1"]
    text = spec.read_text(encoding="utf-8")
    assert 'table = "clinic.patients"' in text
    assert 'null_policy = "drop"' in text
    refused = client.put("/api/load/source", json={**found["source"], "subject": "none"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "subject")
    assert client.post("/api/load/view", json={"path": ""}).status_code == 400
    for screen in ("columns", "hierarchies", "negotiate"):
        assert client.get(f"/api/{screen}").status_code == 200


def test_release_becomes_a_table_with_audit_manifest_and_report(client: Client, clinic: Clinic) -> None:
    assert client.get("/api/publish").json()["database"] == clinic.url
    first = publish(client)
    assert first["audit"]["passed"]
    assert first["release"]["name"] == NAME
    assert first["release"]["tables"] == {"data": TABLE, "manifest": f"{TABLE}_manifest"}
    assert clinic.published() == ["people", "people_age_idx", "people_manifest"]
    assert client.get("/api/load/summary").json()["releases"] == 1
    manifest = client.get(f"{AT}/files/manifest")
    assert manifest.headers["content-disposition"] == 'attachment; filename="manifest.json"'
    assert manifest.json()["requirement"]["k"] == 5
    assert client.get(f"{AT}/files/data").status_code == 404
    assert client.get(AT).json()["audit"]["rows"] == first["audit"]["rows"]
    assert done(client, f"{AT}/report", {"purpose": "Beds."})["result"]["passed"]
    page = client.get(f"{AT}/report")
    assert (page.status_code, "Beds." in page.text) == (200, True)
    assert "already exists" in refusal(client)
    again = publish(client, k=40, overwrite=True)
    assert again["audit"]["k"] >= 40 > first["audit"]["k"]
    assert client.get(f"{AT}/report").status_code == 404, "it described the replaced table"
    (listed,) = client.get("/api/publish/releases").json()
    assert listed["k"] == again["audit"]["k"]
    client.delete(AT)
    assert clinic.published() == ["people", "people_age_idx", "people_manifest"]


def test_analyst_and_attacker_read_a_table(client: Client) -> None:
    publish(client, model="full-domain", levels={"age": 1}, max_suppressed="5%")
    for screen in ("analyst", "attacker"):
        (release,) = client.get(f"/api/{screen}").json()["releases"]
        assert (release["name"], release["comparable"]) == (NAME, True)
    body = {"release": NAME, "sql": "SELECT COUNT(*) FROM release WHERE age < 30"}
    (row,) = client.post("/api/analyst/query", json=body).json()["rows"]
    assert row["lower"] <= row["truth"] <= row["upper"]
    measured = done(client, "/api/analyst/jobs", {"release": NAME})
    assert sum(measured["result"]["distributions"][0]["before"]) == 1000
    assert done(client, "/api/attacker/jobs", {"release": NAME})["result"]["release"] == NAME
    publish(client, table=None, name="people.csv")
    names = [each["name"] for each in client.get("/api/publish/releases").json()]
    assert names == ["people.csv", NAME]


def test_changed_or_dropped_table_cannot_be_downloaded(client: Client, clinic: Clinic) -> None:
    publish(client)
    clinic.run("UPDATE out.people SET age = 999 WHERE ctid = (SELECT min(ctid) FROM out.people)")
    assert not client.get(AT).json()["audit"]["passed"]
    assert client.get(f"{AT}/files/manifest").status_code == 409
    clinic.run("DROP TABLE out.people, out.people_manifest")
    assert client.get(AT).status_code == 400
    assert client.get("/api/publish").status_code == 200
    assert client.delete(AT).status_code == 200
    assert client.get("/api/publish/releases").json() == []


def test_permuted_table_has_its_companions_and_views(client: Client) -> None:
    found = publish(client, model="permutation", k=3, options={"sensitive": "ward"})
    assert found["audit"]["passed"]
    assert set(found["release"]["tables"]) == {"data", "manifest", "help", "groups", "with_bounds"}
    assert found["release"]["cautions"]


def test_missing_right_is_reported(client: Client, clinic: Clinic) -> None:
    clinic.run(f"REVOKE CREATE ON SCHEMA out FROM {clinic.role}")
    assert "may not create tables in the schema 'out'" in refusal(client)
    assert client.get("/api/publish/releases").json() == []


@pytest.mark.parametrize("table", ["people", "a.b.c", "out./etc", 'out."x', ""])
def test_invalid_table_name_is_refused(client: Client, table: str) -> None:
    refused = client.post("/api/publish/jobs", json={"model": "mondrian", "table": table, "k": 2})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "table")


def test_source_in_a_file_allows_no_table(make_client: MakeClient, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age\n1\n1\n", encoding="utf-8")
    path = tmp_path / "a.toml"
    path.write_text(
        '[source]\npath = "a.csv"\n[attributes.age]\nrole = "quasi-identifier"\n', encoding="utf-8"
    )
    client = make_client(spec=path)
    assert client.get("/api/publish").json()["database"] is None
    refused = client.post("/api/publish/jobs", json={"model": "mondrian", "table": TABLE, "k": 2})
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "table")
