"""A workload of queries on Adult's releases: answers, measures, and a release for the workload.

Baseline: Mondrian's numpy twin on the same row types, k = 10. A hundred queries over two of nine
quasi-identifiers, each about 5 % of the rows. Reports the reduction of the workload's error if Mondrian cuts
for it.
"""

from __future__ import annotations

from benchmarks import adult
from benchmarks.harness import Benchmark, parser
from discreet.measures.generalized_table import ReleasePair
from discreet.measures.metrics import metric_values
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.queries.workload_generation import WorkloadDescription, generate_workload
from discreet.settings import Settings
from discreet.workload.answerable_table import (
    domains_of_hierarchies,
    table_of_frequency_set,
    table_of_recoding,
)
from discreet.workload.query_answer import measure_workload_error
from discreet.workload.workload_partition import partition_for_workload

K = Requirement(10)


def main() -> None:
    """Run the benchmark."""
    chosen = parser(__doc__).parse_args()
    benchmark = Benchmark("workload", "Workloads on Adult, nine quasi-identifiers, k = 10")
    settings = Settings.from_environment()
    table = adult.frequency_set(settings)
    description = WorkloadDescription(queries=100, attributes=("age", "education"), selectivity=0.05)
    rows = {name: table.rows_by_code[i][:-1] for i, name in enumerate(table.attributes)}
    queries = generate_workload(description, domains_of_hierarchies(table.hierarchies), rows)
    original = table_of_frequency_set(table)
    plain = partition_table(table, K, settings, MondrianOptions(), evaluator="twin")
    driven = partition_for_workload(queries, table, K, settings)
    release = table_of_recoding(table, plain, attained=True)
    benchmark.fact("rows", table.rows)
    benchmark.fact("row types", table.row_types)
    benchmark.fact("classes", plain.class_count)
    benchmark.fact("queries", len(queries))
    benchmark.alternate(
        {
            "Mondrian, numpy twin": lambda: partition_table(table, K, settings, evaluator="twin"),
            "Mondrian for the workload": lambda: partition_for_workload(queries, table, K, settings),
            "workload error": lambda: measure_workload_error(queries, original, release),
            "all metrics": lambda: metric_values(ReleasePair.of_recoding(table, plain)),
        },
        chosen.repeats,
    )
    benchmark.ratio("Mondrian for the workload", "Mondrian, numpy twin")
    benchmark.ratio("workload error", "Mondrian, numpy twin")
    benchmark.ratio("all metrics", "Mondrian, numpy twin")
    errors = [
        measure_workload_error(
            queries, original, table_of_recoding(table, recoding, attained=True)
        ).mean_absolute
        for recoding in (driven, plain)
    ]
    if errors[0] is not None and errors[1]:
        benchmark.state("mean absolute error, for the workload / plain", errors[0] / errors[1], at_most=0.1)
    benchmark.report(chosen)


if __name__ == "__main__":
    main()
