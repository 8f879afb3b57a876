"""The experiments of general quality: C_DM and C_AVG against k and the number of attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from discreet.model.frequency_set import FrequencySet
from discreet.model.requirement import Requirement
from discreet.mondrian.options import Cut, MondrianOptions
from discreet.mondrian.partition import partition
from discreet.plots.chart import Panel, Scale, Series
from discreet.plots.draw import picture
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.context import Context
from discreet.reproduce.mondrian.tables import (
    BEST,
    FIGURES,
    MEDIAN,
    drawn,
    sizes_of,
    spreads,
)
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section
from discreet.taxonomy.class_costs import ClassCost
from discreet.taxonomy.optimal_single import Budget, OptimalSingle, optimal_single
from discreet.taxonomy.optimal_start import Division

_SEED = 1
_ADULT = ("age", "work_class", "education", "marital_status", "occupation", "race", "sex", "native_country")
_OPTIMUM = "least possible"
_OPTIMAL, _BOUND = "single-dimensional, best found", "single-dimensional, proven least"
_NODES = {ClassCost.C_DM: 10_000, ClassCost.C_AVG: 1_000}
_METRICS = ((ClassCost.C_AVG, "C_AVG"), (ClassCost.C_DM, "C_DM"))
_QUICK_NODES, _ADULT_NODES, _SECONDS = 50, 300, 15.0
_ROUNDS, _QUICK_ROUNDS = 60, 3


@dataclass(frozen=True)
class Measured:
    """C_AVG and C_DM at one point: of Mondrian by its cut, and of the single-dimensional optimum or bound."""

    multi: Mapping[str, Mapping[ClassCost, float]]
    single: Mapping[ClassCost, OptimalSingle]

    def value(self, kind: str, cost: ClassCost) -> float:
        """One partitioning's C_AVG or C_DM."""
        if kind == _OPTIMAL:
            return self.single[cost].value
        return self.single[cost].bound if kind == _BOUND else self.multi[kind][cost]

    def lead(self, kind: str) -> float:
        """How many times the C_DM of Mondrian with the best cut that of the other is."""
        return self.value(kind, ClassCost.C_DM) / self.value(BEST, ClassCost.C_DM)


def sections(context: Context) -> Iterator[Section]:
    """Synthetic tables against k, synthetic tables against attributes, Adult against k."""
    yield _against_k(context)
    yield _against_attributes(context)
    yield _adult(context)


def _against_k(context: Context) -> Section:
    of, ks = FIGURES["synthetic"], FIGURES["charts"]["ks"]
    rows = _rows(context)
    tables: list[ComparedTable] = []
    measured: list[tuple[str, Mapping[int, Measured]]] = []
    for spread in spreads(of["cardinality"], float(of["deviation"])):
        with context.reporter.stage(f"Cutting {spread.title}"):
            table = drawn(of["attributes"], of["cardinality"], rows, spread, float(of["mean"]), _SEED)
            found = _against(context, table, ks[4:] if context.quick else ks, _nodes(context))
        tables.append(_table(f"k_{len(tables)}", f"{spread.title}", "k", found))
        measured.append((spread.title, found))
    text = (
        f"{rows:,} rows, {of['attributes']} attributes of cardinality {of['cardinality']}, mean "
        f"{of['mean']}. The printed charts are pictures. The deviation is printed as .2: read in values it "
        "puts all rows on the values beside the mean, read as a share of the domain it spreads them. The "
        "single-dimensional side is the partitioning of least C_DM, and by itself that of least C_AVG: where "
        "its optimum is not proven, the best that was found, beside a proven lower bound (dashed). "
        + _led([found for _, found in measured])
    )
    return Section("Quality against k", text, tuple(tables), _plots("k", "k, synthetic tables", measured))


def _against_attributes(context: Context) -> Section:
    of = FIGURES["synthetic"]
    numbers = FIGURES["charts"]["attributes"]
    rows, k = _rows(context), of["k"]
    spread = spreads(of["cardinality"], float(of["deviation"]))[1]
    found: dict[int, Measured] = {}
    for attributes in numbers[:3] if context.quick else numbers:
        with context.reporter.stage(f"Cutting {attributes} attributes"):
            table = drawn(attributes, of["cardinality"], rows, spread, float(of["mean"]), _SEED)
            found[attributes] = _against(context, table, [k], _nodes(context))[k]
    table_of = _table("attributes", f"{spread.title}, k = {k}", "attributes", found)
    plots = _plots("attributes", "the number of attributes", [("", found)])
    text = f"{rows:,} rows of a normal distribution, k = {k}. {_led([found])}"
    return Section("Quality against attributes", text, (table_of,), plots)


def _adult(context: Context) -> Section:
    ks = FIGURES["charts"]["adult_ks"]
    table = context.adult("30162", "arx", _ADULT).frequency_set
    with context.reporter.stage("Cutting Adult"):
        nodes = dict.fromkeys(ClassCost, 20 if context.quick else _ADULT_NODES)
        found = _against(context, table, ks[5:] if context.quick else ks, nodes)
    plots = _plots("adult", "k on Adult", [("", found)])
    text = (
        f"Adult, {table.rows:,} rows, {len(_ADULT)} quasi-identifiers, {table.row_types:,} row types. The "
        "slides name neither the attributes nor their order; categories are ordered as in ARX's hierarchies. "
        + _led([found])
    )
    return Section("Adult", text, (_table("adult", "Adult", "k", found),), plots)


def _rows(context: Context) -> int:
    rows: int = FIGURES["synthetic"]["rows"]
    return rows // 10 if context.quick else rows


def _nodes(context: Context) -> Mapping[ClassCost, int]:
    return dict.fromkeys(ClassCost, _QUICK_NODES) if context.quick else _NODES


def _against(
    context: Context, table: FrequencySet, ks: Sequence[int], nodes: Mapping[ClassCost, int]
) -> dict[int, Measured]:
    """Every k, the largest first: what is k-anonymous is so for a smaller k, and is where that one begins."""
    found = {}
    starts: dict[ClassCost, Division | None] = dict.fromkeys(ClassCost)
    for k in sorted(ks, reverse=True):
        single = {}
        for cost in ClassCost:
            budget = Budget(_SECONDS, nodes[cost], _QUICK_ROUNDS if context.quick else _ROUNDS)
            single[cost] = optimal_single(table, Requirement(k), cost=cost, budget=budget, start=starts[cost])
            starts[cost] = single[cost].division
        multi = {}
        for name, cut in ((MEDIAN, Cut.MEDIAN), (BEST, Cut.BEST)):
            sizes = sizes_of(partition(table, Requirement(k), context.settings, MondrianOptions(cut=cut)))
            values = {ClassCost.C_AVG: sizes.normalized_average(k), ClassCost.C_DM: sizes.discernibility}
            multi[name] = values
        found[k] = Measured(multi, single)
    return {k: found[k] for k in ks}


def _led(found: Sequence[Mapping[int, Measured]]) -> str:
    """By how much the multidimensional side leads, in words."""
    points = [measured for each in found for measured in each.values()]
    leads = [measured.lead(_OPTIMAL) for measured in points]
    proven = [m.lead(_OPTIMAL) for m in points if m.single[ClassCost.C_DM].gap <= 0]
    bounds = [measured.lead(_BOUND) for measured in points]
    told = (
        f" Where the optimum is proven ({len(proven)} of {len(points)} points) that is "
        f"{min(proven):.2f} to {max(proven):.2f} times."
        if proven
        else " At none of these points the optimum is proven."
    )
    return (
        f"The best single-dimensional partitioning found has {min(leads):.2f} to {max(leads):.2f} times the "
        f"C_DM of Mondrian with the best cut.{told} {proven_lead(bounds)}"
    )


def proven_lead(bounds: Sequence[float]) -> str:
    """What the proven lower bounds of the single-dimensional C_DM say, divided by Mondrian's C_DM."""
    least, ahead = min(bounds), sum(bound > 1 for bound in bounds)
    if ahead == len(bounds):
        return f"The proven bounds alone leave Mondrian a lead of {least:.2f} times or more at every point."
    if not ahead:
        return f"The proven bounds alone show no lead: the least is {least:.2f} times Mondrian's C_DM."
    return (
        f"The proven bounds alone show a lead of Mondrian at {ahead} of {len(bounds)} points; at the others "
        f"a single-dimensional partitioning may be ahead, with {least:.2f} times Mondrian's C_DM."
    )


def _table(name: str, title: str, first: str, found: Mapping[int, Measured]) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for value, measured in found.items():
        cells: list[Cell] = [str(value)]
        for cost, metric in _METRICS:
            for kind in (_OPTIMAL, MEDIAN, BEST):
                cells.append(Comparison(f"{value}, {kind}, {metric}", measured.value(kind, cost)))
            cells.insert(-2, measured.single[cost].status)
        cells.append(Comparison(f"{value}, lead", round(measured.lead(_OPTIMAL), 2)))
        rows.append(tuple(cells))
    columns = [first]
    for _, metric in _METRICS:
        columns += [f"{metric} single", "proven", f"{metric} median", f"{metric} best"]
    return ComparedTable(name, title, (*columns, "C_DM single ÷ best"), tuple(rows))


def _plots(
    name: str, against: str, measured: Sequence[tuple[str, Mapping[int, Measured]]]
) -> tuple[Plot, ...]:
    """C_AVG and C_DM, a panel for each table."""
    plots = []
    for cost, measure in _METRICS:
        label = "attributes" if name == "attributes" else "k"
        panels = [_panel(found, label, title, cost, measure) for title, found in measured]
        title = f"{measure} against {against}"
        plots.append(Plot(f"{measure.lower().replace('_', '-')}-{name}", title, picture(title, panels)))
    return tuple(plots)


def _panel(found: Mapping[int, Measured], label: str, title: str, cost: ClassCost, measure: str) -> Panel:
    values: Sequence[int] = tuple(found)
    series = [
        Series.of(name, values, [found[v].value(name, cost) for v in values], dashed=name == _BOUND)
        for name in (_OPTIMAL, MEDIAN, BEST, _BOUND)
    ]
    if cost is ClassCost.C_AVG:
        series.append(Series.of(_OPTIMUM, values, [1.0] * len(values), dashed=True))
    return Panel(
        tuple(series),
        label,
        measure,
        title=title,
        x_scale=Scale.LOG if label == "k" else Scale.LINEAR,
        y_scale=Scale.LOG,
        x_ticks=tuple(float(value) for value in values),
    )
