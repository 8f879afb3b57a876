"""Cells that a column's written form does not fit, and where they are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from discreet.engines.connect import connect
from discreet.engines.registry import engine_of
from discreet.engines.scratch import opened
from discreet.engines.written import MisreadText, misread_texts
from discreet.model.table_spec import SourceSpec
from discreet.printing.document import count
from discreet.settings import Settings
from discreet.verbs.interruption import interruptible

MOST_TEXTS = 50
"""Different texts that may be read as NULL, or left as they are; what has more is written in another form."""

_TOLD, _LONGEST = 3, 40


@dataclass(frozen=True)
class MissedCells:
    """At most ``MOST_TEXTS`` + 1 texts of a column that its form does not fit, the most frequent first."""

    column: str
    texts: tuple[MisreadText, ...]

    @property
    def message(self) -> str:
        """What is wrong, and in which rows."""
        told = "; ".join(_told(each) for each in self.texts[:_TOLD])
        more = len(self.texts) - _TOLD
        others = (
            "" if more <= 0 else f"; and {'over ' if more > MOST_TEXTS - _TOLD else ''}{count(more, 'other')}"
        )
        return f"Cells of '{self.column}' are not written so: {told}{others}"


def missed_cells(source: SourceSpec, column: str, settings: Settings) -> MissedCells | None:
    """The cells that the written form of one column of a source does not fit, None where there are none.

    One scan. ``InputError`` where the source cannot be read.
    """
    alone = replace(source, written={column: source.written[column]}, decimal=None)
    in_order = replace(settings, threads=1)
    with connect(in_order, alone) as engine, interruptible(engine), opened(engine, alone) as table:
        if column not in table.written:
            return None
        numbered = engine_of(alone).embedded
        texts = misread_texts(engine, table, column, most=MOST_TEXTS + 1, numbered=numbered)
    return MissedCells(column, texts) if texts else None


def _told(missed: MisreadText) -> str:
    shown = missed.text if len(missed.text) <= _LONGEST else missed.text[:_LONGEST] + "…"
    times = "" if missed.cells == 1 else f", {missed.cells:,} times"
    first = "" if missed.row is None else f"{' in' if missed.cells == 1 else ', first in'} row {missed.row:,}"
    return f"“{shown}”{times}{first}"
