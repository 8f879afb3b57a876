"""Publisher, attacker and analyst routes: answers, refusals, and data that they never return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.attacks.test_linkage import PATIENTS, table_of
from tests.waiting import PATIENCE
from tests.web.conftest import Client, MakeClient

OUT = "/api/publish/releases/out.csv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a spec and its table."""
    made = tmp_path / "data"
    made.mkdir()
    table_of(made, [*PATIENTS, {"name": "odd", "age": "27", "city": "Trier", "disease": "b"}])
    return made


@pytest.fixture
def client(make_client: MakeClient, folder: Path) -> Client:
    """Return a signed-in client of a server that was started with the spec."""
    return make_client(spec=folder / "discreet.toml")


def done(client: Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Start a job, wait for it and return it with its result."""
    answer = client.post(path, json=body)
    assert answer.status_code == 202, answer.text
    jobs = client.app.state.server.jobs_of("local")  # type: ignore[attr-defined]
    jobs.wait(answer.json()["job"], PATIENCE)
    found: dict[str, Any] = client.get(f"/api/jobs/{answer.json()['job']}").json()
    return found


def publish(client: Client, **changes: Any) -> dict[str, Any]:
    body = {"model": "mondrian", "name": "out.csv", "k": 2} | changes
    job = done(client, "/api/publish/jobs", body)
    assert job["state"] == "done", job["error"]
    result: dict[str, Any] = job["result"]
    return result


def test_screens_answer_with_and_without_a_spec(client: Client, make_client: MakeClient) -> None:
    found = client.get("/api/publish").json()
    assert [m["name"] for m in found["models"]][:3] == ["negotiated", "full-domain", "mondrian"]
    assert found["quasi_identifiers"] == ["age", "city"]
    assert (found["choice"], found["releases"]) == (None, [])
    assert {"code": "de", "name": "Deutsch"} in client.get("/api/publish/languages").json()
    empty = make_client()
    for screen in ("publish", "attacker", "analyst"):
        assert empty.get(f"/api/{screen}").status_code == 200
    body = {"model": "mondrian", "name": "out.csv"}
    assert empty.post("/api/publish/jobs", json=body).status_code == 404


def test_release_has_audit_files_and_report_until_it_is_changed(client: Client) -> None:
    found = publish(client)
    assert found["audit"]["passed"]
    assert found["audit"]["k"] >= 2
    assert (found["release"]["title"], set(found["release"]["files"])) == ("Mondrian", {"data", "manifest"})
    data = client.get(f"{OUT}/files/data")
    assert data.headers["content-disposition"].startswith("attachment")
    assert data.text.splitlines()[0] == "age,city,disease"
    assert client.get(f"{OUT}/files/help").status_code == client.get(f"{OUT}/report").status_code == 404
    taken = client.post("/api/publish/jobs", json={"model": "mondrian", "name": "out.csv", "k": 2})
    assert taken.json()["error"]["field"] == "name"
    made = done(client, f"{OUT}/report", {"purpose": "A <b>study</b>.", "language": "de"})
    assert made["result"] == {"name": "out.csv.report.html", "passed": True}
    page = client.get(f"{OUT}/report")
    assert "sandbox" in page.headers["content-security-policy"]
    assert '<html lang="de">' in page.text
    assert "A &lt;b&gt;study&lt;/b&gt;." in page.text
    assert ">Mondrian (ordered-multi-dimension)<" in page.text
    assert client.get(f"{OUT}/files/report").status_code == 200
    publish(client, overwrite=True, k=3)
    assert client.get(f"{OUT}/report").status_code == 404, "it described the replaced release"
    path = client.app.state.server.workspace_of("local").releases / "out.csv"  # type: ignore[attr-defined]
    path.write_text(path.read_text(encoding="utf-8") + "20,Berlin,a\n", encoding="utf-8")
    assert not client.get(OUT).json()["audit"]["passed"]
    for part in ("data", "manifest"):
        refused = client.get(f"{OUT}/files/{part}")
        assert refused.status_code == 409
        assert "audit" in refused.json()["error"]["message"]


def test_chosen_levels_are_published(client: Client) -> None:
    levels = {"age": 1, "city": 1}
    found = publish(client, model="full-domain", levels=levels, max_suppressed="20%", suppressed_rows="star")
    assert found["release"]["levels"] == levels
    assert found["audit"]["starred"] == found["release"]["suppressed"] == 1


def test_permuted_release_has_cautions_and_further_files(client: Client) -> None:
    publish(client, model="permutation", options={"sensitive": "disease"})
    for screen in ("publish", "attacker", "analyst"):
        (found,) = client.get(f"/api/{screen}").json()["releases"]
        assert any("membership" in text for text in found["cautions"])
    assert client.get(f"{OUT}/files/help").status_code == 200
    body = {"release": "out.csv", "sql": "SELECT COUNT(disease) FROM release WHERE city = 'Bonn'"}
    (row,) = client.post("/api/analyst/query", json=body).json()["rows"]
    assert (row["truth"], row["lower"], row["upper"], row["holds"]) == (4, 4, 4, True)
    attacked = done(client, "/api/attacker/jobs", {"release": "out.csv"})["result"]
    assert attacked["disclosure"]["units"] == "groups"
    removed = client.delete(OUT).json()["removed"]
    assert sorted(removed) == ["out.csv", "out.csv.manifest.json", "out.help.csv"]
    folder = client.app.state.server.workspace_of("local").releases  # type: ignore[attr-defined]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "out.exe"}, "name"),
        ({"model": "negotiated"}, "levels"),
        ({"model": "mondrian", "levels": {"age": 1}}, "levels"),
        ({"levels": {"age": 1}}, "levels"),
        ({"options": {"workload": "/etc/passwd"}}, "options"),
        ({"options": {"cut": "sideways"}}, "options"),
        ({"name": "../.."}, "name"),
    ],
)
def test_invalid_publication_is_refused_at_its_field(
    client: Client, changes: dict[str, Any], field: str
) -> None:
    refused = client.post(
        "/api/publish/jobs", json={"model": "mondrian", "name": "out.csv", "k": 2} | changes
    )
    assert refused.status_code == 400
    assert refused.json()["error"]["field"] == field


def test_request_without_a_solution_writes_nothing(client: Client) -> None:
    job = done(client, "/api/publish/jobs", {"model": "mondrian", "name": "out.csv", "k": 100})
    assert job["state"] == "failed"
    assert job["error"]["kind"] == "no-solution"
    assert client.get("/api/publish/releases").json() == []


def test_linkage_attack_matches_an_upload(client: Client, folder: Path) -> None:
    publish(client)
    rows = (folder / "people.csv").read_bytes()
    assert client.put("/api/workspace/uploads/known.csv", content=rows).status_code == 201
    outside = {"release": "out.csv", "outside": "known.csv"}
    columns = client.post("/api/attacker/outside", json=outside).json()
    assert columns["match"] == {"age": "age", "city": "city"}
    assert columns["columns"] == ["name", "age", "city", "disease"]
    body = {**outside, "match": columns["match"], "key": "name=name"}
    found = done(client, "/api/attacker/jobs", body)["result"]
    assert found["release"] == "out.csv"
    assert found["linkage"]["before"]["expected_correct"] > found["linkage"]["after"]["expected_correct"]
    assert len(found["steps"]) == len(found["linkage"]["after"]["matches"])
    for wrong in ({"release": "none.csv"}, {"outside": "none.csv"}, {"outside": "../discreet.toml"}):
        assert client.post("/api/attacker/jobs", json={**outside, **wrong}).status_code == 404, wrong


def test_query_and_metrics_compare_with_the_original(client: Client) -> None:
    publish(client)
    body = {"release": "out.csv", "sql": "SELECT COUNT(*) FROM release GROUP BY city"}
    found = client.post("/api/analyst/query", json=body).json()
    assert found["truth"]
    by_city = {row["group"]["city"]: row for row in found["rows"]}
    assert by_city["Berlin"]["truth"] == 4
    assert all(row["holds"] in (True, None) for row in found["rows"])
    refused = client.post("/api/analyst/query", json={"release": "out.csv", "sql": "DROP TABLE release"})
    assert refused.status_code == 400
    measured = done(client, "/api/analyst/jobs", {"release": "out.csv"})["result"]
    assert {"loss", "granularity"} <= {m["name"] for m in measured["metrics"]}
    by_name = {d["attribute"]: d for d in measured["distributions"]}
    assert sum(by_name["city"]["before"]) == 9
    assert sum(by_name["age"]["after"]) == pytest.approx(9)


def test_release_after_an_earlier_one_is_checked_together(client: Client) -> None:
    """The same classes are safe together; classes that overlap them partially are refused."""
    same = {"model": "full-domain", "levels": {"age": 1, "city": 1}, "max_suppressed": "50%"}
    publish(client, **same)
    assert publish(client, **same, name="b.csv", previous_releases=["out.csv"])["audit"]["passed"]
    across = {"model": "mondrian", "name": "c.csv", "k": 2, "previous_releases": ["out.csv"]}
    job = done(client, "/api/publish/jobs", across)
    if job["state"] == "failed":
        assert "together with the earlier releases" in job["error"]["message"]
    for changes, field in (
        ({"previous_releases": ["none.csv"]}, None),
        ({"name": "b.csv", "previous_releases": ["b.csv"]}, "previous_releases"),
    ):
        refused = client.post("/api/publish/jobs", json={**across, "overwrite": True, **changes})
        assert refused.json()["error"]["field"] == field


def test_attacks_by_name_take_options_files_and_columns(client: Client) -> None:
    publish(client)
    publish(client, name="before.csv", k=3)
    forms = {each["name"]: each for each in client.get("/api/attacker").json()["attacks"]}
    assert [field["name"] for field in forms["skewness"]["fields"]] == ["times"]
    assert [each["is_release"] for each in forms["intersection"]["files"]] == [True]
    assert [each["name"] for each in forms["control-set"]["files"]] == ["control"]
    assert forms["households"]["fields"][0]["kind"] == "column"
    spec = client.app.state.server.workspace_of("local").spec_path  # type: ignore[attr-defined]
    others = (spec.parent / "people.csv").read_bytes()
    assert client.put("/api/workspace/uploads/others.csv", content=others).status_code == 201
    for by, files, options in (
        ("intersection", {"earlier": ["before.csv"]}, {}),
        ("control-set", {"control": ["others.csv"]}, {"confidence": "0.9"}),
        ("households", {}, {"household": "name"}),
        ("suda2", {}, {"largest_unique": "2", "fraction": ""}),
    ):
        body = {"release": "out.csv", "by": by, "files": files, "options": options}
        for persons in (False, True):
            job = done(client, "/api/attacker/jobs", {**body, "persons": persons})
            assert job["state"] == "done", job["error"]
            (found,) = job["result"]["findings"]
            assert found["tables"]
            assert persons or not any(table["persons"] for table in found["tables"])
    assert any(table["persons"] for table in found["tables"]), "suda2 lists persons on request"
    for wrong in (
        {"by": "suda"},
        {"by": "suda2", "options": {"k": "2"}},
        {"by": "suda2", "files": {"no": []}},
    ):
        assert client.post("/api/attacker/jobs", json={"release": "out.csv", **wrong}).status_code == 400, (
            wrong
        )
