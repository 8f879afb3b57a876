"""Rows by sensitive value in a frequency set: whether it holds them, and those of the whole table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criteria.base import Bound, Need
from discreet.model.frequency_set import FrequencySet, ValueSets


def rows_by_code(sets: ValueSets) -> NDArray[np.int64]:
    """A table's rows by code of a sensitive attribute, shape ``(size,)``."""
    assert sets.counts is not None
    found = np.zeros(sets.size, np.int64)
    np.add.at(found, sets.codes, sets.counts)
    return found


def check_counted(one: Bound, table: FrequencySet) -> None:
    """Raise ``InputError`` for a criterion of rows by value where the table does not hold them."""
    if one.place is None or one.criterion.need is not Need.COUNTS:
        return
    if table.sensitive[one.place].subjects is not None:
        raise InputError(
            f"{one.criterion}: {one.criterion.title} counts the rows of each value, but here subjects are "
            "counted, and some have several rows",
            allowed="criteria of subjects and of distinct values: k, l",
            advice="Bring the table to one row per subject first, or ask without it.",
        )
    if table.sensitive[one.place].counts is None:
        raise InputError(
            f"{one.criterion}: the frequency set holds no rows by value of "
            f"'{table.sensitive[one.place].attribute}'",
            advice="Count the table by count_frequency_set.",
        )
