"""The column of persons is found from the rows, and other repeating columns are not."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.engines.connection import connect
from discreet.engines.source_tables import TemporaryTables
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.person_keys import _examine_candidate, find_person_keys
from discreet.profile.spec_inference import propose_spec
from discreet.profile.spec_proposal import SpecProposal
from discreet.settings import Settings

Row = dict[str, str]

USUAL_NAMES = """
    patient_nbr|hid|pnr|idno|pid|resp_id|Versichertennr|Kundennummer|PatNr|subject|usubjid|caseid|nomem_encr|lopnr
    |mrn|pidp|persnr|member no|STUDENT_ID|id|ID_IND|respondent|client|vpn|x7|code|Nr|chiave|номер|患者|unit
"""


def people(number: int, seed: int = 1) -> list[Row]:
    """Return persons with their constant attributes."""
    draw = random.Random(seed)
    return [
        {
            "who": f"{draw.randrange(36**4):05d}-{i}",
            "dob": f"{draw.randrange(1930, 2005)}-{draw.randrange(1, 13):02d}-{draw.randrange(1, 28):02d}",
            "sex": draw.choice("MF"),
            "race": draw.choice(["a", "a", "a", "b", "c"]),
            "home": str(draw.randrange(max(2, number // 3))),
            "region": draw.choice(["north", "south", "east"]),
        }
        for i in range(number)
    ]


def visits(rows: list[Row], counts: Callable[[random.Random], int], seed: int = 2) -> list[Row]:
    """Return several rows per person in random order, each with a time stamp and a ward."""
    draw = random.Random(seed)
    found = [
        {
            **row,
            "stamp": f"2023-01-01T{draw.randrange(24):02d}:00:{draw.randrange(60):02d}",
            "wave": str(wave),
        }
        for row in rows
        for wave in range(counts(draw))
    ]
    for number, row in enumerate(found):
        row["visit"] = f"v{number}"
        row["ward"] = f"w{draw.randrange(12)}"
        row["grade"] = str(draw.randrange(5))
        row["age"] = str(2023 - int(row["dob"][:4]) + int(row["wave"]))
    draw.shuffle(found)
    return found


def table(rows: list[Row], columns: dict[str, str]) -> str:
    """Return a CSV of some columns under other names, all quoted."""
    lines = [",".join(f'"{name}"' for name in columns.values())]
    lines += [",".join(f'"{row[column]}"' for column in columns) for row in rows]
    return "\n".join(lines) + "\n"


def proposed(text: str, path: Path, settings: Settings) -> SpecProposal:
    path.write_text(text, encoding="utf-8")
    with connect(settings) as engine:
        return propose_spec(engine, SourceSpec(path=path))


def one_to_three(draw: random.Random) -> int:
    return draw.choice([1, 1, 1, 2, 3])


def sixteen(_: random.Random) -> int:
    return 16


@pytest.mark.parametrize(
    ("name", "counts"),
    [*((name.strip(), one_to_three) for name in USUAL_NAMES.split("|")), ("x7", sixteen), ("pid", sixteen)],
)
def test_person_key_of_any_name_becomes_the_subject(
    name: str, counts: Callable[[random.Random], int], tmp_path: Path, settings: Settings
) -> None:
    rows = visits(people(120), counts)
    columns = {
        "stamp": "time",
        "grade": "answer",
        "sex": "sex",
        "who": name,
        "dob": "birth date",
        "ward": "ward",
    }
    found = proposed(table(rows, columns), tmp_path / "visits.csv", settings)
    document = found.document("visits.csv")
    assert document["source"]["subject"] == name
    assert document["attributes"][name]["role"] == "identifier"
    assert any(f'subject = "{name}"' in text for text in found.warnings)


@pytest.mark.parametrize(
    "traits", [("dob",), ("sex", "race"), ("sex", "dob"), ("sex", "race", "age"), ("dob", "age")]
)
def test_person_key_is_found_by_various_traits(
    traits: tuple[str, ...], tmp_path: Path, settings: Settings
) -> None:
    rows = visits(people(150), one_to_three)
    columns = {"ward": "ward", "who": "code", **{trait: trait for trait in traits}, "grade": "grade"}
    found = proposed(table(rows, columns), tmp_path / "visits.csv", settings)
    assert found.subject == "code"


def test_person_key_survives_errors_and_ageing(tmp_path: Path, settings: Settings) -> None:
    rows, draw = visits(people(100), sixteen), random.Random(5)
    for row in rows:
        if draw.random() < 0.04:
            row["sex"] = "M" if row["sex"] == "F" else "F"
        if draw.random() < 0.04:
            row["dob"] = "1900-01-01"
    columns = {"who": "code", "sex": "gender", "dob": "dob", "age": "age"}
    assert proposed(table(rows, columns), tmp_path / "panel.csv", settings).subject == "code"
    aged = {"who": "resp_id", "sex": "gender", "age": "age", "ward": "ward"}
    assert proposed(table(rows, aged), tmp_path / "aged.csv", settings).subject == "resp_id"


def test_person_key_of_one_child_with_seven_rows_is_found(tmp_path: Path, settings: Settings) -> None:
    rows = visits(people(300), lambda _: 1)
    child = rows[7]
    rows += [{**child, "visit": f"again{i}", "stamp": f"t{i}"} for i in range(6)]
    columns = {"visit": "visit", "who": "key7", "sex": "sex", "dob": "dob"}
    assert proposed(table(rows, columns), tmp_path / "child.csv", settings).subject == "key7"


def test_person_key_within_household_is_the_person(tmp_path: Path, settings: Settings) -> None:
    rows = visits(people(200), lambda draw: draw.choice([1, 2, 3]))
    columns = {"home": "hhid", "who": "pers", "sex": "sex", "dob": "born", "wave": "wave"}
    found = proposed(table(rows, columns), tmp_path / "panel.csv", settings)
    assert found.subject == "pers"
    assert found.people.units == ("hhid",)
    assert found.document("panel.csv")["attributes"]["hhid"]["role"] == "identifier"
    assert any("'hhid' groups people" in text and "--by households" in text for text in found.warnings)


def test_person_key_of_repeated_stays_is_the_person(tmp_path: Path, settings: Settings) -> None:
    stays = visits(people(150), lambda draw: draw.choice([1, 2, 3]))
    rows = [{**row, "test": str(i)} for row in stays for i in range(2)]
    columns = {"visit": "encounter_id", "who": "patient_id", "sex": "sex", "dob": "dob", "test": "test"}
    found = proposed(table(rows, columns), tmp_path / "lab.csv", settings)
    assert found.subject == "patient_id"
    assert found.people.events == ("encounter_id",)


NO_PERSONS = {
    "country": lambda _row, number: f"country{number % 9}",
    "hospital": lambda _row, number: f"h{number % 15}",
    "site": lambda _row, number: str(number % 60),
    "zip": lambda _row, number: str(10000 + number % 70),
    "household size": lambda _row, number: str(number % 6),
    "group": lambda _row, number: "ABCD"[number % 4],
    "product": lambda _row, number: f"p{number * 7 % 90}",
    "sequence": lambda _row, number: str(number // 5),
    "stratum": lambda row, _number: row["sex"] + row["dob"][2],
    "sex code": lambda row, _number: "12"["MF".index(row["sex"])],
    "first": lambda row, number: ("Ann Eve Ida" if row["sex"] == "F" else "Bob Tom Max").split()[number % 3],
    "amount": lambda _row, number: str(number * 7919 % 211),
}


@pytest.mark.parametrize("name", NO_PERSONS)
def test_no_person_key_where_traits_vary_or_make_the_key(
    name: str, tmp_path: Path, settings: Settings
) -> None:
    rows = people(400, seed=3)
    for number, row in enumerate(rows):
        row["x"] = NO_PERSONS[name](row, number)
        row["decade"] = row["dob"][2]
    columns = {"x": name, "sex": "sex", "decade": "age group", "race": "race", "region": "region"}
    found = proposed(table(rows, columns), tmp_path / "people.csv", settings)
    assert found.subject is None
    assert "subject" not in found.document("people.csv")["source"]
    assert not any("subject =" in text for text in found.warnings)


def test_no_person_key_in_a_class_of_few_rows_that_are_alike(tmp_path: Path, settings: Settings) -> None:
    rows = [
        {"x": "ab"[i // 6], "sex": "fm"[i // 6], "age": str(30 + i // 6), "grade": str(i)} for i in range(12)
    ]
    columns = {"x": "class", "sex": "sex", "age": "age", "grade": "grade"}
    assert proposed(table(rows, columns), tmp_path / "class.csv", settings).subject is None


def test_person_key_by_name_only_is_warned_about(tmp_path: Path, settings: Settings) -> None:
    rows = visits(people(100), sixteen)
    found = proposed(
        table(rows, {"who": "kundennr", "ward": "item", "grade": "value"}), tmp_path / "long.csv", settings
    )
    assert found.subject is None
    (warning,) = (text for text in found.warnings if "kundennr" in text)
    assert "repeats: 1,600 rows have 100 values, one of them 16 times" in warning
    assert 'subject = "kundennr"' in warning
    assert "rows_are_people = true" in warning
    assert {a.name: a.role for a in found.attributes}["kundennr"] is AttributeRole.IDENTIFIER


def test_person_key_with_empty_cells_is_not_the_subject(tmp_path: Path, settings: Settings) -> None:
    rows = visits(people(100), sixteen)
    for row in rows[:5]:
        row["who"] = ""
    found = proposed(
        table(rows, {"who": "pid", "sex": "sex", "dob": "dob"}), tmp_path / "holes.csv", settings
    )
    assert found.subject is None
    assert any("5 rows have no value of it" in text and 'subject = "pid"' in text for text in found.warnings)


def test_household_without_persons_is_an_identifier(tmp_path: Path, settings: Settings) -> None:
    rows = people(300, seed=4)
    columns = {"home": "hid", "sex": "sex", "dob": "dob", "region": "region"}
    found = proposed(table(rows, columns), tmp_path / "homes.csv", settings)
    assert found.subject is None
    assert {a.name: a.role for a in found.attributes}["hid"] is AttributeRole.IDENTIFIER
    assert any("'hid' groups people" in text for text in found.warnings)


def test_agreement_is_counted_as_in_plain_python(tmp_path: Path, settings: Settings) -> None:
    rows, draw = visits(people(60), sixteen), random.Random(9)
    for row in rows:
        if draw.random() < 0.2:
            row["sex"] = draw.choice("MF")
    path = tmp_path / "rows.csv"
    path.write_text(table(rows, {"who": "who", "sex": "sex", "age": "age"}))
    by_person: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_person[row["who"]].append(row)
    compared = sum(len(own) - 1 for own in by_person.values())
    agreed = 0.0
    for own in by_person.values():
        alike = Counter(row["sex"] for row in own)
        pairs = sum(n * (n - 1) for n in alike.values()) / (len(own) * (len(own) - 1))
        agreed += pairs * (len(own) - 1)
    with connect(settings) as engine:
        source = engine.open_source(SourceSpec(path=path))
        with TemporaryTables(engine) as tables:
            look = _examine_candidate(engine, tables, source, "who", ("sex", "age"))
        assert look.key.values == 60
        sex = next(trait for trait in look.traits if trait.name == "sex")
        assert sex.compared == compared
        assert sex.agreed == pytest.approx(agreed / compared)
        counts = Counter(row["sex"] for row in rows)
        chance = sum(n * (n - 1) for n in counts.values()) / (len(rows) * (len(rows) - 1))
        assert sex.chance == pytest.approx(chance)
        assert find_person_keys(engine, source, (), ()).first is None


def test_survey_weight_of_age_groups_is_not_a_subject(
    data_dir: Path, tmp_path: Path, settings: Settings
) -> None:
    lines = (data_dir / "adult" / "adult_30162.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    found = proposed("".join(lines[:2001]), tmp_path / "adult.csv", settings)
    assert found.subject is None
