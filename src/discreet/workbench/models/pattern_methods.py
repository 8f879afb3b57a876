"""How rows are assigned to patterns: the greedy, two exact searches, and the matching for k = 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import InputError, NoSolution
from discreet.model.class_recoding import ClassRecoding
from discreet.model.pattern import PatternMask, Tie
from discreet.model.request import Request
from discreet.workbench.pattern_options import PatternOptions
from discreet.workbench.reporting import Reporter

if TYPE_CHECKING:
    from discreet.workbench.table import Table


@dataclass(frozen=True)
class Guided:
    """What a method found: the recoding, its cost, a proven lower bound, and facts of its work."""

    recoding: ClassRecoding
    cost: float
    bound: float | None
    work: tuple[tuple[str, str], ...] = ()


def _greedily(
    table: Table,
    mask: PatternMask,
    request: Request,
    limit: int | None,
    options: PatternOptions,
    reporter: Reporter,
) -> Guided:
    from discreet.patterns.greedy import greedy

    tie = options.tie or Tie.LAST_COLUMN_FIRST
    with reporter.stage(f"Walking {len(mask):,} patterns") as advance:
        found = greedy(
            table.frequency_set,
            mask,
            request.requirement,
            table.settings,
            tie=tie,
            class_test=options.class_test,
            limit=limit,
            progress=advance,
            notice=reporter.notice,
        )
    return Guided(found.recoding, found.cost, found.bound, (("tie order", str(tie)),))


def _exactly(
    table: Table,
    mask: PatternMask,
    request: Request,
    limit: int | None,
    options: PatternOptions,
    reporter: Reporter,
) -> Guided:
    from discreet.patterns.exact import solve_exactly

    _refuse_class_test(options)
    with reporter.stage("Solving the integer program") as advance:
        found = solve_exactly(
            table.frequency_set,
            mask,
            request.requirement,
            table.settings,
            time_limit=options.time_limit,
            publish_all=_publish_all(request, limit),
            progress=advance,
        )
    _check_limit(found.recoding, request, limit)
    work = (("status", found.status), ("gap", f"{found.gap:.2%}"))
    return Guided(found.recoding, found.cost, found.bound, work)


def _by_fixed_parameter(
    table: Table,
    mask: PatternMask,
    request: Request,
    limit: int | None,
    options: PatternOptions,
    reporter: Reporter,
) -> Guided:
    from discreet.patterns.exact_subsets import solve_by_subsets

    _refuse_class_test(options)
    with reporter.stage("Trying every set of classes"):
        found = solve_by_subsets(
            table.frequency_set,
            mask,
            request.requirement,
            table.settings,
            publish_all=_publish_all(request, limit),
        )
    _check_limit(found.recoding, request, limit)
    work = (("cells that might be classes", f"{found.size.cells:,}"),)
    return Guided(found.recoding, found.cost, found.bound, work)


def _by_matching(
    table: Table,
    mask: PatternMask,
    request: Request,
    limit: int | None,
    options: PatternOptions,
    reporter: Reporter,
) -> Guided:
    from discreet.patterns.two_anonymity import solve_two_anonymity

    _refuse_class_test(options)
    with reporter.stage("Matching rows in pairs and triples") as advance:
        found = solve_two_anonymity(
            table.frequency_set,
            mask,
            request.requirement,
            table.settings,
            publish_all=limit == 0,
            progress=advance,
        )
    _check_limit(found.recoding, request, limit)
    return Guided(found.recoding, found.cost, found.cost, (("vertices matched", f"{found.vertices:,}"),))


Method = Callable[["Table", PatternMask, Request, "int | None", PatternOptions, Reporter], Guided]
METHODS: Mapping[str, Method] = {
    "greedy": _greedily,
    "exact": _exactly,
    "fixed-parameter": _by_fixed_parameter,
    "matching": _by_matching,
}
"""The searches by name; their names stand in ``workbench.pattern_options`` too."""


def _publish_all(request: Request, limit: int | None) -> bool:
    """Whether a rest of fewer than k rows may not be suppressed, so that all rows are published."""
    return limit is not None and limit < (request.requirement.k or 1) - 1


def _refuse_class_test(options: PatternOptions) -> None:
    if options.class_test is not None:
        raise InputError(f"a class test beside the method '{options.method}'", allowed="the method 'greedy'")


def _check_limit(recoding: ClassRecoding, request: Request, limit: int | None) -> None:
    """Raise where the cheapest recoding suppresses more rows than allowed."""
    if limit is not None and recoding.suppressed > limit:
        raise NoSolution(
            f"{request.requirement}: the cheapest recoding suppresses {recoding.suppressed:,} rows; at most "
            f"{limit:,} may be",
            advice="Raise the suppression limit, allow patterns with more stars, or lower k.",
        )
