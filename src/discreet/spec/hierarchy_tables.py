"""Inline tables of hierarchies in a spec, one model per kind, and the types of their values.

Loaded only when a spec has a hierarchy by kind: it imports every builder of the ``hierarchy`` room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator

from discreet.errors import InputError
from discreet.hierarchy.ages import AgeHierarchy
from discreet.hierarchy.automatic import AutoHierarchy
from discreet.hierarchy.builtin.builder import BuiltinHierarchy
from discreet.hierarchy.cell_values import to_decimal
from discreet.hierarchy.character_mask import MaskHierarchy
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.hierarchy.dates import DateHierarchy
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.hierarchy.level_table import LevelsHierarchy
from discreet.hierarchy.nested_groups import TaxonomyHierarchy
from discreet.hierarchy.ordered_values import OrderHierarchy
from discreet.model.hierarchy import HierarchySource
from discreet.spec.validation import (
    SpecError,
    StrictTable,
    TextList,
    list_to_tuple,
    make_section,
    toml_key,
)


def _to_exact_number(value: object) -> object:
    if not isinstance(value, int | float | Decimal):
        raise SpecError((), value)
    try:
        return to_decimal("number", value)
    except InputError:
        raise SpecError((), value) from None


def _to_end(value: object) -> object:
    return value if value == "data" else _to_exact_number(value)


def _to_whole_numbers(value: object) -> object:
    """Return a whole number, or a tuple of them."""
    for index, number in enumerate(value if isinstance(value, list | tuple) else [value]):
        if not isinstance(number, int) or isinstance(number, bool):
            raise SpecError((index,) if isinstance(value, list | tuple) else (), number)
    return tuple(value) if isinstance(value, list | tuple) else value


def _to_break_levels(value: object) -> object:
    """Return bounds by level; a list of numbers is one level."""
    if not isinstance(value, list | tuple):
        raise SpecError((), value)
    nested = bool(value) and all(isinstance(level, list | tuple) for level in value)
    found = []
    for index, level in enumerate(value if nested else [value]):
        for number, bound in enumerate(level):
            try:
                _to_exact_number(bound)
            except SpecError:
                raise SpecError((index, number) if nested else (number,), bound) from None
        found.append(tuple(_to_exact_number(bound) for bound in level))
    return tuple(found) if value else ()


def _to_date(value: object) -> object:
    """Return a date, given as a TOML date or as a text."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise SpecError((), value) from None
    if not isinstance(value, date) or isinstance(value, datetime):
        raise SpecError((), value)
    return value


def _to_formats(value: object) -> object:
    """Return a date pattern, or a tuple of them."""
    for index, text in enumerate(value if isinstance(value, list | tuple) else ()):
        if not isinstance(text, str):
            raise SpecError((index,), text)
    return tuple(value) if isinstance(value, list | tuple) else value


ExactNumber = Annotated[Decimal, BeforeValidator(_to_exact_number)]
EndValue = Annotated[Decimal | Literal["data"], BeforeValidator(_to_end)]
BreakLevels = Annotated[tuple[tuple[Decimal, ...], ...], BeforeValidator(_to_break_levels)]
DateFormats = Annotated[str | tuple[str, ...] | None, BeforeValidator(_to_formats)]
WholeNumbers = Annotated[int | tuple[int, ...], BeforeValidator(_to_whole_numbers)]
ExactNumbers = Annotated[tuple[ExactNumber, ...], BeforeValidator(list_to_tuple)]
GroupSizes = Annotated[tuple[int, ...], BeforeValidator(list_to_tuple)]
DateValue = Annotated[date, BeforeValidator(_to_date)]


class KindTable(StrictTable):
    """Table of a hierarchy; ``kind`` selects the class."""

    builder: ClassVar[Callable[..., HierarchySource]]
    kind: str

    def arguments(self) -> dict[str, Any]:
        """Return the builder's arguments: the keys that have a value."""
        return {name: value for name, value in self if name != "kind" and value is not None}

    def source(self) -> HierarchySource:
        """Return the hierarchy source, with paths as written in the spec."""
        return type(self).builder(**self.arguments())


def _builder_table(builder: type, base: type[StrictTable] = KindTable, **kinds: Any) -> type[KindTable]:
    """Return the table of the keys that a builder declares; ``kinds`` are types as of ``make_section``."""
    table = make_section(f"{builder.__name__}Table", builder, base, **kinds)
    assert issubclass(table, KindTable)
    table.builder = builder
    return table


class _LevelsTable(KindTable):
    """Table of a hierarchy given as rows, or as leaves with their levels."""

    rows: list[TextList] | None = toml_key(
        "A row for each leaf, followed by its levels.",
        '[["Bonn", "West", "*"], ["Jena", "East", "*"]]',
        'a list of rows, leaf first, such as [["Male", "*"], ["Female", "*"]]',
    )
    leaves: dict[str, TextList] | None = toml_key(
        "The levels of each leaf.",
        '{Bonn = ["West", "*"], Jena = ["East", "*"]}',
        'a table from each leaf to its levels, such as {Male = ["*"], Female = ["*"]}',
    )

    def source(self) -> HierarchySource:
        """Return the levels."""
        if (self.rows is None) == (self.leaves is None):
            raise InputError("levels with neither or both of rows and leaves", allowed="one of rows, leaves")
        return LevelsHierarchy.of(self.rows if self.rows is not None else self.leaves or {})


class _IntervalsBase(KindTable):
    """Table of intervals, whose ``width`` is one of ``widths``."""

    key_synonyms: ClassVar[Mapping[str, str]] = {"top": "upper", "bottom": "lower", "bounds": "breaks"}
    width: ExactNumber | None = toml_key("The width of the intervals of one level.", "10", "a number above 0")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``IntervalHierarchy``."""
        values = super().arguments()
        width = values.pop("width", None)
        if width is None:
            return values
        if values["widths"]:
            raise InputError("both width and widths", allowed="one of width, widths")
        return values | {"widths": (width,)}


_INTERVAL_KINDS = {
    "widths": ExactNumbers,
    "breaks": BreakLevels,
    "anchor": ExactNumber,
    "lower": EndValue | None,
    "upper": EndValue | None,
}
_IntervalsTable = _builder_table(IntervalHierarchy, _IntervalsBase, **_INTERVAL_KINDS)
_DateOfBirthTable = make_section(
    "DateOfBirthTable", AgeHierarchy, _IntervalsTable, reference=DateValue, format=DateFormats
)


class _AgeTable(_DateOfBirthTable):  # type: ignore[misc, valid-type]  # made from the declared keys
    """Table of the age at a reference date, and intervals of ages."""

    def source(self) -> HierarchySource:
        """Return the ages."""
        values = self.arguments()
        own = {name: values.pop(name) for name in ("reference", "format", "others") if name in values}
        set_keys = self.model_fields_set & {"width", *_INTERVAL_KINDS}
        return AgeHierarchy(**own, intervals=IntervalHierarchy(**values) if set_keys else None)


class _TaxonomyTable(KindTable):
    """Table of nested groups."""

    tree: Any = toml_key(
        "Groups, and groups or leaves within them.",
        '{Gov = ["Federal", "Local"], Private = ["Private"]}',
        'nested tables and lists, such as {Gov = ["Federal", "Local"]}',
        default=...,
    )

    def source(self) -> HierarchySource:
        """Return the taxonomy."""
        return TaxonomyHierarchy.of(self.tree)


HIERARCHY_TABLES: Mapping[str, type[KindTable]] = {
    "file": _builder_table(FileHierarchy, path=str),
    "levels": _LevelsTable,
    "intervals": _IntervalsTable,
    "mask": _builder_table(MaskHierarchy, steps=WholeNumbers | None),
    "dates": _builder_table(DateHierarchy, levels=(TextList | None, None), format=DateFormats),
    "age": _AgeTable,
    "builtin": _builder_table(BuiltinHierarchy),
    "taxonomy": _TaxonomyTable,
    "order": _builder_table(OrderHierarchy, sizes=GroupSizes, fanout=WholeNumbers | None),
    "auto": _builder_table(AutoHierarchy),
}
