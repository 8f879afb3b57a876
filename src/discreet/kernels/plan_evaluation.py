"""Evaluation of a rotation plan by the compiled kernels on several threads: every node's histogram.

Lays out the arrays that the kernels read and one thread's scratch, and runs the tasks with the interpreter's
lock released. Imports all compiled kernels of the rotation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import local
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.class_scores import ScoreInputs, make_distance_scratch
from discreet.kernels.histograms import SMALL_LIMIT, Histograms
from discreet.kernels.lattice_rotation import (
    GroupState,
    HistogramOutput,
    PlanArrays,
    RotationScratch,
    SetScratch,
    compact_groups,
    recode_keys,
    roll_up_state,
    rotate,
    split_isolated,
    view_buffer,
)
from discreet.kernels.lattice_rotation_plan import (
    ROLL_UP,
    ROTATE,
    TALLY,
    RotationPlan,
    RotationTask,
    count_words_of,
    split_tasks,
)
from discreet.kernels.numba_jit import compiled
from discreet.kernels.packed_values import NO_SETS, OccurringValues
from discreet.kernels.score_tallies import ScoreScratch, tally_isolated_scores, tally_scores
from discreet.kernels.size_tallies import tally_isolated_sets, tally_isolated_sizes, tally_sets, tally_sizes
from discreet.kernels.wide_keys import KeySections, LatticeFace, join_faces, split_faces, split_sections

Array = NDArray[Any]
COMPACT_SHARE = 8
"""Isolated groups are removed only if they are at least one in eight; moving the others costs more."""


@compiled
def find_isolated(
    shape: PlanArrays, scratch: RotationScratch, keys: Array, groups: int, position: int, rotated: bool
) -> tuple[int, int]:
    """Separate groups whose head up to ``position`` is unique from the others; return both numbers.

    A few isolated groups stay among the others, unless keys are recoded here: a recoded key has room for as
    many heads as there are if each head has two groups.
    """
    coded = shape.section[position] >= 0
    if groups == 0 or not (coded or rotated):
        # Typed zero: ``groups - groups`` has the type of the loop's counts, a literal 0 has not.
        return groups, groups - groups
    shared, isolated = split_isolated(
        keys, groups, shape.heads[position], scratch.shared_at, scratch.isolated_at
    )
    if isolated * COMPACT_SHARE < groups and not coded:
        return groups, groups - groups
    return shared, isolated


@compiled
def tally_isolated(
    bits: Array,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: Any,
    inputs: Any,
    counts: Array,
    isolated: int,
    position: int,
) -> None:
    """Tally isolated groups after a position: scores, sets or sizes, decided at compile time by ``bits``."""
    if bits.ndim == 5:
        tally_isolated_sizes(scratch, counts, isolated, shape.limit, position, position + 1)
    elif bits.ndim == 4:
        tally_isolated_scores(shape, scratch, inputs, sets, counts, bits, isolated, position, position + 1)
    else:
        tally_isolated_sets(shape, scratch, sets, counts, bits, isolated, position, position + 1)


@compiled
def remove_isolated(
    state: GroupState,
    groups: int,
    position: int,
    rotated: bool,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: Any,
    inputs: Any,
) -> int:
    """Tally and remove isolated groups, recode the keys of the others for the next section.

    Returns the number of others.
    """
    keys, counts, bits = state
    shared, isolated = find_isolated(shape, scratch, keys, groups, position, rotated)
    tally_isolated(bits, shape, scratch, sets, inputs, counts, isolated, position)
    if isolated > 0:
        compact_groups(state, scratch.shared_at, shared)
    section = shape.section[position]
    if section >= 0 and shared > 0:
        recode_keys(
            keys,
            shared,
            shape.heads[position],
            shape.laters[section],
            shape.later_shifts[section],
            shape.codes[shape.code_starts[section] : shape.code_starts[section + 1]],
            shape.head_shifts[section],
        )
    return shared


@compiled
def tally_state(
    bits: Array,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: Any,
    inputs: Any,
    output: HistogramOutput,
    state: GroupState,
    groups: int,
    node: int,
    entries: Array,
    used: int,
) -> tuple[Array, int]:
    """Tally scores, sets or sizes, decided at compile time by ``bits``, the values of the state."""
    if bits.ndim == 5:
        return tally_sizes(shape, scratch, output, state, groups, node, entries, used)
    elif bits.ndim == 4:  # noqa: RET505 (the compiler drops the other branches of an if-else only)
        return tally_scores(shape, scratch, inputs, sets, output, state, groups, node, entries, used)
    else:
        return tally_sets(shape, scratch, sets, output, state, groups, node, entries, used)


@compiled
def execute(
    program: Array,
    start: int,
    buffer: int,
    buffers: GroupState,
    shape: PlanArrays,
    scratch: RotationScratch,
    sets: SetScratch | ScoreScratch | None,
    inputs: ScoreInputs | None,
    output: HistogramOutput,
) -> Array:
    """Run one task's program: class sizes, distinct sensitive values and, with ``inputs``, scores.

    Buffer ``buffer`` contains ``start`` groups, the others are free. Fills the nodes' parts of ``output``
    and returns the task's entries (the columns of the signature, then rows), which ``output.starts`` and
    ``output.stops`` index.
    """
    groups = np.zeros(len(buffers.keys), np.int64)
    groups[buffer] = start
    # The tallies replace the array by a longer one when it is full.
    entries = np.empty((len(shape.widths) + 2, 65536), buffers.counts.dtype)
    # A zero of the loop's own type: a literal 0 would have another, and numba could not unify the two.
    used = groups[0] - groups[0]
    for operation in range(len(program)):
        # Operands depend on the opcode (``RotationTask``): ``operand`` is a position, or a node for TALLY.
        kind, buffer, operand, more, level = program[operation]
        state = view_buffer(buffers, buffer)
        if kind == ROLL_UP:
            step = shape.steps[shape.step_starts[operand, more] : shape.step_starts[operand, more + 1]]
            field, shift = shape.fields[operand], shape.shifts[operand]
            groups[buffer] = roll_up_state(state, groups[buffer], ~field, shift, step)
        elif kind == TALLY:
            entries, used = tally_state(
                state.bits,
                shape,
                scratch,
                sets,
                inputs,
                output,
                state,
                groups[buffer],
                operand,
                entries,
                used,
            )
        else:
            now = buffer
            if kind == ROTATE:
                now = more
                groups[now] = groups[buffer]
                to, slot = view_buffer(buffers, now), scratch.slot[: shape.sizes[operand, level] + 1]
                rotate(state, groups[now], to, shape.fields[operand], shape.shifts[operand], slot)
                state = to
            if shape.apart[operand]:
                groups[now] = remove_isolated(
                    state, groups[now], operand, kind == ROTATE, shape, scratch, sets, inputs
                )
    return entries[:, :used]


_TASKS_PER_THREAD = 2
_TASKS_TO_SHOW = 16
_TABLED_SIZES = 32
_MOST_TABLED = 1 << 17
_AT_ONCE = 1024
# Tables per cell node by number of cell attributes, and the reverse (``PlanArrays.marginals``).
_MARGINALS = {0: [[0, 1]], 1: [[0, 4], [4, 6]], 2: [[0, 4], [4, 6], [6, 8], [8, 9]]}
_NODE_OF_MARGINAL = {
    0: [0, -1, -1, -1, -1, -1, -1, -1, -1],
    1: [0, 0, -1, -1, 1, -1, -1, -1, -1],
    2: [0, 0, 0, 0, 1, 1, 2, 2, 3],
}


def evaluate_plan(
    plan: RotationPlan,
    bits: NDArray[np.uint64] | None = None,
    values: tuple[int, ...] = (),
    scored: ScoreInputs | None = None,
    *,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    room: Callable[[int], None] | None = None,
) -> Histograms:
    """Compute the histograms of all nodes, equal to those of the twin.

    ``bits`` (shape ``(row types, words)``, in the plan's order) contains each row type's sensitive values as
    concatenated bit sets, one per attribute with ``values`` values, each beginning a new word; None counts
    class sizes only. With ``scored`` it contains the rows of each value (``packed_values``), and the last
    parts of the signatures are the buckets of the scores. ``room`` is called with the bytes of the entries so
    far, and may raise.

    The lattice is divided into tasks by the levels of the first attributes; each task runs its program with
    the interpreter's lock released.

    Notes
    -----
    Time: 1.5 to 5 ns per group of a state that the program visits (``lattice_rotation``); a state has at
    most one group per row type. Memory: the histograms, and per thread the states of one path
    (``lattice.resource_estimates``).
    """
    sections = split_sections(plan)
    if sections is None:
        return _evaluate_faces(plan, bits, values, scored, threads=threads, progress=progress, room=room)
    count = np.uint32 if int(plan.counts.sum()) < 2**32 else np.uint64
    shape = _make_plan_arrays(plan, sections, values, _signature_widths(values, scored), count)
    nodes = plan.nodes
    output = HistogramOutput(
        small=np.zeros((nodes, SMALL_LIMIT + 1), count),
        classes=np.zeros(nodes, np.int64),
        starts=np.zeros(nodes, np.int64),
        stops=np.zeros(nodes, np.int64),
    )
    start = GroupState(sections.keys, plan.counts.astype(count), _reshape_bits(bits, values, scored))
    per_thread = local()

    def run(task: RotationTask) -> tuple[RotationTask, Array]:
        if not hasattr(per_thread, "worker"):
            per_thread.worker = _make_worker(start, shape, scored)
        return task, _run_task(task, start, shape, per_thread.worker, scored, output)

    parts: list[Array] = []
    offset = 0
    least = _TASKS_PER_THREAD * threads if threads > 1 else 1
    work = split_tasks(plan, least if progress is None else max(least, _TASKS_TO_SHOW))
    for task, entries in _in_threads(run, work, threads):
        done = _nodes_of(task, shape)
        output.starts[done] += offset
        output.stops[done] += offset
        offset += entries.shape[1]
        parts.append(entries)
        if room is not None:
            room(sum(part.nbytes for part in parts))
        if progress is not None:
            progress(len(done))
    entries = np.concatenate(parts, axis=1)
    return Histograms(
        classes=output.classes,
        small=output.small,
        starts=output.starts,
        stops=output.stops,
        signatures=entries[:-1],
        rows=entries[-1],
        partial=bits is None,
    )


def _evaluate_faces(
    plan: RotationPlan,
    bits: NDArray[np.uint64] | None,
    values: tuple[int, ...],
    scored: ScoreInputs | None,
    *,
    threads: int,
    progress: Callable[[int], None] | None,
    room: Callable[[int], None] | None,
) -> Histograms:
    """Evaluate a lattice whose keys need two parts (``kernels.wide_keys``), and join the histograms."""
    parts: list[tuple[LatticeFace, Histograms]] = []

    def check_room(bytes_of_part: int) -> None:
        assert room is not None
        room(bytes_of_part + sum(evaluated.nbytes for _, evaluated in parts))

    for face in split_faces(plan, bits, added=scored is not None):
        evaluated = evaluate_plan(
            face.plan,
            face.bits,
            values,
            scored,
            threads=threads,
            progress=progress,
            room=None if room is None else check_room,
        )
        parts.append((face, evaluated))
    return join_faces(plan.nodes, parts)


def _signature_widths(values: tuple[int, ...], scored: ScoreInputs | None) -> NDArray[np.uint64]:
    """Return the bits of each part of a signature after the size."""
    buckets = [] if scored is None else [int(end).bit_length() for end in scored.ends]
    return np.array([*(size.bit_length() for size in values), *buckets], np.uint64)


def _reshape_bits(
    bits: NDArray[np.uint64] | None, values: tuple[int, ...], scored: ScoreInputs | None
) -> NDArray[np.uint64]:
    """Reshape bit sets to the form by which ``kernels.packed_values`` recognizes them."""
    if bits is None:
        return NO_SETS
    if scored is not None:
        return bits.reshape(len(bits), 1, -1, 4)
    if len(values) > 1 or bits.shape[1] > 2:
        return bits
    return bits[:, 0].copy() if bits.shape[1] == 1 else bits.reshape(-1, 1, 2)


def _make_plan_arrays(
    plan: RotationPlan,
    sections: KeySections,
    values: tuple[int, ...],
    widths: NDArray[np.uint64],
    count: Any,
) -> PlanArrays:
    """Build the arrays that the kernels read from the plan."""
    tail, key, parts = plan.tail, sections.keys.dtype.type, sections.parts
    steps, step_starts = _steps(plan, sections)
    section = np.full(len(plan.order), -1)
    section[[part.stop - 1 for part in parts[:-1]]] = np.arange(len(parts) - 1)
    # The tail itself sets isolated groups apart, from those of the last head attribute on.
    apart = np.arange(len(plan.order)) < tail.head - 1
    apart |= section >= 0
    sizes = np.zeros((len(plan.order), max(map(len, plan.sizes))), np.int64)
    for position, of_position in enumerate(plan.sizes):
        sizes[position, : len(of_position)] = of_position
    levels = [len(steps) for steps in plan.steps]
    cell_strides = [0]
    for position in range(tail.head, tail.outer):
        cell_strides += [stride + plan.strides[position] for stride in cell_strides]
    return PlanArrays(
        shifts=np.array(sections.shifts, key),
        fields=np.array([sections.field(plan, position) for position in range(len(plan.order))], key),
        steps=steps,
        step_starts=step_starts,
        sizes=sizes,
        heads=np.array(
            [sections.head_of(plan, part, at + 1) for part in parts for at in range(part.first, part.stop)],
            key,
        ),
        apart=apart,
        section=section,
        laters=np.array([part.later for part in parts], key),
        later_shifts=np.array([part.later_shift % 64 for part in parts], key),
        head_shifts=np.array([part.head_shift for part in parts[1:]], key),
        codes=np.concatenate([*sections.fields, np.zeros(1, key)]),
        code_starts=np.cumsum([0, *map(len, sections.fields)]),
        head=tail.head,
        base=tail.head if tail.head and apart[tail.head - 1] else max(tail.head - 1, 0),
        head_fields=key(sections.head_of(plan, parts[-1], tail.head)),
        cell_mask=key((1 << tail.cells) - 1),
        cell_strides=np.array(cell_strides),
        marginals=np.array(_MARGINALS[tail.cells]),
        node_of_marginal=np.array(_NODE_OF_MARGINAL[tail.cells]),
        words=np.cumsum([0, *(count_words_of(size) for size in values)]),
        widths=widths,
        outer_levels=levels[tail.outer],
        outer_stride=plan.strides[tail.outer],
        limit=count(SMALL_LIMIT),
    )


def _steps(plan: RotationPlan, sections: KeySections) -> tuple[Array, NDArray[np.int64]]:
    """Concatenate the steps of all positions, each shifted into its field; return them and their starts."""
    key = sections.keys.dtype.type
    starts = np.zeros((len(plan.order), max(map(len, plan.steps)) + 1), np.int64)
    step_keys, end = [np.zeros(0, key)], 0
    for position, of_position in enumerate(plan.steps):
        for level, step in enumerate(of_position):
            starts[position, level] = end
            # Level 0 has no step: no ordinal is rolled up to it.
            if level:
                step_keys.append(step.astype(key) << key(sections.shifts[position]))
                end += len(step)
        starts[position, len(of_position) :] = end
    return np.concatenate(step_keys), starts


def _nodes_of(task: RotationTask, shape: PlanArrays) -> NDArray[np.int64]:
    """Return the indices of the nodes that a task evaluates."""
    lowest = task.program[task.program[:, 0] == TALLY, 2]
    levels = np.arange(shape.outer_levels) * shape.outer_stride
    offsets = (levels[:, np.newaxis] + shape.cell_strides).ravel()
    nodes: NDArray[np.int64] = (lowest[:, np.newaxis] + offsets).ravel()
    return nodes


class _Worker(NamedTuple):
    """Memory that one thread reuses for all of its tasks."""

    buffers: GroupState
    scratch: RotationScratch
    sets: SetScratch | ScoreScratch | None


def _make_worker(start: GroupState, shape: PlanArrays, scored: ScoreInputs | None) -> _Worker:
    number = max(2, shape.head + 1)
    buffers = GroupState(*(np.empty((number, *array.shape), array.dtype) for array in start))
    sets: SetScratch | ScoreScratch | None = None
    if scored is not None:
        sets = _make_score_scratch(start.counts, start.bits, shape, scored)
    elif start.bits.ndim != NO_SETS.ndim:
        sets = _make_set_scratch(start.counts, start.bits, shape)
    return _Worker(buffers, _make_scratch(start.keys, start.counts, shape), sets)


def _run_task(
    task: RotationTask,
    start: GroupState,
    shape: PlanArrays,
    worker: _Worker,
    scored: ScoreInputs | None,
    output: HistogramOutput,
) -> Array:
    """Run a task's program, beginning with the row types."""
    buffers, scratch, sets = worker
    for array, first in zip(buffers, start, strict=True):
        array[task.start] = first
    groups = len(start.keys)
    return execute(task.program, groups, task.start, buffers, shape, scratch, sets, scored, output)


def _make_scratch(keys: Array, counts: Array, shape: PlanArrays) -> RotationScratch:
    capacity, nodes, limit = len(keys), len(shape.cell_strides), int(shape.limit)
    room = min(capacity, int(counts.sum(dtype=np.uint64)) // limit) + 2
    return RotationScratch(
        slot=np.zeros(int(shape.sizes[: shape.head].max(initial=1)) + 2, np.int64),
        shared_at=np.empty(capacity + 1, np.uint32),
        isolated_at=np.empty(capacity + 1, np.uint32),
        row_at=np.arange(0, 4 * capacity + 4, 4),
        row_keys=np.empty((2, capacity + 2), keys.dtype),
        row_cells=np.empty((2, 4 * capacity + 8), counts.dtype),
        big=np.empty((nodes, room), counts.dtype),
        bigs=np.zeros(nodes, np.int64),
        merged=np.empty(2 * room, counts.dtype),
        tables=np.zeros((9, limit + 2), counts.dtype),
        isolated_tables=np.zeros((shape.head + 2, limit + 2), counts.dtype),
        isolated_big=np.empty(room, counts.dtype),
        isolated_ends=np.zeros(shape.head + 2, np.int64),
        sizes=np.zeros(9, counts.dtype),
    )


def _make_set_scratch(counts: Array, bits: Array, shape: PlanArrays) -> SetScratch:
    """Allocate scratch of sets: tables for a single sensitive attribute, lists of signatures for several."""
    capacity, words = len(bits), bits.shape[1:]
    nodes = len(shape.cell_strides)
    tabled = _TABLED_SIZES if len(shape.widths) == 1 else 0
    listed = int(counts.sum(dtype=np.uint64)) // tabled if tabled else capacity
    room = min(capacity, listed) + 2
    distinct = 1 + (min(tabled, (1 << int(shape.widths[0])) - 1) if tabled else 0)
    return SetScratch(
        row_bits=np.empty((2, 4 * capacity + 8, *words), np.uint64),
        tables=np.zeros((nodes + 1, tabled + 1, distinct), np.uint32),
        listed=np.empty((nodes + 1, room), np.uint64),
        lengths=np.zeros(nodes + 1, np.int64),
        isolated_tables=np.zeros((shape.head + 2, tabled + 1, distinct), np.uint32),
        isolated_listed=np.empty(room, np.uint64),
        isolated_ends=np.zeros(shape.head + 2, np.int64),
        merged=np.empty(3 * room, np.uint64),
        packed=np.zeros(9, np.uint64),
    )


def _make_score_scratch(counts: Array, bits: Array, shape: PlanArrays, scored: ScoreInputs) -> ScoreScratch:
    """Allocate scratch of scores: tables for classes small enough to limit their size, lists for others."""
    capacity, words = len(bits), bits.shape[1:]
    nodes, width = len(shape.cell_strides), int(shape.widths.sum())
    parts = nodes + 1 + shape.head + 2
    tabled = max(0, min(_TABLED_SIZES, (_MOST_TABLED >> width) - 1))
    room = min(capacity, int(counts.sum(dtype=np.uint64)) // (tabled or 1)) + 2
    signatures = (tabled + 1) << width if tabled else 1
    values = scored.table.shape[1]
    return ScoreScratch(
        row_bits=np.empty((2, 4 * capacity + 8, *words), np.uint64),
        tables=np.zeros((parts, signatures), np.uint32),
        met=np.empty((parts, min(signatures, 2 * capacity) + 1), np.uint64),
        numbers=np.zeros(parts, np.int64),
        listed=np.empty((parts, room), np.uint64),
        lengths=np.zeros(parts, np.int64),
        merged=np.empty(3 * room, np.uint64),
        words=np.zeros((_AT_ONCE, *words), np.uint64),
        batch_sizes=np.zeros(_AT_ONCE, np.uint64),
        packed=np.zeros(_AT_ONCE, np.uint64),
        scores=np.zeros(_AT_ONCE, np.int64),
        notes=np.zeros((2 * _AT_ONCE, 2), np.int64),
        occurring_values=OccurringValues(
            codes=np.zeros(_AT_ONCE * values, np.int64),
            counts=np.zeros(_AT_ONCE * values, np.int64),
            starts=np.zeros(_AT_ONCE + 1, np.int64),
            known=np.zeros(_AT_ONCE, np.int64),
        ),
        top=np.zeros(int(scored.numbers.max(initial=0)) + 1, np.int64),
        moving=make_distance_scratch(values),
        slot=np.zeros(16, np.int64),
    )


def _in_threads(
    run: Callable[[RotationTask], tuple[RotationTask, Array]], work: list[RotationTask], threads: int
) -> Iterator[tuple[RotationTask, Array]]:
    """Yield each task's result as soon as it is ready."""
    if threads == 1 or len(work) == 1:
        yield from map(run, work)
        return
    with ThreadPoolExecutor(min(threads, len(work))) as pool:
        for future in as_completed([pool.submit(run, task) for task in work]):
            yield future.result()
