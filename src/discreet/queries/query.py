"""An aggregate query and its weight in a workload."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.queries.predicate import Predicate, atoms_of


class Aggregate(StrEnum):
    """What is asked of the rows that a predicate selects."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"


@dataclass(frozen=True)
class AggregateQuery:
    """``SELECT aggregate(attribute) FROM … WHERE predicate``.

    ``attribute`` None is ``COUNT(*)``; of an attribute, NULL is left out. ``weight`` is the query's share in
    a workload, 0 or more. ``text`` is the query as written, for print.
    """

    aggregate: Aggregate
    attribute: str | None
    predicate: Predicate
    weight: float = 1.0
    text: str = ""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that the query names, each once, in order."""
        named = [atom.attribute for atom in atoms_of(self.predicate)]
        return tuple(dict.fromkeys(([self.attribute] if self.attribute else []) + named))


def attributes_of(queries: tuple[AggregateQuery, ...]) -> tuple[str, ...]:
    """The attributes that a workload names, each once, in order."""
    return tuple(dict.fromkeys(name for query in queries for name in query.attributes))
