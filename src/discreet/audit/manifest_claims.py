"""Parts of a manifest that an audit reads without the rows: the requirement, and the release's digest.

Manifests are read as plain JSON, by code that shares nothing with their writer. A requirement is judged as a
whole: a criterion that is not installed is an error. The module stays below 100 lines because ``negotiate``
and ``compare`` load it without the audit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.engines.base import Engine
from discreet.engines.files.parquet_files import folder_digest
from discreet.engines.source_tables import table_digest
from discreet.errors import InputError
from discreet.model.criteria.registry import CRITERIA, KEYWORD_CRITERIA, criteria_from
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement


def compute_digest(engine: Engine, address: ReleaseAddress, first: Sequence[str] = ()) -> str:
    """Compute the SHA-256 of a release; raise ``InputError`` where it cannot be read.

    Rows of a table that are sorted by the columns ``first`` are sorted faster.
    """
    path = address.path
    if path is None:
        return table_digest(engine, address.source(), first)
    if path.is_dir():
        return folder_digest(path)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def read_requirement(document: Mapping[str, Any]) -> Requirement:
    """Read the requirement in a manifest; raise ``KeyError`` or ``TypeError`` without k or l.

    Raise ``InputError`` for an unknown criterion of this installation, and for a value that is not allowed.
    """
    recorded = document["requirement"]
    always = {name: recorded[name] for name in KEYWORD_CRITERIA}
    every = (always | recorded).items()
    required = {name: value for name, value in every if name not in always or value is not None}
    unknown = [name for name in required if name not in CRITERIA]
    if unknown:
        writer = document.get("discreet", "unknown")
        raise InputError(
            f"'{unknown[0]}' is not a criterion of this installation",
            allowed=", ".join(CRITERIA.names()),
            advice=f"Install the package that provides '{unknown[0]}' (discreet {writer} wrote the "
            "manifest). Without it the requirement cannot be checked.",
        )
    return Requirement(criteria=criteria_from(required))
