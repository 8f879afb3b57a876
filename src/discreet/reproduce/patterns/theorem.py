"""Theorem 4 of Bredereck et al. (2013): how far the heuristic may be from the optimum, on a table.

It costs at most m times the optimum, and can cost m − 1 times it.

The table of the proof, for k = m: k rows of ones and, for each attribute, k − 1 rows that differ from them in
that attribute alone, each by a value of its own; patterns of no star, of one star, and of all stars. The
heuristic leaves the k equal rows as they are, so that no other finds enough rows like it.
"""

from __future__ import annotations

import numpy as np

from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.pattern import PatternMask
from discreet.model.requirement import Requirement
from discreet.patterns.exact import solve_exactly
from discreet.patterns.exact_subsets import solve_by_subsets
from discreet.patterns.greedy import greedy
from discreet.patterns.masks import mask_of_vectors
from discreet.reproduce.comparison import Comparison, Judge
from discreet.reproduce.context import Context
from discreet.reproduce.section import Cell, ComparedTable, Section
from discreet.settings import Settings

_ATTRIBUTES = (3, 4, 5, 6, 7, 8)
_TEXT = (
    "For m attributes the heuristic suppresses at most m times as many cells as the optimum (Theorem 4): a "
    "row of which it suppresses any loses at most m, and loses one at least in every solution. On the table "
    "of the proof, with k = m, it suppresses (m − 1)·m² and the optimum m². The optimum is found twice, by "
    "the integer program and by the fixed-parameter search of Theorem 3."
)


def theorem_section(judge: Judge, context: Context) -> Section:
    """The table of the proof for several m: the heuristic and the optimum beside the theorem's formulas."""
    rows: list[tuple[Cell, ...]] = []
    with context.reporter.stage("Theorem 4: the instance of its proof") as progress:
        for done, m in enumerate(_ATTRIBUTES):
            rows.append(_row(judge, m, context.settings))
            progress(done + 1, len(_ATTRIBUTES))
    columns = ("m = k", "stars", "least stars", "by fixed parameter", "factor", "factor at most")
    table = ComparedTable("theorem_4", "Theorem 4", columns, tuple(rows))
    return Section("How bad the heuristic can be", _TEXT, (table,))


def _row(judge: Judge, m: int, settings: Settings) -> tuple[Cell, ...]:
    table, mask = tight_instance(m, settings)
    asked = Requirement(m)
    cost = int(greedy(table, mask, asked, settings, bound=False).cost)
    least = int(solve_exactly(table, mask, asked, settings).cost)
    again = int(solve_by_subsets(table, mask, asked, settings).cost)
    return (
        str(m),
        judge.compare("theorem_4", f"m={m} stars", cost, (m - 1) * m * m),
        judge.compare("theorem_4", f"m={m} least stars", least, m * m),
        judge.compare("theorem_4", f"m={m} by fixed parameter", again, m * m),
        Comparison(f"m={m} factor", cost / least),
        Comparison(f"m={m} factor at most", m),
    )


def tight_instance(m: int, settings: Settings) -> tuple[FrequencySet, PatternMask]:
    """The table and the patterns of the theorem's proof for ``m`` attributes; k is ``m``."""
    leaves = tuple(str(value) for value in range(m))
    ancestors = (np.arange(m), np.zeros(m, dtype=np.int64))
    hierarchies = tuple(
        GeneralizationHierarchy(f"a{i}", (leaves, (TOP,)), ancestors, "Theorem 4") for i in range(m)
    )
    others = [[value if j == i else 0 for j in range(m)] for i in range(m) for value in range(1, m)]
    codes = np.array([[0] * m, *others], dtype=np.int64)
    counts = np.array([m, *[1] * len(others)], dtype=np.int64)
    order = np.lexsort(codes.T[::-1])
    vectors = ["." * m, *("." * i + "*" + "." * (m - 1 - i) for i in range(m)), "*" * m]
    table = FrequencySet(hierarchies, codes[order], counts[order])
    return table, mask_of_vectors(table, vectors, settings)
