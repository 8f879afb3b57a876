"""The spec of a table: source, attribute roles, request defaults, and metadata of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from discreet.errors import InputError
from discreet.model.cell_format import CellFormat
from discreet.model.hierarchy import HierarchySource
from discreet.model.identifiers.base import DateShift, Pseudonymizer
from discreet.model.privacy_loss import PrivacyLoss
from discreet.model.request import RequestDefaults, RowOrder


@dataclass(frozen=True)
class ReportMetadata:
    """Statements of the publisher that a report quotes; None is left blank to be filled in by hand.

    ``language`` is the code of the report's language; None is English.
    """

    title: str | None = None
    purpose: str | None = None
    recipient: str | None = None
    threat_model: str | None = None
    population: str | None = None
    controls: str | None = None
    prepared_by: str | None = None
    valid_until: str | None = None
    language: str | None = None


@dataclass(frozen=True)
class PublicDomain:
    """The domain of an attribute, which discloses nothing of any row because it was fixed before the data.

    ``values`` are texts of cells, without NULL, each once; None means all leaves of the attribute's
    hierarchy, if that does not depend on the data either (``PublicPart.HIERARCHY``).
    """

    values: tuple[str, ...] | None = None


class AttributeRole(StrEnum):
    """Role of a column in a release."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class NullPolicy(StrEnum):
    """Treatment of NULL: a value of its own, or a reason to drop the row."""

    VALUE = "value"
    DROP = "drop"


class UnlistedPolicy(StrEnum):
    """Treatment of columns that the spec does not list."""

    DROP = "drop"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True)
class Attribute:
    """One column and its role.

    ``hierarchy`` applies to quasi-identifiers (None: value → ``*``) and to sensitive attributes, which are
    published unchanged: there it defines the similarity of values, only for criteria. ``numeric`` determines
    whether metrics measure a quasi-identifier by the range of its numbers or count its values; None: numbers
    if every leaf of the hierarchy is one. ``domain`` contains the values that are public whatever the rows
    contain; None if they are known only from the rows. ``way`` is the method that replaces an identifier,
    which is omitted if None; ``shift`` shifts a column's dates. ``real_values`` are texts that are values,
    although they look like marks for missing ones.
    """

    name: str
    role: AttributeRole
    hierarchy: HierarchySource | None = None
    weight: float = 1.0
    numeric: bool | None = None
    domain: PublicDomain | None = None
    way: Pseudonymizer | None = None
    shift: DateShift | None = None
    real_values: tuple[str, ...] = ()


@dataclass(frozen=True)
class PrivacyBudget:
    """Maximum ε and δ that all differentially private releases of a table may spend together.

    ``table`` identifies the table if its location does not: two sources of one name share the budget.
    """

    total: PrivacyLoss
    table: str | None = None


@dataclass(frozen=True)
class Subset:
    """The rows of a table whose cell of ``column`` has one of the texts in ``values``; NULL matches none."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Link:
    """Rows of a table that belong to rows of another: those whose cell of ``column`` is one of ``keys``.

    Other rows are not read. If ``name`` is given, an additional column of that name contains the text in
    ``values`` at the index of the row's key.
    """

    column: str
    keys: tuple[str, ...]
    name: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceSpec:
    """The location of the rows and the options for reading their cells.

    Exactly one of ``path`` (a CSV, TSV, Parquet or JSON-lines file), ``data`` (an Arrow, pandas, polars or
    Spark table in memory, an Arrow dataset, or a stream of record batches), ``url`` (a database, with
    ``table``) and, for an engine with a catalog, only ``table`` is given. ``format`` is inferred from the
    path's ending if None. ``null_values`` are cell texts read as NULL; an empty unquoted CSV cell always is.
    With ``table`` a path is a DuckDB or SQLite database file or a spreadsheet, and the rows are those of that
    table. ``engine`` is the name of the engine that reads them, None if the location determines it
    (``engines.registry``). ``url`` may contain a password: it is never shown.

    ``written`` contains the cell formats of columns. In other text columns ``decimal`` is the mark of
    numbers, if cells are numbers, and ``strip`` removes the blanks around cells. ``coded`` keeps the codes
    that have labels in the file. With ``floats_as_integers`` a column of floating-point numbers that are
    integers in every row is read as integers, as in a frame with NULLs among them: this applies to a
    publisher's data, not to a release. ``types`` are the internal types of columns for which a file of a
    statistics program stores only values, if the caller knows the types. ``version`` is that of a table of
    Delta Lake or Apache Iceberg (there a snapshot), None for the newest.

    With ``subset`` the rows are some of those at the location; the others are not read. ``ways`` are the
    methods of identifiers that are published in another form, and ``shifts`` the columns whose dates are
    shifted by a number of days derived from ``subject``. ``survey_weight`` is the column of the number of
    people that a row represents. ``rows_are_people`` declares that each row is a person, although values of
    an identifier repeat. ``warnings`` are known problems of the rows, which every verb repeats. With a
    ``link`` only rows that belong to another table's are read. ``unquoted_nulls`` are texts of a delimited
    file that are NULL without quotes around them, None if they are detected from the file. In columns of
    ``star_free`` a cell of stars is NULL, and rows that have stars or NULL in each column of ``set_apart``,
    and a star in at least one, are not read (``model.cell_format``); a ``TableSpec`` sets both from its
    attributes' roles.
    """

    path: Path | None = None
    data: object | None = None
    format: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    quote: str = '"'
    null_values: tuple[str, ...] = ()
    nulls: NullPolicy = NullPolicy.VALUE
    subject: str | None = None
    unlisted: UnlistedPolicy = UnlistedPolicy.DROP
    table: str | None = None
    url: str | None = field(default=None, repr=False)
    engine: str | None = None
    written: Mapping[str, CellFormat] = field(default_factory=dict)
    decimal: str | None = None
    strip: bool = False
    floats_as_integers: bool = False
    coded: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    version: int | None = None
    subset: Subset | None = None
    ways: Mapping[str, Pseudonymizer] = field(default_factory=dict)
    shifts: Mapping[str, DateShift] = field(default_factory=dict)
    survey_weight: str | None = None
    rows_are_people: bool = False
    warnings: tuple[str, ...] = ()
    link: Link | None = field(default=None, repr=False)
    unquoted_nulls: tuple[str, ...] | None = None
    star_free: tuple[str, ...] = field(default=(), compare=False, repr=False)
    set_apart: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def form_of(self, name: str) -> CellFormat | None:
        """Return the format of a text column's cells: its own, or that of the source."""
        own = self.written.get(name)
        if own is not None or (self.decimal != "," and not self.strip):
            return own
        return CellFormat(self.decimal if self.decimal == "," else None, lenient=True, strip=self.strip)

    @property
    def label(self) -> str:
        """Name of the source for messages."""
        if self.path is not None:
            return str(self.path)
        return "the table in memory" if self.table is None else f"the table {self.table}"


@dataclass(frozen=True)
class AttributeGlob:
    """A section of the spec that applies to several columns, and these columns in the source's order."""

    pattern: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class TableSpec:
    """A whole spec; ``attributes`` is in the lattice's attribute order.

    ``notes`` are sentences for the publisher about keys of the spec that have no effect. ``patterns`` are the
    sections that apply to several columns, whose attributes are among the others. ``population`` is a table
    with a row for each person, which includes the source's people and has the quasi-identifiers' columns: the
    table that the source is a subset of, or a separate one. It is counted and never published. ``about``
    contains the publisher's statements for reports.
    """

    source: SourceSpec
    attributes: tuple[Attribute, ...]
    request: RequestDefaults = field(default_factory=RequestDefaults)
    path: Path | None = None
    notes: tuple[str, ...] = ()
    patterns: tuple[AttributeGlob, ...] = ()
    population: SourceSpec | None = None
    privacy_budget: PrivacyBudget | None = None
    about: ReportMetadata = field(default_factory=ReportMetadata)

    def __post_init__(self) -> None:
        """Configure the source's reading of stars by the attributes' roles."""
        source = replace(
            self.source,
            star_free=tuple(attribute.name for attribute in self.sensitive),
            set_apart=tuple(attribute.name for attribute in self.quasi_identifiers),
        )
        object.__setattr__(self, "source", source)

    def with_role(self, role: AttributeRole) -> tuple[Attribute, ...]:
        """Return the attributes of one role, in the spec's order."""
        return tuple(a for a in self.attributes if a.role is role)

    @property
    def quasi_identifiers(self) -> tuple[Attribute, ...]:
        """Quasi-identifiers, in the lattice's order."""
        return self.with_role(AttributeRole.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[Attribute, ...]:
        """Sensitive attributes, in the spec's order."""
        return self.with_role(AttributeRole.SENSITIVE)

    @property
    def numeric(self) -> dict[str, bool]:
        """Mapping of quasi-identifiers to True if they count as numbers, as far as the spec declares it."""
        return {a.name: a.numeric for a in self.quasi_identifiers if a.numeric is not None}

    @property
    def real_values(self) -> dict[str, tuple[str, ...]]:
        """Texts of each attribute that are not marks for missing values, if any are listed."""
        return {a.name: a.real_values for a in self.attributes if a.real_values}

    @property
    def of_population(self) -> TableSpec | None:
        """Population as a table of only quasi-identifiers; None without a population."""
        if self.population is None:
            return None
        source = replace(self.population, unlisted=UnlistedPolicy.DROP)
        return TableSpec(source, self.quasi_identifiers, path=self.path)

    @property
    def draws_order(self) -> bool:
        """True if the rows of a release are in random order."""
        return self.request.order is RowOrder.RANDOM

    def with_order(self, order: str | None) -> TableSpec:
        """Return the spec with another order of a release's rows, or itself for None.

        Raises ``InputError`` for an invalid order.
        """
        if order is None:
            return self
        return replace(self, request=replace(self.request, order=RowOrder.of(order)))

    @property
    def label(self) -> str:
        """Name of the spec for messages."""
        return str(self.path) if self.path is not None else "the spec"

    def published_roles(self, columns: Sequence[str]) -> dict[str, AttributeRole]:
        """Return the published columns of a source with the given columns, in its order, and their roles."""
        listed = {attribute.name: attribute.role for attribute in self.attributes}
        roles: dict[str, AttributeRole] = {}
        for name in columns:
            role = listed.get(name)
            if role is None and self.source.unlisted is UnlistedPolicy.INSENSITIVE:
                role = AttributeRole.INSENSITIVE
            hidden = role is AttributeRole.IDENTIFIER or name == self.source.subject
            if role is not None and (not hidden or name in self.source.ways):
                roles[name] = role
        return roles

    def require_quasi_identifiers(self) -> tuple[Attribute, ...]:
        """Return the quasi-identifiers; raise ``InputError`` if the spec has none."""
        result = self.quasi_identifiers
        if not result:
            raise InputError(
                f"{self.label} names no quasi-identifier",
                advice='Give at least one attribute role = "quasi-identifier".',
            )
        return result
