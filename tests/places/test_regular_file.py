"""Paths other than regular files may be endless: they are refused before they are opened."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.places.file_access import check_regular
from tests.cli.conftest import Run, people, run

__all__ = ["people", "run"]

ENDLESS = ["device", "pipe"]
PUBLISH = ("publish", "discreet.toml", "--k", "2", "--output", "o.csv")


def endless(kind: str, folder: Path, name: str) -> Path:
    """Return a path that looks like a file and leads to a device, or to a pipe without a writer."""
    path = folder / name
    path.unlink(missing_ok=True)
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    return path


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people.jsonl", "people.csv.gz"])
def test_endless_sources_are_refused(kind: str, name: str, run: Run, people: Path) -> None:
    (people / "release.csv").write_text("age\n1\n1\n", encoding="utf-8")
    path = endless(kind, people, name)
    for command in (
        ("init", path, "--output", "new.toml"),
        ("audit", path, "--quasi-identifier", "age"),
        ("attack", path, "--quasi-identifier", "age"),
        ("attack", "release.csv", "--quasi-identifier", "age", "--population", path),
        ("attack", "release.csv", "--quasi-identifier", "age", "--outside", path),
    ):
        done = run(*command)
        assert done.status == 2, done.err
        assert "which may never end" in done.err


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("discreet.toml", ("inspect", "discreet.toml")),
        ("city.csv", ("inspect", "discreet.toml")),
        ("w.sql", (*PUBLISH, "--model", "mondrian", "--workload", "w.sql")),
        ("w.toml", (*PUBLISH, "--model", "mondrian", "--workload", "w.toml")),
        ("m.toml", (*PUBLISH, "--model", "patterns", "--patterns", "m.toml")),
        ("people.csv.manifest.json", ("audit", "people.csv")),
    ],
)
def test_endless_input_files_are_refused(
    kind: str, name: str, command: tuple[str, ...], run: Run, people: Path
) -> None:
    endless(kind, people, name)
    done = run(*command)
    assert done.status == 2, done.err
    assert "which may never end" in done.err


def test_socket_is_refused_and_missing_path_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as held:
        held.bind("here")
        with pytest.raises(InputError, match="a socket"):
            check_regular(Path("here"), "it")
    for path in (tmp_path / "nowhere", tmp_path):
        check_regular(path, "it")
