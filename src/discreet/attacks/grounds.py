"""What an attack stands on: the release as an attacker has it, and what else is known beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.linking import Ground
from discreet.attacks.published import PublishedTable
from discreet.engines.base import Engine
from discreet.model.table_spec import SourceSpec
from discreet.release.manifest import Manifest
from discreet.settings import Settings

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Side:
    """A table as an attacker finds it, the original (``before``) or the release (``after``).

    Its row types are distinct rows of ``codes``, shape ``(row types, attributes)``, in ``rows`` rows each;
    code c of attribute i shows ``labels[i][c]``, None for NULL.
    """

    name: str
    attributes: tuple[str, ...]
    codes: Whole
    rows: Whole
    labels: tuple[tuple[str | None, ...], ...]

    @property
    def total(self) -> int:
        """All rows."""
        return int(self.rows.sum())

    @property
    def title(self) -> str:
        """What a person calls it."""
        return "original" if self.name == "before" else "release"


@dataclass(frozen=True, eq=False)
class Grounds:
    """A release, its original where it is known, files of the attacker's, and who may see what.

    ``ground`` holds the original and what cells are read with. ``outside`` is a file of people that the
    attacker has, by ``match`` and ``key`` as ``attacks.linking`` takes them. ``persons`` allows tables of
    single persons.
    """

    engine: Engine
    published: PublishedTable
    ground: Ground
    manifest: Manifest | None
    settings: Settings
    threshold: Fraction = Fraction(1, 20)
    outside: SourceSpec | None = None
    match: Mapping[str, str] | None = None
    key: tuple[str, str] | None = None
    persons: bool = False
    advance: Callable[[int, int], None] = field(default=lambda _done, _all: None)

    @property
    def release(self) -> Side:
        """The release."""
        told = self.published
        return Side("after", told.attributes, told.shown, told.rows, told.labels)

    @property
    def original(self) -> Side | None:
        """The original, None where it is not known."""
        if self.ground.original is None:
            return None
        counted = self.ground.original.frequency_set
        labels = tuple((*hierarchy.leaves, None) for hierarchy in counted.hierarchies)
        return Side("before", counted.attributes, counted.codes, counted.counts, labels)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The original, where it is known, and the release."""
        before = self.original
        return (self.release,) if before is None else (before, self.release)
