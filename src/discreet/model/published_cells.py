"""Published cells of an attribute: their labels, the leaves that each covers, and how labels are read.

Labels of ranges and sets are written so that no two groups print alike, and can be read again from a release.
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
    """What is shown for one quasi-identifier: labels, each with the leaf codes it stands for.

    Cell ``i`` reads ``labels[i]`` (None is NULL) and covers the leaf codes of the intervals
    ``first[j] … last[j]`` (both inclusive) for j in ``offsets[i] … offsets[i + 1] - 1``, disjoint and
    ascending. A hierarchy's value and a range of leaves in code order are one interval each, a set is
    several. NULL has the code after the last leaf, ``leaves``. ``weights``, shape ``(leaves + 1,)``, say how
    much of what a cell stands for each code is, where codes are not values of equal weight.
    """

    attribute: str
    leaves: int
    labels: tuple[str | None, ...]
    offsets: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None

    def sizes(self) -> NDArray[np.int64]:
        """The leaves under each cell, shape ``(cells,)``: NULL counts for itself only where it is alone."""
        widths = np.minimum(self.last, self.leaves - 1) - self.first + 1
        sums = np.concatenate([[0], np.cumsum(widths)])
        found: NDArray[np.int64] = sums[self.offsets[1:]] - sums[self.offsets[:-1]]
        return np.maximum(found, 1)

    def cover(self, cells: NDArray[np.int64], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each cell covers the leaf code beside it, shape ``(n,)`` for n pairs."""
        found = np.zeros(len(cells), dtype=np.bool_)
        starts, ends = self.offsets[cells], self.offsets[cells + 1]
        for step in range(int((ends - starts).max(initial=0))):
            place = starts + step
            here = place < ends
            at = np.where(here, place, 0)
            found |= here & (self.first[at] <= codes) & (codes <= self.last[at])
        return found


def has_only_leaves(cells: Cells, hierarchy: GeneralizationHierarchy) -> bool:
    """Whether every cell is one leaf's own text, or NULL for NULL alone."""
    if (np.diff(cells.offsets) != 1).any() or (cells.first != cells.last).any():
        return False
    own = (*hierarchy.leaves, None)
    pairs = zip(cells.labels, cells.first[cells.offsets[:-1]].tolist(), strict=True)
    return all(label == own[code] for label, code in pairs)


def has_derived_label(cells: Cells, hierarchy: GeneralizationHierarchy) -> bool:
    """Whether a cell that stands for several leaves, though not for all, has a text derived from the data.

    The values of a hierarchy that was there before are not; ranges, sets and means of leaves are.
    """
    between = (cells.sizes() > 1) & (cells.sizes() < len(hierarchy.leaves))
    known = set() if hierarchy.from_data else {label for level in hierarchy.labels for label in level}
    return any(cells.labels[i] not in known for i in np.flatnonzero(between).tolist())


_ELLIPSIS = " … "
_SPECIAL = set(',{}"')
_LISTED_MEMBERS = 3


def range_label(members: Sequence[str]) -> str:
    """``first … last`` of neighbouring values; one value keeps its name.

    An end with that sign, or with a quote at its start, stands as a JSON string, so that two ranges never
    print alike.

    >>> range_label(["a", "b … c"]), range_label(["a … b", "c"])
    ('a … "b … c"', '"a … b" … c')
    """
    return (
        members[0] if len(members) == 1 else f"{_quote_end(members[0])}{_ELLIPSIS}{_quote_end(members[-1])}"
    )


def parse_range_label(label: str) -> Iterator[tuple[str, str]]:
    """Each reading of a label as ``first … last``; of what ``range_label`` makes one names values alone."""
    start = label.find(_ELLIPSIS)
    while start >= 0:
        yield _parse_end(label[:start]), _parse_end(label[start + len(_ELLIPSIS) :])
        start = label.find(_ELLIPSIS, start + 1)


def set_label(members: Sequence[str], most: int | None = None) -> str:
    """``{a, b, c}``; of over ``most`` values ``{a, b, c, … (14 values)}``; one value keeps its name.

    A value with a comma, brace or quote stands as a JSON string, so that two sets never print alike.

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
    """What a label tells: numbers between ends, unmasked characters, a period of days, or its own value."""

    INTERVALS = "intervals"
    MASK = "mask"
    DATES = "dates"
    VALUES = "values"


@dataclass(frozen=True)
class LabelForm:
    """A rule's form alone, as its author wrote it: nothing of the data, no end, length or list of values.

    Of a mask, ``side`` and ``character`` are what is masked and by what, ``pad`` whether values are filled
    up; of dates, ``format`` is that of the values, None for ISO 8601.
    """

    kind: LabelKind
    side: str = "right"
    character: str = "*"
    pad: bool = False
    format: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry in a manifest."""
        if self.kind is LabelKind.MASK:
            told = {"from": self.side, "character": self.character, "pad": self.pad}
        else:
            told = {"format": self.format} if self.kind is LabelKind.DATES else {}
        return {"kind": str(self.kind), **told}

    @classmethod
    def of_json(cls, entry: Mapping[str, Any]) -> LabelForm | None:
        """The form in a manifest; None for a kind that is not known here."""
        if entry["kind"] not in list(LabelKind):
            return None
        return cls(
            LabelKind(entry["kind"]),
            side=entry.get("from", "right"),
            character=entry.get("character", "*"),
            pad=entry.get("pad", False),
            format=entry.get("format"),
        )
