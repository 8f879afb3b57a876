"""Criteria on the command line, beside --k and --l: a flag and its help for each one that is registered.

Its fixed parts are flags, too, which begin with its own. Like the value, a part is given once for all
attributes, or for some of them by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer

from discreet.cli.declared import Declarations, Flag, Section, command_with, option_row
from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.fixed_parts import fixed_parts
from discreet.model.option import Option, OptionKind
from discreet.printing.sentence import capitalized

_PRESET = "preset"
_Parts = dict[str | None, dict[str, Any]]
"""Fixed parts by attribute, None for all that are asked."""


def asked(context: typer.Context) -> tuple[Criterion, ...]:
    """The criteria that were given; ``InputError`` for a text that is no value of one."""
    given = CRITERION_OPTIONS.given(context)
    if not given:
        return ()
    found = [one for kind in _kinds() for one in _read(kind, given)]
    return (*found, *(one for name in given.get(_PRESET, []) for one in _of_preset(name)))


def _of_preset(name: str) -> tuple[Criterion, ...]:
    """What a preset asks in numbers; ``InputError`` where it names none, which would ask for nothing."""
    from discreet.spec.preset import preset

    found = preset(name)
    if not found.criteria:
        raise InputError(
            f"--preset {name} asks for no number: {found.note}",
            advice=f"Ask for k or another criterion yourself, and give the report --checks {name}.",
        )
    return found.criteria


def _read(kind: type[Criterion], given: Mapping[str, list[str]]) -> Iterator[Criterion]:
    values = _values(kind, given.get(_name(kind), []))
    parts: _Parts = {}
    for part in fixed_parts(kind):
        texts = given.get(_part_name(kind, part), [])
        if texts and not values:
            raise InputError(f"{part.flag} without {kind.flag()}", advice=f"Give {kind.flag()}, too.")
        for attribute, value in _of_part(kind, part, texts, list(values)):
            parts.setdefault(attribute, {})[part.name] = value
    for attribute, value in values.items():
        yield kind(value, attribute, **parts.get(None, {}) | (parts.get(attribute, {}) if attribute else {}))


def _values(kind: type[Criterion], texts: Sequence[str]) -> dict[str | None, int | float]:
    """The values by attribute, None for one of all."""
    flag, parameter = kind.flag(), kind.parameter
    if not any("=" in text for text in texts):
        if len(texts) > 1:
            several = f", or {flag} ATTR=VALUE once or more" if kind.of_attribute else ""
            raise InputError(f"{flag} {f' {flag} '.join(texts)}", allowed=f"one {flag} VALUE{several}")
        return {None: parameter.read(flag, texts[0])} if texts else {}
    found: dict[str | None, int | float] = {}
    for text in texts:
        attribute, _, number = text.rpartition("=")
        if not attribute or not kind.of_attribute:
            raise InputError(f"{flag} {text}", allowed=f"ATTR=VALUE, VALUE {parameter.allowed}")
        if attribute in found:
            raise InputError(f"{flag} names '{attribute}' twice", allowed="one value of each")
        found[attribute] = parameter.read(f"{flag} {attribute}", number)
    return found


def _of_part(
    kind: type[Criterion], part: Option, texts: Sequence[str], attributes: Sequence[str | None]
) -> Iterator[tuple[str | None, Any]]:
    """What was given of a fixed part, by attribute; a switch is of all."""
    flag = str(part.flag)
    seen: list[str | None] = []
    for text in texts:
        before, sign, rest = text.rpartition("=")
        attribute = before if sign and (before in attributes or part.kind is not OptionKind.TEXT) else None
        if attribute is not None and attribute not in attributes:
            named = ", ".join(f"{name}" for name in attributes if name is not None)
            only = (
                f", or ATTR=VALUE of {named}"
                if named
                else f"; {kind.flag()} is asked of no attribute by name"
            )
            raise InputError(f"{flag} {text}", allowed=f"{part.allowed}{only}")
        if seen and (None in (attribute, *seen) or attribute in seen):
            raise InputError(f"{flag} {f' {flag} '.join(texts)}", allowed="one VALUE, or ATTR=VALUE of each")
        seen.append(attribute)
        said = flag if attribute is None else f"{flag} {attribute}"
        yield attribute, part.read([text if attribute is None else rest], said)


def _flags() -> list[Flag]:
    """Each flag once; ``InputError`` where two criteria have one."""
    found = [Flag(_PRESET, "--preset"), *(Flag(_name(kind), kind.flag()) for kind in _kinds())]
    for kind in _kinds():
        for part in fixed_parts(kind):
            switch = part.kind is OptionKind.FLAG
            found.append(Flag(_part_name(kind, part), str(part.flag), switch))
    words = [each.flag for each in found]
    twice = next((word for word in words if words.count(word) > 1), None)
    if twice is not None:
        raise InputError(f"two criteria declare '{twice}'", advice="Rename the one of a package.")
    return found


def _sections(taken: frozenset[str]) -> list[Section]:
    rows = [row for kind in _kinds() if kind.flag() not in taken for row in _rows(kind)]
    rows.append(("--preset NAME", "What a rule asks in numbers, read strictly; discreet presets lists them."))
    return [("Further criteria", rows)] if rows else []


def _rows(kind: type[Criterion]) -> Iterator[tuple[str, str]]:
    value = "VALUE|ATTR=VALUE" if kind.of_attribute else "VALUE"
    repeats = "; repeatable" if kind.of_attribute else ""
    text = f"{kind.title}: {kind.parameter.hint}, {kind.parameter.allowed}{repeats}."
    yield f"{kind.flag()} {value}", capitalized(text)
    for part in fixed_parts(kind):
        yield option_row(part)


def _kinds() -> list[type[Criterion]]:
    from discreet.model.criteria.registry import CRITERIA

    return [kind for kind in CRITERIA if not kind.has_keyword]


def _name(kind: type[Criterion]) -> str:
    return f"criterion_{kind.name}".replace("-", "_")


def _part_name(kind: type[Criterion], part: Option) -> str:
    return f"{_name(kind)}__{part.name}"


CRITERION_OPTIONS = Declarations("criteria", _flags, _sections)
CriterionCommand: Any = command_with(CRITERION_OPTIONS)
