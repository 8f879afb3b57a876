"""Cost of comparing written rows with the decision, within the cost of publishing.

Five million generated rows (``--rows``) with eight quasi-identifiers, by Mondrian at k = 10, to Parquet and
to CSV; a million rows (``--table-rows``) with six and a sensitive attribute, to a table of PostgreSQL, and by
Spark to a folder. A pair is a publication with the comparison and one without it, in alternating order; the
median of the pairs' differences in processor time is reported as a share of the median without it, including
PostgreSQL's server and Java. The first pairs are not measured: compilers warm up, Spark's over six
publications.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import engine_postgres, engine_spark, engine_table, tables
from benchmarks.harness import Benchmark, parser
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.class_recoding import ClassRecoding
from discreet.model.frequency_set import FrequencySet
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.mondrian.partition import partition_table
from discreet.release import publication as room
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec

ROWS, TABLE_ROWS = 5_000_000, 1_000_000
GOAL = 0.1
"""Largest share of the publication's processor time without it."""
_WARM_ON_SPARK = 3


@contextmanager
def _not_compared(*_: object) -> Iterator[None]:
    yield None


@dataclass(frozen=True)
class Share:
    """Cost of comparing, as shares of the median of publishing without it: pair by pair."""

    pairs: tuple[float, ...]
    without: float

    @classmethod
    def of(cls, publish: Callable[[], float], pairs: int, warm: int = 1) -> Share:
        """Measure pairs after ``warm`` unmeasured ones; ``publish`` returns its processor time."""
        found: dict[bool, list[float]] = {True: [], False: []}
        compared = room.compare_output
        try:
            for pair in range(warm + pairs):
                for with_it in (pair % 2 == 0, pair % 2 == 1):
                    room.compare_output = compared if with_it else _not_compared  # type: ignore[assignment]
                    found[with_it].append(publish())
        finally:
            room.compare_output = compared
        without = statistics.median(found[False][warm:])
        differences = zip(found[True][warm:], found[False][warm:], strict=True)
        return cls(tuple((more - less) / without for more, less in differences), without)

    def tell(self, bench: Benchmark, what: str) -> None:
        """Report the median, and record its spread: the middle half of the pairs."""
        bench.state(f"share of publishing, {what}", statistics.median(self.pairs), at_most=GOAL)
        low, _, high = statistics.quantiles(self.pairs, method="inclusive") if self.pairs[1:] else [0.0] * 3
        spread = f"{low:.1%} to {high:.1%} in the middle half of {len(self.pairs)} pairs"
        bench.fact(what, f"{spread}, of {self.without:.2f} s")


@dataclass(frozen=True)
class Publication:
    """A publication that is repeated; ``server`` is the process of its database's server."""

    engine: Engine
    spec: TableSpec
    table: FrequencySet
    recoding: ClassRecoding
    settings: Settings
    server: int | None = None

    @classmethod
    def of(
        cls, engine: Engine, spec: TableSpec, settings: Settings, server: int | None = None
    ) -> Publication:
        """Return a publication by Mondrian."""
        table = count_frequency_set(engine, spec, settings)
        return cls(engine, spec, table, partition_table(table, Requirement(10), settings), settings, server)

    def to(self, output: Path | ReleaseAddress) -> float:
        """Publish; return the processor time, including the server's."""
        with tempfile.TemporaryDirectory() as folder:
            private = replace(self.settings, private_log=Path(folder) / "log.jsonl")
            place = Path(folder) / output if isinstance(output, Path) else output
            start = self._spent()
            room.publish_release(
                self.engine, self.spec, self.table, self.recoding, place, overwrite=True, settings=private
            )
            return self._spent() - start

    def _spent(self) -> float:
        return time.process_time() + (0.0 if self.server is None else server_time(self.server))


def server_time(server: int) -> float:
    """Return the processor time of a server's process and of its children, including ended ones."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            cells = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(path.parent.name) == server or int(cells[1]) == server:
            ticks += sum(map(int, cells[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def of_files(bench: Benchmark, settings: Settings, rows: int, repeats: int) -> None:
    """Measure five million rows in the embedded engine."""
    spec = load_spec(tables.make(tables.WIDE_50M, rows=rows))
    with connect(settings) as engine:
        publication = Publication.of(engine, spec, settings)
        for ending in ("parquet", "csv"):
            found = Share.of(lambda ending=ending: publication.to(Path(f"r.{ending}")), repeats)  # type: ignore[misc]
            found.tell(bench, ending)


def of_tables(bench: Benchmark, settings: Settings, rows: int, repeats: int) -> None:
    """Measure a table of a PostgreSQL server of the benchmark."""
    with tempfile.TemporaryDirectory() as made, engine_postgres.server(settings.threads) as server:
        folder = Path(made)
        url = engine_postgres.load(server, engine_table.write_rows(folder, rows))
        spec = load_spec(engine_table.write_spec(folder, "postgres", {"url": url, "table": "public.people"}))
        with connect(settings, spec.source) as engine:
            running = int((server.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
            publication = Publication.of(engine, spec, settings, running)
            found = Share.of(lambda: publication.to(ReleaseAddress(table="public.release")), repeats)
            found.tell(bench, "table of PostgreSQL")


def of_folders(bench: Benchmark, settings: Settings, rows: int, repeats: int) -> None:
    """Measure a folder of Parquet by Spark, in a session of the benchmark."""
    from discreet.engines.spark.startup import stop_session

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        source = {"path": str(engine_table.write_rows(folder, rows)), "engine": "spark"}
        spec = load_spec(engine_table.write_spec(folder, "spark", source))
        try:
            with connect(settings, spec.source) as engine:
                publication = Publication.of(engine, spec, settings, engine_spark.java())
                found = Share.of(lambda: publication.to(Path("release")), repeats, _WARM_ON_SPARK)
        finally:
            stop_session()
    found.tell(bench, "folder of Spark")


def main() -> None:
    """Publish, and report."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=ROWS, help="rows of the generated table for files")
    options.add_argument("--table-rows", type=int, default=TABLE_ROWS, help="rows of the database's table")
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=2), memory_limit=4 * 10**9)
    bench = Benchmark("written", "what was written compared with what was decided")
    if chosen.rows:
        of_files(bench, settings, chosen.rows, chosen.repeats)
    if chosen.table_rows:
        of_tables(bench, settings, chosen.table_rows, chosen.repeats)
        reason = engine_spark.missing()
        if reason:
            bench.fact("Spark was not measured", reason)
        else:
            of_folders(bench, settings, chosen.table_rows, chosen.repeats)
    bench.report(chosen)


if __name__ == "__main__":
    main()
