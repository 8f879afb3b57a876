"""Release of several related tables: key checks, owners of rows, joint manifest and output folder.

Keys are compared as texts. Problems are reported by table, column and number of rows, never by key, which is
an identifier. The joint manifest describes the references between tables and the number of people who look
alike in all of them.
"""

from __future__ import annotations

import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.audit.related_tables import ReleasedRelation, ReleasedTables
from discreet.engines.base import Engine
from discreet.engines.process_resources import TemporaryFolder
from discreet.engines.source_query import check_cell_formats
from discreet.engines.source_tables import open_unmodified_table
from discreet.errors import InputError
from discreet.model.json_documents import parse_json, program_version
from discreet.model.relational_schema import (
    TABLES_MANIFEST_NAME,
    JointAnonymity,
    OrphanPolicy,
    RelatedTable,
    RelationalSpec,
)
from discreet.model.table_spec import Link
from discreet.places.file_access import read_text
from discreet.places.protected_files import ProtectedFile, TargetFile, check_outputs
from discreet.release.release_target import (
    build_manifest_path,
    hold_folder_lock,
    list_protected_files,
    sync_folder,
    translate_write_errors,
)
from discreet.settings import Settings


@dataclass(frozen=True)
class KeyRows:
    """Distinct combinations of a table's key columns, with their number of rows."""

    columns: tuple[str, ...]
    lines: tuple[tuple[tuple[str | None, ...], int], ...]

    @property
    def rows(self) -> int:
        """Number of rows of the table."""
        return sum(number for _, number in self.lines)


@dataclass(frozen=True)
class RowOwners:
    """Owners (people) of a table's rows.

    ``owner`` maps each key of the table's rows to a person; a table without a key uses the keys of its parent
    rows. ``parents`` maps each key to the parent row's key. ``rows`` counts the rows per key that belong to a
    person, ``dropped`` the rows that were omitted.
    """

    owner: Mapping[str, str]
    parents: Mapping[str, str]
    rows: Mapping[str, int]
    dropped: int = 0


def read_key_rows(engine: Engine, spec: RelationalSpec, table: RelatedTable) -> KeyRows:
    """Read the key columns of a table's source in one scan; raise ``InputError`` for a missing column.

    Cost: the distinct combinations of its keys, in this process's memory.
    """
    columns = tuple(dict.fromkeys((*([table.key] if table.key else []), *table.references)))
    subject = spec.subject_column(table)
    with open_unmodified_table(engine, table.spec.source) as source:
        if subject not in columns and subject in source.columns:
            raise InputError(
                f"{table.name}: the column '{subject}' has the name of the key of {spec.subjects}, and "
                "references nothing",
                advice=f'Add it to the references of [tables.{table.name}]: {subject} = "{spec.subjects}".',
            )
        source.check_flat(columns)
        check_cell_formats(engine, source, table.spec.source)
        texts = [source.text(name) for name in columns]
        names = [f"k{index}" for index in range(len(columns))]
        selected = ", ".join(f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
        listed = ", ".join(names)
        rows = engine.fetch_rows(
            f"SELECT {listed}, count(*) AS n FROM (SELECT {selected} FROM {source.relation}) AS keyed "
            f"GROUP BY {listed}"
        )
        result = KeyRows(
            columns,
            tuple((tuple(None if c is None else str(c) for c in row[:-1]), int(row[-1])) for row in rows),
        )
        engine.confirm_rows(source, result.rows)
    return result


def assign_owners(spec: RelationalSpec, read: Mapping[str, KeyRows]) -> dict[str, RowOwners]:
    """Assign every row to its person, table by table, parents first; raise ``InputError`` for bad keys."""
    result: dict[str, RowOwners] = {}
    for table in spec.tables:
        _check_unique(table, read[table.name])
        result[table.name] = _assign_table_owners(spec, table, read[table.name], result)
    return result


def build_link(spec: RelationalSpec, table: RelatedTable, people_by_key: Mapping[str, str]) -> Link:
    """Build the link that selects a table's rows: ``people_by_key`` maps keys of the parent rows to their
    people.

    For the subjects' table these are its own keys.
    """
    column = spec.under(table) or spec.subject_key
    keys = tuple(people_by_key)
    subject = spec.subject_column(table)
    if table.name == spec.subjects or subject in table.references:
        return Link(column, keys)
    return Link(column, keys, subject, tuple(people_by_key[key] for key in keys))


def _check_unique(table: RelatedTable, read: KeyRows) -> None:
    if table.key is None:
        return
    index = read.columns.index(table.key)
    numbers: Counter[str | None] = Counter()
    for cells, rows in read.lines:
        numbers[cells[index]] += rows
    empty = numbers.pop(None, 0)
    if empty:
        raise InputError(
            f"{table.name}: the key '{table.key}' is NULL in {empty:,} of {read.rows:,} rows",
            allowed="a value in each row",
            advice="Fill it in the source, or name another key.",
        )
    twice = [number for number in numbers.values() if number > 1]
    if twice:
        raise InputError(
            f"{table.name}: {sum(twice):,} rows share {len(twice):,} of the values of the key '{table.key}'",
            allowed="a key with a distinct value in each row",
            advice="Name another key, or remove the duplicates.",
        )


def _assign_table_owners(
    spec: RelationalSpec, table: RelatedTable, read: KeyRows, above: Mapping[str, RowOwners]
) -> RowOwners:
    places = {name: index for index, name in enumerate(read.columns)}
    column = spec.under(table)
    if column is None:
        keys = [str(cells[places[spec.subject_key]]) for cells, _ in read.lines]
        return RowOwners({key: key for key in keys}, {}, dict.fromkeys(keys, 1))
    parents = above[table.references[column]].owner
    subject = next((c for c, other in table.references.items() if other == spec.subjects), None)
    owner: dict[str, str] = {}
    parent_of: dict[str, str] = {}
    rows: Counter[str] = Counter()
    strange: list[tuple[str | None, int]] = []
    elsewhere = 0
    for cells, number in read.lines:
        parent = cells[places[column]]
        person = None if parent is None else parents.get(parent)
        if parent is None or person is None:
            strange.append((parent, number))
            continue
        if subject is not None and cells[places[subject]] != person:
            elsewhere += number
            continue
        key = parent if table.key is None else str(cells[places[table.key]])
        owner[key], parent_of[key] = person, parent
        rows[key] += number
    if elsewhere:
        raise InputError(
            f"{table.name}: in {elsewhere:,} of {read.rows:,} rows '{subject}' differs from the person of "
            f"the row that '{column}' references",
            allowed=f"rows whose '{subject}' is that of their row of {table.references[column]}",
            advice=f"Correct the source; or remove '{subject}' from the references, if the other one is "
            "right.",
        )
    if strange and table.orphans is OrphanPolicy.REFUSE:
        raise _orphan_error(table, column, strange, read.rows, parents)
    return RowOwners(owner, parent_of, rows, sum(number for _, number in strange))


def _orphan_error(
    table: RelatedTable,
    column: str,
    strange: Sequence[tuple[str | None, int]],
    rows: int,
    parents: Mapping[str, str],
) -> InputError:
    """Return the error for foreign keys that name no row, with possible corrections."""
    other = table.references[column]
    drop = f'or leave such rows out: orphans = "drop" in [tables.{table.name}].'
    empty = sum(number for text, number in strange if text is None)
    if empty:
        return InputError(
            f"{table.name}: '{column}' is NULL in {empty:,} of {rows:,} rows, which have no person",
            allowed=f"a key of {other} in each row",
            advice=f"Fill it in the source, {drop}",
        )
    fact = (
        f"{table.name}: '{column}' names no row of {other} in {sum(n for _, n in strange):,} of {rows:,} rows"
    )
    for words, form in _NORMALIZATIONS.items():
        known = {form(text) for text in parents}
        alike = sum(number for text, number in strange if text is not None and form(text) in known)
        if alike:
            return InputError(
                f"{fact}; in {alike:,} of them it would but for {words}",
                allowed="keys that are written identically, character by character",
                advice=f"Write them identically in both tables, {drop}",
            )
    return InputError(
        fact, allowed=f"keys of {other}", advice=f"Add the rows that are missing in {other}, {drop}"
    )


def _normalize_key(text: str) -> str:
    """Return a key without additions by other programs: blanks, leading zeros, and a trailing ``.0``."""
    bare = text.strip()
    head, dot, tail = bare.partition(".")
    if dot and head.isdigit() and not tail.strip("0"):
        bare = head
    return (bare.lstrip("0") or "0").casefold()


_NORMALIZATIONS: Mapping[str, Callable[[str], str]] = {
    "blanks around it": str.strip,
    "zeros before it": lambda text: text.lstrip("0") or "0",
    "'.0' behind it": lambda text: text.removesuffix(".0"),
    "capital letters": str.casefold,
    "blanks, zeros, '.0' or capital letters": _normalize_key,
}


TABLES_MANIFEST_VERSION = 1


def list_released_tables(spec: RelationalSpec, folder: Path) -> ReleasedTables:
    """List the tables of a spec as files of a folder."""
    return ReleasedTables(
        tuple(
            ReleasedRelation(
                table.name,
                folder / table_file_name(spec, table.name),
                table.key,
                table.references,
                spec.subject_column(table),
                tuple(attribute.name for attribute in table.spec.quasi_identifiers),
            )
            for table in spec.tables
        ),
        spec.subjects,
        spec.joint_k,
    )


def table_file_name(spec: RelationalSpec, name: str) -> str:
    """Return the file name of a table."""
    return f"{name}.{spec.file_format}"


def build_tables_manifest(
    spec: RelationalSpec, counts: Mapping[str, Mapping[str, Any]], joint: JointAnonymity
) -> str:
    """Build the joint manifest; ``counts`` contains rows and digests by table."""
    document = {
        "manifest": TABLES_MANIFEST_VERSION,
        "discreet": program_version(),
        "date": datetime.now(UTC).date().isoformat(),
        "subjects": spec.subjects,
        "tables": [
            {
                "name": table.name,
                "file": table_file_name(spec, table.name),
                "key": table.key,
                "references": dict(table.references),
                "subject": spec.subject_column(table),
                "quasi_identifiers": [attribute.name for attribute in table.spec.quasi_identifiers],
                **counts[table.name],
            }
            for table in spec.tables
        ],
        "joint_anonymity": joint.as_json(spec.joint_k),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


@contextmanager
def stage_folder(
    output: Path, spec: RelationalSpec, settings: Settings, *, overwrite: bool
) -> Iterator[Path]:
    """Create an owner-only folder that becomes ``output`` when the context ends without an error.

    Raise ``InputError`` where it may not be written: for an existing path, unless it is a release of several
    tables to be overwritten, and for a folder that contains one of the publisher's files.
    """
    protected = [file for table in spec.tables for file in list_protected_files(table.spec, settings)]
    if spec.path is not None:
        protected.append(ProtectedFile("the relational spec", spec.path))
    check_outputs([TargetFile("a release", output)], list(dict.fromkeys(protected)))
    _check_folder(output, overwrite=overwrite)
    with translate_write_errors(output.parent), TemporaryFolder(str(output.parent)) as temporary:
        made = temporary / "release"
        made.mkdir(mode=0o700)
        yield made
        sync_folder(made)
        # Swap under the lock: move the old folder away, rename the new one, and move the old one back on
        # failure.
        with hold_folder_lock(output.parent):
            _check_folder(output, overwrite=overwrite)
            old = temporary / f"old-{secrets.token_hex(4)}"
            if output.exists():
                output.replace(old)
            try:
                made.replace(output)
            except BaseException:
                if old.exists():
                    old.replace(output)
                raise
            sync_folder(output.parent)


def _check_folder(output: Path, *, overwrite: bool) -> None:
    if not output.parent.is_dir():
        raise InputError(f"the output folder {output.parent} does not exist", advice="Create it first.")
    if not os.path.lexists(output):
        return
    if not overwrite:
        raise InputError(f"{output} exists", advice="Choose another path, or overwrite it (--overwrite).")
    strange = _find_foreign_entry(output)
    if strange:
        raise InputError(
            f"{output} contains {strange}, which is not part of a release of several tables",
            allowed="a new path, or a folder with only such a release",
            advice="Move it away, or choose another path.",
        )


def _find_foreign_entry(output: Path) -> str | None:
    """Return an entry of a folder that is no part of a release of several tables; None without one."""
    if not output.is_dir() or output.is_symlink():
        return "no folder"
    try:
        document = parse_json(read_text(output / TABLES_MANIFEST_NAME, "the manifest"))
        files = {str(entry["file"]) for entry in document["tables"]}
    except (OSError, ValueError, KeyError, TypeError):
        return f"no {TABLES_MANIFEST_NAME}"
    own = {TABLES_MANIFEST_NAME, *files, *(build_manifest_path(Path(name)).name for name in files)}
    return next((f"'{path.name}'" for path in sorted(output.iterdir()) if path.name not in own), None)
