"""Named databases on the Load screen: displayed and stored details, and access rights."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet
from discreet.web.server_config import add_user
from tests.engines.clinic import Clinic
from tests.web.conftest import Client, MakeClient
from tests.web.test_publish_routes import done

PASSWORD = "a long password of ann's"
SECRET = "s3cret-of-ann"
NAMED = {"name": "CLINIC", "service": False}


@pytest.fixture
def named(clinic: Clinic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    """Return the clinic's database, named by a variable with a password and by a service file."""
    server = clinic.server
    monkeypatch.setenv("CLINIC", server.network_url(clinic.database, clinic.role, SECRET))
    monkeypatch.setenv("NOTHING", "no address")
    location = (
        f"host={server.folder}",
        f"port={server.port}",
        f"dbname={clinic.database}",
        f"user={clinic.role}",
    )
    lines = ["# ours", "[clinic]", *location, "", "[far]", "host=x"]
    (tmp_path / "services").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    return clinic


@pytest.fixture
def client(make_client: MakeClient, named: Clinic) -> Client:
    """Return a signed-in client of a server that was started without a spec."""
    assert named.url
    return make_client()


def opened(client: Client, database: dict[str, object], table: str = "clinic.patients") -> dict[str, object]:
    job = done(client, "/api/load/open", {"path": "", "database": database, "table": table})
    assert job["state"] == "done", job["error"]
    found: dict[str, object] = client.get("/api/load").json()
    return found


def kept_in(folder: Path) -> str:
    """Return the contents of all files in a folder as one text."""
    return "".join(f.read_text("utf-8", "replace") for f in sorted(folder.rglob("*")) if f.is_file())


def test_databases_and_readable_tables_are_listed(client: Client, named: Clinic) -> None:
    found = client.get("/api/load/databases")
    listed = found.json()["databases"]
    assert NAMED in listed
    assert {"name": "clinic", "service": True} in listed
    assert "NOTHING" not in {each["name"] for each in listed}
    assert SECRET not in found.text
    named.run("CREATE TABLE clinic.hidden (a int)", 'CREATE VIEW clinic."the wards" AS SELECT 1 AS a')
    named.run(f'GRANT SELECT ON clinic."the wards" TO {named.role}')
    assert client.post("/api/load/tables", json=NAMED).json() == {
        "tables": ["clinic.patients", 'clinic."the wards"']
    }


@pytest.mark.parametrize(
    "database", [NAMED, {"name": "clinic", "service": True}], ids=["variable", "service"]
)
def test_release_of_a_named_database_contains_no_password(
    client: Client, named: Clinic, database: dict[str, object]
) -> None:
    found = opened(client, database)
    where = found["place"]
    assert isinstance(where, dict)
    assert str(database["name"]) in where["database"]
    assert client.get("/api/negotiate").status_code == 200
    body = {"model": "mondrian", "table": "out.people", "k": 5}
    job = done(client, "/api/publish/jobs", body)
    assert job["state"] == "done", job["error"]
    assert job["result"]["audit"]["passed"]
    assert named.published()[0] == "people"
    workspace = client.app.state.server.config.workspace  # type: ignore[attr-defined]
    assert SECRET not in kept_in(workspace)
    spec = (workspace / "discreet.toml").read_text(encoding="utf-8")
    assert ('url = "env:CLINIC"' in spec) != bool(database["service"])
    assert discreet.open(workspace / "discreet.toml", settings=named.settings).inspect().rows == 1000


def test_other_databases_are_refused(client: Client, named: Clinic) -> None:
    for name in ("PATH", "NOTHING", "no-such", "far]"):
        refused = client.post("/api/load/tables", json={"name": name})
        assert (refused.status_code, refused.json()["error"]["field"]) == (400, "database")
    for url in (named.url, "env:PATH", "postgresql://elsewhere/x?service=clinic"):
        text = f'[source]\nurl = "{url}"\ntable = "clinic.patients"\n[attributes.age]\nrole = "sensitive"\n'
        assert client.put("/api/workspace/spec", json={"text": text}).status_code == 400
    missing = client.post("/api/load/open", json={"path": "", "database": NAMED, "table": "clinic.none"})
    assert (missing.status_code, "no table 'clinic.none'" in missing.text) == (400, True)
    assert SECRET not in missing.text


def test_missing_variable_is_reported(client: Client, named: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(client, NAMED)
    monkeypatch.delenv("CLINIC")
    error = client.get("/api/negotiate").json()["error"]
    assert "the environment variable CLINIC is not set" in error["message"]
    assert named.url not in str(error)


def test_server_with_several_users_opens_no_database(
    make_client: MakeClient, named: Clinic, tmp_path: Path
) -> None:
    passwords = tmp_path / "passwords"
    add_user(passwords, "ann", PASSWORD)
    several = make_client(signed_in=False, password_file=passwords)
    assert several.post("/api/session", json={"user": "ann", "password": PASSWORD}).status_code == 200
    assert several.get("/api/load/databases").json() == {"allowed": False, "databases": []}
    refused = several.post("/api/load/tables", json=NAMED)
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "database")
    text = '[source]\nurl = "env:CLINIC"\ntable = "clinic.patients"\n'
    text += '[attributes.age]\nrole = "sensitive"\n'
    assert several.put("/api/workspace/spec", json={"text": text}).status_code == 400
    assert named.published() == []
