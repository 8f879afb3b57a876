"""Adult as in ARX's own tests: attributes and research subsets."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.model.hierarchy import GeneralizationHierarchy
from tests.oracle.plain_tables import read_hierarchy, read_rows

EIGHT = (
    *("sex", "age", "race", "marital_status"),
    *("education", "native_country", "work_class", "salary_class"),
)
SENSITIVE = "occupation"
NINE = (*EIGHT[:-1], SENSITIVE, EIGHT[-1])
Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class Adult:
    """The coded rows of Adult; ``folder`` contains the data sets."""

    folder: Path

    @cached_property
    def rows(self) -> list[dict[str, str]]:
        """The rows as read."""
        return read_rows(self.folder / "adult" / "adult_30162.csv")

    @cached_property
    def hierarchies(self) -> list[GeneralizationHierarchy]:
        """The hierarchies of the eight quasi-identifiers."""
        return [self.hierarchy(name) for name in EIGHT]

    def hierarchy(self, name: str) -> GeneralizationHierarchy:
        """Return the hierarchy of an attribute."""
        return read_hierarchy(self.folder / "adult" / "hierarchies_arx" / f"{name}.csv")

    def lines(self, name: str) -> list[str]:
        """Return the leaves of an attribute's hierarchy in the order of the file."""
        path = self.folder / "adult" / "hierarchies_arx" / f"{name}.csv"
        return [line.partition(";")[0] for line in path.read_text(encoding="utf-8").splitlines()]

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Leaf codes, shape ``(rows, 8)``."""
        return np.stack([self._coded(h) for h in self.hierarchies], axis=1)

    @cached_property
    def occupations(self) -> NDArray[np.int64]:
        """Leaf codes of the sensitive attribute, shape ``(rows,)``."""
        return self._coded(self.hierarchy(SENSITIVE))

    def _coded(self, hierarchy: GeneralizationHierarchy) -> NDArray[np.int64]:
        code_of = {leaf: code for code, leaf in enumerate(hierarchy.leaves)}
        return np.array([code_of[row[hierarchy.attribute]] for row in self.rows], dtype=np.int64)

    @property
    def everyone(self) -> Rows:
        """A mask of every row."""
        return np.ones(len(self.rows), dtype=np.bool_)

    @cached_property
    def research_subset(self) -> Rows:
        """Return the tenth of the rows listed in a file by all columns; equal rows are interchangeable."""
        with (self.folder / "arx_benchmark" / "adult_subset.csv").open(encoding="utf-8", newline="") as file:
            listed = list(csv.DictReader(file))
        places = defaultdict(list)
        for place, row in enumerate(self.rows):
            places[tuple(row[name] for name in listed[0])].append(place)
        found = ~self.everyone
        for one in listed:
            found[places[tuple(one.values())].pop(0)] = True
        return found

    def drawn_subset(self, draws: int) -> Rows:
        """Return the subset that ARX's test draws: ``draws`` numbers below ``draws``, without duplicates."""
        random = JavaRandom(0xDEADBEEF - 2**32)
        found = ~self.everyone
        found[[random.below(draws) for _ in range(draws)]] = True
        return found


class JavaRandom:
    """The generator of ``java.util.Random``, as its documentation defines it."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) % 2**48

    def below(self, bound: int) -> int:
        """Return the next number from 0 to ``bound`` − 1."""
        while True:
            self._state = (self._state * 0x5DEECE66D + 0xB) % 2**48
            bits = self._state >> 17
            if bound & -bound == bound:
                return bound * bits >> 31
            if bits - bits % bound + bound - 1 < 2**31:
                return bits % bound
