"""Strict Mondrian from row types: Adult with nine quasi-identifiers, five million generated rows with eight.

The compiled kernels, including packing, against their numpy twin, and against numpy sorting the row types
once by each attribute, which reveals a slow twin. Then the whole pipeline of the generated table (count,
partition, recode, write Parquet, audit) against the minimum of any pipeline: the engine's GROUP BY and its
join of the rows with one label per row type, written as Parquet.

``--growth`` times rows, attributes and k separately, as a table, and draws it below ``out/benchmarks``.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import adult, tables
from benchmarks.harness import Benchmark, parser, seconds
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.frequency.encoding import sort_rows
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Backend
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.mondrian.partition import partition_table, strict_classes
from discreet.release.publication import publish_release
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec

ROWS = 5_000_000
KS = (2, 10, 100)


def classes(
    table: FrequencySet, k: int, settings: Settings, evaluator: Backend = Backend.KERNELS
) -> Callable[[], NDArray[np.int64]]:
    """Run strict Mondrian with the best allowable cut."""
    options, requirement = MondrianOptions(), Requirement(k)
    return lambda: strict_classes(table, requirement, settings, options, evaluator=evaluator)


def sorts(table: FrequencySet) -> Callable[[], None]:
    """Sort the row types once by each attribute."""
    columns = np.ascontiguousarray(table.codes.T)

    def run() -> None:
        for column in columns:
            np.argsort(column, kind="stable")

    return run


def on_adult(bench: Benchmark, settings: Settings, repeats: int, twin_repeats: int) -> None:
    """Compare kernels with the twin on Adult at each k."""
    table = adult.frequency_set(settings)
    one = replace(settings, threads=1)
    bench.fact("row types, Adult", table.row_types)
    for k in KS:
        bench.fact(f"classes, Adult, k={k}", int(classes(table, k, one)().max()) + 1)
    kernels = {f"Adult, k={k}": classes(table, k, one) for k in KS}
    bench.alternate({**kernels, "Adult, sorts": sorts(table)}, repeats)
    twins = {f"Adult, k={k}, numpy twin": classes(table, k, one, Backend.TWIN) for k in KS}
    bench.alternate(twins, twin_repeats)
    for k in KS:
        bench.ratio(f"Adult, k={k}", f"Adult, k={k}, numpy twin", at_most=1 / 25 if k == 2 else None)
    bench.ratio("Adult, k=2", "Adult, sorts")
    bench.ratio("Adult, k=2, numpy twin", "Adult, sorts")


def on_generated(bench: Benchmark, settings: Settings, rows: int, repeats: int) -> None:
    """Time the generated table: kernels, then the pipeline."""
    path = tables.make(tables.WIDE_50M, rows=rows)
    spec = load_spec(path)
    with connect(settings) as engine:
        table = count_frequency_set(engine, spec, settings)
    bench.fact("rows, generated", table.rows)
    bench.fact("row types, generated", table.row_types)
    cases: dict[str, Callable[[], object]] = {f"generated, k={k}": classes(table, k, settings) for k in KS}
    cases["generated, k=2, one thread"] = classes(table, 2, replace(settings, threads=1))
    bench.alternate(cases, repeats)
    bench.state("seconds, generated, k=2", bench.timings["generated, k=2"].median, at_most=0.1)
    data = next(path.parent.glob("*.parquet"))
    with tempfile.TemporaryDirectory() as folder:
        private = replace(settings, private_log=Path(folder) / "log.jsonl")
        pipelines: dict[str, Callable[[], object]] = {
            "pipeline, k=10": lambda: _pipeline(path, Path(folder), private),
            "GROUP BY and join": lambda: _bare(data, Path(folder), settings),
        }
        bench.alternate(pipelines, max(repeats // 3, 1))
    bench.ratio("pipeline, k=10", "GROUP BY and join", at_most=2.0)


def _pipeline(path: Path, folder: Path, settings: Settings) -> None:
    spec = load_spec(path)
    with connect(settings) as engine:
        table = count_frequency_set(engine, spec, settings)
        recoding = partition_table(table, Requirement(10), settings)
        publish_release(
            engine, spec, table, recoding, folder / "release.parquet", overwrite=True, settings=settings
        )


def _bare(data: Path, folder: Path, settings: Settings) -> None:
    import duckdb

    names = ", ".join(column.name for column in tables.WIDE_50M.columns)
    config = {"memory_limit": f"{settings.memory_limit}B", "threads": str(settings.threads)}
    with duckdb.connect(config=config) as engine:
        engine.execute(f"CREATE TEMP TABLE t AS SELECT {names}, count(*) AS n FROM '{data}' GROUP BY {names}")
        engine.execute("CREATE TEMP TABLE l AS SELECT *, 'class ' || row_number() OVER () AS label FROM t")
        query = f"SELECT {names}, label FROM '{data}' JOIN l USING ({names})"
        engine.execute(f"COPY ({query}) TO '{folder / 'bare.parquet'}' (FORMAT parquet)")


def growth(settings: Settings, repeats: int) -> None:
    """Print and draw the growth of time with rows, attributes and k; the generated table, k=10 by default."""
    with connect(settings) as engine:
        counts = (10_000, 100_000, 1_000_000, ROWS)
        by_rows = {rows: _counted(engine, rows, settings) for rows in counts}
    whole = by_rows[ROWS]
    panels: list[tuple[str, Sequence[float], list[float]]] = [
        ("rows", counts, [_median(classes(by_rows[n], 10, settings), repeats) for n in counts]),
    ]
    widths = range(1, len(whole.attributes) + 1)
    times = [_median(classes(_first(whole, d), 10, settings), repeats) for d in widths]
    panels.append(("attributes", list(widths), times))
    ks = (2, 5, 10, 25, 50, 100, 250, 1000)
    panels.append(("k", ks, [_median(classes(whole, k, settings), repeats) for k in ks]))
    for name, values, times in panels:
        print(f"\n| {name} | " + " | ".join(f"{v:,}" for v in values) + " |")
        print("|---" * (len(times) + 1) + "|")
        print("| time | " + " | ".join(seconds(t) for t in times) + " |")
    _draw(panels)


def _counted(engine: Engine, rows: int, settings: Settings) -> FrequencySet:
    return count_frequency_set(engine, load_spec(tables.make(tables.WIDE_50M, rows=rows)), settings)


def _first(table: FrequencySet, attributes: int) -> FrequencySet:
    """Return the frequency set of only the first attributes."""
    codes = table.codes[:, :attributes]
    sizes = [h.null_code + 1 for h in table.hierarchies[:attributes]]
    order, starts = sort_rows([codes[:, j] for j in range(attributes)], sizes)
    return FrequencySet(
        hierarchies=table.hierarchies[:attributes],
        codes=np.ascontiguousarray(codes[order[starts]]),
        counts=np.add.reduceat(table.counts[order], starts),
    )


def _median(run: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def _draw(panels: Sequence[tuple[str, Sequence[float], list[float]]]) -> None:
    from papers.charts import AxisScale, Panel, Series, draw_chart

    drawn = [
        Panel(
            (Series.of("best cut", values, [1000 * t for t in times]),),
            name,
            "milliseconds",
            x_scale=AxisScale.LINEAR if name == "attributes" else AxisScale.LOG,
            y_scale=AxisScale.LOG,
        )
        for name, values, times in panels
    ]
    target = tables.folder() / "mondrian_growth.svg"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw_chart("Strict Mondrian from row types", drawn), encoding="utf-8")
    print(f"\n{target}")


def main() -> None:
    """Alternate the cases and report."""
    options = parser(__doc__)
    options.add_argument("--twin-repeats", type=int, default=3, help="runs of the numpy twin (default 3)")
    options.add_argument("--rows", type=int, default=ROWS, help="rows of the generated table")
    options.add_argument("--growth", action="store_true", help="growth with rows, attributes and k instead")
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=2), memory_limit=4 * 10**9)
    if chosen.growth:
        growth(settings, chosen.repeats)
        return
    bench = Benchmark("mondrian", "strict Mondrian from row types, best allowable cut")
    on_adult(bench, settings, chosen.repeats, chosen.twin_repeats)
    on_generated(bench, settings, chosen.rows, chosen.repeats)
    bench.report(chosen)


if __name__ == "__main__":
    main()
