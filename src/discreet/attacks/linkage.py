"""Linkage attack (Sweeney 2002) and journalist risk by files of people.

A row may be a person's if each of its cells covers the file's value. A missing value of the file excludes no
row; a NULL of the release excludes persons whose value is known, except at the top of the hierarchy. An
attacker who picks one of M matching rows is right with chance 1/M if the person is in the release. With a key
shared by file and original, the expected number of correct links is computed; a row that several classes
cover is divided among them in proportion to their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.outside_records import (
    OutsideRecords,
    build_flat_hierarchy,
    encode_records,
    extend_hierarchy,
    find_candidate_classes,
    read_outside,
)
from discreet.attacks.published_table import ReleaseClasses
from discreet.attacks.reidentification_risk import PopulationRisk, compute_journalist_risk
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable, exact_cells, merge_equal_groups
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.settings import Settings
from discreet.workload.answerable_table import read_original
from discreet.workload.published_labels import read_cells

MATCH_STEPS = (0, 1, 2, 5, 10, 20, 50, 100)
"""Lower bounds of the histogram's bins: numbers of matching rows."""


@dataclass(frozen=True)
class LinkageSide:
    """Result of the attack on one table.

    ``unique`` records match exactly one row. ``histogram[i]`` records match at least ``MATCH_STEPS[i]`` rows
    and fewer than the next step. ``known`` records have a key of the original; ``correct`` is their expected
    number of correct links. Both are None where no key was given.
    """

    records: int
    matched: int
    unique: int
    median: float | None
    expected_if_present: float
    histogram: tuple[int, ...]
    known: int | None = None
    correct: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the JSON document's part."""
        return {
            "records": self.records,
            "matched": self.matched,
            "matched_one_row": self.unique,
            "median_matches": self.median,
            "expected_if_present": self.expected_if_present,
            "matches": dict(zip(map(str, MATCH_STEPS), self.histogram, strict=True)),
            "known": self.known,
            "expected_correct": self.correct,
        }


@dataclass(frozen=True)
class Linkage:
    """Result of the attack before (on the original) and after (on the release).

    ``columns`` are the matched pairs of the file's and the release's columns. ``incomplete`` records lack a
    matched value; ``unmatched_values`` counts records with a value that no leaf has.
    """

    columns: tuple[tuple[str, str], ...]
    incomplete: int
    unmatched_values: int
    before: LinkageSide | None
    after: LinkageSide

    def as_json(self) -> dict[str, Any]:
        """Return the JSON document's part."""
        return {
            "columns": [{"outside": outside, "release": release} for outside, release in self.columns],
            "incomplete_records": self.incomplete,
            "records_with_strange_values": self.unmatched_values,
            "before": None if self.before is None else self.before.as_json(),
            "after": self.after.as_json(),
        }


@dataclass(frozen=True, eq=False)
class TrueLinks:
    """True links: record ``records[j]`` is the person of ``rows[j]`` rows of row type ``row_types[j]``."""

    records: NDArray[np.int64]
    row_types: NDArray[np.int64]
    rows: NDArray[np.int64]


def count_matching_rows(table: GeneralizedTable, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count, for each record, the rows of a table that may be its person's."""
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    found = np.zeros(len(distinct), dtype=np.int64)
    for record, group in find_candidate_classes(table, distinct, unknown_matches=True):
        found += np.bincount(record, table.rows[group], minlength=len(distinct)).astype(np.int64)
    return found[inverse.reshape(-1)]


def count_covered_people(
    table: GeneralizedTable, codes: NDArray[np.int64], number: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count, for each group of a table, the people of a file who may be in it, without people with a NULL."""
    known = (codes != np.array([cells.leaves for cells in table.cells])).all(axis=1)
    codes, number = codes[known], number[known]
    result = np.zeros(table.groups, dtype=np.int64)
    for record, group in find_candidate_classes(table, codes, unknown_matches=False):
        result += np.bincount(group, number[record], minlength=table.groups).astype(np.int64)
    return result


def summarize_links(
    rows_matched: NDArray[np.int64],
    number: NDArray[np.int64],
    chances: NDArray[np.float64] | None = None,
    known: int | None = None,
) -> LinkageSide:
    """Summarize the attack's success; ``number`` is the number of occurrences of each record.

    ``chances`` are the chances of a right link per distinct record, where a key is known.
    """
    matched = rows_matched > 0
    steps = np.searchsorted(np.array(MATCH_STEPS), rows_matched, side="right") - 1
    histogram = np.bincount(steps, number, minlength=len(MATCH_STEPS)).astype(np.int64)
    return LinkageSide(
        records=int(number.sum()),
        matched=int(number[matched].sum()),
        unique=int(number[rows_matched == 1].sum()),
        median=_median(rows_matched[matched], number[matched]),
        expected_if_present=float((number[matched] / rows_matched[matched]).sum()),
        histogram=tuple(histogram.tolist()),
        known=known,
        correct=None if chances is None else float((chances * number).sum()),
    )


def compute_original_chances(
    pairs: TrueLinks,
    original: NDArray[np.int64],
    outside: NDArray[np.int64],
    nulls: NDArray[np.int64],
    rows_matched: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Compute each record's chance of a right link on the original.

    ``original`` and ``outside`` are leaf codes of row types and records in the matched columns, ``nulls`` the
    columns' codes of NULL.
    """
    theirs, mine = original[pairs.row_types], outside[pairs.records]
    agree = ((theirs == mine) | (mine == nulls)).all(axis=1)
    right = np.bincount(pairs.records, pairs.rows * agree, minlength=len(outside))
    return np.divide(right, rows_matched, out=np.zeros(len(outside)), where=rows_matched > 0)


def compute_release_chances(
    pairs: TrueLinks,
    release: GeneralizedTable,
    codes: NDArray[np.int64],
    matched: NDArray[np.int64],
    outside: NDArray[np.int64],
    rows_matched: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Compute each record's chance of a right link on the release.

    ``codes`` are the leaf codes of the original's row types in all attributes of ``release``; ``outside``
    those of the records in the attributes with the indices ``matched``.
    """
    occurring, inverse = np.unique(pairs.row_types, return_inverse=True)
    type_of, class_of = find_covering_classes(release, codes[occurring])
    starts = np.searchsorted(type_of, np.arange(len(occurring) + 1))
    weight = release.rows[class_of].astype(np.float64)
    # reduceat needs indices inside the array and returns an element for empty segments: append a zero and
    # reset those.
    class_weight = np.add.reduceat(np.append(weight, 0.0), np.minimum(starts[:-1], len(weight)))
    class_weight[np.diff(starts) == 0] = 0.0
    numbers = np.diff(starts)[inverse.reshape(-1)]
    pair = np.repeat(np.arange(len(pairs.records)), numbers)
    offset = np.arange(len(pair)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    entry = starts[inverse.reshape(-1)][pair] + offset
    covers = np.ones(len(pair), dtype=np.bool_)
    for column, attribute in enumerate(matched.tolist()):
        cells = release.cells[attribute]
        code = outside[pairs.records[pair], column]
        cell = release.shown[class_of[entry], attribute]
        everything = cells.sizes()[cell] == cells.leaves
        covers &= cells.cover(cell, code) | (code == cells.leaves) | ((code > cells.leaves) & everything)
    chance = weight[entry] * covers * pairs.rows[pair] / class_weight[inverse.reshape(-1)][pair]
    right = np.bincount(pairs.records[pair], chance, minlength=len(outside))
    return np.divide(right, rows_matched, out=np.zeros(len(outside)), where=rows_matched > 0)


def find_covering_classes(
    release: GeneralizedTable, codes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row types and the classes that cover them as pairs, sorted by row type."""
    blocks = list(find_candidate_classes(release, codes, unknown_matches=False))
    empty = np.empty(0, dtype=np.int64)
    types = np.concatenate([empty, *(block[0] for block in blocks)])
    classes = np.concatenate([empty, *(block[1] for block in blocks)])
    order = np.argsort(types, kind="stable")
    return types[order], classes[order]


def _median(values: NDArray[np.int64], number: NDArray[np.int64]) -> float | None:
    """Return the lower median of values with ``number`` occurrences each; None without values."""
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(number[order])
    return float(values[order][np.searchsorted(reached, (reached[-1] + 1) // 2)])


@dataclass(frozen=True, eq=False)
class OriginalTable:
    """Table from which a release was made."""

    spec: TableSpec
    frequency_set: FrequencySet


@dataclass(frozen=True, eq=False)
class CellInterpretation:
    """Interpretation of a release's cells: by the original, or by columns that are published unchanged."""

    original: OriginalTable | None
    exact: frozenset[str] = frozenset()

    @property
    def null_values(self) -> tuple[str, ...]:
        """Cell texts that are read as NULL."""
        return () if self.original is None else self.original.spec.source.null_values


def measure_linkage(
    engine: Engine,
    published: ReleaseClasses,
    outside: Path | SourceSpec,
    ground: CellInterpretation,
    settings: Settings,
    *,
    match: Mapping[str, str] | None = None,
    key: tuple[str, str] | None = None,
) -> Linkage:
    """Match the records of an outside file with a release, and with the original where it is known.

    Parameters
    ----------
    key
        A column of the file and one of the original that identify the same person.
    match
        Columns of the file and the quasi-identifiers that they match; None matches equal names.

    Raises
    ------
    InputError
        For a file that cannot be read, columns that do not match, and cells whose meaning is unknown.

    References
    ----------
    L. Sweeney (2002).
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
    hierarchies = extend_hierarchies(published, ground, records)
    codes = encode_records(records, hierarchies)
    nulls = np.array([hierarchy.null_code for hierarchy in hierarchies])
    release = build_release_table(published, records.attributes, hierarchies, ground)
    after = count_matching_rows(release.project(release.attributes), codes)
    before = None
    if ground.original is not None:
        counted = ground.original.frequency_set
        original = translate_codes(counted.codes, counted, records.attributes, hierarchies)
        cells = tuple(exact_cells(each.attribute, each.leaves) for each in hierarchies)
        table = GeneralizedTable(cells, *merge_equal_groups(original, counted.counts))
        before = count_matching_rows(table, codes)
    chances: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    known = None
    if key is not None and ground.original is not None and before is not None:
        truth = GroundTruth.of(engine, ground.original, records, key[1], settings)
        known = truth.known
        theirs = translate_codes(truth.codes, ground.original.frequency_set, records.attributes, hierarchies)
        full_table = build_full_release_table(published, ground.original, hierarchies)
        places = np.array([published.attributes.index(name) for name in records.attributes])
        all_codes = translate_codes(
            truth.codes, ground.original.frequency_set, published.attributes, full_table[1]
        )
        chances = (
            compute_original_chances(truth.pairs, theirs, codes, nulls, before),
            compute_release_chances(truth.pairs, full_table[0], all_codes, places, codes, after),
        )
    return Linkage(
        columns=tuple(zip(records.columns, records.attributes, strict=True)),
        incomplete=int(records.rows[(codes == nulls).any(axis=1)].sum()),
        unmatched_values=int(records.rows[(codes > nulls).any(axis=1)].sum()),
        before=None
        if before is None
        else summarize_links(before, records.rows, None if chances is None else chances[0], known),
        after=summarize_links(after, records.rows, None if chances is None else chances[1], known),
    )


def compute_population_risk(
    engine: Engine,
    published: ReleaseClasses,
    outside: Path | SourceSpec,
    ground: CellInterpretation,
    settings: Settings,
    threshold: Fraction,
    *,
    match: Mapping[str, str] | None = None,
) -> PopulationRisk:
    """Compute the journalist's risk from a population file; its columns match as those of an outside file."""
    records = read_outside(
        engine, outside, published.attributes, match, settings, null_values=ground.null_values
    )
    hierarchies = extend_hierarchies(published, ground, records)
    codes = encode_records(records, hierarchies)
    release = build_release_table(published, records.attributes, hierarchies, ground)
    release = release.project(release.attributes)
    people = count_covered_people(release, codes, records.rows)
    nulls = np.array([hierarchy.null_code for hierarchy in hierarchies])
    return compute_journalist_risk(
        release.rows,
        people,
        threshold,
        counted=records.total,
        incomplete=int(records.rows[(codes == nulls).any(axis=1)].sum()),
    )


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Pairs of records and row types by key, the row types' leaf codes, and the number of known records."""

    pairs: TrueLinks
    codes: NDArray[np.int64]
    known: int

    @classmethod
    def of(
        cls, engine: Engine, original: OriginalTable, records: OutsideRecords, key: str, settings: Settings
    ) -> GroundTruth:
        """Read the original once more with the key."""
        names = original.frequency_set.attributes
        others = () if key in names else (key,)
        table = read_original(engine, original.spec, original.frequency_set, others, settings)
        index = table.table.attributes.index(key)
        texts = (*table.domains[key].texts, None)
        groups_of: dict[str, list[int]] = {}
        for group, code in enumerate(table.table.shown[:, index].tolist()):
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
        pairs = TrueLinks(np.array(record, dtype=np.int64), groups, table.table.rows[groups])
        return cls(pairs, table.table.shown[:, : len(names)], known)


def extend_hierarchies(
    published: ReleaseClasses, ground: CellInterpretation, records: OutsideRecords
) -> tuple[GeneralizationHierarchy, ...]:
    """Return one hierarchy per matched column, with leaves for the file's values where its rule allows.

    Raise ``InputError`` for a generalized column of a release without its original.
    """
    found = []
    for i, name in enumerate(records.attributes):
        if ground.original is not None:
            source = next(a for a in ground.original.spec.quasi_identifiers if a.name == name).hierarchy
            found.append(extend_hierarchy(_find_hierarchy(ground.original, name), source, records.texts[i]))
        elif name in ground.exact:
            labels = published.labels[published.attributes.index(name)]
            plain_labels = [label for label in labels if label not in (None, "*")]
            found.append(
                build_flat_hierarchy(name, [*(str(label) for label in plain_labels), *records.texts[i]])
            )
        else:
            raise InputError(
                f"the meaning of the generalized cells of '{name}' is unknown",
                advice="Name the spec that the release was made with: --spec SPEC.",
            )
    return tuple(found)


def _find_hierarchy(original: OriginalTable, name: str) -> GeneralizationHierarchy:
    names = original.frequency_set.attributes
    if name not in names:
        raise InputError(
            f"the release's quasi-identifier '{name}' is none in {original.spec.label}",
            allowed=", ".join(names),
            advice="Attack a release with the spec that it was made with.",
        )
    return original.frequency_set.hierarchies[names.index(name)]


def build_release_table(
    published: ReleaseClasses,
    attributes: Sequence[str],
    hierarchies: Sequence[GeneralizationHierarchy],
    ground: CellInterpretation,
) -> GeneralizedTable:
    """Build the table of the release's classes by some of its columns, without merging equal groups."""
    cells, places = [], []
    for name, hierarchy in zip(attributes, hierarchies, strict=True):
        index = published.attributes.index(name)
        nullable = ground.original is None or _has_null(ground.original.frequency_set, name)
        cells.append(read_cells(hierarchy, published.labels[index], nullable=nullable).cells)
        places.append(index)
    return GeneralizedTable(tuple(cells), published.shown[:, places], published.rows)


def build_full_release_table(
    published: ReleaseClasses, original: OriginalTable, hierarchies: Sequence[GeneralizationHierarchy]
) -> tuple[GeneralizedTable, tuple[GeneralizationHierarchy, ...]]:
    """Build the release's table by all its columns; return it with the hierarchies of its codes."""
    known = {hierarchy.attribute: hierarchy for hierarchy in hierarchies}
    used = tuple(known.get(name) or _find_hierarchy(original, name) for name in published.attributes)
    return build_release_table(published, published.attributes, used, CellInterpretation(original)), used


def _has_null(frequency_set: FrequencySet, name: str) -> bool:
    index = frequency_set.attributes.index(name)
    return bool((frequency_set.codes[:, index] == frequency_set.hierarchies[index].null_code).any())


def translate_codes(
    codes: NDArray[np.int64],
    frequency_set: FrequencySet,
    attributes: Sequence[str],
    hierarchies: Sequence[GeneralizationHierarchy],
) -> NDArray[np.int64]:
    """Translate codes of the frequency set's hierarchies to hierarchies that contain all their leaves."""
    result = np.empty((len(codes), len(attributes)), dtype=np.int64)
    for i, (name, hierarchy) in enumerate(zip(attributes, hierarchies, strict=True)):
        index = frequency_set.attributes.index(name)
        leaves = frequency_set.hierarchies[index].leaves
        map_to = np.array([*(hierarchy.code_of_leaf[leaf] for leaf in leaves), hierarchy.null_code])
        result[:, i] = map_to[codes[:, index]]
    return result


IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OriginalColumns:
    """Groups of the original's rows that agree in all columns that were read.

    ``types`` is the row type and ``rows`` the number of rows of each group; ``codes`` are its cells by
    column, as indices into the column's ``texts``, or their number for NULL. Arrays have shape ``(groups,)``.
    """

    types: IntArray
    rows: IntArray
    codes: Mapping[str, IntArray]
    texts: Mapping[str, tuple[str, ...]]


def read_original_columns(
    engine: Engine, settings: Settings, original: OriginalTable, names: Sequence[str]
) -> OriginalColumns:
    """Read some columns of the original; raise ``InputError`` if its rows changed since it was counted."""
    counted = original.frequency_set
    further_columns = [name for name in dict.fromkeys(names) if name not in counted.attributes]
    read = read_original(engine, original.spec, counted, further_columns, settings)
    cell_codes, rows = read.table.shown, read.table.rows
    both = np.concatenate([counted.codes, cell_codes[:, : len(counted.attributes)]])
    inverse = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    type_of = np.zeros(int(inverse.max(initial=-1)) + 1, dtype=np.int64)
    type_of[inverse[: counted.row_types]] = np.arange(counted.row_types)
    types = type_of[inverse[counted.row_types :]]
    if (np.bincount(types, rows, minlength=counted.row_types) != counted.counts).any():
        raise InputError(
            f"the original has other rows now ({int(rows.sum()):,}) than when it was counted "
            f"({counted.rows:,})",
            advice="Open it again.",
        )
    columns = read.table.attributes
    return OriginalColumns(
        types,
        rows,
        {name: cell_codes[:, columns.index(name)] for name in names},
        {name: read.domains[name].texts for name in names},
    )
