"""Publisher, attacker and analyst routes: answers, refusals, and data that they never return."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.test_linkage import PATIENTS, table_of
from tests.waiting import PATIENCE
from tests.web.conftest import Client, MakeClient


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


def test_the_screen_begins_with_models_and_no_release(client: Client) -> None:
    found = client.get("/api/publish").json()
    assert [m["name"] for m in found["models"]][:3] == ["negotiated", "full-domain", "mondrian"]
    assert found["quasi_identifiers"] == ["age", "city"]
    assert (found["choice"], found["releases"]) == (None, [])


def test_without_a_spec_the_screens_still_answer(make_client: MakeClient) -> None:
    empty = make_client()
    for screen in ("publish", "attacker", "analyst"):
        assert empty.get(f"/api/{screen}").status_code == 200
    refused = empty.post("/api/publish/jobs", json={"model": "mondrian", "name": "out.csv"})
    assert refused.status_code == 404


def test_a_release_comes_with_its_audit_and_its_files(client: Client) -> None:
    found = publish(client)
    assert found["audit"]["passed"]
    assert found["audit"]["k"] >= 2
    assert set(found["release"]["files"]) == {"data", "manifest"}
    data = client.get("/api/publish/releases/out.csv/files/data")
    assert data.status_code == 200
    assert data.headers["content-disposition"].startswith("attachment")
    assert data.text.startswith("age,city,disease")
    assert "name" not in data.text.splitlines()[0]
    assert client.get("/api/publish/releases/out.csv/files/help").status_code == 404


def test_levels_are_published_as_they_were_chosen(client: Client) -> None:
    found = publish(
        client, model="full-domain", levels={"age": 1, "city": 1}, max_suppressed="20%", suppressed="star"
    )
    assert found["release"]["levels"] == {"age": 1, "city": 1}
    assert found["audit"]["starred"] == found["release"]["suppressed"] == 1


def test_nothing_is_handed_over_once_the_audit_fails(client: Client) -> None:
    publish(client)
    path = client.app.state.server.workspace_of("local").releases / "out.csv"  # type: ignore[attr-defined]
    path.write_text(path.read_text(encoding="utf-8") + "20,Berlin,a\n", encoding="utf-8")
    shown = client.get("/api/publish/releases/out.csv").json()
    assert not shown["audit"]["passed"]
    for what in ("data", "manifest"):
        refused = client.get(f"/api/publish/releases/out.csv/files/{what}")
        assert refused.status_code == 409
        assert "audit" in refused.json()["error"]["message"]


def test_a_report_is_written_in_the_language_that_is_chosen(client: Client) -> None:
    assert {"code": "de", "name": "Deutsch"} in client.get("/api/publish/languages").json()
    publish(client)
    done(client, "/api/publish/releases/out.csv/report", {"language": "de"})
    assert '<html lang="de">' in client.get("/api/publish/releases/out.csv/report").text


def test_the_report_is_written_read_and_replaced_with_the_release(client: Client) -> None:
    publish(client)
    assert client.get("/api/publish/releases/out.csv/report").status_code == 404
    made = done(client, "/api/publish/releases/out.csv/report", {"purpose": "A <b>study</b>."})
    assert made["result"] == {"name": "out.csv.report.html", "passed": True}
    page = client.get("/api/publish/releases/out.csv/report")
    assert "sandbox" in page.headers["content-security-policy"]
    assert "A &lt;b&gt;study&lt;/b&gt;." in page.text
    assert client.get("/api/publish/releases/out.csv/files/report").status_code == 200
    publish(client, overwrite=True, k=3)
    assert client.get("/api/publish/releases/out.csv/report").status_code == 404


def test_a_permuted_release_brings_its_warning_everywhere(client: Client) -> None:
    publish(client, model="permutation", options={"sensitive": "disease"})
    for screen in ("publish", "attacker", "analyst"):
        (found,) = client.get(f"/api/{screen}").json()["releases"]
        assert any("membership" in text for text in found["cautions"])
    assert "help" in client.get("/api/publish/releases").json()[0]["files"]
    assert client.get("/api/publish/releases/out.csv/files/help").status_code == 200
    attacked = done(client, "/api/attacker/jobs", {"release": "out.csv"})["result"]
    assert attacked["disclosure"]["units"] == "groups"
    removed = client.delete("/api/publish/releases/out.csv").json()["removed"]
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
def test_what_may_not_be_published(client: Client, changes: dict[str, Any], field: str) -> None:
    refused = client.post(
        "/api/publish/jobs", json={"model": "mondrian", "name": "out.csv", "k": 2} | changes
    )
    assert refused.status_code == 400
    assert refused.json()["error"]["field"] == field


def test_a_name_that_is_taken(client: Client) -> None:
    publish(client)
    refused = client.post("/api/publish/jobs", json={"model": "mondrian", "name": "out.csv", "k": 2})
    assert refused.json()["error"]["field"] == "name"


def test_a_request_that_nothing_meets_leaves_nothing(client: Client) -> None:
    job = done(client, "/api/publish/jobs", {"model": "mondrian", "name": "out.csv", "k": 100})
    assert job["state"] == "failed"
    assert job["error"]["kind"] == "no-solution"
    assert client.get("/api/publish/releases").json() == []


def test_the_linkage_attack_with_an_upload(client: Client, folder: Path) -> None:
    publish(client)
    rows = (folder / "people.csv").read_bytes()
    assert client.put("/api/workspace/uploads/known.csv", content=rows).status_code == 201
    told = client.post("/api/attacker/outside", json={"release": "out.csv", "outside": "known.csv"}).json()
    assert told["match"] == {"age": "age", "city": "city"}
    assert told["columns"] == ["name", "age", "city", "disease"]
    body = {"release": "out.csv", "outside": "known.csv", "match": told["match"], "key": "name=name"}
    found = done(client, "/api/attacker/jobs", body)["result"]
    assert found["release"] == "out.csv"
    assert found["linkage"]["before"]["expected_correct"] > found["linkage"]["after"]["expected_correct"]
    assert len(found["steps"]) == len(found["linkage"]["after"]["matches"])


def test_an_attack_on_what_is_not_there(client: Client) -> None:
    publish(client)
    for body in (
        {"release": "none.csv"},
        {"release": "out.csv", "outside": "none.csv"},
        {"release": "out.csv", "outside": "../discreet.toml"},
    ):
        assert client.post("/api/attacker/jobs", json=body).status_code == 404, body


def test_an_answer_has_truth_estimate_and_bounds(client: Client) -> None:
    publish(client)
    body = {"release": "out.csv", "sql": "SELECT COUNT(*) FROM release GROUP BY city"}
    found = client.post("/api/analyst/query", json=body).json()
    assert found["truth"]
    by_city = {row["group"]["city"]: row for row in found["rows"]}
    assert by_city["Berlin"]["truth"] == 4
    assert all(row["holds"] in (True, None) for row in found["rows"])
    refused = client.post("/api/analyst/query", json={"release": "out.csv", "sql": "DROP TABLE release"})
    assert refused.status_code == 400


def test_the_truth_of_a_permuted_release(client: Client, folder: Path) -> None:
    publish(client, model="permutation", options={"sensitive": "disease"})
    body = {"release": "out.csv", "sql": "SELECT COUNT(disease) FROM release WHERE city = 'Bonn'"}
    (row,) = client.post("/api/analyst/query", json=body).json()["rows"]
    assert (row["truth"], row["lower"], row["upper"], row["holds"]) == (4, 4, 4, True)
    shutil.rmtree(folder)


def test_measures_and_distributions(client: Client) -> None:
    publish(client)
    found = done(client, "/api/analyst/jobs", {"release": "out.csv"})["result"]
    assert {"loss", "granularity"} <= {m["name"] for m in found["metrics"]}
    by_name = {d["attribute"]: d for d in found["distributions"]}
    assert sum(by_name["city"]["before"]) == 9
    assert sum(by_name["age"]["after"]) == pytest.approx(9)


def test_an_attack_by_name_tells_of_single_persons_only_when_asked(client: Client) -> None:
    publish(client)
    forms = {form["name"]: form for form in client.get("/api/attacker").json()["attacks"]}
    assert [field["name"] for field in forms["skewness"]["fields"]] == ["times"]
    body = {"release": "out.csv", "by": "suda2", "options": {"largest_unique": "2", "fraction": ""}}
    for persons in (False, True):
        (found,) = done(client, "/api/attacker/jobs", body | {"persons": persons})["result"]["findings"]
        assert any(table["persons"] for table in found["tables"]) is persons
    for wrong in ({"by": "suda"}, {"by": "suda2", "options": {"k": "2"}}):
        refused = client.post("/api/attacker/jobs", json={"release": "out.csv", **wrong})
        assert refused.status_code == 422 or refused.status_code == 400, refused.text


def test_a_release_is_published_beside_an_earlier_one(client: Client) -> None:
    """The same classes are safe together; classes that overlap them partially are refused."""
    levels = {"age": 1, "city": 1}
    publish(client, model="full-domain", levels=levels, max_suppressed="50%")
    same = publish(
        client, model="full-domain", levels=levels, max_suppressed="50%", name="b.csv", after=["out.csv"]
    )
    assert same["audit"]["passed"]
    across = {"model": "mondrian", "name": "c.csv", "k": 2, "after": ["out.csv"]}
    job = done(client, "/api/publish/jobs", across)
    if job["state"] == "failed":
        assert "together with the earlier releases" in job["error"]["message"]
    for wrong, status in ((["none.csv"], 404), (["c.csv"], 404)):
        refused = client.post("/api/publish/jobs", json={**across, "after": wrong})
        assert refused.status_code == status
    replaced = client.post(
        "/api/publish/jobs", json={**across, "name": "b.csv", "overwrite": True, "after": ["b.csv"]}
    )
    assert replaced.json()["error"]["field"] == "after"


def test_attacks_take_earlier_releases_a_control_set_and_a_column(client: Client) -> None:
    publish(client)
    publish(client, name="before.csv", k=3)
    forms = {each["name"]: each for each in client.get("/api/attacker").json()["attacks"]}
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
    ):
        body = {"release": "out.csv", "by": by, "files": files, "options": options}
        job = done(client, "/api/attacker/jobs", body)
        assert job["state"] == "done", job["error"]
        assert job["result"]["findings"][0]["tables"]
    refused = client.post(
        "/api/attacker/jobs", json={"release": "out.csv", "by": "suda2", "files": {"no": []}}
    )
    assert refused.status_code == 400


@pytest.mark.parametrize(
    ("model", "called", "reported"),
    [
        ("full-domain", "Full-domain", "Full-domain"),
        ("mondrian", "Mondrian", "Mondrian (ordered-multi-dimension)"),
    ],
)
def test_a_model_has_one_name_in_form_list_and_report(
    client: Client, model: str, called: str, reported: str
) -> None:
    publish(client, model=model)
    shown = client.get("/api/publish").json()
    forms = {form["name"]: form["title"] for form in shown["models"]}
    assert called in forms.values()
    assert forms["negotiated"].startswith("Full-domain, ")
    assert [release["title"] for release in shown["releases"]] == [called]
    done(client, "/api/publish/releases/out.csv/report", {"language": "en"})
    assert f">{reported}<" in client.get("/api/publish/releases/out.csv/report").text
