"""Pattern masks: from vectors, or all that meet constraints (Bredereck et al. 2013, section 3.6).

Constraints that tie attributes together are resolved first: attributes that stand together become one unit,
and what a required unit forbids is forbidden from the start. Then the patterns are built unit by unit, and
a beginning is kept only where some pattern completes it. So no more beginnings are ever held than there are
patterns in the end, however many the constraints exclude. Cost: patterns times attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached
from discreet.measures.loss import LossTables, check_weights
from discreet.model.frequency_set import FrequencySet
from discreet.model.pattern import OutlierPolicy, Pattern, PatternConstraints, PatternMask
from discreet.patterns.constraint_units import Unit, resolved_units
from discreet.settings import Settings

PRECISION, LOSS = "precision", "loss"
COSTS = (PRECISION, LOSS)
_SHOWN, _STARS = ".-_□", "*☆"


def mask_of_vectors(
    frequency_set: FrequencySet,
    vectors: Sequence[str | Pattern | Sequence[int]],
    settings: Settings,
    *,
    weights: Mapping[str, float] | None = None,
    cost: str | LossTables = PRECISION,
    outliers: OutlierPolicy | str = OutlierPolicy.SUPPRESS,
) -> PatternMask:
    """The mask of given patterns: vectors, levels, or texts of one sign per attribute.

    A text has ``.`` (or ``-``, ``_``, ``□``) for an attribute that is shown, ``*`` (or ``☆``) for a starred
    one, and a number for a level; signs may stand apart, and must where a level is above 9. The cost of a
    cell at a level is its share of the height (``"precision"``: a star costs 1), its ``"loss"``, or given by
    tables; ``weights`` multiply an attribute's. ``InputError`` for what is no pattern of these attributes.
    """
    if not vectors:
        raise InputError("no pattern was given", advice="Give pattern vectors, or constraints.")
    heights = tuple(h.height for h in frequency_set.hierarchies)
    nodes = [_node_of(vector, frequency_set.attributes, heights) for vector in vectors]
    levels = np.array(nodes, np.int16).reshape(len(nodes), len(heights))
    return _mask(frequency_set, levels, settings, weights, cost, outliers)


def mask_of_constraints(
    frequency_set: FrequencySet,
    constraints: PatternConstraints,
    settings: Settings,
    *,
    weights: Mapping[str, float] | None = None,
    cost: str | LossTables = PRECISION,
    outliers: OutlierPolicy | str = OutlierPolicy.SUPPRESS,
) -> PatternMask:
    """The mask of all patterns that meet the constraints; costs as for ``mask_of_vectors``.

    ``InputError`` where no pattern meets them, ``LimitReached`` where they would not fit the memory limit.
    """
    heights = tuple(h.height for h in frequency_set.hierarchies)
    units = resolved_units(frequency_set.attributes, heights, constraints)
    levels = _enumerated(units, len(heights), constraints, settings.memory_limit)
    if constraints.custom is not None:
        allowed = [constraints.custom(Pattern(tuple(node), heights)) for node in levels.tolist()]
        levels = levels[np.array(allowed, np.bool_)]
        if not len(levels):
            raise InputError(
                "the custom constraint allows none of the patterns that the others leave",
                advice="Loosen a constraint.",
            )
    return _mask(frequency_set, np.unique(levels, axis=0), settings, weights, cost, outliers)


def _enumerated(
    units: Sequence[Unit], attributes: int, constraints: PatternConstraints, memory_limit: int
) -> NDArray[np.int16]:
    most = attributes if constraints.max_stars is None else constraints.max_stars
    groups = max((max(unit.exclusive, default=-1) for unit in units), default=-1) + 1
    levels = np.zeros((1, attributes), np.int16)
    stars = np.zeros(1, np.int64)
    taken = np.zeros((1, groups), np.bool_)
    still = sum(unit.least_stars for unit in units)
    for unit in units:
        still -= unit.least_stars
        kept = []
        for number, wanted in enumerate(unit.stars.tolist()):
            fits = stars + wanted + still <= most
            if unit.options[number].any():
                fits &= ~taken[:, list(unit.exclusive)].any(axis=1)
            kept.append(np.flatnonzero(fits))
        _check_memory(sum(map(len, kept)), attributes, memory_limit)
        option = np.repeat(np.arange(len(kept)), [len(found) for found in kept])
        begun = np.concatenate(kept)
        levels, taken = levels[begun], taken[begun]
        stars = stars[begun] + unit.stars[option]
        levels[:, list(unit.places)] = unit.options[option]
        changed = unit.options[option].any(axis=1)
        for group in unit.exclusive:
            taken[:, group] |= changed
    return levels


def _check_memory(patterns: int, attributes: int, memory_limit: int) -> None:
    needed = patterns * (6 * attributes + 64)
    if needed > memory_limit:
        raise LimitReached(
            f"there are {patterns:,} patterns or more, which would take about {needed / 1e9:.1f} GB",
            allowed=f"{memory_limit / 1e9:.1f} GB",
            advice="Add constraints (fewer stars, attributes that are never starred), or raise the limit.",
        )


def _node_of(
    vector: str | Pattern | Sequence[int], attributes: tuple[str, ...], heights: tuple[int, ...]
) -> tuple[int, ...]:
    if isinstance(vector, Pattern):
        node = vector.levels
    elif isinstance(vector, str):
        node = _parsed(vector, heights)
    else:
        node = tuple(vector)
    if len(node) != len(heights):
        raise InputError(
            f"pattern '{_text(vector)}' has {len(node)} entries for {len(heights)} quasi-identifiers",
            allowed=f"one for each of {', '.join(attributes)}",
        )
    for name, level, height in zip(attributes, node, heights, strict=True):
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= height:
            raise InputError(
                f"level {level} of '{name}' in pattern '{_text(vector)}'", allowed=f"0 to {height}"
            )
    return node


def _text(vector: str | Pattern | Sequence[int]) -> str:
    return str(vector) if isinstance(vector, str | Pattern) else " ".join(map(str, vector))


def _parsed(text: str, heights: tuple[int, ...]) -> tuple[int, ...]:
    apart = text.replace(",", " ").split()
    signs = apart if len(apart) > 1 or len(heights) == 1 else list("".join(apart))
    levels = []
    for place, sign in enumerate(signs):
        if sign in _STARS:
            levels.append(heights[place] if place < len(heights) else 0)
        elif sign in _SHOWN:
            levels.append(0)
        elif sign.isascii() and sign.isdecimal():
            levels.append(int(sign))
        else:
            raise InputError(
                f"'{sign}' in pattern '{text}'",
                allowed="'.' shown, '*' starred, or a level, for each quasi-identifier in order",
            )
    return tuple(levels)


def _mask(
    frequency_set: FrequencySet,
    levels: NDArray[np.int16],
    settings: Settings,
    weights: Mapping[str, float] | None,
    cost: str | LossTables,
    outliers: OutlierPolicy | str,
) -> PatternMask:
    if outliers not in tuple(OutlierPolicy):
        raise InputError(f"outliers '{outliers}'", allowed=", ".join(OutlierPolicy))
    _check_memory(len(levels), levels.shape[1], settings.memory_limit)
    heights = tuple(h.height for h in frequency_set.hierarchies)
    if OutlierPolicy(outliers) is OutlierPolicy.SUPPRESS:
        levels = np.concatenate([levels, np.array([heights], np.int16)])
    _, first = np.unique(levels, axis=0, return_index=True)
    mask = PatternMask(
        attributes=frequency_set.attributes,
        heights=heights,
        levels=levels[np.sort(first)],
        costs=_costs(frequency_set, weights, cost),
        outliers=OutlierPolicy(outliers),
    )
    _check_star(frequency_set, mask)
    return mask


def _costs(
    frequency_set: FrequencySet, weights: Mapping[str, float] | None, cost: str | LossTables
) -> tuple[NDArray[np.float64], ...]:
    check_weights(dict(weights or {}), frequency_set.attributes)
    given = [float(dict(weights or {}).get(name, 1.0)) for name in frequency_set.attributes]
    heights = [h.height for h in frequency_set.hierarchies]
    if isinstance(cost, LossTables):
        tables = cost.tables
    elif cost == LOSS:
        tables = LossTables.of(frequency_set).tables
    elif cost == PRECISION:
        tables = tuple(np.arange(height + 1) / max(height, 1) for height in heights)
    else:
        raise InputError(f"the cost '{cost}' of patterns", allowed=", ".join(COSTS))
    if [len(table) for table in tables] != [height + 1 for height in heights] or not all(
        isfinite(value) and value >= 0 for table in tables for value in table.tolist()
    ):
        raise InputError(
            "the cost of a level", allowed="a number of at least 0 for each level of each attribute"
        )
    return tuple(np.asarray(table, np.float64) * weight for table, weight in zip(tables, given, strict=True))


def _check_star(frequency_set: FrequencySet, mask: PatternMask) -> None:
    """Raise where a value of the data that a pattern shows reads like the star."""
    for j, hierarchy in enumerate(frequency_set.hierarchies):
        used = set(mask.levels[:, j].tolist())
        if hierarchy.height not in used:
            continue
        star = hierarchy.labels[-1][0]
        for level in used - {hierarchy.height}:
            places = np.unique(hierarchy.level_map(level)[frequency_set.codes[:, j]]).tolist()
            labels = hierarchy.labels[level]
            if any(labels[place] == star for place in places if place < len(labels)):
                raise InputError(
                    f"a value of '{hierarchy.attribute}' reads like its star, '{star}'",
                    allowed="a top value that no row has",
                    advice="Give the attribute a hierarchy with another top, or read the value as NULL.",
                )
