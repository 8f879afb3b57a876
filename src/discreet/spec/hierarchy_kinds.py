"""The tables that a hierarchy may be in a spec, one for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from discreet.errors import InputError, InternalError
from discreet.hierarchy.ages import AgeHierarchy
from discreet.hierarchy.auto import AutoHierarchy
from discreet.hierarchy.builtin.hierarchy import BUILTINS, BuiltinHierarchy
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.hierarchy.dates import GRANULARITIES, DateHierarchy
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.hierarchy.levels import LevelsHierarchy
from discreet.hierarchy.mask import MaskHierarchy
from discreet.hierarchy.order import OrderHierarchy
from discreet.hierarchy.taxonomy import TaxonomyHierarchy
from discreet.model.hierarchy import HierarchySource
from discreet.spec.document import Texts
from discreet.spec.problems import (
    StrictTable,
)
from discreet.spec.value_types import Breaks, Day, End, Formats, Number, Numbers, Sizes, WholeNumbers

_FORMAT = 'a pattern such as "%d.%m.%Y", or a list of them'
_OTHERS = 'a list of texts in quotes, such as ["unknown"]'


class KindTable(StrictTable):
    """A hierarchy's table; ``kind`` has chosen the class."""

    kind: str

    def source(self) -> HierarchySource:
        """The source that it describes, paths as they stand in the spec."""
        raise InternalError(f"hierarchies of kind '{self.kind}' have no source")


class FileTable(KindTable):
    """A CSV file."""

    path: str = Field(
        min_length=1,
        description="the path of a file in quotes",
        title="The file: a line for each leaf, its levels behind it.",
        examples=['"city.csv"'],
    )
    delimiter: str | None = Field(
        None,
        description='one character, such as ";" or ","',
        title="What parts the cells of a line; found out where left out.",
        examples=['"|"'],
    )
    encoding: str = Field(
        "utf-8",
        description="the name of an encoding, such as utf-8 or latin-1",
        title="How the file's bytes are letters.",
        examples=['"latin-1"'],
    )

    least_level: int = Field(
        0,
        ge=0,
        description="a whole number of at least 0",
        title="The least level of a release, unless min_level says another: below stands what is kept back.",
        examples=["1"],
    )

    def source(self) -> HierarchySource:
        """The file."""
        return FileHierarchy(Path(self.path), self.delimiter, self.encoding, self.least_level)


class LevelsTable(KindTable):
    """Rows, or leaves with their levels."""

    rows: list[Texts] | None = Field(
        None,
        description='a list of rows, leaf first, such as [["Male", "*"], ["Female", "*"]]',
        title="A row for each leaf, its levels behind it.",
        examples=['[["Bonn", "West", "*"], ["Jena", "East", "*"]]'],
    )
    leaves: dict[str, Texts] | None = Field(
        None,
        description='a table from each leaf to its levels, such as {Male = ["*"], Female = ["*"]}',
        title="The levels of each leaf.",
        examples=['{Bonn = ["West", "*"], Jena = ["East", "*"]}'],
    )

    def source(self) -> HierarchySource:
        """The levels."""
        if (self.rows is None) == (self.leaves is None):
            raise InputError("levels with neither or both of rows and leaves", allowed="one of rows, leaves")
        return LevelsHierarchy.of(self.rows if self.rows is not None else self.leaves or {})


class CutsTable(KindTable):
    """Where numbers are cut into intervals."""

    other_words: ClassVar[Mapping[str, str]] = {"top": "upper", "bottom": "lower", "bounds": "breaks"}
    width: Number | None = Field(
        None,
        description="a number above 0",
        title="The width of the intervals of one level.",
        examples=["10"],
    )
    widths: Numbers = Field(
        default_factory=list,
        description="a list of numbers, each a multiple of the one before",
        title="The widths of the intervals, level by level.",
        examples=["[5, 10, 20]"],
    )
    breaks: Breaks = Field(
        (),
        description="a list of numbers that rise, or a list of such lists, each of numbers of the one before",
        title="Where numbers are cut, each bound the start of an interval; level by level too.",
        examples=["[18, 25, 35, 50, 65]"],
    )
    anchor: Number = Field(
        Decimal(0),
        description="a number at which an interval starts",
        title="A number at which an interval starts.",
        examples=["0"],
    )
    lower: End | None = Field(
        None,
        description='a number, or "data"',
        title="Below this, numbers are one interval: bottom coding.",
        examples=["20"],
    )
    upper: End | None = Field(
        None,
        description='a number, or "data"',
        title="From this on, numbers are one interval: top coding.",
        examples=["90"],
    )
    others: Texts = Field(
        default_factory=list,
        description=_OTHERS,
        title="Values that are no numbers, and are taken as they are.",
        examples=['["unknown"]'],
    )

    def intervals(self, others: tuple[str, ...] = ()) -> IntervalHierarchy:
        """The intervals."""
        if self.width is not None and self.widths:
            raise InputError("both width and widths", allowed="one of width, widths")
        widths = (self.width,) if self.width is not None else tuple(self.widths)
        return IntervalHierarchy(widths, self.anchor, self.lower, self.upper, self.breaks, others)


class IntervalsTable(CutsTable):
    """Intervals of numbers."""

    def source(self) -> HierarchySource:
        """The intervals."""
        return self.intervals(tuple(self.others))


class MaskTable(KindTable):
    """Masked characters."""

    side: Literal["right", "left"] = Field(
        "right",
        alias="from",
        description="right, left",
        title="Which end is masked first.",
        examples=['"left"'],
    )
    character: str = Field(
        "*",
        description="one character",
        title="What stands for a masked character.",
        examples=['"#"'],
    )
    steps: WholeNumbers | None = Field(
        None,
        description="a whole number of at least 1 (characters per level), or a list of them by level",
        title="How many characters more each level masks.",
        examples=["[1, 2, 2]"],
    )
    pad: bool = Field(
        False,
        description="true, false",
        title="Whether shorter values are filled up, so that all are equally long.",
        examples=["true"],
    )
    length: int | None = Field(
        None,
        ge=1,
        description="a whole number of at least 1",
        title="The length up to which values are filled up.",
        examples=["5"],
    )

    def source(self) -> HierarchySource:
        """The mask."""
        return MaskHierarchy(self.side, self.character, self.steps, self.pad, self.length)


class DatesTable(KindTable):
    """Periods of the calendar."""

    levels: Texts | None = Field(
        None,
        description=f"a list of granularities from fine to coarse: {', '.join(GRANULARITIES)}",
        title="The periods, from fine to coarse.",
        examples=['["month", "year", "decade"]'],
    )
    format: Formats = Field(
        None,
        description=_FORMAT,
        title="How the dates are written, where not as in 2026-11-23.",
        examples=['["%d.%m.%Y", "%Y-%m-%d"]'],
    )
    others: Texts = Field(
        default_factory=list,
        description=_OTHERS,
        title="Values that are no dates, and are taken as they are.",
        examples=['["unknown"]'],
    )

    def source(self) -> HierarchySource:
        """The dates."""
        levels = DateHierarchy().levels if self.levels is None else tuple(self.levels)
        return DateHierarchy(levels, self.format, tuple(self.others))


class AgeTable(CutsTable):
    """The age of a date of birth, and intervals of ages."""

    reference: Day = Field(
        description='the date on which the age is counted, such as "2026-11-23"',
        title="The day on which the age is counted.",
        examples=['"2026-11-23"'],
    )
    format: Formats = Field(
        None,
        description=_FORMAT,
        title="How the dates of birth are written, where not as in 1980-02-29.",
        examples=['"%d.%m.%Y"'],
    )

    def source(self) -> HierarchySource:
        """The age."""
        asked = self.model_fields_set & (CutsTable.model_fields.keys() - {"kind", "others"})
        intervals = self.intervals() if asked else None
        return AgeHierarchy(self.reference, intervals, self.format, tuple(self.others))


class BuiltinTable(KindTable):
    """An everyday hierarchy of this package."""

    name: str = Field(
        description=", ".join(BUILTINS),
        title="Which of the built-in hierarchies; `discreet hierarchies` lists them.",
        examples=['"icd10"'],
    )
    levels: Texts | None = Field(
        None,
        description="a list of the hierarchy's levels, from fine to coarse",
        title="The levels to keep of it.",
        examples=['["chapter"]'],
    )
    others: Texts = Field(
        default_factory=list,
        description=_OTHERS,
        title="Values that it does not know, and are taken as they are.",
        examples=['["unknown"]'],
    )

    def source(self) -> HierarchySource:
        """The everyday hierarchy."""
        levels = None if self.levels is None else tuple(self.levels)
        return BuiltinHierarchy(self.name, levels, tuple(self.others))


class TaxonomyTable(KindTable):
    """Nested names."""

    tree: Any = Field(
        description='nested tables and lists, such as {Gov = ["Federal", "Local"]}',
        title="Groups, and groups or leaves within them.",
        examples=['{Gov = ["Federal", "Local"], Private = ["Private"]}'],
    )

    def source(self) -> HierarchySource:
        """The taxonomy."""
        return TaxonomyHierarchy.of(self.tree)


class OrderTable(KindTable):
    """Groups of neighbours."""

    values: Texts = Field(
        default_factory=list,
        description='a list of texts, such as ["low", "high"]',
        title="The values in their order; found out where left out.",
        examples=['["low", "middle", "high"]'],
    )
    sizes: Sizes = Field(
        default_factory=list,
        description="a list of whole numbers, each a multiple of the one before",
        title="How many neighbours make a group, level by level.",
        examples=["[2, 4]"],
    )
    fanout: WholeNumbers | None = Field(
        None,
        description="a whole number of at least 2, or a list of them by level",
        title="How many groups of a level make one of the next.",
        examples=["2"],
    )
    label: Literal["range", "set"] = Field(
        "range",
        description="range, set",
        title="What a group shows: its first and last value, or all.",
        examples=['"set"'],
    )
    others: Texts = Field(
        default_factory=list,
        description=_OTHERS,
        title="Values that have no place in the order, and are taken as they are.",
        examples=['["prefer not to say"]'],
    )

    def source(self) -> HierarchySource:
        """The order."""
        others = tuple(self.others)
        return OrderHierarchy(tuple(self.values), tuple(self.sizes), self.fanout, self.label, others)


class AutoTable(KindTable):
    """An automatic hierarchy."""

    by: Literal["order", "frequency"] = Field(
        "order",
        description="order, frequency",
        title="What makes groups: the values' order, or how frequent they are.",
        examples=['"frequency"'],
    )

    def source(self) -> HierarchySource:
        """The automatic hierarchy."""
        return AutoHierarchy(self.by)


KINDS: Mapping[str, type[KindTable]] = {
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
