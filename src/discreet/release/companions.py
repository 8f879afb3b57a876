"""The files beside a release's data that belong to it: help tables, and tables of sensitive values.

A file is a release's own where the manifest names it and its digest is the manifest's; a file that only has
the name is somebody else's, and is left alone.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from discreet.engines.files.folder import folder_digest
from discreet.errors import DiscreetError
from discreet.places.regular_file import read_text
from discreet.release.target import Target


def listed_companions(target: Target) -> tuple[Path, ...]:
    """The files beside the data of the release whose manifest lies at a target; none where there is none."""
    try:
        document = json.loads(read_text(target.manifest_path, str(target.manifest_path)))
        entries = [(entry["file"], entry["sha256"]) for entry in document["permutation"]["files"].values()]
    except (DiscreetError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()
    return tuple(
        target.folder / name
        for name, sha256 in entries
        if isinstance(name, str) and _is_own(target, name, sha256)
    )


def _is_own(target: Target, name: str, sha256: object) -> bool:
    path = target.folder / name
    if not name or Path(name).name != name or name == target.path.name:
        return False
    if path.is_dir():
        return target.is_folder and folder_digest(path) == sha256
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False
