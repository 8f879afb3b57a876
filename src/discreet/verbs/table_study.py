"""A table's columns while roles are chosen: proposals, reasons, uniqueness of columns and of sets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.engines.connect import connect
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.profile.lattice_size import GIVEN_UP
from discreet.profile.study import ColumnStudy, study_columns
from discreet.profile.uniqueness import (
    THRESHOLDS,
    SetUniqueness,
    WorstSets,
    uniqueness_of_set,
    worst_sets,
)
from discreet.settings import Settings
from discreet.verbs.interruption import interruptible
from discreet.verbs.reporting import SILENT, Reporter


@dataclass(frozen=True, eq=False)
class TableStudy:
    """What a publisher looks at while choosing roles and hierarchies; values of the data are in it."""

    study: ColumnStudy

    @property
    def rows(self) -> int:
        """The table's rows."""
        return self.study.coded.rows

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the source's order; those with nested values or bytes left out."""
        return self.study.names

    @property
    def null_texts(self) -> tuple[str, ...]:
        """Texts that are to be read as NULL, as far as the program can tell."""
        return self.study.proposal.null_texts

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to look at first."""
        return self.study.proposal.warnings

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Columns that hold nested values or bytes."""
        return self.study.unreadable

    def applied(self, source: SourceSpec) -> SourceSpec:
        """A source that is read as proposed: its columns' written forms, and blanks."""
        return self.study.proposal.applied(source)

    def with_null_values(self, texts: Collection[str]) -> TableStudy:
        """The same with some texts read as NULL, without another look at the source."""
        return TableStudy(self.study.with_null_values(texts)) if texts else self

    def document(self, path: str | None) -> dict[str, Any]:
        """The proposed spec as a mapping; ``path`` is the source's, as the spec is to write it."""
        return self.study.proposal.document(path)

    @property
    def given_up(self) -> tuple[str, ...]:
        """Columns that are dropped until somebody decides, as the lattice would be too large with them."""
        return tuple(name for name, reason in self.reasons().items() if GIVEN_UP in reason)

    def reasons(self) -> dict[str, str]:
        """The reason of each proposed role, by column."""
        return self.study.proposal.reasons

    def proposed_hierarchy(self, name: str) -> dict[str, Any] | str | None:
        """The hierarchy that is proposed for a column, as the spec writes it; None for value → ``*``."""
        return self.study.hierarchy(name).table

    def values(self, name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """A column's values in order, NULL left out, and the rows of each."""
        return self.study.occurring(name)

    def null_rows(self, name: str) -> int:
        """The rows in which a column is NULL."""
        return self.study.numbers(name)[1]

    def column_json(self, name: str) -> dict[str, Any]:
        """One column: counts, the proposed role with its reason and kind of identifier, frequent values."""
        proposed = self.study.proposed[name]
        kind = self.study.kind(name)
        values, null_rows, unique_rows, most = self.study.numbers(name)
        return {
            "name": name,
            "proposed": str(proposed.role),
            "reason": proposed.reason,
            "form": None if proposed.form is None else proposed.form.sentence,
            "kind": None
            if kind is None
            else {"letter": kind.letter, "title": kind.title, "alone": kind.alone},
            "values": values,
            "null_rows": null_rows,
            "unique_rows": unique_rows,
            "most": most,
            "examples": list(self.study.examples(name)),
        }

    def uniqueness(self, names: Sequence[str]) -> dict[str, Any]:
        """How far a set of columns singles rows out (``profile.uniqueness``).

        ``InputError`` for a column that is not there, or whose values stay in the database.
        """
        apart = [name for name in names if not self.study.is_coded(name)]
        if apart:
            raise InputError(
                f"'{apart[0]}' looks like an identifier: its values stay in the database",
                allowed=", ".join(self.study.coded.names),
            )
        return _set_json(uniqueness_of_set(self.study.coded, names))

    def worst(self, names: Sequence[str], size: int) -> dict[str, Any]:
        """The sets of ``size`` among some columns with most unique rows; those in a database apart."""
        coded = [name for name in names if self.study.is_coded(name)]
        found: WorstSets = worst_sets(self.study.coded, coded, size)
        return {
            "size": size,
            "best": [_set_json(each) for each in found.best],
            "looked_at": found.looked_at,
            "possible": found.possible,
        }


def study_table(source: SourceSpec, settings: Settings, reporter: Reporter = SILENT) -> TableStudy:
    """Study a source's columns; ``InputError`` where it cannot be read or holds no value."""
    with (
        connect(settings, source) as engine,
        interruptible(engine),
        reporter.stage("Profiling columns") as advance,
    ):
        study = study_columns(engine, source, memory_limit=settings.memory_limit, progress=advance)
    if not study.names:
        raise InputError(f"{source.label} has no column with a text, number, date or truth value")
    return TableStudy(study)


def _set_json(found: SetUniqueness) -> dict[str, Any]:
    return {
        "columns": list(found.columns),
        "rows": found.rows,
        "distinct": found.distinct,
        "unique_rows": found.unique_rows,
        "smallest": found.smallest,
        "mean": found.mean,
        "below": [{"size": size, "rows": rows} for size, rows in zip(THRESHOLDS, found.below, strict=True)],
    }
