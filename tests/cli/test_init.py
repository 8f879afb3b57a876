"""``init``: its specs work unedited, on small tables and on real ones."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Run

REAL = {
    "adult/adult_32561.csv": {
        "age": "quasi-identifier",
        "fnlwgt": "identifier",
        "education": "quasi-identifier",
        "relationship": "quasi-identifier",
        "native_country": "quasi-identifier",
        "capital_gain": "sensitive",
        "salary_class": "sensitive",
    },
    "cmc/cmc.csv": {"wife_age": "quasi-identifier", "contraceptive_method": "sensitive"},
    "nursery/nursery.csv": {"parents": "quasi-identifier", "health": "sensitive"},
    "arx_benchmark/fars_subset.csv": {"iage": "quasi-identifier", "iinjury": "sensitive"},
}


def test_written_spec_is_accepted_by_negotiate(run: Run, people: Path) -> None:
    (people / "discreet.toml").unlink()
    found = run("init", "people.csv", "--json")
    assert (found.status, found.err) == (0, "")
    assert (found.json["path"], found.json["rows"]) == ("discreet.toml", 8)
    assert {a["name"]: a["role"] for a in found.json["attributes"]} == {
        "name": "identifier",
        "age": "quasi-identifier",
        "city": "quasi-identifier",
        "disease": "sensitive",
    }
    assert all(a["reason"] for a in found.json["attributes"])
    text = (people / "discreet.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["source"]["path"] == "people.csv"
    assert "# Named like an identifier (name; HIPAA A, names)." in text
    assert run("negotiate", "discreet.toml", "--k", "2", "--l", "2").status == 0


def test_text_shows_a_row_per_column_and_the_next_command(run: Run, people: Path) -> None:
    found = run("init", "people.csv", "--output", "new.toml")
    assert found.status == 0
    assert "people.csv: 8 rows, 4 columns" in found.out
    assert "known to others (age" in found.out
    assert "Written to new.toml." in found.out
    assert "  discreet negotiate new.toml --k 10 --max-suppressed 1%" in found.out


def test_existing_spec_is_replaced_only_with_overwrite(run: Run, people: Path) -> None:
    assert run("init", "people.csv").status == 2
    assert run("init", "people.csv", "--overwrite").status == 0


def test_spec_in_another_folder_names_its_data_by_a_relative_path(run: Run, people: Path) -> None:
    (people / "specs").mkdir()
    assert run("init", "people.csv", "--output", "specs/people.toml").status == 0
    document = tomllib.loads((people / "specs" / "people.toml").read_text(encoding="utf-8"))
    assert document["source"]["path"] == "../people.csv"
    assert run("inspect", "specs/people.toml").status == 0


@pytest.mark.parametrize("name", REAL)
def test_spec_of_a_real_table_has_the_expected_roles(
    name: str, data_dir: Path, run: Run, tmp_path: Path
) -> None:
    spec = tmp_path / "real.toml"
    found = run("init", data_dir / name, "--output", spec, "--json")
    assert found.status == 0
    roles = {a["name"]: a["role"] for a in found.json["attributes"]}
    assert roles.items() >= REAL[name].items()
    assert not [a for a in found.json["attributes"] if a["role"] == "insensitive"]
    assert found.json["nodes"] <= 20_000
    answered = run("negotiate", spec, "--k", "5", "--max-suppressed", "5%", "--json")
    assert answered.status in (0, 3)
    assert answered.json["answers"]
