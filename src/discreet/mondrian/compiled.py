"""Handing a space to the compiled kernels: row types packed into words, work shared among threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.frequency.kernel_choice import choose_kernels
from discreet.model.frequency_set import FrequencySet
from discreet.model.leaf_order import LeafOrder
from discreet.model.requirement import Requirement
from discreet.mondrian.options import Categorical, Cut
from discreet.mondrian.relaxed import Parts
from discreet.mondrian.space import Space, cutting_order

if TYPE_CHECKING:
    from discreet.kernels.mondrian_records import Fields, Needs, Scratch

_WORD = 64
_LARGEST = 2**32
_TASKS = 16
_SHARED_FROM = 1 << 16
_TWIN_SECONDS_PER_CLASS = 1e-4
_WORTH_SECONDS = 1.0


def fits_kernels(table: FrequencySet) -> bool:
    """Whether the rows of every row type, and the number of row types, fit half a word."""
    return table.row_types < _LARGEST and int(table.counts.max()) < _LARGEST


def occurring_compiled(table: FrequencySet, categorical: Categorical) -> list[NDArray[np.int64]]:
    """The places of each attribute that occur, ascending, as ``Space.of`` wants them."""
    from discreet.kernels.mondrian import mark_occurring

    orders = [cutting_order(hierarchy, categorical) for hierarchy in table.hierarchies]
    offsets = _offsets(orders)
    seen = np.zeros(int(offsets[-1]) + len(orders[-1].rank), dtype=np.uint8)
    mark_occurring(table.codes, offsets, seen)
    return [
        np.sort(order.rank[np.flatnonzero(seen[start : start + len(order.rank)])])
        for order, start in zip(orders, offsets.tolist(), strict=True)
    ]


def _offsets(orders: Sequence[LeafOrder]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(order.rank) for order in orders[:-1])], dtype=np.int64)


def ready(part: str, table: FrequencySet, k: int, notice: Callable[[str], None] | None) -> bool:
    """Whether to use the kernel of ``strict`` or ``relaxed`` Mondrian (``frequency.kernel_choice``).

    A table that would keep the numpy twin busy for over a second is worth compiling it.
    """
    if not fits_kernels(table):
        return False
    seconds = min(table.row_types, table.rows // k) * _TWIN_SECONDS_PER_CLASS
    return choose_kernels(
        (f"mondrian-{part}",), "partitioning", worth=seconds >= _WORTH_SECONDS, notice=notice
    )


def cut_compiled(space: Space, cut: Cut, requirement: Requirement, threads: int) -> NDArray[np.int64]:
    """The class of each row type, as ``cut_greedily`` numbers them, for k and distinct l."""
    from discreet.kernels.mondrian import number_classes
    from discreet.kernels.readiness import mark_compiled

    job = _Job.of(space, cut, requirement)
    table = space.frequency_set
    whole = np.array([0, table.row_types, 0, table.rows], dtype=np.int64)
    if threads == 1 or table.row_types < _SHARED_FROM:
        job.cut_down(whole, once=False)
    else:
        _share(job, whole, threads)
    classes = np.empty(table.row_types, dtype=np.int64)
    number_classes(job.buffers, job.begins, classes)
    mark_compiled("mondrian-strict")
    return classes


class _Job:
    """The arrays that all threads work on; each segment is one thread's at a time."""

    def __init__(self, buffers: NDArray[np.uint64], fields: Fields, needs: Needs) -> None:
        self.buffers = buffers
        self.begins = np.zeros(buffers.shape[2], dtype=np.uint8)
        self.fields = fields
        self.needs = needs
        self._idle: list[Scratch] = []

    @classmethod
    def of(cls, space: Space, cut: Cut, requirement: Requirement) -> _Job:
        """Row types packed into words, attributes in the order of ``space.priority``."""
        from discreet.kernels.mondrian import pack

        table = space.frequency_set
        fields, key_words = _fields(space)
        buffers = np.empty((2, key_words + 1, table.row_types), dtype=np.uint64)
        shifted = [np.empty(0, dtype=np.uint64)] * len(space.orders)
        words = np.empty(len(space.orders), dtype=np.int64)
        for place, attribute in enumerate(space.priority):
            shifted[attribute] = space.orders[attribute].rank.astype(np.uint64) << fields.shifts[place]
            words[attribute] = fields.words[place]
        pack(table.codes, table.counts, _offsets(space.orders), words, np.concatenate(shifted), buffers[0])
        return cls(buffers, fields, _needs(space, cut, requirement))

    def cut_down(self, segment: NDArray[np.int64], *, once: bool) -> NDArray[np.int64]:
        """Cut a segment down, or once; the segments that are left to cut."""
        from discreet.kernels.mondrian import cut_down

        scratch = self._idle.pop() if self._idle else self.scratch()
        left = cut_down(self.buffers, self.begins, segment, once, self.fields, self.needs, scratch)
        self._idle.append(scratch)
        return left

    def scratch(self) -> Scratch:
        """Work arrays for one thread."""
        from discreet.kernels.mondrian_records import Scratch

        attributes, least = len(self.fields.words), len(self.needs.least)
        offsets = np.append(self.fields.offsets, len(self.fields.values))
        return Scratch(
            rows=np.zeros(int(np.diff(offsets).max()), dtype=np.int64),
            low=np.zeros(attributes, dtype=np.uint64),
            high=np.zeros(attributes, dtype=np.uint64),
            widths=np.zeros(attributes),
            seen=np.zeros((2, len(self.needs.attribute) + 1), dtype=np.int64),
            short=np.zeros((2, least), dtype=np.int64),
        )


def _fields(space: Space) -> tuple[Fields, int]:
    """The bit fields, first fit, and the number of words that they take."""
    from discreet.kernels.mondrian_records import Fields

    words, shifts, masks, used = [], [], [], [0]
    for attribute in space.priority:
        bits = max((len(space.values[attribute]) - 1).bit_length(), 1)
        if used[-1] + bits > _WORD:
            used.append(0)
        words.append(len(used) - 1)
        shifts.append(used[-1])
        masks.append(((1 << bits) - 1) << used[-1])
        used[-1] += bits
    sizes = [len(space.values[attribute]) for attribute in space.priority]
    strengths = [np.append(space.strengths[attribute], 0) for attribute in space.priority]
    return Fields(
        words=np.array(words, dtype=np.int64),
        masks=np.array(masks, dtype=np.uint64),
        shifts=np.array(shifts, dtype=np.uint64),
        offsets=np.cumsum([0, *sizes[:-1]], dtype=np.int64),
        values=np.concatenate([space.values[attribute] for attribute in space.priority]),
        spans=space.spans[list(space.priority)],
        strengths=np.concatenate(strengths),
        nested=np.array([bool((s[:-1] > 1).any()) for s in strengths]),
    ), len(used)


def _needs(space: Space, cut: Cut, requirement: Requirement) -> Needs:
    """The thresholds, and the sensitive codes of the attributes that need l, numbered through."""
    from discreet.kernels.mondrian_records import Needs

    table = space.frequency_set
    asked = [
        (sets, least)
        for sets, least in zip(table.sensitive, requirement.l_of(table.sensitive_attributes), strict=True)
        if least is not None
    ]
    bases = np.cumsum([0, *(sets.size for sets, _ in asked)])
    types = np.arange(table.row_types)
    owners = [np.repeat(types, np.diff(sets.offsets)) for sets, _ in asked]
    codes = [sets.codes + base for (sets, _), base in zip(asked, bases.tolist(), strict=False)]
    owner = np.concatenate([np.empty(0, dtype=np.int64), *owners])
    order = np.argsort(owner, kind="stable")
    return Needs(
        k=requirement.k or 1,
        best=cut is Cut.BEST,
        least=np.array([least for _, least in asked], dtype=np.int64),
        offsets=np.searchsorted(owner[order], np.arange(table.row_types + 1)).astype(np.int64),
        codes=np.concatenate([np.empty(0, dtype=np.int64), *codes])[order].astype(np.int64),
        attribute=np.repeat(np.arange(len(asked)), [sets.size for sets, _ in asked]).astype(np.int64),
    )


def _share(job: _Job, whole: NDArray[np.int64], threads: int) -> None:
    """Cut large segments one cut at a time and hand their halves out; small ones to the end."""
    grain = max(len(job.begins) // (_TASKS * threads), _SHARED_FROM // 16)
    with ThreadPoolExecutor(threads) as pool:
        running: set[Future[Any]] = {pool.submit(job.cut_down, whole, once=True)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                for segment in future.result():
                    small = bool(segment[1] - segment[0] <= grain)
                    running.add(pool.submit(job.cut_down, segment, once=not small))


def divide_compiled(space: Space, requirement: Requirement, threads: int) -> Parts:
    """The parts of a table's rows, as ``divide`` lists them, for k alone."""
    from discreet.kernels.mondrian_relaxed import divide_once
    from discreet.kernels.readiness import mark_compiled

    order = np.lexsort(space.ranks.T[::-1])
    job = _Job.of(space, Cut.MEDIAN, requirement)
    words = job.buffers[0][:, order]
    classes = [(words, space.frequency_set.rows)]
    work = _relaxed_scratch(job)
    if threads > 1 and len(order) >= _SHARED_FROM:
        # Dividing the first few levels here gives every thread several classes, in the order of the result.
        while len(classes) < 4 * threads and min(rows for _, rows in classes) >= 2 * job.needs.k:
            halves = [(divide_once(words, rows, job.fields, *work), rows) for words, rows in classes]
            classes = [
                side
                for (left, right), rows in halves
                for side in ((left, rows // 2), (right, rows - rows // 2))
            ]
    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(lambda part: _divide_down(job, *part), classes))
    mark_compiled("mondrian-relaxed")
    return _joined(results)


def _relaxed_scratch(job: _Job) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]:
    scratch = job.scratch()
    return scratch.rows, np.stack([scratch.low, scratch.high]), scratch.widths


def _divide_down(
    job: _Job, words: NDArray[np.uint64], rows: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The parts of a class divided to the end, as words, and where each final class begins."""
    from discreet.kernels.mondrian_relaxed import divide_down

    k = job.needs.k
    most = rows // k + 1
    parts = np.empty(words.shape[1] + most, dtype=np.uint64)
    begins = np.empty(most, dtype=np.int64)
    work = _relaxed_scratch(job)
    used, classes = divide_down(words, rows, k, job.fields, *work, parts, begins)
    return parts[:used], begins[:classes]


def _joined(results: list[tuple[NDArray[np.uint64], NDArray[np.int64]]]) -> Parts:
    parts = np.concatenate([words for words, _ in results])
    starts = np.cumsum([0, *(len(words) for words, _ in results)])
    begins = np.concatenate([begin + start for (_, begin), start in zip(results, starts, strict=False)])
    classes = np.zeros(len(parts), dtype=np.int64)
    classes[begins[1:]] = 1
    return Parts(
        row_types=(parts & np.uint64(_LARGEST - 1)).astype(np.int64),
        classes=np.cumsum(classes),
        rows=(parts >> np.uint64(32)).astype(np.int64),
    )
