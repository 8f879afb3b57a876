"""Relational specs: several tables of the same people, their keys, and joint anonymity.

The subjects' table has a row for each person. Every other table references one table, so tables form a tree
and each row belongs to one person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from enum import StrEnum
from pathlib import Path

from discreet.model.identifiers.base import Pseudonymizer
from discreet.model.option import spec_key
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
    spec: TableSpec = spec_key(
        "The table's own spec; relative to this spec's folder.",
        '"visits.toml"',
        "the path of the table's own spec in quotes",
        min_length=1,
        default=MISSING,
    )
    key: str | None = spec_key(
        "The primary key: the column that identifies the table's rows, if other tables reference them.",
        '"visit"',
        "the name of a column",
        min_length=1,
        default=MISSING,
    )
    pseudonymization: Pseudonymizer = spec_key(
        "Replacement of the key in every table; `per-release` if omitted.",
        '{method = "pseudonym", key = "keys/patients.list"}',
        'a table of the key\'s replacement, such as {method = "per-release"}',
        default=MISSING,
    )
    references: Mapping[str, str] = spec_key(
        "The foreign keys: the table whose rows a column references.",
        '{patient = "patients"}',
        'the names of tables by column, such as {patient = "patients"}',
        default={},
    )
    orphans: OrphanPolicy = spec_key(
        "Treatment of rows whose foreign key is empty, or names no row.",
        '"drop"',
        default=OrphanPolicy.REFUSE,
    )
    model: str | None = spec_key(
        "The recoding model, with its defaults; levels are negotiated if omitted.",
        '"mondrian"',
        "the name of a recoding model in quotes",
        min_length=1,
    )
    accept_relaxation: str | None = spec_key(
        "The relaxation that is published if the request has no exact answer.",
        '"height"',
        "max_suppressed, height, k, l",
        min_length=1,
    )


@dataclass(frozen=True)
class RelationalSpec:
    """Tables, each after those that it references; ``subjects`` is the name of the subjects' table.

    ``together`` is the minimum number of people with equal rows in all tables together, None if it is only
    counted. ``file_format`` is that of the released files.
    """

    subjects: str = spec_key(
        "The table that has a row for each person.",
        '"patients"',
        "the name of a table",
        min_length=1,
        default=MISSING,
    )
    joint_k: int | None = spec_key(
        "Minimum number of people that look alike in all tables together; only counted if omitted.",
        "5",
        "a whole number of at least 2",
        ge=2,
    )
    file_format: str = spec_key(
        "The format of the released files.", '"parquet"', "csv, parquet", default="csv", alias="format"
    )
    tables: tuple[RelatedTable, ...] = spec_key(
        "The tables.",
        '{patients = {spec = "patients.toml", key = "patient"}}',
        "a table [tables.NAME] for each table",
        min_length=1,
        default=(),
    )
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
    people, ``unique_people`` the number of people equal to no one else, ``views`` the number of groups,
    ``people`` the number of people; ``safe`` contains the pseudonyms of people in groups of the required
    size. ``problems`` describes keys that do not match.
    """

    fewest: int
    unique_people: int
    views: int
    people: int
    problems: tuple[str, ...] = ()
    safe: tuple[str, ...] = field(default=(), repr=False)

    def as_json(self, required: int | None) -> dict[str, int | None]:
        """Return the entry in a document; ``required`` is the required size of groups."""
        return {
            "required": required,
            "k": self.fewest,
            "unique_people": self.unique_people,
            "people": self.people,
        }


def parent_column(references: Mapping[str, str], subjects: str) -> str | None:
    """Return the column of the reference to a table's parent: the one not to the subjects' table, if any.

    >>> parent_column({"patient": "patients", "visit": "visits"}, "patients")
    'visit'
    """
    others = [column for column, table in references.items() if table != subjects]
    return next(iter([*others, *references]), None)
