"""From files to the linkage attack and to the population's risk: cells read, records encoded, both
counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.linkage import (
    Linkage,
    TruePairs,
    chances_after,
    chances_before,
    matching_people,
    matching_rows,
    side_of,
)
from discreet.attacks.outside import OutsideRecords, extended, flat_hierarchy, leaf_codes, read_outside
from discreet.attacks.published import PublishedTable
from discreet.attacks.risk import PopulationRisk, journalist
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable, exact_cells, merged
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.settings import Settings
from discreet.workload.answerable import read_original
from discreet.workload.labels import read_cells


@dataclass(frozen=True, eq=False)
class Original:
    """The table that a release was made of."""

    spec: TableSpec
    frequency_set: FrequencySet


@dataclass(frozen=True, eq=False)
class Ground:
    """What a release's cells are read with: the original, or the columns that show values as they are."""

    original: Original | None
    exact: frozenset[str] = frozenset()

    @property
    def null_values(self) -> tuple[str, ...]:
        """Cell texts that are read as NULL."""
        return () if self.original is None else self.original.spec.source.null_values


def link(
    engine: Engine,
    published: PublishedTable,
    outside: Path | SourceSpec,
    ground: Ground,
    settings: Settings,
    *,
    match: Mapping[str, str] | None = None,
    key: tuple[str, str] | None = None,
) -> Linkage:
    """Match the records of an outside file with a release, and with the original where that is known.

    ``key`` names a column of the file and one of the original that say who is who. ``InputError`` for a file
    that cannot be read, columns that do not match, and cells that nothing tells the meaning of.
    """
    if key is not None and ground.original is None:
        raise InputError("a key without the original", advice="Name the spec of the original: --spec SPEC.")
    records = read_outside(
        engine,
        outside,
        published.attributes,
        match,
        settings,
        key=None if key is None else key[0],
        null_values=ground.null_values,
    )
    hierarchies = hierarchies_of(published, ground, records)
    codes = leaf_codes(records, hierarchies)
    nulls = np.array([hierarchy.null_code for hierarchy in hierarchies])
    release = release_table(published, records.attributes, hierarchies, ground)
    after = matching_rows(_merged(release), codes)
    before = original = None
    if ground.original is not None:
        original = _original_codes(ground.original.frequency_set, records.attributes, hierarchies)
        before = matching_rows(
            _exact_table(hierarchies, original, ground.original.frequency_set.counts), codes
        )
    chances: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    known = None
    if key is not None and ground.original is not None and before is not None:
        truth = Truth.of(engine, ground.original, records, key[1], settings)
        known = truth.known
        theirs = recoded(truth.codes, ground.original.frequency_set, records.attributes, hierarchies)
        whole = whole_release(published, ground.original, hierarchies)
        places = np.array([published.attributes.index(name) for name in records.attributes])
        all_codes = recoded(truth.codes, ground.original.frequency_set, published.attributes, whole[1])
        chances = (
            chances_before(truth.pairs, theirs, codes, nulls, before),
            chances_after(truth.pairs, whole[0], all_codes, places, codes, after),
        )
    return Linkage(
        columns=tuple(zip(records.columns, records.attributes, strict=True)),
        incomplete=int(records.rows[(codes == nulls).any(axis=1)].sum()),
        strange=int(records.rows[(codes > nulls).any(axis=1)].sum()),
        before=None
        if before is None
        else side_of(before, records.rows, None if chances is None else chances[0], known),
        after=side_of(after, records.rows, None if chances is None else chances[1], known),
    )


def population_risk(
    engine: Engine,
    published: PublishedTable,
    outside: Path | SourceSpec,
    ground: Ground,
    settings: Settings,
    threshold: Fraction,
    *,
    match: Mapping[str, str] | None = None,
) -> PopulationRisk:
    """The journalist's risk by a file of the population, whose columns match as an outside file's do."""
    records = read_outside(
        engine, outside, published.attributes, match, settings, null_values=ground.null_values
    )
    hierarchies = hierarchies_of(published, ground, records)
    codes = leaf_codes(records, hierarchies)
    release = _merged(release_table(published, records.attributes, hierarchies, ground))
    people = matching_people(release, codes, records.rows)
    nulls = np.array([hierarchy.null_code for hierarchy in hierarchies])
    return journalist(
        release.rows,
        people,
        threshold,
        counted=records.total,
        incomplete=int(records.rows[(codes == nulls).any(axis=1)].sum()),
    )


@dataclass(frozen=True, eq=False)
class Truth:
    """Who is who, the leaf codes of the original's row types by key, and how many records are known."""

    pairs: TruePairs
    codes: NDArray[np.int64]
    known: int

    @classmethod
    def of(
        cls, engine: Engine, original: Original, records: OutsideRecords, key: str, settings: Settings
    ) -> Truth:
        """Read the original once more, with the key."""
        names = original.frequency_set.attributes
        others = () if key in names else (key,)
        table = read_original(engine, original.spec, original.frequency_set, others, settings)
        place = table.table.attributes.index(key)
        texts = (*table.domains[key].texts, None)
        groups_of: dict[str, list[int]] = {}
        for group, code in enumerate(table.table.shown[:, place].tolist()):
            text = texts[code]
            if text is not None:
                groups_of.setdefault(text, []).append(group)
        record, group_of = [], []
        known = 0
        for number, text in enumerate(records.keys or ()):
            found = groups_of.get(text, []) if text is not None else []
            known += int(records.rows[number]) if found else 0
            record += [number] * len(found)
            group_of += found
        groups = np.array(group_of, dtype=np.int64)
        pairs = TruePairs(np.array(record, dtype=np.int64), groups, table.table.rows[groups])
        return cls(pairs, table.table.shown[:, : len(names)], known)


def hierarchies_of(
    published: PublishedTable, ground: Ground, records: OutsideRecords
) -> tuple[GeneralizationHierarchy, ...]:
    """One hierarchy per matched column, with leaves for the file's values where its rule allows."""
    found = []
    for i, name in enumerate(records.attributes):
        if ground.original is not None:
            source = next(a for a in ground.original.spec.quasi_identifiers if a.name == name).hierarchy
            found.append(extended(_hierarchy(ground.original, name), source, records.texts[i]))
        elif name in ground.exact:
            labels = published.labels[published.attributes.index(name)]
            shown = [label for label in labels if label not in (None, "*")]
            found.append(flat_hierarchy(name, [*(str(label) for label in shown), *records.texts[i]]))
        else:
            raise InputError(
                f"the release generalizes '{name}', and nothing here says what its cells stand for",
                advice="Name the spec that the release was made with: --spec SPEC.",
            )
    return tuple(found)


def _hierarchy(original: Original, name: str) -> GeneralizationHierarchy:
    names = original.frequency_set.attributes
    if name not in names:
        raise InputError(
            f"the release's quasi-identifier '{name}' is none in {original.spec.label}",
            allowed=", ".join(names),
            advice="Attack a release with the spec that it was made with.",
        )
    return original.frequency_set.hierarchies[names.index(name)]


def release_table(
    published: PublishedTable,
    attributes: Sequence[str],
    hierarchies: Sequence[GeneralizationHierarchy],
    ground: Ground,
) -> GeneralizedTable:
    """The release's classes by some of its columns, not merged."""
    cells, places = [], []
    for name, hierarchy in zip(attributes, hierarchies, strict=True):
        place = published.attributes.index(name)
        nullable = ground.original is None or _has_null(ground.original.frequency_set, name)
        cells.append(read_cells(hierarchy, published.labels[place], nullable=nullable).cells)
        places.append(place)
    return GeneralizedTable(tuple(cells), published.shown[:, places], published.rows)


def whole_release(
    published: PublishedTable, original: Original, hierarchies: Sequence[GeneralizationHierarchy]
) -> tuple[GeneralizedTable, tuple[GeneralizationHierarchy, ...]]:
    """The release by all its columns, and the hierarchies that its codes are of."""
    known = {hierarchy.attribute: hierarchy for hierarchy in hierarchies}
    used = tuple(known.get(name) or _hierarchy(original, name) for name in published.attributes)
    return release_table(published, published.attributes, used, Ground(original)), used


def _has_null(frequency_set: FrequencySet, name: str) -> bool:
    place = frequency_set.attributes.index(name)
    return bool((frequency_set.codes[:, place] == frequency_set.hierarchies[place].null_code).any())


def _merged(table: GeneralizedTable) -> GeneralizedTable:
    return table.project(table.attributes)


def _original_codes(
    frequency_set: FrequencySet,
    attributes: Sequence[str],
    hierarchies: Sequence[GeneralizationHierarchy],
) -> NDArray[np.int64]:
    return recoded(frequency_set.codes, frequency_set, attributes, hierarchies)


def recoded(
    codes: NDArray[np.int64],
    frequency_set: FrequencySet,
    attributes: Sequence[str],
    hierarchies: Sequence[GeneralizationHierarchy],
) -> NDArray[np.int64]:
    """Codes of the frequency set's hierarchies as codes of others that have all their leaves."""
    found = np.empty((len(codes), len(attributes)), dtype=np.int64)
    for i, (name, hierarchy) in enumerate(zip(attributes, hierarchies, strict=True)):
        place = frequency_set.attributes.index(name)
        leaves = frequency_set.hierarchies[place].leaves
        map_to = np.array([*(hierarchy.code_of_leaf[leaf] for leaf in leaves), hierarchy.null_code])
        found[:, i] = map_to[codes[:, place]]
    return found


def _exact_table(
    hierarchies: Sequence[GeneralizationHierarchy], codes: NDArray[np.int64], counts: NDArray[np.int64]
) -> GeneralizedTable:
    shown, rows = merged(codes, counts)
    cells = tuple(exact_cells(h.attribute, h.leaves) for h in hierarchies)
    return GeneralizedTable(cells, shown, rows)
