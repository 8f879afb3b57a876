"""The walk-through of the slides: one request on the lattice of three attributes, annotated as there."""

from __future__ import annotations

from discreet.model.lattice import LatticeNode
from discreet.model.negotiation import Answer
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.plots.lattice import lattice_picture
from discreet.reproduce.negotiation import paper
from discreet.reproduce.negotiation.paper import node_text
from discreet.reproduce.negotiation.study import Prepared, Study
from discreet.reproduce.section import Cell, ComparedTable, Plot, Section

_NONE = "no solution"
_ATTRIBUTES = ("age", "work_class", "race")
_TOLD = paper.FIGURES["walk_through"]
_EXACT_LIMIT, _RELAXED_LIMIT = 20, 8


def section(study: Study) -> Section:
    """The answers, and the lattice with the suppressed rows of every node."""
    prepared = study.of_attributes(_ATTRIBUTES)
    text = (
        f"The slides ask for k = {_TOLD['k']} within {_TOLD['levels']}, levels in the order "
        f"{', '.join(_ATTRIBUTES)}; the experiments order age, race, work_class."
    )
    return Section("The walk-through", text, (_answers(study, prepared),), (_plot(prepared),))


def suppressed_rows(prepared: Prepared, k: int) -> dict[LatticeNode, int]:
    """The suppressed rows of every node."""
    suppressed = prepared.evaluated.suppression(Requirement(k=k)).tolist()
    return dict(zip(prepared.evaluated.lattice.nodes(), suppressed, strict=True))


def _plot(prepared: Prepared) -> Plot:
    k, asked = int(_TOLD["k"]), paper.node_of(_TOLD["levels"])
    notes = {node: f"{rows:,}" for node, rows in suppressed_rows(prepared, k).items()}
    within = [node for node in notes if all(a <= b for a, b in zip(node, asked, strict=True))]
    marked = {f"asked: {node_text(asked)}": asked}
    for limit in (_EXACT_LIMIT, _RELAXED_LIMIT):
        for answer in prepared.negotiator.negotiate(_request(limit)).answers:
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
        lattice_picture(title, notes, within=within, marked=marked, description=caption),
        caption,
    )


def _request(limit: int) -> Request:
    return paper.request_of("k", int(_TOLD["k"]), str(_TOLD["levels"]), limit, names=_ATTRIBUTES)


def _answers(study: Study, prepared: Prepared) -> ComparedTable:
    exact, relaxed = (_words(prepared, limit) for limit in (_EXACT_LIMIT, _RELAXED_LIMIT))
    compare = study.judge.compare
    ours = exact.get("exact", _NONE)
    cell = compare("walk_through", "within 20 rows, exact", ours, _TOLD["exact_within_20"])
    rows: list[tuple[Cell, ...]] = [("exact, within 20 rows", cell)]
    for part, value in _TOLD["relaxed_within_8"].items():
        ours = relaxed.get(part, "No solution")
        cell = compare("walk_through", f"within 8 rows, {part} relaxed", ours, value)
        rows.append((f"{part} relaxed, within 8 rows", cell))
    return ComparedTable("walk_through", "Answers", ("answer", "ours / printed"), tuple(rows))


def _words(prepared: Prepared, limit: int) -> dict[str, str]:
    """Our answers in the slide's words, by what is relaxed."""
    answers = prepared.negotiator.negotiate(_request(limit)).answers
    return {str(answer.relaxed or "exact"): _worded(answer) for answer in answers}


def _worded(answer: Answer) -> str:
    node, part = node_text(answer.node), str(answer.relaxed or "exact")
    if part == "height":
        return f"{node}, height {sum(answer.node)}"
    if part == "k":
        return f"{node}, k = {answer.requirement.k}"
    return f"{node}, {answer.suppressed} rows"
