"""Who rests on criteria that are monotone, and may not be asked for others.

A search that concludes from a node to those above it, or a recoding that merges classes, is right for
monotone criteria alone; one that lets suppressed rows join classes that pass, for growing ones alone
(``model.criteria.base``). What it cannot do right it refuses, by name.
"""

from __future__ import annotations

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.judge import of_release_refused
from discreet.model.requirement import Requirement

MONOTONE_ADVICE = "Use --algorithm exhaustive or optimal, which judge every node of the lattice by itself."
"""What to do with a criterion that is not monotone, where classes are merged."""


def is_growing(requirement: Requirement) -> bool:
    """Whether suppressed rows never rise on the way up a lattice: every criterion is growing."""
    return requirement.is_growing


def is_monotone(requirement: Requirement) -> bool:
    """Whether the union of two classes that pass does."""
    return all(criterion.growing or criterion.monotone for criterion in requirement.criteria)


def require_monotone(requirement: Requirement, who: str, *, advice: str) -> None:
    """Raise ``InputError`` for a criterion that is not monotone; ``who`` merges classes that pass."""
    for criterion in requirement.criteria:
        if criterion.of_release:
            raise of_release_refused(criterion, who, advice)
        if not (criterion.growing or criterion.monotone):
            raise InputError(
                f"{criterion} of {who}: {criterion.title} may fail where two classes that meet it are merged",
                allowed=_allowed(requirement, monotone=True),
                advice=advice,
            )


def require_growing(requirement: Requirement, who: str, *, advice: str) -> None:
    """Raise ``InputError`` for a criterion that is not growing; ``who`` merges failing rows into others."""
    for criterion in requirement.criteria:
        if criterion.of_release:
            raise of_release_refused(criterion, who, advice)
        if not criterion.growing:
            raise InputError(
                f"{criterion} of {who}: {criterion.title} may fail where rows of a class that fails join "
                "a class that meets it",
                allowed=_allowed(requirement, monotone=False),
                advice=advice,
            )


def _allowed(requirement: Requirement, *, monotone: bool) -> str:
    def fits(criterion: Criterion) -> bool:
        return criterion.growing or (monotone and criterion.monotone)

    held = ", ".join(dict.fromkeys(c.name for c in requirement.criteria if fits(c)))
    kind = "criteria that hold for unions" if monotone else "criteria that no further row breaks"
    return f"{kind}: {held or 'k, l'}"
