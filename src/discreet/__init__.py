"""Publish personal data discreetly: negotiate privacy, generalization and suppression, then release.

::

    table = discreet.open("discreet.toml")
    lattice = table.lattice()
    wish = lattice.negotiate(k=10, max_suppressed="1%", max_level={"age": 2})
    release = table.publish(wish.exact or wish.relaxation("height"), "release.csv")
    discreet.audit("release.csv")

Importing the package loads no engine and no kernel: each name below is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from discreet.errors import (
        DiscreetError,
        InputError,
        InternalError,
        LimitReached,
        NoSolution,
        RequirementNotMet,
    )
    from discreet.report.report import report
    from discreet.results.answer_alternatives import FrontierResult, NeighboursResult, SuppressionResult
    from discreet.results.answers import AnswerResult, NegotiationResult
    from discreet.results.audit_result import AuditResult
    from discreet.results.check_result import FileChecks
    from discreet.results.inspection import Inspection
    from discreet.results.publish_result import RelatedAudits, RelatedReleases, ReleaseResult
    from discreet.results.recoding_result import RecodingResult
    from discreet.results.table_lattice import TableLattice
    from discreet.settings import Settings
    from discreet.spec.preset import Preset, preset
    from discreet.verbs.audits import audit, audit_sql
    from discreet.verbs.benchmark import SideBySide, compare
    from discreet.verbs.builtin_hierarchies import hierarchies
    from discreet.verbs.original_comparison import ReleaseComparison
    from discreet.verbs.proposal import Proposal, init
    from discreet.verbs.recorded_decisions import apply
    from discreet.verbs.relational import (
        ProposedTables,
        RelatedTables,
        audit_tables,
        init_tables,
        open_tables,
    )
    from discreet.verbs.release_attack import AttackResult, attack
    from discreet.verbs.release_check import check
    from discreet.verbs.release_publication import ReleasedTable
    from discreet.verbs.release_query import QueryResult, query, views
    from discreet.verbs.table import (
        Table,
        open,  # noqa: A004
    )
    from discreet.verbs.table_search import SearchOutcome

_MODULES = {
    "DiscreetError": "errors",
    "InputError": "errors",
    "InternalError": "errors",
    "LimitReached": "errors",
    "NoSolution": "errors",
    "RequirementNotMet": "errors",
    "Settings": "settings",
    "AnswerResult": "results.answers",
    "NegotiationResult": "results.answers",
    "apply": "verbs.recorded_decisions",
    "AttackResult": "verbs.release_attack",
    "attack": "verbs.release_attack",
    "AuditResult": "results.audit_result",
    "audit": "verbs.audits",
    "audit_sql": "verbs.audits",
    "SideBySide": "verbs.benchmark",
    "compare": "verbs.benchmark",
    "FrontierResult": "results.answer_alternatives",
    "NeighboursResult": "results.answer_alternatives",
    "SuppressionResult": "results.answer_alternatives",
    "FileChecks": "results.check_result",
    "check": "verbs.release_check",
    "hierarchies": "verbs.builtin_hierarchies",
    "Inspection": "results.inspection",
    "TableLattice": "results.table_lattice",
    "open": "verbs.table",
    "Preset": "spec.preset",
    "preset": "spec.preset",
    "ProposedTables": "verbs.relational",
    "init_tables": "verbs.relational",
    "Proposal": "verbs.proposal",
    "init": "verbs.proposal",
    "ReleaseComparison": "verbs.original_comparison",
    "ReleaseResult": "results.publish_result",
    "QueryResult": "verbs.release_query",
    "query": "verbs.release_query",
    "views": "verbs.release_query",
    "RelatedTables": "verbs.relational",
    "audit_tables": "verbs.relational",
    "open_tables": "verbs.relational",
    "RelatedAudits": "results.publish_result",
    "RelatedReleases": "results.publish_result",
    "report": "report.report",
    "RecodingResult": "results.recoding_result",
    "ReleasedTable": "verbs.release_publication",
    "SearchOutcome": "verbs.table_search",
    "Table": "verbs.table",
}

__all__ = [
    "AnswerResult",
    "AttackResult",
    "AuditResult",
    "DiscreetError",
    "FileChecks",
    "FrontierResult",
    "InputError",
    "Inspection",
    "InternalError",
    "LimitReached",
    "NegotiationResult",
    "NeighboursResult",
    "NoSolution",
    "Preset",
    "Proposal",
    "ProposedTables",
    "QueryResult",
    "RecodingResult",
    "RelatedAudits",
    "RelatedReleases",
    "RelatedTables",
    "ReleaseComparison",
    "ReleaseResult",
    "ReleasedTable",
    "RequirementNotMet",
    "SearchOutcome",
    "Settings",
    "SideBySide",
    "SuppressionResult",
    "Table",
    "TableLattice",
    "apply",
    "attack",
    "audit",
    "audit_sql",
    "audit_tables",
    "check",
    "compare",
    "hierarchies",
    "init",
    "init_tables",
    "open",
    "open_tables",
    "preset",
    "query",
    "report",
    "views",
]

# The rooms ``audit`` and ``report`` share a name with a verb. Importing a room binds the name in this package
# only once, at the first import. Importing both here and deleting the names leaves the names to the verbs;
# later imports from the rooms do not bind them again.
for _room in ("audit", "report"):
    import_module(f"discreet.{_room}")
    del globals()[_room]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("discreet.model.json_documents").program_version()
    if name not in _MODULES:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    value = getattr(import_module(f"discreet.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
