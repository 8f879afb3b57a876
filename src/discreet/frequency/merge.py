"""Merging groups into row types: equal codes are found by sorting one integer per group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.encode import EncodedGroups
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.sensitive_attribute import SensitiveAttribute

_WIDEST = 1 << 62


def row_types(
    encoded: EncodedGroups,
    hierarchies: tuple[GeneralizationHierarchy, ...],
    sensitive: Sequence[str],
    subject: str | None,
    dropped: int,
    *,
    known: Sequence[SensitiveAttribute] = (),
) -> FrequencySet:
    """The frequency set of groups whose first columns hold leaf codes of ``hierarchies``.

    The next hold codes of the ``sensitive`` attributes, which count from 0 over the values that occur;
    ``known`` tells of each of them in the whole table, and is empty where the groups are but part of one.

    Row types come out in the order of their codes, so the result does not depend on how the engine ordered
    the groups. Cost: one sort of the groups, and one more per sensitive attribute and for the subjects.
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
    subjects = None if encoded.subjects is None else _dense(encoded.subjects[order])
    rows = encoded.rows[order]
    sets = tuple(
        replace(
            _sensitive_sets(
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
        subjects=None if subject is None or subjects is None else value_sets(subject, type_of, subjects),
        dropped=dropped,
    )


def sort_rows(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The stable order of rows of columns, and where in it each run of equal rows starts.

    Entries of ``columns[i]`` lie in ``0 … sizes[i] - 1``. Keys of any width are right.
    """
    key = pack(columns, sizes)
    place_bits = (len(key) - 1).bit_length()
    if int(key.max()).bit_length() + place_bits < _WIDEST.bit_length():
        # Sorting keys with their places in the low bits is several times faster than argsort.
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


def pack(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One integer per row, equal for equal rows and in the rows' lexicographic order.

    Mixed-radix numbers; where the next column would not fit into 62 bits, what is packed so far is replaced
    by its rank among the numbers that occur.
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


def value_sets(
    attribute: str,
    type_of: NDArray[np.int64],
    codes: NDArray[np.int64],
    *,
    types: int | None = None,
    subjects: NDArray[np.int64] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> ValueSets:
    """The distinct codes of each row type, with the distinct pairs of code and subject where asked.

    ``type_of``, ``codes`` (dense, from 0), ``subjects`` and ``rows`` run over entries, in any order. The rows
    of equal entries are added up; they are left out where subjects are told apart.
    """
    number = types if types is not None else int(type_of[-1]) + 1
    size = int(codes.max(initial=-1)) + 1
    columns, sizes = [type_of, codes], [number, max(size, 1)]
    if subjects is not None:
        columns.append(subjects)
        sizes.append(int(subjects.max(initial=0)) + 1)
    if len(codes):
        order, starts = sort_rows(columns, sizes)
        kept = order[starts]
        counts = None if rows is None else np.add.reduceat(rows[order], starts)
    else:
        kept = np.empty(0, dtype=np.int64)
        counts = None if rows is None else kept
    offsets = np.zeros(number + 1, dtype=np.int64)
    np.cumsum(np.bincount(type_of[kept], minlength=number), out=offsets[1:])
    return ValueSets(
        attribute=attribute,
        size=size,
        offsets=offsets,
        codes=codes[kept],
        subjects=None if subjects is None else subjects[kept],
        counts=None if subjects is not None else counts,
    )


def _sensitive_sets(
    attribute: str,
    type_of: NDArray[np.int64],
    codes: NDArray[Any],
    size: int,
    subjects: NDArray[np.int64] | None,
    rows: NDArray[np.int64],
) -> ValueSets:
    """The value sets of a sensitive attribute of ``size`` values: NULL, whose code that is, left out."""
    present = codes < size
    types = int(type_of[-1]) + 1
    if not present.all():
        type_of, codes = type_of[present], codes[present]
        subjects = None if subjects is None else subjects[present]
        rows = rows[present]
    codes = codes.astype(np.int64)
    return value_sets(attribute, type_of, codes, types=types, subjects=subjects, rows=rows)


def _dense(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each number among those that occur."""
    return np.unique(numbers, return_inverse=True)[1]
