"""A proposed spec: a role and a reason for every column, and a lattice small enough to be evaluated.

If the lattice has more than 20,000 nodes, doubtful columns lose levels and then are dropped: series of
columns first, then the highest hierarchies; columns that others know come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import prod
from typing import Any

from discreet.model.cell_format import CellFormat
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.column_profile import ColumnProfile, ColumnSum
from discreet.profile.heading_words import split_name
from discreet.profile.hierarchy_proposal import FILE_KIND, FLAT_PROPOSAL, FileMatch, HierarchyProposal
from discreet.profile.person_keys import PersonKeys
from discreet.profile.roles import IN_DOUBT_REASON, MEASURE_REASON, PseudonymProposal
from discreet.profile.table_warnings import comment_on_persons

_FIRST_L = 2
_WARNINGS_COMMENT = ("Every verb repeats these until you remove them.",)
_L_COMMENT = (
    "The fewest different values of each sensitive column in a group. With l = 1 all people of a group may",
    "have the same one, and a reader who finds a person's group learns it.",
)


@dataclass(frozen=True)
class ProposedAttribute:
    """One column with its role, the reason, a quasi-identifier's hierarchy, and its cell format.

    ``form`` is the proposed pseudonym of an identifier.
    """

    column: ColumnProfile
    role: AttributeRole
    reason: str
    hierarchy: HierarchyProposal | None = None
    format: CellFormat | None = None
    written_reason: str = ""
    form: PseudonymProposal | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name


@dataclass(frozen=True)
class SpecProposal:
    """Findings and proposal of ``discreet init``; ``null_texts`` are to be read as NULL.

    ``padded`` columns have blanks around their texts, ``padded_names`` around their names; both are to be
    stripped. ``files`` reports the match of each offered hierarchy file, ``sums`` the columns that are
    calculated from others. ``people`` are the columns that identify persons; the first becomes the subject.
    ``spec_warnings`` is the part of ``warnings`` that later verbs find only in the spec; they find the others
    again in the rows.
    """

    attributes: tuple[ProposedAttribute, ...]
    null_texts: tuple[str, ...]
    rows: int
    warnings: tuple[str, ...]
    padded: tuple[str, ...] = ()
    files: tuple[FileMatch, ...] = ()
    sums: tuple[ColumnSum, ...] = ()
    people: PersonKeys = field(default_factory=PersonKeys)
    spec_warnings: tuple[str, ...] = ()
    padded_names: tuple[str, ...] = ()

    @property
    def subject(self) -> str | None:
        """Column that becomes the subject according to the rows, or None."""
        person = self.people.person
        return person.column if person is not None and person.can_be_subject else None

    @property
    def strips(self) -> bool:
        """True if blanks around texts or names of columns are to be stripped."""
        return bool(self.padded or self.padded_names)

    def applied(self, source: SourceSpec) -> SourceSpec:
        """Return a source that is read as proposed."""
        forms = {a.name: a.format for a in self.attributes if a.format is not None}
        return replace(
            source,
            formats={**source.formats, **forms},
            strip=source.strip or self.strips,
            subject=source.subject or self.subject,
            warnings=self.spec_warnings,
        )

    @property
    def nodes(self) -> int:
        """Number of nodes of the lattice of the proposed hierarchies."""
        return count_proposed_nodes(self.attributes)

    def document(self, location: str | Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the spec as a mapping; ``location`` is the source's path or its keys, as in the spec."""
        source: dict[str, Any] = {"path": location} if isinstance(location, str) else dict(location or {})
        if self.null_texts:
            known = source.get("null_values", ())
            source["null_values"] = list(dict.fromkeys((*known, *self.null_texts)))
        if self.strips:
            source["strip"] = True
        if self.subject is not None:
            source.setdefault("subject", self.subject)
        if self.spec_warnings:
            source["warnings"] = list(self.spec_warnings)
        attributes: dict[str, Any] = {}
        for attribute in self.attributes:
            entry: dict[str, Any] = {"role": str(attribute.role)}
            table = attribute.hierarchy.table if attribute.hierarchy is not None else None
            if attribute.format is not None:
                entry["format"] = attribute.format.as_json()
                known = table.get("others") if isinstance(table, dict) else None
                if attribute.format.others and not known:
                    entry["format"]["others"] = list(attribute.format.others)
            if table is not None:
                entry["hierarchy"] = table
            attributes[attribute.name] = entry
        request = self.request
        return {"source": source, "attributes": attributes, **({"request": request} if request else {})}

    @property
    def request(self) -> dict[str, Any]:
        """Request to begin with: l = 2 for sensitive attributes, so that no class has a single value.

        An attribute with only one value is left out, since no class can have two.
        """
        sensitive = [a for a in self.attributes if a.role is AttributeRole.SENSITIVE]
        several = [a.name for a in sensitive if a.column.distinct >= _FIRST_L]
        if not several:
            return {}
        every = len(several) == len(sensitive)
        return {"l": _FIRST_L if every else dict.fromkeys(several, _FIRST_L)}

    @property
    def key_comments(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Comments on keys of the spec, by table and key."""
        comments = {**comment_on_persons(self.people), "warnings": _WARNINGS_COMMENT}
        return {"source": comments, "request": {"l": _L_COMMENT}}

    @property
    def reasons(self) -> dict[str, str]:
        """Reason for each attribute's role, cell format and proposed pseudonym."""
        return {a.name: "; ".join(_reason_parts(a)) for a in self.attributes}


def _reason_parts(attribute: ProposedAttribute) -> Iterator[str]:
    yield attribute.reason
    if attribute.written_reason:
        yield f"read as {attribute.written_reason}"
    if attribute.hierarchy is not None and attribute.hierarchy.note:
        yield attribute.hierarchy.note
    if attribute.form is not None:
        yield f"left out; instead, {attribute.form}"


def count_proposed_nodes(attributes: Iterable[ProposedAttribute]) -> int:
    """Return the number of nodes of the lattice of some attributes' hierarchies."""
    return prod(a.hierarchy.height + 1 for a in attributes if a.hierarchy is not None)


MOST_PROPOSED_NODES = 20_000
"""Maximum number of nodes of a proposed lattice; a publisher may choose a larger one."""

LATTICE_TOO_LARGE_REASON = "dropped until you decide: too many quasi-identifiers"
"""Reason given for a column that is left out of a proposal."""

ONE_LEVEL_HEIGHT = FLAT_PROPOSAL.height + 1
"""Height of a hierarchy with one level between value and ``*``."""

LEAST_SERIES = 8
"""Minimum number of columns whose names differ only in digits that form a series."""


def limit_lattice(attributes: Iterable[ProposedAttribute]) -> list[ProposedAttribute]:
    """Reduce attributes until their lattice has at most ``MOST_PROPOSED_NODES`` nodes.

    Doubtful columns are reduced first: whole series of columns (q1, q2, …) are dropped; then levels, the
    finest of the highest and last hierarchy first, down to one level; then the other doubtful columns, the
    last first, since many values without a level end as ``*``. Only then levels of columns that others know
    are removed, and these columns. Hierarchy files, which the publisher provides, are kept.
    """
    result = list(attributes)
    may = [i for i, a in enumerate(result) if a.hierarchy is not None and a.hierarchy.kind != FILE_KIND]
    doubtful = [i for i in may if result[i].reason in (IN_DOUBT_REASON, MEASURE_REASON)]
    for series in _find_series(result, doubtful):
        if count_proposed_nodes(result) > MOST_PROPOSED_NODES:
            _drop_columns(result, series)
    left = [i for i in doubtful if result[i].hierarchy is not None]
    for indices, least in (
        (left, ONE_LEVEL_HEIGHT),
        ([i for i in may if i not in doubtful], FLAT_PROPOSAL.height),
    ):
        _lower_hierarchies(result, indices, ONE_LEVEL_HEIGHT)
        _lower_hierarchies(result, indices, least)
        for index in sorted(indices, key=lambda i: (result[i].reason != MEASURE_REASON, i), reverse=True):
            if count_proposed_nodes(result) > MOST_PROPOSED_NODES:
                _drop_columns(result, [index])
    return result


def _find_series(attributes: list[ProposedAttribute], indices: list[int]) -> list[list[int]]:
    """Return the indices of columns whose names differ only in digits, for each series, the longest first."""

    def stem(index: int) -> tuple[str, ...]:
        return split_name(attributes[index].name)

    series = [list(alike) for _, alike in groupby(sorted(indices, key=lambda i: (stem(i), i)), stem)]
    return sorted((each for each in series if len(each) >= LEAST_SERIES), key=len, reverse=True)


def _lower_hierarchies(attributes: list[ProposedAttribute], indices: list[int], least: int) -> None:
    """Remove levels of the highest hierarchies, the last first, until the lattice is small enough.

    No hierarchy becomes lower than ``least``.
    """
    while count_proposed_nodes(attributes) > MOST_PROPOSED_NODES:
        heights = [(h.height, i) for i in indices if (h := attributes[i].hierarchy) is not None]
        height, index = max(heights, default=(FLAT_PROPOSAL.height, 0))
        if height <= least:
            return
        hierarchy = attributes[index].hierarchy
        assert hierarchy is not None
        attributes[index] = replace(attributes[index], hierarchy=hierarchy.lower())


def _drop_columns(attributes: list[ProposedAttribute], indices: list[int]) -> None:
    for index in indices:
        attributes[index] = replace(
            attributes[index], role=AttributeRole.IDENTIFIER, reason=LATTICE_TOO_LARGE_REASON, hierarchy=None
        )
