"""What a permuted release is: its groups, its files, and what its publisher and readers must be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

from discreet.model.permutation import GroupRequirement
from discreet.model.permuted_parts import GroupCounts, PermutedFile
from discreet.model.release_kind import GroupedRelease

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


PERMUTED_STATEMENT = (
    "These numbers were counted in the written files by a second, independent path before they were put in "
    "place. They are evidence that every group has the values that were required, so that which of them is a "
    "person's is hidden among them. That a person is in the table, and which row is theirs, is not hidden "
    "from anybody who knows their quasi-identifiers."
)


@dataclass(frozen=True)
class PermutationFacts(GroupedRelease):
    """What a manifest says of a permuted release.

    Every group has at least ``k`` distinct values of ``sensitive`` and a range of at least ``e``;
    ``partition`` names how groups were found. ``first_group`` is what was asked of the group of the smallest
    value, where that was more. ``scale`` is the number of decimals of exact numbers; None for doubles, and
    for values that are no numbers (``numeric`` False). ``table`` names the data in a database.
    """

    views = VIEWS
    cautions = (NOT_PROTECTED, DE_FINETTI)
    statement = PERMUTED_STATEMENT
    explained = (
        "Rows are divided into groups, and within each group the sensitive values change places at random. "
        "Quasi-identifiers stay as they were."
    )

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

    @property
    def permuted_attribute(self) -> str:
        """The attribute whose values change places."""
        return self.sensitive

    @property
    def permuted_numbers(self) -> bool:
        """Whether its values are numbers."""
        return self.numeric

    @property
    def least_values(self) -> int:
        """The distinct values that were required of a group."""
        return self.k

    @property
    def data_table(self) -> str | None:
        """The table of the data, where the release is one database with all its tables."""
        return self.table

    @property
    def further_files(self) -> Mapping[str, PermutedFile]:
        """The files beside the data."""
        return self.files

    def part(self) -> dict[str, Any]:
        """The part of a JSON document that speaks of groups."""
        return {"permutation": self.as_json()}

    def asked(self) -> tuple[tuple[str, str], ...]:
        """What was asked, for a report."""
        return (
            ("Permuted attribute", self.sensitive),
            ("Distinct values of a group (k)", f"at least {self.k}"),
            ("Range of a group (e)", f"at least {self.e}"),
            ("Partition", self.partition),
            ("Form", str(self.form)),
            ("Groups", f"{self.groups:,}"),
        )

    def guaranteed(self, counts: GroupCounts | None) -> tuple[tuple[str, str, str], ...]:
        """The smallest range that an audit counted, beside the required one."""
        if counts is None:
            return ()
        smallest = "–" if counts.smallest_range is None else str(counts.smallest_range)
        return (("smallest range of a group", smallest, str(self.e)),)

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
