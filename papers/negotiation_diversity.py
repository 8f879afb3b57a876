"""Distinct l-diversity in the negotiation paper: suppression by l, and k as an estimator of l.

The paper claims that its study for l resembles the one for k, and that k-anonymity is a good estimator; it
prints neither. For an l, the best k has the least mean of |log2((S_k + 1) / (S_l + 1))| over all nodes; two
to that mean is the factor of error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.model.requirement import Requirement
from papers import negotiation_study
from papers.charts import AxisScale, Panel, PanelMark, Series, draw_chart
from papers.comparison import Comparison
from papers.negotiation_study import AdultStudy
from papers.section import Cell, ComparedTable, Plot, Section

DIVERSITY_LS: tuple[int, ...] = tuple(negotiation_study.NEGOTIATION_FIGURES["grid"]["l"])
DIVERSITY_KS: tuple[int, ...] = tuple(negotiation_study.NEGOTIATION_FIGURES["grid"]["k"])
_LARGEST_ESTIMATE = 200


def diversity_sections(study: AdultStudy) -> Iterator[Section]:
    """Yield suppression by height and l, average against least, and estimates by k."""
    yield Section(
        f"Suppression for distinct l of {negotiation_study.NEGOTIATION_SENSITIVE}",
        "The paper prints charts of these; the figures are only ours.",
        tuple(_by_height(study, size) for size in study.sizes),
        (_height_plot(study),),
    )
    yield Section(
        "Average against least within a height",
        "The paper says that the least is about 2.5 times lower than the average for k and 3 times for l. "
        "Another of its slides says it of the average, 2 to 3 times lower than the least: a slip, for no "
        "average is.",
        (_average_over_least(study),),
    )
    yield Section(
        "How well k estimates l",
        "The k whose suppression comes closest to that of l over all nodes; the factor by which it is wrong "
        "on average; and whether the two order the nodes alike (rank correlation, 1 is the same order).",
        (_estimates(study),),
        (_estimate_plot(study),),
    )


def _by_height(study: AdultStudy, size: int) -> ComparedTable:
    columns: list[list[Cell]] = []
    for l in DIVERSITY_LS:
        heights = study.by_height(size, Requirement(l=l))[:10]
        places = [f"QI {size}, l = {l}, H{height}" for height in range(len(heights))]
        columns.append(
            [Comparison(f"{p}, least", int(r.min())) for p, r in zip(places, heights, strict=True)]
        )
        columns.append(
            [Comparison(f"{p}, average", float(r.mean())) for p, r in zip(places, heights, strict=True)]
        )
    titles = (title for l in DIVERSITY_LS for title in (f"l = {l} least", "average"))
    rows = tuple((str(height), *cells) for height, cells in enumerate(zip(*columns, strict=True)))
    return ComparedTable("diversity", f"Suppressed rows, QI {size}", ("height", *titles), rows)


def _average_over_least(study: AdultStudy) -> ComparedTable:
    said = negotiation_study.NEGOTIATION_FIGURES["said"]
    rows: list[tuple[Cell, ...]] = []
    for size in study.sizes:
        cells: list[Cell] = [f"QI {size}"]
        for privacy, requirements in (
            ("k", [Requirement(k=k) for k in DIVERSITY_KS]),
            ("l", [Requirement(l=l) for l in DIVERSITY_LS]),
        ):
            ours = mean_average_over_least(
                [study.by_height(size, requirement) for requirement in requirements]
            )
            printed = said[f"average_over_least_{privacy}"]
            cells.append(Comparison(f"QI {size}, {privacy}", ours, printed, about=True))
        rows.append(tuple(cells))
    title = "Average / least, geometric mean over heights, k = 3, 10, 50 and l = 3, 6, 9"
    note = "Over heights from 1 whose least is ten rows or more: below that a few rows are a large ratio."
    return ComparedTable("average_over_least", title, ("", "k", "l"), tuple(rows), note)


def mean_average_over_least(studies: list[list[NDArray[np.int64]]]) -> float:
    """Return the geometric mean of average / least over the heights of some studies.

    Height 0 and heights whose least is below ten rows are skipped; the result is 1 if none remains.
    """
    ratios = [
        float(rows.mean()) / float(rows.min())
        for heights in studies
        for rows in heights[1:]
        if rows.min() >= 10
    ]
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0


def _estimates(study: AdultStudy) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for size in study.sizes:
        for l in DIVERSITY_LS:
            k, factor, correlation = _estimate(study, size, l)
            place = f"QI {size}, l = {l}"
            rows.append(
                (
                    f"QI {size}",
                    str(l),
                    Comparison(f"{place}, k", k),
                    Comparison(f"{place}, factor", factor),
                    Comparison(f"{place}, rank correlation", f"{correlation:.3f}"),
                )
            )
    columns = ("", "l", "closest k", "wrong by a factor of", "rank correlation")
    return ComparedTable("estimates", "Suppression for l by suppression for k", columns, tuple(rows))


def _estimate(study: AdultStudy, size: int, l: int) -> tuple[int, float, float]:
    """Return the closest k, its factor, and the rank correlation of the two suppressions."""
    evaluated = study.of(size, "l").evaluated
    diverse = evaluated.suppression(Requirement(l=l))
    factors = {
        k: estimate_factor(evaluated.suppression(Requirement(k=k)), diverse)
        for k in range(2, _LARGEST_ESTIMATE + 1)
    }
    best = min(factors, key=lambda k: factors[k])
    return best, factors[best], rank_correlation(evaluated.suppression(Requirement(k=best)), diverse)


def estimate_factor(estimate: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    """Return the average factor (geometric) by which an estimate is wrong, with one row added to both."""
    return float(2 ** np.abs(np.log2((estimate + 1) / (truth + 1))).mean())


def rank_correlation(left: NDArray[np.int64], right: NDArray[np.int64]) -> float:
    """Return Spearman's rank correlation with average ranks for ties; 1 if either side is constant."""
    ranks = [_ranks(left), _ranks(right)]
    if any(float(np.ptp(r)) == 0 for r in ranks):
        return 1.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: NDArray[np.int64]) -> NDArray[np.float64]:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: NDArray[np.float64] = (last - (count - 1) / 2)[place]
    return ranks


def _height_plot(study: AdultStudy) -> Plot:
    panels = []
    for size in study.sizes:
        series = []
        for l in DIVERSITY_LS:
            heights = study.by_height(size, Requirement(l=l))
            series.append(Series.of(f"l = {l}", range(len(heights)), [float(r.mean()) for r in heights]))
        panels.append(
            Panel(
                tuple(series),
                "height",
                "average suppressed rows",
                title=f"QI {size}",
                y_scale=AxisScale.COUNTS,
            )
        )
    title = "Average suppressed rows by height and l"
    return Plot("suppression-by-l", title, draw_chart(title, panels))


def _estimate_plot(study: AdultStudy) -> Plot:
    size = study.sizes[-1]
    evaluated = study.of(size, "l").evaluated
    panels = []
    for l in DIVERSITY_LS:
        k = _estimate(study, size, l)[0]
        diverse = evaluated.suppression(Requirement(l=l))
        step = max(1, len(diverse) // 400)
        chosen = np.argsort(diverse, kind="stable")[::step]
        panels.append(
            Panel(
                (
                    Series.of(
                        "a node",
                        evaluated.suppression(Requirement(k=k))[chosen].tolist(),
                        diverse[chosen].tolist(),
                    ),
                ),
                f"suppressed rows for k = {k}",
                f"suppressed rows for l = {l}",
                title=f"l = {l} by k = {k}",
                mark=PanelMark.POINTS,
                x_scale=AxisScale.COUNTS,
                y_scale=AxisScale.COUNTS,
            )
        )
    title = f"Suppression for l by suppression for k, QI {size}"
    return Plot(
        "l-by-k", title, draw_chart(title, panels), f"At most about 400 of {len(diverse):,} nodes are drawn."
    )
