"""The expected findings of an audit of any file, in plain Python, and their comparison with its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.model.audit_report import AuditReport, CriterionFinding
from tests.criteria.plain_cells import groups_of, score_of
from tests.fuzz.cases import Condition
from tests.fuzz.definitions import (
    OF_CELLS,
    OF_RELEASES,
    UNJUDGED,
    PlainClass,
    Texts,
    WholeTable,
    classes_of,
    expanded,
    holds,
    measure,
    release_measure,
    rest_fails,
    table_of,
)
from tests.fuzz.node_counts import cells_class
from tests.fuzz.recount import demand

STAR = "*"
_TOLERANCE = Fraction(5, 10**9)
_LARGEST_FOUND = ("alpha", "beta", "t", "delta_disclosure", "recursive_c", "delta_presence", "highest_risk")
"""Criteria whose worst class has the largest measure; that of the others has the smallest."""


@dataclass(frozen=True)
class Claims:
    """The assumptions of an audit: columns, conditions, and how suppressed rows are published."""

    keys: tuple[str, ...]
    sensitive: tuple[str, ...]
    conditions: tuple[Condition, ...]
    starred: bool
    suppressed: int = 0
    subject: str | None = None

    @classmethod
    def of(cls, manifest: Mapping[str, Any], conditions: Sequence[Condition]) -> Claims:
        """Read the claims of a manifest; ``conditions`` are those that it requires."""
        shown = [entry for entry in manifest["attributes"] if entry["published"]]
        subject = next((entry["name"] for entry in shown if entry.get("subject")), None)
        return cls(
            tuple(entry["name"] for entry in shown if entry["role"] == "quasi-identifier"),
            tuple(entry["name"] for entry in shown if entry["role"] == "sensitive"),
            tuple(conditions),
            manifest["suppression"]["policy"] == "star",
            int(manifest["suppression"]["rows"]),
            subject,
        )


@dataclass(frozen=True)
class Finding:
    """A recounted condition: the worst measure, None without one, and the classes that fail."""

    condition: Condition
    worst: Any
    failing: int
    passed: bool


@dataclass(frozen=True)
class Recount:
    """The counts of a file."""

    rows: int
    starred: int
    sizes: Counter[int]
    findings: tuple[Finding, ...]
    passed: bool

    @property
    def judged(self) -> bool:
        """Whether every condition could be evaluated."""
        return all(finding.worst is not UNJUDGED for finding in self.findings)


def without_starred(rows: Sequence[Texts], claims: Claims) -> list[Texts]:
    """Return the rows without as many rows of stars as the manifest reports as starred."""
    left = claims.suppressed if claims.starred else 0
    plain = []
    for row in rows:
        if left and set(row.values()) == {STAR}:
            left -= 1
        else:
            plain.append(row)
    return plain


def recount(
    rows: Sequence[Texts],
    claims: Claims,
    table: WholeTable | None,
    paths: Mapping[str, Mapping[str, Sequence[str]]],
) -> Recount:
    """Recount a file; ``table`` is the publisher's, None if only the file is known."""
    plain = without_starred(rows, claims)
    persons = None if claims.subject is None else [row[claims.subject] for row in plain]
    classes = classes_of(plain, claims.keys, persons)
    known = table_of(plain, claims.sensitive, paths) if table is None else table
    known = replace(known, suppressed=claims.suppressed)
    conditions = expanded(claims.conditions, claims.sensitive)
    findings = tuple(_finding(condition, classes, known, claims) for condition in conditions)
    return Recount(
        rows=len(plain),
        starred=len(rows) - len(plain),
        sizes=Counter(one.size for one in classes),
        findings=findings,
        passed=bool(rows) and all(finding.passed for finding in findings),
    )


def _finding(
    condition: Condition, classes: Sequence[PlainClass], table: WholeTable, claims: Claims
) -> Finding:
    if table.people_unknown and condition.criterion.of_population:
        return Finding(condition, UNJUDGED, 0, True)
    if condition.name in OF_RELEASES:
        worst = release_measure(condition, [len(one.rows) for one in classes])
        met = worst is UNJUDGED or not classes or holds(condition, worst)
        return Finding(condition, worst, 0, met)
    if condition.name in OF_CELLS:
        least = _least_group(condition, classes, claims)
        return Finding(condition, least, 0, not classes or holds(condition, least))
    found = [measure(condition, one, table) for one in classes]
    met_by = [holds(condition, each) for each in found]
    if condition.name == "delta_presence" and classes and _rest_fails(condition, classes, table):
        found, met_by = [None] * len(classes), [False] * len(classes)
    known = [each for each in found if each is not None]
    pick = max if condition.name in _LARGEST_FOUND else min
    worst = pick(known) if known and len(known) == len(found) else None
    return Finding(condition, worst, met_by.count(False), all(met_by))


def _least_group(condition: Condition, classes: Sequence[PlainClass], claims: Claims) -> int | None:
    """Return the fewest rows that match a few known cells; 0 if one of their values is too likely."""
    confidence, shown = condition.part("confidence"), [cells_class(one, claims.sensitive) for one in classes]
    scores = [
        score_of([row for place in group for row in shown[place].rows], confidence)
        for group in groups_of(shown, condition.part("known"))
    ]
    return min(scores, default=None)


def _rest_fails(condition: Condition, classes: Sequence[PlainClass], table: WholeTable) -> bool:
    """Test whether the people outside of all published classes reveal the suppressed persons."""
    if table.people is None:
        return True
    unmatched = table.people.total() - sum(table.people[one.cells] for one in classes)
    return rest_fails(condition, table.suppressed, unmatched)


def presence_between(rows: Sequence[Texts], claims: Claims, table: WholeTable) -> Condition | None:
    """Return a δ-presence that some class meets and the suppressed rows do not, if there is one."""
    if table.people is None or not claims.suppressed:
        return None
    plain = without_starred(rows, claims)
    classes = classes_of(plain, claims.keys)
    pairs = [(len(one.rows), table.people[one.cells]) for one in classes]
    shares = [Fraction(number, people) for number, people in pairs if people >= number]
    unmatched = table.people.total() - sum(people for _, people in pairs)
    if not shares or not unmatched:
        return None
    least, rest = min(shares), min(Fraction(claims.suppressed, unmatched), Fraction(1))
    value = round(float(least + rest) / 2, 3)
    return Condition("delta_presence", value) if least < Fraction(repr(value)) < rest else None


def check_audit(
    report: AuditReport, expected: Recount, claims: Claims, *, intact: bool, subject: str
) -> None:
    """Require that an audit reports the recount; ``intact`` is whether the digest is right."""
    counts = (report.rows, report.starred, report.classes)
    mine = (expected.rows, expected.starred, expected.sizes.total())
    demand(counts == mine, "the rows and classes of an audit", subject, counts, mine)
    sizes = {int(size): number for size, number in report.class_sizes.items()}
    demand(sizes == dict(expected.sizes), "the class sizes of an audit", subject, sizes, dict(expected.sizes))
    demand(report.k == min(expected.sizes, default=0), "the k of an audit", subject, report.k)
    by_name = {_key(found.criterion): found for found in report.criteria}
    for finding in expected.findings:
        if finding.condition.name in ("k", "l"):
            _check_l(report, finding, subject)
            continue
        found = by_name.get(_key(finding.condition.criterion))
        demand(found is not None, "an audit tells of every criterion", subject, str(finding.condition))
        assert found is not None
        _check_finding(found, finding, subject)
    if expected.judged:
        passed = expected.passed and intact
        facts = [str(each.condition) for each in expected.findings if not each.passed]
        demand(report.passed == passed, "the verdict of an audit", subject, report.passed, facts, intact)


def _key(criterion: Any) -> tuple[str, str | None]:
    return criterion.name, criterion.attribute


def _check_l(report: AuditReport, finding: Finding, subject: str) -> None:
    if finding.condition.name == "l" and report.classes:
        published = report.l[str(finding.condition.attribute)]
        most = max(finding.worst or 0, 0)
        demand(
            published == most or min(published, most) >= 100, "the l of an audit", subject, published, most
        )


def _check_finding(found: CriterionFinding, finding: Finding, subject: str) -> None:
    condition = str(finding.condition)
    if finding.worst is UNJUDGED:
        return
    demand(found.failing_classes == finding.failing, "the failing classes of an audit", subject, condition)
    demand(found.passed == finding.passed, "an audit's judgement of a criterion", subject, condition)
    if finding.worst is None or found.found is None or _is_stepped(finding.condition):
        return
    expected = Fraction(finding.worst)
    if finding.condition.name in ("weighted_k", "epsilon_m"):
        expected = max(expected, Fraction(1))
    score = Fraction(found.found)
    near = abs(score - expected) <= _TOLERANCE * max(1, abs(expected))
    demand(near, "what an audit found of a criterion", subject, condition, float(score), float(expected))


def _is_stepped(condition: Condition) -> bool:
    """Test whether an audit reports a criterion only in steps."""
    return condition.name == "k_map" and condition.part("estimator") != "counted"
