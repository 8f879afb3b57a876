"""Comparison of an earlier commit's benchmark with the current sources."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.since import checked_out, pairs, run

PROGRAM = """import json
print(json.dumps({{"seconds": {{"case": {{"median": {0}}}}}}}))
"""


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_each_side_runs_its_own_files(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "told.py").write_text(PROGRAM.format(2.0))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "then")
    (tmp_path / "benchmarks" / "told.py").write_text(PROGRAM.format(0.5))
    with checked_out("HEAD", tmp_path) as there:
        assert run(there, "told") == {"case": 2.0}
    assert run(tmp_path, "told") == {"case": 0.5}
    assert not there.exists()


def test_cases_are_paired_by_name() -> None:
    found = pairs(["a", "old", "gone"], ["a", "new", "more"], {"old": "new"})
    assert found == {"a": "a", "new": "old"}
