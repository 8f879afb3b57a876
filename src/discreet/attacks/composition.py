"""The parts that several releases of one table share: who stands together in every one of them.

Each row of the table is in a class of each release, or was suppressed there. Whoever knows a person's
quasi-identifiers and in which of the releases the person is knows the person's *part*: the rows that every
release treats alike. A part lies within a class of each release, so its sensitive values are among those
that all of these classes show (composition, Ganta, Kasiviswanathan and Smith 2008). The rows that one
release shows and another suppresses are parts, too: where one release's classes lie within the other's, what
is left when the smaller are taken from the larger is just that part. Rows that no release shows are in none.

The union of parts has at least the rows and the values of each, so what holds of every part holds of every
class of every release, and of whatever is put together from some of the releases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.coverage import candidates
from discreet.attacks.linking import Original, whole_release
from discreet.attacks.published import PublishedTable
from discreet.errors import InputError
from discreet.frequency.class_facts import by_class
from discreet.frequency.distinct_items import distinct_values
from discreet.model.class_facts import ClassFacts, ClassValues
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.judge import failing
from discreet.model.requirement import Requirement

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CommonParts:
    """The parts of some releases; arrays have one entry per part.

    ``sizes`` are the rows of each part, or its subjects where the spec names one; ``rows`` its rows;
    ``everywhere`` says whether all releases show it; ``distinct`` counts each sensitive attribute's values.
    """

    sizes: Whole
    rows: Whole
    everywhere: NDArray[np.bool_]
    distinct: Mapping[str, Whole]

    def k(self, parts: NDArray[np.bool_]) -> int | None:
        """The size of the smallest of some parts; None where there is none."""
        return int(self.sizes[parts].min()) if parts.any() else None

    def l(self, parts: NDArray[np.bool_]) -> dict[str, int]:  # noqa: E743 - the field's letter
        """The fewest values of each sensitive attribute in any of some parts; none where there is no part."""
        return {name: int(each[parts].min()) for name, each in self.distinct.items()} if parts.any() else {}

    def failing(self, requirement: Requirement) -> NDArray[np.bool_]:
        """The parts that fail the k or an l of a requirement; other criteria are not judged."""
        asked = [one for one in requirement.bound(tuple(self.distinct)) if one.criterion.has_keyword]
        return failing(asked, ClassFacts(self.sizes, tuple(map(ClassValues, self.distinct.values()))))


def common_parts(table: FrequencySet, releases: Sequence[Whole]) -> CommonParts:
    """The parts of some releases, each given by the class of every row type of ``table``.

    Cost: one sort of the row types, and one of the sensitive values of each attribute.
    """
    shown_in = [classes != SUPPRESSED for classes in releases]
    shown = np.logical_or.reduce(shown_in)
    part_of = np.full(table.row_types, -1, dtype=np.int64)
    first, part_of[shown] = _numbered([classes[shown] for classes in releases])
    parts = len(first)
    rows = np.bincount(part_of[shown], table.counts[shown], minlength=parts).astype(np.int64)
    sizes = rows if table.subjects is None else _distinct(table.subjects, part_of, parts)
    return CommonParts(
        sizes=sizes,
        rows=rows,
        everywhere=np.logical_and.reduce(shown_in)[shown][first],
        distinct={sets.attribute: _distinct(sets, part_of, parts) for sets in table.sensitive},
    )


def _numbered(releases: Sequence[Whole]) -> tuple[Whole, Whole]:
    """The first row type of each part, and the part of each row type: parts go by their classes.

    One release after the other is joined to what the ones before tell apart, so that a number is enough for
    each key: sorting numbers takes a fifth of the time of sorting rows of them.
    """
    first, part_of = np.unique(releases[0], return_index=True, return_inverse=True)[1:]
    for classes in releases[1:]:
        span = int(classes.max(initial=SUPPRESSED)) - SUPPRESSED + 1
        key = part_of * span + (classes - SUPPRESSED)
        first, part_of = np.unique(key, return_index=True, return_inverse=True)[1:]
    return first, part_of


def _distinct(sets: ValueSets, part_of: Whole, parts: int) -> Whole:
    """The distinct codes in each part; of values that subjects carry, as l counts them."""
    if not parts:
        return np.zeros(0, dtype=np.int64)
    found = by_class(sets, part_of, parts)
    if found.subjects is None:
        return np.diff(found.offsets)
    owners = np.repeat(np.arange(parts), np.diff(found.offsets))
    return distinct_values(owners, found.codes, found.subjects, parts)


def permutes_values(label: str) -> InputError:
    """What to raise of a release whose rows are in no class that anybody could tell."""
    return InputError(
        f"{label} permutes values within groups: nobody can tell from it which row is in which group",
        advice="Name a release that generalizes.",
    )


def classes_in(published: PublishedTable, original: Original, label: str) -> Whole:
    """The class of each row type of the original in a release of it, ``SUPPRESSED`` where it is in none.

    A row type is in the class whose cells cover it, whatever recoding made them. ``InputError`` where that
    does not tell who is in which class: cells that overlap, permuted values, or a class whose rows are not
    those of the table, because the release was made of other rows.
    """
    if published.by_group:
        raise permutes_values(label)
    counted = original.frequency_set
    release, _ = whole_release(published, original, ())
    places = [counted.attributes.index(name) for name in published.attributes]
    codes, type_of = np.unique(counted.codes[:, places], axis=0, return_inverse=True)
    found = np.full(len(codes), SUPPRESSED, dtype=np.int64)
    matches = np.zeros(len(codes), dtype=np.int64)
    for record, group in candidates(release, codes, unknown_matches=False):
        np.add.at(matches, record, 1)
        found[record] = group
    if (matches > 1).any():
        raise InputError(
            f"classes of {label} overlap: which of them a row is in cannot be told",
            advice="Name a release whose recoding is global, such as one by levels.",
        )
    classes = found[type_of.reshape(-1)]
    shown = classes != SUPPRESSED
    rows = np.bincount(classes[shown], counted.counts[shown], minlength=published.classes)
    if (rows != published.rows).any():
        raise InputError(
            f"{label} was not made of these rows: {int((rows != published.rows).sum()):,} of its "
            f"{published.classes:,} classes have other numbers of rows than the table has there",
            advice="Who is in both cannot be told. Name the table as it was when that release was made.",
        )
    return classes
