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
"""The manifest of the whole, in the folder of the tables."""


class OrphanPolicy(StrEnum):
    """What happens to rows that name no row of the table that they reference, or none at all."""

    REFUSE = "refuse"
    DROP = "drop"


@dataclass(frozen=True)
class RelatedTable:
    """A table with its spec, its primary key, and its foreign keys: the tables that columns reference.

    ``way`` is what stands in the key's place, in this table and where others reference it. ``model`` is the
    recoding model by name (None: levels, negotiated), ``accept`` the relaxation that is accepted.
    """

    name: str
    spec: TableSpec
    key: str | None = None
    way: Pseudonymizer = field(default_factory=SharedKey)
    references: Mapping[str, str] = field(default_factory=dict)
    orphans: OrphanPolicy = OrphanPolicy.REFUSE
    model: str | None = None
    accept: str | None = None


@dataclass(frozen=True)
class RelationalSpec:
    """Tables, each after those that it references; ``subjects`` is the name of the subjects' table.

    ``together`` is how many people at least must look alike in all tables together, None where it is only
    counted. ``file_format`` is that of the released files.
    """

    tables: tuple[RelatedTable, ...]
    subjects: str
    together: int | None = None
    file_format: str = "csv"
    path: Path | None = None

    def table(self, name: str) -> RelatedTable:
        """A table by its name."""
        return next(table for table in self.tables if table.name == name)

    @property
    def subject_key(self) -> str:
        """The column that names a person in the subjects' table."""
        key = self.table(self.subjects).key
        assert key is not None
        return key

    def under(self, table: RelatedTable) -> str | None:
        """The column by which a table stands under another; None for the subjects' table."""
        return parent_column(table.references, self.subjects)

    def subject_column(self, table: RelatedTable) -> str:
        """The column that names a person in a table: its own, or one that is looked up by its keys."""
        if table.name == self.subjects:
            return self.subject_key
        own = [column for column, other in table.references.items() if other == self.subjects]
        return own[0] if own else self.subject_key


@dataclass(frozen=True)
class JointAnonymity:
    """What all released tables tell of people together.

    ``fewest`` are the people of the smallest group who look alike in all tables, ``alone`` those who look
    like nobody else, ``views`` how many looks there are, ``people`` all; ``safe`` the pseudonyms of those
    whom at least as many look like as was asked. ``problems`` are keys that do not fit, in words.
    """

    fewest: int
    alone: int
    views: int
    people: int
    problems: tuple[str, ...] = ()
    safe: tuple[str, ...] = field(default=(), repr=False)

    def as_json(self, required: int | None) -> dict[str, int | None]:
        """A document's part; ``required`` is how many had to look alike."""
        return {"required": required, "k": self.fewest, "alone": self.alone, "people": self.people}


def parent_column(references: Mapping[str, str], subjects: str) -> str | None:
    """The column of the reference that a table stands under: the one that is not to the subjects' table.

    >>> parent_column({"patient": "patients", "visit": "visits"}, "patients")
    'visit'
    """
    others = [column for column, table in references.items() if table != subjects]
    return next(iter([*others, *references]), None)
