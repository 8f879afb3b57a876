"""Pattern-guided k-anonymity: heuristic and optimum (Tables 6 to 8), Theorem 4, Mondrian (1 to 4).

Theorem 4 (Bredereck et al. 2013): for m attributes the heuristic costs at most m times the optimum, and on
the table of the proof m − 1 times: k = m equal rows and, for each attribute, k − 1 rows that differ only in
that attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.model.class_recoding import PatternMask
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.patterns.exact import solve_exactly
from discreet.patterns.fixed_parameter import solve_by_subsets
from discreet.patterns.greedy_assignment import solve_greedily
from discreet.patterns.masks import build_mask_from_vectors
from discreet.settings import Settings
from papers.charts import AxisScale, Panel, Series, draw_chart
from papers.comparison import Comparison, Judge, Reading, Verdict, known_deviations
from papers.pattern_experiments import (
    AGAINST_MONDRIAN,
    AGAINST_OPTIMUM,
    ExperimentFigures,
    PatternExperiment,
    PreparedExperiment,
)
from papers.reproduction import Context
from papers.section import Cell, ComparedTable, Plot, Section

_ATTRIBUTE_NUMBERS = (3, 4, 5, 6, 7, 8)
_THEOREM_TEXT = (
    "For m attributes the heuristic suppresses at most m times as many cells as the optimum (Theorem 4): a "
    "row of which it suppresses any loses at most m, and loses one at least in every solution. On the table "
    "of the proof, with k = m, it suppresses (m − 1)·m² and the optimum m². The optimum is found twice, by "
    "the integer program and by the fixed-parameter search of Theorem 3."
)


def theorem_section(judge: Judge, context: Context) -> Section:
    """Compare heuristic and optimum with the theorem's formulas on the table of its proof, for several m."""
    rows: list[tuple[Cell, ...]] = []
    with context.reporter.stage("Theorem 4: the instance of its proof") as progress:
        for done, m in enumerate(_ATTRIBUTE_NUMBERS):
            rows.append(_theorem_row(judge, m, context.settings))
            progress(done + 1, len(_ATTRIBUTE_NUMBERS))
    columns = ("m = k", "stars", "least stars", "by fixed parameter", "factor", "factor at most")
    table = ComparedTable("theorem_4", "Theorem 4", columns, tuple(rows))
    return Section("How bad the heuristic can be", _THEOREM_TEXT, (table,))


def _theorem_row(judge: Judge, m: int, settings: Settings) -> tuple[Cell, ...]:
    table, mask = tight_instance(m, settings)
    asked = Requirement(m)
    cost = int(solve_greedily(table, mask, asked, settings, bound=False).cost)
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
    """Build the table and the patterns of the theorem's proof for ``m`` attributes; k is ``m``."""
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
    return table, build_mask_from_vectors(table, vectors, settings)


_NAMES = {
    "s": "stars",
    "u": "usefulness",
    "types": "types",
    "average": "average",
    "maximum": "maximum",
    "r": "time",
}
_MEASURES = ("u", "types", "average", "maximum", "r")
_ANOTHER_PROGRAM = (
    "The paper ran somebody else's Mondrian, whose choice among cuts is not given, so what is printed of it "
    "is not judged."
)
_FEWER_ROWS = (
    " It ran it on fewer rows than its heuristic, too: types times average give 30,162 rows of Adult against "
    "32,561. Here both have the same rows."
)


def sections(context: Context) -> Iterator[Section]:
    """Yield comparisons with the optimum, Theorem 4, and Mondrian; ``InputError`` if a table is missing."""
    for experiment in (*AGAINST_OPTIMUM, *AGAINST_MONDRIAN):
        context.file(experiment.folder, experiment.file)
    judge = Judge.of(known_deviations("patterns"))
    for experiment in AGAINST_OPTIMUM:
        yield _optimum_section(judge, PreparedExperiment.of(context, experiment))
    yield theorem_section(judge, context)
    for experiment in AGAINST_MONDRIAN:
        if not context.quick or experiment.name != "adult":
            yield _mondrian_section(judge, PreparedExperiment.of(context, experiment))


def _optimum_section(judge: Judge, prepared: PreparedExperiment) -> Section:
    experiment, names = prepared.experiment, ("s", *_MEASURES)
    left: list[tuple[Cell, ...]] = []
    right: list[tuple[Comparison, ...]] = []
    stars: dict[int, tuple[float, float | None]] = {}
    with prepared.context.reporter.stage(f"Assigning patterns: {experiment.title}") as progress:
        for done, k in enumerate(prepared.ks):
            ours, best = prepared.heuristic(k), prepared.optimum(k)
            stars[k] = (ours["s"], None if best is None else best["s"])
            left.append(_cells(judge, experiment, k, ours, prepared.printed("heuristic", k), names))
            right.append(_optimal_cells(judge, prepared, k, best))
            progress(done + 1, len(prepared.ks))
    columns = ("k", *(_NAMES[name] for name in names))
    return Section(
        experiment.heading,
        "",
        (
            ComparedTable(
                experiment.name,
                f"{experiment.number}, the heuristic",
                columns,
                _label_rows(prepared.ks, left),
            ),
            ComparedTable(
                f"{experiment.name}_least",
                f"{experiment.number}, the integer program",
                ("k", "least stars", *columns[2:]),
                _label_rows(prepared.ks, right),
                _describe_optima(right),
            ),
        ),
        (_stars_plot(experiment, stars),),
    )


def _optimal_cells(
    judge: Judge, prepared: PreparedExperiment, k: int, best: ExperimentFigures | None
) -> tuple[Comparison, ...]:
    """Return the cells of the optimum.

    The least number of stars is judged. The other figures are judged only if every cell is starred, since
    then the optimal solution is unique.
    """
    theirs, name = prepared.printed("exact", k), prepared.experiment.name
    if best is None:
        return tuple(Comparison(f"k={k} least {each}", None) for each in ("s", *_MEASURES))
    cells = [judge.compare(name, f"k={k} least s", best["s"], theirs["s"])]
    table = prepared.table
    only_one = best["s"] == table.rows * len(table.attributes)
    for each in _MEASURES:
        cell = f"k={k} least {each}"
        if each == "r":
            cells.append(Comparison(cell, best[each], theirs[each], about=True, unit=" s"))
        elif only_one:
            cells.append(judge.compare(name, cell, best[each], theirs[each], Reading.CUT))
        else:
            cells.append(Comparison(cell, best[each], theirs[each], of_several=True))
    return tuple(cells)


def _describe_optima(rows: Sequence[tuple[Comparison, ...]]) -> str:
    """Describe in words which figures of the integer program are determined."""
    free = [cell for row in rows for cell in row if cell.of_several]
    alike = sum(cell.reads_alike for cell in free)
    above = sum(row[0].verdict is Verdict.KNOWN for row in rows)
    return (
        "The least number of stars is determined, proven, and judged. Several solutions have it: usefulness, "
        "types, average and maximum depend on which of them a solver takes (°), the paper's or ours, and are "
        f"not judged. Of {len(free)} such figures {alike} read alike. Where every cell is starred there is "
        "one solution, and all of it is judged."
        + (f" For {above} k the printed solution is no optimum, but close to one." if above else "")
    )


def _mondrian_section(judge: Judge, prepared: PreparedExperiment) -> Section:
    experiment = prepared.experiment
    rows: list[tuple[Cell, ...]] = []
    found: dict[int, tuple[ExperimentFigures, ExperimentFigures]] = {}
    with prepared.context.reporter.stage(f"Assigning patterns: {experiment.title}") as progress:
        for done, k in enumerate(prepared.ks):
            ours, cut = prepared.heuristic(k), prepared.mondrian(k)
            found[k] = (ours, cut)
            left = _cells(judge, experiment, k, ours, prepared.printed("heuristic", k), _MEASURES)
            theirs = prepared.printed("mondrian", k)
            right = tuple(
                Comparison(f"k={k} Mondrian {n}", cut[n], theirs[n], about=True, unit=_unit(n))
                for n in _MEASURES
            )
            rows.append((*left, *right))
            progress(done + 1, len(prepared.ks))
    names = tuple(_NAMES[name] for name in _MEASURES)
    columns = ("k", *names, *(f"Mondrian: {name}" for name in names))
    return Section(
        experiment.heading,
        _ANOTHER_PROGRAM + (_FEWER_ROWS if experiment.folder == "adult" else ""),
        (
            ComparedTable(
                experiment.name,
                experiment.number,
                columns,
                _label_rows(prepared.ks, rows),
                _compare_usefulness(prepared, found),
            ),
        ),
        (_mondrian_plot(prepared, found),),
    )


def _compare_usefulness(
    prepared: PreparedExperiment, found: Mapping[int, tuple[ExperimentFigures, ExperimentFigures]]
) -> str:
    """Describe in words which side has the lower usefulness, here and in print."""
    here = sum(ours["u"] <= cut["u"] for ours, cut in found.values())
    there = sum(prepared.printed("heuristic", k)["u"] <= prepared.printed("mondrian", k)["u"] for k in found)
    reversed_ = (2 * here > len(found)) != (2 * there > len(found))
    better = "the heuristic's" if 2 * here > len(found) else "Mondrian's"
    return (
        f"The heuristic's usefulness is at least as good as Mondrian's for {here} of {len(found)} k here, "
        f"for {there} in print."
        + (f" This reverses the paper's finding: here {better} is better for most k." if reversed_ else "")
    )


def _cells(
    judge: Judge,
    experiment: PatternExperiment,
    k: int,
    ours: ExperimentFigures,
    theirs: Mapping[str, Any],
    names: Sequence[str],
) -> tuple[Cell, ...]:
    """Return computed figures with the printed ones; times are of another machine and not judged."""
    return tuple(
        Comparison(f"k={k} {name}", ours[name], theirs[name], about=True, unit=_unit(name))
        if name == "r"
        else judge.compare(experiment.name, f"k={k} {name}", ours[name], theirs[name], Reading.CUT)
        for name in names
    )


def _unit(name: str) -> str:
    return " s" if name == "r" else ""


def _label_rows(ks: Sequence[int], rows: Sequence[tuple[Cell, ...]]) -> tuple[tuple[Cell, ...], ...]:
    return tuple((str(k), *row) for k, row in zip(ks, rows, strict=True))


def _stars_plot(experiment: PatternExperiment, stars: Mapping[int, tuple[float, float | None]]) -> Plot:
    proven = {k: least for k, (_, least) in stars.items() if least is not None}
    series = (
        Series.of("heuristic", list(stars), [own for own, _ in stars.values()]),
        Series.of("least possible", list(proven), list(proven.values()), dashed=True),
    )
    panel = Panel(series, "k", "stars", x_scale=AxisScale.LOG)
    return Plot(
        experiment.name,
        experiment.title,
        draw_chart(experiment.title, [panel], description="Suppressed cells against k."),
        "Suppressed cells of the heuristic and the least possible.",
    )


def _mondrian_plot(
    prepared: PreparedExperiment, found: Mapping[int, tuple[ExperimentFigures, ExperimentFigures]]
) -> Plot:
    """Plot usefulness and running time of both; for Adult this is the paper's Figure 1."""
    experiment = prepared.experiment
    title = f"Heuristic and Mondrian: {experiment.heading}"
    if experiment.name == "adult":
        title = f"Figure 1. {title}"
    ks = list(found)
    panels = []
    for name, label, scale in (("r", "seconds", AxisScale.LOG), ("u", "usefulness", AxisScale.LINEAR)):
        series = []
        for place, side in enumerate(("heuristic", "mondrian")):
            series.append(Series.of(side, ks, [both[place][name] for both in found.values()]))
            theirs = [float(prepared.printed(side, k)[name]) for k in ks]
            series.append(Series.of(f"{side}, printed", ks, theirs, dashed=True))
        panels.append(Panel(tuple(series), "k", label, x_scale=AxisScale.LOG, y_scale=scale))
    return Plot(
        f"{experiment.name}_mondrian",
        title,
        draw_chart(title, panels, description="Running time and usefulness against k, ours and printed."),
        "Running time and usefulness; lower is better. Printed times are those of the paper's machine.",
    )
