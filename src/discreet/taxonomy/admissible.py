"""Whether a recoding is one of a model: the definitions of the taxonomy, as tests.

A recoding says what happens to the rows that there are. It is admissible under a global model where a
function on the whole domain, of the model's kind, does the same to them; what it does to vectors that do not
occur is free as long as the model does not bind it (a full-subgraph recoding binds the whole subgraph, so its
boxes must be disjoint, occupied or not). Suppressed rows show nothing and bind nothing.

The definitions are those of LeFevre et al. (2005, section 5). Where they are silent: NULL is a value under
the top; in an order it comes last; a relaxed partition asks only that each class's region holds its rows,
which may belong to several regions (LeFevre et al. 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import leaf_order

Reason = str | None
_FEW = 48
_PAIRS_AT_ONCE = 1 << 20


def inadmissible(
    recoding: ClassRecoding, frequency_set: FrequencySet, model: RecodingModel | None = None
) -> str | None:
    """Why a recoding is none of the model (its own, where None), or None where it is one.

    The reason names attributes, never a value. O(parts · attributes), and a sort per attribute.
    """
    facts = _Facts.of(recoding, frequency_set)
    tests = _TESTS[model or recoding.model]
    return next((reason for test in (_covers, *tests) if (reason := test(facts)) is not None), None)


@dataclass(frozen=True, eq=False)
class _Facts:
    """The kept parts: leaf codes and shown texts (by number), of shape ``(parts, attributes)``."""

    recoding: ClassRecoding
    hierarchies: tuple[GeneralizationHierarchy, ...]
    types: NDArray[np.int64]
    classes: NDArray[np.int64]
    codes: NDArray[np.int64]
    shown: NDArray[np.int64]
    cells: tuple[Cells, ...]

    @classmethod
    def of(cls, recoding: ClassRecoding, frequency_set: FrequencySet) -> _Facts:
        kept = recoding.classes != SUPPRESSED
        types, classes = recoding.row_types[kept], recoding.classes[kept]
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
        """Each leaf code of attribute i with each cell that it shows, ascending."""
        number = max(len(self.cells[i].labels), 1)
        found = np.unique(self.codes[:, i] * number + self.shown[:, i]).tolist()
        return [divmod(pair, number) for pair in found]

    def texts(self, i: int) -> list[tuple[int, str | None]]:
        """Each leaf code of attribute i with each text that it shows."""
        return list(dict.fromkeys((code, self.cells[i].labels[cell]) for code, cell in self.pairs(i)))


def _covers(facts: _Facts) -> Reason:
    for i, cells in enumerate(facts.cells):
        if not cells.cover(facts.shown[:, i], facts.codes[:, i]).all():
            return f"a cell of '{cells.attribute}' does not stand for the value of a row that shows it"
    return None


def _is_global(facts: _Facts) -> Reason:
    """Rows that agree in every quasi-identifier are recoded alike."""
    types = facts.recoding.row_types
    suppressed = types[facts.recoding.classes == SUPPRESSED]
    if np.isin(suppressed, facts.types).any():
        return "rows that agree in every quasi-identifier are suppressed in part"
    repeated = np.flatnonzero(np.diff(facts.types) == 0)
    if (facts.shown[repeated] != facts.shown[repeated + 1]).any():
        return "rows that agree in every quasi-identifier show different values"
    return None


def _is_single_dimension(facts: _Facts) -> Reason:
    """What an attribute shows depends on its own value alone."""
    for i, cells in enumerate(facts.cells):
        texts = facts.texts(i)
        if len({code for code, _ in texts}) < len(texts):
            return f"a value of '{cells.attribute}' shows different values in different classes"
    return None


def _is_hierarchical(facts: _Facts) -> Reason:
    """Each cell shows the value itself or one above it."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        for cell in sorted({cell for _, cell in facts.pairs(i)}):
            if _box(cells, cell, hierarchy) is None:
                return f"'{cells.attribute}' shows a text that is no value of its hierarchy"
    return None


def _box(cells: Cells, cell: int, hierarchy: GeneralizationHierarchy) -> tuple[int, int] | None:
    """The codes under a hierarchy's value that a cell shows, NULL's under the top; None for another text."""
    label, null = cells.labels[cell], hierarchy.null_code
    first, last = int(cells.first[cells.offsets[cell]]), int(cells.last[cells.offsets[cell]])
    if cells.offsets[cell + 1] - cells.offsets[cell] != 1:
        return None
    if label is None:
        return (null, null) if first == last == null else None
    for level, labels in enumerate(hierarchy.labels):
        if label in labels:
            top = level == hierarchy.height
            place = labels.index(label)
            ends = np.searchsorted(hierarchy.ancestors[level], [place, place + 1])
            box = int(ends[0]), null if top else int(ends[1]) - 1
            if (first, last) in {box, (box[0], int(ends[1]) - 1)}:
                return box if level else (first, last)
    return None


def _is_one_level(facts: _Facts) -> Reason:
    """Every value of an attribute shows its generalization at one level."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        texts = facts.texts(i)
        if not any(_at_level(texts, hierarchy, level) for level in range(hierarchy.height + 1)):
            return f"no level of '{cells.attribute}' is what all its values show"
    return None


def _at_level(texts: list[tuple[int, str | None]], hierarchy: GeneralizationHierarchy, level: int) -> bool:
    places = hierarchy.level_map(level)
    labels = (*hierarchy.labels[level], None)
    return all(labels[places[code]] == text for code, text in texts)


def _is_attribute_suppression(facts: _Facts) -> Reason:
    """An attribute is as it was, or shows its top throughout."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        texts = facts.texts(i)
        if not any(_at_level(texts, hierarchy, level) for level in {0, hierarchy.height}):
            return f"'{cells.attribute}' is neither left as it is nor suppressed throughout"
    return None


def _keeps_subtrees(facts: _Facts) -> Reason:
    """Where a value shows g, so does every value under g."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        texts = dict(facts.texts(i))
        for cell in sorted({cell for _, cell in facts.pairs(i)}):
            box = _box(cells, cell, hierarchy)
            assert box is not None
            if any(text != cells.labels[cell] for code, text in texts.items() if box[0] <= code <= box[1]):
                return f"a value of '{cells.attribute}' is shown for some of the values under it alone"
    return None


def _has_intervals(facts: _Facts) -> Reason:
    """The values that show the same are neighbours in the attribute's order."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        rank = leaf_order(hierarchy).rank
        in_order = [text for _, text in sorted((int(rank[code]), text) for code, text in facts.texts(i))]
        runs = sum(a != b for a, b in pairwise(in_order)) + 1
        if in_order and runs > len(set(in_order)):
            return f"the values of '{cells.attribute}' that show the same are no interval"
    return None


def _has_disjoint_subgraphs(facts: _Facts) -> Reason:
    """The boxes of leaves under what classes show do not meet."""
    shown = np.unique(facts.shown, axis=0)
    low, high = np.zeros_like(shown), np.zeros_like(shown)
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        for cell in np.unique(shown[:, i]).tolist():
            box = _box(cells, cell, hierarchy)
            assert box is not None
            low[shown[:, i] == cell, i], high[shown[:, i] == cell, i] = box
    if overlap(low, high):
        return "two classes stand for subgraphs that overlap"
    return None


def _has_disjoint_regions(facts: _Facts) -> Reason:
    """The smallest boxes that hold the rows of each class do not meet; classes that show the same are one."""
    if not len(facts.types):
        return None
    by_text = np.unique(facts.shown, axis=0, return_inverse=True)[1].ravel()
    if _regions_meet(facts, facts.classes) and _regions_meet(facts, by_text):
        return "the regions of two classes overlap"
    return None


def _regions_meet(facts: _Facts, class_of: NDArray[np.int64]) -> bool:
    number = int(class_of.max()) + 1
    present = np.bincount(class_of, minlength=number) > 0
    low = np.zeros((number, len(facts.cells)), dtype=np.int64)
    high = np.zeros_like(low)
    for i, hierarchy in enumerate(facts.hierarchies):
        ranks = leaf_order(hierarchy).rank[facts.codes[:, i]]
        low[:, i] = hierarchy.null_code
        np.minimum.at(low[:, i], class_of, ranks)
        np.maximum.at(high[:, i], class_of, ranks)
    return overlap(low[present], high[present])


def _is_cell_suppression(facts: _Facts) -> Reason:
    """Each cell shows the row's own value or the top."""
    for i, (cells, hierarchy) in enumerate(zip(facts.cells, facts.hierarchies, strict=True)):
        own = (*hierarchy.leaves, None)
        top = hierarchy.labels[-1][0]
        if any(text not in (own[code], top) for code, text in facts.texts(i)):
            return f"a cell of '{cells.attribute}' is neither left as it is nor suppressed"
    return None


_TESTS: dict[str, tuple[Callable[[_Facts], Reason], ...]] = {
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


def overlap(low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    """Whether two of the boxes ``low[b] … high[b]`` (both inclusive), shape ``(boxes, attributes)``, meet.

    Boxes that a cut through one attribute parts are compared no more. Where no cut parts a group of boxes
    they are compared pair by pair: quadratic, which only pinwheels need; boxes made by cutting do not.
    """
    waiting = [np.arange(len(low))]
    while waiting:
        boxes = waiting.pop()
        groups = _parted(low[boxes], high[boxes]) if len(boxes) > _FEW else None
        if groups is not None:
            waiting += [boxes[group] for group in groups]
        elif _some_pair_meets(low[boxes], high[boxes]):
            return True
    return False


def _parted(low: NDArray[np.int64], high: NDArray[np.int64]) -> list[NDArray[np.int64]] | None:
    """The groups that cuts through one attribute part, or None where no attribute has such a cut."""
    for i in range(low.shape[1]):
        order = np.argsort(low[:, i], kind="stable")
        reached = np.maximum.accumulate(high[order, i])
        cuts = np.flatnonzero(low[order[1:], i] > reached[:-1]) + 1
        if len(cuts):
            return np.split(order, cuts)
    return None


def _some_pair_meets(low: NDArray[np.int64], high: NDArray[np.int64]) -> bool:
    step = max(1, _PAIRS_AT_ONCE // max(len(low), 1))
    for start in range(0, len(low), step):
        end = min(start + step, len(low))
        meet = np.arange(start, end)[:, None] < np.arange(len(low))
        for i in range(low.shape[1]):
            meet &= (low[start:end, i, None] <= high[:, i]) & (low[:, i] <= high[start:end, i, None])
        if meet.any():
            return True
    return False
