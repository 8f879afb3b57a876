"""Sections of a spec, key by key: source, population, attributes, request (see also ``hierarchy_tables``).

Each key declares its type, default, allowed values, title and example; messages, ``docs/spec.md`` and the
JSON Schema are generated from these.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from discreet.engines.files.sources import FILE_FORMATS
from discreet.engines.registry import ENGINES
from discreet.errors import InputError
from discreet.model.request import SuppressionLimit
from discreet.spec.validation import SpecError, StrictTable


def _check_encoding(value: object) -> object:
    try:
        "a".encode(value) if isinstance(value, str) else None
    except (LookupError, UnicodeError, ValueError):
        raise SpecError((), value) from None
    return value


def _check_optional_encoding(value: object) -> object:
    return None if value is None else _check_encoding(value)


def _check_format_name(value: object) -> object:
    if value is not None and value not in list(FILE_FORMATS):
        raise SpecError((), value)
    return value


def _check_engine_name(value: object) -> object:
    names = [engine.name for engine in ENGINES if engine.on_request]
    if value is not None and value not in names:
        raise SpecError((), value, allowed=", ".join(names))
    return value


EncodingName = Annotated[str, BeforeValidator(_check_encoding)]
OptionalEncodingName = Annotated[str | None, BeforeValidator(_check_optional_encoding)]
FormatName = Annotated[str | None, BeforeValidator(_check_format_name)]
EngineName = Annotated[str | None, BeforeValidator(_check_engine_name)]


def _tuple_to_list(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _decimal_to_float(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _check_l_values(value: object) -> object:
    if isinstance(value, Mapping):
        for name, number in value.items():
            if not _is_count(number, 1):
                raise SpecError((str(name),), number)
        return dict(value)
    if not _is_count(value, 1):
        raise SpecError((), value)
    return value


def _check_suppression_limit(value: object) -> object:
    if not isinstance(value, str | int):
        raise SpecError((), value)
    try:
        SuppressionLimit.parse(value)
    except InputError:
        raise SpecError((), value) from None
    return value


TextList = Annotated[list[str], BeforeValidator(_tuple_to_list)]
LevelLimits = dict[str, Annotated[int, Field(ge=0)]]


class SpecDocument(StrictTable):
    """All keys of a spec."""

    source: Any = Field(default=None, description="a table: location of the rows")
    population: Any = Field(default=None, description="a table: location of a row for each possible person")
    attributes: dict[str, Any] = Field(
        default_factory=dict, description="tables by column name, such as [attributes.age]"
    )
    request: Any = Field(default_factory=dict, description="a table: defaults of a request")
    privacy_budget: Any = Field(default=None, description="a table: the joint budget of noisy counts")
    report: Any = Field(default_factory=dict, description="a table: your own words in reports")


class SourceSection(StrictTable):
    """Section ``[source]``."""

    path: str | None = Field(
        None,
        min_length=1,
        description='the path of a file in quotes, such as "people.csv"',
        title="The file with the rows, a folder of Parquet files, or a pattern such as data/*.csv; "
        "relative to the spec's folder.",
        examples=['"people.csv"'],
    )
    url: str | None = Field(
        None,
        description='the address of a database in quotes, such as "postgresql://ann@localhost/clinic"',
        title="The address of the database that has the table, without a password; or `env:NAME`, the "
        "environment variable that contains it.",
        examples=['"postgresql://ann@localhost/clinic"'],
    )
    table: str | None = Field(
        None,
        min_length=1,
        description='the name of a table in quotes, such as "people" or "clinic.people"',
        title="The table of the database, of a DuckDB or SQLite file, or of the engine's catalog.",
        examples=['"clinic.people"'],
    )
    engine: EngineName = Field(
        None, title="The engine that reads the rows, if not determined by the location.", examples=['"spark"']
    )
    format: FormatName = Field(
        None,
        description=", ".join(FILE_FORMATS),
        title="The kind of file, if not determined by its extension.",
        examples=['"csv"'],
    )
    encoding: EncodingName = Field(
        "utf-8",
        description="the name of an encoding, such as utf-8 or latin-1",
        title="Encoding of the file.",
        examples=['"latin-1"'],
    )
    delimiter: str | None = Field(
        None,
        min_length=1,
        max_length=1,
        description='one character, such as ";" or "\\t"',
        title="Delimiter of cells.",
        examples=['";"'],
    )
    quote: str = Field(
        '"',
        max_length=1,
        description='one character, or "" for none',
        title="Quote character.",
        examples=['"\'"'],
    )
    null_values: TextList = Field(
        default_factory=list,
        description='a list of texts in quotes, such as ["?", "-9"]',
        title="Texts read as NULL.",
        examples=['["NA", "-9"]'],
    )
    unquoted_nulls: TextList | None = Field(
        None,
        description='a list of texts in quotes, such as ["NA"], or [] for none',
        title="Texts read as NULL if not quoted; if omitted, determined from a file that quotes its texts.",
        examples=['["NA"]'],
    )
    decimal: Literal[",", "."] | None = Field(
        None,
        description='the mark before decimals in columns without a written form: "," or "."',
        title="The mark before decimals.",
        examples=['","'],
    )
    coded: bool = Field(
        False,
        description="true or false",
        title="Whether codes with labels are kept in a file of SPSS, Stata or SAS.",
        examples=["true"],
    )
    strip: bool = Field(
        False,
        description="true: blanks around the texts and the names of all columns are removed",
        title="Whether blanks around texts and names of columns are removed.",
        examples=["true"],
    )
    version: int | None = Field(
        None,
        ge=0,
        description="the number of a version (Delta Lake) or of a snapshot (Apache Iceberg)",
        title="The version of a table with a log; the newest if omitted.",
        examples=["12"],
    )
    nulls: Literal["value", "drop"] = Field(
        "value",
        description="value, drop",
        title="Treatment of NULL: a value, or a reason to omit its row.",
        examples=['"drop"'],
    )
    subject: str | None = Field(
        None,
        min_length=1,
        description="the name of a column",
        title="The column that identifies the person, if persons have several rows: subjects are counted.",
        examples=['"patient"'],
    )
    rows_are_people: bool = Field(
        False,
        description="true: each row is a different person, although values of an identifier repeat",
        title="Whether each row is a person, although an identifier repeats; `subject` is the alternative.",
        examples=["true"],
    )
    warnings: TextList = Field(
        default_factory=list,
        description="a list of texts in quotes",
        title="Warnings of `init` about the rows: every verb repeats them until they are removed.",
        examples=["[\"'total' = 'a' + 'b'\"]"],
    )
    survey_weight: str | None = Field(
        None,
        min_length=1,
        description="the name of a column",
        title="The column with the number of people of a population that each row of a survey represents.",
        examples=['"weight"'],
    )
    unlisted: Literal["drop", "insensitive"] = Field(
        "drop",
        description="drop, insensitive",
        title="Treatment of columns that the spec does not list.",
        examples=['"insensitive"'],
    )
    subset: Any = Field(
        None,
        description='a table such as {column = "in_study", values = ["yes"]}',
        title="The rows to publish, if the table is a population; the others are counted, not published.",
        examples=['{column = "in_study", values = ["yes"]}'],
    )


class SubsetTable(StrictTable):
    """Table ``subset`` of ``[source]``."""

    column: str = Field(
        min_length=1,
        description="the name of a column",
        title="Column that selects the rows.",
        examples=['"in_study"'],
    )
    values: Annotated[list[str], BeforeValidator(_tuple_to_list)] = Field(
        min_length=1,
        description='a list of texts in quotes, such as ["yes"]',
        title="Values of the selected rows.",
        examples=['["yes"]'],
    )


class PopulationSection(StrictTable):
    """Section ``[population]``."""

    path: str | None = Field(
        None,
        min_length=1,
        description='the path of a file in quotes, such as "register.csv"',
        title="The file with a row for each person; relative to the spec's folder.",
        examples=['"register.csv"'],
    )
    table: str | None = Field(
        None,
        min_length=1,
        description='the name of a table in quotes, such as "register"',
        title="The table of the source's database with a row for each person.",
        examples=['"register"'],
    )
    format: FormatName = Field(
        None,
        description=", ".join(FILE_FORMATS),
        title="The kind of file, if not determined by its extension.",
        examples=['"csv"'],
    )
    encoding: OptionalEncodingName = Field(
        None,
        description="the name of an encoding, such as utf-8 or latin-1",
        title="Encoding of the file.",
        examples=['"latin-1"'],
    )
    delimiter: str | None = Field(
        None,
        min_length=1,
        max_length=1,
        description='one character, such as ";" or "\\t"',
        title="Delimiter of cells.",
        examples=['";"'],
    )
    quote: str | None = Field(
        None,
        max_length=1,
        description='one character, or "" for none',
        title="Quote character.",
        examples=['"\'"'],
    )


class AttributeSection(StrictTable):
    """Section ``[attributes.NAME]``."""

    role: Literal["identifier", "quasi-identifier", "sensitive", "insensitive"] = Field(
        description="identifier, quasi-identifier, sensitive, insensitive",
        title="Role of the column: left out, known to others, to be protected, or neither.",
        examples=['"quasi-identifier"'],
    )
    hierarchy: Any = Field(
        None,
        description='a path in quotes, or a table such as {kind = "mask"}',
        title="Generalization of the values, level by level; of a sensitive attribute only for criteria.",
        examples=['{kind = "intervals", widths = [5, 10, 20]}'],
    )
    weight: Annotated[float, BeforeValidator(_decimal_to_float)] | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="a number above 0",
        title="Weight of a quasi-identifier in losses, relative to 1 for the others.",
        examples=["2.0"],
    )
    numeric: bool | None = Field(
        None,
        description="true, false",
        title="Whether metrics measure a quasi-identifier by the range of its numbers.",
        examples=["true"],
    )
    domain: Any = Field(
        None,
        description='"hierarchy" for its leaves, a list of texts, or whole numbers {least = 17, most = 90}',
        title="The values that are public before the data, for noisy counts: never taken from the rows.",
        examples=["{least = 17, most = 90}"],
    )
    written: Any = Field(
        None,
        description='a table of the format of cells, such as {decimal = ",", unit = "€"}',
        title="Format of the cells, if not plain numbers, ISO dates and texts.",
        examples=['{decimal = ",", thousands = ".", unit = "€"}'],
    )
    real_values: TextList = Field(
        default_factory=list,
        description='a list of texts in quotes, such as ["unknown"]',
        title="Texts that are values, although they look like missing ones.",
        examples=['["unknown"]'],
    )
    way: Any = Field(
        None,
        description='a table of an identifier\'s replacement, such as {way = "per-release"}',
        title="Replacement of an identifier, which is left out if none is given.",
        examples=['{way = "pseudonym", key = "people.pseudonyms"}'],
    )
    shift: Any = Field(
        None,
        description='a table such as {days = 180, key = "shifts.key"}',
        title="Maximum number of days by which a subject's dates are shifted, and the file of the secret.",
        examples=['{days = 180, key = "shifts.key"}'],
    )


class RequestSection(StrictTable):
    """Section ``[request]``."""

    k: int | None = Field(
        None,
        ge=1,
        description="a whole number of at least 1",
        title="Each class has at least k rows, or subjects if they are counted.",
        examples=["10"],
    )
    l: Annotated[int | dict[str, int] | None, BeforeValidator(_check_l_values)] = Field(
        None,
        description="a whole number of at least 1, or a table of them by sensitive attribute",
        title="Each class has at least l distinct values of each sensitive attribute, or of some.",
        examples=["{disease = 3}"],
    )
    max_suppressed: Annotated[int | str | None, BeforeValidator(_check_suppression_limit)] = Field(
        None,
        description='a number of rows such as 301, or a percentage from "0%" to "100%" such as "1%"',
        title="How many rows may be suppressed.",
        examples=['"1%"'],
    )
    scope: Literal["above", "global"] | None = Field(
        None,
        description="above, global",
        title="Where relaxing the height searches: at the requested height and above, or everywhere.",
        examples=['"global"'],
    )
    order: Literal["sorted", "random"] = Field(
        "sorted",
        description="sorted, random",
        title="Order of the rows of a release: by their values, or random.",
        examples=['"random"'],
    )
    cost: Any = Field(
        None,
        description='the name of a cost in quotes, or a table such as {name = "loss", aggregate = "rank"}',
        title="Cost that optimal and anytime minimize, and the frontier weighs against suppression.",
        examples=['{name = "loss", gs_factor = 0.66}'],
    )
    max_level: LevelLimits = Field(
        default_factory=dict,
        description="whole numbers of at least 0, by quasi-identifier",
        title="The highest level of a quasi-identifier.",
        examples=["{age = 2}"],
    )
    min_level: LevelLimits = Field(
        default_factory=dict,
        description="whole numbers of at least 0, by quasi-identifier",
        title="The lowest level of a quasi-identifier.",
        examples=["{age = 1}"],
    )
