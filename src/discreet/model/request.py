"""Requests of a publisher: a requirement, bounds of levels, and a suppression limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement, no_criterion_error


class RowOrder(StrEnum):
    """By what the rows show, so that the order tells nothing beside them; or in an order that is drawn."""

    SORTED = "sorted"
    RANDOM = "random"

    @classmethod
    def of(cls, text: str) -> RowOrder:
        """The order of a name; ``InputError`` for another text."""
        if text not in tuple(cls):
            raise InputError(f"order of rows: '{text}'", allowed=", ".join(cls))
        return cls(text)


class Backend(StrEnum):
    """The compiled kernels, their numpy twin, or whichever answers first."""

    AUTO = "auto"
    KERNELS = "kernels"
    TWIN = "twin"


_ALLOWED_LIMIT = "a number of rows such as 301, or a percentage from 0% to 100% such as 1%"


class RelaxationScope(StrEnum):
    """Where the relaxation of height looks: at or above the request's own height, or everywhere."""

    ABOVE = "above"
    GLOBAL = "global"


def max_suppressible_rows(rows: int) -> int:
    """The most of so many rows that a solution may suppress: it leaves one, where there are any."""
    return max(rows - 1, 0)


@dataclass(frozen=True)
class SuppressionLimit:
    """How many rows may be suppressed: a number of rows, or an exact percentage of the rows."""

    rows: int | None = None
    percent: Fraction | None = None

    @classmethod
    def parse(cls, value: str | int) -> SuppressionLimit:
        """A limit from ``301``, ``"301"`` or ``"1%"``; ``InputError`` for anything else."""
        text = str(value).strip()
        match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?)\s*%", text)
        if match:
            percent = Fraction(match.group(1))
            if percent > 100:
                raise InputError(f"a suppression limit of {text}", allowed=_ALLOWED_LIMIT)
            return cls(percent=percent)
        if isinstance(value, bool) or not re.fullmatch(r"\d{1,18}", text):
            raise InputError(f"a suppression limit of {text}", allowed=_ALLOWED_LIMIT)
        return cls(rows=int(text))

    def of(self, rows: int) -> int:
        """The largest number of suppressed rows among ``rows``: s · 100 ≤ P · rows, exactly, and s < rows.

        A recoding that leaves no row is no solution (docs/decisions/0010), so that however loose the limit
        is, every verb looks among those that leave rows. Suppression never rises on the way up the lattice;
        with the rule as a limit, "within the limit" goes on being true of every node above.
        """
        allowed = self.rows or 0 if self.percent is None else int(self.percent * rows // 100)
        return min(allowed, max_suppressible_rows(rows))

    def __str__(self) -> str:
        if self.percent is None:
            return f"{self.rows or 0}"
        number = self.percent
        return f"{number.numerator if number.denominator == 1 else float(number)}%"


NO_SUPPRESSION = SuppressionLimit(rows=0)


@dataclass(frozen=True)
class Request:
    """What is asked of a negotiation or a search.

    ``max_level`` and ``min_level`` bound levels per quasi-identifier; one that is not named may go from 0 to
    its top.
    """

    requirement: Requirement
    max_suppressed: SuppressionLimit = NO_SUPPRESSION
    max_level: tuple[tuple[str, int], ...] = ()
    min_level: tuple[tuple[str, int], ...] = ()
    scope: RelaxationScope = RelaxationScope.ABOVE

    @classmethod
    def of(
        cls,
        *,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        max_suppressed: str | int = 0,
        max_level: Mapping[str, int] | None = None,
        min_level: Mapping[str, int] | None = None,
        scope: str = "above",
        criteria: Iterable[Criterion] = (),
    ) -> Request:
        """A request from plain values, as the Python API takes them; ``criteria`` beside k and l."""
        requirement = Requirement.of(k, l, criteria)
        if requirement.is_empty:
            raise no_criterion_error()
        if scope not in tuple(RelaxationScope):
            raise InputError(f"scope '{scope}'", allowed=", ".join(RelaxationScope))
        return cls(
            requirement=requirement,
            max_suppressed=SuppressionLimit.parse(max_suppressed),
            max_level=tuple((max_level or {}).items()),
            min_level=tuple((min_level or {}).items()),
            scope=RelaxationScope(scope),
        )


@dataclass(frozen=True)
class CostRequest:
    """The name of a cost, and the options of it that were given, in plain values."""

    name: str
    options: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class RequestDefaults:
    """The spec's ``[request]``: defaults of the options, each None or empty where not given.

    ``criteria`` are those beside k and l; ``order`` is that of a release's rows; ``cost`` is what is made
    least where nodes are compared by one.
    """

    k: int | None = None
    l: int | Mapping[str, int] | None = None
    max_suppressed: str | int | None = None
    max_level: Mapping[str, int] = field(default_factory=dict)
    min_level: Mapping[str, int] = field(default_factory=dict)
    scope: str | None = None
    criteria: tuple[Criterion, ...] = ()
    order: RowOrder = RowOrder.SORTED
    cost: CostRequest | None = None


def node_bounds(lattice: Lattice, request: Request) -> tuple[LatticeNode, LatticeNode]:
    """The lowest and the highest node that a request allows; ``InputError`` where they cross."""
    low = lattice.node_of(request.min_level, lattice.bottom)
    high = lattice.node_of(request.max_level, lattice.top)
    for name, least, greatest in zip(lattice.attributes, low, high, strict=True):
        if least > greatest:
            raise InputError(
                f"the least level of '{name}', {least}, is above its greatest, {greatest}",
                allowed=f"a least level from 0 to {greatest}",
                advice="Lower the one or raise the other.",
            )
    return low, high
