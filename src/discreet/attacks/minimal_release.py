"""A release by levels as its attacker sees it who knows that every finer one was refused.

A search hands over what is as fine as the requirement allows. Whoever knows that knows more than the release
says: at each node one level finer in one quasi-identifier, more rows failed than may be suppressed (Wong, Fu,
Wang and Pei 2007). Such an attacker draws worlds, ways in which the table may have been that fit the release,
and keeps those in which every finer node fails.

Rows that the release suppressed stand in classes that fail k or l; so do their parts at every finer node,
whatever their values. So they need not be drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.composition import classes_in
from discreet.attacks.declaration import Attack
from discreet.attacks.finding import Figure, count
from discreet.attacks.grounds import Grounds
from discreet.attacks.linking import Original
from discreet.frequency.rollup import generalized_codes
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.option import OptionKind, option
from discreet.release.manifest import Manifest
from discreet.workload.answerable import read_original

Whole = NDArray[np.int64]

_LEAST, _MOST, _ROWS = 20, 1000, 10_000_000
_SURE = 3.0
"""How many standard errors a guess must be ahead before it takes the place of the one without minimality."""


@dataclass(frozen=True, eq=False)
class MinimalRelease:
    """The rows that a release by levels shows, and what was required of it.

    ``codes`` has shape ``(rows, quasi-identifiers)`` and holds leaf codes of ``hierarchies``; ``classes`` the
    class of each row, ``values`` of shape ``(rows, sensitive attributes)`` its values, -1 for NULL, of which
    there are ``domains``. ``node`` are the levels, ``k`` and ``least`` (a number per sensitive attribute, 0
    for none) the requirement. At a finer node more than ``room`` of these rows fail.
    """

    hierarchies: tuple[GeneralizationHierarchy, ...]
    node: tuple[int, ...]
    codes: Whole
    classes: Whole
    sensitive: tuple[str, ...]
    values: Whole
    domains: tuple[int, ...]
    k: int
    least: tuple[int, ...]
    room: int

    @property
    def rows(self) -> int:
        """The published rows."""
        return len(self.classes)

    @cached_property
    def raised(self) -> tuple[int, ...]:
        """The quasi-identifiers whose level is above 0: for each there is a node one level finer."""
        return tuple(i for i, level in enumerate(self.node) if level)

    def children(self, place: int) -> Whole:
        """The code that each row has in one quasi-identifier one level finer."""
        return self.hierarchies[place].level_map(self.node[place] - 1)[self.codes[:, place]]

    def refused(self, finer: Whole, values: Whole) -> bool:
        """Whether too many rows fail in classes that are finer by one number of each row."""
        _, of = np.unique(self.classes * (int(finer.max(initial=0)) + 1) + finer, return_inverse=True)
        of = of.reshape(-1)
        sizes = np.bincount(of)
        failing = sizes < self.k
        for place, least in enumerate(self.least):
            if least > 0:
                known = values[:, place] >= 0
                pairs = np.unique(of[known] * self.domains[place] + values[known, place])
                failing |= np.bincount(pairs // self.domains[place], minlength=len(sizes)) < least
        return int(sizes[failing].sum()) > self.room

    def draws(self, asked: int | None) -> int:
        """How many worlds are drawn: as asked, else as many as ten million rows make, from 20 to 1,000."""
        return min(max(_ROWS // max(self.rows, 1), _LEAST), _MOST) if asked is None else asked


@dataclass(frozen=True)
class OfMinimalRelease(Attack):
    """An attack that draws worlds, and keeps those in which every finer node fails."""

    could_suppress: int | None = option(
        kind=OptionKind.WHOLE,
        least=0,
        metavar="ROWS",
        shown="the rows that are suppressed",
        help="the rows that the publisher would have suppressed at most",
        label="Rows that could be suppressed",
    )
    worlds: int | None = option(
        kind=OptionKind.WHOLE,
        least=1,
        metavar="N",
        shown="20 to 1,000, by the rows",
        help="the worlds that are drawn",
        label="Worlds drawn",
    )

    def lacks(self, grounds: Grounds) -> tuple[str, str] | None:
        """The release must be one by levels, whose requirement is k or l."""
        return super().lacks(grounds) or lacking(grounds)


@dataclass(frozen=True)
class KeptWorlds:
    """How many worlds were drawn and kept, and how many finer nodes there are and failed indeed."""

    drawn: int
    kept: int
    finer: int
    refused: int

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The four as figures."""
        return (
            count("finer", "nodes one level finer", self.finer),
            count("refused", "finer nodes that failed indeed", self.refused),
            count("drawn", "worlds drawn", self.drawn),
            count("kept", "worlds in which every finer node fails", self.kept),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said of them."""
        notes = []
        if not self.kept:
            notes.append("No drawn world fits what the attacker knows: nothing can be told from these draws.")
        if self.refused < self.finer:
            notes.append("Some finer node did not fail: an attacker who believes that all did is misled.")
        return tuple(notes)


def lacking(grounds: Grounds) -> tuple[str, str] | None:
    """Why a release cannot be told to be minimal, and what to do; None where it can."""
    manifest, original = grounds.manifest, grounds.ground.original
    if manifest is None or manifest.model != "full-domain" or original is None:
        return "the release is not one by levels", "Attack a release of the model full-domain."
    if set(original.frequency_set.attributes) - set(manifest.levels):
        return "the levels of the release are not told", "Give hierarchies that do not come from the data."
    if original.frequency_set.subjects is not None:
        return "people have several rows, and worlds of rows say nothing of them", "Attack a table of people."
    if manifest.k is None and manifest.l is None:
        return "neither k nor l was required", "Attack a release of which one was required."
    return None


def minimal_release(grounds: Grounds, limit: int | None) -> MinimalRelease:
    """The rows of a release and its requirement; ``limit`` is how many rows could have been suppressed.

    None is as many as were, which is the least that it can have been. ``InputError`` for a release that was
    not made of the original.
    """
    original, manifest = grounds.ground.original, grounds.manifest
    assert original is not None
    assert manifest is not None
    counted = original.frequency_set
    names = tuple(a.name for a in original.spec.sensitive)
    table = read_original(grounds.engine, original.spec, counted, names, grounds.settings)
    rows = table.table.shown[np.repeat(np.arange(table.table.groups), table.table.rows)]
    width = len(counted.attributes)
    node = tuple(manifest.levels[name] for name in counted.attributes)
    classes = _classes_of(rows[:, :width], node, grounds, original)
    kept = classes != SUPPRESSED
    values = rows[kept, width:]
    domains = tuple(len(table.domains[name].texts) for name in names)
    for place, known in enumerate(domains):
        values[values[:, place] >= known, place] = -1
    suppressed = int((~kept).sum())
    return MinimalRelease(
        hierarchies=counted.hierarchies,
        node=node,
        codes=rows[kept, :width],
        classes=np.unique(classes[kept], return_inverse=True)[1].reshape(-1),
        sensitive=names,
        values=values,
        domains=domains,
        k=manifest.k or 1,
        least=tuple(_least(manifest, name) for name in names),
        room=max((suppressed if limit is None else limit) - suppressed, 0),
    )


def surer(told: Whole, first: Whole) -> Whole:
    """The guess of each line of ``told``, how often each answer was drawn: its most frequent one.

    Where that is ahead of ``first``, the guess without minimality, by chance alone, it is ``first``.
    """
    best = told.argmax(axis=1)
    lines = np.arange(len(told))
    ahead, behind = told[lines, best], told[lines, first]
    return np.where(ahead - behind > _SURE * np.sqrt(ahead + behind), best, first)


def _classes_of(rows: Whole, node: tuple[int, ...], grounds: Grounds, original: Original) -> Whole:
    """The class of each row: at a node all row types of one key are in one class, or suppressed."""
    counted = original.frequency_set
    of_types = classes_in(grounds.published, original, "the release")
    theirs = generalized_codes(counted, node)
    mine = np.column_stack(
        [
            h.level_map(level)[rows[:, i]]
            for i, (h, level) in enumerate(zip(counted.hierarchies, node, strict=True))
        ]
    )
    _, place = np.unique(np.concatenate([theirs, mine]), axis=0, return_inverse=True)
    place = place.reshape(-1)
    class_of = np.full(int(place.max(initial=-1)) + 1, SUPPRESSED, dtype=np.int64)
    class_of[place[: len(theirs)]] = of_types
    return class_of[place[len(theirs) :]]


def _least(manifest: Manifest, name: str) -> int:
    asked = manifest.l
    return (asked if isinstance(asked, int) else asked.get(name, 0)) if asked is not None else 0
