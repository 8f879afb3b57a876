"""The experiments of general quality: C_DM and C_AVG against k and the number of attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from discreet.model.frequency_set import FrequencySet
from discreet.plots.chart import Panel, Scale, Series
from discreet.plots.draw import picture
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.context import Context
from discreet.reproduce.mondrian.tables import (
    BEST,
    FIGURES,
    MEDIAN,
    SINGLE,
    drawn,
    partitionings,
    sizes_of,
    spreads,
)
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section

_SEED = 1
_ADULT = ("age", "work_class", "education", "marital_status", "occupation", "race", "sex", "native_country")
_OPTIMUM = "least possible"

Measured = Mapping[str, tuple[float, int]]
"""C_AVG and C_DM by partitioning."""


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
            found = {k: _measured(context, table, k) for k in (ks[1::2] if context.quick else ks)}
        tables.append(_table(f"k_{len(tables)}", f"{spread.title}", "k", found))
        measured.append((spread.title, found))
    text = (
        f"{rows:,} rows, {of['attributes']} attributes of cardinality {of['cardinality']}, mean "
        f"{of['mean']}. The printed charts are pictures. The deviation is printed as .2: read in values it "
        "puts all rows on the values beside the mean, read as a share of the domain it spreads them."
    )
    return Section("Quality against k", text, tuple(tables), _plots("k", "k, synthetic tables", measured))


def _against_attributes(context: Context) -> Section:
    of = FIGURES["synthetic"]
    numbers = FIGURES["charts"]["attributes"]
    rows, k = _rows(context), of["k"]
    spread = spreads(of["cardinality"], float(of["deviation"]))[1]
    found = {}
    for attributes in numbers[:3] if context.quick else numbers:
        with context.reporter.stage(f"Cutting {attributes} attributes"):
            table = drawn(attributes, of["cardinality"], rows, spread, float(of["mean"]), _SEED)
            found[attributes] = _measured(context, table, k)
    table_of = _table("attributes", f"{spread.title}, k = {k}", "attributes", found)
    plots = _plots("attributes", "the number of attributes", [("", found)])
    text = f"{rows:,} rows of a normal distribution, k = {k}."
    return Section("Quality against attributes", text, (table_of,), plots)


def _adult(context: Context) -> Section:
    ks = FIGURES["charts"]["adult_ks"]
    table = context.adult("30162", "arx", _ADULT).frequency_set
    found = {}
    for k in ks[2::3] if context.quick else ks:
        with context.reporter.stage(f"Cutting Adult at k = {k}"):
            found[k] = _measured(context, table, k)
    plots = _plots("adult", "k on Adult", [("", found)])
    text = (
        f"Adult, {table.rows:,} rows, {len(_ADULT)} quasi-identifiers, {table.row_types:,} row types. The "
        "slides name neither the attributes nor their order; categories are ordered as in ARX's hierarchies."
    )
    return Section("Adult", text, (_table("adult", "Adult", "k", found),), plots)


def _rows(context: Context) -> int:
    rows: int = FIGURES["synthetic"]["rows"]
    return rows // 10 if context.quick else rows


def _measured(context: Context, table: FrequencySet, k: int) -> Measured:
    found = {}
    for name, recoding in partitionings(table, k, context.settings).items():
        sizes = sizes_of(recoding)
        found[name] = (sizes.normalized_average(k), sizes.discernibility)
    return found


def _table(name: str, title: str, first: str, found: Mapping[int, Measured]) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for value, measured in found.items():
        averages = (Comparison(f"{value}, {kind}, C_AVG", c_avg) for kind, (c_avg, _) in measured.items())
        squares = (Comparison(f"{value}, {kind}, C_DM", c_dm) for kind, (_, c_dm) in measured.items())
        rows.append((str(value), *averages, *squares))
    columns = (first, *(f"C_AVG {kind}" for kind in (SINGLE, "median", "best")))
    columns += tuple(f"C_DM {kind}" for kind in (SINGLE, "median", "best"))
    return ComparedTable(name, title, columns, tuple(rows))


def _plots(
    name: str, against: str, measured: Sequence[tuple[str, Mapping[int, Measured]]]
) -> tuple[Plot, ...]:
    """C_AVG and C_DM, a panel for each table."""
    plots = []
    for place, measure in enumerate(("C_AVG", "C_DM")):
        label = "attributes" if name == "attributes" else "k"
        panels = [_panel(found, label, title, place, measure) for title, found in measured]
        title = f"{measure} against {against}"
        plots.append(Plot(f"{measure.lower().replace('_', '-')}-{name}", title, picture(title, panels)))
    return tuple(plots)


def _panel(found: Mapping[int, Measured], label: str, title: str, place: int, measure: str) -> Panel:
    values: Sequence[int] = tuple(found)
    series = [
        Series.of(name, values, [found[value][name][place] for value in values])
        for name in (SINGLE, MEDIAN, BEST)
    ]
    if place == 0:
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
