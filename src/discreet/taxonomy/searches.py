"""The searches of the taxonomy by their models."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.errors import InputError, LimitReached
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from discreet.taxonomy.cell_suppression import cell_suppression
from discreet.taxonomy.class_counts import ClassCounts
from discreet.taxonomy.full_domain import Contenders, attribute_suppression, full_domain, least_loss_node
from discreet.taxonomy.full_subtree import full_subtree
from discreet.taxonomy.ordered_single import ordered_single
from discreet.taxonomy.top_down import full_subgraph, unrestricted_multi
from discreet.taxonomy.unrestricted_single import unrestricted_single
from discreet.taxonomy.value_tree import value_trees

SEARCHED = (
    RecodingModel.FULL_DOMAIN,
    RecodingModel.ATTRIBUTE_SUPPRESSION,
    RecodingModel.FULL_SUBTREE,
    RecodingModel.UNRESTRICTED_SINGLE,
    RecodingModel.ORDERED_SINGLE,
    RecodingModel.FULL_SUBGRAPH,
    RecodingModel.UNRESTRICTED_MULTI,
    RecodingModel.CELL_SUPPRESSION,
)
"""The models that are searched here; the others have rooms of their own (``mondrian``, ``local``)."""

_SUPPRESSING = (RecodingModel.FULL_SUBTREE, RecodingModel.UNRESTRICTED_SINGLE, RecodingModel.ORDERED_SINGLE)


def search(
    model: RecodingModel,
    frequency_set: FrequencySet,
    requirement: Requirement,
    settings: Settings,
    *,
    limit: int = 0,
    weights: Mapping[str, float] | None = None,
    contenders: Contenders | None = None,
) -> ClassRecoding:
    """A recoding of a model that loses little (``measures.granularity``, weighted by attribute).

    ``contenders`` are the nodes of the lattice that may lose least, where it need not be evaluated for them.
    Single-dimension models may suppress up to ``limit`` rows; the others suppress none. ``NoSolution`` where
    nothing meets the requirement, ``LimitReached`` where a lattice does not fit the memory limit, and
    ``InputError`` where subjects have several rows, a criterion is not monotone as the model's search needs
    it, or the model is not in ``SEARCHED``.
    """
    if model not in SEARCHED:
        raise InputError(f"the {model} model is not searched here", allowed=", ".join(SEARCHED))
    counts = ClassCounts(frequency_set, requirement)
    if model not in (RecodingModel.FULL_DOMAIN, RecodingModel.ATTRIBUTE_SUPPRESSION):
        counts.require_merging(model, limit if model in _SUPPRESSING else 0)
    given = dict(weights or {})
    in_order = [given.get(name, 1.0) for name in frequency_set.attributes]
    match model:
        case RecodingModel.FULL_DOMAIN:
            return full_domain(frequency_set, counts, limit, settings, given, contenders=contenders)
        case RecodingModel.ATTRIBUTE_SUPPRESSION:
            return attribute_suppression(frequency_set, counts, limit, settings, given)
        case RecodingModel.ORDERED_SINGLE:
            return ordered_single(frequency_set, counts, limit, in_order)
        case RecodingModel.CELL_SUPPRESSION:
            return cell_suppression(frequency_set, counts, in_order)
    trees = value_trees(frequency_set, given)
    if model is RecodingModel.FULL_SUBGRAPH:
        return full_subgraph(frequency_set, trees, counts)
    if model is RecodingModel.UNRESTRICTED_MULTI:
        return unrestricted_multi(frequency_set, trees, counts)
    start = _best_node(frequency_set, counts, limit, settings, given, contenders)
    single = full_subtree if model is RecodingModel.FULL_SUBTREE else unrestricted_single
    return single(frequency_set, trees, counts, limit, start)


def _best_node(
    frequency_set: FrequencySet,
    counts: ClassCounts,
    limit: int,
    settings: Settings,
    weights: Mapping[str, float],
    contenders: Contenders | None,
) -> LatticeNode | None:
    """The node of least loss, to start with; None where the lattice is too large to evaluate."""
    try:
        return least_loss_node(frequency_set, counts, limit, settings, weights, None, contenders)
    except LimitReached:
        return None
