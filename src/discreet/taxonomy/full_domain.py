"""Full-domain recoding and attribute suppression at their optimum (LeFevre et al. 2005, sections 2, 5.1.1).

Full-domain recoding generalizes every value of an attribute to one level; attribute suppression is
full-domain recoding with two levels. Both therefore search a lattice, and the least loss is a minimum over
the nodes within the limit of suppressed rows. A node's loss without suppression is a table sum and a lower
bound of its loss with it; nodes are visited in that order until the bound ends the search.

Cost: that of the evaluated lattice (``docs/evaluation.md``) unless candidate nodes are given; 2^d nodes for
the suppression of d attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NoSolution
from discreet.lattice.evaluation import evaluate_lattice
from discreet.measures.recoding_metrics import level_shares
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.published_cells import Cells
from discreet.model.requirement import Requirement, is_growing
from discreet.settings import Settings
from discreet.taxonomy.class_counts import ClassCounts, number_classes_of_columns
from discreet.taxonomy.value_tree import build_recoding_of_columns

AttributeWeights = Mapping[str, float]
NodeBounds = tuple[LatticeNode, LatticeNode]
"""Lowest and highest allowed node."""

CandidateSource = Callable[[], tuple[NDArray[np.int64], NDArray[np.int64]] | None]
"""Function that returns nodes within the limit and the bounds, with the rows that each suppresses.

The nodes include every node of least loss and are in mixed-radix order; shapes ``(nodes, attributes)`` and
``(nodes,)``. None means that the lattice has to be evaluated. The function is not called if there is no
solution.
"""


def search_full_domain(
    frequency_set: FrequencySet,
    counts: ClassCounts,
    limit: int,
    settings: Settings,
    weights: AttributeWeights,
    bounds: NodeBounds | None = None,
    candidates: CandidateSource | None = None,
) -> ClassRecoding:
    """Return the recoding of least loss with at most ``limit`` suppressed rows.

    Raises ``NoSolution`` if there is none.
    """
    node = find_least_loss_node(frequency_set, counts, limit, settings, weights, bounds, candidates)
    levels = list(zip(frequency_set.hierarchies, node, strict=True))
    columns = [h.level_map(level)[frequency_set.codes[:, i]] for i, (h, level) in enumerate(levels)]
    cells = [level_cells(hierarchy, level) for hierarchy, level in levels]
    return build_recoding_of_columns(counts, columns, cells, RecodingModel.FULL_DOMAIN)


def search_attribute_suppression(
    frequency_set: FrequencySet,
    counts: ClassCounts,
    limit: int,
    settings: Settings,
    weights: AttributeWeights,
) -> ClassRecoding:
    """Return the attribute suppression of least loss with at most ``limit`` suppressed rows.

    Raises ``NoSolution`` if there is none.
    """
    flat = replace(frequency_set, hierarchies=tuple(map(keep_two_levels, frequency_set.hierarchies)))
    found = search_full_domain(flat, counts, limit, settings, weights)
    return replace(found, model=RecodingModel.ATTRIBUTE_SUPPRESSION)


def keep_two_levels(hierarchy: GeneralizationHierarchy) -> GeneralizationHierarchy:
    """Return the hierarchy with only its leaves and its top."""
    if hierarchy.height <= 1:
        return hierarchy
    labels = (hierarchy.labels[0], hierarchy.labels[-1])
    return replace(hierarchy, labels=labels, ancestors=(hierarchy.ancestors[0], hierarchy.ancestors[-1]))


def level_cells(hierarchy: GeneralizationHierarchy, level: int) -> Cells:
    """Return the values of a level as published cells, then NULL below the top (as in ``level_map``)."""
    ancestors, leaves = hierarchy.ancestors[level], hierarchy.null_code
    labels: tuple[str | None, ...] = hierarchy.labels[level]
    first = np.searchsorted(ancestors, np.arange(len(labels)))
    last = np.searchsorted(ancestors, np.arange(len(labels)), side="right") - 1
    if level == hierarchy.height:
        last[-1] = leaves
    else:
        labels, first, last = (*labels, None), np.append(first, leaves), np.append(last, leaves)
    return Cells(hierarchy.attribute, leaves, labels, np.arange(len(labels) + 1), first, last)


def find_least_loss_node(
    frequency_set: FrequencySet,
    counts: ClassCounts,
    limit: int,
    settings: Settings,
    weights: AttributeWeights,
    bounds: NodeBounds | None = None,
    candidates: CandidateSource | None = None,
    allowed: Callable[[LatticeNode], bool] | None = None,
) -> LatticeNode:
    """Return the node of least loss within the bounds that suppresses at most ``limit`` rows.

    ``allowed`` may reject nodes for another reason; it is called only for nodes that would be the best so
    far. It must not be combined with ``candidates``, which do not consider it. Raises ``NoSolution`` if
    there is no node.
    """
    requirement = counts.requirement
    # Otherwise a lower node may pass although the top fails, or the criterion is not one of single classes.
    if is_growing(requirement) and not counts.needs_levels:
        counts.require_solution(limit)
    known = None if candidates is None else candidates()
    levels, suppressed = known or _evaluate_nodes(frequency_set, requirement, limit, settings, bounds)
    shares = [level_shares(h) * weights.get(h.attribute, 1.0) for h in frequency_set.hierarchies]
    bound = np.zeros(len(levels))
    for i, share in enumerate(shares):
        at_levels = (share[:, frequency_set.codes[:, i]] * frequency_set.counts).sum(axis=1)
        bound += at_levels[levels[:, i]]
    best, least = None, np.inf
    for index in np.argsort(bound, kind="stable").tolist():
        if bound[index] >= least:
            break
        node: LatticeNode = tuple(levels[index].tolist())
        total_loss = float(bound[index])
        if suppressed[index]:
            total_loss = _loss_with_suppression(frequency_set, counts, node, shares)
        if total_loss < least and (allowed is None or allowed(node)):
            best, least = node, total_loss
    if best is None:
        raise NoSolution(
            f"no node meets {requirement} with at most {limit:,} rows suppressed",
            advice="Allow more suppressed rows, or relax the requirement. Nothing was written.",
        )
    return best


def _evaluate_nodes(
    frequency_set: FrequencySet,
    requirement: Requirement,
    limit: int,
    settings: Settings,
    bounds: NodeBounds | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all nodes within the limit and the bounds, and the rows that each suppresses."""
    evaluated = evaluate_lattice(frequency_set, settings, diversity=False, criteria=requirement.criteria)
    suppressed = evaluated.suppression(requirement)
    within = np.flatnonzero((suppressed <= limit) & _within_bounds(evaluated.lattice, bounds))
    shape = [height + 1 for height in evaluated.lattice.heights]
    return np.stack(np.unravel_index(within, shape), axis=1), suppressed[within]


def _within_bounds(lattice: Lattice, bounds: NodeBounds | None) -> NDArray[np.bool_]:
    """Return for each node, by its index, whether it is within the bounds."""
    low, high = bounds or (lattice.bottom, lattice.top)
    result = np.ones(1, dtype=np.bool_)
    for least, most, top in zip(low, high, lattice.top, strict=True):
        levels = np.arange(top + 1)
        result = np.logical_and.outer(result, (levels >= least) & (levels <= most)).ravel()
    return result


def _loss_with_suppression(
    frequency_set: FrequencySet, counts: ClassCounts, node: LatticeNode, shares: list[NDArray[np.float64]]
) -> float:
    """Return a node's loss, with the greatest loss for rows in failing classes."""
    codes = frequency_set.codes
    hierarchies = frequency_set.hierarchies
    columns = [h.level_map(node[i])[codes[:, i]] for i, h in enumerate(hierarchies)]
    class_of = number_classes_of_columns(columns, [h.null_code + 1 for h in hierarchies])
    cell_codes = np.column_stack(columns)[np.unique(class_of, return_index=True)[1]]
    failing = counts.suppressed_at(node, class_of, cell_codes)[class_of]
    each = sum(share[node[i], codes[:, i]] for i, share in enumerate(shares))
    most = sum(float(share[-1].max(initial=0.0)) for share in shares)
    return float((np.where(failing, most, each) * counts.rows).sum())
