"""The example of the noisy-counts page, on Adult."""

from __future__ import annotations

import csv
import re
import shlex
import shutil
from pathlib import Path

import pytest

from discreet.cli.main import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "differential-privacy.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_page_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    shutil.copy(data_dir / "adult" / "adult_30162.csv", "adult.csv")
    shutil.copy(data_dir / "adult" / "hierarchies_negotiation" / "education.csv", "education.csv")
    (spec,) = blocks("toml")
    Path("adult.toml").write_text(spec, encoding="utf-8")
    commands = [shlex.split(line[2:]) for line in blocks("console")[0].splitlines()]
    assert [command[:3] for command in commands] == [
        ["discreet", "dp", "histogram"],
        ["discreet", "dp", "histogram"],
        ["discreet", "dp", "budget"],
    ]
    for command in commands:
        assert main(command[1:]) == 0
    printed = capsys.readouterr().out
    assert "of scale 2:" in printed.replace("\n", " ")
    assert "within 6 of the true one" in printed.replace("\n", " ")
    assert "Spent: ε = 1.5, δ = 0.000001. Left: ε = 0.5." in printed

    with Path("adult.csv").open(newline="") as rows, Path("counts.csv").open(newline="") as cells:
        women = sum(row["sex"] == "Female" and 40 <= int(row["age"]) < 50 for row in csv.DictReader(rows))
        noisy = {(row["age"], row["sex"]): int(row["noisy_count"]) for row in csv.DictReader(cells)}
    # Noise of scale 2 exceeds 60 with a probability below 1e-12.
    assert abs(noisy["40-49", "Female"] - women) < 60
    assert abs(noisy["(other)", "(other)"]) < 60
