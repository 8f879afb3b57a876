"""Rows of stars in a published file: which of them are people, and which say of nobody who they are.

A file of another program may hold rows with a star or NULL in every quasi-identifier. Nobody knows how these
people are alike, so they form no class. Where such rows show another cell, that cell is published all the
same, and the requirement must hold for them by themselves; where they show nothing they are starred rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.audit.counts import ClassTotals, PublishedRows
from discreet.engines.base import Engine
from discreet.model.audit_report import AuditReport, FailingClass
from discreet.model.coded_warning import ROWS_WITHOUT_QUASI_IDENTIFIERS, CodedWarning
from discreet.sql import verify as sql
from discreet.sql.starred_cells import shows_nothing


@dataclass(frozen=True)
class RowsApart:
    """Rows that are in no class.

    ``sizes`` and ``rows`` are of their groups that show another cell; ``silent`` rows show nothing.
    """

    sizes: tuple[int, ...] = ()
    rows: int = 0
    silent: int = 0

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """What a reader of the audit must know of them."""
        found = []
        if self.silent:
            found.append(
                f"{_rows(self.silent)} * or NULL in every column: such rows show nothing and are in no class."
            )
        if self.rows:
            found.append(
                f"{_rows(self.rows)} * or NULL in every quasi-identifier: nobody knows whom they are like, "
                "so they are in no class. What else they show is published, and the requirement is tested on "
                "them, too."
            )
        return tuple(CodedWarning(ROWS_WITHOUT_QUASI_IDENTIFIERS, text) for text in found)

    def left_out_of(self, report: AuditReport) -> AuditReport:
        """Return the report without these rows among the rows and classes; the test's outcome stays."""
        sizes = dict(report.class_sizes)
        for size in self.sizes:
            sizes[size] -= 1
        return replace(
            report,
            rows=report.rows - self.rows,
            classes=report.classes - len(self.sizes),
            class_sizes={size: number for size, number in sizes.items() if number},
            set_apart=self.rows,
        )


def rows_apart(engine: Engine, published: PublishedRows, counts: ClassTotals) -> RowsApart:
    """Find the rows of a file that say of nobody who they are.

    Where no other rows are there, the classes stay: everybody is shown alike.
    """
    keys = [(sql.key(i), "VARCHAR") for i in range(len(published.quasi_identifiers))]
    query = sql.chosen_classes(counts.table, shows_nothing(keys, [], engine.dialect))
    found = [(int(rows), int(size)) for rows, size in engine.fetch_rows(query)]
    if len(found) == counts.classes:
        return RowsApart(silent=counts.starred)
    sizes, rows = tuple(size for _, size in found), sum(rows for rows, _ in found)
    return RowsApart(sizes, rows, counts.starred)


def with_people_of_stars(report: AuditReport, suppressed: int) -> AuditReport:
    """Return the report of a file of which so many rows are known to be suppressed and starred.

    Other rows of stars are people whose every cell was generalized to ``*``: they are one class. Where
    subjects are counted nothing tells how many these are, and they stay apart.
    """
    people = report.starred - suppressed
    if people <= 0 or report.class_rows is not None:
        return report
    fails = people < (report.required_k or 0) or bool(report.l)
    sizes = dict(report.class_sizes)
    sizes[people] = sizes.get(people, 0) + 1
    failing = (FailingClass({}, people), *report.failing) if fails else report.failing
    return replace(
        report,
        passed=report.passed and not fails,
        rows=report.rows + people,
        classes=report.classes + 1,
        k=people if report.classes == 0 else min(report.k, people),
        l=dict.fromkeys(report.l, 0),
        starred=suppressed,
        suppressed=suppressed,
        failing=failing,
        failing_classes=report.failing_classes + fails,
        class_sizes=dict(sorted(sizes.items())),
    )


def _rows(number: int) -> str:
    return f"{number:,} row has" if number == 1 else f"{number:,} rows have"
