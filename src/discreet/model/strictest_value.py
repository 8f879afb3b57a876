"""The strictest value of a criterion that a release meets, where nobody asked for one.

A slider the other way round: which t does this file have? A value is told only where asking for it would
pass; where no value passes, or nobody can tell, the reason stands in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.fixed_parts import fixed_parts
from discreet.model.option import OptionKind

NEVER_MET = "no value is weak enough"
"""What is told where a class, or the release, fails whatever is asked."""


@dataclass(frozen=True)
class StrictestValue:
    """A kind of criterion with all its fixed ``parts``, and the strictest ``value`` that a release meets.

    ``value`` is None where there is a ``reason``. ``publisher`` says, of a criterion that compares classes
    with the whole table, whether that was the publisher's; else it was the published rows.
    """

    criterion: type[Criterion]
    attribute: str | None
    parts: Mapping[str, Any]
    value: Any = None
    reason: str | None = None
    publisher: bool | None = None

    @classmethod
    def of(cls, asked: Criterion, score: int | None, *, publisher: bool | None = None) -> StrictestValue:
        """Of the smallest score, None where a class has none; what ``asked`` has for a value does not count.

        A score may be worse than any value allows, so the value is asked of its own threshold again.
        """
        kind = type(asked)
        value = None if score is None else _met(asked, score)
        parts = {part.name: getattr(asked, part.name) for part in fixed_parts(kind)}
        reason = NEVER_MET if value is None else None
        return cls(kind, asked.attribute, parts, value, reason, publisher)

    @property
    def told_parts(self) -> str:
        """The fixed parts in a few words: ``distance equal``."""
        return ", ".join(f"{name} {exactly(value)}" for name, value in self.parts.items())

    @property
    def told(self) -> str:
        """The value with all its digits, so that it can be asked; ``none`` where there is a reason."""
        return "none" if self.reason else exactly(self.value)

    def as_json(self) -> dict[str, Any]:
        """The entry in the ``strictest`` of ``discreet audit --strictest --json``."""
        compared = {None: None, True: "publisher", False: "release"}[self.publisher]
        return {
            "name": self.criterion.name,
            "title": self.criterion.title,
            "attribute": self.attribute,
            "with": dict(self.parts),
            "value": self.value,
            "reason": self.reason,
            "compared_with": compared,
        }


def exactly(value: Any) -> str:
    """A number with all digits that tell it from others, a whole one without a point.

    >>> exactly(0.333333334), exactly(2.0)
    ('0.333333334', '2')
    """
    return repr(value).removesuffix(".0") if isinstance(value, float) else f"{value}"


def variants(kind: type[Criterion]) -> Iterator[dict[str, Any]]:
    """The fixed parts of a criterion as it proposes them, and with each other choice of one of them."""
    proposed = {part.name: part.default for part in fixed_parts(kind)}
    yield proposed
    for part in fixed_parts(kind):
        if part.kind is OptionKind.CHOICE:
            yield from (proposed | {part.name: each} for each in part.choices if each != part.default)


def _met(asked: Criterion, score: int) -> Any:
    """The strictest value whose threshold is not above a score; None where no value has one."""
    parameter = asked.parameter
    value = min(max(asked.value_of(score), parameter.least), parameter.most)
    try:
        found = replace(asked, value=value)
    except InputError:
        return None
    return found.value if found.threshold <= score else None
