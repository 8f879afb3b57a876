"""One GROUP BY per lattice node in DuckDB against the evaluated lattice, on Adult's nine attributes.

The nodes are sampled and the sum is extrapolated to all. Three baselines, each with its tables in memory and
as many threads as ours: ``rows`` joins the table's rows with the hierarchies, as in the papers; ``row types``
joins the distinct rows and their counts with the hierarchies, all as small integers; ``prepared row types``
has every level of the row types as a precomputed column, the best case for the engine, without a goal.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from functools import partial
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from benchmarks.adult import data_folder, frequency_set
from benchmarks.harness import Benchmark, parser
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.requirement import Requirement
from discreet.settings import Settings

K = 10
Columns = dict[str, NDArray[Any]]
_TYPES = {("i", 2): "SMALLINT", ("i", 8): "BIGINT", ("U", 0): "VARCHAR"}


def load(engine: duckdb.DuckDBPyConnection, counted: FrequencySet) -> None:
    """Create tables ``rows``, ``h_<attribute>`` (text); ``types``, ``c_<attribute>``, ``wide`` (integers)."""
    engine.execute(
        f"CREATE TABLE rows AS FROM read_csv('{data_folder()}/adult/adult_30162.csv', all_varchar=true)"
    )
    types: Columns = {"n": counted.counts}
    wide: Columns = {"n": counted.counts}
    for position, hierarchy in enumerate(counted.hierarchies):
        name, levels = hierarchy.attribute, range(hierarchy.height + 1)
        leaves = range(len(hierarchy.leaves))
        text = {f"l{level}": np.array([hierarchy.path(leaf)[level] for leaf in leaves]) for level in levels}
        codes = {f"l{level}": hierarchy.ancestors[level].astype(np.int16) for level in levels}
        _create(engine, f"h_{name}", text)
        _create(engine, f"c_{name}", codes)
        column = counted.codes[:, position]
        types[name] = column.astype(np.int16)
        wide |= {f"{name}_{level}": codes[f"l{level}"][column] for level in levels}
    _create(engine, "types", types)
    _create(engine, "wide", wide)


def _create(engine: duckdb.DuckDBPyConnection, name: str, columns: Columns) -> None:
    kinds = [
        _TYPES[values.dtype.kind, values.dtype.itemsize * (values.dtype.kind != "U")]
        for values in columns.values()
    ]
    cells = ", ".join(f"unnest(?::{kind}[]) AS {c}" for c, kind in zip(columns, kinds, strict=True))
    engine.execute(f"CREATE TABLE {name} AS SELECT {cells}", [values.tolist() for values in columns.values()])


def rows_query(attributes: tuple[str, ...], node: LatticeNode) -> str:
    """Select the histogram of one node from the rows."""
    joins = "".join(f" JOIN h_{a} ON rows.{a} = h_{a}.l0" for a in attributes)
    keys = ", ".join(f"h_{a}.l{level}" for a, level in zip(attributes, node, strict=True))
    return f"SELECT n, count(*) * n FROM (SELECT count(*) AS n FROM rows{joins} GROUP BY {keys}) GROUP BY n"


def types_query(attributes: tuple[str, ...], node: LatticeNode) -> str:
    """Select the histogram of one node from the row types, joined with the hierarchies' codes."""
    joins = "".join(f" JOIN c_{a} ON types.{a} = c_{a}.l0" for a in attributes)
    keys = ", ".join(f"c_{a}.l{level}" for a, level in zip(attributes, node, strict=True))
    return f"SELECT s, count(*) * s FROM (SELECT sum(n) AS s FROM types{joins} GROUP BY {keys}) GROUP BY s"


def wide_query(attributes: tuple[str, ...], node: LatticeNode) -> str:
    """Select the histogram of one node from the row types with every level already a column."""
    keys = ", ".join(f"{a}_{level}" for a, level in zip(attributes, node, strict=True))
    return f"SELECT s, count(*) * s FROM (SELECT sum(n) AS s FROM wide GROUP BY {keys}) GROUP BY s"


BASELINES = (
    ("rows", rows_query, 500),
    ("row types", types_query, 500),
    ("prepared row types", wide_query, None),
)


def main() -> None:
    """Sample nodes, check each answer against ours, extrapolate, report."""
    options = parser(__doc__)
    options.add_argument("--sample", type=int, default=200, help="nodes sampled (default 200)")
    options.add_argument("--threads", type=int, default=2)
    chosen = options.parse_args()
    settings = replace(Settings.from_environment(threads=chosen.threads), memory_limit=2 * 10**9)
    counted = frequency_set(settings)
    ours = partial(evaluate_lattice, counted, settings, evaluator="kernels")
    evaluated = ours()
    lattice = evaluated.lattice
    nodes = [lattice.node(i) for i in random.Random(1).sample(range(lattice.size), chosen.sample)]

    bench = Benchmark("group_by_nodes", "all nodes of Adult's nine attributes: one GROUP BY per node")
    bench.fact("nodes", lattice.size)
    bench.fact("nodes sampled", len(nodes))
    bench.fact("threads", chosen.threads)
    bench.alternate({"evaluated lattice": ours}, 5)
    with duckdb.connect(config={"threads": str(chosen.threads)}) as engine:
        load(engine, counted)
        for name, query, goal in BASELINES:
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
            bench.ratio(case, "evaluated lattice", at_least=goal)
    bench.report(chosen)


if __name__ == "__main__":
    main()
