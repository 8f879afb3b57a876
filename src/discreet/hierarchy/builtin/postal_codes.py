"""Postal codes by their first characters, country by country."""

from __future__ import annotations

import re
from functools import partial

from discreet.hierarchy.builtin.declaration import Builtin, Labels

_FORMS = {
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
"""The form of each country's codes: 9 a digit, A a letter, ? either; blanks and hyphens may be left out."""

_KEPT = {"ca": (3, 1), "ie": (3, 1), "mt": (3,), "us": (5, 3, 1)}
"""How many characters each level keeps, where the parts of a code say so; else 4, 3, 2 and 1."""

_SHORTEST = {"us": 5}
"""How many characters suffice, where a code need not be given in full."""

_CLASSES = {"9": "[0-9]", "A": "[A-Z]", "?": "[0-9A-Z]"}
_BRITISH = re.compile(r"([A-Z]{1,2})([0-9][0-9A-Z]?)\s*([0-9])([A-Z]{2})")
_SOURCE = "Universal Postal Union, postal addressing systems in member countries, 2023"


def _masked(country: str, value: str) -> Labels | None:
    """The first characters of a code, stars for the others."""
    form = _FORMS[country][1]
    text = re.sub(rf"^{country.upper()}-", "", value.strip().upper())
    code = re.sub(r"[\s-]", "", text)
    pattern = [_CLASSES[mark] for mark in form if mark in _CLASSES]
    if len(code) not in (_SHORTEST.get(country, len(pattern)), len(pattern)):
        return None
    if not re.fullmatch("".join(pattern[: len(code)]), code):
        return None
    return tuple(_label(form, code, kept, _SHORTEST.get(country)) for kept in _kept(country))


def _kept(country: str) -> tuple[int, ...]:
    length = sum(mark in _CLASSES for mark in _FORMS[country][1])
    return _KEPT.get(country, tuple(range(min(4, length - 1), 0, -1)))


def _label(form: str, code: str, kept: int, longest: int | None) -> str:
    """A code in its form, as far as ``longest`` characters, those after the first ``kept`` as stars."""
    text, place = "", 0
    for mark in form:
        if place == longest:
            break
        if mark not in _CLASSES:
            text += mark
            continue
        text += code[place] if place < kept else "*"
        place += 1
    return text


def _british(value: str) -> Labels | None:
    """Sector, district and area of a code such as SW1A 1AA."""
    match = _BRITISH.fullmatch(value.strip().upper())
    if match is None:
        return None
    area, district, sector, _ = match.groups()
    return f"{area}{district} {sector}**", f"{area}{district} ***", f"{area}*"


POSTAL_CODES = (
    *(
        Builtin(
            f"postal-code-{country}",
            f"Postal codes of {name}",
            tuple(f"first-{kept}" for kept in _kept(country)),
            _SOURCE,
            form.replace("9", "1").replace("?", "X"),
            partial(_masked, country),
        )
        for country, (name, form) in _FORMS.items()
    ),
    Builtin(
        "postal-code-gb",
        "Postal codes of the United Kingdom",
        ("sector", "district", "area"),
        _SOURCE,
        "SW1A 1AA",
        _british,
    ),
)
"""By country, in the order of the codes of ISO 3166."""
