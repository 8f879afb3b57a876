"""What an attack is: a frozen value of its options, with what it declares of itself.

An attack is one file that ends with one class, registered by name (``attacks.registry``). From the
declaration come the name in ``discreet attack --by``, its flags and their help, the value in Python, the form
and the section of the Attacker screen, and the section of the report.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any, ClassVar

from discreet.attacks.finding import Figure, Finding, FoundTable
from discreet.attacks.grounds import Grounds
from discreet.errors import InputError
from discreet.model.option import Option, check_options, options_of


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

    def tried(self, grounds: Grounds, *, asked: bool) -> Finding:
        """What it finds; where it cannot be tried ``InputError`` if it was ``asked`` for, else the reason."""
        lacks = self.lacks(grounds)
        if lacks is None:
            return self.run(grounds)
        if asked:
            raise InputError(f"{self.name}: {lacks[0]}", advice=lacks[1])
        return Finding(self.name, self.title, self.text, self._told(), skipped=lacks[0])

    def found(
        self,
        grounds: Grounds,
        figures: tuple[Figure, ...],
        tables: tuple[FoundTable, ...],
        notes: tuple[str, ...] = (),
    ) -> Finding:
        """A finding of this attack; tables of single persons stay out where nobody asked for them."""
        kept = tuple(table for table in tables if grounds.persons or not table.persons)
        return Finding(self.name, self.title, self.text, self._told(), figures, kept, notes)

    def _told(self) -> dict[str, Any]:
        return {each.name: _plain(getattr(self, each.name)) for each in self.options()}


def _plain(value: Any) -> Any:
    """A value as a document holds it: a path is its text."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, PurePath) else value
