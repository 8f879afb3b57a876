"""Pattern masks, from vectors or from constraints (Bredereck et al. 2013, section 3.6).

Constraints that tie attributes together are resolved first: such attributes become one unit, and options
that a required unit excludes are removed at once. Patterns are then built unit by unit, and a prefix is
kept only if some pattern completes it, so memory never exceeds the number of patterns in the result.

Cost: patterns times attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached
from discreet.measures.loss import LossTables, check_weights
from discreet.model.class_recoding import OutlierPolicy, Pattern, PatternConstraints, PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.settings import Settings

_MOST_OPTIONS = 1 << 20


@dataclass(frozen=True, eq=False)
class AttributeUnit:
    """Attributes that are all generalized or all shown.

    ``options`` has shape ``(options, attributes of the unit)`` and contains levels; ``stars`` counts the
    starred attributes of each option. Units that share a number in ``exclusive`` exclude each other.
    """

    columns: tuple[int, ...]
    options: NDArray[np.int16]
    stars: NDArray[np.int64]
    exclusive: tuple[int, ...]

    @property
    def least_stars(self) -> int:
        """Least number of stars of the unit."""
        return int(self.stars.min())


def resolve_units(
    attributes: tuple[str, ...], heights: tuple[int, ...], constraints: PatternConstraints
) -> list[AttributeUnit]:
    """Resolve the constraints into units, so that every choice among some of them can be completed.

    Raises ``InputError`` for an unknown attribute, a negative number of stars, or contradicting constraints.
    An attribute of height 0 has no choice and is omitted.
    """
    _check_names(attributes, constraints)
    chosen = [j for j, height in enumerate(heights) if height > 0]
    position_of = {attributes[j]: j for j in chosen}
    unit_of = _join_groups(
        chosen,
        [[position_of[n] for n in group if n in position_of] for group in constraints.generalize_together],
    )
    units = sorted({tuple(unit) for unit in unit_of.values()})
    of_place = {j: number for number, unit in enumerate(units) for j in unit}
    required = {of_place[position_of[name]] for name in constraints.always_generalize if name in position_of}
    never = {of_place[position_of[name]] for name in constraints.keep if name in position_of}
    groups = [
        [of_place[position_of[n]] for n in set(group) if n in position_of] for group in constraints.exclusive
    ]
    never |= {unit for group in groups for unit in group if group.count(unit) > 1}
    for group in groups:
        required_members = required & set(group)
        if len(required_members) > 1:
            _raise_contradiction("more than one attribute of an at-most-one group is required")
        if required_members:
            never |= set(group) - required_members
    if required & never:
        names = ", ".join(attributes[j] for unit in sorted(required & never) for j in units[unit])
        _raise_contradiction(f"both required and never generalized: {names}")
    result = []
    for number, unit in enumerate(units):
        options = _unit_options(
            [heights[j] for j in unit], constraints.levels, number in required, number in never
        )
        stars = (options == np.array([heights[j] for j in unit])).sum(axis=1)
        exclusive = tuple(g for g, group in enumerate(groups) if number in group)
        result.append(AttributeUnit(unit, options, stars, exclusive))
    least = sum(unit.least_stars for unit in result)
    if constraints.max_stars is not None and least > constraints.max_stars:
        _raise_contradiction(
            f"the required attributes need {least} stars, and {constraints.max_stars} are allowed"
        )
    return result


def _check_names(attributes: tuple[str, ...], constraints: PatternConstraints) -> None:
    most = constraints.max_stars
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise InputError(f"at most {most} stars", allowed="a whole number of at least 0")
    groups = (
        constraints.keep,
        constraints.always_generalize,
        *constraints.generalize_together,
        *constraints.exclusive,
    )
    for group in groups:
        for name in group:
            if name not in attributes:
                raise InputError(
                    f"a pattern constraint names '{name}', which is not a quasi-identifier",
                    allowed=", ".join(attributes),
                )


def _join_groups(columns: Iterable[int], groups: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Return the unit of each column; columns of one group are in one unit."""
    unit_of = {j: [j] for j in columns}
    for group in groups:
        for j in group[1:]:
            first, other = unit_of[group[0]], unit_of[j]
            if first is not other:
                first += other
                first.sort()
                unit_of.update(dict.fromkeys(other, first))
    return unit_of


def _unit_options(
    heights: Sequence[int], levels: bool, always_generalize: bool, keep: bool
) -> NDArray[np.int16]:
    choices = [range(1, height + 1) if levels else range(height, height + 1) for height in heights]
    number = 1
    for choice in choices:
        number *= len(choice)
    if number > _MOST_OPTIONS:
        raise LimitReached(
            f"attributes generalized together have {number:,} combinations of levels",
            allowed=f"{_MOST_OPTIONS:,}",
            advice="Generalize fewer attributes together, or use stars instead of levels.",
        )
    found = [] if always_generalize else [(0,) * len(heights)]
    found += [] if keep else list(product(*choices))
    return np.array(found, np.int16).reshape(len(found), len(heights))


def _raise_contradiction(why: str) -> None:
    raise InputError(
        f"the pattern constraints contradict each other: {why}", advice="Loosen one of the constraints."
    )


PRECISION, LOSS = "precision", "loss"
PATTERN_COSTS = (PRECISION, LOSS)
_SHOWN_SIGNS, _STAR_SIGNS = ".-_□", "*☆"


def build_mask_from_vectors(
    frequency_set: FrequencySet,
    vectors: Sequence[str | Pattern | Sequence[int]],
    settings: Settings,
    *,
    weights: Mapping[str, float] | None = None,
    cost: str | LossTables = PRECISION,
    outliers: OutlierPolicy | str = OutlierPolicy.SUPPRESS,
) -> PatternMask:
    """Build the mask of given patterns: vectors, levels, or texts of one sign per attribute.

    A text has ``.`` (or ``-``, ``_``, ``□``) for a shown attribute, ``*`` (or ``☆``) for a starred one, and a
    number for a level; signs may be separated, and must be if a level is above 9. The cost of a cell at a
    level is its share of the height (``"precision"``: a star costs 1), its ``"loss"``, or given by tables;
    ``weights`` multiply an attribute's cost. Raises ``InputError`` for anything that is no pattern of these
    attributes.
    """
    if not vectors:
        raise InputError("no pattern was given", advice="Give pattern vectors, or constraints.")
    heights = tuple(h.height for h in frequency_set.hierarchies)
    nodes = [_node_of(vector, frequency_set.attributes, heights) for vector in vectors]
    levels = np.array(nodes, np.int16).reshape(len(nodes), len(heights))
    return _build_mask(frequency_set, levels, settings, weights, cost, outliers)


def build_mask_from_constraints(
    frequency_set: FrequencySet,
    constraints: PatternConstraints,
    settings: Settings,
    *,
    weights: Mapping[str, float] | None = None,
    cost: str | LossTables = PRECISION,
    outliers: OutlierPolicy | str = OutlierPolicy.SUPPRESS,
) -> PatternMask:
    """Build the mask of all patterns that meet the constraints; costs as in ``build_mask_from_vectors``.

    Raises ``InputError`` if no pattern meets them, ``LimitReached`` if they would not fit the memory limit.
    """
    heights = tuple(h.height for h in frequency_set.hierarchies)
    units = resolve_units(frequency_set.attributes, heights, constraints)
    levels = _enumerate_levels(units, len(heights), constraints, settings.memory_limit)
    if constraints.custom is not None:
        allowed = [constraints.custom(Pattern(tuple(node), heights)) for node in levels.tolist()]
        levels = levels[np.array(allowed, np.bool_)]
        if not len(levels):
            raise InputError(
                "the custom constraint excludes every remaining pattern", advice="Loosen a constraint."
            )
    return _build_mask(frequency_set, np.unique(levels, axis=0), settings, weights, cost, outliers)


def _enumerate_levels(
    units: Sequence[AttributeUnit], attributes: int, constraints: PatternConstraints, memory_limit: int
) -> NDArray[np.int16]:
    most = attributes if constraints.max_stars is None else constraints.max_stars
    groups = max((max(unit.exclusive, default=-1) for unit in units), default=-1) + 1
    levels = np.zeros((1, attributes), np.int16)
    stars = np.zeros(1, np.int64)
    taken = np.zeros((1, groups), np.bool_)
    # Stars that the remaining units need at least: a prefix that leaves too few for them is dropped at once.
    still = sum(unit.least_stars for unit in units)
    for unit in units:
        still -= unit.least_stars
        allowed = []
        for number, wanted in enumerate(unit.stars.tolist()):
            fits = stars + wanted + still <= most
            if unit.options[number].any():
                fits &= ~taken[:, list(unit.exclusive)].any(axis=1)
            allowed.append(np.flatnonzero(fits))
        _check_memory(sum(map(len, allowed)), attributes, memory_limit)
        option = np.repeat(np.arange(len(allowed)), [len(found) for found in allowed])
        begun = np.concatenate(allowed)
        levels, taken = levels[begun], taken[begun]
        stars = stars[begun] + unit.stars[option]
        levels[:, list(unit.columns)] = unit.options[option]
        changed = unit.options[option].any(axis=1)
        for group in unit.exclusive:
            taken[:, group] |= changed
    return levels


def _check_memory(patterns: int, attributes: int, memory_limit: int) -> None:
    needed = patterns * (6 * attributes + 64)
    if needed > memory_limit:
        raise LimitReached(
            f"there are {patterns:,} patterns or more, which need about {needed / 1e9:.1f} GB",
            allowed=f"{memory_limit / 1e9:.1f} GB",
            advice="Add constraints (fewer stars, attributes that are never starred), or raise the limit.",
        )


def _node_of(
    vector: str | Pattern | Sequence[int], attributes: tuple[str, ...], heights: tuple[int, ...]
) -> tuple[int, ...]:
    if isinstance(vector, Pattern):
        node = vector.levels
    elif isinstance(vector, str):
        node = _parse_vector(vector, heights)
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


def _parse_vector(text: str, heights: tuple[int, ...]) -> tuple[int, ...]:
    apart = text.replace(",", " ").split()
    signs = apart if len(apart) > 1 or len(heights) == 1 else list("".join(apart))
    levels = []
    for index, sign in enumerate(signs):
        if sign in _STAR_SIGNS:
            levels.append(heights[index] if index < len(heights) else 0)
        elif sign in _SHOWN_SIGNS:
            levels.append(0)
        elif sign.isascii() and sign.isdecimal():
            levels.append(int(sign))
        else:
            raise InputError(
                f"'{sign}' in pattern '{text}'",
                allowed="'.' shown, '*' starred, or a level, for each quasi-identifier in order",
            )
    return tuple(levels)


def _build_mask(
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
        costs=_level_costs(frequency_set, weights, cost),
        outliers=OutlierPolicy(outliers),
    )
    _check_star(frequency_set, mask)
    return mask


def _level_costs(
    frequency_set: FrequencySet, weights: Mapping[str, float] | None, cost: str | LossTables
) -> tuple[NDArray[np.float64], ...]:
    check_weights(dict(weights or {}), frequency_set.attributes)
    factors = [float(dict(weights or {}).get(name, 1.0)) for name in frequency_set.attributes]
    heights = [h.height for h in frequency_set.hierarchies]
    if isinstance(cost, LossTables):
        tables = cost.tables
    elif cost == LOSS:
        tables = LossTables.of(frequency_set).tables
    elif cost == PRECISION:
        tables = tuple(np.arange(height + 1) / max(height, 1) for height in heights)
    else:
        raise InputError(f"the cost '{cost}' of patterns", allowed=", ".join(PATTERN_COSTS))
    if [len(table) for table in tables] != [height + 1 for height in heights] or not all(
        isfinite(value) and value >= 0 for table in tables for value in table.tolist()
    ):
        raise InputError(
            "the cost of a level", allowed="a number of at least 0 for each level of each attribute"
        )
    return tuple(
        np.asarray(table, np.float64) * weight for table, weight in zip(tables, factors, strict=True)
    )


def _check_star(frequency_set: FrequencySet, mask: PatternMask) -> None:
    """Raise ``InputError`` if a value of the data that a pattern shows equals the star."""
    for j, hierarchy in enumerate(frequency_set.hierarchies):
        used = set(mask.levels[:, j].tolist())
        if hierarchy.height not in used:
            continue
        star = hierarchy.labels[-1][0]
        for level in used - {hierarchy.height}:
            columns = np.unique(hierarchy.level_map(level)[frequency_set.codes[:, j]]).tolist()
            labels = hierarchy.labels[level]
            if any(labels[index] == star for index in columns if index < len(labels)):
                raise InputError(
                    f"a value of '{hierarchy.attribute}' equals its star, '{star}'",
                    allowed="a top value that no row has",
                    advice="Give the attribute a hierarchy with another top, or read the value as NULL.",
                )
