"""Partial lattices (Pilalidou and Vassiliadis): preparation, importance metrics, and answers.

The paper's table counts how many of 28 requests a partial lattice of 5 % answers as the full one does. It
counts another node of the same height as the same solution, except for a relaxed height; with this reading
all but three cells are equal. The chart of suppressed rows by height at QI 5 is computed without printed
figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.negotiation.partial_lattice import PartialLattice, prepare_partial_lattice
from papers import negotiation_study
from papers.charts import AxisScale, Series, bar_panel, draw_chart, draw_lines
from papers.comparison import Comparison, Judge, known_deviations, read_figures
from papers.negotiation_ipums import ipums_frequency_set
from papers.negotiation_study import AdultStudy
from papers.partial_comparison import (
    Effect,
    RequestComparison,
    compare_importance_metrics,
    compare_partial,
    count_effects,
    sum_comparisons,
)
from papers.reproduction import Context
from papers.section import Cell, ComparedTable, Plot, Section

_PARTIAL_FIGURES = read_figures("partial_lattice")
_PARTS = (None, "max_suppressed", "height", "k")
_PART_NAMES = ("exact", "max_suppressed", "height", "k")
_EFFECTS = ("same", "other", "failed", "neither")
_EFFECT_NAMES = {
    "same": "same solution, as the paper counts",
    "other": "other solution",
    "failed": "failed",
    "neither": "no solution in both",
}


def _effect_cells(comparisons: list[RequestComparison], *, runtime: bool) -> dict[str, tuple[str, ...]]:
    """Return the cells of the paper's table: by effect, one text per part."""
    counts = [count_effects(comparisons, part, runtime=runtime) for part in _PARTS]
    found: dict[str, list[str]] = {effect: [] for effect in _EFFECTS}
    for name, count in zip(_PART_NAMES, counts, strict=True):
        by_height = count[Effect.SAME_HEIGHT]
        same = count[Effect.SAME] + (0 if name == "height" else by_height)
        other = count[Effect.OTHER] + (by_height if name == "height" else 0)
        found["same"].append(str(same))
        found["other"].append(f"{other}+{count[Effect.RELAXED]}" if name == "exact" else str(other))
        found["failed"].append(str(count[Effect.FAILED]))
        found["neither"].append(str(count[Effect.NEITHER]))
    return {effect: tuple(texts) for effect, texts in found.items()}


def count_strict_matches(
    comparisons: list[RequestComparison], *, runtime: bool
) -> dict[str, tuple[str, ...]]:
    """Count, by part, the same solutions with as few suppressed rows, and those with the same node."""
    few, nodes = [], []
    for part, name in zip(_PARTS, _PART_NAMES, strict=True):
        same = count_effects(comparisons, part, runtime=runtime)[Effect.SAME]
        nodes.append(str(same))
        # For a relaxed height the paper counts no other node as the same solution.
        others = (
            0 if name == "height" else sum(_suppresses_as_few(c, part, runtime=runtime) for c in comparisons)
        )
        few.append(str(same + others))
    return {"of these with as few suppressed rows": tuple(few), "of these the same node": tuple(nodes)}


def _suppresses_as_few(comparison: RequestComparison, part: str | None, *, runtime: bool) -> bool:
    """Return whether the answer is another node of the same height with as few suppressed rows."""
    if comparison.effect(part, runtime=runtime) is not Effect.SAME_HEIGHT:
        return False
    full, other = comparison.full, comparison.runtime if runtime else comparison.partial
    pair = [n.exact if part is None else n.relaxation(part) for n in (full, other)]
    return len({answer.suppressed for answer in pair if answer is not None}) == 1


def effects_section(study: AdultStudy, judge: Judge, comparisons: list[RequestComparison]) -> Section:
    """Build the table of effects.

    It is judged only with all sizes, since the printed figures are sums over them.
    """
    whole = study.sizes == negotiation_study.SIZES
    rows: list[tuple[Cell, ...]] = []
    for kind, runtime in (("partial", False), ("runtime", True)):
        ours = _effect_cells(comparisons, runtime=runtime)
        for effect in _EFFECTS:
            printed = _PARTIAL_FIGURES["effect"][kind][effect]
            cells = (
                judge.compare("effect", f"{kind}, {effect}, {part}", figure, value if whole else None)
                for part, figure, value in zip(_PART_NAMES, ours[effect], printed, strict=True)
            )
            label = "partial" if kind == "partial" else "with v_max at run time"
            rows.append((label, _EFFECT_NAMES[effect], *cells))
            if effect == "same":
                for reading, numbers in count_strict_matches(comparisons, runtime=runtime).items():
                    named = zip(_PART_NAMES, numbers, strict=True)
                    cells = (Comparison(f"{kind}, {reading}, {part}", number) for part, number in named)
                    rows.append((label, reading, *cells))
    columns = ("", "against the full lattice", "exact", "max_suppressed", "height", "k")
    note = "1+3: one other exact answer, and three relaxations where the full lattice answers exactly."
    table = ComparedTable("effect", f"{len(comparisons)} requests for k", columns, tuple(rows), note)
    text = (
        f"A partial lattice of {_PARTIAL_FIGURES['percent']} % by Λ, without and with the histogram of the "
        "request's own node counted at run time. The paper's numbers come out where another node of the "
        "same height counts as the same solution, except where the height is relaxed; how many suppress as "
        "few rows, and how many are the very same node, is below each."
    )
    return Section("Partial against full", text, (table,))


def percentages_section(found: Mapping[int, list[RequestComparison]]) -> Section:
    """Build the table of same solutions at other percentages."""
    rows: list[tuple[Cell, ...]] = []
    for percent, comparisons in found.items():
        for label, runtime in (("partial", False), ("with v_max at run time", True)):
            counted = _effect_cells(comparisons, runtime=runtime)["same"]
            nodes = count_strict_matches(comparisons, runtime=runtime)["of these the same node"]
            pairs = zip(counted, nodes, strict=True)
            printed = (same if same == node else f"{same} ({node})" for same, node in pairs)
            rows.append((f"{percent} %", label, *printed))
    columns = ("", "", "exact", "max_suppressed", "height", "k")
    note = "In brackets those that are the same node, where these are fewer."
    title = "Same solutions, as the paper counts"
    table = ComparedTable("percents", title, columns, tuple(rows), note)
    text = "The paper: 1, 5 and 10 % make no difference but for the height, which is slightly better."
    return Section("One, five and ten percent", text, (table,))


FULL, PARTIAL, LOW = "full", "partial", "levels 0 and 1"
_SIZE, _K = 5, 3

Averages = Mapping[int, float]
"""Average suppressed rows of the nodes of each height."""


def heights_section(study: AdultStudy, partials: Mapping[int, PartialLattice]) -> Section:
    """Compare by height: nodes of the full lattice, of the partial one, and those with levels 0 and 1."""
    size = min(_SIZE, study.sizes[-1])
    requirement = Requirement(k=_K)
    found = {
        FULL: _averages(study.by_height(size, requirement)),
        PARTIAL: average_by_height(partials[size], requirement),
        LOW: _averages(study.by_height(size, requirement, 1)),
    }
    title = f"Average suppressed rows by height, QI {size}, k = {_K}"
    rows: list[tuple[Cell, ...]] = [
        (str(height), *(_cell(name, height, averages) for name, averages in found.items()))
        for height in found[FULL]
    ]
    table = ComparedTable("partial_by_height", title, ("height", *found), tuple(rows))
    series = [Series.of(name, list(a), list(a.values())) for name, a in found.items()]
    drawn = draw_lines(
        title, series, x_label="height", y_label="average suppressed rows", y_scale=AxisScale.COUNTS
    )
    text = (
        "A slide of the paper compares the two and its chart is lost. Its figures of the same name for QI 5 "
        "are those of the nodes whose levels are all 0 or 1, so these are listed next to them. The nodes "
        "that Λ chooses suppress fewer rows than their height's average, except near the top, where few rows "
        "are left."
    )
    plot = Plot("by-height", title, drawn)
    return Section(f"Partial against full by height, QI {size}", text, (table,), (plot,))


def average_by_height(partial: PartialLattice, requirement: Requirement) -> Averages:
    """Return the average suppressed rows of the prepared nodes of each height."""
    suppressed, heights = partial.suppression(requirement), partial.heights
    return {height: float(suppressed[heights == height].mean()) for height in np.unique(heights).tolist()}


def _averages(heights: list[NDArray[np.int64]]) -> Averages:
    return {height: float(rows.mean()) for height, rows in enumerate(heights)}


def _cell(name: str, height: int, averages: Averages) -> Comparison:
    return Comparison(f"H{height}, {name}", averages.get(height))


_FIGURES: Mapping[str, Any] = read_figures("partial_lattice")
_GRID: Mapping[str, Any] = negotiation_study.NEGOTIATION_FIGURES["grid"]


def sections(context: Context) -> Iterator[Section]:
    """Yield preparation, metrics, effects at 5 % and other percentages, suppression by height, visits."""
    study = AdultStudy(context)
    partials = {size: _prepare_partial(study, size, _FIGURES["percent"]) for size in study.sizes}
    yield _preparation(study, partials)
    yield _metrics(study)
    found = {percent: _compare_requests(study, partials, percent) for percent in _FIGURES["percents"]}
    judge = Judge.of(known_deviations("partial_lattice"))
    yield effects_section(study, judge, found[_FIGURES["percent"]])
    yield percentages_section(found)
    yield heights_section(study, partials)
    yield _visited(study, judge, found[_FIGURES["percent"]])


def one_factor_requests(size: int) -> list[Request]:
    """Return the paper's requests of one size for k; one factor varies, the others have middle values."""
    levels, ks, limits = _GRID["levels"][str(size)], _GRID["k"], _GRID["max_suppressed"]
    asked = [(k, levels[1], limits[1]) for k in ks]
    asked += [(ks[1], node, limits[1]) for node in (levels[0], levels[2])]
    asked += [(ks[1], levels[1], limit) for limit in (limits[0], limits[2])]
    return [negotiation_study.make_request("k", k, node, limit) for k, node, limit in asked]


def _prepare_partial(study: AdultStudy, size: int, percent: int) -> PartialLattice:
    frequency_set = study.of(size).frequency_set
    with study.context.reporter.stage(f"Preparing {percent} % of the nodes, QI {size}") as advance:
        return prepare_partial_lattice(frequency_set, f"{percent}%", progress=advance)


def _compare_requests(
    study: AdultStudy, partials: Mapping[int, PartialLattice], percent: int
) -> list[RequestComparison]:
    """Answer every request of every size on the full lattice and on the partial lattice of one percentage."""
    found: list[RequestComparison] = []
    for size in study.sizes:
        evaluated = study.of(size).evaluated
        partial = partials[size] if percent == _FIGURES["percent"] else _prepare_partial(study, size, percent)
        with study.context.reporter.stage(f"Asking the requests of QI {size}"):
            found += compare_partial(evaluated, partial, one_factor_requests(size))
    return found


def _preparation(study: AdultStudy, partials: Mapping[int, PartialLattice]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    sizes: list[tuple[Cell, ...]] = []
    named = {str(size): partial for size, partial in partials.items()}
    counted = ipums_frequency_set(study.context)
    with study.context.reporter.stage("Preparing the IPUMS-shaped table") as advance:
        named["ipums"] = prepare_partial_lattice(counted, f"{_FIGURES['percent']}%", progress=advance)
    for name, partial in named.items():
        parts = partial.preparation
        seconds = (parts.level_statistics, parts.node_scores, parts.histograms, parts.overall)
        label = "IPUMS-shaped" if name == "ipums" else f"QI {name}"
        cells = (
            Comparison(f"{label}, {part}", ours, printed, about=True)
            for part, ours, printed in zip(
                ("levels", "nodes", "histograms", "overall"),
                seconds,
                _FIGURES["preparation"][name],
                strict=True,
            )
        )
        rows.append((label, *cells))
    for size, partial in partials.items():
        full = study.of(size)
        sizes.append(
            (
                f"QI {size}",
                Comparison(f"QI {size}, nodes", partial.size),
                Comparison(f"QI {size}, full nodes", full.evaluated.lattice.size),
                Comparison(f"QI {size}, bytes", partial.nbytes / 1000, unit=" KB"),
                Comparison(f"QI {size}, full bytes", full.histogram_bytes / 1000, unit=" KB"),
                Comparison(f"QI {size}, seconds", partial.preparation.overall, unit=" s"),
                Comparison(f"QI {size}, full seconds", full.evaluating, unit=" s"),
            )
        )
    text = (
        f"The most important {_FIGURES['percent']} % of the nodes of each height by Λ. The paper's full "
        f"lattice takes {_FIGURES['said']['full_preparation']}; ours is evaluated whole in less than a "
        "second, so that here a partial one saves memory more than time."
    )
    tables = (
        ComparedTable(
            "partial_preparation",
            "Seconds after counting, compared with the authors' machine",
            ("", "level importance", "node importance", "histograms", "overall"),
            tuple(rows),
        ),
        ComparedTable(
            "partial_size",
            "Partial and full",
            ("", "nodes", "of", "histograms", "full", "prepared", "full"),
            tuple(sizes),
        ),
    )
    return Section("Preparation", text, tables)


def _metrics(study: AdultStudy) -> Section:
    ks = _GRID["k"]
    found = [c for size in study.sizes for c in compare_importance_metrics(study.of(size).evaluated, ks)]
    rows = tuple(
        (
            str(c.metric),
            Comparison(f"{c.metric}, heights", c.heights),
            Comparison(f"{c.metric}, misses", c.misses),
            Comparison(f"{c.metric}, deviation", c.deviation),
            Comparison(f"{c.metric}, large heights", c.large),
            Comparison(f"{c.metric}, large misses", c.large_misses),
            Comparison(f"{c.metric}, large deviation", c.large_deviation),
        )
        for c in sum_comparisons(found)
    )
    columns = ("metric", "heights", "misses", "deviation", "not small", "misses", "deviation")
    title = f"QI {', '.join(map(str, study.sizes))}, k = {', '.join(map(str, ks))}, all together"
    text = (
        "At each height the fewest suppressed rows among the nodes that a metric chooses against the fewest "
        "of all. The deviation is in parts of the true fewest, on average; 'not small' leaves out heights "
        "whose fewest is below 30 rows. The paper prints no figures: it finds that Γ and Λ win about equally "
        "often, and that Λ stays closer where it loses."
    )
    table = ComparedTable("metrics", title, columns, rows)
    return Section("Which metric chooses best", text, (table,), (_metric_plot(study),))


def _metric_plot(study: AdultStudy) -> Plot:
    lattices = [study.of(size).evaluated for size in study.sizes]
    by_k = {
        k: sum_comparisons(c for e in lattices for c in compare_importance_metrics(e, [k]))
        for k in _GRID["k"]
    }
    metrics = [str(c.metric) for c in next(iter(by_k.values()))]
    panels = [
        bar_panel(
            metrics,
            {f"k = {k}": [getattr(c, field) for c in found] for k, found in by_k.items()},
            x_label="metric",
            y_label=label,
        )
        for field, label in (("misses", "misses"), ("large_deviation", "deviation, not small"))
    ]
    title = f"Metrics of node importance at {_FIGURES['percent']} %"
    return Plot("metrics", title, draw_chart(title, panels))


def _visited(study: AdultStudy, judge: Judge, comparisons: list[RequestComparison]) -> Section:
    whole = study.sizes == negotiation_study.SIZES
    most = {
        name: max(c.visited[place] for c in comparisons)
        for place, name in enumerate(("full", "partial", "runtime"))
    }
    rows = tuple(
        (name, judge.compare("visited", name, number, _FIGURES["visited"].get(name) if whole else None))
        for name, number in most.items()
    )
    table = ComparedTable("visited", "The most visited nodes of any request", ("lattice", "nodes"), rows)
    parts = Counter(len(c.full.answers) for c in comparisons)
    text = f"{parts[1]} of the {len(comparisons)} requests have an exact answer in the full lattice."
    return Section("Visited nodes", text, (table,), (_visited_plot(study, comparisons),))


def _visited_plot(study: AdultStudy, comparisons: list[RequestComparison]) -> Plot:
    by_size = {size: [c for c in comparisons if len(c.request.max_level) == size] for size in study.sizes}
    panel = bar_panel(
        [f"QI {size}" for size in study.sizes],
        {
            name: [max(c.visited[place] for c in of_size) for of_size in by_size.values()]
            for place, name in enumerate(("full", "partial", "with v_max at run time"))
        },
        x_label="quasi-identifiers",
        y_label="most visited nodes",
        y_scale=AxisScale.LOG,
    )
    title = "Nodes visited by the paper's walk, full and partial"
    return Plot("visited-partial", title, draw_chart(title, [panel]))
