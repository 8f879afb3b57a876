"""Hierarchies of ordered values: groups of neighbours, and known orders of texts.

Known orders are bands of numbers and levels of education (UNESCO's International Standard
Classification of Education, ISCED 2011). A group is labelled by its first and last value or as a set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from operator import mul
from typing import Literal

from discreet.errors import InputError
from discreet.hierarchy.bands import order_bands
from discreet.hierarchy.level_table import check_coverage, hierarchy_with_others, ordered_leaves
from discreet.hierarchy.messages import OTHERS_ALLOWED, quote_value
from discreet.model.hierarchy import GeneralizationHierarchy, PublicPart
from discreet.model.option import spec_key
from discreet.model.published_cells import range_label, set_label

GroupLabelStyle = Literal["range", "set"]
MOST_MEMBERS = 8
"""Maximum number of values that a set's label names; for a larger set it names the first ones."""


GROUP_LABELS: dict[str, Callable[[Sequence[str]], str]] = {
    "range": range_label,
    "set": partial(set_label, most=MOST_MEMBERS),
}


def group_label_column(ordered: Sequence[str], sizes: Sequence[int], label: GroupLabelStyle) -> list[str]:
    """Return the label of each value's group, for groups of neighbours of the given sizes.

    Labels of different groups differ: a repeated label gets a number appended.
    """
    column: list[str] = []
    taken: set[str] = set()
    start = 0
    for size in sizes:
        text = wanted = GROUP_LABELS[label](ordered[start : start + size])
        number = 2
        while text in taken:
            text, number = f"{wanted} ({number})", number + 1
        taken.add(text)
        column += [text] * size
        start += size
    return column


_MOST_WORDS = 14
_FEWEST_LEVELS = 3
_GRADE = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)? ?[-–] ?)?(\d{1,2})(?:st|nd|rd|th)(?: grade)?|grade (\d{1,2})"
)
_EDUCATION: tuple[tuple[float, str], ...] = (
    (4.0, "past high school|beyond high school"),
    (13.6, "without (?:earning|a degree)|some (?:college|university)|no degree"),
    (0.0, "none|no|never attended|illiterate|without education|keine?|ohne|aucune?|ninguna?"),
    (0.5, "pre ?school|kindergarten|early childhood|nursery"),
    (21.0, r"doctora\w*|ph\.?d|promotion|promoviert|doctorado|dottorato|habilitation"),
    (19.0, "prof(?:essional)? (?:school|degree|doctorate)|juris doctor|md|jd"),
    (18.0, "master'?s?|msc|mba|diplom|magister|maestr[ií]a|laurea magistrale|postgraduate|graduate degree"),
    (
        16.0,
        r"bachelor'?s?|bsc|ba|licence|licenciatura|laurea|undergraduate|grado|universit\w+|college degree",
    ),
    (15.0, "tertiary|higher education|hochschule|superior"),
    (14.0, "assoc(?:iate)?'?s?(?: (?:voc|degree))?|short cycle tertiary"),
    (13.5, "college"),
    (13.0, "vocational|apprenticeship|trade school|technical|lehre|ausbildung|berufsschule|post secondary"),
    (11.5, "some high school|less than high school"),
    (12.5, "hs grad|high ?school|ged|upper secondary|abitur|matura|fachhochschulreife|bachillerato|lyc[ée]e"),
    (12.4, "baccalaur[ée]at|cap|bep"),
    (10.0, "realschule|mittlere reife|brevet"),
    (9.0, "lower secondary|middle school|junior high|hauptschule|coll[è]ge|secundaria"),
    (11.0, "secondary"),
    (6.0, "primary|elementary|grundschule|volksschule|primaire|primaria|basic"),
)
"""Levels of education by patterns, in matching order; a text has the level of the first one it contains."""

_EDUCATION_PATTERNS = tuple((rank, re.compile(rf"\b(?:{words})\b")) for rank, words in _EDUCATION)


def order_education_levels(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Return levels of education from the lowest to the highest; None unless all texts are such levels.

    >>> order_education_levels(["Masters", "HS-grad", "9th", "Doctorate", "Bachelors", "5th-6th"])
    ('5th-6th', '9th', 'HS-grad', 'Bachelors', 'Masters', 'Doctorate')
    >>> order_education_levels(["Ulm", "Kiel", "Bonn"])
    """
    ranks: dict[str, float] = {}
    for text in texts:
        rank = _education_rank(text)
        if rank is None:
            return None
        ranks[text] = rank
    if len(set(ranks.values())) < _FEWEST_LEVELS:
        return None
    return tuple(sorted(ranks, key=lambda text: (ranks[text], text)))


def _education_rank(text: str) -> float | None:
    clean = " ".join(text.casefold().replace("’", "'").replace("_", " ").split())
    if not clean or len(clean.split()) > _MOST_WORDS:
        return None
    grade = _GRADE.fullmatch(clean)
    if grade is not None:
        return float(grade[2] or grade[3])
    words = clean.replace("-", " ")
    if words == "assoc acdm":
        return 14.5
    return next((rank for rank, pattern in _EDUCATION_PATTERNS if pattern.search(words)), None)


@dataclass(frozen=True)
class OrderHierarchy:
    """Groups of neighbours: level i groups ``sizes[i - 1]`` values; the last group takes the remaining ones.

    Instead of ``sizes``, ``fanout`` is the number of groups of a level that make one of the next: a list by
    level, or a number, which is repeated until one group would be left. ``values`` is the order; without it
    the data's values are ordered (bands such as ``<10k`` and levels of education in their order, else numbers
    by size and texts naturally), and then the groups reveal something about the data. ``others`` are values
    without a position in the order: they are unchanged below the top. ``label`` names a group by ``first …
    last`` or as a set.
    """

    values: tuple[str, ...] = spec_key(
        "The values in their order; detected if omitted.",
        '["low", "middle", "high"]',
        'a list of texts, such as ["low", "high"]',
        default=(),
    )
    sizes: tuple[int, ...] = spec_key(
        "Number of neighbors in a group, level by level.",
        "[2, 4]",
        "a list of whole numbers, each a multiple of the one before",
        default=(),
    )
    fanout: int | tuple[int, ...] | None = spec_key(
        "Number of groups of a level in a group of the next.",
        "2",
        "a whole number of at least 2, or a list of them by level",
    )
    label: GroupLabelStyle = spec_key(
        "Label of a group: its first and last value, or all.", '"set"', "range, set", default="range"
    )
    others: tuple[str, ...] = spec_key(
        "Values outside the order, which are kept unchanged.",
        '["prefer not to say"]',
        OTHERS_ALLOWED,
        default=(),
    )

    def __post_init__(self) -> None:
        if bool(self.sizes) == (self.fanout is not None):
            raise InputError(
                "an order with both sizes and fanout" if self.sizes else "an order without sizes or fanout",
                allowed="sizes = [3, 6], fanout = [3, 2] or fanout = 2",
            )
        fanout = (
            self.fanout if isinstance(self.fanout, tuple) else (2 if self.fanout is None else self.fanout,)
        )
        if not fanout or min(fanout) < 2:
            raise InputError(
                f"order fanout {min(fanout, default='none')}", allowed="whole numbers of at least 2"
            )
        if self.sizes and self.sizes[0] < 2:
            raise InputError(f"order size {self.sizes[0]}", allowed="whole numbers of at least 2")
        for size, larger in pairwise(self.sizes):
            if larger <= size or larger % size:
                raise InputError(
                    f"order size {larger} after size {size}: such groups do not nest",
                    allowed=f"a multiple of {size}, larger than it",
                )
        if self.label not in GROUP_LABELS:
            raise InputError(f"order label {quote_value(self.label)}", allowed=", ".join(GROUP_LABELS))

    @property
    def origin(self) -> str:
        """Short description: ``groups of neighbouring values``."""
        return "groups of neighbouring values"

    @property
    def from_data(self) -> bool:
        """True if the order, and so the groups, comes from the data."""
        return not self.values

    @property
    def public_part(self) -> PublicPart:
        """The whole hierarchy is public with ``values``; else the levels, unless a repeated fanout adapts."""
        if self.values:
            return PublicPart.HIERARCHY
        return PublicPart.NOTHING if isinstance(self.fanout, int) else PublicPart.LEVELS

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build groups of the ordered values; raise ``InputError`` for a value missing from ``values``."""
        other_values = set(self.others)
        ordered = list(self.values) or sort_by_meaning(
            [value for value in ordered_leaves(attribute, values) if value not in other_values]
        )
        columns = [ordered]
        for size in self._sizes(len(ordered)):
            groups_in_level, rest = divmod(len(ordered), size)
            columns.append(
                group_label_column(ordered, [size] * groups_in_level + [rest] * (rest > 0), self.label)
            )
        hierarchy = hierarchy_with_others(
            attribute,
            columns,
            self.others,
            origin=self.origin,
            level_nouns=["a group"] * (len(columns) - 1),
            advice="Leave it out of others.",
            from_data=self.from_data,
        )
        check_coverage(hierarchy, values)
        return hierarchy

    def _sizes(self, values: int) -> list[int]:
        if self.sizes:
            return list(self.sizes)
        if isinstance(self.fanout, tuple):
            return list(accumulate(self.fanout, mul))
        result, size = [], self.fanout or 2
        while size < values:
            result.append(size)
            size *= self.fanout or 2
        return result


def order_by_meaning(values: Sequence[str]) -> tuple[str, ...] | None:
    """Return values in the order of their meaning; None if no order is known.

    >>> order_by_meaning(["100k+", "<10k", "10k-100k"]), order_by_meaning(["b", "a"])
    (('<10k', '10k-100k', '100k+'), None)
    """
    return order_bands(values) or order_education_levels(values)


def sort_by_meaning(values: Sequence[str]) -> list[str]:
    """Sort values by their meaning if an order is known; otherwise keep their order."""
    return list(order_by_meaning(values) or values)
