"""Anytime search of large lattices: a good node at once, better ones later, and a proven gap.

Descents (``incumbent``) improve the best node from above while branch and bound raises the proven lower
bound. Every reported node is counted exactly; the best node never gets worse. The search ends when the best
node is proven optimal, when its budget of seconds or nodes is spent, or at an interrupt; without a budget
after 30 seconds. With a budget of nodes it is reproducible.
"""

from __future__ import annotations

from time import perf_counter

from discreet.measures.cost_kinds import ClassSizeCost
from discreet.model.search_result import SearchResult
from discreet.search.branch_and_bound import (
    BranchAndBound,
    Guide,
    bits_guide,
    build_branch_and_bound_result,
    impose_no_budget,
    lambda_guide,
    loss_guide,
    loss_per_bit_guide,
)
from discreet.search.incumbent import RestartedDescents, descend_from_chain
from discreet.search.search_problem import Candidate, SearchProblem

DEFAULT_SECONDS = 30.0
_SECONDS_BETWEEN_NOTICES = 2.0
_SECONDS_BETWEEN_STEPS = 0.2
_EXPANSIONS_PER_TURN = 64
_LAMBDA_SHARE = 4
_BY_LEVELS = ("height", "precision")


class _BudgetSpent(Exception):
    """The budget of the search is spent."""


def anytime(task: SearchProblem) -> SearchResult:
    """Find the best node within the budget, and prove a lower bound of its cost (default: the loss).

    Parameters
    ----------
    task
        Table, requirement, suppression limit and bounds of the search.

    Returns
    -------
    The best node, the proven bound and the gap. There is no solution only if none exists.

    Raises
    ------
    InputError
        For criteria under which suppression may rise from a node to one above it.
    KeyboardInterrupt
        If the interrupt came before the first answer.

    Notes
    -----
    Cost: a roll-up per counted node. Counted states take at most a quarter of ``memory_limit`` and open
    boxes at most half of it; where that is spent, the boxes of the largest bounds are forgotten and limit
    the proof.

    References
    ----------
    Pilalidou and Vassiliadis, *Online negotiation for privacy preserving data publishing*. Slides, University
    of Ioannina: the guide Λ.

    Examples
    --------
    >>> anytime(SearchProblem.of(table, request, settings, time_budget=10.0)).gap  # doctest: +SKIP
    """
    start = perf_counter()
    task.require_monotone("anytime")
    cost = task.cost_or("loss")
    search = BranchAndBound(task, cost, task.settings.memory_limit // 2, forget=True)
    watch = _Budget(search, start)
    search.before_count = watch.before_count
    try:
        _run_until_budget(search, watch)
    except _BudgetSpent:
        pass
    except KeyboardInterrupt:
        if search.best is None:
            raise
        search.counter.forget()  # An interrupt may have left it halfway through a change.
    search.before_count = impose_no_budget
    result = build_branch_and_bound_result(search, "anytime", start)
    watch.report(finally_=True)
    return result


def _run_until_budget(search: BranchAndBound, watch: _Budget) -> None:
    task, table = search.task, search.task.frequency_set
    if not search.keeps_limit(task.high, exactly=True):
        search.expand()
        return
    guides = _guides(search)
    for guide in guides:
        descend_from_chain(search, guide)
    descents = RestartedDescents(search, guides)
    turns = 0
    while not search.finished:
        counted = search.counter.counted
        descents.step()
        spent = search.counter.counted - counted
        counted = search.counter.counted
        for _ in range(_EXPANSIONS_PER_TURN):
            if search.finished or search.counter.counted - counted > spent:
                break
            search.expand()
            watch.check_time()
        turns += 1
        if turns == len(table.hierarchies) and watch.allows(_LAMBDA_SHARE * (1 + sum(task.lattice.heights))):
            guides.append(lambda_guide(task.lattice, table.rows, search.count_classes))
            descend_from_chain(search, guides[-1])


def _guides(search: BranchAndBound) -> list[Guide]:
    """Return the guides without Λ; identity comes first for costs that ignore domain shares."""
    table = search.task.frequency_set
    by_share = [loss_per_bit_guide(table), loss_guide(table)]
    by_bits = [bits_guide(table)]
    if search.cost.name in _BY_LEVELS or isinstance(search.cost, ClassSizeCost):
        return by_bits + by_share
    return by_share + by_bits


class _Budget:
    """Budget of an anytime search; reports the best node, the bound and the gap."""

    def __init__(self, search: BranchAndBound, start: float) -> None:
        task = search.task
        self._search = search
        self._start = start
        self._nodes = task.node_budget
        self._seconds = task.time_budget
        if self._nodes is None and self._seconds is None:
            self._seconds = DEFAULT_SECONDS
        self._reported: Candidate | None = None
        self._reported_at = self._stepped_at = start

    def allows(self, nodes: int) -> bool:
        """Check whether the budget has room for ``nodes`` further counts."""
        return self._nodes is None or self._search.counter.counted + nodes <= self._nodes

    def before_count(self) -> None:
        """End the search if its budget is spent; the first count, which yields an answer, is always made."""
        counted = self._search.counter.counted
        if counted and self._nodes is not None and counted >= self._nodes:
            raise _BudgetSpent
        self.check_time()

    def check_time(self) -> None:
        """End the search if its seconds are spent; report progress and the best node from time to time."""
        now = perf_counter()
        if self._search.counter.counted and self._seconds is not None and now - self._start >= self._seconds:
            raise _BudgetSpent
        if now - self._stepped_at >= _SECONDS_BETWEEN_STEPS:
            self._stepped_at = now
            self._search.task.advance(*self._proven())
        if self._search.best != self._reported and now - self._reported_at >= _SECONDS_BETWEEN_NOTICES:
            self.report()

    def report(self, *, finally_: bool = False) -> None:
        """Send one line with the cost of the best node, the proven bound and the gap."""
        best, notice = self._search.best, self._search.task.notice
        self._reported, self._reported_at = best, perf_counter()
        if notice is None or best is None or (finally_ and self._search.complete):
            return
        bound = self._search.bound
        proven = (
            f"at least {bound:.4g} is proven, gap {best.cost - bound:.4g}" if bound > 0 else "no bound yet"
        )
        notice(
            f"best so far: {self._search.cost.name} {best.cost:.4g} at height {sum(best.node)}, "
            f"{best.suppressed:,} rows suppressed; {proven}; {self._search.counter.counted:,} nodes checked"
        )

    def _proven(self) -> tuple[int, int]:
        """Return the proven share of the best cost or the spent share of the budget, in thousandths."""
        search = self._search
        shares = [search.proven]
        if self._seconds:
            shares.append((perf_counter() - self._start) / self._seconds)
        if self._nodes:
            shares.append(search.counter.counted / self._nodes)
        return round(1000 * min(max(shares), 1.0)), 1000
