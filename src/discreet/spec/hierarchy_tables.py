"""Inline tables of hierarchies in a spec, one model per kind, and the types of their values.

Loaded only when a spec has a hierarchy by kind: it imports every builder of the ``hierarchy`` room.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from discreet.errors import InputError, InternalError
from discreet.hierarchy.ages import AgeHierarchy
from discreet.hierarchy.automatic import AutoHierarchy
from discreet.hierarchy.builtin.builder import BUILTINS, BuiltinHierarchy
from discreet.hierarchy.cell_values import to_decimal
from discreet.hierarchy.character_mask import MaskHierarchy
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.hierarchy.dates import GRANULARITIES, DateHierarchy
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.hierarchy.level_table import LevelsHierarchy
from discreet.hierarchy.nested_groups import TaxonomyHierarchy
from discreet.hierarchy.ordered_values import OrderHierarchy
from discreet.model.hierarchy import HierarchySource
from discreet.spec.spec_sections import TextList
from discreet.spec.validation import SpecError, StrictTable


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


def _to_list(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


ExactNumber = Annotated[Decimal, BeforeValidator(_to_exact_number)]
EndValue = Annotated[Decimal | Literal["data"], BeforeValidator(_to_end)]
BreakLevels = Annotated[tuple[tuple[Decimal, ...], ...], BeforeValidator(_to_break_levels)]
DateFormats = Annotated[str | tuple[str, ...] | None, BeforeValidator(_to_formats)]
WholeNumbers = Annotated[int | tuple[int, ...], BeforeValidator(_to_whole_numbers)]
ExactNumbers = Annotated[list[ExactNumber], BeforeValidator(_to_list)]
GroupSizes = Annotated[list[int], BeforeValidator(_to_list)]
DateValue = Annotated[date, BeforeValidator(_to_date)]


_FORMAT = 'a pattern such as "%d.%m.%Y", or a list of them'
_OTHERS = 'a list of texts in quotes, such as ["unknown"]'


class KindTable(StrictTable):
    """Table of a hierarchy; ``kind`` selects the class."""

    kind: str

    def source(self) -> HierarchySource:
        """Return the hierarchy source, with paths as written in the spec."""
        raise InternalError(f"hierarchies of kind '{self.kind}' have no source")


class FileTable(KindTable):
    """Table of a hierarchy in a CSV file."""

    path: str = Field(
        min_length=1,
        description="the path of a file in quotes",
        title="The file: a line for each leaf, followed by its levels.",
        examples=['"city.csv"'],
    )
    delimiter: str | None = Field(
        None,
        description='one character, such as ";" or ","',
        title="Delimiter of cells; detected if omitted.",
        examples=['"|"'],
    )
    encoding: str = Field(
        "utf-8",
        description="the name of an encoding, such as utf-8 or latin-1",
        title="Encoding of the file.",
        examples=['"latin-1"'],
    )

    least_level: int = Field(
        0,
        ge=0,
        description="a whole number of at least 0",
        title="The least level of a release, unless min_level is set: lower levels are withheld.",
        examples=["1"],
    )

    def source(self) -> HierarchySource:
        """Return the file."""
        return FileHierarchy(Path(self.path), self.delimiter, self.encoding, self.least_level)


class LevelsTable(KindTable):
    """Table of a hierarchy given as rows, or as leaves with their levels."""

    rows: list[TextList] | None = Field(
        None,
        description='a list of rows, leaf first, such as [["Male", "*"], ["Female", "*"]]',
        title="A row for each leaf, followed by its levels.",
        examples=['[["Bonn", "West", "*"], ["Jena", "East", "*"]]'],
    )
    leaves: dict[str, TextList] | None = Field(
        None,
        description='a table from each leaf to its levels, such as {Male = ["*"], Female = ["*"]}',
        title="The levels of each leaf.",
        examples=['{Bonn = ["West", "*"], Jena = ["East", "*"]}'],
    )

    def source(self) -> HierarchySource:
        """Return the levels."""
        if (self.rows is None) == (self.leaves is None):
            raise InputError("levels with neither or both of rows and leaves", allowed="one of rows, leaves")
        return LevelsHierarchy.of(self.rows if self.rows is not None else self.leaves or {})


class CutsTable(KindTable):
    """Bounds that cut numbers into intervals."""

    key_synonyms: ClassVar[Mapping[str, str]] = {"top": "upper", "bottom": "lower", "bounds": "breaks"}
    width: ExactNumber | None = Field(
        None,
        description="a number above 0",
        title="The width of the intervals of one level.",
        examples=["10"],
    )
    widths: ExactNumbers = Field(
        default_factory=list,
        description="a list of numbers, each a multiple of the one before",
        title="The widths of the intervals, level by level.",
        examples=["[5, 10, 20]"],
    )
    breaks: BreakLevels = Field(
        (),
        description="a list of ascending numbers, or a list of such lists, each of numbers of the one before",
        title="Bounds at which intervals start; optionally level by level.",
        examples=["[18, 25, 35, 50, 65]"],
    )
    anchor: ExactNumber = Field(
        Decimal(0),
        description="a number at which an interval starts",
        title="A number at which an interval starts.",
        examples=["0"],
    )
    lower: EndValue | None = Field(
        None,
        description='a number, or "data"',
        title="Below this, numbers are one interval: bottom coding.",
        examples=["20"],
    )
    upper: EndValue | None = Field(
        None,
        description='a number, or "data"',
        title="From this on, numbers are one interval: top coding.",
        examples=["90"],
    )
    others: TextList = Field(
        default_factory=list,
        description=_OTHERS,
        title="Values that are not numbers, and are kept unchanged.",
        examples=['["unknown"]'],
    )

    def intervals(self, others: tuple[str, ...] = ()) -> IntervalHierarchy:
        """Return the intervals."""
        if self.width is not None and self.widths:
            raise InputError("both width and widths", allowed="one of width, widths")
        widths = (self.width,) if self.width is not None else tuple(self.widths)
        return IntervalHierarchy(widths, self.anchor, self.lower, self.upper, self.breaks, others)


class IntervalsTable(CutsTable):
    """Table of intervals of numbers."""

    def source(self) -> HierarchySource:
        """Return the intervals."""
        return self.intervals(tuple(self.others))


class MaskTable(KindTable):
    """Table of masked characters."""

    side: Literal["right", "left"] = Field(
        "right",
        alias="from",
        description="right, left",
        title="The end that is masked first.",
        examples=['"left"'],
    )
    character: str = Field(
        "*",
        description="one character",
        title="Mask character.",
        examples=['"#"'],
    )
    steps: WholeNumbers | None = Field(
        None,
        description="a whole number of at least 1 (characters per level), or a list of them by level",
        title="Number of additional characters that each level masks.",
        examples=["[1, 2, 2]"],
    )
    pad: bool = Field(
        False,
        description="true, false",
        title="Whether shorter values are padded to equal length.",
        examples=["true"],
    )
    length: int | None = Field(
        None,
        ge=1,
        description="a whole number of at least 1",
        title="The length to which values are padded.",
        examples=["5"],
    )

    def source(self) -> HierarchySource:
        """Return the mask."""
        return MaskHierarchy(self.side, self.character, self.steps, self.pad, self.length)


class DatesTable(KindTable):
    """Table of calendar periods."""

    levels: TextList | None = Field(
        None,
        description=f"a list of granularities from fine to coarse: {', '.join(GRANULARITIES)}",
        title="The periods, from fine to coarse.",
        examples=['["month", "year", "decade"]'],
    )
    format: DateFormats = Field(
        None,
        description=_FORMAT,
        title="Formats of the dates, if not as in 2026-11-23.",
        examples=['["%d.%m.%Y", "%Y-%m-%d"]'],
    )
    others: TextList = Field(
        default_factory=list,
        description=_OTHERS,
        title="Values that are not dates, and are kept unchanged.",
        examples=['["unknown"]'],
    )

    def source(self) -> HierarchySource:
        """Return the dates."""
        levels = DateHierarchy().levels if self.levels is None else tuple(self.levels)
        return DateHierarchy(levels, self.format, tuple(self.others))


class AgeTable(CutsTable):
    """Table of the age at a reference date, and intervals of ages."""

    reference: DateValue = Field(
        description='the date on which the age is counted, such as "2026-11-23"',
        title="The day on which the age is counted.",
        examples=['"2026-11-23"'],
    )
    format: DateFormats = Field(
        None,
        description=_FORMAT,
        title="Formats of the dates of birth, if not as in 1980-02-29.",
        examples=['"%d.%m.%Y"'],
    )

    def source(self) -> HierarchySource:
        """Return the ages."""
        set_keys = self.model_fields_set & (CutsTable.model_fields.keys() - {"kind", "others"})
        intervals = self.intervals() if set_keys else None
        return AgeHierarchy(self.reference, intervals, self.format, tuple(self.others))


class BuiltinTable(KindTable):
    """Table of a built-in hierarchy."""

    name: str = Field(
        description=", ".join(BUILTINS),
        title="Name of the built-in hierarchy; `discreet list hierarchies` shows them.",
        examples=['"icd10"'],
    )
    levels: TextList | None = Field(
        None,
        description="a list of the hierarchy's levels, from fine to coarse",
        title="The levels to keep of it.",
        examples=['["chapter"]'],
    )
    others: TextList = Field(
        default_factory=list,
        description=_OTHERS,
        title="Unknown values, which are kept unchanged.",
        examples=['["unknown"]'],
    )

    def source(self) -> HierarchySource:
        """Return the built-in hierarchy."""
        levels = None if self.levels is None else tuple(self.levels)
        return BuiltinHierarchy(self.name, levels, tuple(self.others))


class TaxonomyTable(KindTable):
    """Table of nested groups."""

    tree: Any = Field(
        description='nested tables and lists, such as {Gov = ["Federal", "Local"]}',
        title="Groups, and groups or leaves within them.",
        examples=['{Gov = ["Federal", "Local"], Private = ["Private"]}'],
    )

    def source(self) -> HierarchySource:
        """Return the taxonomy."""
        return TaxonomyHierarchy.of(self.tree)


class OrderTable(KindTable):
    """Table of groups of neighbours."""

    values: TextList = Field(
        default_factory=list,
        description='a list of texts, such as ["low", "high"]',
        title="The values in their order; detected if omitted.",
        examples=['["low", "middle", "high"]'],
    )
    sizes: GroupSizes = Field(
        default_factory=list,
        description="a list of whole numbers, each a multiple of the one before",
        title="Number of neighbors in a group, level by level.",
        examples=["[2, 4]"],
    )
    fanout: WholeNumbers | None = Field(
        None,
        description="a whole number of at least 2, or a list of them by level",
        title="Number of groups of a level in a group of the next.",
        examples=["2"],
    )
    label: Literal["range", "set"] = Field(
        "range",
        description="range, set",
        title="Label of a group: its first and last value, or all.",
        examples=['"set"'],
    )
    others: TextList = Field(
        default_factory=list,
        description=_OTHERS,
        title="Values outside the order, which are kept unchanged.",
        examples=['["prefer not to say"]'],
    )

    def source(self) -> HierarchySource:
        """Return the order."""
        others = tuple(self.others)
        return OrderHierarchy(tuple(self.values), tuple(self.sizes), self.fanout, self.label, others)


class AutoTable(KindTable):
    """Table of an automatic hierarchy."""

    by: Literal["order", "frequency"] = Field(
        "order",
        description="order, frequency",
        title="Basis of groups: the values' order, or their frequency.",
        examples=['"frequency"'],
    )

    def source(self) -> HierarchySource:
        """Return the automatic hierarchy."""
        return AutoHierarchy(self.by)


HIERARCHY_TABLES: Mapping[str, type[KindTable]] = {
    "file": FileTable,
    "levels": LevelsTable,
    "intervals": IntervalsTable,
    "mask": MaskTable,
    "dates": DatesTable,
    "age": AgeTable,
    "builtin": BuiltinTable,
    "taxonomy": TaxonomyTable,
    "order": OrderTable,
    "auto": AutoTable,
}
