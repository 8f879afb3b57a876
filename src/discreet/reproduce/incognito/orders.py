"""The paper's experiments on Lands End's orders, on a synthetic table of the same shape.

The table was never published; row count, cardinalities and heights are printed. The paper gives the searches
quasi-identifiers of staggered sizes, as the slower ones would not end. So here: a search goes on to the next
size while that promises to stay near a budget of seconds, and against k each is shown at the largest size
that it did within it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from discreet.model.frequency_set import FrequencySet
from discreet.plots.chart import Panel, Scale, Series
from discreet.plots.draw import picture
from discreet.reproduce.comparison import Comparison, Judge
from discreet.reproduce.context import Context
from discreet.reproduce.incognito.adult import cube_section
from discreet.reproduce.incognito.searches import (
    FIGURES,
    KS,
    SEARCHES,
    SIZES_KS,
    SearchStudy,
    agreement,
    titles,
)
from discreet.reproduce.printed import deviations
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section
from discreet.sample.shaped import lands_end_shaped
from discreet.sample.synthetic import SyntheticTable

_BUDGET_SECONDS, _QUICK_BUDGET_SECONDS = 30.0, 0.05
_QUICK_ROWS = 2_000
_FIRST_GROWTH = 4.0
_LANDS_END = FIGURES["lands_end"]
_SMALLEST = 3


class OrderStudy:
    """The synthetic orders, and the largest number of quasi-identifiers that each search reaches."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.rows = _QUICK_ROWS if context.quick else int(_LANDS_END["rows"])
        self.path = context.scratch / "orders.csv"
        with context.reporter.stage(f"Generating {self.rows:,} orders"):
            self.table: SyntheticTable = lands_end_shaped(self.rows)
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
        """Sizes from 3 up, until the next one promises to take more than twice the budget."""
        sizes, last, growth = [_SMALLEST], self.study.seconds(search, _SMALLEST, k), _FIRST_GROWTH
        while sizes[-1] < self.largest and last * growth <= 2 * self.budget:
            sizes.append(sizes[-1] + 1)
            seconds = self.study.seconds(search, sizes[-1], k)
            last, growth = seconds, max(seconds / max(last, 1e-9), 1.0)
        return tuple(sizes)

    def within_budget(self, search: str, k: int) -> int:
        """The largest size that a search did within the budget, or the smallest where it did none."""
        done = [s for s in self.staggered[k][search] if self.study.seconds(search, s, k) <= self.budget]
        return max(done, default=_SMALLEST)


def sections(context: Context) -> Iterator[Section]:
    """The shape of the table, times by size and k, the cube."""
    orders = OrderStudy(context)
    yield _shape(orders)
    yield _times_by_size(orders)
    yield _times_by_k(orders, KS[:2] if context.quick else KS)
    yield cube_section(orders.study, orders.staggered[SIZES_KS[0]]["incognito-cube"], SIZES_KS[:1])


def _shape(orders: OrderStudy) -> Section:
    judge = Judge.of(deviations("incognito"))
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


def _times_by_size(orders: OrderStudy) -> Section:
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
            agree = agreement(f"k = {k}, QID {size}, agree", _agree(orders, there, size, k))
            rows.append((str(size), *cells, agree))
        columns = ("QID", *titles(SEARCHES), "all agree")
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
                y_scale=Scale.LOG,
                x_ticks=tuple(float(s) for s in range(_SMALLEST, largest + 1)),
            )
        )
    title = f"Seconds by number of quasi-identifiers, orders (synthetic, {orders.rows:,} rows)"
    reached = [sizes[-1] for sizes_of in orders.staggered.values() for sizes in sizes_of.values()]
    text = (
        f"A search goes on while the next size promises to stay near {orders.budget:g} s (– beyond): "
        f"so these stop at QID {_span(reached)} of {orders.largest}. {_against_the_paper(orders)}"
    )
    plot = Plot("orders-by-size", title, picture(title, panels))
    return Section("Orders: times by number of quasi-identifiers", text, tuple(tables), (plot,))


def _span(sizes: Sequence[int]) -> str:
    least, most = min(sizes), max(sizes)
    return f"{least}" if least == most else f"{least} to {most}"


def _against_the_paper(orders: OrderStudy) -> str:
    """Whether super-roots and the cube are the faster ones, at the largest size that all three reached."""
    k, searches = SIZES_KS[0], ("incognito", "incognito-superroots", "incognito-cube")
    size = min(orders.staggered[k][search][-1] for search in searches)
    counted = orders.study.frequency_set(size)
    seconds = {search: orders.study.seconds(search, size, k) for search in searches}
    return (
        f"{beside_basic(seconds, f'At QID {size}, k = {k}')} {counted.row_types:,} of {counted.rows:,} rows "
        f"are distinct in these {size} attributes, for the columns are drawn by themselves: a frequency set "
        "is hardly smaller than the table, and rolling one up gains little over counting it from rows in "
        "memory. What both variants spare is scans, which cost more on the paper's disk."
    )


def beside_basic(seconds: Mapping[str, float], where: str) -> str:
    """The variants' seconds beside basic Incognito's, where the paper has them to be faster."""
    basic = seconds["incognito"]
    others = {_named(search): took for search, took in seconds.items() if search != "incognito"}
    told = [f"{name} {took:.3g} s" for name, took in others.items()]
    slower = [name for name, took in others.items() if took > basic]
    verdict = (
        f"{' and '.join(slower)} {'is' if len(slower) == 1 else 'are'} slower here, the reverse of what the "
        "paper offers them for"
        if slower
        else "both are faster, as the paper says"
    )
    return f"{where}, basic Incognito takes {basic:.3g} s, {', '.join(told)}: {verdict}."


def _named(search: str) -> str:
    return {"incognito-superroots": "super-roots", "incognito-cube": "cube"}[search]


def _agree(orders: OrderStudy, searches: Sequence[str], size: int, k: int) -> bool:
    """Whether those that were run find the same; one search is its own reference."""
    every = [s for s in searches if s != "samarati"]
    found = [{s.node: s.minimal for s in orders.study.search(search, size, k).solutions} for search in every]
    if any(nodes != found[0] for nodes in found):
        return False
    if "samarati" not in searches or not found:
        return True
    lowest = min((sum(node) for node in found[0]), default=None)
    one = [sum(s.node) for s in orders.study.search("samarati", size, k).solutions]
    return one == ([] if lowest is None else [lowest])


def _times_by_k(orders: OrderStudy, ks: Sequence[int]) -> Section:
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
    panel = Panel(series, "k", "seconds", y_scale=Scale.LOG, x_ticks=tuple(float(k) for k in ks))
    title = f"Seconds by k, orders (synthetic, {orders.rows:,} rows), staggered sizes"
    table = ComparedTable(
        "orders_by_k", "Seconds; first each search's size", ("k", *titles(SEARCHES)), tuple(rows)
    )
    plot = Plot("orders-by-k", title, picture(title, [panel]))
    return Section("Orders: times by k", "", (table,), (plot,))
