"""The language of a report: sentences translated by their English text, numbers in the language's marks.

A catalogue is one file, ``languages/CODE.toml``; English needs none, because its texts are in the code.

- ``[own]`` contains the report's own sentences: English text = the other language's, ``{parts}`` kept.
- ``[external]`` contains finished English texts of attacks, criteria, metrics and warnings: a key with
  ``{parts}`` is a pattern for them. The text matched by a part named ``word…`` is looked up in turn.
- ``[cells]`` contains the words in cells of attack tables; names of columns are not translated.

Names of columns and the publisher's own texts are never looked up. A text without a translation stays English
and is recorded in ``untranslated``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib.resources import files
from math import isfinite

from discreet.errors import InputError
from discreet.printing.document import format_ratio

_NO_BREAK_SPACE = "\u00a0"
_TOLERANCE = 1e-9
CLASS_SIZE_STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
RISK_STEPS = tuple(Fraction(text) for text in ("1/2", "1/3", "0.2", "0.1", "0.09", "0.05", "0.02", "0.01"))


def integer(number: int) -> str:
    """Format an integer with thousands separators: ``30,162``."""
    return f"{number:,}"


def percent(part: float, of: float = 1.0) -> str:
    """Format a part of a whole in percent; it never rounds to 0 % or 100 % unless it is.

    ``part`` must be a part of ``of``; ``printing.document.format_ratio`` formats other quotients.
    """
    if of <= 0 or part == 0:
        return f"0{_NO_BREAK_SPACE}%"
    if not -_TOLERANCE <= part / of <= 1 + _TOLERANCE:
        return format_ratio(part / of).replace("%", f"{_NO_BREAK_SPACE}%")
    found = min(max(100 * part / of, 0.0), 100.0)
    if found in (0.0, 100.0):
        return f"{found:.0f}{_NO_BREAK_SPACE}%"
    if found < 0.01:
        return f"<{_NO_BREAK_SPACE}0.01{_NO_BREAK_SPACE}%"
    if found > 99.99:
        return f">{_NO_BREAK_SPACE}99.99{_NO_BREAK_SPACE}%"
    return (f"{found:.2f}" if found < 10 or found > 99.9 else f"{found:.1f}") + f"{_NO_BREAK_SPACE}%"


def decimal(value: float | int | None) -> str:
    """Format a metric's value; a dash for None."""
    if value is None:
        return "–"
    if not isfinite(value):
        return "infinite"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}" if abs(value) < 1e15 else f"{value:.4g}"
    if abs(value) >= 1000:
        return f"{value:,.1f}" if abs(value) < 1e9 else f"{value:.4g}"
    return f"{value:.4f}"


def class_size_bands() -> tuple[str, ...]:
    """Return the labels of the bands of class sizes."""
    names = []
    for i, least in enumerate(CLASS_SIZE_STEPS):
        if i + 1 == len(CLASS_SIZE_STEPS):
            names.append(f"{least:,}+")
        else:
            most = CLASS_SIZE_STEPS[i + 1] - 1
            names.append(f"{least}" if most == least else f"{least}–{most}")
    return tuple(names)


def count_rows_by_band(class_sizes: Mapping[int, int]) -> tuple[int, ...]:
    """Count rows by band of class sizes; ``class_sizes`` maps class sizes to numbers of classes."""
    found = [0] * len(CLASS_SIZE_STEPS)
    for size, number in class_sizes.items():
        index = max(i for i, least in enumerate(CLASS_SIZE_STEPS) if size >= least)
        found[index] += size * number
    return tuple(found)


def count_rows_above_risk(class_sizes: Mapping[int, int], chance: Fraction) -> int:
    """Count the rows whose re-identification risk, 1 / class size, exceeds ``chance``."""
    return sum(size * number for size, number in class_sizes.items() if Fraction(1, size) > chance)


ENGLISH = "en"
_LANGUAGES_FOLDER = "languages"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_NUMBER_PATTERN = re.compile(r"-?\d[\d,]*(\.\d+)?")


@dataclass(frozen=True)
class ReportLanguage:
    """A language: its code, its own name, its number marks, and its texts by the English ones."""

    code: str
    name: str = "English"
    thousands: str = ","
    decimal: str = "."
    own: Mapping[str, str] = field(default_factory=dict)
    external: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def patterns(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        """Keys of ``external`` and ``cells`` with parts, as patterns; the longest fixed text first."""
        found = [(key, text) for table in (self.external, self.cells) for key, text in table.items()]
        found = [(key, text) for key, text in found if _PLACEHOLDER.search(key)]
        found.sort(key=lambda pair: -len(_PLACEHOLDER.sub("", pair[0])))
        return tuple((_compile_pattern(key), text) for key, text in found)


@dataclass
class Translator:
    """Translation of a report's texts into one language; ``untranslated`` collects missing texts."""

    language: ReportLanguage = field(default_factory=lambda: ReportLanguage(ENGLISH))
    untranslated: set[str] = field(default_factory=set)

    def __call__(self, text: str, /, **parts: object) -> str:
        """Translate a sentence of the report and fill in its ``{parts}``."""
        return self._look_up(self.language.own, text).format(**parts)

    def external(self, text: str) -> str:
        """Translate a finished English text of an attack, a criterion, a metric or a warning."""
        return self._translate_external(text, self.language.external)

    def cell(self, text: str) -> str:
        """Translate a text in a cell of an attack's table; most are names, which are unchanged."""
        return self._translate_external(text, self.language.cells, of_names=True)

    def integer(self, number: int) -> str:
        """Format an integer in the language's marks."""
        return self._with_marks(integer(number))

    def count(self, number: int, noun: str, plural: str | None = None) -> str:
        """Format a number with its translated noun: ``1 row``, ``30,162 rows``."""
        return f"{self.integer(number)} {self(noun if number == 1 else plural or noun + 's')}"

    def percent(self, part: float, of: float = 1.0) -> str:
        """Format a percentage that never rounds to 0 % or 100 % unless it is."""
        return self._with_marks(percent(part, of))

    def decimal(self, value: float | int | None) -> str:
        """Format a metric's value."""
        return self("infinite") if value == float("inf") else self._with_marks(decimal(value))

    def number(self, text: str) -> str:
        """Convert a formatted number to the language's marks; other texts are unchanged."""
        return self._with_marks(text) if _NUMBER_PATTERN.fullmatch(text) else text

    def band(self, text: str) -> str:
        """Convert a band of numbers, ``1,000+`` or ``5–9``, to the language's marks."""
        return self._with_marks(text)

    def _look_up(self, texts: Mapping[str, str], text: str) -> str:
        result = texts.get(text)
        if result is None:
            if self.language.code != ENGLISH:
                self.untranslated.add(text)
            return text
        return result

    def _translate_external(self, text: str, table: Mapping[str, str], *, of_names: bool = False) -> str:
        if self.language.code == ENGLISH or text in table or not text:
            return table.get(text, text)
        for pattern, translation in self.language.patterns:
            match = pattern.fullmatch(text)
            if match:
                parts = {name: self._part(name, part) for name, part in match.groupdict().items()}
                return translation.format(**parts)
        return (
            self.number(text) if of_names or _NUMBER_PATTERN.fullmatch(text) else self._look_up(table, text)
        )

    def _part(self, name: str, text: str) -> str:
        return self.cell(text) if name.startswith("word") else self.number(text)

    def _with_marks(self, text: str) -> str:
        marks = {",": self.language.thousands, ".": self.language.decimal}
        return "".join(marks.get(sign, sign) for sign in text)


def languages() -> tuple[str, ...]:
    """Return the codes of the available languages, English first."""
    folder = files("discreet.report").joinpath(_LANGUAGES_FOLDER)
    others = sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    return (ENGLISH, *others)


@lru_cache
def language_of(code: str) -> ReportLanguage:
    """Return the language of a code; raise ``InputError`` with the available codes for an unknown one."""
    if code not in languages():
        raise InputError(f"unknown report language '{code}'", allowed=", ".join(languages()))
    if code == ENGLISH:
        return ReportLanguage(ENGLISH)
    language_file = files("discreet.report").joinpath(_LANGUAGES_FOLDER, f"{code}.toml")
    document = tomllib.loads(language_file.read_text(encoding="utf-8"))
    return ReportLanguage(code, **document.pop("numbers"), **document)


def _compile_pattern(key: str) -> re.Pattern[str]:
    """Compile a pattern for the texts that a key with parts represents."""
    parts = enumerate(_PLACEHOLDER.split(key))
    integer = "".join(f"(?P<{part}>.*?)" if i % 2 else re.escape(part) for i, part in parts)
    return re.compile(integer, re.DOTALL)
