"""Columns written as positions in a list of their texts: when, and that the file's cells are equal."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.recoding import direct_recoding
from discreet.settings import Settings

SPEC: dict[str, Any] = {
    "attributes": {
        "town": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
        "ward": {"role": "insensitive"},
        "note": {"role": "insensitive"},
    }
}
ODD = ["flu", "gout", "O'Hara", "", "*", "ü\n", None]


def people(rows: int = 300) -> pa.Table:
    """Return texts of seven kinds and distinct notes; one row is suppressed and has a unique illness."""
    random = Random(3)
    return pa.table(
        {
            "town": [random.choice(["Ulm", "Kiel", None]) for _ in range(rows)] + ["Bonn"],
            "illness": [random.choice(ODD) for _ in range(rows)] + ["rarity"],
            "ward": [random.choice([0, 1]) for _ in range(rows)] + [7],
            "note": [f"note {random.randrange(10**9)}" for _ in range(rows)] + ["rarity"],
        }
    )


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the queries that write files."""
    seen: list[str] = []
    write = DuckdbEngine.write_file

    def spied(self: DuckdbEngine, query: str, path: Path, *rest: Any, **more: Any) -> None:
        seen.append(query)
        write(self, query, path, *rest, **more)

    monkeypatch.setattr(DuckdbEngine, "write_file", spied)
    return seen


def publish(table: pa.Table, path: Path, settings: Settings, **options: Any) -> Any:
    attributes = {name: SPEC["attributes"][name] for name in table.column_names}
    opened = discreet.open(table, {"attributes": attributes}, settings=settings)
    return opened.publish({"town": 0}, path, k=2, max_suppressed="5%", **options)


@pytest.mark.parametrize("counted", [True, False])
def test_the_rows_are_the_same(
    counted: bool, written: list[str], settings: Settings, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct_recoding, "_ROWS_PER_COMBINATION", 0 if counted else 10**9)
    table = people().select(["town", "illness", "ward"])
    found = []
    for rows in (10**9, 1):
        monkeypatch.setattr(direct_recoding, "_FEWEST_ENCODED_ROWS", rows)
        publish(table, out / f"{rows}.parquet", settings)
        found.append(pq.read_table(out / f"{rows}.parquet"))
    assert found[0].schema == found[1].schema
    assert found[0].to_pylist() == found[1].to_pylist()
    assert [query.count("ENUM") for query in written] == [0, 1]
    assert [" AS copy" in query for query in written] == [counted, counted]


def test_the_list_has_nothing_of_suppressed_rows(
    written: list[str], settings: Settings, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list omits texts of suppressed rows, because the file would contain all texts of the type."""
    monkeypatch.setattr(direct_recoding, "_FEWEST_ENCODED_ROWS", 1)
    release = publish(people(), out / "r.parquet", settings)
    assert release.suppressed == 1
    assert "'gout'" in written[0]
    assert "rarity" not in written[0]
    assert b"rarity" not in (out / "r.parquet").read_bytes()


def test_a_column_of_many_texts_is_written_as_it_is(
    written: list[str], settings: Settings, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct_recoding, "_FEWEST_ENCODED_ROWS", 1)
    monkeypatch.setattr(direct_recoding, "_MOST_TEXTS", 10)
    publish(people(), out / "a.parquet", settings)
    monkeypatch.setattr(direct_recoding, "_MOST_DICTIONARY_BYTES", 10)
    publish(people(), out / "b.parquet", settings)
    assert [query.count("ENUM") for query in written] == [1, 0]
    assert pq.read_table(out / "a.parquet") == pq.read_table(out / "b.parquet")


def test_a_column_that_turns_out_to_have_many_texts_is_written_as_it_is(
    written: list[str], settings: Settings, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column that has many texts, but few in the first class, is written as texts."""
    table = pa.table(
        {"town": ["Kiel"] * 40 + ["Ulm"] * 40, "note": ["one"] * 40 + [str(i) for i in range(40)]}
    )
    monkeypatch.setattr(direct_recoding, "_FEWEST_ENCODED_ROWS", 1)
    monkeypatch.setattr(direct_recoding, "_SAMPLED_TEXT_ROWS", 10)
    monkeypatch.setattr(direct_recoding, "_MOST_TEXTS", 30)
    publish(table, out / "a.parquet", settings)
    assert "ENUM" not in written[0]


def test_the_choice_depends_on_the_published_rows_alone(
    settings: Settings, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The choice depends only on published rows, not on row positions or on counting."""
    monkeypatch.setattr(direct_recoding, "_FEWEST_ENCODED_ROWS", 1)
    monkeypatch.setattr(direct_recoding, "_SAMPLED_TEXT_ROWS", 10)
    monkeypatch.setattr(direct_recoding, "_MOST_TEXTS", 5)
    table, files = people(), set()
    for seed, pays in ((0, 0), (1, 10**9), (2, 0)):
        places = list(range(len(table)))
        Random(seed).shuffle(places)
        monkeypatch.setattr(direct_recoding, "_ROWS_PER_COMBINATION", pays)
        publish(table.take(places), out / f"{seed}.parquet", settings)
        files.add((out / f"{seed}.parquet").read_bytes())
    assert len(files) == 1


@pytest.mark.parametrize(("ending", "options"), [("csv", {}), ("parquet", {"suppressed": "star"})])
def test_other_files_are_written_as_texts(
    ending: str,
    options: dict[str, str],
    written: list[str],
    settings: Settings,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Other files are written as texts: the star would have to be listed, and CSV has no lists."""
    monkeypatch.setattr(direct_recoding, "_FEWEST_ENCODED_ROWS", 1)
    publish(people().select(["town", "illness"]), out / f"a.{ending}", settings, **options)
    assert "ENUM('*'" not in written[0]
    assert "'gout'" not in written[0]
