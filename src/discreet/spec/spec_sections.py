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

    source: Any = Field(default=None, description="a table: where the rows lie")
    population: Any = Field(default=None, description="a table: where a row for each possible person lies")
    attributes: dict[str, Any] = Field(
        default_factory=dict, description="tables by column name, such as [attributes.age]"
    )
    request: Any = Field(default_factory=dict, description="a table: defaults of a request")
    privacy_budget: Any = Field(default=None, description="a table: what noisy counts may spend together")
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
        "environment variable that holds it.",
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
        None, title="The engine that reads the rows, where the place does not tell.", examples=['"spark"']
    )
    format: FormatName = Field(
        None,
        description=", ".join(FILE_FORMATS),
        title="The kind of file, where its ending does not tell.",
        examples=['"csv"'],
    )
    encoding: EncodingName = Field(
        "utf-8",
        description="the name of an encoding, such as utf-8 or latin-1",
        title="How the file's bytes are letters.",
        examples=['"latin-1"'],
    )
    delimiter: str | None = Field(
        None,
        min_length=1,
        max_length=1,
        description='one character, such as ";" or "\\t"',
        title="What parts the cells of a line.",
        examples=['";"'],
    )
    quote: str = Field(
        '"',
        max_length=1,
        description='one character, or "" for none',
        title="What encloses a cell that holds the delimiter.",
        examples=['"\'"'],
    )
    null_values: TextList = Field(
        default_factory=list,
        description='a list of texts in quotes, such as ["?", "-9"]',
        title="Texts that mean that there is no value.",
        examples=['["NA", "-9"]'],
    )
    unquoted_nulls: TextList | None = Field(
        None,
        description='a list of texts in quotes, such as ["NA"], or [] for none',
        title="Texts that mean so where no quotes are around them; where left out, a file that quotes its "
        "texts tells which.",
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
        title="Whether codes stay that have labels in a file of SPSS, Stata or SAS.",
        examples=["true"],
    )
    strip: bool = Field(
        False,
        description="true: blanks around the texts and the names of all columns are no part of them",
        title="Whether blanks around texts and names of columns are left out.",
        examples=["true"],
    )
    version: int | None = Field(
        None,
        ge=0,
        description="the number of a version (Delta Lake) or of a snapshot (Apache Iceberg)",
        title="The version of a table with a log; the newest where left out.",
        examples=["12"],
    )
    nulls: Literal["value", "drop"] = Field(
        "value",
        description="value, drop",
        title="What NULL is: a value of its own, or a reason to leave its row out.",
        examples=['"drop"'],
    )
    subject: str | None = Field(
        None,
        min_length=1,
        description="the name of a column",
        title="The column that says whose row it is, where a person may have several: subjects are counted.",
        examples=['"patient"'],
    )
    rows_are_people: bool = Field(
        False,
        description="true: each row is a person of its own, although values of an identifier repeat",
        title="Whether each row is a person, where an identifier repeats; `subject` is the alternative.",
        examples=["true"],
    )
    warnings: TextList = Field(
        default_factory=list,
        description="a list of texts in quotes",
        title="What `init` noticed in the rows: every verb repeats it until it is removed.",
        examples=["[\"'total' = 'a' + 'b'\"]"],
    )
    survey_weight: str | None = Field(
        None,
        min_length=1,
        description="the name of a column",
        title="The column that says how many people of a population each row of a survey stands for.",
        examples=['"weight"'],
    )
    unlisted: Literal["drop", "insensitive"] = Field(
        "drop",
        description="drop, insensitive",
        title="What becomes of columns that the spec does not list.",
        examples=['"insensitive"'],
    )
    subset: Any = Field(
        None,
        description='a table such as {column = "in_study", values = ["yes"]}',
        title="Which rows are meant, where the table is a population; the others are counted, not published.",
        examples=['{column = "in_study", values = ["yes"]}'],
    )


class SubsetTable(StrictTable):
    """Table ``subset`` of ``[source]``."""

    column: str = Field(
        min_length=1,
        description="the name of a column",
        title="The column that tells which rows are meant.",
        examples=['"in_study"'],
    )
    values: Annotated[list[str], BeforeValidator(_tuple_to_list)] = Field(
        min_length=1,
        description='a list of texts in quotes, such as ["yes"]',
        title="What its cells say of the rows that are meant.",
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
        title="The kind of file, where its ending does not tell.",
        examples=['"csv"'],
    )
    encoding: OptionalEncodingName = Field(
        None,
        description="the name of an encoding, such as utf-8 or latin-1",
        title="How the file's bytes are letters.",
        examples=['"latin-1"'],
    )
    delimiter: str | None = Field(
        None,
        min_length=1,
        max_length=1,
        description='one character, such as ";" or "\\t"',
        title="What parts the cells of a line.",
        examples=['";"'],
    )
    quote: str | None = Field(
        None,
        max_length=1,
        description='one character, or "" for none',
        title="What encloses a cell that holds the delimiter.",
        examples=['"\'"'],
    )


class AttributeSection(StrictTable):
    """Section ``[attributes.NAME]``."""

    role: Literal["identifier", "quasi-identifier", "sensitive", "insensitive"] = Field(
        description="identifier, quasi-identifier, sensitive, insensitive",
        title="What the column is: left out, known to others, to be protected, or neither.",
        examples=['"quasi-identifier"'],
    )
    hierarchy: Any = Field(
        None,
        description='a path in quotes, or a table such as {kind = "mask"}',
        title="How values become more general, level by level; a sensitive attribute's for criteria alone.",
        examples=['{kind = "intervals", widths = [5, 10, 20]}'],
    )
    weight: Annotated[float, BeforeValidator(_decimal_to_float)] | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="a number above 0",
        title="How much a quasi-identifier counts in losses, beside 1 for the others.",
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
        description='a table of how cells are written, such as {decimal = ",", unit = "€"}',
        title="How the cells are written, where not as plain numbers, ISO dates and texts.",
        examples=['{decimal = ",", thousands = ".", unit = "€"}'],
    )
    real_values: TextList = Field(
        default_factory=list,
        description='a list of texts in quotes, such as ["unknown"]',
        title="Texts that are values, though they look like marks for missing ones.",
        examples=['["unknown"]'],
    )
    way: Any = Field(
        None,
        description='a table of what stands in an identifier\'s place, such as {way = "per-release"}',
        title="What is published in the place of an identifier, which is left out where nothing is said.",
        examples=['{way = "pseudonym", key = "people.pseudonyms"}'],
    )
    shift: Any = Field(
        None,
        description='a table such as {days = 180, key = "shifts.key"}',
        title="By how many days at most a subject's dates are moved, and the file of the secret.",
        examples=['{days = 180, key = "shifts.key"}'],
    )


class RequestSection(StrictTable):
    """Section ``[request]``."""

    k: int | None = Field(
        None,
        ge=1,
        description="a whole number of at least 1",
        title="Each class has at least so many rows, or subjects where they are counted.",
        examples=["10"],
    )
    l: Annotated[int | dict[str, int] | None, BeforeValidator(_check_l_values)] = Field(
        None,
        description="a whole number of at least 1, or a table of them by sensitive attribute",
        title="Each class has at least so many distinct values of each sensitive attribute, or of some.",
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
        title="Where relaxing the height looks: at the height asked and above, or everywhere.",
        examples=['"global"'],
    )
    order: Literal["sorted", "random"] = Field(
        "sorted",
        description="sorted, random",
        title="How the rows of a release are ordered: by what they show, or by chance.",
        examples=['"random"'],
    )
    cost: Any = Field(
        None,
        description='the name of a cost in quotes, or a table such as {name = "loss", aggregate = "rank"}',
        title="What optimal and anytime make least, and the frontier weighs against suppression.",
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
