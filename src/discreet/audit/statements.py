"""The statements by which anybody checks a release with psql, DuckDB or Spark, and without this program.

They say in a few clauses what the audit counts in tables of its own, on the same cells: each guarantee is one
query that stands alone. Statements tell nothing that the release does not: where a criterion compares classes
with the whole table, that is the published one, and what only its publisher knows has no statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.audit.counts import PublishedRows
from discreet.audit.permuted_release import is_permuted, read_permuted
from discreet.audit.permuted_statements import statements_of_groups
from discreet.audit.release import as_written, read_claims, read_manifest, required_names
from discreet.audit.whole_table import attribute_at
from discreet.engines.base import Engine, SourceTable
from discreet.engines.files.sources import unquoted_nulls_of
from discreet.engines.scratch import opened
from discreet.errors import InputError
from discreet.model.check_statement import CheckStatement
from discreet.model.criteria.base import AuditedBy, Bound, Criterion, bind
from discreet.model.criteria.of_cells import CellsCriterion
from discreet.model.criteria.of_release import SIZES, ReleaseCriterion
from discreet.model.criteria.whole_table import Asks, WholeTable, knows
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.model.sensitive_attribute import SensitiveAttribute
from discreet.sql import own_check as sql
from discreet.sql import verify_criteria as by_criteria
from discreet.sql.dialect import Dialect
from discreet.sql.source import cell_text
from discreet.sql.starred_cells import holds_stars, is_star_in_words, shows_nothing, star_free
from discreet.sql.verify import rows_of

_VALUES, _PARTS = "audited_values", "audited_parts"
_MOST_VALUES = 1_000


def check_statements(
    engine: Engine,
    place: ReleaseAddress,
    reader: Dialect,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    requirement: Requirement | None = None,
    by_name: bool = False,
) -> tuple[CheckStatement, ...]:
    """The statements for a release; what is not given comes from its manifest, as ``audit_release`` has it.

    ``reader`` is the dialect of those who run them: DuckDB's for files, which ``by_name`` names without the
    folders above them. ``InputError`` as ``audit_release``, where nothing is required, and for a file that
    is neither CSV, TSV nor Parquet, or not in UTF-8.
    """
    document = read_manifest(engine, place)
    named = quasi_identifiers or sensitive is not None or requirement is not None
    if document is not None and is_permuted(document) and not named:
        return statements_of_groups(engine, reader, *read_permuted(place, document), by_name=by_name)
    claims = None if document is None else read_claims(place, document)
    asked = requirement or Requirement()
    source, apart, people = place.source(), True, _ROWS
    if claims is None:
        keys, values = tuple(required_names(place, quasi_identifiers)), tuple(sensitive or ())
    else:
        keys = tuple(quasi_identifiers or claims.quasi_identifiers)
        values = claims.sensitive if sensitive is None else tuple(sensitive)
        asked = claims.requirement if asked.is_empty else asked
        source, apart = as_written(place), claims.starred and claims.suppressed > 0
        people = _People(claims.subject) if claims.counts_subjects else _ROWS
    if asked.is_empty:
        raise InputError(
            f"nothing is required of {place.label}",
            advice="Say what must be so: --k 5, or another criterion.",
        )
    with opened(engine, source) as table:
        told = replace(source, unquoted_nulls=unquoted_nulls_of(source))
        relation = sql.relation(told, reader, by_name=by_name)
        release = _Release.of(
            engine, table, relation, reader, keys, values, people, apart=apart, foreign=claims is None
        )
        return tuple(release.statements(asked))


@dataclass(frozen=True)
class _People:
    """Who is counted where a release counted people: those of a published column, else nobody can be."""

    column: str | None
    none: bool = False

    @property
    def unseen(self) -> str:
        """What is said of people whom the release does not hold."""
        if self.none or self.column is not None:
            return ""
        return "; people were counted, whom the release does not hold, and this counts rows"


_ROWS = _People(None, none=True)


@dataclass(frozen=True)
class _Release:
    """An opened release, and its rows as ``query`` (``sql.verify.rows_of``) in the reader's words.

    Where people are counted by a published column, it stands behind the sensitive attributes.
    """

    engine: Engine
    counted: PublishedRows
    query: str
    reader: Dialect
    people: _People

    @classmethod
    def of(
        cls,
        engine: Engine,
        table: SourceTable,
        relation: str,
        reader: Dialect,
        keys: Sequence[str],
        values: Sequence[str],
        people: _People,
        *,
        apart: bool,
        foreign: bool,
    ) -> _Release:
        counted = PublishedRows.of(table, keys, values, None, starred_apart=apart, foreign=foreign)

        def text(name: str) -> str:
            return cell_text(reader.identifier(name), table.types[name], table.null_values, reader)

        def value(name: str) -> str:
            if not holds_stars(table.types[name]):
                return text(name)
            return star_free(text(name), "VARCHAR", reader, is_star_in_words)

        cells = [(reader.identifier(name), table.types[name]) for name in table.columns]
        nulls = list(map(reader.literal, table.null_values))
        starred = {"starred": shows_nothing(cells, nulls, reader, is_star_in_words)} if foreign else {}
        every = [text(name) for name in table.columns]
        shown = [*map(value, values), *([] if people.column is None else [text(people.column)])]
        query = rows_of(relation, list(map(text, keys)), shown, every, starred_apart=apart, **starred)
        return cls(engine, counted, query, reader, people)

    @property
    def _keys(self) -> int:
        return len(self.counted.quasi_identifiers)

    def _asked(self, query: str, **tables: str) -> str:
        return sql.with_tables({sql.PUBLISHED: self.query, **tables}, query)

    def _of_classes(self, query: str, **tables: str) -> str:
        counted = len(self.counted.sensitive) + (self.people.column is not None)
        classes = sql.classes_of(self._keys, counted)
        return self._asked(query, **{sql.CLASSES: classes, **tables})

    def statements(self, requirement: Requirement) -> Iterator[CheckStatement]:
        """One for each requirement."""
        k, values = requirement.k, self.counted.sensitive
        if k is not None:
            column = "n" if self.people.column is None else f"d{len(values)}"
            whom = "of them" if self.people.column is None else f"different '{self.people.column}'"
            yield CheckStatement(
                f"k = {k}: every class of rows that agree in all quasi-identifiers has at least {k} {whom}"
                f"{self.people.unseen}",
                self._of_classes(sql.fewest(column, k)),
            )
        carriers = "" if self.people is _ROWS else "; that as many people have them is not told by it"
        for i, (name, l) in enumerate(zip(values, requirement.l_of(values), strict=True)):
            if l is not None:
                yield CheckStatement(
                    f"l = {l}: every class has at least {l} different values of '{name}'{carriers}",
                    self._of_classes(sql.fewest(f"d{i}", l)),
                )
        for one in bind(requirement.others, values):
            yield from self._of_criterion(one)

    def _of_criterion(self, one: Bound) -> Iterator[CheckStatement]:
        criterion = one.criterion
        if criterion.audited_by is not AuditedBy.SQL or criterion.of_population:
            why = "asks of a population, which" if criterion.of_population else "is not counted by SQL, so"
            yield CheckStatement(f"{criterion}: {criterion.title} {why} no statement tells", None)
        elif isinstance(criterion, CellsCriterion):
            yield from self._of_cells(criterion)
        elif isinstance(criterion, ReleaseCriterion):
            yield self._of_sizes(criterion)
        else:
            yield self._of_scores(one)

    def _of_scores(self, one: Bound) -> CheckStatement:
        """Of a criterion of classes."""
        criterion, tables = one.criterion, {by_criteria.ROWS: sql.rows_by_class(self._keys, one.place)}
        compared = one.place is not None and criterion.compares
        if one.place is None or not compared:
            query = criterion.audit_query(by_criteria.ROWS)
        else:
            attribute = attribute_at(self.engine, self.counted, one.place)
            missing = _missing(criterion, attribute)
            if missing is not None:
                return CheckStatement(f"{criterion}: {missing}", None)
            tables |= _whole(self.reader, attribute)
            query = criterion.audit_against(by_criteria.ROWS, WholeTable(_VALUES, _PARTS, None))
        return CheckStatement(
            _told(criterion, "every class has a score"),
            self._asked(sql.failing_scores(by_criteria.ROWS, query, criterion.threshold), **tables),
            holds_values=compared,
        )

    def _of_sizes(self, criterion: ReleaseCriterion) -> CheckStatement:
        """Of a criterion of the whole release, by its class sizes."""
        tables = {SIZES: f"SELECT n AS size, count(*) AS number FROM {sql.CLASSES} GROUP BY n"}
        return CheckStatement(
            _told(criterion, "the release has a score"),
            self._of_classes(sql.failing_score(criterion.audit_query(SIZES), criterion.threshold), **tables),
        )

    def _of_cells(self, criterion: CellsCriterion) -> Iterator[CheckStatement]:
        """Of what some cells show together: a statement for each combination."""
        keys, values = sql.columns(self._keys, len(self.counted.sensitive))
        rows = by_criteria.shown_rows(f"SELECT * FROM {sql.PUBLISHED}", keys, values)
        queries = criterion.audit_groups(by_criteria.ROWS, keys, values)
        for number, query in enumerate(queries, 1):
            yield CheckStatement(
                _told(criterion, f"part {number} of {len(queries)}: all rows have a score"),
                self._asked(sql.failing_score(query, criterion.threshold), **{by_criteria.ROWS: rows}),
            )


def _told(criterion: Criterion, what: str) -> str:
    return f"{criterion}, {criterion.title}: {what} of at least {criterion.threshold}"


def _missing(criterion: Criterion, attribute: SensitiveAttribute) -> str | None:
    """Why a criterion that compares has no statement, None where it has one."""
    if criterion.asks is Asks.HIERARCHY or not knows(criterion.asks, attribute):
        return "it asks for an order or a hierarchy of values, which the release does not hold"
    if len(attribute.values) > _MOST_VALUES:
        return f"its attribute has more than {_MOST_VALUES:,} values, too many for a statement"
    return None


def _whole(reader: Dialect, attribute: SensitiveAttribute) -> dict[str, str]:
    """The relations of the whole table that a criterion may ask, as constants (``WholeTable``)."""
    nothing = np.zeros(len(attribute.values), np.int64)
    numbers, millionths = attribute.numbers, attribute.millionths
    values: dict[str, tuple[str, Sequence[object]]] = {
        "value": ("VARCHAR", attribute.values),
        "held": ("BIGINT", attribute.rows.tolist()),
        "place": ("BIGINT", attribute.ranks.tolist()),
        "number": ("DOUBLE", (nothing if numbers is None else numbers).tolist()),
        "millionths": ("BIGINT", (nothing if millionths is None else millionths).tolist()),
    }
    parts: dict[str, tuple[str, Sequence[object]]] = {
        "value": ("VARCHAR", ()),
        "level": ("BIGINT", ()),
        "part": ("BIGINT", ()),
    }
    return {_VALUES: sql.constants(reader, values), _PARTS: sql.constants(reader, parts)}
