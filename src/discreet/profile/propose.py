"""A first spec for a table: a role and a reason for every column, and a lattice that can be evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from discreet.engines.base import Engine, SourceTable
from discreet.engines.column_names import padded_names
from discreet.engines.scratch import TemporaryTables
from discreet.engines.written import check_forms
from discreet.errors import InputError
from discreet.hierarchy.messages import listed
from discreet.model.coded_warning import CodedWarning
from discreet.model.missing_marks import NUMBERS
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.model.written_form import WrittenForm
from discreet.profile.columns import ColumnProfile, columns_at_once, profile_columns, values_of
from discreet.profile.hierarchies import (
    FLAT,
    HierarchyProposal,
    file_proposal,
    needs_values,
    propose_hierarchy,
)
from discreet.profile.hierarchy_files import FileMatch, match_files
from discreet.profile.identifier_forms import propose_form
from discreet.profile.lattice_size import small_enough
from discreet.profile.missing_values import missing_values
from discreet.profile.name_columns import with_names
from discreet.profile.oddities import (
    copied_rows,
    is_strange_age,
    warnings_of,
    warnings_of_copies,
    warnings_of_dropped,
    warnings_of_rows,
    warnings_of_sums,
)
from discreet.profile.person_keys import (
    PersonKeys,
    find_person_keys,
    key_candidates,
    roles_of_people,
    trait_columns,
)
from discreet.profile.person_warnings import warnings_of_people
from discreet.profile.proposed import ProposedAttribute, SpecProposal
from discreet.profile.roles import propose_role
from discreet.profile.sums import sums_of
from discreet.profile.written_forms import ToldForms, tell_forms
from discreet.sql.cells import in_parts
from discreet.sql.names import identifier
from discreet.sql.source import is_binary, is_nested, is_text

_MOST_KEPT = 20_000_000
_SUBJECT = AttributeRole.IDENTIFIER, "the subject, whom k counts"


@dataclass(frozen=True)
class HierarchyFolder:
    """A folder of hierarchy files, and how the spec writes the path of one."""

    path: Path
    written: Callable[[Path], str]


@dataclass(frozen=True)
class KnownColumns:
    """What is said of columns beside the data: how cells are written, and roles with their reasons.

    ``names`` are all columns that are spoken of, by what ``label`` names.
    """

    label: str
    names: tuple[str, ...] = ()
    written: Mapping[str, WrittenForm] = field(default_factory=dict)
    roles: Mapping[str, tuple[AttributeRole, str]] = field(default_factory=dict)

    def added(self, told: ToldForms, table: SourceTable) -> ToldForms:
        """The forms that were told, and those that are known, of columns of texts."""
        own = {name: form for name, form in self.written.items() if is_text(table.types[name])}
        reasons = {name: f"{form.words}, as {self.label} says" for name, form in own.items()}
        return replace(told, forms={**told.forms, **own}, reasons={**told.reasons, **reasons})


NOTHING_KNOWN = KnownColumns("")
"""What is known of columns where nobody says anything."""


def propose_spec(
    engine: Engine,
    source: SourceSpec,
    progress: Callable[[int, int], None] | None = None,
    folder: HierarchyFolder | None = None,
    known: KnownColumns = NOTHING_KNOWN,
) -> SpecProposal:
    """Profile a source's columns and propose a spec that works as it stands.

    Hierarchy files of a ``folder`` are taken for the columns that they fit. ``InputError`` where the source
    or the folder cannot be read, where the source has no row, lacks a column that is ``known``, or has a cell
    that is not written as is known.
    """
    table = engine.open_source(as_it_stands(source))
    padded = padded_names(table.columns)
    if padded:
        engine.close_source(table)
        source = replace(source, strip=True)
        table = engine.open_source(as_it_stands(source))
    missing = [name for name in known.names if name not in table.columns]
    if missing:
        raise InputError(
            f"{known.label} describes what {table.label} has not: {listed(missing)}",
            allowed=listed(table.columns),
        )
    columns = check_rows(table, profile_columns(engine, table, progress))
    engine.confirm_rows(table, columns[0].rows)
    told = known.added(tell_forms(engine, table, columns, replace(source, written=known.written)), table)
    if told.changes or source.decimal is not None:
        engine.close_source(table)
        applied = told.applied(source)
        table = engine.open_source(applied)
        if known.written:  # what was told from the cells fits them, what somebody says may not
            check_forms(engine, table, applied)
        with _read_once(engine, source, table, columns[0].rows) as read:
            columns = profiled_again(engine, read, columns, told)
            found = propose_for(
                engine, read, columns, told, subject=source.subject, folder=folder, roles=known.roles
            )
        return replace(found, padded_names=padded)
    found = propose_for(
        engine, table, columns, told, subject=source.subject, folder=folder, roles=known.roles
    )
    return replace(found, padded_names=padded)


@contextmanager
def _read_once(engine: Engine, source: SourceSpec, table: SourceTable, rows: int) -> Iterator[SourceTable]:
    """A table whose cells are read by their forms once, in the embedded engine, and not for each count.

    Forms are long expressions: planning a GROUP BY of 25 columns that have them takes seconds, however few
    rows there are. Tables of over 20 million cells are left as they are.
    """
    elsewhere = source.url is not None or source.engine is not None
    if elsewhere or rows * len(table.columns) > _MOST_KEPT:
        yield table
        return
    with TemporaryTables(engine) as tables:
        kept = tables.create(f"SELECT * FROM {table.relation}")
        yield replace(table, relation=identifier(kept))


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
    but = {name: form.others for name, form in told.forms.items() if form.others}
    found = profile_columns(engine, table, names=names, rows=columns[0].rows, but=but)
    again = {c.name: c for c in found}
    return tuple(again.get(c.name, c) for c in columns)


def propose_for(
    engine: Engine,
    table: SourceTable,
    columns: tuple[ColumnProfile, ...],
    told: ToldForms,
    *,
    subject: str | None = None,
    folder: HierarchyFolder | None = None,
    roles: Mapping[str, tuple[AttributeRole, str]] | None = None,
) -> SpecProposal:
    """Propose a spec for a source that is open, or a copy of one; ``subject`` names whom k counts.

    ``roles`` are those that are known, each with its reason.
    """
    found = (*told.null_texts, *(text for column in columns for text in column.null_texts))
    null_texts = tuple(dict.fromkeys(found))
    if subject is not None:
        table.position(subject)
    people = PersonKeys() if subject is not None else _people(engine, table, columns, null_texts)
    known = {**(roles or {}), **roles_of_people(people)}
    given = _roles(table, columns, told, subject, known)
    given = with_names(engine, table, columns, given, known=(*known, *filter(None, [subject])))
    subject = subject or (people.person.column if people.person and people.person.can_be_subject else None)
    role_of = {column.name: role for column, (role, _) in zip(columns, given, strict=True)}
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
    hierarchies |= _beside_words(hierarchies, told)
    hierarchies |= offered
    attributes = [
        ProposedAttribute(
            column,
            role,
            reason,
            hierarchies.get(column.name),
            None if role is AttributeRole.IDENTIFIER else told.forms.get(column.name),
            "" if role is AttributeRole.IDENTIFIER else told.reasons.get(column.name, ""),
            propose_form(column, subject=column.name == subject)
            if role is AttributeRole.IDENTIFIER and _unreadable(table.types[column.name]) is None
            else None,
        )
        for column, (role, reason) in zip(columns, given, strict=True)
    ]
    return _proposal(engine, table, attributes, told, files, null_texts, people)


def _proposal(
    engine: Engine,
    table: SourceTable,
    attributes: Sequence[ProposedAttribute],
    told: ToldForms,
    files: tuple[FileMatch, ...],
    null_texts: tuple[str, ...],
    people: PersonKeys,
) -> SpecProposal:
    """The attributes within an affordable lattice, with what to look at in the rows."""
    kept = small_enough(attributes)
    readable = [a for a in kept if _unreadable(table.types[a.name]) is None]
    copies = copied_rows(engine, table, [a.column for a in readable])
    odd = warnings_of_rows(engine, table, readable) if readable else ()
    sums = sums_of(engine, table, [a.column for a in readable])
    missing, of_columns = _of_columns(engine, table, readable, told, null_texts)
    once = (*told.warnings, *warnings_of_copies(copies), *warnings_of_sums(sums))
    return SpecProposal(
        tuple(kept),
        null_texts,
        kept[0].column.rows,
        (*warnings_of_people(people), *missing, *once, *odd, *of_columns),
        told.padded,
        files,
        sums,
        people,
        (*once, *warnings_of_dropped(kept)),
    )


def _of_columns(
    engine: Engine,
    table: SourceTable,
    attributes: Sequence[ProposedAttribute],
    told: ToldForms,
    null_texts: tuple[str, ...],
) -> tuple[Sequence[CodedWarning], list[str]]:
    """Warnings about cells that show nothing in columns that a requirement is about, and about columns."""
    if not attributes:
        return (), warnings_of(attributes)
    keys = [a.name for a in attributes if a.role is AttributeRole.QUASI_IDENTIFIER]
    values = [a.name for a in attributes if a.role is AttributeRole.SENSITIVE]
    others = {name: form.others for name, form in told.forms.items()}
    others |= {a.name: NUMBERS for a in attributes if is_strange_age(a.column)}
    missing = missing_values(engine, table, keys, values, null_texts, others)
    told_once = [a.name for a in attributes if any(f"'{a.name}' has" in text for text in missing)]
    return missing, warnings_of(attributes, told_once)


def _people(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile], null_texts: tuple[str, ...]
) -> PersonKeys:
    """The columns that identify persons, looked for among those whose values repeat."""
    table = replace(table, null_values=tuple(dict.fromkeys((*table.null_values, *null_texts))))
    readable = [column for column in columns if _unreadable(table.types[column.name]) is None]
    return find_person_keys(engine, table, key_candidates(readable), trait_columns(table))


def _roles(
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    told: ToldForms,
    subject: str | None,
    known: Mapping[str, tuple[AttributeRole, str]],
) -> list[tuple[AttributeRole, str]]:
    """The role of each column and why: what it must be, else what is known, else what it looks like."""
    return [
        _SUBJECT
        if column.name == subject
        else _unreadable(table.types[column.name]) or known.get(column.name) or _role(column, told)
        for column in columns
    ]


def _beside_words(
    hierarchies: Mapping[str, HierarchyProposal], told: ToldForms
) -> dict[str, HierarchyProposal]:
    """Hierarchies of columns that have words among their numbers or dates."""
    return {n: hierarchies[n].beside(form.others) for n, form in told.forms.items() if n in hierarchies}


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
