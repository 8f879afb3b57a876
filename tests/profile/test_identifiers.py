"""HIPAA's eighteen kinds of identifiers, by column name and form of values."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.engines.connection import connect
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.column_profile import ColumnProfile, profile_columns
from discreet.profile.heading_hints import IDENTIFIER_KINDS, kind_by_letter
from discreet.profile.roles import identifier_kind, propose_role
from discreet.profile.word_lists import words_of_headings
from discreet.settings import Settings


def profiles(path: Path, columns: dict[str, list[str]], settings: Settings) -> dict[str, ColumnProfile]:
    lines = [
        ",".join(columns),
        *(",".join(f'"{c}"' for c in row) for row in zip(*columns.values(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with connect(settings) as engine:
        table = engine.open_source(SourceSpec(path=path))
        return {column.name: column for column in profile_columns(engine, table)}


def test_eighteen_identifier_kinds_are_in_the_order_of_the_rule() -> None:
    assert "".join(kind.letter for kind in IDENTIFIER_KINDS) == "ABCDEFGHIJKLMNOPQR"
    assert [kind.letter for kind in IDENTIFIER_KINDS if not kind.is_direct] == ["B", "C"]
    words = [word for kind in IDENTIFIER_KINDS for word in words_of_headings("kinds", kind.letter)]
    assert len(words) == len(set(words))


FORMS = {
    "D": ["+41 44 123 45 67", "(212) 555-0187", "030-1234-5678"],
    "F": ["ann@example.org", "b.c@x.co.uk", "d+e@y.ch"],
    "G": ["078-05-1120", "219-09-9999", "457-55-5462"],
    "J": ["CH9300762011623852957", "DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819"],
    "M": ["00:1A:2B:3C:4D:5E", "aa-bb-cc-dd-ee-ff", "00:00:00:00:00:01"],
    "N": ["https://a.example/x", "http://b.example", "www.c.example"],
    "O": ["10.0.0.1", "192.168.1.20", "8.8.8.8"],
    "R": [f"123e4567-e89b-12d3-a456-42661417400{i}" for i in range(3)],
}


@pytest.mark.parametrize("letter", FORMS)
def test_values_of_an_identifiers_form_are_recognized(
    letter: str, tmp_path: Path, settings: Settings
) -> None:
    column = profiles(tmp_path / "t.csv", {"x": FORMS[letter] * 40}, settings)["x"]
    assert column.form == letter
    role, reason = propose_role(column)
    kind = kind_by_letter(letter)
    assert kind is not None
    assert (role, reason) == (AttributeRole.IDENTIFIER, f"values of an identifier's form ({kind.label})")


def test_values_of_other_forms_are_not_recognized(tmp_path: Path, settings: Settings) -> None:
    columns = {
        "date": ["2020-01-01", "2021-02-03", "1999-12-31", "2000-01-01"],
        "number": ["123.4567", "1234567", "-12.5", "7"],
        "zip": ["12345-6789", "90210", "10001-0001", "60601"],
        "few": ["a@b.ch", "c@d.ch", "", ""],
        "mixed": ["a@b.ch", "c@d.ch", "e@f.ch", "nobody"],
    }
    found = profiles(tmp_path / "t.csv", columns, settings)
    assert {name: column.form for name, column in found.items()} == dict.fromkeys(columns, "")


def test_kind_is_found_by_the_name(tmp_path: Path, settings: Settings) -> None:
    expected = {"Patient Name": "A", "zip": "B", "birth": "C", "fax": "E", "mrn": "H", "iban": "J"}
    expected |= {"licence": "K", "vin": "L", "photo": "Q", "user": "R", "salary": ""}
    found = profiles(tmp_path / "t.csv", {name: ["1", "2", "2"] for name in expected}, settings)
    kinds = {name: identifier_kind(column) for name, column in found.items()}
    assert {name: kind.letter if kind else "" for name, kind in kinds.items()} == expected
