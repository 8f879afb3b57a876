"""Intersection attack on several releases of one table (Ganta, Kasiviswanathan and Smith 2008).

The rows that every release puts into the same class form an intersection class. Its sensitive values are
among those that all of its classes show. Rows that some releases show and others suppress form separate
classes: the difference of two releases' classes is exactly such a class. A property that holds for every
intersection class holds for every class of every release, and for any union.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack, AttackInput, AttackRequirement
from discreet.attacks.finding import Figure, Finding, FoundTable, ValueKind, columns, count
from discreet.attacks.linkage import OriginalTable, build_full_release_table
from discreet.attacks.outside_records import find_candidate_classes
from discreet.attacks.published_table import ReleaseClasses, find_manifest, read_published, select_columns
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.frequency.fact_counter import count_distinct_values, group_value_sets
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.criterion_inputs import ClassStatistics, ClassValues
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.option import OptionKind, option
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import ReleaseUse
from discreet.model.requirement import Requirement, failing_mask
from discreet.places.address import parse_path
from discreet.settings import Settings

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IntersectionClasses:
    """Intersection classes (parts) of several releases; arrays have one entry per part.

    ``sizes`` is the number of rows of each part, or of subjects where the spec names one, and ``rows`` its
    rows. ``everywhere`` is true for parts that all releases show; ``distinct`` counts the values of each
    sensitive attribute.
    """

    sizes: IntArray
    rows: IntArray
    everywhere: NDArray[np.bool_]
    distinct: Mapping[str, IntArray]

    def k(self, parts: NDArray[np.bool_]) -> int | None:
        """Return the size of the smallest selected part; None without a part."""
        return int(self.sizes[parts].min()) if parts.any() else None

    def l(self, parts: NDArray[np.bool_]) -> dict[str, int]:  # noqa: E743 - the field's letter
        """Return the smallest number of values of each sensitive attribute in a selected part.

        Without a part the result is empty.
        """
        return {name: int(each[parts].min()) for name, each in self.distinct.items()} if parts.any() else {}

    def failing(self, requirement: Requirement) -> NDArray[np.bool_]:
        """Return true for parts that fail the k or an l of a requirement; other criteria are not checked."""
        keyword_criteria = [
            one for one in requirement.bound(tuple(self.distinct)) if one.criterion.has_keyword
        ]
        return failing_mask(
            keyword_criteria, ClassStatistics(self.sizes, tuple(map(ClassValues, self.distinct.values())))
        )


def intersect_classes(table: FrequencySet, releases: Sequence[IntArray]) -> IntersectionClasses:
    """Intersect releases, each given by the class of every row type of ``table``.

    Cost: one sort of the row types, and one of the sensitive values of each attribute.
    """
    shown_in = [classes != SUPPRESSED for classes in releases]
    published = np.logical_or.reduce(shown_in)
    part_of = np.full(table.row_types, -1, dtype=np.int64)
    first, part_of[published] = _number_parts([classes[published] for classes in releases])
    parts = len(first)
    rows = np.bincount(part_of[published], table.counts[published], minlength=parts).astype(np.int64)
    sizes = rows if table.subjects is None else _count_distinct(table.subjects, part_of, parts)
    return IntersectionClasses(
        sizes=sizes,
        rows=rows,
        everywhere=np.logical_and.reduce(shown_in)[published][first],
        distinct={sets.attribute: _count_distinct(sets, part_of, parts) for sets in table.sensitive},
    )


def _number_parts(releases: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Return the first row type of each part and the part of each row type; parts are sorted by class.

    Each release is combined with the parts of the previous ones, so one integer per key is enough: sorting
    integers takes a fifth of the time of sorting rows of integers.
    """
    first, part_of = np.unique(releases[0], return_index=True, return_inverse=True)[1:]
    for classes in releases[1:]:
        span = int(classes.max(initial=SUPPRESSED)) - SUPPRESSED + 1
        key = part_of * span + (classes - SUPPRESSED)
        first, part_of = np.unique(key, return_index=True, return_inverse=True)[1:]
    return first, part_of


def _count_distinct(sets: ValueSets, part_of: IntArray, parts: int) -> IntArray:
    """Count the distinct codes in each part; for values of subjects, count them as l does."""
    if not parts:
        return np.zeros(0, dtype=np.int64)
    found = group_value_sets(sets, part_of, parts)
    if found.subjects is None:
        return np.diff(found.offsets)
    owners = np.repeat(np.arange(parts), np.diff(found.offsets))
    return count_distinct_values(owners, found.codes, found.subjects, parts)


def assign_classes(published: ReleaseClasses, original: OriginalTable, label: str) -> IntArray:
    """Return the class of each row type of the original in a release, ``SUPPRESSED`` for none.

    A row type is in the class whose cells cover it, whatever the recoding. Raise ``InputError`` where this
    assignment is unknown: for overlapping cells, for permuted values, and for a class whose number of rows
    differs from the table's, because the release was made from other rows.
    """
    published.kind.require_support(ReleaseUse.ASSIGN_CLASSES, label)
    counted = original.frequency_set
    release, _ = build_full_release_table(published, original, ())
    places = [counted.attributes.index(name) for name in published.attributes]
    codes, type_of = np.unique(counted.codes[:, places], axis=0, return_inverse=True)
    found = np.full(len(codes), SUPPRESSED, dtype=np.int64)
    matches = np.zeros(len(codes), dtype=np.int64)
    for record, group in find_candidate_classes(release, codes, unknown_matches=False):
        np.add.at(matches, record, 1)
        found[record] = group
    if (matches > 1).any():
        raise InputError(
            f"classes of {label} overlap, so rows cannot be assigned to classes",
            advice="Name a release whose recoding is global, such as one by levels.",
        )
    classes = found[type_of.reshape(-1)]
    is_published = classes != SUPPRESSED
    rows = np.bincount(classes[is_published], counted.counts[is_published], minlength=published.classes)
    if (rows != published.rows).any():
        raise InputError(
            f"{label} was not made of these rows: {int((rows != published.rows).sum()):,} of its "
            f"{published.classes:,} classes have other numbers of rows than the table has there",
            advice="Name the version of the table from which that release was made.",
        )
    return classes


@dataclass(frozen=True)
class Intersection(Attack):
    """Attack by combining a release with earlier releases of the same rows."""

    name: ClassVar[str] = "intersection"
    title: ClassVar[str] = "Together with earlier releases"
    text: ClassVar[str] = (
        "An attacker knows that a person is in this release and in earlier ones: which rows are in the "
        "person's class of every release?"
    )
    source: ClassVar[str] = "Ganta, Kasiviswanathan and Smith 2008"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (
        AttackRequirement.EARLIER,
        AttackRequirement.ORIGINAL,
        AttackRequirement.CLASSES,
    )

    earlier: str | Path | Sequence[str | Path] | None = option(
        None,
        kind=OptionKind.FILE,
        repeatable=True,
        metavar="RELEASE",
        help="an earlier release of the same rows",
        label="An earlier release",
    )

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the common parts of all releases."""
        original = attack_input.original_table
        here = [assign_classes(attack_input.published, original, "the release")]
        releases = [self.earlier] if isinstance(self.earlier, str | Path) else self.earlier or ()
        addresses = [ReleaseAddress(path=parse_path(str(each))) for each in releases]
        there = [
            read_assigned_classes(attack_input.engine, each, original, attack_input.settings)
            for each in addresses
        ]
        single = intersect_classes(original.frequency_set, here)
        parts = intersect_classes(original.frequency_set, here + there)
        return self.build_finding(attack_input, _figures(parts), (_table(single, parts),))


def read_assigned_classes(
    engine: Engine, address: ReleaseAddress, original: OriginalTable, settings: Settings
) -> IntArray:
    """Read a release with its manifest and return the class of each row type in it.

    Raise ``InputError`` like ``assign_classes``, and where there is no such release.
    """
    manifest = find_manifest(address, engine)
    if manifest is None:
        raise InputError(
            f"{address.label} has no manifest",
            allowed="a release of this program with its manifest next to it",
        )
    # Classes follow from quasi-identifiers only; a sensitive attribute with a distinct value in nearly every
    # row would take gigabytes.
    wanted = replace(select_columns(address, manifest, original.spec, None, ()), sensitive=())
    manifest.kind.require_support(ReleaseUse.ASSIGN_CLASSES, address.label)
    published = read_published(engine, address.source(), wanted, settings, original.spec.source.null_values)
    return assign_classes(published, original, address.label)


def _figures(parts: IntersectionClasses) -> tuple[Figure, ...]:
    both, apart = parts.everywhere, ~parts.everywhere
    return (
        count("k", "k of the intersection", parts.k(both)),
        count("k_of_one", "k of the people in some of the releases", parts.k(apart)),
        *(
            count(f"l_{name}", f"fewest values of {name} in the intersection", least)
            for name, least in parts.l(both).items()
        ),
        count("parts", "common parts", int(both.sum())),
        count("singled_out", "unique rows", int(parts.rows[parts.rows == 1].sum())),
    )


def _table(single: IntersectionClasses, intersection: IntersectionClasses) -> FoundTable:
    """Build the table of this release, all releases together, and the rows that only some releases show."""
    lines = (
        ("only this release", single, single.everywhere),
        ("all releases together", intersection, intersection.everywhere),
        ("shown by some of them only", intersection, ~intersection.everywhere),
    )
    names = tuple(intersection.distinct)
    return FoundTable(
        "The release and the intersection",
        columns(
            "releases combined",
            ("rows", ValueKind.COUNT),
            ("parts", ValueKind.COUNT),
            ("smallest", ValueKind.COUNT),
            *((f"fewest values of {name}", ValueKind.COUNT) for name in names),
        ),
        tuple(
            (
                title,
                int(found.rows[which].sum()),
                int(which.sum()),
                found.k(which),
                *(found.l(which).get(name) for name in names),
            )
            for title, found, which in lines
        ),
    )
