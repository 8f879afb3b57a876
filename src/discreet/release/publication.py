"""Publication of a recoded table: recode, write, compare, audit, and only then publish.

1. check the target and remove leftovers of killed runs;
2. recode in the engine and order the rows;
3. write the data, and a witness of subjects if the spec names a subject;
4. audit the output by its own reading and counting;
5. compare it, cell by cell, with the decided rows by a multiset hash (``sql.row_hashes``, decision 0011), in
   the same scan;
6. write the manifest and the line of the private log;
7. rename the manifest, then the data.

If any step fails or the process is killed, no release is left behind. Cells of pseudonymized columns are
compared with the identifiers of the source before the release is published.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.audit.class_audit import audit_source
from discreet.audit.criterion_checks import GeneralizedPopulation, require_auditable
from discreet.audit.recount import CheckedSum, SumFactory
from discreet.engines.base import Engine, SourceTable
from discreet.engines.delivery import DATA, Delivery, Part
from discreet.engines.files.output_files import NewTable
from discreet.engines.source_tables import TemporaryTables, open_source_table, open_unmodified_table
from discreet.errors import InputError, InternalError, LimitReached, NoSolution, RequirementNotMet
from discreet.model.audit_report import AuditReport, Release
from discreet.model.class_recoding import ClassRecoding, ClassTest
from discreet.model.coded_warnings import CodedWarning, unique_warnings
from discreet.model.release_address import ReleaseAddress
from discreet.model.search_result import SuppressionPolicy
from discreet.model.table_spec import SourceSpec, TableSpec
from discreet.recoding.recoded_table import RecodedTable
from discreet.recoding.recoding_application import apply_recoding
from discreet.recoding.stored_classes import CountedTable, Recoding
from discreet.release import private_log
from discreet.release.file_delivery import open_delivery
from discreet.release.manifest import Manifest
from discreet.release.publication_evidence import build_log_entry, build_manifest, collect_publisher_notes
from discreet.release.publication_job import PublicationJob, load_sort_keys, write_population
from discreet.settings import Settings
from discreet.sql import row_hashes
from discreet.sql.cell_expressions import (
    canonical_text,
    column_name,
    decimals_of,
    fits_long,
    group_key,
    is_text,
)
from discreet.sql.dialect import Dialect
from discreet.sql.quoting import identifier
from discreet.sql.recoded_classes import CLASS_KEY, LABELS_ALIAS, ClassCells
from discreet.sql.recoded_rows import POSITION

_IDENTIFIER = "text"


def require_no_identifiers(engine: Engine, spec: TableSpec, delivery: Delivery) -> None:
    """Raise ``RequirementNotMet`` if a cell of a pseudonymized column equals a text of the source's column.

    Cost: for each such column its distinct texts, and one scan of the release.
    """
    ways = spec.source.pseudonymizations
    if not ways:
        return
    originals = {}
    with open_unmodified_table(engine, spec.source) as source:
        link = spec.source.link
        for name in ways:
            if link is not None and name == link.name:
                originals[name] = list(dict.fromkeys(link.values))
                continue
            text = source.text(name)
            query = f"SELECT DISTINCT {text} FROM {source.relation} WHERE {text} IS NOT NULL"
            originals[name] = [str(row[0]) for row in engine.fetch_rows(query)]
    with (
        delivery.auditor() as auditor,
        open_source_table(auditor, delivery.source(DATA)) as release,
        TemporaryTables(auditor) as tables,
    ):
        for name, texts in originals.items():
            identifier_table = identifier(tables.load({_IDENTIFIER: texts}))
            test = f"o.{identifier(_IDENTIFIER)} = {release.text(name, 'r')}"
            query = f"SELECT count(*) FROM {release.relation} AS r JOIN {identifier_table} AS o ON {test}"
            found = int(auditor.fetch_rows(query)[0][0])
            if found:
                raise RequirementNotMet(
                    f"the audit of the output failed: {found:,} cells of '{name}' are identifiers of the "
                    "source",
                    advice="Nothing was published. Please report this.",
                )


_HASHED = "hashed_cells"


def check_output(engine: Engine, delivery: Delivery, parts: Mapping[str, Part]) -> None:
    """Compare each written part with its query on ``engine``; raise ``LimitReached`` where they differ.

    Cost: a scan of the output, and one of the decided rows, which need not be sorted again.
    """
    for purpose, part in parts.items():
        with (
            delivery.auditor() as reader,
            compare_output(engine, purpose, part) as row_sum,
            open_source_table(reader, delivery.source(purpose, part.name)) as written,
        ):
            found = row_sum(written)
            found.check(*_fetch_hash(reader, written.relation, found.term))


@contextmanager
def compare_output(engine: Engine, purpose: str, part: Part) -> Iterator[SumFactory]:
    """Yield the sum that a reader of the whole output computes, so that the output is compared.

    Raise ``LimitReached`` where the output differs or cannot be read.
    """
    agreed = False

    def row_sum(written: SourceTable) -> CheckedSum:
        pair = _hashed_columns(engine, part, written)
        if pair is None:
            raise _difference_error(purpose, "has wrong cells")
        decided, found = pair

        def check(rows: int, total: int) -> None:
            nonlocal agreed
            if (rows, total) != _fetch_decided_hash(engine, part, decided):
                raise _difference_error(purpose, "has wrong cells")
            agreed = True

        if not _sums_by_class(part, decided):
            return CheckedSum(found.row(_column_names(part)), check)
        published_columns = [part.table.columns[i] for i in found.class_positions]
        return CheckedSum(
            found.others(_column_names(part)),
            check,
            lambda texts: found.of_class([texts[name] for name in published_columns]),
        )

    try:
        yield row_sum
    except (InputError, InternalError) as error:
        if agreed:
            raise
        raise _difference_error(purpose, "cannot be read back") from error


def _difference_error(purpose: str, reason: str) -> LimitReached:
    return LimitReached(
        f"the engine wrote other rows than requested: the {purpose} {reason}",
        advice="Nothing was published. Run it again; if it happens again, with fewer threads (--threads 1).",
    )


def _column_names(part: Part) -> list[str]:
    return [column_name(i) for i in range(len(part.table.columns))]


def _unordered_query(part: Part) -> str:
    return part.table.unordered or part.table.query


def _hashed_columns(
    engine: Engine, part: Part, written: SourceTable
) -> tuple[_CellHashing, _CellHashing] | None:
    """Return the hashing of decided and written cells; None where the columns differ."""
    if written.columns != part.table.columns:
        return None
    types = part.table.types or engine.column_types(_unordered_query(part))
    found = tuple(written.types[name] for name in written.columns)
    own = engine.dialect.name == written.dialect.name
    plain = tuple(own and kind == other for kind, other in zip(types, found, strict=True))
    class_columns = () if part.classes is None else tuple(part.classes.cells)
    return (
        _CellHashing(engine.dialect, types, plain, class_columns, own=own),
        _CellHashing(written.dialect, found, plain, class_columns, own=own),
    )


def _sums_by_class(part: Part, cells: _CellHashing) -> bool:
    """Return true if a row's hash is the hash of its class times that of its other cells."""
    return cells.own and part.classes is not None and cells.dialect.multiplies_sums


def _fetch_decided_hash(engine: Engine, part: Part, cells: _CellHashing) -> tuple[int, int]:
    if part.classes is not None and cells.own:
        found = _fetch_class_sums if _sums_by_class(part, cells) else _fetch_class_hashes
        return found(engine, part.classes, cells)
    names = _column_names(part)
    return _fetch_hash(engine, f"({_unordered_query(part)}) AS t({', '.join(names)})", cells.row(names))


@dataclass(frozen=True)
class _CellHashing:
    """Expressions that hash the cells of a table.

    Cells are hashed unchanged where ``plain``, otherwise as canonical texts. Those with the indices
    ``class_positions`` come first, as one number. ``own`` selects the engine's own hash function.
    """

    dialect: Dialect
    types: Sequence[str]
    plain: Sequence[bool]
    class_positions: Sequence[int]
    own: bool

    def key(self, index: int, column: str) -> str:
        """Return the expression of a column that is hashed."""
        # In DuckDB some 128-bit numbers share one hash, such as 0 and -1; their texts do not.
        exact = self.plain[index] and (decimals_of(self.types[index]) is None or fits_long(self.types[index]))
        of = group_key if exact else canonical_text
        found = of(column, self.types[index], self.dialect)
        # Compare by code points, as cells may be grouped, and not by the collation of the source's language.
        return self.dialect.binary_order.format(found) if is_text(self.types[index]) else found

    def row(self, columns: Sequence[str]) -> str:
        """Return the hash of a row of columns."""
        if not self.own:
            return row_hashes.text_hash(self.dialect, [self.key(i, c) for i, c in enumerate(columns)])
        return self.rest(self.first(dict(enumerate(columns))), columns)

    def first(self, cells: Mapping[int, str]) -> str:
        """Return the hash of the shown cells, by their index."""
        return row_hashes.row_hash(
            self.dialect, [self.key(i, cells[i]) for i in self.class_positions] or ["0"]
        )

    def rest(self, first: str, columns: Sequence[str]) -> str:
        """Return the hash of a row from ``first``, the hash of its shown cells, and the other columns."""
        class_indexes = set(self.class_positions)
        keys = [self.key(i, column) for i, column in enumerate(columns) if i not in class_indexes]
        return row_hashes.row_hash(self.dialect, [first, *keys])

    def others(self, columns: Sequence[str]) -> str:
        """Return the hash of the cells of a row that are not shown."""
        class_indexes = set(self.class_positions)
        return self.of_others([column for i, column in enumerate(columns) if i not in class_indexes])

    def of_others(self, cells: Sequence[str]) -> str:
        """Compute the hash like ``others``, from only those cells."""
        places = [i for i in range(len(self.types)) if i not in self.class_positions]
        keys = [self.key(i, cell) for i, cell in zip(places, cells, strict=True)]
        # Where the types of the two sides differ, both hash the texts.
        if len(places) == 1 and (is_text(self.types[places[0]]) or not self.plain[places[0]]):
            return row_hashes.one_text_hash(self.dialect, keys[0])
        return row_hashes.row_hash(self.dialect, keys or ["0"])

    def of_class(self, texts: Sequence[str]) -> str:
        """Return the hash of the texts that a class shows."""
        return row_hashes.row_hash(self.dialect, texts or ["0"])


def _fetch_class_sums(engine: Engine, classes: ClassCells, cells: _CellHashing) -> tuple[int, int]:
    """Compute the hash of the decided rows as sums of their other cells times the hash of their class."""
    texts = [canonical_text(f"({cell})", cells.types[i], cells.dialect) for i, cell in classes.cells.items()]
    summed = engine.dialect.hash_sum.format(cells.of_others(classes.others))
    rows, total = engine.fetch_rows(
        f"SELECT sum(s.n), sum(s.b * l.{_HASHED}) FROM ({classes.sums(summed)}) AS s "
        f"LEFT JOIN {_class_hash_relation(classes, cells.of_class(texts))} AS l "
        f"ON s.{CLASS_KEY} = l.{POSITION}"
    )[0]
    return int(rows or 0), int(total or 0)


def _fetch_class_hashes(engine: Engine, classes: ClassCells, cells: _CellHashing) -> tuple[int, int]:
    """Compute the hash of the decided rows, hashing the cells of each class once."""
    places = [i for i in range(len(cells.types)) if i not in classes.cells]
    names = dict(zip(places, (column_name(i + 1) for i in range(len(places))), strict=True))
    columns = [names.get(i, "") for i in range(len(cells.types))]
    # Joined as a subquery: a table would take two Spark jobs, and the join is computed once anyway.
    rows = classes.rows(_class_hash_relation(classes, cells.first(classes.cells)), _HASHED)
    return _fetch_hash(engine, f"({rows}) AS t", cells.rest(column_name(0), columns))


def _class_hash_relation(classes: ClassCells, term: str) -> str:
    """Return a relation of each class's index and a number."""
    labels = f"{identifier(classes.labels)} AS {LABELS_ALIAS}"
    return f"(SELECT {LABELS_ALIAS}.{POSITION} AS {POSITION}, {term} AS {_HASHED} FROM {labels})"


def _fetch_hash(engine: Engine, relation: str, row: str) -> tuple[int, int]:
    """Return a relation's number of rows and the sum of their hashes (see ``sql.row_hashes``)."""
    rows, total = engine.fetch_rows(row_hashes.multiset_hash(engine.dialect, relation, row))[0]
    return int(rows or 0), int(total or 0)


def publish_release(
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
    previous_releases: tuple[str, ...] = (),
    further: tuple[CodedWarning, ...] = (),
) -> Release:
    """Publish a spec's table under a recoding: ``output`` and its manifest.

    Parameters
    ----------
    counted
        The spec's table as it was counted before, usually its frequency set.
    output
        A file (``.csv`` or ``.parquet``), with Spark also a folder of Parquet files, or a table of the
        source's database.
    expected_suppressed
        Number of suppressed rows that the search found for the node; a recoding by classes contains it.
    summary
        How classes are shown, for the manifest, where that was chosen.
    usefulness
        Measured quality of a recoding by classes, for the private log: where classes overlap, it cannot be
        computed from the release.
    after
        Digests of earlier releases together with which this one was found safe.
    further
        The caller's warnings.

    Raises
    ------
    InputError
        Where the output may not or cannot be written, the source changed meanwhile, or a required criterion
        cannot be audited (``audit.criterion_checks``).
    NoSolution
        Where no row would remain.
    RequirementNotMet
        Where the audit of the output fails.
    LimitReached
        Where memory or disk ran out, or the engine wrote other rows than requested.
    InternalError
        Where the counts of the search, the recoding and the audit disagree.

    Notes
    -----
    On any error the target keeps its previous content.
    """
    if isinstance(recoding, ClassRecoding):
        refuse_class_test(recoding.class_test)
    require_auditable(recoding.requirement.others, counts_subjects=spec.source.subject is not None)
    with (
        open_private_log(settings.private_log) as log,
        open_delivery(engine, spec, output, settings, overwrite=overwrite) as delivery,
    ):
        job = PublicationJob(
            engine, spec, counted, recoding, delivery, summary, usefulness, previous_releases, further
        )
        with _apply_recoding(job, expected_suppressed) as table:
            _require_rows(table, job)
            part = _build_data_part(job, table)
            subjects = _write_data(job, table, part)
            population = write_population(job, table)
            audit = _audit_output(job, table, part, subjects, population)
            require_no_identifiers(engine, spec, delivery)
            manifest = build_manifest(job, table, audit, audit.sha256 or delivery.digest(DATA) or "")
            delivery.write_manifest(manifest.text())
            # Append to the log before the rename, so that no release exists without its log entry.
            private_log.append(log, build_log_entry(job, table, manifest))
            delivery.put_in_place()
            return Release(
                address=delivery.address,
                manifest_address=delivery.manifest,
                rows=table.rows,
                suppressed=table.suppressed,
                model=str(job.model),
                levels=job.levels,
                audit=audit,
                warnings=collect_publisher_warnings(
                    manifest, further, collect_publisher_notes(spec, table.source_columns)
                ),
            )


def collect_publisher_warnings(
    manifest: Manifest, further: Sequence[CodedWarning], notes: Sequence[CodedWarning]
) -> tuple[CodedWarning, ...]:
    """Return the warnings of the manifest, and those that only the publisher reads."""
    return unique_warnings((*manifest.warnings, *further, *notes))


def refuse_class_test(class_test: ClassTest | None) -> None:
    """Raise ``InputError`` for a requirement that a manifest cannot record and an audit cannot count."""
    if class_test is not None:
        raise InputError(
            f"{type(class_test).__name__} cannot be recorded in a manifest or audited",
            allowed="criteria, which are recorded and audited",
            advice="Require criteria only. A recoding with a class test can be made (recode), not published.",
        )


@contextmanager
def open_private_log(path: Path) -> Iterator[int]:
    """Open the private log and yield its descriptor, closed on exit (``private_log.open_descriptor``)."""
    descriptor = private_log.open_descriptor(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _apply_recoding(
    job: PublicationJob, expected_suppressed: int | None
) -> AbstractContextManager[RecodedTable]:
    """Apply the job's recoding in the engine."""
    return apply_recoding(
        job.engine,
        job.spec,
        job.counted,
        job.recoding,
        native=job.delivery.typed,
        draw_keys=load_sort_keys,
        expected_suppressed=expected_suppressed,
    )


def _require_rows(table: RecodedTable, job: PublicationJob) -> None:
    if table.published_rows == 0:
        raise NoSolution(
            f"all {table.rows} rows would be suppressed for {job.recoding.requirement}: no row would remain",
            advice="Raise levels, or relax the requirement. Nothing was written.",
        )


def _build_data_part(job: PublicationJob, table: RecodedTable) -> Part:
    """Build the data part, in the order that the spec requests."""
    names = tuple(column.name for column in table.columns)
    key_columns = tuple(name for name in names if name in job.recoding.attributes)
    unchanged = frozenset(column.name for column in table.columns if column.unchanged)
    data = NewTable(table.query(), names, table.unordered(), unchanged, table.types)
    return Part(data, indexes=(key_columns,), classes=table.class_cells())


def _write_data(job: PublicationJob, table: RecodedTable, part: Part) -> SourceSpec | None:
    """Write the data; for a table with subjects, write and return the audit's witness."""
    job.delivery.write({DATA: part})
    if table.subject is None:
        return None
    return job.delivery.write_witness(table.witness_query([*job.recoding.attributes, *_sensitive_names(job)]))


def _audit_output(
    job: PublicationJob,
    table: RecodedTable,
    part: Part,
    subjects: SourceSpec | None,
    population: GeneralizedPopulation | None,
) -> AuditReport:
    """Audit the output; raise ``RequirementNotMet`` where it fails.

    Raise ``LimitReached`` where the output differs from the decided rows: one scan of all rows serves both.
    """
    starred = job.recoding.suppression is SuppressionPolicy.STAR
    with job.delivery.auditor() as engine, compare_output(job.engine, DATA, part) as row_sum:
        audit = audit_source(
            engine,
            job.delivery.source(DATA),
            quasi_identifiers=job.recoding.attributes,
            sensitive=_sensitive_names(job),
            requirement=job.recoding.requirement,
            subjects=subjects,
            population=population,
            starred_apart=starred and table.suppressed > 0,
            suppressed=table.suppressed if starred else None,
            row_sum=row_sum,
            known=job.known,
            digest=job.delivery.address.in_database,
            in_order=not job.spec.draws_order,
            pseudonymized=tuple(job.spec.source.pseudonymizations),
            real_values=job.spec.real_values,
        )
    written = table.published_rows if job.recoding.suppression is SuppressionPolicy.DROP else table.rows
    if not audit.passed:
        raise RequirementNotMet(
            f"the audit of the output failed: {job.recoding.requirement} was required, but "
            f"{_failure_text(audit)} (k={audit.k}"
            + "".join(f", l({name})={l}" for name, l in audit.l.items())
            + "".join(f", {found.value_text}" for found in audit.criteria)
            + ")",
            advice=_failure_advice(job),
        )
    if audit.rows + audit.starred != written or audit.rows > table.published_rows:
        raise InternalError(
            f"{written} rows were to be written, {table.published_rows} of them with values, but there are "
            f"{audit.rows} and {audit.starred} starred ones",
            advice="Nothing was published. Please report this.",
        )
    return replace(audit, suppressed=table.suppressed)


def _failure_text(audit: AuditReport) -> str:
    """Describe the failure: of classes, or else of the release as a whole."""
    if not audit.failing_classes and any(not found.met for found in audit.criteria):
        return "the release as a whole fails"
    return f"{audit.failing_classes} of its {audit.classes} classes fail"


def _failure_advice(job: PublicationJob) -> str:
    if job.recoding.suppression is SuppressionPolicy.STAR:
        return (
            "Nothing was published. A row whose cells are all '*' cannot be distinguished from a starred "
            "one and is missing from its class: drop suppressed rows instead."
        )
    return (
        "Nothing was published. The table has changed since it was counted (values of a sensitive attribute, "
        "say): negotiate again, and publish while nothing writes to it. Please report this if nothing did."
    )


def _sensitive_names(job: PublicationJob) -> list[str]:
    return [attribute.name for attribute in job.spec.sensitive]
