"""Columns over REST: roles, reasons, uniqueness."""

from __future__ import annotations

from starlette.testclient import TestClient

from discreet.web import step_progress
from tests.web.routes.preparation import error_of, finished, open_people, workspace_of


def columns(client: TestClient) -> dict[str, dict[str, object]]:
    return {column["name"]: column for column in client.get("/api/columns").json()["columns"]}


def test_column_has_a_proposal_with_its_reason(client: TestClient) -> None:
    open_people(client)
    found = columns(client)
    assert found["id"]["reason"] == "named like an identifier (id; HIPAA R, other unique numbers and codes)"
    assert str(found["id"]["form"]).startswith("A pseudonym would join")
    assert found["age"]["form"] is None
    assert found["id"]["unique_rows"] == 61
    assert found["age"]["null_rows"] == 1
    assert found["city"]["examples"] == ["A", "B", "C"]
    assert {c["role"] for c in found.values()} == {"identifier", "quasi-identifier", "sensitive"}
    step_progress._CACHES.clear()
    answer = client.get("/api/columns").json()
    assert finished(client, answer["job"])["result"] == {"rows": 61}
    assert client.get("/api/columns").json()["job"] is None


def test_roles_and_weights_are_saved(client: TestClient) -> None:
    open_people(client)
    changes = [
        {"name": "disease", "role": "quasi-identifier", "weight": 2.5},
        {"name": "sex", "role": "insensitive"},
        {"name": "id", "unlist": True},
    ]
    answer = client.put("/api/columns", json={"changes": changes})
    assert answer.status_code == 200, answer.text
    spec = workspace_of(client).spec()
    roles = {a.name: (str(a.role), a.weight) for a in spec.attributes}
    assert roles["disease"] == ("quasi-identifier", 2.5)
    assert roles["sex"] == ("insensitive", 1.0)
    assert "id" not in roles
    assert columns(client)["id"]["role"] is None


def test_invalid_changes_are_refused_and_a_new_role_gets_a_hierarchy(client: TestClient) -> None:
    open_people(client)

    def refused(status: int = 400, **change: object) -> dict[str, object]:
        return error_of(client.put("/api/columns", json={"changes": [change]}), status)

    for name in ("nobody", "sex\ufffd"):
        assert refused(name=name, role="sensitive")["field"] == "name"
    assert "not a quasi-identifier" in str(refused(name="disease", weight=2)["message"])
    assert refused(422, name="age", weight=0)
    for role in ("insensitive", "quasi-identifier"):
        client.put("/api/columns", json={"changes": [{"name": "age", "role": role}]})
    assert columns(client)["age"]["has_hierarchy"]


def test_uniqueness_of_sets(client: TestClient) -> None:
    open_people(client)
    found = client.post("/api/columns/uniqueness", json={"columns": ["id"]}).json()
    assert (found["unique_rows"], found["distinct"]) == (61, 61)
    none = client.post("/api/columns/uniqueness", json={"columns": []}).json()
    assert (none["distinct"], none["smallest"]) == (1, 61)
    pair = client.post("/api/columns/uniqueness", json={"columns": ["city", "sex"]}).json()
    assert pair["distinct"] == 6
    assert pair["below"][0] == {"size": 2, "rows": 0}
    worst = client.post("/api/columns/worst", json={"columns": ["city", "id", "sex"], "size": 2}).json()
    assert (worst["examined"], worst["possible"]) == (3, 3)
    assert "id" in worst["best"][0]["columns"]
    assert client.post("/api/columns/worst", json={"columns": ["city"], "size": 3}).json()["best"] == []
    assert error_of(client.post("/api/columns/uniqueness", json={"columns": ["nobody"]}))


def test_columns_left_out_and_hints_with_actions(client: TestClient) -> None:
    names = [f"trait{i}" for i in range(18)]
    rows = "".join(
        f"P{i % 40},{-1 if i == 5 else 20 + i % 9},"
        + ",".join(f"v{(i * (j + 3)) % 7}" for j in range(18))
        + "\n"
        for i in range(60)
    )
    open_people(client, f"patient_id,age,{','.join(names)}\n{rows}")
    found = client.get("/api/columns").json()
    acts = [each["act"] for each in found["warnings"] if each["act"]]
    assert {(act["subject"], *act["null_values"]) for act in acts} == {("patient_id",), (None, "-1")}
    assert not any("[source]" in each["text"] for each in found["warnings"])
    left_out = found["given_up"]
    assert set(left_out) < set(names)
    assert left_out
    changes = [{"name": left_out[0], "role": "quasi-identifier"}]
    changes += [{"name": name, "role": "identifier"} for name in left_out[1:]]
    assert client.put("/api/columns", json={"changes": changes}).json()["given_up"] == []
