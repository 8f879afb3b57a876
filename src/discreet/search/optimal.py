"""Optimal search: the cheapest node within the suppression limit under any cost (algorithm ``optimal``).

A known lattice is looked up. Otherwise an incumbent is computed, subsets of attributes remove most nodes
(``candidate_nodes``), and the rest is counted in the order of its bounds. If the kernels do not support
the request, or many nodes remain, the lattice is evaluated; if that does not fit the memory limit,
branch and bound gives the same answer. ``LimitReached`` is raised if neither fits. With criteria that
are not monotone every node is counted and compared.
"""

from __future__ import annotations

from itertools import product
from time import perf_counter

from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.scores import bind_further_scores
from discreet.measures.cost_kinds import Cost
from discreet.model.frequency_set import has_one_row_per_subject
from discreet.model.search_result import SearchResult, Solution
from discreet.search.branch_and_bound import BranchAndBound, build_branch_and_bound_result, loss_per_bit_guide
from discreet.search.incumbent import descend_from_chain
from discreet.search.node_costs import FilteredOptimum, costs_from_class_sums, find_cheapest
from discreet.search.node_counts import EvaluatedBatch, StatisticsCounter
from discreet.search.search_problem import (
    Candidate,
    SearchProblem,
    evaluate_if_fits,
    fits_memory,
    levels_of_nodes,
    preferred_node,
    preferred_of_two,
    solution_indices,
    solutions_of,
)
from discreet.search.solutions import BYTES_PER_NODE, box_size

_MOST_TWIN_GROUPS = 5 * 10**9


def optimal(task: SearchProblem) -> SearchResult:
    """Find the preferred node of least cost; the default cost is the height.

    Parameters
    ----------
    task
        Table, requirement, suppression limit and bounds of the search.

    Returns
    -------
    The preferred node with its cost, if any; the search considered every node.

    Raises
    ------
    LimitReached
        If neither the evaluated lattice nor branch and bound fits the memory limit.
    InputError
        For criteria that are not monotone on too many nodes.

    Notes
    -----
    Cost: the states of the candidates or the evaluated lattice, and one roll-up per counted node. The
    subsets of attributes are those of LeFevre et al. (2005), with suppression.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2005), *Incognito: Efficient Full-Domain K-Anonymity*. SIGMOD, 49–60.

    Examples
    --------
    >>> optimal(SearchProblem.of(table, request, settings)).solutions[0].node  # doctest: +SKIP
    """
    start = perf_counter()
    cost = task.cost_or("height")
    counter = StatisticsCounter.of(task)
    by_stages = task.known is None and fits_memory(task)
    staged = FilteredOptimum.of(task, cost, counter) if by_stages else None
    if staged is not None and staged.settled:
        return _result(task, cost, staged.solutions(), staged.checked, staged.scans, start)
    evaluated = None if task.known is None and _is_too_slow_to_evaluate(task) else evaluate_if_fits(task)
    if evaluated is None:
        return (
            _branch_and_bound(task, cost, start)
            if task.suppression_never_rises
            else _compare_every_node(task, cost, start)
        )
    best = _best_evaluated(task, cost, evaluated, counter)
    suppressed = evaluated.suppression(task.requirement)
    solutions = solutions_of(task, best, lambda node: suppressed[task.lattice.index(node)] > task.limit)
    scans = counter.scans + (task.known is None)
    return _result(task, cost, solutions, task.lattice.size, scans, start)


def _result(
    task: SearchProblem,
    cost: Cost,
    solutions: tuple[Solution, ...],
    checked: int,
    scans: int,
    start: float,
) -> SearchResult:
    """Return the result of a search that considered every node."""
    return task.result(
        "optimal",
        solutions,
        nodes_checked=checked,
        nodes_marked=0,
        scans=scans,
        seconds=perf_counter() - start,
        cost_name=cost.name,
        bound=solutions[0].cost if solutions else None,
    )


def _compare_every_node(task: SearchProblem, cost: Cost, start: float) -> SearchResult:
    """Count every node; nothing is concluded from one node to another."""
    nodes = box_size(task.low, task.high)
    if nodes * BYTES_PER_NODE > task.settings.memory_limit:
        task.require_monotone(f"optimal over {nodes:,} nodes, too many to count each separately")
    counter = StatisticsCounter.of(task)
    levels = [range(least, greatest + 1) for least, greatest in zip(task.low, task.high, strict=True)]
    best: Candidate | None = None
    for done, node in enumerate(product(*levels), 1):
        statistics = counter.count(node)
        if statistics.suppressed <= task.limit:
            best = preferred_of_two(best, Candidate(node, cost.of(statistics), statistics.suppressed))
        task.advance(done, nodes)
    solutions = solutions_of(task, best, lambda node: counter.count(node).suppressed > task.limit)
    return _result(task, cost, solutions, nodes, counter.scans, start)


def _is_too_slow_to_evaluate(task: SearchProblem) -> bool:
    """Check whether the numpy twin may have to evaluate criteria other than k and l, and would take long."""
    table = task.frequency_set
    if task.lattice.size * table.row_types < _MOST_TWIN_GROUPS:
        return False
    return bool(bind_further_scores(task.requirement.others, table))


def _branch_and_bound(task: SearchProblem, cost: Cost, start: float) -> SearchResult:
    """Search a lattice that is not evaluated: find a good node first, then the proof."""
    search = BranchAndBound(task, cost, task.settings.memory_limit // 2, forget=False)
    if search.keeps_limit(task.high, exactly=True):
        descend_from_chain(search, loss_per_bit_guide(task.frequency_set))
    while not search.finished:
        search.expand()
        task.advance(round(1000 * search.proven), 1000)
    return build_branch_and_bound_result(search, "optimal", start)


def _best_evaluated(
    task: SearchProblem, cost: Cost, evaluated: EvaluatedLattice, counter: StatisticsCounter
) -> Candidate | None:
    suppressed = evaluated.suppression(task.requirement)
    nodes = solution_indices(task, suppressed)
    if not len(nodes):
        return None
    levels = levels_of_nodes(task, nodes)
    suppressed = suppressed[nodes]
    batch = None
    if has_one_row_per_subject(task.frequency_set):
        batch = EvaluatedBatch(evaluated, task.requirement, nodes)
        costs = costs_from_class_sums(task, cost, levels, suppressed, batch)
        if costs is not None:
            return preferred_node(levels, suppressed, costs)
    return find_cheapest(task, cost, levels, suppressed, counter, batch)
