"""The register of releases: its content, its readers, and the warnings for a second release."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.attacks import composition
from discreet.attacks.published_table import PublishedColumns, ReleaseClasses, read_published
from discreet.model.table_spec import SourceSpec
from discreet.models import Mondrian
from discreet.release.private_log import append, open_descriptor, read_publications
from discreet.release.release_register import ReleaseState, find_releases_of_people, list_registered_releases
from discreet.verbs.earlier_releases import read_release_register
from discreet.verbs.table import Table
from tests.attacks.test_intersection import TWO, opened, released


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return opened(tmp_path)


@pytest.fixture
def log(table: Table) -> Path:
    return table.settings.private_log


def second(table: Table, folder: Path, name: str = "second", **levels: int) -> list[dict[str, object]]:
    found = table.publish(levels, folder / f"{name}.csv", k=2, max_suppressed="50%")
    return list(found.as_json().get("intersections", []))


def test_first_release_has_no_intersection(table: Table, tmp_path: Path, log: Path) -> None:
    assert second(table, tmp_path, age=3) == []
    (known,) = list_registered_releases(log)
    assert (known.name, known.state) == ("second.csv", ReleaseState.IN_PLACE)


def test_second_release_that_singles_out_people_is_reported(table: Table, tmp_path: Path, log: Path) -> None:
    released(table, tmp_path, "first", age=0, city=2)
    found = table.publish({"age": 2}, tmp_path / "second.csv", k=2)
    (intersection,) = found.intersections
    assert (
        intersection.name,
        intersection.k,
        intersection.failing,
        intersection.rows,
        intersection.unique_rows,
    ) == (
        "first.csv",
        1,
        4,
        4,
        4,
    )
    assert "Do not publish it together with first.csv" in str(found)
    assert "intersections" not in found.manifest_path.read_text(encoding="utf-8")


def test_safe_second_release_is_reported_as_safe(table: Table, tmp_path: Path) -> None:
    released(table, tmp_path, "first", age=0, city=2)
    found = table.publish({"age": 3, "city": 2}, tmp_path / "second.csv", k=2)
    assert [(one.k, one.safe) for one in found.intersections] == [(2, True)]
    assert "Do not publish it together" not in str(found)


def test_recoding_by_classes_is_intersected(table: Table, tmp_path: Path) -> None:
    released(table, tmp_path, "first", age=0, city=2)
    (intersection,) = table.publish(Mondrian(), tmp_path / "second.csv", k=2).intersections
    assert intersection.k in (1, 2)
    assert intersection.reason is None


def test_releases_that_cannot_be_intersected_have_a_reason(table: Table, tmp_path: Path) -> None:
    replaced = released(table, tmp_path, "replaced", age=3)
    gone = released(table, tmp_path, "gone", age=1, city=2)
    gone.unlink()
    table.publish({"city": 2}, replaced, k=2, overwrite=True)
    table.publish("permutation", tmp_path / "p.csv", k=2)
    reasons = {str(one["release"]): str(one.get("reason")) for one in second(table, tmp_path, age=3, city=2)}
    assert reasons["gone.csv"] == "gone"
    assert "permutes" in reasons["p.csv"]
    assert reasons["replaced.csv"] in ("None", "replaced")


def test_no_sensitive_value_of_an_earlier_release_is_read(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sensitive values of earlier releases are not read.

    If nearly every row has its own value, reading them would exceed the memory limit.
    """
    released(table, tmp_path, "first", age=0, city=2)
    table.publish("permutation", tmp_path / "p.csv", k=2)
    read: list[tuple[str, ...]] = []

    def spied(engine: Any, release: Any, columns: PublishedColumns, *rest: Any) -> ReleaseClasses:
        read.append((*columns.quasi_identifiers, *columns.sensitive))
        return read_published(engine, release, columns, *rest)

    monkeypatch.setattr(composition, "read_published", spied)
    found = table.publish({"age": 2}, tmp_path / "second.csv", k=2)
    assert len(found.intersections) == 2
    assert read == [("age", "city")]


def test_overwritten_release_is_not_intersected_with_itself(table: Table, tmp_path: Path) -> None:
    second(table, tmp_path, age=3)
    again = table.publish({"age": 3, "city": 2}, tmp_path / "second.csv", k=2, overwrite=True)
    assert again.intersections == ()


def test_releases_of_the_same_people_are_found_by_input_and_subject(
    table: Table, tmp_path: Path, log: Path
) -> None:
    released(table, tmp_path, "first", age=3)
    other = tmp_path / "other"
    other.mkdir()
    apart = opened(other, [*TWO, ("20", "Bonn", "a")])
    assert find_releases_of_people(log, apart.spec) == ()
    copy = opened(other)
    assert len(find_releases_of_people(log, copy.spec)) == 1
    entry = {**list_registered_releases(log)[0].entry, "subject": "patient", "input_sha256": "other"}
    log.unlink()
    descriptor = open_descriptor(log)
    append(descriptor, {**entry, "input": str(tmp_path / "visits.csv")})
    append(descriptor, {**entry, "input": str(other / "visits.csv")})
    append(descriptor, {**entry, "input": str(tmp_path / "visits.csv"), "subject": "patients"})
    os.close(descriptor)
    by_subject = replace(table.spec, source=replace(table.spec.source, subject="patient"))
    assert find_releases_of_people(log, by_subject) == list_registered_releases(log)[:1]
    assert find_releases_of_people(log, table.spec) == ()


def test_only_log_lines_that_name_the_input_are_read(log: Path) -> None:
    descriptor = open_descriptor(log)
    for name in ("/data/a.csv", '/data/"ä\\.csv', "/data/a.csv.gz", "/data/a\u2028\x85b.csv"):
        append(descriptor, {"output": "/r", "output_sha256": "x", "input": name})
    os.close(descriptor)
    for name in ("/data/a.csv", '/data/"ä\\.csv', "/data/a\u2028\x85b.csv"):
        assert name in [one.entry["input"] for one in list_registered_releases(log, [name])]
    assert len(list_registered_releases(log, ["/data/a.csv"])) == 2
    assert list_registered_releases(log, ["c.csv"]) == list_registered_releases(log, []) == ()
    assert len(list_registered_releases(log)) == 4


def test_rows_in_memory_have_no_earlier_release(table: Table, tmp_path: Path, log: Path) -> None:
    released(table, tmp_path, "first", age=0, city=2)
    assert find_releases_of_people(log, replace(table.spec, source=SourceSpec(data=[{"a": "1"}]))) == ()


def test_register_is_private_and_contains_no_value(table: Table, tmp_path: Path, log: Path) -> None:
    released(table, tmp_path, "first", age=0, city=2)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    listed = json.dumps(read_release_register(table.settings).as_json()["releases"])
    text = log.read_text(encoding="utf-8") + listed
    assert not [value for row in TWO for value in row if f'"{value}"' in text]


def _append_many(path: Path, mark: str) -> None:
    descriptor = open_descriptor(path)
    for number in range(200):
        append(descriptor, {"output": f"/{mark}/{number}", "output_sha256": mark * 2000})
    os.close(descriptor)


def test_two_processes_at_once_lose_no_release(log: Path) -> None:
    context = multiprocessing.get_context("spawn")
    runs = [context.Process(target=_append_many, args=(log, mark)) for mark in "ab"]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert len(list(read_publications(log))) == len(list_registered_releases(log)) == 400


def test_invalid_line_of_the_log_is_skipped(log: Path) -> None:
    descriptor = open_descriptor(log)
    os.write(descriptor, b'{"output": "/a", "out\n[1]\n{"output": "/b", "output_sha256": "x"}\n')
    os.close(descriptor)
    assert [one.output for one in list_registered_releases(log)] == ["/b"]
    assert list_registered_releases(log.with_name("missing")) == ()
