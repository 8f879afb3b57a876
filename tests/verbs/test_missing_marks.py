"""Missing-value marks in columns of a requirement: every verb warns of them, once."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.model.coded_warnings import MISSING_MARKS
from discreet.settings import Settings

ROWS = ["m,unknown,10", "m,flu,20", "f,(Missing),-9", "f,flu,30", "f,flu,5", "m,unknown,40"]
LINE = 'null_values = ["unknown", "(Missing)", "-9"]'


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("sex,ill,pay\n" + "\n".join(ROWS) + "\n")
    return path


def opened(people: Path, settings: Settings, source: Any = (), **ill: Any) -> discreet.Table:
    attributes = {
        "sex": {"role": "quasi-identifier"},
        "ill": {"role": "sensitive", **ill},
        "pay": {"role": "sensitive", **({"real_values": ["-9"]} if ill else {})},
    }
    spec = {"source": {"path": str(people), **dict(source)}, "attributes": attributes}
    return discreet.open(people, spec, settings=settings)


def marks(warnings: Sequence[str]) -> list[str]:
    return [str(warning) for warning in warnings if getattr(warning, "code", "") == MISSING_MARKS]


def test_every_verb_warns_once(people: Path, settings: Settings, tmp_path: Path) -> None:
    table = opened(people, settings)
    result = table.negotiate(k=2, l=2)
    (warning,) = marks(result.warnings)
    assert "'ill' has 'unknown' in 2 rows, '(Missing)' in 1 row; 'pay' has '-9' in 1 row" in warning
    assert LINE in warning
    assert 'real_values = ["unknown", "(Missing)"] in [attributes.ill]' in warning
    assert marks(table.inspect().warnings) == [warning]
    release = table.publish({"sex": 0}, tmp_path / "out.csv", k=2, l=2)
    assert marks(release.release.warnings) == [warning]
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert "unknown" not in json.dumps(manifest), "a manifest names no cell"


def test_suggested_spec_line_reads_marks_as_null(people: Path, settings: Settings) -> None:
    (warning,) = marks(opened(people, settings).negotiate(k=2, l=2).warnings)
    line = warning[warning.index("null_values") : warning.index("]") + 1]
    table = opened(people, settings, tomllib.loads(line))
    assert marks(table.negotiate(k=2, l=2).warnings) == []
    assert table.frequency_set.sensitive[0].size == 1
    assert table.negotiate(k=2, l=2).exact is None


def test_declared_values_are_values(people: Path, settings: Settings, tmp_path: Path) -> None:
    table = opened(people, settings, real_values=["unknown", "(Missing)"])
    result = table.negotiate(k=2, l=2)
    assert marks(result.warnings) == []
    assert result.exact is not None
    release = table.publish(result.exact, tmp_path / "out.csv")
    assert marks(release.release.warnings) == []
    assert marks(release.release.audit.warnings) == []
    report = discreet.audit(tmp_path / "out.csv", spec=table.spec).report
    assert marks(report.warnings) == []
    assert len(marks(discreet.audit(tmp_path / "out.csv").report.warnings)) == 2


def test_audit_counts_values_with_and_without_marks(people: Path) -> None:
    report = discreet.audit(people, quasi_identifiers=["sex"], sensitive=["ill", "pay"], k=2, l=2).report
    assert report.passed
    first, second = marks(report.warnings)
    assert "'ill' has 'unknown' in 2 rows, '(Missing)' in 1 row" in first
    assert "the fewest values of a class are 2 with them and 1 without" in first
    assert "are 3 with them and 2 without" in second
    without = discreet.audit(
        people,
        quasi_identifiers=["sex"],
        sensitive=["ill"],
        k=2,
        l=2,
        null_values=["unknown", "(Missing)"],
    ).report
    assert (without.passed, without.l, marks(without.warnings)) == (False, {"ill": 1}, [])


def test_check_warns_once_of_missing_marks(people: Path) -> None:
    found = discreet.check([people], quasi_identifiers=["sex"], sensitive=["ill"], k=2, l=2)
    assert str(found).replace("\n", " ").count("may mean a missing value") == 1


def test_init_warns_and_its_spec_is_complete(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "people.csv"
    rows = [f"{20 + i % 40},{['flu', 'gout', 'unknown', '#N/A'][i % 4]}" for i in range(80)]
    path.write_text("age,diagnosis\n" + "\n".join(rows) + "\n")
    found = discreet.init(path)
    (warning,) = marks(found.warnings)
    assert "'diagnosis' has 'unknown' in 20 rows" in warning
    assert 'null_values = ["#N/A", "unknown"]' in warning
    assert found.mapping["source"]["null_values"] == ["#N/A"], "what no program writes for a value is NULL"
    assert discreet.open(path, found.mapping, settings=settings).frequency_set.sensitive[0].size == 3


@pytest.mark.parametrize("text", ["suppressed", "None", "?", "-", "k. A.", "refused", "don't know", "NULL"])
def test_each_mark_is_named_with_its_spec_line(text: str, tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"sex,ill\nm,flu\nm,{text}\nm,gout\n")
    spec = {
        "source": {"path": str(path)},
        "attributes": {"sex": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}},
    }
    (warning,) = marks(discreet.open(path, spec, settings=settings).inspect().warnings)
    assert f"null_values = {json.dumps([text])}" in warning


def test_mark_in_a_quasi_identifier_makes_a_group_with_a_warning(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,ill\nm,flu\nunknown,gout\nunknown,flu\n")
    attributes: dict[str, Any] = {"sex": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}
    spec = {"source": {"path": str(path)}, "attributes": attributes}
    (warning,) = marks(discreet.open(path, spec, settings=settings).inspect().warnings)
    assert "'sex' has 'unknown' in 2 rows" in warning
    attributes["sex"]["hierarchy"] = {"kind": "levels", "rows": [["m", "*"], ["unknown", "*"]]}
    try:
        listed = discreet.open(path, spec, settings=settings)
    except discreet.InputError:
        file = tmp_path / "sex.csv"
        file.write_text("m;*\nunknown;*\n")
        attributes["sex"]["hierarchy"] = str(file)
        listed = discreet.open(path, spec, settings=settings)
    assert marks(listed.inspect().warnings) == [], "a value that a hierarchy lists is one"


def test_unquoted_na_of_an_r_file_is_null(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "r.csv"
    rows = [f'"{sex}",{ill}' for sex, ill in (("M", '"flu"'), ("F", '"gout"')) for _ in range(3)]
    rows += ['"M",NA', '"F",NA']
    path.write_text('"sex","diagnosis"\n' + "\n".join(rows) + "\n")
    found = discreet.init(path)
    assert "NA without quotes is NULL" in str(found)
    assert "'diagnosis' in 2 rows" in str(found)
    assert found.mapping["source"]["unquoted_nulls"] == ["NA"]
    written = {key: value for key, value in found.mapping["source"].items() if key != "unquoted_nulls"}
    for source in (found.mapping["source"], written):
        table = discreet.open(path, {**found.mapping, "source": source}, settings=settings)
        assert table.negotiate(k=3, l=2, max_level={"sex": 0}).exact is None
    report = discreet.audit(path, quasi_identifiers=["sex"], sensitive=["diagnosis"], k=3, l=2).report
    assert (report.passed, report.l) == (False, {"diagnosis": 1})
