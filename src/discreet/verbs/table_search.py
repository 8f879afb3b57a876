"""A named full-domain search of a table, in memory or in the database, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.lattice.resource_estimates import ANNOUNCED_SECONDS, duration_text
from discreet.measures.cost_registry import COSTS, AnyCost, cost_named, resolve_cost
from discreet.measures.named_costs import NamedCost
from discreet.model.lattice import node_height
from discreet.model.request import Request
from discreet.model.search_result import ReadOnlyDict, SearchResult, Solution, format_cost
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    Tone,
    format_quantity,
    format_rows,
    heading_line,
    make_columns,
)
from discreet.printing.rendering import Printable
from discreet.results.answer_alternatives import levels_legend, levels_text
from discreet.search.algorithms import ALGORITHMS, IN_DATABASE, load_algorithm
from discreet.search.frequency_sets import FrequencySetsTooLarge
from discreet.search.search_problem import (
    FactTable,
    Marking,
    SearchProblem,
    is_countable_in_database,
    require_countable_in_database,
)
from discreet.search.solutions import box_size
from discreet.search.star_schema_loader import star_schema
from discreet.verbs.table_context import TableContext

if TYPE_CHECKING:
    from discreet.model.frequency_set import FrequencySet
    from discreet.verbs.run_context import Advance, Reporter

__all__ = [
    "ALGORITHMS",
    "COSTS",
    "COST_MINIMIZING",
    "NamedCost",
    "SearchOptions",
    "SearchOutcome",
    "cost_named",
    "search_table",
]

COST_MINIMIZING = ("optimal", "anytime")
"""Algorithms that minimize a cost; the others only compute the costs of their solutions on request."""

_MAX_SOLUTIONS = 40
_SECONDS_OF_NODE = 3e-8
"""Approximate seconds to count one row type of a node."""
_BUDGETS = {"cube_budget": "incognito-cube", "time_budget": "anytime", "node_budget": "anytime"}


@dataclass(frozen=True)
class SearchOptions:
    """Choice of a search and its options; ``SearchProblem`` documents the fields."""

    algorithm: str
    marking: str = Marking.DIRECT
    in_database: bool = False
    cost: AnyCost | None = None
    cube_budget: int = 0
    time_budget: float | None = None
    node_budget: int | None = None

    def __post_init__(self) -> None:
        load_algorithm(self.algorithm)
        if self.cost is not None:
            resolve_cost(self.cost)
        if self.marking not in tuple(Marking):
            raise InputError(f"the marking '{self.marking}'", allowed=", ".join(Marking))
        for budget, algorithm in _BUDGETS.items():
            self._check_budget(budget.replace("_", " "), getattr(self, budget), algorithm)
        if self.in_database and not self.can_leave_memory:
            subject = "a cost" if self.cost is not None else f"the algorithm '{self.algorithm}'"
            raise InputError(
                f"{subject} does not apply to a search in the database",
                allowed=f"{', '.join(IN_DATABASE)}, without a cost",
                advice="Leave --in-database out: this works on the table in memory.",
            )

    def _check_budget(self, name: str, value: float | None, algorithm: str) -> None:
        if not value and value != 0:
            return
        if value < 0 or (value == 0 and algorithm != "incognito-cube"):
            raise InputError(f"a {name} of {value}", allowed="a number above 0")
        if value and self.algorithm != algorithm:
            raise InputError(
                f"a {name} was given to '{self.algorithm}'", allowed=f"--algorithm {algorithm}, or no {name}"
            )

    @property
    def can_leave_memory(self) -> bool:
        """True if the database can run the search."""
        return self.algorithm in IN_DATABASE and self.cost is None


def search_table(
    table: TableContext, request: Request, choice: SearchOptions, reporter: Reporter
) -> SearchOutcome:
    """Run a search; if the table or its frequency sets exceed the memory limit, run it in the database.

    Raises ``LimitReached`` if the limit is too low and the database cannot run it; ``InputError`` if the
    database is required and cannot count a criterion.
    """
    stays = not choice.can_leave_memory or not is_countable_in_database(request.requirement)
    if choice.in_database:
        require_countable_in_database(request.requirement)
        return _search_in_database(table, request, choice, reporter)
    try:
        counted = table.frequency_set
    except LimitReached:
        if stays:
            raise
        return _continue_in_database("the row types", table, request, choice, reporter)
    try:
        return _run_search(table, counted, request, choice, reporter)
    except FrequencySetsTooLarge:
        if stays:
            raise
        return _continue_in_database("the search's frequency sets", table, request, choice, reporter)


def _continue_in_database(
    subject: str, table: TableContext, request: Request, choice: SearchOptions, reporter: Reporter
) -> SearchOutcome:
    reporter.notice(f"{subject} exceed the memory limit; the search goes on in the database, on disk")
    return _search_in_database(table, request, replace(choice, in_database=True), reporter)


def _search_in_database(
    table: TableContext, request: Request, choice: SearchOptions, reporter: Reporter
) -> SearchOutcome:
    with (
        table.engine("Loading the star schema") as engine,
        star_schema(engine, table.spec, table.settings) as facts,
    ):
        return _run_search(table, facts, request, choice, reporter)


def _run_search(
    table: TableContext,
    counted: FrequencySet | FactTable,
    request: Request,
    choice: SearchOptions,
    reporter: Reporter,
) -> SearchOutcome:
    with reporter.stage(f"Searching ({choice.algorithm})") as advance:
        task = _make_task(table, counted, request, choice, advance, reporter.notice)
        if not isinstance(counted, FactTable) and choice.algorithm not in COST_MINIMIZING:
            _announce_duration(box_size(task.low, task.high), counted, reporter)
        result = load_algorithm(choice.algorithm)(task)
    return SearchOutcome(result, request, task.low, task.high)


def _announce_duration(nodes: int, counted: FrequencySet, reporter: Reporter) -> None:
    """Report a search that may take long: it counts up to ``nodes`` nodes one by one."""
    seconds = nodes * counted.row_types * _SECONDS_OF_NODE
    if seconds >= ANNOUNCED_SECONDS:
        reporter.notice(
            f"this search counts up to {nodes:,} nodes of {counted.row_types:,} row types one by one: up to "
            f"{duration_text(seconds)}. Faster: --algorithm optimal, which evaluates them together, or "
            "bounds of the levels (--min-level, --max-level)"
        )


def _make_task(
    table: TableContext,
    counted: FrequencySet | FactTable,
    request: Request,
    choice: SearchOptions,
    advance: Advance,
    notice: Callable[[str], None],
) -> SearchProblem:
    known = table.known_lattice_for(request.requirement) if choice.algorithm == "optimal" else None
    return SearchProblem.of(
        counted,
        request,
        table.settings,
        known=None if known is None else known.evaluated,
        marking=Marking(choice.marking),
        cost=None if choice.cost is None else resolve_cost(choice.cost),
        weights={a.name: a.weight for a in table.spec.quasi_identifiers},
        cube_budget=choice.cube_budget,
        time_budget=choice.time_budget,
        node_budget=choice.node_budget,
        progress=advance,
        notice=notice,
    )


@dataclass(frozen=True, repr=False)
class SearchOutcome(Printable):
    """Solutions of a search, and its work; ``low`` and ``high`` are the bounds of the searched nodes.

    >>> table.publish(table.search("optimal", k=10), "release.csv")  # doctest: +SKIP
    """

    result: SearchResult
    request: Request
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def algorithm(self) -> str:
        """Name of the search."""
        return self.result.algorithm

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """Solutions in mixed-radix order; empty without any."""
        return self.result.solutions

    @property
    def levels(self) -> ReadOnlyDict[str, int] | None:
        """Levels of the solution with the least cost, ties by the tie rule; None without a solution."""
        best = min(self.solutions, key=_preference, default=None)
        if best is None:
            return None
        return ReadOnlyDict(self.result.lattice.levels_of(best.node), "the levels of a solution")

    def as_json(self) -> dict[str, Any]:
        """Return the contract's document of ``discreet search --json``."""
        return self.result.as_json()

    def document(self) -> Document:
        """Return the outcome, the minimal solutions, and the work."""
        minimal = tuple(s for s in self.solutions if s.minimal) or self.solutions
        return (
            *self._outcome_lines(),
            *self._solutions_grid(minimal, _MAX_SOLUTIONS),
            BLANK,
            *self._work_facts(),
        )

    def every_solution(self) -> Document:
        """Return one row per solution, in mixed-radix order."""
        return self._solutions_grid(self.solutions, len(self.solutions))

    def _outcome_lines(self) -> Document:
        wanted = f"{self.result.requirement} with at most {format_rows(self.result.limit, self.result.rows)}"
        if not self.solutions:
            return (
                Line(f"No solution: no node meets {wanted} of the rows suppressed.", Tone.BAD),
                Line("discreet negotiate shows what to relax.", Tone.HINT),
            )
        found = format_quantity(len(self.solutions), "solution")
        minimal = sum(s.minimal for s in self.solutions)
        tail = f", {minimal:,} of them minimal" if len(self.solutions) > 1 else ""
        return (heading_line(f"{self.algorithm}: {found} for {wanted} of the rows suppressed{tail}"),)

    def _solutions_grid(self, solutions: tuple[Solution, ...], most: int) -> Document:
        if not solutions:
            return ()
        costly = any(s.cost is not None for s in solutions)
        costs = [f">{self.result.cost_name or 'cost'}"] if costly else []
        columns = make_columns(">height", ">suppressed", *costs, "~levels")
        listed = solutions if most >= len(solutions) else tuple(sorted(solutions, key=_preference)[:most])
        rows = tuple(
            (
                f"{node_height(s.node)}",
                format_rows(s.suppressed, self.result.rows),
                *([format_cost(s.cost)] if costly else []),
                levels_text(s.node),
            )
            for s in listed
        )
        left = len(solutions) - len(rows)
        more = (Line(f"… and {left:,} more; --json lists them all."),) if left else ()
        return (levels_legend(self.result.lattice), BLANK, Grid(columns, rows), *more)

    def _work_facts(self) -> Document:
        result = self.result
        rows = [
            ("nodes checked", f"{result.nodes_checked:,}"),
            ("nodes skipped because marked", f"{result.nodes_marked:,}"),
            ("scans", f"{result.scans:,}"),
            ("seconds", f"{result.seconds:.3f}"),
        ]
        if result.build_seconds is not None:
            rows.append(("of which building the cube", f"{result.build_seconds:.3f}"))
        if result.bound is not None:
            rows.append(("proven lower bound of the cost", f"{result.bound:.6g}"))
        if result.gap is not None and not result.complete:
            rows.append(("gap to it", f"{result.gap:.6g}"))
        ended = () if result.complete else (Line("The search ended before it was complete.", Tone.WARNING),)
        return (Grid(make_columns("work", ">"), tuple(rows)), *ended)


def require_solution(outcome: SearchOutcome) -> None:
    """Raise ``NoSolution`` if a search has no solution to publish."""
    if not outcome.solutions:
        wanted = f"{outcome.result.requirement} with at most {outcome.result.limit:,} suppressed rows"
        raise NoSolution(
            f"the search found no node that meets {wanted}",
            advice="discreet negotiate shows what to relax. Nothing was written.",
        )


def levels_of_solution(table: TableContext, solution: Solution) -> dict[str, int]:
    """Return the levels of a solution by attribute; raise ``InputError`` for a solution of another table."""
    names = [attribute.name for attribute in table.spec.require_quasi_identifiers()]
    if len(solution.node) != len(names):
        raise InputError(
            f"a solution of {len(solution.node)} levels, while the table has {len(names)} quasi-identifiers",
            allowed="a solution that a search of this table found",
        )
    return dict(zip(names, solution.node, strict=True))


def _preference(solution: Solution) -> tuple[Any, ...]:
    """Return the sort key of solutions: cost, if there is one, then the contract's tie rule."""
    node = solution.node
    cost = solution.cost if solution.cost is not None else 0.0
    return (cost, sum(node), solution.suppressed, node[-1:], node[:-1])
