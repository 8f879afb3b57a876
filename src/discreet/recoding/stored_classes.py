"""Recodings by classes whose tables exist in the engine only, and the protocol of a counted table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.model.class_recoding import ClassRecoding
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy


class CountedTable(Protocol):
    """Counted table, as the application of a recoding needs it; a frequency set is one."""

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """Hierarchies of the quasi-identifiers, built from the values that occur."""

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""

    @property
    def dropped(self) -> int:
        """Rows that the NULL policy dropped."""

    @property
    def set_apart(self) -> int:
        """Rows that show nothing in any quasi-identifier, removed before."""


@dataclass(frozen=True, eq=False)
class StoredClasses:
    """Recoding by classes whose row types and classes are tables of the engine, not arrays.

    ``row_types`` names a table with the leaf codes of each row type (``c0``, … in the order of
    ``attributes``, NULL by its code) and its ``class``; ``class_cells`` one with, for each ``class``, the
    numbers of its labels (``q0``, …) and its rows (``n``); ``labels[i]`` one with the distinct text ``label``
    of each such number, ``position``. Each row type is in one class, and no row is suppressed. ``leaves``
    marks the attributes of which each class shows one leaf unchanged, ``derived`` those with texts derived
    from the data.
    """

    model: str
    attributes: tuple[str, ...]
    requirement: Requirement
    labels: tuple[str, ...]
    leaves: tuple[bool, ...]
    derived: tuple[bool, ...]
    row_types: str
    class_cells: str
    suppression: SuppressionPolicy = SuppressionPolicy.DROP
    warnings: tuple[str, ...] = ()


Recoding = FullDomainRecoding | ClassRecoding | StoredClasses
"""Recodings that can be applied."""
