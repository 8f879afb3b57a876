"""How much one quasi-identifier more suppresses, against what the paper says of it."""

from __future__ import annotations

import numpy as np

from discreet.model.requirement import Requirement
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.negotiation.study import Study
from discreet.reproduce.section import Cell, ComparedTable, Section

_K, _HEIGHTS = 3, 7


def section(study: Study) -> Section:
    """Ratios of the averages of neighbouring sizes, by height."""
    pairs = list(zip(study.sizes[:-1], study.sizes[1:], strict=True))
    ratios = {larger: growth(study, smaller, larger) for smaller, larger in pairs}
    rows: list[tuple[Cell, ...]] = [
        (str(height), *(Comparison(f"H{height}, QI {size}", of[height]) for size, of in ratios.items()))
        for height in range(_HEIGHTS)
    ]
    columns = ("height", *(f"QI {larger} / QI {smaller}" for smaller, larger in pairs))
    table = ComparedTable("growth", f"Average suppressed rows, k = {_K}", columns, tuple(rows))
    every = [ratio for of in ratios.values() for ratio in of]
    between, above = (sum(low <= ratio <= high for ratio in every) for low, high in ((2, 3), (3, np.inf)))
    text = (
        "The paper says that one quasi-identifier more multiplies the suppressed rows of a height by 2 to 3 "
        "on average, where they are many. Its own averages, which come out here, do not bear that out: the "
        f"factor is {min(every):.1f} to {max(every):,.0f}; it is 2 to 3 in {between} of {len(every)} cells "
        f"and more in {above}."
    )
    return Section("What one quasi-identifier more suppresses", text, (table,))


def growth(study: Study, smaller: int, larger: int) -> list[float]:
    """The larger size's average suppressed rows over the smaller's, by height from 0."""
    few, many = (study.by_height(size, Requirement(k=_K))[:_HEIGHTS] for size in (smaller, larger))
    return [float(np.mean(b) / np.mean(a)) for a, b in zip(few, many, strict=True)]
