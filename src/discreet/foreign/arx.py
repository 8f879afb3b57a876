"""Projects of ARX (``NAME.deid``), read as a spec: attributes, hierarchies, privacy models, limits.

A project is a ZIP archive; its XML and CSV parts are read by name and with size limits (vocabulary 1.0 and
2.0, ARX 2 and 3). Serialized Java objects are never read, so a privacy model is converted only if its line of
text contains all its parameters; notes name everything that is not converted.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import log
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO
from xml.etree import ElementTree

from discreet.errors import InputError, LimitReached
from discreet.foreign.library_arguments import ForeignHierarchy, add_top
from discreet.hierarchy.level_table import hierarchy_from_rows
from discreet.hierarchy.messages import quote_value
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.table_spec import AttributeRole
from discreet.places.file_access import check_regular

_LARGEST_XML = 4 << 20
_LARGEST_TEXT = 64 << 20
_MOST_TEXT = 512 << 20
_LARGEST_FILE = 16 << 30
_MOST_PARTS = 10_000
_CHUNK = 1 << 20
_OTHER_ENCODING = "latin-1"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, ValueError)
"""Exceptions that zipfile raises for a part that is damaged, encrypted, or in an unknown compression."""


class Archive:
    """A ZIP file open for reading; every error raises ``InputError``."""

    def __init__(self, path: Path, parts: zipfile.ZipFile) -> None:
        self.path = path
        self._parts = parts
        self._names = parts.namelist()
        self._read = 0
        if len(self._names) > _MOST_PARTS or len(set(self._names)) < len(self._names):
            raise InputError(f"{path}: more than {_MOST_PARTS:,} parts, or two of one name")

    def has(self, name: str) -> bool:
        """Return whether there is a part of this name."""
        return name in self._names

    def text(self, name: str) -> str:
        """Read a part as text, UTF-8 or else Latin-1.

        Raises ``InputError`` if it is missing, damaged or too large.
        """
        data = self._bytes(name, _LARGEST_TEXT)
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8-sig")
        return data.decode(_OTHER_ENCODING)

    def xml(self, name: str) -> ElementTree.Element:
        """Return the root of an XML part; raise ``InputError`` also if it declares a document type.

        Entity declarations are refused, since they can expand without bound or name other files.
        """
        data = self._bytes(name, _LARGEST_XML)
        try:
            text = data.decode("utf-8-sig")
            if "<!DOCTYPE" in text or "<!ENTITY" in text:
                raise InputError(f"{self._label(name)} declares entities, which are not read")
            return ElementTree.fromstring(text)
        except (UnicodeDecodeError, ElementTree.ParseError) as error:
            raise InputError(f"{self._label(name)} is not readable XML: {error}") from None

    def extract(self, name: str, target: Path) -> str:
        """Write a part to a new file that only its owner may read; return the encoding of its text.

        Raises ``InputError`` if the part is damaged, ``LimitReached`` if it is larger than 16 GiB or the disk
        is full. A failure leaves no file.
        """
        if self._parts.getinfo(name).file_size > _LARGEST_FILE:
            raise LimitReached(f"{self._label(name)} is larger than 16 GiB", advice="Unpack it by hand.")
        encoding = "utf-8"
        decoder = codecs.getincrementaldecoder(encoding)()
        with _owner_only_file(target) as file:
            for chunk in self._chunks(name):
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    encoding = _OTHER_ENCODING
                file.write(chunk)
        return encoding

    def _bytes(self, name: str, most: int) -> bytes:
        if not self.has(name):
            raise InputError(
                f"{self.path} has no part {quote_value(name)}", allowed="a project that ARX has saved"
            )
        size = self._parts.getinfo(name).file_size
        self._read += size
        if size > most or self._read > _MOST_TEXT:
            limit = most if size > most else _MOST_TEXT
            raise InputError(
                f"{self._label(name)}: it, or all that was read, is larger than {limit >> 20} MiB"
            )
        return b"".join(self._chunks(name))

    def _chunks(self, name: str) -> Iterator[bytes]:
        """Yield a part in chunks, never more than its entry declares, which was checked before."""
        try:
            with self._parts.open(name) as file:
                while chunk := file.read(_CHUNK):
                    yield chunk
        except _BROKEN as error:
            raise InputError(f"{self._label(name)} cannot be read: {error}") from None

    def _label(self, name: str) -> str:
        return f"{self.path}, part {quote_value(name)}"


@contextmanager
def _owner_only_file(target: Path) -> Iterator[BinaryIO]:
    """Create a file that only its owner may read; remove it if anything fails."""
    # O_EXCL with the mode: never write through an existing file or link, never readable by others.
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{target} exists", advice="Choose another folder for the spec.") from None
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException as error:
        target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise LimitReached(
                f"{target} cannot be written: {error.strerror}", advice="Free some space."
            ) from error
        raise


@contextmanager
def open_archive(path: Path, expected: str) -> Iterator[Archive]:
    """Open an archive, and close it afterwards; raise ``InputError`` if there is none at the path."""
    check_regular(path, str(path))
    try:
        parts = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist", allowed=expected) from None
    except (*_BROKEN, UnicodeError) as error:
        raise InputError(f"{path} is not a readable archive: {error}", allowed=expected) from None
    with parts:
        yield Archive(path, parts)


CriterionEntry = dict[str, Any]
"""A criterion's entry of a request: its value, its attribute, its further parts."""


@dataclass(frozen=True)
class ConvertedModel:
    """A converted privacy model: ``entries`` by the criterion's name, and a note for the user."""

    entries: tuple[tuple[str, CriterionEntry], ...]
    note: str | None = None


_NUMBER = r"\d{1,9}(?:\.\d{1,18})?(?:E-?\d{1,2})?"
_VALUE = rf"(?P<value>{_NUMBER})"
_ATTRIBUTE = " for attribute '(?P<attribute>.*)'"
_RISK = "-avg-reidentification-risk"
_MODEL_PATTERNS = {
    "entropy_l": rf"(?:(?P<estimator>shannon|grassberger)-)?entropy-{_VALUE}-diversity{_ATTRIBUTE}",
    "recursive_c": rf"recursive-\({_VALUE}, ?(?P<l>\d{{1,9}})\)-diversity{_ATTRIBUTE}",
    "t": rf"{_VALUE}-closeness with (?P<distance>equal|ordered)(?: ground)?[- ]distance{_ATTRIBUTE}",
    "beta": rf"(?P<variant>basic|enhanced)-{_VALUE}-likeness{_ATTRIBUTE}",
    "delta_disclosure": rf"{_VALUE}-disclosure privacy{_ATTRIBUTE}",
    "average_risk": rf"\({_VALUE}(?:, ?(?P<highest>{_NUMBER}), ?(?P<share>{_NUMBER}))?\){_RISK}",
    "sample_uniques": rf"\({_VALUE}\)-sample-uniqueness",
}
"""Patterns of privacy models by criterion; groups are named as the parts of its entry."""


def convert_model(line: str, sensitive: Collection[str]) -> ConvertedModel | None:
    """Return the criteria of a line; None if it is incomplete or its column is not sensitive."""
    for name, pattern in _MODEL_PATTERNS.items():
        found = re.fullmatch(pattern, line, re.DOTALL)
        if found is not None and found.groupdict().get("attribute") in (None, *sensitive):
            parts = {key: text for key, text in found.groupdict().items() if text is not None}
            return _converted(name, parts)
    return None


def _converted(name: str, parts: Mapping[str, str]) -> ConvertedModel | None:
    entry: CriterionEntry = {"value": float(parts["value"])}
    keys = ("attribute", "estimator", "distance", "variant")
    entry |= {key: parts[key] for key in keys if key in parts}
    if "l" in parts:
        entry["l"] = int(parts["l"])
    if name == "delta_disclosure":
        natural = entry["value"] = round(entry["value"] * log(2), 9)
        return ConvertedModel(
            ((name, entry),),
            f"the δ of δ-disclosure privacy, {parts['value']} by logarithms of base 2, is {natural} here by "
            "natural ones; a class that lacks a value of the table fails here, and passes there",
        )
    if "highest" not in parts:
        return ConvertedModel(((name, entry),))
    if not float(parts["highest"]):
        return None
    # ARX counts records at exactly the highest risk as at risk, discreet does not, so the threshold is the
    # risk of the next larger class.
    above = 1 / (int(1 / float(parts["highest"])) + 1)
    at_risk = {"value": float(parts["share"]), "above": above}
    return ConvertedModel(((name, entry), ("records_at_risk", at_risk)))


def merge_entries(entries: Mapping[str, list[CriterionEntry]]) -> dict[str, Any]:
    """Return the entries of a spec: a number if there is nothing else, else tables without duplicates."""
    result: dict[str, Any] = {}
    for name, tables in entries.items():
        once = [table for i, table in enumerate(tables) if table not in tables[:i]]
        is_plain = len(once) == 1 and set(once[0]) == {"value"}
        result[name] = once[0]["value"] if is_plain else once
    return result


ARX_SUFFIX = ".deid"
ARX_DATA = "data/input.csv"
ARX_FILE = "a project that ARX has saved, such as study.deid"
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
JAVA_OBJECTS_NOTE = (
    "settings stored only as Java objects: population, cost and subset settings, the coding model, "
    "the solution space, the output"
)


@dataclass(frozen=True)
class ArxAttribute:
    """A column: role, hierarchy, weight relative to 1, and the lowest and highest level of a request."""

    name: str
    role: AttributeRole
    hierarchy: GeneralizationHierarchy | None = None
    weight: float | None = None
    lowest: int | None = None
    highest: int | None = None


@dataclass(frozen=True)
class ArxProject:
    """Contents of a project; ``notes`` are sentences about settings that could not be converted."""

    path: Path
    version: str
    delimiter: str
    attributes: tuple[ArxAttribute, ...]
    request: Mapping[str, Any]
    has_data: bool
    notes: tuple[str, ...]


def read_arx_project(path: Path) -> ArxProject:
    """Read the project at a path; raise ``InputError`` if it is not one or one of its parts is damaged."""
    with open_archive(path, ARX_FILE) as archive:
        version = archive.xml("metadata.xml").findtext("version", "") if archive.has("metadata.xml") else ""
        delimiter = _read_delimiter(archive)
        config = archive.xml("input/config.xml")
        notes: list[str] = []
        weights = _read_weights(config)
        attributes = tuple(
            _read_attribute(archive, entry, delimiter, weights, notes)
            for entry in archive.xml("input/definition.xml").iter("assigment")
        )
        if not attributes:
            raise InputError(f"{path}: the project has no column", allowed="a project with data")
        request = _read_request(config, attributes, notes)
        return ArxProject(
            path,
            version,
            delimiter,
            attributes,
            MappingProxyType(request),
            archive.has(ARX_DATA),
            (*notes, JAVA_OBJECTS_NOTE),
        )


def extract_arx_data(path: Path, target: Path) -> str:
    """Write the project's rows to a new file that only its owner may read; return their encoding."""
    with open_archive(path, ARX_FILE) as archive:
        if not archive.has(ARX_DATA):
            raise InputError(f"{path} contains no data", advice="Name the data in [source] of the spec.")
        return archive.extract(ARX_DATA, target)


def _read_delimiter(archive: Archive) -> str:
    result = archive.xml("project.xml").findtext("separator", "") if archive.has("project.xml") else ";"
    if len(result) != 1 or result in '"\r\n':
        raise InputError(
            f"{archive.path}: the separator {quote_value(result)}", allowed="one character, such as ;"
        )
    return result


def _read_weights(config: ElementTree.Element) -> dict[str, str]:
    return {
        entry.findtext("attribute", ""): entry.findtext("weight", "")
        for entry in config.iter("attributeWeight")
    }


def _read_attribute(
    archive: Archive,
    entry: ElementTree.Element,
    delimiter: str,
    weights: Mapping[str, str],
    notes: list[str],
) -> ArxAttribute:
    name, kind = entry.findtext("name", ""), entry.findtext("type", "")
    if not name or kind not in _ROLES:
        raise InputError(
            f"{archive.path}: the column {quote_value(name)} is {quote_value(kind)}",
            allowed=", ".join(_ROLES),
        )
    notes += _unsupported_notes(name, entry)
    if _ROLES[kind] is not AttributeRole.QUASI_IDENTIFIER:
        return ArxAttribute(name, _ROLES[kind])
    found = _read_hierarchy(archive, name, entry.findtext("ref", ""), delimiter, notes)
    weight = _weight(name, weights.get(name, ""), notes)
    if found is None:
        return ArxAttribute(name, AttributeRole.QUASI_IDENTIFIER, weight=weight)
    hierarchy, foreign = found
    lowest, highest = (_level(entry.findtext(key, ""), foreign.highest) for key in ("min", "max"))
    if highest is None and foreign.top_added:
        highest = foreign.highest
    return ArxAttribute(name, AttributeRole.QUASI_IDENTIFIER, hierarchy, weight, lowest or None, highest)


def _unsupported_notes(name: str, entry: ElementTree.Element) -> Iterator[str]:
    tags = {child.tag.lower() for child in entry}
    if "microaggregationfunction" in tags:
        yield (
            f"{quote_value(name)} is micro-aggregated in ARX, which discreet does not support: it is "
            "generalized"
        )
    if "response" in tags:
        yield (
            f"{quote_value(name)} is a response variable in ARX: use --target of discreet inspect --release"
        )


def _level(text: str, highest: int) -> int | None:
    """Return a level of the hierarchy, None for 'All'."""
    return min(int(text), highest) if _LEVEL.fullmatch(text) else None


def _weight(name: str, text: str, notes: list[str]) -> float | None:
    """Convert a weight: ARX weighs from 0 to 1 with default 0.5, discreet relative to 1."""
    try:
        weight = Decimal(text or str(_USUAL_WEIGHT)) / _USUAL_WEIGHT
    except InvalidOperation:
        weight = Decimal(-1)
    if not weight.is_finite() or weight <= 0:
        notes.append(f"the weight {quote_value(text)} of {quote_value(name)}: weights are above 0 here")
        return None
    return None if weight == 1 else float(weight)


def _read_hierarchy(
    archive: Archive, name: str, reference: str, delimiter: str, notes: list[str]
) -> tuple[GeneralizationHierarchy, ForeignHierarchy] | None:
    """Return the hierarchy of a column; None if there is none, or with a note if it is inconsistent."""
    part = f"input/{reference}"
    if not reference or not archive.has(part):
        return None
    try:
        cells = csv.reader(io.StringIO(archive.text(part), newline=""), delimiter=delimiter, strict=True)
        rows = [row for row in cells if row]
        if not rows or len({len(row) for row in rows}) > 1:
            raise InputError("its rows are not of one length")
        foreign = add_top(rows)
        return hierarchy_from_rows(
            name, foreign.rows, origin=f"the hierarchy of {quote_value(name)}"
        ), foreign
    except (InputError, csv.Error) as error:
        reason = error.message if isinstance(error, InputError) else error
        notes.append(f"the hierarchy of {quote_value(name)}: {reason}")
        return None


def _read_request(
    config: ElementTree.Element, attributes: tuple[ArxAttribute, ...], notes: list[str]
) -> dict[str, Any]:
    request: dict[str, Any] = _read_criteria(config, attributes, notes)
    limit = _percent(config.findtext("relativeMaxOutliers", ""))
    if limit is not None:
        request["max_suppressed"] = limit
    request["max_level"] = {a.name: a.highest for a in attributes if a.highest is not None}
    request["min_level"] = {a.name: a.lowest for a in attributes if a.lowest is not None}
    metric = config.findtext("metric", "")
    if metric:
        notes.append(f"the quality model {quote_value(metric)}: discreet search has other costs, --cost")
    return {key: value for key, value in request.items() if value}


def _read_criteria(
    config: ElementTree.Element, attributes: tuple[ArxAttribute, ...], notes: list[str]
) -> dict[str, Any]:
    """Return the project's privacy models that can be converted; add a note for each other model."""
    sensitive = {a.name for a in attributes if a.role is AttributeRole.SENSITIVE}
    k, l, further = 0, dict[str, int](), dict[str, list[CriterionEntry]]()
    for entry in config.iter("criterion"):
        text = entry.text or ""
        if found := _K.fullmatch(text):
            k = max(k, int(found[1]))
        elif (found := _L.fullmatch(text)) and found[2] in sensitive:
            l[found[2]] = max(l.get(found[2], 0), int(found[1]))
        elif (model := convert_model(text, sensitive)) is not None:
            for name, criterion_entry in model.entries:
                further.setdefault(name, []).append(criterion_entry)
            notes += [] if model.note is None else [model.note]
        else:
            notes.append(
                f"the privacy model {quote_value(text)}: it is not converted; request a similar criterion"
            )
    if not k and not l and not further:
        notes.append("no privacy model of the project was converted: request one, such as k = 5 in [request]")
    return {"k": k or None, "l": l, **merge_entries(further)}


def _percent(text: str) -> str | None:
    """Return a share such as 0.05 as a percentage, or None."""
    try:
        share = Decimal(text)
    except InvalidOperation:
        return None
    return f"{(share * 100).normalize():f}%" if share.is_finite() and 0 <= share <= 1 else None
