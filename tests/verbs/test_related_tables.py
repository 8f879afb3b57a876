"""Several tables of the same people, published and audited together, against plain loops."""

from __future__ import annotations

import csv
import json
import stat
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

import discreet
from discreet.errors import InputError, NoSolution
from discreet.settings import Settings
from tests.verbs.related import Clinic, Rows, clinic, kept_rows, people_by_view, pseudonyms, rows_of


def shown(rows: Rows, columns: tuple[str, ...], names: dict[str, str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(names.get(row[c], row[c]) for c in columns) for row in rows)


def released(tables: Clinic, settings: Settings, name: str = "out") -> discreet.RelatedReleases:
    return discreet.open_tables(tables.written(), settings=settings).publish(tables.folder / name)


@pytest.mark.parametrize("seed", range(2))
def test_released_rows_are_those_of_released_people_in_company(
    settings: Settings, tmp_path: Path, seed: int
) -> None:
    tables = clinic(tmp_path, seed)
    found = released(tables, settings)
    patients, visits, lab = kept_rows(tables, {row["patient"] for row in tables.patients})
    names = pseudonyms(tmp_path, "patients") | pseudonyms(tmp_path, "visits")
    out = tmp_path / "out"
    for name, rows, columns in (
        ("patients", patients, ("patient", "age", "sex")),
        ("visits", visits, ("visit", "patient", "ward")),
        ("lab", lab, ("visit", "kind")),
    ):
        assert shown(rows_of(out / f"{name}.csv"), columns, {}) == shown(rows, columns, names)
    views = people_by_view(out)
    assert found.joint_anonymity.fewest == min(map(len, views.values()))
    assert found.joint_anonymity.unique_people == sum(len(people) == 1 for people in views.values())
    audited = discreet.audit_tables(out, settings=settings)
    assert audited.passed
    assert (audited.joint_anonymity.fewest, audited.joint_anonymity.unique_people) == (
        found.joint_anonymity.fewest,
        found.joint_anonymity.unique_people,
    )
    # No file contains the key or the pseudonym of an unreleased person.
    text = "".join(path.read_text() for path in out.iterdir())
    gone = {row["patient"] for row in tables.patients} - {row["patient"] for row in patients}
    assert not any(name in text for name in names)
    assert not any(names[name] in text for name in gone if name in names)
    left = [row for row in tables.visits if row["patient"] in gone]
    assert {each.name: each.with_person for each in found.tables}["visits"] == len(left)


@pytest.mark.parametrize("seed", [0, 2])
def test_joint_suppression_removes_people_in_small_classes(
    settings: Settings, tmp_path: Path, seed: int
) -> None:
    tables = clinic(tmp_path, seed + 20, people=40 if seed else 14)
    tables.more = "joint_k = 2"
    people = {row["patient"] for row in tables.patients}
    while True:  # plain loops up to the fixed point
        rows = kept_rows(tables, people)
        view = {
            row["patient"]: (row["age"], row["sex"], *_below(row["patient"], *rows[1:])) for row in rows[0]
        }
        number = Counter(view.values())
        if not all(rows) or min(number.values()) >= 2:
            break
        people = {person for person, seen in view.items() if number[seen] >= 2}
    if not all(rows):
        with pytest.raises(NoSolution):
            released(tables, settings)
        return
    found = released(tables, settings)
    names = pseudonyms(tmp_path, "patients")
    assert {row["patient"] for row in rows_of(tmp_path / "out" / "patients.csv")} == {names[w] for w in view}
    assert found.joint_anonymity.fewest == min(number.values()) >= 2
    assert (
        min(len(people) for people in people_by_view(tmp_path / "out").values())
        == found.joint_anonymity.fewest
    )
    assert discreet.audit_tables(tmp_path / "out", settings=settings).passed


def _below(patient: str, visits: Rows, lab: Rows) -> list[tuple[str, ...]]:
    return sorted(
        (row["ward"], *sorted(test["kind"] for test in lab if test["visit"] == row["visit"]))
        for row in visits
        if row["patient"] == patient
    )


def test_dates_of_a_person_move_by_the_same_days_in_every_table(settings: Settings, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 3)
    released(tables, settings)
    before = {row["visit"]: row["admitted"] for row in tables.visits}
    gaps = Counter(
        (test["kind"], (date.fromisoformat(test["taken"]) - date.fromisoformat(before[test["visit"]])).days)
        for test in kept_rows(tables, {row["patient"] for row in tables.patients})[2]
    )
    after = {row["visit"]: row["admitted"] for row in rows_of(tmp_path / "out" / "visits.csv")}
    shifted = Counter(
        (row["kind"], (date.fromisoformat(row["taken"]) - date.fromisoformat(after[row["visit"]])).days)
        for row in rows_of(tmp_path / "out" / "lab.csv")
    )
    assert shifted == gaps
    assert not set(before.values()) & set(after.values()) or set(before.values()) != set(after.values())


def test_keys_are_private_and_a_key_per_release_joins_one_release(settings: Settings, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 1)
    text = tables.written().read_text()
    one, two = (
        'pseudonymization = {method = "pseudonym", key = "keys/patients.list"}',
        "pseudonymization = {method = 'per-release'}",
    )
    (tmp_path / "clinic.toml").write_text(text.replace(one, two))
    opened = discreet.open_tables(tmp_path / "clinic.toml", settings=settings)
    opened.publish(tmp_path / "first")
    again = discreet.open_tables(tmp_path / "clinic.toml", settings=settings)
    again.publish(tmp_path / "second")
    first, second = (
        {row["patient"] for row in rows_of(tmp_path / name / "visits.csv")} for name in ("first", "second")
    )
    assert len(first) == len(second)
    assert not first & second
    assert discreet.audit_tables(tmp_path / "first", settings=settings).passed
    assert stat.S_IMODE((tmp_path / "keys" / "visits.list").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "first").stat().st_mode) == 0o700
    inside = text.replace("keys/patients.list", "out/patients.list")
    (tmp_path / "clinic.toml").write_text(inside)
    with pytest.raises(InputError, match="which is to become a release"):
        discreet.open_tables(tmp_path / "clinic.toml", settings=settings).publish(tmp_path / "out")


WRONG = {
    "'patient' is NULL in 1 of": lambda t: t.visits[0].update(patient=""),
    "'patient' names no row of patients in 1 of": lambda t: t.visits[0].update(patient="nobody"),
    "zeros before it": lambda t: (
        [row.update(patient=row["patient"][1:].lstrip("0") or "0") for row in t.visits]
        and [row.update(patient=row["patient"][1:]) for row in t.patients]
    ),
    "blanks around it": lambda t: t.visits[0].update(patient=t.visits[0]["patient"] + " "),
    "capital letters": lambda t: t.visits[0].update(patient=t.visits[0]["patient"].lower()),
    "the key 'patient' is NULL in 1 of": lambda t: t.patients[0].update(patient=""),
    "2 rows share 1 of the values of the key 'patient'": lambda t: t.patients[0].update(
        patient=t.patients[1]["patient"]
    ),
    "'visit' names no row of visits": lambda t: t.lab[0].update(visit="V999"),
}


@pytest.mark.parametrize("message", list(WRONG))
def test_unfit_keys_are_named_and_nothing_is_written(
    settings: Settings, tmp_path: Path, message: str
) -> None:
    tables = clinic(tmp_path, 2)
    WRONG[message](tables)
    with pytest.raises(InputError) as error:
        released(tables, settings)
    assert message in error.value.message
    assert error.value.advice
    assert not any(row["patient"] in str(error.value) for row in tables.patients if row["patient"])
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "keys").exists()


def test_rows_without_a_person_may_be_dropped(settings: Settings, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 2)
    gone = [tables.visits[0]["visit"], tables.visits[1]["visit"]]
    tables.visits[0]["patient"], tables.visits[1]["patient"] = "nobody", ""
    tables.of_visits = tables.of_lab = 'orphans = "drop"'
    found = released(tables, settings)
    assert [each.orphans for each in found.tables] == [0, 2, sum(r["visit"] in gone for r in tables.lab)]
    assert discreet.audit_tables(tmp_path / "out", settings=settings).passed


def test_row_with_keys_of_two_people_is_refused(settings: Settings, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 2)
    person = {row["visit"]: row["patient"] for row in tables.visits}
    for row in tables.lab:
        row["patient"] = person[row["visit"]]
    tables.written()
    with pytest.raises(InputError, match="references nothing"):
        discreet.open_tables(tmp_path / "clinic.toml", settings=settings).publish(tmp_path / "out")
    text = (tmp_path / "clinic.toml").read_text()
    both = text.replace('{visit = "visits"}', '{visit = "visits", patient = "patients"}')
    (tmp_path / "clinic.toml").write_text(both)
    discreet.open_tables(tmp_path / "clinic.toml", settings=settings).publish(tmp_path / "out")
    assert discreet.audit_tables(tmp_path / "out", settings=settings).passed
    tables.lab[0]["patient"] = next(
        p["patient"] for p in tables.patients if p["patient"] != tables.lab[0]["patient"]
    )
    tables.written()
    (tmp_path / "clinic.toml").write_text(both)
    with pytest.raises(InputError, match="'patient' differs from the person of"):
        discreet.open_tables(tmp_path / "clinic.toml", settings=settings).publish(tmp_path / "other")


def test_audit_finds_rows_removed_after_publication(settings: Settings, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 1)
    released(tables, settings)
    # Pseudonyms are drawn anew for each release and determine the row order: take a visit that has a test.
    path = tmp_path / "out" / "visits.csv"
    with (tmp_path / "out" / "lab.csv").open(newline="") as file:
        visit = next(csv.DictReader(file))["visit"]
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if visit not in line))
    found = discreet.audit_tables(tmp_path / "out", settings=settings)
    assert not found.passed
    assert any("'visit' names no row of visits" in problem for problem in found.joint_anonymity.problems)


def test_no_table_is_published_if_one_cannot_be(settings: Settings, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 1)
    released(tables, settings)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    tables.specs["lab"] = tables.specs["lab"].replace("k = 2", "k = 13")
    tables.written()
    opened = discreet.open_tables(tmp_path / "clinic.toml", settings=settings)
    with pytest.raises(InputError, match="exists"):
        opened.publish(tmp_path / "out")
    with pytest.raises(NoSolution, match=r"^lab: "):
        opened.publish(tmp_path / "out", overwrite=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("discreet-")]
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"'notes.txt', which is not part of a release"):
        opened.publish(tmp_path / "out", overwrite=True)


def test_manifest_and_log_name_the_tables(settings: Settings, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 1)
    found = released(tables, settings)
    document = json.loads(found.manifest_path.read_text())
    assert [each["name"] for each in document["tables"]] == ["patients", "visits", "lab"]
    assert document["joint_anonymity"] == {
        "required": None,
        "k": found.joint_anonymity.fewest,
        "unique_people": found.joint_anonymity.unique_people,
        "people": found.joint_anonymity.people,
    }
    logged = [json.loads(line) for line in settings.private_log.read_text().splitlines()]
    assert [entry["output"] for entry in logged] == [
        str(tmp_path / "out" / f"{name}.csv") for name in ("patients", "visits", "lab")
    ]


SPECS = {
    "form a cycle": lambda t: t.replace(
        '{patient = "patients"}', '{patient = "patients", a = "lab"}'
    ).replace('references = {visit = "visits"}', 'references = {visit = "visits"}\nkey = "test"'),
    "which is not a table": lambda t: t.replace('visit = "visits"', 'visit = "visit"'),
    "which has no key": lambda t: t.replace('key = "visit"\n', "").replace(
        'pseudonymization = {method = "pseudonym", key = "keys/visits.list"}\n', ""
    ),
    "maps several keys to one": lambda t: t.replace(
        '{method = "pseudonym", key = "keys/visits.list"}', '{method = "mask"}'
    ),
    "references no table": lambda t: t.replace('references = {visit = "visits"}', ""),
    "is the subjects' table, and has no key": lambda t: t.replace(
        'subjects = "patients"', 'subjects = "lab"'
    ),
    "unknown key 'colour'": lambda t: t.replace('key = "visit"', 'key = "visit"\ncolour = 1'),
    "together with joint_k": lambda t: (
        "joint_k = 2\n" + t.replace('key = "visit"', 'key = "visit"\nmodel = "local"')
    ),
    "cannot be the name of a file": lambda t: t.replace("[tables.lab]", '[tables."../lab"]'),
}


@pytest.mark.parametrize("message", list(SPECS))
def test_faults_of_a_relational_spec_are_named(settings: Settings, tmp_path: Path, message: str) -> None:
    path = clinic(tmp_path, 1).written()
    path.write_text(SPECS[message](path.read_text()))
    with pytest.raises(InputError) as error:
        discreet.open_tables(path, settings=settings)
    assert message in error.value.message.replace('"colour"', "'colour'")


def test_specs_that_contradict_the_relational_spec_are_refused(settings: Settings, tmp_path: Path) -> None:
    tables = clinic(tmp_path, 1)
    cases = {
        "shifted by other days": ("lab", "days = 30", "days = 31"),
        "by the relational spec it is": ("visits", "[source]", '[source]\nsubject = "ward"'),
        "has the role quasi-identifier": (
            "visits",
            "[request]",
            '[attributes.visit]\nrole = "quasi-identifier"\n[request]',
        ),
    }
    for message, (name, old, new) in cases.items():
        tables.specs[name], kept = tables.specs[name].replace(old, new), tables.specs[name]
        with pytest.raises(InputError, match=message):
            discreet.open_tables(tables.written(), settings=settings)
        tables.specs[name] = kept
