"""The manifest of several tables that are released together, and the folder that they become.

Each table has a manifest of its own beside it. That of the whole says how the tables belong together, what
was left out with its person, and how many people look alike in all of them: numbers and names, no key.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.audit.related_tables import ReleasedRelation, ReleasedTables
from discreet.engines.temporary_folder import TemporaryFolder
from discreet.errors import InputError
from discreet.model.json_text import json_of
from discreet.model.own_version import own_version
from discreet.model.relations import MANIFEST_NAME, RelationalSpec, Together
from discreet.places.kept_files import KeptFile, TargetFile, check_apart
from discreet.places.regular_file import read_text
from discreet.release.kept_files import kept_files
from discreet.release.target import manifest_path_of, writing
from discreet.release.temporary import folder_lock, sync_folder
from discreet.settings import Settings

VERSION = 1


def released_tables(spec: RelationalSpec, folder: Path) -> ReleasedTables:
    """The tables of a spec as they lie in a folder."""
    return ReleasedTables(
        tuple(
            ReleasedRelation(
                table.name,
                folder / file_name(spec, table.name),
                table.key,
                table.references,
                spec.subject_column(table),
                tuple(attribute.name for attribute in table.spec.quasi_identifiers),
            )
            for table in spec.tables
        ),
        spec.subjects,
        spec.together,
    )


def file_name(spec: RelationalSpec, name: str) -> str:
    """The file of a table."""
    return f"{name}.{spec.file_format}"


def manifest_text(spec: RelationalSpec, counts: Mapping[str, Mapping[str, Any]], found: Together) -> str:
    """The manifest of the whole; ``counts`` has rows and digests by table."""
    document = {
        "manifest": VERSION,
        "discreet": own_version(),
        "date": datetime.now(UTC).date().isoformat(),
        "subjects": spec.subjects,
        "tables": [
            {
                "name": table.name,
                "file": file_name(spec, table.name),
                "key": table.key,
                "references": dict(table.references),
                "subject": spec.subject_column(table),
                "quasi_identifiers": [attribute.name for attribute in table.spec.quasi_identifiers],
                **counts[table.name],
            }
            for table in spec.tables
        ],
        "together": found.as_json(spec.together),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


@contextmanager
def staged(output: Path, spec: RelationalSpec, settings: Settings, *, overwrite: bool) -> Iterator[Path]:
    """A folder that nobody else can enter, which becomes ``output`` when the context ends without an error.

    ``InputError`` where that may not be written: a path that is there, unless it is a release of several
    tables that is to be overwritten, and a folder that holds a file of the publisher's.
    """
    kept = [file for table in spec.tables for file in kept_files(table.spec, settings)]
    if spec.path is not None:
        kept.append(KeptFile("the relational spec", spec.path))
    check_apart([TargetFile("a release", output)], list(dict.fromkeys(kept)))
    _check_target(output, overwrite=overwrite)
    with writing(output.parent), TemporaryFolder(str(output.parent)) as beside:
        made = beside / "release"
        made.mkdir(mode=0o700)
        yield made
        sync_folder(made)
        with folder_lock(output.parent):
            _check_target(output, overwrite=overwrite)
            old = beside / f"old-{secrets.token_hex(4)}"
            if output.exists():
                output.replace(old)
            try:
                made.replace(output)
            except BaseException:
                if old.exists():
                    old.replace(output)
                raise
            sync_folder(output.parent)


def _check_target(output: Path, *, overwrite: bool) -> None:
    if not output.parent.is_dir():
        raise InputError(f"the output folder {output.parent} does not exist", advice="Create it first.")
    if not os.path.lexists(output):
        return
    if not overwrite:
        raise InputError(
            f"{output} exists", advice="Choose another path, or ask for it to be overwritten (--overwrite)."
        )
    strange = _strange(output)
    if strange:
        raise InputError(
            f"{output} holds {strange}, which is not of a release of several tables",
            allowed="nothing there, or such a release alone",
            advice="Move it away, or choose another path.",
        )


def _strange(output: Path) -> str | None:
    """What in a folder is not of a release of several tables; None where there is nothing else."""
    if not output.is_dir() or output.is_symlink():
        return "no folder"
    try:
        document = json_of(read_text(output / MANIFEST_NAME, "the manifest"))
        files = {str(entry["file"]) for entry in document["tables"]}
    except (OSError, ValueError, KeyError, TypeError):
        return f"no {MANIFEST_NAME}"
    own = {MANIFEST_NAME, *files, *(manifest_path_of(Path(name)).name for name in files)}
    return next((f"'{path.name}'" for path in sorted(output.iterdir()) if path.name not in own), None)
