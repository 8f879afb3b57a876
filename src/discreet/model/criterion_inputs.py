"""Inputs of the criteria: sensitive attributes, statistics of classes, and class sizes of releases.

Searches read sensitive attributes as arrays; audits read relations of the same in SQL (``ReferenceTable``).
The reference distribution is that of the whole table after the NULL policy, whatever rows are suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.hierarchy import GeneralizationHierarchy, parse_decimal

_EXACT = Context(prec=1400)


@dataclass(frozen=True, eq=False)
class SensitiveAttribute:
    """A sensitive attribute in a table; codes count from 0 and NULL has none.

    ``values`` holds the text of each code and ``rows`` the table's rows that have it. ``ranks`` are the
    places of the codes in the attribute's order: numbers by value, else in the publisher's order of its
    hierarchy's leaves, else by text. ``numbers`` holds each code's number, None where a value is none.
    ``levels`` has shape ``(height + 1, codes)``: the group of each code at each level of its hierarchy, None
    without one.
    """

    values: tuple[str, ...]
    rows: NDArray[np.int64]
    ranks: NDArray[np.int64]
    numbers: NDArray[np.float64] | None = None
    levels: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        values: Sequence[str],
        rows: NDArray[np.int64],
        hierarchy: GeneralizationHierarchy | None = None,
    ) -> SensitiveAttribute:
        """From distinct texts, their rows, and a hierarchy with a leaf for each of them.

        Values of one number (``1`` and ``1.0``) are two values, and follow each other by their text.
        """
        decimals = [parse_decimal(value) for value in values]
        numeric = bool(values) and None not in decimals
        levels = None
        keys: Sequence[Any] = values
        if hierarchy is not None:
            leaves = np.array([hierarchy.code_of_leaf[value] for value in values], dtype=np.int64)
            levels = np.array([ancestors[leaves] for ancestors in hierarchy.ancestors], dtype=np.int64)
            ranks = hierarchy.leaf_ranks
            keys = (leaves if ranks is None else ranks[leaves]).tolist()
        if numeric:
            keys = list(zip(decimals, values, strict=True))
        ranks = np.empty(len(values), dtype=np.int64)
        ranks[sorted(range(len(values)), key=keys.__getitem__)] = np.arange(len(values))
        numbers = np.array(decimals, dtype=np.float64) if numeric else None
        return cls(tuple(values), rows, ranks, numbers, levels)

    @cached_property
    def millionths(self) -> NDArray[np.int64] | None:
        """Each code's number above the smallest one, in millionths, rounded to the nearest; None without.

        It is exact for numbers of six decimals. What is more than four billions above counts as so much.
        """
        if self.numbers is None:
            return None
        exact = [parse_decimal(value) or Decimal(0) for value in self.values]
        least = min(exact)
        above = (_EXACT.subtract(number, least).scaleb(6, _EXACT) for number in exact)
        whole = [int(_EXACT.to_integral_value(number)) for number in above]
        return np.array([min(number, 2**52) for number in whole], dtype=np.int64)

    @property
    def ordered(self) -> bool:
        """Whether its order means something: its values are numbers, or a hierarchy puts them in order."""
        return self.numbers is not None or self.levels is not None


@dataclass(frozen=True, eq=False)
class ClassValues:
    """One sensitive attribute in every class; NULL is no value.

    ``distinct`` holds each class's number of distinct values, shape ``(classes,)``; where subjects count,
    those that as many different subjects carry. The rest is there where a criterion needs rows by value
    (``Need.COUNTS``): of the pairs of class and value that occur, in ascending order, ``owners`` are the
    classes, ``codes`` the values and ``counts`` the rows; ``of`` is the attribute in the whole table.
    """

    distinct: NDArray[np.int64]
    owners: NDArray[np.int64] | None = None
    codes: NDArray[np.int64] | None = None
    counts: NDArray[np.int64] | None = None
    of: SensitiveAttribute | None = None


@dataclass(frozen=True, eq=False)
class ClassPopulation:
    """The population's people who match each class, shape ``(classes,)``, its own rows among them.

    ``absent`` are those who match no class at all; people of a class without rows are among them.
    """

    people: NDArray[np.int64]
    absent: int


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """The classes of one table: ``sizes``, shape ``(classes,)``, are what k counts, rows or subjects.

    ``values`` has one entry per sensitive attribute of the table, None for those that nobody asked of.
    ``population`` is None where the table has none, and where classes are no classes of a node, so that
    nobody can tell who else matches them. ``cells``, shape ``(classes, quasi-identifiers)``, is what classes
    of a node show, as numbers of which equal ones mean equal cells; None where nobody tells it.
    """

    sizes: NDArray[np.int64]
    values: tuple[ClassValues | None, ...] = ()
    population: ClassPopulation | None = None
    cells: NDArray[np.int64] | None = None

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)


SizeArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SizeTails:
    """The class sizes of one release or of many, one release behind the other.

    Each entry is a size that occurs in a release, ``sizes`` ascending within it, and ``classes`` how many
    classes have it; ``starts`` are the places where releases begin (shape ``(releases,)``, one may be empty),
    all else has shape ``(entries,)``. An entry's *tail* is what is left of its release where all smaller
    classes are suppressed: the entry and those behind it. Numbers below are of tails, an entry each.
    """

    sizes: SizeArray
    classes: SizeArray
    starts: SizeArray

    @classmethod
    def of_classes(cls, sizes: SizeArray) -> SizeTails:
        """One release, by the size of each of its classes."""
        found, classes = np.unique(sizes, return_counts=True)
        return cls(found.astype(np.int64), classes.astype(np.int64), np.zeros(1, np.int64))

    @cached_property
    def ends(self) -> SizeArray:
        """The place behind the last entry of each release."""
        return np.append(self.starts[1:], len(self.sizes))

    @cached_property
    def total_rows(self) -> SizeArray:
        """The rows."""
        return self.sums(self.sizes * self.classes)

    @cached_property
    def total_classes(self) -> SizeArray:
        """The classes."""
        return self.sums(self.classes)

    @cached_property
    def total_squares(self) -> SizeArray:
        """The squared sizes of the classes."""
        return self.sums(self.sizes**2 * self.classes)

    def sums(self, values: SizeArray) -> SizeArray:
        """A number of each entry, added up over tails."""
        totals = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(values, out=totals[1:])
        behind = np.repeat(totals[self.ends], self.ends - self.starts)
        return behind - totals[:-1]

    def first(self, holds: NDArray[np.bool_]) -> SizeArray:
        """The place of the first tail of each release that ``holds``, -1 where none does."""
        places = np.append(np.flatnonzero(holds), len(self.sizes))
        found = places[np.searchsorted(places[:-1], self.starts)]
        return np.where(found < self.ends, found, -1)


class AttributeFeature(StrEnum):
    """What an attribute must have: an order that means something, numbers, or a hierarchy."""

    ORDER = "order"
    NUMBERS = "numbers"
    HIERARCHY = "hierarchy"


@dataclass(frozen=True)
class ReferenceTable:
    """The names of two relations, for the SQL of an audit.

    ``values`` has a line for each value: ``value``, ``held`` (the table's rows), ``place`` (from 0, in the
    attribute's order), ``number`` (a double) and ``millionths`` (of the number, above the smallest one), both
    0 where the values are no numbers. ``parts`` has a line for each value and level below the top:
    ``value``, ``level``, ``part``; it has none where there is no hierarchy, and ``height`` is None.
    """

    values: str
    parts: str
    height: int | None


FEATURE_NAMES = {
    AttributeFeature.ORDER: "an order",
    AttributeFeature.NUMBERS: "numbers",
    AttributeFeature.HIERARCHY: "a hierarchy",
}
"""What an attribute must have, in words."""

_ALLOWED_ATTRIBUTES = {
    AttributeFeature.ORDER: "numbers, or values that a hierarchy puts in order",
    AttributeFeature.NUMBERS: "an attribute whose every value is a number",
    AttributeFeature.HIERARCHY: "an attribute with a hierarchy in the spec",
}


def has_feature(asks: AttributeFeature | None, of: SensitiveAttribute) -> bool:
    """Whether an attribute has what is asked; of no value at all everything is true."""
    has = {
        None: True,
        AttributeFeature.ORDER: of.ordered,
        AttributeFeature.NUMBERS: of.numbers is not None,
        AttributeFeature.HIERARCHY: of.levels is not None,
    }
    return has[asks] or not of.values


def require_feature(label: str, asks: AttributeFeature | None, name: str, of: SensitiveAttribute) -> None:
    """Raise ``InputError`` where a criterion asks for what its attribute does not have; ``label`` is its."""
    if asks is None or has_feature(asks, of):
        return
    what, allowed = FEATURE_NAMES[asks], _ALLOWED_ATTRIBUTES[asks]
    advice = "Ask without it, or read what is no number as NULL by null_values in [source]."
    if asks is not AttributeFeature.NUMBERS:
        advice = f'Give it one: hierarchy = … in [attributes.{name}], beside role = "sensitive".'
    raise InputError(f"{label} needs {what}, which '{name}' does not have", allowed=allowed, advice=advice)
