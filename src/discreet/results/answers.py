"""Results of a negotiation: the exact answer or the relaxations, and the bounds of a partial lattice.

A grid shows attributes down and answers across. If only a part of the lattice was counted,
``PartialEvidence`` reports the counted nodes, their selection metric and the proven bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.model.criteria.base import Criterion
from discreet.model.lattice import Lattice, node_height
from discreet.model.request import Request
from discreet.model.search_result import (
    Answer,
    Negotiation,
    ReadOnlyDict,
    Relaxation,
    cost_as_json,
    format_cost,
    relaxable_names,
)
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    answer_lines,
    format_quantity,
    format_rows,
    format_share,
    warning_lines,
)
from discreet.printing.rendering import Printable

if TYPE_CHECKING:
    from discreet.negotiation.partial_lattice import PreparationTimes
    from discreet.negotiation.partial_negotiation import ProvenBound


@dataclass(frozen=True)
class PartialEvidence:
    """Partial lattice behind an answer: its size, selection metric, cost and proven bound.

    ``nodes`` of ``of`` nodes are in it. ``runtime``: the request's own node was counted. ``descended``:
    answers descended to minimal nodes. ``counted`` is the number of nodes counted since the preparation.
    """

    nodes: int
    of: int
    metric: str
    runtime: bool
    descended: bool
    counted: int
    nbytes: int
    preparation: PreparationTimes
    bound: ProvenBound

    def as_json(self) -> dict[str, Any]:
        """Return the keys that a partial lattice adds to ``negotiate --json``."""
        return {
            "lattice": "partial",
            "partial": {
                "nodes": self.nodes,
                "of": self.of,
                "metric": self.metric,
                "runtime": self.runtime,
                "descended": self.descended,
                "counted": self.counted,
                "bytes": self.nbytes,
                "seconds": {
                    "level_statistics": self.preparation.level_statistics,
                    "node_scores": self.preparation.node_scores,
                    "histograms": self.preparation.histograms,
                },
            },
            "bound": self.bound.as_json(),
        }

    def lines(self, negotiation: Negotiation, limit: int) -> Document:
        """Return a description of the counted nodes, and the proven statements."""
        more = f" and {self.counted:,} more at run time" if self.counted else ""
        looked = Line(
            f"Answered from a partial lattice: {format_quantity(self.nodes, 'node')} of {self.of:,} "
            f"({format_share(self.nodes, self.of)}, ranked by {self.metric}){more}.",
            Tone.HINT,
        )
        return (looked, *(Line(f"Proven: {text}", Tone.HINT) for text in self._proven(negotiation, limit)))

    def _proven(self, negotiation: Negotiation, limit: int) -> list[str]:
        result = []
        if negotiation.exact is None:
            fewest = self.bound.suppressed
            none = ", so there is no exact answer" if fewest > limit else "; an exact answer may exist"
            result.append(
                f"at least {format_quantity(fewest, 'row')} must be suppressed within the levels{none}."
            )
            for name, largest in self.bound.largest:
                than = "above" if name in ("k", "l") else "stricter than"
                if largest is not None:
                    result.append(f"no {name} {than} {largest:,} is reached within the levels and the limit.")
        for answer, least in zip(negotiation.answers, self.bound.heights, strict=True):
            name = f"the relaxation of {answer.relaxed}" if answer.relaxed else "the exact answer"
            tall = node_height(answer.node)
            if least >= tall:
                result.append(f"no node lower than height {tall:,} is {name}.")
            else:
                result.append(f"{name} is not below height {least:,} (found: {tall:,}).")
        return result


@dataclass(frozen=True, repr=False)
class AnswerResult(Printable):
    """One answer: a node, the requirement that it meets, and its suppressed rows.

    ``cost`` is the node's cost under ``cost_name``, if one was requested.

    >>> table.negotiate(k=10).exact.levels  # doctest: +SKIP
    """

    answer: Answer
    lattice: Lattice
    rows: int
    cost: float | None = None
    cost_name: str | None = None

    @property
    def relaxed(self) -> str | None:
        """Relaxed part of the request; None for an exact answer."""
        return None if self.answer.relaxed is None else str(self.answer.relaxed)

    @property
    def levels(self) -> ReadOnlyDict[str, int]:
        """Level of each quasi-identifier; read-only, since the answer decides the release."""
        return ReadOnlyDict(self.lattice.levels_of(self.answer.node), "the levels of an answer")

    @property
    def height(self) -> int:
        """Sum of the levels."""
        return node_height(self.answer.node)

    @property
    def k(self) -> int | None:
        """k that holds; None if none was requested."""
        return self.answer.requirement.k

    @property
    def l(self) -> int | dict[str, int] | None:  # noqa: E743
        """l that holds; None if none was requested."""
        return self.answer.requirement.l_as_json()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Criteria that hold, including k and l, each with its value."""
        return self.answer.requirement.criteria

    @property
    def suppressed(self) -> int:
        """Number of suppressed rows."""
        return self.answer.suppressed

    def as_json(self) -> dict[str, Any]:
        """Return the contract's form of one answer; ``cost`` is included if one was requested."""
        cost = {} if self.cost_name is None else {"cost": cost_as_json(self.cost)}
        return self.answer.as_json(self.lattice) | cost

    def document(self) -> Document:
        """Return one column: levels, height, the value of each criterion, and suppressed rows."""
        return (answers_grid((self,)),)


@dataclass(frozen=True, repr=False)
class NegotiationResult(Printable):
    """Exact answer to a request, or the relaxations.

    ``basis`` describes the partial lattice of the answer; None if every node was counted. ``costs`` are those
    of the answers under ``cost_name``, if one was requested. ``warnings`` are about the rows of the table.

    >>> result = table.negotiate(k=10, max_suppressed="1%")  # doctest: +SKIP
    >>> result.exact or result.relaxation("k")  # doctest: +SKIP
    """

    negotiation: Negotiation
    request: Request
    basis: PartialEvidence | None = None
    costs: tuple[float, ...] = ()
    cost_name: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """Outcome: ``exact`` or ``relaxed``."""
        return self.negotiation.outcome

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""
        return self.negotiation.rows

    @property
    def is_proven(self) -> bool:
        """True if it is proven that no lower node is the answer, or that none exists.

        It is always true if every node was counted.
        """
        if self.basis is None:
            return True
        if self.exact is None:
            return self.basis.bound.suppressed > self.request.max_suppressed.of(self.rows)
        return self.basis.bound.heights[0] >= self.exact.height

    @property
    def answers(self) -> tuple[AnswerResult, ...]:
        """Exact answer only, or one answer per relaxation that has a solution."""
        lattice, found = self.negotiation.lattice, self.negotiation.answers
        costs = self.costs if self.cost_name is not None else (None,) * len(found)
        return tuple(
            AnswerResult(a, lattice, self.rows, cost, self.cost_name)
            for a, cost in zip(found, costs, strict=True)
        )

    @property
    def exact(self) -> AnswerResult | None:
        """Exact answer, if there is one."""
        return next((a for a in self.answers if a.relaxed is None), None)

    def relaxation(self, relaxed: Relaxation | str) -> AnswerResult | None:
        """Return the answer that relaxes ``max_suppressed``, ``height`` or a criterion; None without one."""
        return next((a for a in self.answers if a.relaxed == relaxed), None)

    def as_json(self) -> dict[str, Any]:
        """Return the contract's document of ``discreet negotiate --json``."""
        document = self.negotiation.as_json()
        if self.cost_name is not None:
            document |= {"cost": self.cost_name, "answers": [answer.as_json() for answer in self.answers]}
        document |= {"warnings": list(self.warnings)}
        return document if self.basis is None else document | self.basis.as_json()

    def sentences(self) -> Document:
        """Return the outcome, the warnings, and the statements that a partial lattice proves."""
        lines, others = answer_lines(self._outcome_lines(), self.warnings)
        lines = (*lines, *warning_lines(others))
        if self.basis is None:
            return lines
        limit = self.request.max_suppressed.of(self.rows)
        return (*lines, BLANK, *self.basis.lines(self.negotiation, limit))

    def document(self) -> Document:
        """Return the outcome, and a grid of the answers."""
        lines = self.sentences()
        if not self.answers:
            return lines
        if self.exact is None:
            lines = (*lines, Line("Each column below relaxes one part of the request:"))
        return (*lines, BLANK, answers_grid(self.answers, dict(self.request.max_level)))

    def _outcome_lines(self) -> Document:
        limit = self.request.max_suppressed
        allowed = f"{limit.of(self.rows):,}" + (f" ({limit})" if limit.percent is not None else "")
        if self.exact is not None:
            part = format_rows(self.exact.suppressed, self.rows)
            return (
                Line(
                    f"Exact answer: {self.request.requirement} holds with {part} of "
                    f"{format_quantity(self.rows, 'row')} suppressed; at most {allowed} were allowed.",
                    Tone.GOOD,
                ),
            )
        proven = self.basis is None or self.basis.bound.suppressed > limit.of(self.rows)
        found = "" if proven else " was found"
        text = f"No exact answer{found} for {self.request.requirement}.{self._reason(allowed)}"
        lines = [Line(text, Tone.BAD)]
        return (*lines, *self._flags())

    def _reason(self, allowed: str) -> str:
        fewest = self.relaxation(Relaxation.MAX_SUPPRESSED)
        if fewest is None:
            every = self.basis is None or self.basis.bound.suppressed >= self.rows
            return " Within the level bounds, every row must be suppressed." if every else ""
        part = format_rows(fewest.suppressed, self.rows)
        rows = format_quantity(self.rows, "row")
        if self.basis is not None and self.basis.bound.suppressed < fewest.suppressed:
            return f" The counted nodes suppress at least {part} of {rows}; at most {allowed} may be."
        return (
            f" Within the level bounds, at least {part} of {rows} must be suppressed;"
            f" at most {allowed} may be."
        )

    def _flags(self) -> list[Line]:
        relaxable = relaxable_names(self.request.requirement)
        without = [part for part in relaxable if self.relaxation(part) is None]
        if not without:
            return []
        found = "" if self.basis is None else " among the counted nodes"
        return [Line(f"No solution by relaxing {' or '.join(without)}{found}.", Tone.WARNING)]


def answers_grid(
    answers: tuple[AnswerResult, ...], max_level: Mapping[str, int] | None = None, title: str = "exact"
) -> Grid:
    """Build a grid with a row per attribute and a column per answer; levels above ``max_level`` are marked.

    ``title`` is the column title of an answer without relaxation.
    """
    if not answers:
        return Grid((), ())
    limits = max_level or {}
    first = answers[0]
    columns = (Column(""), *(Column(a.relaxed or title, right=True) for a in answers))
    rows = [
        (name, *(_level_text(a.levels[name], top, limits.get(name)) for a in answers))
        for name, top in zip(first.lattice.attributes, first.lattice.heights, strict=True)
    ]
    rows.append(("height", *(f"{a.height}" for a in answers)))
    for criterion in first.criteria:
        rows.append((criterion.label, *(_value_text(criterion, a) for a in answers)))
    if first.cost_name is not None:
        rows.append((f"cost, {first.cost_name}", *(format_cost(a.cost) for a in answers)))
    rows.append(("suppressed", *(f"{a.suppressed:,}" for a in answers)))
    rows.append(("of the rows", *(format_share(a.suppressed, a.rows) for a in answers)))
    return Grid(columns, tuple(rows))


def _level_text(level: int, top: int, limit: int | None) -> str:
    above = f" (+{level - limit})" if limit is not None and level > limit else ""
    return f"{level} of {top}{above}"


def _value_text(criterion: Criterion, answer: AnswerResult) -> str:
    value = next(c.value for c in answer.criteria if c.score == criterion.score)
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"
