"""Constraints on patterns, resolved: units of attributes that are chosen together, and what each may be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached
from discreet.model.pattern import PatternConstraints

_MOST_OPTIONS = 1 << 20


@dataclass(frozen=True, eq=False)
class Unit:
    """Attributes that are all generalized or not at all.

    ``options`` has shape ``(options, attributes of the unit)`` and holds levels; ``stars`` counts those of
    each option that are starred. Units that share a number in ``exclusive`` exclude each other.
    """

    places: tuple[int, ...]
    options: NDArray[np.int16]
    stars: NDArray[np.int64]
    exclusive: tuple[int, ...]

    @property
    def least_stars(self) -> int:
        """The stars that the unit has at least."""
        return int(self.stars.min())


def resolved_units(
    attributes: tuple[str, ...], heights: tuple[int, ...], constraints: PatternConstraints
) -> list[Unit]:
    """The units of the constraints, so that every choice among some of them can be completed.

    ``InputError`` for an unknown attribute, a negative number of stars, or constraints that contradict each
    other. An attribute of height 0 has nothing to choose and is left out.
    """
    _check_names(attributes, constraints)
    chosen = [j for j, height in enumerate(heights) if height > 0]
    place = {attributes[j]: j for j in chosen}
    unit_of = _joined(chosen, [[place[n] for n in group if n in place] for group in constraints.together])
    units = sorted({tuple(unit) for unit in unit_of.values()})
    of_place = {j: number for number, unit in enumerate(units) for j in unit}
    required = {of_place[place[name]] for name in constraints.required if name in place}
    never = {of_place[place[name]] for name in constraints.never if name in place}
    groups = [[of_place[place[n]] for n in set(group) if n in place] for group in constraints.at_most_one]
    never |= {unit for group in groups for unit in group if group.count(unit) > 1}
    for group in groups:
        held = required & set(group)
        if len(held) > 1:
            _contradict("more than one attribute of an at-most-one group is required")
        if held:
            never |= set(group) - held
    if required & never:
        names = ", ".join(attributes[j] for unit in sorted(required & never) for j in units[unit])
        _contradict(f"{names} must be generalized, and may not be")
    found = []
    for number, unit in enumerate(units):
        options = _options(
            [heights[j] for j in unit], constraints.levels, number in required, number in never
        )
        stars = (options == np.array([heights[j] for j in unit])).sum(axis=1)
        exclusive = tuple(g for g, group in enumerate(groups) if number in group)
        found.append(Unit(unit, options, stars, exclusive))
    least = sum(unit.least_stars for unit in found)
    if constraints.max_stars is not None and least > constraints.max_stars:
        _contradict(f"the required attributes take {least} stars, and {constraints.max_stars} are allowed")
    return found


def _check_names(attributes: tuple[str, ...], constraints: PatternConstraints) -> None:
    most = constraints.max_stars
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise InputError(f"at most {most} stars", allowed="a whole number of at least 0")
    groups = (constraints.never, constraints.required, *constraints.together, *constraints.at_most_one)
    for group in groups:
        for name in group:
            if name not in attributes:
                raise InputError(
                    f"a pattern constraint names '{name}', which is not a quasi-identifier",
                    allowed=", ".join(attributes),
                )


def _joined(places: Iterable[int], groups: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """The unit of each place, those of a group in one."""
    unit_of = {j: [j] for j in places}
    for group in groups:
        for j in group[1:]:
            first, other = unit_of[group[0]], unit_of[j]
            if first is not other:
                first += other
                first.sort()
                unit_of.update(dict.fromkeys(other, first))
    return unit_of


def _options(heights: Sequence[int], levels: bool, required: bool, never: bool) -> NDArray[np.int16]:
    choices = [range(1, height + 1) if levels else range(height, height + 1) for height in heights]
    number = 1
    for choice in choices:
        number *= len(choice)
    if number > _MOST_OPTIONS:
        raise LimitReached(
            f"attributes that stand together have {number:,} combinations of levels",
            allowed=f"{_MOST_OPTIONS:,}",
            advice="Let fewer attributes stand together, or use stars instead of levels.",
        )
    found = [] if required else [(0,) * len(heights)]
    found += [] if never else list(product(*choices))
    return np.array(found, np.int16).reshape(len(found), len(heights))


def _contradict(why: str) -> None:
    raise InputError(
        f"the pattern constraints contradict each other: {why}", advice="Loosen one of the constraints."
    )
