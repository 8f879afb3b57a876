"""Published cells of an attribute: their labels, the leaves that each covers, and the parsing of labels.

Labels of ranges and sets are unambiguous: two groups never have the same label, and labels can be parsed from
a release.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of one quasi-identifier: labels, each with the leaf codes that it covers.

    Cell ``i`` has the text ``labels[i]`` (None is NULL) and covers the leaf codes of the intervals ``first[j]
    … last[j]`` (both inclusive) for j in ``offsets[i] … offsets[i + 1] - 1``, disjoint and ascending. A
    hierarchy's value and a range of leaves in code order are one interval each, a set is several. NULL has
    the code after the last leaf, ``leaves``. ``weights``, shape ``(leaves + 1,)``, gives the weight of each
    code within a cell, if codes are not values of equal weight.
    """

    attribute: str
    leaves: int
    labels: tuple[str | None, ...]
    offsets: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of leaves under each cell, shape ``(cells,)``; a cell of only NULL counts one."""
        widths = np.minimum(self.last, self.leaves - 1) - self.first + 1
        sums = np.concatenate([[0], np.cumsum(widths)])
        found: NDArray[np.int64] = sums[self.offsets[1:]] - sums[self.offsets[:-1]]
        return np.maximum(found, 1)

    def cover(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each cell covers the leaf code at the same index, shape ``(n,)`` for n pairs."""
        result = np.zeros(len(cells), dtype=np.bool_)
        starts, ends = self.offsets[cells], self.offsets[cells + 1]
        for step in range(int((ends - starts).max(initial=0))):
            position = starts + step
            here = position < ends
            at = np.where(here, position, 0)
            result |= here & (self.first[at] <= codes) & (codes <= self.last[at])
        return result


def has_only_leaves(cells: Cells, hierarchy: GeneralizationHierarchy) -> bool:
    """Return whether every cell is the text of one leaf, or NULL for only NULL."""
    if (np.diff(cells.offsets) != 1).any() or (cells.first != cells.last).any():
        return False
    own = (*hierarchy.leaves, None)
    pairs = zip(cells.labels, cells.first[cells.offsets[:-1]].tolist(), strict=True)
    return all(label == own[code] for label, code in pairs)


def has_derived_label(cells: Cells, hierarchy: GeneralizationHierarchy) -> bool:
    """Return whether a cell of several but not all leaves has a text derived from the data.

    The values of a hierarchy that does not depend on the data are not; ranges, sets and means of leaves are.
    """
    between = (cells.sizes() > 1) & (cells.sizes() < len(hierarchy.leaves))
    known = set() if hierarchy.from_data else {label for level in hierarchy.labels for label in level}
    return any(cells.labels[i] not in known for i in np.flatnonzero(between).tolist())


_ELLIPSIS = " … "
_SPECIAL = set(',{}"')
_LISTED_MEMBERS = 3


def range_label(members: Sequence[str]) -> str:
    """Return ``first … last`` for neighbouring values; the label of one value is the value.

    An end that contains ``…``, or begins with a quote, is written as a JSON string, so that two ranges never
    have the same label.

    >>> range_label(["a", "b … c"]), range_label(["a … b", "c"])
    ('a … "b … c"', '"a … b" … c')
    """
    return (
        members[0] if len(members) == 1 else f"{_quote_end(members[0])}{_ELLIPSIS}{_quote_end(members[-1])}"
    )


def parse_range_label(label: str) -> Iterator[tuple[str, str]]:
    """Yield each possible parse of a label as ``first … last``.

    For a label made by ``range_label``, only one parse contains existing values.
    """
    start = label.find(_ELLIPSIS)
    while start >= 0:
        yield _parse_end(label[:start]), _parse_end(label[start + len(_ELLIPSIS) :])
        start = label.find(_ELLIPSIS, start + 1)


def set_label(members: Sequence[str], most: int | None = None) -> str:
    """Return ``{a, b, c}``, or ``{a, b, c, … (14 values)}`` for more than ``most`` values.

    The label of one value is the value. A value with a comma, brace or quote is written as a JSON string, so
    that two sets never have the same label.

    >>> set_label(["a, b", "c"]), set_label(["a", "b, c"])
    ('{"a, b", c}', '{a, "b, c"}')
    """
    if len(members) == 1:
        return members[0]
    if most is None or len(members) <= most:
        return "{" + ", ".join(map(_quote_member, members)) + "}"
    first = ", ".join(map(_quote_member, members[:_LISTED_MEMBERS]))
    return f"{{{first}, … ({len(members)} values)}}"


def _quote_end(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if "…" in value or value.startswith('"') else value


def _parse_end(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except json.JSONDecodeError:
        return text


def _quote_member(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if _SPECIAL & set(value) else value


class LabelKind(StrEnum):
    """Kind of a label: numbers between ends, unmasked characters, a period of days, or its own value."""

    INTERVALS = "intervals"
    MASK = "mask"
    DATES = "dates"
    VALUES = "values"


@dataclass(frozen=True)
class LabelForm:
    """The form of a rule as its author wrote it, without data: no end, length or list of values.

    For a mask, ``side`` and ``character`` are the masked side and the masking character, and ``pad`` is true
    if values are padded; for dates, ``format`` is that of the values, None for ISO 8601.
    """

    kind: LabelKind
    side: str = "right"
    character: str = "*"
    pad: bool = False
    format: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the entry in a manifest."""
        if self.kind is LabelKind.MASK:
            document = {"from": self.side, "character": self.character, "pad": self.pad}
        else:
            document = {"format": self.format} if self.kind is LabelKind.DATES else {}
        return {"kind": str(self.kind), **document}

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> LabelForm | None:
        """Read the form from a manifest's entry; None for an unknown kind."""
        if entry["kind"] not in list(LabelKind):
            return None
        return cls(
            LabelKind(entry["kind"]),
            side=entry.get("from", "right"),
            character=entry.get("character", "*"),
            pad=entry.get("pad", False),
            format=entry.get("format"),
        )
