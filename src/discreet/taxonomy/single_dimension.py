"""Single-dimension recodings: one function per attribute, from its occurring values to what they show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.model.cells import Cells
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.taxonomy.class_counts import ClassCounts, classes_of_columns
from discreet.taxonomy.value_tree import ValueTree


def recoding_of_columns(
    frequency_set: FrequencySet,
    counts: ClassCounts,
    columns: Sequence[NDArray[np.int64]],
    cells: Sequence[Cells],
    model: RecodingModel,
) -> ClassRecoding:
    """The recoding in which row type t shows ``cells[i].labels[columns[i][t]]``.

    Failing classes are suppressed. Rows that show the same are one class.
    """
    sizes = [len(c.labels) for c in cells]
    class_of = classes_of_columns(columns, sizes)
    number = int(class_of.max(initial=-1)) + 1
    failing = counts.suppressed(class_of, number)
    renumbered = np.where(failing, SUPPRESSED, np.cumsum(~failing) - 1)
    first = np.zeros(number, dtype=np.int64)
    first[class_of[::-1]] = np.arange(len(class_of))[::-1]
    kept = first[~failing]
    return ClassRecoding(
        model=model,
        attributes=frequency_set.attributes,
        requirement=counts.requirement,
        cells=tuple(cells),
        shown=np.stack([column[kept] for column in columns], axis=1),
        row_types=np.arange(frequency_set.row_types),
        classes=renumbered[class_of],
        rows=frequency_set.counts,
    )


def lost_by_columns(
    counts: ClassCounts, trees: Sequence[ValueTree], columns: Sequence[NDArray[np.int64]]
) -> float:
    """The loss of a recoding of hierarchy values; rows of failing classes lose everything."""
    class_of = classes_of_columns(columns, [len(tree.labels) for tree in trees])
    failing = counts.failing(class_of, int(class_of.max(initial=-1)) + 1)[class_of]
    each = sum(tree.cost[column] for tree, column in zip(trees, columns, strict=True))
    most = sum(tree.most for tree in trees)
    return float((np.where(failing, most, each) * counts.rows).sum())
