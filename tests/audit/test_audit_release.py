"""Audits of a release by its manifest: columns, requirement, checksum."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import discreet
from discreet.audit.release_audit import audit_release
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.model.requirement import Requirement
from discreet.models import Patterns
from discreet.settings import Settings
from tests.oracle.patients import patients, publish_patients


def test_columns_and_requirement_come_from_the_manifest(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    publish_patients(engine, settings, patients(tmp_path), out / "r.csv", l=2)
    report = audit_release(engine, out / "r.csv")
    assert (report.passed, report.k, report.l) == (True, 5, {"diagnosis": 3})
    assert report.warnings == ()


def test_given_requirement_and_columns_override_the_manifest(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    publish_patients(engine, settings, patients(tmp_path), out / "r.csv")
    assert not audit_release(engine, out / "r.csv", requirement=Requirement(k=6)).passed
    assert audit_release(engine, out / "r.csv", requirement=Requirement()).passed
    by_town = audit_release(engine, out / "r.csv", quasi_identifiers=["town"], sensitive=[])
    assert (by_town.classes, by_town.l) == (2, {})


def test_changed_file_fails_even_if_its_classes_pass(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    publish_patients(engine, settings, patients(tmp_path), out / "r.csv")
    text = (out / "r.csv").read_text()
    (out / "r.csv").write_text(text + text.splitlines()[-1] + "\n")
    report = audit_release(engine, out / "r.csv")
    assert (report.passed, report.failing_classes) == (False, 0)
    assert report.warnings[0] == "The file has 11 rows, but its manifest says 10."
    assert report.warnings[1].startswith("The file differs from its manifest: its SHA-256")


@pytest.mark.parametrize("values", [["1", "2"], ["1", ""], ["", ""]])
def test_single_column_with_another_delimiter_in_its_name_is_audited(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path, values: list[str]
) -> None:
    (tmp_path / "t.csv").write_text("\n".join(["q;3,id", *(f"{value},x" for value in values), ""]))
    attributes = {"q;3": {"role": "quasi-identifier"}, "id": {"role": "identifier"}}
    table = discreet.open(tmp_path / "t.csv", {"attributes": attributes}, settings=settings)
    table.publish({"q;3": 0}, out / "r.csv", k=1)
    report = audit_release(engine, out / "r.csv")
    assert (report.passed, report.rows) == (True, 2)


def test_class_of_stars_is_counted_if_rows_were_dropped(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    """A class of starred rows counts as a class where rows were dropped.

    It is the smallest class; counting it separately would hide that the release is only 2-anonymous.
    """
    (tmp_path / "t.csv").write_text("q\n1\n1\n1\n1\n2\n3\n")
    table = discreet.open(
        tmp_path / "t.csv", {"attributes": {"q": {"role": "quasi-identifier"}}}, settings=settings
    )
    table.publish(table.recode(Patterns(pattern=[".", "*"]), k=2), out / "r.csv", suppressed_rows="drop")
    assert sorted((out / "r.csv").read_text().split()) == ["*", "*", "1", "1", "1", "1", "q"]
    report = audit_release(engine, out / "r.csv")
    assert (report.passed, report.k, report.starred) == (True, 2, 0)
    assert not audit_release(engine, out / "r.csv", requirement=Requirement(k=3)).passed


def test_foreign_file_requires_its_columns(engine: Engine, out: Path) -> None:
    (out / "f.csv").write_text("a,b\n1,2\n1,2\n")
    with pytest.raises(InputError, match="has no manifest, and no quasi-identifier was named"):
        audit_release(engine, out / "f.csv")
    report = audit_release(engine, out / "f.csv", quasi_identifiers=["a"], requirement=Requirement(k=2))
    assert report.passed


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"attributes": [{}]}'])
def test_invalid_manifest_is_refused(text: str, engine: Engine, out: Path) -> None:
    (out / "f.csv").write_text("a,b\n1,2\n")
    (out / "f.csv.manifest.json").write_text(text)
    with pytest.raises(InputError, match="manifest"):
        audit_release(engine, out / "f.csv")


def test_manifest_of_other_columns_is_refused(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    publish_patients(engine, settings, patients(tmp_path), out / "r.csv")
    manifest = out / "r.csv.manifest.json"
    document = json.loads(manifest.read_text())
    document["attributes"][1]["name"] = "years"
    manifest.write_text(json.dumps(document))
    with pytest.raises(InputError, match="no column 'years'"):
        audit_release(engine, out / "r.csv")
