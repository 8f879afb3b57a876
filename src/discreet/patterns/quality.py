"""How good a recoding by patterns is: usefulness, row types and sizes (Bredereck et al. 2013, section 3.3).

The paper publishes a rest of fewer than k rows as a row type of stars. Here such rows are suppressed, so they
are one type more, in contrast to the classes of a release (``measures.metrics``), of which they are none.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from discreet.measures.usefulness import Members, numbers_of, only, usefulness_of
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet


@dataclass(frozen=True)
class Quality:
    """Usefulness, the number of output row types, and their average and largest size in rows."""

    usefulness: float
    types: int
    average: float
    maximum: int


def quality(frequency_set: FrequencySet, recoding: ClassRecoding, numeric: Collection[str] = ()) -> Quality:
    """The paper's measures of a recoding; suppressed rows are one type more.

    ``numeric`` names the attributes whose range counts; ``InputError`` where one's values are no numbers.
    """
    members = Members.of_recoding(recoding)
    if not members.number:
        return Quality(0.0, 0, 0.0, 0)
    sizes = members.sizes(recoding.rows)
    numbers = numbers_of(frequency_set.hierarchies, only(numeric, frequency_set.attributes))
    return Quality(
        usefulness=usefulness_of(frequency_set, members, numbers),
        types=members.number,
        average=float(sizes.mean()),
        maximum=int(sizes.max()),
    )
