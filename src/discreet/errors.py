"""What can go wrong, in five kinds.

::

    DiscreetError
    ├── RequirementNotMet   exit 1   a release or file fails the privacy requirement
    ├── InputError          exit 2   the request, spec, hierarchy or data is wrong
    ├── NoSolution          exit 3   everything is right, yet nothing satisfies the request
    ├── LimitReached        exit 4   memory, time, disk or lattice size ran out
    └── InternalError       exit 70  our bug

Each error says the fact, what is allowed, and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar


class DiscreetError(Exception):
    """Base of the five kinds.

    ``message`` states the fact (with file, column, line and value where known), ``allowed`` what would
    have been accepted, ``advice`` what to do next.
    """

    kind: ClassVar[str] = "error"
    exit_status: ClassVar[int] = 70

    def __init__(self, message: str, *, allowed: str | None = None, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.allowed = allowed
        self.advice = advice

    def __str__(self) -> str:
        parts = [self.message if self.message.endswith((".", "!", "?")) else f"{self.message}."]
        if self.allowed:
            parts.append(f"Allowed: {self.allowed}.")
        if self.advice:
            parts.append(self.advice)
        return " ".join(parts)

    def as_json(self) -> Mapping[str, Mapping[str, str | None]]:
        """The document that ``--json`` prints for this error."""
        return {
            "error": {
                "kind": self.kind,
                "message": self.message,
                "allowed": self.allowed,
                "advice": self.advice,
            }
        }


class RequirementNotMet(DiscreetError):
    """A requirement is not met, or an audit failed."""

    kind = "requirement-not-met"
    exit_status = 1


class InputError(DiscreetError):
    """The request, the spec, a hierarchy or the data is wrong."""

    kind = "bad-input"
    exit_status = 2


class NoSolution(DiscreetError):
    """Nothing in the search space satisfies the request."""

    kind = "no-solution"
    exit_status = 3


class LimitReached(DiscreetError):
    """A limit of memory, time, disk or size was reached."""

    kind = "limit-reached"
    exit_status = 4


class InternalError(DiscreetError):
    """A bug of discreet's own."""

    kind = "internal"
    exit_status = 70
