"""Cutting one fragment of a stored table to the end, wherever its row types are brought together.

``FragmentCutter`` is a function of arrays that an engine applies to each fragment
(``Engine.apply_to_groups``), in this process or in another one: it may be pickled, and brings along all that
it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engines.base import Columns
from discreet.frequency.class_summary import classes_to_recoding
from discreet.frequency.encode import EncodedGroups
from discreet.frequency.merge import row_types
from discreet.model.cells import Cells, shows_derived, shows_leaves
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian.options import MondrianOptions
from discreet.mondrian.partition import Notice, strict_classes
from discreet.mondrian.space import cutting_order
from discreet.settings import Settings
from discreet.sql import partition as sql
from discreet.sql.star_schema import ROWS, sensitive_name


@dataclass(frozen=True, eq=False)
class FragmentCutter:
    """Strict Mondrian of a fragment; ``occurring`` are the places that occur in the whole table.

    ``notice`` stays in this process.
    """

    hierarchies: tuple[GeneralizationHierarchy, ...]
    sensitive: tuple[str, ...]
    requirement: Requirement
    settings: Settings
    options: MondrianOptions
    occurring: tuple[NDArray[np.int64], ...]
    notice: Notice | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "notice": None}

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the table of finished fragments, with their types."""
        values = (sql.value_name(i) for i in range(self._width))
        numbers = dict.fromkeys([sql.FRAGMENT, sql.KIND, *values, sql.CLASS, ROWS], "BIGINT")
        return {**numbers, sql.LABEL: "VARCHAR"}

    def __call__(self, arrays: Mapping[str, NDArray[Any]]) -> Columns:
        """The entries of one fragment's classes, from its row types (see ``sql.partition``)."""
        table = self._frequency_set(arrays)
        classes = strict_classes(
            table,
            self.requirement,
            self.settings,
            self.options,
            occurring=self.occurring,
            notice=self.notice,
        )
        model = RecodingModel.ORDERED_MULTI
        recoding = classes_to_recoding(
            table,
            classes,
            self.requirement,
            model,
            self.options.summary,
            by_tree=self.options.by_tree,
        )
        return self._entries(int(arrays[sql.FRAGMENT][0]), table, recoding)

    @property
    def _width(self) -> int:
        return max(len(self.hierarchies), sql.LEAST_VALUES)

    def _frequency_set(self, arrays: Mapping[str, NDArray[Any]]) -> FrequencySet:
        orders = [cutting_order(h, self.options.categorical) for h in self.hierarchies]
        codes = [order.code[arrays[sql.place_name(i)]] for i, order in enumerate(orders)]
        values: list[tuple[str, ...]] = [h.leaves for h in self.hierarchies]
        for place in range(len(self.sensitive)):
            found = arrays[sensitive_name(place)].astype(np.int64)
            occurring = np.unique(found[found >= 0])
            codes.append(np.where(found < 0, len(occurring), np.searchsorted(occurring, found)))
            values.append(("",) * len(occurring))
        names = tuple(h.attribute for h in self.hierarchies) + self.sensitive
        groups = EncodedGroups(names, tuple(values), tuple(codes), arrays[ROWS].astype(np.int64))
        return row_types(groups, self.hierarchies, self.sensitive, None, 0)

    def _entries(self, fragment: int, table: FrequencySet, recoding: ClassRecoding) -> Columns:
        numbers = np.arange(recoding.class_count)
        kinds = [
            (sql.ROW_TYPE, table.codes, recoding.classes, recoding.rows, [""] * table.row_types),
            (sql.SHOWN, recoding.shown, numbers, recoding.class_rows(), [""] * len(numbers)),
        ]
        for attribute, (cells, hierarchy) in enumerate(zip(recoding.cells, self.hierarchies, strict=True)):
            shown, labels = _shown_cells(attribute, cells, hierarchy)
            nothing = np.zeros(len(labels), dtype=np.int64)
            kinds.append((sql.SHOWN_CELL, shown, nothing, nothing, labels))
        sizes = [len(labels) for *_, labels in kinds]
        values = np.zeros((sum(sizes), self._width), dtype=np.int64)
        ends = np.cumsum(sizes).tolist()
        for (_, held, *_), end, size in zip(kinds, ends, sizes, strict=True):
            values[end - size : end, : held.shape[1]] = held
        columns: dict[str, Any] = {
            sql.FRAGMENT: np.full(len(values), fragment, dtype=np.int64),
            sql.KIND: np.repeat(np.array([kind for kind, *_ in kinds], dtype=np.int64), sizes),
            sql.CLASS: np.concatenate([classes for _, _, classes, _, _ in kinds]),
            ROWS: np.concatenate([rows for _, _, _, rows, _ in kinds]),
            sql.LABEL: [label for *_, labels in kinds for label in labels],
        }
        columns |= {sql.value_name(i): np.ascontiguousarray(values[:, i]) for i in range(self._width)}
        return columns


def _shown_cells(
    attribute: int, cells: Cells, hierarchy: GeneralizationHierarchy
) -> tuple[NDArray[np.int64], list[str]]:
    """The cells of one attribute as entries' values, and the label of each."""
    values = np.empty((len(cells.labels), sql.LEAST_VALUES), dtype=np.int64)
    values[:, 0], values[:, 1] = attribute, np.arange(len(values))
    values[:, 2], values[:, 3] = shows_leaves(cells, hierarchy), shows_derived(cells, hierarchy)
    return values, ["" if label is None else sql.LABEL_MARK + label for label in cells.labels]
