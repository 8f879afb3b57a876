"""The parts of a criterion that are chosen and never negotiated: its further fields, as options.

A field with ``model.option.option`` says what it takes and how it is told; one with a plain default is an
option of the default's type (an ``StrEnum`` is a choice among its members). So each is a flag of the command
line, a key of the spec, a field in the browser and a part of the manifest, without another word.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, replace
from decimal import Decimal
from enum import StrEnum
from functools import cache
from operator import index
from typing import Any, ClassVar, Protocol

from discreet.errors import InputError
from discreet.model.option import Option, OptionKind, options_of

NEGOTIATED = ("value", "attribute")
"""The fields that every criterion has."""

_TAKEN = (OptionKind.CHOICE, OptionKind.WHOLE, OptionKind.DECIMAL, OptionKind.TEXT, OptionKind.FLAG)


class Flagged(Protocol):
    """A dataclass with a word on the command line, as every criterion is."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    name: ClassVar[str]

    @classmethod
    def flag(cls) -> str:
        """The word."""


@cache
def fixed_parts(kind: type[Flagged]) -> tuple[Option, ...]:
    """The further fields of a criterion in their order, each with a flag that begins with the criterion's.

    ``InputError`` for a field that no text can tell: one without a default, or of another type than numbers,
    texts, choices and truth values.
    """
    declared = {each.name: each for each in options_of(kind)}
    found = []
    for each in fields(kind):
        if each.name in NEGOTIATED:
            continue
        option = declared.get(each.name) or _of_default(each)
        if option is None or option.kind not in _TAKEN or option.repeatable or option.default is None:
            raise InputError(
                f"the field '{each.name}' of the criterion '{kind.name}'",
                allowed="a default that is a number, a text, a choice or a truth value",
            )
        found.append(replace(option, flag=f"{kind.flag()}-{option.spelt}"))
    return tuple(found)


def checked_part(option: Option, value: Any, owner: str) -> Any:
    """The value of a fixed part in its own type, so that equal ones are equal; ``InputError`` for another."""
    option.check(value, owner)
    fits: Any = None
    if option.kind is OptionKind.WHOLE and not isinstance(value, bool | str | float | Decimal):
        fits = _whole(value)
    elif option.kind is OptionKind.DECIMAL and not isinstance(value, bool | str):
        fits = float(value)
    elif option.kind is OptionKind.FLAG and isinstance(value, bool):
        fits = value
    elif option.kind in (OptionKind.CHOICE, OptionKind.TEXT) and isinstance(value, str):
        fits = str(value)
    if fits is None:
        raise InputError(f"{option.spelt} '{value}' of {owner}", allowed=option.allowed)
    return fits


def given_parts(criterion: Flagged) -> dict[str, Any]:
    """The fixed parts by name where one of them is not as its class proposes, else none."""
    values = {
        each.name: (getattr(criterion, each.name), each.default) for each in fixed_parts(type(criterion))
    }
    if all(value == default for value, default in values.values()):
        return {}
    return {name: value for name, (value, _) in values.items()}


def _whole(value: Any) -> int | None:
    try:
        return index(value)
    except TypeError:
        return None


def _of_default(field: Field[Any]) -> Option | None:
    default = None if field.default is MISSING else field.default
    choices: tuple[str, ...] = ()
    if isinstance(default, StrEnum):
        kind, choices, default = OptionKind.CHOICE, tuple(map(str, type(default))), str(default)
    elif isinstance(default, bool):
        kind = OptionKind.FLAG
    elif isinstance(default, int):
        kind = OptionKind.WHOLE
    elif isinstance(default, float):
        kind = OptionKind.DECIMAL
    elif isinstance(default, str):
        kind = OptionKind.TEXT
    else:
        return None
    return Option(field.name, kind, default, help=field.name.replace("_", " "), choices=choices)
