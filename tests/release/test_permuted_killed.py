"""Permuted releases whose run fails or is killed leave no release, no mismatched files, no leftovers."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from discreet.errors import LimitReached
from discreet.models import Permutation
from discreet.release import permuted_publication
from discreet.settings import Settings
from tests.dying import run_until_killed
from tests.oracle.permuted_tables import staff

CHILD = """
import os, signal, sys
from pathlib import Path
from discreet.engines.duckdb import engine
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.models import Permutation
from discreet.release import permuted_output, private_log
from discreet.settings import Settings
from tests.oracle.permuted_tables import staff
from tests.dying import dies

def dies_in_the_database():
    original = engine.write_database_tables
    def write_tables(execute, *rest):
        def run(statement):
            if statement.startswith("CHECKPOINT"):
                os.kill(os.getpid(), signal.SIGKILL)
            execute(statement)
        original(run, *rest)
    engine.write_database_tables = write_tables

folder = Path(sys.argv[1])
settings = Settings(10**9, 1, folder / "private" / "log.jsonl")
table = staff(folder, settings)
target = folder / "out" / sys.argv[2]
if sys.argv[3] == "replace":
    table.publish(Permutation(form="two-tables"), target, k=2)
exec(sys.argv[4])
table.publish(Permutation(e=1000, form="two-tables"), target, k=2, overwrite=True)
"""

STEPS = {
    "before the data is written": "dies(DuckdbEngine, 'write_file')",
    "before the help table is written": "dies(DuckdbEngine, 'write_file', at=3)",
    "before the audit": "dies(permuted_output, 'audit_permuted')",
    "before the log is written": "dies(private_log, 'append')",
    "before the manifest is renamed": "dies(Path, 'replace')",
    "before the sensitive values are renamed": "dies(Path, 'replace', at=2)",
    "before the help table is renamed": "dies(Path, 'replace', at=3)",
    "before the data is renamed": "dies(Path, 'replace', at=4)",
}


def killed(folder: Path, name: str, before: str, step: str) -> None:
    run_until_killed(CHILD, str(folder), name, before, step, output=folder / "told.txt")


@pytest.mark.parametrize("step", STEPS)
def test_next_run_removes_leftovers_of_a_killed_process(
    step: str, settings: Settings, tmp_path: Path, out: Path
) -> None:
    before = (
        "replace" if step in ("before the help table is renamed", "before the data is renamed") else "new"
    )
    killed(tmp_path, "p.csv", before, STEPS[step])
    assert not (out / "p.csv").exists()
    staff(tmp_path, settings).publish(Permutation(e=1000), out / "p.csv", k=2)
    assert sorted(path.name for path in out.iterdir()) == ["p.csv", "p.csv.manifest.json", "p.help.csv"]
    assert_paired(out / "p.csv")


def test_killed_while_the_old_data_is_replaced(settings: Settings, tmp_path: Path, out: Path) -> None:
    killed(tmp_path, "p.csv", "replace", "dies(Path, 'unlink', after=True)")
    assert not (out / "p.csv").exists()
    staff(tmp_path, settings).publish("permutation", out / "p.csv", k=2)
    assert_paired(out / "p.csv")
    assert not (out / "p.sensitive.csv").exists()


def test_leftover_of_a_killed_run_in_a_database_is_removed(
    settings: Settings, tmp_path: Path, out: Path
) -> None:
    killed(tmp_path, "p.duckdb", "new", "dies_in_the_database()")
    assert any(".data.partial" in path.name for path in out.iterdir())
    table = staff(tmp_path, settings)
    table.publish("permutation", out / "p.duckdb", k=2)
    assert sorted(path.name for path in out.iterdir()) == ["p.duckdb", "p.duckdb.manifest.json"]


@pytest.mark.parametrize(
    "name", ["write_parts", "audit_output", "build_permuted_manifest", "build_permuted_log_entry"]
)
def test_failing_step_changes_no_file(
    name: str, settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise LimitReached("the disk is full", advice="Free some.")

    table = staff(tmp_path, settings)
    table.publish("permutation", out / "old.csv", k=2)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr(permuted_publication, name, fails)
    for target in ("new.csv", "new.duckdb", "old.csv"):
        with pytest.raises(LimitReached):
            table.publish("permutation", out / target, k=2, overwrite=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_failing_rename_leaves_nothing(
    settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, original, calls = staff(tmp_path, settings), Path.replace, []

    def replace(path: Path, target: Path) -> Path:
        calls.append(path)
        if len(calls) == 3:
            raise OSError(28, "no space")
        return original(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(LimitReached):
        table.publish(Permutation(form="two-tables"), out / "p.csv", k=2)
    assert list(out.iterdir()) == []


def assert_paired(path: Path) -> None:
    """Check that data and companions match the manifest."""
    document = json.loads(path.with_name(f"{path.name}.manifest.json").read_text())
    files = [(path.name, document["data"]["sha256"])]
    files += [(f["file"], f["sha256"]) for f in document["permutation"]["files"].values()]
    for name, sha256 in files:
        assert hashlib.sha256((path.parent / name).read_bytes()).hexdigest() == sha256
