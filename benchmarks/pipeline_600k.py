"""From a Parquet file of 600,000 rows to all suppression histograms for k and l, against one bare GROUP BY.

The base node's frequency set for k and l includes the sensitive attribute, so the bare GROUP BY is by the
quasi-identifiers and that attribute. The one by only the quasi-identifiers, which suffices for k only, is
reported, too. The sensitive values are drawn at random, which is the hardest case: nearly every row type has
many.

Both sides open the engine themselves. The kernels are compiled before the first measured turn;
``benchmarks.startup`` measures the first compilation.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks import tables
from benchmarks.harness import Benchmark, parser
from discreet.engines.connection import connect
from discreet.frequency.table_scan import count_frequency_set
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from discreet.spec.spec_reader import load_spec


def main() -> None:
    """Create the table, alternate the two, report."""
    import duckdb

    options = parser(__doc__)
    options.add_argument("--threads", type=int, default=2)
    chosen = options.parse_args()
    table = tables.CENSUS_600K
    path = tables.make(table)
    settings = replace(Settings.from_environment(threads=chosen.threads), memory_limit=2 * 10**9)
    quasi_identifiers = ", ".join(column.name for column in table.columns)
    data = path.parent / f"{table.name}.parquet"

    def ours() -> EvaluatedLattice:
        spec = load_spec(path)
        with connect(settings) as engine:
            counted = count_frequency_set(engine, spec, settings)
        return evaluate_lattice(counted, settings, evaluator="kernels")

    def bare(names: str) -> int:
        with duckdb.connect(config={"memory_limit": "2GB", "threads": str(chosen.threads)}) as engine:
            engine.execute(f"CREATE TEMP TABLE t AS SELECT {names}, count(*) FROM '{data}' GROUP BY {names}")
            row = engine.execute("SELECT count(*) FROM t").fetchone()
        return int(row[0]) if row else 0

    def for_k_and_l() -> int:
        return bare(f"{quasi_identifiers}, sensitive")

    def for_k() -> int:
        return bare(quasi_identifiers)

    evaluated = ours()
    bench = Benchmark("pipeline_600k", "Parquet file to all histograms for k and l, 600,000 rows")
    bench.fact("row types", for_k())
    bench.fact("row types with a sensitive value", for_k_and_l())
    bench.fact("nodes", evaluated.lattice.size)
    top = Requirement.of(k=10, l=5)
    bench.fact("suppressed at the bottom for k=10, l=5", evaluated.suppressed(evaluated.lattice.bottom, top))
    cases = {"discreet": ours, "bare GROUP BY": for_k_and_l, "bare GROUP BY for k alone": for_k}
    bench.alternate(cases, chosen.repeats)
    bench.ratio("discreet", "bare GROUP BY", at_most=3.0)
    bench.ratio("discreet", "bare GROUP BY for k alone")
    bench.report(chosen)


if __name__ == "__main__":
    main()
