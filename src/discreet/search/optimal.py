"""The cheapest node within the suppression limit, under any cost (algorithm ``optimal``).

Most nodes are left out unseen (``search.staged``): a good node is found first, then sets of attributes tell
which nodes may still cost less and keep the limit. What is left is counted in the order of its bounds, until
the next bound lies above the best cost: a handful of nodes of thousands.

A lattice that is known already is looked at, and no stage is counted. Where the compiled kernels do not
serve, or a class may fail for more than its rows and many nodes are left, the lattice is evaluated
(``lattice.evaluate``). Then the answer is the smallest entry of a table. Height, precision and the costs of
class sizes are such tables: class sizes and their squares are sums over the suppression histograms. For loss,
entropy and ambiguity the table holds bounds, made without counting: the sum without suppression, and the
least that so many suppressed rows can add.

Where the lattice does not fit the memory limit (or keys take several words and it is large, so that no
compiled kernel serves), parts of it are bounded and cut (``search.branch_and_bound``), with the same answer.
It is exact always; where memory ends first, ``LimitReached`` is raised. ``anytime`` is the search that
answers all the same.

Criteria of which suppressed rows may rise on the way up (``model.monotone``) leave nothing to conclude there
but what sizes tell: every other node is counted and compared, and lattices that are too large for that too
are refused.

Cost: the states that are left (``search.staged``) or the evaluated lattice, and one roll-up per node counted.
"""

from __future__ import annotations

from itertools import product
from time import perf_counter

from discreet.lattice.evaluated import EvaluatedLattice
from discreet.lattice.scores import further_bounds
from discreet.measures.cost_kinds import Cost
from discreet.model.search_result import SearchResult, Solution
from discreet.model.subject_rows import one_row_each
from discreet.search.branch_and_bound import BranchAndBound, result_of
from discreet.search.descent import first_answer
from discreet.search.level_guides import loss_per_bit_guide
from discreet.search.node_statistics import StatisticsCounter
from discreet.search.outcome import BYTES_PER_NODE, box_size
from discreet.search.preference import Candidate, better, preferred
from discreet.search.staged_optimum import StagedOptimum, cheapest, costs_of_sums
from discreet.search.task import SearchTask
from discreet.search.told_nodes import EvaluatedNodes
from discreet.search.walk import children_within
from discreet.search.whole_lattice import evaluated_lattice, fits_memory, levels_of, nodes_within

_MOST_TWIN_GROUPS = 5 * 10**9


def optimal(task: SearchTask) -> SearchResult:
    """The preferred node of least cost; no solution where every node exceeds the suppression limit.

    The default cost is the height. Raises ``LimitReached`` where neither the evaluated lattice nor the search
    fits the memory limit, ``InputError`` for criteria that are not monotone where there are so many nodes.
    """
    start = perf_counter()
    table = task.frequency_set
    cost = task.cost_or("height")
    counter = StatisticsCounter(table, task.requirement, task.settings.memory_limit // 4)
    by_stages = task.known is None and fits_memory(task)
    staged = StagedOptimum.of(task, cost, counter) if by_stages else None
    if staged is not None and staged.settled:
        return _result(task, cost, staged.solution(), staged.checked, staged.scans, start)
    evaluated = None if task.known is None and _too_slow(task) else evaluated_lattice(task)
    if evaluated is None:
        return _searched(task, cost, start) if task.rises_nowhere else _compared(task, cost, start)
    best = _best(task, cost, evaluated, counter)
    solution = None if best is None else _solution(task, evaluated, best)
    scans = counter.scans + (task.known is None)
    return _result(task, cost, solution, task.lattice.size, scans, start)


def _result(
    task: SearchTask, cost: Cost, solution: Solution | None, checked: int, scans: int, start: float
) -> SearchResult:
    """The answer of a search that looked at every node."""
    return SearchResult(
        algorithm="optimal",
        lattice=task.lattice,
        rows=task.rows,
        requirement=task.requirement,
        limit=task.limit,
        solutions=() if solution is None else (solution,),
        nodes_checked=checked,
        nodes_marked=0,
        scans=scans,
        seconds=perf_counter() - start,
        cost_name=cost.name,
        bound=None if solution is None else solution.cost,
    )


def _compared(task: SearchTask, cost: Cost, start: float) -> SearchResult:
    """The answer by counting every node, nothing being concluded from one to another."""
    nodes = box_size(task.low, task.high)
    if nodes * BYTES_PER_NODE > task.settings.memory_limit:
        task.require_monotone(f"optimal over {nodes:,} nodes, too many to count each")
    counter = StatisticsCounter(task.frequency_set, task.requirement, task.settings.memory_limit // 4)
    levels = [range(least, greatest + 1) for least, greatest in zip(task.low, task.high, strict=True)]
    best: Candidate | None = None
    for done, node in enumerate(product(*levels), 1):
        statistics = counter.count(node)
        if statistics.suppressed <= task.limit:
            best = better(best, Candidate(node, cost.of(statistics), statistics.suppressed))
        task.advance(done, nodes)
    solution = None
    if best is not None:
        lower = children_within(best.node, task.low)
        minimal = all(counter.count(child).suppressed > task.limit for child in lower)
        solution = Solution(best.node, best.suppressed, minimal, best.cost)
    return _result(task, cost, solution, nodes, counter.scans, start)


def _too_slow(task: SearchTask) -> bool:
    """Whether the numpy twin may have to evaluate, for criteria beside k and l, and would take long."""
    table = task.frequency_set
    if task.lattice.size * table.row_types < _MOST_TWIN_GROUPS:
        return False
    return bool(further_bounds(task.requirement.others, table))


def _searched(task: SearchTask, cost: Cost, start: float) -> SearchResult:
    """The answer for a lattice that is not evaluated: a good node first, then the proof."""
    search = BranchAndBound(task, cost, task.settings.memory_limit // 2, forget=False)
    if search.keeps_limit(task.high, exactly=True):
        first_answer(search, loss_per_bit_guide(task.frequency_set))
    while not search.finished:
        search.expand()
        task.advance(round(1000 * search.proven), 1000)
    return result_of(search, "optimal", start)


def _best(
    task: SearchTask, cost: Cost, evaluated: EvaluatedLattice, counter: StatisticsCounter
) -> Candidate | None:
    suppressed = evaluated.suppression(task.requirement)
    nodes = nodes_within(task, suppressed)
    if not len(nodes):
        return None
    levels = levels_of(task, nodes)
    suppressed = suppressed[nodes]
    told = None
    if one_row_each(task.frequency_set):
        told = EvaluatedNodes(evaluated, task.requirement, nodes)
        costs = costs_of_sums(task, cost, levels, suppressed, told)
        if costs is not None:
            return preferred(levels, suppressed, costs)
    return cheapest(task, cost, levels, suppressed, counter, told)


def _solution(task: SearchTask, evaluated: EvaluatedLattice, best: Candidate) -> Solution:
    suppressed = evaluated.suppression(task.requirement)
    lower = children_within(best.node, task.low)
    minimal = all(int(suppressed[task.lattice.index(child)]) > task.limit for child in lower)
    return Solution(best.node, best.suppressed, minimal, best.cost)
