"""Whether a frequency set holds what a criterion of rows by sensitive value asks for."""

from __future__ import annotations

from discreet.errors import InputError
from discreet.model.criteria.base import Bound, Criterion, Need
from discreet.model.criteria.whole_table import require_known
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.sensitive_attribute import SensitiveAttribute


def check_counted(one: Bound, table: FrequencySet) -> None:
    """Raise ``InputError`` for a criterion of what the table does not hold: rows by value, a population.

    So for one of the release's records where subjects are counted, and for one that asks more of its
    attribute than it has: an order, numbers, or a hierarchy.
    """
    if one.criterion.of_release and table.subjects is not None:
        raise of_subjects_refused(one.criterion)
    if one.criterion.of_population and table.population is None:
        raise InputError(
            f"{one.criterion}: {one.criterion.title} needs the population, and the spec names none",
            advice="Give [population] with a path, or subset in [source].",
        )
    if one.criterion.of_every_attribute:
        if not table.whole:
            raise of_some_refused(one.criterion)
        for sets in table.sensitive:
            _check_held(one, sets)
    if one.place is None or one.criterion.need is not Need.COUNTS:
        return
    if table.sensitive[one.place].subjects is not None:
        raise InputError(
            f"{one.criterion}: {one.criterion.title} counts the rows of each value, but here subjects are "
            "counted, and some have several rows",
            allowed="criteria of subjects and of distinct values: k, l",
            advice="Bring the table to one row per subject first, or ask without it.",
        )
    sets = table.sensitive[one.place]
    require_known(str(one.criterion), one.criterion.asks, sets.attribute, _check_held(one, sets))


def _check_held(one: Bound, sets: ValueSets) -> SensitiveAttribute:
    if sets.counts is None or sets.of is None:
        raise InputError(
            f"{one.criterion}: the frequency set holds no rows by value of '{sets.attribute}'",
            advice="Count the table by count_frequency_set.",
        )
    return sets.of


def of_subjects_refused(criterion: Criterion) -> InputError:
    """What refuses a criterion of a release's records where subjects are counted."""
    return InputError(
        f"{criterion}: {criterion.title} counts records, but here subjects are counted, and some have "
        "several rows",
        allowed="criteria of subjects and of distinct values: k, l, highest_risk",
        advice="Bring the table to one row per subject first, or ask without it.",
    )


def of_some_refused(criterion: Criterion) -> InputError:
    """What refuses a criterion of all sensitive attributes where some were left out of the counting."""
    return InputError(
        f"{criterion} was asked of every sensitive attribute, which these classes were not counted for",
        advice="Evaluate the lattice again with that criterion.",
    )
