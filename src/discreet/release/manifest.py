"""Manifest of a release, ``PATH.manifest.json``: its recoding, columns, requirement and audit.

It may be published with the data. It contains names, roles, levels and digests, never a value of a hierarchy,
no digest of the input (which would confirm guesses of it), and no time finer than a day.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.engines.base import Engine
from discreet.engines.source_tables import read_text_table
from discreet.errors import InputError
from discreet.model.class_recoding import RecodingModel
from discreet.model.coded_warnings import CodedWarning
from discreet.model.json_documents import check_manifest, parse_json
from discreet.model.published_cells import LabelForm
from discreet.model.release_address import MANIFEST_TABLE, ReleaseAddress
from discreet.model.release_kind import CLASS_RELEASE, PermutedRelease, ReleaseKind, refuse_private_release
from discreet.model.search_result import SuppressionPolicy
from discreet.places.file_access import read_text
from discreet.release.release_target import MANIFEST_SUFFIX, build_manifest_path

MANIFEST_VERSION = 1


@dataclass(frozen=True)
class ManifestAttribute:
    """Column of a release: name, role, and for a quasi-identifier its hierarchy and level, if it has one.

    ``height``, and a ``level`` above 0, are None where the number of levels came from the data; ``level`` is
    also None where classes have no common level. ``hierarchy_sha256`` is None where the hierarchy, or its
    leaves, came from the data. ``written`` is the format of the source's cells, where the spec declares it,
    and ``label_form`` the form of labels that a rule builds. ``way`` is the pseudonymization of a published
    identifier, ``shift`` the largest shift of dates; neither contains a secret. ``subject`` is true if the
    column contains a pseudonym of the subject, by which an audit counts.
    """

    name: str
    role: str
    published: bool
    level: int | None = None
    height: int | None = None
    hierarchy_from_data: bool | None = None
    hierarchy_sha256: str | None = None
    format: Mapping[str, Any] | None = None
    pseudonymization: Mapping[str, Any] | None = None
    date_shift: Mapping[str, Any] | None = None
    subject: bool = False
    label_form: LabelForm | None = None

    @property
    def level_text(self) -> str:
        """Level as text, as far as it is public: ``1 of 3``, ``1``, or ``above 0``."""
        if self.level is None:
            return "above 0"
        return f"{self.level}" if self.height is None else f"{self.level} of {self.height}"

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the manifest's ``attributes``."""
        entry: dict[str, Any] = {"name": self.name, "role": self.role, "published": self.published}
        if self.level is not None:
            entry["level"] = self.level
        if self.height is not None:
            entry["height"] = self.height
        if self.hierarchy_from_data is not None:
            entry["hierarchy"] = {"from_data": self.hierarchy_from_data, "sha256": self.hierarchy_sha256}
            if self.label_form is not None:
                entry["hierarchy"]["labels"] = self.label_form.as_json()
        if self.format is not None:
            entry["format"] = dict(self.format)
        if self.pseudonymization is not None:
            entry["identifier"] = dict(self.pseudonymization)
        if self.date_shift is not None:
            entry["date_shift"] = dict(self.date_shift)
        if self.subject:
            entry["subject"] = True
        return entry


@dataclass(frozen=True)
class Manifest:
    """Content of a manifest.

    - ``file``: name of the data's file or folder; None for the ``table`` of a database.
    - ``sha256``: digest of the file, of a folder's files (``engines.files.parquet_files``), or of a table's
      rows whatever their order (``sql.row_hashes``).
    - ``rows_are_people``: the publisher declared each row to be a person, although values of an identifier
      repeat.
    - ``date``: a day, ``YYYY-MM-DD`` in UTC.
    - ``counted``: the unit of k and l, ``rows`` or ``subjects``.
    - ``rows``: number of the data's rows, including starred ones; ``dropped``: rows that the NULL policy
      dropped; ``set_apart``: rows without any quasi-identifier (decision 0016).
    - ``requirement``: document of ``Requirement.as_json`` as it was read; a criterion of another package may
      not be installed.
    - ``audit``: ``passed, rows, classes, k, l, starred``, and ``criteria`` where others were required.
    - ``model``: name of the recoding model; ``summary``: how classes are shown, where that was chosen.
    - ``patterns``: ``pattern, classes, rows`` of each used pattern, where patterns guided the recoding; a
      pattern has one sign per quasi-identifier in the spec's order.
    - ``permutation``: groups and further files of a permuted release.
    - ``population``: number of people in the table's population, if there is one; the manifest contains none
      of its cells.
    - ``input_version``: version that was read of a table with a log.
    - ``after``: digests of earlier releases together with which k and l hold, too.
    """

    discreet: str
    date: str
    file: str | None
    file_format: str
    sha256: str
    rows: int
    attributes: tuple[ManifestAttribute, ...]
    requirement: Mapping[str, Any]
    counted: str
    null_policy: str
    dropped: int
    suppression: str
    suppressed: int
    audit: Mapping[str, Any]
    warnings: tuple[CodedWarning, ...]
    model: str = str(RecodingModel.FULL_DOMAIN)
    summary: str | None = None
    patterns: tuple[Mapping[str, Any], ...] = ()
    permutation: PermutedRelease | None = None
    table: str | None = None
    population: int | None = None
    input_version: int | None = None
    previous_releases: tuple[str, ...] = ()
    rows_are_people: bool = False
    set_apart: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the manifest as its JSON document."""
        guided = {"patterns": [dict(used) for used in self.patterns]} if self.patterns else {}
        stored = {} if self.table is None else {"table": self.table}
        population = {} if self.population is None else {"population": {"people": self.population}}
        return {
            "manifest": MANIFEST_VERSION,
            "discreet": self.discreet,
            "date": self.date,
            "data": {
                "file": self.file,
                **stored,
                "format": self.file_format,
                "sha256": self.sha256,
                "rows": self.rows,
            },
            "attributes": [attribute.as_json() for attribute in self.attributes],
            "recoding": {"model": self.model, "summary": self.summary, **guided},
            **self.kind.part(),
            "requirement": dict(self.requirement),
            "counted": self.counted,
            **({"rows_are_people": True} if self.rows_are_people else {}),
            "nulls": {
                "policy": self.null_policy,
                "dropped_rows": self.dropped,
                **({"set_apart_rows": self.set_apart} if self.set_apart else {}),
            },
            "suppression": {"policy": self.suppression, "rows": self.suppressed},
            **population,
            **({} if self.input_version is None else {"input": {"version": self.input_version}}),
            **({"previous_releases": list(self.previous_releases)} if self.previous_releases else {}),
            "audit": dict(self.audit),
            "warnings": [{"code": warning.code, "text": str(warning)} for warning in self.warnings],
            "statement": self.kind.statement,
        }

    def text(self) -> str:
        """Return the file's text: indented JSON in UTF-8 that ends with a newline."""
        return json.dumps(self.as_json(), indent=2, ensure_ascii=False) + "\n"

    @property
    def name(self) -> str:
        """Name of the release: its file, folder or table."""
        return str(self.table) if self.file is None else self.file

    @property
    def k(self) -> int | None:
        """Required k."""
        result: int | None = self.requirement["k"]
        return result

    @property
    def l(self) -> int | Mapping[str, int] | None:  # noqa: E743 - the field's letter
        """Required l, of every sensitive attribute or by attribute."""
        result: int | Mapping[str, int] | None = self.requirement["l"]
        return result

    @property
    def kind(self) -> ReleaseKind:
        """Kind of the release, which defines the counted units and the statement to readers."""
        return self.permutation or CLASS_RELEASE

    @property
    def stars_rows(self) -> bool:
        """True if suppressed rows are starred; otherwise a row of stars is an ordinary row."""
        return self.suppression == SuppressionPolicy.STAR

    @property
    def has_levels(self) -> bool:
        """True if each quasi-identifier has one level in all classes, reported or not."""
        return self.kind.has_levels or self.model == RecodingModel.FULL_DOMAIN

    @property
    def reports_heights(self) -> bool:
        """True if no quasi-identifier's number of levels came from the data."""
        return all(a.height is not None for a in self.attributes if a.hierarchy_from_data is not None)

    @property
    def levels(self) -> dict[str, int]:
        """Level of each quasi-identifier with one public level in all classes."""
        return {a.name: a.level for a in self.attributes if a.level is not None}


def read_manifest(address: Path | ReleaseAddress, engine: Engine | None = None) -> Manifest:
    """Read the manifest of a release, from the release's address or the manifest's own path.

    ``engine`` reads a release in a database. Raise ``InputError`` where the manifest is missing, unreadable,
    of a later version, or not one of discreet.
    """
    release_address = ReleaseAddress.of(address)
    if release_address.path is None:
        label = f"the manifest of {release_address.label}"
        return _read(label, lambda: _read_table_text(release_address, engine))
    path = release_address.path
    manifest = path if path.name.endswith(MANIFEST_SUFFIX) else build_manifest_path(path)
    return _read(str(manifest), lambda: read_text(manifest, str(manifest)))


def parse_manifest(text: str, address: ReleaseAddress) -> Manifest:
    """Parse a manifest's text; raise ``InputError`` as in ``read_manifest``, naming the release."""
    return _read(f"the manifest of {address.label}", lambda: text)


def read_manifest_text(address: ReleaseAddress, engine: Engine) -> str:
    """Read the manifest's text of a release in a database; raise ``InputError`` where there is none."""
    return _read_table_text(address, engine)


def has_manifest(address: Path | ReleaseAddress, engine: Engine | None = None) -> bool:
    """Return true if a release has a manifest."""
    release_address = ReleaseAddress.of(address)
    if release_address.path is not None:
        return build_manifest_path(release_address.path).exists()
    return engine is not None and _exists(engine, release_address)


def _exists(engine: Engine, address: ReleaseAddress) -> bool:
    return read_text_table(engine, address.companion(MANIFEST_TABLE).source(), address.source()) is not None


def _read_table_text(address: ReleaseAddress, engine: Engine | None) -> str:
    """Read the text of the manifest's companion table."""
    table = address.companion(MANIFEST_TABLE)
    result = None if engine is None else read_text_table(engine, table.source(), address.source())
    if result is None:
        raise InputError(
            f"{address.label} has no manifest",
            advice=f"The manifest is in {table.label}, which you must be allowed to read; use audit for "
            "other tables.",
        )
    return result


def _read(manifest: str, read: Callable[[], str]) -> Manifest:
    try:
        document = parse_json(read())
        refuse_private_release(document, manifest)
        check_manifest(document)
        if document["manifest"] != MANIFEST_VERSION:
            raise InputError(
                f"{manifest} is a manifest of version {document['manifest']}",
                allowed=f"version {MANIFEST_VERSION}",
                advice="Read it with the version of discreet that wrote it.",
            )
        return _manifest_of_document(document)
    except FileNotFoundError:
        raise InputError(
            f"{manifest} does not exist",
            advice="A release has its manifest next to it; use audit for other files.",
        ) from None
    except OSError as error:
        raise InputError(f"{manifest} cannot be read: {error.strerror}") from None
    except KeyError as error:
        raise InputError(f"{manifest} is not a discreet manifest: {error} is missing") from None
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{manifest} is not a discreet manifest: {error}") from None


def _manifest_of_document(document: Mapping[str, Any]) -> Manifest:
    data, audit = document["data"], document["audit"]
    recoding, permuted = document.get("recoding", {}), document.get("permutation")
    return Manifest(
        discreet=document["discreet"],
        date=document["date"],
        file=data["file"],
        file_format=data["format"],
        sha256=data["sha256"],
        rows=data["rows"],
        attributes=tuple(_parse_attribute(entry) for entry in document["attributes"]),
        requirement=_require_k_and_l(document["requirement"]),
        counted=document["counted"],
        null_policy=document["nulls"]["policy"],
        dropped=document["nulls"]["dropped_rows"],
        set_apart=document["nulls"].get("set_apart_rows", 0),
        suppression=document["suppression"]["policy"],
        suppressed=document["suppression"]["rows"],
        audit=_require_keys(audit, "passed", "rows", "classes", "k", "l", "starred"),
        warnings=tuple(CodedWarning(entry["code"], entry["text"]) for entry in document["warnings"]),
        model=recoding.get("model", RecodingModel.FULL_DOMAIN),
        summary=recoding.get("summary"),
        patterns=tuple(
            _require_keys(used, "pattern", "classes", "rows") for used in recoding.get("patterns", ())
        ),
        table=data.get("table"),
        permutation=None if permuted is None else PermutedRelease.of_json(permuted),
        population=None if "population" not in document else document["population"]["people"],
        input_version=document["input"]["version"] if "input" in document else None,
        previous_releases=tuple(map(str, document.get("previous_releases", ()))),
        rows_are_people=document.get("rows_are_people") is True,
    )


def _require_keys(entry: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a copy of an entry; raise ``KeyError`` where a key that every reader needs is missing."""
    return {key: entry[key] for key in keys} | dict(entry)


def _require_k_and_l(requirement: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a copy of a requirement; raise ``KeyError`` without k or l."""
    return {"k": requirement["k"], "l": requirement["l"], **requirement}


def _parse_attribute(entry: Mapping[str, Any]) -> ManifestAttribute:
    hierarchy = entry.get("hierarchy", {})
    labels = hierarchy.get("labels")
    return ManifestAttribute(
        name=entry["name"],
        role=entry["role"],
        published=entry["published"],
        level=entry.get("level"),
        height=entry.get("height"),
        hierarchy_from_data=hierarchy.get("from_data"),
        hierarchy_sha256=hierarchy.get("sha256"),
        format=entry.get("format"),
        pseudonymization=entry.get("identifier"),
        date_shift=entry.get("date_shift"),
        subject=entry.get("subject", False),
        label_form=None if labels is None else LabelForm.of_json(labels),
    )
