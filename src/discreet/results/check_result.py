"""The results of audits of several files: checks per file, and the records JUnit XML and SARIF 2.1.0.

Other programs store and show the records, so they contain no cell of a file: for a file that cannot be
checked they contain only the kind of error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from discreet.errors import DiscreetError
from discreet.model.audit_report import AuditReport
from discreet.model.criteria.base import parameter_text
from discreet.model.release_kind import CLASS_RELEASE, GROUP_RELEASE
from discreet.printing.document import (
    Document,
    Grid,
    Line,
    Tone,
    format_quantity,
    make_columns,
    warning_block,
)
from discreet.printing.rendering import Printable
from discreet.results.audit_result import AuditResult

CHECK_FAILED = 1


@dataclass(frozen=True)
class Region:
    """Region of a text file: a line, from 1, and optionally its characters from ``start`` up to ``end``."""

    line: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class CriterionCheck:
    """One check of a file: its name, the required and the found value as text, and the verdict.

    It contains no cell of the file, since the records of a pipeline have many readers. ``region`` is the
    location of a failed check.
    """

    name: str
    required: str
    found: str
    passed: bool
    region: Region | None = None

    @property
    def description(self) -> str:
        """Sentence about the check."""
        return f"{self.name}: {self.required} required, {self.found} found"

    def as_json(self) -> dict[str, Any]:
        """Return the entry in ``checks`` of ``discreet audit FILE… --json``."""
        return {"name": self.name, "required": self.required, "found": self.found, "passed": self.passed}


@dataclass(frozen=True)
class FileCheck:
    """Checks of one file and its ``audit``; ``error`` if it could not be checked, with its ``region``."""

    file: str
    checks: tuple[CriterionCheck, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    error: DiscreetError | None = None
    region: Region | None = None
    audit: AuditResult | None = None

    @property
    def passed(self) -> bool:
        """True if the file can be checked and passes every check."""
        return self.error is None and all(check.passed for check in self.checks)

    @property
    def status(self) -> int:
        """Exit status for this file only."""
        return self.error.exit_status if self.error is not None else 0 if self.passed else CHECK_FAILED

    def as_json(self) -> dict[str, Any]:
        """Return the entry in ``files`` of ``discreet audit FILE… --json``."""
        return {
            "file": self.file,
            "passed": self.passed,
            "checks": [check.as_json() for check in self.checks],
            "warnings": list(self.warnings),
            "error": None if self.error is None else self.error.as_json()["error"],
        }


@dataclass(frozen=True, repr=False)
class FileChecks(Printable):
    """Checks of several audited files, in the order of the arguments.

    >>> discreet.check(["may.csv", "june.csv"], k=5).passed  # doctest: +SKIP
    """

    files: tuple[FileCheck, ...]
    in_cli: bool = False

    @property
    def passed(self) -> bool:
        """True if every file passes."""
        return all(each.passed for each in self.files)

    @property
    def status(self) -> int:
        """Exit status: the highest of the files."""
        return max((each.status for each in self.files), default=0)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``discreet audit FILE… --json``."""
        return {"passed": self.passed, "files": [each.as_json() for each in self.files]}

    def in_cli_words(self) -> FileChecks:
        """Return the checks with errors in the option names of the command line instead of Python's."""
        return replace(self, in_cli=True)

    def document(self) -> Document:
        """Return the verdict, a row for each check of each file, errors and warnings."""
        failing = sum(not each.passed for each in self.files)
        line = Line(f"{format_quantity(len(self.files), 'file')}: all checks passed.", Tone.GOOD)
        if failing:
            line = Line(f"{failing:,} of {format_quantity(len(self.files), 'file')} failed.", Tone.BAD)
        columns = make_columns("~file", "~check", ">required", ">found", "verdict")
        rows = tuple(
            (each.file, check.name, check.required, check.found, "passed" if check.passed else "failed")
            for each in self.files
            for check in each.checks
        )
        errors = tuple(
            Line(_name_file(each.file, each.error.as_typed if self.in_cli else str(each.error)), Tone.BAD)
            for each in self.files
            if each.error is not None
        )
        warnings = [f"{each.file}: {text}" for each in self.files for text in each.warnings]
        return (line, *([Grid(columns, rows)] if rows else []), *errors, *warning_block(warnings))


def _name_file(file: str, text: str) -> str:
    """Prefix a sentence with its file, unless it begins with it."""
    return text if text.startswith(file) else f"{file}: {text}"


def list_checks(report: AuditReport) -> Iterator[CriterionCheck]:
    """Yield the checks of an audit; the last one covers a verdict that failed for another reason."""
    found = tuple(_CHECKS[report.kind.unit](report))
    yield from found
    if not report.passed and all(check.passed for check in found):
        yield CriterionCheck("the file", "as in its manifest", "different", passed=False)


def _check_groups(report: AuditReport) -> Iterator[CriterionCheck]:
    assert report.permutation is not None
    groups = report.permutation
    found = f"{groups.fewest_values:,} distinct values"
    if groups.smallest_range is not None:
        found += f", a range of {groups.smallest_range:,}"
    yield CriterionCheck("groups", str(groups.requirement), found, passed=report.failing_classes == 0)


def _check_classes(report: AuditReport) -> Iterator[CriterionCheck]:
    # Without classes (every row is starred) no check can fail.
    nothing = report.classes == 0 and report.passed
    if report.required_k is not None:
        passed = nothing or report.k >= report.required_k
        yield CriterionCheck("k", f"{report.required_k:,}", f"{report.k:,}", passed)
    for name, l in report.required_l.items():
        yield CriterionCheck(f"l of {name}", f"{l:,}", f"{report.l[name]:,}", nothing or report.l[name] >= l)
    for each in report.criteria:
        found = "none" if each.found is None else parameter_text(each.found)
        of = "" if each.criterion.attribute is None else f" of {each.criterion.attribute}"
        yield CriterionCheck(f"{each.criterion.name}{of}", each.required, found, nothing or each.passed)


_CHECKS = {CLASS_RELEASE.unit: _check_classes, GROUP_RELEASE.unit: _check_groups}

SARIF_DRIVER = "discreet"
_SUITES_NAME = "discreet audit"
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BYTE_LIMIT = 256
_RULE_DESCRIPTIONS = {
    "k": "every class has at least k rows",
    "l": "every class has at least l different sensitive values",
    "groups": "every group of a permuted release has its different values",
    "the file": "the file is the one that its manifest describes",
    "unchecked": "the file can be checked",
}


def to_junit(checks: FileChecks) -> str:
    """Return JUnit XML: a suite per file, a case per check; a file that cannot be checked is an error."""
    suites = ElementTree.Element("testsuites", name=_SUITES_NAME)
    for each in checks.files:
        cases = [_junit_case(each, check) for check in each.checks] or [_junit_case(each, None)]
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=_escape_for_xml(each.file),
            tests=str(len(cases)),
            failures=str(sum(not check.passed for check in each.checks)),
            errors=str(int(each.error is not None)),
            time=f"{each.seconds:.3f}",
        )
        suite.extend(cases)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _junit_case(each: FileCheck, check: CriterionCheck | None) -> ElementTree.Element:
    name = "unchecked" if check is None else check.name
    case = ElementTree.Element("testcase", classname=_escape_for_xml(each.file), name=_escape_for_xml(name))
    if each.error is not None:
        ElementTree.SubElement(case, "error", message=_escape_for_xml(_error_text(each)))
    elif check is not None and not check.passed:
        ElementTree.SubElement(case, "failure", message=_escape_for_xml(check.description))
    return case


def _escape_for_xml(text: str) -> str:
    r"""Return a text with escapes for the characters that XML 1.0 cannot represent.

    >>> _escape_for_xml("a\x01b")
    'a\\x01b'
    """
    return _NOT_IN_XML.sub(_escape_character, text)


def _escape_character(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < _BYTE_LIMIT else f"\\u{code:04x}"


def to_sarif(checks: FileChecks, version: str) -> str:
    """Return a SARIF log of one run: a rule per kind of check, a result per failed check."""
    results = [result for each in checks.files for result in _sarif_results(each)]
    rules = dict.fromkeys(result["ruleId"] for result in results)
    driver = {
        "name": SARIF_DRIVER,
        "version": version,
        "rules": [
            {"id": rule, "shortDescription": {"text": _RULE_DESCRIPTIONS.get(rule, rule)}} for rule in rules
        ],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _sarif_results(each: FileCheck) -> list[dict[str, Any]]:
    if each.error is not None:
        return [_sarif_result(each, "unchecked", _error_text(each), each.region)]
    return [
        _sarif_result(each, check.name.partition(" of ")[0], check.description, check.region)
        for check in each.checks
        if not check.passed
    ]


def _sarif_result(each: FileCheck, rule: str, text: str, region: Region | None) -> dict[str, Any]:
    uri = quote(each.file.encode("utf-8", "surrogateescape"))
    location: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if region is not None:
        description = {"startLine": region.line, "startColumn": region.start, "endColumn": region.end}
        location["region"] = {key: value for key, value in description.items() if value is not None}
    locations = [{"physicalLocation": location}]
    return {
        "ruleId": rule,
        "level": "error",
        "message": {"text": _escape_for_xml(text)},
        "locations": locations,
    }


def _error_text(each: FileCheck) -> str:
    assert each.error is not None
    return f"{each.error.kind}: run `discreet audit {each.file}` for the reason"
