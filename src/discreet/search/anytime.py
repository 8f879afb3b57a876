"""Large lattices: a good node at once, better ones as time goes, and a proof of how good (``anytime``).

For lattices of millions of nodes and more (20 and more quasi-identifiers), which nobody can evaluate. Two
searches take turns and help each other:

* from above, descents (``search.descent``): each ends in a node that keeps the suppression limit and cannot
  be made more special. They are guided by the domain share that a step gives up, by the bits of identity
  that it takes away, by the one per the other, and by the Λ metric of Pilalidou and Vassiliadis.
* from below, bounds (``search.branch_and_bound``): the parts of the lattice with the least bound are cut off
  or parted, which raises the proven bound.

Every node that is answered has been counted, whole: no sample, no estimate. The best node never gets worse.
The search ends by itself where the best is proven best (``complete``), else with its budget of seconds or of
nodes, or by an interrupt (Ctrl-C), with the best node so far, the bound and the gap. With a budget of nodes
it is the same each time. Without a budget it takes 30 seconds.

Cost: a roll-up per node (``frequency.node_classes``); a quarter of the memory limit holds counted states,
half of it the open parts of the lattice.
"""

from __future__ import annotations

from time import perf_counter

from discreet.measures.cost_kinds import ClassSizeCost
from discreet.model.search_result import SearchResult
from discreet.search.branch_and_bound import BranchAndBound, result_of
from discreet.search.descent import Descents, first_answer
from discreet.search.level_guides import (
    Guide,
    bits_guide,
    lambda_guide,
    loss_guide,
    loss_per_bit_guide,
)
from discreet.search.preference import Candidate
from discreet.search.task import SearchTask

DEFAULT_SECONDS = 30.0
_SECONDS_BETWEEN_NOTICES = 2.0
_SECONDS_BETWEEN_STEPS = 0.2
_EXPANSIONS_PER_TURN = 64
_LAMBDA_SHARE = 4
_BY_LEVELS = ("height", "precision")


class _BudgetSpent(Exception):
    """The search ends here."""


def anytime(task: SearchTask) -> SearchResult:
    """The best node found within the budget, the bound that is proven, and whether that settles it.

    Its default cost is the loss. No solution only where there is none. An interrupt before the first answer
    is passed on.
    """
    start = perf_counter()
    task.require_monotone("anytime")
    cost = task.cost_or("loss")
    search = BranchAndBound(task, cost, task.settings.memory_limit // 2, forget=True)
    watch = _Watch(search, start)
    search.before_count = watch.before_count
    try:
        _run(search, watch)
    except _BudgetSpent:
        pass
    except KeyboardInterrupt:
        if search.best is None:
            raise
        search.counter.forget()  # An interrupt may have left it halfway through a change.
    search.before_count = _unbounded
    result = result_of(search, "anytime", start)
    watch.tell(finally_=True)
    return result


def _run(search: BranchAndBound, watch: _Watch) -> None:
    task, table = search.task, search.task.frequency_set
    if not search.keeps_limit(task.high, exactly=True):
        search.expand()
        return
    guides = _guides(search)
    for guide in guides:
        first_answer(search, guide)
    descents = Descents(search, guides)
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
            watch.look()
        turns += 1
        if turns == len(table.hierarchies) and watch.allows(_LAMBDA_SHARE * (1 + sum(task.lattice.heights))):
            guides.append(lambda_guide(task.lattice, table.rows, search.count_classes))
            first_answer(search, guides[-1])


def _guides(search: BranchAndBound) -> list[Guide]:
    """The guides without Λ; where no domain share counts, identity comes first."""
    table = search.task.frequency_set
    by_share = [loss_per_bit_guide(table), loss_guide(table)]
    by_bits = [bits_guide(table)]
    if search.cost.name in _BY_LEVELS or isinstance(search.cost, ClassSizeCost):
        return by_bits + by_share
    return by_share + by_bits


def _unbounded() -> None:
    """Nothing ends the last steps."""


class _Watch:
    """Keeps the budget, and tells of the best node, the bound and the gap."""

    def __init__(self, search: BranchAndBound, start: float) -> None:
        task = search.task
        self._search = search
        self._start = start
        self._nodes = task.node_budget
        self._seconds = task.time_budget
        if self._nodes is None and self._seconds is None:
            self._seconds = DEFAULT_SECONDS
        self._told: Candidate | None = None
        self._told_at = self._stepped_at = start

    def allows(self, nodes: int) -> bool:
        """Whether the budget has room for so many counts more."""
        return self._nodes is None or self._search.counter.counted + nodes <= self._nodes

    def before_count(self) -> None:
        """End the search where its budget is spent; the first count, which tells all, is always made."""
        counted = self._search.counter.counted
        if counted and self._nodes is not None and counted >= self._nodes:
            raise _BudgetSpent
        self.look()

    def look(self) -> None:
        """The same for the seconds; and tell how things stand, from time to time."""
        now = perf_counter()
        if self._search.counter.counted and self._seconds is not None and now - self._start >= self._seconds:
            raise _BudgetSpent
        if now - self._stepped_at >= _SECONDS_BETWEEN_STEPS:
            self._stepped_at = now
            self._search.task.advance(*self._proven())
        if self._search.best != self._told and now - self._told_at >= _SECONDS_BETWEEN_NOTICES:
            self.tell()

    def tell(self, *, finally_: bool = False) -> None:
        """One line: the best node's cost, what is proven, and the gap."""
        best, notice = self._search.best, self._search.task.notice
        self._told, self._told_at = best, perf_counter()
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
        """How much of the best cost is proven, or how much of the budget is spent, in thousandths."""
        search = self._search
        shares = [search.proven]
        if self._seconds:
            shares.append((perf_counter() - self._start) / self._seconds)
        if self._nodes:
            shares.append(search.counter.counted / self._nodes)
        return round(1000 * min(max(shares), 1.0)), 1000
