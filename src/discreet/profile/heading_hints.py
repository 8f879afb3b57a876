"""Roles suggested by column headings, and the kinds of identifiers of the HIPAA safe-harbour rule.

The word lists cover the eighteen kinds (45 CFR 164.514(b)(2)(i), A to R) in several languages, facts about a
person that others can usually know, and private matters. Headings may be paths in nested records (HL7 FHIR
R5: HumanName, Reference). A kind has words of headings and patterns of values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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

PERSON_TYPES = frozenset(["Patient", "Practitioner", "PractitionerRole", "RelatedPerson", "Person"])
"""FHIR resource types that are persons."""

_PATH_SIGNS = re.compile(r"[./\[\]:>]+|__+|->")
_NAME_PARTS = frozenset(["name", "names", "humanname"])
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
_PERSON_FIELDS_TEXT = """
    subject patient practitioner performer author recorder asserter requester informant participant
    individual actor who agent attester party authenticator sender recipient beneficiary subscriber holder
    payee enterer provider member attender admitter receiver collector interpreter responsible supervisor
    signer witness verifier person contact owner reviewer endorser assessor dispenser prescriber orderer
    referrer surgeon physician doctor nurse user customer client employee student pupil respondent
    proposer reporter
"""
_PERSON_FIELDS = frozenset(_PERSON_FIELDS_TEXT.split())
_THING_FIELDS_TEXT = """
    coding code type class status category value unit organization organisation provider location encounter
    medication device specimen condition reason insurer facility service context episode coverage procedure
    observation plan goal list substance manufacturer endpoint group custodian team study site
"""
_THING_FIELDS = frozenset(_THING_FIELDS_TEXT.split())


def path_segments(name: str) -> tuple[str, ...]:
    """Split a path into its parts, without numbers.

    >>> path_segments("contact[0].name.text"), path_segments("zip")
    (('contact', 'name', 'text'), ('zip',))
    """
    return tuple(part for part in _PATH_SIGNS.split(name) if part and not part.isdigit())


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
        if before in _PARTS_OF_NAMES:
            return f"{before} {part}"
        if behind in _PARTS_OF_NAMES and not is_thing_word(before):
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
    return bool(parts) and (parts[-1] in _THING_FIELDS or is_thing_word(parts[-1]))


def _reference_words(parts: tuple[str, ...]) -> str:
    """Return the words of a reference to a person, such as ``subject display``; "" for other paths."""
    if len(parts) < 2 or parts[-1] not in ("display", "reference"):
        return ""
    parent = parts[-2]
    if parent in _PERSON_FIELDS and parent != "provider":
        return f"{parent} {parts[-1]}"
    return ""


__all__ = [
    "RoleHint",
    "hint_role",
    "is_age",
    "is_money",
    "is_weight",
    "names_a_number",
    "person_key_word",
    "split_name",
]

_SHORTEST_SUBSTRING = 6
_ONE_WORD = ("ad",), ("ten",), ("ho",)  # Turkish and Vietnamese for "name", as a whole heading


class RoleHint(StrEnum):
    """Role that a heading suggests."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    NONE = "none"


_PERSON_NAMES = """
    name names firstname lastname surname forename fullname givenname maiden nickname
    vorname nachname familienname nom prenom nombre apellido apellidos nome cognome sobrenome
    naam voornaam achternaam imie nazwisko fornamn efternamn navn
"""
_KEYS = """
    id ids uid guid uuid identifier identifiant identificador kennung
    ssn socialsecurity nino nhs bsn pesel cpf cnpj dni nie nif nir insee avs ahv cnp aadhaar personnummer
    svnr svnummer sozialversicherungsnummer
    passport reisepass passeport pasaporte licence license
    mrn insurance versichertennummer patientid recordnumber username login
"""
_IDENTIFIERS = f"""
    {_KEYS} plate kennzeichen vin
    email mail telecom phone telephone telefon telefono telefone tel mobile handy fax contact kontakt
    address adresse direccion indirizzo endereco adres street strasse rue calle
    account konto iban
    ip mac imei imsi url website homepage device serial
    photo picture fingerprint voiceprint biometric signature
"""
_WEIGHTS = "weight", "wght", "wgt", "wt"
_PERSONS = """
    patient person subject member customer client employee respondent participant student pupil case
    record user donor kunde versicherter persona persoon
"""
_COUNTED = "pat fall cust emp subj resp mitarbeiter personal proband teilnehmer mitglied kunden staff worker"
_NUMBERS = "id no nr num number code key nummer numero numer ref reference"
_NUMBER_AT_END = "no nr num number nummer numero numer ref reference key"
_QUASI_IDENTIFIERS = """
    age alter edad idade eta leeftijd birth born birthday birthdate dob yob geburt geburtsdatum geburtsjahr
    nacimiento naissance nascita nascimento geb gebdat gebdatum gebjahr yrbrn birthyear byear
    agea sex gender gndr geschlecht geschl sexe sexo sesso geslacht race ethnic ethnicity ethnie hispanic
    zip zipcode postal postcode plz cep cap codepostal city town village municipality gemeinde commune
    ciudad stadt ville ort ortschaft county district kreis borough state province provincia bundesland canton
    kanton departement region country cntry nuts land pais pays paese nation nationality native citizenship
    marital married civil familienstand estadocivil education educated schooling degree bildung formation
    isco kldb nace isic
    occupation job profession beruf profesion workclass employer employment industry sector
    language sprache langue idioma religion relationship household family children kinder enfants hijos
    region siblings
    height weight admission discharge visit date datum fecha data year jahr annee ano month day
    latitude longitude lat lon lng location place residence death deathday
"""
_INCOMES = """
    income salary wage wages earnings pay payroll gehalt einkommen lohn salario ingresos revenu salaire
    reddito wealth asset assets capital debt credit loan balance tax welfare benefit benefits pension
"""
_PRICES = """
    cost costs kosten price preis amount betrag fee fees charge charges umsatz turnover revenue expense
    expenses ausgaben rent miete
"""
_SENSITIVE = f"""
    diagnosis diagnoses diagnose diagnostic diag
    disease illness sickness icd condition symptom treatment therapy
    drug medication medicine procedure surgery lab result hiv aids cancer blood genetic genome mental health
    disability pregnancy pregnant contraceptive contraception abortion sexual orientation injury
    krankheit befund enfermedad maladie malattia ziekte
    {_INCOMES}
    crime offence offense conviction arrest criminal sentence political party vote union opinion belief
    score grade rating
"""
_SENSITIVE_STEMS = "diagnos disease illness injury income salary contracept pregnan"


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
    quasi_identifier = _find_word(parts, _QUASI_IDENTIFIERS) or _other_word(
        others, "B", "C", QUASI_IDENTIFYING
    )
    person = person_name_words(name) or (" ".join(single) if single in _ONE_WORD else "")
    identifier = (
        person or _find_word(parts, _IDENTIFIERS) or _person_number(single) or _other_identifier(others)
    )
    if not identifier and not quasi_identifier and not names_a_thing(name):
        identifier = _find_word(parts, _PERSON_NAMES) or others.get(PERSONS, "")
    if identifier:
        return RoleHint.IDENTIFIER, identifier
    if quasi_identifier:
        return RoleHint.QUASI_IDENTIFIER, quasi_identifier
    sensitive = (
        _find_whole_word(parts, _SENSITIVE)
        or _find_inside(parts, _SENSITIVE_STEMS.split())
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
    return bool(_find_whole_word(split_name(name), "age agea alter edad idade eta leeftijd"))


def is_money(name: str) -> bool:
    """Return whether a heading says that a column contains amounts of money.

    >>> is_money("Kosten"), is_money("net_income"), is_money("age")
    (True, True, False)
    """
    return bool(_find_whole_word(split_name(name), _INCOMES + _PRICES))


def is_weight(name: str) -> bool:
    """Return whether a heading says weight, of a body or of a sampled row.

    >>> is_weight("weight"), is_weight("pspwght"), is_weight("birth_weight"), is_weight("height")
    (True, True, False, False)
    """
    parts = split_name(name)
    said = _find_whole_word(parts, "weights gewicht") or any(part.endswith(_WEIGHTS) for part in parts)
    return bool(said) and not any(part.startswith(("birth", "geburt", "body")) for part in parts)


def names_a_number(name: str) -> bool:
    """Return whether a heading ends in a word for an assigned number.

    >>> names_a_number("OrderNo"), names_a_number("Belegnummer"), names_a_number("number of visits")
    (True, True, False)
    """
    last = (split_name(name) or ("",))[-1]
    return last in _NUMBER_AT_END.split() or last.endswith(("nummer", "number"))


def person_key_word(name: str) -> str:
    """Return the word that marks a column as a key of persons; "" if there is none.

    >>> person_key_word("PatNr"), person_key_word("room_id"), person_key_word("Name on passport")
    ('pat nr', 'id', '')
    """
    parts = split_name(name)
    if _find_whole_word(parts, _PERSON_NAMES):
        return ""
    return _person_number(parts) or _find_whole_word(parts, _KEYS)


def _find_word(parts: tuple[str, ...], words: str) -> str:
    return _find_whole_word(parts, words) or _find_inside(
        parts, [word for word in _word_set(words) if len(word) >= _SHORTEST_SUBSTRING]
    )


def _find_whole_word(parts: tuple[str, ...], words: str) -> str:
    listed = _word_set(words)
    return next((part for part in parts if part in listed), "")


@cache
def _word_set(words: str) -> dict[str, None]:
    """Return the words of a text, in order."""
    return dict.fromkeys(words.split())


def _find_inside(parts: tuple[str, ...], words: list[str]) -> str:
    joined = " ".join(parts)  # words contain no blank, so a match is within one part
    return next((word for word in words if word in joined), "")


def _person_number(parts: tuple[str, ...]) -> str:
    """Return the words of a heading made of words for a person, or for a person and a number; else ""."""
    persons, counted, numbers = _PERSONS.split(), _COUNTED.split(), _NUMBERS.split()
    compound = next((part for part in parts if _PERSON_COMPOUND.fullmatch(part)), "")
    if compound or not all(part in (*persons, *counted, *numbers) for part in parts):
        return compound
    numbered = any(part in counted for part in parts) and any(part in numbers for part in parts)
    return " ".join(parts) if numbered or any(part in persons for part in parts) else ""


_PERSON_COMPOUND = re.compile(
    rf"({'|'.join((*_PERSONS.split(), *_COUNTED.split()))}|versicherten)(e?n|s)?"
    "(nummer|number|nr|no|id|kennung)"
)


_NAME_WORD = re.compile(r"\b(name|display)\b")


@dataclass(frozen=True)
class IdentifierKind:
    """A kind of identifier: the rule's letter, title, words of headings, and forms of values.

    ``is_direct`` is true if one column of the kind identifies a person. ``forms`` are regular expressions
    that match a whole value (in the syntax that ``profile.column_profile`` uses).
    """

    letter: str
    title: str
    words: str
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
    IdentifierKind(
        "A",
        "names",
        "name names firstname lastname surname forename fullname givenname maiden nickname vorname nachname "
        "familienname nom prenom nombre apellido apellidos nome cognome sobrenome naam voornaam achternaam "
        "imie nazwisko fornamn efternamn navn",
    ),
    IdentifierKind(
        "B",
        "places smaller than a state",
        "zip zipcode postal postcode plz cep cap codepostal city town village municipality gemeinde commune "
        "ciudad stadt ville ort ortschaft county district kreis borough latitude longitude lat lon lng "
        "location place residence address adresse direccion indirizzo endereco adres street strasse rue "
        "calle",
        is_direct=False,
    ),
    IdentifierKind(
        "C",
        "dates other than a year, and ages",
        "birth born birthday birthdate dob yrbrn geburt geburtsdatum geb gebdat gebdatum gebjahr "
        "nacimiento naissance nascita nascimento "
        "admission discharge death deathday visit date datum fecha data day age alter edad idade "
        "eta leeftijd",
        is_direct=False,
    ),
    IdentifierKind(
        "D", "telephone numbers", "phone telephone telefon telefono telefone tel mobile handy", (_PHONE,)
    ),
    IdentifierKind("E", "fax numbers", "fax telefax"),
    IdentifierKind("F", "email addresses", "email mail", (_EMAIL,)),
    IdentifierKind(
        "G",
        "social security numbers",
        "ssn socialsecurity nino nhs bsn pesel cpf dni nie nif nir insee avs ahv cnp aadhaar personnummer",
        (_SSN,),
    ),
    IdentifierKind("H", "medical record numbers", "mrn patientid recordnumber medicalrecord chart"),
    IdentifierKind(
        "I", "health plan numbers", "insurance versichertennummer beneficiary policy policynumber healthplan"
    ),
    IdentifierKind("J", "account numbers", "account konto iban bic accountnumber", (_IBAN,)),
    IdentifierKind(
        "K",
        "certificate and licence numbers",
        "licence license certificate passport reisepass passeport pasaporte",
    ),
    IdentifierKind("L", "vehicle identifiers", "plate kennzeichen vin vehicle licenseplate"),
    IdentifierKind("M", "device identifiers", "device serial imei imsi mac udid", (_MAC,)),
    IdentifierKind("N", "web addresses", "url website homepage", (_URL,)),
    IdentifierKind("O", "IP addresses", "ip ipaddress", (_IP_ADDRESS,)),
    IdentifierKind("P", "biometric identifiers", "fingerprint voiceprint biometric iris retina"),
    IdentifierKind("Q", "full-face photographs", "photo picture portrait face image"),
    IdentifierKind(
        "R",
        "other unique numbers and codes",
        "id ids uid guid uuid identifier identifiant identificador kennung username login signature",
        (_UUID,),
    ),
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
    result = next((kind for kind in IDENTIFIER_KINDS if word in kind.words.split()), None)
    if result is not None or not word:
        return result
    return kind_by_letter("A" if _NAME_WORD.search(word) else letter_by_foreign_word(word))
