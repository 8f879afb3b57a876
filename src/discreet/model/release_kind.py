"""What kind of release it is: what its rows are counted by, and what its readers are told.

A release of classes is the rule. A permuted one says otherwise (``model.permuted_release.PermutationFacts``),
so that who prints, lists or reads releases need not ask which it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.model.permuted_parts import GroupCounts, PermutedFile

NOISY_COUNTS, PRIVATE_SAMPLE = "noisy counts", "sample under differential privacy"
"""The ``release`` of manifests that have an ε: of counts, and of rows that were drawn."""


def check_of_rows(document: object, label: str) -> None:
    """Raise ``InputError`` where a manifest's document has an ε; ``label`` is the manifest.

    Such a release tells neither how many rows were suppressed nor of how many, by which others are judged.
    """
    kind = document.get("release") if isinstance(document, Mapping) else None
    if kind in (NOISY_COUNTS, PRIVATE_SAMPLE):
        raise InputError(
            f"{label} is of a release under differential privacy ({kind})",
            allowed="a release of rows without an ε",
            advice="What it is worth stands in the manifest itself. To count the classes of a sample all the "
            "same, copy the file elsewhere without its manifest.",
        )


class ReleaseKind:
    """A release of classes: rows that agree in every published quasi-identifier."""

    unit: ClassVar[str] = "class"
    """What rows are counted by."""
    units: ClassVar[str] = "classes"
    permuted: ClassVar[bool] = False
    """Whether sensitive values change places within groups."""
    views: ClassVar[tuple[str, ...]] = ()
    """The views beside a release that is a table of a database."""
    cautions: ClassVar[tuple[str, ...]] = ()
    """What must be said wherever such a release is shown."""
    statement: ClassVar[str] = (
        "These numbers were counted in the written file by a second, independent path before it was put in "
        "place. They are evidence that the requirement holds for the quasi-identifiers named here, not a "
        "promise that nobody can be recognized: what else is known about the people in the table was not, "
        "and cannot be, checked."
    )
    """What a manifest says of its numbers."""
    explained: ClassVar[str] = (
        "Rows that agree in all published quasi-identifiers are a class. k is the least size of a class, l "
        "the least number of distinct values of a sensitive attribute in a class."
    )
    """What a report says of the model."""

    @property
    def permuted_attribute(self) -> str | None:
        """The attribute whose values change places."""
        return None

    @property
    def permuted_numbers(self) -> bool:
        """Whether its values are numbers."""
        return False

    @property
    def least_values(self) -> int | None:
        """The distinct values that were required of a group."""
        return None

    @property
    def data_table(self) -> str | None:
        """The table of the data, where the release is one database with all its tables."""
        return None

    @property
    def further_files(self) -> Mapping[str, PermutedFile]:
        """The files beside the data, by what they hold."""
        return {}

    def part(self) -> dict[str, Any]:
        """The part of a JSON document that speaks of this kind; none of classes."""
        return {}

    def asked(self) -> tuple[tuple[str, str], ...]:
        """What was asked of groups, for a report; none of classes."""
        return ()

    def guaranteed(self, counts: GroupCounts | None) -> tuple[tuple[str, str, str], ...]:
        """What an audit counted of groups beside what was required, for a report; none of classes."""
        del counts
        return ()


class GroupedRelease(ReleaseKind):
    """A permuted release: rows in groups, within which sensitive values change places."""

    unit = "group"
    units = "groups"
    permuted = True


CLASSES, GROUPS = ReleaseKind(), GroupedRelease()
