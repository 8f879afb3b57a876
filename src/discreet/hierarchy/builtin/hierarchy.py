"""An everyday hierarchy over a column's values."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import InputError
from discreet.hierarchy.builtin.classifications import ICD10, ISCO08, NACE2
from discreet.hierarchy.builtin.countries import COUNTRY
from discreet.hierarchy.builtin.declaration import Builtin
from discreet.hierarchy.builtin.everyday import AGE, DATE
from discreet.hierarchy.builtin.postal_codes import POSTAL_CODES
from discreet.hierarchy.messages import listed, shown
from discreet.hierarchy.others import hierarchy_with_others
from discreet.hierarchy.table import checked_leaves
from discreet.model.hierarchy import GeneralizationHierarchy, Given

BUILTINS: dict[str, Builtin] = {
    builtin.name: builtin for builtin in (AGE, DATE, ICD10, ISCO08, NACE2, COUNTRY, *POSTAL_CODES)
}
"""Every everyday hierarchy by its name."""


@dataclass(frozen=True)
class BuiltinHierarchy:
    """The everyday hierarchy of a name, at all of its ``levels`` or at some of them, from fine to coarse.

    A value that the hierarchy does not know is refused, unless it is among ``others``: those stay as they are
    below the top.
    """

    name: str
    levels: tuple[str, ...] | None = None
    others: tuple[str, ...] = ()
    from_data: ClassVar[bool] = False
    """It was there before the data."""
    given: ClassVar[Given] = Given.LEVELS
    """The levels, not which of its values there are."""

    def __post_init__(self) -> None:
        if self.name not in BUILTINS:
            near = difflib.get_close_matches(self.name, BUILTINS, n=1)
            raise InputError(
                f"there is no built-in hierarchy {shown(self.name)}",
                allowed=", ".join(BUILTINS),
                advice=f"Did you mean {shown(near[0])}?" if near else None,
            )
        places = [self._place(level) for level in self._chosen]
        if not places or places != sorted(set(places)):
            raise InputError(
                f"levels of {self.name}: {', '.join(self._chosen) or 'none'}",
                allowed=f"some of {', '.join(self.builtin.levels)}, in this order",
            )

    @property
    def builtin(self) -> Builtin:
        """What the hierarchy declares."""
        return BUILTINS[self.name]

    @property
    def origin(self) -> str:
        """``built-in icd10 by block, chapter``."""
        return f"built-in {self.name} by {', '.join(self._chosen)}"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """The data's values under their labels; ``InputError`` names values that it does not know."""
        apart = set(self.others)
        leaves = [value for value in checked_leaves(attribute, values) if value not in apart]
        known = {value: labels for value in leaves if (labels := self.builtin.labels(value)) is not None}
        unknown = [value for value in leaves if value not in known]
        if unknown:
            raise self._unknown(attribute, unknown)
        places = [self._place(level) for level in self._chosen]
        return hierarchy_with_others(
            attribute,
            [leaves, *([known[leaf][place] for leaf in leaves] for place in places)],
            self.others,
            origin=self.origin,
            like=[f"a {level}" for level in self._chosen],
            advice="Leave it out of others.",
        )

    @property
    def _chosen(self) -> tuple[str, ...]:
        return self.builtin.levels if self.levels is None else self.levels

    def _place(self, level: str) -> int:
        if level not in self.builtin.levels:
            raise InputError(
                f"{self.name} has no level {shown(level)}", allowed=", ".join(self.builtin.levels)
            )
        return self.builtin.levels.index(level)

    def _unknown(self, attribute: str, values: Sequence[str]) -> InputError:
        first = shown(values[0])[1:-1].replace('"', '\\"')
        return InputError(
            f"attribute {shown(attribute)}: {listed(values)} of the data "
            f"{'is' if len(values) == 1 else 'are'} not in {self.name} ({self.builtin.title})",
            allowed=f"values such as {self.builtin.example}, and the values under others",
            advice=f'List what is none of it as others = ["{first}"], or in [source] as null_values.',
        )
