"""Subjects with one row each: to count rows is then to count subjects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet, ValueSets


def one_row_each(table: FrequencySet) -> bool:
    """Whether no subject has two rows; so it is where the spec names none."""
    return table.subjects is None or len(np.unique(table.subjects.codes)) == table.rows


def counting_rows(table: FrequencySet) -> FrequencySet:
    """The same table without subjects, where no subject has two rows; else the table itself."""
    if table.subjects is None or not one_row_each(table):
        return table
    sensitive = tuple(_rows_of(sets, table.row_types) for sets in table.sensitive)
    return replace(table, sensitive=sensitive, subjects=None)


def class_test_of_subjects() -> InputError:
    """What refuses a class test where subjects have several rows: it is told rows by value."""
    return InputError(
        "a class test is told rows, but here subjects are counted, and some have several rows",
        allowed="k, l and other criteria of subjects",
        advice="Leave the class test out, or bring the table to one row per subject first.",
    )


def _rows_of(sets: ValueSets, row_types: int) -> ValueSets:
    """Entries of pairs of subject and code, added up by code."""
    size = max(sets.size, 1)
    pairs = np.repeat(np.arange(row_types), np.diff(sets.offsets)) * size + sets.codes
    found, counts = np.unique(pairs, return_counts=True)
    row_type, codes = np.divmod(found, size)
    offsets = np.searchsorted(row_type, np.arange(row_types + 1))
    return ValueSets(sets.attribute, sets.size, offsets, codes, None, counts, sets.of)
