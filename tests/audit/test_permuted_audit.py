"""Audits of permuted releases: an unchanged release passes, a changed one fails."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import discreet
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.errors import InputError, NoSolution
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.sql.dialect import DUCKDB
from tests.drawing import some_of
from tests.oracle.permuted_tables import staff, table_of

Rows = list[list[str]]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a release that is made once; no test changes it."""
    folder = tmp_path_factory.mktemp("release")
    limits = Settings(memory_limit=10**9, threads=1, private_log=folder / "log.jsonl")
    (folder / "out").mkdir()
    staff(folder, limits).publish(Permutation(e=1000), folder / "out" / "p.csv", k=2)
    return folder / "out"


@pytest.fixture
def published(release: Path, out: Path) -> Path:
    """Return a copy of the release that a test may change."""
    shutil.copytree(release, out, dirs_exist_ok=True)
    return out / "p.csv"


def audit(path: Path, settings: Settings) -> Any:
    return discreet.audit(path, settings=settings)


def change(path: Path, edit: Callable[[Rows], None], *, release: Path | None = None) -> None:
    """Edit the cells of a CSV file; with ``release``, write the new checksum to the manifest of that data."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    edit(rows)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    if release is None:
        return
    manifest = release.with_name(f"{release.name}.manifest.json")
    document = json.loads(manifest.read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    entries = [document["data"], *document["permutation"]["files"].values()]
    next(e for e in entries if e["file"] == path.name)["sha256"] = digest
    manifest.write_text(json.dumps(document))


def test_permuted_release_passes(published: Path, settings: Settings) -> None:
    report = audit(published, settings)
    assert report.passed
    assert report.report.permutation.requirement == "k=2, e=1000"
    assert report.report.permutation.smallest_range >= Decimal(1000)
    assert "Audit passed: 10 rows" in str(report)


def test_checksum_detects_any_change(published: Path, settings: Settings) -> None:
    for name in ("p.csv", "p.help.csv"):
        before = (published.parent / name).read_bytes()
        change(published.parent / name, lambda rows: rows.append(rows.pop(1)))
        report = audit(published, settings)
        assert not report.passed
        assert f"{name} differs from the manifest" in report.report.warnings[0]
        (published.parent / name).write_bytes(before)
    assert audit(published, settings).passed


def swap_values(rows: Rows) -> None:
    """Exchange two values between groups."""
    at = {name: place for place, name in enumerate(rows[0])}
    first = rows[1]
    other = next(r for r in rows[2:] if r[at["group_id"]] != first[at["group_id"]] and r[at["pay"]])
    first[at["pay"]], other[at["pay"]] = other[at["pay"]], first[at["pay"]]


def swap_groups(rows: Rows) -> None:
    at = rows[0].index("group_id")
    other = next(row for row in rows[2:] if row[at] != rows[1][at])
    rows[1][at], other[at] = other[at], rows[1][at]


def new_value(rows: Rows) -> None:
    rows[1][rows[0].index("pay")] = "123"


def new_group(rows: Rows) -> None:
    rows[1][rows[0].index("group_id")] = "77"


def no_group(rows: Rows) -> None:
    rows[1][rows[0].index("group_id")] = ""


def lost_row(rows: Rows) -> None:
    del rows[1]


def no_number(rows: Rows) -> None:
    rows[1][rows[0].index("pay")] = "much"


@pytest.mark.parametrize(
    "edit", [swap_values, swap_groups, new_value, new_group, no_group, lost_row, no_number]
)
def test_changed_data_is_detected_without_its_checksum(
    published: Path, settings: Settings, edit: Callable[[Rows], None]
) -> None:
    change(published, edit, release=published)
    report = audit(published, settings)
    assert not report.passed
    assert not any("SHA-256" in warning for warning in report.report.warnings)


@pytest.mark.parametrize("column", range(15))
def test_every_cell_of_the_help_table_is_checked(published: Path, settings: Settings, column: int) -> None:
    def edit(rows: Rows) -> None:
        rows[3][column] = str(int(rows[3][column] or 0) + 1)

    change(published.with_name("p.help.csv"), edit, release=published)
    report = audit(published, settings)
    assert not report.passed
    assert any("help table" in warning for warning in report.report.warnings)


def test_decimal_that_differs_in_its_last_place_fails(tmp_path: Path, settings: Settings, out: Path) -> None:
    table = table_of(tmp_path, settings, [(1, "1.5"), (2, "2.25"), (3, "-0.10"), (4, "7")])
    table.publish("permutation", out / "p.csv", k=2)

    def edit(rows: Rows) -> None:
        place = rows[0].index("sum_upper")
        rows[1][place] = str(Decimal(rows[1][place]) + Decimal("0.001"))

    change(out / "p.help.csv", edit, release=out / "p.csv")
    assert not audit(out / "p.csv", settings).passed


@pytest.mark.parametrize("column", [0, 1, 7, 14])
def test_slices_of_the_groups_are_compared_one_by_one(
    published: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, column: int
) -> None:
    sliced = replace(DUCKDB, rows_at_once=4)
    monkeypatch.setattr(DuckdbEngine, "dialect", property(lambda _: sliced))
    assert audit(published, settings).passed
    helped = published.with_name("p.help.csv")
    for row in (1, -1):
        before = helped.read_bytes()
        change(helped, lambda rows, row=row: rows[row].__setitem__(column, "999"), release=published)
        assert not audit(published, settings).passed
        helped.write_bytes(before)


def test_claim_that_the_groups_do_not_meet_fails(published: Path, settings: Settings) -> None:
    manifest = published.with_name("p.csv.manifest.json")
    text = manifest.read_text()
    for old, new in (('"k": 2,', '"k": 9,'), ('"e": "1000"', '"e": "9000"'), ('"groups": 3', '"groups": 2')):
        manifest.write_text(
            re.sub(old.replace("3", "[0-9]+") if "groups" in old else old, new, text, count=1)
        )
        assert not audit(published, settings).passed
    manifest.write_text(text)
    assert not discreet.audit(published, k=9, settings=settings).passed


def test_two_tables_must_have_the_same_groups(tmp_path: Path, settings: Settings, out: Path) -> None:
    staff(tmp_path, settings).publish(Permutation(e=1000, form="two-tables"), out / "p.csv", k=2)
    assert audit(out / "p.csv", settings).passed

    def other_group(rows: Rows) -> None:
        at = rows[0].index("group_id")
        rows[1][at] = next(row[at] for row in rows[2:] if row[at] != rows[1][at])

    change(out / "p.csv", other_group, release=out / "p.csv")
    report = audit(out / "p.csv", settings)
    assert not report.passed
    assert any("two tables" in warning for warning in report.report.warnings)


def test_missing_help_file_is_refused(published: Path, settings: Settings) -> None:
    published.with_name("p.help.csv").unlink()
    with pytest.raises(InputError, match="missing"):
        audit(published, settings)


def test_manifest_with_a_path_to_another_folder_is_refused(published: Path, settings: Settings) -> None:
    manifest = published.with_name("p.csv.manifest.json")
    manifest.write_text(manifest.read_text().replace('"p.help.csv"', '"../p.help.csv"'))
    with pytest.raises(InputError, match="manifest"):
        audit(published, settings)


def test_named_columns_are_audited_as_classes(published: Path, settings: Settings) -> None:
    found = discreet.audit(published, quasi_identifiers=["age", "town"], k=2, settings=settings)
    assert not found.passed
    assert found.report.permutation is None


@given(
    st.lists(
        st.none() | st.integers(-3, 3) | st.sampled_from(["0.5", "1.50", "-2"]), min_size=2, max_size=14
    ),
    st.integers(1, 3),
    st.sampled_from(["min-sum", "min-max", "random", "contiguous-min-max"]),
    st.sampled_from(["p.csv", "p.parquet"]),
)
@hypothesis_settings(max_examples=some_of(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_published_release_passes(
    tmp_path: Path, settings: Settings, values: list[object], k: int, partition: str, name: str
) -> None:
    assume(any(value is not None for value in values))
    table = table_of(tmp_path, settings, list(enumerate(values)))
    try:
        release = table.publish(
            Permutation(e="0.5", partition=partition), tmp_path / name, k=k, overwrite=True
        )
    except NoSolution:
        return
    assert release.audit.passed
    assert audit(tmp_path / name, settings).passed
