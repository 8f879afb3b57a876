"""``demo`` on Adult and on the generated census: it writes only to its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.cli.options import reuse_tables
from tests.cli.conftest import Run


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path / "nowhere"))


def test_demo_runs_on_the_generated_census(run: Run, no_data: None, tmp_path: Path) -> None:
    found = run("demo")
    assert found.status == 0
    assert "a generated census (30,000 invented people)" in found.out
    assert [line[:2] for line in found.out.splitlines() if line[1:3] == ". "] == [
        "1.",
        "2.",
        "3.",
        "4.",
        "5.",
    ]
    for words in ("No exact answer", "Exact answer", "Published", "Audit passed", "Next steps"):
        assert words in found.out
    folder = tmp_path / "work" / "discreet-demo"
    assert {path.name for path in folder.iterdir()} == {
        ".discreet-demo",
        "census.csv",
        "discreet.toml",
        "release.csv",
        "release.csv.manifest.json",
    }


def test_demo_in_json_can_be_repeated_and_suggests_commands(run: Run, no_data: None) -> None:
    with reuse_tables():
        for _ in range(2):
            found = run("demo", "--output", "tour", "--threads", "1", "--json")
            assert (found.status, found.err) == (0, "")
            steps = [(step["command"][1], step["exit_status"]) for step in found.json["steps"]]
            assert steps == [("inspect", 0), ("negotiate", 3), ("negotiate", 0), ("publish", 0), ("audit", 0)]
            relaxed = [answer["relaxed"] for answer in found.json["steps"][1]["result"]["answers"]]
            assert relaxed == ["max_suppressed", "height", "k"]
            assert found.json["steps"][4]["result"]["passed"]
        for command in found.json["next"][:-2]:
            assert run(*command[1:], "--threads", "1").status == 0


def test_demo_runs_on_adult(run: Run, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_DATA", str(data_dir))
    found = run("demo", "--json")
    assert found.status == 0
    assert found.json["data"].startswith("Adult")
    assert [step["exit_status"] for step in found.json["steps"]] == [0, 3, 0, 0, 0]


def test_foreign_files_are_not_changed(run: Run, no_data: None, tmp_path: Path) -> None:
    folder = tmp_path / "work" / "mine"
    folder.mkdir()
    (folder / "release.csv").write_text("mine")
    found = run("demo", "--output", "mine", "--json")
    assert (found.status, found.json["error"]["kind"]) == (2, "bad-input")
    assert [path.name for path in folder.iterdir()] == ["release.csv"]
    assert run("demo", "--output", "no/where").status == 2
    (tmp_path / "work" / "file").touch()
    assert run("demo", "--output", "file").status == 2


def test_demo_with_quiet_prints_nothing_else(run: Run, no_data: None) -> None:
    done = run("demo", "--quiet")
    assert (done.status, done.out) == (0, "")
