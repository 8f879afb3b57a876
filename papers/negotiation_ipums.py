"""The negotiation paper's IPUMS table, 600,000 rows, as a synthetic table of the same shape.

The extract is not public. Row count and heights are printed or follow from printed node numbers; all else
is invented (``synthetic_tables``). Printed answers are shown next to computed ones; nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from discreet.model.frequency_set import FrequencySet
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import Answer
from discreet.negotiation.negotiator import Negotiator
from papers import negotiation_study
from papers.charts import AxisScale, Panel, Series, draw_chart
from papers.comparison import Comparison, Figure
from papers.negotiation_study import (
    PreparedLattice,
    answer_milliseconds,
    make_request,
    node_text,
    prepare_lattice,
    suppression_by_height,
)
from papers.reproduction import Context
from papers.section import Cell, ComparedTable, Plot, Section
from papers.synthetic_tables import generate_ipums

_IPUMS: Mapping[str, Any] = negotiation_study.NEGOTIATION_FIGURES["ipums"]
_TIMES: Mapping[str, Any] = negotiation_study.NEGOTIATION_FIGURES["times"]
_NAMES = ("age", "birthplace", "education", "gender")
_SENSITIVE = "occupation"
_QUICK_ROWS = 20_000
_KS = (3, 10, 50, 100, 150)


class IpumsStudy:
    """Synthetic table, written once and prepared for k and for l."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.rows: int = _QUICK_ROWS if context.quick else _IPUMS["rows"]
        self.of_k = self._prepared(sensitive=False)
        self.of_l = self._prepared(sensitive=True)

    @cached_property
    def _attributes(self) -> dict[str, Any]:
        with self.context.reporter.stage("Generating the IPUMS-shaped table"):
            table = generate_ipums(self.rows)
            table.write_csv(self.context.scratch / "ipums_shaped.csv")
        return table.attributes()

    def _prepared(self, *, sensitive: bool) -> PreparedLattice:
        attributes = {n: a for n, a in self._attributes.items() if sensitive or n != _SENSITIVE}
        return prepare_lattice(self.context.table(self.context.scratch / "ipums_shaped.csv", attributes))

    def of(self, privacy: str) -> PreparedLattice:
        """Return the table prepared for k or for l."""
        return self.of_k if privacy == "k" else self.of_l

    def limit(self, suppressed: int) -> int:
        """Scale the paper's limit to the same share of this table's rows."""
        return suppressed * self.rows // int(_IPUMS["rows"])

    def milliseconds(self, privacy: str) -> float:
        """Measure the time to answer the default request."""
        value, levels = _IPUMS[privacy][1], _IPUMS["levels"][1]
        limit = self.limit(_IPUMS["max_suppressed"][1])
        request = make_request(privacy, value, levels, limit, names=_NAMES)
        return answer_milliseconds(self.of(privacy).evaluated, request)


def ipums_frequency_set(context: Context) -> FrequencySet:
    """Return the synthetic table's frequency set for k, smaller in a quick run."""
    path = context.scratch / "ipums_for_k.csv"
    with context.reporter.stage("Generating the IPUMS-shaped table"):
        table = generate_ipums(_QUICK_ROWS if context.quick else int(_IPUMS["rows"]))
        table.write_csv(path)
    attributes = {name: entry for name, entry in table.attributes().items() if name != _SENSITIVE}
    return context.table(path, attributes).frequency_set


def ipums_sections(context: Context) -> Iterator[Section]:
    """Yield preparation, requests for k and for l, and plots of suppression."""
    study = IpumsStudy(context)
    text = (
        f"Synthetic: {study.rows:,} generated rows with the attributes {', '.join(_NAMES)} and the sensitive "
        f"{_SENSITIVE}. The paper's figures are of the real table and are listed for comparison (~)."
    )
    tables = (_preparation(study), _requests_for_k(study), _requests_for_l(study))
    yield Section("An IPUMS-shaped table (synthetic)", text, tables, _plots(study))


def _preparation(study: IpumsStudy) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for privacy in ("k", "l"):
        prepared = study.of(privacy)
        minutes = _TIMES["ipums_preparation_minutes"][privacy]
        printed_size = _TIMES["ipums_histogram_kilobytes"][privacy]
        size = prepared.histogram_bytes / 1000
        rows.append(
            (
                privacy,
                Comparison(f"{privacy}, counting", prepared.counting, unit=" s"),
                Comparison(f"{privacy}, evaluating", prepared.evaluating, unit=" s"),
                Comparison(f"{privacy}, minutes", prepared.seconds / 60, minutes, about=True, unit=" min"),
                Comparison(f"{privacy}, kilobytes", size, printed_size, about=True, unit=" KB"),
                _unjudged(
                    f"{privacy}, answer", study.milliseconds(privacy), _TIMES[f"ipums_answer_{privacy}"]
                ),
            )
        )
    columns = ("for", "counting", "evaluating", "both", "histograms", "an answer, ms")
    return ComparedTable("ipums_preparation", "Preparation", columns, tuple(rows))


def _requests_for_k(study: IpumsStudy) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    levels, limit = _IPUMS["levels"][1], _IPUMS["max_suppressed"][1]
    asked: list[Mapping[str, Any]] = list(_IPUMS["request"])
    printed = {entry["k"] for entry in asked}
    asked += [{"k": k, "levels": levels, "max_suppressed": limit} for k in _IPUMS["k"] if k not in printed]
    negotiator = study.of_k.negotiator
    for entry in sorted(asked, key=lambda e: (e["max_suppressed"] != limit, e["levels"] != levels, e["k"])):
        request = make_request(
            "k", entry["k"], entry["levels"], study.limit(entry["max_suppressed"]), names=_NAMES
        )
        printed_parts = {"exact": entry["exact"]} if "exact" in entry else dict(entry.get("relaxed", {}))
        name = f"k = {entry['k']}, {entry['levels']}, {study.limit(entry['max_suppressed']):,} rows"
        rows += _answer_rows(name, negotiator, request, "k", printed_parts)
    columns = ("request", "relaxed", "node", "suppressed", "k")
    note = "The relaxations that are printed for 600 rows repeat those printed for 6,000."
    return ComparedTable("ipums_requests_k", "Requests for k", columns, tuple(rows), note)


def _requests_for_l(study: IpumsStudy) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    levels, limits = _IPUMS["levels"], _IPUMS["max_suppressed"]
    middle = _IPUMS["l"][1]
    asked = [(l, levels[1], limits[1]) for l in _IPUMS["l"]]
    asked += [(middle, node, limits[1]) for node in (levels[0], levels[2])]
    asked += [(middle, levels[1], limit) for limit in (limits[0], limits[2])]
    for l, node, limit in asked:
        request = make_request("l", l, node, study.limit(limit), names=_NAMES)
        name = f"l = {l}, {node}, {study.limit(limit):,} rows"
        rows += _answer_rows(name, study.of_l.negotiator, request, "l", {})
    columns = ("request", "relaxed", "node", "suppressed", "l")
    return ComparedTable("ipums_requests_l", "Requests for l", columns, tuple(rows))


def _answer_rows(
    name: str,
    negotiator: Negotiator,
    request: Request,
    privacy: str,
    printed: Mapping[str, Mapping[str, Any]],
) -> list[tuple[Cell, ...]]:
    """Return one row per part that the computation or the paper answers, without a verdict."""
    ours = {str(a.relaxed or "exact"): a for a in negotiator.negotiate(request).answers}
    rows: list[tuple[Cell, ...]] = []
    for part in dict.fromkeys([*ours, *printed]):
        answer, print_out = ours.get(part), printed.get(part, {})
        cells: list[Cell] = [
            _unjudged(f"{name}, {part}, node", _node(answer), print_out.get("levels")),
            _unjudged(
                f"{name}, {part}, suppressed",
                None if answer is None else answer.suppressed,
                print_out.get("suppressed"),
            ),
            "",
        ]
        if part == privacy:
            value = None if answer is None else getattr(answer.requirement, privacy)
            cells[2] = _unjudged(f"{name}, {part}, {privacy}", value, print_out.get("value"))
        rows.append(("" if rows else name, part, *cells))
    return rows


def _node(answer: Answer | None) -> str | None:
    return None if answer is None else node_text(answer.node)


def _unjudged(cell: str, ours: Figure | None, printed: Figure | None) -> Comparison:
    return Comparison(cell, ours, printed, about=True)


def _plots(study: IpumsStudy) -> tuple[Plot, ...]:
    """Plot suppression by height, for k and for l."""
    named = {
        "k": {f"k = {k}": Requirement(k=k) for k in _KS},
        "l": {f"l = {l}": Requirement(l=l) for l in _IPUMS["l"]},
    }
    plots = []
    for privacy, requirements in named.items():
        evaluated = study.of(privacy).evaluated
        found = {label: suppression_by_height(evaluated, r) for label, r in requirements.items()}
        series = tuple(
            Series.of(label, range(len(heights)), [float(rows.mean()) for rows in heights])
            for label, heights in found.items()
        )
        title = f"Average suppressed rows by height and {privacy}, IPUMS-shaped table (synthetic)"
        panel = Panel(series, "height", "average suppressed rows", y_scale=AxisScale.COUNTS)
        plots.append(Plot(f"ipums-shaped-{privacy}", title, draw_chart(title, [panel])))
    return tuple(plots)
