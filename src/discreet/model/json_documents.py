"""JSON documents: bounded reading, the shape of a manifest, and the program version they contain.

Documents may come from other programs. Every failure to read one is a ``ValueError``, and the shape of a
manifest is checked as a whole before any key is used. Missing and unknown keys are allowed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

MAX_DEPTH = 100
"""Maximum nesting depth of arrays and objects; documents that discreet writes have about ten levels."""
_TOO_DEEP = f"arrays and objects are nested more than {MAX_DEPTH} levels deep"


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: not JSON, more than ``MAX_DEPTH`` levels, a number of thousands of digits, or a text that
            does not fit into memory.
    """
    try:
        result = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except MemoryError:
        raise ValueError("it does not fit into memory") from None
    _check_depth(result)
    return result


def _check_depth(value: object) -> None:
    """Check the depth level by level, so that the check itself needs no recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            each
            for item in level
            if isinstance(item, dict | list)
            for each in (item.values() if isinstance(item, dict) else item)
            if isinstance(each, dict | list)
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


MAX_COUNT = 2**63 - 1
"""Largest integer that engines can count to."""


@dataclass(frozen=True)
class ScalarType:
    """A kind of value: a phrase for messages, and its test."""

    description: str
    fits: Callable[[object], bool]


@dataclass(frozen=True)
class ListOf:
    """A list whose items have one shape."""

    item: DocumentShape


@dataclass(frozen=True)
class MapOf:
    """An object with any keys whose values have one shape."""

    value: DocumentShape


@dataclass(frozen=True)
class OneOf:
    """One of several shapes."""

    shapes: tuple[DocumentShape, ...]


DocumentShape: TypeAlias = "ScalarType | ListOf | MapOf | OneOf | Mapping[str, DocumentShape]"


def check_shape(value: object, shape: DocumentShape, path: str = "the document") -> None:
    """Check a value against a shape.

    Raises:
        ValueError: the path of the first value that does not fit, its kind, and the allowed shape.
    """
    if isinstance(shape, ScalarType):
        if not shape.fits(value):
            raise ValueError(f"{path} is {_describe(value)}, where {shape.description} belongs")
    elif isinstance(shape, ListOf):
        _require_type(value, list, "a list", path)
        for number, item in enumerate(value):  # type: ignore[var-annotated, arg-type]
            check_shape(item, shape.item, f"{path}[{number}]")
    elif isinstance(shape, MapOf):
        _require_type(value, dict, "an object", path)
        for key, item in value.items():  # type: ignore[attr-defined]
            check_shape(item, shape.value, f"{path}.{key}"[:200])
    elif isinstance(shape, OneOf):
        _check_one_of(value, shape, path)
    else:
        _require_type(value, dict, "an object", path)
        for key, part in shape.items():
            if key in value:  # type: ignore[operator]
                check_shape(value[key], part, key if path == "the document" else f"{path}.{key}")  # type: ignore[index]


def _check_one_of(value: object, shape: OneOf, path: str) -> None:
    problems = []
    for each in shape.shapes:
        try:
            check_shape(value, each, path)
        except ValueError as error:
            problems.append(error)
        else:
            return
    raise problems[-1]


def _require_type(value: object, kind: type, description: str, path: str) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{path} is {_describe(value)}, where {description} belongs")


def _describe(value: object) -> str:
    """Return a description of a value's kind; never the value, which may be of any length."""
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int):
        return "a whole number" if 0 <= value <= MAX_COUNT else "a whole number out of range"
    kinds = {str: "a text", float: "a number", list: "a list", dict: "an object", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT


def _is_number(value: object) -> bool:
    is_integer = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_COUNT
    return is_integer or (isinstance(value, float) and abs(value) < float("inf"))


_TEXT = ScalarType("a text", _is_text)
_FLAG = ScalarType("true or false", lambda value: isinstance(value, bool))
_COUNT = ScalarType(f"a whole number from 0 to {MAX_COUNT}", _is_count)
_NUMBER = ScalarType("a number", _is_number)
_NULL = ScalarType("null", lambda value: value is None)
_SCALAR = ScalarType(
    "a text, a number, true, false or null",
    lambda value: value is None or isinstance(value, bool | float) or _is_number(value) or _is_text(value),
)


def _or_null(shape: DocumentShape) -> OneOf:
    return OneOf((_NULL, shape))


_FLAT_VALUES = OneOf((_SCALAR, ListOf(_SCALAR), MapOf(_SCALAR)))
_PARAMETERS = OneOf((_FLAT_VALUES, ListOf(_FLAT_VALUES), MapOf(_FLAT_VALUES)))
"""Parameters of a criterion, by attribute or not; the criteria's own reader validates them."""

_ATTRIBUTE: DocumentShape = {
    "name": _TEXT,
    "role": _TEXT,
    "published": _FLAG,
    "level": _or_null(_COUNT),
    "height": _or_null(_COUNT),
    "hierarchy": {
        "from_data": _FLAG,
        "sha256": _or_null(_TEXT),
        "labels": {"kind": _TEXT, "from": _TEXT, "character": _TEXT, "pad": _FLAG, "format": _or_null(_TEXT)},
    },
    "format": MapOf(_PARAMETERS),
    "identifier": MapOf(_PARAMETERS),
    "date_shift": MapOf(_PARAMETERS),
    "subject": _FLAG,
}
_FILE: DocumentShape = {
    "file": _or_null(_TEXT),
    "table": _or_null(_TEXT),
    "sha256": _or_null(_TEXT),
    "rows": _COUNT,
}
_PERMUTATION: DocumentShape = {
    "sensitive": _TEXT,
    "k": _COUNT,
    "e": OneOf((_TEXT, _NUMBER)),
    "partition": _TEXT,
    "form": _TEXT,
    "group_column": _TEXT,
    "groups": _COUNT,
    "rows_without_value": _COUNT,
    "numeric": _FLAG,
    "scale": _or_null(_COUNT),
    "table": _or_null(_TEXT),
    "first_group": _or_null({"k": _COUNT, "e": OneOf((_TEXT, _NUMBER))}),
    "files": MapOf(_FILE),
}
MANIFEST_SHAPE: DocumentShape = {
    "manifest": _COUNT,
    "discreet": _TEXT,
    "date": _TEXT,
    "release": _TEXT,
    "data": {"file": _or_null(_TEXT), "table": _TEXT, "format": _TEXT, "sha256": _TEXT, "rows": _COUNT},
    "attributes": ListOf(_ATTRIBUTE),
    "recoding": {
        "model": _TEXT,
        "summary": _or_null(_TEXT),
        "patterns": ListOf({"pattern": _TEXT, "classes": _COUNT, "rows": _COUNT}),
    },
    "permutation": _or_null(_PERMUTATION),
    "requirement": MapOf(_PARAMETERS),
    "counted": _TEXT,
    "nulls": {"policy": _TEXT, "dropped_rows": _COUNT},
    "suppression": {"policy": _TEXT, "rows": _COUNT},
    "population": {"people": _COUNT},
    "input": {"version": _or_null(_COUNT)},
    "after": ListOf(_TEXT),
    "audit": {
        "passed": _FLAG,
        "rows": _COUNT,
        "classes": _COUNT,
        "groups": _COUNT,
        "k": _or_null(_COUNT),
        "l": MapOf(_or_null(_COUNT)),
        "starred": _COUNT,
        "criteria": ListOf(MapOf(_PARAMETERS)),
        "permutation": _or_null(MapOf(_SCALAR)),
    },
    "warnings": ListOf({"code": _TEXT, "text": _TEXT}),
    "statement": _TEXT,
}
"""Shape of a manifest of rows (``release.manifest``)."""


def check_manifest(document: Any) -> None:
    """Check the shape of a manifest's document; raise ``ValueError`` as ``check_shape`` does."""
    check_shape(document, MANIFEST_SHAPE)


@cache
def program_version() -> str:
    """Return the version of discreet, or ``unknown`` if it is not installed.

    The result is cached, because reading an installation's metadata loads the whole README.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("discreet")
    except PackageNotFoundError:
        return "unknown"
