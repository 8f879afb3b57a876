"""``discreet.audit``: the independent check of a published file, as a result that prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.audit.release import audit_release
from discreet.engines.connect import connect
from discreet.measures.class_sizes import ClassSizes
from discreet.measures.metrics import MetricValue, metrics_of_sizes
from discreet.model.audit_report import AuditReport, CriterionFinding
from discreet.model.criteria.base import Criterion, as_text
from discreet.model.file_form import FileForm
from discreet.model.permuted_parts import GroupCounts
from discreet.model.requirement import Requirement
from discreet.model.strictest_value import StrictestValue
from discreet.model.table_spec import TableSpec
from discreet.settings import Settings
from discreet.workbench.addresses import ReleasePlace, address_of
from discreet.workbench.document import (
    BLANK,
    Column,
    Document,
    Grid,
    Line,
    Tone,
    count,
    warnings_of,
)
from discreet.workbench.file_reading import release_read_so
from discreet.workbench.interruption import interruptible
from discreet.workbench.metric_grid import metric_grid
from discreet.workbench.original import criteria_of_release, original_beside
from discreet.workbench.printed import Printed
from discreet.workbench.reporting import SILENT, Reporter
from discreet.workbench.strictest_grid import strictest_grid

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
    def l(self) -> dict[str, int]:  # noqa: E743
        """The fewest distinct values of each sensitive attribute in any class."""
        return dict(self.report.l)

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
            return (*self._groups(report.permutation), *self._failing(), *warnings_of(report.warnings))
        verdict = "Audit passed" if report.passed else "Audit failed"
        counted = f"{count(report.rows, 'row')} in {count(report.classes, 'class', 'classes')}"
        unit = "row" if report.class_rows is None else "subject"
        starred = f", {count(report.starred, 'starred row')} apart" if report.starred else ""
        lines = [
            Line(f"{verdict}: {counted}{starred}.", Tone.GOOD if report.passed else Tone.BAD),
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
        return (*lines, *metrics, *strictest, *self._failing(), *warnings_of(report.warnings))

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


def audit(
    release: ReleasePlace,
    *,
    table: str | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    criteria: Sequence[Criterion] = (),
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    delimiter: str | None = None,
    quote: str | None = None,
    null_values: Sequence[str] = (),
    spec: str | Path | TableSpec | None = None,
    strictest: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> AuditResult:
    """Re-read a published file, folder or table, count its classes by SQL of its own, and check them.

    ``criteria`` are further ones to check, each by the SQL that it brings.

    ``release`` is a path, or the address of a database (``workbench.addresses``) with a ``table``. Columns
    that are not given come from the manifest beside it, and the requirement too where nothing is asked.
    How a file of another program's is read (``format``, ``encoding``, ``delimiter``, ``quote``) is told from
    the file where it is not given; cells of one of ``null_values`` are NULL. ``spec`` is the publisher's: its
    table and population are counted for criteria that ask of them (``workbench.original``).
    ``strictest`` tells also, without a verdict, the strictest value of every criterion that the file meets
    (``strictest`` of the result): not by itself, as that groups the rows again for each criterion.
    ``InputError`` where the file cannot be read, or where nothing names its quasi-identifiers.
    """
    asked = Requirement.of(k, l, criteria)
    requirement = None if asked.is_empty and l is None else asked
    form = FileForm(format, encoding, delimiter, quote, tuple(null_values))
    address = release_read_so(address_of(release, table), form, reporter)
    limits = settings or Settings.from_environment()
    with connect(limits, address.source()) as engine, interruptible(engine), ExitStack() as stack:
        wanted = criteria_of_release(address, engine) if requirement is None else requirement.criteria
        original = stack.enter_context(
            original_beside(spec, wanted, address, limits, reporter, all_known=strictest)
        )
        stack.enter_context(reporter.stage("Auditing"))
        report = audit_release(
            engine,
            address,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            requirement=requirement,
            population=original.people,
            known=original.known,
            strictest=strictest,
        )
    return AuditResult(report, asked.k)


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
