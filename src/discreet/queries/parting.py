"""A query in two: what it asks of columns whose cells are their rows' own, and of one whose values are not.

Which row of a group has which permuted value is hidden, so a condition is answered where it falls into parts
joined by AND, each of which names either the permuted column or others (Zhang et al. 2007).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.errors import InputError
from discreet.queries.asked import AskedQuery, GroupKey
from discreet.queries.condition import Condition, Contrary, Either, Every, attributes_in


@dataclass(frozen=True)
class Part:
    """The conditions and keys of a query that name one side's columns; ``places`` are the keys' own."""

    condition: Condition | None
    keys: tuple[GroupKey, ...]
    places: tuple[int, ...]


def parted(asked: AskedQuery, permuted: str) -> tuple[Part, Part]:
    """What a query asks of all other columns, and of the permuted one.

    ``InputError`` where one comparison, or parts joined by OR, name both.
    """
    both = [] if asked.condition is None else list(_conjuncts(asked.condition))
    for names in (*map(attributes_in, both), *(key.attributes for key in asked.keys)):
        _check(names, permuted)

    def side(of_permuted: bool) -> Part:
        conditions = tuple(part for part in both if (permuted in attributes_in(part)) is of_permuted)
        places = tuple(
            place for place, key in enumerate(asked.keys) if (permuted in key.attributes) is of_permuted
        )
        keys = tuple(asked.keys[place] for place in places)
        return Part(Every(conditions) if conditions else None, keys, places)

    return side(False), side(True)


def _conjuncts(condition: Condition, wanted: bool = True) -> Iterator[Condition]:
    """Conditions that all have to be true for one to be true, or false where not ``wanted``."""
    if isinstance(condition, Contrary):
        yield from _conjuncts(condition.of, not wanted)
    elif isinstance(condition, Every if wanted else Either):
        for part in condition.parts:
            yield from _conjuncts(part, wanted)
    else:
        yield condition if wanted else Contrary(condition)


def _check(names: tuple[str, ...], permuted: str) -> None:
    others = [name for name in names if name != permuted]
    if permuted in names and others:
        raise InputError(
            f"'{permuted}' and '{others[0]}' are asked together, but which row has which value of "
            f"'{permuted}' is hidden",
            allowed=f"conditions on '{permuted}' and on others, joined by AND; keys of one or the other",
            advice="Ask the parts of an OR one by one.",
        )
