"""Groups that a recoding makes: the equivalence classes of any generalization (Zhang et al. 2007).

A full-domain node, or a recoding of any model, says which rows look alike; those are the groups. Because
such classes were made for another objective (k, entropy l, t-closeness), some may fail (k,e). By default
that is an error that says how many. Merged, the rows of all failing classes make one group, and where that
fails too it joins the smallest class that does not: the union of a group that meets (k,e) with any rows
meets it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, RequirementNotMet
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.model.permutation import GroupRequirement
from discreet.permutation.draw import Draw, draw_order
from discreet.permutation.group_facts import group_facts
from discreet.permutation.min_sum import Need
from discreet.permutation.value_runs import ValueRuns


def recoding_groups(
    runs: ValueRuns,
    need: Need,
    classes: NDArray[np.int64],
    requirement: GroupRequirement,
    *,
    merge_failing: bool,
) -> NDArray[np.int64]:
    """The group of each row from its class, rows of no class (``SUPPRESSED``) counting as a failing one.

    Raises ``RequirementNotMet`` where a class fails and ``merge_failing`` is False.
    """
    _, groups = np.unique(classes, return_inverse=True)
    facts = group_facts(runs, groups, int(groups.max()) + 1)
    failing = ~facts.meets(need.k, need.e)
    if (classes == SUPPRESSED).any():
        failing[0] = True
    if not failing.any():
        return groups
    if not merge_failing:
        rows = int(facts.rows[failing].sum())
        raise RequirementNotMet(
            f"{int(failing.sum()):,} of {facts.count:,} classes, {rows:,} rows, do not meet {requirement}",
            allowed="classes that meet it as groups, or merging those that do not",
            advice="Generalize further, ask for less, or let failing classes be merged.",
        )
    merged = np.flatnonzero(failing)
    groups[failing[groups]] = merged[0]
    rest = group_facts(runs, groups, facts.count)
    if not bool(rest.meets(need.k, need.e)[merged[0]]) and not failing.all():
        rows_of = np.where(failing, np.iinfo(np.int64).max, facts.rows)
        groups[groups == merged[0]] = int(rows_of.argmin())
    return np.unique(groups, return_inverse=True)[1]


def classes_of_node(
    hierarchies: Sequence[GeneralizationHierarchy], node: LatticeNode, codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The class of each row at a full-domain node; ``codes``, (rows, attributes), are leaf codes."""
    classes = np.zeros(len(codes), dtype=np.int64)
    for attribute, (hierarchy, level) in enumerate(zip(hierarchies, node, strict=True)):
        shown = hierarchy.level_map(level)[codes[:, attribute]]
        classes = np.unique(classes * (int(shown.max(initial=0)) + 1) + shown, return_inverse=True)[1]
    return classes


def classes_of_recoding(
    recoding: ClassRecoding, row_types: NDArray[np.int64], draw: Draw = draw_order
) -> NDArray[np.int64]:
    """The class of each row, given its row type; ``SUPPRESSED`` for none.

    Where a row type's rows lie in several classes, which row goes where is drawn. ``InputError`` where the
    rows are not those that the recoding counted.
    """
    order = draw(len(row_types))
    order = order[np.argsort(row_types[order], kind="stable")]
    counted = np.repeat(recoding.row_types, recoding.rows)
    if not np.array_equal(counted, row_types[order]):
        raise InputError("the recoding counts other rows than these", advice="Recode this very table.")
    classes = np.empty(len(row_types), dtype=np.int64)
    classes[order] = np.repeat(recoding.classes, recoding.rows)
    return classes
