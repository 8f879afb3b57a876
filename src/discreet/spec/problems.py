"""What is wrong in a spec, told by file, key, value and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.model.closest import closest

KeyPath = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


class StrictTable(BaseModel):
    """A table of the spec: unknown keys are refused, nothing is coerced.

    The description of a field says what is allowed; messages repeat it. ``other_words`` are keys that one may
    look for by another name: advice names ours.
    """

    other_words: ClassVar[Mapping[str, str]] = {}

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, defer_build=True
    )


AnyTable = TypeVar("AnyTable", bound=StrictTable)


class Wrong(ValueError):
    """A validator's refusal of a part of a value: the keys that lead to it, and the part.

    ``allowed`` is what is, where the field's description does not say it.
    """

    def __init__(self, keys: KeyPath, value: object, allowed: str | None = None) -> None:
        super().__init__("not allowed")
        self.keys = keys
        self.value = value
        self.allowed = allowed


def validated(
    model: type[AnyTable],
    content: object,
    *,
    label: str,
    key: KeyPath,
    further: Sequence[str] = (),
) -> AnyTable:
    """The content of one table, checked; ``InputError`` for the first thing that is wrong.

    ``label`` names the spec, ``key`` the table in it. ``further`` are keys that are allowed there beside the
    model's: errors name them too.
    """
    if not isinstance(content, Mapping):
        place = key_text(key) or "the spec"
        raise InputError(f"{label}: {place} = {value_text(content)}", allowed=f"a table: {_keys_of(model)}")
    try:
        return model.model_validate(dict(content))
    except ValidationError as error:
        raise _problem(error, model, label, key, further) from None


def located(error: InputError, *, label: str, key: KeyPath) -> InputError:
    """The same error with the spec and the key named first."""
    return InputError(
        f"{label}: {key_text(key)}: {error.message}", allowed=error.allowed, advice=error.advice
    )


def key_text(key: KeyPath) -> str:
    """A key as TOML writes it.

    >>> print(key_text(("attributes", "age at visit", "hierarchy", "widths", 0)))
    attributes."age at visit".hierarchy.widths[0]
    """
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if _BARE.fullmatch(part) else f'"{shown(part)[1:-1]}"')
    return text


def value_text(value: object) -> str:
    """A value as messages show it: texts in quotes, truth values as TOML writes them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, Mapping):
        return "a table"
    return shown(value)[1:-1]


def _problem(
    error: ValidationError, model: type[StrictTable], label: str, key: KeyPath, further: Sequence[str]
) -> InputError:
    first = error.errors(include_url=False)[0]
    place: KeyPath = tuple(first["loc"])
    allowed = {field.alias or name: field.description for name, field in model.model_fields.items()}
    if first["type"] == "extra_forbidden":
        parent = key_text(key)
        return InputError(
            f"{label}: {parent + ' has an ' if parent else ''}unknown key {shown(place[-1])}",
            allowed=", ".join((_keys_of(model), *further)),
            advice=closest(model.other_words.get(str(place[-1]), place[-1]), (*allowed, *further))
            or "docs/spec.md explains every key, and discreet schema lists them.",
        )
    meant = allowed.get(str(place[0])) if place else None
    if first["type"] == "missing":
        return InputError(f"{label}: {key_text((*key, *place))} is missing", allowed=meant)
    value, wrong = first["input"], first.get("ctx", {}).get("error")
    if isinstance(wrong, Wrong):
        place, value, meant = (*place, *wrong.keys), wrong.value, wrong.allowed or meant
    return InputError(f"{label}: {key_text((*key, *place))} = {value_text(value)}", allowed=meant)


def _keys_of(model: type[StrictTable]) -> str:
    return ", ".join(field.alias or name for name, field in model.model_fields.items())
