"""Observations on a published file that no criterion makes.

They are warnings of the audit, found by SQL of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from discreet.engines.base import Engine, SourceTable
from discreet.model.coded_warning import CodedWarning, told_once
from discreet.model.requirement import Requirement


@dataclass(frozen=True)
class ObservedRelease:
    """An opened release with the roles of its columns.

    ``others`` are the published columns that are neither quasi-identifiers nor sensitive; ``replaced`` have
    pseudonyms or masks in the place of identifiers and are not among them. ``rows`` leaves the ``starred``
    rows out; these are told apart only where ``starred_apart``. ``classes`` is the table of classes in the
    engine (``sql.verify.classes_table``), None of a permuted release.
    """

    table: SourceTable
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    others: tuple[str, ...]
    replaced: tuple[str, ...]
    requirement: Requirement
    rows: int
    starred: int
    starred_apart: bool
    classes: str | None = None


Observation: TypeAlias = Callable[[Engine, ObservedRelease], Iterable[CodedWarning]]
"""Look at an opened release. An observation without a column to look at makes no query."""

OBSERVATIONS: tuple[Observation, ...] = ()
"""The observations, in the order of their warnings."""


def observations(engine: Engine, release: ObservedRelease) -> tuple[CodedWarning, ...]:
    """Make every observation on a release."""
    return told_once(warning for observe in OBSERVATIONS for warning in observe(engine, release))
