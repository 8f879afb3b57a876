"""Fragments of a table that stays in the engine, known by their histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mondrian.cuts import ProposedCut, WidestFirst
from discreet.mondrian.options import MondrianOptions
from discreet.mondrian.space import Space
from discreet.sql import partition as sql
from discreet.sql.star_schema import ROWS, sensitive_name

Needs = Sequence[tuple[int, int]]
"""Sensitive attributes by their place in the spec, and the distinct values that each needs."""


@dataclass(frozen=True, eq=False)
class Histograms:
    """One fragment's counts.

    ``places[j]`` and ``rows[j]`` hold the rows by place of attribute j; ``values[j, a]`` the distinct pairs
    of place and code of sensitive attribute a, NULL left out. ``entries`` counts the row types, each once
    for every combination of sensitive values.
    """

    entries: int
    total: int
    places: tuple[NDArray[np.int64], ...]
    rows: tuple[NDArray[np.int64], ...]
    values: Mapping[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]]

    @classmethod
    def split(
        cls, arrays: Mapping[str, NDArray[Any]], attributes: int, sensitive: Sequence[int]
    ) -> dict[int, Histograms]:
        """The histograms of each fragment, from the columns of ``sql.partition.histograms``."""
        order = np.argsort(arrays[sql.FRAGMENT], kind="stable")
        sorted_arrays = {name: column[order].astype(np.int64) for name, column in arrays.items()}
        numbers, starts = np.unique(sorted_arrays[sql.FRAGMENT], return_index=True)
        ends = [*starts[1:].tolist(), len(order)]
        return {
            number: cls._of({n: c[start:end] for n, c in sorted_arrays.items()}, attributes, sensitive)
            for number, start, end in zip(numbers.tolist(), starts.tolist(), ends, strict=True)
        }

    @classmethod
    def _of(
        cls, held: Mapping[str, NDArray[np.int64]], attributes: int, sensitive: Sequence[int]
    ) -> Histograms:
        places = [held[sql.place_name(j)] for j in range(attributes)]
        codes = {a: held[sensitive_name(a)] for a in sensitive}
        plain = np.ones(len(held[ROWS]), dtype=np.bool_)
        for column in codes.values():
            plain &= column == sql.NO_CODE
        whole = plain.copy()
        for column in places:
            whole &= column < 0
        by_place = []
        for column in places:
            here = np.flatnonzero(plain & (column >= 0))
            by_place.append(here[np.argsort(column[here])])
        pairs = {}
        for j, column in enumerate(places):
            for a in sensitive:
                both = (column >= 0) & (codes[a] >= 0)
                pairs[j, a] = (column[both], codes[a][both])
        return cls(
            entries=int(held["types"][whole].sum()),
            total=int(held[ROWS][whole].sum()),
            places=tuple(column[here] for column, here in zip(places, by_place, strict=True)),
            rows=tuple(held[ROWS][here] for here in by_place),
            values=pairs,
        )

    def rows_by_place(self, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of an attribute that occur, ascending, and the rows of each."""
        return self.places[attribute], self.rows[attribute]


@dataclass(frozen=True, eq=False)
class StoredFragment:
    """A fragment as a chooser of cuts sees it."""

    space: Space
    histograms: Histograms

    @property
    def total(self) -> int:
        """Rows in all."""
        return self.histograms.total

    @property
    def entries(self) -> int:
        """Row types, each once for every combination of sensitive values."""
        return self.histograms.entries

    def widths(self) -> NDArray[np.float64]:
        """The normalized range of each attribute."""
        places = self.histograms.places
        return self.space.widths(np.array([p[0] for p in places]), np.array([p[-1] for p in places]))

    def rows_by_place(self, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of an attribute that occur, ascending, and the rows of each."""
        return self.histograms.rows_by_place(attribute)

    def holds(self, k: int, needs: Needs) -> bool:
        """Whether the fragment as a whole has enough rows and values."""
        values = self.histograms.values
        return self.total >= k and all(len(np.unique(values[0, a][1])) >= least for a, least in needs)

    def survives(self, cut: ProposedCut, needs: Needs) -> bool:
        """Whether both sides of a cut have enough values."""
        for a, least in needs:
            places, codes = self.histograms.values[cut.attribute, a]
            left = places <= cut.last
            if min(len(np.unique(codes[left])), len(np.unique(codes[~left]))) < least:
                return False
        return True


def first_cut(fragment: StoredFragment, options: MondrianOptions, k: int, needs: Needs) -> ProposedCut | None:
    """The cut that strict Mondrian makes of a fragment; None where there is none."""
    for cut in WidestFirst(options, k)(fragment):
        if fragment.survives(cut, needs):
            return cut
    return None
