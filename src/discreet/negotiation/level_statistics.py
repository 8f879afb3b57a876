"""The grouping power (``measures.grouping``) from one frequency set per level, no lattice evaluated."""

from __future__ import annotations

from discreet.lattice.evaluate import lattice_of
from discreet.measures.grouping import GroupingPower, grouping_power_of_levels
from discreet.model.frequency_set import FrequencySet
from discreet.negotiation.counting import NodeCounter


def level_statistics(
    frequency_set: FrequencySet, counter: NodeCounter | None = None
) -> tuple[GroupingPower, ...]:
    """The number of groups, γ and μ of every level, attributes in the lattice's order, each from level 0 up.

    Cost: one roll-up per level above 0, and one for the bottom. A ``counter`` of the same frequency set may
    be given, which then remembers the smaller ones of them.
    """
    counting = counter or NodeCounter(frequency_set)
    lattice = lattice_of(frequency_set)
    bottom = counting.classes(lattice.bottom)
    groups = [
        [bottom, *(counting.classes(_raised(i, level, len(lattice.heights))) for level in range(1, top + 1))]
        for i, top in enumerate(lattice.heights)
    ]
    return grouping_power_of_levels(lattice, frequency_set.rows, groups)


def _raised(attribute: int, level: int, attributes: int) -> tuple[int, ...]:
    return tuple(level if i == attribute else 0 for i in range(attributes))
