"""Public classifications: diagnoses (ICD-10), occupations (ISCO-08), economic activities (NACE Rev. 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from discreet.hierarchy.builtin.declaration import Builtin, Labels
from discreet.hierarchy.builtin.outline import entries

_DIAGNOSIS = re.compile(r"([A-Z]\d\d)(?:\.?[0-9A-Z]{0,4})?(?:\.?-|[!*†+])?", re.ASCII)
_ACTIVITY = re.compile(r"([A-U])|[A-U]?(\d\d)(?:\.?(\d)(?:(\d)(?:\.?\d{1,3})?)?)?", re.ASCII)
_UNIT = 4
"""The digits of an occupation; a shorter group may be written with zeros behind it up to that."""
_OCCUPATION = re.compile(r"\d{1,4}", re.ASCII)


def _diagnosis(value: str) -> Labels | None:
    """Category, block and chapter of a code such as E11.9, E119 or E11."""
    match = _DIAGNOSIS.fullmatch(value.strip().upper())
    if match is None:
        return None
    category = match.group(1)
    for first, last, labels in _blocks():
        if first <= category <= last:
            return (category, *labels)
    return None


@cache
def _blocks() -> tuple[tuple[str, str, Labels], ...]:
    """The first and the last category of each block, the block and its chapter."""
    return tuple((block[:3], block[4:7], (block, chapter)) for chapter, block in entries("icd10.outline"))


def _occupation(value: str) -> Labels | None:
    """Minor, sub-major and major group of a code such as 2211; 2200 and 2000 stand for 22 and 2."""
    code = value.strip()
    if not _OCCUPATION.fullmatch(code):
        return None
    groups = _occupations()
    while code not in groups and len(value.strip()) == _UNIT and code.endswith("0"):
        code = code[:-1]
    return groups.get(code)


@cache
def _occupations() -> Mapping[str, Labels]:
    """The labels of every code, of groups too."""
    found: dict[str, Labels] = {}
    for major, sub_major, line in entries("isco08.outline"):
        minor, _, units = line.rpartition(": ")
        found[major[0]] = (major, major, major)
        found[sub_major[:2]] = (sub_major, sub_major, major)
        for unit in ("", *units):
            found[minor[:3] + unit] = (minor, sub_major, major)
    return found


def _activity(value: str) -> Labels | None:
    """Class, group, division and section of a code such as 62.01, 6201, J62.01 or J; further digits too."""
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
def _activities() -> Mapping[str, Labels]:
    """The labels of every code, of groups, divisions and sections too."""
    found: dict[str, Labels] = {}
    for section, line in entries("nace2.outline"):
        division, _, groups = line.rpartition(": ")
        found[section[0]] = (section,) * 4
        found[division[:2]] = (division, division, division, section)
        for number, classes in (part.split("=") for part in groups.split()):
            group = f"{division[:2]}.{number}"
            found[group] = (group, group, division, section)
            for last in classes:
                found[group + last] = (group + last, group, division, section)
    return found


ICD10 = Builtin(
    "icd10",
    "Diagnoses by ICD-10",
    ("category", "block", "chapter"),
    "World Health Organization, International Statistical Classification of Diseases, 10th revision, 2019",
    "E11.9",
    _diagnosis,
    "icd icd10 icdcode diag diagnosis diagnoses diagnose dx cause",
)
ISCO08 = Builtin(
    "isco08",
    "Occupations by ISCO-08",
    ("minor", "sub-major", "major"),
    "International Labour Organization, International Standard Classification of Occupations, of 2008",
    "2211",
    _occupation,
    "isco isco08 occupation occupations job profession beruf profesion",
)
NACE2 = Builtin(
    "nace2",
    "Economic activities by NACE Rev. 2",
    ("class", "group", "division", "section"),
    "Regulation (EC) No 1893/2006, statistical classification of economic activities, 2006",
    "62.01",
    _activity,
    "nace nacecode industry branch sector branche wirtschaftszweig activity",
)
