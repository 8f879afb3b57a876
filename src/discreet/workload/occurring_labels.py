"""The values that occur in every class which shows a label: the ends of ranges, members of sets."""

from __future__ import annotations

from decimal import Decimal

from discreet.frequency.class_cells import Summary
from discreet.model.group_labels import range_ends
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.leaf_order import decimal_of, leaf_order
from discreet.workload.labels import set_members
from discreet.workload.number_labels import mean_label, number_range

OCCURRING = (Summary.RANGES, Summary.MEANS, Summary.SETS)
"""Summaries whose ends are values that occur in each class."""

_ELLIPSIS = " … "


def occurring_leaves(label: str, summary: str | None, hierarchy: GeneralizationHierarchy) -> tuple[str, ...]:
    """Return the leaves that occur, in order; none where a label is one leaf, or says nothing of its rows."""
    leaves = hierarchy.code_of_leaf
    if summary not in OCCURRING or label in leaves:
        return ()
    inner = _inner(label, summary)
    if inner.startswith("{") and inner.endswith("}"):
        members = set_members(inner[1:-1], leaves) or []
    else:
        rank = leaf_order(hierarchy).rank
        pairs = ((a, b) for a, b in range_ends(inner) if a in leaves and b in leaves)
        members = list(next((pair for pair in pairs if rank[leaves[pair[0]]] < rank[leaves[pair[1]]]), ()))
    return tuple(dict.fromkeys(members))


def occurring_numbers(
    label: str, summary: str | None, members: tuple[str, ...] | None
) -> tuple[Decimal, ...]:
    """Return the numbers that occur, ascending; ``members`` are those of a label that is a set."""
    if summary not in OCCURRING:
        return ()
    if members is not None:
        numbers = {decimal_of(member) for member in members}
        return (
            tuple(sorted(number for number in numbers if number is not None)) if None not in numbers else ()
        )
    inner = _inner(label, summary)
    told = number_range(inner) if _ELLIPSIS in inner else None
    if told is None or told.low is None or told.high is None or told.low >= told.high:
        return ()
    return (told.low, told.high)


def _inner(label: str, summary: str | None) -> str:
    """The range or set of a label that states a mean, else the label."""
    told = mean_label(label) if summary == Summary.MEANS else None
    return label if told is None else told[1]
