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
    from discreet.settings import Settings
    from discreet.workbench.answers import AnswerResult, NegotiationResult
    from discreet.workbench.attacking import AttackResult, attack
    from discreet.workbench.audit_result import AuditResult
    from discreet.workbench.auditing import audit
    from discreet.workbench.choices import FrontierResult, NeighboursResult, SuppressionResult
    from discreet.workbench.comparing import ReleaseComparison
    from discreet.workbench.everyday_hierarchies import hierarchies
    from discreet.workbench.inspection import Inspection
    from discreet.workbench.lattice import TableLattice
    from discreet.workbench.opening import open  # noqa: A004
    from discreet.workbench.proposal import Proposal, init
    from discreet.workbench.publication import ReleaseResult
    from discreet.workbench.querying import QueryResult, query, views
    from discreet.workbench.recodings import RecodingResult
    from discreet.workbench.released_table import ReleasedTable
    from discreet.workbench.searching import SearchOutcome
    from discreet.workbench.table import Table

_MODULES = {
    "DiscreetError": "errors",
    "InputError": "errors",
    "InternalError": "errors",
    "LimitReached": "errors",
    "NoSolution": "errors",
    "RequirementNotMet": "errors",
    "Settings": "settings",
    "AnswerResult": "workbench.answers",
    "NegotiationResult": "workbench.answers",
    "AttackResult": "workbench.attacking",
    "attack": "workbench.attacking",
    "AuditResult": "workbench.audit_result",
    "audit": "workbench.auditing",
    "FrontierResult": "workbench.choices",
    "NeighboursResult": "workbench.choices",
    "SuppressionResult": "workbench.choices",
    "hierarchies": "workbench.everyday_hierarchies",
    "Inspection": "workbench.inspection",
    "TableLattice": "workbench.lattice",
    "open": "workbench.opening",
    "Proposal": "workbench.proposal",
    "init": "workbench.proposal",
    "ReleaseComparison": "workbench.comparing",
    "ReleaseResult": "workbench.publication",
    "QueryResult": "workbench.querying",
    "query": "workbench.querying",
    "views": "workbench.querying",
    "report": "report.report",
    "RecodingResult": "workbench.recodings",
    "ReleasedTable": "workbench.released_table",
    "SearchOutcome": "workbench.searching",
    "Table": "workbench.table",
}

__all__ = [
    "AnswerResult",
    "AttackResult",
    "AuditResult",
    "DiscreetError",
    "FrontierResult",
    "InputError",
    "Inspection",
    "InternalError",
    "LimitReached",
    "NegotiationResult",
    "NeighboursResult",
    "NoSolution",
    "Proposal",
    "QueryResult",
    "RecodingResult",
    "ReleaseComparison",
    "ReleaseResult",
    "ReleasedTable",
    "RequirementNotMet",
    "SearchOutcome",
    "Settings",
    "SuppressionResult",
    "Table",
    "TableLattice",
    "attack",
    "audit",
    "hierarchies",
    "init",
    "open",
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
        return import_module("importlib.metadata").version("discreet")
    if name not in _MODULES:
        raise AttributeError(f"module 'discreet' has no attribute '{name}'")
    value = getattr(import_module(f"discreet.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
