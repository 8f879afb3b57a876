"""What a permuted release is: its groups, its files, and what its publisher and readers must be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

from discreet.model.permutation import GroupRequirement

PERMUTATION = "permutation"
"""The model's name in manifests and on the command line."""

HELP, SENSITIVE = "help", "sensitive"
"""The files beside the data, by what they hold."""

ONE_TABLE_NAME, QUASI_IDENTIFIERS_NAME = "release", "quasi_identifiers"
SENSITIVE_NAME, HELP_NAME = "sensitive_values", "help"
"""The tables of a release that is one database."""

GROUPS, WITH_BOUNDS = "groups", "with_bounds"
VIEWS = (GROUPS, WITH_BOUNDS)
"""The views beside a release that is a table of a database."""

NOT_PROTECTED = (
    "Identity and membership are not protected by this release: quasi-identifiers are shown, so whoever "
    "knows them finds a person's row, and learns that the person is in the table. Only which of its group's "
    "sensitive values is that person's is hidden."
)
DE_FINETTI = (
    "Groups are not independent of each other: who learns from all of them how quasi-identifiers go with "
    "sensitive values (a deFinetti attack, Kifer 2009) can guess a person's value better than by its share "
    "in the group, the more so the stronger the two are related."
)


class ReleaseForm(StrEnum):
    """Where the sensitive values stand: beside quasi-identifiers, or in a table of their own (anatomy)."""

    ONE_TABLE = "one-table"
    TWO_TABLES = "two-tables"


@dataclass(frozen=True)
class PermutedFile:
    """A file beside the data, or a ``table`` in the database that holds all.

    A database file's digest covers its tables; in another database each table has its own, and ``file`` is
    None.
    """

    file: str | None
    rows: int
    sha256: str | None = None
    table: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The entry in the manifest."""
        return {"file": self.file, "table": self.table, "sha256": self.sha256, "rows": self.rows}


@dataclass(frozen=True)
class PermutationFacts:
    """What a manifest says of a permuted release.

    Every group has at least ``k`` distinct values of ``sensitive`` and a range of at least ``e``;
    ``partition`` names how groups were found. ``first_group`` is what was asked of the group of the smallest
    value, where that was more. ``scale`` is the number of decimals of exact numbers; None for doubles, and
    for values that are no numbers (``numeric`` False). ``table`` names the data in a database.
    """

    sensitive: str
    k: int
    e: Decimal
    partition: str
    form: ReleaseForm
    group_column: str
    groups: int
    rows_without_value: int
    numeric: bool
    scale: int | None = None
    table: str | None = None
    files: Mapping[str, PermutedFile] = field(default_factory=dict)
    first_group: tuple[int, Decimal] | None = None

    @property
    def requirement(self) -> GroupRequirement:
        """What every group meets."""
        return GroupRequirement(self.k, self.e)

    def as_json(self) -> dict[str, Any]:
        """The manifest's ``permutation``; ``e`` is a text, as it is an exact decimal."""
        first = self.first_group
        return {
            "sensitive": self.sensitive,
            "k": self.k,
            "e": str(self.e),
            "partition": self.partition,
            "form": str(self.form),
            "group_column": self.group_column,
            "groups": self.groups,
            "rows_without_value": self.rows_without_value,
            "numeric": self.numeric,
            "scale": self.scale,
            "table": self.table,
            "first_group": None if first is None else {"k": first[0], "e": str(first[1])},
            "files": {name: file.as_json() for name, file in self.files.items()},
        }

    @classmethod
    def of_json(cls, document: Mapping[str, Any]) -> PermutationFacts:
        """Read what ``as_json`` wrote; ``KeyError``, ``TypeError`` or ``ValueError`` where it is not that."""
        first = document["first_group"]
        return cls(
            sensitive=document["sensitive"],
            k=document["k"],
            e=_decimal(document["e"]),
            partition=document["partition"],
            form=ReleaseForm(document["form"]),
            group_column=document["group_column"],
            groups=document["groups"],
            rows_without_value=document["rows_without_value"],
            numeric=document["numeric"],
            scale=document["scale"],
            table=document["table"],
            first_group=None if first is None else (first["k"], _decimal(first["e"])),
            files={
                name: PermutedFile(entry["file"], entry["rows"], entry["sha256"], entry["table"])
                for name, entry in document["files"].items()
            },
        )


def _decimal(text: object) -> Decimal:
    try:
        return Decimal(str(text))
    except ArithmeticError:
        raise ValueError(f"{text} is no number") from None
