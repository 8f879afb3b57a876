"""Aggregate queries over permuted tables (Zhang, Koudas, Srivastava and Yu 2007), and orderings.

Errors against k and e, and the cost of rewritten queries in the same engine; then each ordering that the
paper states is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import perf_counter

import numpy as np

from discreet.bounds.queryable_release import OpenPermutedRelease, OpenRelease, open_release
from discreet.engines.connection import connect
from discreet.permutation.partition_strategies import PartitionStrategy
from discreet.queries.permuted_query import PermutedTables, rewrite_query
from discreet.queries.select_query_parser import parse_release_query
from discreet.verbs.models.permutation_model import Permutation
from papers import permutation_errors, permutation_ranges
from papers.comparison import Comparison, Judge, known_deviations, read_figures
from papers.permutation_data import (
    DEFAULT_E,
    DEFAULT_K,
    LOSS_QUASI_IDENTIFIERS,
    PERMUTATION_SEED,
    RANDOM,
    Microdata,
    Partitions,
    adult_losses,
    draw_partitions,
    permutation_requirement,
)
from papers.permutation_errors import (
    AT_THE_ENDS,
    HOLDS,
    ErrorCurves,
    Ordering,
    draw_subsets,
    errors_by_partition,
    make_plot,
    query_count,
    shapes_section,
)
from papers.permutation_ranges import correlation_section
from papers.reproduction import Context
from papers.section import Cell, ComparedTable, Section

PRIVACY_KS, PRIVACY_ES = (2, 5, 10, 15, 20, 30, 40), (0, 250, 500, 1000, 1500, 2000, 3000)
_PRIVACY_SUBSET = 100
_FAR_LESS = 0.25
_STRATEGIES = (PartitionStrategy.MIN_SUM, PartitionStrategy.CONTIGUOUS_MIN_MAX, RANDOM)


def privacy_section(context: Context, data: Microdata) -> tuple[Section, list[Ordering]]:
    """Measure errors against k for one e, then against e for one k."""
    selected = draw_subsets(data.rows, _PRIVACY_SUBSET, query_count(context), PERMUTATION_SEED)
    by_k, by_e = ErrorCurves("k"), ErrorCurves("e")
    with context.reporter.stage("Asking at several k and e") as progress:
        for done, k in enumerate(PRIVACY_KS):
            by_k.add(k, errors_by_partition(data, _errors_at(context, data, k, DEFAULT_E), selected))
            progress(done + 1, len(PRIVACY_KS) + len(PRIVACY_ES))
        for done, e in enumerate(PRIVACY_ES):
            by_e.add(e, errors_by_partition(data, _errors_at(context, data, DEFAULT_K, e), selected))
            progress(len(PRIVACY_KS) + done + 1, len(PRIVACY_KS) + len(PRIVACY_ES))
    tables = (
        by_k.table("against_k", f"Relative error against k, e = {DEFAULT_E}"),
        by_e.table("against_e", f"Relative error against e, k = {DEFAULT_K}"),
    )
    panels = [by_k.panel(f"e = {DEFAULT_E}"), by_e.panel(f"k = {DEFAULT_K}")]
    plot = make_plot(
        "privacy", "Relative error against k and e", panels, f"Arbitrary queries of {_PRIVACY_SUBSET} rows."
    )
    text = f"Arbitrary queries that select {_PRIVACY_SUBSET} of {data.rows:,} rows.{_where_random_wins(by_e)}"
    return Section("Privacy against accuracy", text, tables, (plot,)), [
        _rises(by_k, "error_rises_with_k"),
        _rises(by_e, "error_rises_with_e"),
        _grows_slowly(by_k),
    ]


def _where_random_wins(by_e: ErrorCurves) -> str:
    optimized, random = by_e.avg(PartitionStrategy.MIN_SUM), by_e.avg(RANDOM)
    lost = [f"{x:,.0f}" for x, o, r in zip(by_e.x, optimized, random, strict=True) if r <= o]
    if not lost:
        return ""
    return (
        f" Where e is a large part of the losses' range few groups are left to choose from, and random ones "
        f"do not err more: here at e = {', '.join(lost)}."
    )


def _errors_at(context: Context, data: Microdata, k: int, e: int) -> Partitions:
    return {
        str(name): draw_partitions(context, data, name, permutation_requirement(k, e)) for name in _STRATEGIES
    }


def _rises(curves: ErrorCurves, name: str) -> Ordering:
    """Judge whether the error of the optimized partition rises.

    A partition of least sum does not have the least error, so a stricter requirement may force a better one.
    """
    errors = curves.avg(PartitionStrategy.MIN_SUM)
    expected = f"least sum from {errors[0]:.2f} at {curves.x[0]:g} to {errors[-1]:.2f} at {curves.x[-1]:,.0f}"
    return Ordering.of_steps(name, curves.x, errors, figures=expected)


def _grows_slowly(curves: ErrorCurves) -> Ordering:
    """Judge whether the error grows at most a quarter as much as k, both relative to the first point."""
    errors, first = curves.avg(PartitionStrategy.MIN_SUM), curves.x[0]
    shares = [(e / errors[0] - 1) / (k / first - 1) for e, k in zip(errors[1:], curves.x[1:], strict=True)]
    return Ordering.of(
        "error_rises_slowly",
        max(shares) <= _FAR_LESS,
        f"{errors[-1] / errors[0]:.1f}-fold while k grows {curves.x[-1] / first:.0f}-fold; {max(shares):.0%} "
        f"of k's increase at most, where far less is read as {_FAR_LESS:.0%}, a threshold of ours",
    )


_SENSITIVE, _OVERHEAD_K, _OVERHEAD_E = "hours_per_week", 5, 10
_REPETITIONS, _QUICK_REPETITIONS = 15, 5
_QUERIES = (
    "SELECT AVG(hours_per_week) FROM people WHERE age BETWEEN 30 AND 40",
    "SELECT SUM(hours_per_week), COUNT(*) FROM people WHERE education = 'Masters' OR age >= 60",
    "SELECT MIN(hours_per_week), MAX(hours_per_week) FROM people WHERE NOT (race = 'White') AND sex = 'Male'",
    "SELECT AVG(hours_per_week) FROM people WHERE occupation LIKE '%-%' GROUP BY sex, marital_status",
)


def overhead_section(context: Context) -> Section:
    """Time the queries on all rows of Adult without unknown values; medians of several alternating runs."""
    attributes = {name: {"role": "quasi-identifier"} for name in LOSS_QUASI_IDENTIFIERS}
    attributes[_SENSITIVE] = {"role": "sensitive"}
    path = context.scratch / "overhead.parquet"
    table = context.table(context.file("adult", "adult_30162.csv"), attributes)
    table.publish(Permutation(e=_OVERHEAD_E), path, k=_OVERHEAD_K)
    with (
        connect(context.settings) as engine,
        open_release(engine, path, context.settings, hold=True) as release,
        context.reporter.stage("Timing rewritten queries"),
    ):
        assert isinstance(release, OpenPermutedRelease)
        tables = release.permuted.in_engine
        rows = tuple(_overhead_row(release, tables, text, context.quick) for text in _QUERIES)
        number = release.manifest.rows
    text = (
        f"{number:,} rows of Adult, {_SENSITIVE} permuted with k = {_OVERHEAD_K}, e = {_OVERHEAD_E}; "
        "release and help table lie in DuckDB. As asked: the same query on the same rows, for its time. The "
        "paper finds the cost reasonable and leaves its figures to a longer version. Times are of this run."
    )
    columns = ("query", "as asked", "rewritten", "times as long")
    return Section(
        "Overhead of rewritten queries",
        text,
        (ComparedTable("overhead", "Median times in milliseconds", columns, rows),),
    )


def _overhead_row(release: OpenRelease, tables: PermutedTables, text: str, quick: bool) -> tuple[Cell, ...]:
    asked = parse_release_query(text, release.readable)
    by_bounds = rewrite_query(asked, tables)
    as_asked = text.replace("FROM people", f"FROM {tables.release}")
    fetch = release.engine.fetch_rows
    first, second = _median_times(lambda: fetch(as_asked), lambda: fetch(by_bounds), quick)
    return (
        text,
        Comparison(f"{text}, as asked", 1000 * first),
        Comparison(f"{text}, rewritten", 1000 * second),
        Comparison(f"{text}, ratio", second / first),
    )


def _median_times(
    first: Callable[[], object], second: Callable[[], object], quick: bool
) -> tuple[float, float]:
    """Return the medians of alternating runs, so that a disturbance slows both functions."""
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(_QUICK_REPETITIONS if quick else _REPETITIONS):
        for run, times in zip((first, second), found, strict=True):
            begun = perf_counter()
            run()
            times.append(perf_counter() - begun)
    return median(found[0]), median(found[1])


ExperimentFunction = Callable[[], tuple[Section, list[Ordering]]]
"""Function that returns a section and the findings that it judges."""


def sections(context: Context) -> Iterator[Section]:
    """Yield the table, arbitrary queries, ranges, correlation, k and e, other tables, overhead, orderings.

    Raises ``InputError`` before the first section if Adult is missing.
    """
    context.file("adult", "adult_30162.csv")
    judge = Judge.of(known_deviations("permutation"))
    data = adult_losses(context)
    yield _table_section(data)
    found: list[Ordering] = []
    experiments: tuple[ExperimentFunction, ...] = (
        lambda: permutation_errors.one_partition_section(context, data),
        lambda: permutation_errors.several_partitions_section(context, data),
        lambda: permutation_ranges.age_section(context, data, "Range queries on age", "age-ranges"),
        lambda: permutation_ranges.age_section(
            context, adult_losses(context, ("age",)), "Age as the only quasi-identifier", "age-alone"
        ),
        lambda: permutation_ranges.of_several(context, data),
        lambda: correlation_section(context),
        lambda: privacy_section(context, data),
    )
    for experiment in experiments:
        section, orderings = experiment()
        found += orderings
        yield section
    yield shapes_section(context)
    yield overhead_section(context)
    yield orderings_section(judge, found)


def orderings_section(judge: Judge, found: Sequence[Ordering]) -> Section:
    """Build the table of the paper's findings, with the verdict and the figures behind it."""
    expected = read_figures("permutation")["orderings"]
    rows = tuple(
        (
            expected[ordering.name],
            judge.compare("orderings", ordering.name, ordering.verdict, HOLDS),
            ordering.figures,
        )
        for ordering in found
    )
    table = ComparedTable("orderings", "Here / in the paper", ("finding", "it", "by"), rows)
    text = (
        "The numbers of the paper's plots are lost; the findings of its text are given here in our words and "
        f"checked. '{HOLDS}' means every entry of its table that the last column does not exclude; "
        f"'{AT_THE_ENDS}' for its first and last place, where a step between them goes the other way: at the "
        "places that are named."
    )
    return Section("The paper's orderings", text, (table,))


def _table_section(data: Microdata) -> Section:
    values = np.unique(data.numbers)
    rows = (
        ("rows", Comparison("rows", data.rows)),
        ("distinct losses", Comparison("distinct", len(values))),
        ("least loss", Comparison("least", int(values[0]))),
        ("largest loss", Comparison("largest", int(values[-1]))),
        ("row types", Comparison("row types", data.frequency_set.row_types)),
    )
    text = (
        "Adult without unknown values, the rows with a capital loss. "
        f"{len(LOSS_QUASI_IDENTIFIERS)} quasi-identifiers: {', '.join(LOSS_QUASI_IDENTIFIERS)}."
    )
    return Section("The table", text, (ComparedTable("adult", "Adult", ("", "here"), rows),))
