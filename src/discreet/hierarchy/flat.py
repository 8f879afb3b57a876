"""The hierarchy of an attribute for which none is given: value → ``*``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.hierarchy.table import checked_leaves, hierarchy_from_columns
from discreet.model.hierarchy import TOP, GeneralizationHierarchy, Given


@dataclass(frozen=True)
class FlatHierarchy:
    """Each value of the data, and one step to ``*``: height 1."""

    from_data: ClassVar[bool] = False
    """``*`` says nothing of the data."""
    given: ClassVar[Given] = Given.LEVELS
    """The one step, not which values there are."""

    @property
    def origin(self) -> str:
        """``value → *``."""
        return f"value → {TOP}"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """The values in order, under ``*``; ``InputError`` for an empty text."""
        leaves = checked_leaves(attribute, values)
        return hierarchy_from_columns(attribute, [leaves, [TOP] * len(leaves)], origin=self.origin)
