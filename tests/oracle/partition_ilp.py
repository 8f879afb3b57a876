"""Oracle: perfect simplex matchings as an integer program, every vertex in exactly one pair or triple."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray


def cheapest_partition_by_program(pairs: NDArray[np.int64], triples: NDArray[np.int64]) -> int:
    """Return the least cost, by HiGHS; all costs are integers."""
    import highspy

    n = len(pairs)
    edges = [*combinations(range(n), 2), *combinations(range(n), 3)]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.9)
    for _ in range(n):
        solver.addRow(1.0, 1.0, 0, np.array([], np.int32), np.array([], np.float64))
    for edge in edges:
        cost = pairs[edge] if len(edge) == 2 else triples[edge]
        solver.addCol(float(cost), 0.0, 1.0, len(edge), np.array(edge, np.int32), np.ones(len(edge)))
        solver.changeColIntegrality(solver.getNumCol() - 1, highspy.HighsVarType.kInteger)
    solver.run()
    return round(solver.getInfo().objective_function_value)
