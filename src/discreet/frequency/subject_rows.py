"""Tables for searches that count rows and never subjects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet
from discreet.model.subject_rows import counting_rows


def tell_of_subjects(what: str, notice: Callable[[str], None] | None) -> None:
    """Say that plain numpy counts the subjects of classes, and that no bound is told of them."""
    if notice is not None:
        notice(f"subjects have several rows: plain numpy does the {what}, slowly, and tells no bound")


def rows_for_subjects(frequency_set: FrequencySet) -> FrequencySet:
    """The same table without subjects.

    ``InputError`` where a subject has several rows: the rows of a class would then promise more people than
    there are.
    """
    counted = counting_rows(frequency_set)
    if counted.subjects is None:
        return counted
    named = len(np.unique(counted.subjects.codes))
    raise InputError(
        f"{frequency_set.rows:,} rows belong to {named:,} subjects; this recoding model counts rows, "
        "and a class of k rows might hold fewer than k subjects",
        allowed="tables with one row per subject, levels that are negotiated (no --model), strict Mondrian, "
        "local recoding, or patterns by the greedy",
        advice="Publish with one of those, or bring the table to one row per subject first.",
    )
