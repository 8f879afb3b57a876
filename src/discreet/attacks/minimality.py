"""Minimality attack (Wong, Fu, Wang and Pei 2007), simulated by rejection sampling.

The attacker knows that every node one level finer failed the requirement. The simulation draws worlds
(assignments of values to rows that fit the release) and accepts those in which every finer node fails.
Suppressed rows fail at every finer node whatever their values, so they are not drawn. Cost: one sort of the
rows per finer node and draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.composition import assign_classes
from discreet.attacks.declaration import Attack, AttackInput, AttackRequirement
from discreet.attacks.finding import Figure, Finding, FoundTable, ValueKind, columns, count
from discreet.attacks.linkage import OriginalTable
from discreet.frequency.rollup import generalize_codes
from discreet.model.class_recoding import SUPPRESSED
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.option import OptionKind, option
from discreet.release.manifest import Manifest
from discreet.workload.answerable_table import read_original

IntArray = NDArray[np.int64]

_MIN_WORLDS, _MAX_WORLDS, _DRAWN_ROWS = 20, 1000, 10_000_000
_SIGNIFICANT_ERRORS = 3.0
"""Number of standard errors by which a guess must lead before it replaces the guess without minimality."""


@dataclass(frozen=True, eq=False)
class MinimalRelease:
    """Published rows of a full-domain release, and its requirement.

    ``codes``, shape ``(rows, quasi-identifiers)``, contains leaf codes of ``hierarchies``, and ``classes``
    the class of each row. ``values``, shape ``(rows, sensitive attributes)``, contains sensitive values, -1
    for NULL; ``domains`` is the number of values per attribute. ``node`` contains the levels; ``k`` and
    ``least`` (one number per sensitive attribute, 0 for none) are the requirement. At a finer node more than
    ``room`` of these rows fail.
    """

    hierarchies: tuple[GeneralizationHierarchy, ...]
    node: tuple[int, ...]
    codes: IntArray
    classes: IntArray
    sensitive: tuple[str, ...]
    values: IntArray
    domains: tuple[int, ...]
    k: int
    least: tuple[int, ...]
    room: int

    @property
    def rows(self) -> int:
        """Number of published rows."""
        return len(self.classes)

    @cached_property
    def raised(self) -> tuple[int, ...]:
        """Quasi-identifiers with a level above 0: each has a node one level finer."""
        return tuple(i for i, level in enumerate(self.node) if level)

    def children(self, attribute_index: int) -> IntArray:
        """Return the code of each row in one quasi-identifier one level finer."""
        return self.hierarchies[attribute_index].level_map(self.node[attribute_index] - 1)[
            self.codes[:, attribute_index]
        ]

    def refused(self, finer: IntArray, values: IntArray) -> bool:
        """Return true if too many rows fail in the classes that ``finer``, one number per row, splits."""
        _, of = np.unique(self.classes * (int(finer.max(initial=0)) + 1) + finer, return_inverse=True)
        of = of.reshape(-1)
        sizes = np.bincount(of)
        failing = sizes < self.k
        for attribute_index, least in enumerate(self.least):
            if least > 0:
                known = values[:, attribute_index] >= 0
                pairs = np.unique(of[known] * self.domains[attribute_index] + values[known, attribute_index])
                failing |= np.bincount(pairs // self.domains[attribute_index], minlength=len(sizes)) < least
        return int(sizes[failing].sum()) > self.room

    def draws(self, requested: int | None) -> int:
        """Return the number of worlds: ``requested``, or ten million rows' worth, from 20 to 1,000."""
        return (
            min(max(_DRAWN_ROWS // max(self.rows, 1), _MIN_WORLDS), _MAX_WORLDS)
            if requested is None
            else requested
        )


@dataclass(frozen=True)
class MinimalityAttack(Attack):
    """Base of attacks that draw worlds and keep those in which every finer node fails."""

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

    def missing_requirement(self, attack_input: AttackInput) -> tuple[str, str] | None:
        """Return the missing requirement; the release must be full-domain with a requirement of k or l."""
        return super().missing_requirement(attack_input) or explain_missing_minimality(attack_input)


@dataclass(frozen=True)
class WorldSample:
    """Numbers of worlds drawn and kept, and of finer nodes that exist and that failed."""

    drawn: int
    accepted: int
    finer: int
    refused: int

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Figures of the four numbers."""
        return (
            count("finer", "nodes one level finer", self.finer),
            count("refused", "finer nodes that failed", self.refused),
            count("drawn", "worlds drawn", self.drawn),
            count("kept", "worlds in which every finer node fails", self.accepted),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the numbers that a report must print."""
        notes = []
        if not self.accepted:
            notes.append("No drawn world fits what the attacker knows: these draws give no result.")
        if self.refused < self.finer:
            notes.append("Some finer node did not fail: an attacker who believes that all did is misled.")
        return tuple(notes)


def explain_missing_minimality(attack_input: AttackInput) -> tuple[str, str] | None:
    """Return the reason why minimality of a release is unknown, and advice; None where it is known."""
    manifest, original = attack_input.manifest, attack_input.ground.original
    if manifest is None or manifest.model != "full-domain" or original is None:
        return "the release is not one by levels", "Attack a release of the model full-domain."
    if set(original.frequency_set.attributes) - set(manifest.levels):
        return "the release does not report its levels", "Give hierarchies that do not come from the data."
    if original.frequency_set.subjects is not None:
        return "the attack does not support people with several rows", "Attack a table of people."
    if manifest.k is None and manifest.l is None:
        return "neither k nor l was required", "Attack a release that requires one of them."
    return None


def read_minimal_release(attack_input: AttackInput, limit: int | None) -> MinimalRelease:
    """Read the rows of a release and its requirement.

    ``limit`` is the number of rows that the publisher could have suppressed; None means the number actually
    suppressed, which is the least possible. Raise ``InputError`` for a release that was not made from the
    original.
    """
    original, manifest = attack_input.original_table, attack_input.manifest
    assert manifest is not None
    counted = original.frequency_set
    names = tuple(a.name for a in original.spec.sensitive)
    table = read_original(attack_input.engine, original.spec, counted, names, attack_input.settings)
    rows = table.table.shown[np.repeat(np.arange(table.table.groups), table.table.rows)]
    width = len(counted.attributes)
    node = tuple(manifest.levels[name] for name in counted.attributes)
    classes = _assign_row_classes(rows[:, :width], node, attack_input, original)
    retained = classes != SUPPRESSED
    values = rows[retained, width:]
    domains = tuple(len(table.domains[name].texts) for name in names)
    for attribute_index, known in enumerate(domains):
        values[values[:, attribute_index] >= known, attribute_index] = -1
    suppressed = int((~retained).sum())
    return MinimalRelease(
        hierarchies=counted.hierarchies,
        node=node,
        codes=rows[retained, :width],
        classes=np.unique(classes[retained], return_inverse=True)[1].reshape(-1),
        sensitive=names,
        values=values,
        domains=domains,
        k=manifest.k or 1,
        least=tuple(_required_l(manifest, name) for name in names),
        room=max((suppressed if limit is None else limit) - suppressed, 0),
    )


def choose_significant_guess(answer_counts: IntArray, first: IntArray) -> IntArray:
    """Return the most frequent answer of each line of ``answer_counts``, which counts the draws of each
    answer.

    Where it leads ``first``, the guess without minimality, by no more than chance, return ``first``.
    """
    best = answer_counts.argmax(axis=1)
    lines = np.arange(len(answer_counts))
    ahead, behind = answer_counts[lines, best], answer_counts[lines, first]
    # The difference of two Poisson counts has the variance ahead + behind.
    return np.where(ahead - behind > _SIGNIFICANT_ERRORS * np.sqrt(ahead + behind), best, first)


def _assign_row_classes(
    rows: IntArray, node: tuple[int, ...], attack_input: AttackInput, original: OriginalTable
) -> IntArray:
    """Return the class of each row; at a node all row types of one key share a class or are suppressed."""
    counted = original.frequency_set
    of_types = assign_classes(attack_input.published, original, "the release")
    theirs = generalize_codes(counted, node)
    mine = np.column_stack(
        [
            h.level_map(level)[rows[:, i]]
            for i, (h, level) in enumerate(zip(counted.hierarchies, node, strict=True))
        ]
    )
    _, inverse = np.unique(np.concatenate([theirs, mine]), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    class_of = np.full(int(inverse.max(initial=-1)) + 1, SUPPRESSED, dtype=np.int64)
    class_of[inverse[: len(theirs)]] = of_types
    return class_of[inverse[len(theirs) :]]


def _required_l(manifest: Manifest, name: str) -> int:
    if manifest.l is None or isinstance(manifest.l, int):
        return manifest.l or 0
    return manifest.l.get(name, 0)


@dataclass(frozen=True, eq=False)
class InferenceGain:
    """Guesses of one sensitive attribute, with and without minimality.

    ``right`` rows are guessed right with minimality, ``right_before`` without. ``sure`` rows have the same
    value in every accepted world, ``sure_before`` in every assignment of values to people.
    """

    attribute: str
    right_before: int
    right: int
    sure_before: int
    sure: int


@dataclass(frozen=True)
class Minimality(MinimalityAttack):
    """Attack on sensitive values through the knowledge that finer nodes failed."""

    name: ClassVar[str] = "minimality"
    title: ClassVar[str] = "Knowing that finer levels failed"
    text: ClassVar[str] = (
        "An attacker knows everybody's quasi-identifiers, and that the release is as fine as it could be: "
        "which values follow?"
    )
    source: ClassVar[str] = "Wong, Fu, Wang and Pei 2007"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (
        AttackRequirement.ORIGINAL,
        AttackRequirement.CLASSES,
        AttackRequirement.SENSITIVE,
    )

    def run(self, attack_input: AttackInput) -> Finding:
        """Report the values that are guessed right with and without minimality."""
        release = read_minimal_release(attack_input, self.could_suppress)
        worlds, learnt = simulate_worlds(release, release.draws(self.worlds))
        rows = [
            (e.attribute, e.right_before / release.rows, e.right / release.rows, e.sure_before, e.sure)
            for e in learnt
            if worlds.accepted
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
        return self.build_finding(attack_input, worlds.figures, (table,), worlds.notes)


def simulate_worlds(
    release: MinimalRelease, draws: int, seed: int = 0
) -> tuple[WorldSample, tuple[InferenceGain, ...]]:
    """Assign values to the people of each class at random ``draws`` times; keep worlds that fit minimality.

    Returns
    -------
    The numbers of worlds, and for each sensitive attribute the guesses with and without minimality.

    References
    ----------
    Wong, Fu, Wang and Pei (2007).

    Notes
    -----
    Cost: one sort of the rows per finer node and draw.
    """
    finer = [release.children(i) for i in release.raised]
    random = np.random.default_rng(seed)
    _, people = np.unique(np.column_stack([release.classes, release.codes]), axis=0, return_inverse=True)
    people = people.reshape(-1)
    by_class = np.argsort(release.classes, kind="stable")
    answer_counts = [
        np.zeros((int(people.max(initial=-1)) + 1, size + 1), dtype=np.int64) for size in release.domains
    ]
    accepted = 0
    for _ in range(draws):
        drawn = np.empty_like(release.values)
        for attribute_index in range(release.values.shape[1]):
            # Sorting by class with a random secondary key shuffles the values within each class.
            order = np.lexsort((random.random(release.rows), release.classes))
            drawn[by_class, attribute_index] = release.values[order, attribute_index]
        if not all(release.refused(each, drawn) for each in finer):
            continue
        accepted += 1
        for attribute_index, each in enumerate(answer_counts):
            each += _tally(people, drawn[:, attribute_index], (each.shape[0], each.shape[1]))
    refused = sum(release.refused(each, release.values) for each in finer)
    learnt = tuple(
        _measure_gain(release, attribute_index, people, each, accepted)
        for attribute_index, each in enumerate(answer_counts)
    )
    return WorldSample(draws, accepted, len(finer), refused), learnt


def _tally(lines: IntArray, values: IntArray, shape: tuple[int, int]) -> IntArray:
    """Count how often each value occurs on each line; the last position counts NULL (-1)."""
    found: IntArray = np.bincount(lines * shape[1] + values % shape[1], minlength=shape[0] * shape[1])
    return found.reshape(shape)


def _measure_gain(
    release: MinimalRelease, attribute_index: int, people: IntArray, answer_counts: IntArray, accepted: int
) -> InferenceGain:
    values, size = release.values[:, attribute_index], answer_counts.shape[1]
    of_class = _tally(release.classes, values, (int(release.classes.max(initial=-1)) + 1, size))
    class_of = np.zeros(len(answer_counts), dtype=np.int64)
    class_of[people] = release.classes
    first = of_class[:, :-1].argmax(axis=1)[class_of]
    guess = choose_significant_guess(answer_counts[:, :-1], first)
    alike = answer_counts.max(axis=1) == accepted * np.bincount(people, minlength=len(answer_counts))
    alike &= answer_counts.argmax(axis=1) < size - 1
    single = (of_class > 0).sum(axis=1) == 1
    single &= of_class[:, -1] == 0
    return InferenceGain(
        attribute=release.sensitive[attribute_index],
        right_before=int((values == first[people]).sum()),
        right=int((values == guess[people]).sum()),
        sure_before=int(single[release.classes].sum()),
        sure=int(alike[people].sum()) if accepted else 0,
    )
