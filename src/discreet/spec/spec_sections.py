"""Sections of a spec: source, population, attributes, request, report (see also ``hierarchy_tables``).

The records that a section sets (``model.table_spec``, ``model.request``) declare its keys: type, default,
allowed values, title and example. Here are only the types that TOML writes in another way. Messages,
``docs/spec.md`` and the JSON Schema are generated from the sections.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from discreet.engines.files.sources import FILE_FORMATS
from discreet.engines.registry import ENGINES
from discreet.errors import InputError
from discreet.model.request import RequestDefaults, SuppressionLimit
from discreet.model.table_spec import Attribute, ReportMetadata, SourceSpec, Subset
from discreet.spec.validation import SpecError, StrictTable, make_section, toml_key


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
FormatName = Annotated[
    str | None, BeforeValidator(_check_format_name), Field(description=", ".join(FILE_FORMATS))
]
EngineName = Annotated[str | None, BeforeValidator(_check_engine_name)]


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


SourceSection = make_section(
    "SourceSection",
    SourceSpec,
    path=str | None,
    engine=EngineName,
    format=FormatName,
    encoding=EncodingName,
    decimal=Literal[",", "."] | None,
    subset=Any,
)
SubsetTable = make_section("SubsetTable", Subset)
AttributeSection = make_section(
    "AttributeSection",
    Attribute,
    hierarchy=Any,
    weight=(Annotated[float, BeforeValidator(_decimal_to_float)] | None, None),
    domain=Any,
    format=Any,
    pseudonymization=Any,
    date_shift=Any,
)
RequestSection = make_section(
    "RequestSection",
    RequestDefaults,
    l=Annotated[int | dict[str, int] | None, BeforeValidator(_check_l_values)],
    max_suppressed=Annotated[int | str | None, BeforeValidator(_check_suppression_limit)],
    scope=Literal["above", "global"] | None,
    cost=Any,
    max_level=LevelLimits,
    min_level=LevelLimits,
)
ReportSection = make_section("ReportSection", ReportMetadata)


class PopulationSection(StrictTable):
    """Section ``[population]``."""

    path: str | None = toml_key(
        "The file with a row for each person; relative to the spec's folder.",
        '"register.csv"',
        'the path of a file in quotes, such as "register.csv"',
        min_length=1,
    )
    table: str | None = toml_key(
        "The table of the source's database with a row for each person.",
        '"register"',
        'the name of a table in quotes, such as "register"',
        min_length=1,
    )
    format: FormatName = toml_key("The kind of file, if not determined by its extension.", '"csv"')
    encoding: OptionalEncodingName = toml_key(
        "Encoding of the file.", '"latin-1"', "the name of an encoding, such as utf-8 or latin-1"
    )
    delimiter: str | None = toml_key(
        "Delimiter of cells.", '";"', 'one character, such as ";" or "\\t"', min_length=1, max_length=1
    )
    quote: str | None = toml_key("Quote character.", '"\'"', 'one character, or "" for none', max_length=1)
