"""A lattice that can be evaluated: what gives way where a table has more columns than one may generalize."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from discreet.model.table_spec import AttributeRole
from discreet.profile.hierarchies import FILE, FLAT
from discreet.profile.names import name_parts
from discreet.profile.proposed import ProposedAttribute, nodes_of
from discreet.profile.roles import IN_DOUBT, MEASURE

MOST_NODES = 20_000
"""A proposed lattice has at most this many nodes; a publisher may well choose a larger one."""

GIVEN_UP = "dropped until you decide: too many quasi-identifiers"
"""The reason for which a column is left out of a proposal."""

ONE_LEVEL = FLAT.height + 1
"""The height of one level between value and ``*``."""

SERIES = 8
"""So many columns or more whose names differ in digits alone are a series."""


def small_enough(attributes: Iterable[ProposedAttribute]) -> list[ProposedAttribute]:
    """Attributes whose lattice has at most ``MOST_NODES`` nodes.

    What is in doubt gives way first: columns of a series (q1, q2, …), all of it; then levels, the finest of
    the highest and last hierarchy first, down to one; then the other columns in doubt, the last first: many
    values without a level end as ``*``. Only then do levels of columns that others know give way, and these
    columns. Hierarchy files, which the publisher brought, stay as they are.
    """
    found = list(attributes)
    may = [i for i, a in enumerate(found) if a.hierarchy is not None and a.hierarchy.kind != FILE]
    doubtful = [i for i in may if found[i].reason in (IN_DOUBT, MEASURE)]
    for series in _series(found, doubtful):
        if nodes_of(found) > MOST_NODES:
            _give_up(found, series)
    left = [i for i in doubtful if found[i].hierarchy is not None]
    for places, least in (left, ONE_LEVEL), ([i for i in may if i not in doubtful], FLAT.height):
        _lower(found, places, ONE_LEVEL)
        _lower(found, places, least)
        for place in sorted(places, key=lambda i: (found[i].reason != MEASURE, i), reverse=True):
            if nodes_of(found) > MOST_NODES:
                _give_up(found, [place])
    return found


def _series(attributes: list[ProposedAttribute], places: list[int]) -> list[list[int]]:
    """The places of columns whose names differ in digits alone, of each that are many; the longest first."""

    def stem(place: int) -> tuple[str, ...]:
        return name_parts(attributes[place].name)

    series = [list(alike) for _, alike in groupby(sorted(places, key=lambda i: (stem(i), i)), stem)]
    return sorted((each for each in series if len(each) >= SERIES), key=len, reverse=True)


def _lower(attributes: list[ProposedAttribute], places: list[int], least: int) -> None:
    """Take levels off the highest hierarchies, the last first, until the lattice is small or none is higher
    than the ``least`` height.
    """
    while nodes_of(attributes) > MOST_NODES:
        heights = [(h.height, i) for i in places if (h := attributes[i].hierarchy) is not None]
        height, place = max(heights, default=(FLAT.height, 0))
        if height <= least:
            return
        hierarchy = attributes[place].hierarchy
        assert hierarchy is not None
        attributes[place] = replace(attributes[place], hierarchy=hierarchy.lower())


def _give_up(attributes: list[ProposedAttribute], places: list[int]) -> None:
    for place in places:
        attributes[place] = replace(
            attributes[place], role=AttributeRole.IDENTIFIER, reason=GIVEN_UP, hierarchy=None
        )
