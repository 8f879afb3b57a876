"""What a rewritten query costs: its time beside that of the query as it was asked, in the same engine."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter

from discreet.bounds.opening import OpenRelease, open_release
from discreet.engines.connect import connect
from discreet.queries.reading import read_query
from discreet.queries.rewriting import PermutedTables, rewritten
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.context import Context
from discreet.reproduce.permutation.microdata import QUASI_IDENTIFIERS
from discreet.reproduce.section import Cell, ComparedTable, Section
from discreet.verbs.models.permutation import Permutation

_SENSITIVE, _K, _E = "hours_per_week", 5, 10
_REPETITIONS, _QUICK_REPETITIONS = 15, 5
_QUERIES = (
    "SELECT AVG(hours_per_week) FROM people WHERE age BETWEEN 30 AND 40",
    "SELECT SUM(hours_per_week), COUNT(*) FROM people WHERE education = 'Masters' OR age >= 60",
    "SELECT MIN(hours_per_week), MAX(hours_per_week) FROM people WHERE NOT (race = 'White') AND sex = 'Male'",
    "SELECT AVG(hours_per_week) FROM people WHERE occupation LIKE '%-%' GROUP BY sex, marital_status",
)


def overhead(context: Context) -> Section:
    """Medians of several runs in turn, on all rows of Adult without unknown values."""
    attributes = {name: {"role": "quasi-identifier"} for name in QUASI_IDENTIFIERS}
    attributes[_SENSITIVE] = {"role": "sensitive"}
    path = context.scratch / "overhead.parquet"
    table = context.table(context.file("adult", "adult_30162.csv"), attributes)
    table.publish(Permutation(e=_E), path, k=_K)
    with (
        connect(context.settings) as engine,
        open_release(engine, path, context.settings, hold=True) as release,
        context.reporter.stage("Timing rewritten queries"),
    ):
        assert release.permuted is not None
        tables = release.permuted.in_engine
        rows = tuple(_row(release, tables, text, context.quick) for text in _QUERIES)
        number = release.manifest.rows
    text = (
        f"{number:,} rows of Adult, {_SENSITIVE} permuted with k = {_K}, e = {_E}; release and help table "
        "lie in DuckDB. As asked: the same query on the same rows, for its time. The paper finds the cost "
        "reasonable and leaves its figures to a longer version. Times are of this run."
    )
    columns = ("query", "as asked", "rewritten", "times as long")
    return Section(
        "Overhead of rewritten queries",
        text,
        (ComparedTable("overhead", "Median times in milliseconds", columns, rows),),
    )


def _row(release: OpenRelease, tables: PermutedTables, text: str, quick: bool) -> tuple[Cell, ...]:
    asked = read_query(text, release.readable)
    by_bounds = rewritten(asked, tables)
    as_asked = text.replace("FROM people", f"FROM {tables.release}")
    fetch = release.engine.fetch_rows
    first, second = _times(lambda: fetch(as_asked), lambda: fetch(by_bounds), quick)
    return (
        text,
        Comparison(f"{text}, as asked", 1000 * first),
        Comparison(f"{text}, rewritten", 1000 * second),
        Comparison(f"{text}, ratio", second / first),
    )


def _times(first: Callable[[], object], second: Callable[[], object], quick: bool) -> tuple[float, float]:
    """Medians of runs in turn, so that what slows one of them slows the other too."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(_QUICK_REPETITIONS if quick else _REPETITIONS):
        for run, times in zip((first, second), found, strict=True):
            begun = perf_counter()
            run()
            times.append(perf_counter() - begun)
    return median(found[0]), median(found[1])
