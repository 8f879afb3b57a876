"""Which classes fail a requirement, in SQL: the engines' one judge.

It knows the criteria whose score is a count that every engine makes: rows (or subjects), and distinct values.
What else is asked is refused by name; whoever has the row types in memory judges there
(``frequency.class_facts``). The audit has a judge of its own (docs/decisions/0005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.errors import InputError
from discreet.model.criteria.base import Bound, Criterion
from discreet.model.criteria.registry import CRITERIA
from discreet.model.requirement import Requirement

_NOTHING = "FALSE"


def is_counted(criterion: Criterion) -> bool:
    """Whether an engine counts a criterion's score."""
    return not criterion.of_release and criterion.counted.criterion.counted_by_engines


def require_countable(requirement: Requirement, where: str, advice: str) -> None:
    """Raise ``InputError`` for a criterion that no engine counts; ``where`` says who was to."""
    for criterion in requirement.criteria:
        if not is_counted(criterion):
            counted = ", ".join(kind.name for kind in CRITERIA if kind.counted_by_engines)
            raise InputError(
                f"{criterion}: {where} does not count {criterion.title}", allowed=counted, advice=advice
            )


def fails(bound: Sequence[Bound], size: str, distinct: Mapping[int, str]) -> str:
    """The predicate of the classes that fail; ``FALSE`` where nothing is asked.

    ``size`` is the expression of what k counts, ``distinct`` those of the distinct values by the place of a
    sensitive attribute. ``InputError`` for a criterion that is neither's.
    """
    require_countable(Requirement(criteria=[one.criterion for one in bound]), "the engine", "Ask without it.")
    tests = [
        f"{size if one.place is None else distinct[one.place]} < {one.criterion.threshold}" for one in bound
    ]
    return " OR ".join(tests) or _NOTHING
