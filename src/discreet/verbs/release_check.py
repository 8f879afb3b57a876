"""``discreet.check``: audits of several files for pipelines, with JUnit and SARIF records.

Results point to the header's column that a check concerns, never to rows: rows of a failing class would
reveal unique people. Separate from ``audit``, which every publication loads.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack, cast

from discreet.engines.files.delimited_text import read_delimited_header
from discreet.errors import DiscreetError, InputError, InternalError
from discreet.model.json_documents import parse_json, program_version
from discreet.model.release_address import MEMORY_LABEL, ReleaseAddress
from discreet.places.address import parse_path, redact_address
from discreet.places.protected_files import TargetFile, check_outputs
from discreet.results.check_result import (
    SARIF_DRIVER,
    CriterionCheck,
    FileCheck,
    FileChecks,
    Region,
    list_checks,
    to_junit,
    to_sarif,
)
from discreet.results.request_defaults import with_keywords
from discreet.settings import Settings
from discreet.verbs.audits import AuditInput, AuditKeywords, audit, is_table
from discreet.verbs.locations import check_output_file, write_text
from discreet.verbs.output_checks import collect_release_files, list_spec_files

_TEXT_SUFFIXES = (".csv", ".tsv")
_LINE = re.compile(r", line ([1-9][0-9]*)\b")
_MAX_HEADER = 1 << 16


def add_regions(found: FileCheck) -> FileCheck:
    """Return a file's checks with the regions of those that failed, if there are regions."""
    if found.error is not None:
        line = _LINE.search(found.error.message)
        return found if line is None else replace(found, region=Region(int(line[1])))
    path = Path(found.file)
    if found.passed or path.suffix.lower() not in _TEXT_SUFFIXES or not path.is_file():
        return found
    columns = _column_regions(path)
    return replace(found, checks=tuple(_add_region(check, columns) for check in found.checks))


def _add_region(check: CriterionCheck, columns: dict[str, Region]) -> CriterionCheck:
    # A check of one attribute is named ``NAME of ATTRIBUTE``; others point to the header's line.
    _, of, name = check.name.partition(" of ")
    region = columns.get(name) if of else next(iter(columns.values()), None) and Region(1)
    return check if check.passed else replace(check, region=region)


def _column_regions(path: Path) -> dict[str, Region]:
    """Return the regions of the column names in the first line; empty if they cannot be determined."""
    try:
        header = read_delimited_header(path, str(path), "\t" if path.suffix.lower() == ".tsv" else None, '"')
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline(_MAX_HEADER)
    except (DiscreetError, OSError, UnicodeError):
        return {}
    result, at = {}, 0
    for name in header.columns:
        quoted = '"' + name.replace('"', '""') + '"'
        written = quoted if line.startswith(quoted, at) else name
        if not line.startswith(written, at):
            return {}
        result[name] = Region(1, at + 1, at + 1 + len(written))
        at += len(written) + len(header.delimiter)
    return result


@with_keywords(AuditKeywords)
def check(
    files: Sequence[AuditInput] | AuditInput,
    *,
    junit_to: str | Path | None = None,
    sarif_to: str | Path | None = None,
    **options: Unpack[AuditKeywords],
) -> FileChecks:
    """Audit files and report each check; for scripts and pipelines.

    ``files`` is one path or table in memory, as for ``audit``, or several; columns and requirement come from
    the manifests if they are not given. A file that cannot be checked does not stop the others: it fails, and
    its ``error`` gives the reason. ``junit_to`` and ``sarif_to`` are paths of records in these formats, which
    replace only records of an earlier run; they contain no cell of a file.

    Raises ``InputError`` without any file, or if a record cannot be written.

    >>> discreet.check(["may.csv", "june.csv"], k=5, junit_to="audit.xml").passed  # doctest: +SKIP
    """
    one = is_table(files) or isinstance(files, str | ReleaseAddress) or not isinstance(files, Iterable)
    all_files: list[AuditInput] = [files] if one else list(cast("Sequence[AuditInput]", files))
    if not all_files:
        raise InputError("no file was given", allowed="one file, or several")
    records = {
        form: parse_path(to) for form, to in (("junit", junit_to), ("sarif", sarif_to)) if to is not None
    }
    protected = (
        *collect_release_files(all_files, "an audited file"),
        *list_spec_files(options.get("spec"), options.get("settings") or Settings.from_environment()),
    )
    check_outputs([TargetFile(f"the {form} record", path) for form, path in records.items()], protected)
    for form, path in records.items():
        _check_record_path(form, path)
    found = []
    for number, file in enumerate(all_files, start=1):
        begun = time.perf_counter()
        label = _file_label(file, number if len(all_files) > 1 else None)
        try:
            audited = audit(file, **options)
            checks = tuple(list_checks(audited.report))
            if not checks:
                raise InputError(f"nothing is required of {label}", advice="Give a criterion, such as --k 5.")
            each = FileCheck(
                label, checks, audited.report.warnings, time.perf_counter() - begun, audit=audited
            )
        except InternalError:
            raise
        except DiscreetError as error:
            each = FileCheck(label, seconds=time.perf_counter() - begun, error=error)
        found.append(add_regions(each))
    result = FileChecks(tuple(found))
    for form, path in records.items():
        text = to_junit(result) if form == "junit" else to_sarif(result, program_version())
        write_text(path, text, overwrite=True)
    return result


def _file_label(file: object, number: int | None) -> str:
    """Return a file's name; of a table in memory its number, never its text, which contains cells."""
    if is_table(file):
        return MEMORY_LABEL if number is None else f"{MEMORY_LABEL} ({number})"
    return redact_address(str(getattr(file, "label", file)))


def _check_record_path(form: str, path: Path) -> None:
    """Raise ``InputError`` if a record would replace a file that is not an earlier record."""
    check_output_file(path, overwrite=True)
    if path.exists() and not _is_record(form, path):
        raise InputError(
            f"{path} exists and is not a record of discreet audit",
            advice="Choose another path for the record.",
        )


def _is_record(form: str, path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
        if form == "junit":
            return '<testsuites name="discreet audit"' in text[:200]
        return bool(parse_json(text)["runs"][0]["tool"]["driver"]["name"] == SARIF_DRIVER)
    except (OSError, ValueError, LookupError, TypeError):
        return False
