"""The example of docs/queries-generalized.md: queries of a release of Adult, with and without a hierarchy."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import discreet
from discreet.cli.main import main
from discreet.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "queries-generalized.md"


def test_page_shows_the_output_for_a_recipient(
    data_dir: Path,
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    adult = data_dir / "adult"
    (tmp_path / "education.csv").write_bytes((adult / "hierarchies_arx" / "education.csv").read_bytes())
    spec = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20]}},
            "sex": {"role": "quasi-identifier"},
            "education": {"role": "quasi-identifier", "hierarchy": str(tmp_path / "education.csv")},
            "hours_per_week": {"role": "sensitive"},
        }
    }
    table = discreet.open(adult / "adult_30162.csv", spec, settings=settings)
    table.publish({"age": 2, "sex": 0, "education": 1}, tmp_path / "adult.csv", k=5, max_suppressed="1%")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    examples = re.findall(
        r"```console\n\$ (discreet query .*?)\n((?:(?!```).*\n)*)```", PAGE.read_text("utf-8")
    )
    assert len(examples) == 2
    for command, shown in examples:
        capsys.readouterr()
        assert main(shlex.split(command)[1:]) == 0
        assert lines(capsys.readouterr().out) == lines(shown), command


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]
