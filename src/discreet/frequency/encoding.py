"""Encoding of groups of texts as leaf codes, and merging of groups with equal codes into row types.

Hierarchies are built from the values that occur. Row types are in the order of their codes, independent of
the engine's order. Cost: one sort of the groups, and one more per sensitive attribute and for the subjects.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.cell_format import is_star
from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, HierarchySource, PublicPart
from discreet.model.table_spec import Attribute, TableSpec

LocateValue = Callable[[str, str], str]
"""Function that returns the first occurrence of a text in a column, such as ``people.csv, line 17``."""


@dataclass(frozen=True, eq=False)
class EncodedGroups:
    """Groups of rows as numbers.

    ``codes[i]`` has one entry per group: the index of its value of ``attributes[i]`` in ``values[i]``, or
    ``len(values[i])`` for NULL. ``rows`` contains the rows of each group; ``subjects`` its subject (-1 for
    NULL), if the table has subjects. Two groups may be equal in everything except ``rows``.
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: tuple[NDArray[Any], ...]
    rows: NDArray[np.int64]
    subjects: NDArray[np.int64] | None = None

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.rows)

    def with_null_values(self, null_values: Sequence[str], number: int | None = None) -> EncodedGroups:
        """Return the groups with some texts read as NULL in the first ``number`` columns (None: all)."""
        result = self
        for i in range(len(self.values) if number is None else number):
            result = result.with_nulls_at(i, null_values)
        return result

    def with_nulls_at(self, column: int, null_values: Sequence[str]) -> EncodedGroups:
        """Return the groups with some texts of one column read as NULL."""
        values, codes = self.values[column], list(self.codes)
        found = [code for code, value in enumerate(values) if value in null_values] if null_values else []
        if not found:
            return self
        map_to = np.arange(len(values) + 1)
        map_to[found] = len(values)
        codes[column] = map_to[codes[column]]
        return replace(self, codes=tuple(codes))

    def rows_of_values(self, attribute: int) -> NDArray[np.int64]:
        """Return the rows of each value of an attribute, then of NULL, shape ``(values + 1,)``."""
        size = len(self.values[attribute]) + 1
        return np.bincount(self.codes[attribute], self.rows, minlength=size).astype(np.int64)

    def only(self, mask: NDArray[np.bool_]) -> EncodedGroups:
        """Return the groups that the mask ``mask`` selects."""
        return replace(
            self,
            codes=tuple(codes[mask] for codes in self.codes),
            rows=self.rows[mask],
            subjects=None if self.subjects is None else self.subjects[mask],
        )


def find_hidden_groups(encoded: EncodedGroups, keys: int, null_values: Sequence[str]) -> NDArray[np.bool_]:
    """Find the groups with stars or NULL in each of the first ``keys`` columns, and a star in one of them.

    In ``encoded``, ``null_values`` are not yet read as NULL: a star that is one of them still counts as a
    star.
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
    """Return the groups without NULL in any attribute, and the number of dropped rows."""
    retained = np.ones(encoded.groups, dtype=np.bool_)
    for values, codes in zip(encoded.values, encoded.codes, strict=True):
        retained &= codes < len(values)
    if retained.all():
        return encoded, 0
    return encoded.only(retained), int(encoded.rows[~retained].sum())


def encode_hierarchies(
    encoded: EncodedGroups, spec: TableSpec, locate: LocateValue
) -> tuple[tuple[GeneralizationHierarchy, ...], EncodedGroups]:
    """Build the quasi-identifiers' hierarchies; return them and the groups with their leaf codes.

    A hierarchy is built from the values that occur in the groups. Raises ``InputError`` for a value without a
    leaf; the message names its first occurrence, found by ``locate``.
    """
    hierarchies = []
    values, codes = list(encoded.values), list(encoded.codes)
    for i, attribute in enumerate(spec.quasi_identifiers):
        rows = encoded.rows_of_values(i)[:-1]
        found = np.flatnonzero(rows)
        occurring = list(map(values[i].__getitem__, found.tolist()))
        hierarchy, leaves = _build_hierarchy(attribute, occurring, rows[found].tolist(), locate)
        null_code = hierarchy.null_code
        map_to = np.full(len(rows) + 1, null_code, dtype=np.min_scalar_type(null_code))
        map_to[found] = leaves
        hierarchies.append(hierarchy)
        codes[i] = map_to[codes[i]]
        values[i] = hierarchy.leaves
    return tuple(hierarchies), replace(encoded, values=tuple(values), codes=tuple(codes))


def encode_sensitive(
    encoded: EncodedGroups, spec: TableSpec, names: Sequence[str], locate: LocateValue
) -> tuple[tuple[SensitiveAttribute, ...], EncodedGroups]:
    """Build the named sensitive attributes; return them and the groups with their codes.

    Codes number the values that occur, in the order of their texts. Raises ``InputError`` for a value without
    a leaf in the attribute's hierarchy, if the spec has one.
    """
    found = []
    values, codes = list(encoded.values), list(encoded.codes)
    for attribute in spec.sensitive:
        if attribute.name not in names:
            continue
        index = encoded.attributes.index(attribute.name)
        rows = encoded.rows_of_values(index)
        in_order = sorted(np.flatnonzero(rows[:-1]).tolist(), key=values[index].__getitem__)
        texts = tuple(values[index][code] for code in in_order)
        known = rows[in_order] if in_order else rows[:0]
        hierarchy = None
        if attribute.hierarchy is not None:
            hierarchy, _ = _build_hierarchy(attribute, texts, known.tolist(), locate)
        found.append(SensitiveAttribute.of(texts, known, hierarchy))
        map_to = np.full(len(rows), len(texts), dtype=np.min_scalar_type(len(texts)))
        map_to[in_order] = np.arange(len(texts))
        codes[index], values[index] = map_to[codes[index]], texts
    return tuple(found), replace(encoded, values=tuple(values), codes=tuple(codes))


@dataclass(frozen=True)
class _FlatHierarchy:
    """Hierarchy with the levels value and ``*``, for a quasi-identifier without a hierarchy in the spec."""

    origin: str = f"value → {TOP}"
    from_data: bool = False
    public_part: PublicPart = PublicPart.LEVELS

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        del counts
        leaves = tuple(sorted(values))
        ancestors = (np.arange(len(leaves)), np.zeros(len(leaves), dtype=np.int64))
        return GeneralizationHierarchy(attribute, (leaves, (TOP,)), ancestors, self.origin)


def _build_hierarchy(
    attribute: Attribute, values: Sequence[str], counts: Sequence[int], locate: LocateValue
) -> tuple[GeneralizationHierarchy, list[int]]:
    """Build the hierarchy of values with their row counts; return it and the code of each value.

    If the source rejects the values, the error names the first rejected value and its location.
    """
    source = attribute.hierarchy or _FlatHierarchy()
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
    return hierarchy if hierarchy.leaves else _add_placeholder_leaf(hierarchy), codes


def _add_placeholder_leaf(hierarchy: GeneralizationHierarchy) -> GeneralizationHierarchy:
    """Return the hierarchy of a column of only NULLs: one leaf ``*`` without rows, below the top.

    Losses and shares divide by the number of leaves, and cells refer to a first and a last leaf. With at
    least one leaf no measure and no model needs a special case.
    """
    levels = hierarchy.height + 1
    return replace(hierarchy, labels=((TOP,),) * levels, ancestors=(np.zeros(1, dtype=np.int64),) * levels)


def _first_refused(source: HierarchySource, attribute: str, values: Sequence[str]) -> str | None:
    """Return the first value that a source rejects, by bisection; None if it rejects no single value."""

    def refuses(part: Sequence[str]) -> bool:
        try:
            source.build(attribute, part, [1] * len(part))
        except InputError:
            return True
        return False

    if refuses(()):
        return None
    index = bisect_left(range(len(values)), True, key=lambda i: refuses(values[: i + 1]))
    return values[index] if index < len(values) and refuses(values[index : index + 1]) else None


_WIDEST = 1 << 62


def build_row_types(
    encoded: EncodedGroups,
    hierarchies: tuple[GeneralizationHierarchy, ...],
    sensitive: Sequence[str],
    subject: str | None,
    dropped: int,
    *,
    known: Sequence[SensitiveAttribute] = (),
) -> FrequencySet:
    """Build the frequency set of groups whose first columns are leaf codes of ``hierarchies``.

    The next columns are codes of the ``sensitive`` attributes, numbered from 0 over the values that occur.
    ``known`` describes each of them in the whole table; it is empty if the groups are only part of a table.

    Row types are in the order of their codes, so the result does not depend on the engine's order of the
    groups. Cost: one sort of the groups, and one more per sensitive attribute and for the subjects.
    """
    width = len(hierarchies)
    columns = encoded.codes[:width]
    order, starts = sort_rows(columns, [h.null_code + 1 for h in hierarchies])
    first = order[starts]
    codes = np.empty((len(starts), width), dtype=np.int64)
    for i, column in enumerate(columns):
        codes[:, i] = column[first]
    type_of = np.zeros(len(order), dtype=np.int64)
    type_of[starts[1:]] = 1
    np.cumsum(type_of, out=type_of)
    subjects = None if encoded.subjects is None else _rank_values(encoded.subjects[order])
    rows = encoded.rows[order]
    sets = tuple(
        replace(
            _build_sensitive_sets(
                name, type_of, encoded.codes[width + i][order], len(encoded.values[width + i]), subjects, rows
            ),
            of=known[i] if known else None,
        )
        for i, name in enumerate(sensitive)
    )
    return FrequencySet(
        hierarchies=hierarchies,
        codes=codes,
        counts=np.add.reduceat(rows, starts),
        sensitive=sets,
        subjects=None
        if subject is None or subjects is None
        else build_value_sets(subject, type_of, subjects),
        dropped=dropped,
    )


def sort_rows(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the stable order of rows of columns, and the start of each run of equal rows in it.

    Entries of ``columns[i]`` are in ``0 … sizes[i] - 1``. Keys of any width are supported.
    """
    key = pack_columns(columns, sizes)
    place_bits = (len(key) - 1).bit_length()
    if int(key.max()).bit_length() + place_bits < _WIDEST.bit_length():
        # Sorting keys with their positions in the low bits is several times faster than argsort.
        key <<= place_bits
        key |= np.arange(len(key))
        key.sort()
        order = key & ((1 << place_bits) - 1)
        key >>= place_bits
    else:
        order = np.argsort(key, kind="stable")
        key = key[order]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    return order, starts


def pack_columns(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Pack columns into one integer per row that keeps equality and lexicographic order.

    The integers are mixed-radix numbers. If the next column would exceed 62 bits, the packed prefix is
    replaced by its rank among the numbers that occur.
    """
    key = columns[0].astype(np.int64)
    span = sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if span * size > _WIDEST:
            occurring, key = np.unique(key, return_inverse=True)
            span = len(occurring)
        key *= size
        key += column
        span *= size
    return key


def build_value_sets(
    attribute: str,
    type_of: NDArray[np.int64],
    codes: NDArray[np.int64],
    *,
    types: int | None = None,
    subjects: NDArray[np.int64] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> ValueSets:
    """Build the distinct codes of each row type, or distinct pairs of code and subject if given.

    ``type_of``, ``codes`` (dense, from 0), ``subjects`` and ``rows`` run over entries, in any order. The rows
    of equal entries are summed; with subjects they are omitted.
    """
    number = types if types is not None else int(type_of[-1]) + 1
    size = int(codes.max(initial=-1)) + 1
    columns, sizes = [type_of, codes], [number, max(size, 1)]
    if subjects is not None:
        columns.append(subjects)
        sizes.append(int(subjects.max(initial=0)) + 1)
    if len(codes):
        order, starts = sort_rows(columns, sizes)
        distinct = order[starts]
        counts = None if rows is None else np.add.reduceat(rows[order], starts)
    else:
        distinct = np.empty(0, dtype=np.int64)
        counts = None if rows is None else distinct
    offsets = np.zeros(number + 1, dtype=np.int64)
    np.cumsum(np.bincount(type_of[distinct], minlength=number), out=offsets[1:])
    return ValueSets(
        attribute=attribute,
        size=size,
        offsets=offsets,
        codes=codes[distinct],
        subjects=None if subjects is None else subjects[distinct],
        counts=None if subjects is not None else counts,
    )


def _build_sensitive_sets(
    attribute: str,
    type_of: NDArray[np.int64],
    codes: NDArray[Any],
    size: int,
    subjects: NDArray[np.int64] | None,
    rows: NDArray[np.int64],
) -> ValueSets:
    """Build the value sets of a sensitive attribute of ``size`` values; NULL (code ``size``) is omitted."""
    present = codes < size
    types = int(type_of[-1]) + 1
    if not present.all():
        type_of, codes = type_of[present], codes[present]
        subjects = None if subjects is None else subjects[present]
        rows = rows[present]
    codes = codes.astype(np.int64)
    return build_value_sets(attribute, type_of, codes, types=types, subjects=subjects, rows=rows)


def _rank_values(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank of each number among the numbers that occur."""
    return np.unique(numbers, return_inverse=True)[1]
