"""Registry of the built-in hierarchies, and the builder that applies one to a column's values."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from typing import ClassVar

from discreet.errors import InputError
from discreet.hierarchy.builtin.catalog import (
    AGE_GROUPS,
    COUNTRY,
    DATE_PERIODS,
    ICD10,
    ISCO08,
    NACE2,
    POSTAL_CODES,
    BuiltinDeclaration,
)
from discreet.hierarchy.level_table import hierarchy_with_others, ordered_leaves
from discreet.hierarchy.messages import OTHERS_ALLOWED, quote_value, quote_values
from discreet.model.hierarchy import GeneralizationHierarchy, PublicPart
from discreet.model.option import spec_key

BUILTINS: dict[str, BuiltinDeclaration] = {
    builtin.name: builtin
    for builtin in (AGE_GROUPS, DATE_PERIODS, ICD10, ISCO08, NACE2, COUNTRY, *POSTAL_CODES)
}
"""Built-in hierarchies by name."""


@dataclass(frozen=True)
class BuiltinHierarchy:
    """A built-in hierarchy by name, at all of its ``levels`` or at some of them, from fine to coarse.

    A value that the hierarchy does not know is refused, unless it is among ``others``, which are unchanged
    below the top.
    """

    name: str = spec_key(
        "Name of the built-in hierarchy; `discreet list hierarchies` shows them.",
        '"icd10"',
        ", ".join(BUILTINS),
        default=MISSING,
    )
    levels: tuple[str, ...] | None = spec_key(
        "The levels to keep of it.", '["chapter"]', "a list of the hierarchy's levels, from fine to coarse"
    )
    others: tuple[str, ...] = spec_key(
        "Unknown values, which are kept unchanged.", '["unknown"]', OTHERS_ALLOWED, default=()
    )
    from_data: ClassVar[bool] = False
    """False: the hierarchy is independent of the data."""
    public_part: ClassVar[PublicPart] = PublicPart.LEVELS
    """The levels are public, the occurring values are not."""

    def __post_init__(self) -> None:
        if self.name not in BUILTINS:
            near = difflib.get_close_matches(self.name, BUILTINS, n=1)
            raise InputError(
                f"the built-in hierarchy {quote_value(self.name)} does not exist",
                allowed=", ".join(BUILTINS),
                advice=f"Did you mean {quote_value(near[0])}?" if near else None,
            )
        level_indices = [self._level_index(level) for level in self._chosen]
        if not level_indices or level_indices != sorted(set(level_indices)):
            raise InputError(
                f"levels of {self.name}: {', '.join(self._chosen) or 'none'}",
                allowed=f"some of {', '.join(self.builtin.levels)}, in this order",
            )

    @property
    def builtin(self) -> BuiltinDeclaration:
        """Declaration of the hierarchy."""
        return BUILTINS[self.name]

    @property
    def origin(self) -> str:
        """Short description, such as ``built-in icd10 by block, chapter``."""
        return f"built-in {self.name} by {', '.join(self._chosen)}"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """Build the data's values under their labels; raise ``InputError`` with the unknown values."""
        other_values = set(self.others)
        leaves = [value for value in ordered_leaves(attribute, values) if value not in other_values]
        known = {value: labels for value in leaves if (labels := self.builtin.labels(value)) is not None}
        unknown = [value for value in leaves if value not in known]
        if unknown:
            raise self._unknown(attribute, unknown)
        level_indices = [self._level_index(level) for level in self._chosen]
        return hierarchy_with_others(
            attribute,
            [leaves, *([known[leaf][level_index] for leaf in leaves] for level_index in level_indices)],
            self.others,
            origin=self.origin,
            level_nouns=[f"a {level}" for level in self._chosen],
            advice="Leave it out of others.",
        )

    @property
    def _chosen(self) -> tuple[str, ...]:
        return self.builtin.levels if self.levels is None else self.levels

    def _level_index(self, level: str) -> int:
        if level not in self.builtin.levels:
            raise InputError(
                f"{self.name} has no level {quote_value(level)}", allowed=", ".join(self.builtin.levels)
            )
        return self.builtin.levels.index(level)

    def _unknown(self, attribute: str, values: Sequence[str]) -> InputError:
        first = quote_value(values[0])[1:-1].replace('"', '\\"')
        return InputError(
            f"attribute {quote_value(attribute)}: {quote_values(values)} of the data "
            f"{'is' if len(values) == 1 else 'are'} not in {self.name} ({self.builtin.title})",
            allowed=f"values such as {self.builtin.example}, and the values under others",
            advice=f'List unknown values as others = ["{first}"], or in [source] as null_values.',
        )
