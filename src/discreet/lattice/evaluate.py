"""From a frequency set to the evaluated lattice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiler import has_compiler
from discreet.kernels.histograms import Histograms
from discreet.kernels.node_collector import PairSet
from discreet.kernels.plan import RotationPlan, plan_rotation, words_of
from discreet.lattice.bucketed import BucketedHistograms
from discreet.lattice.cells_lookup import CellsLookup
from discreet.lattice.compiled_scores import CompiledScores, Edges, edges_of
from discreet.lattice.duration import (
    BY_NUMPY,
    OF_SCORES,
    OF_SETS,
    announce,
    part_of,
    sampled_seconds,
    seconds_of_groups,
    seconds_of_numpy,
    seconds_of_subjects,
)
from discreet.lattice.evaluated import EvaluatedLattice
from discreet.lattice.group_peeling import peeling
from discreet.lattice.memory import check_memory, room_in
from discreet.lattice.one_node import histogram_of
from discreet.lattice.scores import CellsScores, further_bounds, places_of_counts, scores_of, scorings
from discreet.model.criteria.base import Bound, Criterion
from discreet.model.evaluator import Evaluator
from discreet.model.frequency_set import FrequencySet, ValueSets
from discreet.model.joined_population import joined
from discreet.model.lattice import Lattice
from discreet.model.subject_rows import counting_rows
from discreet.settings import Settings, compile_policy

if TYPE_CHECKING:
    from discreet.kernels.readiness import Variant

Progress = Callable[[int, int], None]
"""Called with the nodes done and the nodes in all."""

Notice = Callable[[str], None]
"""Called with one line about what a run waits for."""

_MOST_WORDS = 64
_SPARE_BITS = 4
"""Buckets that are added later take no more."""
_TWIN_SECONDS = 6.0


def lattice_of(frequency_set: FrequencySet) -> Lattice:
    """The lattice of a frequency set's hierarchies."""
    return Lattice(
        attributes=frequency_set.attributes, heights=tuple(h.height for h in frequency_set.hierarchies)
    )


def evaluate_lattice(
    frequency_set: FrequencySet,
    settings: Settings,
    *,
    diversity: bool = True,
    criteria: Sequence[Criterion] = (),
    evaluator: Evaluator | str = Evaluator.AUTO,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> EvaluatedLattice:
    """Suppression histograms of every node, whole, for k, for l (with ``diversity``), for ``criteria``.

    All of them can be asked together. ``criteria`` are what will be asked, whatever the values of their
    parameters; with one of a sensitive attribute l can be asked, too, of every attribute that the frequency
    set has.

    Where subjects are counted other kernels serve (``kernels.subject_lattice``), on one thread. Of rows the
    compiled kernels serve k, l and criteria that have a formula (``Criterion.formula``), whose scores
    they keep in buckets (``lattice.bucketed``), keys of one word and up to 4,096 sensitive values, on
    ``settings.threads``; the numpy twin serves every other case, and the first run while the kernels compile
    in the background (``DISCREET_COMPILE``: ``background``, ``wait`` or ``never``). Raises ``InputError`` for
    a criterion that the frequency set cannot tell, and ``LimitReached`` before any work where the arrays
    would not fit ``settings.memory_limit``; during it, where further scores make so many entries.
    """
    lattice = lattice_of(frequency_set)
    table = counting_rows(frequency_set)
    if not diversity and not any(c.of_attribute or c.of_every_attribute for c in criteria):
        table = replace(table, sensitive=(), whole=table.whole and not table.sensitive)
    further = further_bounds(criteria, table)
    people = None
    if any(bound.criterion.of_population for bound in further):
        table, people = joined(table)
    of_values = sum(bound.place is not None for bound in further)
    check_memory(lattice, table, len(table.sensitive), settings, of_values)
    plan = plan_rotation(
        table.codes,
        table.counts,
        [[h.level_map(level) for level in range(h.height + 1)] for h in table.hierarchies],
    )
    step = _stepper(progress, lattice.size)
    histograms: Histograms | BucketedHistograms | None = None
    if further:
        histograms = _by_buckets(plan, table, further, criteria, Evaluator(evaluator), settings, step, notice)
    if histograms is None and people is None and table.subjects is not None:
        histograms = _by_subject(plan, table, further, Evaluator(evaluator), settings, step, notice)
    if histograms is not None:
        pass
    elif further:
        _tell_of_twin(further, notice)
        announce(lambda: seconds_of_numpy(plan, table), lattice, table, notice, BY_NUMPY)
        histograms = _by_twin(plan, table, step, further, room_in(lattice, table, settings), people)
    elif _use_kernels(plan, table, table.sensitive, Evaluator(evaluator), notice):
        room = room_in(lattice, table, settings)
        histograms = _by_kernels(plan, table, settings.threads, step, room, notice)
    else:
        announce(lambda: seconds_of_numpy(plan, table), lattice, table, notice, BY_NUMPY)
        histograms = _by_twin(plan, table, step)
    return EvaluatedLattice(
        lattice=lattice,
        hierarchies=table.hierarchies,
        sensitive_attributes=table.sensitive_attributes,
        rows=table.rows,
        histograms=histograms,
        scores=scores_of(table.sensitive_attributes, further),
        counts_rows=table.subjects is None,
        whole=table.whole,
        cells=_cells_lookup(plan, lattice, table, histograms, further, settings, people),
    )


def _cells_lookup(
    plan: RotationPlan,
    lattice: Lattice,
    table: FrequencySet,
    beside: Histograms | BucketedHistograms,
    further: tuple[Bound, ...],
    settings: Settings,
    people: NDArray[np.int64] | None,
) -> CellsLookup:
    """Counts nothing before it is asked."""
    room = room_in(lattice, table, settings)
    return CellsLookup(
        everywhere=lambda scores: _by_twin(plan, table, None, (), room, people, scores),
        one=lambda node, scores: histogram_of(table, lattice.node(node), (), scores, people),
        beside=lambda thresholds: beside.below(tuple(thresholds)),
        signatures=lambda node: np.array(list(beside.of(node)), np.int64).T,
        further=further,
        rule=peeling(),
    )


def _by_buckets(
    plan: RotationPlan,
    table: FrequencySet,
    further: tuple[Bound, ...],
    criteria: Sequence[Criterion],
    evaluator: Evaluator,
    settings: Settings,
    step: Callable[[int], None] | None,
    notice: Notice | None,
) -> BucketedHistograms | None:
    """By the kernels, scores in buckets; None where they cannot, or are not compiled yet."""
    if evaluator is Evaluator.TWIN or not has_compiler():
        return None
    told = CompiledScores.of(further, table, plan)
    edges = edges_of(further, criteria)
    if told is None or told.bits(edges) + table.rows.bit_length() + _SPARE_BITS > 64:
        return None
    if evaluator is not Evaluator.KERNELS and not kernels_ready(plan, table.sensitive, notice, scores=True):
        return None
    from discreet.kernels.evaluate import evaluate
    from discreet.kernels.readiness import Variant, mark_compiled

    steps = [step]
    lattice = lattice_of(table)
    check_room = room_in(lattice, table, settings)
    sizes = tuple(sets.size for sets in table.sensitive)

    def run(places: NDArray[np.int64]) -> object:
        part = part_of(plan, places)
        return evaluate(part, told.words[places], sizes, told.scored(edges), threads=settings.threads)

    announce(lambda: sampled_seconds(plan, run, OF_SCORES), lattice, table, notice)

    def count(edges: Edges) -> Histograms:
        # Progress is told of the first evaluation alone.
        progress = steps.pop() if steps else None
        scored = told.scored(edges)
        found = evaluate(plan, told.words, sizes, scored, threads=settings.threads, progress=progress)
        check_room(found.nbytes)
        return found

    histograms = BucketedHistograms(
        count, lambda node: histogram_of(table, lattice.node(node), further), edges
    )
    mark_compiled(Variant.of(plan, (), scores=True).name)
    return histograms


def _by_subject(
    plan: RotationPlan,
    table: FrequencySet,
    further: tuple[Bound, ...],
    evaluator: Evaluator,
    settings: Settings,
    step: Callable[[int], None] | None,
    notice: Notice | None,
) -> Histograms | None:
    """By the kernels that count subjects; None where they cannot, or are not compiled yet."""
    if evaluator is Evaluator.TWIN or not has_compiler():
        return None
    from discreet.kernels.readiness import Variant, mark_compiled

    seconds = seconds_of_numpy(plan, table)
    if evaluator is not Evaluator.KERNELS and not _worth_compiling(Variant.of_subjects(), seconds, notice):
        return None
    from discreet.kernels.subject_lattice import evaluate_by_subject

    assert table.subjects is not None
    announce(lambda: seconds_of_subjects(plan, table), lattice_of(table), table, notice)
    found = evaluate_by_subject(
        plan,
        tuple(_pairs(plan, sets) for sets in table.sensitive),
        _pairs(plan, table.subjects),
        further=scorings(further, table),
        progress=step,
        room=room_in(lattice_of(table), table, settings) if further else None,
    )
    mark_compiled(Variant.of_subjects().name)
    return found


def _tell_of_twin(further: tuple[Bound, ...], notice: Notice | None) -> None:
    if notice is not None:
        names = ", ".join(dict.fromkeys(bound.criterion.name for bound in further))
        notice(f"no compiled score for {names}: using numpy, which is slower")


def _use_kernels(
    plan: RotationPlan,
    frequency_set: FrequencySet,
    sensitive: tuple[ValueSets, ...],
    evaluator: Evaluator,
    notice: Notice | None,
) -> bool:
    if evaluator is Evaluator.TWIN:
        return False
    if not has_compiler():
        if notice is not None:
            notice("numba is not installed; the numpy twin evaluates the lattice, about ten times slower")
        return False
    if not _fits_kernels(frequency_set, sensitive):
        if notice is not None and frequency_set.subjects is None:
            notice("the sensitive attributes have too many values for the compiled kernels; numpy evaluates")
        return False
    if evaluator is Evaluator.KERNELS:
        return True
    return kernels_ready(plan, sensitive, notice)


def _fits_kernels(frequency_set: FrequencySet, sensitive: tuple[ValueSets, ...]) -> bool:
    """No subjects, and signatures that pack into one word."""
    signature_bits = frequency_set.rows.bit_length() + sum(s.size.bit_length() for s in sensitive)
    return (
        frequency_set.subjects is None
        and signature_bits <= 64
        and sum(words_of(s.size) for s in sensitive) <= _MOST_WORDS
    )


def kernels_ready(
    plan: RotationPlan,
    sensitive: tuple[ValueSets, ...],
    notice: Notice | None,
    *,
    scores: bool = False,
    sums: bool = False,
) -> bool:
    """Whether to use the kernels now: compiled before, or worth waiting for."""
    from discreet.kernels.readiness import Variant

    variant = Variant.of(plan, tuple(words_of(s.size) for s in sensitive), scores=scores, sums=sums)
    return _worth_compiling(variant, seconds_of_groups(plan, len(sensitive)), notice)


def _worth_compiling(variant: Variant, twin_seconds: float, notice: Notice | None) -> bool:
    """Whether kernels are compiled already, or are to be now as the twin would take so long."""
    from discreet.kernels.readiness import compile_in_background, is_compiled

    policy = compile_policy()
    if is_compiled(variant.name):
        return True
    if policy == "wait" or (policy == "background" and twin_seconds > _TWIN_SECONDS):
        if notice is not None:
            notice("compiling the kernels, once: some ten seconds")
        return True
    started = policy == "background" and compile_in_background(variant)
    if notice is not None and started:
        notice("first run: the numpy twin answers while the kernels compile in the background, once")
    return False


def _by_kernels(
    plan: RotationPlan,
    table: FrequencySet,
    threads: int,
    step: Callable[[int], None] | None,
    room: Callable[[int], None] | None = None,
    notice: Notice | None = None,
) -> Histograms:
    from discreet.kernels.evaluate import evaluate
    from discreet.kernels.readiness import Variant, mark_compiled

    bits, sensitive = None, table.sensitive
    if sensitive:
        bits = np.concatenate([bit_sets(s, len(plan.source)) for s in sensitive], axis=1)[plan.source]
    sizes = tuple(s.size for s in sensitive)

    def run(places: NDArray[np.int64]) -> object:
        some = None if bits is None else bits[places]
        return evaluate(part_of(plan, places), some, sizes, threads=threads)

    factor = 1.0 + OF_SETS * len(sensitive)
    announce(lambda: sampled_seconds(plan, run, factor), lattice_of(table), table, notice)
    histograms = evaluate(plan, bits, sizes, threads=threads, progress=step, room=room)
    mark_compiled(Variant.of(plan, tuple(words_of(s.size) for s in sensitive)).name)
    return histograms


def _by_twin(
    plan: RotationPlan,
    table: FrequencySet,
    step: Callable[[int], None] | None,
    further: tuple[Bound, ...] = (),
    room: Callable[[int], None] | None = None,
    people: NDArray[np.int64] | None = None,
    cells: CellsScores | None = None,
) -> Histograms:
    from discreet.kernels.rotation_twin import evaluate_twin

    counted, scored = places_of_counts(further), scorings(further, table)
    if cells is not None:
        counted, scored = cells.places_of_counts, (cells.scoring(table),)
    return evaluate_twin(
        plan,
        tuple(_pairs(plan, sets, counted=place in counted) for place, sets in enumerate(table.sensitive)),
        None if table.subjects is None else _pairs(plan, table.subjects),
        further=scored,
        people=None if people is None else people[plan.source],
        progress=step,
        room=room,
    )


def bit_sets(sets: ValueSets, row_types: int) -> NDArray[np.uint64]:
    """Each row type's values as bits, shape ``(row types, words)``."""
    words = words_of(sets.size)
    bits = np.zeros(row_types * words, np.uint64)
    codes = sets.codes.astype(np.int64)
    place = np.repeat(np.arange(row_types) * words, np.diff(sets.offsets)) + codes // 64
    np.bitwise_or.at(bits, place, np.uint64(1) << (codes % 64).astype(np.uint64))
    return bits.reshape(row_types, words)


def _pairs(plan: RotationPlan, sets: ValueSets, *, counted: bool = False) -> PairSet:
    from discreet.kernels.rotation_twin import pair_set

    subjects = None if sets.subjects is None else sets.subjects.astype(np.int64)
    counts = sets.counts if counted else None
    return pair_set(plan, sets.offsets, sets.codes, sets.size, subjects, counts)


def _stepper(progress: Progress | None, total: int) -> Callable[[int], None] | None:
    if progress is None:
        return None
    done = 0

    def step(nodes: int) -> None:
        nonlocal done
        done += nodes
        progress(done, total)

    return step
