"""Warnings about the rows of a table under its spec, which every verb repeats.

``init`` looks at a table before it has a spec. A later verb reads only the spec, so a fault of the rows that
``init`` noticed must be found again from the rows or be written into the spec. Each check here looks at an
opened table under its spec; ``discreet inspect``, ``negotiate`` and ``publish`` report the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import opened
from discreet.model.coded_warning import CodedWarning, told_once
from discreet.model.table_spec import TableSpec

Check: TypeAlias = Callable[[Engine, SourceTable, TableSpec], Iterable[CodedWarning]]
"""Look at an opened table under its spec. A check without a column to look at makes no query."""

CHECKS: tuple[Check, ...] = ()
"""The checks, in the order of their warnings."""


def table_warnings(engine: Engine, spec: TableSpec) -> tuple[CodedWarning, ...]:
    """Run every check on the table of a spec.

    The warnings are for the publisher; one that is ``private`` names values of single rows, and neither a
    manifest nor a report repeats it. ``InputError`` where the source cannot be read.
    """
    with opened(engine, spec.source) as table:
        return told_once(warning for check in CHECKS for warning in check(engine, table, spec))
