"""Random order, where it is asked for: sort keys from the operating system's generator, which keeps no seed.

The order of a table says something of its rows (when they came in, who lives next door), and a shuffle that
can be repeated can be undone. (Rows in the order of what they show need no shuffle: ``sql.row_order``.) Each
sort key has 128 random bits, so ties, in which the old order might survive, do not occur. For the embedded
engine: PostgreSQL and Spark draw such keys themselves (``Dialect.random_key``), and none is loaded there.
"""

from __future__ import annotations

import os

import numpy as np

from discreet.engines.base import Engine
from discreet.sql.names import identifier
from discreet.sql.recode import SORT_KEYS

_BYTES = 16
_KEYS_AT_ONCE = 1 << 21


def load_sort_keys(engine: Engine, name: str, rows: int, keys_at_once: int = _KEYS_AT_ONCE) -> None:
    """Create a temporary table of ``rows`` sort keys, drawn ``keys_at_once`` at a time (32 MB)."""
    engine.load_table(name, _keys(min(rows, keys_at_once)))
    part = f"{name}_part"
    for start in range(keys_at_once, rows, keys_at_once):
        engine.load_table(part, _keys(min(rows - start, keys_at_once)))
        engine.execute(f"INSERT INTO {identifier(name)} FROM {identifier(part)}")
        engine.execute(f"DROP TABLE {identifier(part)}")


def _keys(rows: int) -> dict[str, np.ndarray[tuple[int], np.dtype[np.uint64]]]:
    drawn = np.frombuffer(os.urandom(rows * _BYTES), dtype=np.uint64).reshape(rows, len(SORT_KEYS))
    return {key: np.ascontiguousarray(drawn[:, i]) for i, key in enumerate(SORT_KEYS)}
