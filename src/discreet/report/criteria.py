"""What a report says of criteria beside k and l: each by its own title, citation and parameter."""

from __future__ import annotations

from discreet.model.audit_report import AuditReport, CriterionFinding
from discreet.model.criteria.base import as_text
from discreet.report.numbers import count


def required(report: AuditReport) -> list[tuple[str, str]]:
    """Each criterion and what was required, for the facts of section 4."""
    return [
        (f"{_named(found)} required", f"{found.asked}: {found.criterion.parameter.hint}")
        for found in report.criteria
    ]


def counted(report: AuditReport) -> list[tuple[str, ...]]:
    """Each criterion with its citation, what the worst class has, what was required, and the verdict."""
    return [
        (
            f"{_named(found)}, {found.criterion.citation}",
            "–" if found.found is None else as_text(found.found),
            found.asked,
            verdict(passed=found.passed, failing=found.failing_classes),
        )
        for found in report.criteria
    ]


def verdict(*, passed: bool, failing: int = 0) -> str:
    """Whether a criterion passed, with the number of classes that fail it where that is known."""
    if passed:
        return "passed"
    return "not passed" + (f": {count(failing, 'class', 'classes')}" if failing else "")


def _named(found: CriterionFinding) -> str:
    attribute = found.criterion.attribute
    return found.criterion.title if attribute is None else f"{found.criterion.title} of {attribute}"
