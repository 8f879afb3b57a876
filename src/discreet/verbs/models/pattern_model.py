"""Pattern-guided recoding: the mask of allowed patterns, and the assignment of rows to patterns.

Methods: greedy, integer program, enumeration of class sets (fixed parameter), and matching for k = 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, NoSolution
from discreet.model.class_recoding import (
    ClassRecoding,
    ClassTest,
    OutlierPolicy,
    Pattern,
    PatternConstraints,
    PatternCount,
    PatternMask,
    PatternPredicate,
    TieBreak,
)
from discreet.model.option import OptionKind, option
from discreet.model.request import Request
from discreet.patterns.masks import (
    PATTERN_COSTS,
    PRECISION,
    build_mask_from_constraints,
    build_mask_from_vectors,
)
from discreet.printing.document import format_quantity, format_ratio
from discreet.verbs.models.recoding_model import Found, Model, Task

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class PatternResult:
    """Result of a method: the recoding, its cost, a proven lower bound, and facts of its work."""

    recoding: ClassRecoding
    cost: float
    bound: float | None
    work: tuple[tuple[str, str], ...] = ()


def _assign_greedily(model: Patterns, task: Task, mask: PatternMask, limit: int | None) -> PatternResult:
    from discreet.patterns.greedy_assignment import solve_greedily

    tie = TieBreak(model.tie or TieBreak.LAST_COLUMN_FIRST)
    with task.reporter.stage(f"Walking {len(mask):,} patterns") as advance:
        found = solve_greedily(
            task.frequency_set,
            mask,
            task.requirement,
            task.settings,
            tie=tie,
            class_test=model.class_test,
            limit=limit,
            progress=advance,
            notice=task.reporter.notice,
        )
    return PatternResult(found.recoding, found.cost, found.bound, (("tie order", str(tie)),))


def _solve_integer_program(
    model: Patterns, task: Task, mask: PatternMask, limit: int | None
) -> PatternResult:
    from discreet.patterns.exact import solve_exactly

    with task.reporter.stage("Solving the integer program") as advance:
        found = solve_exactly(
            task.frequency_set,
            mask,
            task.requirement,
            task.settings,
            time_limit=model.time_limit,
            publish_all=_must_publish_all(task.request, limit),
            progress=advance,
        )
    work = (("status", found.status), ("gap", format_ratio(found.gap)))
    return PatternResult(found.recoding, found.cost, found.bound, work)


def _solve_by_class_sets(_model: Patterns, task: Task, mask: PatternMask, limit: int | None) -> PatternResult:
    from discreet.patterns.fixed_parameter import solve_by_subsets

    with task.reporter.stage("Trying every set of classes"):
        found = solve_by_subsets(
            task.frequency_set,
            mask,
            task.requirement,
            task.settings,
            publish_all=_must_publish_all(task.request, limit),
        )
    work = (("cells that might be classes", f"{found.size.cells:,}"),)
    return PatternResult(found.recoding, found.cost, found.bound, work)


def _solve_by_matching(_model: Patterns, task: Task, mask: PatternMask, limit: int | None) -> PatternResult:
    from discreet.patterns.two_anonymity import solve_two_anonymity

    with task.reporter.stage("Matching rows in pairs and triples") as advance:
        found = solve_two_anonymity(
            task.frequency_set,
            mask,
            task.requirement,
            task.settings,
            publish_all=limit == 0,
            progress=advance,
        )
    return PatternResult(
        found.recoding, found.cost, found.cost, (("vertices matched", f"{found.vertices:,}"),)
    )


PatternMethod = Callable[["Patterns", Task, PatternMask, "int | None"], PatternResult]
PATTERN_METHODS: Mapping[str, PatternMethod] = {
    "greedy": _assign_greedily,
    "exact": _solve_integer_program,
    "fixed-parameter": _solve_by_class_sets,
    "matching": _solve_by_matching,
}
"""Methods by name."""


def _must_publish_all(request: Request, limit: int | None) -> bool:
    """Return True if a rest of fewer than k rows may not be suppressed, so all rows must be published."""
    return limit is not None and limit < (request.requirement.k or 1) - 1


def _check_limit(recoding: ClassRecoding, request: Request, limit: int | None) -> None:
    """Raise ``NoSolution`` if the cheapest recoding suppresses more rows than allowed."""
    if limit is not None and recoding.suppressed > limit:
        raise NoSolution(
            f"{request.requirement}: the cheapest recoding suppresses {recoding.suppressed:,} rows; at most "
            f"{limit:,} may be",
            advice="Raise the suppression limit, allow patterns with more stars, or lower k.",
        )


_MAX_PATTERNS = 15
_STARS_ONLY, _ALL_LEVELS = "stars", "levels"
_CONSTRAINTS = (
    "max_stars",
    "keep",
    "generalize_together",
    "exclusive",
    "always_generalize",
    "custom",
    "cells",
)


@dataclass(frozen=True, kw_only=True)
class Patterns(Model):
    """Pattern recoding: rows are assigned to the cheapest pattern of cells that may be starred.

    ``pattern`` is a list of vectors and excludes constraints; ``custom`` is called for each pattern that
    meets the constraints. ``weights`` are by attribute (default: the spec's). ``patterns`` is a file with the
    same keys; explicit options override it. ``class_test`` is a further test of each class.

    Without ``max_suppressed``, in the call or the spec, only ``outliers`` decides about outliers.

    >>> table.recode(models.Patterns(max_stars=2, never=["sex"]), k=10)  # doctest: +SKIP
    """

    name = "patterns"
    title = "Patterns"
    text = "Cells are starred only in the combinations that you allow; rows are assigned to the cheapest."
    main = True

    pattern: Sequence[str | Pattern | Sequence[int]] | None = option(
        None,
        repeatable=True,
        in_spec=True,
        metavar="VECTOR",
        help="one to allow, a sign per quasi-identifier (. shown, * starred, N level)",
        label="Patterns to allow",
        hint="one per line, a sign per quasi-identifier: . shown, * starred, N level",
    )
    max_stars: int | None = option(
        None,
        kind=OptionKind.WHOLE,
        least=0,
        in_spec=True,
        metavar="C",
        help="at most C stars in a row",
        label="Stars of a row at most",
        hint="empty: as many as it takes",
    )
    keep: Sequence[str] | None = option(
        None,
        kind=OptionKind.QUASI_IDENTIFIERS,
        repeatable=True,
        in_spec=True,
        metavar="A,B",
        help="none of these is ever starred",
        label="Never starred",
    )
    generalize_together: Sequence[Sequence[str]] | None = option(
        None,
        kind=OptionKind.GROUPS,
        repeatable=True,
        in_spec=True,
        metavar="A,B",
        help="all of these are starred or none is",
        label="Starred together",
        hint="one group per line, such as age,sex",
    )
    exclusive: Sequence[Sequence[str]] | None = option(
        None,
        kind=OptionKind.GROUPS,
        repeatable=True,
        in_spec=True,
        metavar="A,B",
        help="at most one of these is starred",
        label="At most one starred",
        hint="one group per line, such as age,sex",
    )
    always_generalize: Sequence[str] | None = option(
        None,
        kind=OptionKind.QUASI_IDENTIFIERS,
        repeatable=True,
        in_spec=True,
        metavar="A,B",
        help="each of these is always starred",
        label="Always starred",
    )
    custom: PatternPredicate | None = option(
        None, kind=OptionKind.PYTHON, help="a function of a pattern: whether it is allowed"
    )
    outliers: str | None = option(
        None,
        choices=OutlierPolicy,
        in_spec=True,
        shown=str(OutlierPolicy.SUPPRESS),
        help="rows that fit no pattern: all stars, suppressed, or an error",
        label="Rows that fit no pattern",
    )
    tie: str | None = option(
        None,
        choices=TieBreak,
        in_spec=True,
        shown=str(TieBreak.LAST_COLUMN_FIRST),
        help="order of patterns of equal cost (greedy)",
        label="Among equal costs",
    )
    cells: str | None = option(
        None,
        choices=(_STARS_ONLY, _ALL_LEVELS),
        in_spec=True,
        shown=_STARS_ONLY,
        help="cells that patterns may show: values and stars, or every level too",
        label="Patterns may show",
        hint="values or stars, or every level",
    )
    cost: str | None = option(
        None,
        choices=PATTERN_COSTS,
        in_spec=True,
        shown=PRECISION,
        help="cost of a level",
        label="A level costs",
    )
    method: str | None = option(
        None,
        choices=PATTERN_METHODS,
        in_spec=True,
        shown="greedy",
        help="how rows are assigned",
        label="Rows are assigned",
    )
    time_limit: float | None = option(
        None,
        kind=OptionKind.DECIMAL,
        unit="seconds",
        metavar="SECONDS",
        help="time limit of the method exact, which then reports a proven gap",
        label="Seconds of the exact search at most",
    )
    weights: Mapping[str, float] | None = option(
        None,
        kind=OptionKind.NUMBERS,
        flag=None,
        in_spec=True,
        help="cost weight per attribute",
        label="Weights",
        hint="one per line, such as age=2",
    )
    patterns: str | Path | None = option(
        None, kind=OptionKind.OPTIONS, metavar="FILE", help="these options from a TOML file"
    )
    class_test: ClassTest | None = option(None, kind=OptionKind.PYTHON, help="further test of each class")

    def __post_init__(self) -> None:
        """Raise ``InputError`` for vectors together with constraints, and for options of another method."""
        super().__post_init__()
        constraints = [name for name in _CONSTRAINTS if getattr(self, name) is not None]
        if self.pattern is not None and constraints:
            raise InputError(
                f"pattern vectors cannot be combined with '{constraints[0].replace('_', '-')}'",
                allowed="vectors, or constraints",
                advice="Give one of the two.",
            )
        exact_only = self.method != "exact" and self.time_limit is not None
        # A file that is not read yet may set the method.
        if self.patterns is None and (exact_only or (self._method != "greedy" and self.tie is not None)):
            name = "time-limit" if exact_only else "tie"
            raise InputError(f"'{name}' does not apply to the method '{self._method}'")

    def search(self, task: Task) -> Found:
        """Assign the rows to patterns by the selected method."""
        limited = (
            task.request_options.max_suppressed is not None
            or task.table.spec.request.max_suppressed is not None
        )
        limit = task.limit if limited else None
        mask = self._mask(task)
        if self.class_test is not None and self._method != "greedy":
            raise InputError(
                f"a class test cannot be combined with the method '{self._method}'",
                allowed="the method 'greedy'",
            )
        found = PATTERN_METHODS[self._method](self, task, mask, limit)
        _check_limit(found.recoding, task.request, limit)
        work = (*self._work_facts(mask, found), *_pattern_counts(found.recoding.patterns))
        return Found(found.recoding, work=work, json_parts={"patterns": self._json_facts(mask, found)})

    @property
    def _method(self) -> str:
        return self.method or "greedy"

    def _mask(self, task: Task) -> PatternMask:
        """Build the mask of the allowed patterns of a table."""
        cost, outliers = self.cost or PRECISION, self.outliers or OutlierPolicy.SUPPRESS
        weights = task.weights | dict(self.weights or {})
        counted, settings = task.frequency_set, task.settings
        if self.pattern is not None:
            return build_mask_from_vectors(
                counted, self.pattern, settings, weights=weights, cost=cost, outliers=outliers
            )
        return build_mask_from_constraints(
            counted, self._constraints(), settings, weights=weights, cost=cost, outliers=outliers
        )

    def _constraints(self) -> PatternConstraints:
        return PatternConstraints(
            max_stars=self.max_stars,
            keep=tuple(self.keep or ()),
            generalize_together=tuple(tuple(group) for group in self.generalize_together or ()),
            exclusive=tuple(tuple(group) for group in self.exclusive or ()),
            always_generalize=tuple(self.always_generalize or ()),
            custom=self.custom,
            levels=self.cells == _ALL_LEVELS,
        )

    def _work_facts(self, mask: PatternMask, outcome: PatternResult) -> tuple[tuple[str, str], ...]:
        bound = (
            () if outcome.bound is None else (("no recoding costs less than", _number_text(outcome.bound)),)
        )
        return (
            ("patterns allowed", f"{len(mask):,}"),
            ("method", self._method),
            *outcome.work,
            ("cost", _number_text(outcome.cost)),
            *bound,
        )

    def _json_facts(self, mask: PatternMask, outcome: PatternResult) -> dict[str, Any]:
        return {
            "allowed": len(mask),
            "outliers": str(mask.outliers),
            "method": self._method,
            "cost": outcome.cost,
            "bound": outcome.bound,
            "used": [
                {"pattern": str(used.pattern), "classes": used.classes, "rows": used.rows}
                for used in outcome.recoding.patterns
            ],
        }


def _pattern_counts(patterns: Sequence[PatternCount]) -> tuple[tuple[str, str], ...]:
    """Return the patterns with most rows, one per line."""
    most_frequent = sorted(patterns, key=lambda used: -used.rows)[:_MAX_PATTERNS]
    lines = [
        (
            f"pattern {used.pattern}",
            f"{format_quantity(used.rows, 'row')}, {format_quantity(used.classes, 'class', 'classes')}",
        )
        for used in most_frequent
    ]
    if len(patterns) > len(most_frequent):
        lines.append(
            ("further patterns", f"{len(patterns) - len(most_frequent):,}, which the manifest lists")
        )
    return tuple(lines)


def _number_text(value: float) -> str:
    return f"{round(value):,}" if abs(value - round(value)) < 1e-6 else f"{value:,.3f}"
