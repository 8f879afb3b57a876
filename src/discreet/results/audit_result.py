"""The result of an audit, and the SQL statements that check a release without this program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from discreet.measures.generalized_table import ClassSizes
from discreet.measures.metrics import MetricValue, size_metric_values
from discreet.model.audit_report import AuditReport, CheckStatement, CriterionFinding, StrictestValue
from discreet.model.criteria.base import parameter_text
from discreet.model.release_kind import CLASS_RELEASE, GROUP_RELEASE
from discreet.model.search_result import ReadOnlyDict
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    answer_lines,
    format_quantity,
    warning_block,
)
from discreet.printing.metric_grid import describe_strictest_values, metric_grid
from discreet.printing.rendering import Printable

_OMITTED_NOTE = "Its query names values of the release; print it by discreet audit --sql."


@dataclass(frozen=True, repr=False)
class CheckStatements(Printable):
    """Check statements of a release; ``reader`` is the name of the SQL dialect.

    >>> print(discreet.audit_sql("release.csv", k=5).script)  # doctest: +SKIP
    """

    statements: tuple[CheckStatement, ...]
    reader: str

    @property
    def script(self) -> str:
        """SQL script with a comment and a query per guarantee."""
        parts = [f"-- For {self.reader}. Every query must find failing = 0.\n"]
        for one in self.statements:
            comment = "\n".join(f"-- {line}" for line in one.guarantee.splitlines())
            parts.append(f"{comment}\n" if one.sql is None else f"{comment}\n{one.sql};\n")
        return "\n".join(parts)

    @property
    def without_values(self) -> CheckStatements:
        """Statements with a comment instead of each query that contains cells of the release."""
        statements = (
            replace(one, guarantee=f"{one.guarantee}\n{_OMITTED_NOTE}", sql=None) if one.holds_values else one
            for one in self.statements
        )
        return replace(self, statements=tuple(statements))

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet audit --sql --json``."""
        return {
            "for": self.reader,
            "statements": [{"guarantee": one.guarantee, "sql": one.sql} for one in self.statements],
        }

    def document(self) -> Document:
        """Return the script line by line, unwrapped: a wrapped line would break a literal."""
        return tuple(Line(line, verbatim=True) for line in self.script.split("\n"))


_MAX_FAILING_CLASSES = 20
_FAILING_NOUNS = "class fails", "classes fail"


@dataclass(frozen=True, repr=False)
class AuditResult(Printable):
    """Counts and verdict of the audit of a release.

    ``requested_k`` normalizes C_AVG; without it the k that the release requires, else the size of the
    smallest class.

    >>> discreet.audit("release.csv", k=5).passed  # doctest: +SKIP
    """

    report: AuditReport
    requested_k: int | None = None

    @property
    def metrics(self) -> tuple[MetricValue, ...]:
        """Metrics of the class sizes in rows; empty for permuted releases, whose groups are not classes.

        The manifest gives the number of suppressed rows; without one, they are the starred rows. Further rows
        of stars, which an audit cannot distinguish from suppressed ones, are a class.
        """
        report = self.report
        if not report.kind.has_classes:
            return ()
        found = dict(report.class_sizes if report.class_rows is None else report.class_rows)
        if report.starred > report.suppressed:
            further = report.starred - report.suppressed
            found[further] = found.get(further, 0) + 1
        sizes = ClassSizes.of(found, report.suppressed)
        return size_metric_values(sizes, self.requested_k or report.required_k)

    @property
    def passed(self) -> bool:
        """True if every class meets the requirement."""
        return self.report.passed

    @property
    def has_requirement(self) -> bool:
        """True if a criterion was given, or the manifest has one; otherwise ``passed`` states nothing."""
        report = self.report
        return bool(
            report.permutation is not None or report.required_k or report.required_l or report.criteria
        )

    @property
    def rows(self) -> int:
        """Number of rows without starred ones."""
        return self.report.rows

    @property
    def classes(self) -> int:
        """Number of equivalence classes."""
        return self.report.classes

    @property
    def k(self) -> int:
        """Size of the smallest class; 0 without classes."""
        return self.report.k

    @property
    def l(self) -> ReadOnlyDict[str, int]:  # noqa: E743
        """Least number of distinct values of each sensitive attribute in any class."""
        return ReadOnlyDict(self.report.l, "the l of an audit")

    @property
    def strictest(self) -> tuple[StrictestValue, ...]:
        """Strictest value of every criterion that the file satisfies; empty unless requested."""
        return self.report.strictest

    def as_json(self) -> dict[str, Any]:
        """Return the contract's document of ``discreet audit --json``."""
        return self.report.as_json() | {"metrics": {m.metric.name: m.json_value for m in self.metrics}}

    def document(self) -> Document:
        """Return the verdict, the counts, the metrics, and the failing classes by their published values."""
        return _SUMMARIES[self.report.kind.unit](self)

    def _summarize_classes(self) -> Document:
        report = self.report
        verdict = "Audit passed" if report.passed else "Audit failed"
        counted = (
            f"{format_quantity(report.rows, 'row')} in {format_quantity(report.classes, 'class', 'classes')}"
        )
        unit = "row" if report.class_rows is None else "subject"
        starred = f", {format_quantity(report.starred, 'starred row')} apart" if report.starred else ""
        first = Line(f"{verdict}: {counted}{starred}.", Tone.GOOD if report.passed else Tone.BAD)
        above, others = answer_lines((first,), report.warnings)
        lines: list[Line | Grid] = [
            *above,
            Line(
                f"The smallest class has {format_quantity(report.k, unit)} (k = {report.k:,})."
                if report.classes
                else "There are no classes."
            ),
        ]
        if report.l:
            fewest = ", ".join(f"{name} {l:,}" for name, l in report.l.items())
            lines.append(Line(f"Fewest distinct sensitive values in a class (l): {fewest}."))
        lines += self.criteria_lines()
        metrics = (BLANK, metric_grid(self.metrics)) if report.classes else ()
        strictest = describe_strictest_values(report.strictest)
        return (*lines, *metrics, *strictest, *self._failing(), *warning_block(others))

    def criteria_lines(self) -> tuple[Line, ...]:
        """Return a line per criterion other than k and l; empty without classes."""
        return tuple(map(_describe_criterion, self.report.criteria)) if self.report.classes else ()

    def _summarize_groups(self) -> Document:
        """Return the verdict, the counts of a permuted release's groups, and the failing ones."""
        report = self.report
        counts = report.permutation
        assert counts is not None
        verdict = "Audit passed" if report.passed else "Audit failed"
        range_ = "" if counts.smallest_range is None else f", a range of at least {counts.smallest_range:,}"
        lines = [
            Line(
                f"{verdict}: {format_quantity(report.rows, 'row')} in "
                f"{format_quantity(counts.groups, 'group')}, counted again, "
                "and the help table computed again.",
                Tone.GOOD if report.passed else Tone.BAD,
            ),
            Line(
                f"Every group has at least {format_quantity(counts.fewest_values, 'distinct value')}{range_} "
                f"and {format_quantity(report.k, 'row')}; required: {counts.requirement}."
            ),
        ]
        if counts.rows_without_value:
            lines.append(
                Line(f"{format_quantity(counts.rows_without_value, 'row')} in all groups have no value.")
            )
        above, others = answer_lines(tuple(lines), report.warnings)
        return (*above, *self._failing(), *warning_block(others))

    def _failing(self) -> Document:
        failing = self.report.failing
        if not failing:
            return ()
        names = list(failing[0].values)
        columns = (Column("rows", right=True), *(Column(name, shrinks=True) for name in names))
        rows = tuple(
            (f"{f.rows:,}", *(_cell_text(f.values.get(name)) for name in names))
            for f in failing[:_MAX_FAILING_CLASSES]
        )
        left = self.report.failing_classes - len(rows)
        more = (
            (Line(f"… and {format_quantity(left, 'more failing class', 'more failing classes')}."),)
            if left > 0
            else ()
        )
        kind = self.report.kind
        words = (f"{kind.unit} fails", f"{kind.units} fail")
        title = Line(f"{format_quantity(self.report.failing_classes, *words)}:", Tone.BAD)
        return (BLANK, title, Grid(columns, rows), *more)


_SUMMARIES = {
    CLASS_RELEASE.unit: AuditResult._summarize_classes,
    GROUP_RELEASE.unit: AuditResult._summarize_groups,
}


def _describe_criterion(finding: CriterionFinding) -> Line:
    """Return a line on a criterion: the required value, that of the worst class, and the failing classes."""
    criterion = finding.criterion
    of = "" if criterion.attribute is None else f" of {criterion.attribute}"
    who, where, verdict = "a class", "the worst class", "every class passes"
    if not finding.passed:
        verdict = format_quantity(finding.failing_classes, *_FAILING_NOUNS)
    if criterion.of_release:
        who, where = "the release", "all classes together"
        verdict = "it passes" if finding.passed else "it fails"
    least = f"{who} has no score" if finding.found is None else f"{parameter_text(finding.found)} in {where}"
    return Line(
        f"{criterion.title}{of} ({criterion.name}): {finding.required} required, {least}; {verdict}.",
        Tone.PLAIN if finding.passed else Tone.BAD,
    )


def _cell_text(value: str | None) -> str:
    return "NULL" if value is None else value
