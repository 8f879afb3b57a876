"""Integer program of one component, solved by HiGHS (after Bredereck et al. 2013).

For each part type i and cell c that it fits, x is the number of its rows in the cell; u is 1 if a cell is
used::

    minimize   outlier cost * rows + sum of (cost of c - outlier cost) * x
    where      the x of part type i add up to at most its rows N
               the x of cell c add up to at least k * u
               x is at most N * u

x may be continuous: with u fixed the rest is a transportation problem with integral vertices. Rounding
inequalities (Chvátal 1973) limit the used cells of nested cells and of pairs of cells. A cost is proven if
the solver's bound, rounded up to a whole step, reaches it (floating-point arithmetic, tolerance 1e-6).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError
from discreet.patterns.components import ProblemComponent

_MOST_SHARED_PAIRS = 5_000_000


@dataclass(frozen=True, eq=False)
class CellLimits:
    """Of the cells ``cells[e]`` with the same set ``sets[e]`` at most ``most[set]`` can be used."""

    sets: NDArray[np.int64]
    cells: NDArray[np.int64]
    most: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _SharedCells:
    """Pairs of cells (including each cell with itself) with the part types and rows that both contain."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    types: NDArray[np.int64]
    rows: NDArray[np.int64]


def find_cell_limits(component: ProblemComponent, k: int) -> CellLimits:
    """Derive the inequalities of a component that its relaxation does not imply."""
    shared = _find_shared(component)
    size = np.bincount(component.pair_cells, minlength=len(component.costs))
    rows = np.bincount(
        component.pair_cells, weights=component.rows[component.types], minlength=len(component.costs)
    ).astype(np.int64)
    inside = shared.types == size[shared.first]
    cells, around = shared.first[inside], shared.second[inside]
    within = np.bincount(around, minlength=len(component.costs))
    tighter = ((within > 1) & (rows % k > 0))[around]
    cells, around = cells[tighter], around[tighter]
    nested = inside | (shared.types == size[shared.second])
    few = rows[shared.first] + rows[shared.second] - shared.rows < 2 * k
    apart = np.flatnonzero(few & ~nested & (shared.first < shared.second))
    names, sets = np.unique(around, return_inverse=True)
    pairs = len(names) + np.arange(len(apart))
    return CellLimits(
        np.concatenate([sets, pairs, pairs]),
        np.concatenate([cells, shared.first[apart], shared.second[apart]]),
        np.concatenate([rows[names] // k, np.ones(len(apart))]).astype(np.float64),
    )


def _find_shared(component: ProblemComponent) -> _SharedCells:
    order = np.argsort(component.types, kind="stable")
    types, cells = component.types[order], component.pair_cells[order]
    degree = np.bincount(types, minlength=len(component.rows))
    if int((degree.astype(np.float64) ** 2).sum()) > _MOST_SHARED_PAIRS:
        none = np.zeros(0, np.int64)
        return _SharedCells(none, none, none, none)
    starts = (np.cumsum(degree) - degree)[types]
    many = degree[types]
    ends = np.cumsum(many)
    first = np.repeat(cells, many)
    second = cells[np.repeat(starts - (ends - many), many) + np.arange(len(first))]
    both, inverse, times = np.unique(
        first * len(component.costs) + second, return_inverse=True, return_counts=True
    )
    class_rows = np.bincount(inverse, weights=np.repeat(component.rows[types], many), minlength=len(both))
    return _SharedCells(
        both // len(component.costs),
        both % len(component.costs),
        times.astype(np.int64),
        class_rows.astype(np.int64),
    )


_INTEGER_TOLERANCE = 1e-4
_SOLVER_OPTIONS = {"output_flag": False, "threads": 1, "mip_rel_gap": 0.0, "mip_abs_gap": 0.99}
# Heuristics that find no better solutions here; disabled if the solver's version has the option.
_DISABLED_HEURISTICS = (
    "mip_detect_symmetry",
    "mip_heuristic_run_rens",
    "mip_heuristic_run_rins",
    "mip_heuristic_run_root_reduced_cost",
)


@dataclass(frozen=True)
class IntegerProgram:
    """Parameters that the components of one problem share.

    ``forbids_outliers``: every row must be placed. ``star_rows`` is None if outliers are free; otherwise an
    all-star class is part of the (only) component, with ``star_rows`` rows that fit no cell: it is empty or
    has at least k rows.
    """

    k: int
    outlier_cost: int
    forbids_outliers: bool = False
    star_rows: int | None = None


@dataclass(frozen=True, eq=False)
class ComponentSolution:
    """Solution of a component: rows of each pair, cost, proven lower bound of the cost, and seconds."""

    rows: NDArray[np.int64] | None
    cost: int
    bound: int
    seconds: float = 0.0

    @property
    def proven(self) -> bool:
        """True if no solution costs less."""
        return self.rows is not None and self.bound >= self.cost


def load_highs() -> Any:
    """Import the HiGHS library; raise ``InputError`` if it is not installed."""
    try:
        import highspy
    except ImportError:
        raise InputError(
            "the exact solver needs HiGHS, which is not installed",
            advice="Install discreet[exact], or use the greedy.",
        ) from None
    return highspy


def solve_component(
    component: ProblemComponent, program: IntegerProgram, start: NDArray[np.int64] | None, seconds: float
) -> ComponentSolution:
    """Find the best solution within ``seconds`` (infinity: no limit), no worse than ``start``.

    ``start`` contains the rows of each pair of a feasible solution, or is None. ``rows`` of the answer is
    None only if no solution was found; ``bound`` is then still a bound, and the largest int64 if the program
    is infeasible.
    """
    start_time = time.monotonic()
    highs = _configure_highs(load_highs(), seconds)
    _require_accepted(highs.passModel(_build_model(component, program)), "model")
    if start is not None:
        _set_start(highs, component, program, start)
    highs.run()
    status = highs.modelStatusToString(highs.getModelStatus())
    if status == "Infeasible":
        return ComponentSolution(None, 0, np.iinfo(np.int64).max, time.monotonic() - start_time)
    found = _integral_rows(highs, component, program)
    cost = 0 if found is None else component_cost(component, program, found)
    if start is not None and (found is None or component_cost(component, program, start) < cost):
        found, cost = start, component_cost(component, program, start)
    bound, dual = bound_by_cheapest_cells(component, program), highs.getInfo().mip_dual_bound
    if math.isfinite(dual):
        bound = max(bound, math.ceil(dual - _INTEGER_TOLERANCE))
    bound = min(bound, cost) if found is not None else bound
    return ComponentSolution(found, cost, bound, time.monotonic() - start_time)


def component_cost(component: ProblemComponent, program: IntegerProgram, rows: NDArray[np.int64]) -> int:
    """Compute the cost of a component's rows including its outliers, in steps."""
    saved = (program.outlier_cost - component.costs[component.pair_cells]) * rows
    return program.outlier_cost * int(component.rows.sum()) - int(saved.sum())


def bound_by_cheapest_cells(component: ProblemComponent, program: IntegerProgram) -> int:
    """Bound the cost without a solver: every row costs at least as much as its cheapest cell."""
    least = np.full(len(component.rows), program.outlier_cost, np.int64)
    np.minimum.at(least, component.types, component.costs[component.pair_cells])
    return int((least * component.rows).sum())


def _configure_highs(library: Any, seconds: float) -> Any:
    highs = library.Highs()
    chosen: dict[str, Any] = dict(_SOLVER_OPTIONS)
    if math.isfinite(seconds):
        chosen["time_limit"] = max(seconds, 0.01)
    for name, value in chosen.items():
        _require_accepted(highs.setOptionValue(name, value), name)
    for name in _DISABLED_HEURISTICS:
        highs.setOptionValue(name, False)
    return highs


def _require_accepted(status: Any, what: str) -> None:
    if status.name == "kError":
        raise InternalError(f"HiGHS rejected the {what}")


def is_feasible(component: ProblemComponent, program: IntegerProgram, rows: NDArray[np.int64]) -> bool:
    """Check that cells contain none or at least k rows, rows are placed once, and outliers are allowed."""
    class_rows = np.bincount(component.pair_cells, weights=rows, minlength=len(component.costs))
    placed = np.bincount(component.types, weights=rows, minlength=len(component.rows))
    left = component.rows - placed
    if (rows < 0).any() or (left < 0).any() or ((class_rows > 0) & (class_rows < program.k)).any():
        return False
    if program.forbids_outliers:
        return not left.any()
    outliers = int(left.sum()) + (program.star_rows or 0)
    return program.star_rows is None or outliers == 0 or outliers >= program.k


def _build_model(
    component: ProblemComponent, program: IntegerProgram, opened: NDArray[np.bool_] | None = None
) -> Any:
    """Build the model: columns are u of each cell, x of each pair, then the rows and u of an all-star class.

    With ``opened`` every u is fixed to it, that of the all-star class last, and no column is integral.
    """
    library = load_highs()
    cells, pairs, parts = len(component.costs), component.pairs, len(component.rows)
    star = parts + 1 if program.star_rows is not None else 0
    lp = library.HighsLp()
    lp.num_col_ = cells + pairs + star
    # The constant term counts every row as an outlier, so that outliers need no columns of their own.
    saved = (component.costs[component.pair_cells] - program.outlier_cost).astype(np.float64)
    lp.col_cost_ = np.concatenate([np.zeros(cells), saved, np.zeros(star)])
    lp.offset_ = float(program.outlier_cost * int(component.rows.sum()))
    lower, upper = np.zeros(lp.num_col_), np.ones(lp.num_col_)
    upper[cells : cells + pairs] = component.rows[component.types]
    if star:
        upper[cells + pairs : -1] = component.rows
        lower[-1] = float(bool(program.star_rows))
    integral = np.zeros(lp.num_col_, np.bool_)
    integral[:cells] = True
    integral[-1] |= bool(star)
    if opened is None:
        kinds = np.array([library.HighsVarType.kContinuous, library.HighsVarType.kInteger])
        lp.integrality_ = kinds[integral.astype(np.int64)].tolist()
    else:
        lower[integral] = upper[integral] = opened
    lp.col_lower_, lp.col_upper_ = lower, upper
    matrix = _build_constraints(component, program)
    if opened is None:
        room = find_cell_limits(component, program.k)
        entries = (room.sets, room.cells, np.ones(len(room.sets)))
        matrix.add(np.full(len(room.most), -np.inf), room.most, entries)
    lp.num_row_ = matrix.height
    lp.row_lower_, lp.row_upper_ = np.concatenate(matrix.low), np.concatenate(matrix.high)
    lp.a_matrix_.format_ = library.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.by_row()
    return lp


@dataclass
class _ConstraintMatrix:
    """Constraint matrix that is built block by block: entries, and the limits of each row."""

    height: int = 0
    entries: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = field(
        default_factory=list
    )
    low: list[NDArray[np.float64]] = field(default_factory=list)
    high: list[NDArray[np.float64]] = field(default_factory=list)

    def add(
        self,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        *entries: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    ) -> None:
        """Add a block of rows with their limits; entries are (row of the block, column, value)."""
        self.entries += [(row + self.height, column, value) for row, column, value in entries]
        self.low.append(low)
        self.high.append(high)
        self.height += len(low)

    def by_row(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Return the starts of the rows, the columns and the values."""
        row, column, value = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        order = np.lexsort((column, row))
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=self.height))])
        return starts.astype(np.int32), column[order].astype(np.int32), value[order]


def _build_constraints(component: ProblemComponent, program: IntegerProgram) -> _ConstraintMatrix:
    """Build the constraints of the program, including those of the all-star class if it has one."""
    cells, pairs, parts = len(component.costs), component.pairs, len(component.rows)
    cell, pair, part = np.arange(cells), np.arange(pairs), np.arange(parts)
    x, one = cells + pair, np.ones(pairs)
    count = component.rows.astype(np.float64)
    result = _ConstraintMatrix()
    with_star = program.star_rows is not None
    own = [(component.types, x, one)]
    if with_star:
        own.append((part, cells + pairs + part, np.ones(parts)))
    # Each row is placed at most once; exactly once if outliers are forbidden or in the all-star class.
    result.add(count if program.forbids_outliers or with_star else np.full(parts, -np.inf), count, *own)
    # An open cell has at least k rows: Σx − k·u ≥ 0.
    closed = (cell, cell, np.full(cells, -float(program.k)))
    result.add(np.zeros(cells), np.full(cells, np.inf), (component.pair_cells, x, one), closed)
    # A closed cell has none: x ≤ rows·u; by pair, which gives a tighter relaxation than by cell.
    room = (pair, component.pair_cells, -count[component.types])
    result.add(np.full(pairs, -np.inf), np.zeros(pairs), (pair, x, one), room)
    if program.star_rows is not None:
        last, at = np.full(parts, cells + pairs + parts), cells + pairs + part
        none = np.zeros(parts, np.int64)
        enough = (none[:1], last[:1], np.array([-float(program.k)]))
        least = np.array([-float(program.star_rows)])
        result.add(least, np.array([np.inf]), (none, at, np.ones(parts)), enough)
        result.add(np.full(parts, -np.inf), np.zeros(parts), (part, at, np.ones(parts)), (part, last, -count))
    return result


def _set_start(
    highs: Any, component: ProblemComponent, program: IntegerProgram, start: NDArray[np.int64]
) -> None:
    """Pass a feasible solution to the solver."""
    opened = np.bincount(component.pair_cells, weights=start, minlength=len(component.costs)) > 0
    values = [opened.astype(np.float64), start.astype(np.float64)]
    if program.star_rows is not None:
        placed = np.bincount(component.types, weights=start, minlength=len(component.rows))
        left = component.rows - placed
        values += [left.astype(np.float64), np.array([float(bool(left.any() or program.star_rows))])]
    solution = load_highs().HighsSolution()
    solution.col_value = np.concatenate(values).tolist()
    solution.value_valid = True
    highs.setSolution(solution)


def _integral_rows(
    highs: Any, component: ProblemComponent, program: IntegerProgram
) -> NDArray[np.int64] | None:
    """Return the solver's rows in whole numbers: rounded if feasible, else solved again with u fixed."""
    cells, pairs = len(component.costs), component.pairs
    if highs.getInfo().primal_solution_status != 2:
        return None
    values = np.array(highs.getSolution().col_value)
    rows: NDArray[np.int64] = np.rint(values[cells : cells + pairs]).astype(np.int64)
    if is_feasible(component, program, rows):
        return rows
    # The solver's integers are integral only within a tolerance. With every u fixed the rest is a flow, whose
    # vertices are integral; the simplex algorithm ends at a vertex.
    opened = values[:cells] > 0.5
    if program.star_rows is not None:
        opened = np.append(opened, values[-1] > 0.5)
    again = _configure_highs(load_highs(), math.inf)
    _require_accepted(again.setOptionValue("solver", "simplex"), "choice of the simplex algorithm")
    _require_accepted(again.passModel(_build_model(component, program, opened)), "model")
    again.run()
    if again.getInfo().primal_solution_status != 2:
        return None
    vertex = np.array(again.getSolution().col_value)[cells : cells + pairs]
    rows = np.rint(vertex).astype(np.int64)
    return rows if is_feasible(component, program, rows) else None
