"""Search of each model of the taxonomy, and the greedy for cell suppression.

Cell suppression (LeFevre et al. 2005, section 5.2) is a local recoding whose cells contain their own value
or ``*``; it is NP-hard for k of 3 and more. The greedy visits the patterns of kept attributes in order of
loss: rows that agree in a pattern and meet the requirement become a class. Remaining row types join the
class that loses least.

Cost: a pass over the remaining row types for each of the 2^d patterns, at most
``MOST_SUPPRESSED_ATTRIBUTES`` attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached
from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from discreet.taxonomy.class_counts import ClassCounts, number_classes_of_columns
from discreet.taxonomy.full_domain import (
    CandidateSource,
    find_least_loss_node,
    keep_two_levels,
    search_attribute_suppression,
    search_full_domain,
)
from discreet.taxonomy.ordered_single import search_ordered_single
from discreet.taxonomy.top_down_specialization import (
    merge_equal_classes,
    search_full_subgraph,
    search_full_subtree,
    search_unrestricted_multi,
    search_unrestricted_single,
)
from discreet.taxonomy.value_tree import build_value_trees

MOST_SUPPRESSED_ATTRIBUTES = 16


def search_cell_suppression(counts: ClassCounts, weights: Sequence[float]) -> ClassRecoding:
    """Return a cell suppression found by the greedy.

    Raises ``NoSolution`` if one class of all rows fails, and ``LimitReached`` for more than
    ``MOST_SUPPRESSED_ATTRIBUTES`` quasi-identifiers.
    """
    counts.require_solution(0)
    hierarchies = counts.table.hierarchies
    if len(hierarchies) > MOST_SUPPRESSED_ATTRIBUTES:
        raise LimitReached(
            f"{len(hierarchies)} quasi-identifiers have {1 << len(hierarchies):,} patterns",
            allowed=f"at most {MOST_SUPPRESSED_ATTRIBUTES} quasi-identifiers for the cell-suppression model",
            advice="Use the cell-generalization model, which supports any number.",
        )
    most_loss = np.array(
        [w * (h.null_code - 1) / h.null_code for w, h in zip(weights, hierarchies, strict=True)]
    )
    class_of = _join_leftovers(counts.table, _classes_by_patterns(counts, most_loss), most_loss)
    flat = replace(counts.table, hierarchies=tuple(map(keep_two_levels, hierarchies)))
    found = classes_to_recoding(
        flat, class_of, counts.requirement, RecodingModel.CELL_SUPPRESSION, Summary.LCA
    )
    return merge_equal_classes(found)


def iterate_patterns(most_loss: NDArray[np.float64]) -> Iterator[NDArray[np.bool_]]:
    """Yield the masks of attributes that keep their values, in ascending order of the loss of the others."""
    patterns = np.array(list(product((True, False), repeat=len(most_loss))))
    yield from patterns[np.argsort((~patterns) @ most_loss, kind="stable")]


def _classes_by_patterns(counts: ClassCounts, most_loss: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class of each row type, -1 for those that remain."""
    frequency_set = counts.table
    result = np.full(frequency_set.row_types, -1, dtype=np.int64)
    sizes = [hierarchy.null_code + 1 for hierarchy in frequency_set.hierarchies]
    left = np.arange(frequency_set.row_types)
    number = 0
    for pattern in iterate_patterns(most_loss):
        if not len(left):
            break
        attributes = np.flatnonzero(pattern).tolist()
        class_of = np.zeros(len(left), dtype=np.int64)
        if attributes:
            columns = [frequency_set.codes[left, i] for i in attributes]
            class_of = number_classes_of_columns(columns, [sizes[i] for i in attributes])
        leaves = ~counts.failing_types(class_of, left)
        numbers, renumbered = np.unique(class_of[leaves], return_inverse=True)
        result[left[leaves]] = number + renumbered
        number += len(numbers)
        left = left[~leaves]
    return result


def _join_leftovers(
    frequency_set: FrequencySet, class_of: NDArray[np.int64], most_loss: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Put each remaining row type into the class whose loss it increases least."""
    left = np.flatnonzero(class_of < 0)
    if not len(left):
        return class_of
    class_of = class_of.copy()
    retained = np.flatnonzero(class_of >= 0)
    number = int(class_of.max()) + 1
    rows = np.bincount(class_of[retained], frequency_set.counts[retained], minlength=number)
    first = np.zeros(number, dtype=np.int64)
    first[class_of[retained[::-1]]] = retained[::-1]
    values = frequency_set.codes[first]
    differs = frequency_set.codes[retained] != values[class_of[retained]]
    starred = np.zeros((number, len(most_loss)), dtype=np.bool_)
    np.logical_or.at(starred, class_of[retained], differs)
    for t in left.tolist():
        new = (values != frequency_set.codes[t]) & ~starred
        total_loss = (new @ most_loss) * rows + ((new | starred) @ most_loss) * frequency_set.counts[t]
        joined = int(total_loss.argmin())
        class_of[t] = joined
        starred[joined] |= new[joined]
        rows[joined] += frequency_set.counts[t]
    return class_of


SEARCHED_MODELS = (
    RecodingModel.FULL_DOMAIN,
    RecodingModel.ATTRIBUTE_SUPPRESSION,
    RecodingModel.FULL_SUBTREE,
    RecodingModel.UNRESTRICTED_SINGLE,
    RecodingModel.ORDERED_SINGLE,
    RecodingModel.FULL_SUBGRAPH,
    RecodingModel.UNRESTRICTED_MULTI,
    RecodingModel.CELL_SUPPRESSION,
)
"""Models that are searched in this package; ``mondrian`` and ``local`` contain the others."""

_SUPPRESSING_MODELS = (
    RecodingModel.FULL_SUBTREE,
    RecodingModel.UNRESTRICTED_SINGLE,
    RecodingModel.ORDERED_SINGLE,
)


def search_model(
    model: RecodingModel,
    frequency_set: FrequencySet,
    requirement: Requirement,
    settings: Settings,
    *,
    limit: int = 0,
    weights: Mapping[str, float] | None = None,
    candidates: CandidateSource | None = None,
) -> ClassRecoding:
    """Search a recoding of a model with small loss (``measures.recoding_metrics``, weighted by attribute).

    Parameters
    ----------
    model
        One of ``SEARCHED_MODELS``.
    frequency_set
        The counted table.
    requirement
        Criteria that each class must meet.
    settings
        Memory limit and threads.
    limit
        Greatest number of suppressed rows; only single-dimension models suppress rows.
    weights
        Factors of the loss of attributes, 1 by default.
    candidates
        Nodes of the lattice that may have the least loss, so that the lattice need not be evaluated.

    Returns
    -------
    ClassRecoding
        The recoding; optimal for full-domain recoding and attribute suppression.

    Raises
    ------
    NoSolution
        If nothing meets the requirement.
    LimitReached
        If a lattice does not fit the memory limit.
    InputError
        If subjects have several rows, a criterion is not monotone as the model's search requires, or the
        model is not in ``SEARCHED_MODELS``.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005, section 5.
    """
    if model not in SEARCHED_MODELS:
        raise InputError(f"the search does not support the {model} model", allowed=", ".join(SEARCHED_MODELS))
    counts = ClassCounts(frequency_set, requirement)
    if model not in (RecodingModel.FULL_DOMAIN, RecodingModel.ATTRIBUTE_SUPPRESSION):
        counts.require_merging(model, limit if model in _SUPPRESSING_MODELS else 0)
    factors = dict(weights or {})
    in_order = [factors.get(name, 1.0) for name in frequency_set.attributes]
    match model:
        case RecodingModel.FULL_DOMAIN:
            return search_full_domain(frequency_set, counts, limit, settings, factors, candidates=candidates)
        case RecodingModel.ATTRIBUTE_SUPPRESSION:
            return search_attribute_suppression(frequency_set, counts, limit, settings, factors)
        case RecodingModel.ORDERED_SINGLE:
            return search_ordered_single(counts, limit, in_order)
        case RecodingModel.CELL_SUPPRESSION:
            return search_cell_suppression(counts, in_order)
    trees = build_value_trees(frequency_set, factors)
    if model is RecodingModel.FULL_SUBGRAPH:
        return search_full_subgraph(trees, counts)
    if model is RecodingModel.UNRESTRICTED_MULTI:
        return search_unrestricted_multi(trees, counts)
    try:
        start = find_least_loss_node(frequency_set, counts, limit, settings, factors, None, candidates)
    except LimitReached:
        start = None  # the lattice is too large to evaluate: the search starts from the roots
    single = search_full_subtree if model is RecodingModel.FULL_SUBTREE else search_unrestricted_single
    return single(trees, counts, limit, start)
