"""The decision of a search: how a table is recoded. Applying it is the engine's work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement


class SuppressionPolicy(StrEnum):
    """What happens to suppressed rows: left out, or every cell replaced by ``*``."""

    DROP = "drop"
    STAR = "star"


@dataclass(frozen=True)
class FullDomainRecoding:
    """Every value of an attribute goes to one level (LeFevre et al. 2005, section 5.1.1).

    Rows of classes that fail ``requirement`` are suppressed by ``suppression``.
    """

    attributes: tuple[str, ...]
    node: LatticeNode
    requirement: Requirement
    suppression: SuppressionPolicy = SuppressionPolicy.DROP
