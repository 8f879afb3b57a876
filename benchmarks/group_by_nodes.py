"""One GROUP BY per lattice node in DuckDB against the evaluated lattice, on Adult's nine attributes.

The nodes are sampled and the sum is extrapolated to all. Two baselines: ``rows`` is the papers' way, the
table's rows joined with the hierarchies; ``row types`` is as friendly to the engine as can be, the distinct
rows with their counts and every level already a column of small integers. Both have the table in memory and
as many threads as ours.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace

import duckdb
import numpy as np

from benchmarks.adult import data_folder, frequency_set
from benchmarks.harness import Benchmark, parser
from discreet.lattice.evaluate import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.settings import Settings

K = 10


def load(engine: duckdb.DuckDBPyConnection, counted: FrequencySet) -> None:
    """Tables ``rows`` (text), one ``h_<attribute>`` per hierarchy (text), and ``types`` (integers)."""
    engine.execute(
        f"CREATE TABLE rows AS FROM read_csv('{data_folder()}/adult/adult_30162.csv', all_varchar=true)"
    )
    columns: dict[str, np.ndarray] = {"n": counted.counts}
    for position, hierarchy in enumerate(counted.hierarchies):
        levels = [
            np.array([hierarchy.path(code)[level] for code in range(len(hierarchy.leaves))])
            for level in range(hierarchy.height + 1)
        ]
        table = {f"l{level}": values for level, values in enumerate(levels)}
        _create(engine, f"h_{hierarchy.attribute}", table)
        for level in range(hierarchy.height + 1):
            values = hierarchy.level_map(level)[counted.codes[:, position]]
            columns[f"{hierarchy.attribute}_{level}"] = values.astype(np.int16)
    _create(engine, "types", columns)


def _create(engine: duckdb.DuckDBPyConnection, name: str, columns: dict[str, np.ndarray]) -> None:
    parameters = [values.tolist() for values in columns.values()]
    types = [
        "VARCHAR[]" if v.dtype.kind == "U" else f"{_TYPES[v.dtype.itemsize]}[]" for v in columns.values()
    ]
    cells = ", ".join(f"unnest(?::{t}) AS {c}" for c, t in zip(columns, types, strict=True))
    engine.execute(f"CREATE TABLE {name} AS SELECT {cells}", parameters)


_TYPES = {2: "SMALLINT", 8: "BIGINT"}


def rows_query(attributes: tuple[str, ...], node: LatticeNode) -> str:
    """The histogram of one node from the rows."""
    joins = "".join(f" JOIN h_{a} ON rows.{a} = h_{a}.l0" for a in attributes)
    keys = ", ".join(f"h_{a}.l{level}" for a, level in zip(attributes, node, strict=True))
    return f"SELECT n, count(*) * n FROM (SELECT count(*) AS n FROM rows{joins} GROUP BY {keys}) GROUP BY n"


def types_query(attributes: tuple[str, ...], node: LatticeNode) -> str:
    """The histogram of one node from the row types."""
    keys = ", ".join(f"{a}_{level}" for a, level in zip(attributes, node, strict=True))
    return f"SELECT s, count(*) * s FROM (SELECT sum(n) AS s FROM types GROUP BY {keys}) GROUP BY s"


def main() -> None:
    """Sample nodes, check the two against ours, extrapolate, report."""
    options = parser(__doc__)
    options.add_argument("--sample", type=int, default=200, help="nodes sampled (default 200)")
    options.add_argument("--threads", type=int, default=2)
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=chosen.threads), memory_limit=2 * 10**9)
    counted = frequency_set(settings)
    evaluated = evaluate_lattice(counted, settings, diversity=False)
    lattice = evaluated.lattice
    nodes = [lattice.node(i) for i in random.Random(1).sample(range(lattice.size), chosen.sample)]

    bench = Benchmark("group_by_nodes", "all nodes of Adult's nine attributes: one GROUP BY per node")
    bench.fact("nodes", lattice.size)
    bench.fact("nodes sampled", len(nodes))
    bench.fact("threads", chosen.threads)
    bench.alternate({"evaluated lattice": lambda: evaluate_lattice(counted, settings, diversity=False)}, 5)
    with duckdb.connect(config={"threads": str(chosen.threads)}) as engine:
        load(engine, counted)
        for name, query in (("rows", rows_query), ("row types", types_query)):
            spent = 0.0
            for node in nodes:
                start = time.perf_counter()
                histogram = engine.execute(query(lattice.attributes, node)).fetchall()
                spent += time.perf_counter() - start
                suppressed = sum(rows for size, rows in histogram if size < K)
                if suppressed != evaluated.suppressed(node, Requirement.of(k=K)):
                    raise SystemExit(f"node {node}: the engine suppresses {suppressed} for k={K}, we do not")
            case = f"GROUP BY of {name} per node, extrapolated"
            bench.record(case, [spent / len(nodes) * lattice.size])
            bench.ratio(case, "evaluated lattice", at_least=500)
    bench.report(chosen)


if __name__ == "__main__":
    main()
