"""Check that a new requirement is one file: modules that name k or l have a recorded reason.

All other modules take a requirement as criteria and call their methods (``model.criteria.base``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.house import Module

REASONS: dict[str, tuple[str, ...]] = {
    "k and l themselves, and requests in their words": (
        *("model.criteria.*", "model.requirement", "model.request"),
        *("cli.*", "spec.*", "verbs.*", "web.*", "screens.*", "results.*", "sklearn", "foreign.*"),
    ),
    "documents whose format has both, whatever is required": (
        *("model.audit_report", "model.coded_warnings", "report.*"),
        *("release.publication", "release.publication_evidence"),
    ),
    "an audit counts k and l independently (decision 0005)": ("audit.*", "sql.audit_classes"),
    "kernels that are compiled for k and l, and their callers": (
        *("kernels.*", "frequency.class_requirement", "mondrian.partition"),
    ),
    "the l of persons, by representatives": ("recoding.failing_classes", "sql.subject_matching"),
    "algorithms and measures that are defined by k": (
        *("patterns.*", "taxonomy.*", "differential.*"),
        *("measures.standard_costs", "measures.generalized_table", "measures.metrics"),
    ),
    "(k,e)-anonymity, where k counts values of a group": (
        *("permutation.*", "model.release_kind"),
        *("release.permuted*", "sql.value_permutation", "sql.audit_permuted"),
    ),
    "findings of attacks, reported as k and l": ("attacks.*",),
}
"""Reasons why modules may name k or l, by patterns of their names below the package."""

_CRITERIA = ("KAnonymity", "DistinctDiversity")


def unreasoned_keywords(modules: list[Module]) -> Iterator[str]:
    """Yield code that names k or l (a parameter, keyword, field or criterion) without a listed reason."""
    allowed = [pattern for patterns in REASONS.values() for pattern in patterns]
    for module in modules:
        name = module.dotted.partition(".")[2]
        if not any(fnmatchcase(name, pattern) for pattern in allowed):
            yield from (f"{module.at(line)} names k or l: ask the criteria" for line in keyword_lines(module))


def keyword_lines(module: Module) -> Iterator[int]:
    """Return the lines on which a module names k or l."""
    for node in module.nodes:
        named = (
            (isinstance(node, ast.arg | ast.keyword) and node.arg in ("k", "l"))
            or (isinstance(node, ast.Attribute) and node.attr in ("k", "l", "l_of", "l_as_json"))
            or (isinstance(node, ast.AnnAssign) and getattr(node.target, "id", None) in ("k", "l"))
            or (isinstance(node, ast.Name) and node.id in _CRITERIA)
        )
        if named:
            yield getattr(node, "lineno", 0)


def stale_reasons(modules: list[Module]) -> Iterator[str]:
    """Yield patterns of the list that no module needs any more."""
    naming = [module.dotted.partition(".")[2] for module in modules if any(keyword_lines(module))]
    for patterns in REASONS.values():
        yield from (p for p in patterns if not any(fnmatchcase(name, p) for name in naming))
