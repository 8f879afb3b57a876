"""Minimum levels of birth dates persist when their hierarchy of ages is edited."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from discreet.hierarchy.draft import least_level_after
from discreet.hierarchy.level_table import hierarchy_from_rows
from discreet.model.table_spec import AttributeRole
from discreet.verbs.spec_editor import with_hierarchy, with_roles
from discreet.verbs.table import open as open_table
from discreet.web.workspace import Workspace
from tests.web.routes.preparation import open_people, workspace_of
from tests.web.routes.test_hierarchies import edit, one

BORN = "born,sex\n" + "".join(f"{1950 + i % 30}-0{1 + i % 9}-15,{'mf'[i % 2]}\n" for i in range(60))


def opened(client: TestClient) -> Workspace:
    open_people(client, BORN)
    workspace = workspace_of(client)
    ages = {"kind": "age", "reference": "2026-11-23", "widths": [10, 20]}
    document = with_roles(workspace.document(), {"born": AttributeRole.QUASI_IDENTIFIER})
    workspace.save_spec(with_hierarchy(document, "born", ages))
    return workspace


def least(workspace: Workspace) -> int:
    """Return the default minimum level of ``born``, read from the spec as the command line does."""
    return open_table(workspace.spec_path).spec.request.min_level.get("born", 0)


def shown_at_least(client: TestClient, workspace: Workspace) -> set[str]:
    return set(one(client, "born")["levels"][least(workspace)]["labels"])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"change": "rename", "level": 2, "labels": ["40-49"], "name": "forties"}, 1),
        ({"change": "add_level", "level": 0}, 2),
        ({"change": "add_level", "level": 1}, 1),
        ({"change": "remove_level", "level": 1}, 1),
        ({"change": "remove_level", "level": 2}, 1),
        ({"change": "ungroup", "level": 1, "labels": ["76"]}, 2),
    ],
)
def test_edit_keeps_dates_of_birth_hidden(client: TestClient, change: dict[str, Any], expected: int) -> None:
    workspace = opened(client)
    assert least(workspace) == 1
    answer = edit(client, "born", **change)
    assert answer.status_code == 200, answer.text
    assert least(workspace) == expected
    assert not any("-" in label and label[:4].isdigit() for label in shown_at_least(client, workspace))
    assert any(f"least level of 'born' is {expected}" in note for note in answer.json()["notes"])
    client.post("/api/versions/undo")
    assert workspace.document()["attributes"]["born"]["hierarchy"]["kind"] == "age"
    client.post("/api/versions/redo")
    assert least(workspace) == expected


def test_further_edits_and_an_import_keep_the_least_level(client: TestClient) -> None:
    workspace = opened(client)
    for change, level, expected in (("add_level", 0, 2), ("remove_level", 1, 1)):
        assert edit(client, "born", change, level=level).status_code == 200
        assert least(workspace) == expected
    text = client.get("/api/hierarchies/file", params={"attribute": "born"}).text
    assert client.put("/api/hierarchies/file", json={"attribute": "born", "text": text}).status_code == 200
    assert least(workspace) == 1
    assert "-15" not in "".join(shown_at_least(client, workspace))


def test_other_hierarchies_have_no_least_level(client: TestClient) -> None:
    workspace = opened(client)
    other = {"attribute": "born", "kind": "mask", "typed": {}}
    assert client.put("/api/hierarchies", json=other).status_code == 200
    assert edit(client, "born", "add_level", level=0).status_code == 200
    assert least(workspace) == 0
    assert isinstance(workspace.document()["attributes"]["born"]["hierarchy"], str)


def test_least_level_covers_new_leaves() -> None:
    def made(*rows: str) -> Any:
        return hierarchy_from_rows("born", [row.split(";") for row in rows], origin="")

    before = made("1950-01-01;76;70s;*", "unknown;unknown;unknown;*")
    assert least_level_after(before, 1, before) == 1
    more = made("1950-01-01;76;70s;*", "unknown;unknown;unknown;*", "1951-01-01;1951-01-01;1951-01-01;*")
    assert least_level_after(before, 1, more) == 3
    assert least_level_after(before, 0, more) == 0
