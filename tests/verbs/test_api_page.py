"""The examples of the Python API page run in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discreet.sample.census import census_spec, write_census
from discreet.spec.toml_writer import format_spec

ROOT = Path(__file__).resolve().parents[2]


def examples() -> list[str]:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def test_first_example_has_ten_lines() -> None:
    assert len([line for line in examples()[0].splitlines() if line.strip()]) == 10


def test_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    monkeypatch.setenv("DISCREET_COMPILE", "never")
    write_census(tmp_path / "census.csv", 2_000)
    (tmp_path / "discreet.toml").write_text(format_spec(census_spec("census.csv")), encoding="utf-8")
    names: dict[str, object] = {}
    for example in examples():
        exec(compile(example, "docs/api.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "2,000 rows" in printed
    assert "Published release.csv" in printed
    assert "Audit passed" in printed
    assert (tmp_path / "release.csv.manifest.json").is_file()
