"""Quality of Mondrian: C_DM and C_AVG against k and the number of attributes (LeFevre et al. 2006).

Tables are frequency sets of synthetic columns. The deviation of normal columns is printed as .2 without a
unit: read in values, nearly all rows have one value; read as a share of the domain, they spread. Both are
computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.measures.generalized_table import ClassSizes
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import Cut, MondrianOptions
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from discreet.taxonomy.class_counts import ClassCost
from discreet.taxonomy.interval_division import IntervalDivision
from discreet.taxonomy.model_search import search_model
from discreet.taxonomy.optimal_single import OptimalPartitioning, SearchBudget, find_optimal_single
from papers.charts import AxisScale, Panel, Series, draw_chart
from papers.comparison import Comparison, read_figures
from papers.reproduction import Context
from papers.section import Cell, ComparedTable, Plot, Section
from papers.synthetic_tables import ColumnDistribution, generate_table, mondrian_columns

MONDRIAN_FIGURES: Mapping[str, Any] = read_figures("mondrian")
SINGLE, MEDIAN, BEST = (
    "single-dimensional, least loss",
    "multidimensional, median",
    "multidimensional, best cut",
)


@dataclass(frozen=True)
class ColumnSpread:
    """Distribution of a synthetic column: its title, and the deviation in values (None: uniform)."""

    title: str
    deviation: float | None


def column_spreads(cardinality: int, deviation: float) -> tuple[ColumnSpread, ...]:
    """Return the uniform distribution, and both readings of the deviation of a normal one."""
    return (
        ColumnSpread("uniform", None),
        ColumnSpread(f"normal, σ = {deviation:g} of the domain", deviation * cardinality),
        ColumnSpread(f"normal, σ = {deviation:g} in values", deviation),
    )


def draw_table(
    attributes: int, cardinality: int, rows: int, spread: ColumnSpread, mean: float, seed: int
) -> FrequencySet:
    """Draw a synthetic table and return its frequency set; ``mean`` applies to normal columns."""
    if spread.deviation is None:
        columns = mondrian_columns(attributes, cardinality)
    else:
        columns = mondrian_columns(
            attributes, cardinality, ColumnDistribution.NORMAL, mean=mean, deviation=spread.deviation
        )
    table = generate_table(columns, rows, seed=seed)
    names = ["X", "Y"] if attributes == 2 else [column.name for column in columns]
    return count_columns([number_hierarchy(name, cardinality) for name in names], table.codes)


def number_hierarchy(name: str, cardinality: int) -> GeneralizationHierarchy:
    """Build a hierarchy of the numbers from 0 with the top as its only other level."""
    labels = tuple(str(value) for value in range(cardinality))
    ancestors = (np.arange(cardinality), np.zeros(cardinality, dtype=np.int64))
    return GeneralizationHierarchy(name, (labels, (TOP,)), ancestors, "numbers")


def count_columns(
    hierarchies: Sequence[GeneralizationHierarchy], columns: Sequence[NDArray[np.int64]]
) -> FrequencySet:
    """Return the frequency set of columns of leaf codes."""
    codes, counts = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    return FrequencySet(tuple(hierarchies), codes.astype(np.int64), counts.astype(np.int64))


def compute_partitionings(table: FrequencySet, k: int, settings: Settings) -> dict[str, ClassRecoding]:
    """Return the single-dimensional greedy partitioning, and Mondrian with the median and the best cut.

    The greedy minimizes loss of detail and is not optimal by C_DM or C_AVG; ``quality_sections`` compares
    with the optima.
    """
    requirement = Requirement(k)
    return {
        SINGLE: search_model(RecodingModel.ORDERED_SINGLE, table, requirement, settings),
        MEDIAN: partition_table(table, requirement, settings, MondrianOptions(cut=Cut.MEDIAN)),
        BEST: partition_table(table, requirement, settings, MondrianOptions(cut=Cut.BEST)),
    }


def sizes_of(recoding: ClassRecoding) -> ClassSizes:
    """Return the class sizes of a recoding."""
    sizes, numbers_of = np.unique(recoding.class_rows(), return_counts=True)
    return ClassSizes(sizes, numbers_of, recoding.suppressed)


_SEED = 1
_ADULT_ATTRIBUTES = (
    "age",
    "work_class",
    "education",
    "marital_status",
    "occupation",
    "race",
    "sex",
    "native_country",
)
_OPTIMUM = "least possible"
_OPTIMAL, _BOUND = "single-dimensional, best found", "single-dimensional, proven least"
_NODES = {ClassCost.C_DM: 10_000, ClassCost.C_AVG: 1_000}
_METRICS = ((ClassCost.C_AVG, "C_AVG"), (ClassCost.C_DM, "C_DM"))
_QUICK_NODES, _ADULT_NODES, _SECONDS = 50, 300, 15.0
_ROUNDS, _QUICK_ROUNDS = 60, 3


@dataclass(frozen=True)
class QualityPoint:
    """C_AVG and C_DM at one point: Mondrian by cut, and the single-dimensional optimum or its bound."""

    multi: Mapping[str, Mapping[ClassCost, float]]
    single: Mapping[ClassCost, OptimalPartitioning]

    def value(self, kind: str, cost: ClassCost) -> float:
        """Return the C_AVG or C_DM of one partitioning."""
        if kind == _OPTIMAL:
            return self.single[cost].value
        return self.single[cost].bound if kind == _BOUND else self.multi[kind][cost]

    def lead(self, kind: str) -> float:
        """Return the C_DM of a partitioning divided by that of Mondrian with the best cut."""
        return self.value(kind, ClassCost.C_DM) / self.value(BEST, ClassCost.C_DM)


def quality_sections(context: Context) -> Iterator[Section]:
    """Yield synthetic tables against k, synthetic tables against attributes, and Adult against k."""
    yield _k_section(context)
    yield _attributes_section(context)
    yield _adult_section(context)


def _k_section(context: Context) -> Section:
    of, ks = MONDRIAN_FIGURES["synthetic"], MONDRIAN_FIGURES["charts"]["ks"]
    rows = _row_count(context)
    tables: list[ComparedTable] = []
    measured: list[tuple[str, Mapping[int, QualityPoint]]] = []
    for spread in column_spreads(of["cardinality"], float(of["deviation"])):
        with context.reporter.stage(f"Cutting {spread.title}"):
            table = draw_table(of["attributes"], of["cardinality"], rows, spread, float(of["mean"]), _SEED)
            found = _measure_ks(context, table, ks[4:] if context.quick else ks, _node_budget(context))
        tables.append(_table(f"k_{len(tables)}", f"{spread.title}", "k", found))
        measured.append((spread.title, found))
    text = (
        f"{rows:,} rows, {of['attributes']} attributes of cardinality {of['cardinality']}, mean "
        f"{of['mean']}. The printed charts are pictures. The deviation is printed as .2: read in values it "
        "puts all rows on the values next to the mean, read as a share of the domain it spreads them. The "
        "single-dimensional side is the partitioning of least C_DM, and by itself that of least C_AVG: where "
        "its optimum is not proven, the best that was found, with a proven lower bound (dashed). "
        + _describe_lead([found for _, found in measured])
    )
    return Section("Quality against k", text, tuple(tables), _plots("k", "k, synthetic tables", measured))


def _attributes_section(context: Context) -> Section:
    of = MONDRIAN_FIGURES["synthetic"]
    numbers = MONDRIAN_FIGURES["charts"]["attributes"]
    rows, k = _row_count(context), of["k"]
    spread = column_spreads(of["cardinality"], float(of["deviation"]))[1]
    found: dict[int, QualityPoint] = {}
    for attributes in numbers[:3] if context.quick else numbers:
        with context.reporter.stage(f"Cutting {attributes} attributes"):
            table = draw_table(attributes, of["cardinality"], rows, spread, float(of["mean"]), _SEED)
            found[attributes] = _measure_ks(context, table, [k], _node_budget(context))[k]
    table_of = _table("attributes", f"{spread.title}, k = {k}", "attributes", found)
    plots = _plots("attributes", "the number of attributes", [("", found)])
    text = f"{rows:,} rows of a normal distribution, k = {k}. {_describe_lead([found])}"
    return Section("Quality against attributes", text, (table_of,), plots)


def _adult_section(context: Context) -> Section:
    ks = MONDRIAN_FIGURES["charts"]["adult_ks"]
    table = context.adult("30162", "arx", _ADULT_ATTRIBUTES).frequency_set
    with context.reporter.stage("Cutting Adult"):
        nodes = dict.fromkeys(ClassCost, 20 if context.quick else _ADULT_NODES)
        found = _measure_ks(context, table, ks[5:] if context.quick else ks, nodes)
    plots = _plots("adult", "k on Adult", [("", found)])
    text = (
        f"Adult, {table.rows:,} rows, {len(_ADULT_ATTRIBUTES)} quasi-identifiers, "
        f"{table.row_types:,} row types. The slides name neither the attributes nor their order; categories "
        "are ordered as in ARX's hierarchies. " + _describe_lead([found])
    )
    return Section("Adult", text, (_table("adult", "Adult", "k", found),), plots)


def _row_count(context: Context) -> int:
    rows: int = MONDRIAN_FIGURES["synthetic"]["rows"]
    return rows // 10 if context.quick else rows


def _node_budget(context: Context) -> Mapping[ClassCost, int]:
    return dict.fromkeys(ClassCost, _QUICK_NODES) if context.quick else _NODES


def _measure_ks(
    context: Context, table: FrequencySet, ks: Sequence[int], nodes: Mapping[ClassCost, int]
) -> dict[int, QualityPoint]:
    """Measure every k, the largest first.

    A partitioning that is k-anonymous is so for a smaller k, so it is the start of the next search.
    """
    found = {}
    starts: dict[ClassCost, IntervalDivision | None] = dict.fromkeys(ClassCost)
    for k in sorted(ks, reverse=True):
        single = {}
        for cost in ClassCost:
            budget = SearchBudget(_SECONDS, nodes[cost], _QUICK_ROUNDS if context.quick else _ROUNDS)
            single[cost] = find_optimal_single(
                table, Requirement(k), cost=cost, budget=budget, start=starts[cost]
            )
            starts[cost] = single[cost].division
        multi = {}
        for name, cut in ((MEDIAN, Cut.MEDIAN), (BEST, Cut.BEST)):
            sizes = sizes_of(
                partition_table(table, Requirement(k), context.settings, MondrianOptions(cut=cut))
            )
            values = {ClassCost.C_AVG: sizes.normalized_average(k), ClassCost.C_DM: sizes.discernibility}
            multi[name] = values
        found[k] = QualityPoint(multi, single)
    return {k: found[k] for k in ks}


def _describe_lead(found: Sequence[Mapping[int, QualityPoint]]) -> str:
    """Describe the lead of the multidimensional partitioning in words."""
    points = [measured for each in found for measured in each.values()]
    leads = [measured.lead(_OPTIMAL) for measured in points]
    proven = [m.lead(_OPTIMAL) for m in points if m.single[ClassCost.C_DM].gap <= 0]
    bounds = [measured.lead(_BOUND) for measured in points]
    summary = (
        f" Where the optimum is proven ({len(proven)} of {len(points)} points) that is "
        f"{min(proven):.2f} to {max(proven):.2f} times."
        if proven
        else " At none of these points the optimum is proven."
    )
    return (
        f"The best single-dimensional partitioning found has {min(leads):.2f} to {max(leads):.2f} times the "
        f"C_DM of Mondrian with the best cut.{summary} {describe_proven_lead(bounds)}"
    )


def describe_proven_lead(bounds: Sequence[float]) -> str:
    """Describe the proven lower bounds of the single-dimensional C_DM, divided by Mondrian's C_DM."""
    least, ahead = min(bounds), sum(bound > 1 for bound in bounds)
    if ahead == len(bounds):
        return f"The proven bounds leave Mondrian a lead of {least:.2f} times or more at every point."
    if not ahead:
        return f"The proven bounds show no lead: the least is {least:.2f} times Mondrian's C_DM."
    return (
        f"The proven bounds show a lead of Mondrian at {ahead} of {len(bounds)} points; at the others "
        f"a single-dimensional partitioning may be ahead, with {least:.2f} times Mondrian's C_DM."
    )


def _table(name: str, title: str, first: str, found: Mapping[int, QualityPoint]) -> ComparedTable:
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
    name: str, against: str, measured: Sequence[tuple[str, Mapping[int, QualityPoint]]]
) -> tuple[Plot, ...]:
    """Plot C_AVG and C_DM, with one panel per table."""
    plots = []
    for cost, measure in _METRICS:
        label = "attributes" if name == "attributes" else "k"
        panels = [_panel(found, label, title, cost, measure) for title, found in measured]
        title = f"{measure} against {against}"
        plots.append(Plot(f"{measure.lower().replace('_', '-')}-{name}", title, draw_chart(title, panels)))
    return tuple(plots)


def _panel(found: Mapping[int, QualityPoint], label: str, title: str, cost: ClassCost, measure: str) -> Panel:
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
        x_scale=AxisScale.LOG if label == "k" else AxisScale.LINEAR,
        y_scale=AxisScale.LOG,
        x_ticks=tuple(float(value) for value in values),
    )
