"""Incognito (LeFevre, DeWitt and Ramakrishnan 2005): searched nodes and times, Adult and Lands End.

Adult has 45,222 rows and nine quasi-identifiers. The orders were never published: a synthetic table has the
printed row count, cardinalities and heights. A search continues with the next size of the quasi-identifier
while it is likely to take less than a budget of seconds; against k it is run at the largest size reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from discreet.model.frequency_set import FrequencySet
from papers.charts import AxisScale, Panel, Series, bar_panel, draw_chart
from papers.comparison import Comparison, Judge, known_deviations
from papers.incognito_searches import (
    INCOGNITO_FIGURES,
    INCOGNITO_KS,
    INCOGNITO_QUASI_IDENTIFIERS,
    REFERENCE,
    SEARCHES,
    SIZES_KS,
    SearchStudy,
    agreement_cell,
    search_titles,
    times_panel,
    times_table,
)
from papers.reproduction import Context
from papers.section import Cell, ComparedTable, Plot, Section
from papers.synthetic_tables import SyntheticTable, generate_lands_end

_COUNTED_SEARCHES = ("bottom-up", "incognito", "incognito-superroots", "incognito-cube")
_PRINTED_SEARCHES = ("bottom-up", "incognito")
_SIZE_OF_KS = 8


def adult_sections(context: Context) -> Iterator[Section]:
    """Yield the table, nodes searched, times by size and by k, and the cube."""
    study = SearchStudy(
        context,
        "Adult",
        lambda size: context.adult("45222", "incognito", INCOGNITO_QUASI_IDENTIFIERS[:size]).frequency_set,
    )
    judge = Judge.of(known_deviations("incognito"))
    sizes = tuple(range(3, 6 if context.quick else 10))
    _warm_up(study)
    yield _table_section(study, judge, sizes)
    yield _nodes_searched(study, judge, sizes)
    yield _adult_times_by_size(study, sizes)
    yield _adult_times_by_k(
        study, min(_SIZE_OF_KS, sizes[-1]), INCOGNITO_KS[:2] if context.quick else INCOGNITO_KS
    )
    yield cube_section(study, sizes, SIZES_KS)


def _warm_up(study: SearchStudy) -> None:
    """Run each search once on a small table, so that no measured time includes the loading of code."""
    small = SearchStudy(study.context, study.name, study.count)
    for search in (*SEARCHES, REFERENCE):
        small.search(search, 3, INCOGNITO_FIGURES["k"])


def _table_section(study: SearchStudy, judge: Judge, sizes: Sequence[int]) -> Section:
    frequency_set = study.frequency_set(sizes[-1])
    rows: list[tuple[Cell, ...]] = []
    rows.append(("rows", judge.compare("adult", "rows", frequency_set.rows, INCOGNITO_FIGURES["rows"]), ""))
    for place, hierarchy in enumerate(frequency_set.hierarchies):
        name = hierarchy.attribute
        values, height = INCOGNITO_FIGURES["distinct_values"][name]
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
    k = INCOGNITO_FIGURES["k"]
    rows: list[tuple[Cell, ...]] = []
    for size in sizes:
        printed = dict(zip(_PRINTED_SEARCHES, INCOGNITO_FIGURES["nodes_searched"][str(size)], strict=True))
        cells = [
            judge.compare(
                "nodes_searched",
                f"QID {size}, {search}",
                study.search(search, size, k).nodes_checked,
                printed.get(search),
            )
            for search in _COUNTED_SEARCHES
        ]
        reference = study.search(REFERENCE, size, k)
        rows.append(
            (
                str(size),
                Comparison(f"QID {size}, lattice", reference.lattice.size),
                *cells,
                Comparison(f"QID {size}, solutions", len(reference.solutions)),
                agreement_cell(f"QID {size}, agree", study.agree(size, k)),
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
    for place, search in enumerate(_PRINTED_SEARCHES):
        ours = [study.search(search, size, k).nodes_checked for size in sizes]
        printed = [INCOGNITO_FIGURES["nodes_searched"][str(size)][place] for size in sizes]
        series += [
            Series.of(search, sizes, ours),
            Series.of(f"{search}, printed", sizes, printed, dashed=True),
        ]
    panel = Panel(
        tuple(series),
        "quasi-identifiers",
        "nodes",
        y_scale=AxisScale.LOG,
        x_ticks=tuple(float(s) for s in sizes),
    )
    title = f"Nodes searched, Adult, k = {k}"
    return Plot("nodes-searched", title, draw_chart(title, [panel]))


def _adult_times_by_size(study: SearchStudy, sizes: Sequence[int]) -> Section:
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
    plot = Plot("times-by-size", title, draw_chart(title, panels))
    return Section("Times by number of quasi-identifiers", text, tables, (plot,))


def _adult_times_by_k(study: SearchStudy, size: int, ks: Sequence[int]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    searches = (*SEARCHES, REFERENCE)
    for k in ks:
        cells = (Comparison(f"k = {k}, {search}", study.seconds(search, size, k)) for search in searches)
        rows.append((str(k), *cells, agreement_cell(f"k = {k}, agree", study.agree(size, k))))
    table = ComparedTable(
        "times_by_k", f"Seconds, QID {size}", ("k", *search_titles(searches), "all agree"), tuple(rows)
    )
    series = tuple(Series.of(s, ks, [study.seconds(s, size, k) for k in ks]) for s in searches)
    panel = Panel(series, "k", "seconds", y_scale=AxisScale.LOG, x_ticks=tuple(float(k) for k in ks))
    title = f"Seconds by k, Adult, QID {size}"
    plot = Plot("times-by-k", title, draw_chart(title, [panel]))
    return Section("Times by k", "", (table,), (plot,))


def cube_section(study: SearchStudy, sizes: Sequence[int], ks: Sequence[int]) -> Section:
    """Build the section on the zero-generalization cube, with separate times for building and search."""
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
    plot = Plot(name, title, draw_chart(title, panels))
    return Section(f"The cube: {study.name}", text, tuple(tables), (plot,))


_BUDGET_SECONDS, _QUICK_BUDGET_SECONDS = 30.0, 0.05
_QUICK_ROWS = 2_000
_FIRST_GROWTH = 4.0
_LANDS_END = INCOGNITO_FIGURES["lands_end"]
_SMALLEST = 3


class OrderStudy:
    """Synthetic orders, and the largest number of quasi-identifiers that each search reaches."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.rows = _QUICK_ROWS if context.quick else int(_LANDS_END["rows"])
        self.path = context.scratch / "orders.csv"
        with context.reporter.stage(f"Generating {self.rows:,} orders"):
            self.table: SyntheticTable = generate_lands_end(self.rows)
            self.table.write_csv(self.path)
        self.study = SearchStudy(context, "Orders (synthetic)", self._count)
        self.largest = len(_LANDS_END["attributes"])
        self.budget = _QUICK_BUDGET_SECONDS if context.quick else _BUDGET_SECONDS
        self.staggered = {k: {search: self._sizes(search, k) for search in SEARCHES} for k in SIZES_KS}

    def _count(self, size: int) -> FrequencySet:
        names = [column.name for column in self.table.columns[:size]]
        attributes = {name: entry for name, entry in self.table.attributes().items() if name in names}
        return self.context.table(self.path, attributes).frequency_set

    def _sizes(self, search: str, k: int) -> tuple[int, ...]:
        """Return sizes from 3 up, until the next one is predicted to take more than twice the budget."""
        sizes, last, growth = [_SMALLEST], self.study.seconds(search, _SMALLEST, k), _FIRST_GROWTH
        while sizes[-1] < self.largest and last * growth <= 2 * self.budget:
            sizes.append(sizes[-1] + 1)
            seconds = self.study.seconds(search, sizes[-1], k)
            last, growth = seconds, max(seconds / max(last, 1e-9), 1.0)
        return tuple(sizes)

    def within_budget(self, search: str, k: int) -> int:
        """Return the largest size that a search finished within the budget, or the smallest size if none."""
        done = [s for s in self.staggered[k][search] if self.study.seconds(search, s, k) <= self.budget]
        return max(done, default=_SMALLEST)


def lands_end_sections(context: Context) -> Iterator[Section]:
    """Yield the shape of the table, times by size and k, and the cube."""
    orders = OrderStudy(context)
    yield _shape_section(orders)
    yield _lands_end_times_by_size(orders)
    yield _lands_end_times_by_k(orders, INCOGNITO_KS[:2] if context.quick else INCOGNITO_KS)
    yield cube_section(orders.study, orders.staggered[SIZES_KS[0]]["incognito-cube"], SIZES_KS[:1])


def _shape_section(orders: OrderStudy) -> Section:
    judge = Judge.of(known_deviations("incognito"))
    frequency_set = orders.study.frequency_set(orders.largest)
    whole = not orders.context.quick
    told_rows = _LANDS_END["rows"] if whole else None
    rows: list[tuple[Cell, ...]] = [
        ("rows", judge.compare("lands_end", "rows", frequency_set.rows, told_rows), "")
    ]
    for (name, values, height), hierarchy in zip(
        _LANDS_END["attributes"], frequency_set.hierarchies, strict=True
    ):
        distinct = len(hierarchy.leaves)
        rows.append(
            (
                name,
                judge.compare("lands_end", f"{name}, values", distinct, values if whole else None),
                judge.compare("lands_end", f"{name}, height", hierarchy.height, height),
            )
        )
    table = ComparedTable("lands_end", "Shape", ("attribute", "distinct values", "height"), tuple(rows))
    text = (
        f"Synthetic: {frequency_set.rows:,} generated rows, {frequency_set.row_types:,} row types. The real "
        "table was never published; only its shape is taken."
    )
    return Section("Lands End's orders (synthetic)", text, (table,))


def _lands_end_times_by_size(orders: OrderStudy) -> Section:
    tables, panels = [], []
    for k, sizes_of in orders.staggered.items():
        largest = max(size for sizes in sizes_of.values() for size in sizes)
        rows: list[tuple[Cell, ...]] = []
        for size in range(_SMALLEST, largest + 1):
            there = [search for search, sizes in sizes_of.items() if size in sizes]
            cells: list[Cell] = [
                Comparison(f"k = {k}, QID {size}, {search}", orders.study.seconds(search, size, k))
                if search in there
                else "–"
                for search in SEARCHES
            ]
            agree = agreement_cell(f"k = {k}, QID {size}, agree", _searches_agree(orders, there, size, k))
            rows.append((str(size), *cells, agree))
        columns = ("QID", *search_titles(SEARCHES), "all agree")
        tables.append(ComparedTable(f"orders_k{k}", f"Seconds, k = {k}", columns, tuple(rows)))
        series = tuple(
            Series.of(search, sizes, [orders.study.seconds(search, size, k) for size in sizes])
            for search, sizes in sizes_of.items()
        )
        panels.append(
            Panel(
                series,
                "quasi-identifiers",
                "seconds",
                title=f"k = {k}",
                y_scale=AxisScale.LOG,
                x_ticks=tuple(float(s) for s in range(_SMALLEST, largest + 1)),
            )
        )
    title = f"Seconds by number of quasi-identifiers, orders (synthetic, {orders.rows:,} rows)"
    reached = [sizes[-1] for sizes_of in orders.staggered.values() for sizes in sizes_of.values()]
    text = (
        f"A search goes on while the next size promises to stay near {orders.budget:g} s (– beyond): "
        f"so these stop at QID {_span(reached)} of {orders.largest}. {_describe_variants(orders)}"
    )
    plot = Plot("orders-by-size", title, draw_chart(title, panels))
    return Section("Orders: times by number of quasi-identifiers", text, tuple(tables), (plot,))


def _span(sizes: Sequence[int]) -> str:
    least, most = min(sizes), max(sizes)
    return f"{least}" if least == most else f"{least} to {most}"


def _describe_variants(orders: OrderStudy) -> str:
    """Describe the times of super-roots and the cube, at the largest size that all three searches reached."""
    k, searches = SIZES_KS[0], ("incognito", "incognito-superroots", "incognito-cube")
    size = min(orders.staggered[k][search][-1] for search in searches)
    counted = orders.study.frequency_set(size)
    seconds = {search: orders.study.seconds(search, size, k) for search in searches}
    return (
        f"{compare_with_basic(seconds, f'At QID {size}, k = {k}')} "
        f"{counted.row_types:,} of {counted.rows:,} rows "
        f"are distinct in these {size} attributes, for the columns are drawn by themselves: a frequency set "
        "is hardly smaller than the table, and rolling one up gains little over counting it from rows in "
        "memory. What both variants spare is scans, which cost more on the paper's disk."
    )


def compare_with_basic(seconds: Mapping[str, float], where: str) -> str:
    """Describe the variants' seconds relative to basic Incognito; the paper reports that they are faster."""
    basic = seconds["incognito"]
    others = {_search_name(search): took for search, took in seconds.items() if search != "incognito"}
    printed = [f"{name} {took:.3g} s" for name, took in others.items()]
    slower = [name for name, took in others.items() if took > basic]
    verdict = (
        f"{' and '.join(slower)} {'is' if len(slower) == 1 else 'are'} slower here, the reverse of what the "
        "paper offers them for"
        if slower
        else "both are faster, as the paper says"
    )
    return f"{where}, basic Incognito takes {basic:.3g} s, {', '.join(printed)}: {verdict}."


def _search_name(search: str) -> str:
    return {"incognito-superroots": "super-roots", "incognito-cube": "cube"}[search]


def _searches_agree(orders: OrderStudy, searches: Sequence[str], size: int, k: int) -> bool:
    """Return whether the completed searches find the same nodes; the first one is the reference.

    Samarati returns one solution, which must have the least height.
    """
    every = [s for s in searches if s != "samarati"]
    found = [{s.node: s.minimal for s in orders.study.search(search, size, k).solutions} for search in every]
    if any(nodes != found[0] for nodes in found):
        return False
    if "samarati" not in searches or not found:
        return True
    lowest = min((sum(node) for node in found[0]), default=None)
    one = [sum(s.node) for s in orders.study.search("samarati", size, k).solutions]
    return one == ([] if lowest is None else [lowest])


def _lands_end_times_by_k(orders: OrderStudy, ks: Sequence[int]) -> Section:
    largest = {search: orders.within_budget(search, SIZES_KS[0]) for search in SEARCHES}
    rows: list[tuple[Cell, ...]] = [("QID", *(str(size) for size in largest.values()))]
    for k in ks:
        cells = (
            Comparison(f"k = {k}, {search}", orders.study.seconds(search, size, k))
            for search, size in largest.items()
        )
        rows.append((str(k), *cells))
    series = tuple(
        Series.of(f"{search}, QID {size}", ks, [orders.study.seconds(search, size, k) for k in ks])
        for search, size in largest.items()
    )
    panel = Panel(series, "k", "seconds", y_scale=AxisScale.LOG, x_ticks=tuple(float(k) for k in ks))
    title = f"Seconds by k, orders (synthetic, {orders.rows:,} rows), staggered sizes"
    table = ComparedTable(
        "orders_by_k", "Seconds; first each search's size", ("k", *search_titles(SEARCHES)), tuple(rows)
    )
    plot = Plot("orders-by-k", title, draw_chart(title, [panel]))
    return Section("Orders: times by k", "", (table,), (plot,))


def sections(context: Context) -> Iterator[Section]:
    """Yield the sections; each is computed when it is requested."""
    yield from adult_sections(context)
    yield from lands_end_sections(context)
