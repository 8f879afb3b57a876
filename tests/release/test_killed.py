"""Runs killed at each step leave no release, no mismatched manifest, and no leftovers."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.engines.base import Engine
from discreet.release.release_target import StagingFiles, check_release_target, remove_leftovers
from discreet.settings import Settings
from tests.dying import run_until_killed
from tests.oracle.patients import patients, publish_patients
from tests.waiting import PATIENCE, ctrl_c_arrives

MANIFEST = json.dumps(dict.fromkeys(["manifest", "discreet", "date", "data", "audit"]))
"""The keys by which a manifest of discreet is recognized."""

ROOT = Path(__file__).resolve().parent.parent.parent

CHILD = """
import os
import signal
import sys
from pathlib import Path
from discreet.engines.connection import connect
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.release import private_log, publication, release_target
from discreet.settings import Settings
from tests.oracle.patients import patients, publish_patients
from tests.dying import dies

folder = Path(sys.argv[1])
settings = Settings(10**9, 1, folder / "private" / "log.jsonl")
with connect(settings) as engine:
    spec = patients(folder)
    if sys.argv[2] == "replace":
        publish_patients(engine, settings, spec, folder / "out" / "r.csv", node=(2, 0))
    exec(sys.argv[3])
    publish_patients(engine, settings, spec, folder / "out" / "r.csv", overwrite=True)
"""

STEPS = {
    "before the data is written": "dies(DuckdbEngine, 'write_file')",
    "after the data is written": "dies(DuckdbEngine, 'write_file', after=True)",
    "before the audit": "dies(publication, 'audit_source')",
    "before the manifest is written": "dies(release_target.StagingFiles, 'write_text')",
    "before the log is written": "dies(private_log, 'append')",
    "before the manifest is renamed": "dies(Path, 'replace')",
    "before the data is renamed": "dies(Path, 'replace', at=2)",
}


def killed(folder: Path, before: str, step: str) -> None:
    run_until_killed(CHILD, str(folder), before, step, output=folder / "told.txt")


@pytest.mark.parametrize("step", STEPS)
def test_next_run_removes_leftovers_of_a_killed_process(
    step: str, engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    before = "replace" if step == "before the data is renamed" else "new"
    killed(tmp_path, before, STEPS[step])

    assert not (out / "r.csv").exists()
    left = [path.name for path in out.iterdir()]
    assert left
    assert all(name.startswith(".") or name == "r.csv.manifest.json" for name in left)
    publish_patients(engine, settings, patients(tmp_path), out / "r.csv")
    assert sorted(path.name for path in out.iterdir()) == ["r.csv", "r.csv.manifest.json"]
    assert_paired(out / "r.csv")


def test_killed_after_the_data_is_renamed(tmp_path: Path, out: Path) -> None:
    """The release is complete after the rename; only the lock file remains, and the next run removes it."""
    killed(tmp_path, "new", "dies(Path, 'replace', at=2, after=True)")
    assert_paired(out / "r.csv")
    remove_leftovers(check_release_target(out / "r.csv", overwrite=True, protected=[]))
    assert sorted(path.name for path in out.iterdir()) == ["r.csv", "r.csv.manifest.json"]


def test_process_killed_early_keeps_the_old_release(tmp_path: Path, out: Path) -> None:
    killed(tmp_path, "replace", "dies(publication, 'audit_source')")
    assert_paired(out / "r.csv")


def test_leftovers_exclude_files_of_a_running_process(out: Path) -> None:
    target = check_release_target(out / "r.csv", overwrite=False, protected=[])
    with StagingFiles(target) as files:
        files.write_text("data", "x")
        remove_leftovers(target)
        assert files.path("data").read_text() == "x"
    assert list(out.iterdir()) == []


def test_only_leftovers_of_this_target_are_removed(out: Path) -> None:
    mine = [".r.csv.999-0123abcd.data.partial", ".r.csv.999-0123abcd.subjects.partial", "r.csv.manifest.json"]
    others = [".q.csv.999-0123abcd.data.partial", ".r.csv.data.partial", "r.csv.bak", "q.csv.manifest.json"]
    for name in (*mine, *others):
        (out / name).write_text(MANIFEST)
    remove_leftovers(check_release_target(out / "r.csv", overwrite=False, protected=[]))
    assert sorted(path.name for path in out.iterdir()) == sorted(others)


def test_manifest_with_its_data_is_not_a_leftover(out: Path) -> None:
    (out / "r.csv").write_text("")
    (out / "r.csv.manifest.json").write_text(MANIFEST)
    remove_leftovers(check_release_target(out / "r.csv", overwrite=True, protected=[]))
    assert (out / "r.csv.manifest.json").exists()


def test_failed_rename_leaves_nothing(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = check_release_target(out / "r.csv", overwrite=False, protected=[])
    replace = Path.replace

    def interrupted(self: Path, other: Path) -> Path:
        if other == target.path:
            raise KeyboardInterrupt
        return replace(self, other)

    monkeypatch.setattr(Path, "replace", interrupted)
    with StagingFiles(target) as files:
        files.write_text("data", "")
        files.write_text("manifest", "")
        with pytest.raises(KeyboardInterrupt):
            files.put_in_place(overwrite=False)
    assert list(out.iterdir()) == []


def test_target_created_during_the_run_is_not_replaced(out: Path) -> None:
    target = check_release_target(out / "r.csv", overwrite=False, protected=[])
    with StagingFiles(target) as files:
        files.write_text("data", "")
        files.write_text("manifest", "")
        target.path.write_text("theirs")
        with pytest.raises(Exception, match="exists"):
            files.put_in_place(overwrite=False)
    assert [path.read_text() for path in out.iterdir()] == ["theirs"]


def test_ctrl_c_during_a_query_leaves_nothing(tmp_path: Path, out: Path) -> None:
    """Ctrl-C during a query stops the engine, and nothing remains."""
    hook = (
        "publication.audit_source = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT) or engine.fetch_rows("
    )
    hook += "'SELECT count(*) FROM range(10000000000) AS r(i) WHERE hash(i) = 1')"
    command = [sys.executable, "-c", CHILD, str(tmp_path), "new", hook]
    with ctrl_c_arrives():
        done = subprocess.run(
            command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
        )
    assert done.returncode != 0
    assert "KeyboardInterrupt" in done.stderr
    assert list(out.iterdir()) == []


def assert_paired(path: Path) -> None:
    manifest = json.loads(path.with_name(path.name + ".manifest.json").read_text())
    assert manifest["data"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert path.name == manifest["data"]["file"]
