"""From a spec's TOML, or a mapping of the same form, to a ``TableSpec``."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.engines.addresses import database_address
from discreet.engines.registry import engine_at
from discreet.engines.standard_input import STANDARD_INPUT, standard_input
from discreet.errors import InputError
from discreet.hierarchy.messages import listed, shown
from discreet.model.closest import closest
from discreet.model.hierarchy import least_level
from discreet.model.request import RequestDefaults
from discreet.model.row_order import RowOrder
from discreet.model.table_spec import (
    Attribute,
    AttributeRole,
    NullPolicy,
    SourceSpec,
    TableSpec,
    UnlistedPolicy,
)
from discreet.model.written_form import WrittenForm
from discreet.places.address import has_password, path_of
from discreet.places.regular_file import read_text
from discreet.settings import Settings
from discreet.spec.about import read_about
from discreet.spec.costs import read_cost
from discreet.spec.criteria import check_attributes, split_request
from discreet.spec.document import AttributeTable, RequestTable, SourceTable, SpecTable
from discreet.spec.hierarchies import HierarchyReader
from discreet.spec.identifiers import check_roles, read_shift, read_way, with_subject, with_treated
from discreet.spec.place import check_place, with_place
from discreet.spec.population import population_of, subset_of
from discreet.spec.problems import key_text, located, validated
from discreet.spec.public import read_budget, read_domain
from discreet.spec.stanza_patterns import ColumnsOf, columns_read, expanded, patterns_in, unused
from discreet.spec.toml_text import toml_of
from discreet.spec.written import read_written

_ROLES_OF = {
    "hierarchy": (AttributeRole.QUASI_IDENTIFIER, AttributeRole.SENSITIVE),
    "weight": (AttributeRole.QUASI_IDENTIFIER,),
    "numeric": (AttributeRole.QUASI_IDENTIFIER,),
}
_PLACE = re.compile(r"(.*?) \((at .*)\)", re.DOTALL)


def load_spec(
    path: Path,
    settings: Settings | None = None,
    *,
    columns_of: ColumnsOf | None = None,
    subject: str | None = None,
    data: object | None = None,
    place: Mapping[str, str] | None = None,
) -> TableSpec:
    """The spec in a TOML file.

    Relative paths in it are relative to its folder. Hierarchy files are read later, when the values are
    known. Where a stanza is a pattern the source is asked for its columns, by an engine within ``settings``
    (None: those of the environment) or by ``columns_of``; otherwise nothing of it is read. ``subject`` is
    the subject's column where the file need not say it. ``data`` is a table in memory whose spec it is;
    ``place`` (``path`` or ``url``) replaces the place of rows that the file names. ``InputError`` names the
    file, the line or key, the value, and what is allowed.
    """
    reader = HierarchyReader(path.parent, str(path), objects=False)
    document = _document(path)
    if "tables" in document and "attributes" not in document:
        raise InputError(
            f"{path} is a relational spec, which speaks of several tables",
            allowed="the spec of one table, such as those that it names",
            advice="discreet publish and discreet audit take several tables together.",
        )
    if subject is not None:
        document = with_subject(document, subject, reader.label)
    if place is not None:
        document = with_place(document, place)
    return _spec(document, reader, columns_of or columns_read(settings), path=path, data=data)


def spec_from_mapping(
    document: Mapping[str, Any],
    *,
    base: Path,
    label: str,
    data: object | None = None,
    settings: Settings | None = None,
) -> TableSpec:
    """The spec of a mapping that has the form of the TOML file.

    ``base`` is the folder of relative paths, ``label`` the spec's name in messages, ``data`` a table in
    memory in place of ``source.path``. Hierarchies may also be ``HierarchySource`` objects, path objects,
    mappings from each leaf to its levels, or lists of rows.
    """
    reader = HierarchyReader(base, label, objects=True)
    return _spec(document, reader, columns_read(settings), path=None, data=data)


def spec_mapping(path: Path) -> dict[str, Any]:
    """A spec file's TOML as a mapping, unchecked; numbers with a point are ``Decimal``.

    ``InputError`` where the file cannot be read or is no TOML.
    """
    return _document(path)


def text_mapping(text: str) -> dict[str, Any]:
    """The same of a spec's text; ``InputError`` where it is no TOML."""
    try:
        return toml_of(text, Decimal)
    except ValueError as error:
        raise InputError(f"no TOML: {error}") from None


def _document(path: Path) -> dict[str, Any]:
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
        return toml_of(text, Decimal)
    except tomllib.TOMLDecodeError as error:
        match = _PLACE.fullmatch(str(error))
        fact, place = match.groups() if match else (str(error), "")
        raise InputError(
            f"{path}{', ' + place.removeprefix('at ') if place else ''}: {fact}",
            allowed="TOML",
            advice="Texts need quotes; so do names of columns with blanks or dots in them.",
        ) from None
    except ValueError as error:
        raise InputError(f"{path} cannot be read as TOML: {error}", allowed="TOML") from None


def _spec(
    document: object,
    reader: HierarchyReader,
    columns_of: ColumnsOf,
    *,
    path: Path | None,
    data: object | None,
) -> TableSpec:
    label = reader.label
    table = validated(SpecTable, document, label=label, key=())
    source = _source(table.source, reader, data)
    population = population_of(source, table.population, reader)
    stanzas = {key: _attribute(key, content, reader) for key, content in table.attributes.items()}
    patterns = patterns_in(stanzas, source, columns_of, label)
    listed_each = expanded(stanzas, patterns)
    attributes = [replace(attribute, name=name) for name, (attribute, _) in listed_each.items()]
    written = {name: form for name, (_, form) in listed_each.items() if form is not None}
    for attribute in attributes:
        check_roles(attribute, label)
    source = replace(source, written=written, **with_treated(source, attributes, label))
    if population is not None:
        population = replace(population, written=written)
    attributes += _subject(source, attributes, label)
    request = _request(table.request, label)
    _check_levels(request, attributes, label)
    _check_l(request, attributes, label)
    quasi_identifiers = [a for a in attributes if a.role is AttributeRole.QUASI_IDENTIFIER]
    least = {a.name: least_level(a.hierarchy) for a in quasi_identifiers if least_level(a.hierarchy)}
    request = replace(request, min_level={**least, **request.min_level})
    notes = (*_left_over(table.attributes), *unused(patterns))
    if isinstance(request.l, int) and not any(a.role is AttributeRole.SENSITIVE for a in attributes):
        notes = (*notes, f"request.l = {request.l} is not used, as no attribute is sensitive.")
        request = replace(request, l=None)
    budget = read_budget(table.privacy_budget, label)
    about = read_about(table.report, label)
    return TableSpec(source, tuple(attributes), request, path, notes, patterns, population, budget, about)


def _source(content: object, reader: HierarchyReader, data: object | None) -> SourceSpec:
    label, key = reader.label, ("source",)
    if content is None:
        content = {}
    if isinstance(content, Mapping):
        given = content.get("path")
        if isinstance(given, os.PathLike):
            content = {**content, "path": os.fspath(given)}
    table = validated(SourceTable, content, label=label, key=key)
    path, url = _path(table.path, reader), _url(table.url, reader)
    check_place(table, data, label)
    if table.quote and table.delimiter == table.quote:
        raise InputError(f"{label}: source.quote and source.delimiter are both {shown(table.quote)}")
    if table.rows_are_people and table.subject is not None:
        raise InputError(
            f"{label}: source.rows_are_people = true with source.subject = {shown(table.subject)}",
            allowed="one of the two: each row is a person, or the subject's values are people",
            advice="Remove one.",
        )
    return SourceSpec(
        path=path,
        data=data,
        format=table.format,
        encoding=table.encoding,
        delimiter=table.delimiter,
        quote=table.quote,
        null_values=tuple(table.null_values),
        unquoted_nulls=None if table.unquoted_nulls is None else tuple(table.unquoted_nulls),
        nulls=NullPolicy(table.nulls),
        subject=table.subject,
        rows_are_people=table.rows_are_people,
        warnings=tuple(table.warnings),
        survey_weight=table.survey_weight,
        unlisted=UnlistedPolicy(table.unlisted),
        table=table.table,
        url=url,
        engine=table.engine,
        decimal=table.decimal,
        strip=table.strip,
        whole=True,
        coded=table.coded,
        version=table.version,
        subset=subset_of(table.subset, label),
    )


def _url(text: str | None, reader: HierarchyReader) -> str | None:
    """The address of a database; no other is taken, nor a password in a file, where others read it too.

    A mapping from Python may hold one.
    """
    if text is None:
        return None
    try:
        url = database_address(text)
    except InputError as error:
        raise located(error, label=reader.label, key=("source", "url")) from None
    databases = engine_at(url).databases
    if not reader.objects and has_password(url):
        raise InputError(
            f"{reader.label}: source.url holds a password, which a spec must not",
            allowed=None if databases is None else databases.form,
            advice=f"Remove it; give it in {'a variable' if databases is None else databases.password}.",
        )
    return url


def _path(text: str | None, reader: HierarchyReader) -> Path | None:
    try:
        if text == STANDARD_INPUT:
            return standard_input()
        return None if text is None else reader.base / path_of(text)
    except InputError as error:
        raise located(error, label=reader.label, key=("source", "path")) from None


def _attribute(name: str, content: object, reader: HierarchyReader) -> tuple[Attribute, WrittenForm | None]:
    label, key = reader.label, ("attributes", name)
    table = validated(AttributeTable, content, label=label, key=key)
    role = AttributeRole(table.role)
    way = read_way(table.way, reader.base, label=label, key=(*key, "way"))
    shift = read_shift(table.shift, reader.base, label=label, key=(*key, "shift"))
    if (
        role is AttributeRole.IDENTIFIER
    ):  # its values are never published: what another role left does no harm
        form = read_written(table.written, None, label=label, key=(*key, "written"))
        return Attribute(name, role, way=way, shift=shift), form
    for option, roles in _ROLES_OF.items():
        if role not in roles and getattr(table, option) is not None:
            who = " and ".join(
                "quasi-identifiers" if known is AttributeRole.QUASI_IDENTIFIER else f"{known} attributes"
                for known in roles
            )
            raise InputError(
                f"{label}: {key_text((*key, option))} for an attribute whose role is {role}",
                allowed=f"{option} for {who} only",
                advice=f'Remove it, or give the attribute role = "{AttributeRole.QUASI_IDENTIFIER}".',
            )
    given = table.hierarchy
    hierarchy = None if given is None else reader.read(given, (*key, "hierarchy"))
    form = read_written(table.written, hierarchy, label=label, key=(*key, "written"))
    weight = 1.0 if table.weight is None else table.weight
    domain = read_domain(table.domain, hierarchy, label=label, key=(*key, "domain"))
    real = tuple(table.real_values)
    return Attribute(name, role, hierarchy, weight, table.numeric, domain, way, shift, real), form


def _left_over(attributes: Mapping[str, Any]) -> Iterator[str]:
    """A note of each identifier that still has what other roles have."""
    for name, content in attributes.items():
        left = [option for option in _ROLES_OF if content.get(option) is not None]
        if left and content["role"] == AttributeRole.IDENTIFIER:
            yield (
                f"{shown(name)} is an identifier, so its {' and '.join(left)} in the spec "
                f"{'is' if len(left) == 1 else 'are'} not used."
            )


def _subject(source: SourceSpec, attributes: list[Attribute], label: str) -> list[Attribute]:
    """The subject as an identifier where the attributes do not list it, so that it is never published."""
    if source.subject is None:
        return []
    for attribute in attributes:
        if attribute.name == source.subject:
            if attribute.role is AttributeRole.IDENTIFIER:
                return []
            raise InputError(
                f"{label}: source.subject = {shown(source.subject)}, whose role is {attribute.role}",
                allowed="a column that is an identifier or is not listed",
                advice='Give it role = "identifier", or name another subject.',
            )
    return [Attribute(source.subject, AttributeRole.IDENTIFIER)]


def _request(content: object, label: str) -> RequestDefaults:
    fields, criteria, further = split_request(content, label)
    table = validated(RequestTable, fields, label=label, key=("request",), further=further)
    return RequestDefaults(
        k=table.k,
        l=table.l,
        max_suppressed=table.max_suppressed,
        max_level=table.max_level,
        min_level=table.min_level,
        scope=table.scope,
        criteria=criteria,
        order=RowOrder(table.order),
        cost=read_cost(table.cost, label),
    )


def _check_levels(request: RequestDefaults, attributes: list[Attribute], label: str) -> None:
    names = [a.name for a in attributes if a.role is AttributeRole.QUASI_IDENTIFIER]
    for option, levels in (("max_level", request.max_level), ("min_level", request.min_level)):
        for name in levels:
            if name not in names:
                raise InputError(
                    f"{label}: {key_text(('request', option, name))}: {shown(name)} is no quasi-identifier",
                    allowed=listed(names, 20) or "none: the spec names no quasi-identifier",
                    advice=closest(name, names),
                )
    for name, level in request.min_level.items():
        highest = request.max_level.get(name)
        if highest is not None and level > highest:
            raise InputError(
                f"{label}: {key_text(('request', 'min_level', name))} = {level}, above max_level = {highest}",
                allowed=f"0 to {highest}",
            )


def _check_l(request: RequestDefaults, attributes: list[Attribute], label: str) -> None:
    names = [a.name for a in attributes if a.role is AttributeRole.SENSITIVE]
    for name in request.l if isinstance(request.l, Mapping) else ():
        if name not in names:
            raise InputError(
                f"{label}: {key_text(('request', 'l', name))}: {shown(name)} is no sensitive attribute",
                allowed=listed(names, 20) or "none: the spec names no sensitive attribute",
                advice=closest(name, names),
            )
    check_attributes(request.criteria, names, label)
