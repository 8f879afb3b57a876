"""Negotiation by local recoding, and its result: a grid of greatest levels by attribute and answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.local.local_answers import LocalAnswer, LocalNegotiation, negotiate_local
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import node_height
from discreet.model.request import Request
from discreet.model.search_result import Relaxation
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
from discreet.results.recoding_result import RecodingResult
from discreet.verbs.class_warnings import ClassParts, class_warnings
from discreet.verbs.table_context import TableContext

if TYPE_CHECKING:
    from discreet.verbs.models.generalization_models import Local
    from discreet.verbs.run_context import Reporter


@dataclass(frozen=True, repr=False)
class LocalNegotiationResult(Printable):
    """Exact answer to a request by local recoding, or the relaxations.

    ``warnings`` are about the rows of the table.

    >>> table.negotiate_local(k=10, max_suppressed="1%").exact  # doctest: +SKIP
    """

    negotiation: LocalNegotiation
    request: Request
    frequency_set: FrequencySet
    numeric: Mapping[str, bool]
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """Outcome: ``exact`` or ``relaxed``."""
        return self.negotiation.outcome

    @property
    def answers(self) -> tuple[LocalAnswer, ...]:
        """Exact answer only, or one answer per relaxation that has a solution."""
        return self.negotiation.answers

    @property
    def exact(self) -> LocalAnswer | None:
        """Exact answer, if there is one."""
        return self.negotiation.exact

    def relaxation(self, relaxed: Relaxation | str) -> LocalAnswer | None:
        """Return the answer that relaxes ``max_suppressed``, ``height``, ``k`` or ``l``; None without one."""
        return self.negotiation.relaxation(relaxed)

    def recoding(self, relaxed: Relaxation | str | None = None) -> RecodingResult | None:
        """Return an answer as a recoding for ``Table.publish``; without ``relaxed`` the exact one."""
        answer = self.exact if relaxed is None else self.relaxation(relaxed)
        if answer is None:
            return None
        local_recoding = answer.local_recoding
        work = (("rounds of improvement", f"{local_recoding.rounds:,}"),)
        return RecodingResult.of(
            self.frequency_set, local_recoding.recoding, str(local_recoding.shown), work, self.numeric
        )

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet negotiate --model local --json``."""
        return self.negotiation.as_json() | {"warnings": list(self.warnings)}

    def document(self) -> Document:
        """Return the outcome, the warnings, and a grid of the answers."""
        lines, others = answer_lines(self._outcome_lines(), self.warnings)
        grid = local_answers_grid(self.negotiation, dict(self.request.max_level))
        return (*lines, *warning_lines(others), BLANK, grid)

    def _outcome_lines(self) -> Document:
        rows = self.negotiation.rows
        limit = self.request.max_suppressed.of(rows)
        requirement = self.request.requirement
        if self.exact is not None:
            part = format_rows(self.exact.local_recoding.suppressed, rows)
            text = (
                f"Exact answer by local recoding: {requirement} holds with {part} of "
                f"{format_quantity(rows, 'row')} suppressed; at most {limit:,} were allowed. "
                "Levels are the highest that a cell may show."
            )
            return (Line(text, Tone.GOOD),)
        lines = [Line(f"No exact answer for {requirement} by local recoding.{self._reason(limit)}", Tone.BAD)]
        if self.answers:
            lines.append(Line("Each column below relaxes one part of the request:"))
        else:
            lines.append(Line("No single relaxation has a solution.", Tone.WARNING))
        return tuple(lines)

    def _reason(self, limit: int) -> str:
        fewest = self.relaxation(Relaxation.MAX_SUPPRESSED)
        if fewest is None:
            return " Within the level bounds, every row must be suppressed."
        part = format_rows(fewest.local_recoding.suppressed, self.negotiation.rows)
        return (
            f" Within the level bounds, at least {part} of "
            f"{format_quantity(self.negotiation.rows, 'row')} must be "
            f"suppressed under any recoding; at most {limit:,} may be."
        )


def local_answers_grid(negotiation: LocalNegotiation, max_level: Mapping[str, int]) -> Grid:
    """Build a grid with a row per attribute and a column per answer, and the granularity of each."""
    answers, lattice = negotiation.answers, negotiation.lattice
    if not answers:
        return Grid((), ())

    def level(answer: LocalAnswer, i: int, name: str, top: int) -> str:
        above = answer.node[i] - max_level.get(name, top)
        return f"{answer.node[i]} of {top}" + (f" (+{above})" if above > 0 else "")

    rows = [
        (name, *(level(a, i, name, top) for a in answers))
        for i, (name, top) in enumerate(zip(lattice.attributes, lattice.heights, strict=True))
    ]
    rows.append(("height", *(f"{node_height(a.node)}" for a in answers)))
    rows.append(("requirement", *(str(a.requirement) for a in answers)))
    rows.append(("suppressed", *(f"{a.local_recoding.suppressed:,}" for a in answers)))
    rows.append(
        ("of the rows", *(format_share(a.local_recoding.suppressed, negotiation.rows) for a in answers))
    )
    rows.append(("classes", *(f"{a.local_recoding.classes:,}" for a in answers)))
    rows.append(("granularity kept", *(f"{a.local_recoding.granularity:.4f}" for a in answers)))
    if all(a.local_recoding.bound is not None for a in answers):
        rows.append(("at most (proven)", *(f"{a.local_recoding.bound:.4f}" for a in answers)))
        rows.append(("gap", *(f"{a.local_recoding.gap:.4f}" for a in answers)))
    columns = (Column(""), *(Column(a.relaxed or "exact", right=True) for a in answers))
    return Grid(columns, tuple(rows))


def negotiate_locally(
    table: TableContext, request: Request, reporter: Reporter, model: Local, *, bound: bool
) -> LocalNegotiationResult:
    """Answer a request by local recoding of a table (see ``Table.negotiate_local``)."""
    with reporter.stage("Recoding locally"):
        negotiation = negotiate_local(
            table.frequency_set,
            request,
            table.settings,
            weights={a.name: a.weight for a in table.spec.quasi_identifiers},
            notice=reporter.notice,
            effort=model.effort,
            seed=model.seed,
            time_budget=model.time_budget,
            summary=model.summary,
            bound=bound,
        )
    counted, warnings = table.frequency_set, table.warnings
    if negotiation.answers:
        answer = negotiation.answers[0]
        parts = ClassParts.of_recoding(counted, answer.local_recoding.recoding)
        warnings = class_warnings(table, parts, answer.requirement)
    return LocalNegotiationResult(negotiation, request, counted, table.spec.numeric, warnings)
