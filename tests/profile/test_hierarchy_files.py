"""Hierarchy files of a folder are matched to columns by name and values; others report why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.cli.main import main
from discreet.errors import InputError
from discreet.settings import Settings
from discreet.verbs.proposal import Proposal, init
from discreet.verbs.table import open as open_table

PEOPLE = "age,sex,town,work_class,diagnosis\n" + "".join(
    f"{30 + number % 4},{'mf'[number % 2]},{('Bonn', 'Kiel', 'Ulm')[number % 3]},"
    f"{('Private', 'State', 'Local')[number % 3]},{('flu', 'cold')[number % 2]}\n"
    for number in range(48)
)
FILES = {
    "people_hierarchy_age.csv": "".join(f"{age};{age // 10 * 10}s;*\n" for age in range(20, 60)),
    "Work-Class.csv": "Private;Private;*\nState;Government;*\nLocal;Government;*\n",
    "places.csv": "Bonn;Germany;*\nKiel;Germany;*\nUlm;Germany;*\nWien;Austria;*\n",
    "sex.csv": "m;*\nw;*\n",
    "diagnosis.csv": "flu;*\ncold;*\n",
    "broken.csv": "a;b;*\nc;*\n",
    "header.csv": "value;all\nx;*\ny;*\n",
    "strange.csv": "x;*\ny;*\n",
    "notes.txt": "nothing",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    found = tmp_path / "hierarchies"
    found.mkdir()
    for name, text in FILES.items():
        (found / name).write_text(text, encoding="utf-8")
    return found


def proposal_of(folder: Path, settings: Settings) -> Proposal:
    spec = folder.parent / "discreet.toml"
    return init(folder.parent / "people.csv", spec, hierarchies=folder, overwrite=True, settings=settings)


def test_matching_files_are_taken_and_others_have_a_reason(folder: Path, settings: Settings) -> None:
    found = proposal_of(folder, settings)
    attributes = found.mapping["attributes"]
    assert attributes["age"]["hierarchy"] == "hierarchies/people_hierarchy_age.csv"
    assert attributes["work_class"]["hierarchy"] == "hierarchies/Work-Class.csv"
    assert attributes["town"]["hierarchy"] == "hierarchies/places.csv"
    assert attributes["sex"].get("hierarchy") is None
    matches = {match.path.name: (match.columns, match.reason) for match in found.proposal.files}
    assert matches["people_hierarchy_age.csv"] == (("age",), "by its name")
    assert matches["places.csv"] == (("town",), "by its values")
    assert matches["sex.csv"] == ((), "1 of the 2 values of 'sex' have no leaf in it: 'f'")
    assert matches["diagnosis.csv"][1] == "'diagnosis' is proposed as sensitive, which is not generalized"
    assert "2 columns" in matches["broken.csv"][1]
    assert "another top value than in every other line" in matches["header.csv"][1]
    assert matches["strange.csv"] == ((), "no quasi-identifier has its name, or only values that are in it")
    assert set(matches) == set(FILES) - {"notes.txt"}
    inspection = open_table(folder.parent / "discreet.toml", settings=settings).inspect()
    assert "Germany" in str(inspection)


def test_numbers_are_matched_only_by_name_and_ties_are_reported(folder: Path, settings: Settings) -> None:
    (folder / "people_hierarchy_age.csv").rename(folder / "years.csv")
    (folder / "cities.csv").write_text(FILES["places.csv"], encoding="utf-8")
    found = proposal_of(folder, settings)
    matches = {match.path.name: (match.columns, match.reason) for match in found.proposal.files}
    assert matches["years.csv"][0] == ()
    assert matches["places.csv"] == ((), "cities.csv has every value of 'town', too")
    assert "hierarchy" not in found.mapping["attributes"]["age"]


def test_one_column_takes_one_file(folder: Path, settings: Settings) -> None:
    (folder / "age.csv").write_text(FILES["people_hierarchy_age.csv"], encoding="utf-8")
    matches = {match.path.name: str(match) for match in proposal_of(folder, settings).proposal.files}
    assert matches["age.csv"] == "age.csv: taken for 'age', by its name"
    assert matches["people_hierarchy_age.csv"].endswith("not taken: another file is taken for 'age'")


def test_command_line_reports_the_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    assert main(["init", "people.csv", "--hierarchies", "hierarchies"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "places.csv: taken for 'town', by its values" in printed
    assert "sex.csv: not taken: 1 of the 2 values" in printed
    assert main(["init", "people.csv", "--hierarchies", "hierarchies", "--overwrite", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["hierarchy_files"]
    assert {"path": "hierarchies/places.csv", "attributes": ["town"], "reason": "by its values"} in files


def test_spec_in_the_folder_of_hierarchies_is_replaced(folder: Path, settings: Settings) -> None:
    spec = folder / "discreet.toml"
    for _ in range(2):
        init(folder.parent / "people.csv", spec, hierarchies=folder, overwrite=True, settings=settings)
    assert 'hierarchy = "places.csv"' in spec.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="is a hierarchy file"):
        init(folder.parent / "people.csv", folder / "places.csv", hierarchies=folder, overwrite=True)


def test_missing_and_empty_folders_are_refused(folder: Path, settings: Settings) -> None:
    data = folder.parent / "people.csv"
    with pytest.raises(InputError, match="cannot be read"):
        init(data, hierarchies=folder / "none", settings=settings)
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=r"contains no \.csv file"):
        init(data, hierarchies=folder / "empty", settings=settings)
