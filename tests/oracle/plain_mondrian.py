"""Oracle: Mondrian by plain recursion over lists of row types, and relaxed Mondrian over single rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from tests.oracle.random_tables import plain_ranks

Point = tuple[int, ...]


def coordinates(
    hierarchy: GeneralizationHierarchy, codes: Sequence[int], *, hierarchical: bool
) -> dict[int, Fraction]:
    """Return the position of each occurring leaf code, with NULL last; ``codes`` are those that occur."""
    leaves, null = hierarchy.leaves, hierarchy.null_code
    try:
        numbers = [Fraction(leaf) for leaf in leaves]
    except ValueError:
        ranks = range(null) if hierarchical else plain_ranks(hierarchy)
        return {code: Fraction(rank) for code, rank in enumerate([*ranks, null])}
    held = {numbers[c] for c in codes if c != null} or {numbers[0]}
    unit = Fraction(1, max([10 ** len(leaves[c].partition(".")[2]) for c in codes if c != null] or [1]))
    step = max(ceil((max(held) - min(held)) / unit / max(len(held) - 1, 1)), 1) * unit
    return {**dict(enumerate(numbers)), null: max(held) + step}


class PlainMondrian:
    """Strict Mondrian over the row types of a frequency set, for k and one l per sensitive attribute."""

    def __init__(
        self,
        table: FrequencySet,
        k: int = 1,
        l: int = 0,
        *,
        best: bool = True,
        hierarchical: bool = False,
        fewest: bool = True,
    ) -> None:
        self.table, self.k, self.l, self.best, self.hierarchical = table, k, l, best, hierarchical
        self.codes: list[Point] = [tuple(point) for point in table.codes.tolist()]
        columns = list(zip(*self.codes, strict=True))
        self.places = [
            coordinates(h, c, hierarchical=hierarchical)
            for h, c in zip(table.hierarchies, columns, strict=True)
        ]
        self.spans = [self.width(a, range(len(self.codes)), Fraction(1)) or 1 for a in range(len(columns))]
        self.order = sorted(range(len(columns)), key=lambda a: (len(set(columns[a])) if fewest else 0, a))

    def width(self, attribute: int, members: Sequence[int], span: Fraction) -> Fraction:
        held = [self.places[attribute][self.codes[t][attribute]] for t in members]
        return (max(held) - min(held)) / span

    def holds(self, members: Sequence[int]) -> bool:
        values = [
            {c for t in members for c in s.codes[s.offsets[t] : s.offsets[t + 1]]}
            for s in self.table.sensitive
        ]
        return self.rows(members) >= self.k and all(len(v) >= self.l for v in values)

    def rows(self, members: Sequence[int]) -> int:
        return sum(int(self.table.counts[t]) for t in members)

    def allowed(self, attribute: int, held: list[int]) -> Iterator[int]:
        """Return the numbers of values, in order, after which a cut is allowed."""
        hierarchy = self.table.hierarchies[attribute]
        numeric = all(leaf.replace(".", "").isdigit() for leaf in hierarchy.leaves)
        level = next(v for v in range(99) if len({int(hierarchy.level_map(v)[c]) for c in held}) == 1)
        for number in range(1, len(held)):
            if self.hierarchical and not numeric:
                children = hierarchy.level_map(level - 1)
                if children[held[number - 1]] == children[held[number]]:
                    continue
            yield number

    def sides(self, attribute: int, members: Sequence[int]) -> list[tuple[list[int], list[int]]]:
        held = sorted(
            {self.codes[t][attribute] for t in members},
            key=lambda c: (self.places[attribute][c], c),
        )
        found = []
        for number in self.allowed(attribute, held):
            left = [t for t in members if self.codes[t][attribute] in held[:number]]
            found.append((left, [t for t in members if t not in set(left)]))
        if self.best:
            total = self.rows(members)
            return sorted(found, key=lambda two: abs(2 * self.rows(two[0]) - total))
        return [two for two in found if 2 * self.rows(two[0]) >= self.rows(members)][:1] or found[-1:]

    def classes(self, members: Sequence[int] | None = None) -> set[frozenset[int]]:
        members = range(len(self.codes)) if members is None else members
        widths = {a: self.width(a, members, self.spans[a]) for a in self.order}
        for attribute in sorted(self.order, key=lambda a: -widths[a]):
            if widths[attribute]:
                for left, right in self.sides(attribute, members):
                    if self.holds(left) and self.holds(right):
                        return self.classes(left) | self.classes(right)
        return {frozenset(members)}

    def relaxed(self, rows: list[int] | None = None) -> list[Counter[int]]:
        """Return the classes of relaxed Mondrian as rows by row type; for k only."""
        if rows is None:
            rows = [t for t, n in enumerate(self.table.counts.tolist()) for _ in range(n)]
        if len(rows) < max(2 * self.k, 2):
            return [Counter(rows)]
        attribute = max(self.order, key=lambda a: self.width(a, rows, self.spans[a]))
        line = sorted(rows, key=lambda t: (self.place(attribute, t), [self.place(a, t) for a in self.all]))
        half = len(rows) // 2
        return self.relaxed(line[:half]) + self.relaxed(line[half:])

    @property
    def all(self) -> range:
        return range(len(self.places))

    def place(self, attribute: int, row_type: int) -> tuple[Fraction, int]:
        code = self.codes[row_type][attribute]
        return self.places[attribute][code], code
