"""What a rule asks beside what was counted, and its points for people to tick; no verdict on it."""

from __future__ import annotations

from discreet.model.audit_report import AuditReport
from discreet.model.criteria.base import Criterion, Need
from discreet.report.markup import facts, heading, items, paragraph
from discreet.spec.preset import Preset


def rule_section(report: AuditReport, rule: Preset) -> str:
    """The rule, its source and the year of the text; what it asks in numbers, and what was counted."""
    pairs = [("Rule", rule.title), ("Source", f"{rule.citation} ({rule.as_of})")]
    pairs += [(f"Asked: {criterion}", _counted(report, criterion)) for criterion in rule.criteria]
    return (
        heading("A rule of others, as its text was read")
        + facts(pairs)
        + paragraph(rule.note, "note")
        + items(rule.checks, "boxes")
    )


def _counted(report: AuditReport, criterion: Criterion) -> str:
    """What was counted of a criterion of class sizes; of another, what its audit found, if asked."""
    by_size = criterion.need is Need.SIZE and not (criterion.of_release or criterion.of_population)
    if by_size and report.k:
        return f"classes of at least {criterion.threshold}; the smallest has {report.k}"
    found = next((one for one in report.criteria if one.criterion.name == criterion.name), None)
    return "not asked of this release" if found is None else f"counted: {found.found}"
