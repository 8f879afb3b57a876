"""Recoding guided by patterns: the mask that is asked, the search, and what it tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.model.pattern import OutlierPolicy, PatternCount, PatternMask
from discreet.workbench.document import count
from discreet.workbench.pattern_methods import METHODS, Guided
from discreet.workbench.pattern_options import PatternOptions
from discreet.workbench.recodings import RecodingFacts, RecodingResult
from discreet.workbench.reporting import Reporter
from discreet.workbench.requests import Levels, request_of

if TYPE_CHECKING:
    from discreet.workbench.table import Table

_SHOWN = 15
_PLAIN_FACTS = tuple(field.name for field in fields(RecodingFacts) if field.name != "work")


@dataclass(frozen=True)
class PatternFacts(RecodingFacts):
    """What is told of a recoding by patterns: the facts of any, and its ``guidance`` as JSON."""

    guidance: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """The facts; ``patterns`` holds the search and the patterns that are used."""
        return {**super().as_json(), "patterns": dict(self.guidance or {})}


def recode_by_patterns(
    table: Table,
    reporter: Reporter,
    *,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    max_suppressed: str | int | None = None,
    max_level: Levels | None = None,
    min_level: Levels | None = None,
    options: Mapping[str, Any] | None = None,
) -> RecodingResult:
    """A recoding of a table guided by patterns (see ``Table.recode``; options as in ``PatternOptions``).

    Without ``max_suppressed``, here or in the spec, the policy alone says what becomes of outliers.
    """
    chosen = PatternOptions.of(options or {})
    request = request_of(table.spec, k=k, l=l, max_suppressed=max_suppressed, min_level=min_level)
    if max_level or any(level > 0 for _, level in request.min_level):
        raise InputError(
            "levels are limited, but patterns say themselves which levels they show",
            allowed="never and required, or pattern vectors",
        )
    if table.spec.request.max_level:
        reporter.notice("The highest levels in the spec's [request] do not bind patterns.")
    limited = max_suppressed is not None or table.spec.request.max_suppressed is not None
    frequency_set = table.frequency_set
    limit = request.max_suppressed.of(frequency_set.rows) if limited else None
    mask = mask_of_options(table, chosen)
    found = METHODS[chosen.method or "greedy"](table, mask, request, limit, chosen, reporter)
    return _result(table, mask, chosen, found)


def mask_of_options(table: Table, options: PatternOptions) -> PatternMask:
    """The mask that options ask of a table."""
    from discreet.patterns.masks import PRECISION, mask_of_constraints, mask_of_vectors

    weights = {a.name: a.weight for a in table.spec.quasi_identifiers} | dict(options.weights or {})
    cost, outliers = options.cost or PRECISION, options.outliers or OutlierPolicy.SUPPRESS
    if options.pattern is not None:
        return mask_of_vectors(
            table.frequency_set,
            options.pattern,
            table.settings,
            weights=weights,
            cost=cost,
            outliers=outliers,
        )
    return mask_of_constraints(
        table.frequency_set,
        options.constraints(),
        table.settings,
        weights=weights,
        cost=cost,
        outliers=outliers,
    )


def _result(table: Table, mask: PatternMask, options: PatternOptions, found: Guided) -> RecodingResult:
    plain = RecodingResult.of(table.frequency_set, found.recoding, numeric=table.spec.numeric)
    method = options.method or "greedy"
    facts = PatternFacts(
        **{name: getattr(plain.facts, name) for name in _PLAIN_FACTS},
        work=(*_work(mask, method, found), *_used(found.recoding.patterns)),
        guidance=_guidance(mask, method, found),
    )
    return RecodingResult(found.recoding, facts)


def _work(mask: PatternMask, method: str, found: Guided) -> tuple[tuple[str, str], ...]:
    bound = () if found.bound is None else (("no recoding costs less than", _number(found.bound)),)
    return (
        ("patterns allowed", f"{len(mask):,}"),
        ("method", method),
        *found.work,
        ("cost", _number(found.cost)),
        *bound,
    )


def _used(patterns: Sequence[PatternCount]) -> tuple[tuple[str, str], ...]:
    """The patterns with most rows, one per line."""
    shown = sorted(patterns, key=lambda used: -used.rows)[:_SHOWN]
    lines = [
        (f"pattern {used.pattern}", f"{count(used.rows, 'row')}, {count(used.classes, 'class', 'classes')}")
        for used in shown
    ]
    if len(patterns) > len(shown):
        lines.append(("further patterns", f"{len(patterns) - len(shown):,}, which the manifest lists"))
    return tuple(lines)


def _guidance(mask: PatternMask, method: str, found: Guided) -> dict[str, Any]:
    return {
        "allowed": len(mask),
        "outliers": str(mask.outliers),
        "method": method,
        "cost": found.cost,
        "bound": found.bound,
        "used": [
            {"pattern": str(used.pattern), "classes": used.classes, "rows": used.rows}
            for used in found.recoding.patterns
        ],
    }


def _number(value: float) -> str:
    return f"{round(value):,}" if abs(value - round(value)) < 1e-6 else f"{value:,.3f}"
