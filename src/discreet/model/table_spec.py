"""The spec of a table: source, attribute roles, request defaults, and metadata of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from discreet.errors import InputError
from discreet.model.cell_format import CellFormat
from discreet.model.hierarchy import HierarchySource
from discreet.model.identifiers.base import DateShift, Pseudonymizer
from discreet.model.option import spec_key
from discreet.model.privacy_loss import PrivacyLoss
from discreet.model.request import RequestDefaults, RowOrder

_TEXT = "a text"


@dataclass(frozen=True)
class ReportMetadata:
    """Statements of the publisher that a report quotes; None is left blank to be filled in by hand.

    ``language`` is the code of the report's language; None is English.
    """

    title: str | None = spec_key("The report's title.", '"Emergency visits 2024"', _TEXT)
    purpose: str | None = spec_key("Purpose of the release.", '"A study of waiting times."', _TEXT)
    recipient: str | None = spec_key("Recipient.", '"The institute for public health."', _TEXT)
    threat_model: str | None = spec_key(
        "Possible attackers and their knowledge.", '"Staff who know a patient."', _TEXT
    )
    population: str | None = spec_key(
        "Population of the table.", '"All visits of the city\'s five hospitals."', _TEXT
    )
    controls: str | None = spec_key(
        "Safeguards against an attack by the recipient.", '"A secure room without network."', _TEXT
    )
    prepared_by: str | None = spec_key("Author of the release.", '"The records office"', _TEXT)
    valid_until: str | None = spec_key("Date until which the report is valid.", '"2027-12-31"', _TEXT)
    language: str | None = spec_key(
        "The language of the report; English if omitted.",
        '"de"',
        'the code of a language in quotes, such as "de"',
    )


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

    A quasi-identifier without ``hierarchy`` is only suppressed; the hierarchy of a sensitive attribute, which
    is published unchanged, defines the similarity of values for criteria. If ``numeric`` is None, metrics
    measure numbers if every leaf of the hierarchy is one. ``domain`` is None if the values are known only
    from the rows. An identifier without ``way`` is left out.
    """

    name: str
    role: AttributeRole = spec_key(
        "Role of the column: left out, known to others, to be protected, or neither.",
        '"quasi-identifier"',
        default=MISSING,
    )
    hierarchy: HierarchySource | None = spec_key(
        "Generalization of the values, level by level; of a sensitive attribute only for criteria.",
        '{kind = "intervals", widths = [5, 10, 20]}',
        'a path in quotes, or a table such as {kind = "mask"}',
    )
    weight: float = spec_key(
        "Weight of a quasi-identifier in losses, relative to 1 for the others.",
        "2.0",
        "a number above 0",
        default=1.0,
        gt=0,
        allow_inf_nan=False,
    )
    numeric: bool | None = spec_key(
        "Whether metrics measure a quasi-identifier by the range of its numbers.", "true", "true, false"
    )
    domain: PublicDomain | None = spec_key(
        "The values that are public before the data, for noisy counts: never taken from the rows.",
        "{least = 17, most = 90}",
        '"hierarchy" for its leaves, a list of texts, or whole numbers {least = 17, most = 90}',
    )
    format: CellFormat | None = spec_key(
        "Format of the cells, if not plain numbers, ISO dates and texts.",
        '{decimal = ",", thousands = ".", unit = "€"}',
        'a table of the format of cells, such as {decimal = ",", unit = "€"}',
    )
    real_values: tuple[str, ...] = spec_key(
        "Texts that are values, although they look like missing ones.",
        '["unknown"]',
        'a list of texts in quotes, such as ["unknown"]',
        default=(),
    )
    pseudonymization: Pseudonymizer | None = spec_key(
        "Replacement of an identifier, which is left out if none is given.",
        '{method = "pseudonym", key = "people.pseudonyms"}',
        'a table of an identifier\'s replacement, such as {method = "per-release"}',
    )
    date_shift: DateShift | None = spec_key(
        "Maximum number of days by which a subject's dates are shifted, and the file of the secret.",
        '{days = 180, key = "shifts.key"}',
        'a table such as {days = 180, key = "shifts.key"}',
    )


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

    column: str = spec_key(
        "Column that selects the rows.", '"in_study"', "the name of a column", min_length=1, default=MISSING
    )
    values: tuple[str, ...] = spec_key(
        "Values of the selected rows.",
        '["yes"]',
        'a list of texts in quotes, such as ["yes"]',
        min_length=1,
        default=MISSING,
    )


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

    Exactly one of ``path``, ``data`` (an Arrow, pandas, polars or Spark table in memory, an Arrow dataset, or
    a stream of record batches), ``url`` (a database, with ``table``) and, for an engine with a catalog, only
    ``table`` is given; with a path, ``table`` is one of a DuckDB or SQLite file or of a spreadsheet. ``url``
    may contain a password: it is never shown. An empty unquoted CSV cell is always NULL. The other rows of a
    ``subset``'s location are not read.

    ``written`` contains the cell formats of columns. In other text columns ``decimal`` is the mark of
    numbers, if cells are numbers, and ``strip`` removes the blanks around cells. With
    ``floats_as_integers`` a column of floating-point numbers that are integers in every row is read as
    integers, as in a frame with NULLs among them: this applies to a publisher's data, not to a release.
    ``types`` are the internal types of columns for which a file of a statistics program stores only values,
    if the caller knows the types. ``ways`` are the methods of identifiers that are published in another form,
    and ``shifts`` the columns whose dates are shifted by a number of days derived from ``subject``. With a
    ``link`` only rows that belong to another table's are read. In columns of ``star_free`` a cell of stars is
    NULL, and rows that have stars or NULL in each column of ``set_apart``, and a star in at least one, are
    not read (``model.cell_format``); a ``TableSpec`` sets both from its attributes' roles.
    """

    path: Path | None = spec_key(
        "The file with the rows, a folder of Parquet files, or a pattern such as data/*.csv; "
        "relative to the spec's folder.",
        '"people.csv"',
        'the path of a file in quotes, such as "people.csv"',
        min_length=1,
    )
    url: str | None = spec_key(
        "The address of the database that has the table, without a password; or `env:NAME`, the "
        "environment variable that contains it.",
        '"postgresql://ann@localhost/clinic"',
        'the address of a database in quotes, such as "postgresql://ann@localhost/clinic"',
        repr=False,
    )
    table: str | None = spec_key(
        "The table of the database, of a DuckDB or SQLite file, or of the engine's catalog.",
        '"clinic.people"',
        'the name of a table in quotes, such as "people" or "clinic.people"',
        min_length=1,
    )
    engine: str | None = spec_key(
        "The engine that reads the rows, if not determined by the location.", '"spark"'
    )
    format: str | None = spec_key("The kind of file, if not determined by its extension.", '"csv"')
    encoding: str = spec_key(
        "Encoding of the file.",
        '"latin-1"',
        "the name of an encoding, such as utf-8 or latin-1",
        default="utf-8",
    )
    delimiter: str | None = spec_key(
        "Delimiter of cells.", '";"', 'one character, such as ";" or "\\t"', min_length=1, max_length=1
    )
    quote: str = spec_key(
        "Quote character.", '"\'"', 'one character, or "" for none', max_length=1, default='"'
    )
    null_values: tuple[str, ...] = spec_key(
        "Texts read as NULL.", '["NA", "-9"]', 'a list of texts in quotes, such as ["?", "-9"]', default=()
    )
    unquoted_nulls: tuple[str, ...] | None = spec_key(
        "Texts read as NULL if not quoted; if omitted, determined from a file that quotes its texts.",
        '["NA"]',
        'a list of texts in quotes, such as ["NA"], or [] for none',
    )
    decimal: str | None = spec_key(
        "The mark before decimals.",
        '","',
        'the mark before decimals in columns without a cell format: "," or "."',
    )
    keep_codes: bool = spec_key(
        "Whether codes with labels are kept in a file of SPSS, Stata or SAS.",
        "true",
        "true or false",
        default=False,
    )
    strip: bool = spec_key(
        "Whether blanks around texts and names of columns are removed.",
        "true",
        "true: blanks around the texts and the names of all columns are removed",
        default=False,
    )
    version: int | None = spec_key(
        "The version of a table with a log; the newest if omitted.",
        "12",
        "the number of a version (Delta Lake) or of a snapshot (Apache Iceberg)",
        ge=0,
    )
    null_policy: NullPolicy = spec_key(
        "Treatment of NULL: a value, or a reason to omit its row.", '"drop"', default=NullPolicy.VALUE
    )
    subject: str | None = spec_key(
        "The column that identifies the person, if persons have several rows: subjects are counted.",
        '"patient"',
        "the name of a column",
        min_length=1,
    )
    rows_are_people: bool = spec_key(
        "Whether each row is a person, although an identifier repeats; `subject` is the alternative.",
        "true",
        "true: each row is a different person, although values of an identifier repeat",
        default=False,
    )
    warnings: tuple[str, ...] = spec_key(
        "Warnings of `init` about the rows: every verb repeats them until they are removed.",
        "[\"'total' = 'a' + 'b'\"]",
        "a list of texts in quotes",
        default=(),
    )
    survey_weight: str | None = spec_key(
        "The column with the number of people of a population that each row of a survey represents.",
        '"weight"',
        "the name of a column",
        min_length=1,
    )
    unlisted_columns: UnlistedPolicy = spec_key(
        "Treatment of columns that the spec does not list.", '"insensitive"', default=UnlistedPolicy.DROP
    )
    subset: Subset | None = spec_key(
        "The rows to publish, if the table is a population; the others are counted, not published.",
        '{column = "in_study", values = ["yes"]}',
        'a table such as {column = "in_study", values = ["yes"]}',
    )
    data: object | None = None
    formats: Mapping[str, CellFormat] = field(default_factory=dict)
    floats_as_integers: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    pseudonymizations: Mapping[str, Pseudonymizer] = field(default_factory=dict)
    date_shifts: Mapping[str, DateShift] = field(default_factory=dict)
    link: Link | None = field(default=None, repr=False)
    star_free: tuple[str, ...] = field(default=(), compare=False, repr=False)
    set_apart: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def form_of(self, name: str) -> CellFormat | None:
        """Return the format of a text column's cells: its own, or that of the source."""
        own = self.formats.get(name)
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
        source = replace(self.population, unlisted_columns=UnlistedPolicy.DROP)
        return TableSpec(source, self.quasi_identifiers, path=self.path)

    @property
    def draws_order(self) -> bool:
        """True if the rows of a release are in random order."""
        return self.request.row_order is RowOrder.RANDOM

    def with_order(self, order: str | None) -> TableSpec:
        """Return the spec with another order of a release's rows, or itself for None.

        Raises ``InputError`` for an invalid order.
        """
        if order is None:
            return self
        return replace(self, request=replace(self.request, row_order=RowOrder.of(order)))

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
            if role is None and self.source.unlisted_columns is UnlistedPolicy.INSENSITIVE:
                role = AttributeRole.INSENSITIVE
            hidden = role is AttributeRole.IDENTIFIER or name == self.source.subject
            if role is not None and (not hidden or name in self.source.pseudonymizations):
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
