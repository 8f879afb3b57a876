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
class AttackInput:
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
        """The original, for attacks that need it (``AttackRequirement.ORIGINAL``)."""
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


class AttackRequirement(StrEnum):
    """Requirement without which an attack cannot be tried; the comment names the missing object."""

    ORIGINAL = "original"  # the original
    SENSITIVE = "sensitive"  # a published sensitive attribute
    OUTSIDE = "outside"  # a file of the attacker's
    EARLIER = "earlier"  # earlier releases
    CLASSES = "classes"  # classes of equal rows: a permuted release has none


_MISSING = {
    AttackRequirement.ORIGINAL: ("the original is not known", "Name the spec of the original: --spec SPEC."),
    AttackRequirement.SENSITIVE: ("no sensitive attribute is published", "Name one, if there is one."),
    AttackRequirement.OUTSIDE: (
        "no attacker's file is given",
        "Give a file of people that an attacker knows.",
    ),
    AttackRequirement.EARLIER: (
        "no earlier release is named",
        "Name those that were made of the same rows: --earlier RELEASE.",
    ),
    AttackRequirement.CLASSES: (
        "the release permutes values within groups",
        "Attack a release that generalizes.",
    ),
}


@dataclass(frozen=True)
class Attack(ABC):
    """Attack whose dataclass fields are its options (``model.option.option``).

    ``name`` is the name that users type, ``title`` the heading of its section, ``text`` one sentence about
    the attacker's action, and ``source`` its author and year. ``requirements`` are its required inputs;
    ``in_report`` is true if a report tries the attack by default. Raise ``InputError`` for an option value
    that is not allowed.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    text: ClassVar[str]
    source: ClassVar[str]
    requirements: ClassVar[tuple[AttackRequirement, ...]] = ()
    in_report: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Validate the options."""
        check_options(self, f"the {self.name} attack")

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return the declared options."""
        return options_of(cls)

    @abstractmethod
    def run(self, attack_input: AttackInput) -> Finding:
        """Run the attack; raise ``InputError`` where the input does not fit."""

    def missing_requirement(self, attack_input: AttackInput) -> tuple[str, str] | None:
        """Return the missing requirement and the advice about it; None where nothing is missing."""
        available = {
            AttackRequirement.ORIGINAL: attack_input.ground.original is not None,
            AttackRequirement.SENSITIVE: bool(attack_input.published.sensitive),
            AttackRequirement.OUTSIDE: attack_input.outside is not None,
            AttackRequirement.EARLIER: bool(getattr(self, "earlier", None)),
            AttackRequirement.CLASSES: attack_input.published.kind.has_classes,
        }
        return next(
            (_MISSING[requirement] for requirement in self.requirements if not available[requirement]), None
        )

    def run_or_skip(self, attack_input: AttackInput, *, required: bool) -> Finding:
        """Return the finding; where a requirement is missing, return the reason as a skipped finding.

        Raise ``InputError`` instead if ``required``.
        """
        missing = self.missing_requirement(attack_input)
        if missing is None:
            return self.run(attack_input)
        if required:
            raise InputError(f"{self.name}: {missing[0]}", advice=missing[1])
        return Finding(self.name, self.title, self.text, self._option_values(), skipped=missing[0])

    def build_finding(
        self,
        attack_input: AttackInput,
        figures: tuple[Figure, ...],
        tables: tuple[FoundTable, ...],
        notes: tuple[str, ...] = (),
    ) -> Finding:
        """Build this attack's finding; tables about persons are omitted unless ``attack_input.persons``."""
        permitted = tuple(table for table in tables if attack_input.persons or not table.persons)
        return Finding(self.name, self.title, self.text, self._option_values(), figures, permitted, notes)

    def _option_values(self) -> dict[str, Any]:
        return {each.name: _plain(getattr(self, each.name)) for each in self.options()}


def _plain(value: Any) -> Any:
    """Return a value as a JSON document contains it, with paths as text."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, PurePath) else value
