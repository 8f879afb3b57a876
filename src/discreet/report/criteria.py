"""What a report says of criteria beside k and l: each by its own title, citation and parameter."""

from __future__ import annotations

from discreet.model.audit_report import AuditReport, CriterionFinding
from discreet.model.criteria.base import as_text
from discreet.report.words import Words


def required(report: AuditReport, words: Words) -> list[tuple[str, str]]:
    """Each criterion and what was required, for the facts of section 4."""
    return [
        (
            words("{criterion} required", criterion=_named(found, words)),
            f"{words.number(found.asked)}: {words.told(found.criterion.parameter.hint)}",
        )
        for found in report.criteria
    ]


def counted(report: AuditReport, words: Words) -> list[tuple[str, ...]]:
    """Each criterion with its citation, what the worst class has, what was required, and the verdict."""
    return [
        (
            f"{_named(found, words)}, {found.criterion.citation}",
            "–" if found.found is None else words.number(as_text(found.found)),
            words.number(found.asked),
            verdict(words, passed=found.passed, failing=found.failing_classes),
        )
        for found in report.criteria
    ]


def verdict(words: Words, *, passed: bool, failing: int = 0) -> str:
    """Whether a criterion passed, with the number of classes that fail it where that is known."""
    if passed:
        return words("passed")
    if not failing:
        return words("not passed")
    return words("not passed: {classes}", classes=words.count(failing, "class", "classes"))


def _named(found: CriterionFinding, words: Words) -> str:
    title, attribute = words.told(found.criterion.title), found.criterion.attribute
    return title if attribute is None else words("{criterion} of {column}", criterion=title, column=attribute)
