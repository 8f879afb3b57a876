"""Uploads and server paths: sizes, names, links, and attempts to leave the root."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from discreet.web import workspace_files
from discreet.web.error_responses import FieldError
from discreet.web.workspace_files import resolve_below, safe_name
from tests.web.conftest import Client, MakeClient

NAMES = {
    "adult.csv": "adult.csv",
    "a b (2).csv": "a b (2).csv",
    "../../etc/passwd": "passwd",
    "..\\..\\boot.ini": "boot.ini",
    ".bashrc": "bashrc",
    "a\x00b\n.csv": "a_b_.csv",
    "Ünïcode.csv": "Ünïcode.csv",
    "x" * 300 + ".csv": "x" * 116 + ".csv",
    "a;b|c&d.csv": "a_b_c_d.csv",
    "C:\\Users\\a.csv": "a.csv",
}


@pytest.mark.parametrize(("text", "name"), NAMES.items())
def test_names_are_made_safe(text: str, name: str) -> None:
    assert safe_name(text) == name


@pytest.mark.parametrize(
    "text", ["", ".", "..", "/", "...", "\x00", "con", "NUL.txt", "com1.csv", " ", "///"]
)
def test_invalid_name_is_refused(text: str) -> None:
    with pytest.raises(FieldError):
        safe_name(text)


def folder_of(client: Client) -> Path:
    return client.app.state.server.workspace_of("local").uploads  # type: ignore[attr-defined,no-any-return]


def test_upload_is_streamed_into_an_owner_only_file(client: Client) -> None:
    content = os.urandom(3 * 2**20 + 17)
    parts = (content[i : i + 70_000] for i in range(0, len(content), 70_000))
    answer = client.put("/api/workspace/uploads/adult.csv", content=parts)
    assert (answer.status_code, answer.json()["size"]) == (201, len(content))
    path = folder_of(client) / "adult.csv"
    assert path.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert answer.json()["path"] == "uploads/adult.csv"
    again = client.put("/api/workspace/uploads/adult.csv", content=b"x")
    assert again.status_code == 409
    assert client.put("/api/workspace/uploads/adult.csv?replace=true", content=b"x").status_code == 201
    assert path.read_bytes() == b"x"
    assert client.delete("/api/workspace/uploads/adult.csv").status_code == 204
    assert client.delete("/api/workspace/uploads/adult.csv").status_code == 404
    assert list(folder_of(client).iterdir()) == []


def test_upload_over_the_limit_leaves_nothing(make_client: MakeClient) -> None:
    client = make_client(max_upload=1000)
    announced = client.put("/api/workspace/uploads/a.csv", content=b"x" * 1001)
    streamed = client.put("/api/workspace/uploads/a.csv", content=iter([b"x" * 600] * 3))
    lying = client.put("/api/workspace/uploads/a.csv", content=b"", headers={"content-length": "5000000"})
    assert [a.status_code for a in (announced, streamed, lying)] == [413] * 3
    assert streamed.json()["error"]["kind"] == "too-large"
    assert client.put("/api/workspace/uploads/a.csv", content=b"").status_code == 400
    assert list(folder_of(client).iterdir()) == []
    assert client.put("/api/workspace/uploads/a.csv", content=b"x" * 1000).status_code == 201


def test_upload_to_a_full_disk_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_files, "_RESERVED_SPACE", 2**62)
    answer = client.put("/api/workspace/uploads/a.csv", content=b"x")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (413, "limit-reached")


def test_upload_stays_in_its_folder_and_follows_no_link(client: Client, tmp_path: Path) -> None:
    uploads = folder_of(client)

    def others() -> set[Path]:
        return {path for path in uploads.parent.rglob("*") if path.parent != uploads}

    before = others()
    for name in ("..%2f..%2fevil.csv", "%2e%2e%2fevil.csv", "..%5cevil.csv", "%00.csv", "%2e%2e"):
        client.put(f"/api/workspace/uploads/{name}", content=b"x")
        assert others() == before, name
    (tmp_path / "target").write_text("mine")
    (uploads / "a.csv").symlink_to(tmp_path / "target")
    assert client.put("/api/workspace/uploads/a.csv?replace=true", content=b"x").status_code == 409
    assert (tmp_path / "target").read_text() == "mine"


@pytest.fixture
def rooted(make_client: MakeClient, tmp_path: Path) -> Client:
    root = tmp_path / "root"
    (root / "data").mkdir(parents=True)
    (root / "data" / "people.csv").write_text("a\n1\n")
    (root / "data" / ".hidden.csv").write_text("a\n")
    (root / "data" / "program.exe").write_text("a\n")
    (root / "out").symlink_to("/etc")
    (root / "inside.csv").symlink_to(root / "data" / "people.csv")
    (root / "passwd.csv").symlink_to("/etc/passwd")
    (tmp_path / "root-sibling").mkdir()
    return make_client(root=root)


def test_folders_below_the_root_are_listed(rooted: Client, tmp_path: Path) -> None:
    top = rooted.get("/api/workspace/files").json()
    assert [(e["name"], e["kind"]) for e in top["entries"]] == [("data", "folder"), ("inside.csv", "file")]
    assert top["parent"] is None
    data = rooted.get("/api/workspace/files", params={"folder": top["entries"][0]["path"]}).json()
    assert [e["name"] for e in data["entries"]] == ["people.csv"]
    assert data["parent"] == str(tmp_path / "root")


OUTSIDE = [
    "/",
    "/etc",
    "..",
    "../root-sibling",
    "out",
    "data/../../..",
    "/proc/self",
    "\x00",
    "~",
    "a" * 5000,
]


def test_folders_outside_the_root_are_refused_like_missing_ones(rooted: Client, tmp_path: Path) -> None:
    for path in [each for text in OUTSIDE for each in (text, os.path.join(tmp_path, "root", text))]:  # noqa: PTH118
        answer = rooted.get("/api/workspace/files", params={"folder": path})
        if answer.status_code == 200:
            assert answer.json()["folder"].startswith(f"{tmp_path}/root")
        else:
            assert (answer.status_code, answer.json()["error"]["field"]) == (400, "folder"), path
    exists = rooted.get("/api/workspace/files", params={"folder": "/etc/passwd"}).json()
    assert exists == rooted.get("/api/workspace/files", params={"folder": "/etc/no-such-file"}).json()


def test_server_without_a_root_lists_nothing(client: Client) -> None:
    assert client.get("/api/workspace/files").status_code == 404


def test_resolve_below_follows_links(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    (outside / "back").symlink_to(inside)
    assert resolve_below("link/back", base=inside, folders=[inside]) == inside
    for text in ("link", "link/x", "../out", ""):
        with pytest.raises(FieldError):
            resolve_below(text, base=inside, folders=[inside])
