"""Presets: the requirement of a rule and a checklist for people, each a TOML file with its citation.

A preset never states that a release complies with the rule. It sets the numbers that the rule names, read
strictly, and lists the conditions that no program can check. Loaded on demand.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import Field

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import criteria_from
from discreet.model.registry import suggest_name
from discreet.spec.validation import StrictTable, validate_table

_TEXT = "a text"


@dataclass(frozen=True)
class Preset:
    """A rule with its ``citation`` and the year of the text that was read (``as_of``).

    ``criteria`` are the numeric requirements on a release, none if the rule names no number; ``checks`` are
    the conditions that people must verify, and ``note`` explains the interpretation.
    """

    name: str
    title: str
    citation: str
    as_of: str
    note: str
    criteria: tuple[Criterion, ...]
    checks: tuple[str, ...]


class PresetTable(StrictTable):
    """Keys of a preset's file."""

    title: str = Field(description=_TEXT)
    citation: str = Field(description=_TEXT)
    as_of: str = Field(description="a year")
    note: str = Field(description=_TEXT)
    checks: list[str] = Field(description="a list of texts")
    requirement: dict[str, float] = Field(description="criteria by name")


@cache
def load_presets() -> Mapping[str, Preset]:
    """Return every preset by name, in alphabetical order."""
    folder = files("discreet.spec").joinpath("presets")
    result = {}
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".toml"):
            name = file.name.removesuffix(".toml")
            result[name] = _read_preset(name, file.read_text(encoding="utf-8"))
    return result


def preset(name: str) -> Preset:
    """Return the preset of a name; raise ``InputError`` if there is none."""
    result = load_presets().get(name)
    if result is None:
        raise InputError(
            f"the preset '{name}' does not exist",
            allowed=", ".join(load_presets()),
            advice=suggest_name(name, load_presets()),
        )
    return result


def _read_preset(name: str, text: str) -> Preset:
    table = validate_table(PresetTable, tomllib.loads(text), label=f"the preset {name}", key=())
    requirement = {
        key: int(value) if value == int(value) else value for key, value in table.requirement.items()
    }
    return Preset(
        name=name,
        title=table.title,
        citation=table.citation,
        as_of=table.as_of,
        note=table.note,
        criteria=criteria_from(requirement),
        checks=tuple(table.checks),
    )
