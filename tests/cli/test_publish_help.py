"""``publish --help`` lists under each model the options that the model declares."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from discreet.cli.typer_application import build_application
from discreet.models import Model, named, names


def sections() -> dict[str, str]:
    """Return the help text of each model; a section of several models counts for each of them."""
    text = CliRunner().invoke(build_application(), ["publish", "--help"], env={"COLUMNS": "100"}).output
    # A narrow terminal also breaks lines at the hyphens of names.
    parts = re.split(r"^--model (.*):$", re.sub(r"(?<=\w)-\s+", "-", text), flags=re.MULTILINE)
    found: dict[str, str] = {}
    for models, section in zip(parts[1::2], parts[2::2], strict=True):
        for model in models.split(", "):
            found[model] = found.get(model, "") + re.sub(r"\s+", " ", section)
    return found


@pytest.mark.parametrize("name", names())
def test_help_names_every_option_of_every_model(name: str) -> None:
    model: type[Model] = named(name)
    flags = [each for each in model.options() if each.flag is not None and each.flag != "--level"]
    if not flags:
        text = re.sub(r"\s+", " ", CliRunner().invoke(build_application(), ["publish", "--help"]).output)
        assert f" {model.called()} " in text
        return
    section = sections()[model.called()]
    for each in flags:
        assert f" {each.flag} " in section
        assert all(choice in section for choice in each.choices)
