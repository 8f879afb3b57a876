"""From classes of row types to a recoding: what each class shows of every quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.frequency.class_cells import Members, Summary, class_cells
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.leaf_order import leaf_order
from discreet.model.recoding import SuppressionPolicy
from discreet.model.requirement import Requirement

_TOLD_BY_MEANS = 3
"""Up to so many rows, the mean and both ends of the range tell each row's value."""


def classes_to_recoding(
    frequency_set: FrequencySet,
    classes: NDArray[np.int64],
    requirement: Requirement,
    model: str,
    summary: Summary = Summary.RANGES,
    *,
    row_types: NDArray[np.int64] | None = None,
    rows: NDArray[np.int64] | None = None,
    suppression: SuppressionPolicy = SuppressionPolicy.DROP,
    warnings: tuple[str, ...] = (),
    by_tree: bool = False,
) -> ClassRecoding:
    """The recoding in which part p, ``rows[p]`` rows of ``row_types[p]``, is in class ``classes[p]``.

    Without ``row_types`` and ``rows`` there is one part per row type. Classes are numbered from 0, each with
    a part; ``SUPPRESSED`` is none. ``by_tree`` as in ``class_cells``. Cost: a sort of the
    parts, then linear in parts and attributes.
    """
    if row_types is None:
        row_types = np.arange(frequency_set.row_types)
    if rows is None:
        rows = frequency_set.counts
    _check_parts(frequency_set, row_types, rows)
    if not _in_order(row_types, classes):
        order = np.lexsort((classes, row_types))
        row_types, classes, rows = row_types[order], classes[order], rows[order]
    members = _members(classes, rows)
    chosen = row_types[members.order]
    codes = [column[chosen] for column in np.ascontiguousarray(frequency_set.codes.T)]
    found = [
        class_cells(hierarchy, column, members, Summary(summary), by_tree=by_tree)
        for hierarchy, column in zip(frequency_set.hierarchies, codes, strict=True)
    ]
    return ClassRecoding(
        model=model,
        attributes=frequency_set.attributes,
        requirement=requirement,
        cells=tuple(cells for cells, _ in found),
        shown=np.stack([shown for _, shown in found], axis=1),
        row_types=row_types,
        classes=classes,
        rows=rows,
        suppression=suppression,
        warnings=(*warnings, *_warnings(frequency_set, codes, members, Summary(summary))),
    )


def _in_order(row_types: NDArray[np.int64], classes: NDArray[np.int64]) -> bool:
    steps = np.diff(row_types)
    return bool(((steps > 0) | ((steps == 0) & (np.diff(classes) > 0))).all())


def _check_parts(
    frequency_set: FrequencySet,
    row_types: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
    placed = np.zeros(frequency_set.row_types, dtype=np.int64)
    np.add.at(placed, row_types, rows)
    if not np.array_equal(placed, frequency_set.counts) or bool((rows < 1).any()):
        raise InternalError("the parts of a recoding do not add up to the rows of the row types")


def _members(classes: NDArray[np.int64], rows: NDArray[np.int64]) -> Members:
    order = np.argsort(classes, kind="stable")
    order = order[int((classes == SUPPRESSED).sum()) :]
    sorted_classes = classes[order]
    starts = np.flatnonzero(np.append(True, np.diff(sorted_classes) != 0)) if len(order) else order
    if not np.array_equal(sorted_classes[starts], np.arange(len(starts))):
        raise InternalError("the classes of a recoding are not numbered from 0 without a gap")
    return Members(order, starts, rows[order])


def _warnings(
    frequency_set: FrequencySet, codes: Sequence[NDArray[np.int64]], members: Members, summary: Summary
) -> tuple[str, ...]:
    """What the summary says of the data, for the publisher."""
    if summary is Summary.LCA or not len(members.starts):
        return ()
    if summary is Summary.SETS:
        return ("Sets show exactly which values occur in each class.",)
    found = ["Ranges end at values that occur in each class."]
    if summary is Summary.MEANS:
        sizes = np.add.reduceat(members.rows, members.starts)
        for hierarchy, column in zip(frequency_set.hierarchies, codes, strict=True):
            if leaf_order(hierarchy).numeric:
                found += _means_tell(hierarchy.attribute, column, members, sizes)
    return tuple(found)


def _means_tell(
    attribute: str, codes: NDArray[np.int64], members: Members, sizes: NDArray[np.int64]
) -> list[str]:
    collapsed = members.least(codes) == members.largest(codes)
    told = int((~collapsed & (sizes <= _TOLD_BY_MEANS)).sum())
    single = int(collapsed.sum())
    found = []
    if told:
        found.append(
            f"Means of '{attribute}': in {told:,} of {len(sizes):,} classes, of at most {_TOLD_BY_MEANS} "
            "rows, mean and range together tell every row's value."
        )
    if single:
        found.append(
            f"Means of '{attribute}': in {single:,} of {len(sizes):,} classes the range is one value, "
            "which is then every row's."
        )
    return found
