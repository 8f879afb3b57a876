"""The builders of hierarchies as forms: their parameters, and from what was typed to the spec's table.

A form's values are texts (lists separated by commas or line ends), truth values and chosen words; the spec's
table is what the command line reads. An error names the parameter it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.builtin.hierarchy import BUILTINS
from discreet.hierarchy.dates import GRANULARITIES
from discreet.hierarchy.messages import shown
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.screens.typed_parameters import Parameter, shown_value, typed_value
from discreet.spec.hierarchies import HierarchyReader

_LABEL = "the hierarchy"


class ParameterError(InputError):
    """A parameter of a builder is wrong; ``field`` is its name, None where none can be told."""

    def __init__(self, error: InputError, field: str | None) -> None:
        message = error.message.removeprefix(f"{_LABEL}: ").removeprefix(": ")
        super().__init__(message, allowed=error.allowed, advice=error.advice)
        self.field = field


@dataclass(frozen=True)
class Builder:
    """One kind of hierarchy that is built from parameters."""

    kind: str
    title: str
    words: str
    parameters: tuple[Parameter, ...]


_OTHERS = Parameter("others", "Other values", "texts", "Values that stay as they are, such as unknown")

_FORMAT = Parameter(
    "format", "Format", "formats", "A pattern such as %d.%m.%Y, or several with | between; ISO where empty"
)

_CUTS = (
    Parameter("widths", "Widths", "numbers", "From fine to coarse, each a multiple of the one before"),
    Parameter("breaks", "Or bounds", "bounds", "Such as 18, 35, 65; further levels after a semicolon"),
    Parameter("anchor", "Starts at", "number", "A number at which an interval starts", initial="0"),
    Parameter("lower", "Lowest", "end", "Numbers below it form one value; data: as they occur"),
    Parameter("upper", "Highest", "end", "Numbers from it on form one value; data: as they occur"),
)

BUILDERS = (
    Builder(
        "intervals",
        "Intervals",
        "Numbers in intervals of growing width, or between bounds of your own; with open ends.",
        (
            *_CUTS,
            _OTHERS,
        ),
    ),
    Builder(
        "mask",
        "Mask",
        "Characters of codes hidden step by step, such as 90210 → 902** → *.",
        (
            Parameter("steps", "Characters per level", "wholes", "One number, or one per level: 2, 2"),
            Parameter("from", "Hide from the", "choice", choices=("right", "left"), initial="right"),
            Parameter("character", "Mask character", "text", "One character", initial="*"),
            Parameter("pad", "Fill short codes up to one length", "flag", initial=False),
            Parameter("length", "That length", "whole", "Where empty, the longest code's"),
        ),
    ),
    Builder(
        "dates",
        "Dates",
        "Days in months, quarters, years, decades.",
        (
            Parameter("levels", "Levels", "texts", f"From fine to coarse: {', '.join(GRANULARITIES)}"),
            _FORMAT,
            _OTHERS,
        ),
    ),
    Builder(
        "age",
        "Age",
        "The age of a date of birth on one day, then intervals of ages. The date itself is level 0, which is "
        "published only where a least level of 0 is asked.",
        (
            Parameter("reference", "Age on", "text", "A date such as 2026-11-23"),
            *(parameter for parameter in _CUTS if parameter.name != "anchor"),
            _FORMAT,
            _OTHERS,
        ),
    ),
    Builder(
        "builtin",
        "Built in",
        "An everyday hierarchy: ages, dates, diagnoses, occupations, economic activities, countries, postal "
        "codes. It does not depend on the data.",
        (
            Parameter("name", "Hierarchy", "choice", choices=tuple(BUILTINS), initial=next(iter(BUILTINS))),
            Parameter("levels", "Levels", "texts", "From fine to coarse; all where empty"),
            _OTHERS,
        ),
    ),
    Builder(
        "taxonomy",
        "Taxonomy",
        "Names of groups and what each holds, one per line, indented below its group.",
        (
            Parameter(
                "tree", "Groups", "outline", "Indent what a group holds; lines without children are values"
            ),
        ),
    ),
    Builder(
        "order",
        "Order",
        "Neighbouring values grouped, so many at a time.",
        (
            Parameter("values", "Values in order", "texts", "Where empty: numbers by size, then by name"),
            Parameter("sizes", "Values per group", "wholes", "By level, each a multiple of the one before"),
            Parameter("fanout", "Or groups per group", "wholes", "One number of 2 or more, or one per level"),
            Parameter("label", "Groups are called by", "choice", choices=("range", "set"), initial="range"),
        ),
    ),
    Builder(
        "auto",
        "Automatic",
        "Groups of about equal size, made from the data: a start to improve on, which tells of the data.",
        (Parameter("by", "Group by", "choice", choices=("order", "frequency"), initial="order"),),
    ),
)
"""Every builder that has parameters, in the order that a form offers them."""


def builder_of(kind: str) -> Builder:
    """The builder of a kind; ``ParameterError`` for another text."""
    for builder in BUILDERS:
        if builder.kind == kind:
            return builder
    kinds = ", ".join(builder.kind for builder in BUILDERS)
    raise ParameterError(InputError(f"there is no builder {shown(kind)}", allowed=kinds), "kind")


def hierarchy_table(kind: str, typed: Mapping[str, Any]) -> dict[str, Any]:
    """The spec's table of what was typed into a builder's form; empty texts are left out.

    ``ParameterError`` for a text that is no such value, and for a parameter that the builder has not.
    """
    builder = builder_of(kind)
    known = {parameter.name: parameter for parameter in builder.parameters}
    for name in typed:
        if name not in known:
            raise ParameterError(InputError(f"{kind} has no {shown(name)}", allowed=", ".join(known)), None)
    table: dict[str, Any] = {"kind": kind}
    for name, parameter in known.items():
        value = typed.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        try:
            found = typed_value(parameter, value)
        except InputError as error:
            raise ParameterError(error, name) from None
        if found is not None:
            table[name] = found
    return table


def typed_values(table: Mapping[str, Any]) -> dict[str, str | bool]:
    """What a builder's form shows for a spec's table: the way back."""
    builder = builder_of(str(table.get("kind")))
    given = {**table, **({"widths": [table["width"]]} if "width" in table else {})}
    return {
        parameter.name: shown_value(parameter, given[parameter.name])
        if parameter.name in given
        else parameter.initial
        for parameter in builder.parameters
    }


def build_hierarchy(
    attribute: str, table: Mapping[str, Any], values: Sequence[str], counts: Sequence[int], base: Path
) -> GeneralizationHierarchy:
    """The hierarchy of a spec's table over some values; paths in it are relative to ``base``.

    ``ParameterError`` where it cannot be built, with the parameter that is to blame where one can be told.
    """
    try:
        source = HierarchyReader(base, _LABEL, objects=False).read(table, ())
        return source.build(attribute, values, counts)
    except InputError as error:
        raise ParameterError(error, _blamed(error, table)) from None


_WORDS = {
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


def _blamed(error: InputError, table: Mapping[str, Any]) -> str | None:
    """The parameter that an error is about: the one it names, else the one that its words belong to."""
    text = error.message
    names = [p.name for p in builder_of(str(table["kind"])).parameters] if _has_builder(table) else []
    named = [name for name in names if any(f"{name}{mark}" in text for mark in (" =", "[", ":"))]
    worded = [name for name in names if any(word in text for word in _WORDS.get(name, ()))]
    return next(iter([*named, *worded]), names[0] if names else None)


def _has_builder(table: Mapping[str, Any]) -> bool:
    return any(builder.kind == table.get("kind") for builder in BUILDERS)
