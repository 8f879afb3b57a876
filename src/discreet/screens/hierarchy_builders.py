"""The forms of hierarchy builders: their parameters, parsed from typed text to the spec's table and back.

A form's values are texts (lists separated by commas or line ends), booleans and choices; the spec's table is
the one that the command line reads. An error names its parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.builtin.builder import BUILTINS
from discreet.hierarchy.dates import GRANULARITIES
from discreet.hierarchy.messages import quote_value
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.spec.attribute_section import HierarchyReader

_MAX_TEXT = 2_000_000
_FORMAT_SEPARATOR = "|"
_LEVEL_SEPARATOR = ";"


@dataclass(frozen=True)
class BuilderParameter:
    """One parameter of a builder.

    ``form`` is number, numbers, end, whole, wholes, bounds, text, texts, formats, choice, flag or outline;
    ``choices`` are those of a choice, ``initial`` is the initial value of the form.
    """

    name: str
    label: str
    form: str
    hint: str = ""
    choices: tuple[str, ...] = ()
    initial: str | bool = ""


def parse_parameter(parameter: BuilderParameter, value: Any) -> Any:
    """Parse one typed value into the form of the spec; None for an unset flag."""
    if parameter.form == "flag":
        if not isinstance(value, bool):
            raise InputError(f"{parameter.name} = {quote_value(value)}", allowed="true, false")
        return value or None
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        raise InputError(f"{parameter.name} is not a text, or is too long", allowed="a text")
    text = value if parameter.form in ("outline", "text") else value.strip()
    if parameter.form == "choice" and text not in parameter.choices:
        raise InputError(f"{parameter.name} = {quote_value(text)}", allowed=", ".join(parameter.choices))
    found = _PARSERS[parameter.form](text) if parameter.form in _PARSERS else text
    one_for_all = parameter.form == "wholes" and parameter.name in ("steps", "fanout") and len(found) == 1
    return found[0] if one_for_all else found


def _split_list(text: str) -> list[str]:
    return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]


def _parse_formats(text: str) -> str | list[str]:
    patterns = [part.strip() for part in text.split(_FORMAT_SEPARATOR) if part.strip()]
    return patterns[0] if len(patterns) == 1 else patterns


def _parse_number(text: str) -> int | Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise InputError(f"{quote_value(text)} is not a number", allowed="a number such as 5 or 2.5")
    is_integer = abs(number) < 10**15 and number == number.to_integral_value()
    return int(number) if is_integer else number


def _parse_integer(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InputError(f"{quote_value(text)} is not a whole number", allowed="1, 2, 3, …")
    return int(text)


def _parse_end(text: str) -> int | Decimal | str:
    return text if text == "data" else _parse_number(text)


def _parse_bounds(text: str) -> list[Any]:
    """Parse the numbers of one level, or of several separated by ``;``."""
    levels = [[_parse_number(part) for part in _split_list(level)] for level in text.split(_LEVEL_SEPARATOR)]
    return levels[0] if len(levels) == 1 else levels


def parse_outline(text: str) -> list[Any]:
    """Parse nested groups from indented lines into the form of the spec's ``taxonomy``.

    >>> parse_outline("Gov\\n  Federal\\n  Local\\nOther")
    [{'Gov': ['Federal', 'Local']}, 'Other']
    """
    lines = [
        (len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()), line.strip())
        for line in text.splitlines()
        if line.strip()
    ]
    result, end = _parse_branch(lines, 0, lines[0][0] if lines else 0)
    if end < len(lines):
        raise InputError(
            f"{quote_value(lines[end][1])} is indented less than the first line",
            allowed="the outermost groups first, all indented alike",
        )
    return result


def _parse_branch(lines: Sequence[tuple[int, str]], start: int, indent: int) -> tuple[list[Any], int]:
    """Return the members from a line on that have one indentation, and the next line."""
    found: list[Any] = []
    line = start
    while line < len(lines) and lines[line][0] >= indent:
        depth, name = lines[line]
        if depth > indent:
            raise InputError(
                f"{quote_value(name)} has an indentation that no line above has",
                allowed="members of a group indented alike",
            )
        line += 1
        if line < len(lines) and lines[line][0] > indent:
            members, line = _parse_branch(lines, line, lines[line][0])
            found.append({name: members})
        else:
            found.append(name)
    return found, line


def _format_outline(tree: Any, indent: str = "") -> str:
    """Format a taxonomy's tree as indented lines: the inverse of ``parse_outline``."""
    if isinstance(tree, Mapping):
        return "".join(
            f"{indent}{name}\n{_format_outline(children, indent + '  ')}" for name, children in tree.items()
        )
    if isinstance(tree, str):
        return f"{indent}{tree}\n"
    if isinstance(tree, Sequence):
        return "".join(_format_outline(member, indent) for member in tree)
    return f"{indent}{tree}\n"


def format_parameter(parameter: BuilderParameter, value: Any) -> str | bool:
    """Format a value of the spec as the text of its field: the inverse of ``parse_parameter``."""
    if parameter.form == "flag":
        return bool(value)
    if parameter.form == "outline":
        return _format_outline(value)
    if parameter.form == "bounds" and value and all(isinstance(level, list | tuple) for level in value):
        return f"{_LEVEL_SEPARATOR} ".join(", ".join(str(bound) for bound in level) for level in value)
    if isinstance(value, list | tuple):
        between = f" {_FORMAT_SEPARATOR} " if parameter.form == "formats" else ", "
        return between.join(str(part) for part in value)
    return str(value)


_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "number": _parse_number,
    "numbers": lambda text: [_parse_number(part) for part in _split_list(text)],
    "end": _parse_end,
    "whole": _parse_integer,
    "wholes": lambda text: [_parse_integer(part) for part in _split_list(text)],
    "bounds": _parse_bounds,
    "texts": _split_list,
    "formats": _parse_formats,
    "outline": parse_outline,
}
"""Parsers of a field's text by the field's form; texts and choices are not parsed."""


_LABEL = "the hierarchy"


class ParameterError(InputError):
    """Error for a wrong parameter of a builder; ``field`` is its name, None if it is not known."""

    def __init__(self, error: InputError, field: str | None) -> None:
        message = error.message.removeprefix(f"{_LABEL}: ").removeprefix(": ")
        super().__init__(message, allowed=error.allowed, advice=error.advice)
        self.field = field


@dataclass(frozen=True)
class HierarchyBuilder:
    """One kind of hierarchy that is built from parameters."""

    kind: str
    title: str
    words: str
    parameters: tuple[BuilderParameter, ...]


_OTHERS = BuilderParameter(
    "others", "Other values", "texts", "Values that are not generalized, such as unknown"
)

_FORMAT = BuilderParameter(
    "format", "Format", "formats", "A pattern such as %d.%m.%Y, or several with | between; ISO where empty"
)

_INTERVAL_PARAMETERS = (
    BuilderParameter("widths", "Widths", "numbers", "From fine to coarse, each a multiple of the one before"),
    BuilderParameter("breaks", "Or bounds", "bounds", "Such as 18, 35, 65; further levels after a semicolon"),
    BuilderParameter("anchor", "Starts at", "number", "A number at which an interval starts", initial="0"),
    BuilderParameter("lower", "Lowest", "end", "Numbers below it form one value; data: as they occur"),
    BuilderParameter("upper", "Highest", "end", "Numbers from it on form one value; data: as they occur"),
)

BUILDERS = (
    HierarchyBuilder(
        "intervals",
        "Intervals",
        "Numbers in intervals of growing width, or between bounds of your own; with open ends.",
        (
            *_INTERVAL_PARAMETERS,
            _OTHERS,
        ),
    ),
    HierarchyBuilder(
        "mask",
        "Mask",
        "Characters of codes hidden step by step, such as 90210 → 902** → *.",
        (
            BuilderParameter("steps", "Characters per level", "wholes", "One number, or one per level: 2, 2"),
            BuilderParameter("from", "Hide from the", "choice", choices=("right", "left"), initial="right"),
            BuilderParameter("character", "Mask character", "text", "One character", initial="*"),
            BuilderParameter("pad", "Fill short codes up to one length", "flag", initial=False),
            BuilderParameter("length", "That length", "whole", "Where empty, the longest code's"),
        ),
    ),
    HierarchyBuilder(
        "dates",
        "Dates",
        "Days in months, quarters, years, decades.",
        (
            BuilderParameter("levels", "Levels", "texts", f"From fine to coarse: {', '.join(GRANULARITIES)}"),
            _FORMAT,
            _OTHERS,
        ),
    ),
    HierarchyBuilder(
        "age",
        "Age",
        "The age of a date of birth on one day, then intervals of ages. The date itself is level 0, which is "
        "published only with a least level of 0.",
        (
            BuilderParameter("reference", "Age on", "text", "A date such as 2026-11-23"),
            *(parameter for parameter in _INTERVAL_PARAMETERS if parameter.name != "anchor"),
            _FORMAT,
            _OTHERS,
        ),
    ),
    HierarchyBuilder(
        "builtin",
        "Built in",
        "An everyday hierarchy: ages, dates, diagnoses, occupations, economic activities, countries, postal "
        "codes. It does not depend on the data.",
        (
            BuilderParameter(
                "name", "Hierarchy", "choice", choices=tuple(BUILTINS), initial=next(iter(BUILTINS))
            ),
            BuilderParameter("levels", "Levels", "texts", "From fine to coarse; all where empty"),
            _OTHERS,
        ),
    ),
    HierarchyBuilder(
        "taxonomy",
        "Taxonomy",
        "Names of groups and their members, one per line, each indented below its group.",
        (
            BuilderParameter(
                "tree", "Groups", "outline", "Indent the members of a group; lines without members are values"
            ),
        ),
    ),
    HierarchyBuilder(
        "order",
        "Order",
        "Groups of n neighbouring values.",
        (
            BuilderParameter(
                "values", "Values in order", "texts", "Where empty: numbers by size, then by name"
            ),
            BuilderParameter(
                "sizes", "Values per group", "wholes", "By level, each a multiple of the one before"
            ),
            BuilderParameter(
                "fanout", "Or groups per group", "wholes", "One number of 2 or more, or one per level"
            ),
            BuilderParameter(
                "label", "Groups are called by", "choice", choices=("range", "set"), initial="range"
            ),
        ),
    ),
    HierarchyBuilder(
        "auto",
        "Automatic",
        "Groups of about equal size, made from the data: a draft, which discloses facts about the data.",
        (BuilderParameter("by", "Group by", "choice", choices=("order", "frequency"), initial="order"),),
    ),
)
"""All builders with parameters, in the order of the form."""


def find_builder(kind: str) -> HierarchyBuilder:
    """Return the builder of a kind; raise ``ParameterError`` for an unknown one."""
    for builder in BUILDERS:
        if builder.kind == kind:
            return builder
    kinds = ", ".join(builder.kind for builder in BUILDERS)
    raise ParameterError(InputError(f"unknown builder {quote_value(kind)}", allowed=kinds), "kind")


def parse_builder_form(kind: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Parse a builder's form into the spec's table; empty texts are left out.

    Raises ``ParameterError`` for an invalid text, and for a parameter that the builder does not have.
    """
    builder = find_builder(kind)
    known = {parameter.name: parameter for parameter in builder.parameters}
    for name in typed:
        if name not in known:
            raise ParameterError(
                InputError(f"{kind} has no {quote_value(name)}", allowed=", ".join(known)), None
            )
    table: dict[str, Any] = {"kind": kind}
    for name, parameter in known.items():
        value = typed.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        try:
            found = parse_parameter(parameter, value)
        except InputError as error:
            raise ParameterError(error, name) from None
        if found is not None:
            table[name] = found
    return table


def builder_form_values(table: Mapping[str, Any]) -> dict[str, str | bool]:
    """Return the form values of a spec's table: the inverse of ``parse_builder_form``."""
    builder = find_builder(str(table.get("kind")))
    values = {**table, **({"widths": [table["width"]]} if "width" in table else {})}
    return {
        parameter.name: format_parameter(parameter, values[parameter.name])
        if parameter.name in values
        else parameter.initial
        for parameter in builder.parameters
    }


def build_from_table(
    attribute: str, table: Mapping[str, Any], values: Sequence[str], counts: Sequence[int], base: Path
) -> GeneralizationHierarchy:
    """Build the hierarchy of a spec's table over values; paths in it are relative to ``base``.

    Raises ``ParameterError`` if it cannot be built, with the parameter that is wrong if it is known.
    """
    try:
        source = HierarchyReader(base, _LABEL, objects=False).read(table, ())
        return source.build(attribute, values, counts)
    except InputError as error:
        raise ParameterError(error, _guess_parameter(error, table)) from None


_PARAMETER_KEYWORDS = {
    "widths": ("width", "widths", "nest", "number"),
    "breaks": ("breaks", "the bound"),
    "lower": ("lower",),
    "upper": ("upper",),
    "anchor": ("anchor",),
    "steps": ("step", "steps", "mask of"),
    "character": ("character",),
    "length": ("length", "characters"),
    "levels": ("date level", "dates without levels", "has no level", "levels of"),
    "format": ("date format", "is no date", "are no dates"),
    "tree": ("taxonomy", "leaf", "group"),
    "sizes": ("size",),
    "fanout": ("fanout",),
    "values": ("the order lists", "values of the data"),
    "reference": ("reference",),
    "name": ("built-in hierarchy",),
    "others": ("others", "of the data is not in", "of the data are not in"),
}


def _guess_parameter(error: InputError, table: Mapping[str, Any]) -> str | None:
    """Return the parameter of an error: the one that it names, else one whose keywords it contains."""
    text = error.message
    names = [p.name for p in find_builder(str(table["kind"])).parameters] if _has_builder(table) else []
    named = [name for name in names if any(f"{name}{mark}" in text for mark in (" =", "[", ":"))]
    worded = [name for name in names if any(word in text for word in _PARAMETER_KEYWORDS.get(name, ()))]
    return next(iter([*named, *worded]), names[0] if names else None)


def _has_builder(table: Mapping[str, Any]) -> bool:
    return any(builder.kind == table.get("kind") for builder in BUILDERS)
