"""The paper's experiments on Adult, 45,222 rows and nine quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.plots.chart import Panel, Scale, Series, bar_panel
from discreet.plots.draw import picture
from discreet.reproduce.comparison import Comparison, Judge
from discreet.reproduce.context import Context
from discreet.reproduce.incognito.searches import (
    FIGURES,
    KS,
    QUASI_IDENTIFIERS,
    REFERENCE,
    SEARCHES,
    SIZES_KS,
    SearchStudy,
    agreement,
    times_panel,
    times_table,
    titles,
)
from discreet.reproduce.printed import deviations
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section

_COUNTED = ("bottom-up", "incognito", "incognito-superroots", "incognito-cube")
_PRINTED = ("bottom-up", "incognito")
_SIZE_OF_KS = 8


def sections(context: Context) -> Iterator[Section]:
    """The table, nodes searched, times by size and by k, the cube."""
    study = SearchStudy(
        context,
        "Adult",
        lambda size: context.adult("45222", "incognito", QUASI_IDENTIFIERS[:size]).frequency_set,
    )
    judge = Judge.of(deviations("incognito"))
    sizes = tuple(range(3, 6 if context.quick else 10))
    _warm_up(study)
    yield _table(study, judge, sizes)
    yield _nodes_searched(study, judge, sizes)
    yield _times_by_size(study, sizes)
    yield _times_by_k(study, min(_SIZE_OF_KS, sizes[-1]), KS[:2] if context.quick else KS)
    yield cube_section(study, sizes, SIZES_KS)


def _warm_up(study: SearchStudy) -> None:
    """One small run of each search, so that no time below holds the loading of code."""
    small = SearchStudy(study.context, study.name, study.count)
    for search in (*SEARCHES, REFERENCE):
        small.search(search, 3, FIGURES["k"])


def _table(study: SearchStudy, judge: Judge, sizes: Sequence[int]) -> Section:
    frequency_set = study.frequency_set(sizes[-1])
    rows: list[tuple[Cell, ...]] = []
    rows.append(("rows", judge.compare("adult", "rows", frequency_set.rows, FIGURES["rows"]), ""))
    for place, hierarchy in enumerate(frequency_set.hierarchies):
        name = hierarchy.attribute
        values, height = FIGURES["distinct_values"][name]
        distinct = len(np.unique(frequency_set.codes[:, place]))
        rows.append(
            (
                name,
                judge.compare("adult", f"{name}, values", distinct, values),
                judge.compare("adult", f"{name}, height", hierarchy.height, height),
            )
        )
    table = ComparedTable("adult", "Adult", ("attribute", "distinct values", "height"), tuple(rows))
    return Section("The table", "QID n are the first n of these, in this order.", (table,))


def _nodes_searched(study: SearchStudy, judge: Judge, sizes: Sequence[int]) -> Section:
    k = FIGURES["k"]
    rows: list[tuple[Cell, ...]] = []
    for size in sizes:
        told = dict(zip(_PRINTED, FIGURES["nodes_searched"][str(size)], strict=True))
        cells = [
            judge.compare(
                "nodes_searched",
                f"QID {size}, {search}",
                study.search(search, size, k).nodes_checked,
                told.get(search),
            )
            for search in _COUNTED
        ]
        reference = study.search(REFERENCE, size, k)
        rows.append(
            (
                str(size),
                Comparison(f"QID {size}, lattice", reference.lattice.size),
                *cells,
                Comparison(f"QID {size}, solutions", len(reference.solutions)),
                agreement(f"QID {size}, agree", study.agree(size, k)),
            )
        )
    columns = ("QID", "lattice", "bottom-up", "incognito", "superroots", "cube", "solutions", "all agree")
    table = ComparedTable("nodes_searched", f"Nodes searched, k = {k}", columns, tuple(rows))
    text = (
        "A node whose frequency set is tested counts, over all subsets of the attributes; a node that meets "
        "k marks its direct generalizations, and a skipped node does not mark on. All agree: every search "
        "finds exactly the solutions of the evaluated lattice (Samarati one of the lowest)."
    )
    return Section("Nodes searched", text, (table,), (_nodes_plot(study, sizes, k),))


def _nodes_plot(study: SearchStudy, sizes: Sequence[int], k: int) -> Plot:
    series = []
    for place, search in enumerate(_PRINTED):
        ours = [study.search(search, size, k).nodes_checked for size in sizes]
        told = [FIGURES["nodes_searched"][str(size)][place] for size in sizes]
        series += [Series.of(search, sizes, ours), Series.of(f"{search}, printed", sizes, told, dashed=True)]
    panel = Panel(
        tuple(series), "quasi-identifiers", "nodes", y_scale=Scale.LOG, x_ticks=tuple(float(s) for s in sizes)
    )
    title = f"Nodes searched, Adult, k = {k}"
    return Plot("nodes-searched", title, picture(title, [panel]))


def _times_by_size(study: SearchStudy, sizes: Sequence[int]) -> Section:
    searches = (*SEARCHES, REFERENCE)
    tables = tuple(
        times_table(study, f"times_k{k}", f"Seconds, k = {k}", sizes, k, searches) for k in SIZES_KS
    )
    title = "Seconds by number of quasi-identifiers, Adult"
    panels = [times_panel(study, sizes, k, searches) for k in SIZES_KS]
    text = (
        "From the counted row types to the solutions. The paper prints charts of these, in minutes on a "
        "database; exhaustive is the evaluated lattice, which the paper has not."
    )
    plot = Plot("times-by-size", title, picture(title, panels))
    return Section("Times by number of quasi-identifiers", text, tables, (plot,))


def _times_by_k(study: SearchStudy, size: int, ks: Sequence[int]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    searches = (*SEARCHES, REFERENCE)
    for k in ks:
        cells = (Comparison(f"k = {k}, {search}", study.seconds(search, size, k)) for search in searches)
        rows.append((str(k), *cells, agreement(f"k = {k}, agree", study.agree(size, k))))
    table = ComparedTable(
        "times_by_k", f"Seconds, QID {size}", ("k", *titles(searches), "all agree"), tuple(rows)
    )
    series = tuple(Series.of(s, ks, [study.seconds(s, size, k) for k in ks]) for s in searches)
    panel = Panel(series, "k", "seconds", y_scale=Scale.LOG, x_ticks=tuple(float(k) for k in ks))
    title = f"Seconds by k, Adult, QID {size}"
    plot = Plot("times-by-k", title, picture(title, [panel]))
    return Section("Times by k", "", (table,), (plot,))


def cube_section(study: SearchStudy, sizes: Sequence[int], ks: Sequence[int]) -> Section:
    """The zero-generalization cube: its building and the search over it, apart."""
    search = "incognito-cube"
    tables, panels = [], []
    for k in ks:
        rows: list[tuple[Cell, ...]] = []
        build = [study.build_seconds(search, size, k) for size in sizes]
        rest = [study.seconds(search, size, k) - b for size, b in zip(sizes, build, strict=True)]
        for size, first, second in zip(sizes, build, rest, strict=True):
            place = f"k = {k}, QID {size}"
            rows.append(
                (
                    str(size),
                    Comparison(f"{place}, build", first),
                    Comparison(f"{place}, search", second),
                    Comparison(f"{place}, incognito", study.seconds("incognito", size, k)),
                    Comparison(f"{place}, scans", study.search(search, size, k).scans),
                    Comparison(f"{place}, incognito scans", study.search("incognito", size, k).scans),
                )
            )
        columns = ("QID", "build", "search", "incognito", "scans", "scans of incognito")
        tables.append(ComparedTable(f"cube_k{k}", f"Seconds, k = {k}", columns, tuple(rows)))
        panels.append(
            bar_panel(
                [f"{size}" for size in sizes],
                {"building the cube": build, "searching": rest},
                x_label="quasi-identifiers",
                y_label="seconds",
                title=f"{study.name}, k = {k}",
            )
        )
    title = f"Cube Incognito: building and searching, {study.name}"
    name = "cube-" + study.name.split()[0].lower()
    text = "The cube holds the frequency set of every subset of the attributes, nothing generalized."
    plot = Plot(name, title, picture(title, panels))
    return Section(f"The cube: {study.name}", text, tuple(tables), (plot,))
