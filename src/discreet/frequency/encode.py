"""From groups of texts to groups of leaf codes: the hierarchies are built, the values encoded, once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, Given, HierarchySource
from discreet.model.sensitive_attribute import SensitiveAttribute
from discreet.model.starred_cells import is_star
from discreet.model.table_spec import Attribute, TableSpec

Locate = Callable[[str, str], str]
"""Says where a column first has a text: ``people.csv, line 17``."""


@dataclass(frozen=True, eq=False)
class EncodedGroups:
    """Groups of rows as numbers.

    ``codes[i]`` has one entry per group: the place of its value of ``attributes[i]`` in ``values[i]``, or
    ``len(values[i])`` for NULL. ``rows`` holds the rows of each group, ``subjects`` its subject (-1 for NULL)
    where one is named. Two groups may agree in everything but ``rows``.
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: tuple[NDArray[Any], ...]
    rows: NDArray[np.int64]
    subjects: NDArray[np.int64] | None = None

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.rows)

    def with_null_values(self, null_values: Sequence[str], number: int | None = None) -> EncodedGroups:
        """The same groups with some texts read as NULL, in the first ``number`` columns (None: in all)."""
        found = self
        for i in range(len(self.values) if number is None else number):
            found = found.with_nulls_at(i, null_values)
        return found

    def with_nulls_at(self, place: int, null_values: Sequence[str]) -> EncodedGroups:
        """The same groups with some texts of one column read as NULL."""
        values, codes = self.values[place], list(self.codes)
        found = [code for code, value in enumerate(values) if value in null_values] if null_values else []
        if not found:
            return self
        map_to = np.arange(len(values) + 1)
        map_to[found] = len(values)
        codes[place] = map_to[codes[place]]
        return replace(self, codes=tuple(codes))

    def rows_of_values(self, attribute: int) -> NDArray[np.int64]:
        """The rows of each value of an attribute, then of NULL, shape ``(values + 1,)``."""
        size = len(self.values[attribute]) + 1
        return np.bincount(self.codes[attribute], self.rows, minlength=size).astype(np.int64)

    def only(self, kept: NDArray[np.bool_]) -> EncodedGroups:
        """Some of the groups."""
        return replace(
            self,
            codes=tuple(codes[kept] for codes in self.codes),
            rows=self.rows[kept],
            subjects=None if self.subjects is None else self.subjects[kept],
        )


def rows_that_show_nothing(
    encoded: EncodedGroups, keys: int, null_values: Sequence[str]
) -> NDArray[np.bool_]:
    """Find the groups with stars or NULL in each of the first ``keys`` columns, and a star in one of them.

    ``encoded`` are groups whose ``null_values`` are not read as NULL yet: a star that is one is a star.
    """
    empty, starred = np.ones(encoded.groups, dtype=np.bool_), np.zeros(encoded.groups, dtype=np.bool_)
    for values, codes in zip(encoded.values[:keys], encoded.codes[:keys], strict=True):
        stars = np.array([*map(is_star, values), False], dtype=np.bool_)
        nothing = stars | np.array([*(value in null_values for value in values), True], dtype=np.bool_)
        empty &= nothing[codes]
        if not empty.any():
            break
        starred |= stars[codes]
    return empty & starred


def drop_null_rows(encoded: EncodedGroups) -> tuple[EncodedGroups, int]:
    """The groups without NULL in any attribute, and the number of rows that are left out."""
    kept = np.ones(encoded.groups, dtype=np.bool_)
    for values, codes in zip(encoded.values, encoded.codes, strict=True):
        kept &= codes < len(values)
    if kept.all():
        return encoded, 0
    return encoded.only(kept), int(encoded.rows[~kept].sum())


def encode_hierarchies(
    encoded: EncodedGroups, spec: TableSpec, locate: Locate
) -> tuple[tuple[GeneralizationHierarchy, ...], EncodedGroups]:
    """The quasi-identifiers' hierarchies, and the groups with leaf codes for them.

    A hierarchy is built from the values that occur in the groups. ``InputError`` for a value without a leaf
    names its first occurrence, by ``locate``.
    """
    hierarchies = []
    values, codes = list(encoded.values), list(encoded.codes)
    for i, attribute in enumerate(spec.quasi_identifiers):
        rows = encoded.rows_of_values(i)[:-1]
        found = np.flatnonzero(rows)
        occurring = list(map(values[i].__getitem__, found.tolist()))
        hierarchy, leaves = _build(attribute, occurring, rows[found].tolist(), locate)
        null_code = hierarchy.null_code
        map_to = np.full(len(rows) + 1, null_code, dtype=np.min_scalar_type(null_code))
        map_to[found] = leaves
        hierarchies.append(hierarchy)
        codes[i] = map_to[codes[i]]
        values[i] = hierarchy.leaves
    return tuple(hierarchies), replace(encoded, values=tuple(values), codes=tuple(codes))


def encode_sensitive(
    encoded: EncodedGroups, spec: TableSpec, names: Sequence[str], locate: Locate
) -> tuple[tuple[SensitiveAttribute, ...], EncodedGroups]:
    """What is known of some sensitive attributes, and the groups with codes of theirs.

    Codes count the values that occur, in the order of their texts. ``InputError`` for a value without a leaf
    in the attribute's hierarchy, where the spec gives one.
    """
    found = []
    values, codes = list(encoded.values), list(encoded.codes)
    for attribute in spec.sensitive:
        if attribute.name not in names:
            continue
        place = encoded.attributes.index(attribute.name)
        rows = encoded.rows_of_values(place)
        in_order = sorted(np.flatnonzero(rows[:-1]).tolist(), key=values[place].__getitem__)
        texts = tuple(values[place][code] for code in in_order)
        known = rows[in_order] if in_order else rows[:0]
        hierarchy = None
        if attribute.hierarchy is not None:
            hierarchy, _ = _build(attribute, texts, known.tolist(), locate)
        found.append(SensitiveAttribute.of(texts, known, hierarchy))
        map_to = np.full(len(rows), len(texts), dtype=np.min_scalar_type(len(texts)))
        map_to[in_order] = np.arange(len(texts))
        codes[place], values[place] = map_to[codes[place]], texts
    return tuple(found), replace(encoded, values=tuple(values), codes=tuple(codes))


@dataclass(frozen=True)
class _Flat:
    """Value → ``*``, for a quasi-identifier whose spec gives no hierarchy."""

    origin: str = f"value → {TOP}"
    from_data: bool = False
    given: Given = Given.LEVELS

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        del counts
        leaves = tuple(sorted(values))
        ancestors = (np.arange(len(leaves)), np.zeros(len(leaves), dtype=np.int64))
        return GeneralizationHierarchy(attribute, (leaves, (TOP,)), ancestors, self.origin)


def _build(
    attribute: Attribute, values: Sequence[str], counts: Sequence[int], locate: Locate
) -> tuple[GeneralizationHierarchy, list[int]]:
    """The hierarchy that covers values of so many rows each, and the code of each."""
    source = attribute.hierarchy or _Flat()
    try:
        hierarchy = source.build(attribute.name, values, counts)
    except InputError as error:
        culprit = _first_refused(source, attribute.name, sorted(values))
        if culprit is None:
            raise
        raise InputError(
            f"{locate(attribute.name, culprit)}, column '{attribute.name}': "
            + error.message.removeprefix(f"attribute '{attribute.name}': "),
            allowed=error.allowed,
            advice=error.advice,
        ) from None
    codes = [hierarchy.code_of_leaf.get(value, -1) for value in values]
    if -1 in codes:
        missing = sorted(value for value in values if value not in hierarchy.code_of_leaf)
        more = f" ({len(missing)} values have none)" if len(missing) > 1 else ""
        raise InputError(
            f"{locate(attribute.name, missing[0])}, column '{attribute.name}': "
            f"'{missing[0]}' has no leaf in {hierarchy.origin}{more}",
            advice="Add a row for each, or read them as NULL by null_values in [source].",
        )
    return hierarchy if hierarchy.leaves else _of_nothing(hierarchy), codes


def _of_nothing(hierarchy: GeneralizationHierarchy) -> GeneralizationHierarchy:
    """The hierarchy of a column of only NULLs: one leaf ``*``, of no row, below the top.

    Losses and shares divide by the number of leaves, and cells speak of a first and a last leaf: so that no
    measure and no model has to ask, a hierarchy always has one.
    """
    levels = hierarchy.height + 1
    return replace(hierarchy, labels=((TOP,),) * levels, ancestors=(np.zeros(1, dtype=np.int64),) * levels)


def _first_refused(source: HierarchySource, attribute: str, values: Sequence[str]) -> str | None:
    """The first value that a source refuses, by bisection; None where it refuses no value by itself."""

    def refuses(part: Sequence[str]) -> bool:
        try:
            source.build(attribute, part, [1] * len(part))
        except InputError:
            return True
        return False

    if refuses(()):
        return None
    place = bisect_left(range(len(values)), True, key=lambda i: refuses(values[: i + 1]))
    return values[place] if place < len(values) and refuses(values[place : place + 1]) else None
