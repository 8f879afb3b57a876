"""Words of column names for keys of persons, for households, and for traits that a person keeps.

A name is split into words (``profile.names.name_parts``). The words cover what surveys, registers, hospitals
and shops call such columns, in the languages of ``profile.names`` and in others' scripts.
"""

from __future__ import annotations

from enum import StrEnum

from discreet.profile.names import is_age, name_parts, person_key


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PERSON_KEYS = _words(
    """
    pid pidp pidlink pidno xwaveid persnr pernr pnr pnum persnum persno persid personid personnr personnum
    personno perid idperson idpers idpersona idind indid individ individual individu inddiv idno idnum
    idnumber
    resp respid respno respnr respnum respondentid respondentnr respondentno idrespondent idrespondente
    subjid usubjid subjectid subjectno subjno subj studyid sujet sujetid
    studid stuid studentid studentno studentnr schuelernr matrikel matrikelnr matrnr matriculation learnerid
    pat patid patnr patno patnum patientid patientno patientnr patientnum patientnbr ptid ptno ptnum nip ipp
    mrn chi hcn nhsno nhsnumber medrec beneid benefid beneficiaryid desynpufid memberid memberno membernr
    mitgliedsnr mitgliedsnummer userid userno custid custno custnr customerid customerno kdnr kundennr kundenr
    kundennummer kundeid klient klientnr clientid clientno empid empno empnr employeeid employeeno staffid
    staffno workerid mitarbeiternr personalnr personalnummer nomina legajo
    lopnr lopenr lpnr cpr cprnr fnr fodselsnr fodselsnummer henkilotunnus hetu bsn rin rinpersoon
    versnr versichertennr versichertennummer versichertenid vsnr rvnr kvnr eid nomem nomemencr mergeid hhidpn
    caseid participantid partid particid probandid probandennr probnr vpn vpnr versuchsperson teilnehmernr
    deelnemer deelnemernr curp rut cuit cuil nik oib emso jmbg rodnecislo steuernr steuerid idnr taxid cedula
    donorid donornr tenantid borrowerid playerid athleteid driverid passengerid voterid panelist panelistid
    panelid playerno ausweisnr
    """
)
_WEAK_KEYS = _words(
    "id ids uid guid uuid identifier identifiant identificador kennung username login insurance"
)
_HOUSEHOLDS = _words(
    """
    hid hidp hh hhid hhno hhnr hhnum household householdid householdno hhserial serial haushalt haushaltid
    haushaltsid haushaltsnr haushaltnr haushaltsnummer famid familyid familyno familiennr dwelling dwellingid
    menage idmenage foyer hogar idhogar vivienda nucleo domicilio huishouden huishoudnr hushall hushallsid
    husholdning gospodarstwo
    """
)
_BIRTH = _words(
    """
    birth born birthday birthdate birthyear byear dob yob gebdat gebdatum gebjahr geburt geburtsdatum
    geburtsjahr geburtstag nacimiento naissance nascita nascimento yrbrn geboortedatum geboortejaar
    urodzenia fodelsear fodelsedatum fodselsdato syntymaaika narozeni dogum szuletesi
    рождения народження γεννηση γεννησης 出生 出生日期 生年月日 생년월일 เกิด
    """
)
_SEX = _words(
    """
    sex gender gndr geschlecht geschl sexe sexo sesso geslacht plec kon kjonn sukupuoli pohlavi cinsiyet
    genero пол стать φυλο 性别 性別 성별 เพศ جنس الجنس מין लिंग
    """
)
_AGES = _words("wiek alderen ika vek kor yas возраст вік ηλικια 年龄 年齢 年齡 나이 연령 อายุ العمر גיל आयु")
_ORIGIN = _words("race ethnicity ethnic ethnie raza raca")
_NUMBER_WORDS = {"nbr": "nr", "num": "nr", "numb": "nr", "idx": "id", "ident": "id"}


class TraitKind(StrEnum):
    """A kind of trait that a person keeps, or that changes slowly with time."""

    BIRTH = "birth"
    SEX = "sex"
    AGE = "age"
    ORIGIN = "origin"


def trait_kind(name: str) -> TraitKind | None:
    """Return the trait that a column holds by its name.

    >>> [str(trait_kind(name)) for name in ("date_of_birth", "Geschlecht", "AGE", "race", "zip")]
    ['birth', 'sex', 'age', 'origin', 'None']
    """
    parts = {*name_parts(name), "".join(name_parts(name))}
    if parts & _BIRTH:
        return TraitKind.BIRTH
    if parts & _SEX:
        return TraitKind.SEX
    if parts & _AGES or is_age(name):
        return TraitKind.AGE
    return TraitKind.ORIGIN if parts & _ORIGIN else None


def is_person_key(name: str) -> bool:
    """Return whether a name says that the column numbers persons.

    >>> [is_person_key(name) for name in ("patient_nbr", "PNR", "resp_id", "id", "room_id", "country")]
    [True, True, True, False, False, False]
    """
    parts = name_parts(name)
    if "".join(parts) in _PERSON_KEYS:
        return True
    word = person_key(" ".join(_NUMBER_WORDS.get(part, part) for part in parts))
    return bool(word) and word not in _WEAK_KEYS


def is_weak_key(name: str) -> bool:
    """Return whether a name says that the column numbers something, which may be persons.

    >>> is_weak_key("id"), is_weak_key("room_id"), is_weak_key("country")
    (True, True, False)
    """
    return bool(person_key(name))


def is_household(name: str) -> bool:
    """Return whether a name says that the column numbers households.

    >>> is_household("hhid"), is_household("HH_ID"), is_household("household size")
    (True, True, False)
    """
    return "".join(name_parts(name)) in _HOUSEHOLDS
