"""What suppression does to the weights of a survey, told before a release is handed over."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.linking import Original
from discreet.attacks.survey_weights import lost_share, moved_shares, survey_of
from discreet.errors import InputError
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.coded_warning import CodedWarning
from discreet.model.frequency_set import FrequencySet
from discreet.release.warnings import moved_weights, unknown_weights
from discreet.verbs.earlier_releases import EarlierReleases
from discreet.verbs.opened_table import OpenedTable

ClassesOf = Callable[[EarlierReleases], NDArray[np.int64]]


def weight_warnings(
    table: OpenedTable, counted: FrequencySet, classes_of: ClassesOf
) -> tuple[CodedWarning, ...]:
    """That weights are not recalibrated, where the spec names some and suppressed rows take people with them.

    ``classes_of`` gives the class of each row type, as it is about to be published. ``InputError`` where the
    column holds what are no weights.
    """
    column = table.spec.source.survey_weight
    if column is None:
        return ()
    original = Original(table.spec, counted)
    with table.engine("Adding up weights") as engine:
        survey = survey_of(engine, table.settings, original, column)
    try:
        kept = classes_of(EarlierReleases(counted)) != SUPPRESSED
    except InputError:  # rows of one type are in several classes: which are left out nobody knows beforehand
        return untold_weights(table)
    lost = lost_share(survey, kept)
    if not lost:
        return ()
    name, _, largest = max(moved_shares(original, survey, kept), key=lambda moved: moved[2])
    return (moved_weights(column, lost, name, largest),)


def untold_weights(table: OpenedTable) -> tuple[CodedWarning, ...]:
    """The same where it cannot be told, as of a table that exceeds the memory limit."""
    column = table.spec.source.survey_weight
    return () if column is None else (unknown_weights(column),)
