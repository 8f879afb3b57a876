"""``discreet.check``: whether files have what is asked of them, for pipelines."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from discreet.errors import DiscreetError, InputError, InternalError
from discreet.model.criteria.base import Criterion
from discreet.model.json_text import json_of
from discreet.model.own_version import own_version
from discreet.model.release_address import IN_MEMORY, ReleaseAddress
from discreet.model.table_spec import TableSpec
from discreet.places.address import path_of, shown_address
from discreet.places.kept_files import TargetFile, check_apart
from discreet.results.check_records import PROGRAM, junit, sarif
from discreet.results.file_checks import FileCheck, FileChecks, checks_of
from discreet.settings import Settings
from discreet.verbs.auditing import audit
from discreet.verbs.files import check_new_file, write_text
from discreet.verbs.finding_places import placed
from discreet.verbs.frame_audit import Audited, is_table
from discreet.verbs.outputs import kept_by_spec, kept_releases
from discreet.verbs.reporting import SILENT, Reporter


def check(
    files: Sequence[Audited] | Audited,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int | None = None,
    l: int | Mapping[str, int] | None = None,
    criteria: Sequence[Criterion] = (),
    spec: str | Path | TableSpec | None = None,
    junit_to: str | Path | None = None,
    sarif_to: str | Path | None = None,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> FileChecks:
    """Audit files and say check by check what each has of what is asked; for scripts and pipelines.

    Each of ``files`` is a path or a table in memory, as ``audit`` takes it, and so may be ``files``; columns
    and requirement come from its manifest where they are not given. A file that cannot be checked does not
    stop the others: its ``error`` says why, and it has not passed. ``junit_to`` and ``sarif_to`` are paths of
    records in these forms, which replace records of an earlier run and nothing else; no cell of a file stands
    in them.

    ``InputError`` where no file is named, or a record cannot be written.
    """
    one = is_table(files) or isinstance(files, str | ReleaseAddress) or not isinstance(files, Iterable)
    given: list[Audited] = [files] if one else list(cast("Sequence[Audited]", files))
    if not given:
        raise InputError("no file was named", allowed="one file, or several")
    records = {form: path_of(to) for form, to in (("junit", junit_to), ("sarif", sarif_to)) if to is not None}
    kept = (
        *kept_releases(given, "an audited file"),
        *kept_by_spec(spec, settings or Settings.from_environment()),
    )
    check_apart([TargetFile(f"the {form} record", path) for form, path in records.items()], kept)
    for form, path in records.items():
        _check_record(form, path)
    found = []
    for number, file in enumerate(given, start=1):
        begun = time.perf_counter()
        label = _label(file, number if len(given) > 1 else None)
        try:
            told = audit(
                file,
                quasi_identifiers=quasi_identifiers,
                sensitive=sensitive,
                k=k,
                l=l,
                criteria=criteria,
                spec=spec,
                settings=settings,
                reporter=reporter,
            ).report
            checks = tuple(checks_of(told))
            if not checks:
                raise InputError(
                    f"nothing is required of {label}",
                    advice="Say what must be so: --k 5, or another criterion.",
                )
            each = FileCheck(label, checks, told.warnings, time.perf_counter() - begun)
        except InternalError:
            raise
        except DiscreetError as error:
            each = FileCheck(label, seconds=time.perf_counter() - begun, error=error)
        found.append(placed(each))
    result = FileChecks(tuple(found))
    for form, path in records.items():
        text = junit(result) if form == "junit" else sarif(result, own_version())
        write_text(path, text, overwrite=True)
    return result


def _label(file: object, number: int | None) -> str:
    """The name of a file; of a table in memory its number among several, never its text, which has cells."""
    if is_table(file):
        return IN_MEMORY if number is None else f"{IN_MEMORY} ({number})"
    return shown_address(str(getattr(file, "label", file)))


def _check_record(form: str, path: Path) -> None:
    """``InputError`` where a record would replace anything but a record of an earlier run."""
    check_new_file(path, overwrite=True)
    if path.exists() and not _is_record(form, path):
        raise InputError(
            f"{path} exists, and is no record of discreet's", advice="Choose another path for the record."
        )


def _is_record(form: str, path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
        if form == "junit":
            return '<testsuites name="discreet check"' in text[:200]
        return bool(json_of(text)["runs"][0]["tool"]["driver"]["name"] == PROGRAM)
    except (OSError, ValueError, LookupError, TypeError):
        return False
