"""A trial of the fuzz: a plain table, a request of any criteria, and the journey of the release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from discreet.model.criteria.base import Criterion
from discreet.model.criteria.registry import CRITERIA
from tests.fuzz.cases import Case, Column
from tests.fuzz.chains import Chain, chain_of

SECRET = "secret-"
"""Prefix of every cell of an identifier: it occurs in no release."""


@dataclass(frozen=True)
class Condition:
    """A criterion by its name, its parameter's value, its attribute and its fixed parts."""

    name: str
    value: Any
    attribute: str | None = None
    parts: tuple[tuple[str, Any], ...] = ()

    @property
    def criterion(self) -> Criterion:
        """The program's criterion."""
        return CRITERIA.named(self.name)(self.value, self.attribute, **dict(self.parts))

    def part(self, name: str) -> Any:
        """Return the value of a fixed part, the proposed one if the condition has none."""
        return getattr(self.criterion, name)

    def at(self, attribute: str | None) -> Condition:
        """The same condition of one sensitive attribute."""
        return replace(self, attribute=attribute)

    def __str__(self) -> str:
        parts = "".join(f", {name}={value}" for name, value in self.parts)
        return f"{self.name}({self.attribute or ''}{parts})={self.value}"


@dataclass(frozen=True)
class Trial(Case):
    """A table, a request, and a journey: the steps that are run with them.

    ``further`` are the conditions except ``k`` and ``l``. ``people`` are the rows of the population by
    quasi-identifier, in addition to those of the table. ``kernels`` chooses compiled code or its numpy twin.
    ``levels`` bound the request: the least and the greatest level by attribute. ``survey`` means that the
    spec names a column of survey weights.
    """

    journey: str = "publish"
    further: tuple[Condition, ...] = ()
    people: tuple[Mapping[str, Any], ...] = ()
    order: str = "sorted"
    kernels: bool = False
    levels: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {})
    mutations: tuple[str, ...] = ()
    survey: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> list[Column]:
        """The quasi-identifiers."""
        return self.of("quasi-identifier")

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Every condition of the request, k and l first."""
        first = (Condition("k", self.k),) if self.k else ()
        second = (Condition("l", self.l),) if self.l else ()
        return (*first, *second, *self.further)

    @property
    def counts_people(self) -> bool:
        """Whether the spec names a subject."""
        return self.subject is not None

    def chains(self, *, with_people: bool = True) -> dict[str, Mapping[str, Chain] | None]:
        """The chain of every value, by quasi-identifier; None for labels that ``chains`` cannot derive."""
        found: dict[str, Mapping[str, Chain] | None] = {}
        for column in self.keys:
            texts = [str(column.cells[row]) for row in self.kept if column.cells[row] is not None]
            if with_people:
                texts += [str(one[column.name]) for one in self.people if one[column.name] is not None]
            found[column.name] = chain_of(column.hierarchy, sorted(set(texts)))
        return found

    def at(self, rows: Sequence[int]) -> Self:
        """The trial with some of its rows."""
        return replace(self, columns=tuple(column.at(rows) for column in self.columns))

    def smaller(self) -> Iterator[Trial]:
        """Yield smaller trials that may fail for the same reason."""
        for place in range(len(self.further)):
            yield replace(self, further=self.further[:place] + self.further[place + 1 :])
        if self.mutations:
            yield replace(self, mutations=())
        for name in self.mutations if len(self.mutations) > 1 else ():
            yield replace(self, mutations=(name,))
        if self.people:
            yield replace(self, people=self.people[: len(self.people) // 2])
        if self.levels != ({}, {}):
            yield replace(self, levels=({}, {}))
        if self.release != "csv":
            yield replace(self, release="csv")


def counted(texts: Sequence[str | None]) -> Counter[str]:
    """Count the values of a column without NULL."""
    return Counter(text for text in texts if text is not None)
