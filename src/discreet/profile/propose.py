"""A first spec for a table: a role and a reason for every column, and a lattice that can be evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import prod
from pathlib import Path
from typing import Any

from discreet.engines.base import Engine, SourceTable
from discreet.errors import InputError
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.model.written_form import WrittenForm
from discreet.profile.columns import ColumnProfile, columns_at_once, profile_columns, values_of
from discreet.profile.hierarchies import (
    FILE,
    FLAT,
    HierarchyProposal,
    file_proposal,
    needs_values,
    propose_hierarchy,
)
from discreet.profile.hierarchy_files import FileMatch, match_files
from discreet.profile.names import NameHint, name_hint
from discreet.profile.roles import nearly_unique, propose_role
from discreet.profile.written_forms import ToldForms, tell_forms
from discreet.sql.cells import in_parts
from discreet.sql.source import is_binary, is_nested

MOST_NODES = 20_000
"""A proposed lattice has at most this many nodes; a publisher may well choose a larger one."""

_REPEATS = 1.02
_SUBJECT = AttributeRole.IDENTIFIER, "the subject, whom k counts"


@dataclass(frozen=True)
class ProposedAttribute:
    """One column with its role, the reason, a quasi-identifier's hierarchy, and how its cells are written."""

    column: ColumnProfile
    role: AttributeRole
    reason: str
    hierarchy: HierarchyProposal | None = None
    written: WrittenForm | None = None
    written_reason: str = ""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name


@dataclass(frozen=True)
class SpecProposal:
    """What ``discreet init`` found and proposes; ``null_texts`` are to be read as NULL.

    ``padded`` columns have blanks around their texts, so that blanks are to be stripped. ``files`` says what
    became of each hierarchy file that was offered.
    """

    attributes: tuple[ProposedAttribute, ...]
    null_texts: tuple[str, ...]
    rows: int
    warnings: tuple[str, ...]
    padded: tuple[str, ...] = ()
    files: tuple[FileMatch, ...] = ()

    def applied(self, source: SourceSpec) -> SourceSpec:
        """A source that is read as proposed."""
        forms = {a.name: a.written for a in self.attributes if a.written is not None}
        return replace(source, written={**source.written, **forms}, strip=source.strip or bool(self.padded))

    @property
    def nodes(self) -> int:
        """The size of the lattice of the proposed hierarchies."""
        return _nodes(self.attributes)

    def document(self, place: str | Mapping[str, Any] | None) -> dict[str, Any]:
        """The spec as a mapping; ``place`` is the source's path or its keys, as the spec is to write them."""
        source: dict[str, Any] = {"path": place} if isinstance(place, str) else dict(place or {})
        if self.null_texts:
            known = source.get("null_values", ())
            source["null_values"] = list(dict.fromkeys((*known, *self.null_texts)))
        if self.padded:
            source["strip"] = True
        attributes: dict[str, Any] = {}
        for attribute in self.attributes:
            entry: dict[str, Any] = {"role": str(attribute.role)}
            if attribute.written is not None:
                entry["written"] = attribute.written.as_json()
            table = attribute.hierarchy.table if attribute.hierarchy is not None else None
            if table is not None:
                entry["hierarchy"] = table
            attributes[attribute.name] = entry
        return {"source": source, "attributes": attributes}

    @property
    def reasons(self) -> dict[str, str]:
        """The reason for each role, and for how cells are read, by attribute."""
        return {
            a.name: f"{a.reason}; read as {a.written_reason}" if a.written_reason else a.reason
            for a in self.attributes
        }


@dataclass(frozen=True)
class HierarchyFolder:
    """A folder of hierarchy files, and how the spec writes the path of one."""

    path: Path
    written: Callable[[Path], str]


def propose_spec(
    engine: Engine,
    source: SourceSpec,
    progress: Callable[[int, int], None] | None = None,
    folder: HierarchyFolder | None = None,
) -> SpecProposal:
    """Profile a source's columns and propose a spec that works as it stands.

    Hierarchy files of a ``folder`` are taken for the columns that they fit. ``InputError`` where the source
    or the folder cannot be read, or where the source has no row.
    """
    table = engine.open_source(as_it_stands(source))
    columns = check_rows(table, profile_columns(engine, table, progress))
    told = tell_forms(engine, table, columns, source)
    if told.changes or source.decimal is not None:
        engine.close_source(table)
        table = engine.open_source(told.applied(source))
        columns = profiled_again(engine, table, columns, told)
    return propose_for(engine, table, columns, told, subject=source.subject, folder=folder)


def as_it_stands(source: SourceSpec) -> SourceSpec:
    """A source whose decimal mark is not yet read as one: a hint to what its columns look like."""
    return replace(source, decimal=None)


def check_rows(table: SourceTable, columns: tuple[ColumnProfile, ...]) -> tuple[ColumnProfile, ...]:
    """The profiles of a table; ``InputError`` where it has no row."""
    if not columns or columns[0].rows == 0:
        raise InputError(f"{table.label} has no row", advice="Give a table with a header and rows.")
    return columns


def profiled_again(
    engine: Engine, table: SourceTable, columns: tuple[ColumnProfile, ...], told: ToldForms
) -> tuple[ColumnProfile, ...]:
    """The profiles of a table that is read as was told; those that change are counted anew."""
    names = [c.name for c in columns if c.name in told.forms or c.padded]
    again = {c.name: c for c in profile_columns(engine, table, names=names)}
    return tuple(again.get(c.name, c) for c in columns)


def propose_for(
    engine: Engine,
    table: SourceTable,
    columns: tuple[ColumnProfile, ...],
    told: ToldForms,
    *,
    subject: str | None = None,
    folder: HierarchyFolder | None = None,
) -> SpecProposal:
    """Propose a spec for a source that is open, or a copy of one; ``subject`` names whom k counts."""
    found = (*told.null_texts, *(text for column in columns for text in column.null_texts))
    null_texts = tuple(dict.fromkeys(found))
    if subject is not None:
        table.position(subject)
    roles = [
        _SUBJECT if column.name == subject else _unreadable(table.types[column.name]) or _role(column, told)
        for column in columns
    ]
    role_of = {column.name: role for column, (role, _) in zip(columns, roles, strict=True)}
    generalized = [c for c in columns if role_of[c.name] is AttributeRole.QUASI_IDENTIFIER]
    files = () if folder is None else _files(engine, table, folder, columns, role_of, null_texts)
    offered = {
        name: file_proposal(folder.written(match.path), match.height)
        for match in files
        for name in match.columns
        if folder is not None
    }
    without = [column for column in generalized if column.name not in offered]
    hierarchies = _hierarchies(engine, table, without, null_texts)
    # A date that was not read must not be masked: that would hide the year and show the day.
    hierarchies |= dict.fromkeys(told.undecided & hierarchies.keys(), FLAT)
    hierarchies |= offered
    attributes = [
        ProposedAttribute(
            column,
            role,
            reason,
            hierarchies.get(column.name),
            told.forms.get(column.name),
            told.reasons.get(column.name, ""),
        )
        for column, (role, reason) in zip(columns, roles, strict=True)
    ]
    kept = _small_enough(attributes)
    readable = [a for a in kept if _unreadable(table.types[a.name]) is None]
    warnings = (*told.warnings, *_warnings(readable, subject))
    return SpecProposal(tuple(kept), null_texts, columns[0].rows, warnings, told.padded, files)


def _role(column: ColumnProfile, told: ToldForms) -> tuple[AttributeRole, str]:
    form = told.forms.get(column.name)
    return propose_role(column, written_as_number=form is not None and form.is_number)


def _unreadable(kind: str) -> tuple[AttributeRole, str] | None:
    """The role of a column that cannot be listed as a quasi-identifier or sensitive, whatever its cells."""
    if not (is_nested(kind) or is_binary(kind)):
        return None
    held = "nested values: left out, unless you flatten it" if is_nested(kind) else "bytes: left out"
    return AttributeRole.IDENTIFIER, f"holds {held}"


def _files(
    engine: Engine,
    table: SourceTable,
    folder: HierarchyFolder,
    columns: Sequence[ColumnProfile],
    roles: Mapping[str, AttributeRole],
    null_texts: tuple[str, ...],
) -> tuple[FileMatch, ...]:
    """What becomes of a folder's hierarchy files; values are asked of the columns that may fit one."""

    def values(names: Sequence[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for some in in_parts(names, columns_at_once(columns[0].rows)):
            of_each = values_of(engine, table, some, null_texts)
            found |= {name: known for name, (known, _) in zip(some, of_each, strict=True)}
        return found

    generalized = [c for c in columns if roles[c.name] is AttributeRole.QUASI_IDENTIFIER]
    others = {name: str(role) for name, role in roles.items() if role is not AttributeRole.QUASI_IDENTIFIER}
    return match_files(folder.path, generalized, others, values)


def _hierarchies(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile], null_texts: tuple[str, ...]
) -> dict[str, HierarchyProposal]:
    """A hierarchy for each quasi-identifier; values of those that need them are asked together."""
    found = {column.name: propose_hierarchy(column) for column in columns if not needs_values(column)}
    needing = [column for column in columns if needs_values(column)]
    for some in in_parts(needing, columns_at_once(columns[0].rows if columns else 0)):
        of_each = values_of(engine, table, [column.name for column in some], null_texts)
        for column, (values, counts) in zip(some, of_each, strict=True):
            found[column.name] = propose_hierarchy(column, values, counts)
    return found


def _nodes(attributes: tuple[ProposedAttribute, ...] | list[ProposedAttribute]) -> int:
    return prod(a.hierarchy.height + 1 for a in attributes if a.hierarchy is not None)


def _small_enough(attributes: list[ProposedAttribute]) -> list[ProposedAttribute]:
    """Lower the highest hierarchies, the last first; where all are at value → ``*``, drop columns.

    The column to drop is the last quasi-identifier whose name says nothing, or the last one. Hierarchy files,
    which the publisher brought, stay as they are.
    """
    found, nodes = list(attributes), _nodes(attributes)
    heights = {
        i: a.hierarchy.height
        for i, a in enumerate(attributes)
        if a.hierarchy is not None and a.hierarchy.kind != FILE
    }
    highest = [(-height, -place) for place, height in heights.items() if height > FLAT.height]
    heapify(highest)
    while nodes > MOST_NODES and highest:
        place = -heappop(highest)[1]
        hierarchy = found[place].hierarchy
        assert hierarchy is not None
        lower = hierarchy.lower()
        found[place] = replace(found[place], hierarchy=lower)
        nodes = nodes // (hierarchy.height + 1) * (lower.height + 1)
        if lower.height > FLAT.height:
            heappush(highest, (-lower.height, -place))
    unlikely = sorted(heights, key=lambda i: (name_hint(found[i].name)[0] is NameHint.NONE, i))
    while nodes > MOST_NODES and unlikely:
        place = unlikely.pop()
        found[place] = _left_out(found[place])
        nodes //= FLAT.height + 1
    return found


def _left_out(attribute: ProposedAttribute) -> ProposedAttribute:
    return replace(
        attribute,
        role=AttributeRole.IDENTIFIER,
        reason="dropped until you decide: too many quasi-identifiers",
        hierarchy=None,
    )


def _warnings(attributes: list[ProposedAttribute], subject: str | None) -> list[str]:
    found = []
    for attribute in attributes:
        column = attribute.column
        repeats = column.distinct > 1 and column.filled > _REPEATS * column.distinct
        if subject is not None or not _is_identifier_like(column):
            continue
        if attribute.role is AttributeRole.IDENTIFIER and repeats:
            found.append(
                f"'{column.name}' repeats: {column.filled:,} rows hold {column.distinct:,} values, one of"
                f" them {column.most:,} times. If it names the person, set subject"
                f' = "{column.name}" in [source], so that k counts people and not rows.'
            )
    if not any(a.role is AttributeRole.QUASI_IDENTIFIER for a in attributes):
        found.append("No column looks like a quasi-identifier: name at least one before you negotiate.")
    if not any(a.role is AttributeRole.SENSITIVE for a in attributes):
        found.append("No column looks sensitive: l-diversity needs at least one, k does not.")
    return found


def _is_identifier_like(column: ColumnProfile) -> bool:
    return name_hint(column.name)[0] is NameHint.IDENTIFIER or nearly_unique(column)
