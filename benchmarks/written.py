"""What it costs to compare what was written with what was decided, within the cost of publishing.

Five million generated rows (``--rows``) with eight quasi-identifiers, by Mondrian at k = 10, to Parquet and
to CSV. The comparison is timed inside the publication that it belongs to, by processor time.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks import tables
from benchmarks.harness import Benchmark, parser
from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.frequency.count import count_frequency_set
from discreet.model.requirement import Requirement
from discreet.model.table_spec import TableSpec
from discreet.mondrian.partition import partition
from discreet.release import publish as room
from discreet.release import written
from discreet.settings import Settings
from discreet.spec.load import load_spec

ROWS = 5_000_000
GOAL = 0.1
"""The share of the publication's processor time without it."""


def shares(engine: Engine, spec: TableSpec, settings: Settings, ending: str, repeats: int) -> list[float]:
    """For each publication the comparison's processor time by that of the rest."""
    table = count_frequency_set(engine, spec, settings)
    recoding = partition(table, Requirement(10), settings)
    spent = [0.0]

    def timed(*asked: object) -> None:
        start = time.process_time()
        written.check_written(*asked)  # type: ignore[arg-type]
        spent[0] = time.process_time() - start

    found = []
    room.check_written = timed  # type: ignore[assignment]
    try:
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                private = replace(settings, private_log=Path(folder) / "log.jsonl")
                output = Path(folder) / f"release.{ending}"
                start = time.process_time()
                room.publish(engine, spec, table, recoding, output, overwrite=False, settings=private)
                found.append(spent[0] / (time.process_time() - start - spent[0]))
    finally:
        room.check_written = written.check_written
    return found


def main() -> None:
    """Publish, and report."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=ROWS, help="rows of the generated table")
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=2), memory_limit=4 * 10**9)
    bench = Benchmark("written", "what was written compared with what was decided")
    spec = load_spec(tables.make(tables.WIDE_50M, rows=chosen.rows))
    with connect(settings) as engine:
        for ending in ("parquet", "csv"):
            found = shares(engine, spec, settings, ending, chosen.repeats)
            bench.state(f"share of publishing, {ending}", statistics.median(found), at_most=GOAL)
    bench.report(chosen)


if __name__ == "__main__":
    main()
