"""A first spec for a table: a role and a reason for every column, and a lattice that can be evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from discreet.engines.base import Engine, SourceTable
from discreet.errors import InputError
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.columns import ColumnProfile, profile_columns, values_of
from discreet.profile.hierarchies import FLAT, HierarchyProposal, needs_values, propose_hierarchy
from discreet.profile.names import NameHint, name_hint
from discreet.profile.roles import nearly_unique, propose_role
from discreet.sql.source import is_binary, is_nested

MOST_NODES = 20_000
"""A proposed lattice has at most this many nodes; a publisher may well choose a larger one."""

_REPEATS = 1.02


@dataclass(frozen=True)
class ProposedAttribute:
    """One column with its role, the reason, and a quasi-identifier's hierarchy."""

    column: ColumnProfile
    role: AttributeRole
    reason: str
    hierarchy: HierarchyProposal | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name


@dataclass(frozen=True)
class SpecProposal:
    """What ``discreet init`` found and proposes; ``null_texts`` are to be read as NULL."""

    attributes: tuple[ProposedAttribute, ...]
    null_texts: tuple[str, ...]
    rows: int
    warnings: tuple[str, ...]

    @property
    def nodes(self) -> int:
        """The size of the lattice of the proposed hierarchies."""
        return _nodes(self.attributes)

    def document(self, place: str | Mapping[str, str] | None) -> dict[str, Any]:
        """The spec as a mapping; ``place`` is the source's path or its keys, as the spec is to write them."""
        source: dict[str, Any] = {"path": place} if isinstance(place, str) else dict(place or {})
        if self.null_texts:
            source["null_values"] = list(self.null_texts)
        attributes: dict[str, Any] = {}
        for attribute in self.attributes:
            entry: dict[str, Any] = {"role": str(attribute.role)}
            table = attribute.hierarchy.table if attribute.hierarchy is not None else None
            if table is not None:
                entry["hierarchy"] = table
            attributes[attribute.name] = entry
        return {"source": source, "attributes": attributes}

    @property
    def reasons(self) -> dict[str, str]:
        """The reason for each role, by attribute."""
        return {attribute.name: attribute.reason for attribute in self.attributes}


def propose_spec(
    engine: Engine, source: SourceSpec, progress: Callable[[int, int], None] | None = None
) -> SpecProposal:
    """Profile a source's columns and propose a spec that works as it stands.

    ``InputError`` where the source cannot be read or has no row.
    """
    return propose_for(engine, engine.open_source(source), progress)


def propose_for(
    engine: Engine, table: SourceTable, progress: Callable[[int, int], None] | None = None
) -> SpecProposal:
    """The same for a source that is open, or a copy of one."""
    columns = profile_columns(engine, table, progress)
    if not columns or columns[0].rows == 0:
        raise InputError(f"{table.label} has no row", advice="Give a table with a header and rows.")
    null_texts = tuple(dict.fromkeys(text for column in columns for text in column.null_texts))
    attributes = []
    for column in columns:
        role, reason = _unreadable(table.types[column.name]) or propose_role(column)
        hierarchy = None
        if role is AttributeRole.QUASI_IDENTIFIER:
            values, counts = (
                values_of(engine, table, column.name, null_texts) if needs_values(column) else ([], [])
            )
            hierarchy = propose_hierarchy(column, values, counts)
        attributes.append(ProposedAttribute(column, role, reason, hierarchy))
    kept = _small_enough(attributes)
    return SpecProposal(tuple(kept), null_texts, columns[0].rows, tuple(_warnings(kept)))


def _unreadable(kind: str) -> tuple[AttributeRole, str] | None:
    """The role of a column that cannot be listed as a quasi-identifier or sensitive, whatever its cells."""
    if not (is_nested(kind) or is_binary(kind)):
        return None
    held = "nested values" if is_nested(kind) else "bytes"
    return AttributeRole.IDENTIFIER, f"holds {held}, which are neither generalized nor tested"


def _nodes(attributes: tuple[ProposedAttribute, ...] | list[ProposedAttribute]) -> int:
    return prod(a.hierarchy.height + 1 for a in attributes if a.hierarchy is not None)


def _small_enough(attributes: list[ProposedAttribute]) -> list[ProposedAttribute]:
    """Lower the highest hierarchies, the last first; where none can be lowered, drop a column."""
    found = list(attributes)
    while _nodes(found) > MOST_NODES:
        heights = [a.hierarchy.height if a.hierarchy is not None else 0 for a in found]
        place = max(range(len(found)), key=lambda i: (heights[i], i))
        chosen = found[place]
        if chosen.hierarchy is not None and chosen.hierarchy != FLAT:
            found[place] = replace(chosen, hierarchy=chosen.hierarchy.lower())
        else:
            found[_least_likely(found)] = _left_out(found[_least_likely(found)])
    return found


def _least_likely(attributes: list[ProposedAttribute]) -> int:
    """The last quasi-identifier whose name says nothing, or the last one."""
    quasi_identifiers = [i for i, a in enumerate(attributes) if a.hierarchy is not None]
    unnamed = [i for i in quasi_identifiers if name_hint(attributes[i].name)[0] is NameHint.NONE]
    return (unnamed or quasi_identifiers)[-1]


def _left_out(attribute: ProposedAttribute) -> ProposedAttribute:
    return replace(
        attribute,
        role=AttributeRole.IDENTIFIER,
        reason="dropped until you decide: too many quasi-identifiers",
        hierarchy=None,
    )


def _warnings(attributes: list[ProposedAttribute]) -> list[str]:
    found = []
    for attribute in attributes:
        column = attribute.column
        repeats = column.distinct > 1 and column.filled > _REPEATS * column.distinct
        if attribute.role is AttributeRole.IDENTIFIER and repeats and _is_identifier_like(column):
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
