"""What preparation and answers cost, beside the paper's: seconds, bytes, visited nodes.

The paper walks the lattice node by node; ``simple_negotiation`` is that walk, with its count. The answers
themselves come from the same lattice by look-up. Times are of this machine, charts are read by the eye: they
stand beside each other and nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
        f"ours by look-up, the first time that a request is asked. The paper: {_TIMES['answer']}.",
        (_answers(study, "k"), _answers(study, "levels")),
        (_visited_plot(study),),
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


def _requests(size: int, varies: str) -> list[tuple[str, Request]]:
    """The three requests of one of the paper's experiments, for k."""
    levels, limit = _GRID["levels"][str(size)], _GRID["max_suppressed"][1]
    if varies == "k":
        return [(f"k = {k}", paper.request_of("k", k, levels[1], limit)) for k in _GRID["k"]]
    return [(node, paper.request_of("k", _GRID["k"][1], node, limit)) for node in levels]


def _answers(study: Study, varies: str) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for size in study.sizes:
        evaluated = study.of(size).evaluated
        visited = _CHARTS[f"visited_by_{varies}"][str(size)]
        milliseconds = _CHARTS[f"milliseconds_by_{varies}"][str(size)]
        for (name, request), nodes, time in zip(_requests(size, varies), visited, milliseconds, strict=True):
            place = f"QI {size}, {name}"
            walk = simple_negotiation(evaluated, request)
            rows.append(
                (
                    f"QI {size}",
                    name,
                    Comparison(f"{place}, visited", walk.visited, nodes, about=True),
                    Comparison(f"{place}, ms", answer_milliseconds(evaluated, request), time, about=True),
                )
            )
    title = "k varies within the default levels" if varies == "k" else "Levels vary at k = 10"
    columns = ("", "request", "visited nodes", "milliseconds")
    return ComparedTable(f"answers_by_{varies}", title, columns, tuple(rows))


def _preparation_plot(study: Study) -> Plot:
    seconds = {
        f"for {privacy}": [study.of(size, privacy).seconds for size in study.sizes] for privacy in ("k", "l")
    }
    panel = bar_panel(
        [f"QI {size}" for size in study.sizes], seconds, x_label="quasi-identifiers", y_label="seconds"
    )
    title = "Preparation: counting and evaluating the whole lattice"
    return Plot("preparation", title, picture(title, [panel]))


def _visited_plot(study: Study) -> Plot:
    panels = []
    for size in study.sizes:
        evaluated = study.of(size).evaluated
        ours = [simple_negotiation(evaluated, request).visited for _, request in _requests(size, "k")]
        panels.append(
            bar_panel(
                [f"k = {k}" for k in _GRID["k"]],
                {"ours": ours, "the paper's chart": _CHARTS["visited_by_k"][str(size)]},
                x_label="",
                y_label="visited nodes",
                title=f"QI {size}",
                dashed=["the paper's chart"],
            )
        )
    title = "Nodes visited by the paper's walk"
    return Plot("visited-nodes", title, picture(title, panels))
