"""Temporary folders: no other user enters them, and the next run removes those of killed runs."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.engines import process_resources
from discreet.engines.process_resources import TemporaryFolder, remove_dead_folders, remove_temporary_folders
from tests.waiting import status_of

ROOT = Path(__file__).resolve().parent.parent.parent

SPILLS = """
import sys
from pathlib import Path
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.settings import Settings
with DuckdbEngine(Settings(200 * 10**6, 1, Path(sys.argv[1]) / "log.jsonl")) as engine:
    engine.create_table("t", "SELECT 'person ' || range AS a, hash(range) AS b FROM range(20000000)")
    engine.fetch_rows("SELECT a FROM t ORDER BY b, a LIMIT 1 OFFSET 19000000")
"""
"""A run that needs about 700 MB under a limit of 200 MB."""

VERB = """
import sys
from pathlib import Path
from discreet.cli import main
from discreet.engines.duckdb.engine import DuckdbEngine
opened = DuckdbEngine.open_source
def waits(self, source):
    found = opened(self, source)
    print("open", flush=True)
    self.fetch_rows("SELECT count(*) FROM range(1000000000) a, range(1000000) b WHERE a.range + b.range = -1")
    return found
DuckdbEngine.open_source = waits
sys.argv[1:] = ["init", sys.argv[1], "--output", sys.argv[1] + ".toml"]
sys.exit(main.main())
"""
"""A verb whose statement runs for days, also after an interrupt (discreet.engines.process_resources)."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the folder of temporary files, also for child processes; it must be empty at the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def _child(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_files_spilled_by_a_killed_run_are_removed_by_the_next(temporary: Path, tmp_path: Path) -> None:
    with _child(SPILLS, tmp_path) as child:
        while not (spilled := list(temporary.glob("*/spill/*"))) and child.poll() is None:
            time.sleep(0.01)
        child.kill()
    assert child.returncode == -signal.SIGKILL
    assert spilled
    folders = list(temporary.iterdir())
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700]
    with TemporaryFolder() as own:
        assert list(temporary.iterdir()) == [own]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_that_end_a_verb_leave_no_file(
    number: signal.Signals, temporary: Path, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    before = signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
    try:
        child = _child(VERB, tmp_path / "t.csv")
    finally:
        signal.signal(number, before)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        assert list(temporary.iterdir())
        child.send_signal(number)
        assert status_of(child) == (128 + number, "")


def test_folders_of_an_ended_process_are_removed(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # This process continues, and with it the folder of its Spark session.
    monkeypatch.setattr(process_resources, "_LIVING_FOLDERS", {})
    with TemporaryFolder() as first, TemporaryFolder() as second:
        (second / "rows").write_text("x")
        remove_dead_folders(temporary)
        assert sorted(temporary.iterdir()) == sorted([first, second])
        assert (second / "rows").read_text() == "x"
        remove_temporary_folders()
        assert list(temporary.iterdir()) == []


def test_entries_of_no_dead_run_stay(temporary: Path) -> None:
    """Entries that do not belong to a dead run stay.

    They are folders with other names, without a lock, of another machine, or open to others; files; links.
    """
    lock = _lock_text()
    kept = {
        "discreet-notes": lock,
        "discreet-0000000a": None,
        "discreet-0000000b": lock.replace(b" on ", b" on not-"),
        "discreet-0000000c": lock,
    }
    for name, text in kept.items():
        (temporary / name).mkdir(mode=0o700)
        (temporary / name / "rows").write_text("x")
        if text is not None:
            (temporary / name / "lock").write_bytes(text)
    (temporary / "discreet-0000000c").chmod(0o755)
    (temporary / "discreet-0000000d").write_text("x")
    (temporary / "discreet-0000000e").symlink_to(temporary / "discreet-notes")
    before = sorted(temporary.rglob("*"))
    remove_dead_folders(temporary)
    assert sorted(temporary.rglob("*")) == before
    (temporary / "discreet-0000000c").chmod(0o700)
    remove_dead_folders(temporary)
    assert not (temporary / "discreet-0000000c").exists()
    subprocess.run(["rm", "-rf", *map(str, temporary.iterdir())], check=True)


def test_folder_of_another_user_or_without_a_lock_stays(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, empty = temporary / "discreet-0000000a", temporary / "discreet-0000000b"
    dead.mkdir(mode=0o700)
    (dead / "lock").write_bytes(_lock_text())
    empty.mkdir(mode=0o700)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        remove_dead_folders(temporary)
    assert dead.exists()
    remove_dead_folders(temporary)
    assert list(temporary.iterdir()) == [empty]
    os.utime(empty, (0, 0))
    remove_dead_folders(temporary)


def _lock_text() -> bytes:
    with TemporaryFolder() as folder:
        return (folder / "lock").read_bytes()
