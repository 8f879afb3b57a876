"""The manifest and the private log: required content, and content they must not have."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.base import Engine
from discreet.errors import InputError, LimitReached
from discreet.hierarchy.csv_file import FileHierarchy
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.release import private_log
from discreet.release.manifest import read_manifest
from discreet.release.publication_evidence import compute_public_digest
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from tests.oracle.patients import PATIENTS, patients, publish_patients


def manifest_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.with_name(path.name + ".manifest.json").read_text())
    return document


def test_manifest_contains_every_fact_of_the_release(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    spec = patients(tmp_path)
    release = publish_patients(engine, settings, spec, out / "r.csv", l=2)
    document = manifest_of(out / "r.csv")

    assert document["manifest"] == 1
    assert document["discreet"] == "0.1.0"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", document["date"])
    assert document["data"] == {
        "file": "r.csv",
        "format": "csv",
        "sha256": hashlib.sha256((out / "r.csv").read_bytes()).hexdigest(),
        "rows": 10,
    }
    age = FileHierarchy(tmp_path / "age.csv").build("age", ())
    assert document["attributes"] == [
        {"name": "name", "role": "identifier", "published": False},
        {
            "name": "age",
            "role": "quasi-identifier",
            "published": True,
            "level": 1,
            "height": 2,
            "hierarchy": {"from_data": False, "sha256": age.digest},
        },
        {
            "name": "town",
            "role": "quasi-identifier",
            "published": True,
            "level": 0,
            "height": 1,
            "hierarchy": {"from_data": False, "sha256": None, "labels": {"kind": "values"}},
        },
        {"name": "diagnosis", "role": "sensitive", "published": True},
    ]
    assert document["requirement"] == {"k": 3, "l": 2}
    assert document["counted"] == "rows"
    assert document["nulls"] == {"policy": "value", "dropped_rows": 0}
    assert document["suppression"] == {"policy": "drop", "rows": 2}
    assert document["audit"] == {
        "passed": True,
        "rows": 10,
        "classes": 2,
        "k": 5,
        "l": {"diagnosis": 3},
        "starred": 0,
    }
    assert [warning["code"] for warning in document["warnings"]] == [
        "low-k",
        "no-hierarchy",
        "high-suppression",
    ]
    assert "evidence" in document["statement"]
    assert "anonym" not in json.dumps(document).lower()
    assert release.audit.k == 5


def test_manifest_contains_no_value_and_no_digest_of_the_input(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    publish_patients(engine, settings, patients(tmp_path), out / "r.csv", star=True)
    text = (out / "r.csv.manifest.json").read_text()
    values = {cell for line in PATIENTS.splitlines()[1:] for cell in line.split(",") if not cell.isdigit()}
    for value in (*values, "30s", str(tmp_path)):
        assert value not in text
    for name in ("patients.csv", "age.csv"):
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert digest not in text


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"kind": "intervals", "width": 10},
        {"kind": "mask"},
        {"kind": "auto"},
        {"kind": "order", "sizes": [2]},
    ],
    ids=lambda table: table["kind"],
)
def test_digest_never_covers_values_of_the_data(
    hierarchy: dict[str, Any], engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    patients(tmp_path)
    document = {
        "source": {"path": "patients.csv"},
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": hierarchy},
            "town": {"role": "quasi-identifier"},
        },
    }
    spec = spec_from_mapping(document, base=tmp_path, label="the spec")
    publish_patients(engine, settings, spec, out / "r.csv", node=(1, 1), k=1)
    age = manifest_of(out / "r.csv")["attributes"][0]
    assert age["hierarchy"]["sha256"] is None
    derived = bool(spec.quasi_identifiers[0].hierarchy and spec.quasi_identifiers[0].hierarchy.from_data)
    assert age["hierarchy"]["from_data"] is derived


def test_hierarchy_file_changed_after_reading_has_no_digest(tmp_path: Path) -> None:
    source = FileHierarchy(tmp_path / "age.csv")
    patients(tmp_path)
    built: GeneralizationHierarchy = source.build("age", ["31"])
    assert compute_public_digest(source, built) == built.digest
    (tmp_path / "age.csv").write_text("31;*\n")
    assert compute_public_digest(source, built) is None
    (tmp_path / "age.csv").unlink()
    assert compute_public_digest(source, built) is None


def test_manifest_lists_warnings_of_the_requirement_and_columns(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    spec = patients(tmp_path, unlisted_columns="insensitive")
    release = publish_patients(engine, settings, spec, out / "r.csv", node=(0, 0), k=None, l=None)
    codes = [warning["code"] for warning in manifest_of(out / "r.csv")["warnings"]]
    expected = ["homogeneous-class", "no-requirement", "no-hierarchy", "unlisted-published"]
    assert codes == [*expected, "single-values", "single-values"]
    assert list(release.warnings) == [w["text"] for w in manifest_of(out / "r.csv")["warnings"]]
    publish_patients(engine, settings, spec, out / "s.csv", k=5)
    codes = [warning["code"] for warning in manifest_of(out / "s.csv")["warnings"]]
    expected = ["no-l", "no-hierarchy", "unlisted-published", "high-suppression"]
    assert codes[: len(expected)] == expected
    assert {*codes[len(expected) :]} == {"single-values"}
    publish_patients(engine, settings, spec, out / "t.csv", k=None, l=2)
    assert manifest_of(out / "t.csv")["warnings"][0]["code"] == "no-k"


def test_only_the_publisher_sees_the_omitted_columns(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    release = publish_patients(engine, settings, patients(tmp_path), out / "r.csv")
    assert release.warnings[-1] == "Not listed in the spec, so left out: 'ward'."
    assert "ward" not in (out / "r.csv.manifest.json").read_text()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"manifest": 2}', '{"manifest": 1}', "\xff"])
def test_missing_or_invalid_manifest_is_refused(text: str, out: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_manifest(out / "r.csv")
    (out / "r.csv.manifest.json").write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match="manifest"):
        read_manifest(out / "r.csv")


def test_private_log_records_each_release(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    spec = patients(tmp_path)
    (tmp_path / "discreet.toml").write_text("# the spec")
    for name in ("r.csv", "s.csv"):
        publish_patients(engine, settings, replace(spec, path=tmp_path / "discreet.toml"), out / name)
    log = settings.private_log
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    first, second = map(json.loads, log.read_text().splitlines())
    assert first["input"] == str(tmp_path / "patients.csv")
    assert first["input_sha256"] == hashlib.sha256((tmp_path / "patients.csv").read_bytes()).hexdigest()
    assert first["spec"] == str(tmp_path / "discreet.toml")
    assert first["requirement"] == {"k": 3, "l": None}
    assert first["levels"] == {"age": 1, "town": 0}
    assert first["output"] == str(out / "r.csv")
    assert second["output_sha256"] == hashlib.sha256((out / "s.csv").read_bytes()).hexdigest()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", first["time"])


def test_log_readable_by_others_becomes_private(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("")
    log.chmod(0o644)
    descriptor = private_log.open_descriptor(log)
    private_log.append(descriptor, {"input": "é"})
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert json.loads(log.read_text())["input"] == "é"


def test_nothing_is_published_without_a_log(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "log.jsonl", tmp_path):
        with pytest.raises(InputError, match="private log"):
            publish_patients(engine, replace(settings, private_log=place), patients(tmp_path), out / "r.csv")
    assert list(out.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full here")
def test_nothing_is_published_if_the_log_is_full(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    mode = Path("/dev/full").stat().st_mode
    with pytest.raises(LimitReached, match="log cannot grow"):
        publish_patients(
            engine, replace(settings, private_log=Path("/dev/full")), patients(tmp_path), out / "r.csv"
        )
    assert list(out.iterdir()) == []
    assert Path("/dev/full").stat().st_mode == mode
