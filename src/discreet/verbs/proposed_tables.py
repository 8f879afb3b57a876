"""``discreet.init_tables``: a first relational spec for several tables, and a spec for each.

Keys are guessed by names and values: a column that is filled and different in each row of a table, and stands
under the same name in another one, is that table's key, and a reference to it there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.model.table_spec import AttributeRole
from discreet.places.address import path_of
from discreet.places.kept_files import TargetFile, check_apart, several
from discreet.printing.document import BLANK, Column, Document, Grid, Line, Tone, count
from discreet.printing.printed import Printed
from discreet.profile.columns import ColumnProfile
from discreet.settings import Settings
from discreet.spec.text import spec_text
from discreet.verbs.files import check_new_file, write_text
from discreet.verbs.proposal import Proposal, init
from discreet.verbs.reporting import SILENT, Reporter

_HEADING = (
    "A first relational spec by `discreet init`: keys were guessed by names and values, so read it.",
    "What stands in a key's place: per-release, unless way says otherwise. together = N asks that as many",
    "people look alike in all tables.",
)


@dataclass(frozen=True, repr=False)
class ProposedTables(Printed):
    """A relational spec, where it was written, and the proposal of each table by its name."""

    path: Path
    mapping: Mapping[str, Any]
    tables: Mapping[str, Proposal]

    def as_json(self) -> dict[str, Any]:
        """The document of ``discreet init --related … --json``."""
        return {
            "path": str(self.path),
            "spec": dict(self.mapping),
            "tables": {name: each.as_json() for name, each in self.tables.items()},
        }

    def document(self) -> Document:
        """A line for each table: its spec, its key, and what it references."""
        rows = tuple(
            (
                name,
                str(self.tables[name].path),
                str(table.get("key", "")),
                ", ".join(f"{column} → {other}" for column, other in table.get("references", {}).items()),
            )
            for name, table in self.mapping["tables"].items()
        )
        names = ("table", "spec", "key", "references")
        return (
            Line(f"Wrote {self.path}, and the specs of {count(len(rows), 'table')}.", Tone.GOOD),
            BLANK,
            Grid(tuple(Column(name, shrinks=name == "references") for name in names), rows),
        )


def init_tables(
    data: str | Path,
    related: Sequence[str | Path],
    output: str | Path,
    *,
    overwrite: bool = False,
    settings: Settings | None = None,
    reporter: Reporter = SILENT,
) -> ProposedTables:
    """Profile several files; propose a relational spec, written to ``output``, and beside it a spec for each.

    ``data`` has a row for each person, ``related`` are the other tables. ``InputError`` where no key of the
    people is found, or a table references none.
    """
    target = path_of(output, "the path of the spec")
    files = [path_of(each, "the path of a table") for each in (data, *related)]
    names = [each.stem for each in files]
    if len({*names, target.stem}) <= len(names):
        raise InputError(
            f"two of {', '.join(f'{name}.toml' for name in (*names, target.stem))} are one file",
            allowed="files of different names, whose specs are named after them",
        )
    specs = [target.with_name(f"{name}.toml") for name in names]
    check_apart([TargetFile("a spec", path) for path in (target, *specs)], several("the input", files))
    for path in (target, *specs):
        check_new_file(path, overwrite=overwrite)
    found = {
        name: _placed(init(file, settings=settings, reporter=reporter), file, spec)
        for name, file, spec in zip(names, files, specs, strict=True)
    }
    profiles = {name: [a.column for a in each.proposal.attributes] for name, each in found.items()}
    tables = guessed_keys(profiles)
    for name, table in tables.items():
        found[name] = _with_keys(found[name], {**table.get("references", {}), table.get("key"): name})
        write_text(target.with_name(f"{name}.toml"), found[name].text, overwrite=overwrite)
    document = {
        "subjects": names[0],
        "tables": {name: {"spec": f"{name}.toml", **table} for name, table in tables.items()},
    }
    write_text(target, spec_text(document, heading=_HEADING), overwrite=overwrite)
    return ProposedTables(target, document, found)


def _placed(proposal: Proposal, file: Path, spec: Path) -> Proposal:
    """The proposal as it is written: its source relative to its spec."""
    relative = Path(os.path.relpath(file, spec.parent)).as_posix()
    return replace(proposal, place={**proposal.place, "path": relative}, path=spec)


def guessed_keys(tables: Mapping[str, Sequence[ColumnProfile]]) -> dict[str, dict[str, Any]]:
    """The key and the references of each table; the first is the subjects' table.

    ``InputError`` where the first has no key, or another references nothing.
    """
    people, *others = tables
    columns = {name: [column.name for column in each] for name, each in tables.items()}
    keys: dict[str, str] = {}
    for name in tables:
        elsewhere = {column for other in tables if other != name for column in columns[other]}
        taken = set(keys.values())
        fitting = (c.name for c in tables[name] if _unique(c) and c.name in elsewhere - taken)
        key = next(fitting, None)
        if key is not None:
            keys[name] = key
    if people not in keys:
        raise InputError(
            f"no column of {people} is different in each row and stands in another table by the same name",
            advice="Write the relational spec by hand: docs/related-tables.md.",
        )
    found: dict[str, dict[str, Any]] = {people: {"key": keys[people]}}
    for name in others:
        references = dict(_references(name, people, keys, columns[name]))
        if not references:
            raise InputError(
                f"no column of {name} is named like the key of another table",
                allowed=", ".join(f"{key} of {other}" for other, key in keys.items() if other != name),
                advice="Leave it out, or write the relational spec by hand: docs/related-tables.md.",
            )
        found[name] = {**({"key": keys[name]} if name in keys else {}), "references": references}
    return found


def _references(
    name: str, people: str, keys: Mapping[str, str], columns: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """The people's table, where it is referenced, and one other."""
    above = [(key, other) for other, key in keys.items() if other not in (name, people) and key in columns]
    yield from ((keys[people], people) for _ in range(keys[people] in columns))
    yield from above[:1]


def _unique(column: ColumnProfile) -> bool:
    return column.nulls == 0 and column.distinct == column.rows > 0


def _with_keys(proposal: Proposal, keys: Mapping[str | None, str]) -> Proposal:
    """The proposal with its keys as identifiers."""
    attributes = tuple(
        replace(
            each,
            role=AttributeRole.IDENTIFIER,
            reason=f"a key: it names rows of {keys[each.name]}",
            hierarchy=None,
            form=None,
        )
        if each.name in keys
        else each
        for each in proposal.proposal.attributes
    )
    return replace(proposal, proposal=replace(proposal.proposal, attributes=attributes))
