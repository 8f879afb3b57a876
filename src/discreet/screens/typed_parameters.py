"""The parameters of hierarchies' builders: from what was typed to the spec's value, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.messages import shown

_MOST_TEXT = 2_000_000
_BETWEEN_FORMATS = "|"
_BETWEEN_LEVELS = ";"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a builder.

    ``form`` is number, numbers, end, whole, wholes, bounds, text, texts, formats, choice, flag or outline;
    ``choices`` are those of a choice, ``initial`` what a form begins with.
    """

    name: str
    label: str
    form: str
    hint: str = ""
    choices: tuple[str, ...] = ()
    initial: str | bool = ""


def typed_value(parameter: Parameter, value: Any) -> Any:
    """One typed value as the spec has it; None where it is as good as empty."""
    if parameter.form == "flag":
        if not isinstance(value, bool):
            raise InputError(f"{parameter.name} = {shown(value)}", allowed="true, false")
        return value or None
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise InputError(f"{parameter.name} is no text of a sensible length", allowed="a text")
    text = value if parameter.form in ("outline", "text") else value.strip()
    if parameter.form == "choice" and text not in parameter.choices:
        raise InputError(f"{parameter.name} = {shown(text)}", allowed=", ".join(parameter.choices))
    found = _READERS[parameter.form](text) if parameter.form in _READERS else text
    one_for_all = parameter.form == "wholes" and parameter.name in ("steps", "fanout") and len(found) == 1
    return found[0] if one_for_all else found


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]


def _formats(text: str) -> str | list[str]:
    patterns = [part.strip() for part in text.split(_BETWEEN_FORMATS) if part.strip()]
    return patterns[0] if len(patterns) == 1 else patterns


def _number(text: str) -> int | Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise InputError(f"{shown(text)} is no number", allowed="a number such as 5 or 2.5")
    whole = abs(number) < 10**15 and number == number.to_integral_value()
    return int(number) if whole else number


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InputError(f"{shown(text)} is no whole number", allowed="1, 2, 3, …")
    return int(text)


def _end(text: str) -> int | Decimal | str:
    return text if text == "data" else _number(text)


def _bounds(text: str) -> list[Any]:
    """Numbers of one level, or of several with ``;`` between them."""
    levels = [[_number(part) for part in _parts(level)] for level in text.split(_BETWEEN_LEVELS)]
    return levels[0] if len(levels) == 1 else levels


def outline_tree(text: str) -> list[Any]:
    """Nested groups from indented lines, as the spec's ``taxonomy`` has them.

    >>> outline_tree("Gov\\n  Federal\\n  Local\\nOther")
    [{'Gov': ['Federal', 'Local']}, 'Other']
    """
    lines = [
        (len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()), line.strip())
        for line in text.splitlines()
        if line.strip()
    ]
    found, end = _branch(lines, 0, lines[0][0] if lines else 0)
    if end < len(lines):
        raise InputError(
            f"{shown(lines[end][1])} is indented less than the first line",
            allowed="the outermost groups first, all indented alike",
        )
    return found


def _branch(lines: Sequence[tuple[int, str]], start: int, indent: int) -> tuple[list[Any], int]:
    """The members from a line on that are indented alike, and the line after them."""
    found: list[Any] = []
    place = start
    while place < len(lines) and lines[place][0] >= indent:
        depth, name = lines[place]
        if depth > indent:
            raise InputError(
                f"{shown(name)} is indented like no line above it",
                allowed="members of a group indented alike",
            )
        place += 1
        if place < len(lines) and lines[place][0] > indent:
            members, place = _branch(lines, place, lines[place][0])
            found.append({name: members})
        else:
            found.append(name)
    return found, place


def _outline(tree: Any, indent: str = "") -> str:
    """The way back: a taxonomy's tree as indented lines."""
    if isinstance(tree, Mapping):
        return "".join(f"{indent}{name}\n{_outline(held, indent + '  ')}" for name, held in tree.items())
    if isinstance(tree, str):
        return f"{indent}{tree}\n"
    if isinstance(tree, Sequence):
        return "".join(_outline(member, indent) for member in tree)
    return f"{indent}{tree}\n"


def shown_value(parameter: Parameter, value: Any) -> str | bool:
    """A value of the spec as its field shows it: the way back."""
    if parameter.form == "flag":
        return bool(value)
    if parameter.form == "outline":
        return _outline(value)
    if parameter.form == "bounds" and value and all(isinstance(level, list | tuple) for level in value):
        return f"{_BETWEEN_LEVELS} ".join(", ".join(str(bound) for bound in level) for level in value)
    if isinstance(value, list | tuple):
        between = f" {_BETWEEN_FORMATS} " if parameter.form == "formats" else ", "
        return between.join(str(part) for part in value)
    return str(value)


_READERS: Mapping[str, Callable[[str], Any]] = {
    "number": _number,
    "numbers": lambda text: [_number(part) for part in _parts(text)],
    "end": _end,
    "whole": _whole,
    "wholes": lambda text: [_whole(part) for part in _parts(text)],
    "bounds": _bounds,
    "texts": _parts,
    "formats": _formats,
    "outline": outline_tree,
}
"""How the text of a field is read, by the field's form; texts and choices stay as they are."""
