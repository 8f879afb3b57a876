"""Recount of the classes of a published file, by rows or by subjects, as a table in the engine.

Rows without any quasi-identifier are set apart, because the rows that they resemble are unknown. Subjects
come from a column of the release or from a witness file that must contain exactly the written rows. A class's
l over subjects is a maximum bipartite matching of persons and values, solved here from the persons' side,
independently of the recoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import DistinctRows, TemporaryTables, open_source_table, session_setting
from discreet.errors import InternalError
from discreet.model.audit_report import AuditReport, FailingClass
from discreet.model.cell_format import is_star
from discreet.model.coded_warnings import ROWS_WITHOUT_QUASI_IDENTIFIERS, CodedWarning
from discreet.model.table_spec import SourceSpec
from discreet.sql import audit_classes as by_bits
from discreet.sql import audit_classes as sql
from discreet.sql import audit_criteria as by_criteria
from discreet.sql.cell_expressions import (
    all_stars_predicate,
    can_hold_stars,
    canonical_text,
    group_key,
    group_key_type,
    is_never_text,
    null_stars,
)
from discreet.sql.quoting import literal
from discreet.sql.row_hashes import DISTINCT_ROW_COUNT, line_digest

_SAMPLE_ROWS = 10_000

CellExpression = Callable[[SourceTable, str], str]
"""Function that returns the SQL expression of a column's cell."""


@dataclass(frozen=True)
class CheckedSum:
    """Sum of a number per row (``term``, in SQL over the release), computed while rows are counted.

    ``check`` receives the number of all rows and the sum before any other result is used, and may raise.
    ``factor`` maps the texts of a class's quasi-identifiers, by name, to a number by which the terms of the
    class are multiplied; it is not supported where subjects are counted.
    """

    term: str
    check: Callable[[int, int], None]
    factor: Callable[[Mapping[str, str]], str] | None = None


SumFactory = Callable[[SourceTable], CheckedSum]
"""Function that returns the sum to compute while an opened release is counted."""


@dataclass(frozen=True)
class PublishedRows:
    """Rows of an opened release; ``query`` yields their texts (``sql.audit_classes.published_texts``).

    ``keyed`` yields the same rows with grouping keys instead of texts, which is faster; ``key_texts`` are the
    texts of its quasi-identifiers. ``with_stars`` contains sensitive stars unchanged, where ``keyed`` has
    NULL. ``counting`` defines how rows are counted, which may be distinct rows with their number. ``row_sum``
    is computed in the same scan.
    """

    table: SourceTable
    query: str
    keyed: str
    key_texts: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    starred_apart: bool
    row_sum: CheckedSum | None
    counting: sql.RowCounting
    with_stars: str

    def with_subject(self, name: str) -> str:
        """Return the rows as texts, with the subjects' column as ``subject``."""
        keys = [self.table.text(each) for each in self.quasi_identifiers]
        values = [_value_text(self.table, each) for each in self.sensitive]
        every = [self.table.text(each) for each in self.table.columns]
        return sql.published_texts(
            self.table.relation,
            keys,
            values,
            every,
            starred_apart=self.starred_apart and not any(map(is_never_text, self.table.types.values())),
            subject=self.table.text(name),
        )

    def holds_texts(self, index: int) -> bool:
        """Return true if the cells of a sensitive attribute are plain texts, also in ``keyed``."""
        return self.table.types[self.sensitive[index]] == "VARCHAR"

    @property
    def summed(self) -> str:
        """SQL that sums the terms of ``query``; empty without terms."""
        return sql.RowCounting.of(self.table.dialect, summed=self.row_sum is not None).summed

    @classmethod
    def of(
        cls,
        table: SourceTable,
        keys: Sequence[str],
        values: Sequence[str],
        row_sum: SumFactory | None,
        *,
        starred_apart: bool,
        distinct: DistinctRows | None = None,
        foreign: bool = False,
    ) -> PublishedRows:
        """Build the rows of an opened release; raise ``InputError`` for an unknown column.

        ``distinct`` are the release's distinct rows, where these are counted. In a ``foreign`` file, a row is
        also starred if it has NULL instead of some stars.
        """
        counted = table if distinct is None else distinct.table
        apart = foreign or (starred_apart and not any(map(is_never_text, table.types.values())))
        lines = None if distinct is None else distinct.lines
        added = None if row_sum is None else row_sum(counted)
        term = None if added is None else added.term

        def rows(of: SourceTable, cell: CellExpression, value: CellExpression, **further: str | None) -> str:
            cells, sensitive = [cell(of, name) for name in keys], [value(of, name) for name in values]
            every = [of.text(name) for name in of.columns]
            stars = {"starred": _empty_row_predicate(of)} if foreign else {}
            return sql.published_texts(
                of.relation, cells, sensitive, every, starred_apart=apart, **stars, **further
            )

        term_of_row = None if distinct is not None else term
        query = rows(table, SourceTable.text, _value_text, term=term_of_row)
        key_texts, keyed = [sql.key(i) for i in range(len(keys))], query
        with_stars = rows(table, SourceTable.text, SourceTable.text, term=term_of_row)
        if not counted.null_values:
            number = None if distinct is None else DISTINCT_ROW_COUNT
            entry = None if lines is None else lines.entry
            keyed = rows(counted, _group_key, _value_key, term=term, repeated=number, entry=entry)
            with_stars = rows(counted, _group_key, _group_key, term=term, repeated=number, entry=entry)
            kinds = [group_key_type(counted.types[name]) for name in keys]
            key_texts = [
                canonical_text(key, kind, table.dialect) for key, kind in zip(key_texts, kinds, strict=True)
            ]
        counting = sql.RowCounting.of(
            table.dialect,
            summed=term is not None,
            repeated=distinct is not None,
            pairs=distinct is not None and {*keys, *values} == {*table.columns},
        )
        if lines is not None:
            by = tuple(sorted(range(len(keys)), key=lambda i: table.columns.index(keys[i])))
            line = line_digest(table.dialect, [key_texts[i] for i in by], lines.joined.format("e"))
            counting = replace(counting, line=line, by=by)
        names = tuple(keys), tuple(values)
        return cls(table, query, keyed, tuple(key_texts), *names, starred_apart, added, counting, with_stars)

    def cell_type(self, index: int) -> str:
        """Return the type of the cells of a sensitive attribute in ``with_stars``."""
        read = "VARCHAR" if self.table.null_values else self.table.types[self.sensitive[index]]
        return group_key_type(read)


def _empty_row_predicate(table: SourceTable) -> str:
    """Return the predicate of rows with a star or NULL in every column, and a star in one."""
    cells = [(table.column(name), table.types[name]) for name in table.columns]
    return all_stars_predicate(cells, list(map(literal, table.null_values)), table.dialect)


def _group_key(table: SourceTable, name: str) -> str:
    return group_key(table.column(name), table.types[name], table.dialect)


def _value_key(table: SourceTable, name: str) -> str:
    return null_stars(_group_key(table, name), group_key_type(table.types[name]), table.dialect)


def _value_text(table: SourceTable, name: str) -> str:
    """Return the text of a sensitive cell, NULL where it consists of stars, which are no value."""
    text = table.text(name)
    return null_stars(text, "VARCHAR", table.dialect) if can_hold_stars(table.types[name]) else text


@dataclass(frozen=True)
class ClassTotals:
    """Totals over the classes in ``table``, with the meaning of the fields of ``AuditReport``.

    Where subjects were counted, ``table`` has the column ``id``, and ``members`` names a table of every
    class's subjects (``sql.audit_criteria.witness_members``). ``values`` are the tables of
    ``sql.audit_classes.value_bits`` of the sensitive attributes in their order, each with the type of its
    cells, where they exist.
    """

    table: str
    rows: int
    classes: int
    k: int
    starred: int
    l: Mapping[str, int]
    members: str | None = None
    values: tuple[tuple[str, str], ...] = ()


def count_row_classes(engine: Engine, tables: TemporaryTables, published: PublishedRows) -> ClassTotals:
    """Count the classes by rows; raise ``InputError`` where the file has unreadable rows."""
    single_pass = published.counting.pairs and len(published.sensitive) == 1
    bits = None if single_pass else _value_bits(engine, tables, published)
    if bits is None:
        query = sql.classes_table(
            published.keyed, published.key_texts, len(published.sensitive), published.counting
        )
    else:
        query = by_bits.classes_by_bits(
            engine.dialect, published.with_stars, published.key_texts, bits, published.counting
        )
    # The rows are stored in order here, and grouping them by sorting is faster then.
    with session_setting(engine, engine.dialect.sorted_groups if published.counting.line else None):
        table = tables.create(query)
    row_sum = published.row_sum
    if row_sum is None:
        counts = fetch_totals(engine, table, published.sensitive)
    else:
        texts = {name: sql.key(i) for i, name in enumerate(published.quasi_identifiers)}
        term = sql.term_of_class(None if row_sum.factor is None else row_sum.factor(texts))
        counts, total = _fetch_totals_and_sums(engine, table, published.sensitive, [term])
        row_sum.check(counts.rows + counts.starred, int(total[0] or 0))
    engine.confirm_rows(published.table, counts.rows + counts.starred)
    named = [] if bits is None else [(name, published.cell_type(i)) for i, name in enumerate(bits)]
    return replace(counts, values=tuple(named))


def _value_bits(engine: Engine, tables: TemporaryTables, published: PublishedRows) -> list[str] | None:
    """Create a table of bits for each sensitive attribute; None where one has more values than bits.

    A sample of the first rows excludes most attributes with many values cheaply.
    """
    rows, result = published.with_stars, []
    for i in range(len(published.sensitive)):
        some = engine.fetch_rows(by_bits.sample_value_count(rows, i, _SAMPLE_ROWS))[0][0]
        if some > by_bits.MOST_BIT_VALUES + 1:
            return None
        if engine.dialect.cells_sent and published.holds_texts(i):
            bits = _value_bits_of_texts(engine, tables, rows, i, published.counting)
            if bits is None:
                return None
            result.append(bits)
            continue
        kind = published.cell_type(i)
        query = by_bits.value_bits(engine.dialect, rows, i, kind, published.counting)
        result.append(tables.create(query))
        if engine.fetch_rows(by_bits.count_values_without_bit(result[-1]))[0][0]:
            return None
    return result


def _value_bits_of_texts(
    engine: Engine, tables: TemporaryTables, rows: str, index: int, counting: sql.RowCounting
) -> str | None:
    """Create the bits of an attribute of texts: fetch its values, number them here, and load them.

    A cell of stars has the bits 0, which change nothing when combined with OR.
    """
    found = engine.fetch_rows(by_bits.distinct_value_rows(rows, index, counting))
    if len(found) > by_bits.MOST_BIT_VALUES:
        return None
    cells, numbers = [str(cell) for cell, _ in found], np.array([n for _, n in found], dtype=np.int64)
    bits = np.array([0 if is_star(cell) else 1 << i for i, cell in enumerate(cells)], dtype=np.int64)
    return tables.load({"v": cells, "n": numbers, "bit": bits})


def fetch_sorted_pairs(engine: Engine, query: str) -> dict[int, int]:
    """Return the pairs of a query, sorted by their first number.

    The pairs are few, so they are sorted here: a database may plan for many, as Spark does, by sampling.
    """
    return dict(sorted(engine.fetch_rows(query)))


def fetch_totals(engine: Engine, table: str, sensitive: Sequence[str]) -> ClassTotals:
    """Compute the totals of a table of classes."""
    return _fetch_totals_and_sums(engine, table, sensitive, ())[0]


def _fetch_totals_and_sums(
    engine: Engine, table: str, sensitive: Sequence[str], terms: Sequence[str]
) -> tuple[ClassTotals, list[int | None]]:
    """Compute the totals like ``fetch_totals``, and the sums of ``terms`` over all classes."""
    found = engine.fetch_rows(sql.class_totals(table, len(sensitive), terms))[0]
    rows, classes, k, starred, *least = found[: 4 + len(sensitive)]
    totals = ClassTotals(table, rows, classes, k, starred, dict(zip(sensitive, least, strict=True)))
    return totals, list(found[4 + len(sensitive) :])


@dataclass(frozen=True)
class UnclassedRows:
    """Rows that are in no class.

    ``sizes`` and ``rows`` describe their groups that show another cell; ``silent`` rows show nothing.
    """

    sizes: tuple[int, ...] = ()
    rows: int = 0
    silent: int = 0

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """Warnings for the audit's reader about these rows."""
        found = []
        if self.silent:
            found.append(
                f"{_rows_have(self.silent)} * or NULL in every column: such rows show nothing and are "
                "in no class."
            )
        if self.rows:
            found.append(
                f"{_rows_have(self.rows)} * or NULL in every quasi-identifier, so they are in no class. "
                "Their other cells are published, and the requirement is tested on them, too."
            )
        return tuple(CodedWarning(ROWS_WITHOUT_QUASI_IDENTIFIERS, text) for text in found)

    def exclude_from(self, report: AuditReport) -> AuditReport:
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


def find_unclassed_rows(engine: Engine, published: PublishedRows, counts: ClassTotals) -> UnclassedRows:
    """Find the rows of a file without any quasi-identifier.

    Where there are no other rows, they stay a class: all people look alike.
    """
    keys = [(sql.key(i), "VARCHAR") for i in range(len(published.quasi_identifiers))]
    query = sql.chosen_classes(counts.table, all_stars_predicate(keys, [], engine.dialect))
    found = [(int(rows), int(size)) for rows, size in engine.fetch_rows(query)]
    if len(found) == counts.classes:
        return UnclassedRows(silent=counts.starred)
    sizes, rows = tuple(size for _, size in found), sum(rows for rows, _ in found)
    return UnclassedRows(sizes, rows, counts.starred)


def add_starred_class(report: AuditReport, suppressed: int) -> AuditReport:
    """Return the report of a file with a known number of suppressed and starred rows.

    Other rows of stars are people whose cells were all generalized to ``*``: they are one class. Where
    subjects are counted their number is unknown, and they stay apart.
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


def _rows_have(number: int) -> str:
    return f"{number:,} row has" if number == 1 else f"{number:,} rows have"


def match_representatives(persons: Sequence[Sequence[int]], most: int) -> int:
    """Return the largest number of persons, at most ``most``, with distinct values of their own.

    ``persons`` lists the values of each person. Cost: O(persons · pairs).
    """
    holder: dict[int, int] = {}
    number = 0
    for person in range(len(persons)):
        if number >= most:
            break
        if _augment(person, persons, holder):
            number += 1
    return number


def _augment(person: int, persons: Sequence[Sequence[int]], holder: dict[int, int]) -> bool:
    """Assign a value to a person, moving others to other values of theirs where needed."""
    tried: set[int] = set()
    # Depth-first search of an augmenting path, with explicit stacks because paths may exceed the recursion
    # limit.
    path: list[tuple[int, int]] = []
    untried = [iter(persons[person])]
    waiting = [person]
    while untried:
        for wanted in untried[-1]:
            if wanted in tried:
                continue
            tried.add(wanted)
            path.append((waiting[-1], wanted))
            if wanted not in holder:
                for who, what in path:
                    holder[what] = who
                return True
            waiting.append(holder[wanted])
            untried.append(iter(persons[holder[wanted]]))
            break
        else:
            untried.pop()
            waiting.pop()
            if path:
                path.pop()
    return False


LARGEST_REPORTED_L = 100
"""Largest l reported with subjects unless a larger one is required: resolving more may take long."""

_BATCH_PAIRS = 1_000_000


def count_subjects(
    engine: Engine,
    tables: TemporaryTables,
    published: PublishedRows,
    witness: SourceSpec | str,
    thresholds: Sequence[int | None],
    *,
    scored: bool = False,
) -> ClassTotals:
    """Count the classes by subjects.

    ``witness`` is the file that provides subjects, or the column of the release that identifies them.
    ``scored`` is true if criteria need the members of the classes. Raise ``InternalError`` where the
    witness's rows differ from those of the release, and ``InputError`` where a file has unreadable rows.
    """
    if published.row_sum is not None and published.row_sum.factor is not None:
        raise InternalError("rows of subjects are added up by themselves, and not by class")
    ordinary, starred, *total = engine.fetch_rows(
        sql.count_published_rows(published.query, published.summed)
    )[0]
    if published.row_sum is not None:
        published.row_sum.check(ordinary + starred, int(total[0] or 0))
    engine.confirm_rows(published.table, ordinary + starred)
    keys, values = len(published.quasi_identifiers), len(published.sensitive)
    with ExitStack() as stack:
        if isinstance(witness, str):
            rows = published.with_subject(witness)
        else:
            rows = _witness_rows(engine, stack.enter_context(open_source_table(engine, witness)), published)
        texts = [sql.key(i) for i in range(keys)]
        classes = tables.create(sql.classes_table(rows, texts, values))
        numbered = tables.create(sql.numbered_classes(engine.dialect, classes))
        subject_rows = tables.create(sql.witness_rows_by_class(rows, numbered, keys, values))
    sizes = tables.create(sql.subjects_of_classes(subject_rows))
    found = [
        _match_attribute(engine, tables, numbered, subject_rows, index, threshold)
        for index, threshold in enumerate(thresholds)
    ]
    by_subjects = sql.classes_by_subjects(
        numbered, sizes, keys, [each.bounds for each in found], [each.matched for each in found]
    )
    counts = fetch_totals(engine, tables.create(by_subjects), published.sensitive)
    l = {
        name: min(number, each.exact_to) for (name, number), each in zip(counts.l.items(), found, strict=True)
    }
    members = tables.create(by_criteria.witness_members(subject_rows)) if scored else None
    return replace(counts, l=l, starred=starred, members=members)


def _witness_rows(engine: Engine, table: SourceTable, published: PublishedRows) -> str:
    """Return the query of the witness's rows, after checking that they equal those of the file."""
    columns = [table.column(name) for name in table.columns]
    keys, values = len(published.quasi_identifiers), len(published.sensitive)
    rows = sql.witness_rows(table.relation, columns, keys, starred_apart=published.starred_apart)
    unlike = engine.fetch_rows(sql.row_differences(published.query, rows, keys, values))[0][0]
    if unlike:
        raise InternalError(
            f"the file of subjects differs from {unlike} of the written rows",
            advice="Nothing was published. Please report this.",
        )
    return rows


@dataclass(frozen=True)
class _AttributeMatching:
    """Tables of ``id`` and ``d``: bounds of each class's number of values, and matchings of some classes.

    The numbers are exact up to ``exact_to``: the smallest bound of any class, or ``LARGEST_REPORTED_L`` where
    that is smaller; never below the threshold.
    """

    bounds: str
    matched: str
    exact_to: int


def _match_attribute(
    engine: Engine,
    tables: TemporaryTables,
    classes: str,
    subject_rows: str,
    index: int,
    threshold: int | None,
) -> _AttributeMatching:
    """Count the distinct values of an attribute that different subjects carry, class by class."""
    pairs = tables.create(sql.distinct_pairs(subject_rows, index))
    of_values = tables.create(sql.degrees(pairs, "v"))
    of_subjects = tables.create(sql.degrees(pairs, "u"))
    bounds = tables.create(sql.bounds_by_subjects(classes, of_subjects, index))
    smallest = int(engine.fetch_rows(sql.smallest_bound(bounds))[0][0])
    most = max(1, min(smallest, LARGEST_REPORTED_L), threshold or 0)
    # Reduce the pairs in SQL before the matching in Python: drop classes whose number follows from degrees,
    # and surplus pairs per value and per subject.
    unsettled = tables.create(sql.unsettled_pairs(pairs, of_values, of_subjects, most))
    thinner = tables.create(sql.limit_pairs(unsettled, "v", most))
    thin = tables.create(sql.limit_pairs(thinner, "u", most))
    left = tables.create(sql.undecided_class_pairs(thin, most))
    ids, matched = _match_batches(engine, left, most)
    numbers = tables.load({"id": np.array(ids, dtype=np.int64), "d": np.array(matched, dtype=np.int64)})
    for name in (pairs, of_values, of_subjects, unsettled, thinner, thin, left):
        tables.drop(name)
    return _AttributeMatching(bounds, numbers, most)


def _match_batches(engine: Engine, pairs: str, most: int) -> tuple[list[int], list[int]]:
    """Return the class numbers of a table of pairs and their matchings, one range of classes at a time."""
    counts = engine.fetch_arrays(sql.class_numbers(pairs))
    ids: list[int] = []
    matched: list[int] = []
    batch = (np.cumsum(counts["n"]) // _BATCH_PAIRS).astype(np.int64)
    for number in np.unique(batch):
        classes = counts["id"][batch == number]
        query = sql.numbered_pairs(pairs, int(classes[0]), int(classes[-1]))
        persons: dict[int, dict[int, list[int]]] = {}
        arrays = engine.fetch_arrays(query)
        triples = zip(arrays["id"].tolist(), arrays["u"].tolist(), arrays["v"].tolist(), strict=True)
        for class_id, person, value in triples:
            persons.setdefault(class_id, {}).setdefault(person, []).append(value)
        for class_id, values_of in persons.items():
            ids.append(class_id)
            matched.append(match_representatives(list(values_of.values()), most))
    return ids, matched
