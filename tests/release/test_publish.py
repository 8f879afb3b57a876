"""Content of the target after a publication, and after a failed one."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.audit.release_audit import audit_release
from discreet.engines.base import Engine
from discreet.errors import InputError, InternalError, NoSolution, RequirementNotMet
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.requirement import Requirement
from discreet.model.search_result import FullDomainRecoding
from discreet.recoding.recoded_table import ClassedRows
from discreet.release import publication as room
from discreet.settings import Settings
from tests.oracle.patients import PATIENTS, patients, publish_patients
from tests.oracle.plain_release import read_csv


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_release_is_a_file_and_its_manifest(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    release = publish_patients(engine, settings, patients(tmp_path), out / "r.csv", expected_suppressed=2)

    assert names(out) == ["r.csv", "r.csv.manifest.json"]
    assert (release.rows, release.suppressed, release.levels) == (12, 2, {"age": 1, "town": 0})
    assert (release.path, release.manifest_path) == (out / "r.csv", out / "r.csv.manifest.json")
    header, rows = read_csv(out / "r.csv")
    assert header == ["age", "town", "diagnosis"]
    assert sorted(rows) == [  # type: ignore[type-var]
        *(("30s", "Kiel", found) for found in ("cold", "flu", "flu", "flu", "gout")),
        *(("40s", "Bonn", found) for found in ("cold", "cold", "flu", "flu", "gout")),
    ]
    assert audit_release(engine, out / "r.csv").passed


def test_only_the_owner_may_read_the_release(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    publish_patients(engine, settings, patients(tmp_path), out / "r.parquet")
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o600}


def test_release_of_quasi_identifiers_at_the_top_is_one_class(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    """With all quasi-identifiers at the top, every cell is ``*``, but the manifest has no starred rows."""
    spec = patients(tmp_path)
    bare = replace(spec, attributes=spec.quasi_identifiers)
    release = publish_patients(engine, settings, bare, out / "r.csv", node=(2, 1), k=12)
    assert (release.audit.rows, release.audit.k, release.audit.starred) == (12, 12, 0)
    assert audit_release(engine, out / "r.csv").as_json() == release.audit.as_json()


def test_suppression_of_every_row_is_no_solution(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    for star in (False, True):
        with pytest.raises(NoSolution, match="all 12 rows would be suppressed"):
            publish_patients(engine, settings, patients(tmp_path), out / "r.csv", k=6, star=star)
    assert names(out) == []


def test_wrong_count_of_suppressed_rows_is_an_internal_error(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    with pytest.raises(InternalError, match=r"suppresses 2 rows at node .* the lattice says 3"):
        publish_patients(engine, settings, patients(tmp_path), out / "r.csv", expected_suppressed=3)
    assert names(out) == []


def test_failed_audit_leaves_nothing(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed audit leaves nothing.

    The recoding produces a class of one; it is written as decided, and only the audit detects it.
    """
    monkeypatch.setattr(
        room, "_apply_recoding", _applied_with("CASE WHEN o0 = 'gout' THEN '50s' ELSE l0.label0 END")
    )
    with pytest.raises(RequirementNotMet, match=r"k=3 was required, but 2 of its 4 classes fail \(k=1"):
        publish_patients(engine, settings, patients(tmp_path), out / "r.csv")
    assert names(out) == []
    assert not settings.private_log.read_text()


def test_lost_row_is_an_internal_error(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_apply_recoding", _applied_with("l0.label0", rows=13))
    with pytest.raises(InternalError, match="11 rows were to be written"):
        publish_patients(engine, settings, patients(tmp_path), out / "r.csv")
    assert names(out) == []


def _applied_with(age: str, rows: int = 12):  # type: ignore[no-untyped-def]
    """Apply the recoding with another expression of the published age and another row count."""
    applied = room._apply_recoding

    @contextmanager
    def otherwise(*arguments):  # type: ignore[no-untyped-def]
        with applied(*arguments) as table:
            first, *rest = table.columns
            assert first.name == "age"
            changed = replace(first, published=age)
            yield _WholeRows(**{**vars(table), "columns": (changed, *rest), "rows": rows})

    return otherwise


class _WholeRows(ClassedRows):
    """Classed rows whose cells are not known to be their class's."""

    def class_cells(self) -> None:  # type: ignore[override]
        return None


@pytest.mark.parametrize("text", [PATIENTS + "Max,33,Kiel,flu,13\n", PATIENTS.replace("Kiel", "Köln")])
def test_source_changed_after_counting_is_refused(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path, text: str
) -> None:
    spec = patients(tmp_path)
    frequency_set = count_frequency_set(engine, spec, settings)
    (tmp_path / "patients.csv").write_text(text)
    recoding = FullDomainRecoding(("age", "town"), (1, 0), Requirement(3))
    with pytest.raises(InputError, match="changed after it was counted"):
        room.publish_release(
            engine, spec, frequency_set, recoding, out / "r.csv", overwrite=False, settings=settings
        )
    assert names(out) == []


def test_temporary_files_are_hidden_owner_only_and_carry_the_process_number(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, int] = {}

    def looked(*arguments: object, **options: object) -> object:
        seen.update({path.name: stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()})
        return audit(*arguments, **options)  # type: ignore[arg-type]

    audit = room.audit_source
    monkeypatch.setattr(room, "audit_source", looked)
    text = PATIENTS.replace("name,", "person,")
    spec = patients(tmp_path, text, subject="person")
    publish_patients(engine, settings, replace(spec, attributes=spec.attributes[1:]), out / "r.csv")
    assert {name.split(".")[-2] for name in seen} == {"data", "subjects", "lock"}
    assert all(name.startswith(f".r.csv.{os.getpid()}-") for name in seen)
    assert set(seen.values()) == {0o600}
    assert names(out) == ["r.csv", "r.csv.manifest.json"]


def test_column_names_that_differ_in_case_are_published(
    engine: Engine, settings: Settings, tmp_path: Path, out: Path
) -> None:
    text = PATIENTS.replace("ward", "DIAGNOSIS").replace("name,", '"na""me, x",')
    spec = patients(tmp_path, text, unlisted_columns="insensitive")
    attributes = tuple(replace(a, name='na"me, x') if a.name == "name" else a for a in spec.attributes)
    publish_patients(engine, settings, replace(spec, attributes=attributes), out / "r.csv")
    assert read_csv(out / "r.csv")[0] == ["age", "town", "diagnosis", "DIAGNOSIS"]
    assert audit_release(engine, out / "r.csv").rows == 10
