"""Releases as SPSS, Stata and SAS files: their content, the labels kept, and refusals."""

from __future__ import annotations

import datetime
import json
import random
import stat
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.parquet
import pyreadstat
import pytest

import discreet
from discreet.engines.base import Engine
from discreet.engines.files.output_files import Codebook
from discreet.engines.files.statistics_export import write_statistics_file
from discreet.engines.files.statistics_files import original_name, program_name, program_names
from discreet.errors import InputError, LimitReached
from discreet.model.table_spec import SourceSpec
from tests.drawing import some_of

READ = {
    "sav": pyreadstat.read_sav,
    "zsav": pyreadstat.read_sav,
    "dta": pyreadstat.read_dta,
    "xpt": pyreadstat.read_xport,
}
LABELS = {
    "sex": {1: "male", 2: "female", 3: "not told"},
    "ward": {1: "surgery", 2: "heart", 7: "rare disease"},
    "kin": {1: "alike", 2: "alike"},
}
TITLES = {"sex": "Sex of the patient", "pay": "Income per month"}
SPEC = """
[source]
path = "people.sav"
null_values = [""]
unlisted_columns = "insensitive"
{more}
[attributes.sex]
role = "quasi-identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = {{kind = "intervals", widths = [10]}}
[attributes.ward]
role = "sensitive"
"""


def people() -> pandas.DataFrame:
    """Return forty people; the only person of ward 7 is also the only one aged 99."""
    rows = range(41)
    return pandas.DataFrame(
        {
            "sex": [1.0 + (i < 20) for i in rows],
            "age": [*(20.0 + i % 10 for i in range(40)), 99.0],
            "ward": [*(1.0 + i % 2 for i in range(40)), 7.0],
            "kin": [1.0 + i % 2 for i in rows],
            "pay": [None if i == 3 else 1200 + i % 4 * 0.5 for i in rows],
            "born": [None if i == 5 else datetime.date(2000, 1, 1 + i % 9) for i in rows],
            "seen": [datetime.datetime(2020, 1, 1 + i % 3, 10, 30) for i in rows],
            "note": ["" if i % 3 else f"zip 0213{i % 5}" for i in rows],
            "code": [f"0{i % 4}" for i in rows],
        }
    )


def write_people(folder: Path, more: str = "") -> Path:
    pyreadstat.write_sav(
        people(), folder / "people.sav", variable_value_labels=LABELS, column_labels=TITLES, file_label="us"
    )
    spec = folder / "discreet.toml"
    spec.write_text(SPEC.format(more=more))
    return spec


Released = tuple[Path, dict[str, list[Any]], Any]


def release(spec: Path, kind: str, level: int = 0) -> Released:
    target = spec.with_name(f"released.{kind}")
    discreet.open(spec).publish({"sex": level, "age": 1}, target, k=2, max_suppressed=1)
    found, about = READ[kind](target, output_format="dict")
    return target, {name: list(values) for name, values in found.items()}, about


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Released]:
    """Return a release of each kind, which no test changes."""
    return {kind: release(write_people(tmp_path_factory.mktemp(kind)), kind) for kind in READ}


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta"])
def test_removed_values_have_no_label(releases: dict[str, Released], kind: str) -> None:
    target, found, about = releases[kind]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert len(found["sex"]) == 40
    assert about.variable_value_labels == {
        "sex": {1: "male", 2: "female"},
        "ward": {1: "surgery", 2: "heart"},
    }
    assert {*found["ward"]} == {1, 2}
    assert {*found["kin"]} == {1, 2}  # still coded, because two values have the same label
    assert {*found["age"]} == {"20-29"}
    assert about.column_names_to_labels["sex"] == TITLES["sex"]
    assert about.column_names_to_labels["age"] is None
    assert b"rare disease" not in target.read_bytes()
    assert discreet.audit(target).passed
    manifest = json.loads(target.with_name(f"{target.name}.manifest.json").read_text())
    assert manifest["data"]["format"] == kind


@pytest.mark.parametrize("kind", READ)
def test_numbers_dates_and_times_keep_their_type(releases: dict[str, Released], kind: str) -> None:
    _, found, _ = releases[kind]
    known = people()[:40]
    assert sorted(map(str, found["pay"])) == sorted(
        str(None if pay != pay else pay) for pay in known["pay"].astype(float)
    )
    for name in ("born", "seen"):
        assert sorted(map(str, found[name])) == sorted(map(str, known[name].astype(object)))
    assert {*found["note"]} == {"", *(f"zip 0213{i % 5}" for i in range(40) if not i % 3)}
    assert {*found["code"]} == {"00", "01", "02", "03"}


def test_codes_read_as_codes_are_written_as_codes(tmp_path: Path) -> None:
    target, found, about = release(write_people(tmp_path, "keep_codes = true"), "sav")
    assert {*found["ward"]} == {1, 2}
    assert about.variable_value_labels["ward"] == {1: "surgery", 2: "heart"}
    assert about.variable_value_labels["kin"] == {1: "alike", 2: "alike"}
    assert dict(discreet.audit(target).l) == {"ward": 2}
    again = discreet.open(target, spec={"attributes": {"ward": {"role": "quasi-identifier"}}})
    assert again.frequency_set.hierarchies[0].leaves == ("1", "2")


def test_starred_rows_are_texts(tmp_path: Path) -> None:
    spec = write_people(tmp_path)
    target = tmp_path / "starred.sav"
    discreet.open(spec).publish(
        {"sex": 0, "age": 1}, target, k=2, suppressed_rows="star", max_suppressed="5%"
    )
    found, about = pyreadstat.read_sav(target, output_format="dict")
    assert sorted({*found["ward"]}) == ["*", "heart", "surgery"]
    assert about.variable_value_labels == {}


@pytest.mark.parametrize("kind", READ)
def test_two_files_of_one_release_are_the_same(
    releases: dict[str, Released], tmp_path: Path, kind: str
) -> None:
    first, _, about = releases[kind]
    assert about.creation_time == datetime.datetime(1970, 1, 1)
    assert about.file_label == "Release by discreet"
    assert release(write_people(tmp_path), kind)[0].read_bytes() == first.read_bytes()


def test_long_and_odd_names_are_restored(tmp_path: Path) -> None:
    names = {"age": "age", "education-num": "education_num", "größe in cm": "gr__e_in_cm", "by": "by"}
    names["n" * 70] = "n" * 32
    frame = pandas.DataFrame({name: [f"v{i % 2}" for i in range(8)] for name in names})
    table = discreet.open(frame, spec={"attributes": {name: {"role": "quasi-identifier"} for name in names}})
    for kind, read in READ.items():
        target = tmp_path / f"names.{kind}"
        table.publish(dict.fromkeys(names, 0), target, k=2)
        _, about = read(target)
        if kind in ("dta", "xpt"):
            assert about.column_names == list(names.values())
        assert about.column_names_to_labels[names["education-num"]] == "education-num"
        assert discreet.audit(target).passed
        named = {name: {"role": "quasi-identifier"} for name in names}
        assert discreet.open(target, spec={"attributes": named}).frequency_set.rows == 8


def test_label_is_an_original_name_only_if_the_name_was_changed() -> None:
    assert original_name("a_b", "a b", "SPSS") == "a b"
    assert original_name("a_b", "Some words", "SPSS") is None
    assert original_name("age", "age", "SPSS") is None
    assert original_name("age", None, "Stata") is None
    assert program_name("ALL", "SPSS") == "v_ALL"
    assert program_name("str12", "Stata") == "v_str12"
    with pytest.raises(InputError, match="both be called a_b"):
        program_names(["a b", "a_b"], "SAS")
    with pytest.raises(InputError, match="cannot be held"):
        program_names(["n" * 81], "Stata")


@pytest.mark.parametrize("kind", READ)
def test_typed_columns_are_compared_by_value(tmp_path: Path, kind: str) -> None:
    """Typed Parquet columns are compared by value: whole doubles, decimals, booleans, timestamps."""
    day = datetime.datetime(2020, 1, 1)
    columns = {
        "town": pyarrow.array(["a", "b"] * 4),
        "weight": pyarrow.array([1.0, 2.5] * 4),
        "whole": pyarrow.array([1, 2**60] * 4),
        "decimal": pyarrow.array([1, 2] * 4).cast(pyarrow.decimal128(30, 2)),
        "truth": pyarrow.array([True, None] * 4),
        "moment": pyarrow.array([day, day + datetime.timedelta(hours=3)] * 4),
        "tiny": pyarrow.array([1e-300, 2.0] * 4),
        "date": pyarrow.array([day.date()] * 8),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "typed.parquet")
    spec = {
        "source": {"unlisted_columns": "insensitive"},
        "attributes": {"town": {"role": "quasi-identifier"}},
    }
    table = discreet.open(tmp_path / "typed.parquet", spec=spec)
    target = tmp_path / f"typed.{kind}"
    table.publish({"town": 0}, target, k=2)
    found, _ = READ[kind](target, output_format="dict")
    assert {*found["weight"]} == {1.0, 2.5}
    assert {*found["whole"]} == {"1", str(2**60)}  # no double represents it
    assert {*found["decimal"]} == {1.0, 2.0}
    assert {*found["truth"]} == {"true", ""}
    assert {*found["moment"]} == {day, day + datetime.timedelta(hours=3)}
    assert ({*found["tiny"]} == {"1e-300", "2.0"}) is (kind == "xpt")  # SAS cannot represent this number
    assert {*found["date"]} == {day.date()}


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("''", "dta", "an empty text"),
        ("'a '", "sav", "ends with a blank"),
        ("'a ' || chr(0)", "dta", "a NUL character"),
        ("repeat('a', 40000)", "xpt", "more than 32,767 bytes"),
    ],
)
def test_text_that_the_format_cannot_hold_is_refused(
    engine: Engine, tmp_path: Path, text: str, kind: str, message: str
) -> None:
    target = tmp_path / f"out.{kind}"
    with pytest.raises(InputError, match=message):
        engine.write_file(f"SELECT {text} AS a", target, kind)
    assert not target.exists()


def random_cell(draw: random.Random) -> str:
    kinds = ("0", "-1", "1.5", "1200", "007", "1e5", "2020-02-29", "2020-01-01T10:00:00", "x", "-0", "1.50")
    return draw.choice(kinds)


@pytest.mark.parametrize("kind", READ)
def test_written_cells_are_read_back_unchanged(engine: Engine, tmp_path: Path, kind: str) -> None:
    """Written cells are read back as the same texts, in random columns that mix a few kinds of texts."""
    draw = random.Random(20)
    for trial in range(some_of(25)):
        kinds = [[random_cell(draw) for _ in range(draw.choice([1, 1, 2, 3]))] for _ in range(4)]
        rows = [tuple(draw.choice([*some, None]) for some in kinds) for _ in range(6)]
        listed = ", ".join(
            "(" + ", ".join("NULL" if cell is None else f"'{cell}'" for cell in row) + f", 'r{i}')"
            for i, row in enumerate(rows)
        )
        path = tmp_path / f"{trial}.{kind}"
        engine.write_file(f"SELECT * FROM (VALUES {listed}) AS t(a, b, c, d, e)", path, kind)
        table = engine.open_source(SourceSpec(path=path))
        texts = ", ".join(table.text(name) for name in table.columns)
        read = {row[4]: row[:4] for row in engine.fetch_rows(f"SELECT {texts} FROM {table.relation}")}
        assert read == {f"r{i}": row for i, row in enumerate(rows)}


def test_file_that_differs_from_the_decided_release_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that differs from the decided release is not published; here the writer loses a digit."""
    spec = write_people(tmp_path)
    write = pyreadstat.write_sav

    def losing(frame: pandas.DataFrame, path: Path, **options: Any) -> None:
        frame.loc[0, "pay"] = 1.0
        write(frame, path, **options)

    monkeypatch.setattr(pyreadstat, "write_sav", losing)
    with pytest.raises(LimitReached, match="wrong cells"):
        discreet.open(spec).publish({"sex": 0, "age": 1}, tmp_path / "out.sav", k=2, max_suppressed=1)
    assert not (tmp_path / "out.sav").exists()


def test_missing_library_is_named_in_the_error(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyreadstat", None)
    with pytest.raises(InputError, match="pyreadstat is not installed"):
        engine.write_file("SELECT 1 AS a", tmp_path / "out.dta", "dta")


LONG = {
    "a NULL behind": ["'{}'", "NULL"],
    "a NULL before": ["NULL", "'{}'"],
    "short texts and NULL": ["'{}'", "'a'", "NULL", "'b'"],
    "twice": ["'{}'", "'{}'", "NULL", "NULL"],
    "nothing else": ["'{}'"],
}


def test_release_of_long_texts_and_null_is_published(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"sex": ["f", "m"] * 3, "note": ["x" * 3000] * 3 + [None] * 3})
    spec = {"attributes": {"sex": {"role": "quasi-identifier"}, "note": {"role": "insensitive"}}}
    discreet.open(frame, spec).publish({"sex": 0}, tmp_path / "out.dta", k=3)
    assert discreet.audit(tmp_path / "out.dta").passed
    written = pyreadstat.read_dta(tmp_path / "out.dta")[0]
    assert sorted(written["note"]) == [""] * 3 + ["x" * 3000] * 3


def test_more_columns_than_stata_has_are_refused(tmp_path: Path) -> None:
    columns = [(f"c{i}", "VARCHAR") for i in range(32_768)]
    with pytest.raises(InputError, match="32,768 columns") as raised:
        write_statistics_file(tmp_path / "out.dta", "dta", columns, {}, Codebook())
    assert raised.value.allowed == "at most 32,767 in a file of Stata"
