"""The paper's partial lattices again: preparation, the four metrics, and partial against full answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from discreet.model.request import Request
from discreet.negotiation.comparison import RequestComparison, compare_metrics, compare_partial, total
from discreet.negotiation.partial import PartialLattice, prepare_partial_lattice
from discreet.plots.chart import Scale, bar_panel
from discreet.plots.draw import picture
from discreet.reproduce.comparison import Comparison, Judge
from discreet.reproduce.context import Context
from discreet.reproduce.negotiation import paper
from discreet.reproduce.negotiation.ipums import ipums_frequency_set
from discreet.reproduce.negotiation.study import Study
from discreet.reproduce.partial_lattice.effects import by_percent, effects
from discreet.reproduce.partial_lattice.heights import by_height
from discreet.reproduce.printed import deviations, printed
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section

_FIGURES: Mapping[str, Any] = printed("partial_lattice")
_GRID: Mapping[str, Any] = paper.FIGURES["grid"]


def sections(context: Context) -> Iterator[Section]:
    """Preparation, metrics, effects at 5 % and at other percentages, suppression by height, visited nodes."""
    study = Study(context)
    partials = {size: _partial(study, size, _FIGURES["percent"]) for size in study.sizes}
    yield _preparation(study, partials)
    yield _metrics(study)
    found = {percent: _compared(study, partials, percent) for percent in _FIGURES["percents"]}
    judge = Judge.of(deviations("partial_lattice"))
    yield effects(study, judge, found[_FIGURES["percent"]])
    yield by_percent(found)
    yield by_height(study, partials)
    yield _visited(study, judge, found[_FIGURES["percent"]])


def requests(size: int) -> list[Request]:
    """The paper's requests of one size for k: one factor varies, the others are in the middle."""
    levels, ks, limits = _GRID["levels"][str(size)], _GRID["k"], _GRID["max_suppressed"]
    asked = [(k, levels[1], limits[1]) for k in ks]
    asked += [(ks[1], node, limits[1]) for node in (levels[0], levels[2])]
    asked += [(ks[1], levels[1], limit) for limit in (limits[0], limits[2])]
    return [paper.request_of("k", k, node, limit) for k, node, limit in asked]


def _partial(study: Study, size: int, percent: int) -> PartialLattice:
    frequency_set = study.of(size).frequency_set
    with study.context.reporter.stage(f"Preparing {percent} % of the nodes, QI {size}") as advance:
        return prepare_partial_lattice(frequency_set, f"{percent}%", progress=advance)


def _compared(study: Study, partials: Mapping[int, PartialLattice], percent: int) -> list[RequestComparison]:
    """Every request of every size, put to the full and to the partial lattice of one percentage."""
    found: list[RequestComparison] = []
    for size in study.sizes:
        evaluated = study.of(size).evaluated
        partial = partials[size] if percent == _FIGURES["percent"] else _partial(study, size, percent)
        with study.context.reporter.stage(f"Asking the requests of QI {size}"):
            found += compare_partial(evaluated, partial, requests(size))
    return found


def _preparation(study: Study, partials: Mapping[int, PartialLattice]) -> Section:
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
            Comparison(f"{label}, {part}", ours, told, about=True)
            for part, ours, told in zip(
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
            "Seconds after counting, beside the authors' machine",
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


def _metrics(study: Study) -> Section:
    ks = _GRID["k"]
    found = [c for size in study.sizes for c in compare_metrics(study.of(size).evaluated, ks)]
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
        for c in total(found)
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


def _metric_plot(study: Study) -> Plot:
    lattices = [study.of(size).evaluated for size in study.sizes]
    by_k = {k: total(c for e in lattices for c in compare_metrics(e, [k])) for k in _GRID["k"]}
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
    return Plot("metrics", title, picture(title, panels))


def _visited(study: Study, judge: Judge, comparisons: list[RequestComparison]) -> Section:
    whole = study.sizes == paper.SIZES
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


def _visited_plot(study: Study, comparisons: list[RequestComparison]) -> Plot:
    by_size = {size: [c for c in comparisons if len(c.request.max_level) == size] for size in study.sizes}
    panel = bar_panel(
        [f"QI {size}" for size in study.sizes],
        {
            name: [max(c.visited[place] for c in of_size) for of_size in by_size.values()]
            for place, name in enumerate(("full", "partial", "with v_max at run time"))
        },
        x_label="quasi-identifiers",
        y_label="most visited nodes",
        y_scale=Scale.LOG,
    )
    title = "Nodes visited by the paper's walk, full and partial"
    return Plot("visited-partial", title, picture(title, [panel]))
