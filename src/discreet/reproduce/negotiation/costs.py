"""What preparation and answers cost, beside the paper's: seconds, bytes, visited nodes.

The paper walks the lattice node by node; ``simple_negotiation`` is that walk, with its count. The answers
themselves come from the same lattice by look-up. Times are of this machine, charts are read by the eye: they
stand beside each other and nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from discreet.model.request import Request
from discreet.negotiation.simple import simple_negotiation
from discreet.plots.chart import bar_panel
from discreet.plots.draw import picture
from discreet.reproduce.comparison import Comparison
from discreet.reproduce.negotiation import paper
from discreet.reproduce.negotiation.study import Study, answer_milliseconds
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section

_CHARTS: Mapping[str, Any] = paper.FIGURES["charts"]
_GRID: Mapping[str, Any] = paper.FIGURES["grid"]
_CHARTED = ("visited", "milliseconds")
_VARIED = ("levels", "limit")
_TIMES: Mapping[str, Any] = paper.FIGURES["times"]


def sections(study: Study) -> Iterator[Section]:
    """Preparation, then answers and visited nodes."""
    yield Section(
        "Preparation",
        f"From the file to every node's suppression histogram. The paper: {_TIMES['full_preparation']}.",
        (_preparation(study),),
        (_preparation_plot(study),),
    )
    yield Section(
        "Answers and visited nodes",
        "Visited: by the paper's walk through the lattice, all parts of an answer together. Milliseconds: "
        f"ours by look-up, the first time that a request is asked. The paper: {_TIMES['answer']}. "
        f"{_fewer_with_the_limit(study)}",
        tuple(_answers(study, privacy, varies) for privacy in ("k", "l") for varies in (privacy, *_VARIED)),
        (_visited_plot(study), _limits_plot(study)),
    )


def _preparation(study: Study) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for size in study.sizes:
        for privacy in ("k", "l"):
            prepared = study.of(size, privacy)
            place = f"QI {size}, {privacy}"
            rows.append(
                (
                    f"QI {size}",
                    privacy,
                    Comparison(f"{place}, nodes", prepared.evaluated.lattice.size),
                    Comparison(f"{place}, counting", prepared.counting, unit=" s"),
                    Comparison(f"{place}, evaluating", prepared.evaluating, unit=" s"),
                    Comparison(f"{place}, histograms", prepared.histogram_bytes / 1000, unit=" KB"),
                )
            )
    columns = ("", "for", "nodes", "counting", "evaluating", "histograms")
    return ComparedTable("preparation", "Preparation", columns, tuple(rows))


def _requests(size: int, privacy: str, varies: str) -> list[tuple[str, Request]]:
    """The three requests of an experiment: one factor varies, the others are in the middle."""
    values, levels, limits = _GRID[privacy], _GRID["levels"][str(size)], _GRID["max_suppressed"]
    asked = {
        privacy: [(f"{privacy} = {value}", value, levels[1], limits[1]) for value in values],
        "levels": [(node, values[1], node, limits[1]) for node in levels],
        "limit": [(f"{limit:,} rows", values[1], levels[1], limit) for limit in limits],
    }[varies]
    return [(name, paper.request_of(privacy, value, node, limit)) for name, value, node, limit in asked]


def visited(study: Study, size: int, privacy: str, varies: str) -> list[int]:
    """The nodes that the paper's walk visits for each of the three requests."""
    evaluated = study.of(size, privacy).evaluated
    return [simple_negotiation(evaluated, r).visited for _, r in _requests(size, privacy, varies)]


def _answers(study: Study, privacy: str, varies: str) -> ComparedTable:
    """Visited nodes and milliseconds; the paper's charts are of requests for k, for two of the factors."""
    rows: list[tuple[Cell, ...]] = []
    charted = privacy == "k" and varies != "limit"
    for size in study.sizes:
        evaluated = study.of(size, privacy).evaluated
        told = [_CHARTS[f"{what}_by_{varies}"][str(size)] if charted else [None] * 3 for what in _CHARTED]
        asked = zip(
            _requests(size, privacy, varies), visited(study, size, privacy, varies), *told, strict=True
        )
        for (name, request), number, nodes, time in asked:
            place, ours = f"QI {size}, {name}", answer_milliseconds(evaluated, request)
            rows.append(
                (
                    f"QI {size}",
                    name,
                    Comparison(f"{place}, visited", number, nodes, about=True),
                    Comparison(f"{place}, ms", ours, time, about=True),
                )
            )
    title = {
        privacy: f"{privacy} varies within the default levels",
        "levels": f"Levels vary at {privacy} = {_GRID[privacy][1]}",
        "limit": f"The limit of suppressed rows varies at {privacy} = {_GRID[privacy][1]}",
    }[varies]
    columns = ("", "request", "visited nodes", "milliseconds")
    name = f"answers_by_{varies}" if privacy == "k" else f"answers_for_l_by_{varies}"
    return ComparedTable(name, title, columns, tuple(rows))


def _preparation_plot(study: Study) -> Plot:
    seconds = {
        f"for {privacy}": [study.of(size, privacy).seconds for size in study.sizes] for privacy in ("k", "l")
    }
    panel = bar_panel(
        [f"QI {size}" for size in study.sizes], seconds, x_label="quasi-identifiers", y_label="seconds"
    )
    title = "Preparation: counting and evaluating the whole lattice"
    return Plot("preparation", title, picture(title, [panel]))


def _fewer_with_the_limit(study: Study) -> str:
    """The paper's remark on limits, and for how many of our series it holds."""
    every = [visited(study, size, privacy, "limit") for size in study.sizes for privacy in ("k", "l")]
    fall = sum(all(later <= earlier for earlier, later in pairwise(nodes)) for nodes in every)
    return (
        "The paper remarks that fewer nodes are visited the more rows may be suppressed: that holds from "
        f"each limit to the next for {fall} of {len(every)} series here."
    )


def _visited_plot(study: Study) -> Plot:
    panels = [
        bar_panel(
            [f"k = {k}" for k in _GRID["k"]],
            {
                "ours": visited(study, size, "k", "k"),
                "the paper's chart": _CHARTS["visited_by_k"][str(size)],
            },
            x_label="",
            y_label="visited nodes",
            title=f"QI {size}",
            dashed=["the paper's chart"],
        )
        for size in study.sizes
    ]
    title = "Nodes visited by the paper's walk"
    return Plot("visited-nodes", title, picture(title, panels))


def _limits_plot(study: Study) -> Plot:
    panels = [
        bar_panel(
            [f"{limit:,}" for limit in _GRID["max_suppressed"]],
            {f"for {privacy}": visited(study, size, privacy, "limit") for privacy in ("k", "l")},
            x_label="suppressed rows allowed",
            y_label="visited nodes",
            title=f"QI {size}",
        )
        for size in study.sizes
    ]
    title = f"Nodes visited by limit, k = {_GRID['k'][1]} and l = {_GRID['l'][1]}"
    return Plot("visited-by-limit", title, picture(title, panels))
