"""Data from standard input: ``-`` replaces a file name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PEOPLE

CODE = "import sys; from discreet.cli.main import main; sys.exit(main())"


def discreet(folder: Path, *words: str, sent: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command in a separate process with ``sent`` as its standard input."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), "DISCREET_LOG": str(folder / "log.jsonl")}
    found = subprocess.run(
        [sys.executable, "-c", CODE, *words],
        input=sent,
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert not list(temporary.iterdir()), "nothing is left of what was sent"
    return found


def test_standard_streams_connect_publish_and_audit(tmp_path: Path) -> None:
    sent = PEOPLE.encode()
    first = discreet(tmp_path, "init", "-", sent=sent)
    assert first.returncode == 0, first.stderr
    assert 'path = "-"' in (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    line = ["publish", "discreet.toml", "--k", "2", "--max-suppressed", "80%", "--output", "out.csv"]
    published = discreet(tmp_path, *line, sent=sent)
    assert published.returncode == 0, published.stderr
    released = (tmp_path / "out.csv").read_bytes()
    audited = discreet(tmp_path, "audit", "-", "--quasi-identifier", "age", "--k", "2", sent=released)
    assert audited.returncode == 0, audited.stderr
    assert b"Audit passed" in audited.stdout


@pytest.mark.parametrize("verb", ["audit", "init"])
def test_empty_standard_input_is_an_error(verb: str, tmp_path: Path) -> None:
    found = discreet(tmp_path, verb, "-", *(["--quasi-identifier", "age"] if verb == "audit" else []))
    assert found.returncode == 2
    assert b"is empty" in found.stderr
