"""Joint audit of several released tables: foreign keys, and the number of people alike in all tables.

A person's view consists of the quasi-identifiers of the person's row and of all rows below it in other
tables. Cost: one sort of each table's rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.audit.release_audit import own_release_source
from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables, open_source_table
from discreet.errors import InputError
from discreet.model.json_documents import parse_json
from discreet.model.relational_schema import TABLES_MANIFEST_NAME, JointAnonymity, parent_column
from discreet.model.release_address import ReleaseAddress
from discreet.places.file_access import read_text
from discreet.sql import audit_criteria as sql


@dataclass(frozen=True)
class ReleasedRelation:
    """Released table: its file, its keys by column, and its quasi-identifiers."""

    name: str
    path: Path
    key: str | None
    references: Mapping[str, str]
    subject: str
    quasi_identifiers: tuple[str, ...]


@dataclass(frozen=True)
class ReleasedTables:
    """Tables of a release, each after the tables that it references."""

    tables: tuple[ReleasedRelation, ...]
    subjects: str
    joint_k: int | None = None


def count_views(engine: Engine, release: ReleasedTables, least: int | None = None) -> JointAnonymity:
    """Count the views of people over all released tables.

    With ``least``, ``safe`` lists the people of views shared by at least ``least`` people. Cost: a sort of
    each table's rows.
    """
    with ExitStack() as stack:
        tables = stack.enter_context(TemporaryTables(engine))
        read = {
            each.name: stack.enter_context(
                open_source_table(engine, own_release_source(ReleaseAddress(path=each.path)))
            )
            for each in release.tables
        }
        problems = tuple(_find_key_problems(engine, release, read))
        under: dict[str, list[str]] = {each.name: [] for each in release.tables}
        rows = ""
        # Children come before their parents, so that each table aggregates the views of the rows below it.
        for each in reversed(release.tables):
            source, column = read[each.name], parent_column(each.references, release.subjects)
            rows = tables.create(
                sql.row_views(
                    source.relation,
                    [source.text(name, "s") for name in each.quasi_identifiers],
                    None if each.key is None else source.text(each.key, "s"),
                    None if column is None else source.text(column, "s"),
                    under[each.name],
                )
            )
            if column is not None:
                under[each.references[column]].append(tables.create(sql.views_by_key(rows)))
        views = tables.create(sql.people_by_view(rows))
        fewest, unique, number, people = (int(found) for found in engine.fetch_rows(sql.view_sizes(views))[0])
        safe: tuple[str, ...] = ()
        if least is not None:
            protected = engine.fetch_rows(sql.people_of_large_views(rows, views, least))
            safe = tuple(str(row[0]) for row in protected)
        return JointAnonymity(fewest, unique, number, people, problems, safe)


def read_released_tables(folder: Path) -> ReleasedTables:
    """Read the tables that a folder's manifest lists; raise ``InputError`` without such a manifest."""
    path = folder / TABLES_MANIFEST_NAME
    try:
        document = parse_json(read_text(path, f"the manifest {path}"))
        return _parse_tables(folder, document)
    except FileNotFoundError:
        raise InputError(
            f"{path} does not exist", advice="A release of several tables is a folder with this manifest."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not a manifest of several tables: {error}") from None


def _parse_tables(folder: Path, document: Mapping[str, Any]) -> ReleasedTables:
    found = []
    for entry in document["tables"]:
        name = str(entry["file"])
        if Path(name).name != name:
            raise ValueError(f"the file '{name}' is not in its folder")
        found.append(
            ReleasedRelation(
                str(entry["name"]),
                folder / name,
                entry["key"],
                dict(entry["references"]),
                str(entry["subject"]),
                tuple(map(str, entry["quasi_identifiers"])),
            )
        )
    return ReleasedTables(tuple(found), str(document["subjects"]), document["joint_anonymity"]["required"])


def _find_key_problems(
    engine: Engine, release: ReleasedTables, read: Mapping[str, SourceTable]
) -> Sequence[str]:
    """Find keys that are not unique, foreign keys without their row, and rows of another person."""
    result = []
    by_name = {each.name: each for each in release.tables}
    for each in release.tables:
        source = read[each.name]

        def rows(query: str) -> int:
            return int(engine.fetch_rows(query)[0][0])

        if each.key is not None:
            number = rows(sql.count_repeated_keys(source.relation, source.text(each.key, "s")))
            if number:
                result.append(f"{each.name}: '{each.key}' is NULL or repeated in {number:,} rows")
        for column, name in each.references.items():
            other, theirs = read[name], by_name[name]
            assert theirs.key is not None
            key = other.text(theirs.key, "o")
            number = rows(
                sql.count_dangling_keys(source.relation, source.text(column, "s"), other.relation, key)
            )
            if number:
                result.append(f"{each.name}: '{column}' names no row of {name} in {number:,} rows")
        above = parent_column(each.references, release.subjects)
        if above is not None and each.subject != above:
            other, theirs = read[each.references[above]], by_name[each.references[above]]
            assert theirs.key is not None
            number = rows(
                sql.count_mismatched_people(
                    source.relation,
                    source.text(above, "s"),
                    source.text(each.subject, "s"),
                    other.relation,
                    other.text(theirs.key, "o"),
                    other.text(theirs.subject, "o"),
                )
            )
            if number:
                result.append(
                    f"{each.name}: '{each.subject}' is not the person of '{above}' in {number:,} rows"
                )
    return result
