"""A proposal in words: its columns after edits, and what is printed of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from discreet.model.table_spec import AttributeRole, PatternStanza
from discreet.printing.document import BLANK, Column, Document, Grid, Line, Tone, count, heading, warnings_of
from discreet.printing.sentence import capitalized
from discreet.profile.hierarchies import FLAT
from discreet.profile.lattice_size import GIVEN_UP, SERIES
from discreet.profile.proposed import ProposedAttribute, SpecProposal

CHOSEN = "chosen by you"
"""The reason of a role that was edited."""

_MOST_REASONS = 3
_ALIKE = 4


class EditedProposal(Protocol):
    """What is printed of a proposal: as it was proposed, and its columns and mapping after edits."""

    @property
    def proposal(self) -> SpecProposal:
        """The proposal before edits."""

    @property
    def label(self) -> str:
        """The name of the data."""

    @property
    def path(self) -> Path | None:
        """The file that the spec was written to."""

    @property
    def told(self) -> tuple[str, ...]:
        """Sentences on what was guessed of the source."""

    @property
    def columns(self) -> tuple[ProposedAttribute, ...]:
        """The columns after edits."""

    @property
    def mapping(self) -> dict[str, Any]:
        """The spec after edits."""

    @property
    def is_edited(self) -> bool:
        """Whether there are edits."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at first."""


def edited_attribute(attribute: ProposedAttribute, entry: Any) -> ProposedAttribute:
    """A column as the spec's ``entry`` has it after edits; None where the spec does not list it any more."""
    if entry is None:
        return replace(attribute, role=AttributeRole.IDENTIFIER, reason="not listed, so left out", form=None)
    role = entry.get("role") if isinstance(entry, Mapping) else None
    if role == attribute.role:
        return attribute
    known = AttributeRole(role) if role in list(AttributeRole) else AttributeRole.IDENTIFIER
    return replace(attribute, role=known, reason=CHOSEN, form=None)


def plain_hierarchy(entry: Any) -> dict[str, Any] | str | None:
    """The hierarchy of a spec's ``entry`` as JSON has it; other values of Python by their text."""
    hierarchy = entry.get("hierarchy") if isinstance(entry, Mapping) else None
    if isinstance(hierarchy, Mapping):
        return {str(key): value for key, value in hierarchy.items()}
    return None if hierarchy is None else str(hierarchy)


def proposal_document(proposal: EditedProposal) -> Document:
    """A row per column, the size of the lattice, warnings, and where the spec lies."""
    columns = (
        Column("column"),
        Column("values", right=True),
        Column("role"),
        Column("hierarchy", shrinks=True),
        Column("reason", shrinks=True),
    )
    rows = tuple(_rows(proposal.columns, proposal.mapping["attributes"]))
    columns_in_all = count(len(proposal.proposal.attributes), "column")
    lines = [Line(sentence) for sentence in proposal.told]
    if proposal.proposal.null_texts:
        texts = ", ".join(f"'{text}'" for text in proposal.proposal.null_texts)
        lines.append(Line(f"Read as NULL: {texts}."))
    if proposal.proposal.padded:
        names = ", ".join(f"'{name}'" for name in proposal.proposal.padded)
        lines.append(Line(f"Read without the blanks around cells, which are in {names}."))
    if proposal.proposal.padded_names:
        names = ", ".join(f"'{name}'" for name in proposal.proposal.padded_names)
        lines.append(Line(f"Read without the blanks around cells and around the names of columns: {names}."))
    lines += [
        Line(f"'{a.name}' was read as {a.written_reason}.")
        for a in proposal.proposal.attributes
        if a.written_reason
    ]
    lines += [
        Line(f"'{a.name}' was read with {a.hierarchy.note}.")
        for a in proposal.columns
        if a.hierarchy is not None and a.hierarchy.note
    ]
    lines += [
        Line(f"'{a.name}' is left out; in its place {a.form}.")
        for a in proposal.columns
        if a.form is not None
    ]
    lines += [
        Line(str(match), Tone.GOOD if match.columns else Tone.WARNING) for match in proposal.proposal.files
    ]
    if not proposal.is_edited:
        lines.append(Line(f"Lattice: {count(proposal.proposal.nodes, 'node')}."))
    if proposal.path is not None:
        edits = " before it was edited: write .text there to keep the edits" if proposal.is_edited else ""
        lines.append(Line(f"Written to {proposal.path}{edits}.", Tone.WARNING if edits else Tone.GOOD))
    return (
        heading(f"{proposal.label}: {count(proposal.proposal.rows, 'row')}, {columns_in_all}"),
        Grid(columns, rows),
        BLANK,
        *lines,
        *warnings_of(proposal.warnings),
    )


def _rows(attributes: Sequence[ProposedAttribute], entries: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A row for each column; one for many that follow each other and are alike in all that is told."""
    for _, some in groupby(attributes, lambda a: _row(a, entries)[2:]):
        alike = list(some)
        if len(alike) >= SERIES or (len(alike) >= _ALIKE and alike[0].reason == GIVEN_UP):
            _, _, role, hierarchy, reason = _row(alike[0], entries)
            name = f"{alike[0].name} … {alike[-1].name}"
            yield name, "", role, hierarchy, f"{count(len(alike), 'column')}, {reason}"
        else:
            yield from (_row(a, entries) for a in alike)


def _row(attribute: ProposedAttribute, entries: Mapping[str, Any]) -> tuple[str, ...]:
    hierarchy = _hierarchy_words(attribute, entries.get(attribute.name))
    values = f"{attribute.column.distinct:,}"
    return attribute.name or "(no name)", values, str(attribute.role), hierarchy, attribute.reason


def reasons_of(pattern: PatternStanza, reasons: Mapping[str, str]) -> list[str]:
    """The columns of a pattern, and each reason that there is for their role."""
    told = dict.fromkeys(sentence(reasons[name]) for name in pattern.columns)
    columns = f"{count(len(pattern.columns), 'column')}, {pattern.columns[0]} to {pattern.columns[-1]}."
    return [columns, *list(told)[:_MOST_REASONS]]


def sentence(text: str) -> str:
    """A reason as a sentence."""
    return f"{capitalized(text)}."


def _hierarchy_words(attribute: ProposedAttribute, entry: Any) -> str:
    given = plain_hierarchy(entry)
    proposed = attribute.hierarchy
    if attribute.role is not AttributeRole.QUASI_IDENTIFIER:
        return ""
    if given is None:
        return FLAT.words
    return proposed.words if proposed is not None and proposed.table == given else "as you gave it"
