"""Presets: the requirement of a rule and a checklist for people, each a TOML file with its citation.

A preset never states that a release complies with the rule. It sets the numbers that the rule names, read
strictly, and lists the conditions that no program can check. Loaded on demand.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from functools import cache
from importlib.resources import files

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import criteria_from
from discreet.model.option import spec_key
from discreet.model.registry import suggest_name
from discreet.spec.validation import make_section, validate_table

_TEXT = "a text"


@dataclass(frozen=True)
class Preset:
    """A rule with its ``citation`` and the year of the text that was read (``as_of``).

    ``criteria`` are the numeric requirements on a release, none if the rule names no number; ``checks`` are
    the conditions that people must verify, and ``note`` explains the interpretation.
    """

    name: str
    title: str = spec_key(allowed=_TEXT, default=MISSING)
    citation: str = spec_key(allowed=_TEXT, default=MISSING)
    as_of: str = spec_key(allowed="a year", default=MISSING)
    note: str = spec_key(allowed=_TEXT, default=MISSING)
    checks: tuple[str, ...] = spec_key(allowed="a list of texts", default=MISSING)
    criteria: tuple[Criterion, ...] = spec_key(
        allowed="criteria by name", default=MISSING, alias="requirement"
    )


_PresetTable = make_section("PresetTable", Preset, criteria=dict[str, float])


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
    table = dict(validate_table(_PresetTable, tomllib.loads(text), label=f"the preset {name}", key=()))
    requirement = {
        key: int(value) if value == int(value) else value for key, value in table["criteria"].items()
    }
    return Preset(name, **(table | {"criteria": criteria_from(requirement)}))
