"""An asked query: several aggregates of sensitive values, by group, of the rows that meet a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from discreet.queries.condition import Condition, attributes_in
from discreet.queries.query import Aggregate
from discreet.queries.uses import Use


class KeyKind(StrEnum):
    """What the values of a group's key are."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"


@dataclass(frozen=True)
class AskedAggregate:
    """One aggregate behind SELECT.

    ``measure`` None is ``COUNT(*)``. ``title`` is the aggregate as it was written, or its alias; ``name`` is
    free for columns of the rewritten query, each once.
    """

    aggregate: Aggregate
    measure: str | None
    title: str
    name: str


@dataclass(frozen=True)
class GroupKey:
    """An expression behind GROUP BY: SQL text, and the columns that it names."""

    title: str
    sql: str
    attributes: tuple[str, ...]
    kind: KeyKind = KeyKind.TEXT


@dataclass(frozen=True)
class AskedQuery:
    """``SELECT aggregates FROM the release WHERE condition GROUP BY keys ORDER BY order``.

    ``order`` names places of keys, and whether they descend; ``uses`` say of the columns that condition and
    keys name what they are compared with.
    """

    aggregates: tuple[AskedAggregate, ...]
    keys: tuple[GroupKey, ...] = ()
    condition: Condition | None = None
    order: tuple[tuple[int, bool], ...] = ()
    uses: Mapping[str, Use] = field(default_factory=dict)

    @property
    def measures(self) -> tuple[str, ...]:
        """The aggregated columns, each once, in order."""
        return tuple(dict.fromkeys(a.measure for a in self.aggregates if a.measure is not None))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns that the condition and the keys name, each once, in order."""
        named = [] if self.condition is None else list(attributes_in(self.condition))
        return tuple(dict.fromkeys([*named, *(name for key in self.keys for name in key.attributes)]))

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of the rewritten query: keys, then lower, upper and estimate of each aggregate."""
        ends = ("lower", "upper", "estimate")
        bounds = [f"{a.name}_{end}" for a in self.aggregates for end in ends]
        return (*(key.title for key in self.keys), *bounds)
