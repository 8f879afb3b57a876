"""Suggestions from column names."""

from __future__ import annotations

import pytest

from discreet.profile.heading_hints import RoleHint, hint_role, split_name

IDENTIFIERS = """
    id ID patient_id PatientID customerId person_no record_number name Name FIRST_NAME lastName Vorname
    Nachname Prénom apellidos ssn SocialSecurityNumber e_mail email_address phone TelefonNr mobile Straße
    home_address homeaddress passport_no IBAN mrn licence_plate vin ip_address device_serial username
    photo url case_nr patient Kunde
"""
QUASI_IDENTIFIERS = """
    age Alter date_of_birth dateOfBirth DOB birthYear Geburtsdatum sex gender Geschlecht race ethnicity zip
    ZIP_CODE postcode PLZ city city_name county state region native_country nationality marital-status
    Familienstand education occupation Beruf job_title religion number_of_children wife_age admission_date
    relationship region
"""
SENSITIVE = """
    diagnosis Diagnose icd10 main_disease treatment medication hiv_status salary salary_class income
    monthlyIncome Gehalt debt contraceptive_method iinjury criminal_record_2 political_party health
"""
NOTHING = "form housing social finance has_nurs media_exposure x fnlwgt per idle valid"


@pytest.mark.parametrize("name", IDENTIFIERS.split())
def test_identifiers(name: str) -> None:
    assert hint_role(name)[0] is RoleHint.IDENTIFIER


@pytest.mark.parametrize("name", QUASI_IDENTIFIERS.split())
def test_quasi_identifiers(name: str) -> None:
    assert hint_role(name)[0] is RoleHint.QUASI_IDENTIFIER


@pytest.mark.parametrize("name", SENSITIVE.split())
def test_sensitive_attributes(name: str) -> None:
    assert hint_role(name)[0] is RoleHint.SENSITIVE


@pytest.mark.parametrize("name", NOTHING.split())
def test_names_that_say_nothing(name: str) -> None:
    assert hint_role(name)[0] is RoleHint.NONE


def test_the_more_protected_role_wins() -> None:
    assert hint_role("income_zip")[0] is RoleHint.QUASI_IDENTIFIER
    assert hint_role("zip_email")[0] is RoleHint.IDENTIFIER


def test_parts() -> None:
    assert split_name("dateOfBirth") == ("date", "of", "birth")
    assert split_name("Straße-Nr. 2") == ("strasse", "nr")
    assert split_name("Prénom") == ("prenom",)
    assert split_name("") == ()
