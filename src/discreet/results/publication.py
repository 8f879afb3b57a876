"""Which answer is published, and the release as a result that prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, NoSolution
from discreet.frequency.class_facts import failing_classes
from discreet.frequency.rollup import roll_up
from discreet.model.coded_warning import not_told
from discreet.model.criteria.registry import CRITERIA
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, height
from discreet.model.negotiation import Answer, Relaxation
from discreet.model.permuted_release import PermutationFacts
from discreet.model.read_only import ReadOnlyDict
from discreet.model.recoding import SuppressionPolicy
from discreet.model.release import Release
from discreet.model.release_address import ReleaseAddress
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    answer_lines,
    count,
    share,
    warnings_of,
)
from discreet.printing.printed import Printed
from discreet.results.answers import AnswerResult, NegotiationResult, answers_grid
from discreet.results.audit_result import AuditResult
from discreet.results.beside_releases import BesideRelease, beside_document
from discreet.results.requests import Levels

if TYPE_CHECKING:
    from discreet.results.recodings import RecodingFacts


@dataclass(frozen=True, repr=False)
class ReleaseResult(Printed):
    """A release in place: where it lies, what it carries out, and what its audit found.

    That is the ``answer`` of a full-domain release, and the ``recoding`` of a release by another model.
    ``beside`` are earlier releases of the same people that the register knows.
    """

    release: Release
    answer: AnswerResult | None = None
    recoding: RecodingFacts | None = None
    beside: tuple[BesideRelease, ...] = ()

    @property
    def address(self) -> ReleaseAddress:
        """Where the release lies: give it to ``discreet.audit`` and the like."""
        return self.release.address

    @property
    def path(self) -> Path:
        """The published file or folder."""
        return self.release.path

    @property
    def manifest_path(self) -> Path:
        """Its manifest."""
        return self.release.manifest_path

    @property
    def model(self) -> str:
        """The recoding model, by the taxonomy's name, or ``permutation``."""
        return self.release.model

    @property
    def permutation(self) -> PermutationFacts | None:
        """The groups and further files of a permuted release."""
        return self.release.permutation

    @property
    def levels(self) -> ReadOnlyDict[str, int]:
        """The level of each quasi-identifier; none where classes have no level in common."""
        return ReadOnlyDict(self.release.levels, "the levels of a release")

    @property
    def suppressed(self) -> int:
        """Rows that were suppressed."""
        return self.release.suppressed

    @property
    def audit(self) -> AuditResult:
        """What the audit of the written file found."""
        return AuditResult(self.release.audit)

    @property
    def asks_original(self) -> bool:
        """Whether an audit of the release must be told of the original, by the publisher's spec."""
        return any(found.criterion.asks_original for found in self.release.audit.criteria)

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet publish --json``."""
        document, facts = self.release.as_json(), self.release.permutation
        if self.beside:
            document = {**document, "beside": [one.as_json() for one in self.beside]}
        if facts is not None:
            return {**document, "relaxed": None, "k": facts.k, "e": str(facts.e), "l": None}
        if self.answer is not None:
            return {**document, "relaxed": self.answer.relaxed, **self.answer.answer.requirement.as_json()}
        if self.recoding is None:
            return document
        asked = self.recoding.requirement
        return {
            **document,
            "relaxed": None,
            **asked.as_json(),
            "recoding": self.recoding.as_json(),
        }

    def document(self) -> Document:
        """The paths, what was asked, the levels, the audit."""
        release = self.release
        if release.permutation is not None:
            return self._permuted(release.permutation)
        done, grid = self._carried_out()
        lines, others = answer_lines((self._published(done),), release.warnings)
        return (
            *lines,
            BLANK,
            *grid,
            *self._audited().document(),
            *warnings_of(others),
            *beside_document(self.beside),
        )

    def _audited(self) -> AuditResult:
        """The audit, without the warnings that the publication tells in its own words."""
        report = self.release.audit
        return AuditResult(replace(report, warnings=not_told(report.warnings, self.release.warnings)))

    def _permuted(self, facts: PermutationFacts) -> Document:
        """The files of a permuted release, its groups, and what it does not protect."""
        release = self.release
        rows = (
            ("permuted within groups", facts.sensitive),
            ("groups", f"{facts.groups:,}, in the column {facts.group_column}"),
            ("partition", facts.partition),
            ("levels", ", ".join(f"{name} {n}" for name, n in release.levels.items() if n) or "all 0"),
            *self._files(facts),
        )
        done = self._published(f"{facts.requirement} by permutation")
        lines, others = answer_lines((done,), release.warnings)
        return (
            *lines,
            BLANK,
            Grid((Column(""), Column("", shrinks=True)), rows),
            BLANK,
            *self._audited().document(),
            *warnings_of(others),
        )

    def _published(self, done: str) -> Line:
        """Where the release and its manifest lie, and what was carried out."""
        label, manifest = self.release.address.label, self.release.manifest_address.label
        return Line(f"Published {label} for {done}; the manifest is {manifest}.", Tone.GOOD)

    def _files(self, facts: PermutationFacts) -> list[tuple[str, str]]:
        """The files or tables of a permuted release, by what they hold."""
        data = self.release.address.name if facts.table is None else f"table {facts.table}"
        return [
            ("data", data),
            *(
                (f"{name} table", str(file.file) if file.table is None else f"table {file.table}")
                for name, file in facts.files.items()
            ),
        ]

    def _carried_out(self) -> tuple[str, Document]:
        """What the release carries out, in words and as a grid."""
        if self.answer is not None:
            relaxed = f", with {self.answer.relaxed} relaxed" if self.answer.relaxed else ""
            grid = answers_grid((self.answer,), title="release")
            return f"{self.answer.answer.requirement}{relaxed}", (grid, BLANK)
        if self.recoding is None:
            return self.model, ()
        return f"{self.recoding.requirement}", (self.recoding.grid(), BLANK)


def policy_of(text: str) -> SuppressionPolicy:
    """``drop`` or ``star``; ``InputError`` for anything else."""
    if text not in tuple(SuppressionPolicy):
        raise InputError(f"suppressed rows: '{text}'", allowed=", ".join(SuppressionPolicy))
    return SuppressionPolicy(text)


def relaxation_of(text: str | None, requirement: Requirement) -> str | None:
    """The relaxation that is accepted, or None; ``InputError`` for a text that names none.

    Any criterion's name does: whether it is asked shows in the answers.
    """
    known = (*Relaxation, *CRITERIA.names(), *requirement.names)
    if text is not None and text not in known:
        raise InputError(f"accept '{text}'", allowed=", ".join(dict.fromkeys(known)))
    return text


def accepted_answer(result: NegotiationResult, relaxation: str | None) -> AnswerResult:
    """The exact answer, or the accepted relaxation; ``NoSolution`` where there is neither."""
    if result.exact is not None:
        return result.exact
    wish = f"{result.request.requirement} with at most {result.request.max_suppressed} rows suppressed"
    if relaxation is None:
        found = ", ".join(str(a.relaxed) for a in result.answers)
        raise NoSolution(
            f"no node within the levels asked meets {wish}",
            allowed=f"--accept with one of {found}" if found else None,
            advice="discreet negotiate shows what each relaxation means. Nothing was written.",
        )
    answer = result.relaxation(relaxation)
    if answer is None:
        raise NoSolution(
            f"no node meets {wish}, not even with {relaxation} relaxed",
            advice="discreet negotiate shows the relaxations that there are. Nothing was written.",
        )
    return answer


def node_of_levels(
    lattice: Lattice, levels: Levels, min_level: Levels | Sequence[tuple[str, int]]
) -> LatticeNode:
    """The node of given levels; where none is named the least level that is asked, else 0.

    ``InputError`` for a level out of range or below the least.
    """
    least = lattice.node_of(min_level, lattice.bottom)
    node = lattice.node_of(levels, least)
    for name, level, minimum in zip(lattice.attributes, node, least, strict=True):
        if level < minimum:
            raise InputError(
                f"level {level} of '{name}' is below its least level, {minimum}",
                allowed=f"{minimum} or more",
                advice="Raise the level, or lower min_level in the spec's [request].",
            )
    return node


def answer_within_limit(
    lattice: Lattice, node: LatticeNode, request: Request, suppressed: int, rows: int
) -> AnswerResult:
    """A node as an answer; ``NoSolution`` where it suppresses all rows, or more than the request allows."""
    answer = AnswerResult(Answer(None, node, request.requirement, suppressed), lattice, rows)
    require_rows_left(answer)
    limit = request.max_suppressed.of(rows)
    if suppressed > limit:
        raise NoSolution(
            f"these levels (height {height(node)}) suppress {suppressed:,} of {rows:,} rows "
            f"({share(suppressed, rows)}) for {request.requirement}",
            allowed=f"at most {count(limit, 'row')} (--max-suppressed)",
            advice=f"Raise a level, or allow --max-suppressed {suppressed}. Nothing was written.",
        )
    return answer


def suppressed_rows(frequency_set: FrequencySet, node: LatticeNode, requirement: Requirement) -> int:
    """The rows that one node suppresses, its lattice unseen."""
    classes = roll_up(frequency_set, node)
    failing = failing_classes(
        frequency_set, classes.class_of, classes.classes, requirement, classes.population, classes.codes
    )
    return int(classes.counts[failing].sum())


def require_rows_left(answer: AnswerResult | None) -> AnswerResult:
    """The answer itself; ``NoSolution`` where there is none, or where it suppresses every row."""
    if answer is None:
        raise NoSolution(
            "there is no answer to publish",
            advice="Publish wish.exact, or a relaxation that has a solution. Nothing was written.",
        )
    if answer.suppressed >= answer.rows:
        raise NoSolution(
            f"every one of the {answer.rows:,} rows would be suppressed, and nothing would be left",
            advice=f"Allow higher levels, or {answer.answer.requirement.relaxing}. Nothing was written.",
        )
    return answer
