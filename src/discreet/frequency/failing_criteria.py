"""The criteria that a table fails as a whole, for messages that name what to relax."""

from __future__ import annotations

import numpy as np

from discreet.frequency.class_facts import FactCounter
from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement


def failing_as_a_whole(table: FrequencySet, requirement: Requirement) -> Requirement:
    """Return the criteria that the class of all rows fails, one by one; all of them where that is unknown.

    A criterion of the population, of cells or of the whole release is not judged here.
    """
    judged = [
        criterion
        for criterion in requirement.of_classes.criteria
        if not (criterion.of_population or criterion.of_every_attribute)
    ]
    every = np.arange(table.row_types, dtype=np.int64)
    failing = [
        criterion
        for criterion in judged
        if table.row_types and not FactCounter.of(table, Requirement(criteria=[criterion])).holds(every)
    ]
    return Requirement(criteria=failing) if failing else requirement
