"""The cheapest pattern-guided k-anonymity, proven optimal by integer programming (Bredereck et al. 2013).

Cells of at least k rows (``exact_problem``) are reduced to components (``components``), each solved from
a greedy start by ``integer_program``, several in parallel. Rows of one row type may go to several
patterns. If the components together leave 1 to k − 1 rows, the problem is solved again as one program
with a class of all stars.

Differences from the paper's program: cells below k rows are removed at once; each number of rows is
bounded by its own row type's rows; numbers of rows are continuous and only the use of cells is integral;
outliers have no variable. A time limit ends the search with the best solution and a proven lower bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.model.class_recoding import OutlierPolicy, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.patterns.components import (
    ProblemComponent,
    ReducedProblem,
    bound_component_by_prices,
    reduce_cover,
)
from discreet.patterns.exact_problem import (
    ExactPlan,
    ExactProblem,
    ExactResult,
    ExactSize,
    PatternTable,
    find_cells,
    group_row_types,
    require_only_k,
)
from discreet.patterns.integer_program import (
    ComponentSolution,
    IntegerProgram,
    bound_by_cheapest_cells,
    component_cost,
    is_feasible,
    load_highs,
    solve_component,
)
from discreet.settings import Settings


def find_greedy_start(component: ProblemComponent, k: int, outlier_cost: int) -> NDArray[np.int64]:
    """Return the cheaper of two greedy solutions: cells by cost, then by most or by fewest rows.

    Returns the rows of each pair, shape ``(pairs,)``: every cell contains none or at least k.
    """
    offsets = np.searchsorted(component.pair_cells, np.arange(len(component.costs) + 1))
    sizes = np.add.reduceat(component.rows[component.types], offsets[:-1])
    found = [
        _fill_cells(component, k, offsets, np.lexsort((sign * sizes, component.costs))) for sign in (-1, 1)
    ]
    worth = outlier_cost - component.costs[component.pair_cells]
    return max(found, key=lambda rows: int((rows * worth).sum()))


def _fill_cells(
    component: ProblemComponent, k: int, offsets: NDArray[np.int64], order: NDArray[np.intp]
) -> NDArray[np.int64]:
    left = component.rows.copy()
    taken = np.zeros(component.pairs, np.int64)
    for cell in order:
        pairs = slice(offsets[cell], offsets[cell + 1])
        members = component.types[pairs]
        if int(left[members].sum()) >= k:
            taken[pairs] = left[members]
            left[members] = 0
    return taken


def find_counted_plan(table: PatternTable, k: int, *, star_class: bool) -> ExactPlan | None:
    """Return a greedy solution that meets the bound of counting; None if it does not.

    A row costs at least as much as the cheapest pattern under which k rows of the whole table agree with it.
    The greedy assigns, cheapest pattern first, all remaining rows that agree with k − 1 other remaining rows;
    if each row gets a pattern of its least cost, the solution is optimal. Equal costs are tried in both
    orders of the columns.
    """
    everyone = np.arange(len(table.counts))
    costs = np.append(table.costs, table.outlier_cost)
    least = _first_sufficient_pattern(table, k, np.argsort(table.costs, kind="stable"), greedy=False)
    for digits in (table.levels.T[::-1], table.levels.T):
        taken = _first_sufficient_pattern(table, k, np.lexsort((*digits, table.costs)), greedy=True)
        outliers = int(table.counts[taken < 0].sum())
        if star_class and 0 < outliers < k:
            continue
        if (costs[taken] == costs[least]).all():
            cost = int((costs[taken] * table.counts).sum())
            size = ExactSize(0, 0, 0, 0, 0)
            return ExactPlan(everyone, taken, table.counts, cost, cost, cost, size)
    return None


def _first_sufficient_pattern(
    table: PatternTable, k: int, order: NDArray[np.intp], *, greedy: bool
) -> NDArray[np.int64]:
    """Return the first pattern of each row type under which it is in a group of k rows; −1 for none.

    Groups are those of the whole table, or (``greedy``) of the row types that have no pattern yet.
    """
    result = np.full(len(table.counts), -1, np.int64)
    for pattern in order:
        left = np.flatnonzero(result < 0)
        if not len(left):
            break
        chosen = left if greedy else np.arange(len(result))
        columns = [column[chosen] for column in table.values(int(pattern))]
        group = group_row_types(columns, len(chosen))
        large = np.bincount(group, weights=table.counts[chosen]) >= k
        chosen = chosen[large[group]]
        result[chosen[result[chosen] < 0]] = pattern
    return result


ExactProgress = Callable[[int, int], None]
_NO_CELL = -1
_FEW_PAIRS, _MOST_PAIRS = 1000, 400_000


@dataclass(frozen=True)
class SolverLimits:
    """Deadline (``time.monotonic``; infinity: none), number of components in parallel, and bytes."""

    deadline: float
    threads: int
    memory: int


def solve_components(
    table: PatternTable,
    program: IntegerProgram,
    limits: SolverLimits,
    *,
    star_class: bool,
    progress: ExactProgress | None = None,
) -> ExactPlan:
    """Find the cheapest assignment of rows to patterns within the limits.

    ``program`` states whether outliers are forbidden; with ``star_class`` there must be none or at least k.
    Raises ``NoSolution`` if that is impossible, ``LimitReached`` if no solution was found in time.
    """
    if not program.forbids_outliers and table.rows >= program.k:
        counted = find_counted_plan(table, program.k, star_class=star_class)
        if counted is not None:
            return counted
    cover = find_cells(table, program.k, limits.memory)
    reduced = reduce_cover(cover, table.counts)
    uncovered = int(table.counts[reduced.uncovered].sum())
    _check_possible(table, program, uncovered, star_class)
    parts, starts = _solve_all(reduced, program, limits, progress)
    base = program.outlier_cost * uncovered
    cost, bound = base + sum(p.cost for p in parts), base + sum(p.bound for p in parts)
    started = None if None in starts else base + sum(cost for cost in starts if cost is not None)
    answer = list(zip(reduced.components, (_rows_of_solution(part) for part in parts), strict=True))
    left = uncovered + sum(int(c.rows.sum() - rows.sum()) for c, rows in answer)
    # The components were solved separately; together they may leave too few rows for a class of all stars.
    if star_class and 0 < left < program.k:
        one = reduce_cover(reduced.cover, table.counts, split=False).components[0]
        part = _solve_with_stars(one, answer, replace(program, star_rows=uncovered), limits, bound - base)
        answer, cost, bound = (
            [(one, _rows_of_solution(part))],
            base + part.cost,
            max(bound, base + part.bound),
        )
        started = None
    row_types, cells, rows = _expand_row_types(reduced, answer, table.counts)
    return ExactPlan(
        row_types=row_types,
        patterns=np.where(cells == _NO_CELL, -1, np.append(reduced.cover.patterns, -1)[cells]),
        rows=rows,
        cost=cost,
        bound=bound,
        start_cost=started,
        size=ExactSize(
            cells=cover.cell_count,
            undominated_cells=reduced.cover.cell_count,
            pairs=sum(c.pairs for c in reduced.components),
            components=len(reduced.components),
            largest=max((c.pairs for c in reduced.components), default=0),
        ),
    )


def _check_possible(table: PatternTable, program: IntegerProgram, uncovered: int, star_class: bool) -> None:
    if program.forbids_outliers and uncovered:
        raise NoSolution(
            f"{uncovered:,} of {table.rows:,} rows fit no pattern with {program.k} rows, and outliers are "
            "not allowed",
            advice="Allow more patterns, lower k, or give a policy for outliers.",
        )
    if star_class and table.rows < program.k:
        raise NoSolution(f"k={program.k}: the table has {table.rows:,} rows", advice="Lower k.")


def _solve_all(
    reduced: ReducedProblem, program: IntegerProgram, limits: SolverLimits, progress: ExactProgress | None
) -> tuple[list[ComponentSolution], list[int | None]]:
    """Solve the components; return solutions and the costs of their greedy starts, None if infeasible."""
    waiting = [sum(c.pairs for c in reduced.components)]
    done = [0]
    lock = Lock()

    def solved(component: ProblemComponent) -> tuple[ComponentSolution, int | None]:
        start: NDArray[np.int64] | None = find_greedy_start(component, program.k, program.outlier_cost)
        if start is not None and not is_feasible(component, program, start):
            start = None
        started = None if start is None else component_cost(component, program, start)
        with lock:
            share = limits.threads * component.pairs / max(waiting[0], 1)
            waiting[0] -= component.pairs
        part = _solve_one(component, program, start, limits.deadline, share)
        with lock:
            done[0] += 1
            if progress is not None:
                progress(done[0], len(reduced.components))
        return part, started

    with ThreadPoolExecutor(limits.threads) as workers:
        found = list(workers.map(solved, reduced.components))
    return [part for part, _ in found], [started for _, started in found]


def _solve_one(
    component: ProblemComponent,
    program: IntegerProgram,
    start: NDArray[np.int64] | None,
    deadline: float,
    share: float,
) -> ComponentSolution:
    """Return the start if it is proven or cannot be improved; else solve within a share of the time.

    Above ``_MOST_PAIRS`` the solver is not used: its relaxation would not finish in minutes.
    """
    bound = bound_by_cheapest_cells(component, program)
    if start is not None and component_cost(component, program, start) == bound:
        return ComponentSolution(start, bound, bound)
    if component.pairs > _FEW_PAIRS:
        bound = max(
            bound, bound_component_by_prices(component, program.k, program.outlier_cost, deadline=deadline)
        )
    left = deadline - time.monotonic()
    if start is not None and (left <= 0 or component.pairs > _MOST_PAIRS):
        return ComponentSolution(start, component_cost(component, program, start), bound)
    seconds = left if math.isinf(left) else left * min(share, 1.0)
    part = solve_component(component, program, start, seconds)
    if part.rows is None:
        return part
    return replace(part, bound=min(max(part.bound, bound), part.cost))


def _rows_of_solution(part: ComponentSolution) -> NDArray[np.int64]:
    if part.rows is not None:
        return part.rows
    if part.bound == np.iinfo(np.int64).max:
        raise NoSolution(
            "the patterns cannot place all rows in classes of k, and outliers are not allowed",
            advice="Allow more patterns, lower k, or give a policy for outliers.",
        )
    raise LimitReached("no solution was found in time", advice="Allow more time, or use the greedy.")


def _solve_with_stars(
    one: ProblemComponent,
    answer: list[tuple[ProblemComponent, NDArray[np.int64]]],
    program: IntegerProgram,
    limits: SolverLimits,
    bound: int,
) -> ComponentSolution:
    """Solve the whole problem with a class of all stars, from the components' answer made feasible."""
    start = _free_enough_outliers(one, _join_solutions(one, answer), program)
    cost = component_cost(one, program, start)
    left = limits.deadline - time.monotonic()
    if cost == bound or left <= 0 or one.pairs > _MOST_PAIRS:
        return ComponentSolution(start, cost, min(bound, cost))
    return solve_component(one, program, start, left)


def _join_solutions(
    one: ProblemComponent, answer: list[tuple[ProblemComponent, NDArray[np.int64]]]
) -> NDArray[np.int64]:
    """Translate the components' rows into rows of the one component that contains them all."""
    size = int(one.originals.max()) + 1
    keys = one.cells[one.pair_cells] * size + one.originals[one.bounds[:-1]][one.types]
    order = np.argsort(keys)
    rows = np.zeros(one.pairs, np.int64)
    for component, taken in answer:
        first = component.originals[component.bounds[:-1]][component.types]
        own = component.cells[component.pair_cells] * size + first
        rows[order[np.searchsorted(keys[order], own)]] = taken
    return rows


def _free_enough_outliers(
    one: ProblemComponent, rows: NDArray[np.int64], program: IntegerProgram
) -> NDArray[np.int64]:
    """Remove rows until k are outliers: rows that cells can spare, dearest first; else the smallest cell."""
    rows = rows.copy()
    missing = program.k - int(one.rows.sum() - rows.sum()) - (program.star_rows or 0)
    class_rows = np.bincount(one.pair_cells, weights=rows, minlength=len(one.costs)).astype(np.int64)
    if np.maximum(class_rows - program.k, 0).sum() < missing:
        open_cells = np.flatnonzero(class_rows)
        loss = class_rows[open_cells] * (program.outlier_cost - one.costs[open_cells])
        rows[one.pair_cells == open_cells[np.argmin(loss)]] = 0
        return rows
    for pair in np.argsort(-one.costs[one.pair_cells], kind="stable"):
        cell = one.pair_cells[pair]
        taken = min(missing, int(rows[pair]), max(int(class_rows[cell]) - program.k, 0))
        rows[pair] -= taken
        class_rows[cell] -= taken
        missing -= taken
        if not missing:
            break
    return rows


def _expand_row_types(
    reduced: ReducedProblem,
    answer: list[tuple[ProblemComponent, NDArray[np.int64]]],
    counts: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Expand part types to row types; ``_NO_CELL`` for outliers.

    The rows of a part type are lined up twice, once by row type and once by cell; the pieces between the
    marks of both belong to one row type and one cell.
    """
    types, cells, rows = [reduced.uncovered], [np.full(len(reduced.uncovered), _NO_CELL)], []
    rows.append(counts[reduced.uncovered])
    for component, taken in answer:
        left = component.rows - np.bincount(component.types, weights=taken, minlength=len(component.rows))
        of_part = np.concatenate([component.types, np.arange(len(component.rows))])
        of_cell = np.concatenate([component.cells[component.pair_cells], np.full(len(left), _NO_CELL)])
        length = np.concatenate([taken, left.astype(np.int64)])
        order = np.argsort(of_part, kind="stable")
        by_type, by_cell = np.cumsum(counts[component.originals]), np.cumsum(length[order])
        ends = np.union1d(by_type, by_cell)
        ends = ends[ends > 0]
        types.append(component.originals[np.searchsorted(by_type, ends)])
        cells.append(of_cell[order][np.searchsorted(by_cell, ends)])
        rows.append(np.diff(ends, prepend=0))
    return (
        np.concatenate(types).astype(np.int64),
        np.concatenate(cells).astype(np.int64),
        np.concatenate(rows).astype(np.int64),
    )


def solve_exactly(
    frequency_set: FrequencySet,
    mask: PatternMask,
    requirement: Requirement,
    settings: Settings,
    *,
    time_limit: float | None = None,
    publish_all: bool = True,
    progress: ExactProgress | None = None,
) -> ExactResult:
    """Find the assignment of rows to patterns of least cost, with a bound that proves it.

    Parameters
    ----------
    mask
        The allowed patterns, their costs, and the policy for outliers.
    requirement
        A requirement with only k.
    settings
        ``threads`` components are solved in parallel, one thread each.
    time_limit
        Seconds after which the best solution found is returned; None waits for the proof. Finding the cells
        and checking the answer are not interrupted.
    publish_all
        With the policy *suppress*, the class of all stars is empty or has at least k rows; otherwise fewer
        may remain, which are suppressed as rows, as in the greedy.
    progress
        Called with the number of finished components and the total, from any thread.

    Raises
    ------
    InputError
        If HiGHS is missing, for a requirement other than k, and for an invalid time limit.
    NoSolution
        If rows fit no cell and outliers are not allowed, or no class can be made.
    LimitReached
        If the problem does not fit ``settings.memory_limit``.

    Notes
    -----
    Cost: exponential in the worst case; one grouping of the row types per pattern to find the cells.

    References
    ----------
    Bredereck, Nichterlein and Niedermeier (2013), *Pattern-Guided k-Anonymity*. Algorithms 6(4), 678–701.
    """
    start_time = time.monotonic()
    load_highs()
    if time_limit is not None and not 0 < time_limit < math.inf:
        require_only_k(requirement)
        raise InputError(f"a time limit of {time_limit} seconds", allowed="a number above 0")
    problem = ExactProblem.of(frequency_set, mask, requirement, publish_all=publish_all)
    stars = mask.all_star is not None and mask.outliers is not OutlierPolicy.DELETE
    forbids_outliers = mask.all_star is None and mask.outliers is OutlierPolicy.ERROR
    deadline = math.inf if time_limit is None else start_time + time_limit
    plan = solve_components(
        problem.table,
        IntegerProgram(problem.k, problem.table.outlier_cost, forbids_outliers),
        SolverLimits(deadline, settings.threads, settings.memory_limit),
        star_class=stars and problem.must_publish_all,
        progress=progress,
    )
    return problem.recode(plan)
