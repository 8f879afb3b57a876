"""What a negotiation answers, printed: attributes down, answers across."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.model.cost_value import cost_in_json, cost_text
from discreet.model.criteria.base import Criterion
from discreet.model.lattice import Lattice, height
from discreet.model.negotiation import Answer, Negotiation, Relaxation, relaxations_of
from discreet.model.read_only import ReadOnlyDict
from discreet.model.request import Request
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    answer_lines,
    count,
    rows_and_share,
    share,
    warning_lines,
)
from discreet.printing.printed import Printed
from discreet.results.basis import PartialBasis


@dataclass(frozen=True, repr=False)
class AnswerResult(Printed):
    """One answer: a node, what it was asked to meet, and how many rows it suppresses.

    ``cost`` is that of the node under the cost named ``cost_name``, where one was asked.
    """

    answer: Answer
    lattice: Lattice
    rows: int
    cost: float | None = None
    cost_name: str | None = None

    @property
    def relaxed(self) -> str | None:
        """The part of the request that gives way; None where the answer is exact."""
        return None if self.answer.relaxed is None else str(self.answer.relaxed)

    @property
    def levels(self) -> ReadOnlyDict[str, int]:
        """The level of each quasi-identifier; read-only, since the answer decides what is published."""
        return ReadOnlyDict(self.lattice.levels_of(self.answer.node), "the levels of an answer")

    @property
    def height(self) -> int:
        """The sum of the levels."""
        return height(self.answer.node)

    @property
    def k(self) -> int | None:
        """The k that holds; None where none was asked."""
        return self.answer.requirement.k

    @property
    def l(self) -> int | dict[str, int] | None:  # noqa: E743
        """The l that holds; None where none was asked."""
        return self.answer.requirement.l_as_json()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Every criterion that holds, k and l among them, each with its value."""
        return self.answer.requirement.criteria

    @property
    def suppressed(self) -> int:
        """Rows that are suppressed."""
        return self.answer.suppressed

    def as_json(self) -> dict[str, Any]:
        """The contract's form of one answer; ``cost`` is there where one was asked."""
        told = {} if self.cost_name is None else {"cost": cost_in_json(self.cost)}
        return self.answer.as_json(self.lattice) | told

    def document(self) -> Document:
        """One column: levels, height, each criterion's value, and suppressed rows."""
        return (answers_grid((self,)),)


@dataclass(frozen=True, repr=False)
class NegotiationResult(Printed):
    """The exact answer to a request, or the relaxations.

    ``basis`` tells of the partial lattice that answered; None where every node was known. ``costs`` are those
    of the answers under the cost named ``cost_name``, where one was asked. ``warnings`` are about the rows of
    the table.
    """

    negotiation: Negotiation
    request: Request
    basis: PartialBasis | None = None
    costs: tuple[float, ...] = ()
    cost_name: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """``exact`` or ``relaxed``."""
        return self.negotiation.outcome

    @property
    def rows(self) -> int:
        """Rows after the NULL policy."""
        return self.negotiation.rows

    @property
    def is_proven(self) -> bool:
        """Whether no lower node can be the answer, or none is there: always where every node was known."""
        if self.basis is None:
            return True
        if self.exact is None:
            return self.basis.bound.suppressed > self.request.max_suppressed.of(self.rows)
        return self.basis.bound.heights[0] >= self.exact.height

    @property
    def answers(self) -> tuple[AnswerResult, ...]:
        """The exact answer alone, or one answer per relaxation that has a solution."""
        lattice, found = self.negotiation.lattice, self.negotiation.answers
        costs = self.costs if self.cost_name is not None else (None,) * len(found)
        return tuple(
            AnswerResult(a, lattice, self.rows, cost, self.cost_name)
            for a, cost in zip(found, costs, strict=True)
        )

    @property
    def exact(self) -> AnswerResult | None:
        """The exact answer, where there is one."""
        return next((a for a in self.answers if a.relaxed is None), None)

    def relaxation(self, relaxed: Relaxation | str) -> AnswerResult | None:
        """The answer that relaxes ``max_suppressed``, ``height`` or a criterion by name; None without any."""
        return next((a for a in self.answers if a.relaxed == relaxed), None)

    def as_json(self) -> dict[str, Any]:
        """The contract's document of ``discreet negotiate --json``."""
        document = self.negotiation.as_json()
        if self.cost_name is not None:
            document |= {"cost": self.cost_name, "answers": [answer.as_json() for answer in self.answers]}
        document |= {"warnings": list(self.warnings)}
        return document if self.basis is None else document | self.basis.as_json()

    def sentences(self) -> Document:
        """The outcome in words, the warnings, and what a partial lattice proves."""
        lines, others = answer_lines(self._outcome_lines(), self.warnings)
        lines = (*lines, *warning_lines(others))
        if self.basis is None:
            return lines
        limit = self.request.max_suppressed.of(self.rows)
        return (*lines, BLANK, *self.basis.lines(self.negotiation, limit))

    def document(self) -> Document:
        """The outcome in words, and the answers side by side."""
        lines = self.sentences()
        if not self.answers:
            return lines
        if self.exact is None:
            lines = (*lines, Line("Each column below gives way on one part of the request:"))
        return (*lines, BLANK, answers_grid(self.answers, dict(self.request.max_level)))

    def _outcome_lines(self) -> Document:
        limit = self.request.max_suppressed
        allowed = f"{limit.of(self.rows):,}" + (f" ({limit})" if limit.percent is not None else "")
        if self.exact is not None:
            part = rows_and_share(self.exact.suppressed, self.rows)
            return (
                Line(
                    f"Exact answer: {self.request.requirement} holds with {part} of "
                    f"{count(self.rows, 'row')} suppressed; at most {allowed} were allowed.",
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
            return " Within the levels asked, every row must be suppressed." if every else ""
        part = rows_and_share(fewest.suppressed, self.rows)
        rows = count(self.rows, "row")
        if self.basis is not None and self.basis.bound.suppressed < fewest.suppressed:
            return f" The nodes looked at suppress at least {part} of {rows}; at most {allowed} may be."
        return (
            f" Within the levels asked, at least {part} of {rows} must be suppressed;"
            f" at most {allowed} may be."
        )

    def _flags(self) -> list[Line]:
        asked = relaxations_of(self.request.requirement)
        without = [part for part in asked if self.relaxation(part) is None]
        if not without:
            return []
        found = "" if self.basis is None else " among the nodes looked at"
        return [Line(f"No solution by relaxing {' or '.join(without)}{found}.", Tone.WARNING)]


def answers_grid(
    answers: tuple[AnswerResult, ...], max_level: Mapping[str, int] | None = None, title: str = "exact"
) -> Grid:
    """Attributes down, answers across; a level above ``max_level`` shows by how much.

    ``title`` heads an answer that relaxes nothing.
    """
    if not answers:
        return Grid((), ())
    limits = max_level or {}
    first = answers[0]
    columns = (Column(""), *(Column(a.relaxed or title, right=True) for a in answers))
    rows = [
        (name, *(_level(a.levels[name], top, limits.get(name)) for a in answers))
        for name, top in zip(first.lattice.attributes, first.lattice.heights, strict=True)
    ]
    rows.append(("height", *(f"{a.height}" for a in answers)))
    for criterion in first.criteria:
        rows.append((criterion.label, *(_value_of(criterion, a) for a in answers)))
    if first.cost_name is not None:
        rows.append((f"cost, {first.cost_name}", *(cost_text(a.cost) for a in answers)))
    rows.append(("suppressed", *(f"{a.suppressed:,}" for a in answers)))
    rows.append(("of the rows", *(share(a.suppressed, a.rows) for a in answers)))
    return Grid(columns, tuple(rows))


def _level(level: int, top: int, limit: int | None) -> str:
    above = f" (+{level - limit})" if limit is not None and level > limit else ""
    return f"{level} of {top}{above}"


def _value_of(criterion: Criterion, answer: AnswerResult) -> str:
    value = next(c.value for c in answer.criteria if c.score == criterion.score)
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"
