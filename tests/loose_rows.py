"""The embedded engine with shuffled results: rows that no ORDER BY sorts come in any order.

Small results nearly always come in the order of their table, so that code which relies on it passes, and
fails on large ones occasionally. Here every result that the program requests without an order is shuffled;
the results of the tests' own queries are unchanged.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.engines.duckdb.engine import DuckdbEngine

_ORDER = "ORDER BY"
_ON_ONE_THREAD = {"discreet.screens.source_view"}
"""Functions that create an engine of one thread, so that rows come in the order of their file."""


def is_loose(query: str, caller: str) -> bool:
    """Test whether no ORDER BY is outside of parentheses, and the module ``caller`` is the program's."""
    if not caller.startswith("discreet."):
        return False
    before, found, after = query.rpartition(_ORDER)
    return not found or after.count("(") != after.count(")") or before.count("(") != before.count(")")


def _calling_module() -> str:
    """Return the module of the caller's caller."""
    name: str = sys._getframe(2).f_globals["__name__"]
    return name


@pytest.fixture(scope="session", autouse=True)
def loose_rows() -> Iterator[None]:
    """Shuffle the results of statements that neither sort their rows nor run where order is kept."""
    draw = random.Random(7)
    rows_of, arrays_of = DuckdbEngine.fetch_rows, DuckdbEngine.fetch_arrays

    def keeps_order(engine: DuckdbEngine, caller: str) -> bool:
        return engine.order.is_preserved or caller in _ON_ONE_THREAD

    def rows(self: DuckdbEngine, query: str) -> list[tuple[Any, ...]]:
        found = rows_of(self, query)
        caller = _calling_module()
        if is_loose(query, caller) and not keeps_order(self, caller):
            draw.shuffle(found)
        return found

    def arrays(self: DuckdbEngine, query: str) -> dict[str, NDArray[Any]]:
        found = arrays_of(self, query)
        caller = _calling_module()
        if not found or not is_loose(query, caller) or keeps_order(self, caller):
            return found
        order = np.array(draw.sample(range(size := len(next(iter(found.values())))), size), dtype=np.int64)
        return {name: array[order] for name, array in found.items()}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckdbEngine, "fetch_rows", rows)
        patch.setattr(DuckdbEngine, "fetch_arrays", arrays)
        yield
