"""Conditions and keys of a query, evaluated in the engine over the values of each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.interval_aggregates import Key
from discreet.engines.base import Engine
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InputError
from discreet.queries.region import Box, intersect_regions, unite_boxes
from discreet.queries.select_query import GroupKey
from discreet.queries.sql_expression import Condition, Conjunction, Negation, SqlComparison
from discreet.sql.quoting import identifier, qualified

MOST_COMPARED_COMBINATIONS = 1 << 20
MOST_KEY_VALUES = 1 << 16
MOST_ANSWERED_GROUPS = 1000
_POSITION_COLUMN = "discreet place"


@dataclass(frozen=True, eq=False)
class ConditionEvaluator:
    """Evaluator of conditions and keys over ``domains``, the values of each column; NULL is last."""

    engine: Engine
    tables: TemporaryTables
    domains: Mapping[str, tuple[str, ...]]
    _loaded: dict[str, str] = field(default_factory=dict)

    def region(self, condition: Condition, *, wanted: bool = True) -> list[Box]:
        """Return disjoint boxes in which a condition is true, or in which it is not if ``wanted`` is False.

        Raises ``InputError`` if a comparison has too many combinations of values, or there are too many
        boxes.
        """
        if isinstance(condition, SqlComparison):
            return self._boxes(condition, wanted)
        if isinstance(condition, Negation):
            return self.region(condition.of, wanted=not wanted)
        parts = [self.region(part, wanted=wanted) for part in condition.parts]
        if isinstance(condition, Conjunction) is wanted:
            result: list[Box] = [{}]
            for part in parts:
                result = intersect_regions(result, part)
            return result
        return unite_boxes([box for part in parts for box in part])

    def region_of(self, condition: Condition | None) -> list[Box]:
        """Return the region of a condition; everything without one."""
        return [{}] if condition is None else self.region(condition)

    def by_key(
        self, region: Sequence[Box], keys: Sequence[GroupKey]
    ) -> Iterator[tuple[tuple[Key, ...], list[Box]]]:
        """Yield each combination of key values with its part of a region; empty parts are left out."""
        if not keys:
            yield (), list(region)
            return
        found: list[tuple[tuple[Key, ...], list[Box]]] = [((), list(region))]
        for key in keys:
            values = self._by_value(key)
            found = [
                ((*group, value), part)
                for group, boxes in found
                for value, of_value in values
                if (part := intersect_regions(boxes, of_value))
            ]
            check_group_count(len(found))
        yield from found

    def _boxes(self, comparison: SqlComparison, wanted: bool) -> list[Box]:
        """Evaluate a comparison in the engine over the cross product of its columns' values."""
        names = comparison.attributes
        shape = self._shape(names, MOST_COMPARED_COMBINATIONS, comparison.sql)
        places = "".join(f"{self._place(i)} AS p{i}, " for i in range(len(names)))
        sign = comparison.sql if wanted else f"NOT ({comparison.sql})"
        query = f"SELECT {places}CASE WHEN {sign} THEN 1 ELSE 0 END AS found{self._source(names)}"
        arrays = self.engine.fetch_arrays(query)
        mask = np.zeros(shape, dtype=np.bool_)
        mask[tuple(arrays[f"p{i}"].astype(np.int64) for i in range(len(names)))] = arrays["found"] == 1
        if not names:
            return [{}] if bool(arrays["found"][0]) else []
        return list(_boxes_of_mask(mask, names))

    def _by_value(self, key: GroupKey) -> list[tuple[Key, list[Box]]]:
        """Return each value of a key, with the boxes in which the key has it."""
        names = key.attributes
        shape = self._shape(names, MOST_KEY_VALUES, key.title)
        places = "".join(f"{self._place(i)}, " for i in range(len(names)))
        masks: dict[Any, NDArray[np.bool_]] = {}
        for *at, value in self.engine.fetch_rows(f"SELECT {places}{key.sql}{self._source(names)}"):
            if value not in masks:
                if len(masks) >= MOST_KEY_VALUES:
                    raise InputError(f"GROUP BY '{key.title}' has too many values")
                masks[value] = np.zeros(shape, dtype=np.bool_)
            masks[value][tuple(at)] = True
        return [(value, list(_boxes_of_mask(mask, names))) for value, mask in masks.items()]

    def _shape(self, names: Sequence[str], most: int, what: str) -> tuple[int, ...]:
        shape = tuple(len(self.domains[name]) + 1 for name in names)
        combinations = 1
        for size in shape:
            combinations *= size
        if len(names) > 1 and combinations > most:
            raise InputError(
                f"{combinations:,} combinations of values of {', '.join(names)} are compared in "
                f"'{what if len(what) <= 60 else what[:57] + '…'}'",
                allowed=f"at most {most:,}",
                advice="Compare fewer columns with each other.",
            )
        return shape

    def _source(self, names: Sequence[str]) -> str:
        if not names:
            return ""
        tables = [f"{identifier(self._table(name))} AS t{i}" for i, name in enumerate(names)]
        return f" FROM {' CROSS JOIN '.join(tables)}"

    def _place(self, table: int) -> str:
        return qualified(_POSITION_COLUMN, f"t{table}")

    def _table(self, name: str) -> str:
        if name not in self._loaded:
            texts = (*self.domains[name], None)
            self._loaded[name] = self.tables.load({name: texts, _POSITION_COLUMN: np.arange(len(texts))})
        return self._loaded[name]


def check_group_count(groups: int) -> None:
    """Raise ``InputError`` if GROUP BY yields too many groups."""
    if groups > MOST_ANSWERED_GROUPS:
        raise InputError(
            f"GROUP BY makes more than {MOST_ANSWERED_GROUPS:,} groups of possible values",
            advice="Group by fewer keys, or narrow them by WHERE.",
        )


def _boxes_of_mask(mask: NDArray[np.bool_], names: Sequence[str]) -> Iterator[Box]:
    """Yield disjoint boxes that cover the true cells of a mask with one axis per column."""
    if mask.ndim == 1:
        if mask.any():
            yield {names[0]: mask}
        return
    flat = mask.reshape(len(mask), -1)
    patterns, which = np.unique(flat, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.any():
            here = (which == number).reshape(-1)
            for box in _boxes_of_mask(pattern.reshape(mask.shape[1:]), names[1:]):
                yield {names[0]: here, **box}
