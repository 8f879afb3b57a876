"""Evaluation of a frequency set's lattice: suppression histograms of every node.

Chooses between the compiled kernels, the kernels that count subjects and the numpy twin. Compiled modules are
imported only inside functions, and numba can be imported in a thread while the engine scans.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.histograms import Histograms, PairSet
from discreet.kernels.lattice_rotation_plan import RotationPlan, count_words_of, plan_rotation
from discreet.kernels.numba_import import has_numba
from discreet.lattice.evaluated_lattice import EvaluatedLattice
from discreet.lattice.lattice_lookup import CellsLookup
from discreet.lattice.resource_estimates import (
    BY_NUMPY,
    SCORES_FACTOR,
    SETS_FACTOR,
    announce,
    check_memory,
    estimate_numpy_seconds,
    estimate_subject_seconds,
    estimate_table_seconds,
    make_memory_check,
    restrict_plan,
    sample_seconds,
)
from discreet.lattice.score_buckets import BucketedHistograms, CompiledScores, Edges, choose_edges
from discreet.lattice.scores import (
    CellsScore,
    bind_further_scores,
    count_node_histogram,
    find_counted_attributes,
    list_scores,
    make_score_functions,
)
from discreet.model.criteria.base import BoundCriterion, Criterion
from discreet.model.criteria.release_level import Groups, Integers, PeelingRule, peel_classes
from discreet.model.criterion_inputs import ClassValues
from discreet.model.frequency_set import FrequencySet, ValueSets, drop_unneeded_subjects, join_population
from discreet.model.lattice import Lattice
from discreet.model.request import Backend
from discreet.settings import Settings, compile_policy

if TYPE_CHECKING:
    from discreet.kernels.precompilation import KernelVariant


_MOST_CELLS = 2**24


def choose_peeling_rule() -> PeelingRule:
    """Return the compiled peeling rule if numba is available and allowed, else the numpy rule."""
    if compile_policy() == "never" or not has_numba():
        return peel_classes
    return _peel_compiled


def _peel_compiled(groups: Groups, remaining: NDArray[np.bool_], most: int) -> Integers:
    # The kernel counts in a dense table of groups by values; numpy serves if that table would be too large.
    widths = [_count_codes(values) for values in groups.values]
    if groups.number * sum(widths) > _MOST_CELLS:
        return peel_classes(groups, remaining, most)
    from discreet.kernels.suppressed_rows import peel_groups

    blocks = np.cumsum([0, *widths])
    begins, codes, counts = _entries_by_class(groups.values, blocks, len(remaining))
    scores = np.where(remaining, 0, -1)
    peel_groups(
        groups.of,
        groups.number,
        groups.sizes,
        remaining,
        begins,
        codes,
        counts,
        blocks,
        groups.billionths,
        most,
        scores,
    )
    return scores


def _count_codes(values: ClassValues) -> int:
    return 0 if values.codes is None else int(values.codes.max(initial=-1)) + 1


def _entries_by_class(
    values: Sequence[ClassValues], blocks: Integers, classes: int
) -> tuple[Integers, Integers, Integers]:
    """Return the offsets of each class's entries, their values in blocks per attribute, and their rows."""
    owners = np.concatenate([np.zeros(0, np.int64), *(v.owners for v in values if v.owners is not None)])
    codes = [v.codes + block for v, block in zip(values, blocks, strict=False) if v.codes is not None]
    counts = [v.counts for v in values if v.counts is not None]
    order = np.argsort(owners, kind="stable")
    return (
        np.searchsorted(owners[order], np.arange(classes + 1)),
        np.concatenate([np.zeros(0, np.int64), *codes])[order],
        np.concatenate([np.zeros(0, np.int64), *counts])[order],
    )


def preload_kernels() -> None:
    """Begin to import the compiler in a thread if it is not imported yet.

    The import takes a third of a second in a fresh process. Most of it overlaps with the engine's scan, which
    releases the interpreter's lock.
    """
    if "numba" not in sys.modules:
        Thread(target=_import_compiled_kernels, name="kernels").start()


def _import_compiled_kernels() -> None:
    # A command that is refused at once ends while numba is still being imported. The import then fails
    # because the interpreter shuts down and refuses to register exit functions; nobody needs the module then.
    with suppress(ImportError, RuntimeError):
        import discreet.kernels.plan_evaluation  # noqa: F401


Progress = Callable[[int, int], None]
"""Callback with the number of evaluated nodes and of all nodes."""

Notice = Callable[[str], None]
"""Callback with one line that explains a waiting time."""

_MOST_WORDS = 64
_SPARE_BITS = 4
"""Spare bits of a signature for buckets that are added later."""
_TWIN_SECONDS = 6.0


def build_lattice(frequency_set: FrequencySet) -> Lattice:
    """Build the lattice of a frequency set's hierarchies."""
    return Lattice(
        attributes=frequency_set.attributes, heights=tuple(h.height for h in frequency_set.hierarchies)
    )


def evaluate_lattice(
    frequency_set: FrequencySet,
    settings: Settings,
    *,
    diversity: bool = True,
    criteria: Sequence[Criterion] = (),
    evaluator: Backend | str = Backend.AUTO,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> EvaluatedLattice:
    """Compute suppression histograms of every node for k, for l (with ``diversity``) and for ``criteria``.

    All of them can be queried together afterwards. If subjects are counted, the single-threaded
    ``kernels.subject_histograms`` evaluate. If rows are counted, the compiled kernels evaluate k, l and
    criteria that have a formula (``Criterion.formula``) on ``settings.threads``; scores are stored in buckets
    (``lattice.score_buckets``), and signatures must fit into one word and sensitive values be at most 4,096.
    The numpy twin evaluates every other case, and the first run while the kernels compile in the background
    (``DISCREET_COMPILE``: ``background``, ``wait`` or ``never``).

    Parameters
    ----------
    frequency_set
        Row types and their counts, with hierarchies and sensitive values.
    settings
        Threads and the memory limit.
    diversity
        Count distinct sensitive values. A criterion of a sensitive attribute implies it, so that l can be
        queried for every attribute of the frequency set.
    criteria
        Criteria to be queried later, with any value of their parameters.
    evaluator
        Kernels, twin, or automatic choice.
    progress, notice
        Callbacks; see ``Progress`` and ``Notice``.

    Returns
    -------
    The lattice with the histogram of every node.

    Raises
    ------
    InputError
        If the frequency set has no data for a criterion.
    LimitReached
        If the arrays would not fit ``settings.memory_limit``: before any work, or during it if further scores
        produce too many entries.

    Notes
    -----
    Cost: 1.5 to 5 ns per group of each visited state with the kernels, about ten times that with the twin;
    memory as ``resource_estimates`` describes.

    References
    ----------
    Pilalidou and Vassiliadis, *Online negotiation for privacy preserving data publishing*. Slides, University
    of Ioannina.

    Examples
    --------
    >>> evaluate_lattice(frequency_set, settings).suppression(Requirement(k=5))  # doctest: +SKIP
    """
    lattice = build_lattice(frequency_set)
    table = drop_unneeded_subjects(frequency_set)
    if not diversity and not any(c.of_attribute or c.of_every_attribute for c in criteria):
        table = replace(
            table, sensitive=(), has_all_sensitive=table.has_all_sensitive and not table.sensitive
        )
    further = bind_further_scores(criteria, table)
    people = None
    if any(bound.criterion.of_population for bound in further):
        table, people = join_population(table)
    of_values = sum(bound.index is not None for bound in further)
    check_memory(lattice, table, len(table.sensitive), settings, of_values)
    plan = plan_rotation(
        table.codes,
        table.counts,
        [[h.level_map(level) for level in range(h.height + 1)] for h in table.hierarchies],
    )
    step = _make_stepper(progress, lattice.size)
    histograms: Histograms | BucketedHistograms | None = None
    if further:
        histograms = _evaluate_buckets(
            plan, table, further, criteria, Backend(evaluator), settings, step, notice
        )
    if histograms is None and people is None and table.subjects is not None:
        histograms = _evaluate_subjects(plan, table, further, Backend(evaluator), settings, step, notice)
    if histograms is not None:
        pass
    elif further:
        _announce_twin(further, notice)
        announce(lambda: estimate_table_seconds(plan, table), lattice, table, notice, BY_NUMPY)
        histograms = _evaluate_twin(
            plan, table, step, further, make_memory_check(lattice, table, settings), people
        )
    elif _choose_kernels(plan, table, table.sensitive, Backend(evaluator), notice):
        room = make_memory_check(lattice, table, settings)
        histograms = _evaluate_kernels(plan, table, settings.threads, step, room, notice)
    else:
        announce(lambda: estimate_table_seconds(plan, table), lattice, table, notice, BY_NUMPY)
        histograms = _evaluate_twin(plan, table, step)
    return EvaluatedLattice(
        lattice=lattice,
        hierarchies=table.hierarchies,
        sensitive_attributes=table.sensitive_attributes,
        rows=table.rows,
        histograms=histograms,
        scores=list_scores(table.sensitive_attributes, further),
        counts_rows=table.subjects is None,
        has_all_sensitive=table.has_all_sensitive,
        cells=_make_cells_lookup(plan, lattice, table, histograms, further, settings, people),
    )


def _make_cells_lookup(
    plan: RotationPlan,
    lattice: Lattice,
    table: FrequencySet,
    histograms: Histograms | BucketedHistograms,
    further: tuple[BoundCriterion, ...],
    settings: Settings,
    people: NDArray[np.int64] | None,
) -> CellsLookup:
    """Build the lookup of criteria of cells; it counts only when it is queried."""
    room = make_memory_check(lattice, table, settings)
    return CellsLookup(
        histograms=histograms,
        count_all=lambda scores: _evaluate_twin(plan, table, None, (), room, people, scores),
        one=lambda node, scores: count_node_histogram(table, lattice.node(node), (), scores, people),
        further=further,
        rule=choose_peeling_rule(),
    )


def _evaluate_buckets(
    plan: RotationPlan,
    table: FrequencySet,
    further: tuple[BoundCriterion, ...],
    criteria: Sequence[Criterion],
    evaluator: Backend,
    settings: Settings,
    step: Callable[[int], None] | None,
    notice: Notice | None,
) -> BucketedHistograms | None:
    """Evaluate bucketed scores by the kernels; None if they do not apply or are not compiled yet."""
    if evaluator is Backend.TWIN or not has_numba():
        return None
    scores = CompiledScores.of(further, table, plan)
    edges = choose_edges(further, criteria)
    if scores is None or scores.bits(edges) + table.rows.bit_length() + _SPARE_BITS > 64:
        return None
    if evaluator is not Backend.KERNELS and not are_kernels_ready(plan, table.sensitive, notice, scores=True):
        return None
    from discreet.kernels.plan_evaluation import evaluate_plan
    from discreet.kernels.precompilation import KernelVariant, mark_compiled

    steps = [step]
    lattice = build_lattice(table)
    check_room = make_memory_check(lattice, table, settings)
    sizes = tuple(sets.size for sets in table.sensitive)

    def run(places: NDArray[np.int64]) -> object:
        part = restrict_plan(plan, places)
        return evaluate_plan(
            part, scores.words[places], sizes, scores.scored(edges), threads=settings.threads
        )

    announce(lambda: sample_seconds(plan, run, SCORES_FACTOR), lattice, table, notice)

    def count(edges: Edges) -> Histograms:
        # Report progress of the first evaluation only; later ones add an edge.
        progress = steps.pop() if steps else None
        scored = scores.scored(edges)
        result = evaluate_plan(plan, scores.words, sizes, scored, threads=settings.threads, progress=progress)
        check_room(result.nbytes)
        return result

    histograms = BucketedHistograms(
        count, lambda node: count_node_histogram(table, lattice.node(node), further), edges
    )
    mark_compiled(KernelVariant.of(plan, (), scores=True).name)
    return histograms


def _evaluate_subjects(
    plan: RotationPlan,
    table: FrequencySet,
    further: tuple[BoundCriterion, ...],
    evaluator: Backend,
    settings: Settings,
    step: Callable[[int], None] | None,
    notice: Notice | None,
) -> Histograms | None:
    """Evaluate by the kernels that count subjects; None if they do not apply or are not compiled yet."""
    if evaluator is Backend.TWIN or not has_numba():
        return None
    from discreet.kernels.precompilation import KernelVariant, mark_compiled

    seconds = estimate_table_seconds(plan, table)
    if evaluator is not Backend.KERNELS and not _worth_compiling(
        KernelVariant.of_subjects(), seconds, notice
    ):
        return None
    from discreet.kernels.subject_histograms import evaluate_by_subject

    assert table.subjects is not None
    announce(lambda: estimate_subject_seconds(plan, table), build_lattice(table), table, notice)
    result = evaluate_by_subject(
        plan,
        tuple(_pair_set(plan, sets) for sets in table.sensitive),
        _pair_set(plan, table.subjects),
        further=make_score_functions(further, table),
        progress=step,
        room=make_memory_check(build_lattice(table), table, settings) if further else None,
    )
    mark_compiled(KernelVariant.of_subjects().name)
    return result


def _announce_twin(further: tuple[BoundCriterion, ...], notice: Notice | None) -> None:
    if notice is not None:
        names = ", ".join(dict.fromkeys(bound.criterion.name for bound in further))
        notice(f"no compiled score for {names}: using numpy, which is slower")


def _choose_kernels(
    plan: RotationPlan,
    frequency_set: FrequencySet,
    sensitive: tuple[ValueSets, ...],
    evaluator: Backend,
    notice: Notice | None,
) -> bool:
    if evaluator is Backend.TWIN:
        return False
    if not has_numba():
        if notice is not None:
            notice("numba is not installed; using numpy, about ten times slower")
        return False
    if not _fits_kernels(frequency_set, sensitive):
        if notice is not None and frequency_set.subjects is None:
            notice("too many sensitive values for the compiled kernels: using numpy, which is slower")
        return False
    if evaluator is Backend.KERNELS:
        return True
    return are_kernels_ready(plan, sensitive, notice)


def _fits_kernels(frequency_set: FrequencySet, sensitive: tuple[ValueSets, ...]) -> bool:
    """Return whether rows are counted and a signature fits into one word."""
    signature_bits = frequency_set.rows.bit_length() + sum(s.size.bit_length() for s in sensitive)
    return (
        frequency_set.subjects is None
        and signature_bits <= 64
        and sum(count_words_of(s.size) for s in sensitive) <= _MOST_WORDS
    )


def are_kernels_ready(
    plan: RotationPlan,
    sensitive: tuple[ValueSets, ...],
    notice: Notice | None,
    *,
    scores: bool = False,
    sums: bool = False,
) -> bool:
    """Return whether to use the kernels now: they are compiled, or compiling them is worth the wait."""
    from discreet.kernels.precompilation import KernelVariant

    variant = KernelVariant.of(
        plan, tuple(count_words_of(s.size) for s in sensitive), scores=scores, sums=sums
    )
    return _worth_compiling(variant, estimate_numpy_seconds(plan, len(sensitive)), notice)


def _worth_compiling(variant: KernelVariant, twin_seconds: float, notice: Notice | None) -> bool:
    """Return whether kernels are compiled, or should be now because the twin would take much longer.

    Starts compilation in the background if the policy allows it and the wait is not worthwhile.
    """
    from discreet.kernels.precompilation import compile_in_background, is_compiled

    policy = compile_policy()
    if is_compiled(variant.name):
        return True
    if policy == "wait" or (policy == "background" and twin_seconds > _TWIN_SECONDS):
        if notice is not None:
            notice("compiling the kernels (once, about ten seconds)")
        return True
    started = policy == "background" and compile_in_background(variant)
    if notice is not None and started:
        notice("first run: using numpy while the kernels compile in the background (once)")
    return False


def _evaluate_kernels(
    plan: RotationPlan,
    table: FrequencySet,
    threads: int,
    step: Callable[[int], None] | None,
    room: Callable[[int], None] | None = None,
    notice: Notice | None = None,
) -> Histograms:
    from discreet.kernels.plan_evaluation import evaluate_plan
    from discreet.kernels.precompilation import KernelVariant, mark_compiled

    bits, sensitive = None, table.sensitive
    if sensitive:
        bits = np.concatenate([pack_bit_sets(s, len(plan.source)) for s in sensitive], axis=1)[plan.source]
    sizes = tuple(s.size for s in sensitive)

    def run(places: NDArray[np.int64]) -> object:
        some = None if bits is None else bits[places]
        return evaluate_plan(restrict_plan(plan, places), some, sizes, threads=threads)

    factor = 1.0 + SETS_FACTOR * len(sensitive)
    announce(lambda: sample_seconds(plan, run, factor), build_lattice(table), table, notice)
    histograms = evaluate_plan(plan, bits, sizes, threads=threads, progress=step, room=room)
    mark_compiled(KernelVariant.of(plan, tuple(count_words_of(s.size) for s in sensitive)).name)
    return histograms


def _evaluate_twin(
    plan: RotationPlan,
    table: FrequencySet,
    step: Callable[[int], None] | None,
    further: tuple[BoundCriterion, ...] = (),
    room: Callable[[int], None] | None = None,
    people: NDArray[np.int64] | None = None,
    cells: CellsScore | None = None,
) -> Histograms:
    from discreet.kernels.lattice_rotation_twin import evaluate_twin

    counted, scored = find_counted_attributes(further), make_score_functions(further, table)
    if cells is not None:
        counted, scored = cells.places_of_counts, (cells.scoring(table),)
    return evaluate_twin(
        plan,
        tuple(_pair_set(plan, sets, counted=index in counted) for index, sets in enumerate(table.sensitive)),
        None if table.subjects is None else _pair_set(plan, table.subjects),
        further=scored,
        people=None if people is None else people[plan.source],
        progress=step,
        room=room,
    )


def pack_bit_sets(sets: ValueSets, row_types: int) -> NDArray[np.uint64]:
    """Return the values of each row type as a bit set, shape ``(row types, words)``."""
    words = count_words_of(sets.size)
    bits = np.zeros(row_types * words, np.uint64)
    codes = sets.codes.astype(np.int64)
    word = np.repeat(np.arange(row_types) * words, np.diff(sets.offsets)) + codes // 64
    np.bitwise_or.at(bits, word, np.uint64(1) << (codes % 64).astype(np.uint64))
    return bits.reshape(row_types, words)


def _pair_set(plan: RotationPlan, sets: ValueSets, *, counted: bool = False) -> PairSet:
    from discreet.kernels.lattice_rotation_twin import make_pair_set

    subjects = None if sets.subjects is None else sets.subjects.astype(np.int64)
    counts = sets.counts if counted else None
    return make_pair_set(plan, sets.offsets, sets.codes, sets.size, subjects, counts)


def _make_stepper(progress: Progress | None, total: int) -> Callable[[int], None] | None:
    if progress is None:
        return None
    done = 0

    def step(nodes: int) -> None:
        nonlocal done
        done += nodes
        progress(done, total)

    return step
