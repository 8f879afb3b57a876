"""Options of models, criteria, costs and verbs, each declared once as a field of a frozen dataclass.

Python keywords, command-line flags, keys of the spec, form fields and the documentation are derived from the
declaration. ``Option.read`` parses texts, ``Option.check`` validates a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from math import isfinite
from typing import Any

from discreet.errors import InputError

_WHOLE = re.compile(r"[+-]?\d{1,4000}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?\d{1,18}(\.\d{1,18})?", re.ASCII)


class OptionKind(StrEnum):
    """Kind of an option's value; each comment gives the Python type."""

    CHOICE = "choice"  # str, one of the choices
    WHOLE = "whole"  # int; if there are choices, also one of these words
    DECIMAL = "decimal"  # float
    TEXT = "text"  # str; a list of them if repeatable
    COLUMN = "column"  # the name of a column of the original
    FLAG = "flag"  # bool
    FILE = "file"  # a path
    OPTIONS = "options"  # the path of a TOML file of the other options
    QUASI_IDENTIFIERS = "quasi-identifiers"  # a list of names
    GROUPS = "groups"  # a list of groups of names
    SENSITIVE = "sensitive"  # the name of a sensitive attribute
    LEVELS = "levels"  # an integer by attribute
    NUMBERS = "numbers"  # a number of at least 0 by attribute
    MODEL = "model"  # a recoding model; options that are unknown here are the model's
    PYTHON = "python"  # an object that can be passed only from Python


@dataclass(frozen=True)
class Option:
    """A declared option; ``name`` is the keyword in Python.

    ``least`` and ``most`` are inclusive bounds of numbers. ``flag`` is its name on the command line, None if
    it has none; ``metavar`` is the placeholder of its value there, and ``help`` describes its effect in a
    clause. ``shown`` describes the default in help where the default's own text does not. ``commas`` allows
    several names in one text. ``in_spec`` marks a key of a file. ``label`` and ``hint`` are for forms.
    ``reads`` converts one text to the value if the kind does not; its arguments are the option as the user
    wrote it, for errors, and the text.
    """

    name: str
    kind: OptionKind = OptionKind.TEXT
    default: object = None
    help: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    flag: str | None = None
    metavar: str = ""
    repeatable: bool = False
    commas: bool = True
    in_spec: bool = False
    shown: str = ""
    label: str = ""
    hint: str = ""
    unit: str = ""
    reads: Callable[[str, str], object] | None = None

    @property
    def spelt(self) -> str:
        """Name in errors and flags: dashes replace underscores."""
        return self.name.replace("_", "-")

    @property
    def allowed(self) -> str:
        """Description of the accepted values."""
        of_unit = f" of {self.unit}" if self.unit else ""
        number = f"a whole number{of_unit}" if self.kind is OptionKind.WHOLE else f"a number{of_unit}"
        if self.least is not None and self.most is not None:
            number += f" from {self.least:g} to {self.most:g}"
        elif self.least is not None:
            number += f" of at least {self.least:g}"
        elif self.most is not None:
            number += f" of at most {self.most:g}"
        if self.kind in (OptionKind.WHOLE, OptionKind.DECIMAL):
            return ", ".join([*self.choices, number])
        words = {
            OptionKind.FLAG: "true, false",
            OptionKind.QUASI_IDENTIFIERS: 'a list of quasi-identifiers, such as ["age", "sex"]',
            OptionKind.GROUPS: 'a list of groups of quasi-identifiers, such as [["age", "sex"]]',
            OptionKind.LEVELS: "ATTR=N, such as age=2",
            OptionKind.NUMBERS: "a table of numbers of at least 0 by quasi-identifier",
        }
        return ", ".join(self.choices) or words.get(
            self.kind, "a list of texts" if self.repeatable else "a text"
        )

    @property
    def placeholder(self) -> str:
        """Placeholder of the value on the command line."""
        choices = "|".join(self.choices)
        if self.metavar or 0 < len(choices) <= 32:
            return self.metavar or choices
        return "N" if self.kind in (OptionKind.WHOLE, OptionKind.DECIMAL) and not choices else "NAME"

    @property
    def default_text(self) -> str:
        """Description of the default; empty if there is none to describe."""
        if self.shown or self.default is None or isinstance(self.default, bool):
            return self.shown
        return str(self.default)

    def read(self, texts: Sequence[str], said: str) -> object:
        """Parse the texts of a user, None for no text; ``said`` is the option's name in errors.

        Raises ``InputError`` for a text of another kind.
        """
        if not texts:
            return None
        if self.kind is OptionKind.QUASI_IDENTIFIERS:
            return [
                name for text in texts for name in (_parse_names(said, text, 1) if self.commas else (text,))
            ]
        if self.kind is OptionKind.GROUPS:
            return [_parse_names(said, text, 2) for text in texts]
        if self.kind is OptionKind.LEVELS:
            return parse_levels(said, texts)
        if self.kind is OptionKind.NUMBERS:
            return parse_numbers(said, texts)
        values = [self._one(text, said) for text in texts]
        return values if self.repeatable else values[-1]

    def check(self, value: object, owner: str) -> None:
        """Raise ``InputError`` for a value outside the choices or bounds; None is accepted as no value."""
        if value is None:
            return
        fits = True
        if self.kind is OptionKind.CHOICE:
            fits = isinstance(value, str) and value in self.choices
        elif self.kind is OptionKind.WHOLE:
            fits = value in self.choices if isinstance(value, str) else self._within(value)
        elif self.kind is OptionKind.DECIMAL:
            fits = self._within(value)
        if not fits:
            raise InputError(f"{self.spelt} '{value}' of {owner}", allowed=self.allowed)

    def _within(self, value: object) -> bool:
        try:
            number = float(value)  # type: ignore[arg-type]  # numpy's numbers and fractions are numbers too
        except (TypeError, ValueError, OverflowError):
            return isinstance(value, int) and not isinstance(value, bool)
        low = -float("inf") if self.least is None else self.least
        high = float("inf") if self.most is None else self.most
        return not isinstance(value, bool | str) and isfinite(number) and low <= number <= high

    def _one(self, text: str, said: str) -> object:
        if self.reads is not None:
            return self.reads(said, text)
        if self.kind is OptionKind.FLAG:
            return text.lower() == "true"
        if self.kind is OptionKind.WHOLE and text not in self.choices:
            return parse_whole_number(said, text, self.allowed)
        if self.kind is OptionKind.DECIMAL:
            if not _DECIMAL.fullmatch(text) or not self._within(float(text)):
                raise InputError(f"{said} {text}", allowed=self.allowed)
            return float(text)
        return text


def option(
    default: object = None,
    *,
    kind: OptionKind | None = None,
    help: str = "",  # noqa: A002 - the field's own name
    choices: Iterable[str] = (),
    least: float | None = None,
    most: float | None = None,
    flag: str | None = "",
    metavar: str = "",
    repeatable: bool = False,
    commas: bool = True,
    in_spec: bool = False,
    shown: str = "",
    label: str = "",
    hint: str = "",
    unit: str = "",
    reads: Callable[[str, str], object] | None = None,
) -> Any:
    """Declare a field of a frozen dataclass as an option; the keywords are the fields of ``Option``.

    Its name is the field's, and its flag is ``--`` and the name unless given (None: no flag). An option with
    choices is a choice unless another kind is given. The result is the field, which type checkers accept as a
    default of the field's own type.
    """
    words = tuple(str(choice) for choice in choices)
    found = kind or (OptionKind.CHOICE if words else OptionKind.TEXT)
    if found is OptionKind.PYTHON:
        flag = None
    declared = Option(
        name="",
        kind=found,
        default=default,
        help=help,
        choices=words,
        least=least,
        most=most,
        flag=flag,
        metavar=metavar,
        repeatable=repeatable,
        commas=commas,
        in_spec=in_spec,
        shown=shown,
        label=label,
        hint=hint,
        unit=unit,
        reads=reads,
    )
    if declared.in_spec and default is not None:
        # With another default, a value given in addition to the file, which takes precedence, could not be
        # distinguished from an omitted one.
        raise TypeError("an option with in_spec must have the default None; describe it by shown")
    return field(default=default, metadata={"option": declared})


def spec_key(
    title: str = "",
    example: str = "",
    allowed: str | None = None,
    *,
    default: object = None,
    repr: bool = True,  # noqa: A002 - the name that dataclasses give it
    **checks: Any,
) -> Any:
    """Declare a field of a frozen dataclass as a key of the spec, from which ``spec.validation`` reads it.

    ``title`` is its meaning, ``example`` a value in TOML, ``allowed`` the text of messages (None: the field's
    choices); ``checks`` are bounds in pydantic's words. A field with ``default=MISSING`` is required. The
    result is the field, which type checkers accept as a default of the field's own type.
    """
    declared = {"title": title, "example": example, "allowed": allowed, **checks}
    if default == {}:
        return field(default_factory=dict, repr=repr, metadata={"key": declared})
    return field(default=default, repr=repr, metadata={"key": declared})


def options_of(owner: type) -> tuple[Option, ...]:
    """Return the options that a dataclass declares, in the order of its fields."""
    found = []
    for each in fields(owner):
        declared = each.metadata.get("option")
        if isinstance(declared, Option):
            flag = f"--{each.name.replace('_', '-')}" if declared.flag == "" else declared.flag
            found.append(replace(declared, name=each.name, flag=flag))
    return tuple(found)


def check_options(owner: object, called: str) -> None:
    """Validate every option of a value; ``called`` is the value's name in errors."""
    for each in options_of(type(owner)):
        each.check(getattr(owner, each.name), called)


def changed_options(owner: object) -> dict[str, object]:
    """Return the options of a value that differ from their defaults."""
    values = {each.name: (getattr(owner, each.name), each.default) for each in options_of(type(owner))}
    return {name: value for name, (value, default) in values.items() if value is not default}


def parse_levels(said: str, texts: Iterable[str]) -> dict[str, int]:
    """Parse ``ATTR=N`` texts as levels by attribute, split at the last ``=``.

    Raises ``InputError`` for other texts and for an attribute named twice.
    """
    result: dict[str, int] = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        if not sign or not name or not _WHOLE.fullmatch(number):
            raise InputError(f"{said} {text}", allowed="ATTR=N, such as age=2")
        if name in result:
            raise InputError(f"{said} names '{name}' twice", allowed="each attribute once")
        result[name] = int(number)
    return result


def parse_numbers(said: str, texts: Iterable[str]) -> dict[str, float]:
    """Parse ``ATTR=X`` texts as numbers by attribute; raise ``InputError`` for other texts."""
    result: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not name or name in result or not _DECIMAL.fullmatch(number):
            raise InputError(f"{said} {text}", allowed="ATTR=X, such as age=2.5, each attribute once")
        result[name] = float(number)
    return result


def parse_whole_number(said: str, text: str, allowed: str = "a whole number") -> int:
    """Parse an integer; raise ``InputError`` for any other text."""
    if not _WHOLE.fullmatch(text):
        raise InputError(f"{said} {text}", allowed=allowed)
    return int(text)


def option_names(names: Iterable[str] | Mapping[str, object]) -> str:
    """Return names in the form of errors, or a phrase for no names."""
    return ", ".join(name.replace("_", "-") for name in names) or "no options"


def _parse_names(said: str, text: str, least: int) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if len(names) < least or not all(names):
        number = "two or more names" if least > 1 else "one name, or several"
        raise InputError(f"{said} {text}", allowed=f"{number} with commas between them")
    return names
