"""Requirements with other numbers for k and l, as the oracles try them in turn."""

from __future__ import annotations

from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.requirement import Requirement


def with_k(requirement: Requirement, k: int) -> Requirement:
    """Return the same requirement with another k."""
    return Requirement(k, criteria=(c for c in requirement.criteria if not isinstance(c, KAnonymity)))


def with_l_at_most(requirement: Requirement, l: int) -> Requirement:
    """Return the same requirement with every l lowered to at most ``l``."""
    return requirement.weakened(DistinctDiversity.name, l)


def largest_l(requirement: Requirement) -> int | None:
    """Return the largest l required of any attribute."""
    return max((c.value for c in requirement.criteria if isinstance(c, DistinctDiversity)), default=None)
