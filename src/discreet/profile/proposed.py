"""What is proposed for a table: a role and a reason for every column, as the spec says it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.model.written_form import WrittenForm
from discreet.profile.columns import ColumnProfile
from discreet.profile.hierarchies import HierarchyProposal
from discreet.profile.hierarchy_files import FileMatch
from discreet.profile.identifier_forms import FormHint
from discreet.profile.person_keys import PersonKeys
from discreet.profile.person_warnings import comments_of_people
from discreet.profile.sums import ColumnSum

_FIRST_L = 2
_WHY_WARNINGS = ("Every verb repeats these until you remove them.",)
_WHY_L = (
    "The fewest different values of each sensitive column in a group. With l = 1 everybody in a group may",
    "have the same one, and who finds a person's group learns it.",
)


@dataclass(frozen=True)
class ProposedAttribute:
    """One column with its role, the reason, a quasi-identifier's hierarchy, and how its cells are written.

    ``form`` is what may stand in an identifier's place.
    """

    column: ColumnProfile
    role: AttributeRole
    reason: str
    hierarchy: HierarchyProposal | None = None
    written: WrittenForm | None = None
    written_reason: str = ""
    form: FormHint | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name


@dataclass(frozen=True)
class SpecProposal:
    """What ``discreet init`` found and proposes; ``null_texts`` are to be read as NULL.

    ``padded`` columns have blanks around their texts, so that blanks are to be stripped; ``padded_names``
    have them around the name. ``files`` says what
    became of each hierarchy file that was offered, ``sums`` which columns are calculated from others.
    ``people`` are the columns that identify persons, of which the first becomes the subject. Of the
    ``warnings``, later verbs find ``noticed`` ones in the spec only, and others again in the rows.
    """

    attributes: tuple[ProposedAttribute, ...]
    null_texts: tuple[str, ...]
    rows: int
    warnings: tuple[str, ...]
    padded: tuple[str, ...] = ()
    files: tuple[FileMatch, ...] = ()
    sums: tuple[ColumnSum, ...] = ()
    people: PersonKeys = field(default_factory=PersonKeys)
    noticed: tuple[str, ...] = ()
    padded_names: tuple[str, ...] = ()

    @property
    def subject(self) -> str | None:
        """The column that becomes the subject by what the rows say; None where they say none."""
        person = self.people.person
        return person.column if person is not None and person.can_be_subject else None

    @property
    def strips(self) -> bool:
        """Whether blanks around texts or names of columns are to be left out."""
        return bool(self.padded or self.padded_names)

    def applied(self, source: SourceSpec) -> SourceSpec:
        """A source that is read as proposed."""
        forms = {a.name: a.written for a in self.attributes if a.written is not None}
        return replace(
            source,
            written={**source.written, **forms},
            strip=source.strip or self.strips,
            subject=source.subject or self.subject,
            warnings=self.noticed,
        )

    @property
    def nodes(self) -> int:
        """The size of the lattice of the proposed hierarchies."""
        return nodes_of(self.attributes)

    def document(self, place: str | Mapping[str, Any] | None) -> dict[str, Any]:
        """The spec as a mapping; ``place`` is the source's path or its keys, as the spec is to write them."""
        source: dict[str, Any] = {"path": place} if isinstance(place, str) else dict(place or {})
        if self.null_texts:
            known = source.get("null_values", ())
            source["null_values"] = list(dict.fromkeys((*known, *self.null_texts)))
        if self.strips:
            source["strip"] = True
        if self.subject is not None:
            source.setdefault("subject", self.subject)
        if self.noticed:
            source["warnings"] = list(self.noticed)
        attributes: dict[str, Any] = {}
        for attribute in self.attributes:
            entry: dict[str, Any] = {"role": str(attribute.role)}
            table = attribute.hierarchy.table if attribute.hierarchy is not None else None
            if attribute.written is not None:
                entry["written"] = attribute.written.as_json()
                known = table.get("others") if isinstance(table, dict) else None
                if attribute.written.others and not known:
                    entry["written"]["others"] = list(attribute.written.others)
            if table is not None:
                entry["hierarchy"] = table
            attributes[attribute.name] = entry
        request = self.request
        return {"source": source, "attributes": attributes, **({"request": request} if request else {})}

    @property
    def request(self) -> dict[str, Any]:
        """The request to begin with: l = 2 of sensitive attributes, so that no group has one value only.

        An attribute with one value can have none.
        """
        sensitive = [a for a in self.attributes if a.role is AttributeRole.SENSITIVE]
        several = [a.name for a in sensitive if a.column.distinct >= _FIRST_L]
        if not several:
            return {}
        every = len(several) == len(sensitive)
        return {"l": _FIRST_L if every else dict.fromkeys(several, _FIRST_L)}

    @property
    def key_comments(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """What to know of keys of the spec, by table and key."""
        told = {**comments_of_people(self.people), "warnings": _WHY_WARNINGS}
        return {"source": told, "request": {"l": _WHY_L}}

    @property
    def reasons(self) -> dict[str, str]:
        """The reason for each role, for how cells are read, and what may stand in its place, by attribute."""
        return {a.name: "; ".join(_told(a)) for a in self.attributes}


def _told(attribute: ProposedAttribute) -> Iterator[str]:
    yield attribute.reason
    if attribute.written_reason:
        yield f"read as {attribute.written_reason}"
    if attribute.hierarchy is not None and attribute.hierarchy.note:
        yield attribute.hierarchy.note
    if attribute.form is not None:
        yield f"left out; in its place {attribute.form}"


def nodes_of(attributes: Iterable[ProposedAttribute]) -> int:
    """The size of the lattice of some attributes' hierarchies."""
    return prod(a.hierarchy.height + 1 for a in attributes if a.hierarchy is not None)
