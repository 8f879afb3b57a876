"""The requests that the paper prints with their answers, and those that it asks beside."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.model.negotiation import Answer
from discreet.reproduce.comparison import Figure
from discreet.reproduce.negotiation import paper
from discreet.reproduce.negotiation.paper import PrintedAnswer, PrintedRequest, node_text
from discreet.reproduce.negotiation.study import Study
from discreet.reproduce.section import Cell, ComparedTable, Section

_NONE = "no solution"


def sections(study: Study) -> Iterator[Section]:
    """Requests for k, for l, with other limits; node numbers."""
    yield Section(
        "Requests for k",
        f"At most {paper.MAX_SUPPRESSED} suppressed rows. Where there is no exact answer, each part gives "
        "way in turn; relaxing the height starts at the height of the request's own node.",
        (_answers(study, "k"),),
    )
    yield Section(
        "Requests for l",
        f"The same for distinct l of {paper.SENSITIVE}.",
        (_answers(study, "l"),),
    )
    yield Section(
        "Requests with other limits of suppressed rows",
        "The paper asks these too and prints only charts of what they cost.",
        (_other_limits(study),),
    )
    yield Section(
        "Node numbers",
        "Nodes count from 1 with the last attribute slowest and otherwise the one before it fastest: the "
        "order that the tie rule keeps.",
        (_node_numbers(study),),
    )


def asked(study: Study, privacy: str | None = None) -> list[PrintedRequest]:
    """The printed requests of the study's sizes, for k, for l or for both."""
    return [
        request
        for request in paper.printed_requests()
        if len(request.levels) in study.sizes and privacy in (None, request.privacy)
    ]


def _answers(study: Study, privacy: str) -> ComparedTable:
    rows: list[tuple[Cell, ...]] = []
    for request in asked(study, privacy):
        prepared = study.of(len(request.levels), privacy)
        negotiation = prepared.negotiator.negotiate(request.request())
        ours = {None if a.relaxed is None else str(a.relaxed): a for a in negotiation.answers}
        name = f"{privacy} = {request.value}, {request.levels}"
        parts = dict(request.answers)
        # What we answer and the paper does not belongs in the table too.
        for place, part in enumerate(dict.fromkeys([*parts, *ours])):
            cells = _answer_cells(study, request, part, ours.get(part), parts.get(part))
            rows.append(("" if place else name, part or "exact", *cells))
    title = f"QI {', '.join(str(s) for s in study.sizes)}; {privacy} and levels vary"
    columns = ("request", "relaxed", "node", "suppressed", privacy)
    return ComparedTable(f"requests_{privacy}", title, columns, tuple(rows))


def _answer_cells(
    study: Study,
    request: PrintedRequest,
    part: str | None,
    ours: Answer | None,
    printed: PrintedAnswer | None,
) -> tuple[Cell, ...]:
    """Node and suppressed rows; k or l where that is what gives way."""
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


def _other_limits(study: Study) -> ComparedTable:
    grid = paper.FIGURES["grid"]
    rows: list[tuple[Cell, ...]] = []
    for privacy, value in (("k", grid["k"][1]), ("l", grid["l"][1])):
        for size in study.sizes:
            levels = grid["levels"][str(size)][1]
            for limit in (grid["max_suppressed"][0], grid["max_suppressed"][2]):
                request = paper.request_of(privacy, value, levels, limit)
                answers = study.of(size, privacy).negotiator.negotiate(request).answers
                told = {str(a.relaxed or "exact"): f"{node_text(a.node)}: {a.suppressed:,}" for a in answers}
                weaker = [a for a in answers if str(a.relaxed) == privacy]
                if weaker:
                    told[privacy] += f" ({privacy} = {getattr(weaker[0].requirement, privacy)})"
                parts = ("exact", "max_suppressed", "height", privacy)
                request_name = f"{privacy} = {value}, {levels}, {limit:,} rows"
                rows.append((request_name, *(told.get(part, "–") for part in parts)))
    columns = ("request", "exact", "max_suppressed", "height", "k or l")
    return ComparedTable("requests_limit", "Node: suppressed rows", columns, tuple(rows))


def _node_numbers(study: Study) -> ComparedTable:
    found: dict[str, PrintedAnswer] = {}
    for request in asked(study):
        for _, answer in request.answers:
            if answer is not None:
                found.setdefault(answer.levels, answer)
    rows = []
    for levels, answer in sorted(found.items(), key=lambda item: (len(item[0]), item[1].number)):
        heights = study.of(len(levels)).evaluated.lattice.heights
        number = paper.node_number(heights, paper.node_of(levels))
        rows.append(
            (f"QI {len(levels)}", levels, study.judge.compare("node_numbers", levels, number, answer.number))
        )
    return ComparedTable("node_numbers", "Node numbers", ("", "node", "number"), tuple(rows))
