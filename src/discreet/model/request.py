"""Requests of a publisher: a requirement, bounds of levels, and a suppression limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.option import spec_key
from discreet.model.requirement import Requirement, no_criterion_error


class RowOrder(StrEnum):
    """Row order of a release: sorted by its published cells, so that it discloses nothing more, or random."""

    SORTED = "sorted"
    RANDOM = "random"

    @classmethod
    def of(cls, text: str) -> RowOrder:
        """Return the order of a name; raise ``InputError`` for another text."""
        if text not in tuple(cls):
            raise InputError(f"order of rows: '{text}'", allowed=", ".join(cls))
        return cls(text)


class Backend(StrEnum):
    """Implementation of a computation: compiled kernels, the numpy twin, or the one that answers first."""

    AUTO = "auto"
    KERNELS = "kernels"
    TWIN = "twin"


_ALLOWED_LIMIT = "a number of rows such as 301, or a percentage from 0% to 100% such as 1%"


class RelaxationScope(StrEnum):
    """Scope of the relaxation of height: at or above the request's own height, or all nodes."""

    ABOVE = "above"
    GLOBAL = "global"


def max_suppressible_rows(rows: int) -> int:
    """Return the maximum number of rows that a solution may suppress: all but one, if there are any."""
    return max(rows - 1, 0)


@dataclass(frozen=True)
class SuppressionLimit:
    """Maximum number of suppressed rows: a number of rows, or an exact percentage of the rows."""

    rows: int | None = None
    percent: Fraction | None = None

    @classmethod
    def parse(cls, value: str | int) -> SuppressionLimit:
        """Parse a limit from ``301``, ``"301"`` or ``"1%"``; raise ``InputError`` for other values."""
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
        """Return the largest number s of suppressed rows: s · 100 ≤ P · rows, exactly, and s < rows.

        A recoding that leaves no row is not a solution (docs/decisions/0010), so every verb considers only
        recodings that leave rows, however loose the limit is. Suppression never rises on the way up the
        lattice; because the rule is part of the limit, "within the limit" remains true of every node above.
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
    """Request of a negotiation or a search.

    ``max_level`` and ``min_level`` bound levels per quasi-identifier; the levels of others are unrestricted.
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
        """Build a request from plain values of the Python API; ``criteria`` are those except k and l."""
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
    """The name of a cost, and its given options, in plain values."""

    name: str
    options: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class RequestDefaults:
    """The spec's ``[request]``: defaults of the options, each None or empty if not given.

    ``criteria`` are those except k and l; ``cost`` is minimized where nodes are compared by a cost.
    """

    k: int | None = spec_key(
        "Each class has at least k rows, or subjects if they are counted.",
        "10",
        "a whole number of at least 1",
        ge=1,
    )
    l: int | Mapping[str, int] | None = spec_key(
        "Each class has at least l distinct values of each sensitive attribute, or of some.",
        "{disease = 3}",
        "a whole number of at least 1, or a table of them by sensitive attribute",
    )
    max_suppressed: str | int | None = spec_key(
        "How many rows may be suppressed.",
        '"1%"',
        'a number of rows such as 301, or a percentage from "0%" to "100%" such as "1%"',
    )
    scope: str | None = spec_key(
        "Where relaxing the height searches: at the requested height and above, or everywhere.",
        '"global"',
        "above, global",
    )
    row_order: RowOrder = spec_key(
        "Order of the rows of a release: by their values, or random.", '"random"', default=RowOrder.SORTED
    )
    cost: CostRequest | None = spec_key(
        "Cost that optimal and anytime minimize, and the frontier weighs against suppression.",
        '{name = "loss", gs_factor = 0.66}',
        'the name of a cost in quotes, or a table such as {name = "loss", aggregate = "rank"}',
    )
    max_level: Mapping[str, int] = spec_key(
        "The highest level of a quasi-identifier.",
        "{age = 2}",
        "whole numbers of at least 0, by quasi-identifier",
        default={},
    )
    min_level: Mapping[str, int] = spec_key(
        "The lowest level of a quasi-identifier.",
        "{age = 1}",
        "whole numbers of at least 0, by quasi-identifier",
        default={},
    )
    criteria: tuple[Criterion, ...] = ()


def node_bounds(lattice: Lattice, request: Request) -> tuple[LatticeNode, LatticeNode]:
    """Return the lowest and the highest node that a request allows; raise ``InputError`` if they cross."""
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
