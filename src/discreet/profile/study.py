"""Everything about a table's columns that a publisher looks at while choosing roles and hierarchies.

The rows are read once, into a temporary table of the engine; the profile, the proposal and the codes that
live questions are answered from are made of that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

from discreet.engines.base import Engine, SourceTable
from discreet.engines.column_names import padded_names
from discreet.engines.registry import ENGINES
from discreet.engines.scratch import TemporaryTables, opened
from discreet.model.table_spec import AttributeRole, SourceSpec
from discreet.profile.coded_columns import CodedColumns, read_coded_columns
from discreet.profile.columns import ColumnProfile, profile_columns
from discreet.profile.hierarchies import HierarchyProposal, needs_values, propose_hierarchy
from discreet.profile.identifiers import IdentifierKind, kind_of_letter
from discreet.profile.name_columns import NAMES, NAMES_BY_REFERENCE
from discreet.profile.propose import (
    as_it_stands,
    check_rows,
    profiled_again,
    propose_for,
)
from discreet.profile.proposed import ProposedAttribute, SpecProposal
from discreet.profile.roles import identifier_kind
from discreet.profile.written_forms import tell_forms
from discreet.sql.names import identifier
from discreet.sql.source import canonical_text, column_name, is_binary, is_nested

_EXAMPLES = 4


@dataclass(frozen=True, eq=False)
class ColumnStudy:
    """A table's columns: what is proposed for each, and their codes.

    ``unreadable`` columns hold nested values or bytes, which have no role to choose. Of a table in a database
    only columns are coded that are not proposed as identifiers: the others' values stay there.
    """

    proposal: SpecProposal
    coded: CodedColumns
    unreadable: tuple[str, ...]

    @cached_property
    def proposed(self) -> dict[str, ProposedAttribute]:
        """What is proposed, by column."""
        return {attribute.name: attribute for attribute in self.proposal.attributes}

    def with_null_values(self, texts: Collection[str]) -> ColumnStudy:
        """The same study with some texts read as NULL; what is proposed stays as it was."""
        return replace(self, coded=self.coded.with_null_values(frozenset(texts))) if texts else self

    def kind(self, name: str) -> IdentifierKind | None:
        """Which of the eighteen kinds of identifiers a column is of; None for none."""
        by_values = (
            self.proposed[name].reason in (NAMES, NAMES_BY_REFERENCE) if name in self.proposed else False
        )
        return kind_of_letter("A") if by_values else identifier_kind(self._profile(name))

    @property
    def names(self) -> tuple[str, ...]:
        """All columns but the unreadable, in the source's order."""
        return tuple(self.proposed)

    def is_coded(self, name: str) -> bool:
        """Whether a column's values are here; ``InputError`` for one that is not there at all."""
        if name not in self.proposed:
            self.coded.position(name)
        return name in self.coded.places

    def numbers(self, name: str) -> tuple[int, int, int, int]:
        """Values, rows with NULL, rows with a value of their own, and rows with the most frequent value."""
        if not self.is_coded(name):
            profile = self._profile(name)
            return profile.distinct, profile.nulls, profile.once, profile.most
        counts = self.coded.counts(name)
        filled = counts[:-1]
        most = int(filled.max()) if len(filled) else 0
        return int((filled > 0).sum()), int(counts[-1]), int((filled == 1).sum()), most

    def examples(self, name: str) -> tuple[str, ...]:
        """The most frequent values of a column, at most four; none of a column whose values are not here."""
        if not self.is_coded(name):
            return ()
        counts = self.coded.counts(name)[:-1]
        values = self.coded.values[self.coded.position(name)]
        return tuple(values[place] for place in (-counts).argsort(kind="stable")[:_EXAMPLES] if counts[place])

    def hierarchy(self, name: str) -> HierarchyProposal:
        """A hierarchy for a column, whatever role was proposed for it."""
        profile = self._profile(name)
        values, counts = self.occurring(name) if needs_values(profile) else ((), ())
        return propose_hierarchy(profile, values, counts)

    def occurring(self, name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """A column's values in their order and the rows of each, NULL left out; none where not coded."""
        if not self.is_coded(name):
            return (), ()
        counts = self.coded.counts(name)[:-1]
        return self.coded.values[self.coded.position(name)], tuple(int(count) for count in counts)

    def _profile(self, name: str) -> ColumnProfile:
        if name not in self.proposed:
            self.coded.position(name)
        return self.proposed[name].column


def study_columns(
    engine: Engine,
    source: SourceSpec,
    *,
    memory_limit: int,
    progress: Callable[[int, int], None] | None = None,
) -> ColumnStudy:
    """Study a source's columns; ``progress`` counts columns, each twice.

    ``InputError`` where the source cannot be read or has no row, ``LimitReached`` where its codes would not
    fit (see ``read_coded_columns``).
    """
    tell = progress or (lambda _done, _total: None)
    with ExitStack() as stack:
        tables = stack.enter_context(TemporaryTables(engine))
        table = stack.enter_context(opened(engine, as_it_stands(source)))
        padded = padded_names(table.columns)
        if padded:
            source = replace(source, strip=True)
            table = stack.enter_context(opened(engine, as_it_stands(source)))
        copy, unreadable = _copied(table, tables)
        total = 2 * len(copy.columns)
        columns = check_rows(copy, profile_columns(engine, copy, lambda done, _: tell(done, total)))
        engine.confirm_rows(table, columns[0].rows)
        told = tell_forms(engine, copy, columns, source)
        if told.changes or source.decimal is not None:
            tables.drop(copy.relation.strip('"'))
            copy, _ = _copied(stack.enter_context(opened(engine, told.applied(source))), tables)
            columns = profiled_again(engine, copy, columns, told)
        proposal = propose_for(engine, copy, columns, told, subject=source.subject)
        proposal = replace(proposal, padded_names=padded)
        coded = read_coded_columns(
            engine,
            copy,
            memory_limit=memory_limit,
            progress=lambda done, _: tell(total // 2 + done, total),
            left_out=None if ENGINES.named(engine.name).embedded else _identifiers(proposal),
        )
        tell(total, total)
    return ColumnStudy(proposal, coded, unreadable)


def _identifiers(proposal: SpecProposal) -> frozenset[str]:
    return frozenset(a.name for a in proposal.attributes if a.role is AttributeRole.IDENTIFIER)


def _copied(table: SourceTable, tables: TemporaryTables) -> tuple[SourceTable, tuple[str, ...]]:
    """The source's texts in a temporary table, and the columns that have none."""
    names = tuple(n for n in table.columns if not (is_nested(table.types[n]) or is_binary(table.types[n])))
    texts = ", ".join(
        f"{canonical_text(table.column(name), table.types[name], table.dialect)} AS {column_name(place)}"
        for place, name in enumerate(names)
    )
    copy = tables.create(f"SELECT {texts} FROM {table.relation}")
    copied = SourceTable(
        relation=identifier(copy),
        columns=names,
        types=dict.fromkeys(names, "VARCHAR"),
        label=table.label,
        null_values=table.null_values,
        dialect=table.dialect,
    )
    return copied, tuple(name for name in table.columns if name not in names)
