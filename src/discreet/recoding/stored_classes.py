"""Recodings by classes whose tables exist in the engine only, and the protocol of a counted table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from discreet.model.class_recoding import ClassRecoding
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding, SuppressionPolicy


class CountedTable(Protocol):
    """What applying a recoding must know of a table that was counted; a frequency set knows it."""

    @property
    def hierarchies(self) -> tuple[GeneralizationHierarchy, ...]:
        """The quasi-identifiers' hierarchies, built from the values that occur."""

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""

    @property
    def dropped(self) -> int:
        """Rows that the NULL policy left out."""

    @property
    def set_apart(self) -> int:
        """Rows that show nothing in any quasi-identifier, left out before."""


@dataclass(frozen=True, eq=False)
class StoredClasses:
    """A recoding by classes whose row types and classes are tables of the engine, not arrays.

    ``row_types`` names a table with the leaf codes of each row type (``c0``, … in the order of
    ``attributes``, NULL by its code) and its ``class``; ``shown`` one with, for each ``class``, the numbers
    of what it shows (``q0``, …) and its rows (``n``); ``labels[i]`` one with the distinct text ``label`` of
    each such number, ``position``. Each row type is in one class, and no row is suppressed. ``leaves`` says
    of which attributes each class shows one leaf as it is, ``derived`` of which it shows texts derived from
    the data.
    """

    model: str
    attributes: tuple[str, ...]
    requirement: Requirement
    labels: tuple[str, ...]
    leaves: tuple[bool, ...]
    derived: tuple[bool, ...]
    row_types: str
    shown: str
    suppression: SuppressionPolicy = SuppressionPolicy.DROP
    warnings: tuple[str, ...] = ()


Recoding = FullDomainRecoding | ClassRecoding | StoredClasses
"""Whatever can be applied."""
