"""Results of a publication: the release of one table or related tables, and the choice of the answer.

A release carries its address, answer or recoding, audit, and the intersection with earlier releases of the
same people. The functions at the end choose, check and count the answer that is published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, NoSolution
from discreet.frequency.fact_counter import find_failing_classes
from discreet.frequency.rollup import roll_up
from discreet.model.audit_report import Release
from discreet.model.coded_warnings import unreported_warnings
from discreet.model.criteria.registry import CRITERIA
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import Lattice, LatticeNode, node_height
from discreet.model.relational_schema import TABLES_MANIFEST_NAME, JointAnonymity
from discreet.model.release_address import ReleaseAddress
from discreet.model.release_kind import PermutedRelease
from discreet.model.request import Request
from discreet.model.requirement import Requirement
from discreet.model.search_result import Answer, ReadOnlyDict, Relaxation, SuppressionPolicy
from discreet.printing.document import (
    BLANK,
    Document,
    Grid,
    Line,
    Tone,
    answer_lines,
    format_quantity,
    format_share,
    make_columns,
    warning_block,
)
from discreet.printing.rendering import Printable
from discreet.results.answers import AnswerResult, NegotiationResult, answers_grid
from discreet.results.audit_result import AuditResult
from discreet.results.request_defaults import LevelsByAttribute

if TYPE_CHECKING:
    from discreet.results.recoding_result import RecodingFacts


@dataclass(frozen=True)
class ReleaseIntersection:
    """Intersection of a new release with an earlier one, as the intersection attack counts it.

    ``k`` is the size of the smallest common part; ``failing`` is the number of parts that do not meet the new
    release's requirement, ``rows`` the rows in them, ``unique_rows`` the number of rows that are the only one
    in their part. If the releases could not be compared, ``reason`` is set and there are no numbers.
    """

    name: str
    time: str
    k: int | None = None
    failing: int = 0
    rows: int = 0
    unique_rows: int = 0
    reason: str | None = None

    @property
    def safe(self) -> bool:
        """True if the intersection was counted, and no part fails."""
        return self.reason is None and not self.failing

    def as_json(self) -> dict[str, Any]:
        """Return the entry under ``intersections``."""
        if self.reason is not None:
            return {"release": self.name, "time": self.time, "reason": self.reason}
        return {
            "release": self.name,
            "time": self.time,
            "k": self.k,
            "failing_parts": self.failing,
            "rows": self.rows,
            "unique_rows": self.unique_rows,
        }


def describe_intersections(intersections: tuple[ReleaseIntersection, ...]) -> Document:
    """Return a grid of the earlier releases and their intersections with the new one."""
    if not intersections:
        return ()
    judged = [one for one in intersections if one.reason is None]
    uncounted = _names_by_reason(intersections)
    grid = Grid(
        make_columns(
            "earlier release", ">smallest part", ">parts that fail", ">rows in them", ">unique rows"
        ),
        tuple(
            (
                one.name,
                "–" if one.k is None else f"{one.k:,}",
                f"{one.failing:,}",
                f"{one.rows:,}",
                f"{one.unique_rows:,}",
            )
            for one in judged
        ),
    )
    bad = [one.name for one in judged if not one.safe]
    warning = Line(
        f"Do not publish it together with {', '.join(bad)}: their intersection does not meet the "
        "requirement. Use "
        "--previous-release RELEASE to find a safe node.",
        Tone.BAD,
    )
    return (
        BLANK,
        Line("Earlier releases of the same people are in the register.", Tone.HINT),
        *((grid,) if judged else ()),
        *((warning,) if bad else ()),
        *(
            Line(f"Not compared with {names}: {reason.rstrip('.')}.", Tone.WARNING)
            for reason, names in uncounted.items()
        ),
    )


def _names_by_reason(releases: Iterable[ReleaseIntersection]) -> dict[str, str]:
    """Return the names of releases that were not compared, by reason, with the count of repeated names."""
    found: dict[str, Counter[str]] = {}
    for one in releases:
        if one.reason is not None:
            found.setdefault(one.reason, Counter())[one.name] += 1
    return {
        reason: ", ".join(f"{name} ({n} times)" if n > 1 else name for name, n in names.items())
        for reason, names in found.items()
    }


@dataclass(frozen=True, repr=False)
class ReleaseResult(Printable):
    """Published release: its location, its answer or recoding, and its audit.

    ``answer`` is set for a full-domain release, ``recoding`` for a release by another model.
    ``intersections`` are earlier releases of the same people in the register.

    >>> release = table.publish(table.negotiate(k=10).exact, "release.csv")  # doctest: +SKIP
    """

    release: Release
    answer: AnswerResult | None = None
    recoding: RecodingFacts | None = None
    intersections: tuple[ReleaseIntersection, ...] = ()

    @property
    def address(self) -> ReleaseAddress:
        """Address of the release, for ``discreet.audit`` and other verbs."""
        return self.release.address

    @property
    def path(self) -> Path:
        """Path of the published file or folder."""
        return self.release.path

    @property
    def manifest_path(self) -> Path:
        """Path of the manifest."""
        return self.release.manifest_path

    @property
    def model(self) -> str:
        """Recoding model, by the taxonomy's name, or ``permutation``."""
        return self.release.model

    @property
    def permutation(self) -> PermutedRelease | None:
        """Groups and further files of a permuted release."""
        return self.release.permutation

    @property
    def levels(self) -> ReadOnlyDict[str, int]:
        """Level of each quasi-identifier; empty if classes have no common levels."""
        return ReadOnlyDict(self.release.levels, "the levels of a release")

    @property
    def suppressed(self) -> int:
        """Number of suppressed rows."""
        return self.release.suppressed

    @property
    def audit(self) -> AuditResult:
        """Audit of the written file."""
        return AuditResult(self.release.audit)

    @property
    def needs_original(self) -> bool:
        """True if an audit of the release needs the original, by the publisher's spec."""
        return any(found.criterion.needs_original for found in self.release.audit.criteria)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet publish --json``."""
        document, groups = self.release.as_json(), self.release.kind.requirement_json()
        if self.intersections:
            document = {**document, "intersections": [one.as_json() for one in self.intersections]}
        if groups:
            return {**document, "relaxed": None, **groups}
        if self.answer is not None:
            return {**document, "relaxed": self.answer.relaxed, **self.answer.answer.requirement.as_json()}
        if self.recoding is None:
            return document
        requirement = self.recoding.requirement
        return {
            **document,
            "relaxed": None,
            **requirement.as_json(),
            "recoding": self.recoding.as_json(),
        }

    def document(self) -> Document:
        """Return the paths, the request, the levels and the audit."""
        release = self.release
        done, grid = self._carried_out()
        lines, others = answer_lines((self._published(done),), release.warnings)
        return (
            *lines,
            BLANK,
            *grid,
            *self._audited().document(),
            *warning_block(others),
            *describe_intersections(self.intersections),
        )

    def _audited(self) -> AuditResult:
        """Return the audit without the warnings that the publication reports itself."""
        report = self.release.audit
        return AuditResult(
            replace(report, warnings=unreported_warnings(report.warnings, self.release.warnings))
        )

    def _published(self, done: str) -> Line:
        """Return a line with the locations of the release and its manifest, and the requirement."""
        label, manifest = self.release.address.label, self.release.manifest_address.label
        return Line(f"Published {label} for {done}; the manifest is {manifest}.", Tone.GOOD)

    def _file_rows(self) -> tuple[tuple[str, str], ...]:
        return self.release.kind.file_rows(self.release.address.name)

    def _carried_out(self) -> tuple[str, Document]:
        """Return the requirement or model of the release, in words and as a grid."""
        if self.answer is not None:
            relaxed = f", with {self.answer.relaxed} relaxed" if self.answer.relaxed else ""
            grid = answers_grid((self.answer,), title="release")
            return f"{self.answer.answer.requirement}{relaxed}", (grid, BLANK)
        if self.recoding is None:
            rows = (*self.release.kind.release_rows(self.release.levels), *self._file_rows())
            facts = (Grid(make_columns("", "~"), rows), BLANK) if rows else ()
            return self.release.kind.title(self.model), facts
        return f"{self.recoding.requirement}", (self.recoding.grid(), BLANK)


def parse_suppression_policy(text: str) -> SuppressionPolicy:
    """Parse ``drop`` or ``star``; raise ``InputError`` for another text."""
    if text not in tuple(SuppressionPolicy):
        raise InputError(f"suppressed rows: '{text}'", allowed=", ".join(SuppressionPolicy))
    return SuppressionPolicy(text)


def parse_relaxation(text: str | None, requirement: Requirement) -> str | None:
    """Return the accepted relaxation, or None; raise ``InputError`` for an unknown one.

    Any criterion's name is valid: the answers show whether the criterion was requested.
    """
    known = (*Relaxation, *CRITERIA.names(), *requirement.names)
    if text is not None and text not in known:
        raise InputError(f"accept '{text}'", allowed=", ".join(dict.fromkeys(known)))
    return text


def choose_answer(result: NegotiationResult, relaxation: str | None) -> AnswerResult:
    """Return the exact answer, or the accepted relaxation; raise ``NoSolution`` without either."""
    if result.exact is not None:
        return result.exact
    wish = f"{result.request.requirement} with at most {result.request.max_suppressed} rows suppressed"
    if relaxation is None:
        found = ", ".join(str(a.relaxed) for a in result.answers)
        raise NoSolution(
            f"no node within the level bounds meets {wish}",
            allowed=f"--accept-relaxation with one of {found}" if found else None,
            advice="Use discreet negotiate to see the result of each relaxation. Nothing was written.",
        )
    answer = result.relaxation(relaxation)
    if answer is None:
        raise NoSolution(
            f"no node meets {wish}, not even with {relaxation} relaxed",
            advice="Use discreet negotiate to see the possible relaxations. Nothing was written.",
        )
    return answer


def resolve_node(
    lattice: Lattice, levels: LevelsByAttribute, min_level: LevelsByAttribute | Sequence[tuple[str, int]]
) -> LatticeNode:
    """Return the node of given levels; the default is the lowest allowed level, else 0.

    Raises ``InputError`` for a level out of range or below the lowest allowed one.
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


def require_within_limit(
    lattice: Lattice, node: LatticeNode, request: Request, suppressed: int, rows: int
) -> AnswerResult:
    """Return a node as an answer; raise ``NoSolution`` if it suppresses all rows, or more than allowed."""
    answer = AnswerResult(Answer(None, node, request.requirement, suppressed), lattice, rows)
    require_rows_left(answer)
    limit = request.max_suppressed.of(rows)
    if suppressed > limit:
        raise NoSolution(
            f"these levels (height {node_height(node)}) suppress {suppressed:,} of {rows:,} rows "
            f"({format_share(suppressed, rows)}) for {request.requirement}",
            allowed=f"at most {format_quantity(limit, 'row')} (--max-suppressed)",
            advice=f"Raise a level, or allow --max-suppressed {suppressed}. Nothing was written.",
        )
    return answer


def count_suppressed_rows(frequency_set: FrequencySet, node: LatticeNode, requirement: Requirement) -> int:
    """Count the rows that one node suppresses, without its lattice."""
    classes = roll_up(frequency_set, node)
    failing = find_failing_classes(
        frequency_set, classes.class_of, classes.classes, requirement, classes.population, classes.codes
    )
    return int(classes.counts[failing].sum())


def require_rows_left(answer: AnswerResult | None) -> AnswerResult:
    """Return the answer; raise ``NoSolution`` if it is None or suppresses every row."""
    if answer is None:
        raise NoSolution(
            "no answer can be published",
            advice="Publish wish.exact, or a relaxation that has a solution. Nothing was written.",
        )
    if answer.suppressed >= answer.rows:
        raise NoSolution(
            f"all {answer.rows:,} rows would be suppressed",
            advice=f"Allow higher levels, or {answer.answer.requirement.relaxing}. Nothing was written.",
        )
    return answer


@dataclass(frozen=True)
class RelatedRelease:
    """Release of one of several tables, and the rows that were removed before its classes were counted.

    ``orphans`` are rows without a person; ``with_person`` are rows whose person or parent row is not
    released.
    """

    name: str
    release: ReleaseResult
    orphans: int
    with_person: int


@dataclass(frozen=True, repr=False)
class RelatedReleases(Printable):
    """Releases of related tables, parents first, and their joint anonymity.

    >>> discreet.open_tables("study.toml").publish("release").together.fewest  # doctest: +SKIP
    """

    path: Path
    tables: tuple[RelatedRelease, ...]
    joint_anonymity: JointAnonymity
    required: int | None

    @property
    def manifest_path(self) -> Path:
        """Path of the joint manifest."""
        return self.path / TABLES_MANIFEST_NAME

    def table(self, name: str) -> ReleaseResult:
        """Return the release of a table by name."""
        return {each.name: each.release for each in self.tables}[name]

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet publish --json``."""
        return {
            "path": str(self.path),
            "manifest": str(self.manifest_path),
            "tables": [
                {
                    "name": each.name,
                    "orphans": each.orphans,
                    "left_out_with_their_person": each.with_person,
                    **each.release.as_json(),
                }
                for each in self.tables
            ],
            "joint_anonymity": self.joint_anonymity.as_json(self.required),
        }

    def document(self) -> Document:
        """Return the folder, a row per table, and the joint anonymity of the tables."""
        numbers = (">rows", ">suppressed", ">removed with their person", ">orphans", ">k")
        rows = tuple(
            (
                each.name,
                f"{each.release.release.rows - each.release.suppressed:,}",
                f"{each.release.suppressed:,}",
                f"{each.with_person:,}",
                f"{each.orphans:,}",
                f"{each.release.audit.k:,}",
                ", ".join(f"{name} {n}" for name, n in each.release.levels.items()) or each.release.model,
            )
            for each in self.tables
        )
        warnings = [
            f"{each.name}: {warning}"
            for each in self.tables
            for warning in dict.fromkeys(each.release.release.warnings)
        ]
        return (
            Line(
                f"Published {format_quantity(len(self.tables), 'table')} in {self.path}; the manifest of the "
                f"whole is {self.manifest_path}.",
                Tone.GOOD,
            ),
            BLANK,
            Grid(make_columns("table", *numbers, "~levels"), rows),
            BLANK,
            *describe_intersection_of_tables(self.joint_anonymity, self.required),
            *warning_block(warnings),
        )


@dataclass(frozen=True, repr=False)
class RelatedAudits(Printable):
    """Audits of several released tables: each table's own, and that of all together.

    >>> discreet.audit_tables("release").passed  # doctest: +SKIP
    """

    path: Path
    tables: Mapping[str, AuditResult]
    joint_anonymity: JointAnonymity
    required: int | None

    @property
    def passed(self) -> bool:
        """True if each table passes, all keys fit, and enough people look alike."""
        enough = self.required is None or self.joint_anonymity.fewest >= self.required
        return (
            enough and not self.joint_anonymity.problems and all(each.passed for each in self.tables.values())
        )

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet audit --json``."""
        return {
            "passed": self.passed,
            "tables": {name: each.as_json() for name, each in self.tables.items()},
            "keys": list(self.joint_anonymity.problems),
            "joint_anonymity": self.joint_anonymity.as_json(self.required),
        }

    def document(self) -> Document:
        """Return the verdicts, the keys, and the joint anonymity of the tables."""
        verdict = "passed" if self.passed else "failed"
        lines = [
            Line(
                f"Audit {verdict}: {format_quantity(len(self.tables), 'table')} in {self.path}.",
                _verdict_tone(self.passed),
            )
        ]
        for name, each in self.tables.items():
            failing = "" if each.passed else "; it fails"
            unit = "row" if each.report.class_rows is None else "subject"
            lines.append(
                Line(
                    f"{name}: {format_quantity(each.rows, 'row')} in "
                    f"{format_quantity(each.classes, 'class', 'classes')}, the smallest of "
                    f"{format_quantity(each.k, unit)}{failing}.",
                    Tone.PLAIN if each.passed else Tone.BAD,
                )
            )
        fit = [Line("Every foreign key finds its row, and every row its person.")]
        lines += [Line(f"{message}.", Tone.BAD) for message in self.joint_anonymity.problems] or fit
        warnings = [
            f"{name}: {message}" for name, each in self.tables.items() for message in each.report.warnings
        ]
        return (
            *lines,
            *describe_intersection_of_tables(self.joint_anonymity, self.required),
            *warning_block(warnings),
        )


def describe_intersection_of_tables(statistics: JointAnonymity, required: int | None) -> tuple[Line, ...]:
    """Describe the joint anonymity of related tables."""
    sentence = (
        f"All tables together: of {format_quantity(statistics.people, 'person', 'people')} the smallest "
        f"class common to all tables has {statistics.fewest:,}"
    )
    required_text = "" if required is None else f" ({required:,} were required)"
    lines = [
        Line(
            f"{sentence}{required_text}.",
            _verdict_tone(required is None or statistics.fewest >= required, plain=required is None),
        )
    ]
    if statistics.unique_people:
        lines.append(
            Line(
                f"{format_quantity(statistics.unique_people, 'person', 'people')} "
                "are unique across all tables: "
                "an attacker with all their released values can identify them. Each table keeps its k; "
                "set joint_k = N in the relational spec to require it for all tables.",
                Tone.WARNING,
            )
        )
    return tuple(lines)


def _verdict_tone(good: bool, *, plain: bool = False) -> Tone:
    return Tone.PLAIN if plain else Tone.GOOD if good else Tone.BAD
