"""A condition as an asked query states it: comparisons in SQL, joined by AND, OR and NOT.

A comparison is SQL text that was written anew from what was read (``queries.expressions``), together with the
columns that it names: whoever knows what values those have can let an engine evaluate it by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """SQL text that is true, false or NULL, and the columns that it names."""

    sql: str
    attributes: tuple[str, ...]


@dataclass(frozen=True)
class Contrary:
    """True where a condition is false."""

    of: Condition

    @property
    def sql(self) -> str:
        """The condition as SQL."""
        return f"NOT ({self.of.sql})"


@dataclass(frozen=True)
class Every:
    """True where every part is."""

    parts: tuple[Condition, ...]

    @property
    def sql(self) -> str:
        """The condition as SQL."""
        return " AND ".join(_within(part) for part in self.parts)


@dataclass(frozen=True)
class Either:
    """True where at least one part is."""

    parts: tuple[Condition, ...]

    @property
    def sql(self) -> str:
        """The condition as SQL."""
        return " OR ".join(_within(part) for part in self.parts)


Condition = Comparison | Contrary | Every | Either


def attributes_in(condition: Condition) -> tuple[str, ...]:
    """The columns that a condition names, each once, in order."""
    return tuple(dict.fromkeys(name for part in comparisons_in(condition) for name in part.attributes))


def comparisons_in(condition: Condition) -> Iterator[Comparison]:
    """Every comparison of a condition, in its order."""
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, Contrary):
        yield from comparisons_in(condition.of)
    else:
        for part in condition.parts:
            yield from comparisons_in(part)


def _within(condition: Condition) -> str:
    return f"({condition.sql})" if isinstance(condition, Every | Either) else condition.sql
