"""Fragments of stored classes: histograms, sensitive values and cuts of one part of a partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.criteria.base import BoundCriterion
from discreet.model.criterion_inputs import ClassStatistics, ClassValues
from discreet.model.requirement import failing_mask
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.mondrian.space import CutSpace, ProposedCut, WidestFirst
from discreet.sql import star_schema as sql
from discreet.sql.star_schema import FACT_ROWS, sensitive_name


@dataclass(frozen=True, eq=False)
class FragmentHistograms:
    """Histograms of one fragment, per attribute and per sensitive value.

    ``positions[j]`` and ``rows[j]`` contain the occurring positions of attribute j and the rows of each;
    ``values[j, a]`` contains the distinct pairs of position and code of sensitive attribute a, without
    NULL. ``entries`` counts row types, each once per combination of sensitive values; ``total`` counts
    rows.
    """

    entries: int
    total: int
    positions: tuple[NDArray[np.int64], ...]
    rows: tuple[NDArray[np.int64], ...]
    values: Mapping[tuple[int, int], tuple[NDArray[np.int64], NDArray[np.int64]]]

    @classmethod
    def split(
        cls, arrays: Mapping[str, NDArray[Any]], attributes: int, sensitive: Sequence[int]
    ) -> dict[int, FragmentHistograms]:
        """Split the columns of ``sql.star_schema.histograms`` into the histograms of each fragment."""
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
        cls, arrays: Mapping[str, NDArray[np.int64]], attributes: int, sensitive: Sequence[int]
    ) -> FragmentHistograms:
        """Build the histograms of one fragment from its result rows.

        A grouping set leaves the columns that it does not group by at a negative code. Rows without any
        position and sensitive code therefore count the whole fragment.
        """
        positions = [arrays[sql.cut_position_name(j)] for j in range(attributes)]
        codes = {a: arrays[sensitive_name(a)] for a in sensitive}
        plain = np.ones(len(arrays[FACT_ROWS]), dtype=np.bool_)
        for column in codes.values():
            plain &= column == sql.NO_CODE
        nonempty_cells = plain.copy()
        for column in positions:
            nonempty_cells &= column < 0
        by_place = []
        for column in positions:
            here = np.flatnonzero(plain & (column >= 0))
            by_place.append(here[np.argsort(column[here])])
        pairs = {}
        for j, column in enumerate(positions):
            for a in sensitive:
                both = (column >= 0) & (codes[a] >= 0)
                pairs[j, a] = (column[both], codes[a][both])
        return cls(
            entries=int(arrays["types"][nonempty_cells].sum()),
            total=int(arrays[FACT_ROWS][nonempty_cells].sum()),
            positions=tuple(column[here] for column, here in zip(positions, by_place, strict=True)),
            rows=tuple(arrays[FACT_ROWS][here] for here in by_place),
            values=pairs,
        )


@dataclass(frozen=True, eq=False)
class StoredFragment:
    """Fragment whose row types are in the engine, with the statistics that a chooser of cuts reads."""

    space: CutSpace
    histograms: FragmentHistograms

    @property
    def total(self) -> int:
        """Number of rows."""
        return self.histograms.total

    @property
    def entries(self) -> int:
        """Number of row types, each counted once per combination of sensitive values."""
        return self.histograms.entries

    def widths(self) -> NDArray[np.float64]:
        """Return the normalized range of each attribute."""
        positions = self.histograms.positions
        return self.space.widths(np.array([p[0] for p in positions]), np.array([p[-1] for p in positions]))

    def rows_by_position(self, attribute: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the occurring positions of an attribute in ascending order, with the row count of each."""
        return self.histograms.positions[attribute], self.histograms.rows[attribute]

    def holds(self, bound: Sequence[BoundCriterion]) -> bool:
        """Check whether the fragment as one class meets criteria on row counts and distinct values."""
        codes = {index: (self.histograms.values[0, index][1],) for index in sensitive_positions(bound)}
        return not failing_mask(bound, _class_facts([self.total], codes)).any()

    def allows_cut(self, cut: ProposedCut, bound: Sequence[BoundCriterion]) -> bool:
        """Check whether both sides of a cut meet the criteria."""
        positions, rows = self.rows_by_position(cut.attribute)
        below = int(rows[positions <= cut.last].sum())
        codes = {}
        for index in sensitive_positions(bound):
            at, values = self.histograms.values[cut.attribute, index]
            codes[index] = (values[at <= cut.last], values[at > cut.last])
        return not failing_mask(bound, _class_facts([below, self.total - below], codes)).any()


def sensitive_positions(bound: Sequence[BoundCriterion]) -> list[int]:
    """Return the spec positions of the sensitive attributes that the criteria refer to, ascending."""
    return sorted({one.index for one in bound if one.index is not None})


def _class_facts(sizes: Sequence[int], codes: Mapping[int, Sequence[NDArray[np.int64]]]) -> ClassStatistics:
    """Build the statistics of classes from their sizes and their sensitive codes by attribute position."""
    values: list[ClassValues | None] = [None] * (max(codes, default=-1) + 1)
    for index, value_codes in codes.items():
        values[index] = ClassValues(np.array([len(np.unique(of_class)) for of_class in value_codes]))
    return ClassStatistics(np.array(sizes), tuple(values))


def choose_cut(
    fragment: StoredFragment, options: MondrianOptions, least_rows: int, bound: Sequence[BoundCriterion]
) -> ProposedCut | None:
    """Return the cut that strict Mondrian makes in a fragment, or None if no cut is allowed."""
    for cut in WidestFirst(options, least_rows)(fragment):
        if fragment.allows_cut(cut, bound):
            return cut
    return None


@dataclass(frozen=True, eq=False)
class StoredClassTables:
    """Names of the engine tables that contain the classes of all fragments, numbered in the fragments' order.

    ``row_types`` has the leaf codes of each row type (``c0``, …) and its ``class``. ``class_cells`` has, for
    each ``class``, the numbers of its published cells (``q0``, …) and its rows (``n``). ``labels[i]`` has the
    distinct ``label`` of each cell number, ``position``. ``leaves[i]`` is True if every class publishes a
    single unchanged leaf in attribute i, ``derived[i]`` if labels are derived from the data.
    """

    row_types: str
    class_cells: str
    labels: tuple[str, ...]
    leaves: tuple[bool, ...]
    derived: tuple[bool, ...]
    rows: int
    classes: int
