"""The eighteen kinds of identifiers of the HIPAA safe-harbour rule, by a column's name and by its values.

The rule (45 CFR 164.514(b)(2)(i), letters A to R) lists what must go before health data count as
de-identified. Sixteen kinds name a person by themselves; places and dates (B and C) do so together with
others, so they are quasi-identifiers here. A kind is recognized by words of the name, or by the form of nine
in ten of the distinct values, whatever the name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.profile.headings import letter_of_word

_NAME = re.compile(r"\b(name|display)\b")


@dataclass(frozen=True)
class IdentifierKind:
    """One kind: the rule's letter, what it is called, words of column names, and the forms of values.

    ``alone`` says whether one column of the kind names a person. ``forms`` are regular expressions that a
    whole value matches (written as ``profile.columns`` says).
    """

    letter: str
    title: str
    words: str
    forms: tuple[str, ...] = ()
    alone: bool = True

    @property
    def label(self) -> str:
        """``HIPAA G, social security numbers``."""
        return f"HIPAA {self.letter}, {self.title}"


_EMAIL = r"[^@ \t\n\f\r]+@[^@ \t\n\f\r]+\.[^@. \t\n\f\r]+"
_PHONE = r"(\+[0-9]{1,3}[ ./-]?)?(\([0-9]{2,4}\) ?|[0-9]{2,4}[ ./-])[0-9]{3,4}([ .-][0-9]{2,4}){1,2}"
_URL = r"(https?://|www\.)[^ \t\n\f\r]+"
_ADDRESS = r"([0-9]{1,3}\.){3}[0-9]{1,3}"
_SSN = r"[0-9]{3}-[0-9]{2}-[0-9]{4}"
_IBAN = r"[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?"
_MAC = r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"
_UUID = r"[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"

KINDS = (
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
        alone=False,
    ),
    IdentifierKind(
        "C",
        "dates other than a year, and ages",
        "birth born birthday birthdate dob yrbrn geburt geburtsdatum geb gebdat gebdatum gebjahr "
        "nacimiento naissance nascita nascimento "
        "admission discharge death deathday visit date datum fecha data day age alter edad idade "
        "eta leeftijd",
        alone=False,
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
    IdentifierKind("O", "IP addresses", "ip ipaddress", (_ADDRESS,)),
    IdentifierKind("P", "biometric identifiers", "fingerprint voiceprint biometric iris retina"),
    IdentifierKind("Q", "full-face photographs", "photo picture portrait face image"),
    IdentifierKind(
        "R",
        "other unique numbers and codes",
        "id ids uid guid uuid identifier identifiant identificador kennung username login signature",
        (_UUID,),
    ),
)
"""The kinds in the rule's order."""


def kind_of_letter(letter: str) -> IdentifierKind | None:
    """The kind of one of the rule's letters; None for another text."""
    return next((kind for kind in KINDS if kind.letter == letter), None)


def kind_of_word(word: str) -> IdentifierKind | None:
    """The kind that a word of a column's name points to, as ``profile.names`` finds words; None for none.

    >>> kind_of_word("ssn").label, kind_of_word("plz").letter, kind_of_word("salary")
    ('HIPAA G, social security numbers', 'B', None)
    """
    found = next((kind for kind in KINDS if word in kind.words.split()), None)
    if found is not None or not word:
        return found
    return kind_of_letter("A" if _NAME.search(word) else letter_of_word(word))
