"""Oracle: criteria evaluated in plain Python, class by class; and a criterion that is not monotone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import ClassValues
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from tests.criteria.plain_cells import PlainClass, plain_left
from tests.criteria.plain_release import plain_rest
from tests.criteria_of_tests import Share
from tests.oracle.brute_lattice import signature_of, value_at


@dataclass(frozen=True)
class MostRows(Criterion):
    """At most ``value`` rows: two classes that pass may fail together."""

    name: ClassVar[str] = "most-rows"
    title: ClassVar[str] = "a largest size"
    citation: ClassVar[str] = "of this test"
    parameter: ClassVar[Parameter] = Parameter("every class has at most so many rows")
    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False
    monotone: ClassVar[bool] = False
    floor: ClassVar[float] = 20

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return one million minus the rows."""
        del values
        return 10**6 - sizes

    @property
    def threshold(self) -> int:
        """Return one million minus the value."""
        return 10**6 - int(self.value)

    def value_of(self, score: int) -> int:
        """Return the number of rows."""
        return 10**6 - score


def random_criteria(
    random: np.random.Generator, table: FrequencySet, *, monotone: bool = True, counts: bool = True
) -> Requirement:
    """Draw some of k, l, a share and, unless ``monotone``, a largest size, each for all attributes or one."""
    k = int(random.integers(1, 5)) if random.random() < 0.5 else None
    found: list[Criterion] = []
    l: int | tuple[tuple[str, int], ...] | None = None
    if table.sensitive:
        names = table.sensitive_attributes
        one = str(names[int(random.integers(0, len(names)))])
        if random.random() < 0.4:
            least = int(random.integers(1, 4))
            l = least if random.random() < 0.5 else ((one, least),)
        if counts:
            most = float(random.choice([0.5, 0.6, 0.75, 0.8]))
            found.append(Share(most, one if random.random() < 0.5 else None))
    if not monotone:
        found.append(MostRows(int(random.integers(1, max(table.rows, 1) + 1))))
    return Requirement(1 if k is None and not found and l is None else k, l, found)


def fails(table: FrequencySet, types: Sequence[int], requirement: Requirement) -> bool:
    """Test whether the class of some row types fails."""
    size, *distinct = signature_of(table, list(types))
    by_name = dict(zip(table.sensitive_attributes, distinct, strict=True))
    for criterion in requirement.criteria:
        names = list(by_name) if criterion.attribute is None else [criterion.attribute]
        match criterion.name:
            case "k":
                failing = size < criterion.value
            case "l":
                failing = any(by_name[name] < criterion.value for name in names)
            case "highest_risk":
                failing = 1 / size > criterion.value
            case "most-rows":
                failing = size > criterion.value
            case "share":
                shares = [Fraction(most_of_one(table, types, name), size) for name in names]
                failing = any(share > Fraction(str(criterion.value)) for share in shares)
            case other:
                raise AssertionError(other)
        if failing:
            return True
    return False


def most_of_one(table: FrequencySet, types: Iterable[int], attribute: str) -> int:
    """Return the rows of the most frequent value in some row types."""
    sets = table.sensitive[table.sensitive_attributes.index(attribute)]
    assert sets.counts is not None
    rows: Counter[int] = Counter()
    for i in types:
        for p in range(int(sets.offsets[i]), int(sets.offsets[i + 1])):
            rows[int(sets.codes[p])] += int(sets.counts[p])
    return max(rows.values(), default=0)


def classes_at(table: FrequencySet, node: LatticeNode) -> list[list[int]]:
    """Return the row types of each class of a node."""
    members: dict[tuple[str | None, ...], list[int]] = {}
    for i, codes in enumerate(table.codes.tolist()):
        shown = tuple(
            value_at(h, code, level) for h, code, level in zip(table.hierarchies, codes, node, strict=True)
        )
        members.setdefault(shown, []).append(i)
    return list(members.values())


def suppressed(table: FrequencySet, node: LatticeNode, requirement: Requirement) -> int:
    """Count the rows in a node's failing classes."""
    return sum(int(table.counts[types].sum()) for types in released_at(table, node, requirement)[1])


def released_at(
    table: FrequencySet, node: LatticeNode, requirement: Requirement
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the row types of each class of a node that is published, and of each that is not."""
    classes = classes_at(table, node)
    passing = [types for types in classes if not fails(table, types, requirement.of_classes)]
    if requirement.of_cells is not None:
        shown = [plain_class(table, node, types) for types in passing]
        passing = [passing[place] for place in plain_left(requirement.of_cells, shown)]
    left = plain_rest([int(table.counts[types].sum()) for types in passing], requirement)
    least = min(left, default=2**62)
    stays = [types in passing and int(table.counts[types].sum()) >= least for types in classes]
    return (
        [types for types, kept in zip(classes, stays, strict=True) if kept],
        [types for types, kept in zip(classes, stays, strict=True) if not kept],
    )


def plain_class(table: FrequencySet, node: LatticeNode, types: list[int]) -> PlainClass:
    """Return the published cells of a class, and its rows' sensitive values in any order."""
    codes = table.codes[types[0]].tolist()
    cells = tuple(value_at(h, c, level) for h, c, level in zip(table.hierarchies, codes, node, strict=True))
    number = int(table.counts[types].sum())
    columns: list[list[object]] = []
    for sets in table.sensitive:
        assert sets.counts is not None
        places = [p for i in types for p in range(int(sets.offsets[i]), int(sets.offsets[i + 1]))]
        held: list[object] = [int(sets.codes[p]) for p in places for _ in range(int(sets.counts[p]))]
        columns.append(held + [None] * (number - len(held)))
    return PlainClass(cells, tuple(zip(*columns, strict=True)) if columns else ((),) * number)


def every_solution(
    table: FrequencySet, requirement: Requirement, limit: int, box: tuple[LatticeNode, LatticeNode]
) -> dict[LatticeNode, int]:
    """Return the nodes of a box that suppress at most ``limit`` rows, with their suppressed rows."""
    nodes = product(*(range(a, b + 1) for a, b in zip(*box, strict=True)))
    rows = {node: suppressed(table, node, requirement) for node in nodes}
    return {node: found for node, found in rows.items() if found <= limit}
