"""No column of an enumerated type reaches a parallel writer: two threads that write one blank cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.connect import connect
from discreet.engines.duckdb import DuckdbEngine
from discreet.engines.files.database_file import NewTable
from discreet.model.class_recoding import RecodingModel
from discreet.settings import Settings
from discreet.workbench.table import Table
from tests.oracle.patients import patients

LABELS = "CAST(range % 5 AS VARCHAR)::ENUM('0', '1', '2', '3', '4')"


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[bool, int]]]:
    """Of each statement that writes rows: whether a column is enumerated, and how many threads run."""
    seen: list[tuple[bool, int]] = []
    execute = DuckdbEngine.execute

    def spied(self: DuckdbEngine, statement: str) -> None:
        query = _written_query(statement)
        if query is not None:
            threads = self.fetch_rows("SELECT current_setting('threads')")[0][0]
            seen.append(("ENUM" in self.column_types(query), int(threads)))
        execute(self, statement)

    monkeypatch.setattr(DuckdbEngine, "execute", spied)
    yield seen
    assert all(threads == 1 or not enumerated for enumerated, threads in seen)


def _written_query(statement: str) -> str | None:
    """The query of a statement that writes a file, or a table of a database file."""
    if statement.startswith("COPY ("):
        return statement[len("COPY (") : statement.rindex(") TO '")]
    if statement.startswith("CREATE TABLE written_database."):
        return statement.partition(" AS ")[2]
    return None


@pytest.mark.parametrize("model", [*RecodingModel])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_recodings_hand_none_over(
    model: RecodingModel,
    ending: str,
    suppressed: str,
    handed_over: list[tuple[bool, int]],
    settings: Settings,
    tmp_path: Path,
    out: Path,
) -> None:
    table = Table(patients(tmp_path), settings)
    if model is RecodingModel.FULL_DOMAIN:
        answer: Any = table.negotiate(k=3, max_suppressed=2).exact
    else:
        answer = table.recode(model, k=3)
    table.publish(answer, out / f"r.{ending}", suppressed=suppressed)
    assert len(handed_over) == 1


@pytest.mark.parametrize("ending", ["parquet", "csv", "duckdb"])
def test_permuted_releases_hand_none_over(
    ending: str, handed_over: list[tuple[bool, int]], settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    table.publish("permutation", out / f"r.{ending}", k=2)
    assert len(handed_over) == 2


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_whoever_writes_a_file(
    file_format: str, handed_over: list[tuple[bool, int]], settings: Settings, tmp_path: Path
) -> None:
    with DuckdbEngine(settings) as engine:
        engine.write_file(f"SELECT {LABELS} AS c0 FROM range(10)", tmp_path / "w", file_format, ["label"])
        assert handed_over == [(file_format == "parquet", 1 if file_format == "parquet" else 2)]
        assert engine.fetch_rows("SELECT current_setting('threads')") == [(settings.threads,)]


def test_whoever_writes_a_database(
    handed_over: list[tuple[bool, int]], settings: Settings, tmp_path: Path
) -> None:
    with DuckdbEngine(settings) as engine:
        table = NewTable(f"SELECT {LABELS} FROM range(10)", ("label",))
        engine.write_database(tmp_path / "w.duckdb", {"written": table})
    assert handed_over == [(True, 1)]


@pytest.mark.slow
def test_many_files_of_enumerated_columns_have_every_cell(settings: Settings, tmp_path: Path) -> None:
    """Five million rows of 210,303 classes with eight labels each, as often as idle cores need to race."""
    labels = [
        f"CAST('{'v' * (1 + i)}' || CAST(hash(range * 8 + {i}) % {size} AS VARCHAR) AS ENUM("
        + ", ".join(f"'{'v' * (1 + i)}{value}'" for value in range(size))
        + f")) AS label{i}"
        for i, size in enumerate((45, 300, 16, 700, 15, 200, 90, 2000))
    ]
    cells = [f"label{i}" for i in range(8)]
    path = tmp_path / "written.parquet"
    with connect(replace(settings, memory_limit=4 * 10**9)) as engine:
        engine.create_table("labels", f"SELECT range AS id, {', '.join(labels)} FROM range(210303)")
        engine.create_table("coded", "SELECT hash(range) % 210303 AS class FROM range(5000000)")
        query = f"SELECT {', '.join(cells)} FROM coded JOIN labels ON class = id"
        rows = f"count(*), sum(hash({', '.join(f'CAST({cell} AS VARCHAR)' for cell in cells)}))"
        decided = engine.fetch_rows(f"SELECT {rows} FROM ({query}) AS t")
        for _ in range(20):
            engine.write_file(query, path, "parquet")
            assert engine.fetch_rows(f"SELECT {rows} FROM '{path}'") == decided
            path.unlink()
