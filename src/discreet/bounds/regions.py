"""The region of a condition: an engine evaluates its comparisons over all values that columns may have.

A comparison of one column is true of some of its values and false of others; one of several columns, of some
combinations of their values. Those are gathered into boxes (``queries.region``), and AND, OR and NOT work on
boxes. So the engine that would run the query says what each comparison means, and nothing is written twice.

Cost: the product of the numbers of values, per comparison of several columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bounds.answer import Key
from discreet.engines.base import Engine
from discreet.engines.scratch import TemporaryTables
from discreet.errors import InputError
from discreet.queries.asked import GroupKey
from discreet.queries.condition import Comparison, Condition, Contrary, Every
from discreet.queries.region import Box, intersection, union
from discreet.sql.names import identifier, qualified

MOST_COMBINATIONS = 1 << 20
MOST_KEYED = 1 << 16
MOST_GROUPS = 1000
_PLACE = "discreet place"


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Evaluates conditions and keys over ``domains``, the values of each column; NULL is behind the last."""

    engine: Engine
    tables: TemporaryTables
    domains: Mapping[str, tuple[str, ...]]
    _loaded: dict[str, str] = field(default_factory=dict)

    def region(self, condition: Condition, *, wanted: bool = True) -> list[Box]:
        """Disjoint boxes where a condition is true, or false where not ``wanted``.

        ``InputError`` where a comparison has too many combinations of values, or there are too many boxes.
        """
        if isinstance(condition, Comparison):
            return self._boxes(condition, wanted)
        if isinstance(condition, Contrary):
            return self.region(condition.of, wanted=not wanted)
        parts = [self.region(part, wanted=wanted) for part in condition.parts]
        if isinstance(condition, Every) is wanted:
            found: list[Box] = [{}]
            for part in parts:
                found = intersection(found, part)
            return found
        return union([box for part in parts for box in part])

    def by_key(
        self, region: Sequence[Box], keys: Sequence[GroupKey]
    ) -> Iterator[tuple[tuple[Key, ...], list[Box]]]:
        """The part of a region in which keys have each combination of their values; empty parts left out."""
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
                if (part := intersection(boxes, of_value))
            ]
            check_groups(len(found))
        yield from found

    def _boxes(self, comparison: Comparison, wanted: bool) -> list[Box]:
        names = comparison.attributes
        shape = self._shape(names, MOST_COMBINATIONS, comparison.sql)
        places = "".join(f"{self._place(i)} AS p{i}, " for i in range(len(names)))
        sign = comparison.sql if wanted else f"NOT ({comparison.sql})"
        query = f"SELECT {places}CASE WHEN {sign} THEN 1 ELSE 0 END AS found{self._source(names)}"
        arrays = self.engine.fetch_arrays(query)
        mask = np.zeros(shape, dtype=np.bool_)
        mask[tuple(arrays[f"p{i}"].astype(np.int64) for i in range(len(names)))] = arrays["found"] == 1
        if not names:
            return [{}] if bool(arrays["found"][0]) else []
        return list(_boxes_of(mask, names))

    def _by_value(self, key: GroupKey) -> list[tuple[Key, list[Box]]]:
        """Each value of a key, with the boxes in which it has it."""
        names = key.attributes
        shape = self._shape(names, MOST_KEYED, key.title)
        places = "".join(f"{self._place(i)}, " for i in range(len(names)))
        masks: dict[Any, NDArray[np.bool_]] = {}
        for *at, value in self.engine.fetch_rows(f"SELECT {places}{key.sql}{self._source(names)}"):
            if value not in masks:
                if len(masks) >= MOST_KEYED:
                    raise InputError(f"GROUP BY '{key.title}' has too many values")
                masks[value] = np.zeros(shape, dtype=np.bool_)
            masks[value][tuple(at)] = True
        return [(value, list(_boxes_of(mask, names))) for value, mask in masks.items()]

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
        return qualified(_PLACE, f"t{table}")

    def _table(self, name: str) -> str:
        if name not in self._loaded:
            texts = (*self.domains[name], None)
            self._loaded[name] = self.tables.load({name: texts, _PLACE: np.arange(len(texts))})
        return self._loaded[name]


def check_groups(groups: int) -> None:
    """``InputError`` where GROUP BY makes too many groups."""
    if groups > MOST_GROUPS:
        raise InputError(
            f"GROUP BY makes more than {MOST_GROUPS:,} groups of what cells may stand for",
            advice="Group by fewer keys, or narrow them by WHERE.",
        )


def _boxes_of(mask: NDArray[np.bool_], names: Sequence[str]) -> Iterator[Box]:
    """Disjoint boxes that cover where a mask is true, one axis per column."""
    if mask.ndim == 1:
        if mask.any():
            yield {names[0]: mask}
        return
    flat = mask.reshape(len(mask), -1)
    patterns, which = np.unique(flat, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.any():
            here = (which == number).reshape(-1)
            for box in _boxes_of(pattern.reshape(mask.shape[1:]), names[1:]):
                yield {names[0]: here, **box}
