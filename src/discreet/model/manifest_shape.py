"""The shape of a manifest: which of its keys hold which kind of value.

A manifest comes from elsewhere as often as from here. Whoever reads one checks its shape as a whole first, so
that no later step meets a list where a name belongs. Keys that are missing are left to the reader, which
knows what it needs; keys that are not known here are allowed, as later versions write further ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

LARGEST = 2**63 - 1
"""The largest whole number that engines count to."""


@dataclass(frozen=True)
class Kind:
    """A kind of value: a phrase for messages, and the test."""

    said: str
    fits: Callable[[object], bool]


@dataclass(frozen=True)
class ListOf:
    """A list whose items have one shape."""

    item: Shape


@dataclass(frozen=True)
class MapOf:
    """An object of any keys whose values have one shape."""

    value: Shape


@dataclass(frozen=True)
class Either:
    """One of several shapes."""

    shapes: tuple[Shape, ...]


Shape: TypeAlias = "Kind | ListOf | MapOf | Either | Mapping[str, Shape]"


def check_shape(value: object, shape: Shape, place: str = "the document") -> None:
    """Check a value against a shape.

    Raises:
        ValueError: the place of the first value that does not fit, its kind, and what is allowed there.
    """
    if isinstance(shape, Kind):
        if not shape.fits(value):
            raise ValueError(f"{place} is {_said(value)}, where {shape.said} belongs")
    elif isinstance(shape, ListOf):
        _require(value, list, "a list", place)
        for number, item in enumerate(value):  # type: ignore[var-annotated, arg-type]
            check_shape(item, shape.item, f"{place}[{number}]")
    elif isinstance(shape, MapOf):
        _require(value, dict, "an object", place)
        for key, item in value.items():  # type: ignore[attr-defined]
            check_shape(item, shape.value, f"{place}.{key}"[:200])
    elif isinstance(shape, Either):
        _check_either(value, shape, place)
    else:
        _require(value, dict, "an object", place)
        for key, part in shape.items():
            if key in value:  # type: ignore[operator]
                check_shape(value[key], part, key if place == "the document" else f"{place}.{key}")  # type: ignore[index]


def _check_either(value: object, shape: Either, place: str) -> None:
    problems = []
    for each in shape.shapes:
        try:
            check_shape(value, each, place)
        except ValueError as error:
            problems.append(error)
        else:
            return
    raise problems[-1]


def _require(value: object, kind: type, said: str, place: str) -> None:
    if not isinstance(value, kind):
        raise ValueError(f"{place} is {_said(value)}, where {said} belongs")


def _said(value: object) -> str:
    """A value's kind in words; never the value, which may be of any length."""
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int):
        return "a whole number" if 0 <= value <= LARGEST else "a whole number out of range"
    kinds = {str: "a text", float: "a number", list: "a list", dict: "an object", type(None): "null"}
    return kinds.get(type(value), type(value).__name__)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _is_number(value: object) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
    return whole or (isinstance(value, float) and abs(value) < float("inf"))


TEXT = Kind("a text", _is_text)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
COUNT = Kind(f"a whole number from 0 to {LARGEST}", _is_count)
NUMBER = Kind("a number", _is_number)
NULL = Kind("null", lambda value: value is None)
PLAIN = Kind(
    "a text, a number, true, false or null",
    lambda value: value is None or isinstance(value, bool | float) or _is_number(value) or _is_text(value),
)


def _or_null(shape: Shape) -> Either:
    return Either((NULL, shape))


_FLAT = Either((PLAIN, ListOf(PLAIN), MapOf(PLAIN)))
_VALUES = Either((_FLAT, ListOf(_FLAT), MapOf(_FLAT)))
"""The parameters of a criterion, by attribute or not; its own reader judges them."""

_ATTRIBUTE: Shape = {
    "name": TEXT,
    "role": TEXT,
    "published": FLAG,
    "level": _or_null(COUNT),
    "height": _or_null(COUNT),
    "hierarchy": {
        "from_data": FLAG,
        "sha256": _or_null(TEXT),
        "labels": {"kind": TEXT, "from": TEXT, "character": TEXT, "pad": FLAG, "format": _or_null(TEXT)},
    },
    "written": MapOf(_VALUES),
    "identifier": MapOf(_VALUES),
    "shift": MapOf(_VALUES),
    "subject": FLAG,
}
_FILE: Shape = {"file": _or_null(TEXT), "table": _or_null(TEXT), "sha256": _or_null(TEXT), "rows": COUNT}
_PERMUTATION: Shape = {
    "sensitive": TEXT,
    "k": COUNT,
    "e": Either((TEXT, NUMBER)),
    "partition": TEXT,
    "form": TEXT,
    "group_column": TEXT,
    "groups": COUNT,
    "rows_without_value": COUNT,
    "numeric": FLAG,
    "scale": _or_null(COUNT),
    "table": _or_null(TEXT),
    "first_group": _or_null({"k": COUNT, "e": Either((TEXT, NUMBER))}),
    "files": MapOf(_FILE),
}
MANIFEST: Shape = {
    "manifest": COUNT,
    "discreet": TEXT,
    "date": TEXT,
    "release": TEXT,
    "data": {"file": _or_null(TEXT), "table": TEXT, "format": TEXT, "sha256": TEXT, "rows": COUNT},
    "attributes": ListOf(_ATTRIBUTE),
    "recoding": {
        "model": TEXT,
        "summary": _or_null(TEXT),
        "patterns": ListOf({"pattern": TEXT, "classes": COUNT, "rows": COUNT}),
    },
    "permutation": _or_null(_PERMUTATION),
    "requirement": MapOf(_VALUES),
    "counted": TEXT,
    "nulls": {"policy": TEXT, "dropped_rows": COUNT},
    "suppression": {"policy": TEXT, "rows": COUNT},
    "population": {"people": COUNT},
    "input": {"version": _or_null(COUNT)},
    "after": ListOf(TEXT),
    "audit": {
        "passed": FLAG,
        "rows": COUNT,
        "classes": COUNT,
        "groups": COUNT,
        "k": _or_null(COUNT),
        "l": MapOf(_or_null(COUNT)),
        "starred": COUNT,
        "criteria": ListOf(MapOf(_VALUES)),
        "permutation": _or_null(MapOf(PLAIN)),
    },
    "warnings": ListOf({"code": TEXT, "text": TEXT}),
    "statement": TEXT,
}
"""The shape of a manifest of rows (``release.manifest``)."""


def check_manifest(document: Any) -> None:
    """Check the shape of a manifest's document; ``ValueError`` as of ``check_shape``."""
    check_shape(document, MANIFEST)
