"""Reading of a spec, from TOML or a mapping of the same form, into a ``TableSpec``.

Checks sections, roles, the location of the rows, the population, levels and criteria; reads ``[report]``. No
row is read; column names are read only if a section is a glob.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.engines.engine_addresses import read_database_address
from discreet.engines.process_resources import STANDARD_INPUT, standard_input
from discreet.engines.registry import ENGINES, engine_at
from discreet.errors import InputError
from discreet.hierarchy.messages import quote_value, quote_values
from discreet.model.hierarchy import least_level
from discreet.model.registry import suggest_name
from discreet.model.request import RequestDefaults
from discreet.model.table_spec import (
    Attribute,
    AttributeRole,
    ReportMetadata,
    SourceSpec,
    Subset,
    TableSpec,
)
from discreet.places.address import has_password, parse_path
from discreet.places.file_access import read_text
from discreet.settings import Settings
from discreet.spec.attribute_globs import (
    ColumnReader,
    engine_column_reader,
    expand_globs,
    find_globs,
    unused_glob_notes,
)
from discreet.spec.attribute_section import (
    HierarchyReader,
    check_treated_roles,
    pseudonyms_and_shifts,
    read_budget,
    read_cell_format,
    read_domain,
    read_pseudonymization,
    read_shift,
    with_subject,
)
from discreet.spec.request_section import check_criterion_attributes, read_cost, split_criteria
from discreet.spec.spec_sections import (
    AttributeSection,
    PopulationSection,
    ReportSection,
    RequestSection,
    SourceSection,
    SpecDocument,
    SubsetTable,
)
from discreet.spec.validation import (
    KeyPath,
    format_key,
    locate_error,
    parse_toml,
    read_toml,
    validate_table,
)


def load_report_metadata(path: Path) -> ReportMetadata:
    """Load ``[report]`` from a separate file; raise ``InputError`` if it is unreadable or has other keys."""
    return _read_report_metadata(read_toml(path, str(path)), str(path), ())


def _read_report_metadata(content: object, label: str, key: KeyPath) -> ReportMetadata:
    return ReportMetadata(**dict(validate_table(ReportSection, content, label=label, key=key)))


def with_location(document: Mapping[str, Any], location: Mapping[str, str]) -> dict[str, Any]:
    """Return a spec's mapping with another location of the rows: ``path`` or ``url`` replaces either."""
    source = document.get("source", {})
    if not isinstance(source, Mapping):
        return dict(document)
    others = {key: value for key, value in source.items() if key not in ("path", "url")}
    return {**document, "source": {**others, **location}}


def check_location(table: Any, data: object | None, label: str) -> None:
    """Check that exactly one location of the rows is named, and no key that belongs to another kind.

    Raises ``InputError`` otherwise.
    """
    engine = None if table.engine is None else ENGINES.named(table.engine)
    catalog = engine is not None and engine.catalog is not None and table.table is not None
    places = {"path": table.path, "url": table.url}
    named = [f"source.{name}" for name, value in places.items() if value is not None]
    named += ["a table in memory"] * (data is not None)
    if len(named) != 1 and not (catalog and not named):
        fact = "source.path is missing"
        if named:
            value = f" = {quote_value(table.path)}" if table.path is not None else ""
            fact = f"{named[0]}{value} together with {named[1]}"
        raise InputError(
            f"{label}: {fact}",
            allowed="the path of a CSV, TSV, Parquet or JSON-lines file, url and table of a database, or a "
            "table in memory from Python",
            advice=_frame_advice(label, named),
        )
    if table.url is not None:
        if table.table is None:
            raise InputError(
                f"{label}: source.url without source.table",
                allowed='the name of a table, such as table = "clinic.people"',
            )
        files = ("format", "encoding", "delimiter", "quote", "unquoted_nulls", "engine")
        set_files = [name for name in files if name in table.model_fields_set]
        if set_files:
            raise InputError(
                f"{label}: source.{set_files[0]} concerns files, and the source is a database's table",
                advice="Remove it.",
            )
    if table.version is not None and table.path is None:
        raise InputError(
            f"{label}: source.version = {table.version} without source.path",
            allowed="version of a table of Delta Lake or Apache Iceberg, which path names",
            advice="Remove it.",
        )
    if data is not None and table.table is not None:
        raise InputError(f"{label}: source.table together with a table in memory", advice="Remove it.")


def _frame_advice(label: str, named: list[str]) -> str | None:
    """Return advice for a spec of a table in memory, and for a table in memory in addition to a path."""
    if not named:
        return f"If it is the spec of a table in memory, give that: discreet.open(frame, {label!r})."
    in_memory = "a table in memory" in named
    return f"Remove {named[0]} from the spec, or open it without the table." if in_memory else None


_POPULATION_KEY = ("population",)


def read_subset(content: object, label: str) -> Subset | None:
    """Return ``subset`` of ``[source]``, or None."""
    if content is None:
        return None
    table = validate_table(SubsetTable, content, label=label, key=("source", "subset"))
    subset = Subset(**dict(table))
    return replace(subset, values=tuple(dict.fromkeys(subset.values)))


def read_population(source: SourceSpec, content: object, reader: HierarchyReader) -> SourceSpec | None:
    """Return the source of the population; None if the spec names none.

    It is the table that ``source`` is a subset of, or that of ``[population]``, which is read like the source
    unless it says otherwise. Raises ``InputError`` for both, for a subject (people are counted, so each row
    must be one), and for a location that another engine would read.
    """
    label = reader.label
    if content is None and source.subset is None:
        return None
    if source.subject is not None:
        raise InputError(
            f"{label}: a population together with source.subject = {quote_value(source.subject)}",
            allowed="a population of tables with one row per person",
            advice="Reduce the table to one row per person first, and remove source.subject.",
        )
    if content is None:
        return replace(source, subset=None)
    if isinstance(content, Mapping) and isinstance(content.get("path"), os.PathLike):
        content = {**content, "path": os.fspath(content["path"])}
    table = validate_table(PopulationSection, content, label=label, key=_POPULATION_KEY)
    if source.subset is not None:
        raise InputError(
            f"{label}: population together with source.subset",
            allowed="one of them: a source is a subset of its own table, or of another one",
        )
    if table.path is None and table.table is None:
        raise InputError(
            f"{label}: population names no table", allowed='path, such as "register.csv", or table'
        )
    if table.path is not None and source.path is None and source.data is None:
        raise InputError(
            f"{label}: population.path together with a source that is not a file",
            allowed="population.table, of the source's own database",
        )
    options = {
        name: value
        for name in ("format", "encoding", "delimiter", "quote")
        if (value := getattr(table, name)) is not None
    }
    path = source.path if table.path is None else _population_path(table.path, reader)
    if path != source.path:
        options = {"format": None, "delimiter": None, "version": None, **options}
    return replace(source, path=path, table=table.table, data=None, **options)


def _population_path(text: str, reader: HierarchyReader) -> Path:
    try:
        return reader.base / parse_path(text)
    except InputError as error:
        raise locate_error(error, label=reader.label, key=(*_POPULATION_KEY, "path")) from None


_ROLES_OF_KEY = {
    "hierarchy": (AttributeRole.QUASI_IDENTIFIER, AttributeRole.SENSITIVE),
    "weight": (AttributeRole.QUASI_IDENTIFIER,),
    "numeric": (AttributeRole.QUASI_IDENTIFIER,),
}
_ERROR_LOCATION = re.compile(r"(.*?) \((at .*)\)", re.DOTALL)


def load_spec(
    path: Path,
    settings: Settings | None = None,
    *,
    columns_of: ColumnReader | None = None,
    subject: str | None = None,
    data: object | None = None,
    location: Mapping[str, str] | None = None,
) -> TableSpec:
    """Load the spec in a TOML file.

    Relative paths in it are relative to its folder. Hierarchy files are read later, when the values are
    known. If a section is a glob, the source's column names are read by an engine with ``settings`` (None:
    those of the environment) or by ``columns_of``; otherwise nothing of the source is read. ``subject`` is
    the subject's column if the file need not name it. ``data`` is a table in memory that the spec describes;
    ``location`` (``path`` or ``url``) replaces the location of the rows in the file. Raises ``InputError``
    with the file, the line or key, the value, and the allowed values.
    """
    reader = HierarchyReader(path.parent, str(path), objects=False)
    document = _read_document(path)
    if "tables" in document and "attributes" not in document:
        raise InputError(
            f"{path} is a relational spec, which describes several tables",
            allowed="the spec of one table, such as those that it names",
            advice="discreet publish and discreet audit take several tables together.",
        )
    if subject is not None:
        document = with_subject(document, subject, reader.label)
    if location is not None:
        document = with_location(document, location)
    return _build_spec(document, reader, columns_of or engine_column_reader(settings), path=path, data=data)


def spec_from_mapping(
    document: Mapping[str, Any],
    *,
    base: Path,
    label: str,
    data: object | None = None,
    settings: Settings | None = None,
) -> TableSpec:
    """Read a spec from a mapping that has the form of the TOML file.

    ``base`` is the folder of relative paths, ``label`` the spec's name in messages, ``data`` a table in
    memory that replaces ``source.path``. Hierarchies may also be ``HierarchySource`` objects, path objects,
    mappings from each leaf to its levels, or lists of rows.
    """
    reader = HierarchyReader(base, label, objects=True)
    return _build_spec(document, reader, engine_column_reader(settings), path=None, data=data)


def read_spec_mapping(path: Path) -> dict[str, Any]:
    """Read a spec file's TOML as a mapping, unchecked; numbers with a point are ``Decimal``.

    Raises ``InputError`` if the file cannot be read or is not TOML.
    """
    return _read_document(path)


def parse_spec_mapping(text: str) -> dict[str, Any]:
    """Parse a spec's text, like ``read_spec_mapping``; raise ``InputError`` if it is not TOML."""
    try:
        return parse_toml(text, Decimal)
    except ValueError as error:
        raise InputError(f"no TOML: {error}") from None


def _read_document(path: Path) -> dict[str, Any]:
    try:
        text = read_text(path, f"the spec {path}")
    except FileNotFoundError:
        raise InputError(
            f"the spec {path} does not exist", advice="discreet init DATA writes a spec for a table."
        ) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: byte 0x{error.object[error.start]:02x} is not UTF-8",
            allowed="a TOML file in UTF-8",
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"the spec {path} cannot be read: {reason}") from None
    try:
        return parse_toml(text, Decimal)
    except tomllib.TOMLDecodeError as error:
        match = _ERROR_LOCATION.fullmatch(str(error))
        fact, position = match.groups() if match else (str(error), "")
        raise InputError(
            f"{path}{', ' + position.removeprefix('at ') if position else ''}: {fact}",
            allowed="TOML",
            advice="Write quotes around texts, and around names of columns with blanks or dots.",
        ) from None
    except ValueError as error:
        raise InputError(f"{path} cannot be read as TOML: {error}", allowed="TOML") from None


def _build_spec(
    document: object,
    reader: HierarchyReader,
    columns_of: ColumnReader,
    *,
    path: Path | None,
    data: object | None,
) -> TableSpec:
    label = reader.label
    table = validate_table(SpecDocument, document, label=label, key=())
    source = _read_source(table.source, reader, data)
    population = read_population(source, table.population, reader)
    stanzas = {key: _read_attribute(key, content, reader) for key, content in table.attributes.items()}
    patterns = find_globs(stanzas, source, columns_of, label)
    attributes = [
        replace(attribute, name=name) for name, attribute in expand_globs(stanzas, patterns).items()
    ]
    formats = {a.name: a.format for a in attributes if a.format is not None}
    for attribute in attributes:
        check_treated_roles(attribute, label)
    source = replace(source, formats=formats, **pseudonyms_and_shifts(source, attributes, label))
    if population is not None:
        population = replace(population, formats=formats)
    attributes += _subject_attribute(source, attributes, label)
    request = _read_request(table.request, label)
    _check_levels(request, attributes, label)
    _check_l(request, attributes, label)
    quasi_identifiers = [a for a in attributes if a.role is AttributeRole.QUASI_IDENTIFIER]
    least = {a.name: least_level(a.hierarchy) for a in quasi_identifiers if least_level(a.hierarchy)}
    request = replace(request, min_level={**least, **request.min_level})
    notes = (*_unused_key_notes(table.attributes), *unused_glob_notes(patterns))
    if isinstance(request.l, int) and not any(a.role is AttributeRole.SENSITIVE for a in attributes):
        notes = (*notes, f"request.l = {request.l} is not used, as no attribute is sensitive.")
        request = replace(request, l=None)
    budget = read_budget(table.privacy_budget, label)
    about = _read_report_metadata(table.report, label, ("report",))
    return TableSpec(source, tuple(attributes), request, path, notes, patterns, population, budget, about)


def _read_source(content: object, reader: HierarchyReader, data: object | None) -> SourceSpec:
    label, key = reader.label, ("source",)
    if content is None:
        content = {}
    if isinstance(content, Mapping):
        source_path = content.get("path")
        if isinstance(source_path, os.PathLike):
            content = {**content, "path": os.fspath(source_path)}
    table: Any = validate_table(SourceSection, content, label=label, key=key)
    path, url = _source_path(table.path, reader), _source_url(table.url, reader)
    check_location(table, data, label)
    if table.quote and table.delimiter == table.quote:
        raise InputError(f"{label}: source.quote and source.delimiter are both {quote_value(table.quote)}")
    if table.rows_are_people and table.subject is not None:
        raise InputError(
            f"{label}: source.rows_are_people = true with source.subject = {quote_value(table.subject)}",
            allowed="one of the two: each row is a person, or the subject's values are people",
            advice="Remove one.",
        )
    keys = dict(table) | {"path": path, "url": url, "subset": read_subset(table.subset, label)}
    return SourceSpec(**keys, data=data, floats_as_integers=True)


def _source_url(text: str | None, reader: HierarchyReader) -> str | None:
    """Return the address of a database; refuse other addresses, and a password in a file others can read.

    A mapping from Python may contain a password.
    """
    if text is None:
        return None
    try:
        url = read_database_address(text)
    except InputError as error:
        raise locate_error(error, label=reader.label, key=("source", "url")) from None
    databases = engine_at(url).databases
    if not reader.objects and has_password(url):
        raise InputError(
            f"{reader.label}: source.url contains a password, which is not allowed in a spec",
            allowed=None if databases is None else databases.form,
            advice=f"Remove it; give it in {'a variable' if databases is None else databases.password}.",
        )
    return url


def _source_path(text: str | None, reader: HierarchyReader) -> Path | None:
    try:
        if text == STANDARD_INPUT:
            return standard_input()
        return None if text is None else reader.base / parse_path(text)
    except InputError as error:
        raise locate_error(error, label=reader.label, key=("source", "path")) from None


def _read_attribute(name: str, content: object, reader: HierarchyReader) -> Attribute:
    label, key = reader.label, ("attributes", name)
    table: Any = validate_table(AttributeSection, content, label=label, key=key)
    role = table.role
    treatment: dict[str, Any] = {
        "pseudonymization": read_pseudonymization(
            table.pseudonymization, reader.base, label=label, key=(*key, "pseudonymization")
        ),
        "date_shift": read_shift(table.date_shift, reader.base, label=label, key=(*key, "date_shift")),
    }
    if role is AttributeRole.IDENTIFIER:
        # Its values are never published, so keys of other roles are ignored; _unused_key_notes reports them.
        form = read_cell_format(table.format, None, label=label, key=(*key, "format"))
        return Attribute(name, role, format=form, **treatment)
    for option, roles in _ROLES_OF_KEY.items():
        if role not in roles and getattr(table, option) is not None:
            who = " and ".join(
                "quasi-identifiers" if known is AttributeRole.QUASI_IDENTIFIER else f"{known} attributes"
                for known in roles
            )
            raise InputError(
                f"{label}: {format_key((*key, option))} for an attribute whose role is {role}",
                allowed=f"{option} for {who} only",
                advice=f'Remove it, or give the attribute role = "{AttributeRole.QUASI_IDENTIFIER}".',
            )
    hierarchy = None if table.hierarchy is None else reader.read(table.hierarchy, (*key, "hierarchy"))
    values = {
        "hierarchy": hierarchy,
        "weight": 1.0 if table.weight is None else table.weight,
        "format": read_cell_format(table.format, hierarchy, label=label, key=(*key, "format")),
        "domain": read_domain(table.domain, hierarchy, label=label, key=(*key, "domain")),
    }
    return Attribute(name, **(dict(table) | values | treatment))


def _unused_key_notes(attributes: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note for each identifier that still has keys of other roles."""
    for name, content in attributes.items():
        left = [option for option in _ROLES_OF_KEY if content.get(option) is not None]
        if left and content["role"] == AttributeRole.IDENTIFIER:
            yield (
                f"{quote_value(name)} is an identifier, so its {' and '.join(left)} in the spec "
                f"{'is' if len(left) == 1 else 'are'} not used."
            )


def _subject_attribute(source: SourceSpec, attributes: list[Attribute], label: str) -> list[Attribute]:
    """Return the subject as an identifier if the attributes do not list it, so that it is never published."""
    if source.subject is None:
        return []
    for attribute in attributes:
        if attribute.name == source.subject:
            if attribute.role is AttributeRole.IDENTIFIER:
                return []
            raise InputError(
                f"{label}: source.subject = {quote_value(source.subject)}, whose role is {attribute.role}",
                allowed="a column that is an identifier or is not listed",
                advice='Give it role = "identifier", or name another subject.',
            )
    return [Attribute(source.subject, AttributeRole.IDENTIFIER)]


def _read_request(content: object, label: str) -> RequestDefaults:
    fields, criteria, further = split_criteria(content, label)
    table = validate_table(RequestSection, fields, label=label, key=("request",), further=further)
    keys = dict(table) | {"cost": read_cost(dict(table)["cost"], label)}
    return RequestDefaults(**keys, criteria=criteria)


def _check_levels(request: RequestDefaults, attributes: list[Attribute], label: str) -> None:
    names = [a.name for a in attributes if a.role is AttributeRole.QUASI_IDENTIFIER]
    for option, levels in (("max_level", request.max_level), ("min_level", request.min_level)):
        for name in levels:
            if name not in names:
                raise InputError(
                    f"{label}: {format_key(('request', option, name))}: {quote_value(name)} is not "
                    "a quasi-identifier",
                    allowed=quote_values(names, 20) or "none: the spec names no quasi-identifier",
                    advice=suggest_name(name, names),
                )
    for name, level in request.min_level.items():
        highest = request.max_level.get(name)
        if highest is not None and level > highest:
            raise InputError(
                f"{label}: {format_key(('request', 'min_level', name))} = {level}, above max_level = "
                f"{highest}",
                allowed=f"0 to {highest}",
            )


def _check_l(request: RequestDefaults, attributes: list[Attribute], label: str) -> None:
    names = [a.name for a in attributes if a.role is AttributeRole.SENSITIVE]
    for name in request.l if isinstance(request.l, Mapping) else ():
        if name not in names:
            raise InputError(
                f"{label}: {format_key(('request', 'l', name))}: {quote_value(name)} is not a sensitive "
                "attribute",
                allowed=quote_values(names, 20) or "none: the spec names no sensitive attribute",
                advice=suggest_name(name, names),
            )
    check_criterion_attributes(request.criteria, names, label)
