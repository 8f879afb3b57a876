"""How rows are assigned to patterns: the greedy, two exact searches, and the matching for k = 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.errors import InputError, NoSolution
from discreet.model.class_recoding import ClassRecoding
from discreet.model.class_test import ClassTest
from discreet.model.pattern import PatternMask, Tie
from discreet.model.request import Request
from discreet.printing.document import ratio
from discreet.verbs.models.base import Task


@dataclass(frozen=True)
class Guided:
    """What a method found: the recoding, its cost, a proven lower bound, and facts of its work."""

    recoding: ClassRecoding
    cost: float
    bound: float | None
    work: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class How:
    """What a method may be told beside the mask; None where it was not."""

    method: str
    tie: str | None = None
    time_limit: float | None = None
    class_test: ClassTest | None = None


def _greedily(task: Task, mask: PatternMask, limit: int | None, how: How) -> Guided:
    from discreet.patterns.greedy import greedy

    tie = Tie(how.tie or Tie.LAST_COLUMN_FIRST)
    with task.reporter.stage(f"Walking {len(mask):,} patterns") as advance:
        found = greedy(
            task.frequency_set,
            mask,
            task.requirement,
            task.settings,
            tie=tie,
            class_test=how.class_test,
            limit=limit,
            progress=advance,
            notice=task.reporter.notice,
        )
    return Guided(found.recoding, found.cost, found.bound, (("tie order", str(tie)),))


def _exactly(task: Task, mask: PatternMask, limit: int | None, how: How) -> Guided:
    from discreet.patterns.exact import solve_exactly

    _refuse_class_test(how)
    with task.reporter.stage("Solving the integer program") as advance:
        found = solve_exactly(
            task.frequency_set,
            mask,
            task.requirement,
            task.settings,
            time_limit=how.time_limit,
            publish_all=_publish_all(task.request, limit),
            progress=advance,
        )
    _check_limit(found.recoding, task.request, limit)
    work = (("status", found.status), ("gap", ratio(found.gap)))
    return Guided(found.recoding, found.cost, found.bound, work)


def _by_fixed_parameter(task: Task, mask: PatternMask, limit: int | None, how: How) -> Guided:
    from discreet.patterns.exact_subsets import solve_by_subsets

    _refuse_class_test(how)
    with task.reporter.stage("Trying every set of classes"):
        found = solve_by_subsets(
            task.frequency_set,
            mask,
            task.requirement,
            task.settings,
            publish_all=_publish_all(task.request, limit),
        )
    _check_limit(found.recoding, task.request, limit)
    work = (("cells that might be classes", f"{found.size.cells:,}"),)
    return Guided(found.recoding, found.cost, found.bound, work)


def _by_matching(task: Task, mask: PatternMask, limit: int | None, how: How) -> Guided:
    from discreet.patterns.two_anonymity import solve_two_anonymity

    _refuse_class_test(how)
    with task.reporter.stage("Matching rows in pairs and triples") as advance:
        found = solve_two_anonymity(
            task.frequency_set,
            mask,
            task.requirement,
            task.settings,
            publish_all=limit == 0,
            progress=advance,
        )
    _check_limit(found.recoding, task.request, limit)
    return Guided(found.recoding, found.cost, found.cost, (("vertices matched", f"{found.vertices:,}"),))


Method = Callable[[Task, PatternMask, "int | None", How], Guided]
METHODS: Mapping[str, Method] = {
    "greedy": _greedily,
    "exact": _exactly,
    "fixed-parameter": _by_fixed_parameter,
    "matching": _by_matching,
}
"""The searches by name."""


def _publish_all(request: Request, limit: int | None) -> bool:
    """Whether a rest of fewer than k rows may not be suppressed, so that all rows are published."""
    return limit is not None and limit < (request.requirement.k or 1) - 1


def _refuse_class_test(how: How) -> None:
    if how.class_test is not None:
        raise InputError(f"a class test beside the method '{how.method}'", allowed="the method 'greedy'")


def _check_limit(recoding: ClassRecoding, request: Request, limit: int | None) -> None:
    """Raise where the cheapest recoding suppresses more rows than allowed."""
    if limit is not None and recoding.suppressed > limit:
        raise NoSolution(
            f"{request.requirement}: the cheapest recoding suppresses {recoding.suppressed:,} rows; at most "
            f"{limit:,} may be",
            advice="Raise the suppression limit, allow patterns with more stars, or lower k.",
        )
