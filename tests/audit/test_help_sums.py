"""The whole-table comparison of help tables with exact numbers accepts exactly the correct tables."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import discreet
from discreet.audit import permuted_audit
from discreet.errors import NoSolution
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.sql.audit_permuted import COUNT_COLUMNS
from discreet.sql.help_table import help_columns
from tests.drawing import NEW, some_of
from tests.oracle.permuted_tables import table_of

PAY = [1800, 2500, 2500, -40, 0, 4000, 5200, 5200, 6100, 7000, -300, 12]


@pytest.fixture
def agreed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Record the result of the whole-table comparison for each audit."""
    found: list[bool] = []
    whole = permuted_audit.help_table_agrees

    def noted(*given: Any) -> bool:
        found.append(whole(*given))
        return found[-1]

    monkeypatch.setattr(permuted_audit, "help_table_agrees", noted)
    return found


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a release that is made once; no test changes it."""
    folder = tmp_path_factory.mktemp("release")
    limits = Settings(memory_limit=10**9, threads=1, private_log=folder / "log.jsonl")
    table_of(folder, limits, list(enumerate(PAY))).publish(Permutation(e=100), folder / "p.duckdb", k=3)
    return folder


@pytest.fixture
def published(release: Path, out: Path) -> Path:
    """Return a copy of the release that a test may change."""
    for name in ("p.duckdb", "p.duckdb.manifest.json"):
        shutil.copy(release / name, out / name)
    return out / "p.duckdb"


def audit(path: Path, settings: Settings) -> Any:
    return discreet.audit(path, settings=settings).report


def changed(path: Path, statement: str, settings: Settings) -> list[str]:
    """Return the help-table failures that an audit reports after a statement, then undo the statement."""
    before = path.read_bytes()
    with duckdb.connect(str(path)) as database:
        database.execute(statement)
    report = audit(path, settings)
    path.write_bytes(before)
    assert not report.passed
    return [warning for warning in report.warnings if "help table" in warning]


@pytest.mark.parametrize(
    ("values", "numeric"),
    [(PAY, True), ([f"{n / 8:.3f}" for n in PAY], True), ([f"d{n}" for n in PAY], False)],
)
def test_every_changed_cell_is_found(
    tmp_path: Path, settings: Settings, out: Path, agreed: list[bool], values: list[object], numeric: bool
) -> None:
    table = table_of(tmp_path, settings, list(enumerate(values)))
    table.publish(Permutation(e=1 if numeric else 0), out / "p.duckdb", k=3)
    assert audit(out / "p.duckdb", settings).passed
    assert agreed == [True, True]
    for place, column in enumerate(help_columns("group_id", numeric=numeric)):
        if numeric and values is not PAY and place < COUNT_COLUMNS and not NEW:
            continue  # counts are whole numbers for any values
        spoilt = (f"{column} + 1", f"{column} - 1", "NULL")
        # Apply one change to each column; with NEW, whole numbers try every change.
        for new in spoilt if NEW and values is PAY else spoilt[place % 3 :][:1]:
            assert changed(out / "p.duckdb", f"UPDATE help SET {column} = {new} WHERE rowid = 2", settings), (
                column,
                new,
            )
    assert not any(agreed[2:])


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE help SET highest = CASE WHEN hits = 1 THEN highest - 1 ELSE highest + 1 END WHERE hits < 3",
        "UPDATE help SET sum_lower = sum_upper, sum_upper = sum_lower WHERE hits = 1",
        "UPDATE help SET group_id = 3 - group_id WHERE group_id IN (1, 2)",
        "DELETE FROM help WHERE rowid = 4",
        "INSERT INTO help SELECT * FROM help LIMIT 1",
        "DELETE FROM help WHERE rowid = 4; INSERT INTO help SELECT * FROM help LIMIT 1",
    ],
)
def test_changed_rows_are_found(published: Path, settings: Settings, statement: str) -> None:
    assert changed(published, statement, settings)


def test_numbers_of_another_type_are_compared_row_by_row(
    published: Path, settings: Settings, agreed: list[bool]
) -> None:
    changed(published, "ALTER TABLE help ALTER sum_lower TYPE DECIMAL(18,2)", settings)
    changed(published, "ALTER TABLE help ALTER hits TYPE HUGEINT", settings)
    assert agreed == [False, False]


def test_sums_beyond_a_bigint_are_compared_row_by_row(
    tmp_path: Path, settings: Settings, out: Path, agreed: list[bool]
) -> None:
    values = [2**62, 2**62 - 1, -(2**62), 0, -1, 1]
    table_of(tmp_path, settings, list(enumerate(values))).publish(Permutation(e=1), out / "p.duckdb", k=3)
    assert changed(out / "p.duckdb", "UPDATE help SET sum_lower = sum_lower - 1", settings)
    assert agreed == [False, False]


def test_missing_column_of_the_help_table_is_reported(published: Path, settings: Settings) -> None:
    found = changed(published, "ALTER TABLE help DROP highest", settings)
    assert found == ["The help table has the wrong columns."]


@given(
    st.lists(st.integers(-3, 3) | st.sampled_from([2**53 + 1, -(10**16)]), min_size=2, max_size=40),
    st.integers(2, 3),
    st.sampled_from(["min-sum", "random"]),
    st.sampled_from([0, 2]),
)
@hypothesis_settings(
    max_examples=some_of(8), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_correct_sums_are_accepted_in_one_comparison(
    tmp_path: Path,
    settings: Settings,
    agreed: list[bool],
    values: list[int],
    k: int,
    partition: str,
    scale: int,
) -> None:
    agreed.clear()
    rows = [(place, Decimal(value).scaleb(-scale)) for place, value in enumerate(values)]
    try:
        made = table_of(tmp_path, settings, rows).publish(
            Permutation(e="0", partition=partition), tmp_path / "p.parquet", k=k, overwrite=True
        )
    except NoSolution:
        return
    assert made.audit.passed
    assert agreed == [True]
