"""Oracle: a lattice whose nodes are all counted with a plain dict, one row type after another.

It answers the queries of the evaluated lattice by independent methods, without roll-up, sorting or packing.
It is slow and meant for small tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import Lattice, LatticeNode
from discreet.model.requirement import Requirement
from tests.oracle.weaker import with_k, with_l_at_most

Signature = tuple[int, ...]
"""The size that k limits in a class (rows or subjects), then l per sensitive attribute."""


class BruteLattice:
    """The classes of every node, each a number of rows and a signature."""

    def __init__(self, frequency_set: FrequencySet) -> None:
        self.hierarchies = frequency_set.hierarchies
        self.sensitive_attributes = frequency_set.sensitive_attributes
        self.rows = sum(int(count) for count in frequency_set.counts)
        heights = tuple(len(h.labels) - 1 for h in self.hierarchies)
        self.lattice = Lattice(tuple(h.attribute for h in self.hierarchies), heights)
        self._classes = {
            node: count_classes(frequency_set, node) for node in product(*(range(h + 1) for h in heights))
        }

    def classes(self) -> NDArray[np.int64]:
        return np.array([sum(found.values()) for found in self._classes.values()], dtype=np.int64)

    def histogram(self, node: LatticeNode) -> dict[Signature, int]:
        rows: Counter[Signature] = Counter()
        for (size, signature), number in self._classes[node].items():
            rows[signature] += size * number
        return dict(rows)

    def suppression(self, requirement: Requirement) -> NDArray[np.int64]:
        return np.array([self.suppressed(node, requirement) for node in self._classes], dtype=np.int64)

    def suppressed(self, node: LatticeNode, requirement: Requirement) -> int:
        wanted = (requirement.k or 0, *(l or 0 for l in requirement.l_of(self.sensitive_attributes)))
        return sum(
            size * number
            for (size, signature), number in self._classes[node].items()
            if any(have < want for have, want in zip(signature, wanted, strict=True))
        )

    def largest(self, node: LatticeNode, requirement: Requirement, name: str, limit: int) -> int | None:
        weaker = with_k if name == "k" else with_l_at_most
        found = 0
        while found < self.rows and self.suppressed(node, weaker(requirement, found + 1)) <= limit:
            found += 1
        return found

    def largest_among(
        self, nodes: NDArray[np.int64], requirement: Requirement, name: str, limit: int
    ) -> int | None:
        reached = [self.largest(self.lattice.node(int(i)), requirement, name, limit) for i in nodes]
        return max((score for score in reached if score is not None), default=None)


def count_classes(frequency_set: FrequencySet, node: LatticeNode) -> Counter[tuple[int, Signature]]:
    """Count the classes of a node by rows and signature."""
    members: dict[tuple[str | None, ...], list[int]] = {}
    for i, codes in enumerate(frequency_set.codes.tolist()):
        published = tuple(
            value_at(h, code, level)
            for h, code, level in zip(frequency_set.hierarchies, codes, node, strict=True)
        )
        members.setdefault(published, []).append(i)
    return Counter(
        (int(sum(frequency_set.counts[i] for i in types)), signature_of(frequency_set, types))
        for types in members.values()
    )


def value_at(hierarchy: GeneralizationHierarchy, code: int, level: int) -> str | None:
    """Return the published value; NULL is NULL below the top level and the top value there."""
    if level == len(hierarchy.labels) - 1:
        return hierarchy.labels[level][0]
    if code == len(hierarchy.labels[0]):
        return None
    return hierarchy.labels[level][int(hierarchy.ancestors[level][code])]


def signature_of(frequency_set: FrequencySet, types: list[int]) -> Signature:
    """Return the size and the l values of the class of these row types."""
    if frequency_set.subjects is None:
        size = int(sum(frequency_set.counts[i] for i in types))
    else:
        size = len({code for code, _ in entries(frequency_set.subjects, types)})
    return (size, *(diversity(sets, types) for sets in frequency_set.sensitive))


def entries(sets: ValueSets, types: list[int]) -> list[tuple[int, int | None]]:
    """Return the codes of these row types, each with its subject if there is one."""
    positions = [p for i in types for p in range(int(sets.offsets[i]), int(sets.offsets[i + 1]))]
    subjects = sets.subjects
    return [(int(sets.codes[p]), None if subjects is None else int(subjects[p])) for p in positions]


def diversity(sets: ValueSets, types: list[int]) -> int:
    """Count distinct values; with subjects, the most values that as many distinct subjects can have."""
    found = entries(sets, types)
    if sets.subjects is None:
        return len({code for code, _ in found})
    return most_pairs(sorted({(code, subject) for code, subject in found}))


def most_pairs(pairs: Iterable[tuple[int, int | None]]) -> int:
    """Find by exhaustion the most pairs of which no two share a value or a subject (tiny inputs)."""
    rest = list(pairs)
    if not rest:
        return 0
    value, subject = rest[0]
    without = most_pairs(rest[1:])
    return max(without, 1 + most_pairs([p for p in rest[1:] if p[0] != value and p[1] != subject]))
