"""Publishing: recode, write, audit what was written, and only then put it in place.

The order, each step a function below; whatever fails or is killed at any of them leaves no release behind:

1. look at the target, and remove what killed runs left there;
2. recode in the engine, and put the rows into their order;
3. write the data, and where the spec names a subject a witness of subjects, where nobody takes them for a
   release (``engines.delivery``);
4. audit what was written by its own reading and counting;
5. compare what it read with what was decided, cell by cell, before anything is judged (``release.written``);
6. write the manifest, and a line of the private log;
7. put the manifest in place, then the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from discreet.audit.criteria import require_auditable
from discreet.audit.population import ShownPopulation
from discreet.audit.verify import audit_source
from discreet.engines.base import Engine
from discreet.engines.delivery import DATA, Part
from discreet.engines.files.database_file import NewTable
from discreet.errors import InputError, InternalError, NoSolution, RequirementNotMet
from discreet.model.audit_report import AuditReport
from discreet.model.class_recoding import ClassRecoding
from discreet.model.class_test import ClassTest
from discreet.model.coded_warning import CodedWarning, told_once
from discreet.model.recoding import SuppressionPolicy
from discreet.model.release import Release
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.recoding.choose import applied
from discreet.recoding.recoded_table import RecodedTable
from discreet.recoding.stored_classes import CountedTable, Recoding
from discreet.release import private_log
from discreet.release.deliveries import delivery_to
from discreet.release.evidence import log_entry, manifest_of
from discreet.release.identifiers import require_no_original
from discreet.release.job import Job
from discreet.release.manifest import Manifest
from discreet.release.population import shown_population
from discreet.release.shuffle import load_sort_keys
from discreet.release.warnings import left_out
from discreet.release.written import compared
from discreet.settings import Settings


def publish(
    engine: Engine,
    spec: TableSpec,
    counted: CountedTable,
    recoding: Recoding,
    output: Path | ReleaseAddress,
    *,
    overwrite: bool,
    settings: Settings,
    expected_suppressed: int | None = None,
    summary: str | None = None,
    usefulness: float | None = None,
    after: tuple[str, ...] = (),
    further: tuple[CodedWarning, ...] = (),
) -> Release:
    """Publish a spec's table under a recoding: ``output`` and its manifest.

    ``output`` is a file (``.csv`` or ``.parquet``), with Spark also a folder of Parquet files, or a table of
    the database that has the source. ``counted`` is the spec's table as it was counted before (its frequency
    set, mostly); ``expected_suppressed`` the suppressed rows that the search found for the node (a recoding
    by classes says it itself); ``summary`` how classes are shown, for the manifest, where that was chosen;
    ``usefulness`` what was measured of a recoding by classes, for the private log: where classes overlap no
    release tells it; ``after`` are the digests of earlier releases beside which it was found safe;
    ``further`` are warnings of whoever asks for it.

    Raises ``InputError`` where the output may not or cannot be written, the source changed meanwhile, or a
    criterion was asked that no audit can count (``audit.criteria``);
    ``NoSolution`` where no row would be left; ``RequirementNotMet`` where the audit of what was written
    fails; ``LimitReached`` where memory or disk ran out, or the engine wrote something else than it was
    told; ``InternalError`` where the counts of the search, the recoding and the audit disagree. In each case
    nothing is left at the target but what was there before.
    """
    if isinstance(recoding, ClassRecoding):
        refuse_class_test(recoding.class_test)
    require_auditable(recoding.requirement.others, counts_subjects=spec.source.subject is not None)
    with (
        open_private_log(settings.private_log) as log,
        delivery_to(engine, spec, output, settings, overwrite=overwrite) as delivery,
    ):
        job = Job(engine, spec, counted, recoding, delivery, summary, usefulness, after, further)
        with _applied(job, expected_suppressed) as table:
            _require_rows(table, job)
            part = _data(job, table)
            subjects = _write(job, table, part)
            population = shown_population(job, table)
            audit = _audited(job, table, part, subjects, population)
            require_no_original(engine, spec, delivery)
            manifest = manifest_of(job, table, audit, audit.sha256 or delivery.digest(DATA) or "")
            delivery.write_manifest(manifest.text())
            # Before the release is in place: there is none that the log does not know.
            private_log.append(log, log_entry(job, table, manifest))
            delivery.put_in_place()
            return Release(
                address=delivery.address,
                manifest_address=delivery.manifest,
                rows=table.rows,
                suppressed=table.suppressed,
                model=str(job.model),
                levels=job.levels,
                audit=audit,
                warnings=publisher_warnings(manifest, further, left_out(spec, table.source_columns)),
            )


def publisher_warnings(
    manifest: Manifest, further: Sequence[CodedWarning], notes: Sequence[CodedWarning]
) -> tuple[CodedWarning, ...]:
    """The warnings of the manifest, and those that only the publisher reads."""
    return told_once((*manifest.warnings, *further, *notes))


def refuse_class_test(class_test: ClassTest | None) -> None:
    """Raise ``InputError`` for a requirement that a manifest cannot record and an audit cannot count."""
    if class_test is not None:
        raise InputError(
            f"a release that {type(class_test).__name__} was asked of as well: no manifest records it, "
            "and no audit counts it",
            allowed="criteria, which are recorded and audited",
            advice="Require criteria only. A recoding with a class test can be made (recode), not published.",
        )


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
    return applied(
        job.engine,
        job.spec,
        job.counted,
        job.recoding,
        native=job.delivery.typed,
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


def _data(job: Job, table: RecodedTable) -> Part:
    """The data, in the order that the spec asks."""
    names = tuple(column.name for column in table.columns)
    asked_by = tuple(name for name in names if name in job.recoding.attributes)
    unchanged = frozenset(column.name for column in table.columns if column.unchanged)
    data = NewTable(table.query(), names, table.unordered(), unchanged, table.types)
    return Part(data, indexes=(asked_by,), classes=table.class_cells())


def _write(job: Job, table: RecodedTable, part: Part) -> SourceSpec | None:
    """Write the data; where there are subjects, write and return the audit's witness."""
    job.delivery.write({DATA: part})
    if table.subject is None:
        return None
    return job.delivery.write_witness(table.witness_query([*job.recoding.attributes, *_sensitive(job)]))


def _audited(
    job: Job,
    table: RecodedTable,
    part: Part,
    subjects: SourceSpec | None,
    population: ShownPopulation | None,
) -> AuditReport:
    """The audit of what was written; ``RequirementNotMet`` where it fails.

    ``LimitReached`` where that is not what was decided: its one scan of all rows serves both.
    """
    starred = job.recoding.suppression is SuppressionPolicy.STAR
    with job.delivery.auditor() as engine, compared(job.engine, DATA, part) as along:
        audit = audit_source(
            engine,
            job.delivery.source(DATA),
            quasi_identifiers=job.recoding.attributes,
            sensitive=_sensitive(job),
            requirement=job.recoding.requirement,
            subjects=subjects,
            population=population,
            starred_apart=starred and table.suppressed > 0,
            suppressed=table.suppressed if starred else None,
            along=along,
            known=job.known,
            digest=job.delivery.address.in_database,
            in_order=not job.spec.draws_order,
            replaced=tuple(job.spec.source.ways),
            real_values=job.spec.real_values,
        )
    written = table.kept if job.recoding.suppression is SuppressionPolicy.DROP else table.rows
    if not audit.passed:
        raise RequirementNotMet(
            f"the audit of what was written failed: {job.recoding.requirement} was required, but "
            f"{_failed(audit)} (k={audit.k}"
            + "".join(f", l({name})={l}" for name, l in audit.l.items())
            + "".join(f", {found.told}" for found in audit.criteria)
            + ")",
            advice=_advice(job),
        )
    if audit.rows + audit.starred != written or audit.rows > table.kept:
        raise InternalError(
            f"{written} rows were to be written, {table.kept} of them with values, but there are "
            f"{audit.rows} and {audit.starred} starred ones",
            advice="Nothing was published. Please report this.",
        )
    return replace(audit, suppressed=table.suppressed)


def _failed(audit: AuditReport) -> str:
    """What fails: classes, or where none does the release as a whole."""
    if not audit.failing_classes and any(not found.met for found in audit.criteria):
        return "the release as a whole fails"
    return f"{audit.failing_classes} of its {audit.classes} classes fail"


def _advice(job: Job) -> str:
    if job.recoding.suppression is SuppressionPolicy.STAR:
        return (
            "Nothing was published. A row whose every cell happens to be '*' cannot be told from a starred "
            "one and is missing from its class: drop suppressed rows instead."
        )
    return (
        "Nothing was published. The table has changed since it was counted (values of a sensitive attribute, "
        "say): negotiate again, and publish while nothing writes to it. Please report this if nothing did."
    )


def _sensitive(job: Job) -> list[str]:
    return [attribute.name for attribute in job.spec.sensitive]
