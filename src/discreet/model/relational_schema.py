"""Relational specs: several tables of the same people, their keys, and joint anonymity.

The subjects' table has a row for each person. Every other table references one table, so tables form a tree
and each row belongs to one person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from discreet.model.identifiers.base import Pseudonymizer
from discreet.model.identifiers.methods import SharedKey
from discreet.model.table_spec import TableSpec

TABLES_MANIFEST_NAME = "tables.manifest.json"
"""Name of the manifest of all tables, in their folder."""


class OrphanPolicy(StrEnum):
    """Treatment of rows whose reference is NULL or matches no row of the referenced table."""

    REFUSE = "refuse"
    DROP = "drop"


@dataclass(frozen=True)
class RelatedTable:
    """A table with its spec, its primary key, and its foreign keys: the tables that columns reference.

    ``way`` is the method that replaces the key, in this table and where others reference it. ``model`` is the
    name of the recoding model (None: negotiated levels), ``accept`` the accepted relaxation.
    """

    name: str
    spec: TableSpec
    key: str | None = None
    pseudonymization: Pseudonymizer = field(default_factory=SharedKey)
    references: Mapping[str, str] = field(default_factory=dict)
    orphans: OrphanPolicy = OrphanPolicy.REFUSE
    model: str | None = None
    accept_relaxation: str | None = None


@dataclass(frozen=True)
class RelationalSpec:
    """Tables, each after those that it references; ``subjects`` is the name of the subjects' table.

    ``together`` is the minimum number of people with equal rows in all tables together, None if it is only
    counted. ``file_format`` is that of the released files.
    """

    tables: tuple[RelatedTable, ...]
    subjects: str
    joint_k: int | None = None
    file_format: str = "csv"
    path: Path | None = None

    def table(self, name: str) -> RelatedTable:
        """Return a table by its name."""
        return next(table for table in self.tables if table.name == name)

    @property
    def subject_key(self) -> str:
        """Column that identifies a person in the subjects' table."""
        key = self.table(self.subjects).key
        assert key is not None
        return key

    def under(self, table: RelatedTable) -> str | None:
        """Return the column of a table's reference to its parent; None for the subjects' table."""
        return parent_column(table.references, self.subjects)

    def subject_column(self, table: RelatedTable) -> str:
        """Return the column that identifies a person in a table: its own, or one found by its keys."""
        if table.name == self.subjects:
            return self.subject_key
        own = [column for column, other in table.references.items() if other == self.subjects]
        return own[0] if own else self.subject_key


@dataclass(frozen=True)
class JointAnonymity:
    """Joint anonymity of people in all released tables together.

    People are equal if their rows in all tables are. ``fewest`` is the size of the smallest group of equal
    people, ``alone`` the number of people equal to no one else, ``views`` the number of groups, ``people``
    the number of people; ``safe`` contains the pseudonyms of people in groups of the required size.
    ``problems`` describes keys that do not match.
    """

    fewest: int
    alone: int
    views: int
    people: int
    problems: tuple[str, ...] = ()
    safe: tuple[str, ...] = field(default=(), repr=False)

    def as_json(self, required: int | None) -> dict[str, int | None]:
        """Return the entry in a document; ``required`` is the required size of groups."""
        return {"required": required, "k": self.fewest, "alone": self.alone, "people": self.people}


def parent_column(references: Mapping[str, str], subjects: str) -> str | None:
    """Return the column of the reference to a table's parent: the one not to the subjects' table, if any.

    >>> parent_column({"patient": "patients", "visit": "visits"}, "patients")
    'visit'
    """
    others = [column for column, table in references.items() if table != subjects]
    return next(iter([*others, *references]), None)
