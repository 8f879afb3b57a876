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
    """What a report quotes as its publisher's own words; None is left blank, to be filled in by hand.

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
    """The domain of an attribute, which tells nothing of any row as it was fixed before there was one.

    ``values`` are texts of cells, without NULL, each once; None stands for all leaves of the attribute's
    hierarchy, where that was there before the data too (``PublicPart.HIERARCHY``).
    """

    values: tuple[str, ...] | None = None


class AttributeRole(StrEnum):
    """What a column is in a release."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


class NullPolicy(StrEnum):
    """What NULL means: a value of its own, or a reason to drop the row."""

    VALUE = "value"
    DROP = "drop"


class UnlistedPolicy(StrEnum):
    """What happens to columns that the spec does not list."""

    DROP = "drop"
    INSENSITIVE = "insensitive"


@dataclass(frozen=True)
class Attribute:
    """One column and its role.

    ``hierarchy`` only for quasi-identifiers (None: value → ``*``) and for sensitive attributes, which are
    published as they are: theirs says how near values are, for criteria alone.
    ``numeric`` says whether metrics measure a quasi-identifier by the range of its numbers or count its
    values; None: numbers where every leaf of the hierarchy is one. ``domain`` are the values that are public
    whatever the rows hold; None where only the rows tell them. ``way`` is what stands in an identifier's
    place, which is left out where it is None; ``shift`` how a column's dates are moved. ``real_values`` are
    texts that are values, though they look like marks for missing ones.
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
    """The most ε and δ that all differentially private releases of a table may spend together.

    ``table`` names the table where its place does not: two sources of one name share the budget.
    """

    total: PrivacyLoss
    table: str | None = None


@dataclass(frozen=True)
class Subset:
    """The rows of a table whose cell of ``column`` has one of the texts in ``values``; NULL is none."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Link:
    """Rows of a table that belong to rows of another: those whose cell of ``column`` is one of ``keys``.

    No other rows are seen. Where ``name`` is given, a further column of that name has the text in ``values``
    that stands beside the row's key.
    """

    column: str
    keys: tuple[str, ...]
    name: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceSpec:
    """Where the rows lie and how their cells are read.

    Exactly one of ``path`` (a CSV, TSV, Parquet or JSON-lines file), ``data`` (an Arrow, pandas, polars or
    Spark table in memory, an Arrow dataset, or a stream of record batches), ``url`` (a database, with
    ``table``) and, for an engine with a catalog, ``table`` alone is given. ``format`` is inferred from the
    path's ending where None. ``null_values`` are cell texts read as NULL; an empty unquoted CSV cell always
    is. With ``table`` a path is a DuckDB or SQLite database file or a spreadsheet, and the rows are those of
    that table. ``engine`` is the name of the engine that is to read them, None where that follows from where
    they lie (``engines.registry``). ``url`` may hold a password: it is never shown. ``written`` says of
    columns how their cells are written. In other columns of texts ``decimal`` is the mark of numbers, where
    cells are such, and ``strip`` takes the blanks off around them. ``coded`` keeps the codes that have labels
    in the file. With ``whole`` a column of floating-point numbers that are whole in every row is read as
    whole numbers, as of a frame that has NULLs among them: so is what a publisher has, and not what was
    released. ``types`` are the house types of columns that a file of a statistics program holds by value
    alone, for whoever knows them. ``version`` is that of a table of Delta Lake or Apache Iceberg (there a
    snapshot), None for the newest. With ``subset`` the rows are some of those that lie there, and nobody sees
    the others. ``ways`` are the identifiers that are published in another form, and ``shifts`` the columns
    whose dates are moved by a number of days that ``subject`` decides. ``survey_weight`` is the column that
    says how many people a row stands for. ``rows_are_people`` declares that each row is a person, although
    values of an identifier repeat. ``warnings`` are what somebody noticed in the rows, for every verb to
    repeat. With a ``link`` only rows that belong to another table's are there. ``detect_unquoted_nulls`` are
    texts of a delimited file that are NULL without quotes around them, None where the file tells which. In
    columns of ``null_stars`` a cell of stars is NULL, and rows that have stars or NULL in each of
    ``remove_isolated``, and a star in one, are not seen (``model.cell_format``); a ``TableSpec`` says both by
    its attributes' roles.
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
    whole: bool = False
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
        """How a column's cells are written, where they are texts: as it says, or as the source does."""
        own = self.written.get(name)
        if own is not None or (self.decimal != "," and not self.strip):
            return own
        return CellFormat(self.decimal if self.decimal == "," else None, lenient=True, strip=self.strip)

    @property
    def label(self) -> str:
        """The source's name for messages."""
        if self.path is not None:
            return str(self.path)
        return "the table in memory" if self.table is None else f"the table {self.table}"


@dataclass(frozen=True)
class AttributeGlob:
    """A stanza of the spec that stands for several columns, and these in the source's order."""

    pattern: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class TableSpec:
    """A whole spec. The lattice's attribute order is the order of ``attributes``.

    ``notes`` are sentences for the publisher: what the spec says and nothing uses. ``patterns`` are the
    stanzas that stand for several columns, whose attributes are among the others. ``population`` is a table
    with a row for each person among whom those of the source are, which has the quasi-identifiers' columns:
    the table that the source is a subset of, or one of its own. It is counted and never published.
    ``about`` are the publisher's own words in reports.
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
        """Have the source read stars as the attributes' roles ask."""
        source = replace(
            self.source,
            star_free=tuple(attribute.name for attribute in self.sensitive),
            set_apart=tuple(attribute.name for attribute in self.quasi_identifiers),
        )
        object.__setattr__(self, "source", source)

    def with_role(self, role: AttributeRole) -> tuple[Attribute, ...]:
        """The attributes of one role, in the spec's order."""
        return tuple(a for a in self.attributes if a.role is role)

    @property
    def quasi_identifiers(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers, in the lattice's order."""
        return self.with_role(AttributeRole.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[Attribute, ...]:
        """The sensitive attributes, in the spec's order."""
        return self.with_role(AttributeRole.SENSITIVE)

    @property
    def numeric(self) -> dict[str, bool]:
        """Whether quasi-identifiers count as numbers, by name, where the spec says so."""
        return {a.name: a.numeric for a in self.quasi_identifiers if a.numeric is not None}

    @property
    def real_values(self) -> dict[str, tuple[str, ...]]:
        """The texts of each attribute that are no marks for missing values, where some are listed."""
        return {a.name: a.real_values for a in self.attributes if a.real_values}

    @property
    def of_population(self) -> TableSpec | None:
        """The population as a table of quasi-identifiers alone; None where there is none."""
        if self.population is None:
            return None
        source = replace(self.population, unlisted=UnlistedPolicy.DROP)
        return TableSpec(source, self.quasi_identifiers, path=self.path)

    @property
    def draws_order(self) -> bool:
        """Whether the rows of a release go in an order that is drawn."""
        return self.request.order is RowOrder.RANDOM

    def with_order(self, order: str | None) -> TableSpec:
        """The spec with another order of a release's rows, None for its own; ``InputError`` for no order."""
        if order is None:
            return self
        return replace(self, request=replace(self.request, order=RowOrder.of(order)))

    @property
    def label(self) -> str:
        """The spec's name for messages."""
        return str(self.path) if self.path is not None else "the spec"

    def published_roles(self, columns: Sequence[str]) -> dict[str, AttributeRole]:
        """The published columns of a source that has some columns, in its order, and their roles."""
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
        """The quasi-identifiers, or ``InputError`` where the spec has none."""
        found = self.quasi_identifiers
        if not found:
            raise InputError(
                f"{self.label} names no quasi-identifier",
                advice='Give at least one attribute role = "quasi-identifier".',
            )
        return found
