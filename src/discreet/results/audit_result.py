"""What an audit found, as a result that prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.measures.class_sizes import ClassSizes
from discreet.measures.metrics import MetricValue, metrics_of_sizes
from discreet.model.audit_report import AuditReport, CriterionFinding
from discreet.model.criteria.base import as_text
from discreet.model.permuted_parts import GroupCounts
from discreet.model.read_only import ReadOnlyDict
from discreet.model.strictest_value import StrictestValue
from discreet.printing.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    answer_lines,
    count,
    warnings_of,
)
from discreet.printing.metric_grid import metric_grid
from discreet.printing.printed import Printed
from discreet.printing.strictest_grid import strictest_grid

_SHOWN = 20
_FAILS = "class fails", "classes fail"


@dataclass(frozen=True, repr=False)
class AuditResult(Printed):
    """What the audit counted in the file itself.

    ``asked_k`` normalizes the average class; without one the k that the release had to have, else the
    smallest class.
    """

    report: AuditReport
    asked_k: int | None = None

    @property
    def metrics(self) -> tuple[MetricValue, ...]:
        """What the sizes of the classes in rows tell; nothing where groups were audited: they are no classes.

        Suppressed rows are those that the manifest tells; without one, the starred rows. Further rows of
        stars, which an audit cannot tell from suppressed ones, are a class.
        """
        report = self.report
        if report.kind.permuted:
            return ()
        found = dict(report.class_sizes if report.class_rows is None else report.class_rows)
        if report.starred > report.suppressed:
            further = report.starred - report.suppressed
            found[further] = found.get(further, 0) + 1
        sizes = ClassSizes.of(found, report.suppressed)
        return metrics_of_sizes(sizes, self.asked_k or report.required_k)

    @property
    def passed(self) -> bool:
        """Whether every class meets what was asked."""
        return self.report.passed

    @property
    def rows(self) -> int:
        """Rows, starred ones left out."""
        return self.report.rows

    @property
    def classes(self) -> int:
        """Equivalence classes."""
        return self.report.classes

    @property
    def k(self) -> int:
        """The size of the smallest class; 0 where there is none."""
        return self.report.k

    @property
    def l(self) -> ReadOnlyDict[str, int]:  # noqa: E743
        """The fewest distinct values of each sensitive attribute in any class."""
        return ReadOnlyDict(self.report.l, "the l of an audit")

    @property
    def strictest(self) -> tuple[StrictestValue, ...]:
        """Of every criterion the strictest value that the file meets; nothing unless asked."""
        return self.report.strictest

    def as_json(self) -> dict[str, Any]:
        """The contract's document of ``discreet audit --json``."""
        return self.report.as_json() | {"metrics": {m.metric.name: m.json_value for m in self.metrics}}

    def document(self) -> Document:
        """The verdict, the counts, the metrics, and the failing classes by their published values."""
        report = self.report
        if report.permutation is not None:
            groups, others = answer_lines(self._groups(report.permutation), report.warnings)
            return (*groups, *self._failing(), *warnings_of(others))
        verdict = "Audit passed" if report.passed else "Audit failed"
        counted = f"{count(report.rows, 'row')} in {count(report.classes, 'class', 'classes')}"
        unit = "row" if report.class_rows is None else "subject"
        starred = f", {count(report.starred, 'starred row')} apart" if report.starred else ""
        first = Line(f"{verdict}: {counted}{starred}.", Tone.GOOD if report.passed else Tone.BAD)
        above, others = answer_lines((first,), report.warnings)
        lines: list[Line | Grid] = [
            *above,
            Line(
                f"The smallest class has {count(report.k, unit)} (k = {report.k:,})."
                if report.classes
                else "No class at all."
            ),
        ]
        if report.l:
            fewest = ", ".join(f"{name} {l:,}" for name, l in report.l.items())
            lines.append(Line(f"Fewest distinct sensitive values in a class (l): {fewest}."))
        lines += self.criteria_lines()
        metrics = (BLANK, metric_grid(self.metrics)) if report.classes else ()
        strictest = strictest_grid(report.strictest)
        return (*lines, *metrics, *strictest, *self._failing(), *warnings_of(others))

    def criteria_lines(self) -> tuple[Line, ...]:
        """Each criterion beside k and l that was asked, and what was found; none where there is no class."""
        return tuple(map(_criterion_line, self.report.criteria)) if self.report.classes else ()

    def _groups(self, counts: GroupCounts) -> Document:
        """The groups of a permuted release."""
        report = self.report
        verdict = "Audit passed" if report.passed else "Audit failed"
        range_ = "" if counts.smallest_range is None else f", a range of at least {counts.smallest_range:,}"
        lines = [
            Line(
                f"{verdict}: {count(report.rows, 'row')} in {count(counts.groups, 'group')}, counted again, "
                "and the help table computed again.",
                Tone.GOOD if report.passed else Tone.BAD,
            ),
            Line(
                f"Every group has at least {count(counts.fewest_values, 'distinct value')}{range_} and "
                f"{count(report.k, 'row')}; required: {counts.requirement}."
            ),
        ]
        if counts.rows_without_value:
            lines.append(Line(f"{count(counts.rows_without_value, 'row')} in all groups have no value."))
        return tuple(lines)

    def _failing(self) -> Document:
        failing = self.report.failing
        if not failing:
            return ()
        names = list(failing[0].values)
        columns = (Column("rows", right=True), *(Column(name, shrinks=True) for name in names))
        rows = tuple(
            (f"{f.rows:,}", *(_shown(f.values.get(name)) for name in names)) for f in failing[:_SHOWN]
        )
        left = self.report.failing_classes - len(rows)
        more = (
            (Line(f"… and {count(left, 'more failing class', 'more failing classes')}."),) if left > 0 else ()
        )
        kind = self.report.kind
        words = (f"{kind.unit} fails", f"{kind.units} fail")
        title = Line(f"{count(self.report.failing_classes, *words)}:", Tone.BAD)
        return (BLANK, title, Grid(columns, rows), *more)


def _criterion_line(found: CriterionFinding) -> Line:
    """A criterion beside k and l: what was asked, what the worst class has, and how many classes fail."""
    criterion = found.criterion
    of = "" if criterion.attribute is None else f" of {criterion.attribute}"
    who, where, verdict = "a class", "the worst class", "every class passes"
    if not found.passed:
        verdict = count(found.failing_classes, *_FAILS)
    if criterion.of_release:
        who, where = "the release", "all classes together"
        verdict = "it passes" if found.passed else "it fails"
    least = f"{who} has no score" if found.found is None else f"{as_text(found.found)} in {where}"
    return Line(
        f"{criterion.title}{of} ({criterion.name}): {found.asked} required, {least}; {verdict}.",
        Tone.PLAIN if found.passed else Tone.BAD,
    )


def _shown(value: str | None) -> str:
    return "NULL" if value is None else value
