"""Lock file: the decision behind a release, to be applied again to next month's data.

It contains the request, the level of each quasi-identifier, the spec's declarations of each column, and
digests of hierarchies that existed before the data; no value, no count and no path.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.model.hierarchy import GeneralizationHierarchy, HierarchySource, PublicPart
from discreet.model.json_documents import parse_json
from discreet.model.table_spec import AttributeRole, TableSpec
from discreet.release.publication_evidence import build_manifest_attributes, find_public_part

LOCK_VERSION = 1
TOP_LEVEL = "top"
LOCK_MODEL = "full-domain"
_MAX_BYTES = 4 * 2**20


@dataclass(frozen=True)
class Lock:
    """Full-domain decision; ``requirement`` is the document of ``Requirement.as_json``.

    ``levels`` are numbers, or ``top`` where the number of levels comes from the data. ``columns`` are the
    spec's declarations of each attribute, ``reading`` those of the rows.
    """

    requirement: Mapping[str, Any]
    max_suppressed: str
    suppressed_rows: str
    row_order: str
    levels: Mapping[str, int | str]
    columns: Mapping[str, Mapping[str, Any]]
    reading: Mapping[str, Any]
    program: str

    @property
    def spec_digest(self) -> str:
        """SHA-256 of the spec's declarations of columns and rows."""
        document = json.dumps([self.columns, self.reading], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(document.encode()).hexdigest()

    def text(self) -> str:
        """Return the file's text, which is a function of the decision."""
        document = {
            "lock": LOCK_VERSION,
            "discreet": self.program,
            "model": LOCK_MODEL,
            "requirement": dict(self.requirement),
            "max_suppressed": self.max_suppressed,
            "suppressed_rows": self.suppressed_rows,
            "row_order": self.row_order,
            "levels": dict(self.levels),
            "spec": {"sha256": self.spec_digest, "columns": dict(self.columns), "rows": dict(self.reading)},
        }
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def differences(self, other: Lock) -> list[str]:
        """Describe the differences to the spec of ``other``, by columns and keys, without values."""
        names = [*self.columns, *(name for name in other.columns if name not in self.columns)]
        found = [
            _describe_difference(name, self.columns.get(name), other.columns.get(name)) for name in names
        ]
        if list(self.columns) != list(other.columns) and not any(found):
            found.append("the order of the columns")
        keys = sorted({*self.reading, *other.reading})
        found += [f"'{key}' of [source]" for key in keys if self.reading.get(key) != other.reading.get(key)]
        return [difference for difference in found if difference]


def _describe_difference(name: str, then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> str:
    if then is None or now is None:
        return f"'{name}' is {'new' if then is None else 'no longer there'}"
    keys = sorted(key for key in {*then, *now} if then.get(key) != now.get(key))
    return f"the {' and '.join(keys)} of '{name}'" if keys else ""


def describe_columns(spec: TableSpec, built: Sequence[GeneralizationHierarchy]) -> dict[str, dict[str, Any]]:
    """Describe each attribute as a manifest does, with a digest of the rule of a rule-based hierarchy."""
    roles = {
        a.name: a.role
        for a in spec.attributes
        if a.role is not AttributeRole.IDENTIFIER or a.pseudonymization
    }
    sources = {a.name: a.hierarchy for a in spec.attributes}
    result = {}
    for entry in build_manifest_attributes(spec, built, {}, roles):
        entry_json = entry.as_json()
        name = entry_json.pop("name")
        if entry.hierarchy_from_data is not None:
            entry_json["rule"] = _rule_digest(sources.get(name))
        result[name] = entry_json
    return result


def _rule_digest(source: HierarchySource | None) -> str | None:
    """Return a digest of a hierarchy's construction; None if it is given in full or has no stable repr."""
    description = repr(source)
    if source is None or find_public_part(source) is PublicPart.HIERARCHY or " at 0x" in description:
        return None
    return hashlib.sha256(description.encode()).hexdigest()


def describe_reading(spec: TableSpec) -> dict[str, Any]:
    """Describe the spec's reading of rows, without the values of a subset and the texts for NULL."""
    source = spec.source
    return {
        "null_policy": str(source.null_policy),
        "unlisted_columns": str(source.unlisted_columns),
        "subject": source.subject,
        "subset": None if source.subset is None else source.subset.column,
    }


def read_lock(path: Path) -> Lock:
    """Read the lock in a file; raise ``InputError`` for another file or another version."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} is too large for a lock")
        document = parse_json(path.read_text(encoding="utf-8"))
        if document["lock"] != LOCK_VERSION or document["model"] != LOCK_MODEL:
            raise InputError(
                f"{path} is a lock of another version or model", allowed=f"{LOCK_VERSION}, {LOCK_MODEL}"
            )
        lock = Lock(
            requirement=document["requirement"],
            max_suppressed=str(document["max_suppressed"]),
            suppressed_rows=document["suppressed_rows"],
            row_order=document["row_order"],
            levels=_check_levels(document["levels"]),
            columns=document["spec"]["columns"],
            reading=document["spec"]["rows"],
            program=document["discreet"],
        )
        if lock.spec_digest != document["spec"]["sha256"]:
            raise InputError(f"{path}: its columns were changed by hand", advice="Decide anew.")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {(error.strerror or 'no file').lower()}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a lock", advice="Name a file that publish --lock wrote.") from error
    return lock


def _check_levels(levels: Mapping[str, Any]) -> dict[str, int | str]:
    """Return the levels; raise ``ValueError`` for an invalid one."""
    for level in levels.values():
        if level != TOP_LEVEL and (type(level) is not int or level < 0):
            raise ValueError(level)
    return dict(levels)
