"""Asking Adult's releases a workload, measuring them, and making one for a workload.

Baseline: Mondrian's numpy twin on the same row types, k = 10. A hundred queries over two of nine
quasi-identifiers, each about 5 % of the rows. Stated: how much smaller the workload's error becomes when
Mondrian cuts for it.
"""

from __future__ import annotations

from benchmarks import adult
from benchmarks.harness import Benchmark, parser
from discreet.measures.cell_sums import rows_by_code
from discreet.measures.comparison import ReleasePair
from discreet.measures.metrics import metrics_of
from discreet.model.requirement import Requirement
from discreet.mondrian.options import MondrianOptions
from discreet.mondrian.partition import partition
from discreet.queries.generate import WorkloadDescription, generate
from discreet.settings import Settings
from discreet.workload.accuracy import workload_error
from discreet.workload.answerable import as_it_stands, domains_of, of_recoding
from discreet.workload.partition import partition_for

K = Requirement(10)


def main() -> None:
    """Run the benchmark."""
    chosen = parser(__doc__).parse_args()
    benchmark = Benchmark("workload", "Workloads on Adult, nine quasi-identifiers, k = 10")
    settings = Settings.from_environment()
    table = adult.frequency_set(settings)
    description = WorkloadDescription(queries=100, attributes=("age", "education"), selectivity=0.05)
    rows = {name: rows_by_code(table, i)[:-1] for i, name in enumerate(table.attributes)}
    queries = generate(description, domains_of(table.hierarchies), rows)
    original = as_it_stands(table)
    plain = partition(table, K, settings, MondrianOptions(), evaluator="twin")
    driven = partition_for(queries, table, K, settings)
    release = of_recoding(table, plain, attained=True)
    benchmark.fact("rows", table.rows)
    benchmark.fact("row types", table.row_types)
    benchmark.fact("classes", plain.class_count)
    benchmark.fact("queries", len(queries))
    benchmark.alternate(
        {
            "Mondrian, numpy twin": lambda: partition(table, K, settings, evaluator="twin"),
            "Mondrian for the workload": lambda: partition_for(queries, table, K, settings),
            "workload error": lambda: workload_error(queries, original, release),
            "all metrics": lambda: metrics_of(ReleasePair.of_recoding(table, plain)),
        },
        chosen.repeats,
    )
    benchmark.ratio("Mondrian for the workload", "Mondrian, numpy twin")
    benchmark.ratio("workload error", "Mondrian, numpy twin")
    benchmark.ratio("all metrics", "Mondrian, numpy twin")
    errors = [
        workload_error(queries, original, of_recoding(table, recoding, attained=True)).mean_absolute
        for recoding in (driven, plain)
    ]
    if errors[0] is not None and errors[1]:
        benchmark.state("mean absolute error, for the workload / plain", errors[0] / errors[1], at_most=0.1)
    benchmark.report(chosen)


if __name__ == "__main__":
    main()
