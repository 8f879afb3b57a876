"""An ARX project becomes a spec that publishes; omitted parts are reported, and no part is trusted."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

import discreet
from discreet import coming_from
from discreet.cli.main import main
from discreet.errors import InputError
from discreet.hierarchy import FileHierarchy
from tests.foreign.projects import HIERARCHIES, ROWS, column, parts, tag, write_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "ten.deid")


def test_hierarchy_file_of_arx_is_read_unchanged(tmp_path: Path) -> None:
    """Files without a header and with semicolons are read; rows that end in different values are refused."""
    (tmp_path / "age.csv").write_text(HIERARCHIES["age"], encoding="utf-8")
    built = FileHierarchy(tmp_path / "age.csv").build("age", ["23", "48"])
    assert built.path(built.code_of_leaf["23"]) == ("23", "20-29", "*")


def test_project_becomes_a_spec(project: Path, tmp_path: Path) -> None:
    made = coming_from.arx(project, tmp_path / "new" / "discreet.toml")
    table = discreet.open(tmp_path / "new" / "discreet.toml")
    assert {a.name: str(a.role) for a in table.spec.attributes} == {
        "name": "identifier",
        "age": "quasi-identifier",
        "city": "quasi-identifier",
        "diagnosis": "sensitive",
        "note": "insensitive",
    }
    assert {a.name: a.weight for a in table.spec.quasi_identifiers} == {"age": 2.0, "city": 1.0}
    assert made.mapping["request"] == {
        "k": 2,
        "l": {"diagnosis": 2},
        "max_suppressed": "5%",
        "max_level": {"age": 1, "city": 1},
    }
    assert (tmp_path / "new" / "hierarchies" / "city.csv").read_text("utf-8") == (
        "Köln;West;*\nBonn;West;*\nJena;East;*\n"
    )
    rows = tmp_path / "new" / "ten.csv"
    assert rows.read_text("utf-8") == ROWS
    assert stat.S_IMODE(rows.stat().st_mode) == 0o600
    answer = table.negotiate().exact
    assert answer is not None
    assert answer.levels == {"age": 0, "city": 1}
    release = table.publish(answer, tmp_path / "release.csv")
    assert release.audit.passed


def test_omitted_parts_are_reported(project: Path) -> None:
    warnings = " ".join(coming_from.arx(project).warnings)
    words = ("0.2-closeness", "quality model 'Loss'", "response variable", "micro-aggregated", "Java objects")
    assert [word for word in words if word not in warnings] == []
    assert "2-anonymity" not in warnings
    assert "distinct" not in warnings


def test_command_writes_the_spec_and_reports_it(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "ten.deid"]) == 0
    printed = capsys.readouterr().out
    assert "hierarchies/city.csv, 2 levels" in printed
    assert "0.2-closeness" in printed
    assert "were not extracted" in printed
    assert not (tmp_path / "ten.csv").exists()
    assert "0.2-closeness" in (tmp_path / "discreet.toml").read_text("utf-8")
    for status, command in (
        (2, ["init", "ten.deid"]),
        (2, ["init", "ten.deid", "--overwrite", "--subject", "name"]),
        (0, ["init", "ten.deid", "--overwrite", "--extract-data"]),
        (0, ["negotiate", "discreet.toml"]),
        (2, ["init", "ten.csv", "--output", "other.toml", "--extract-data"]),
    ):
        assert main(command) == status


def test_init_in_python_names_coming_from(project: Path) -> None:
    with pytest.raises(InputError, match="coming_from"):
        discreet.init(project)


# --- invalid projects ---------------------------------------------------------------------------------------


def test_names_in_the_archive_cannot_leave_the_folder(tmp_path: Path) -> None:
    """File names contain only letters of the column names; references out of the archive find nothing."""
    name = "../../age"
    definition = f"<definition>{column(name, 'QUASI_IDENTIFYING', f'hierarchies/{name}.csv')}"
    definition += column("age", "QUASI_IDENTIFYING", "../../../ten.csv") + "</definition>"
    contents = parts(input_definition_xml=definition)
    contents[f"input/hierarchies/{name}.csv"] = HIERARCHIES["age"]
    (tmp_path / "in").mkdir()
    write_project(tmp_path / "in" / "ten.deid", contents)
    before = {path for path in tmp_path.rglob("*") if "new" not in path.parts}
    coming_from.arx(tmp_path / "in" / "ten.deid", tmp_path / "new" / "discreet.toml")
    assert {path for path in tmp_path.rglob("*") if "new" not in path.parts} == before
    assert [path.name for path in (tmp_path / "new" / "hierarchies").iterdir()] == ["age.csv"]


BOMB = '<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><config>&b;</config>'


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (parts(input_config_xml=BOMB), "entities"),
        (parts(input_config_xml="<config>"), "not readable XML"),
        (parts(input_config_xml="<config>" + " " * (5 << 20) + "</config>"), "it.* is larger than 4 MiB"),
        (parts(input_definition_xml="<definition/>"), "no column"),
        (parts(input_definition_xml=f"<definition>{column('age', 'X')}</definition>"), "X_ATTRIBUTE"),
        (parts(project_xml=f"<project>{tag('separator', 'ab')}</project>"), "separator"),
        ({"metadata.xml": "<metadata/>"}, "no part 'input/config.xml'"),
    ],
    ids=["entities", "torn", "large", "empty", "role", "separator", "missing"],
)
def test_invalid_project_is_refused(tmp_path: Path, contents: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        coming_from.arx(write_project(tmp_path / "ten.deid", contents))


def test_other_files_and_damaged_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ten.deid"
    with pytest.raises(InputError, match="does not exist"):
        coming_from.arx(path)
    path.write_bytes(b"PK no archive")
    with pytest.raises(InputError, match="not a readable archive"):
        coming_from.arx(path)
    whole = write_project(path).read_bytes()
    with zipfile.ZipFile(path) as archive:
        offset = archive.getinfo("input/config.xml").header_offset + 60
    path.write_bytes(whole[:offset] + bytes(8) + whole[offset + 8 :])
    with pytest.raises(InputError, match="cannot be read"):
        coming_from.arx(path)


def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    """The choice between the two would be a guess, and another program might guess otherwise."""
    path = write_project(tmp_path / "ten.deid")
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("input/config.xml", "<config/>")
    with pytest.raises(InputError, match="two of one name"):
        coming_from.arx(path)


def test_total_size_of_parts_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.foreign.arx._MOST_TEXT", 1 << 10)
    with pytest.raises(InputError, match="all that was read"):
        coming_from.arx(write_project(tmp_path / "ten.deid"))


def test_text_in_another_encoding_is_read(tmp_path: Path) -> None:
    """Older versions of ARX write files in the machine's encoding."""
    contents: dict[str, str | bytes] = dict(parts())
    for name in ("data/input.csv", "input/hierarchies/city.csv"):
        contents[name] = str(contents[name]).encode("latin-1")
    write_project(tmp_path / "ten.deid", contents)
    coming_from.arx(tmp_path / "ten.deid", tmp_path / "new" / "discreet.toml")
    assert discreet.open(tmp_path / "new" / "discreet.toml").negotiate().exact is not None


def test_contradictory_hierarchy_is_omitted(tmp_path: Path) -> None:
    torn = parts(input_hierarchies_age_csv="23;young;*\n27;young;*\n23;old;*\n")
    made = coming_from.arx(write_project(tmp_path / "ten.deid", torn))
    assert "hierarchy" not in made.mapping["attributes"]["age"]
    assert any("the hierarchy of 'age'" in warning for warning in made.warnings)


def test_rows_and_project_are_never_replaced(project: Path, tmp_path: Path) -> None:
    (tmp_path / "ten.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="exists"):
        coming_from.arx(project, tmp_path / "discreet.toml", extract=True, overwrite=True)
    assert (tmp_path / "ten.csv").read_text("utf-8") == "mine"
    with pytest.raises(InputError, match="must never replace"):
        coming_from.arx(project, project, overwrite=True)
