"""Parsing of TOML and validation of a spec's tables; errors name file, key, value and allowed values.

Tables are pydantic models that refuse unknown keys and coerce nothing; the first error is reported as an
``InputError``. Dotted keys are limited in length, since the parser's cost grows with the square of their
parts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
)

from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value
from discreet.model.registry import suggest_name
from discreet.places.file_access import read_text

MOST_KEY_PARTS = 100
"""Maximum number of parts of a dotted key; time and memory of the standard library's parser are quadratic."""
_LONG_KEY = re.compile(rf"(?:[\w\"'-]+\.){{{MOST_KEY_PARTS}}}")


def parse_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Parse a TOML text; ``parse_float`` converts its decimal numbers.

    Raises ``ValueError`` for a text that is not TOML (``tomllib.TOMLDecodeError``, with the location), values
    that are nested too deeply, a number of thousands of digits, or a key of more than ``MOST_KEY_PARTS``
    parts.
    """
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_KEY_PARTS} parts")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def read_toml(path: Path, noun: str) -> dict[str, Any]:
    """Read a TOML file, ``noun`` in messages; raise ``InputError`` if it is unreadable or not TOML."""
    try:
        return parse_toml(read_text(path, noun))
    except OSError as error:
        raise InputError(f"{noun} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{path} is not TOML: {error}", allowed="TOML in UTF-8") from None


KeyPath = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


class StrictTable(BaseModel):
    """A table of the spec: unknown keys are refused, nothing is coerced.

    A field's description lists the allowed values; messages repeat it. ``key_synonyms`` maps other names of
    keys to ours, for advice.
    """

    key_synonyms: ClassVar[Mapping[str, str]] = {}

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, defer_build=True
    )


def list_to_tuple(value: object) -> object:
    """Return a list as a tuple, which the values of a spec contain, and any other value unchanged."""
    return tuple(value) if isinstance(value, list) else value


TextList = Annotated[tuple[str, ...], BeforeValidator(list_to_tuple)]
_TOML_TYPES: Mapping[Any, Any] = {tuple[str, ...]: TextList, tuple[str, ...] | None: TextList | None}

AnyTable = TypeVar("AnyTable", bound=StrictTable)


class SpecError(ValueError):
    """A validator's refusal of a part of a value: the keys that lead to it, and the part.

    ``allowed`` lists the allowed values if the field's description does not.
    """

    def __init__(self, keys: KeyPath, value: object, allowed: str | None = None) -> None:
        super().__init__("not allowed")
        self.keys = keys
        self.value = value
        self.allowed = allowed


def toml_key(
    title: str, example: str, allowed: str | None = None, default: object = None, **checks: Any
) -> Any:
    """Declare a key of a table: its meaning, a value in TOML, the allowed values, and pydantic's checks."""
    if allowed is not None:
        checks["description"] = allowed
    return Field(default, title=title, examples=[example], **checks)


def make_section(
    name: str, record: type, base: type[StrictTable] = StrictTable, **kinds: Any
) -> type[StrictTable]:
    """Return the table of the keys that a dataclass declares by ``model.option.spec_key``, in their order.

    A key has its field's type and default; a tuple is read from a list, and an enumeration from its words.
    ``kinds`` are the types, or the types and defaults, of keys that TOML writes in another way.
    """
    hints = get_type_hints(record)
    keys: dict[str, Any] = {}
    for each in fields(record):
        if "key" not in each.metadata:
            continue
        declared = dict(each.metadata["key"])
        default = ... if each.default is MISSING else each.default
        if each.default_factory is not MISSING:
            default = each.default_factory()
        kind = kinds.get(each.name, _TOML_TYPES.get(hints[each.name], hints[each.name]))
        if isinstance(kind, tuple):
            kind, default = kind
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            words = tuple(str(word) for word in kind)
            declared["allowed"] = declared["allowed"] or ", ".join(words)
            kind = Annotated[Literal[words], AfterValidator(kind)]
        keys[each.name] = kind, toml_key(default=default, **declared)
    return create_model(name, __base__=base, **keys)


def validate_table(
    model: type[AnyTable],
    content: object,
    *,
    label: str,
    key: KeyPath,
    further: Sequence[str] = (),
) -> AnyTable:
    """Validate the content of one table; raise ``InputError`` for the first error.

    ``label`` names the spec, ``key`` the table in it. ``further`` are allowed keys in addition to the
    model's; errors name them too.
    """
    if not isinstance(content, Mapping):
        location = format_key(key) or "the spec"
        raise InputError(
            f"{label}: {location} = {format_toml_value(content)}", allowed=f"a table: {_key_list(model)}"
        )
    try:
        return model.model_validate(dict(content))
    except ValidationError as error:
        raise _first_error(error, model, label, key, further) from None


def locate_error(error: InputError, *, label: str, key: KeyPath) -> InputError:
    """Return the same error, prefixed with the spec and the key."""
    return InputError(
        f"{label}: {format_key(key)}: {error.message}", allowed=error.allowed, advice=error.advice
    )


def format_key(key: KeyPath) -> str:
    """Format a key as TOML writes it.

    >>> print(format_key(("attributes", "age at visit", "hierarchy", "widths", 0)))
    attributes."age at visit".hierarchy.widths[0]
    """
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (
                part if _BARE_KEY.fullmatch(part) else f'"{quote_value(part)[1:-1]}"'
            )
    return text


def format_toml_value(value: object) -> str:
    """Format a value for messages: texts in quotes, booleans as TOML writes them."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quote_value(value)
    if isinstance(value, Mapping):
        return "a table"
    return quote_value(value)[1:-1]


_RENAMED_KEYS = {
    "nulls": "null_policy",
    "unlisted": "unlisted_columns",
    "coded": "keep_codes",
    "written": "format",
    "way": "pseudonymization",
    "shift": "date_shift",
    "order": "row_order",
    "together": "joint_k",
    "accept": "accept_relaxation",
}
"""Keys of specs before 0.1.0 and their present names; errors name these until 0.2."""


def _current_name(key: str, model: type[StrictTable], allowed: Mapping[str, Any]) -> str:
    renamed = _RENAMED_KEYS.get(key, key)
    return model.key_synonyms.get(key, renamed if renamed in allowed else key)


def _first_error(
    error: ValidationError, model: type[StrictTable], label: str, key: KeyPath, further: Sequence[str]
) -> InputError:
    first = error.errors(include_url=False)[0]
    key_path: KeyPath = tuple(first["loc"])
    allowed = {field.alias or name: field.description for name, field in model.model_fields.items()}
    if first["type"] == "extra_forbidden":
        parent = format_key(key)
        return InputError(
            f"{label}: {parent + ' has an ' if parent else ''}unknown key {quote_value(key_path[-1])}",
            allowed=", ".join((_key_list(model), *further)),
            advice=suggest_name(_current_name(str(key_path[-1]), model, allowed), (*allowed, *further))
            or "docs/spec.md explains every key, and discreet schema lists them.",
        )
    meant = allowed.get(str(key_path[0])) if key_path else None
    if first["type"] == "missing":
        return InputError(f"{label}: {format_key((*key, *key_path))} is missing", allowed=meant)
    value, refusal = first["input"], first.get("ctx", {}).get("error")
    if isinstance(refusal, SpecError):
        key_path, value, meant = (*key_path, *refusal.keys), refusal.value, refusal.allowed or meant
    return InputError(f"{label}: {format_key((*key, *key_path))} = {format_toml_value(value)}", allowed=meant)


def _key_list(model: type[StrictTable]) -> str:
    return ", ".join(field.alias or name for name, field in model.model_fields.items())
