"""Inference of a first spec from a table: formats, roles, hierarchies, warnings.

The columns are profiled, formats are inferred and applied, keys of persons are searched, roles and
hierarchies are proposed, and the lattice is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_query import check_cell_formats, padded_names
from discreet.engines.source_tables import TemporaryTables
from discreet.errors import InputError
from discreet.hierarchy.messages import quote_values
from discreet.model.cell_format import CellFormat
from discreet.model.coded_warnings import CodedWarning
from discreet.model.missing_value_codes import MARK_NUMBERS
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.cell_format_inference import InferredFormats, infer_formats
from discreet.profile.column_profile import (
    ColumnProfile,
    column_batch_size,
    column_values,
    find_column_sums,
    profile_columns,
)
from discreet.profile.data_warnings import (
    count_copied_rows,
    has_impossible_age,
    warn_about_columns,
    warn_about_copies,
    warn_about_dropped_columns,
    warn_about_rows,
    warn_about_sums,
)
from discreet.profile.hierarchy_proposal import (
    FLAT_PROPOSAL,
    FileMatch,
    HierarchyProposal,
    match_hierarchy_files,
    needs_values,
    propose_file,
    propose_hierarchy,
)
from discreet.profile.missing_values import warn_about_missing_values
from discreet.profile.person_keys import (
    PersonKeys,
    find_key_candidates,
    find_person_keys,
    find_trait_columns,
    person_key_roles,
)
from discreet.profile.person_names import detect_person_names
from discreet.profile.roles import propose_pseudonym, propose_role
from discreet.profile.spec_proposal import ProposedAttribute, SpecProposal, limit_lattice
from discreet.profile.table_warnings import warn_about_persons
from discreet.sql.cell_expressions import batched, is_binary, is_nested, is_text
from discreet.sql.quoting import identifier

_MOST_MATERIALIZED_CELLS = 20_000_000
_SUBJECT_ROLE = AttributeRole.IDENTIFIER, "the subject, which k counts"


@dataclass(frozen=True)
class HierarchyFolder:
    """A folder of hierarchy files; ``written`` returns a file's path as the spec writes it."""

    path: Path
    formats: Callable[[Path], str]


@dataclass(frozen=True)
class KnownColumns:
    """Known properties of columns that do not come from the data: cell formats, and roles with reasons.

    ``names`` are all described columns; ``label`` names the source of the description.
    """

    label: str
    names: tuple[str, ...] = ()
    formats: Mapping[str, CellFormat] = field(default_factory=dict)
    roles: Mapping[str, tuple[AttributeRole, str]] = field(default_factory=dict)

    def with_known(self, formats: InferredFormats, table: SourceTable) -> InferredFormats:
        """Return the inferred formats, overridden by the known formats of text columns."""
        own = {name: form for name, form in self.formats.items() if is_text(table.types[name])}
        reasons = {name: f"{form.words}, according to {self.label}" for name, form in own.items()}
        return replace(formats, forms={**formats.forms, **own}, reasons={**formats.reasons, **reasons})


NO_KNOWN_COLUMNS = KnownColumns("")
"""Empty description of columns."""


def propose_spec(
    engine: Engine,
    source: SourceSpec,
    progress: Callable[[int, int], None] | None = None,
    folder: HierarchyFolder | None = None,
    known: KnownColumns = NO_KNOWN_COLUMNS,
) -> SpecProposal:
    """Profile a source's columns and propose a spec that can be used unchanged.

    Hierarchy files of a ``folder`` are assigned to the columns that they fit. Raises ``InputError`` if the
    source or the folder cannot be read, or if the source has no row, lacks a ``known`` column, or has a cell
    that is not in its known format.
    """
    table = engine.open_source(without_decimal_mark(source))
    padded = padded_names(table.columns)
    if padded:
        engine.close_source(table)
        source = replace(source, strip=True)
        table = engine.open_source(without_decimal_mark(source))
    missing = [name for name in known.names if name not in table.columns]
    if missing:
        raise InputError(
            f"{known.label} describes columns that {table.label} does not have: {quote_values(missing)}",
            allowed=quote_values(table.columns),
        )
    columns = check_has_rows(table, profile_columns(engine, table, progress))
    engine.confirm_rows(table, columns[0].rows)
    formats = known.with_known(
        infer_formats(engine, table, columns, replace(source, formats=known.formats)), table
    )
    if formats.changes or source.decimal is not None:
        engine.close_source(table)
        applied = formats.applied(source)
        table = engine.open_source(applied)
        if known.formats:  # inferred formats fit the cells, declared ones may not
            check_cell_formats(engine, table, applied)
        with _materialized(engine, source, table, columns[0].rows) as read:
            columns = reprofile_columns(engine, read, columns, formats)
            found = propose_for_table(
                engine, read, columns, formats, subject=source.subject, folder=folder, roles=known.roles
            )
        return replace(found, padded_names=padded)
    found = propose_for_table(
        engine, table, columns, formats, subject=source.subject, folder=folder, roles=known.roles
    )
    return replace(found, padded_names=padded)


@contextmanager
def _materialized(engine: Engine, source: SourceSpec, table: SourceTable, rows: int) -> Iterator[SourceTable]:
    """Copy a formatted table into the embedded engine, so that cells are parsed once and not for each count.

    Formats are long expressions: planning a GROUP BY of 25 columns with formats takes seconds, however few
    rows there are. Tables in another engine or of over 20 million cells are not copied.
    """
    elsewhere = source.url is not None or source.engine is not None
    if elsewhere or rows * len(table.columns) > _MOST_MATERIALIZED_CELLS:
        yield table
        return
    with TemporaryTables(engine) as tables:
        stored = tables.create(f"SELECT * FROM {table.relation}")
        yield replace(table, relation=identifier(stored))


def without_decimal_mark(source: SourceSpec) -> SourceSpec:
    """Return a source that does not parse its decimal mark yet; the mark is a hint for inferring formats."""
    return replace(source, decimal=None)


def check_has_rows(table: SourceTable, columns: tuple[ColumnProfile, ...]) -> tuple[ColumnProfile, ...]:
    """Return the profiles of a table; raise ``InputError`` if it has no row."""
    if not columns or columns[0].rows == 0:
        raise InputError(f"{table.label} has no row", advice="Give a table with a header and rows.")
    return columns


def reprofile_columns(
    engine: Engine, table: SourceTable, columns: tuple[ColumnProfile, ...], formats: InferredFormats
) -> tuple[ColumnProfile, ...]:
    """Profile the columns again whose formats or padding change their values; return all profiles."""
    names = [c.name for c in columns if c.name in formats.forms or c.padded]
    excluded_texts = {name: form.others for name, form in formats.forms.items() if form.others}
    found = profile_columns(engine, table, names=names, rows=columns[0].rows, excluded_texts=excluded_texts)
    again = {c.name: c for c in found}
    return tuple(again.get(c.name, c) for c in columns)


def propose_for_table(
    engine: Engine,
    table: SourceTable,
    columns: tuple[ColumnProfile, ...],
    formats: InferredFormats,
    *,
    subject: str | None = None,
    folder: HierarchyFolder | None = None,
    roles: Mapping[str, tuple[AttributeRole, str]] | None = None,
) -> SpecProposal:
    """Propose a spec for an open source, or for a copy of it.

    ``subject`` is the column that identifies the persons that k counts. ``roles`` are known roles, each with
    its reason.
    """
    found = (*formats.null_texts, *(text for column in columns for text in column.null_texts))
    null_texts = tuple(dict.fromkeys(found))
    if subject is not None:
        table.position(subject)
    people = PersonKeys() if subject is not None else _find_persons(engine, table, columns, null_texts)
    known = {**(roles or {}), **person_key_roles(people)}
    role_of_each = _roles_of_columns(table, columns, formats, subject, known)
    role_of_each = detect_person_names(
        engine, table, columns, role_of_each, known=(*known, *filter(None, [subject]))
    )
    subject = subject or (people.person.column if people.person and people.person.can_be_subject else None)
    role_of = {column.name: role for column, (role, _) in zip(columns, role_of_each, strict=True)}
    generalized = [c for c in columns if role_of[c.name] is AttributeRole.QUASI_IDENTIFIER]
    files = () if folder is None else _match_files(engine, table, folder, columns, role_of, null_texts)
    offered = {
        name: propose_file(folder.formats(match.path), match.height)
        for match in files
        for name in match.columns
        if folder is not None
    }
    without = [column for column in generalized if column.name not in offered]
    hierarchies = _propose_hierarchies(engine, table, without, null_texts)
    # An unparsed date must not be masked: that would hide the year and show the day.
    hierarchies |= dict.fromkeys(formats.undecided & hierarchies.keys(), FLAT_PROPOSAL)
    for name, form in formats.forms.items():
        if name in hierarchies:
            hierarchies[name] = hierarchies[name].with_others(form.others)
    hierarchies |= offered
    attributes = [
        ProposedAttribute(
            column,
            role,
            reason,
            hierarchies.get(column.name),
            None if role is AttributeRole.IDENTIFIER else formats.forms.get(column.name),
            "" if role is AttributeRole.IDENTIFIER else formats.reasons.get(column.name, ""),
            propose_pseudonym(column, subject=column.name == subject)
            if role is AttributeRole.IDENTIFIER and _unreadable_role(table.types[column.name]) is None
            else None,
        )
        for column, (role, reason) in zip(columns, role_of_each, strict=True)
    ]
    return _build_proposal(engine, table, attributes, formats, files, null_texts, people)


def _build_proposal(
    engine: Engine,
    table: SourceTable,
    attributes: Sequence[ProposedAttribute],
    formats: InferredFormats,
    files: tuple[FileMatch, ...],
    null_texts: tuple[str, ...],
    people: PersonKeys,
) -> SpecProposal:
    limited = limit_lattice(attributes)
    readable = [a for a in limited if _unreadable_role(table.types[a.name]) is None]
    copies = count_copied_rows(engine, table, [a.column for a in readable])
    odd = warn_about_rows(engine, table, readable) if readable else ()
    sums = find_column_sums(engine, table, [a.column for a in readable])
    missing, of_columns = _column_warnings(engine, table, readable, formats, null_texts)
    once = (*formats.warnings, *warn_about_copies(copies), *warn_about_sums(sums))
    return SpecProposal(
        tuple(limited),
        null_texts,
        limited[0].column.rows,
        (*warn_about_persons(people), *missing, *once, *odd, *of_columns),
        formats.padded,
        files,
        sums,
        people,
        (*once, *warn_about_dropped_columns(limited)),
    )


def _column_warnings(
    engine: Engine,
    table: SourceTable,
    attributes: Sequence[ProposedAttribute],
    formats: InferredFormats,
    null_texts: tuple[str, ...],
) -> tuple[Sequence[CodedWarning], list[str]]:
    """Return warnings about missing values in quasi-identifiers and sensitive columns, and about columns."""
    if not attributes:
        return (), warn_about_columns(attributes)
    keys = [a.name for a in attributes if a.role is AttributeRole.QUASI_IDENTIFIER]
    values = [a.name for a in attributes if a.role is AttributeRole.SENSITIVE]
    others = {name: form.others for name, form in formats.forms.items()}
    others |= {a.name: MARK_NUMBERS for a in attributes if has_impossible_age(a.column)}
    missing = warn_about_missing_values(engine, table, keys, values, null_texts, others)
    reported = [a.name for a in attributes if any(f"'{a.name}' has" in text for text in missing)]
    return missing, warn_about_columns(attributes, reported)


def _find_persons(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile], null_texts: tuple[str, ...]
) -> PersonKeys:
    table = replace(table, null_values=tuple(dict.fromkeys((*table.null_values, *null_texts))))
    readable = [column for column in columns if _unreadable_role(table.types[column.name]) is None]
    return find_person_keys(engine, table, find_key_candidates(readable), find_trait_columns(table))


def _roles_of_columns(
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    formats: InferredFormats,
    subject: str | None,
    known: Mapping[str, tuple[AttributeRole, str]],
) -> list[tuple[AttributeRole, str]]:
    """Return each column's role and reason: a required role, else a known one, else a proposed one."""
    numbers = {name for name, form in formats.forms.items() if form.is_number}
    return [
        _SUBJECT_ROLE
        if column.name == subject
        else _unreadable_role(table.types[column.name])
        or known.get(column.name)
        or propose_role(column, written_as_number=column.name in numbers)
        for column in columns
    ]


def _unreadable_role(kind: str) -> tuple[AttributeRole, str] | None:
    """Return the role of a column of nested values or bytes; None for other types."""
    if not (is_nested(kind) or is_binary(kind)):
        return None
    reason = "nested values: left out, unless you flatten it" if is_nested(kind) else "bytes: left out"
    return AttributeRole.IDENTIFIER, f"holds {reason}"


def _match_files(
    engine: Engine,
    table: SourceTable,
    folder: HierarchyFolder,
    columns: Sequence[ColumnProfile],
    roles: Mapping[str, AttributeRole],
    null_texts: tuple[str, ...],
) -> tuple[FileMatch, ...]:
    """Match a folder's hierarchy files with columns; reads the values of the columns that may fit one."""

    def values(names: Sequence[str]) -> dict[str, list[str]]:
        result: dict[str, list[str]] = {}
        for some in batched(names, column_batch_size(columns[0].rows)):
            of_each = column_values(engine, table, some, null_texts)
            result |= {name: known for name, (known, _) in zip(some, of_each, strict=True)}
        return result

    generalized = [c for c in columns if roles[c.name] is AttributeRole.QUASI_IDENTIFIER]
    others = {name: str(role) for name, role in roles.items() if role is not AttributeRole.QUASI_IDENTIFIER}
    return match_hierarchy_files(folder.path, generalized, others, values)


def _propose_hierarchies(
    engine: Engine, table: SourceTable, columns: Sequence[ColumnProfile], null_texts: tuple[str, ...]
) -> dict[str, HierarchyProposal]:
    """Propose a hierarchy for each quasi-identifier; values are read for several columns per statement."""
    result = {column.name: propose_hierarchy(column) for column in columns if not needs_values(column)}
    needing = [column for column in columns if needs_values(column)]
    for some in batched(needing, column_batch_size(columns[0].rows if columns else 0)):
        of_each = column_values(engine, table, [column.name for column in some], null_texts)
        for column, (values, counts) in zip(some, of_each, strict=True):
            result[column.name] = propose_hierarchy(column, values, counts)
    return result
