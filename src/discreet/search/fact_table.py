"""A table that stays in the database: facts and dimensions, as LeFevre et al. (2005) ran their searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.engines.base import Engine
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.sql.failing import is_counted, require_countable


@dataclass(frozen=True, eq=False)
class FactTable:
    """A star schema in an engine: one fact table and a dimension table per quasi-identifier.

    ``facts`` names the fact table: one row per row of the source after the NULL policy, holding leaf codes
    of ``hierarchies`` (NULL is ``hierarchy.null_code``), codes of the sensitive values (-1 for NULL) and,
    where the spec names a subject, its number. ``dimensions[i]`` names the table of attribute i: a leaf code
    and its generalization at every level. ``dropped`` is the number of rows that the NULL policy left out,
    ``set_apart`` that of rows that show nothing (``FrequencySet``).
    The tables live as long as the context that made them (``search.star_schema.in_database``).
    """

    engine: Engine
    facts: str
    dimensions: Sequence[str]
    hierarchies: tuple[GeneralizationHierarchy, ...]
    sensitive_attributes: tuple[str, ...]
    rows: int
    dropped: int = 0
    set_apart: int = 0
    by_subject: bool = False


def is_counted_there(requirement: Requirement) -> bool:
    """Whether classes of a fact table can be judged by all criteria of a requirement."""
    return all(map(is_counted, requirement.criteria))


def require_counted_there(requirement: Requirement) -> None:
    """Raise ``InputError`` for a criterion by which they cannot."""
    require_countable(requirement, "a search in the database", "Leave --in-database out.")
