"""Kinds of release: equivalence classes, and groups with permuted sensitive values.

Permutation is (k,e)-anonymity (Zhang et al. 2007). A kind declares the unit of counting, the cautions for
readers, its part of manifests and reports, and the uses that it does not support.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

NULL_CODE = -1
"""Code of a row without a sensitive value."""


@dataclass(frozen=True)
class GroupRequirement:
    """(k,e)-anonymity (definition 5): a group has at least k distinct values, and a range of at least e.

    NULL is not a value. If people have several rows, k of its distinct values are of k different people
    (``permutation.subject_groups``). ``e`` is in the attribute's unit; 0 leaves distinct l-diversity with l =
    k, the only choice for values that are not numbers.
    """

    k: int
    e: Decimal = Decimal(0)

    def __str__(self) -> str:
        return f"k={self.k}, e={self.e}"


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """One sensitive attribute of every row.

    ``codes``, shape ``(rows,)``, number the ``distinct`` values from 0, or are ``NULL_CODE``; every value
    occurs. ``numbers``, shape ``(distinct,)``, ascend strictly and are integers in units of 10^-``scale``, or
    floats; None if the values are not numbers, which are then in the order of their texts. Texts of one
    number are one value. No text is stored, because every row may have a different one. ``subjects``, shape
    ``(rows,)``, number the people of the rows, if people have several.
    """

    attribute: str
    codes: NDArray[np.signedinteger[Any]]
    distinct: int
    numbers: NDArray[np.int64] | NDArray[np.float64] | None
    scale: int = 0
    subjects: NDArray[np.int64] | None = None

    @property
    def rows(self) -> int:
        """Number of rows, including those without a value."""
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class GroupPartition:
    """Assignment of every row to one group; a later random draw permutes the values within each group.

    ``groups``, shape ``(rows,)``, contains 0, …, ``group_count`` - 1, each at least once. ``strategy`` is the
    name of the partitioning strategy; ``error`` is the value of its objective: the sum of the groups' ranges,
    that weighted by rows, or the maximum, in units of the attribute (None if it has no such objective).
    ``optimal``: no partition has a smaller error; for a contiguous strategy, no partition into neighbours.
    ``first``, if given, is met by a group that contains the smallest value.
    """

    strategy: str
    requirement: GroupRequirement
    groups: NDArray[np.signedinteger[Any]]
    group_count: int
    error: Decimal | None = None
    optimal: bool = False
    first: GroupRequirement | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupCounts:
    """Counts of a permuted release's groups: the fewest distinct values in any, and the smallest range.

    ``smallest_range`` is None if values are not numbers; ``rows_without_value`` is the number of NULLs.
    """

    groups: int
    fewest_values: int
    smallest_range: Decimal | None
    rows_without_value: int
    requirement: str

    @property
    def kind(self) -> ReleaseKind:
        """Kind of release with these counts."""
        return GROUP_RELEASE

    def part(self) -> dict[str, Any]:
        """Return the part of ``discreet audit --json`` about groups."""
        return {"permutation": self.as_json()}

    def as_json(self) -> dict[str, Any]:
        """Return the counts for JSON documents."""
        smallest = None if self.smallest_range is None else str(self.smallest_range)
        return asdict(self) | {"smallest_range": smallest}


class ClassCounts:
    """Counts of a release of classes, which are all in the audit report."""

    @property
    def kind(self) -> ReleaseKind:
        """Kind of release with these counts."""
        return CLASS_RELEASE

    def part(self) -> dict[str, Any]:
        """Return the part of ``discreet audit --json`` about groups; empty for classes."""
        return {}


@dataclass(frozen=True)
class PermutedFile:
    """A file released with the data, or a ``table`` in the database that contains all of them.

    A database file's digest covers its tables; in another database each table has its own, and ``file`` is
    None.
    """

    file: str | None
    rows: int
    sha256: str | None = None
    table: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the manifest."""
        return {"file": self.file, "table": self.table, "sha256": self.sha256, "rows": self.rows}


NOISY_COUNTS, PRIVATE_SAMPLE = "noisy counts", "sample under differential privacy"
"""Values of ``release`` in manifests with an ε: of counts, and of sampled rows."""


def refuse_private_release(document: object, label: str) -> None:
    """Raise ``InputError`` if a manifest's document has an ε; ``label`` is the manifest.

    Such a release discloses neither the number of suppressed rows nor that of all rows, by which others are
    judged.
    """
    kind = document.get("release") if isinstance(document, Mapping) else None
    if kind in (NOISY_COUNTS, PRIVATE_SAMPLE):
        raise InputError(
            f"{label} is of a release under differential privacy ({kind})",
            allowed="a release of rows without an ε",
            advice="What it is worth stands in the manifest itself. To count the classes of a sample all the "
            "same, copy the file elsewhere without its manifest.",
        )


PERMUTATION = "permutation"
"""Name of the model in manifests and on the command line."""

HELP_FILE, SENSITIVE_FILE = "help", "sensitive"
"""Additional files, by their content."""


class ReleaseUse(StrEnum):
    """Use of a release or of its model that some kinds do not support."""

    RECODE = "recode"
    APPLY = "apply"
    COMBINE = "combine with earlier releases"
    RELATE = "relate to other tables"
    ASSIGN_CLASSES = "assign rows to classes"


class ReleaseKind:
    """A release of classes: rows that agree in every published quasi-identifier.

    Other code asks a kind for its properties, or looks functions up by ``unit``; it does not test for a kind.
    """

    unit: ClassVar[str] = "class"
    """Unit by which rows are counted."""
    units: ClassVar[str] = "classes"
    permuted: ClassVar[bool] = False
    """True if sensitive values are permuted within groups."""
    views: ClassVar[tuple[str, ...]] = ()
    """Views of a release that is a table of a database."""
    has_levels: ClassVar[bool] = False
    """True if each quasi-identifier always has one level; with classes this depends on the model."""
    has_classes: ClassVar[bool] = True
    """True if the counted units are classes, so that metrics and attacks of classes apply."""
    companion_purposes: ClassVar[tuple[str, ...]] = ()
    """Purposes of the files next to the data of a release."""
    unsupported: ClassVar[Mapping[ReleaseUse, tuple[str, str | None]]] = {}
    """Uses that are refused, with a message about ``{subject}`` and an advice."""
    cautions: ClassVar[tuple[str, ...]] = ()
    """Cautions to show wherever such a release is shown."""
    statement: ClassVar[str] = (
        "These numbers were counted in the written file by a second, independent path before it was put in "
        "place. They are evidence that the requirement holds for the quasi-identifiers named here, not a "
        "promise that no person can be recognized: other knowledge about the people in the table was not, "
        "and cannot be, checked."
    )
    """Statement of a manifest about its numbers."""
    explained: ClassVar[str] = (
        "Rows that agree in all published quasi-identifiers are a class. k is the least size of a class, l "
        "the least number of distinct values of a sensitive attribute in a class."
    )
    """Explanation of the model in a report."""

    @property
    def permuted_attribute(self) -> str | None:
        """Attribute whose values are permuted."""
        return None

    @property
    def permuted_numbers(self) -> bool:
        """True if its values are numbers."""
        return False

    @property
    def required_values(self) -> int | None:
        """Number of distinct values required of a group."""
        return None

    @property
    def unit_column(self) -> str | None:
        """Column that numbers the units; None for classes."""
        return None

    @property
    def columns_apart(self) -> frozenset[str]:
        """Columns whose values are not in their own rows."""
        return frozenset()

    def select_sensitive(self, requested: Sequence[str] | None, recorded: Sequence[str]) -> tuple[str, ...]:
        """Return the sensitive attributes whose values are counted: the requested ones, else the recorded."""
        return tuple(recorded if requested is None else requested)

    def require_support(self, use: ReleaseUse, subject: str) -> None:
        """Raise ``InputError`` if the kind does not support a use; ``subject`` is named in the message."""
        if use in self.unsupported:
            message, advice = self.unsupported[use]
            raise InputError(message.format(subject=subject), advice=advice)

    def require_values_in_rows(self, columns: Sequence[str]) -> None:
        """Raise ``InputError`` if the values of one of the columns are not in their own rows."""

    def example_queries(self, keys: Sequence[str], values: Sequence[str]) -> list[str]:
        """Return queries that a release can answer, by its quasi-identifiers and sensitive attributes."""
        names = (*keys[:1], *values[:1])
        return [
            "SELECT COUNT(*) FROM release",
            *(f"SELECT COUNT(*) FROM release GROUP BY {_quoted(name)}" for name in names),
        ]

    @property
    def data_table(self) -> str | None:
        """Table of the data, if the release is one database with all its tables."""
        return None

    @property
    def further_files(self) -> Mapping[str, PermutedFile]:
        """Additional files, by their content."""
        return {}

    def part(self) -> dict[str, Any]:
        """Return the part of a JSON document about this kind; empty for classes."""
        return {}

    def title(self, model: str) -> str:
        """Return the requirement and the model, by which a release was published."""
        return model

    def release_rows(self, levels: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
        """Return the groups and the partition of a release; empty for classes."""
        del levels
        return ()

    def file_rows(self, data: str) -> tuple[tuple[str, str], ...]:
        """Return the files or tables of a release by purpose, its data named ``data``; empty for classes."""
        del data
        return ()

    def requirement_json(self) -> dict[str, Any]:
        """Return the requirement of groups, for a document; empty for classes."""
        return {}

    def requirement_rows(self) -> tuple[tuple[str, str], ...]:
        """Return the requirement of groups, for a report; empty for classes."""
        return ()

    def guarantee_rows(self, counts: GroupCounts | None) -> tuple[tuple[str, str, str], ...]:
        """Return the audited and the required values of groups, for a report; empty for classes."""
        del counts
        return ()


GROUP_VIEW_NAME, BOUNDS_VIEW_NAME = "groups", "with_bounds"
RELEASE_VIEWS = (GROUP_VIEW_NAME, BOUNDS_VIEW_NAME)
"""Views of a release that is a table of a database."""

NOT_PROTECTED = (
    "Identity and membership are not protected by this release: quasi-identifiers are shown, so anyone who "
    "knows them finds a person's row, and learns that the person is in the table. Only which of its group's "
    "sensitive values is that person's is hidden."
)
DE_FINETTI = (
    "Groups are not independent of each other: an attacker who learns the relation of quasi-identifiers "
    "and sensitive values from all groups (a deFinetti attack, Kifer 2009) can guess a person's value better "
    "than by its share in the group; the stronger the relation, the better."
)


class GroupedRelease(ReleaseKind):
    """A permuted release: rows in groups, within which sensitive values are permuted."""

    unit = "group"
    units = "groups"
    permuted = True
    views = RELEASE_VIEWS
    has_levels = True
    has_classes = False
    companion_purposes = (HELP_FILE, SENSITIVE_FILE)
    cautions = (NOT_PROTECTED, DE_FINETTI)
    unsupported: ClassVar[Mapping[ReleaseUse, tuple[str, str | None]]] = {
        ReleaseUse.RECODE: ("the {subject} model has no recoding", "Use publish."),
        ReleaseUse.APPLY: (
            "{subject} permutes values within groups of its own rows: it has no recoding",
            None,
        ),
        ReleaseUse.COMBINE: (
            "the {subject} model cannot be combined with earlier releases: its groups are not classes",
            "Choose a model that generalizes.",
        ),
        ReleaseUse.ASSIGN_CLASSES: (
            "{subject} permutes values within groups, so its rows cannot be assigned to classes",
            "Name a release that generalizes.",
        ),
        ReleaseUse.RELATE: ("{subject} = permutation, whose help table cannot be joined", "Remove it."),
    }


CLASS_RELEASE, GROUP_RELEASE = ReleaseKind(), GroupedRelease()


def kind_of_model(name: str) -> ReleaseKind:
    """Return the kind of the releases of a model."""
    return GROUP_RELEASE if name == PERMUTATION else CLASS_RELEASE


def list_companion_tables(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the views of a release in a database and the purposes of its further files, by its manifest.

    Raises ``KeyError``, ``TypeError`` or ``AttributeError`` if the manifest is malformed.
    """
    groups = document.get("permutation")
    return () if groups is None else (*RELEASE_VIEWS, *groups["files"])


ONE_TABLE_NAME, QUASI_IDENTIFIERS_NAME = "release", "quasi_identifiers"
SENSITIVE_NAME, HELP_NAME = "sensitive_values", "help"
"""Tables of a release that is one database."""


class ReleaseForm(StrEnum):
    """Form of a release: sensitive values with the quasi-identifiers, or in a separate table (anatomy)."""

    ONE_TABLE = "one-table"
    TWO_TABLES = "two-tables"


PERMUTED_STATEMENT = (
    "These numbers were counted in the written files by a second, independent path before they were put in "
    "place. They are evidence that every group has the values that were required, so that which of them is a "
    "person's is hidden among them. That a person is in the table, and which row is theirs, is not hidden "
    "from anyone who knows their quasi-identifiers."
)


@dataclass(frozen=True)
class PermutedRelease(GroupedRelease):
    """Manifest entry of a permuted release.

    Every group has at least ``k`` distinct values of ``sensitive`` and a range of at least ``e``;
    ``partition`` is the name of the partitioning strategy. ``first_group`` is the requirement of the group of
    the smallest value, if it was stricter. ``scale`` is the number of decimals of exact numbers; None for
    doubles, and for values that are not numbers (``numeric`` False). ``table`` is the name of the data in a
    database.
    """

    statement = PERMUTED_STATEMENT
    explained = (
        "Rows are divided into groups, and within each group the sensitive values are permuted at random. "
        "Quasi-identifiers are unchanged."
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
    first_group: tuple[int, Decimal] | None = None
    files: Mapping[str, PermutedFile] = field(default_factory=dict)

    @property
    def requirement(self) -> GroupRequirement:
        """Requirement that every group meets."""
        return GroupRequirement(self.k, self.e)

    @property
    def permuted_attribute(self) -> str:
        """Attribute whose values are permuted."""
        return self.sensitive

    @property
    def permuted_numbers(self) -> bool:
        """True if its values are numbers."""
        return self.numeric

    @property
    def unit_column(self) -> str:
        """Column of group numbers."""
        return self.group_column

    @property
    def columns_apart(self) -> frozenset[str]:
        """The permuted attribute."""
        return frozenset([self.sensitive])

    def select_sensitive(self, requested: Sequence[str] | None, recorded: Sequence[str]) -> tuple[str, ...]:
        """Return the permuted attribute, the only one whose values are in groups."""
        del requested, recorded
        return (self.sensitive,)

    @property
    def required_values(self) -> int:
        """Number of distinct values required of a group."""
        return self.k

    def require_values_in_rows(self, columns: Sequence[str]) -> None:
        """Raise ``InputError`` if the permuted attribute is one of the columns."""
        if self.sensitive in columns:
            raise InputError(
                f"'{self.sensitive}' is permuted within groups: its values are not in their own rows",
                allowed="quasi-identifiers and columns that are published unchanged",
                advice="Compute its bounds with discreet query.",
            )

    def example_queries(self, keys: Sequence[str], values: Sequence[str]) -> list[str]:
        """Return queries of bounds of the permuted attribute."""
        del values
        name = _quoted(self.sensitive)
        expression = f"{'AVG' if self.numeric else 'COUNT'}({name})"
        return [
            "SELECT COUNT(*) FROM release",
            f"SELECT {expression} FROM release",
            *(f"SELECT {expression} FROM release GROUP BY {_quoted(key)}" for key in keys[:1]),
            *([] if self.numeric else [f"SELECT COUNT(*) FROM release GROUP BY {name}"]),
        ]

    @property
    def data_table(self) -> str | None:
        """Table of the data, if the release is one database with all its tables."""
        return self.table

    @property
    def further_files(self) -> Mapping[str, PermutedFile]:
        """Additional files."""
        return self.files

    def part(self) -> dict[str, Any]:
        """Return the part of a JSON document about groups."""
        return {"permutation": self.as_json()}

    def title(self, model: str) -> str:
        """Return the requirement and the model, by which a release was published."""
        return f"{self.requirement} by {model}"

    def release_rows(self, levels: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
        """Return the groups and the partition."""
        return (
            ("permuted within groups", self.sensitive),
            ("groups", f"{self.groups:,}, in the column {self.group_column}"),
            ("partition", self.partition),
            ("levels", ", ".join(f"{name} {n}" for name, n in levels.items() if n) or "all 0"),
        )

    def file_rows(self, data: str) -> tuple[tuple[str, str], ...]:
        """Return the files or tables by purpose."""
        files = (
            (f"{name} table", str(file.file) if file.table is None else f"table {file.table}")
            for name, file in self.files.items()
        )
        return (("data", data if self.table is None else f"table {self.table}"), *files)

    def requirement_json(self) -> dict[str, Any]:
        """Return k and e, for a document."""
        return {"k": self.k, "e": str(self.e), "l": None}

    def requirement_rows(self) -> tuple[tuple[str, str], ...]:
        """Return the requirement, for a report."""
        return (
            ("Permuted attribute", self.sensitive),
            ("Distinct values of a group (k)", f"at least {self.k}"),
            ("Range of a group (e)", f"at least {self.e}"),
            ("Partition", self.partition),
            ("Form", str(self.form)),
            ("Groups", f"{self.groups:,}"),
        )

    def guarantee_rows(self, counts: GroupCounts | None) -> tuple[tuple[str, str, str], ...]:
        """Return the smallest range that an audit counted, with the required one."""
        if counts is None:
            return ()
        smallest = "–" if counts.smallest_range is None else str(counts.smallest_range)
        return (("smallest range of a group", smallest, str(self.e)),)

    def as_json(self) -> dict[str, Any]:
        """Return the manifest's ``permutation``; ``e`` is a text, because it is an exact decimal."""
        first = self.first_group
        return {each.name: getattr(self, each.name) for each in fields(self)} | {
            "e": str(self.e),
            "form": str(self.form),
            "first_group": None if first is None else {"k": first[0], "e": str(first[1])},
            "files": {name: file.as_json() for name, file in self.files.items()},
        }

    @classmethod
    def of_json(cls, document: Mapping[str, Any]) -> PermutedRelease:
        """Read the output of ``as_json``.

        Raises ``KeyError``, ``TypeError`` or ``ValueError`` if it is malformed.
        """
        first = document["first_group"]
        values = {each.name: document[each.name] for each in fields(cls)} | {
            "e": _parse_decimal_text(document["e"]),
            "form": ReleaseForm(document["form"]),
            "first_group": None if first is None else (first["k"], _parse_decimal_text(first["e"])),
            "files": {
                name: PermutedFile(entry["file"], entry["rows"], entry["sha256"], entry["table"])
                for name, entry in document["files"].items()
            },
        }
        return cls(**values)


def _quoted(name: str) -> str:
    return name if name.isidentifier() and name.islower() else '"' + name.replace('"', '""') + '"'


def _parse_decimal_text(text: object) -> Decimal:
    try:
        return Decimal(str(text))
    except ArithmeticError:
        raise ValueError(f"{text} is not a number") from None
