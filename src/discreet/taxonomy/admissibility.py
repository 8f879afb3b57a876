"""Admissibility, the check that a recoding belongs to a model (LeFevre et al. 2005, section 5).

A recoding states the published cells of the table's rows. It is admissible under a global model if some
function of the model's kind on the whole domain maps the rows in the same way; vectors that do not occur
are free unless the model constrains them (the boxes of a full-subgraph recoding must be disjoint, occupied
or not). Suppressed rows impose no constraint. Where the definitions are silent: NULL is a value under the
top and last in an order; a relaxed partition requires only that each class's region contains its rows
(LeFevre et al. 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy, order_leaves
from discreet.model.published_cells import Cells

InadmissibilityReason = str | None
_FEW_BOXES = 48
_PAIRS_PER_BATCH = 1 << 20


def find_inadmissibility(
    recoding: ClassRecoding, frequency_set: FrequencySet, model: RecodingModel | None = None
) -> str | None:
    """Return why a recoding does not belong to a model (by default its own), or None if it does.

    The reason names attributes, never a value. Cost: O(parts · attributes), and a sort per attribute.
    """
    facts = _PublishedParts.of(recoding, frequency_set)
    tests = _TESTS[model or recoding.model]
    return next((reason for test in (_covers, *tests) if (reason := test(facts)) is not None), None)


@dataclass(frozen=True, eq=False)
class _PublishedParts:
    """Kept parts: leaf codes and published cells (by number), of shape ``(parts, attributes)``."""

    recoding: ClassRecoding
    hierarchies: tuple[GeneralizationHierarchy, ...]
    types: NDArray[np.int64]
    classes: NDArray[np.int64]
    codes: NDArray[np.int64]
    shown: NDArray[np.int64]
    cells: tuple[Cells, ...]

    @classmethod
    def of(cls, recoding: ClassRecoding, frequency_set: FrequencySet) -> _PublishedParts:
        retained = recoding.classes != SUPPRESSED
        types, classes = recoding.row_types[retained], recoding.classes[retained]
        return cls(
            recoding=recoding,
            hierarchies=frequency_set.hierarchies,
            types=types,
            classes=classes,
            codes=frequency_set.codes[types],
            shown=recoding.shown[classes],
            cells=recoding.cells,
        )

    def pairs(self, i: int) -> list[tuple[int, int]]:
        """Return the distinct pairs of leaf code and published cell of attribute i, ascending."""
        number = max(len(self.cells[i].labels), 1)
        found = np.unique(self.codes[:, i] * number + self.shown[:, i]).tolist()
        return [divmod(pair, number) for pair in found]

    def texts(self, i: int) -> list[tuple[int, str | None]]:
        """Return the distinct pairs of leaf code and published text of attribute i."""
        return list(dict.fromkeys((code, self.cells[i].labels[cell]) for code, cell in self.pairs(i)))


def _covers(facts: _PublishedParts) -> InadmissibilityReason:
    for i, cells in enumerate(facts.cells):
        if not cells.cover(facts.shown[:, i], facts.codes[:, i]).all():
            return f"a cell of '{cells.attribute}' does not cover its row's value"
    return None


def _is_global(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that rows with equal quasi-identifiers are recoded alike."""
    types = facts.recoding.row_types
    suppressed = types[facts.recoding.classes == SUPPRESSED]
    if np.isin(suppressed, facts.types).any():
        return "rows with equal quasi-identifiers are only partly suppressed"
    repeated = np.flatnonzero(np.diff(facts.types) == 0)
    if (facts.shown[repeated] != facts.shown[repeated + 1]).any():
        return "rows with equal quasi-identifiers are recoded differently"
    return None


def _is_single_dimension(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that the published cell of an attribute depends only on the attribute's own value."""
    for i, cells in enumerate(facts.cells):
        texts = facts.texts(i)
        if len({code for code, _ in texts}) < len(texts):
            return f"a value of '{cells.attribute}' is recoded differently in different classes"
    return None


def _is_hierarchical(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that each cell contains the value itself or an ancestor."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        for cell in sorted({cell for _, cell in facts.pairs(i)}):
            if _leaf_box(cells, cell, hierarchy) is None:
                return f"'{cells.attribute}' contains a text that is not in its hierarchy"
    return None


def _leaf_box(cells: Cells, cell: int, hierarchy: GeneralizationHierarchy) -> tuple[int, int] | None:
    """Return the leaf codes under a cell's hierarchy value, NULL's under the top; None for another text."""
    label, null = cells.labels[cell], hierarchy.null_code
    first, last = int(cells.first[cells.offsets[cell]]), int(cells.last[cells.offsets[cell]])
    if cells.offsets[cell + 1] - cells.offsets[cell] != 1:
        return None
    if label is None:
        return (null, null) if first == last == null else None
    for level, labels in enumerate(hierarchy.labels):
        if label in labels:
            top = level == hierarchy.height
            leaf = labels.index(label)
            ends = np.searchsorted(hierarchy.ancestors[level], [leaf, leaf + 1])
            box = int(ends[0]), null if top else int(ends[1]) - 1
            if (first, last) in {box, (box[0], int(ends[1]) - 1)}:
                return box if level else (first, last)
    return None


def _is_one_level(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that all values of an attribute are generalized to the same level."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        texts = facts.texts(i)
        if not any(_is_at_level(texts, hierarchy, level) for level in range(hierarchy.height + 1)):
            return f"the values of '{cells.attribute}' are not all at one level"
    return None


def _is_at_level(texts: list[tuple[int, str | None]], hierarchy: GeneralizationHierarchy, level: int) -> bool:
    places = hierarchy.level_map(level)
    labels = (*hierarchy.labels[level], None)
    return all(labels[places[code]] == text for code, text in texts)


def _is_attribute_suppression(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that each attribute is either unchanged or suppressed to its top in all rows."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        texts = facts.texts(i)
        if not any(_is_at_level(texts, hierarchy, level) for level in {0, hierarchy.height}):
            return f"'{cells.attribute}' is neither unchanged nor completely suppressed"
    return None


def _keeps_subtrees(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that if one value is generalized to g, every value under g is."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        texts = dict(facts.texts(i))
        for cell in sorted({cell for _, cell in facts.pairs(i)}):
            box = _leaf_box(cells, cell, hierarchy)
            assert box is not None
            if any(text != cells.labels[cell] for code, text in texts.items() if box[0] <= code <= box[1]):
                return f"a value of '{cells.attribute}' generalizes only part of its subtree"
    return None


def _has_intervals(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that the values with the same published text are neighbours in the attribute's order."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        rank = order_leaves(hierarchy).rank
        in_order = [text for _, text in sorted((int(rank[code]), text) for code, text in facts.texts(i))]
        runs = sum(a != b for a, b in pairwise(in_order)) + 1
        if in_order and runs > len(set(in_order)):
            return f"the values of '{cells.attribute}' with equal cells are not an interval"
    return None


def _has_disjoint_subgraphs(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that the boxes of leaves under the classes' published cells are disjoint."""
    distinct_cells = np.unique(facts.shown, axis=0)
    low, high = np.zeros_like(distinct_cells), np.zeros_like(distinct_cells)
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        for cell in np.unique(distinct_cells[:, i]).tolist():
            box = _leaf_box(cells, cell, hierarchy)
            assert box is not None
            low[distinct_cells[:, i] == cell, i], high[distinct_cells[:, i] == cell, i] = box
    if boxes_overlap(low, high):
        return "the subgraphs of two classes overlap"
    return None


def _has_disjoint_regions(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that the bounding boxes of the classes are disjoint; classes with equal cells count as one."""
    if not len(facts.types):
        return None
    by_text = np.unique(facts.shown, axis=0, return_inverse=True)[1].ravel()
    if _regions_meet(facts, facts.classes) and _regions_meet(facts, by_text):
        return "the regions of two classes overlap"
    return None


def _regions_meet(facts: _PublishedParts, class_of: NDArray[np.int64]) -> bool:
    number = int(class_of.max()) + 1
    present = np.bincount(class_of, minlength=number) > 0
    low = np.zeros((number, len(facts.cells)), dtype=np.int64)
    high = np.zeros_like(low)
    for i, hierarchy in enumerate(facts.hierarchies):
        ranks = order_leaves(hierarchy).rank[facts.codes[:, i]]
        low[:, i] = hierarchy.null_code
        np.minimum.at(low[:, i], class_of, ranks)
        np.maximum.at(high[:, i], class_of, ranks)
    return boxes_overlap(low[present], high[present])


def _is_cell_suppression(facts: _PublishedParts) -> InadmissibilityReason:
    """Check that each cell contains the row's own value or the top."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        own = (*hierarchy.leaves, None)
        top = hierarchy.labels[-1][0]
        if any(text not in (own[code], top) for code, text in facts.texts(i)):
            return f"a cell of '{cells.attribute}' is neither unchanged nor suppressed"
    return None


_TESTS: dict[str, tuple[Callable[[_PublishedParts], InadmissibilityReason], ...]] = {
    RecodingModel.FULL_DOMAIN: (_is_global, _is_single_dimension, _is_one_level),
    RecodingModel.ATTRIBUTE_SUPPRESSION: (_is_global, _is_single_dimension, _is_attribute_suppression),
    RecodingModel.FULL_SUBTREE: (_is_global, _is_single_dimension, _is_hierarchical, _keeps_subtrees),
    RecodingModel.UNRESTRICTED_SINGLE: (_is_global, _is_single_dimension, _is_hierarchical),
    RecodingModel.ORDERED_SINGLE: (_is_global, _is_single_dimension, _has_intervals),
    RecodingModel.FULL_SUBGRAPH: (_is_global, _is_hierarchical, _has_disjoint_subgraphs),
    RecodingModel.UNRESTRICTED_MULTI: (_is_global, _is_hierarchical),
    RecodingModel.ORDERED_MULTI: (_is_global, _has_disjoint_regions),
    RecodingModel.RELAXED_MULTI: (),
    RecodingModel.CELL_SUPPRESSION: (_is_cell_suppression,),
    RecodingModel.CELL_GENERALIZATION: (_is_hierarchical,),
}


def boxes_overlap(low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    """Check whether any two of the boxes ``low[b] … high[b]`` (both inclusive) overlap.

    ``low`` and ``high`` have shape ``(boxes, attributes)``. Boxes that a cut through one attribute
    separates are not compared. Groups without such a cut are compared pairwise in quadratic time, which
    only pinwheels need; boxes produced by cutting do not.
    """
    waiting = [np.arange(len(low))]
    while waiting:
        boxes = waiting.pop()
        groups = _groups_of_cuts(low[boxes], high[boxes]) if len(boxes) > _FEW_BOXES else None
        if groups is not None:
            waiting += [boxes[group] for group in groups]
        elif _some_pair_meets(low[boxes], high[boxes]):
            return True
    return False


def _groups_of_cuts(low: NDArray[np.int64], high: NDArray[np.int64]) -> list[NDArray[np.int64]] | None:
    """Return the groups that cuts through one attribute separate, or None if no attribute has such a cut."""
    for i in range(low.shape[1]):
        order = np.argsort(low[:, i], kind="stable")
        reached = np.maximum.accumulate(high[order, i])
        cuts = np.flatnonzero(low[order[1:], i] > reached[:-1]) + 1
        if len(cuts):
            return np.split(order, cuts)
    return None


def _some_pair_meets(low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    step = max(1, _PAIRS_PER_BATCH // max(len(low), 1))
    for start in range(0, len(low), step):
        end = min(start + step, len(low))
        meet = np.arange(start, end)[:, None] < np.arange(len(low))
        for i in range(low.shape[1]):
            meet &= (low[start:end, i, None] <= high[:, i]) & (low[:, i] <= high[start:end, i, None])
        if meet.any():
            return True
    return False
