"""The command run in process, and a small table of people with its spec."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.main import main

PEOPLE = """\
name,age,city,disease
Ada,23,Berlin,flu
Bob,24,Berlin,cold
Cem,27,Berlin,flu
Dia,28,Bonn,asthma
Eva,41,Bonn,flu
Fay,44,Bonn,cold
Gus,47,Berlin,flu
Hal,63,Bremen,asthma
"""
SPEC = """\
[source]
path = "people.csv"

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [10, 20]}

[attributes.city]
role = "quasi-identifier"
hierarchy = "city.csv"

[attributes.disease]
role = "sensitive"
"""
CITIES = "Berlin;B;*\nBonn;B;*\nBremen;North;*\n"


@dataclass(frozen=True)
class Finished:
    """A finished run of the command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Parse stdout as one JSON document."""
        return json.loads(self.out)


Run = Callable[..., Finished]


def make_runner(
    main: Callable[[Sequence[str]], int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Run:
    """Return a function that runs ``main`` in an empty working folder, with its private log next to it."""
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    monkeypatch.setenv("DISCREET_THREADS", "1")
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    monkeypatch.setenv("COLUMNS", "100")
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    monkeypatch.chdir(work)

    def run_command(*argv: object) -> Finished:
        capsys.readouterr()
        status = main([str(a) for a in argv])
        printed = capsys.readouterr()
        return Finished(status, printed.out, printed.err)

    return run_command


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Return a function that runs the command in process."""
    return make_runner(main, capsys, monkeypatch, tmp_path)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Write eight people, a hierarchy of cities and ``discreet.toml``; return the folder."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    (folder / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (folder / "city.csv").write_text(CITIES, encoding="utf-8")
    (folder / "discreet.toml").write_text(SPEC, encoding="utf-8")
    return folder
