"""Publishing: recode, write, audit what was written, and only then put it in place.

The order, each step a function below; whatever fails or is killed at any of them leaves no release behind:

1. look at the target, and remove what killed runs left there;
2. recode in the engine, and draw the random order;
3. write the data, and where the spec names a subject a file of subjects, under owner-only temporary names;
4. audit the written file by its own reading and counting;
5. write the manifest, and a line of the private log;
6. rename the manifest, then the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from discreet.audit.verify import audit_file
from discreet.engines.base import Engine
from discreet.errors import InternalError, NoSolution, RequirementNotMet
from discreet.model.audit_report import AuditReport
from discreet.model.recoding import FullDomainRecoding, SuppressionPolicy
from discreet.model.release import Release
from discreet.model.table_spec import TableSpec
from discreet.recoding.apply import recoded
from discreet.recoding.classes import recoded_classes
from discreet.recoding.recoded_table import RecodedTable
from discreet.recoding.stored_classes import CountedTable, Recoding
from discreet.release import private_log
from discreet.release.evidence import log_entry, manifest_of
from discreet.release.job import Job
from discreet.release.shuffle import load_sort_keys
from discreet.release.target import check_target, writing
from discreet.release.temporary import TemporaryFiles, remove_leftovers, sync_file
from discreet.release.warnings import left_out
from discreet.settings import Settings


def publish(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    recoding: Recoding,
    output: Path,
    *,
    overwrite: bool,
    settings: Settings,
    expected_suppressed: int | None = None,
    summary: str | None = None,
) -> Release:
    """Publish a spec's table under a recoding: ``output`` (``.csv`` or ``.parquet``) and its manifest.

    ``counted`` is the spec's table as it was counted before (its frequency set, mostly);
    ``expected_suppressed`` the suppressed rows that the search found for the node (a recoding by classes says
    it itself); ``summary`` how classes are shown, for the manifest, where that was chosen.

    Raises ``InputError`` where the output may not or cannot be written, or the source changed meanwhile;
    ``NoSolution`` where no row would be left; ``RequirementNotMet`` where the audit of the written file
    fails; ``LimitReached`` where memory or disk ran out; ``InternalError`` where the counts of the search,
    the recoding and the audit disagree. In each case nothing is left at the target but what was there before.
    """
    target = check_target(output, overwrite=overwrite, protected=protected_files(spec, settings))
    remove_leftovers(target)
    job = Job(engine, spec, counted, recoding, target, summary)
    with (
        open_private_log(settings.private_log) as log,
        TemporaryFiles(target) as files,
        _applied(job, expected_suppressed) as table,
    ):
        _require_rows(table, job)
        _write(job, table, files)
        audit = _audited(job, table, files)
        manifest = manifest_of(job, table, audit, private_log.file_digest(files.path("data")))
        files.write_text("manifest", manifest.text())
        private_log.append(log, log_entry(job, table, manifest))
        files.put_in_place(overwrite=overwrite)
        return Release(
            path=target.path,
            manifest_path=target.manifest_path,
            rows=table.rows,
            suppressed=table.suppressed,
            model=str(job.model),
            levels=job.levels,
            audit=audit,
            warnings=tuple(
                str(warning) for warning in (*manifest.warnings, *left_out(spec, table.source_columns))
            ),
        )


def protected_files(spec: TableSpec, settings: Settings) -> list[tuple[str, Path]]:
    """The files that a release must not replace."""
    files = [("the private log", settings.private_log)]
    if spec.source.path is not None:
        files.append(("the input", spec.source.path))
    if spec.path is not None:
        files.append(("the spec", spec.path))
    for attribute in spec.attributes:
        path = getattr(attribute.hierarchy, "path", None)
        if isinstance(path, Path):
            files.append((f"the hierarchy of '{attribute.name}'", path))
    return files


@contextmanager
def open_private_log(path: Path) -> Iterator[int]:
    """A descriptor of the private log, closed when the context ends (``private_log.open_log``)."""
    descriptor = private_log.open_log(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _applied(job: Job, expected_suppressed: int | None) -> AbstractContextManager[RecodedTable]:
    """The job's recoding applied in the engine."""
    place = job.engine, job.spec, job.counted
    native = job.target.file_format == "parquet"
    if not isinstance(job.recoding, FullDomainRecoding):
        return recoded_classes(*place, job.recoding, native=native, draw_keys=load_sort_keys)
    return recoded(
        *place,
        job.recoding,
        native=native,
        draw_keys=load_sort_keys,
        expected_suppressed=expected_suppressed,
    )


def _require_rows(table: RecodedTable, job: Job) -> None:
    if table.kept == 0:
        raise NoSolution(
            f"all {table.rows} rows would be suppressed for {job.recoding.requirement}: "
            "nothing would be left",
            advice="Raise levels, or ask for less. Nothing was written.",
        )


def _write(job: Job, table: RecodedTable, files: TemporaryFiles) -> None:
    """Write the data in a random order and, where there are subjects, the witness of the audit."""
    data = files.path("data")
    names = [column.name for column in table.columns]
    job.engine.write_file(table.query(), data, job.target.file_format, names)
    with writing(job.target.folder):
        sync_file(data)
    if table.subject is not None:
        job.engine.write_file(
            table.witness_query([*job.recoding.attributes, *_sensitive(job)]),
            files.path("subjects"),
            "parquet",
        )


def _audited(job: Job, table: RecodedTable, files: TemporaryFiles) -> AuditReport:
    """The audit of the written file; ``RequirementNotMet`` where it fails."""
    audit = audit_file(
        job.engine,
        files.path("data"),
        quasi_identifiers=job.recoding.attributes,
        sensitive=_sensitive(job),
        requirement=job.recoding.requirement,
        subjects=None if table.subject is None else files.path("subjects"),
        file_format=job.target.file_format,
        delimiter="," if job.target.file_format == "csv" else None,
        starred_apart=job.recoding.suppression is SuppressionPolicy.STAR,
    )
    if not audit.passed:
        raise RequirementNotMet(
            f"the audit of the written file failed: {job.recoding.requirement} was required, but "
            f"{audit.failing_classes} of its {audit.classes} classes fail (k={audit.k}"
            + "".join(f", l({name})={l}" for name, l in audit.l.items())
            + ")",
            advice=_advice(job),
        )
    written = table.kept if job.recoding.suppression is SuppressionPolicy.DROP else table.rows
    if audit.rows + audit.starred != written or audit.rows > table.kept:
        raise InternalError(
            f"{written} rows were to be written, {table.kept} of them with values, but the file has "
            f"{audit.rows} and {audit.starred} starred ones",
            advice="Nothing was published. Please report this.",
        )
    return audit


def _advice(job: Job) -> str:
    if job.recoding.suppression is SuppressionPolicy.STAR:
        return (
            "Nothing was published. A row whose every cell happens to be '*' cannot be told from a starred "
            "one and is missing from its class: drop suppressed rows instead."
        )
    return "Nothing was published. Please report this: recoding and audit disagree."


def _sensitive(job: Job) -> list[str]:
    return [attribute.name for attribute in job.spec.sensitive]
