"""Changes of a spec's mapping as a publisher makes them: another source, other roles, another hierarchy.

Each gives a new mapping that loads, as far as the change is concerned: what a change takes the ground from
(the hierarchy of a column that is no quasi-identifier any more, its place in the request) goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from discreet.errors import InputError
from discreet.hierarchy.messages import shown
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.spec.public import OF_HIERARCHY

SpecMapping = dict[str, Any]

_DEFAULTS: Mapping[str, Any] = {
    "encoding": "utf-8",
    "quote": '"',
    "strip": False,
    "coded": False,
    "rows_are_people": False,
    "warnings": [],
    "null_values": [],
    "nulls": "value",
    "unlisted": "drop",
}


def source_table(source: SourceSpec) -> SpecMapping:
    """How a source is read, as the spec's ``[source]`` says it; what is as by default is left out."""
    return _without_defaults(
        {
            "format": source.format,
            "encoding": source.encoding,
            "delimiter": source.delimiter,
            "quote": source.quote,
            "decimal": source.decimal,
            "strip": source.strip,
            "coded": source.coded,
            "version": source.version,
            "null_values": list(source.null_values),
            "unquoted_nulls": None if source.unquoted_nulls is None else list(source.unquoted_nulls),
            "nulls": str(source.nulls),
            "subject": source.subject,
            "rows_are_people": source.rows_are_people,
            "warnings": list(source.warnings),
            "survey_weight": source.survey_weight,
            "unlisted": str(source.unlisted),
            "subset": _subset_table(source),
        }
    )


def _subset_table(source: SourceSpec) -> SpecMapping | None:
    chosen = source.subset
    return None if chosen is None else {"column": chosen.column, "values": list(chosen.values)}


def with_source(document: Mapping[str, Any], source: Mapping[str, Any]) -> SpecMapping:
    """Another source, or the same read otherwise; what is None or as by default is left out.

    A subject is an identifier, so its column gets that role.
    """
    found = _copy(document)
    found["source"] = kept = _without_defaults(source)
    subject = kept.get("subject")
    if subject is not None and str(subject) in found["attributes"]:
        return with_roles(found, {str(subject): AttributeRole.IDENTIFIER})
    return found


def with_roles(
    document: Mapping[str, Any],
    roles: Mapping[str, AttributeRole | None],
    *,
    hierarchies: Mapping[str, Mapping[str, Any] | str | None] | None = None,
) -> SpecMapping:
    """Other roles for some columns; None takes a column out of the spec.

    ``hierarchies`` are given to columns that become quasi-identifiers. ``InputError`` where the subject would
    be anything but an identifier or unlisted.
    """
    found = _copy(document)
    attributes = found["attributes"]
    for name, role in roles.items():
        if role is None:
            attributes.pop(name, None)
            continue
        if name == found["source"].get("subject") and role is not AttributeRole.IDENTIFIER:
            raise InputError(
                f"{shown(name)} is the subject, so it cannot be {role}",
                allowed="identifier, or not listed",
                advice="Choose another subject on Load first.",
            )
        entry = dict(attributes.get(name, {}))
        was = entry.get("role")
        entry["role"] = str(role)
        # What stands in an identifier's place is of no other role, and its own dates are not shifted.
        entry.pop("shift" if role is AttributeRole.IDENTIFIER else "way", None)
        if role is not AttributeRole.QUASI_IDENTIFIER:
            kept = ("hierarchy",) if role is AttributeRole.SENSITIVE and was == str(role) else ()
            for option in ("hierarchy", "weight", "numeric"):
                if option not in kept:
                    entry.pop(option, None)
            if entry.get("domain") == OF_HIERARCHY and "hierarchy" not in entry:
                del entry["domain"]
        elif was != str(role) and (proposed := (hierarchies or {}).get(name)) is not None:
            entry["hierarchy"] = proposed
        attributes[name] = entry
    return _with_request(found)


def with_written(document: Mapping[str, Any], name: str, written: Mapping[str, Any] | None) -> SpecMapping:
    """Another written form for a listed column; None for cells that are read as they stand."""
    found = _copy(document)
    entry = found["attributes"].get(name)
    if not isinstance(entry, dict):
        raise InputError(
            f"{shown(name)} is not listed in the spec", advice="Give it a role on Columns first."
        )
    if written is None:
        entry.pop("written", None)
    else:
        entry["written"] = dict(written)
    return found


def with_weight(document: Mapping[str, Any], name: str, weight: float | None) -> SpecMapping:
    """Another weight for a quasi-identifier; None or 1 for the default."""
    found = _copy(document)
    entry = _quasi_identifier(found, name)
    if weight is None or weight == 1:
        entry.pop("weight", None)
    else:
        entry["weight"] = int(weight) if float(weight).is_integer() else weight
    return found


def with_hierarchy(document: Mapping[str, Any], name: str, hierarchy: object) -> SpecMapping:
    """Another hierarchy for a quasi-identifier: a file's path, a builder's table, or None for value → ``*``.

    In Python also other values that ``discreet.open`` takes.

    Level bounds of the request that it had are dropped, as they were those of another hierarchy.
    """
    found = _copy(document)
    entry = _quasi_identifier(found, name)
    if hierarchy is None:
        entry.pop("hierarchy", None)
    else:
        entry["hierarchy"] = dict(hierarchy) if isinstance(hierarchy, Mapping) else hierarchy
    for bounds in ("max_level", "min_level"):
        if isinstance(found.get("request", {}).get(bounds), dict):
            found["request"][bounds].pop(name, None)
    return _with_request(found)


def _quasi_identifier(document: SpecMapping, name: str) -> dict[str, Any]:
    entry = document["attributes"].get(name)
    if not isinstance(entry, dict) or entry.get("role") != AttributeRole.QUASI_IDENTIFIER:
        raise InputError(f"{shown(name)} is no quasi-identifier", advice="Give it that role first.")
    return entry


def _without_defaults(source: Mapping[str, Any]) -> SpecMapping:
    return {key: value for key, value in source.items() if value is not None and _DEFAULTS.get(key) != value}


def _copy(document: Mapping[str, Any]) -> SpecMapping:
    found = deepcopy(dict(document))
    found.setdefault("source", {})
    found.setdefault("attributes", {})
    return found


def _with_request(document: SpecMapping) -> SpecMapping:
    """The request's bounds without those of attributes that have another role by now."""
    request = document.get("request")
    if not isinstance(request, dict):
        return document
    roles = {name: entry.get("role") for name, entry in document["attributes"].items()}
    for key, bounds in list(request.items()):
        levels = key in ("max_level", "min_level")
        role = AttributeRole.QUASI_IDENTIFIER if levels else AttributeRole.SENSITIVE  # l and further criteria
        if isinstance(bounds, dict):
            kept = {name: bound for name, bound in bounds.items() if roles.get(name) == role}
            if kept:
                request[key] = kept
            else:
                del request[key]
    if AttributeRole.SENSITIVE not in roles.values():
        request.pop("l", None)
    if not request:
        del document["request"]
    return document
