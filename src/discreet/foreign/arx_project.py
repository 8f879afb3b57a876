"""A project of ARX, ``NAME.deid``: what of it is a spec, and what of it is not.

The archive's XML and CSV are read (vocabulary 1.0 and 2.0, ARX 2 and 3); its other parts are serialized Java
objects, which are never read.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

from discreet.errors import InputError
from discreet.foreign.archive import Archive, opened
from discreet.foreign.arx_models import Asked, as_request, carried_over
from discreet.foreign.hierarchy_rows import ForeignHierarchy, with_one_top
from discreet.hierarchy.messages import shown
from discreet.hierarchy.table import hierarchy_from_rows
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import AttributeRole

SUFFIX = ".deid"
DATA = "data/input.csv"
WHAT = "a project that ARX has saved, such as study.deid"
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": AttributeRole.IDENTIFIER,
    "QUASI_IDENTIFYING_ATTRIBUTE": AttributeRole.QUASI_IDENTIFIER,
    "SENSITIVE_ATTRIBUTE": AttributeRole.SENSITIVE,
    "INSENSITIVE_ATTRIBUTE": AttributeRole.INSENSITIVE,
}
_USUAL_WEIGHT = Decimal("0.5")
_LEVEL = re.compile(r"\d{1,3}")
_K = re.compile(r"(\d{1,18})-anonymity")
_L = re.compile(r"distinct-(\d{1,18})-diversity for attribute '(.*)'", re.DOTALL)
JAVA = (
    "what the archive holds as Java objects only: population, cost and subset settings, the coding model, "
    "the solution space, the output"
)


@dataclass(frozen=True)
class ArxAttribute:
    """A column: its role, its hierarchy, its weight beside 1, the lowest and highest level of a request."""

    name: str
    role: AttributeRole
    hierarchy: GeneralizationHierarchy | None = None
    weight: float | None = None
    lowest: int | None = None
    highest: int | None = None


@dataclass(frozen=True)
class ArxProject:
    """What was read of a project; ``notes`` are sentences on what could not be carried over."""

    path: Path
    version: str
    delimiter: str
    attributes: tuple[ArxAttribute, ...]
    request: Mapping[str, Any]
    has_data: bool
    notes: tuple[str, ...]


def read_arx_project(path: Path) -> ArxProject:
    """The project at a path; ``InputError`` where it is none, or where one of its parts is damaged."""
    with opened(path, WHAT) as archive:
        version = _text(archive.xml("metadata.xml"), "version") if archive.has("metadata.xml") else ""
        delimiter = _delimiter(archive)
        config = archive.xml("input/config.xml")
        notes: list[str] = []
        weights = _weights(config)
        attributes = tuple(
            _attribute(archive, entry, delimiter, weights, notes)
            for entry in archive.xml("input/definition.xml").iter("assigment")
        )
        if not attributes:
            raise InputError(f"{path}: the project has no column", allowed="a project with data")
        request = _request(config, attributes, notes)
        return ArxProject(
            path, version, delimiter, attributes, MappingProxyType(request), archive.has(DATA), (*notes, JAVA)
        )


def extract_arx_data(path: Path, target: Path) -> str:
    """Write the project's rows to a new file that only its owner may read; their encoding."""
    with opened(path, WHAT) as archive:
        if not archive.has(DATA):
            raise InputError(f"{path} holds no data", advice="Name the data in [source] of the spec.")
        return archive.extract(DATA, target)


def _text(element: ElementTree.Element, name: str) -> str:
    return element.findtext(name) or ""


def _delimiter(archive: Archive) -> str:
    found = _text(archive.xml("project.xml"), "separator") if archive.has("project.xml") else ";"
    if len(found) != 1 or found in '"\r\n':
        raise InputError(f"{archive.path}: the separator {shown(found)}", allowed="one character, such as ;")
    return found


# --- columns -----------------------------------------------------------------------------------------------


def _weights(config: ElementTree.Element) -> dict[str, str]:
    return {_text(entry, "attribute"): _text(entry, "weight") for entry in config.iter("attributeWeight")}


def _attribute(
    archive: Archive,
    entry: ElementTree.Element,
    delimiter: str,
    weights: Mapping[str, str],
    notes: list[str],
) -> ArxAttribute:
    name, kind = _text(entry, "name"), _text(entry, "type")
    if not name or kind not in _ROLES:
        raise InputError(
            f"{archive.path}: the column {shown(name)} is {shown(kind)}", allowed=", ".join(_ROLES)
        )
    notes += _lost(name, entry)
    if _ROLES[kind] is not AttributeRole.QUASI_IDENTIFIER:
        return ArxAttribute(name, _ROLES[kind])
    found = _hierarchy(archive, name, _text(entry, "ref"), delimiter, notes)
    weight = _weight(name, weights.get(name, ""), notes)
    if found is None:
        return ArxAttribute(name, AttributeRole.QUASI_IDENTIFIER, weight=weight)
    hierarchy, foreign = found
    lowest, highest = (_level(_text(entry, key), foreign.highest) for key in ("min", "max"))
    if highest is None and foreign.topped:
        highest = foreign.highest
    return ArxAttribute(name, AttributeRole.QUASI_IDENTIFIER, hierarchy, weight, lowest or None, highest)


def _lost(name: str, entry: ElementTree.Element) -> Iterator[str]:
    tags = {child.tag.lower() for child in entry}
    if "microaggregationfunction" in tags:
        yield f"{shown(name)} is micro-aggregated in ARX, which is not here: it is generalized"
    if "response" in tags:
        yield f"{shown(name)} is a response variable in ARX: here --target of discreet inspect --release"


def _level(text: str, highest: int) -> int | None:
    """A level of the hierarchy, None for 'All'."""
    return min(int(text), highest) if _LEVEL.fullmatch(text) else None


def _weight(name: str, text: str, notes: list[str]) -> float | None:
    """ARX weighs from 0 to 1, 0.5 where nothing was said; beside 1 here."""
    try:
        weight = Decimal(text or str(_USUAL_WEIGHT)) / _USUAL_WEIGHT
    except InvalidOperation:
        weight = Decimal(-1)
    if not weight.is_finite() or weight <= 0:
        notes.append(f"the weight {shown(text)} of {shown(name)}: weights are above 0 here")
        return None
    return None if weight == 1 else float(weight)


def _hierarchy(
    archive: Archive, name: str, reference: str, delimiter: str, notes: list[str]
) -> tuple[GeneralizationHierarchy, ForeignHierarchy] | None:
    """The hierarchy of a column, None with a note where there is none or where it contradicts itself."""
    part = f"input/{reference}"
    if not reference or not archive.has(part):
        return None
    try:
        cells = csv.reader(io.StringIO(archive.text(part), newline=""), delimiter=delimiter, strict=True)
        rows = [row for row in cells if row]
        if not rows or len({len(row) for row in rows}) > 1:
            raise InputError("its rows are not of one length")
        foreign = with_one_top(rows)
        return hierarchy_from_rows(name, foreign.rows, origin=f"the hierarchy of {shown(name)}"), foreign
    except (InputError, csv.Error) as error:
        reason = error.message if isinstance(error, InputError) else error
        notes.append(f"the hierarchy of {shown(name)}: {reason}")
        return None


# --- what is asked -----------------------------------------------------------------------------------------


def _request(
    config: ElementTree.Element, attributes: tuple[ArxAttribute, ...], notes: list[str]
) -> dict[str, Any]:
    request: dict[str, Any] = _criteria(config, attributes, notes)
    limit = _percent(_text(config, "relativeMaxOutliers"))
    if limit is not None:
        request["max_suppressed"] = limit
    request["max_level"] = {a.name: a.highest for a in attributes if a.highest is not None}
    request["min_level"] = {a.name: a.lowest for a in attributes if a.lowest is not None}
    metric = _text(config, "metric")
    if metric:
        notes.append(f"the quality model {shown(metric)}: discreet search has costs of its own, --cost")
    return {key: value for key, value in request.items() if value}


def _criteria(
    config: ElementTree.Element, attributes: tuple[ArxAttribute, ...], notes: list[str]
) -> dict[str, Any]:
    """The project's privacy models as far as their lines tell them; a note for each other model."""
    sensitive = {a.name for a in attributes if a.role is AttributeRole.SENSITIVE}
    k, l, further = 0, dict[str, int](), dict[str, list[Asked]]()
    for entry in config.iter("criterion"):
        text = entry.text or ""
        if found := _K.fullmatch(text):
            k = max(k, int(found[1]))
        elif (found := _L.fullmatch(text)) and found[2] in sensitive:
            l[found[2]] = max(l.get(found[2], 0), int(found[1]))
        elif (model := carried_over(text, sensitive)) is not None:
            for name, asked in model.entries:
                further.setdefault(name, []).append(asked)
            notes += [] if model.note is None else [model.note]
        else:
            notes.append(
                f"the privacy model {shown(text)}: it is not carried over; ask for a criterion of its kind"
            )
    if not k and not l and not further:
        notes.append("no privacy model of the project is asked here: ask for one, such as k = 5 in [request]")
    return {"k": k or None, "l": l, **as_request(further)}


def _percent(text: str) -> str | None:
    """A share such as 0.05 as a percentage, None where it is none."""
    try:
        share = Decimal(text)
    except InvalidOperation:
        return None
    return f"{(share * 100).normalize():f}%" if share.is_finite() and 0 <= share <= 1 else None
