"""The attack of the recipe, one file and one registration, through the whole program."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.attacks.registry import ATTACKS
from discreet.screens.option_forms import attack_forms
from tests.cli.conftest import Run


@pytest.fixture
def toy_attack() -> Iterator[None]:
    name = "tests.extending.toy_attack"
    sys.modules.pop(name, None)
    importlib.import_module(name)
    yield
    ATTACKS.remove("smallest-class")
    del sys.modules[name]


def test_registered_attack_is_in_command_forms_and_report(toy_attack: None, run: Run, people: Path) -> None:
    options = ("--k", "2", "--max-suppressed", "50%", "--accept-relaxation", "height", "--output", "out.csv")
    assert run("publish", "discreet.toml", *options).status == 0
    assert "--words rows|people" in " ".join(run("attack", "--help").out.split())
    attacked = run("attack", "out.csv", "--by", "smallest-class", "--words", "people", "--json")
    (found,) = attacked.json["findings"]
    assert [figure["label"] for figure in found["figures"]] == ["people of the smallest class, release"]
    assert found["figures"][0]["value"] == min(map(int, attacked.json["after"]["class_sizes"]))
    form = next(form for form in attack_forms() if form.name == "smallest-class")
    assert [field.choices for field in form.fields] == [("rows", "people")]
    assert run("report", "out.csv", "--output", "report.html").status == 0
    assert "The smallest class" in (people / "report.html").read_text(encoding="utf-8")
