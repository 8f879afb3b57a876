"""What a rule asks beside what was counted, and its points for people to tick; no verdict on it."""

from __future__ import annotations

from discreet.model.audit_report import AuditReport
from discreet.model.criteria.base import Criterion, Need
from discreet.report.markup import facts, heading, items, paragraph
from discreet.report.words import Words
from discreet.spec.preset import Preset


def rule_section(report: AuditReport, rule: Preset, words: Words) -> str:
    """The rule, its source and the year of the text; what it asks in numbers, and what was counted."""
    pairs = [(words("Rule"), words.told(rule.title)), (words("Source"), f"{rule.citation} ({rule.as_of})")]
    pairs += [
        (words("Asked: {criterion}", criterion=criterion), _counted(report, criterion, words))
        for criterion in rule.criteria
    ]
    return (
        heading(words("A rule of others, as its text was read"))
        + facts(pairs)
        + paragraph(words.told(rule.note), "note")
        + items(map(words.told, rule.checks), "boxes")
    )


def _counted(report: AuditReport, criterion: Criterion, words: Words) -> str:
    """What was counted of a criterion of class sizes; of another, what its audit found, if asked."""
    by_size = criterion.need is Need.SIZE and not (criterion.of_release or criterion.of_population)
    if by_size and report.k:
        return words(
            "classes of at least {least}; the smallest has {k}", least=criterion.threshold, k=report.k
        )
    found = next((one for one in report.criteria if one.criterion.name == criterion.name), None)
    if found is None:
        return words("not asked of this release")
    return words("counted: {value}", value=found.found)
