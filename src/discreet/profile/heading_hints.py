"""Roles suggested by column headings, and the kinds of identifiers of the HIPAA safe-harbour rule.

The word lists cover the eighteen kinds (45 CFR 164.514(b)(2)(i), A to R) in several languages, facts about a
person that others can usually know, and private matters. Headings may be paths in nested records (HL7 FHIR
R5: HumanName, Reference). A kind has words of headings and patterns of values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise

from discreet.profile.heading_words import (
    PERSONS,
    PRIVATE,
    QUASI_IDENTIFYING,
    is_person_word,
    is_thing_word,
    letter_by_foreign_word,
    match_words,
    split_name,
)
from discreet.profile.word_lists import words_of_headings

PERSON_TYPES = frozenset(["Patient", "Practitioner", "PractitionerRole", "RelatedPerson", "Person"])
"""FHIR resource types that are persons."""

_NAME_PARTS = frozenset(["name", "names", "humanname"])


def record_path(name: str, last: str) -> str | None:
    """Return the path of the record whose field ``last`` the name denotes; None if it is not such a path.

    >>> record_path("subject.display", "display"), record_path("subject_reference", "reference")
    ('subject', 'subject')
    """
    found = re.fullmatch(rf"(.+?)(?:[./:_>-]+){last}\]?", name, re.IGNORECASE)
    return found.group(1).rstrip("[") if found else None


def person_name_words(name: str) -> str:
    """Return the words that mark a path or a heading as a person's name; "" if there are none.

    >>> person_name_words("subject.patient.name.family"), person_name_words("subject.display")
    ('name family', 'subject display')
    >>> person_name_words("product name"), person_name_words("maritalStatus.coding.0.display")
    ('', '')
    """
    parts = split_name(name)
    for index, part in enumerate(parts):
        if part not in _NAME_PARTS:
            continue
        before = parts[index - 1] if index else ""
        behind = parts[index + 1] if index + 1 < len(parts) else ""
        if before in words_of_headings("paths", "name_parts"):
            return f"{before} {part}"
        if behind in words_of_headings("paths", "name_parts") and not is_thing_word(before):
            return f"{part} {behind}"
        if parts[index + 1 : index + 3] == ("at", "birth"):
            return "name at birth"
        if before and is_person_word(before):
            return f"{before} {part}"
    return _reference_words(parts)


def names_a_thing(name: str) -> bool:
    """Return whether a heading denotes the name of a thing: ``product name``, ``managingOrganization.name``.

    >>> names_a_thing("ProductName"), names_a_thing("name of hospital"), names_a_thing("patient name")
    (True, True, False)
    """
    parts = split_name(name)
    places = [i for i, part in enumerate(parts) if part in _NAME_PARTS]
    return any(
        (i and is_thing_word(parts[i - 1]))
        or (parts[i + 1 : i + 2] == ("of",) and is_thing_word("".join(parts[i + 2 : i + 3])))
        for i in places
    )


def refers_to_thing(name: str) -> bool:
    """Return whether a path is inside a record that is not a person: ``managingOrganization.display``."""
    parts = split_name(name)[:-1]
    return bool(parts) and (
        parts[-1] in words_of_headings("paths", "thing_fields") or is_thing_word(parts[-1])
    )


def _reference_words(parts: tuple[str, ...]) -> str:
    """Return the words of a reference to a person, such as ``subject display``; "" for other paths."""
    if len(parts) < 2 or parts[-1] not in ("display", "reference"):
        return ""
    parent = parts[-2]
    if parent in words_of_headings("paths", "person_fields") and parent != "provider":
        return f"{parent} {parts[-1]}"
    return ""


_SHORTEST_SUBSTRING = 6
_NAME_HEADINGS = ("ad",), ("ten",), ("ho",)  # Turkish and Vietnamese for "name", as a whole heading


class RoleHint(StrEnum):
    """Role that a heading suggests."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    NONE = "none"


_WEIGHT_ENDINGS = "weight", "wght", "wgt", "wt"


def hint_role(name: str) -> tuple[RoleHint, str]:
    """Return the role that a heading suggests and the word that suggests it; ``("none", "")`` if none does.

    >>> [str(hint_role(name)[0]) for name in ("Patient_ID", "dateOfBirth", "salary", "x")]
    ['identifier', 'quasi-identifier', 'sensitive', 'none']

    If words of several kinds occur, identifier takes precedence over quasi-identifier, and that over
    sensitive: the more protected role. A name of a place (``city_name``) or of a thing (``product name``) is
    not a person's. A path in a nested record is read as one (``person_name_words``).
    """
    single = split_name(name)
    parts = (*single, *(first + second for first, second in pairwise(single)))
    others = match_words(parts)
    quasi_identifier = _find_word(parts, _hints("quasi_identifiers")) or _other_word(
        others, "B", "C", QUASI_IDENTIFYING
    )
    person = person_name_words(name) or (" ".join(single) if single in _NAME_HEADINGS else "")
    identifier = (
        person
        or _find_word(parts, _hints("keys", "identifiers"))
        or _person_number(single)
        or _other_identifier(others)
    )
    if not identifier and not quasi_identifier and not names_a_thing(name):
        identifier = _find_word(parts, _name_words()) or others.get(PERSONS, "")
    if identifier:
        return RoleHint.IDENTIFIER, identifier
    if quasi_identifier:
        return RoleHint.QUASI_IDENTIFIER, quasi_identifier
    sensitive = (
        _find_whole_word(parts, _hints("sensitive", "incomes"))
        or _find_inside(parts, _hints("sensitive_stems"))
        or others.get(PRIVATE, "")
    )
    return (RoleHint.SENSITIVE, sensitive) if sensitive else (RoleHint.NONE, "")


def _other_word(words_by_meaning: Mapping[str, str], *meanings: str) -> str:
    return next((words_by_meaning[meaning] for meaning in meanings if meaning in words_by_meaning), "")


def _other_identifier(words_by_meaning: Mapping[str, str]) -> str:
    """Return a foreign word for an identifier other than a name; the letters B and C are not identifiers."""
    return _other_word(
        words_by_meaning,
        *(meaning for meaning in words_by_meaning if len(meaning) == 1 and meaning not in "BC"),
    )


def is_age(name: str) -> bool:
    """Return whether a heading says that a column contains ages.

    >>> is_age("Age"), is_age("wife_age"), is_age("page")
    (True, True, False)
    """
    return bool(_find_whole_word(split_name(name), _hints("ages")))


def is_money(name: str) -> bool:
    """Return whether a heading says that a column contains amounts of money.

    >>> is_money("Kosten"), is_money("net_income"), is_money("age")
    (True, True, False)
    """
    return bool(_find_whole_word(split_name(name), _hints("incomes", "prices")))


def is_weight(name: str) -> bool:
    """Return whether a heading says weight, of a body or of a sampled row.

    >>> is_weight("weight"), is_weight("pspwght"), is_weight("birth_weight"), is_weight("height")
    (True, True, False, False)
    """
    parts = split_name(name)
    said = _find_whole_word(parts, ("weights", "gewicht")) or any(
        part.endswith(_WEIGHT_ENDINGS) for part in parts
    )
    return bool(said) and not any(part.startswith(("birth", "geburt", "body")) for part in parts)


def names_a_number(name: str) -> bool:
    """Return whether a heading ends in a word for an assigned number.

    >>> names_a_number("OrderNo"), names_a_number("Belegnummer"), names_a_number("number of visits")
    (True, True, False)
    """
    last = (split_name(name) or ("",))[-1]
    return last in _hints("numbers_at_end") or last.endswith(("nummer", "number"))


def person_key_word(name: str) -> str:
    """Return the word that marks a column as a key of persons; "" if there is none.

    >>> person_key_word("PatNr"), person_key_word("room_id"), person_key_word("Name on passport")
    ('pat nr', 'id', '')
    """
    parts = split_name(name)
    if _find_whole_word(parts, _name_words()):
        return ""
    return _person_number(parts) or _find_whole_word(parts, _hints("keys"))


@cache
def _hints(*keys: str) -> dict[str, None]:
    return dict.fromkeys(word for key in keys for word in words_of_headings("hints", key))


def _name_words() -> dict[str, None]:
    return words_of_headings("kinds", "A")


def _find_word(parts: tuple[str, ...], words: Collection[str]) -> str:
    return _find_whole_word(parts, words) or _find_inside(
        parts, [word for word in words if len(word) >= _SHORTEST_SUBSTRING]
    )


def _find_whole_word(parts: tuple[str, ...], words: Collection[str]) -> str:
    return next((part for part in parts if part in words), "")


def _find_inside(parts: tuple[str, ...], words: Iterable[str]) -> str:
    joined = " ".join(parts)  # words contain no blank, so a match is within one part
    return next((word for word in words if word in joined), "")


def _person_number(parts: tuple[str, ...]) -> str:
    """Return the words of a heading made of words for a person, or for a person and a number; else ""."""
    persons, counted, numbers = (_hints(key) for key in ("persons", "persons_with_number", "numbers"))
    compound = next((part for part in parts if _person_compound().fullmatch(part)), "")
    if compound or not all(part in (*persons, *counted, *numbers) for part in parts):
        return compound
    numbered = any(part in counted for part in parts) and any(part in numbers for part in parts)
    return " ".join(parts) if numbered or any(part in persons for part in parts) else ""


@cache
def _person_compound() -> re.Pattern[str]:
    persons = "|".join(_hints("persons", "persons_with_number"))
    return re.compile(rf"({persons}|versicherten)(e?n|s)?(nummer|number|nr|no|id|kennung)")


_NAME_WORD = re.compile(r"\b(name|display)\b")


@dataclass(frozen=True)
class IdentifierKind:
    """A kind of identifier: the rule's letter, title, and forms of values; its words are a list of headings.

    ``is_direct`` is true if one column of the kind identifies a person. ``forms`` are regular expressions
    that match a whole value (in the syntax that ``profile.column_profile`` uses).
    """

    letter: str
    title: str
    forms: tuple[str, ...] = ()
    is_direct: bool = True

    @property
    def label(self) -> str:
        """Letter and title, such as ``HIPAA G, social security numbers``."""
        return f"HIPAA {self.letter}, {self.title}"


_EMAIL = r"[^@ \t\n\f\r]+@[^@ \t\n\f\r]+\.[^@. \t\n\f\r]+"
_PHONE = r"(\+[0-9]{1,3}[ ./-]?)?(\([0-9]{2,4}\) ?|[0-9]{2,4}[ ./-])[0-9]{3,4}([ .-][0-9]{2,4}){1,2}"
_URL = r"(https?://|www\.)[^ \t\n\f\r]+"
_IP_ADDRESS = r"([0-9]{1,3}\.){3}[0-9]{1,3}"
_SSN = r"[0-9]{3}-[0-9]{2}-[0-9]{4}"
_IBAN = r"[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?"
_MAC = r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"
_UUID = r"[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"

IDENTIFIER_KINDS = (
    IdentifierKind("A", "names"),
    IdentifierKind("B", "places smaller than a state", is_direct=False),
    IdentifierKind("C", "dates other than a year, and ages", is_direct=False),
    IdentifierKind("D", "telephone numbers", (_PHONE,)),
    IdentifierKind("E", "fax numbers"),
    IdentifierKind("F", "email addresses", (_EMAIL,)),
    IdentifierKind("G", "social security numbers", (_SSN,)),
    IdentifierKind("H", "medical record numbers"),
    IdentifierKind("I", "health plan numbers"),
    IdentifierKind("J", "account numbers", (_IBAN,)),
    IdentifierKind("K", "certificate and licence numbers"),
    IdentifierKind("L", "vehicle identifiers"),
    IdentifierKind("M", "device identifiers", (_MAC,)),
    IdentifierKind("N", "web addresses", (_URL,)),
    IdentifierKind("O", "IP addresses", (_IP_ADDRESS,)),
    IdentifierKind("P", "biometric identifiers"),
    IdentifierKind("Q", "full-face photographs"),
    IdentifierKind("R", "other unique numbers and codes", (_UUID,)),
)
"""Kinds of identifiers in the rule's order."""


def kind_by_letter(letter: str) -> IdentifierKind | None:
    """Return the kind of a letter of the rule; None for other texts."""
    return next((kind for kind in IDENTIFIER_KINDS if kind.letter == letter), None)


def kind_by_word(word: str) -> IdentifierKind | None:
    """Return the kind that a word of a heading denotes, or None.

    >>> kind_by_word("ssn").label, kind_by_word("plz").letter, kind_by_word("salary")
    ('HIPAA G, social security numbers', 'B', None)
    """
    result = next(
        (kind for kind in IDENTIFIER_KINDS if word in words_of_headings("kinds", kind.letter)), None
    )
    if result is not None or not word:
        return result
    return kind_by_letter("A" if _NAME_WORD.search(word) else letter_by_foreign_word(word))
