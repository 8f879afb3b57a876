"""Publish personal data discreetly: negotiate privacy, generalization and suppression, then release.

::

    table = discreet.open("discreet.toml")
    lattice = table.lattice()
    wish = lattice.negotiate(k=10, max_suppressed="1%", max_level={"age": 2})
    release = table.publish(wish.exact or wish.relaxation("height"), "release.csv")
    discreet.audit("release.csv")

Importing the package loads no engine and no kernel: each name below is fetched when it is first used.
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
    from discreet.results.answers import AnswerResult, NegotiationResult
    from discreet.results.audit_result import AuditResult
    from discreet.results.choices import FrontierResult, NeighboursResult, SuppressionResult
    from discreet.results.file_checks import FileChecks
    from discreet.results.inspection import Inspection
    from discreet.results.lattice import TableLattice
    from discreet.results.publication import ReleaseResult
    from discreet.results.recodings import RecodingResult
    from discreet.results.related_tables import RelatedAudits, RelatedReleases
    from discreet.settings import Settings
    from discreet.spec.preset import Preset, preset
    from discreet.verbs.applying import apply
    from discreet.verbs.attacking import AttackResult, attack
    from discreet.verbs.auditing import audit, audit_sql
    from discreet.verbs.beside import SideBySide, compare
    from discreet.verbs.checking import check
    from discreet.verbs.comparing import ReleaseComparison
    from discreet.verbs.everyday_hierarchies import hierarchies
    from discreet.verbs.opening import open  # noqa: A004
    from discreet.verbs.proposal import Proposal, init
    from discreet.verbs.proposed_tables import ProposedTables, init_tables
    from discreet.verbs.querying import QueryResult, query, views
    from discreet.verbs.related_tables import RelatedTables, audit_tables, open_tables
    from discreet.verbs.released_table import ReleasedTable
    from discreet.verbs.searching import SearchOutcome
    from discreet.verbs.table import Table

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
    "apply": "verbs.applying",
    "AttackResult": "verbs.attacking",
    "attack": "verbs.attacking",
    "AuditResult": "results.audit_result",
    "audit": "verbs.auditing",
    "audit_sql": "verbs.auditing",
    "SideBySide": "verbs.beside",
    "compare": "verbs.beside",
    "FrontierResult": "results.choices",
    "NeighboursResult": "results.choices",
    "SuppressionResult": "results.choices",
    "FileChecks": "results.file_checks",
    "check": "verbs.checking",
    "hierarchies": "verbs.everyday_hierarchies",
    "Inspection": "results.inspection",
    "TableLattice": "results.lattice",
    "open": "verbs.opening",
    "Preset": "spec.preset",
    "preset": "spec.preset",
    "ProposedTables": "verbs.proposed_tables",
    "init_tables": "verbs.proposed_tables",
    "Proposal": "verbs.proposal",
    "init": "verbs.proposal",
    "ReleaseComparison": "verbs.comparing",
    "ReleaseResult": "results.publication",
    "QueryResult": "verbs.querying",
    "query": "verbs.querying",
    "views": "verbs.querying",
    "RelatedTables": "verbs.related_tables",
    "audit_tables": "verbs.related_tables",
    "open_tables": "verbs.related_tables",
    "RelatedAudits": "results.related_tables",
    "RelatedReleases": "results.related_tables",
    "report": "report.report",
    "RecodingResult": "results.recodings",
    "ReleasedTable": "verbs.released_table",
    "SearchOutcome": "verbs.searching",
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

# The rooms ``audit`` and ``report`` share a name with a verb. Loading a room binds the name once, here; taken
# away again, it is free for the verb, and later imports from the room do not bind it anew.
for _room in ("audit", "report"):
    import_module(f"discreet.{_room}")
    del globals()[_room]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("discreet.model.own_version").own_version()
    if name not in _MODULES:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    value = getattr(import_module(f"discreet.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
