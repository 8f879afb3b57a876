"""k and l of people with several rows, against k and l of rows: the same table and lattice, in one run.

3,200 rows of 1,000 people, six quasi-identifiers, 5,120 nodes, one sensitive attribute. The goal is three
times the processor time of `discreet negotiate` without a subject, each in a separate process. Also reported
are only the evaluation, whose kernels of rows share work among nodes that no matching of people can share,
and once the numpy twin.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import discreet
from benchmarks.fresh_process import run_fresh
from benchmarks.harness import Benchmark, parser
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Backend
from discreet.settings import Settings
from discreet.spec.toml_writer import format_spec

ROWS, PEOPLE = 3_200, 1_000
HEIGHTS = (3, 3, 3, 3, 3, 4)
GOAL = 3.0
PEOPLE_SPEC, ROWS_SPEC = "people.toml", "rows.toml"


def write(folder: Path) -> None:
    """Write the table, and a spec that counts people and one that counts rows."""
    random = np.random.default_rng(1)
    columns = {f"q{i}": random.zipf(1.4, ROWS) % (6 + i) for i in range(len(HEIGHTS))}
    columns |= {"person": random.integers(0, PEOPLE, ROWS), "disease": random.integers(0, 12, ROWS)}
    cells = np.column_stack(list(columns.values()))
    np.savetxt(folder / "table.csv", cells, "%d", ",", header=",".join(columns), comments="")
    attributes: dict[str, object] = {
        f"q{i}": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "intervals", "widths": [2**n for n in range(1, height)]},
        }
        for i, height in enumerate(HEIGHTS)
    }
    attributes["disease"] = {"role": "sensitive"}
    for name, source in ((PEOPLE_SPEC, {"subject": "person"}), (ROWS_SPEC, {})):
        document = {"source": {"path": "table.csv", **source}, "attributes": attributes}
        (folder / name).write_text(format_spec(document), "utf-8")


def commands(bench: Benchmark, folder: Path, repeats: int) -> None:
    """Run ``discreet negotiate`` with people and with rows, in turn, each in a fresh process."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for turn in range(repeats + 1):
        for spec in (PEOPLE_SPEC, ROWS_SPEC):
            command = [
                "-m",
                "discreet",
                "negotiate",
                spec,
                "--k",
                "5",
                "--l",
                "3",
                "--threads",
                "1",
                "--json",
            ]
            start = time.perf_counter()
            done = run_fresh([sys.executable, *command], folder)
            assert done.status == 0, done.printed
            if turn:
                walls, processors = found.setdefault(spec, ([], []))
                walls.append(time.perf_counter() - start)
                processors.append(done.processor)
    for spec, (walls, processors) in found.items():
        bench.record(f"negotiate {spec}", walls, processors)
    people, rows = (statistics.median(found[spec][1]) for spec in (PEOPLE_SPEC, ROWS_SPEC))
    bench.state("processor time of negotiate, people / rows", people / rows, at_most=GOAL)


def main() -> None:
    """Alternate people and rows, and report."""
    chosen = parser(__doc__).parse_args()
    settings = replace(Settings.from_environment(threads=1), memory_limit=4 * 10**9)
    bench = Benchmark("subjects", "k and l of people with several rows, against rows")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        people, rows = (
            discreet.open(folder / spec, settings=settings).frequency_set for spec in (PEOPLE_SPEC, ROWS_SPEC)
        )

        def run(table: FrequencySet, how: Backend) -> EvaluatedLattice:
            return evaluate_lattice(table, settings, evaluator=how)

        bench.fact("nodes", run(people, Backend.KERNELS).lattice.size)
        bench.fact("row types", people.row_types)
        commands(bench, folder, chosen.repeats)
    bench.alternate(
        {
            "all nodes, people": lambda: run(people, Backend.KERNELS),
            "all nodes, rows": lambda: run(rows, Backend.KERNELS),
            "all nodes, rows, numpy twin": lambda: run(rows, Backend.TWIN),
        },
        chosen.repeats,
    )
    bench.alternate({"all nodes, people, numpy twin": lambda: run(people, Backend.TWIN)}, 1)
    bench.ratio("all nodes, people", "all nodes, rows")
    bench.ratio("all nodes, people", "all nodes, rows, numpy twin")
    bench.ratio("all nodes, people", "all nodes, people, numpy twin", at_most=1 / 5)
    bench.report(chosen)


if __name__ == "__main__":
    main()
