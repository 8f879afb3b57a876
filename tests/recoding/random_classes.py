"""Random class recodings: split row types, suppressed rows, classes with equal labels."""

from __future__ import annotations

import numpy as np

from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.published_cells import Cells
from discreet.model.requirement import Requirement
from discreet.model.search_result import SuppressionPolicy


def random_classes(
    random: np.random.Generator,
    frequency_set: FrequencySet,
    requirement: Requirement,
    *,
    split: bool,
    suppress: bool,
    suppression: SuppressionPolicy = SuppressionPolicy.DROP,
) -> ClassRecoding:
    """Assign row types to random classes, some in parts; a class shows the set of its leaves."""
    number = int(random.integers(1, frequency_set.row_types + 1))
    parts: list[tuple[int, int, int]] = []
    for t, count in enumerate(frequency_set.counts.tolist()):
        left = int(count)
        lowest = SUPPRESSED if suppress else 0
        classes = random.permutation(np.arange(lowest, number))[: 1 + (3 if split else 0)]
        for c in classes.tolist():
            rows = int(random.integers(0, left + 1)) if c != classes[-1] else left
            parts += [(t, c, rows)] if rows else []
            left -= rows
    parts.sort()
    members: dict[int, list[int]] = {}
    for t, c, _ in parts:
        members.setdefault(c, []).append(t)
    kept = sorted(c for c in members if c >= 0)
    renumber = {c: i for i, c in enumerate(kept)} | {SUPPRESSED: SUPPRESSED}
    cells, shown = [], []
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        sets = [tuple(sorted({int(frequency_set.codes[t, i]) for t in members[c]})) for c in kept]
        found = sorted(set(sets))
        cells.append(cells_of_sets(hierarchy.attribute, (*hierarchy.leaves, None), found))
        shown.append([found.index(s) for s in sets])
    return ClassRecoding(
        model=RecodingModel.CELL_GENERALIZATION,
        attributes=frequency_set.attributes,
        requirement=requirement,
        cells=tuple(cells),
        shown=np.array(shown, dtype=np.int64).T.reshape(len(kept), len(cells)),
        row_types=np.array([t for t, _, _ in parts], dtype=np.int64),
        classes=np.array([renumber[c] for _, c, _ in parts], dtype=np.int64),
        rows=np.array([rows for _, _, rows in parts], dtype=np.int64),
        suppression=suppression,
    )


def cells_of_sets(attribute: str, own: tuple[str | None, ...], sets: list[tuple[int, ...]]) -> Cells:
    """Return one cell per set of codes; a single leaf keeps its text, and a set of only NULL stays NULL."""
    flat = np.array([code for s in sets for code in s], dtype=np.int64)
    labels = tuple(own[s[0]] if len(s) == 1 else "|".join(f"{own[c]!r}" for c in s) for s in sets)
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    return Cells(attribute, len(own) - 1, labels, offsets, flat, flat)
