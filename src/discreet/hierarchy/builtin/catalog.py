"""Built-in hierarchies: ages, dates, ICD-10, ISCO-08, NACE Rev. 2, countries, postal codes.

Each declaration names its levels and source and labels a value at each level. Classifications and countries
are read from outlines in this package, one entry per line, when they are first used.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files

from discreet.hierarchy.dates import DATE_LABELS, DateHierarchy, DateParser

LevelLabels = tuple[str, ...]


@dataclass(frozen=True)
class BuiltinDeclaration:
    """Declaration of a hierarchy that is independent of the data.

    ``levels`` are the levels' names, from fine to coarse, without the values themselves and the top.
    ``labels`` returns a value's labels at these levels, or None for an unknown value; a value that is itself
    coarser than a level is its own label there. Labels nest: values with one label at a level have one at
    each coarser level. ``source`` is the origin of the levels, with the year. ``words`` are parts of columns'
    names, lower case, for which the hierarchy may be proposed if the values fit.
    """

    name: str
    title: str
    levels: tuple[str, ...]
    source: str
    example: str
    labels: Callable[[str], LevelLabels | None]
    words: str = ""


@cache
def outline_entries(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the paths to the innermost entries of a file, from the outermost group on."""
    return tuple(_outline_paths(name))


def _outline_paths(name: str) -> Iterator[tuple[str, ...]]:
    path: list[str] = []
    lines = files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()
    depths = [(len(line) - len(line.lstrip())) // 2 for line in lines]
    for line, depth, next_depth in zip(lines, depths, [*depths[1:], 0], strict=True):
        path = [*path[:depth], line.strip()]
        if next_depth <= depth:
            yield tuple(path)


_DIAGNOSIS = re.compile(r"([A-Z]\d\d)(?:\.?[0-9A-Z]{0,4})?(?:\.?-|[!*†+])?", re.ASCII)
_ACTIVITY = re.compile(r"([A-U])|[A-U]?(\d\d)(?:\.?(\d)(?:(\d)(?:\.?\d{1,3})?)?)?", re.ASCII)
_UNIT_DIGITS = 4
"""Number of digits of an occupation; a shorter group may be padded with zeros to that length."""
_OCCUPATION = re.compile(r"\d{1,4}", re.ASCII)


def _diagnosis_labels(value: str) -> LevelLabels | None:
    """Return category, block and chapter of a code such as E11.9, E119 or E11."""
    match = _DIAGNOSIS.fullmatch(value.strip().upper())
    if match is None:
        return None
    category = match.group(1)
    for first, last, labels in _diagnosis_blocks():
        if first <= category <= last:
            return (category, *labels)
    return None


@cache
def _diagnosis_blocks() -> tuple[tuple[str, str, LevelLabels], ...]:
    """Return the first and the last category of each block, and the labels of the block and its chapter."""
    return tuple(
        (block[:3], block[4:7], (block, chapter)) for chapter, block in outline_entries("icd10.outline")
    )


def _occupation_labels(value: str) -> LevelLabels | None:
    """Return minor, sub-major and major group of a code such as 2211; 2200 and 2000 mean 22 and 2."""
    code = value.strip()
    if not _OCCUPATION.fullmatch(code):
        return None
    groups = _occupations()
    while code not in groups and len(value.strip()) == _UNIT_DIGITS and code.endswith("0"):
        code = code[:-1]
    return groups.get(code)


@cache
def _occupations() -> Mapping[str, LevelLabels]:
    """Return the labels of every code, including those of groups."""
    result: dict[str, LevelLabels] = {}
    for major, sub_major, line in outline_entries("isco08.outline"):
        minor, _, units = line.rpartition(": ")
        result[major[0]] = (major, major, major)
        result[sub_major[:2]] = (sub_major, sub_major, major)
        for unit in ("", *units):
            result[minor[:3] + unit] = (minor, sub_major, major)
    return result


def _activity_labels(value: str) -> LevelLabels | None:
    """Return class, group, division and section of a code such as 62.01, 6201, J62.01 or J.

    Further digits are ignored.
    """
    match = _ACTIVITY.fullmatch(value.strip().upper())
    if match is None:
        return None
    section, division, group, number = match.groups()
    if section is not None:
        return _activities().get(section)
    code = division + (f".{group}" if group else "") + (number or "")
    found = _activities().get(code)
    letter = value.strip()[0].upper()
    return None if found is None or (letter.isalpha() and letter != found[-1][0]) else found


@cache
def _activities() -> Mapping[str, LevelLabels]:
    """Return the labels of every code, including those of groups, divisions and sections."""
    result: dict[str, LevelLabels] = {}
    for section, line in outline_entries("nace2.outline"):
        division, _, groups = line.rpartition(": ")
        result[section[0]] = (section,) * 4
        result[division[:2]] = (division, division, division, section)
        for number, classes in (part.split("=") for part in groups.split()):
            group = f"{division[:2]}.{number}"
            result[group] = (group, group, division, section)
            for last in classes:
                result[group + last] = (group + last, group, division, section)
    return result


ICD10 = BuiltinDeclaration(
    "icd10",
    "Diagnoses by ICD-10",
    ("category", "block", "chapter"),
    "World Health Organization, International Statistical Classification of Diseases, 10th revision, 2019",
    "E11.9",
    _diagnosis_labels,
    "icd icd10 icdcode diag diagnosis diagnoses diagnose dx cause",
)
ISCO08 = BuiltinDeclaration(
    "isco08",
    "Occupations by ISCO-08",
    ("minor", "sub-major", "major"),
    "International Labour Organization, International Standard Classification of Occupations, of 2008",
    "2211",
    _occupation_labels,
    "isco isco08 occupation occupations job profession beruf profesion",
)
NACE2 = BuiltinDeclaration(
    "nace2",
    "Economic activities by NACE Rev. 2",
    ("class", "group", "division", "section"),
    "Regulation (EC) No 1893/2006, statistical classification of economic activities, 2006",
    "62.01",
    _activity_labels,
    "nace nacecode industry branch sector branche wirtschaftszweig activity",
)


def _country_labels(value: str) -> LevelLabels | None:
    """Return sub-region and region of DE, DEU, 276 or Germany, in any case."""
    key = _normalized_name(value)
    return _countries().get(f"{int(key):03}" if key.isascii() and key.isdecimal() else key)


@cache
def _countries() -> Mapping[str, LevelLabels]:
    """Return sub-region and region by codes and names."""
    result: dict[str, LevelLabels] = {}
    for region, sub_region, line in outline_entries("countries.outline"):
        two, three, number, names = line.split(maxsplit=3)
        for text in (two, three, number, *names.split("; ")):
            result[_normalized_name(text)] = (sub_region, region)
    return result


def _normalized_name(text: str) -> str:
    """Normalize a name to lower case without accents, signs as blanks."""
    letters = unicodedata.normalize("NFKD", text.casefold()).replace("’", "'")
    base_letters = "".join(c for c in letters if not unicodedata.combining(c))
    return " ".join(re.findall(r"\w+", base_letters))


COUNTRY = BuiltinDeclaration(
    "country",
    "Countries and areas in sub-regions and regions",
    ("sub-region", "region"),
    "United Nations, Standard country or area codes for statistical use (M49), and ISO 3166-1, 2023",
    "Germany",
    _country_labels,
    "country land pais pays paese nation nationality native citizenship birthplace staat herkunft",
)


_OLDEST = 90
_AGE_WIDTHS = (5, 10, 20)


def _age_labels(value: str) -> LevelLabels | None:
    """Return groups of 5, 10 and 20 years of an age in whole years; 90 and above are one group."""
    text = value.strip()
    if not re.fullmatch(r"[0-9]{1,3}", text):
        return None
    age = int(text)
    if age >= _OLDEST:
        return (f"≥{_OLDEST}",) * len(_AGE_WIDTHS)
    starts = [age // years * years for years in _AGE_WIDTHS]
    return tuple(
        f"{start}-{min(start + years, _OLDEST) - 1}" for start, years in zip(starts, _AGE_WIDTHS, strict=True)
    )


def _date_labels(value: str) -> LevelLabels | None:
    day = DateParser().day(value)
    return None if day is None else tuple(DATE_LABELS[level](day) for level in DateHierarchy().levels)


AGE_GROUPS = BuiltinDeclaration(
    "age",
    "Ages in whole years, 90 and above together",
    tuple(f"{years}-years" for years in _AGE_WIDTHS),
    "United Nations, Provisional guidelines on standard international age classifications, 1982; ages over "
    "89 together as in 45 CFR 164.514(b), 2013",
    "41",
    _age_labels,
)
DATE_PERIODS = BuiltinDeclaration(
    "date",
    "Dates and times in ISO 8601 by the calendar",
    DateHierarchy().levels,
    "ISO 8601, 2019",
    "2020-03-17",
    _date_labels,
)


_CODE_FORMS = {
    "at": ("Austria", "9999"),
    "au": ("Australia", "9999"),
    "be": ("Belgium", "9999"),
    "bg": ("Bulgaria", "9999"),
    "br": ("Brazil", "99999-999"),
    "ca": ("Canada", "A9A 9A9"),
    "ch": ("Switzerland", "9999"),
    "cy": ("Cyprus", "9999"),
    "cz": ("Czechia", "999 99"),
    "de": ("Germany", "99999"),
    "dk": ("Denmark", "9999"),
    "ee": ("Estonia", "99999"),
    "es": ("Spain", "99999"),
    "fi": ("Finland", "99999"),
    "fr": ("France", "99999"),
    "gr": ("Greece", "999 99"),
    "hr": ("Croatia", "99999"),
    "hu": ("Hungary", "9999"),
    "ie": ("Ireland", "A9? ????"),
    "in": ("India", "999999"),
    "it": ("Italy", "99999"),
    "jp": ("Japan", "999-9999"),
    "kr": ("South Korea", "99999"),
    "lt": ("Lithuania", "99999"),
    "lu": ("Luxembourg", "9999"),
    "lv": ("Latvia", "9999"),
    "mt": ("Malta", "AAA 9999"),
    "mx": ("Mexico", "99999"),
    "nl": ("Netherlands", "9999 AA"),
    "no": ("Norway", "9999"),
    "nz": ("New Zealand", "9999"),
    "pl": ("Poland", "99-999"),
    "pt": ("Portugal", "9999-999"),
    "ro": ("Romania", "999999"),
    "se": ("Sweden", "999 99"),
    "si": ("Slovenia", "9999"),
    "sk": ("Slovakia", "999 99"),
    "us": ("United States", "99999-9999"),
}
"""Form of each country's codes: 9 a digit, A a letter, ? either; blanks and hyphens may be left out."""

_SHOWN_LENGTHS = {"ca": (3, 1), "ie": (3, 1), "mt": (3,), "us": (5, 3, 1)}
"""Number of characters that each level keeps, if the parts of a code define it; else 4, 3, 2 and 1."""

_SHORTEST = {"us": 5}
"""Number of characters that suffice, where a code may be shortened."""

_CHARACTER_CLASSES = {"9": "[0-9]", "A": "[A-Z]", "?": "[0-9A-Z]"}
_BRITISH = re.compile(r"([A-Z]{1,2})([0-9][0-9A-Z]?)\s*([0-9])([A-Z]{2})")
_SOURCE = "Universal Postal Union, postal addressing systems in member countries, 2023"


def _postal_labels(country: str, value: str) -> LevelLabels | None:
    """Return the labels of a postal code: its first characters, stars for the others."""
    form = _CODE_FORMS[country][1]
    text = re.sub(rf"^{country.upper()}-", "", value.strip().upper())
    code = re.sub(r"[\s-]", "", text)
    pattern = [_CHARACTER_CLASSES[mark] for mark in form if mark in _CHARACTER_CLASSES]
    if len(code) not in (_SHORTEST.get(country, len(pattern)), len(pattern)):
        return None
    if not re.fullmatch("".join(pattern[: len(code)]), code):
        return None
    return tuple(
        _masked_code(form, code, shown_characters, _SHORTEST.get(country))
        for shown_characters in _shown_lengths(country)
    )


def _shown_lengths(country: str) -> tuple[int, ...]:
    length = sum(mark in _CHARACTER_CLASSES for mark in _CODE_FORMS[country][1])
    return _SHOWN_LENGTHS.get(country, tuple(range(min(4, length - 1), 0, -1)))


def _masked_code(form: str, code: str, shown_characters: int, longest: int | None) -> str:
    """Format a code up to ``longest`` characters; those after the first ``shown_characters`` are stars."""
    text, index = "", 0
    for mark in form:
        if index == longest:
            break
        if mark not in _CHARACTER_CLASSES:
            text += mark
            continue
        text += code[index] if index < shown_characters else "*"
        index += 1
    return text


def _british_labels(value: str) -> LevelLabels | None:
    """Return sector, district and area of a code such as SW1A 1AA."""
    match = _BRITISH.fullmatch(value.strip().upper())
    if match is None:
        return None
    area, district, sector, _ = match.groups()
    return f"{area}{district} {sector}**", f"{area}{district} ***", f"{area}*"


POSTAL_CODES = (
    *(
        BuiltinDeclaration(
            f"postal-code-{country}",
            f"Postal codes of {name}",
            tuple(f"first-{shown_characters}" for shown_characters in _shown_lengths(country)),
            _SOURCE,
            form.replace("9", "1").replace("?", "X"),
            partial(_postal_labels, country),
        )
        for country, (name, form) in _CODE_FORMS.items()
    ),
    BuiltinDeclaration(
        "postal-code-gb",
        "Postal codes of the United Kingdom",
        ("sector", "district", "area"),
        _SOURCE,
        "SW1A 1AA",
        _british_labels,
    ),
)
"""Postal codes by country, in the order of the codes of ISO 3166; the United Kingdom is last."""
