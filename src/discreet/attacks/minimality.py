"""What minimality tells of sensitive values (Wong, Fu, Wang and Pei 2007), simulated.

The attacker knows the quasi-identifiers of everybody in the table, and so each class's people; the release
tells each class's values. Without minimality every way to give a class's values to its people is as likely
as any other. A finer node that fails l makes some of them likelier: a small part of a class whose people all
had one disease may be why it had to be merged with others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.attacks.declaration import Need
from discreet.attacks.finding import Finding, FoundTable, Value, ValueKind, columns
from discreet.attacks.grounds import Grounds
from discreet.attacks.minimal_release import (
    KeptWorlds,
    MinimalRelease,
    OfMinimalRelease,
    Whole,
    minimal_release,
    surer,
)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What worlds tell of one sensitive attribute.

    ``right`` rows are guessed right with minimality, ``right_before`` without. ``sure`` rows have the same
    value in every world that was kept, ``sure_before`` in every way to give values to people.
    """

    attribute: str
    right_before: int
    right: int
    sure_before: int
    sure: int


@dataclass(frozen=True)
class Minimality(OfMinimalRelease):
    """Sensitive values, from the knowledge that finer nodes failed."""

    name: ClassVar[str] = "minimality"
    title: ClassVar[str] = "Knowing that finer levels failed"
    text: ClassVar[str] = (
        "An attacker knows everybody's quasi-identifiers, and that the release is as fine as it could be: "
        "whose value does that tell?"
    )
    source: ClassVar[str] = "Wong, Fu, Wang and Pei 2007"
    needs: ClassVar[tuple[Need, ...]] = (Need.ORIGINAL, Need.CLASSES, Need.SENSITIVE)

    def run(self, grounds: Grounds) -> Finding:
        """Values guessed right with and without minimality."""
        release = minimal_release(grounds, self.could_suppress)
        worlds, learnt = worlds_of(release, release.draws(self.worlds))
        rows: list[tuple[Value, ...]] = [
            (e.attribute, e.right_before / release.rows, e.right / release.rows, e.sure_before, e.sure)
            for e in learnt
            if worlds.kept
        ]
        table = FoundTable(
            "Values guessed with the knowledge that finer levels failed",
            columns(
                "sensitive attribute",
                ("right without it", ValueKind.CHANCE),
                ("right with it", ValueKind.CHANCE),
                ("rows sure without it", ValueKind.COUNT),
                ("rows sure with it", ValueKind.COUNT),
            ),
            tuple(rows),
            note="A row is sure where every drawn world that fits gives it the same value.",
        )
        return self.found(grounds, worlds.figures, (table,), worlds.notes)


def worlds_of(release: MinimalRelease, draws: int, seed: int = 0) -> tuple[KeptWorlds, tuple[Learnt, ...]]:
    """Give values to the people of each class at random, ``draws`` times, and keep what minimality allows.

    Cost: a sort of the rows by finer node and draw.
    """
    finer = [release.children(i) for i in release.raised]
    random = np.random.default_rng(seed)
    _, people = np.unique(np.column_stack([release.classes, release.codes]), axis=0, return_inverse=True)
    people = people.reshape(-1)
    by_class = np.argsort(release.classes, kind="stable")
    told = [np.zeros((int(people.max(initial=-1)) + 1, size + 1), dtype=np.int64) for size in release.domains]
    kept = 0
    for _ in range(draws):
        drawn = np.empty_like(release.values)
        for place in range(release.values.shape[1]):
            order = np.lexsort((random.random(release.rows), release.classes))
            drawn[by_class, place] = release.values[order, place]
        if not all(release.refused(each, drawn) for each in finer):
            continue
        kept += 1
        for place, each in enumerate(told):
            each += _tally(people, drawn[:, place], (each.shape[0], each.shape[1]))
    refused = sum(release.refused(each, release.values) for each in finer)
    learnt = tuple(_learnt(release, place, people, each, kept) for place, each in enumerate(told))
    return KeptWorlds(draws, kept, len(finer), refused), learnt


def _tally(lines: Whole, values: Whole, shape: tuple[int, int]) -> Whole:
    """How often each value, the last place for NULL, occurs on each line."""
    found: Whole = np.bincount(lines * shape[1] + values % shape[1], minlength=shape[0] * shape[1])
    return found.reshape(shape)


def _learnt(release: MinimalRelease, place: int, people: Whole, told: Whole, kept: int) -> Learnt:
    values, size = release.values[:, place], told.shape[1]
    of_class = _tally(release.classes, values, (int(release.classes.max(initial=-1)) + 1, size))
    class_of = np.zeros(len(told), dtype=np.int64)
    class_of[people] = release.classes
    first = of_class[:, :-1].argmax(axis=1)[class_of]
    guess = surer(told[:, :-1], first)
    alike = told.max(axis=1) == kept * np.bincount(people, minlength=len(told))
    alike &= told.argmax(axis=1) < size - 1
    single = (of_class > 0).sum(axis=1) == 1
    single &= of_class[:, -1] == 0
    return Learnt(
        attribute=release.sensitive[place],
        right_before=int((values == first[people]).sum()),
        right=int((values == guess[people]).sum()),
        sure_before=int(single[release.classes].sum()),
        sure=int(alike[people].sum()) if kept else 0,
    )
