"""The examples of docs/coming-from.md run in order, and the page uses the terms of discreet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discreet.cli.main import main
from tests.foreign.projects import ROWS, write_project

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coming-from.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_commands_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    write_project(tmp_path / "study.deid")
    names: dict[str, object] = {}
    commands = 0
    for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "csv":
            assert text == ROWS.replace(";", ",")
            (tmp_path / "people.csv").write_text(text, encoding="utf-8")
        elif language == "toml":
            (tmp_path / "discreet.toml").write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, str(PAGE), "exec"), names)
        else:
            for line in text.splitlines():
                assert main(line.removeprefix("$ discreet ").split()) == 0, line
                commands += 1
    assert commands == 7
    assert (tmp_path / "suppressed.csv.manifest.json").is_file()


def test_every_tool_lists_missing_features() -> None:
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert [section.splitlines()[0] for section in sections] == [
        "ARX",
        "anjana",
        "pycanon",
        "sdcMicro",
        "Amnesia",
        "μ-Argus",
    ]
    assert [section for section in sections if "\nNot here: " not in section] == []
