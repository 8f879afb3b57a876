"""Columns of the original that are not published, read once more beside its row types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.linking import Original
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.settings import Settings
from discreet.workload.answerable import read_original

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OriginalColumns:
    """Groups of the original's rows: those of one group agree in all columns that were read.

    ``types`` is the row type of each group and ``rows`` how many rows it has; ``codes`` are its cells by
    column, places in the column's ``texts``, or their number for NULL. Arrays have shape ``(groups,)``.
    """

    types: Whole
    rows: Whole
    codes: Mapping[str, Whole]
    texts: Mapping[str, tuple[str, ...]]


def original_columns(
    engine: Engine, settings: Settings, original: Original, names: Sequence[str]
) -> OriginalColumns:
    """Some columns of the original; ``InputError`` where it has other rows than when it was counted."""
    counted = original.frequency_set
    beside = [name for name in dict.fromkeys(names) if name not in counted.attributes]
    read = read_original(engine, original.spec, counted, beside, settings)
    shown, rows = read.table.shown, read.table.rows
    both = np.concatenate([counted.codes, shown[:, : len(counted.attributes)]])
    place = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    type_of = np.zeros(int(place.max(initial=-1)) + 1, dtype=np.int64)
    type_of[place[: counted.row_types]] = np.arange(counted.row_types)
    types = type_of[place[counted.row_types :]]
    if (np.bincount(types, rows, minlength=counted.row_types) != counted.counts).any():
        raise InputError(
            f"the original has other rows now ({int(rows.sum()):,}) than when it was counted "
            f"({counted.rows:,})",
            advice="Open it again.",
        )
    columns = read.table.attributes
    return OriginalColumns(
        types,
        rows,
        {name: shown[:, columns.index(name)] for name in names},
        {name: read.domains[name].texts for name in names},
    )
