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
from discreet.attacks.linkage import CellInterpretation
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
    """A table as an attacker finds it, the original (``before``) or the release (``after``).

    Its row types are distinct rows of ``codes``, shape ``(row types, attributes)``, in ``rows`` rows each;
    code c of attribute i shows ``labels[i][c]``, None for NULL.
    """

    name: str
    attributes: tuple[str, ...]
    codes: IntArray
    rows: IntArray
    labels: tuple[tuple[str | None, ...], ...]

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.rows.sum())

    @property
    def title(self) -> str:
        """What a person calls it."""
        return "original" if self.name == "before" else "release"


@dataclass(frozen=True, eq=False)
class Grounds:
    """A release, its original where it is known, files of the attacker's, and who may see what.

    ``ground`` holds the original and what cells are read with. ``outside`` is a file of people that the
    attacker has, by ``match`` and ``key`` as ``attacks.linkage`` takes them. ``persons`` allows tables of
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
    def release(self) -> AttackedTable:
        """The release."""
        told = self.published
        return AttackedTable("after", told.attributes, told.shown, told.rows, told.labels)

    @property
    def original(self) -> AttackedTable | None:
        """The original, None where it is not known."""
        if self.ground.original is None:
            return None
        counted = self.ground.original.frequency_set
        labels = tuple((*hierarchy.leaves, None) for hierarchy in counted.hierarchies)
        return AttackedTable("before", counted.attributes, counted.codes, counted.counts, labels)

    @property
    def sides(self) -> tuple[AttackedTable, ...]:
        """The original, where it is known, and the release."""
        before = self.original
        return (self.release,) if before is None else (before, self.release)


class Need(StrEnum):
    """What an attack cannot be tried without; the comment is what is missing, in words."""

    ORIGINAL = "original"  # the original
    SENSITIVE = "sensitive"  # a published sensitive attribute
    OUTSIDE = "outside"  # a file of the attacker's
    EARLIER = "earlier"  # earlier releases
    CLASSES = "classes"  # classes of equal rows: a permuted release has none


_MISSING = {
    Need.ORIGINAL: ("the original is not known", "Attack it beside the table that it was made of."),
    Need.SENSITIVE: ("no sensitive attribute is published", "Name one, where there is one."),
    Need.OUTSIDE: ("there is no file of the attacker's", "Give a file of people whom an attacker knows."),
    Need.EARLIER: (
        "no earlier release is named",
        "Name those that were made of the same rows: --earlier RELEASE.",
    ),
    Need.CLASSES: ("the release permutes values within groups", "Attack a release that generalizes."),
}


@dataclass(frozen=True)
class Attack(ABC):
    """An attack; its fields are its options (``model.option.option``).

    ``name`` is what users type, ``title`` heads its section, ``text`` says in a sentence what the attacker
    does, ``source`` who described it. ``needs`` is what it cannot be tried without; ``in_report`` whether a
    report tries it of its own accord. ``InputError`` for an option that is none of its choices.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    text: ClassVar[str]
    source: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    in_report: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Judge the options."""
        check_options(self, f"the {self.name} attack")

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """The options that it declares."""
        return options_of(cls)

    @abstractmethod
    def run(self, grounds: Grounds) -> Finding:
        """Try the attack; ``InputError`` where something does not fit."""

    def lacks(self, grounds: Grounds) -> tuple[str, str] | None:
        """What is missing to try it, and what to do; None where nothing is."""
        there = {
            Need.ORIGINAL: grounds.ground.original is not None,
            Need.SENSITIVE: bool(grounds.published.sensitive),
            Need.OUTSIDE: grounds.outside is not None,
            Need.EARLIER: bool(getattr(self, "earlier", None)),
            Need.CLASSES: not grounds.published.by_group,
        }
        return next((_MISSING[need] for need in self.needs if not there[need]), None)

    def run_or_skip(self, grounds: Grounds, *, required: bool) -> Finding:
        """What it finds; where it cannot be tried ``InputError`` if it was ``asked`` for, else the reason."""
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
        """A finding of this attack; tables of single persons stay out where nobody asked for them."""
        kept = tuple(table for table in tables if grounds.persons or not table.persons)
        return Finding(self.name, self.title, self.text, self._option_values(), figures, kept, notes)

    def _option_values(self) -> dict[str, Any]:
        return {each.name: _plain(getattr(self, each.name)) for each in self.options()}


def _plain(value: Any) -> Any:
    """A value as a document holds it: a path is its text."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, PurePath) else value
