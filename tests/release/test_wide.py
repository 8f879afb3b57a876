"""Tables of many columns: costs grow with the cells, not with the square of the columns."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import discreet
from benchmarks.fresh_process import run_fresh
from discreet.engines.connection import connect
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.files.delimited_text import check_unique_names
from discreet.errors import InputError
from discreet.model.requirement import Requirement
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.audit.file_audit import audit_file

ROWS = 200
KEYS = ("age", "sex")
SPEC = """[source]
path = "{name}"
unlisted_columns = "insensitive"

[attributes.age]
role = "quasi-identifier"
hierarchy = {{ kind = "intervals", widths = [5, 10, 20] }}

[attributes.sex]
role = "quasi-identifier"

[attributes.disease]
role = "sensitive"
"""


def rows_of(columns: int, rows: int = ROWS) -> list[dict[str, str]]:
    """Return people with many measurements; every tenth of these differs in each row."""
    others = range(columns - 3)
    return [
        {"age": str(20 + row % 40), "sex": "fm"[row % 2], "disease": f"d{row % 8}"}
        | {f"x{i}": str(row if i % 10 == 0 else (row * 31 + i) % 50) for i in others}
        for row in range(rows)
    ]


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


@contextmanager
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record the statements that the embedded engine runs."""
    statements: list[str] = []
    run = DuckdbEngine._run

    def noting(engine: DuckdbEngine, statement: str, consume: object) -> object:
        statements.append(statement)
        return run(engine, statement, consume)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(DuckdbEngine, "_run", noting)
        yield statements


def test_audit_counts_few_distinct_values_per_statement(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_csv(tmp_path / "wide.csv", rows_of(300))
    with recorded(monkeypatch) as statements, connect(settings) as engine:
        report = audit_file(
            engine, path, quasi_identifiers=KEYS, sensitive=["disease"], requirement=Requirement(k=1)
        )
    assert max(statement.upper().count("COUNT(DISTINCT") for statement in statements) <= 16
    assert sum("200 of 200 rows have a value" in warning for warning in report.warnings) == 30


@pytest.mark.parametrize("columns", [12, 60], ids=["few", "many"])
def test_stars_of_starred_rows_do_not_count_as_values(
    tmp_path: Path, settings: Settings, columns: int
) -> None:
    """The stars of starred rows do not count as values of their columns.

    Of ten rows, six have a unique value in each column and seven in ``x1``, where a star is not counted.
    """
    names = ["age", *(f"x{i}" for i in range(columns))]
    starred = [dict.fromkeys(names, "*") for _ in range(2)]
    rows = [{"age": "1"} | {name: str(row) for name in names[1:]} for row in range(8)]
    rows.append({"age": "1"} | dict.fromkeys(names[1:], "7"))
    rows.append({"age": "1"} | dict.fromkeys(names[1:], "6") | {"x1": "*"})
    path = write_csv(tmp_path / "starred.csv", rows + starred)
    with connect(settings) as engine:
        report = audit_file(
            engine, path, quasi_identifiers=["age"], sensitive=[], requirement=Requirement(k=1)
        )
    assert (report.rows, report.starred) == (10, 2)
    found = {w.split(":")[0]: w for w in report.warnings if "that no other row has" in w}
    assert list(found) == names[1:]
    assert all("6 of 10 rows" in found[name] for name in names[1:] if name != "x1")
    assert "7 of 10 rows" in found["x1"]


def test_duplicate_name_is_reported_with_both_positions() -> None:
    with pytest.raises(InputError, match="two columns 'b', at positions 2 and 4"):
        check_unique_names(["a", "b", "c", "b"], "the table")


def test_wide_statements_disable_optimizers_of_quadratic_cost(tmp_path: Path, settings: Settings) -> None:
    query = "SELECT current_setting('disabled_optimizers')"
    with connect(settings) as engine:
        engine.open_source(SourceSpec(path=write_csv(tmp_path / "narrow.csv", rows_of(20, 2))))
        assert not engine.fetch_rows(query)[0][0]
        engine.open_source(SourceSpec(path=write_csv(tmp_path / "wide.csv", rows_of(1001, 2))))
        disabled = engine.fetch_rows(query)[0][0].split(",")
    assert sorted(disabled) == ["compressed_materialization", "statistics_propagation"]


def publish(folder: Path, columns: int, file_format: str, *, memory: str) -> tuple[Path, int]:
    """Publish a wide table in a separate process; return the path and the process's peak memory in bytes."""
    write_csv(folder / "wide.csv", rows_of(columns))
    (folder / "spec.toml").write_text(SPEC.format(name="wide.csv"), encoding="utf-8")
    release = folder / f"release.{file_format}"
    program = "from discreet.cli.main import main; raise SystemExit(main())"
    command = [sys.executable, "-c", program, "publish", "spec.toml"]
    command += ["--k", "5", "--max-suppressed", "10%", "--output", str(release), "--json", "--threads", "2"]
    done = run_fresh(
        [*command, "--memory-limit", memory], folder, {**os.environ, "DISCREET_COMPILE": "never"}
    )
    assert done.status == 0
    assert json.loads(done.printed)["audit"]["passed"]
    return release, done.memory


def test_thousand_columns_are_published_with_little_memory(tmp_path: Path) -> None:
    # The engine reserves 224 to 270 MB, depending on which steps of a statement run at the same time.
    release, _ = publish(tmp_path, 1000, "csv", memory="384MB")
    with release.open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    untouched = [{name: row[name] for name in row if name not in KEYS} for row in rows_of(1000)]
    kept = [tuple(row[name] for name in untouched[0]) for row in published]
    assert sorted(kept) == sorted(tuple(row.values()) for row in untouched)


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_ten_thousand_columns_stay_below_a_gibibyte(tmp_path: Path, file_format: str) -> None:
    """Ten thousand columns need less than a gibibyte of touched memory.

    The limit counts more, because the engine reserves 2,048 rows of each column: 32 KiB per column and step
    of a statement. 200 rows touch a tenth of it.
    """
    _, memory = publish(tmp_path, 10_000, file_format, memory="3GB")
    assert memory < 1 << 30


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_query_of_all_columns_is_described_once(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    path, compared = write_csv(tmp_path / "wide.csv", rows_of(60)), []
    attributes = {name: {"role": "quasi-identifier"} for name in KEYS} | {"disease": {"role": "sensitive"}}
    spec = {"attributes": attributes, "source": {"unlisted_columns": "insensitive"}}
    write = DuckdbEngine.write_file

    def checking(engine: DuckdbEngine, query: str, *args: Any, **options: Any) -> None:
        """Record the declared types and those that the engine reports for the query."""
        compared.append((options["types"], engine.column_types(query)))
        write(engine, query, *args, **options)

    def publish(name: str, suppressed_rows: str) -> None:
        release = tmp_path / f"{name}.{ending}"
        table = discreet.open(path, spec, settings=settings)
        table.publish("mondrian", release, k=5, max_suppressed="100%", suppressed_rows=suppressed_rows)

    for suppressed in ("drop", "star"):
        with recorded(monkeypatch) as statements:
            publish(suppressed, suppressed)
        assert sum(each.startswith("DESCRIBE") and "o50" in each for each in statements) == 1
        with monkeypatch.context() as patch:
            patch.setattr(DuckdbEngine, "write_file", checking)
            publish(f"asked-{suppressed}", suppressed)
    assert len(compared) == 2
    assert all(known == found for known, found in compared)
