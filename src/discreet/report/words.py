"""The language of a report: every fixed sentence by its English text, numbers by the language's marks.

A catalogue is one TOML file, ``languages/CODE.toml``; English needs none, as its texts stand in the code.

- ``[own]`` has the report's own sentences: English text = the other language's, ``{parts}`` kept.
- ``[told]`` has what attacks, criteria, metrics and warnings say, which come here as finished English texts:
  a key with ``{parts}`` is a pattern for them. What a part named ``word…`` caught is looked up in turn.
- ``[cells]`` has the words that stand in cells of attacks' tables, beside names of columns, which stay.

Names of columns and the publisher's own words are never looked up. What has no translation stays English, and
is kept in ``missed``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files

from discreet.errors import InputError
from discreet.report import numbers

ENGLISH = "en"
_FOLDER = "languages"
_PART = re.compile(r"\{(\w+)\}")
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?")


@dataclass(frozen=True)
class Language:
    """A language: its code, its own name, its marks for numbers, and its texts by the English ones."""

    code: str
    name: str = "English"
    thousands: str = ","
    decimal: str = "."
    own: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def patterns(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """The keys of ``told`` and ``cells`` that have parts, those with the longest fixed text first."""
        found = [(key, text) for table in (self.told, self.cells) for key, text in table.items()]
        found = [(key, text) for key, text in found if _PART.search(key)]
        found.sort(key=lambda pair: -len(_PART.sub("", pair[0])))
        return tuple((_pattern(key), text) for key, text in found)


@dataclass
class Words:
    """A report's words in one language; ``missed`` are the English texts that it has no translation of."""

    language: Language = field(default_factory=lambda: Language(ENGLISH))
    missed: set[str] = field(default_factory=set)

    def __call__(self, text: str, /, **parts: object) -> str:
        """A sentence of the report's own, its ``{parts}`` filled in."""
        return self._found(self.language.own, text).format(**parts)

    def told(self, text: str) -> str:
        """A finished English text from elsewhere: of an attack, a criterion, a metric or a warning."""
        return self._told(text, self.language.told)

    def cell(self, text: str) -> str:
        """A text in a cell of an attack's table; most are names, which stay as they are."""
        return self._told(text, self.language.cells, of_names=True)

    def whole(self, number: int) -> str:
        """``30,162`` in the language's marks."""
        return self._marked(numbers.whole(number))

    def count(self, number: int, noun: str, plural: str | None = None) -> str:
        """``1 row``, ``30,162 rows``."""
        return f"{self.whole(number)} {self(noun if number == 1 else plural or noun + 's')}"

    def percent(self, part: float, of: float = 1.0) -> str:
        """A percentage that never rounds to 0 % or 100 % unless it is."""
        return self._marked(numbers.percent(part, of))

    def decimal(self, value: float | int | None) -> str:
        """A metric's value."""
        return self("infinite") if value == float("inf") else self._marked(numbers.decimal(value))

    def number(self, text: str) -> str:
        """A number that is already written, in the language's marks; any other text as it is."""
        return self._marked(text) if _NUMBER.fullmatch(text) else text

    def band(self, text: str) -> str:
        """A band of numbers, ``1,000+`` or ``5–9``."""
        return self._marked(text)

    def _found(self, texts: Mapping[str, str], text: str) -> str:
        found = texts.get(text)
        if found is None:
            if self.language.code != ENGLISH:
                self.missed.add(text)
            return text
        return found

    def _told(self, text: str, table: Mapping[str, str], *, of_names: bool = False) -> str:
        if self.language.code == ENGLISH or text in table or not text:
            return table.get(text, text)
        for pattern, translation in self.language.patterns:
            match = pattern.fullmatch(text)
            if match:
                parts = {name: self._part(name, part) for name, part in match.groupdict().items()}
                return translation.format(**parts)
        return self.number(text) if of_names or _NUMBER.fullmatch(text) else self._found(table, text)

    def _part(self, name: str, text: str) -> str:
        return self.cell(text) if name.startswith("word") else self.number(text)

    def _marked(self, text: str) -> str:
        marks = {",": self.language.thousands, ".": self.language.decimal}
        return "".join(marks.get(sign, sign) for sign in text)


def languages() -> tuple[str, ...]:
    """The codes of the languages there are, English first."""
    folder = files("discreet.report").joinpath(_FOLDER)
    others = sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    return (ENGLISH, *others)


@lru_cache
def language_of(code: str) -> Language:
    """The language of a code; ``InputError`` lists those there are."""
    if code not in languages():
        raise InputError(f"'{code}' is no language of reports", allowed=", ".join(languages()))
    if code == ENGLISH:
        return Language(ENGLISH)
    place = files("discreet.report").joinpath(_FOLDER, f"{code}.toml")
    document = tomllib.loads(place.read_text(encoding="utf-8"))
    return Language(code, **document.pop("numbers"), **document)


def _pattern(key: str) -> re.Pattern[str]:
    """A pattern of the texts that a key with parts stands for."""
    parts = enumerate(_PART.split(key))
    whole = "".join(f"(?P<{part}>.*?)" if i % 2 else re.escape(part) for i, part in parts)
    return re.compile(whole, re.DOTALL)
