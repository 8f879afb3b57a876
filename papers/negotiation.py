"""Online negotiation (Pilalidou and Vassiliadis): printed requests, the walk-through, and costs.

Every printed request is answered again; the walk-through is one request on the annotated lattice of three
attributes. Costs are seconds, bytes and visited nodes: ``printed_negotiation`` walks the lattice node by
node as printed, and counts. Times depend on the machine and charts are read by eye, so neither is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.model.lattice import LatticeNode
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import Answer
from papers import negotiation_diversity, negotiation_ipums, negotiation_study, negotiation_suppression
from papers.charts import bar_panel, draw_chart
from papers.comparison import Comparison, Figure
from papers.lattice_diagram import draw_lattice_diagram
from papers.negotiation_study import (
    AdultStudy,
    PreparedLattice,
    PrintedAnswer,
    PrintedRequest,
    answer_milliseconds,
    node_text,
)
from papers.printed_negotiation import negotiate_as_printed
from papers.reproduction import Context
from papers.section import Cell, ComparedTable, Plot, Section

_NONE = "no solution"


def request_sections(study: AdultStudy) -> Iterator[Section]:
    """Yield requests for k, for l, with other limits, and the node numbers."""
    yield Section(
        "Requests for k",
        f"At most {negotiation_study.MAX_SUPPRESSED} suppressed rows. Where there is no exact answer, "
        "each part gives way in turn; relaxing the height starts at the height of the request's own node.",
        (_answers_section(study, "k"),),
    )
    yield Section(
        "Requests for l",
        f"The same for distinct l of {negotiation_study.NEGOTIATION_SENSITIVE}.",
        (_answers_section(study, "l"),),
    )
    yield Section(
        "Requests with other limits of suppressed rows",
        "The paper asks these too and prints only charts of what they cost.",
        (_other_limits_section(study),),
    )
    yield Section(
        "Node numbers",
        "Nodes count from 1 with the last attribute slowest and otherwise the one before it fastest: the "
        "order that the tie rule keeps.",
        (_node_numbers_section(study),),
    )


def printed_requests_of(study: AdultStudy, privacy: str | None = None) -> list[PrintedRequest]:
    """Return the printed requests of the study's sizes, for k, for l or for both."""
    return [
        request
        for request in negotiation_study.printed_requests()
        if len(request.levels) in study.sizes and privacy in (None, request.privacy)
    ]


def _answers_section(study: AdultStudy, privacy: str) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for request in printed_requests_of(study, privacy):
        prepared = study.of(len(request.levels), privacy)
        negotiation = prepared.negotiator.negotiate(request.request())
        ours = {None if a.relaxed is None else str(a.relaxed): a for a in negotiation.answers}
        name = f"{privacy} = {request.value}, {request.levels}"
        parts = dict(request.answers)
        # The table also contains answers that only the computation gives.
        for place, part in enumerate(dict.fromkeys([*parts, *ours])):
            cells = _answer_cells(study, request, part, ours.get(part), parts.get(part))
            rows.append(("" if place else name, part or "exact", *cells))
    title = f"QI {', '.join(str(s) for s in study.sizes)}; {privacy} and levels vary"
    columns = ("request", "relaxed", "node", "suppressed", privacy)
    return ComparedTable(f"requests_{privacy}", title, columns, tuple(rows))


def _answer_cells(
    study: AdultStudy,
    request: PrintedRequest,
    part: str | None,
    ours: Answer | None,
    printed: PrintedAnswer | None,
) -> tuple[Cell, ...]:
    """Return the cells of node and suppressed rows, and of k or l if that is the relaxed part."""
    place = f"{request.privacy} = {request.value}, {request.levels}, {part or 'exact'}"
    table = f"requests_{request.privacy}"

    def cell(what: str, figure: Figure | None, value: Figure | None) -> Cell:
        if figure is None and value is None:
            return ""
        return study.judge.compare(table, f"{place}, {what}", figure, value)

    node = cell(
        "node", _NONE if ours is None else node_text(ours.node), _NONE if printed is None else printed.levels
    )
    suppressed = cell(
        "suppressed",
        None if ours is None else ours.suppressed,
        None if printed is None else printed.suppressed,
    )
    if part != request.privacy:
        return (node, suppressed, "")
    value = None if ours is None else getattr(ours.requirement, request.privacy)
    return (node, suppressed, cell(request.privacy, value, None if printed is None else printed.value))


def _other_limits_section(study: AdultStudy) -> ComparedTable:
    grid = negotiation_study.NEGOTIATION_FIGURES["grid"]
    rows: list[tuple[Cell, ...]] = []
    for privacy, value in (("k", grid["k"][1]), ("l", grid["l"][1])):
        for size in study.sizes:
            levels = grid["levels"][str(size)][1]
            for limit in (grid["max_suppressed"][0], grid["max_suppressed"][2]):
                request = negotiation_study.make_request(privacy, value, levels, limit)
                answers = study.of(size, privacy).negotiator.negotiate(request).answers
                answer_texts = {
                    str(a.relaxed or "exact"): f"{node_text(a.node)}: {a.suppressed:,}" for a in answers
                }
                weaker = [a for a in answers if str(a.relaxed) == privacy]
                if weaker:
                    answer_texts[privacy] += f" ({privacy} = {getattr(weaker[0].requirement, privacy)})"
                parts = ("exact", "max_suppressed", "height", privacy)
                request_name = f"{privacy} = {value}, {levels}, {limit:,} rows"
                rows.append((request_name, *(answer_texts.get(part, "–") for part in parts)))
    columns = ("request", "exact", "max_suppressed", "height", "k or l")
    return ComparedTable("requests_limit", "Node: suppressed rows", columns, tuple(rows))


def _node_numbers_section(study: AdultStudy) -> ComparedTable:
    found: dict[str, PrintedAnswer] = {}
    for request in printed_requests_of(study):
        for _, answer in request.answers:
            if answer is not None:
                found.setdefault(answer.levels, answer)
    rows = []
    for levels, answer in sorted(found.items(), key=lambda item: (len(item[0]), item[1].number)):
        heights = study.of(len(levels)).evaluated.lattice.heights
        number = negotiation_study.node_number(heights, negotiation_study.parse_node(levels))
        rows.append(
            (f"QI {len(levels)}", levels, study.judge.compare("node_numbers", levels, number, answer.number))
        )
    return ComparedTable("node_numbers", "Node numbers", ("", "node", "number"), tuple(rows))


_WALK_ATTRIBUTES = ("age", "work_class", "race")
_WALK_FIGURES = negotiation_study.NEGOTIATION_FIGURES["walk_through"]
_EXACT_LIMIT, _RELAXED_LIMIT = 20, 8


def walk_through_section(study: AdultStudy) -> Section:
    """Build the section on the walk-through: the answers, and the lattice with its suppressed rows."""
    prepared = study.of_attributes(_WALK_ATTRIBUTES)
    text = (
        f"The slides ask for k = {_WALK_FIGURES['k']} within {_WALK_FIGURES['levels']}, levels in the order "
        f"{', '.join(_WALK_ATTRIBUTES)}; the experiments order age, race, work_class."
    )
    return Section("The walk-through", text, (_walk_answers(study, prepared),), (_lattice_plot(prepared),))


def suppressed_rows(prepared: PreparedLattice, k: int) -> dict[LatticeNode, int]:
    """Return the suppressed rows of every node."""
    suppressed = prepared.evaluated.suppression(Requirement(k=k)).tolist()
    return dict(zip(prepared.evaluated.lattice.nodes(), suppressed, strict=True))


def _lattice_plot(prepared: PreparedLattice) -> Plot:
    k, asked = int(_WALK_FIGURES["k"]), negotiation_study.parse_node(_WALK_FIGURES["levels"])
    notes = {node: f"{rows:,}" for node, rows in suppressed_rows(prepared, k).items()}
    within = [node for node in notes if all(a <= b for a, b in zip(node, asked, strict=True))]
    marked = {f"asked: {node_text(asked)}": asked}
    for limit in (_EXACT_LIMIT, _RELAXED_LIMIT):
        for answer in prepared.negotiator.negotiate(_walk_request(limit)).answers:
            if answer.node != asked:
                relaxed = f"{answer.relaxed} relaxed" if answer.relaxed else "exact"
                marked[f"{relaxed}, within {limit} rows: {node_text(answer.node)}"] = answer.node
    title = f"The lattice of QI 3 with the suppressed rows of each node, k = {k}"
    caption = (
        "Levels of age, work_class and race, and the suppressed rows. Shaded: the nodes that the request "
        "allows. Where max_suppressed or k gives way the answer is the node that was asked for."
    )
    return Plot(
        "annotated-lattice",
        title,
        draw_lattice_diagram(title, notes, within=within, marked=marked, description=caption),
        caption,
    )


def _walk_request(limit: int) -> Request:
    return negotiation_study.make_request(
        "k", int(_WALK_FIGURES["k"]), str(_WALK_FIGURES["levels"]), limit, names=_WALK_ATTRIBUTES
    )


def _walk_answers(study: AdultStudy, prepared: PreparedLattice) -> ComparedTable:
    exact, relaxed = (_describe_answers(prepared, limit) for limit in (_EXACT_LIMIT, _RELAXED_LIMIT))
    compare = study.judge.compare
    ours = exact.get("exact", _NONE)
    cell = compare("walk_through", "within 20 rows, exact", ours, _WALK_FIGURES["exact_within_20"])
    rows: list[tuple[Cell, ...]] = [("exact, within 20 rows", cell)]
    for part, value in _WALK_FIGURES["relaxed_within_8"].items():
        ours = relaxed.get(part, "No solution")
        cell = compare("walk_through", f"within 8 rows, {part} relaxed", ours, value)
        rows.append((f"{part} relaxed, within 8 rows", cell))
    return ComparedTable("walk_through", "Answers", ("answer", "ours / printed"), tuple(rows))


def _describe_answers(prepared: PreparedLattice, limit: int) -> dict[str, str]:
    """Describe the computed answers in the words of the slide, by relaxed part."""
    answers = prepared.negotiator.negotiate(_walk_request(limit)).answers
    return {str(answer.relaxed or "exact"): _describe_answer(answer) for answer in answers}


def _describe_answer(answer: Answer) -> str:
    node, part = node_text(answer.node), str(answer.relaxed or "exact")
    if part == "height":
        return f"{node}, height {sum(answer.node)}"
    if part == "k":
        return f"{node}, k = {answer.requirement.k}"
    return f"{node}, {answer.suppressed} rows"


_GROWTH_K, _GROWTH_HEIGHTS = 3, 7


def growth_section(study: AdultStudy) -> Section:
    """Build the table of ratios between the averages of neighbouring sizes, by height."""
    pairs = list(zip(study.sizes[:-1], study.sizes[1:], strict=True))
    ratios = {larger: growth_by_height(study, smaller, larger) for smaller, larger in pairs}
    rows: list[tuple[Cell, ...]] = [
        (str(height), *(Comparison(f"H{height}, QI {size}", of[height]) for size, of in ratios.items()))
        for height in range(_GROWTH_HEIGHTS)
    ]
    columns = ("height", *(f"QI {larger} / QI {smaller}" for smaller, larger in pairs))
    table = ComparedTable("growth", f"Average suppressed rows, k = {_GROWTH_K}", columns, tuple(rows))
    every = [ratio for of in ratios.values() for ratio in of]
    between, above = (sum(low <= ratio <= high for ratio in every) for low, high in ((2, 3), (3, np.inf)))
    text = (
        "The paper says that one quasi-identifier more multiplies the suppressed rows of a height by 2 to 3 "
        "on average, where they are many. Its own averages, which come out here, do not bear that out: the "
        f"factor is {min(every):.1f} to {max(every):,.0f}; it is 2 to 3 in {between} of {len(every)} cells "
        f"and more in {above}."
    )
    return Section("What one quasi-identifier more suppresses", text, (table,))


def growth_by_height(study: AdultStudy, smaller: int, larger: int) -> list[float]:
    """Return the average suppressed rows of the larger size divided by the smaller's, by height from 0."""
    few, many = (
        study.by_height(size, Requirement(k=_GROWTH_K))[:_GROWTH_HEIGHTS] for size in (smaller, larger)
    )
    return [float(np.mean(b) / np.mean(a)) for a, b in zip(few, many, strict=True)]


_CHARTS: Mapping[str, Any] = negotiation_study.NEGOTIATION_FIGURES["charts"]
_GRID: Mapping[str, Any] = negotiation_study.NEGOTIATION_FIGURES["grid"]
_CHARTED_MEASURES = ("visited", "milliseconds")
_VARIED_FACTORS = ("levels", "limit")
_TIMES: Mapping[str, Any] = negotiation_study.NEGOTIATION_FIGURES["times"]


def cost_sections(study: AdultStudy) -> Iterator[Section]:
    """Yield preparation, then answers and visited nodes."""
    yield Section(
        "Preparation",
        f"From the file to every node's suppression histogram. The paper: {_TIMES['full_preparation']}.",
        (_preparation_section(study),),
        (_preparation_plot(study),),
    )
    yield Section(
        "Answers and visited nodes",
        "Visited: by the paper's walk through the lattice, all parts of an answer together. Milliseconds: "
        f"ours by look-up, for the first request of its kind. The paper: {_TIMES['answer']}. "
        f"{_fewer_with_the_limit(study)}",
        tuple(
            _answer_costs(study, privacy, varies)
            for privacy in ("k", "l")
            for varies in (privacy, *_VARIED_FACTORS)
        ),
        (_visited_plot(study), _limits_plot(study)),
    )


def _preparation_section(study: AdultStudy) -> ComparedTable:
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


def _varied_requests(size: int, privacy: str, varies: str) -> list[tuple[str, Request]]:
    """Return the three requests of an experiment: one factor varies, the others have their middle value."""
    values, levels, limits = _GRID[privacy], _GRID["levels"][str(size)], _GRID["max_suppressed"]
    asked = {
        privacy: [(f"{privacy} = {value}", value, levels[1], limits[1]) for value in values],
        "levels": [(node, values[1], node, limits[1]) for node in levels],
        "limit": [(f"{limit:,} rows", values[1], levels[1], limit) for limit in limits],
    }[varies]
    return [
        (name, negotiation_study.make_request(privacy, value, node, limit))
        for name, value, node, limit in asked
    ]


def count_visited(study: AdultStudy, size: int, privacy: str, varies: str) -> list[int]:
    """Count the nodes that the paper's walk visits for each of the three requests."""
    evaluated = study.of(size, privacy).evaluated
    return [negotiate_as_printed(evaluated, r).visited for _, r in _varied_requests(size, privacy, varies)]


def _answer_costs(study: AdultStudy, privacy: str, varies: str) -> ComparedTable:
    """Build the table of visited nodes and milliseconds.

    The paper has charts for requests for k only, with k or levels varied.
    """
    rows: list[tuple[Cell, ...]] = []
    charted = privacy == "k" and varies != "limit"
    for size in study.sizes:
        evaluated = study.of(size, privacy).evaluated
        printed = [
            _CHARTS[f"{what}_by_{varies}"][str(size)] if charted else [None] * 3 for what in _CHARTED_MEASURES
        ]
        asked = zip(
            _varied_requests(size, privacy, varies),
            count_visited(study, size, privacy, varies),
            *printed,
            strict=True,
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


def _preparation_plot(study: AdultStudy) -> Plot:
    seconds = {
        f"for {privacy}": [study.of(size, privacy).seconds for size in study.sizes] for privacy in ("k", "l")
    }
    panel = bar_panel(
        [f"QI {size}" for size in study.sizes], seconds, x_label="quasi-identifiers", y_label="seconds"
    )
    title = "Preparation: counting and evaluating the whole lattice"
    return Plot("preparation", title, draw_chart(title, [panel]))


def _fewer_with_the_limit(study: AdultStudy) -> str:
    """Quote the paper's remark on limits, and count the series for which it holds."""
    every = [count_visited(study, size, privacy, "limit") for size in study.sizes for privacy in ("k", "l")]
    fall = sum(all(later <= earlier for earlier, later in pairwise(nodes)) for nodes in every)
    return (
        "The paper remarks that fewer nodes are visited the more rows may be suppressed: that holds from "
        f"each limit to the next for {fall} of {len(every)} series here."
    )


def _visited_plot(study: AdultStudy) -> Plot:
    panels = [
        bar_panel(
            [f"k = {k}" for k in _GRID["k"]],
            {
                "ours": count_visited(study, size, "k", "k"),
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
    return Plot("visited-nodes", title, draw_chart(title, panels))


def _limits_plot(study: AdultStudy) -> Plot:
    panels = [
        bar_panel(
            [f"{limit:,}" for limit in _GRID["max_suppressed"]],
            {f"for {privacy}": count_visited(study, size, privacy, "limit") for privacy in ("k", "l")},
            x_label="suppressed rows allowed",
            y_label="visited nodes",
            title=f"QI {size}",
        )
        for size in study.sizes
    ]
    title = f"Nodes visited by limit, k = {_GRID['k'][1]} and l = {_GRID['l'][1]}"
    return Plot("visited-by-limit", title, draw_chart(title, panels))


def sections(context: Context) -> Iterator[Section]:
    """Yield the sections; each is computed when it is requested."""
    study = AdultStudy(context)
    # The first table loads and compiles code; a throwaway run keeps that out of the measured preparation.
    AdultStudy(context).of(negotiation_study.SIZES[0])
    yield from negotiation_suppression.suppression_sections(study)
    yield growth_section(study)
    yield negotiation_suppression.histogram_section(study)
    yield from negotiation_diversity.diversity_sections(study)
    yield from request_sections(study)
    yield walk_through_section(study)
    yield from cost_sections(study)
    yield from negotiation_ipums.ipums_sections(context)
