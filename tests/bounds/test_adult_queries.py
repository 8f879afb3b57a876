"""Random queries over Adult: bounds contain the truth and equal those of the array implementation."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.bounds.queryable_release import OpenRelease, open_release
from discreet.bounds.release_answer import answer_release_query
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.source_tables import open_source_table
from discreet.model.release_kind import NULL_CODE, SensitiveColumn
from discreet.model.table_spec import SourceSpec
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.verbs.table import open as open_table
from papers.aggregate_bounds import GroupedNumbers, SelectionBounds, bound_permuted
from tests.bounds.random_queries import QueryMaker, RandomQuery
from tests.drawing import some_of

NUMBERS = ("age", "education_num")
TEXTS = (
    *("work_class", "education", "marital_status", "occupation"),
    *("race", "sex", "native_country"),
)
KEYS = ("sex", "race", "marital_status", "work_class", "education_num")
FAST, ALL = some_of(40), 2_500


@dataclass(frozen=True)
class Case:
    """A release to query: its sensitive attribute, its grouping method, and the kind of file."""

    sensitive: str
    k: int
    e: int
    partition: str
    ending: str
    blank: bool = False


CASES = {
    "loss": Case("capital_loss", 5, 500, "min-sum", "parquet"),
    "hours": Case("hours_per_week", 5, 10, "qi-aware", "csv"),
    "hours-random": Case("hours_per_week", 8, 20, "random", "duckdb"),
    "hours-with-null": Case("hours_per_week", 4, 15, "random", "csv", blank=True),
}


@dataclass(frozen=True)
class QueriedCase:
    """The original rows as the table ``people``, a release of them, and the release's rows as arrays."""

    engine: Engine
    release: OpenRelease
    maker: QueryMaker

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        return self.engine.fetch_arrays("SELECT row, part FROM released ORDER BY row")["part"] - 1

    @cached_property
    def values(self) -> GroupedNumbers:
        """The published values, in their groups."""
        rows = self.engine.fetch_rows(f"SELECT {self.maker.sensitive} FROM released ORDER BY row")
        cells = [None if cell is None else int(cell) for (cell,) in rows]
        numbers = sorted({cell for cell in cells if cell is not None})
        place = {number: code for code, number in enumerate(numbers)}
        codes = np.array([NULL_CODE if cell is None else place[cell] for cell in cells])
        column = SensitiveColumn(self.maker.sensitive, codes, len(numbers), np.array(numbers))
        return GroupedNumbers.of(column, self.groups)

    def by_arrays(self, query: RandomQuery) -> tuple[list[tuple[Any, ...]], SelectionBounds]:
        """Return the key values of each group of the answer, and its bounds."""
        keys = "".join(f", {key}" for key in query.keys)
        found = self.engine.fetch_rows(f"SELECT row{keys} FROM released WHERE {query.condition or 'true'}")
        of_row = [line[1:] for line in found]
        groups = list(dict.fromkeys(of_row)) if query.keys else [()]
        place = {group: number for number, group in enumerate(groups)}
        number, count = len(groups), self.values.group_count
        rows = np.array([line[0] for line in found], dtype=np.int64)
        cells = np.array([place[group] for group in of_row], dtype=np.int64) * count + self.groups[rows]
        hits = np.bincount(cells, minlength=number * count).reshape(number, count)
        return groups, bound_permuted(self.values, hits)


def blanked(source: Path, path: Path, column: str) -> Path:
    """Write the table with every tenth value of a column removed, drawn at random."""
    draw = Random(11)
    with (
        source.open(encoding="utf-8", newline="") as text,
        path.open("w", encoding="utf-8", newline="") as out,
    ):
        rows = csv.DictReader(text)
        writer = csv.DictWriter(out, rows.fieldnames or (), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(row | ({column: "?"} if draw.random() < 0.1 else {}))
    return path


def typed(name: str, relation: str, columns: dict[str, tuple[str, str]], where: str = "true") -> str:
    """Return a statement that creates a table of typed columns with row numbers."""
    cells = ", ".join(f"CAST({sql} AS {kind}) AS {column}" for column, (sql, kind) in columns.items())
    numbered = "row_number() OVER () - 1 AS row"
    return f"CREATE TEMP TABLE {name} AS SELECT {numbered}, {cells} FROM {relation} WHERE {where}"


@pytest.fixture(scope="module")
def case_of(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], QueriedCase]]:
    folder = tmp_path_factory.mktemp("queries")
    settings = Settings(memory_limit=2 * 10**9, threads=2, private_log=folder / "log.jsonl")
    made: dict[str, Iterator[QueriedCase]] = {}
    found: dict[str, QueriedCase] = {}

    def opened_once(name: str) -> QueriedCase:
        if name not in found:
            made[name] = opened_case(CASES[name], folder / name, data_dir, settings)
            found[name] = next(made[name])
        return found[name]

    yield opened_once
    for each in made.values():
        next(each, None)


def opened_case(case: Case, folder: Path, data_dir: Path, settings: Settings) -> Iterator[QueriedCase]:
    folder.mkdir()
    source = data_dir / "adult" / "adult_32561.csv"
    if case.blank:
        source = blanked(source, folder / "blanked.csv", case.sensitive)
    attributes: dict[str, Any] = {name: {"role": "quasi-identifier"} for name in (*NUMBERS, *TEXTS)}
    attributes[case.sensitive] = {"role": "sensitive"}
    document = {"source": {"null_values": ["?"]}, "attributes": attributes}
    table = open_table(source, document, settings=settings)
    path = folder / f"people.{case.ending}"
    table.publish(Permutation(e=case.e, partition=case.partition), path, k=case.k)
    kinds = {**dict.fromkeys(TEXTS, "VARCHAR"), **dict.fromkeys((*NUMBERS, case.sensitive), "BIGINT")}
    with connect(settings) as engine:
        with open_source_table(engine, SourceSpec(path=source, null_values=("?",))) as original:
            columns = {name: (original.text(name), kind) for name, kind in kinds.items()}
            engine.execute(typed("people", original.relation, columns))
        with open_release(engine, path, settings, hold=True) as release:
            columns = {name: (release.data.column(name), kind) for name, kind in kinds.items()}
            columns["part"] = (release.data.column("group_id"), "BIGINT")
            engine.execute(typed("released", release.data.relation, columns))
            yield QueriedCase(engine, release, maker_of(engine, case.sensitive))


def maker_of(engine: Engine, sensitive: str) -> QueryMaker:
    def values(name: str) -> list[Any]:
        query = f"SELECT DISTINCT {name} FROM people WHERE {name} IS NOT NULL ORDER BY 1"
        return [value for (value,) in engine.fetch_rows(query)]

    ranges = {name: (min(values(name)), max(values(name))) for name in NUMBERS}
    return QueryMaker(sensitive, ranges, {name: values(name) for name in TEXTS}, KEYS)


def check(case: QueriedCase, query: RandomQuery) -> int:
    """Check that groups are the true ones and bounds contain each true value; return the number of checks."""
    answered = answer_release_query(case.release, query.text())
    found = {(texts(row.group), row.aggregate): (row.lower, row.upper) for row in answered.rows}
    truth = case.engine.fetch_rows(query.text())
    keys, bounds = case.by_arrays(query)
    if query.keys:
        assert {line[: len(query.keys)] for line in truth} == set(keys)
    assert len(found) == len(truth) * len(query.aggregates)
    for line in truth:
        group = line[: len(query.keys)]
        for aggregate, true in zip(query.aggregates, line[len(query.keys) :], strict=True):
            lower, upper = found[texts(group), aggregate]
            expected = expected_bounds(aggregate, bounds, keys.index(group))
            assert same((lower, upper), expected), (aggregate, (lower, upper), expected)
            if true is not None:
                assert lower is not None
                assert upper is not None
                assert lower <= true * (1 + 1e-12) and true <= upper * (1 + 1e-12), aggregate  # noqa: PT018
            elif lower is not None:
                assert not bounds.surely_value[keys.index(group)]
    return len(found)


def texts(group: tuple[Any, ...]) -> tuple[str | None, ...]:
    """Return a group's keys as texts, as in a text file."""
    return tuple(None if key is None else str(key) for key in group)


def expected_bounds(aggregate: str, bounds: SelectionBounds, place: int) -> tuple[Any, Any]:
    name = "rows" if aggregate == "COUNT(*)" else aggregate.split("(")[0].lower().replace("count", "values")
    if name not in ("rows", "values") and not bounds.any_value[place]:
        return None, None
    return tuple(getattr(bounds, f"{name}_{end}")[place].item() for end in ("lower", "upper"))  # type: ignore[return-value]


def same(found: tuple[Any, Any], expected: tuple[Any, Any]) -> bool:
    if None in expected:
        return found == expected
    if None in found:
        return False
    exact = all(isinstance(value, int) for value in expected)
    pairs = zip(found, expected, strict=True)
    return all(a == b if exact else math.isclose(a, b, rel_tol=1e-12) for a, b in pairs)


@pytest.mark.parametrize("name", CASES)
def test_few_random_queries_have_true_bounds(name: str, case_of: Callable[[str], QueriedCase]) -> None:
    case = case_of(name)
    checked = [check(case, query) for query in case.maker.queries(FAST, seed=1)]
    assert sum(checked) > 2 * FAST


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_ten_thousand_random_queries_have_true_bounds(
    name: str, case_of: Callable[[str], QueriedCase]
) -> None:
    case = case_of(name)
    for query in case.maker.queries(ALL, seed=2):
        check(case, query)
