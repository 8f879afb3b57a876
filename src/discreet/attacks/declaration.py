"""Base class of attacks, and the input that an attack receives.

An attack is a frozen dataclass whose fields are its options. The registry, the command line, the Attacker
screen and the report read its name, flags, help and requirements from the class. The input holds the release,
the original where it is known, and the attacker's file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import PurePath
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.finding import Figure, Finding, FoundTable
from discreet.attacks.linkage import CellInterpretation, OriginalTable
from discreet.attacks.published_table import ReleaseClasses
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.option import Option, check_options, options_of
from discreet.model.table_spec import SourceSpec
from discreet.release.manifest import Manifest
from discreet.settings import Settings

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AttackedTable:
    """Row types of the original (``before``) or the release (``after``), as an attacker sees them.

    ``codes``, shape ``(row types, attributes)``, contains the distinct rows and ``rows`` the number of rows
    of each. Code c of attribute i has the label ``labels[i][c]``, None for NULL.
    """

    name: str
    attributes: tuple[str, ...]
    codes: IntArray
    rows: IntArray
    labels: tuple[tuple[str | None, ...], ...]

    @property
    def total(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def title(self) -> str:
        """Name of the table in reports."""
        return "original" if self.name == "before" else "release"


@dataclass(frozen=True, eq=False)
class Grounds:
    """Input of an attack: a release, its original where that is known, the attacker's file, and permissions.

    ``ground`` holds the original and the interpretation of the release's cells. ``outside`` is the attacker's
    file of people; ``match`` and ``key`` are as in ``attacks.linkage``. ``persons`` permits tables about
    single persons.
    """

    engine: Engine
    published: ReleaseClasses
    ground: CellInterpretation
    manifest: Manifest | None
    settings: Settings
    threshold: Fraction = Fraction(1, 20)
    outside: SourceSpec | None = None
    match: Mapping[str, str] | None = None
    key: tuple[str, str] | None = None
    persons: bool = False
    advance: Callable[[int, int], None] = field(default=lambda _done, _all: None)

    @property
    def original_table(self) -> OriginalTable:
        """The original, for attacks that need it (``Need.ORIGINAL``)."""
        assert self.ground.original is not None
        return self.ground.original

    @property
    def release(self) -> AttackedTable:
        """Row types of the release."""
        published = self.published
        return AttackedTable("after", published.attributes, published.shown, published.rows, published.labels)

    @property
    def original(self) -> AttackedTable | None:
        """Row types of the original, or None where it is not known."""
        if self.ground.original is None:
            return None
        counted = self.ground.original.frequency_set
        labels = tuple((*hierarchy.leaves, None) for hierarchy in counted.hierarchies)
        return AttackedTable("before", counted.attributes, counted.codes, counted.counts, labels)

    @property
    def sides(self) -> tuple[AttackedTable, ...]:
        """Original, where it is known, and release."""
        before = self.original
        return (self.release,) if before is None else (before, self.release)


class Need(StrEnum):
    """Requirement without which an attack cannot be tried; the comment names the missing object."""

    ORIGINAL = "original"  # the original
    SENSITIVE = "sensitive"  # a published sensitive attribute
    OUTSIDE = "outside"  # a file of the attacker's
    EARLIER = "earlier"  # earlier releases
    CLASSES = "classes"  # classes of equal rows: a permuted release has none


_MISSING = {
    Need.ORIGINAL: ("the original is not known", "Name the spec of the original: --spec SPEC."),
    Need.SENSITIVE: ("no sensitive attribute is published", "Name one, if there is one."),
    Need.OUTSIDE: ("no attacker's file is given", "Give a file of people that an attacker knows."),
    Need.EARLIER: (
        "no earlier release is named",
        "Name those that were made of the same rows: --earlier RELEASE.",
    ),
    Need.CLASSES: ("the release permutes values within groups", "Attack a release that generalizes."),
}


@dataclass(frozen=True)
class Attack(ABC):
    """Attack whose dataclass fields are its options (``model.option.option``).

    ``name`` is the name that users type, ``title`` the heading of its section, ``text`` one sentence about
    the attacker's action, and ``source`` its author and year. ``needs`` lists its requirements; ``in_report``
    is true if a report tries the attack by default. Raise ``InputError`` for an option value that is not
    allowed.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    text: ClassVar[str]
    source: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    in_report: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Validate the options."""
        check_options(self, f"the {self.name} attack")

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return the declared options."""
        return options_of(cls)

    @abstractmethod
    def run(self, grounds: Grounds) -> Finding:
        """Run the attack; raise ``InputError`` where the input does not fit."""

    def lacks(self, grounds: Grounds) -> tuple[str, str] | None:
        """Return the missing requirement and the advice about it; None where nothing is missing."""
        there = {
            Need.ORIGINAL: grounds.ground.original is not None,
            Need.SENSITIVE: bool(grounds.published.sensitive),
            Need.OUTSIDE: grounds.outside is not None,
            Need.EARLIER: bool(getattr(self, "earlier", None)),
            Need.CLASSES: grounds.published.kind.has_classes,
        }
        return next((_MISSING[need] for need in self.needs if not there[need]), None)

    def run_or_skip(self, grounds: Grounds, *, required: bool) -> Finding:
        """Return the finding; where a requirement is missing, return the reason as a skipped finding.

        Raise ``InputError`` instead if ``required``.
        """
        lacks = self.lacks(grounds)
        if lacks is None:
            return self.run(grounds)
        if required:
            raise InputError(f"{self.name}: {lacks[0]}", advice=lacks[1])
        return Finding(self.name, self.title, self.text, self._option_values(), skipped=lacks[0])

    def found(
        self,
        grounds: Grounds,
        figures: tuple[Figure, ...],
        tables: tuple[FoundTable, ...],
        notes: tuple[str, ...] = (),
    ) -> Finding:
        """Build this attack's finding; tables about persons are omitted unless ``grounds.persons``."""
        permitted = tuple(table for table in tables if grounds.persons or not table.persons)
        return Finding(self.name, self.title, self.text, self._option_values(), figures, permitted, notes)

    def _option_values(self) -> dict[str, Any]:
        return {each.name: _plain(getattr(self, each.name)) for each in self.options()}


def _plain(value: Any) -> Any:
    """Return a value as a JSON document contains it, with paths as text."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, PurePath) else value
