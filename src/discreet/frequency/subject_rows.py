"""Tables for searches that count rows and never subjects."""

from __future__ import annotations

import numpy as np

from discreet.errors import InputError
from discreet.model.frequency_set import FrequencySet
from discreet.model.subject_rows import counting_rows


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
        allowed="tables with one row per subject, or levels that are negotiated (no --model)",
        advice="Publish without --model, or bring the table to one row per subject first.",
    )
