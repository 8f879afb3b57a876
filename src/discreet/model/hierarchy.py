"""Generalization hierarchies and the order of their leaves.

A hierarchy has levels from the values of an attribute (level 0) to one top value; leaves are numbered depth
first. Ranges follow the leaf order: by value if every leaf is a number, otherwise in the publisher's order.
NULL comes last.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TOP = "*"


@dataclass(frozen=True, eq=False)
class GeneralizationHierarchy:
    """Levels of one attribute, from its values (level 0, the leaves) to one top value.

    ``labels[level]`` are the values of a level. ``ancestors[level]`` has one entry per leaf: the position in
    ``labels[level]`` of that leaf's generalization. Leaves are numbered depth first, so every
    ``ancestors[level]`` is non-decreasing; ``ancestors[0]`` counts from 0. The last level has one value.
    ``leaf_ranks`` is the position of each leaf in the publisher's order (the lines of a file, the order of a
    list), from 0; None if that is the depth-first order. Groups of one level may interleave in it.

    ``origin`` describes the source of the hierarchy (a file, a builder) in a few words; ``from_data`` is True
    if its values or boundaries were derived from the data, which a release then discloses in part. ``notes``
    are sentences for the publisher, for example about a top value that is not ``*``.
    """

    attribute: str
    labels: tuple[tuple[str, ...], ...]
    ancestors: tuple[NDArray[np.int64], ...]
    origin: str
    from_data: bool = False
    notes: tuple[str, ...] = ()
    leaf_ranks: NDArray[np.int64] | None = None

    @property
    def height(self) -> int:
        """Number of generalization steps: the level of the top value."""
        return len(self.labels) - 1

    @property
    def leaves(self) -> tuple[str, ...]:
        """Values of level 0, depth first."""
        return self.labels[0]

    @cached_property
    def code_of_leaf(self) -> dict[str, int]:
        """Code (depth-first position) of each leaf."""
        return dict(zip(self.labels[0], range(len(self.labels[0])), strict=True))

    @property
    def null_code(self) -> int:
        """Code of NULL, which follows the last leaf."""
        return len(self.labels[0])

    @cached_property
    def codes_in_order(self) -> NDArray[np.int64]:
        """Leaf codes in the publisher's order, shape ``(leaves,)``."""
        if self.leaf_ranks is None:
            return np.arange(len(self.leaves))
        codes = np.empty_like(self.leaf_ranks)
        codes[self.leaf_ranks] = np.arange(len(codes))
        return codes

    def level_map(self, level: int) -> NDArray[np.int64]:
        """Return the map of codes (leaves, then NULL) to positions in a level, shape ``(leaves + 1,)``.

        NULL has a separate position, ``len(labels[level])``, below the top, and joins the single top value
        there (decision 0002: a NULL needs no leaf).
        """
        top = level == self.height
        null_position = 0 if top else len(self.labels[level])
        return np.append(self.ancestors[level], np.int64(null_position))

    def path(self, code: int) -> tuple[str, ...]:
        """Return the values of one leaf at every level, leaf first."""
        return tuple(self.labels[level][int(self.ancestors[level][code])] for level in range(self.height + 1))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the whole hierarchy, leaf by leaf in the publisher's order."""
        sha = hashlib.sha256()
        for code in self.codes_in_order.tolist():
            for value in self.path(code):
                data = value.encode()
                sha.update(len(data).to_bytes(8, "little") + data)
            sha.update(b"\n")
        return sha.hexdigest()


class PublicPart(StrEnum):
    """Part of a hierarchy that does not depend on the data, so that it discloses nothing of any row.

    ``HIERARCHY`` is all of it, including leaves; ``LEVELS`` is the number of levels and the meaning of each;
    ``NOTHING`` applies if even the number of levels depends on the values, including those of suppressed
    rows.
    """

    HIERARCHY = "hierarchy"
    LEVELS = "levels"
    NOTHING = "nothing"


class HierarchySource(Protocol):
    """A builder of an attribute's hierarchy from the values in the data."""

    @property
    def origin(self) -> str:
        """Description of the source, in a few words."""

    @property
    def from_data(self) -> bool:
        """True if values or boundaries depend on the data."""

    @property
    def public_part(self) -> PublicPart:
        """Part of the hierarchy that may be disclosed because it does not depend on the data."""

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the hierarchy that covers ``values`` (distinct, without NULL), or raise ``InputError``.

        ``counts`` are the rows of each value, parallel to ``values``; only a hierarchy by frequency reads
        them. The result does not depend on the order of ``values``.
        """


def least_level(source: HierarchySource | None) -> int:
    """Return the lowest level for requests that name none: 0, or the ``least_level`` of the source.

    A source can thereby hide values that are published only on explicit request.
    """
    return int(getattr(source, "least_level", 0))


_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_MAX_DIGITS = 300


@dataclass(frozen=True, eq=False)
class LeafOrder:
    """Positions of an attribute's leaf codes; NULL is last.

    ``rank`` has one position per code (leaves, then NULL), ``code`` one code per position, both of shape
    ``(leaves + 1,)``. ``numbers`` are the leaves' values by code if all leaves are numbers, else None.
    """

    rank: NDArray[np.int64]
    code: NDArray[np.int64]
    numbers: tuple[Decimal, ...] | None

    @property
    def numeric(self) -> bool:
        """True if leaves are ordered by value."""
        return self.numbers is not None


def order_leaves(hierarchy: GeneralizationHierarchy) -> LeafOrder:
    """Return the order of a hierarchy's leaves; equal numbers (``1``, ``1.0``) are ordered by text."""
    leaves = hierarchy.leaves
    numbers = _leaf_numbers(leaves)
    if numbers is None:
        return _leaf_order_from_codes(hierarchy.codes_in_order, None)
    places = range(len(leaves))
    by_value = sorted(places, key=lambda c: (numbers[c], leaves[c]))
    return _leaf_order_from_codes(np.array(by_value, dtype=np.int64), numbers)


def order_leaves_by_tree(hierarchy: GeneralizationHierarchy) -> LeafOrder:
    """Return the order of a hierarchy's leaves along its tree: numbers by value, others depth first."""
    numbers = _leaf_numbers(hierarchy.leaves)
    return (
        order_leaves(hierarchy)
        if numbers is not None
        else _leaf_order_from_codes(np.arange(len(hierarchy.leaves)), None)
    )


def _leaf_order_from_codes(codes: NDArray[np.int64], numbers: tuple[Decimal, ...] | None) -> LeafOrder:
    """Return the order from leaf codes, first to last, with NULL last."""
    code = np.append(codes, len(codes))
    rank = np.empty_like(code)
    rank[code] = np.arange(len(code))
    for array in (rank, code):
        array.flags.writeable = False
    return LeafOrder(rank, code, numbers)


def parse_decimal(text: str) -> Decimal | None:
    """Parse a leaf's text as a plain decimal, ignoring blanks around it; None if it is not a number.

    >>> parse_decimal(" -3.50"), parse_decimal("1,000")
    (Decimal('-3.50'), None)
    """
    stripped = text.strip()
    if len(stripped) > _MAX_DIGITS or not _DECIMAL.fullmatch(stripped):
        return None
    number = Decimal(stripped)
    return number if abs(number.adjusted()) <= _MAX_DIGITS else None


def _leaf_numbers(leaves: tuple[str, ...]) -> tuple[Decimal, ...] | None:
    found = []
    for leaf in leaves:
        number = parse_decimal(leaf)
        if number is None:
            return None
        found.append(number)
    return tuple(found) if found else None
