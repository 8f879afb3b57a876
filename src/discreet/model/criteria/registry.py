"""The criteria that there are: our own, and those of others by ``register`` or an entry point."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable

from discreet.errors import InputError
from discreet.model.criteria.base import Criterion
from discreet.model.registry import Registry


def _own() -> Iterable[type[Criterion]]:
    from discreet.model.criteria.distinct_diversity import DistinctDiversity
    from discreet.model.criteria.k_anonymity import KAnonymity

    return KAnonymity, DistinctDiversity


CRITERIA: Registry[type[Criterion]] = Registry("the criterion", "discreet.criteria", ABCMeta, _own)
"""Every criterion, k and l first; other packages' by the entry points ``discreet.criteria``."""


def register(criterion: type[Criterion]) -> type[Criterion]:
    """Add a criterion, which every verb then knows; usable as a decorator.

    ``InputError`` for what is no ``Criterion``, for a floor that its parameter does not take, and for a name
    that another has.
    """
    if not (isinstance(criterion, type) and issubclass(criterion, Criterion)):
        raise InputError(f"{criterion!r} was registered as a criterion", allowed="a subclass of Criterion")
    criterion.parameter.checked(f"the floor of {criterion.name}", criterion.floor)
    return CRITERIA.register(criterion)


def criteria_from(given: dict[str, float | dict[str, float]]) -> tuple[Criterion, ...]:
    """Criteria from names and values: a number, or numbers by sensitive attribute.

    ``InputError`` for a name that is none, or a value that its parameter does not take.
    """
    found: list[Criterion] = []
    for name, value in given.items():
        kind = CRITERIA.named(name)
        if isinstance(value, dict):
            found += [kind(number, attribute) for attribute, number in value.items()]
        else:
            found.append(kind(value))
    return tuple(found)
