"""``discreet.query``: an aggregate query of a release, answered by guaranteed bounds and an estimate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isinf
from pathlib import Path
from typing import Any

from discreet.bounds.interval_aggregates import BoundRow, Key, Number
from discreet.bounds.queryable_release import OpenRelease, open_release, read_permutation_facts
from discreet.bounds.release_answer import BoundedAnswer, answer_release_query
from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.engines.registry import dialect_named
from discreet.errors import InputError
from discreet.hierarchy import FileHierarchy
from discreet.model.hierarchy import GeneralizationHierarchy, HierarchySource
from discreet.model.registry import suggest_name
from discreet.model.release_address import ReleaseAddress
from discreet.model.table_spec import AttributeRole
from discreet.printing.document import BLANK, Document, Grid, Line, heading_line, make_columns, warning_block
from discreet.printing.metric_grid import format_measure
from discreet.printing.rendering import Printable, record_as_json
from discreet.queries.permuted_views import build_companion_statements, build_view_statements
from discreet.settings import Settings
from discreet.verbs.locations import ReleaseLocation, address_of
from discreet.verbs.run_context import SILENT, Reporter, interruptible_engine
from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table

PublicHierarchies = Mapping[str, str | Path | HierarchySource]
"""Public hierarchies by attribute: the path of a file, or a hierarchy builder."""

_NO_SQL = (
    "The release shows generalized cells, so there is no rewritten query: bounds are computed from the cells."
)

_BOUND_TITLES = (">lower", ">upper", ">estimate", ">width")


@dataclass(frozen=True)
class QueryRow:
    """Bounds of one aggregate in one group; ``group`` maps the key columns to values.

    The true value is between ``lower`` and ``upper``. None is NULL: no row can be selected, or no row with a
    value. A bound is infinite if labels such as ``≥90`` or ``*`` set none; in JSON it is then ``"infinity"``
    or ``"-infinity"``.
    """

    group: Mapping[str, Key]
    aggregate: str
    lower: Number | None
    upper: Number | None
    estimate: Number | None

    @property
    def width(self) -> Number | None:
        """Distance between the bounds."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    def as_json(self) -> dict[str, Any]:
        """Return the row in the contract's document."""
        return record_as_json(self) | {"lower": _json_bound(self.lower), "upper": _json_bound(self.upper)}


@dataclass(frozen=True, repr=False)
class QueryResult(Printable):
    """Answer of a release to a query: a row per group and aggregate, and the rewritten query.

    ``sql`` is None if the answer is computed from the values that generalized cells may represent.

    >>> discreet.query("release.csv", "SELECT AVG(salary) FROM t WHERE age < 40").rows  # doctest: +SKIP
    """

    release: Path
    columns: tuple[str, ...]
    rows: tuple[QueryRow, ...]
    sql: str | None
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the contract's document of ``discreet query --json``."""
        found = record_as_json(self)
        del found["release"]
        return found

    def document(self) -> Document:
        """Return the bounds of each group and aggregate, and the warnings."""
        columns = make_columns(*(f"~{name}" for name in self.columns), "aggregate", *_BOUND_TITLES)
        rows = tuple((*_key_texts(row.group), row.aggregate, *_bound_texts(row)) for row in self.rows)
        grid = (Grid(columns, rows),) if rows else (Line("No group has a row that can be selected."),)
        return (*grid, *warning_block(self.warnings))

    def explanation(self) -> Document:
        """Return the rewritten query, which runs without this program."""
        if self.sql is None:
            return (Line(_NO_SQL),)
        return tuple(Line(line, verbatim=True) for line in self.sql.splitlines())


@dataclass(frozen=True, repr=False)
class QueryComparison(Printable):
    """Answers of several releases to one query."""

    results: tuple[QueryResult, ...]

    def as_json(self) -> dict[str, Any]:
        """Return one document per release."""
        return {"releases": [{"release": str(r.release), **r.as_json()} for r in self.results]}

    def document(self) -> Document:
        """Return a row per group, aggregate and release, grouped by the first two."""
        keys = (f"~{name}" for name in self.results[0].columns)
        columns = make_columns(*keys, "aggregate", "~release", *_BOUND_TITLES)
        lines: dict[tuple[Any, ...], dict[int, QueryRow]] = {}
        for index, result in enumerate(self.results):
            for row in result.rows:
                lines.setdefault((*row.group.values(), row.aggregate), {})[index] = row
        rows = []
        for line in lines.values():
            row = next(iter(line.values()))
            names = (*_key_texts(row.group), row.aggregate)
            for index, result in enumerate(self.results):
                rows.append((*names, result.release.name, *_bound_texts(line.get(index))))
                names = ("",) * len(names)
        warned = [(result.release.name, text) for result in self.results for text in result.warnings]
        return (
            heading_line(f"Answers of {len(self.results)} releases"),
            Grid(columns, tuple(rows)),
            *warning_block([f"{name}: {text}" for name, text in warned]),
        )


@dataclass(frozen=True, repr=False)
class ViewScript(Printable):
    """Statements that create views over a permuted release."""

    statements: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the statements, in order."""
        return {"statements": list(self.statements)}

    def document(self) -> Document:
        """Return the statements in the order in which they must run."""
        lines: list[Line] = []
        for statement in self.statements:
            lines += [BLANK] if lines else []
            lines += [Line(line, verbatim=True) for line in f"{statement};".splitlines()]
        return tuple(lines)


def query(
    release: ReleaseLocation,
    sql: str,
    *,
    table: str | None = None,
    spec: Table | str | Path | None = None,
    hierarchies: PublicHierarchies | None = None,
    dialect: str | None = None,
    release_table: str | None = None,
    help_table: str | None = None,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> QueryResult:
    """Answer an aggregate query from a release, by guaranteed bounds and an estimate.

    ``sql`` is one SELECT of COUNT, SUM, AVG, MIN and MAX of a sensitive attribute, with an optional condition
    on quasi-identifiers and an optional GROUP BY of them. The values behind generalized labels are parsed
    from the labels, or given by ``hierarchies`` (files in ARX's format by attribute) or by the hierarchies of
    a ``spec``. ``release`` is a path, or the address of a database with a ``table``. ``dialect`` (``duckdb``,
    ``postgres``, ``spark``; by default that of the release's engine) is the dialect of the query and of the
    result's ``sql``; ``release_table`` and ``help_table`` name the release's tables in it.

    Raises ``InputError`` for a query that is refused, with the reason and the allowed form.

    >>> discreet.query("release.csv", "SELECT COUNT(*) FROM t WHERE age < 40")  # doctest: +SKIP
    """
    found = None if dialect is None else dialect_named(dialect)
    address = address_of(release, table)
    chosen = settings or Settings.from_environment()
    known = {} if spec is None else _spec_hierarchies(spec, chosen, reporter)
    known |= {name: _build_public_hierarchy(name, source) for name, source in (hierarchies or {}).items()}
    with _open_release(address, known, chosen) as opened, reporter.stage("Querying the release"):
        _check_hierarchy_names(opened, hierarchies or {})
        answered = answer_release_query(
            opened, sql, found, release_table=release_table, help_table=help_table
        )
    return _make_result(address.display_path, answered)


def compare_query(
    releases: Sequence[ReleaseLocation],
    sql: str,
    *,
    spec: Table | str | Path | None = None,
    hierarchies: PublicHierarchies | None = None,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> QueryComparison:
    """Answer the same query from several releases, permuted or generalized; errors as in ``query``."""
    answers = [
        query(path, sql, spec=spec, hierarchies=hierarchies, settings=settings, reporter=reporter)
        for path in releases
    ]
    return QueryComparison(tuple(answers))


def views(
    release: ReleaseLocation,
    *,
    table: str | None = None,
    dialect: str | None = None,
    release_table: str | None = None,
    help_table: str | None = None,
    settings: Settings | None = None,
) -> ViewScript:
    """Return statements that create views over a permuted release, which existing tools can query.

    The tables are those of a database file, ``release`` and ``help``, unless they are named. Raises
    ``InputError`` if the release is not permuted.

    >>> print(discreet.views("permuted.duckdb"))  # doctest: +SKIP
    """
    address = address_of(release, table)
    with _connect_database(address, settings or Settings.from_environment()) as engine:
        facts = read_permutation_facts(address, engine)
        own = None if engine is None else engine.name
    written = dialect_named(dialect or own)
    if address.in_database and release_table is None and help_table is None:
        return ViewScript(build_companion_statements(facts, written, address))
    return ViewScript(build_view_statements(facts, written, release=release_table, help_table=help_table))


@contextmanager
def _connect_database(address: ReleaseAddress, settings: Settings) -> Iterator[Engine | None]:
    """Connect to the engine of a release in a database; yield None for files, which need no engine."""
    if not address.in_database:
        yield None
        return
    with connect(settings, address.source()) as engine, interruptible_engine(engine):
        yield engine


@contextmanager
def _open_release(
    address: ReleaseAddress, hierarchies: Mapping[str, GeneralizationHierarchy], settings: Settings
) -> Iterator[OpenRelease]:
    with (
        connect(settings, address.source()) as engine,
        interruptible_engine(engine),
        open_release(engine, address, settings, hierarchies) as found,
    ):
        yield found


def _check_hierarchy_names(release: OpenRelease, hierarchies: PublicHierarchies) -> None:
    names = [a.name for a in release.manifest.attributes if a.role == AttributeRole.QUASI_IDENTIFIER]
    for name in hierarchies:
        if name not in names:
            raise InputError(
                f"a hierarchy of '{name}', which is not a quasi-identifier of the release",
                allowed=", ".join(names),
                advice=suggest_name(name, names),
            )


def _build_public_hierarchy(name: str, source: str | Path | HierarchySource) -> GeneralizationHierarchy:
    """Build a recipient's hierarchy without the values of a table."""
    built = FileHierarchy(Path(source)) if isinstance(source, str | Path) else source
    return built.build(name, ())


def _spec_hierarchies(
    spec: Table | str | Path, settings: Settings, reporter: Reporter
) -> dict[str, GeneralizationHierarchy]:
    """Return the hierarchies of a spec; without the original, only those that do not derive from its rows."""
    table = spec if isinstance(spec, Table) else open_table(spec, settings=settings, reporter=reporter)
    source = table.spec.source
    reachable = source.path is None or source.path.exists()
    if table.is_counted or reachable:
        return {h.attribute: h for h in table.frequency_set.hierarchies}
    return {
        attribute.name: attribute.hierarchy.build(attribute.name, ())
        for attribute in table.spec.quasi_identifiers
        if attribute.hierarchy is not None and not attribute.hierarchy.from_data
    }


def _make_result(path: Path, answered: BoundedAnswer) -> QueryResult:
    rows = tuple(_make_row(answered.columns, row) for row in answered.rows)
    return QueryResult(path, answered.columns, rows, answered.sql, answered.warnings)


def _make_row(columns: Sequence[str], row: BoundRow) -> QueryRow:
    group = dict(zip(columns, row.group, strict=True))
    return QueryRow(group, row.aggregate, row.lower, row.upper, row.estimate)


def _key_texts(group: Mapping[str, Key]) -> Iterator[str]:
    for key in group.values():
        if key is None or isinstance(key, bool):
            yield {None: "NULL", True: "true", False: "false"}[key]
        else:
            yield key if isinstance(key, str) else format_measure(key)


def _bound_texts(row: QueryRow | None) -> tuple[str, ...]:
    """Return the cells of a row's bounds, blank without a row."""
    numbers = (None,) * 4 if row is None else (row.lower, row.upper, row.estimate, row.width)
    return tuple(map(_bound_text, numbers))


def _bound_text(number: Number | None) -> str:
    if number is not None and isinf(number):
        return "∞" if number > 0 else "-∞"
    return format_measure(number)


def _json_bound(bound: Number | None) -> Number | str | None:
    """Return a bound for JSON, which has no infinite numbers."""
    if bound is None or not isinf(bound):
        return bound
    return "infinity" if bound > 0 else "-infinity"
