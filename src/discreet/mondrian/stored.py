"""Fragments of a table that stays in the engine, known by their histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.class_facts import ClassFacts, ClassValues
from discreet.model.criteria.base import Bound
from discreet.model.judge import failing
from discreet.mondrian.cuts import ProposedCut, WidestFirst
from discreet.mondrian.options import MondrianOptions
from discreet.mondrian.space import Space
from discreet.sql import partition as sql
from discreet.sql.star_schema import ROWS, sensitive_name


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

    def holds(self, bound: Sequence[Bound]) -> bool:
        """Whether the fragment as a whole meets criteria of rows and of distinct values."""
        codes = {place: (self.histograms.values[0, place][1],) for place in places_of(bound)}
        return not failing(bound, _facts([self.total], codes)).any()

    def survives(self, cut: ProposedCut, bound: Sequence[Bound]) -> bool:
        """Whether both sides of a cut do."""
        places, rows = self.rows_by_place(cut.attribute)
        below = int(rows[places <= cut.last].sum())
        codes = {}
        for place in places_of(bound):
            at, held = self.histograms.values[cut.attribute, place]
            codes[place] = (held[at <= cut.last], held[at > cut.last])
        return not failing(bound, _facts([below, self.total - below], codes)).any()


def places_of(bound: Sequence[Bound]) -> list[int]:
    """The sensitive attributes that criteria speak of, by their place in the spec."""
    return sorted({one.place for one in bound if one.place is not None})


def _facts(sizes: Sequence[int], codes: Mapping[int, Sequence[NDArray[np.int64]]]) -> ClassFacts:
    """Classes of so many rows, with the sensitive codes in each by the attribute's place."""
    values: list[ClassValues | None] = [None] * (max(codes, default=-1) + 1)
    for place, held in codes.items():
        values[place] = ClassValues(np.array([len(np.unique(of_class)) for of_class in held]))
    return ClassFacts(np.array(sizes), tuple(values))


def first_cut(
    fragment: StoredFragment, options: MondrianOptions, least_rows: int, bound: Sequence[Bound]
) -> ProposedCut | None:
    """The cut that strict Mondrian makes of a fragment; None where there is none."""
    for cut in WidestFirst(options, least_rows)(fragment):
        if fragment.survives(cut, bound):
            return cut
    return None
