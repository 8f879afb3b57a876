"""Downloads: one complete file, even if the file is replaced meanwhile."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from discreet.web import workspace_files
from discreet.web.error_responses import NotFound
from discreet.web.workspace import Workspace
from discreet.web.workspace_files import attachment, offline_page
from tests.web.conftest import Client
from tests.web.test_interface import DOCUMENT


def sent(response: Any) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body that a response sends."""
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"} if len(messages) > 99 else await asyncio.sleep(9, {})

    scope = {"type": "http", "method": "GET", "headers": [], "asgi": {"spec_version": "2.4"}}
    # The browser tests of the same process leave an event loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(response(scope, receive, send))).result()
    headers = {key.decode(): value.decode() for key, value in messages[0]["headers"]}
    return headers, b"".join(message.get("body", b"") for message in messages[1:])


@pytest.mark.parametrize(
    ("make", "old", "new"),
    [
        (attachment, b"", b"longer"),
        (offline_page, b"old", b""),
        (attachment, b"o" * 1_000_000, b"n" * 2_000_000),
        (offline_page, b"o" * 1_000_000, None),
    ],
)
def test_replaced_file_is_sent_as_it_was_opened(
    tmp_path: Path, make: Any, old: bytes, new: bytes | None
) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(old)
    answer = make(path)
    if new is None:
        path.unlink()
    else:
        (tmp_path / "other").write_bytes(new)
        (tmp_path / "other").replace(path)
    headers, body = sent(answer)
    assert body == old
    assert headers["content-length"] == str(len(old))


def test_growing_file_is_sent_with_its_length_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "größe 1.csv"
    path.write_bytes(b"old")
    answer = attachment(path)
    with path.open("ab") as file:
        file.write(b" and more")
    headers, body = sent(answer)
    assert body == b"old"
    assert headers["content-disposition"] == "attachment; filename*=utf-8''gr%C3%B6%C3%9Fe%201.csv"


def test_folder_link_and_pipe_are_not_found(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "link", "pipe", "nothing"):
        with pytest.raises(NotFound):
            attachment(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system lists no descriptors")
def test_downloads_close_their_descriptors(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(b"x" * (3 * workspace_files._DOWNLOAD_CHUNK))
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        sent(attachment(path))
        with pytest.raises(NotFound):
            attachment(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2


def test_spec_is_downloaded_whole_during_writes(client: Client) -> None:
    workspace: Workspace = client.app.state.server.workspace_of("local")  # type: ignore[attr-defined]
    (workspace.folder / "people.csv").write_text("age,city,disease\n20,A,x\n30,B,y\n")
    texts, done = set[str](), Event()
    workspace.save_spec(DOCUMENT)
    texts.add(workspace.spec_path.read_text("utf-8"))
    longer = texts.copy().pop() + "# " + "x" * 5000 + "\n"
    texts.add(longer)

    def write() -> None:
        while not done.is_set():
            for text in texts:
                other = workspace.spec_path.with_name("other")
                other.write_text(text, "utf-8")
                other.replace(workspace.spec_path)

    writer = Thread(target=write)
    writer.start()
    try:
        for _ in range(40):
            answer = client.get("/api/workspace/spec/file")
            assert answer.status_code == 200
            assert answer.text in texts
            assert int(answer.headers["content-length"]) == len(answer.content)
    finally:
        done.set()
        writer.join()
