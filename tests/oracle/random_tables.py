"""Small random tables and lattices for the oracles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.model.criterion_inputs import SensitiveAttribute
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.hierarchy import TOP, GeneralizationHierarchy

Row = tuple[tuple[int, ...], tuple[int | None, ...]]
"""Leaf codes of the quasi-identifiers (NULL follows the last leaf), then sensitive codes or None."""


def random_hierarchy(
    random: np.random.Generator, attribute: str, leaves: int, height: int
) -> GeneralizationHierarchy:
    """Draw a hierarchy of random cuts: each level joins neighbouring values of the level below.

    Height 0 requires a single leaf: the last level has one value.
    """
    groups = np.arange(leaves, dtype=np.int64)
    ancestors = [groups]
    for _ in range(height - 1):
        joins = random.random(int(groups.max()) + 1) < 0.5
        joins[0] = True
        groups = (np.cumsum(joins) - 1)[groups].astype(np.int64)
        ancestors.append(groups)
    if height:
        ancestors.append(np.zeros(leaves, dtype=np.int64))
    labels = [tuple(f"{level}:{g}" for g in range(int(a.max()) + 1)) for level, a in enumerate(ancestors)]
    return GeneralizationHierarchy(attribute, (*labels[:-1], (TOP,)), tuple(ancestors), "random")


def interleaved(hierarchy: GeneralizationHierarchy, random: np.random.Generator) -> GeneralizationHierarchy:
    """Return the hierarchy, every other time with its leaves in a publisher's order drawn from ``random``."""
    apart = random.spawn(1)[0]
    if apart.random() < 0.5:
        return hierarchy
    return replace(hierarchy, leaf_ranks=apart.permutation(len(hierarchy.leaves)))


def plain_ranks(hierarchy: GeneralizationHierarchy) -> list[int]:
    """Return the position of each leaf in the publisher's order."""
    return (
        list(range(len(hierarchy.leaves))) if hierarchy.leaf_ranks is None else hierarchy.leaf_ranks.tolist()
    )


def frequency_set_of(
    hierarchies: Sequence[GeneralizationHierarchy],
    rows: Sequence[Row],
    sensitive: Sequence[str] = (),
    sizes: Sequence[int] = (),
    subjects: Sequence[int] | None = None,
) -> FrequencySet:
    """Count the frequency set of rows plainly.

    ``sizes`` are the numbers of sensitive values; ``subjects``, if given, contains the subject of each row.
    """
    types: dict[tuple[int, ...], list[int]] = {}
    for number, (codes, _) in enumerate(rows):
        types.setdefault(codes, []).append(number)
    members = list(types.values())
    named = [[subjects[n] for n in of_type] for of_type in members] if subjects is not None else None
    return FrequencySet(
        hierarchies=tuple(hierarchies),
        codes=np.array(list(types), dtype=np.int64).reshape(len(types), len(hierarchies)),
        counts=np.array([len(of_type) for of_type in members], dtype=np.int64),
        sensitive=tuple(
            value_sets(name, sizes[j], [[rows[n][1][j] for n in of_type] for of_type in members], named)
            for j, name in enumerate(sensitive)
        ),
        subjects=None if named is None else value_sets("subject", max(subjects or [0], default=0) + 1, named),
    )


def value_sets(
    name: str,
    size: int,
    values: Sequence[Sequence[int | None]],
    subjects: Sequence[Sequence[int]] | None = None,
) -> ValueSets:
    """Return the distinct values of each row type without NULL, with counts; with subjects, the pairs."""
    named = [[0] * len(of_type) for of_type in values] if subjects is None else subjects
    sets = [
        sorted({(v, s) for v, s in zip(of_type, of_subjects, strict=True) if v is not None})
        for of_type, of_subjects in zip(values, named, strict=True)
    ]
    occurring = Counter(v for of_type in values for v in of_type if v is not None)
    rows = np.array([occurring[code] for code in range(size)], dtype=np.int64)
    return ValueSets(
        attribute=name,
        size=size,
        offsets=np.cumsum([0, *(len(s) for s in sets)]).astype(np.int64),
        codes=np.array([v for of_type in sets for v, _ in of_type], dtype=np.int64),
        subjects=None
        if subjects is None
        else np.array([s for of_type in sets for _, s in of_type], dtype=np.int64),
        counts=None
        if subjects is not None
        else np.array(
            [of_type.count(v) for of_type, found in zip(values, sets, strict=True) for v, _ in found],
            dtype=np.int64,
        ),
        of=SensitiveAttribute.of([f"value {code}" for code in range(size)], rows),
    )


def random_frequency_set(
    random: np.random.Generator,
    *,
    attributes: int,
    height: int,
    leaves: int,
    rows: int,
    sensitive: int,
    subjects: int | None = None,
) -> FrequencySet:
    """Draw a frequency set within limits of attributes, levels, leaves, rows and sensitive attributes.

    Some values are NULL. An attribute of height 0 has one value and no NULL. With ``subjects``, each row
    belongs to one of that many subjects.
    """
    numbers = [int(random.integers(1, leaves + 1)) for _ in range(int(random.integers(1, attributes + 1)))]
    hierarchies = [
        random_hierarchy(random, f"q{i}", number, int(random.integers(int(number > 1), height + 1)))
        for i, number in enumerate(numbers)
    ]
    names = [f"s{j}" for j in range(int(random.integers(0, sensitive + 1)))]
    sizes = [int(random.integers(1, 6)) for _ in names]
    table = [
        (
            tuple(
                int(random.integers(0, len(h.leaves) + (h.height > 0 and random.random() < 0.2)))
                for h in hierarchies
            ),
            tuple(None if random.random() < 0.1 else int(random.integers(0, size)) for size in sizes),
        )
        for _ in range(int(random.integers(0, rows + 1)))
    ]
    named = None if subjects is None else [int(random.integers(0, subjects)) for _ in table]
    return frequency_set_of(hierarchies, table, names, sizes, named)
