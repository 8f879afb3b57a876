"""Inputs of the criteria: sensitive attributes, statistics of classes, and class sizes of releases.

Searches read sensitive attributes as arrays; audits read the same data as SQL relations (``ReferenceTable``).
The reference distribution is that of the whole table after the NULL policy, including rows suppressed later.
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
    """A sensitive attribute of a table; codes count from 0 and NULL has none.

    ``values`` contains the text of each code and ``rows`` the table's rows that have it. ``ranks`` are the
    positions of the codes in the attribute's order: numbers by value, else in the publisher's order of its
    hierarchy's leaves, else by text. ``numbers`` contains each code's number; it is None if a value is not a
    number. ``levels`` has shape ``(height + 1, codes)``: the group of each code at each level of its
    hierarchy; None without a hierarchy.
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
        """Build from distinct texts, their rows, and a hierarchy with a leaf for each of them.

        Values of one number (``1`` and ``1.0``) are two values, ordered by their text.
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
        """Difference of each code's number from the smallest, in rounded millionths; None without numbers.

        It is exact for numbers of six decimals. Differences above 2**52 millionths (4.5 billion) are capped.
        """
        if self.numbers is None:
            return None
        exact = [parse_decimal(value) or Decimal(0) for value in self.values]
        least = min(exact)
        above = (_EXACT.subtract(number, least).scaleb(6, _EXACT) for number in exact)
        rounded = [int(_EXACT.to_integral_value(number)) for number in above]
        return np.array([min(number, 2**52) for number in rounded], dtype=np.int64)

    @property
    def ordered(self) -> bool:
        """True if it has an order: its values are numbers, or a hierarchy orders them."""
        return self.numbers is not None or self.levels is not None


@dataclass(frozen=True, eq=False)
class ClassValues:
    """One sensitive attribute in every class; NULL is not a value.

    ``distinct`` contains each class's number of distinct values, shape ``(classes,)``; if subjects count, the
    number of values that as many different subjects carry. The other fields are set if a criterion needs rows
    by value (``Need.COUNTS``): for the pairs of class and value that occur, in ascending order, ``owners``
    are the classes, ``codes`` the values and ``counts`` the rows; ``of`` is the attribute in the whole table.
    """

    distinct: NDArray[np.int64]
    owners: NDArray[np.int64] | None = None
    codes: NDArray[np.int64] | None = None
    counts: NDArray[np.int64] | None = None
    of: SensitiveAttribute | None = None


@dataclass(frozen=True, eq=False)
class ClassPopulation:
    """Number of people in the population matching each class, shape ``(classes,)``, including the table's.

    ``absent`` is the number of people matching no class; it includes those of a class without rows.
    """

    people: NDArray[np.int64]
    absent: int


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """Statistics of the classes of one table: ``sizes``, shape ``(classes,)``, are k's counts.

    Counts are of rows or subjects. ``values`` has one entry per sensitive attribute of the table, None for
    those that no criterion reads. ``population`` is None if the table has none, and if the classes are not
    those of a node, because the people matching them are then unknown. ``cells``, shape ``(classes,
    quasi-identifiers)``, contains the cells of a node's classes as numbers, equal for equal cells; None if
    they are unknown.
    """

    sizes: NDArray[np.int64]
    values: tuple[ClassValues | None, ...] = ()
    population: ClassPopulation | None = None
    cells: NDArray[np.int64] | None = None

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)


SizeArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SizeTails:
    """The class sizes of one or several releases, concatenated.

    Each entry is a size that occurs in a release, ``sizes`` ascending within it, and ``classes`` the number
    of classes of that size; ``starts`` are the indices at which releases begin (shape ``(releases,)``, one
    may be empty), all other arrays have shape ``(entries,)``. An entry's *tail* is the remainder of its
    release if all smaller classes are suppressed: the entry and those after it. The properties below are of
    tails, one per entry.
    """

    sizes: SizeArray
    classes: SizeArray
    starts: SizeArray

    @classmethod
    def of_classes(cls, sizes: SizeArray) -> SizeTails:
        """Build from one release, given the size of each of its classes."""
        found, classes = np.unique(sizes, return_counts=True)
        return cls(found.astype(np.int64), classes.astype(np.int64), np.zeros(1, np.int64))

    @cached_property
    def ends(self) -> SizeArray:
        """Index after the last entry of each release."""
        return np.append(self.starts[1:], len(self.sizes))

    @cached_property
    def total_rows(self) -> SizeArray:
        """Rows of each tail."""
        return self.sums(self.sizes * self.classes)

    @cached_property
    def total_classes(self) -> SizeArray:
        """Classes of each tail."""
        return self.sums(self.classes)

    @cached_property
    def total_squares(self) -> SizeArray:
        """Sum of the squared class sizes of each tail."""
        return self.sums(self.sizes**2 * self.classes)

    def sums(self, values: SizeArray) -> SizeArray:
        """Sum a number of each entry over tails."""
        totals = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(values, out=totals[1:])
        behind = np.repeat(totals[self.ends], self.ends - self.starts)
        return behind - totals[:-1]

    def first(self, holds: NDArray[np.bool_]) -> SizeArray:
        """Return the index of each release's first tail for which ``holds`` is true, or -1."""
        places = np.append(np.flatnonzero(holds), len(self.sizes))
        found = places[np.searchsorted(places[:-1], self.starts)]
        return np.where(found < self.ends, found, -1)


class AttributeFeature(StrEnum):
    """Feature that a criterion requires of an attribute: an order, numbers, or a hierarchy."""

    ORDER = "order"
    NUMBERS = "numbers"
    HIERARCHY = "hierarchy"


@dataclass(frozen=True)
class ReferenceTable:
    """Names of two relations, for the SQL of an audit.

    ``values`` has a line for each value: ``value``, ``held`` (the table's rows), ``place`` (from 0, in the
    attribute's order), ``number`` (a double) and ``millionths`` (of the number, above the smallest one), both
    0 if the values are not numbers. ``parts`` has a line for each value and level below the top: ``value``,
    ``level``, ``part``; without a hierarchy it has no lines, and ``height`` is None.
    """

    values: str
    parts: str
    height: int | None


FEATURE_NAMES = {
    AttributeFeature.ORDER: "an order",
    AttributeFeature.NUMBERS: "numbers",
    AttributeFeature.HIERARCHY: "a hierarchy",
}
"""Names of the features, for messages."""

_ALLOWED_ATTRIBUTES = {
    AttributeFeature.ORDER: "numbers, or values that a hierarchy puts in order",
    AttributeFeature.NUMBERS: "an attribute whose every value is a number",
    AttributeFeature.HIERARCHY: "an attribute with a hierarchy in the spec",
}


def has_feature(feature: AttributeFeature | None, of: SensitiveAttribute) -> bool:
    """Return whether an attribute has a feature; an attribute without values has every feature."""
    has = {
        None: True,
        AttributeFeature.ORDER: of.ordered,
        AttributeFeature.NUMBERS: of.numbers is not None,
        AttributeFeature.HIERARCHY: of.levels is not None,
    }
    return has[feature] or not of.values


def require_feature(label: str, feature: AttributeFeature | None, name: str, of: SensitiveAttribute) -> None:
    """Raise ``InputError`` if an attribute lacks a feature that the criterion ``label`` requires."""
    if feature is None or has_feature(feature, of):
        return
    what, allowed = FEATURE_NAMES[feature], _ALLOWED_ATTRIBUTES[feature]
    advice = "Omit it, or list texts that are not numbers in null_values in [source]."
    if feature is not AttributeFeature.NUMBERS:
        advice = f'Give it one: hierarchy = … in [attributes.{name}], with role = "sensitive".'
    raise InputError(f"{label} needs {what}, which '{name}' does not have", allowed=allowed, advice=advice)
