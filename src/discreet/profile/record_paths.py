"""Names of columns that are paths in a nested record: ``subject.patient.name.family``, ``contact[0].name``.

FHIR names a person by ``name`` (HumanName: family, given, text, …) and points to one by a Reference, whose
``display`` is the person's name in words; other JSON has its like. HL7 FHIR R5, data types HumanName and
Reference, and the elements that refer to Patient, Practitioner, PractitionerRole, RelatedPerson or Person.
"""

from __future__ import annotations

import re

from discreet.profile.headings import is_person_word, is_thing, name_parts

PERSON_TYPES = frozenset(["Patient", "Practitioner", "PractitionerRole", "RelatedPerson", "Person"])
"""FHIR's resources that are persons."""

_SIGNS = re.compile(r"[./\[\]:>]+|__+|->")
_NAME = frozenset(["name", "names", "humanname"])
_PARTS_OF_NAMES = frozenset(
    [
        "family",
        "given",
        "first",
        "last",
        "middle",
        "maiden",
        "full",
        "second",
        "legal",
        "text",
        "prefix",
        "suffix",
        "surname",
        "forename",
        "birth",
        "nick",
    ]
)
_PERSONS_TEXT = """
    subject patient practitioner performer author recorder asserter requester informant participant
    individual actor who agent attester party authenticator sender recipient beneficiary subscriber holder
    payee enterer provider member attender admitter receiver collector interpreter responsible supervisor
    signer witness verifier person contact owner reviewer endorser assessor dispenser prescriber orderer
    referrer surgeon physician doctor nurse user customer client employee student pupil respondent
    proposer reporter
"""
_PERSONS = frozenset(_PERSONS_TEXT.split())
_NO_PERSONS_TEXT = """
    coding code type class status category value unit organization organisation provider location encounter
    medication device specimen condition reason insurer facility service context episode coverage procedure
    observation plan goal list substance manufacturer endpoint group custodian team study site
"""
_NO_PERSONS = frozenset(_NO_PERSONS_TEXT.split())


def segments(name: str) -> tuple[str, ...]:
    """The parts of a path, numbers left out.

    >>> segments("contact[0].name.text"), segments("zip")
    (('contact', 'name', 'text'), ('zip',))
    """
    return tuple(part for part in _SIGNS.split(name) if part and not part.isdigit())


def stem_of(name: str, last: str) -> str | None:
    """The path of the record whose field ``last`` a name is; None for a name that is no such path.

    >>> stem_of("subject.display", "display"), stem_of("subject_reference", "reference")
    ('subject', 'subject')
    """
    found = re.fullmatch(rf"(.+?)(?:[./:_>-]+){last}\]?", name, re.IGNORECASE)
    return found.group(1).rstrip("[") if found else None


def names_person(name: str) -> str:
    """The words by which a path, or a name of several words, is that of a person's name; empty for none.

    >>> names_person("subject.patient.name.family"), names_person("subject.display")
    ('name family', 'subject display')
    >>> names_person("product name"), names_person("maritalStatus.coding.0.display")
    ('', '')
    """
    parts = name_parts(name)
    for place, part in enumerate(parts):
        if part not in _NAME:
            continue
        before = parts[place - 1] if place else ""
        behind = parts[place + 1] if place + 1 < len(parts) else ""
        if before in _PARTS_OF_NAMES:
            return f"{before} {part}"
        if behind in _PARTS_OF_NAMES and not is_thing(before):
            return f"{part} {behind}"
        if parts[place + 1 : place + 3] == ("at", "birth"):
            return "name at birth"
        if before and is_person_word(before):
            return f"{before} {part}"
    return _display(parts)


def names_thing(name: str) -> bool:
    """Whether a word for a name is that of a thing: ``product name``, ``managingOrganization.name``.

    >>> names_thing("ProductName"), names_thing("name of hospital"), names_thing("patient name")
    (True, True, False)
    """
    parts = name_parts(name)
    places = [i for i, part in enumerate(parts) if part in _NAME]
    return any(
        (i and is_thing(parts[i - 1]))
        or (parts[i + 1 : i + 2] == ("of",) and is_thing("".join(parts[i + 2 : i + 3])))
        for i in places
    )


def refers_to_thing(name: str) -> bool:
    """Whether the record that a path is in is known to be no person: ``managingOrganization.display``."""
    parts = name_parts(name)[:-1]
    return bool(parts) and (parts[-1] in _NO_PERSONS or is_thing(parts[-1]))


def _display(parts: tuple[str, ...]) -> str:
    """``subject display``: the name in words of a person that a record refers to."""
    if len(parts) < 2 or parts[-1] not in ("display", "reference"):
        return ""
    parent = parts[-2]
    if parent in _PERSONS and parent != "provider":
        return f"{parent} {parts[-1]}"
    return ""
