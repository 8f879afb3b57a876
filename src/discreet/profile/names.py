"""What a column's name tells of its role.

The words cover the eighteen kinds of identifiers of the HIPAA safe-harbour rule and their like in several
languages, what others can usually know of a person, and what people usually keep to themselves. A word counts
where it is a whole part of the name (``patient_id`` has the parts patient and id). Inside a part
(``homeaddress``) count words of six letters or more of the two protected roles, and a few stems of the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from itertools import pairwise

from discreet.profile.headings import OTHERS_KNOW, PERSONS, PRIVATE, found_words, name_parts
from discreet.profile.record_paths import names_person, names_thing

__all__ = [
    "NameHint",
    "is_age",
    "is_money",
    "is_numbered",
    "is_weight",
    "name_hint",
    "name_parts",
    "person_key",
]

_SUBSTRING = 6
_ONE_WORD = ("ad",), ("ten",), ("ho",)  # Turkish and Vietnamese words for a name, if nothing else is said


class NameHint(StrEnum):
    """What a name suggests."""

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


def name_hint(name: str) -> tuple[NameHint, str]:
    """What the name suggests and the word that does; ``("none", "")`` where nothing does.

    >>> [str(name_hint(name)[0]) for name in ("Patient_ID", "dateOfBirth", "salary", "x")]
    ['identifier', 'quasi-identifier', 'sensitive', 'none']

    Where words of several kinds occur, an identifier wins over a quasi-identifier, and that over a sensitive
    attribute: the more protected role. But a name of a place or the like (``city_name``) is no person's, nor
    is that of a thing (``product name``). A path in a nested record is read as one (``record_paths``).
    """
    single = name_parts(name)
    parts = (*single, *(first + second for first, second in pairwise(single)))
    others = found_words(parts)
    quasi_identifier = _found(parts, _QUASI_IDENTIFIERS) or _other_word(others, "B", "C", OTHERS_KNOW)
    person = names_person(name) or (" ".join(single) if single in _ONE_WORD else "")
    identifier = person or _found(parts, _IDENTIFIERS) or _person_number(single) or _other_identifier(others)
    if not identifier and not quasi_identifier and not names_thing(name):
        identifier = _found(parts, _PERSON_NAMES) or others.get(PERSONS, "")
    if identifier:
        return NameHint.IDENTIFIER, identifier
    if quasi_identifier:
        return NameHint.QUASI_IDENTIFIER, quasi_identifier
    sensitive = (
        _whole(parts, _SENSITIVE) or _inside(parts, _SENSITIVE_STEMS.split()) or others.get(PRIVATE, "")
    )
    return (NameHint.SENSITIVE, sensitive) if sensitive else (NameHint.NONE, "")


def _other_word(found: Mapping[str, str], *meanings: str) -> str:
    return next((found[meaning] for meaning in meanings if meaning in found), "")


def _other_identifier(found: Mapping[str, str]) -> str:
    """A word of another language for an identifier that is no name, whose kinds have letters but B and C."""
    return _other_word(found, *(meaning for meaning in found if len(meaning) == 1 and meaning not in "BC"))


def is_age(name: str) -> bool:
    """Whether the name says that a column holds ages.

    >>> is_age("Age"), is_age("wife_age"), is_age("page")
    (True, True, False)
    """
    return bool(_whole(name_parts(name), "age agea alter edad idade eta leeftijd"))


def is_money(name: str) -> bool:
    """Whether the name says that a column holds sums of money.

    >>> is_money("Kosten"), is_money("net_income"), is_money("age")
    (True, True, False)
    """
    return bool(_whole(name_parts(name), _INCOMES + _PRICES))


def is_weight(name: str) -> bool:
    """Whether the name says weight, whether of a body or of a row of a sample.

    >>> is_weight("weight"), is_weight("pspwght"), is_weight("birth_weight"), is_weight("height")
    (True, True, False, False)
    """
    parts = name_parts(name)
    said = _whole(parts, "weights gewicht") or any(part.endswith(_WEIGHTS) for part in parts)
    return bool(said) and not any(part.startswith(("birth", "geburt", "body")) for part in parts)


def is_numbered(name: str) -> bool:
    """Whether the name ends in a word for a number that is given to something.

    >>> is_numbered("OrderNo"), is_numbered("Belegnummer"), is_numbered("number of visits")
    (True, True, False)
    """
    last = (name_parts(name) or ("",))[-1]
    return last in _NUMBER_AT_END.split() or last.endswith(("nummer", "number"))


def person_key(name: str) -> str:
    """The word that says that a column numbers or names persons, each by one value; empty for none.

    >>> person_key("PatNr"), person_key("room_id"), person_key("Name on passport")
    ('pat nr', 'id', '')
    """
    parts = name_parts(name)
    if _whole(parts, _PERSON_NAMES):
        return ""
    return _person_number(parts) or _whole(parts, _KEYS)


def _found(parts: tuple[str, ...], words: str) -> str:
    return _whole(parts, words) or _inside(
        parts, [word for word in _listed(words) if len(word) >= _SUBSTRING]
    )


def _whole(parts: tuple[str, ...], words: str) -> str:
    listed = _listed(words)
    return next((part for part in parts if part in listed), "")


@cache
def _listed(words: str) -> dict[str, None]:
    """The words of a text, in their order."""
    return dict.fromkeys(words.split())


def _inside(parts: tuple[str, ...], words: list[str]) -> str:
    joined = " ".join(parts)  # no word has a blank
    return next((word for word in words if word in joined), "")


def _person_number(parts: tuple[str, ...]) -> str:
    """``patient``, ``patient number``: a word for a person, with nothing but words for a number."""
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
