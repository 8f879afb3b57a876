"""The scores that every frequency set counts: a class's rows (or subjects), and its distinct values."""

from __future__ import annotations

from discreet.model.criteria.base import Score
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity

SIZE = Score(KAnonymity)

ALWAYS_TOLD = (KAnonymity.name, DistinctDiversity.name)
"""What has a keyword of its own, and stands in every document, asked or not."""


def distinct_of(attribute: str) -> Score:
    """The distinct values of a sensitive attribute."""
    return Score(DistinctDiversity, attribute)
