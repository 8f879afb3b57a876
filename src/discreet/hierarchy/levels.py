"""Hierarchies given in full as rows, or as a mapping from each leaf to its levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.hierarchy.table import check_coverage, hierarchy_from_rows
from discreet.model.hierarchy import GeneralizationHierarchy, Given


@dataclass(frozen=True)
class LevelsHierarchy:
    """Rows ``(leaf, level 1, …, top)``, as they were given."""

    rows: tuple[tuple[str, ...], ...]
    from_data: ClassVar[bool] = False
    """The levels were given."""
    given: ClassVar[Given] = Given.HIERARCHY
    """All of it."""

    @classmethod
    def of(cls, levels: Mapping[str, Iterable[str]] | Iterable[Iterable[str]]) -> LevelsHierarchy:
        """From a mapping leaf → ``[level 1, …, top]``, or from rows; whole numbers are read as their text.

        ``InputError`` for other values than texts.
        """
        if isinstance(levels, Mapping):
            rows = [(leaf, *_row(leaf, row)) for leaf, row in levels.items()]
        else:
            rows = [_row(None, row) for row in levels]
        return cls(tuple(tuple(_text(value) for value in row) for row in rows))

    @property
    def origin(self) -> str:
        """``levels given one by one``."""
        return "levels given one by one"

    def build(
        self, attribute: str, values: Sequence[str], counts: Sequence[int] | None = None
    ) -> GeneralizationHierarchy:
        """The hierarchy of the rows; ``InputError`` where they are wrong or miss a value."""
        hierarchy = hierarchy_from_rows(attribute, self.rows, origin=self.origin)
        check_coverage(hierarchy, values)
        return hierarchy


def _row(leaf: object, row: object) -> tuple[object, ...]:
    if isinstance(row, Iterable) and not isinstance(row, str | bytes | Mapping):
        return tuple(row)
    place = "a row" if leaf is None else f"leaf {shown(leaf)}"
    raise InputError(f"{place}: {shown(row)} is no list", allowed='a list of texts, such as ["20-29", "*"]')


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"level value {shown(value)} is no text", allowed="texts, and whole numbers")
