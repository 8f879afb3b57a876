"""Descriptions in and out: Frictionless and CSVW agree on one table, and their statements are enforced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cli.main import main
from discreet.errors import InputError
from discreet.foreign.table_description import is_description, read_description, strptime_pattern
from discreet.settings import Settings
from discreet.verbs.release_facts import describe

ROWS = """nr;born;cost;place;illness
1;03.04.1970;1.234,50;A;flu
2;05.06.1981;12,00;B;cold
3;07.08.1992;3,5;B;-
4;01.02.1985;100,00;A;cold
"""
FIELDS: list[dict[str, Any]] = [
    {"name": "nr", "type": "integer"},
    {"name": "born", "type": "date", "format": "%d.%m.%Y", "title": "date of birth"},
    {"name": "cost", "type": "number", "decimalChar": ",", "groupChar": "."},
    {"name": "place", "type": "string"},
    {"name": "illness", "type": "string", "discreet:role": "sensitive"},
]
SCHEMA = {"fields": FIELDS, "missingValues": ["", "-"], "primaryKey": "nr"}
PACKAGE = {"resources": [{"name": "p", "path": "p.csv", "dialect": {"delimiter": ";"}, "schema": SCHEMA}]}
NUMBER = {"base": "decimal", "format": {"decimalChar": ",", "groupChar": "."}}
METADATA = {
    "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
    "url": "p.csv",
    "dialect": {"delimiter": ";"},
    "tableSchema": {
        "primaryKey": "nr",
        "columns": [
            {"name": "nr", "datatype": "integer"},
            {
                "titles": {"en": "born"},
                "datatype": {"base": "date", "format": "dd.MM.yyyy"},
                "dc:description": "date of birth",
            },
            {"titles": ["cost", "price"], "datatype": NUMBER},
            {"name": "place"},
            {"name": "illness", "null": ["", "-"], "discreet:role": "sensitive"},
            {"name": "extra", "virtual": True},
        ],
    },
}
ALL = {"package.json": PACKAGE, "meta.json": METADATA, "schema.json": SCHEMA}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.csv").write_text(ROWS, encoding="utf-8")
    for name, document in ALL.items():
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proposed(data: str, settings: Settings, **more: Any) -> dict[str, Any]:
    found = discreet.init(data, settings=settings, **more)
    assert found.warnings == () or "no row" not in str(found.warnings)
    return found.mapping


@pytest.mark.parametrize(
    ("data", "more"),
    [("package.json", {}), ("meta.json", {}), ("p.csv", {"schema": "schema.json"})],
    ids=["package", "csvw", "bare schema"],
)
def test_described_properties_are_in_the_spec(
    data: str, more: dict[str, Any], folder: Path, settings: Settings
) -> None:
    spec = proposed(data, settings, **more)
    attributes = spec["attributes"]
    assert spec["source"] == {"path": "p.csv", "delimiter": ";", "null_values": ["-"]}
    assert attributes["nr"]["role"] == "identifier"
    assert attributes["born"]["format"] == {"dates": ["%d.%m.%Y"]}
    assert attributes["cost"]["format"] == {"decimal": ",", "thousands": "."}
    assert attributes["illness"]["role"] == "sensitive"
    assert list(attributes) == ["nr", "born", "cost", "place", "illness"]
    notes = discreet.init(data, settings=settings, **more).guesses
    assert any("born: date of birth" in sentence for sentence in notes)


def test_options_take_precedence_over_a_description(folder: Path, settings: Settings) -> None:
    (folder / "p.csv").write_text(ROWS.replace(";", "\t"), encoding="utf-8")
    assert proposed("package.json", settings, delimiter="tab")["source"]["delimiter"] == "\t"


def test_cell_without_its_format_is_an_error(folder: Path, settings: Settings) -> None:
    (folder / "p.csv").write_text(ROWS.replace("05.06.1981", "1981-06-05"), encoding="utf-8")
    with pytest.raises(InputError, match="born"):
        proposed("package.json", settings)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"dialect": {"header": False}}, "header"),
        ({"dialect": {"commentChar": "#"}}, "commentChar"),
        ({"path": "https://example.org/p.csv"}, "downloaded"),
        ({"path": ["a.csv", "b.csv"]}, "no single file with its rows"),
        ({"schema": {"fields": [{"name": "gone"}]}}, "gone"),
        ({"schema": {"fields": [{"name": "nr", "discreet:role": "king"}]}}, "king"),
        ({"schema": {"fields": ["nr"]}}, "understood"),
    ],
)
def test_unsupported_properties_are_refused(
    change: dict[str, Any], expected: str, folder: Path, settings: Settings
) -> None:
    document = {"resources": [{**PACKAGE["resources"][0], **change}]}
    (folder / "package.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError) as error:
        proposed("package.json", settings)
    assert expected in f"{error.value.message} {error.value.advice} {error.value.allowed}"


def test_one_of_several_tables_must_be_named(folder: Path) -> None:
    both = {"resources": [*PACKAGE["resources"], {"name": "q", "path": "q.csv"}]}
    (folder / "two.json").write_text(json.dumps(both), encoding="utf-8")
    assert read_description(Path("two.json"), "q").data == Path("q.csv")
    with pytest.raises(InputError, match="2 tables"):
        read_description(Path("two.json"))
    with pytest.raises(InputError, match="'r'"):
        read_description(Path("two.json"), "r")


def test_json_lines_are_data_and_not_a_description(folder: Path) -> None:
    (folder / "rows.json").write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    assert not is_description("rows.json")
    assert not is_description("schema.json")
    assert is_description("meta.json")


def test_date_patterns_of_unicode_equal_those_of_strptime() -> None:
    assert strptime_pattern("yyyy-MM-dd'T'HH:mm:ss") == "%Y-%m-%d'%T'%H:%M:%S"
    assert strptime_pattern("d/M/yy") == "%d/%m/%y"
    assert strptime_pattern("EEE") == "%EEE"


def published(folder: Path, settings: Settings, name: str) -> Path:
    rows = "".join(f"{20 + i % 2 * 10},{i % 3},x{i % 2},2020-01-0{1 + i % 2}\n" for i in range(12))
    (folder / "t.csv").write_text("age,cost,ill,day\n" + rows, encoding="utf-8")
    spec = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10, 20]}},
            "cost": {"role": "insensitive"},
            "ill": {"role": "sensitive"},
            "day": {"role": "insensitive"},
        }
    }
    table = discreet.open("t.csv", spec, settings=settings)
    table.publish({"age": 1}, folder / name, k=2)
    return folder / name


@pytest.mark.parametrize(
    ("name", "kinds"), [("r.csv", ["string", "integer", "string", "date"]), ("r.parquet", ["string"] * 4)]
)
def test_release_is_described(name: str, kinds: list[str], folder: Path, settings: Settings) -> None:
    path = published(folder, settings, name)
    found = describe(path, settings=settings)
    (resource,) = found["resources"]
    fields = {f["name"]: f for f in resource["schema"]["fields"]}
    assert [f["type"] for f in fields.values()] == kinds, "Parquet made of texts holds texts"
    assert fields["age"]["discreet:role"] == "quasi-identifier"
    assert fields["age"]["discreet:level"] == "1 of 3"
    assert resource["hash"].startswith("sha256:")
    (folder / "datapackage.json").write_text(json.dumps(found), encoding="utf-8")
    spec = proposed("datapackage.json", settings)
    assert {n: a["role"] for n, a in spec["attributes"].items()} == {
        "age": "quasi-identifier",
        "cost": "insensitive",
        "ill": "sensitive",
        "day": "insensitive",
    }


def test_csvw_describes_only_unchanged_text_files(folder: Path, settings: Settings) -> None:
    path = published(folder, settings, "r.csv")
    found = describe(path, "csvw", settings=settings)
    kinds = [c["datatype"] for c in found["tableSchema"]["columns"]]
    assert (found["url"], kinds) == ("r.csv", ["string", "integer", "string", "date"])
    with pytest.raises(InputError, match="csvw cannot"):
        describe(published(folder, settings, "r.parquet"), "csvw", settings=settings)
    path.write_text(path.read_text(encoding="utf-8") + "x,1,y,z\n", encoding="utf-8")
    with pytest.raises(InputError, match="changed since"):
        describe(path, settings=settings)


def test_command_prints_the_description(
    folder: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    path = published(folder, settings, "r.csv")
    assert main(["schema", str(path), "--as", "csvw"]) == 0
    assert json.loads(capsys.readouterr().out)["url"] == "r.csv"
    assert main(["schema", "--as", "csvw"]) == 2
    assert main(["init", "package.json", "--output", "spec.toml"]) == 0
    assert "Read as package.json describes 5 of its columns." in capsys.readouterr().out
