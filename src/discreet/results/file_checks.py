"""Whether files have what is asked of them, check by check, as a result that prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from discreet.errors import DiscreetError
from discreet.model.audit_report import AuditReport
from discreet.model.criteria.base import as_text
from discreet.printing.document import Column, Document, Grid, Line, Tone, count, warnings_of
from discreet.printing.printed import Printed

FAILED = 1


@dataclass(frozen=True)
class Region:
    """A line of a file of text, from 1, and of it the characters from ``start`` up to ``end``, where told."""

    line: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Check:
    """One thing that was asked of a file: what it is, what was asked and found in words, and the verdict.

    Nothing in it shows a cell of the file: a pipeline's records are read by many. ``region`` is what a check
    that failed points at.
    """

    name: str
    asked: str
    found: str
    passed: bool
    region: Region | None = None

    @property
    def told(self) -> str:
        """The check as a sentence."""
        return f"{self.name}: {self.asked} asked, {self.found} found"

    def as_json(self) -> dict[str, Any]:
        """The entry in ``checks`` of ``discreet check --json``."""
        return {"name": self.name, "asked": self.asked, "found": self.found, "passed": self.passed}


@dataclass(frozen=True)
class FileCheck:
    """What was found of one file; ``error`` where it could not be checked, ``region`` what that points at."""

    file: str
    checks: tuple[Check, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    error: DiscreetError | None = None
    region: Region | None = None

    @property
    def passed(self) -> bool:
        """Whether it has all that was asked."""
        return self.error is None and all(check.passed for check in self.checks)

    @property
    def status(self) -> int:
        """The exit status that this file alone would have."""
        return self.error.exit_status if self.error is not None else 0 if self.passed else FAILED

    def as_json(self) -> dict[str, Any]:
        """The entry in ``files`` of ``discreet check --json``."""
        return {
            "file": self.file,
            "passed": self.passed,
            "checks": [check.as_json() for check in self.checks],
            "warnings": list(self.warnings),
            "error": None if self.error is None else self.error.as_json()["error"],
        }


@dataclass(frozen=True, repr=False)
class FileChecks(Printed):
    """The files of one run of ``discreet check``, in the order in which they were named."""

    files: tuple[FileCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether every file has all that was asked of it."""
        return all(each.passed for each in self.files)

    @property
    def status(self) -> int:
        """The exit status: the highest of the files' own."""
        return max((each.status for each in self.files), default=0)

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet check --json``."""
        return {"passed": self.passed, "files": [each.as_json() for each in self.files]}

    def document(self, *, typed: bool = False) -> Document:
        """The verdict, a row for each check of each file, errors and warnings.

        Errors are in the words of Python, or, where ``typed``, in those of the command line.
        """
        failing = sum(not each.passed for each in self.files)
        line = Line(f"{count(len(self.files), 'file')}: all checks passed.", Tone.GOOD)
        if failing:
            line = Line(f"{failing:,} of {count(len(self.files), 'file')} failed.", Tone.BAD)
        columns = (
            Column("file", shrinks=True),
            Column("check", shrinks=True),
            Column("asked", right=True),
            Column("found", right=True),
            Column("verdict"),
        )
        rows = tuple(
            (each.file, check.name, check.asked, check.found, "passed" if check.passed else "failed")
            for each in self.files
            for check in each.checks
        )
        errors = tuple(
            Line(_named(each.file, each.error.as_typed if typed else str(each.error)), Tone.BAD)
            for each in self.files
            if each.error is not None
        )
        warnings = [f"{each.file}: {text}" for each in self.files for text in each.warnings]
        return (line, *([Grid(columns, rows)] if rows else []), *errors, *warnings_of(warnings))


def _named(file: str, text: str) -> str:
    """A sentence that begins with its file, once."""
    return text if text.startswith(file) else f"{file}: {text}"


def checks_of(report: AuditReport) -> Iterator[Check]:
    """What an audit judged, one by one; last of all the rest of its verdict, where that alone failed."""
    found = tuple(_of_groups(report) if report.permutation is not None else _of_classes(report))
    yield from found
    if not report.passed and all(check.passed for check in found):
        yield Check("the file", "as its manifest says", "another", passed=False)


def _of_groups(report: AuditReport) -> Iterator[Check]:
    assert report.permutation is not None
    groups = report.permutation
    found = f"{groups.fewest_values:,} distinct values"
    if groups.smallest_range is not None:
        found += f", a range of {groups.smallest_range:,}"
    yield Check("groups", str(groups.requirement), found, passed=report.failing_classes == 0)


def _of_classes(report: AuditReport) -> Iterator[Check]:
    # Where every row is a row of stars there is no class that could fail.
    nothing = report.classes == 0 and report.passed
    if report.required_k is not None:
        passed = nothing or report.k >= report.required_k
        yield Check("k", f"{report.required_k:,}", f"{report.k:,}", passed)
    for name, l in report.required_l.items():
        yield Check(f"l of {name}", f"{l:,}", f"{report.l[name]:,}", nothing or report.l[name] >= l)
    for each in report.criteria:
        found = "none" if each.found is None else as_text(each.found)
        of = "" if each.criterion.attribute is None else f" of {each.criterion.attribute}"
        yield Check(f"{each.criterion.name}{of}", each.asked, found, nothing or each.passed)
