"""The row order of a release depends only on its rows: neither source order nor lost rows show."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.models import Permutation
from discreet.results.publish_result import ReleaseResult
from discreet.settings import Settings
from discreet.sql.cell_expressions import cell_sort_keys, order_clause
from discreet.sql.dialect import DUCKDB
from discreet.verbs.models.model_registry import MODELS
from discreet.verbs.table import Table

TOWNS = ["Ulm", "Kiel", "köln", "Bonn", " "]
AGES = [31, 30, 22, 21, 20]
COLUMNS = ("town", "age", "illness", "dose", "who")
Rows = list[tuple[Any, ...]]
Publish = Callable[[Table, Path], ReleaseResult]


def people(rows: int = 200) -> Rows:
    """Return rows with repeated and rare cells, NULLs, both zeros, and Unicode texts; two rows per person."""
    random = Random(7)
    found: Rows = []
    for i in range(rows // 2):
        town, age = (random.choice(TOWNS) if i % 9 else None), random.choice(AGES)
        for _ in range(2):
            illness = random.choice(["flu", "Flu", "gout", "äther", "", None])
            found.append((town, age, illness, random.choice([0.0, -0.0, 1.5, None, -2.0, 10.0]), f"p{i}"))
    return found


def lost(rows: int = 3) -> Rows:
    """Return people with unique towns and ages, so that k suppresses them."""
    return [(f"Aa{i}", i + 1, "cold", -9.0, f"q{i}") for i in range(rows)]


def opened(rows: Rows, settings: Settings, folder: Path, **source: object) -> Table:
    """Return a table of rows whose hierarchies list their leaves in an order other than the texts'."""
    for name, leaves in (("town", [*TOWNS, *(row[0] for row in lost())]), ("age", [*AGES, 3, 2, 1])):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as handle:
            csv.writer(handle, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
                (leaf, "*") for leaf in leaves
            )
    data = pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))
    keys = {
        name: {"role": "quasi-identifier", "hierarchy": str(folder / f"{name}.csv")}
        for name in ("town", "age")
    }
    others = {
        "illness": {"role": "sensitive"},
        "dose": {"role": "insensitive"},
        "who": {"role": "identifier"},
    }
    return discreet.open(data, {"source": source, "attributes": {**keys, **others}}, settings=settings)


def at_levels(levels: dict[str, int], **options: Any) -> Publish:
    return lambda table, out: table.publish(levels, out, max_suppressed="100%", **options)


def by_model(name: str) -> Publish:
    return lambda table, out: table.publish(name, out, k=5, max_suppressed="10%")


OWN_LEVELS = {"town": 0, "age": 0}
DRAWS = {"relaxed-multi-dimension", "permutation"}
"""The models that draw at random which equal rows go where."""
WAYS: dict[str, tuple[Publish, dict[str, object]]] = {
    "dropped.parquet": (at_levels(OWN_LEVELS, k=6), {}),
    "starred.parquet": (at_levels(OWN_LEVELS, k=6, suppressed_rows="star"), {}),
    "subjects.parquet": (at_levels(OWN_LEVELS, k=3), {"subject": "who"}),
    "subjects.csv": (at_levels(OWN_LEVELS, k=3, suppressed_rows="star"), {"subject": "who"}),
    **{f"{model.name}.csv": (by_model(model.name), {}) for model in MODELS.all() if model.name not in DRAWS},
}


@pytest.mark.parametrize("way", WAYS)
def test_any_order_of_the_source_gives_the_same_bytes(
    way: str, settings: Settings, tmp_path: Path, out: Path
) -> None:
    publish, source = WAYS[way]
    written = set()
    for number, rows in enumerate([people(), Random(1).sample(people(), len(people()))]):
        target = out / f"{number}{way}"
        publish(opened(rows, settings, tmp_path, **source), target)
        written.add(target.read_bytes())
    assert len(written) == 1


@pytest.mark.parametrize("source", [{}, {"subject": "who"}])
def test_suppressed_rows_leave_no_trace_in_the_order(
    source: dict[str, object], settings: Settings, tmp_path: Path, out: Path
) -> None:
    """Suppressed rows leave no trace, even of values that hierarchies list before or between the others."""
    publish = at_levels({"town": 0, "age": 0}, k=3)
    publish(opened(people(), settings, tmp_path, **source), out / "without.parquet")
    release = publish(opened([*lost(), *people()], settings, tmp_path, **source), out / "with.parquet")
    assert release.suppressed >= len(lost())
    assert (out / "with.parquet").read_bytes() == (out / "without.parquet").read_bytes()


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    table = pq.read_table(path)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def key(cells: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return Python's sort key: NULL last, texts by code point, numbers by size, zeros by text."""
    return [(True,) if cell is None else (False, cell, str(cell)) for cell in cells]


def test_rows_are_sorted_by_class_and_then_by_cells(settings: Settings, tmp_path: Path, out: Path) -> None:
    publish = at_levels({"town": 0, "age": 0}, k=3)
    rows = rows_of(publish(opened(people(), settings, tmp_path), out / "r.parquet").path)
    assert rows == sorted(rows, key=lambda row: key([row[0], str(row[1]), *row[2:]]))
    assert len(set(map(repr, rows))) < len(rows)


def test_drawn_rows_are_sorted_by_cells(settings: Settings, tmp_path: Path, out: Path) -> None:
    """Randomly assigned rows are sorted by their cells, so the assignment does not show in the order."""
    release = by_model("relaxed-multi-dimension")(opened(people(), settings, tmp_path), out / "r.parquet")
    rows = rows_of(release.path)
    assert rows == sorted(rows, key=key)


@pytest.mark.parametrize("form", ["one-table", "two-tables"])
def test_permuted_releases_are_sorted_by_group(
    form: str, settings: Settings, tmp_path: Path, out: Path
) -> None:
    """Permuted releases are sorted by group.

    Group numbers and the assignment of values are random; the row order reveals nothing more.
    """
    opened(people(), settings, tmp_path).publish(Permutation(form=form), out / "p.parquet", k=3)
    rows = rows_of(out / "p.parquet")
    assert len(rows) == len(people())
    assert rows == sorted(rows, key=lambda row: key([row[2], *row[:2], *row[3:]]))
    if form == "two-tables":
        rows = rows_of(out / "p.sensitive.parquet")
        assert rows == sorted(rows, key=key)
    rows = rows_of(out / "p.help.parquet")
    assert rows == sorted(rows, key=lambda row: key(row[:2]))


@pytest.mark.parametrize("cells", list(permutations([0.0, -0.0, None, 2.0])), ids=str)
def test_tied_cells_are_equal_texts(cells: Sequence[float | None], engine: Engine) -> None:
    listed = ", ".join("(NULL)" if cell is None else f"(CAST('{cell}' AS DOUBLE))" for cell in cells)
    order = order_clause(DUCKDB, cell_sort_keys(DUCKDB, "x", "DOUBLE"))
    found = engine.fetch_rows(f"SELECT CAST(x AS VARCHAR) FROM (VALUES {listed}) AS t(x){order}")
    assert [row[0] for row in found] == ["-0.0", "0.0", "2.0", None]


def test_random_order_is_set_by_the_call_or_the_spec(settings: Settings, tmp_path: Path, out: Path) -> None:
    """A random order is set by the call or by the spec."""
    table = opened(people(), settings, tmp_path)
    publish = at_levels({"town": 0, "age": 0}, k=3)
    publish(table, out / "sorted.csv")
    for number in range(2):
        table.publish({}, out / f"{number}.csv", k=3, max_suppressed="100%", row_order="random")
    table.spec = table.spec.with_order("random")
    publish(table, out / "spec.csv")
    found = [(out / f"{name}.csv").read_text("utf-8") for name in ("sorted", "0", "1", "spec")]
    assert len(set(found)) == 4
    assert len({tuple(sorted(text.splitlines())) for text in found}) == 1
    with pytest.raises(InputError, match="order of rows: 'shuffled'"):
        table.publish({}, out / "none.csv", k=3, row_order="shuffled")
