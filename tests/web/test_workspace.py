"""The workspace: its spec, its table, its stored state, its users."""

from __future__ import annotations

import gc
import os
import stat
import weakref
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread

import pytest

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.verbs.table import open as open_table
from discreet.web import work_history
from discreet.web.error_responses import Conflict, FieldError, NotFound
from discreet.web.server_state import lock_folder
from discreet.web.workspace import Workspace
from tests.web.conftest import Client, MakeClient

ROWS = "age,city,disease\n" + "".join(f"{20 + i % 5},{'AB'[i % 2]},flu\n" for i in range(20))
SPEC = """\
# My own heading

[source]
path = "people.csv"

# the age in years
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [2.5, 5.0]}

# "quoted" comment
[attributes."city"]
role = "quasi-identifier"
[attributes.disease]
role = "sensitive"
"""


@pytest.fixture
def workspace(tmp_path: Path, settings: Settings) -> Workspace:
    folder = tmp_path / "workspace"
    found = Workspace("local", folder, settings, root=tmp_path)
    (folder / "people.csv").write_text(ROWS)
    (folder / "discreet.toml").write_text(SPEC)
    return found


def test_new_workspace_is_private_and_has_no_spec(tmp_path: Path, settings: Settings) -> None:
    found = Workspace("local", tmp_path / "new", settings)
    assert not found.has_spec
    assert found.spec_version == ""
    assert found.document() == {}
    with pytest.raises(NotFound):
        found.spec()
    for path in (found.folder, found.uploads, found.releases, found.hierarchies):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_saved_spec_keeps_comments_and_is_readable(workspace: Workspace) -> None:
    document = workspace.document()
    document["request"] = {"k": 3}
    version = workspace.save_spec(document, expected=workspace.spec_version)
    text = workspace.spec_path.read_text()
    assert version == workspace.spec_version
    assert "# My own heading" in text
    assert '# "quoted" comment\n[attributes.city]' in text
    assert "# the age in years\n[attributes.age]" in text
    assert stat.S_IMODE(workspace.spec_path.stat().st_mode) == 0o600
    assert load_spec(workspace.spec_path).request.k == 3
    assert open_table(workspace.spec_path).negotiate(max_suppressed=0).answers
    assert [each.state["spec"] for each in workspace.history.versions] == [text, SPEC]
    assert workspace.save_spec(document, comments={"age": "another"}) != version
    assert "# another\n[attributes.age]" in workspace.spec_path.read_text()


def test_invalid_spec_is_not_written(workspace: Workspace) -> None:
    for document in ({"source": {"path": "people.csv", "null_policy": "maybe"}}, {"nonsense": 1}, {}):
        with pytest.raises(InputError) as caught:
            workspace.save_spec(document)
        assert ".check" not in str(caught.value)
    assert workspace.spec_path.read_text() == SPEC
    assert sorted(p.name for p in workspace.folder.glob("*.toml*")) == ["discreet.toml"]
    assert not list(workspace.folder.glob(".*.check"))


def test_spec_changed_elsewhere_is_not_overwritten(workspace: Workspace) -> None:
    version, document = workspace.spec_version, workspace.document()
    workspace.spec_path.write_text(SPEC + "# changed by an editor\n")
    with pytest.raises(Conflict):
        workspace.save_spec(document, expected=version)
    assert workspace.spec_path.read_text().endswith("# changed by an editor\n")


def in_threads(number: int, work: Callable[[Barrier], None]) -> None:
    """Run ``work`` in several threads at once."""
    barrier = Barrier(number)
    threads = [Thread(target=work, args=(barrier,)) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_concurrent_changes_are_all_saved(workspace: Workspace) -> None:
    names = [f"column {i}" for i in range(6)]
    todo = iter(names)

    def change(barrier: Barrier) -> None:
        barrier.wait()
        with workspace.edit_lock:
            document = workspace.document()
            document["attributes"][next(todo)] = {"role": "insensitive"}
            workspace.save_spec(document)

    in_threads(6, change)
    assert set(names) <= set(workspace.document()["attributes"])


def test_oldest_versions_are_deleted(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_history, "MAX_VERSIONS", 5)
    for k in range(2, 10):
        workspace.save_spec({**workspace.document(), "request": {"k": k}})
    found = workspace.history.versions
    assert [each.number for each in found] == [9, 8, 7, 6, 5]
    assert found[0].words == "The command line's request: k = 9"


def test_restoring_a_version_restores_its_files(workspace: Workspace) -> None:
    first = workspace.history.record()
    assert first is not None
    file = workspace.hierarchies / "city.csv"
    file.write_text("A;*\n")
    workspace.save_spec({**workspace.document(), "request": {"k": 3}})
    workspace.set_state("request", {"k": 7})
    workspace.record_version()
    assert workspace.history.versions[0].words.startswith("Request: k = 7")
    workspace.spec_path.write_text(SPEC + "# by an editor\n")
    file.write_text("B;*\n")
    assert workspace.history.restore(first.number).state["spec"] == SPEC
    assert workspace.spec_path.read_text() == SPEC
    assert workspace.state("request") is None
    by_editor = workspace.history.versions[0]
    assert by_editor.words == "Changed outside the workbench"
    assert workspace.history.next is not None
    workspace.history.restore(by_editor.number)
    assert workspace.spec_path.read_text().endswith("# by an editor\n")
    assert (file.read_text(), workspace.state("request")) == ("B;*\n", {"k": 7})


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../etc/passwd", "link.csv", "/proc/self/environ"])
@pytest.mark.parametrize("place", ["source", "hierarchy", "table"])
def test_spec_with_a_file_outside_is_refused(
    tmp_path: Path, settings: Settings, path: str, place: str
) -> None:
    found = Workspace("anna", tmp_path / "anna", settings)
    (found.folder / "people.csv").write_text(ROWS)
    (found.folder / "link.csv").symlink_to("/etc/passwd")
    hierarchy = {"source": None, "hierarchy": path, "table": {"kind": "file", "path": path}}[place]
    attribute = {"role": "quasi-identifier", "hierarchy": hierarchy}
    document = {"source": {"path": path if place == "source" else "people.csv"}}
    with pytest.raises(FieldError):
        found.save_spec({**document, "attributes": {"age": attribute}})


def test_files_of_the_owners_spec_are_allowed(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "discreet.toml").write_text(SPEC)
    found = Workspace("local", tmp_path / "w", settings, spec=tmp_path / "discreet.toml", root=None)
    found.save_spec({**found.document(), "request": {"k": 2}})
    assert load_spec(tmp_path / "discreet.toml").request.k == 2
    with pytest.raises(FieldError):
        found.save_spec({**found.document(), "source": {"path": "/etc/passwd"}})


def test_table_is_cached_until_a_change(workspace: Workspace) -> None:
    table = workspace.table()
    assert workspace.table() is table
    counted: list[int] = []
    assert (
        workspace.compute_once("rows", lambda: counted.append(1) or workspace.table().frequency_set.rows)
        == 20
    )
    assert workspace.compute_once("rows", lambda: counted.append(1) or 0) == 20
    assert len(counted) == 1
    with pytest.raises(ZeroDivisionError):
        workspace.compute_once("x", lambda: 1 // 0)
    assert workspace.compute_once("x", lambda: 5) == 5, "a failure is not stored"
    gone = weakref.ref(table)
    (workspace.folder / "people.csv").write_text(ROWS + "30,C,flu\n")
    changed = workspace.table()
    assert changed is not table
    assert workspace.compute_once("rows", lambda: changed.frequency_set.rows) == 21
    del table
    gc.collect()
    assert gone() is None
    workspace.save_spec({**workspace.document(), "request": {"k": 2}})
    assert workspace.table() is changed
    assert workspace.table().spec.request.k == 2
    workspace.save_spec({**workspace.document(), "source": {"path": "people.csv", "null_values": ["?"]}})
    assert workspace.table() is not changed


def test_concurrent_threads_compute_once(workspace: Workspace) -> None:
    made, tables = [], set()

    def use(barrier: Barrier) -> None:
        barrier.wait()
        tables.add(id(workspace.table()))
        workspace.compute_once("slow", lambda: made.append(workspace.table().frequency_set.rows) or 1)

    in_threads(8, use)
    assert (len(tables), made) == (1, [20])


def test_state_and_log_survive_a_restart(workspace: Workspace, settings: Settings) -> None:
    workspace.set_state("choice", {"levels": {"age": 1}})
    for k in range(5):
        workspace.requests.append({"k": k})
    with workspace.requests.path.open("a") as file:
        file.write('{"k": 5, "cut o')
    again = Workspace("local", workspace.folder, settings)
    assert again.state("choice") == {"levels": {"age": 1}}
    assert [entry["k"] for entry in again.requests.entries(3)] == [3, 4]
    assert stat.S_IMODE(again.requests.path.stat().st_mode) == 0o600
    again.set_state("choice", None)
    assert again.state("choice") is None
    again.requests.clear()
    assert again.requests.entries() == []


def test_second_server_in_a_workspace_is_refused(tmp_path: Path, make_client: MakeClient) -> None:
    make_client(workspace=tmp_path / "shared")
    with pytest.raises(InputError, match="another server"):
        make_client(workspace=tmp_path / "shared")
    for _ in range(2):  # closing the descriptor releases the lock
        descriptor = lock_folder(tmp_path / "w")
        assert descriptor is not None
        os.close(descriptor)


def test_spec_and_log_over_rest(client: Client) -> None:
    assert client.get("/api/workspace/spec").status_code == 404
    workspace: Workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    workspace.requests.append({"k": 5})
    assert [entry["k"] for entry in client.get("/api/workspace/requests").json()["requests"]] == [5]
    assert client.get("/api/workspace/requests", params={"last": 0}).status_code == 422
    assert client.delete("/api/workspace/requests").status_code == 204
    assert client.get("/api/workspace/requests").json() == {"requests": []}
    client.put("/api/workspace/uploads/people.csv", content=ROWS.encode())
    text = SPEC.replace("people.csv", "uploads/people.csv")
    first = client.put("/api/workspace/spec", json={"text": text})
    assert first.status_code == 200
    assert first.json()["document"]["attributes"]["age"]["hierarchy"]["widths"] == [2.5, 5.0]
    stale = client.put("/api/workspace/spec", json={"text": text, "expected": "another"})
    assert (stale.status_code, stale.json()["error"]["kind"]) == (409, "conflict")
    wrong = client.put("/api/workspace/spec", json={"text": "= no TOML"})
    assert (wrong.status_code, wrong.json()["error"]["kind"]) == (400, "bad-input")
    assert client.get("/api/workspace/spec/file").text == text
    summary = client.get("/api/workspace").json()
    assert summary["source"] == "uploads/people.csv"
    assert [a["role"] for a in summary["attributes"]] == ["quasi-identifier"] * 2 + ["sensitive"]


DATABASE = """\
[source]
url = "postgresql://ann@localhost/clinic"
table = "people"
[attributes.age]
role = "quasi-identifier"
"""


def test_database_is_chosen_only_by_the_owner(
    workspace: Workspace, tmp_path: Path, settings: Settings
) -> None:
    with pytest.raises(FieldError, match="did not choose this database and table"):
        workspace.save_spec_text(DATABASE)
    spec = tmp_path / "own.toml"
    spec.write_text(DATABASE)
    own = Workspace("local", tmp_path / "other", settings, spec=spec)
    own.save_spec_text(DATABASE.replace("[attributes.age]", 'null_policy = "drop"\n[attributes.age]'))
    for other in (DATABASE.replace("people", "salaries"), DATABASE.replace("localhost", "inside")):
        with pytest.raises(FieldError, match="did not choose"):
            own.save_spec_text(other)
    with pytest.raises(FieldError, match="did not choose"):
        own.save_spec_text(DATABASE.replace('url = "postgresql://ann@localhost/clinic"', 'engine = "spark"'))


def test_glob_is_expanded_to_its_columns(workspace: Workspace) -> None:
    stanza = '[attributes."c*"]\nrole = "insensitive"\n'
    workspace.spec_path.write_text(SPEC.replace('[attributes."city"]\nrole = "quasi-identifier"\n', stanza))
    document = workspace.document()
    assert document["attributes"]["city"] == {"role": "insensitive"}
    assert list(document["attributes"]) == ["age", "city", "disease"]
    workspace.save_spec(document)
    assert "c*" not in workspace.spec_path.read_text()


def test_glob_of_a_file_outside_is_refused_unread(tmp_path: Path, settings: Settings) -> None:
    """The first line must not be read either, since an error would show it."""
    (tmp_path / "secret.csv").write_text("password,of root\n1,2\n")
    found = Workspace("local", tmp_path / "workspace", settings)
    document = {"source": {"path": "../secret.csv"}, "attributes": {"x*": {"role": "insensitive"}}}
    with pytest.raises(FieldError) as caught:
        found.save_spec(document)
    assert caught.value.field == "source.path"
    assert "of root" not in str(caught.value)
    assert not found.has_spec
