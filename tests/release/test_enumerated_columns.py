"""No enumerated column reaches a parallel writer, because two threads that write one leave cells blank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import tables
from discreet.engines.connection import connect
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.files.output_files import NewTable
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.class_recoding import RecodingModel
from discreet.model.requirement import Requirement
from discreet.mondrian.partition import partition_table
from discreet.release.publication import publish_release
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec
from discreet.sql.cell_expressions import column_name
from discreet.verbs.table import Table
from tests.drawing import in_turn
from tests.oracle.patients import patients

FILES = 60
LABELS = "CAST(range % 5 AS VARCHAR)::ENUM('0', '1', '2', '3', '4')"


@pytest.fixture
def written_columns(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[bool, int]]]:
    """Record for each writing statement whether a column is enumerated, and the number of threads."""
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
    assert {threads for _, threads in seen} <= {1}


def _written_query(statement: str) -> str | None:
    """Return the query of a statement that writes a file or a table of a database file."""
    if statement.startswith("COPY ("):
        return statement[len("COPY (") : statement.rindex(") TO '")]
    if statement.startswith("CREATE TABLE written_database."):
        return statement.partition(" AS ")[2]
    return None


@pytest.mark.parametrize(
    ("model", "ending", "suppressed"), in_turn(RecodingModel, ["parquet", "csv"], ["drop", "star"])
)
def test_recodings_write_no_enumerated_column(
    model: RecodingModel,
    ending: str,
    suppressed: str,
    written_columns: list[tuple[bool, int]],
    settings: Settings,
    tmp_path: Path,
    out: Path,
) -> None:
    table = Table(patients(tmp_path), settings)
    if model is RecodingModel.FULL_DOMAIN:
        answer: Any = table.negotiate(k=3, max_suppressed=2).exact
    else:
        answer = table.recode(model, k=3)
    table.publish(answer, out / f"r.{ending}", suppressed_rows=suppressed)
    assert len(written_columns) == 1


@pytest.mark.parametrize("ending", ["parquet", "csv", "duckdb"])
def test_permuted_releases_write_no_enumerated_column(
    ending: str, written_columns: list[tuple[bool, int]], settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    table.publish("permutation", out / f"r.{ending}", k=2)
    assert len(written_columns) == 2


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_written_file_uses_one_thread_for_enumerated_columns(
    file_format: str, written_columns: list[tuple[bool, int]], settings: Settings, tmp_path: Path
) -> None:
    with DuckdbEngine(settings) as engine:
        engine.write_file(f"SELECT {LABELS} AS c0 FROM range(10)", tmp_path / "w", file_format, ["label"])
        assert written_columns == [(file_format == "parquet", 1)]
        assert engine.fetch_rows("SELECT current_setting('threads')") == [(settings.threads,)]


def test_written_database_uses_one_thread_for_enumerated_columns(
    written_columns: list[tuple[bool, int]], settings: Settings, tmp_path: Path
) -> None:
    with DuckdbEngine(settings) as engine:
        table = NewTable(f"SELECT {LABELS} FROM range(10)", ("label",))
        engine.write_database(tmp_path / "w.duckdb", {"written": table})
    assert written_columns == [(True, 1)]


@pytest.mark.slow
def test_mondrian_output_of_many_rows_has_every_cell(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mondrian's output of many rows has every cell.

    It writes five million rows with eight labels each, often enough for two threads to race. If both write,
    about one file in twenty is wrong; synthetic tables show the error far more rarely, so this one is
    Mondrian's own.
    """
    right: list[bool] = []
    write = DuckdbEngine.write_file

    def often(
        self: DuckdbEngine,
        query: str,
        path: Path,
        file_format: str,
        columns: Sequence[str] | None = None,
        **named: Any,
    ) -> None:
        cells = [column_name(i) for i in range(len(columns or ()))]
        texts = ", ".join(f"CAST({cell} AS VARCHAR)" for cell in cells)
        sums = f"SELECT count(*), sum(hash({texts})) FROM ({{}}) AS t({', '.join(cells)})"
        decided = self.fetch_rows(sums.format(query))
        for _ in range(FILES):
            write(self, query, path, file_format, columns, **named)
            right.append(self.fetch_rows(sums.format(f"SELECT * FROM read_parquet('{path}')")) == decided)
            path.unlink()
        write(self, query, path, file_format, columns)

    monkeypatch.setattr(DuckdbEngine, "write_file", often)
    monkeypatch.setenv("DISCREET_BENCH_TABLES", str(tmp_path))
    spec = load_spec(tables.make(tables.WIDE_50M, rows=5_000_000))
    several = replace(settings, memory_limit=4 * 10**9, threads=2)
    with connect(several) as engine:
        counted = count_frequency_set(engine, spec, several)
        recoding = partition_table(counted, Requirement(10), several)
        publish_release(
            engine, spec, counted, recoding, tmp_path / "r.parquet", overwrite=False, settings=several
        )
    assert right == [True] * FILES
