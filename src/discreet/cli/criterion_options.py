"""Criteria on the command line, beside --k and --l: a flag and its help for each one that is registered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from discreet.cli.declared import Declarations, Flag, Section, command_with
from discreet.errors import InputError
from discreet.model.criteria.base import Criterion

_OWN = ("k", "l")


def asked(context: typer.Context) -> tuple[Criterion, ...]:
    """The criteria that were given; ``InputError`` for a text that is no value of one."""
    given = CRITERION_OPTIONS.given(context)
    return tuple(one for kind in _kinds() for one in _read(kind, given.get(_name(kind), [])))


def _read(kind: type[Criterion], texts: list[str]) -> Iterator[Criterion]:
    flag, parameter = kind.flag(), kind.parameter
    if not any("=" in text for text in texts):
        if len(texts) > 1:
            several = f", or {flag} ATTR=VALUE once or more" if kind.of_attribute else ""
            raise InputError(f"{flag} {f' {flag} '.join(texts)}", allowed=f"one {flag} VALUE{several}")
        yield from (kind(parameter.read(flag, text)) for text in texts)
        return
    for text in texts:
        attribute, _, number = text.rpartition("=")
        if not attribute or not kind.of_attribute:
            raise InputError(f"{flag} {text}", allowed=f"ATTR=VALUE, VALUE {parameter.allowed}")
        yield kind(parameter.read(f"{flag} {attribute}", number), attribute)


def _flags() -> list[Flag]:
    return [Flag(_name(kind), kind.flag()) for kind in _kinds()]


def _sections(taken: frozenset[str]) -> list[Section]:
    rows = [_row(kind) for kind in _kinds() if kind.flag() not in taken]
    return [("Further criteria", rows)] if rows else []


def _row(kind: type[Criterion]) -> tuple[str, str]:
    value = "VALUE|ATTR=VALUE" if kind.of_attribute else "VALUE"
    repeats = "; repeatable" if kind.of_attribute else ""
    text = f"{kind.title}: {kind.parameter.hint}, {kind.parameter.allowed}{repeats}."
    return f"{kind.flag()} {value}", text[:1].upper() + text[1:]


def _kinds() -> list[type[Criterion]]:
    from discreet.model.criteria.registry import CRITERIA

    return [kind for kind in CRITERIA if kind.name not in _OWN]


def _name(kind: type[Criterion]) -> str:
    return f"criterion_{kind.name}".replace("-", "_")


CRITERION_OPTIONS = Declarations("criteria", _flags, _sections)
CriterionCommand: Any = command_with(CRITERION_OPTIONS)
