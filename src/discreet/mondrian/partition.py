"""Mondrian, top-down multidimensional partitioning (LeFevre et al. 2006).

Rows are points with one coordinate per quasi-identifier (``space``). The class of the whole table is cut in
two across one attribute, and so on, until no cut leaves two classes that meet the requirement. Strict cuts
run between two values; relaxed ones divide the rows at the median.

Differences from the paper: row types with counts are cut instead of rows; if the median of one attribute
fails, the next widest attribute is tried, and with ``best`` every allowable cut. Any requirement that is
monotone under merging is allowed, so each proposed cut is tested separately.

The compiled kernels read row types packed into words, and threads share the segments. Cost: about
n·d·log2(rows/k) steps for n row types and d attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NoSolution
from discreet.frequency.class_requirement import (
    announce_subjects,
    find_globally_failing,
    require_one_row_per_subject,
)
from discreet.frequency.class_summary import classes_to_recoding
from discreet.frequency.fact_counter import FactCounter
from discreet.frequency.kernel_choice import choose_kernels
from discreet.model.class_recoding import AllOf, ClassRecoding, ClassTest, RecodingModel, requirement_test
from discreet.model.frequency_set import FrequencySet, class_test_of_subjects_error, drop_unneeded_subjects
from discreet.model.hierarchy import LeafOrder
from discreet.model.request import Backend
from discreet.model.requirement import Requirement
from discreet.mondrian.greedy_cuts import (
    MondrianProgress,
    RowParts,
    cut_greedily,
    divide_rows,
    oracle_of_test,
)
from discreet.mondrian.mondrian_options import Categorical, Cut, MondrianOptions
from discreet.mondrian.space import CutChooser, CutSpace, WidestFirst, leaf_order_of_cuts
from discreet.settings import Settings

if TYPE_CHECKING:
    from discreet.kernels.mondrian_cuts import AttributeFields, ClassNeeds, CutScratch


_WORD_BITS = 64
_HALF_WORD_VALUES = 2**32
_TASKS_PER_THREAD = 16
_FEWEST_SHARED_TYPES = 1 << 16
_TWIN_SECONDS_PER_CLASS = 1e-4
_SECONDS_WORTH_COMPILING = 1.0


def fits_kernels(table: FrequencySet) -> bool:
    """Check whether the rows of every row type, and the number of row types, fit in half a word."""
    return table.row_types < _HALF_WORD_VALUES and int(table.counts.max()) < _HALF_WORD_VALUES


def find_occurring(table: FrequencySet, categorical: Categorical) -> list[NDArray[np.int64]]:
    """Return the occurring positions of each attribute, ascending, in the form that ``CutSpace.of`` reads."""
    from discreet.kernels.mondrian_loops import mark_occurring

    orders = [leaf_order_of_cuts(hierarchy, categorical) for hierarchy in table.hierarchies]
    offsets = _order_offsets(orders)
    seen = np.zeros(int(offsets[-1]) + len(orders[-1].rank), dtype=np.uint8)
    mark_occurring(table.codes, offsets, seen)
    return [
        np.sort(order.rank[np.flatnonzero(seen[start : start + len(order.rank)])])
        for order, start in zip(orders, offsets.tolist(), strict=True)
    ]


def _order_offsets(orders: Sequence[LeafOrder]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(order.rank) for order in orders[:-1])], dtype=np.int64)


def choose_partition_kernels(
    part: str, table: FrequencySet, k: int, notice: Callable[[str], None] | None
) -> bool:
    """Check whether to use the kernel of ``strict`` or ``relaxed`` Mondrian (``frequency.kernel_choice``).

    Compiling is worth it for a table that takes the numpy twin over a second.
    """
    if not fits_kernels(table):
        return False
    seconds = min(table.row_types, table.rows // k) * _TWIN_SECONDS_PER_CLASS
    return choose_kernels(
        (f"mondrian-{part}",), "partitioning", worth=seconds >= _SECONDS_WORTH_COMPILING, notice=notice
    )


def cut_by_kernels(space: CutSpace, cut: Cut, requirement: Requirement, threads: int) -> NDArray[np.int64]:
    """Return the class of each row type, numbered as by ``cut_greedily``, for k and distinct l."""
    from discreet.kernels.mondrian_loops import number_final_classes
    from discreet.kernels.precompilation import mark_compiled

    job = _KernelJob.of(space, cut, requirement)
    table = space.frequency_set
    whole_table = np.array([0, table.row_types, 0, table.rows], dtype=np.int64)
    if threads == 1 or table.row_types < _FEWEST_SHARED_TYPES:
        job.cut_down(whole_table, once=False)
    else:
        _cut_on_threads(job, whole_table, threads)
    classes = np.empty(table.row_types, dtype=np.int64)
    number_final_classes(job.buffers, job.begins, classes)
    mark_compiled("mondrian-strict")
    return classes


class _KernelJob:
    """Arrays that all threads work on; only one thread at a time works on each segment."""

    def __init__(self, buffers: NDArray[np.uint64], fields: AttributeFields, needs: ClassNeeds) -> None:
        self.buffers = buffers
        self.begins = np.zeros(buffers.shape[2], dtype=np.uint8)
        self.fields = fields
        self.needs = needs
        self._idle: list[CutScratch] = []

    @classmethod
    def of(cls, space: CutSpace, cut: Cut, requirement: Requirement) -> _KernelJob:
        """Pack the row types into words, with the attributes in the order of ``space.priority``."""
        from discreet.kernels.mondrian_loops import pack_row_types

        table = space.frequency_set
        fields, key_words = _pack_fields(space)
        buffers = np.empty((2, key_words + 1, table.row_types), dtype=np.uint64)
        shifted = [np.empty(0, dtype=np.uint64)] * len(space.orders)
        words = np.empty(len(space.orders), dtype=np.int64)
        for index, attribute in enumerate(space.priority):
            shifted[attribute] = space.orders[attribute].rank.astype(np.uint64) << fields.shifts[index]
            words[attribute] = fields.words[index]
        pack_row_types(
            table.codes,
            table.counts,
            _order_offsets(space.orders),
            words,
            np.concatenate(shifted),
            buffers[0],
        )
        return cls(buffers, fields, _kernel_requirement(space, cut, requirement))

    def cut_down(self, segment: NDArray[np.int64], *, once: bool) -> NDArray[np.int64]:
        """Cut a segment to the end, or make one cut; return the segments that remain to be cut.

        Scratch arrays are reused by later calls on any thread.
        """
        from discreet.kernels.mondrian_loops import cut_segment

        try:
            scratch = self._idle.pop()
        except IndexError:  # another thread may take the last one between a test and the pop
            scratch = self.scratch()
        left = cut_segment(self.buffers, self.begins, segment, once, self.fields, self.needs, scratch)
        self._idle.append(scratch)
        return left

    def scratch(self) -> CutScratch:
        """Allocate the work arrays of one thread."""
        from discreet.kernels.mondrian_cuts import CutScratch

        attributes, least = len(self.fields.words), len(self.needs.least)
        offsets = np.append(self.fields.offsets, len(self.fields.values))
        return CutScratch(
            rows=np.zeros(int(np.diff(offsets).max()), dtype=np.int64),
            low=np.zeros(attributes, dtype=np.uint64),
            high=np.zeros(attributes, dtype=np.uint64),
            widths=np.zeros(attributes),
            seen=np.zeros((2, len(self.needs.attribute) + 1), dtype=np.int64),
            short=np.zeros((2, least), dtype=np.int64),
        )


def _pack_fields(space: CutSpace) -> tuple[AttributeFields, int]:
    """Assign bit fields to the attributes by first fit; return them and the number of words used."""
    from discreet.kernels.mondrian_cuts import AttributeFields

    words, shifts, masks, used = [], [], [], [0]
    for attribute in space.priority:
        bits = max((len(space.values[attribute]) - 1).bit_length(), 1)
        if used[-1] + bits > _WORD_BITS:
            used.append(0)
        words.append(len(used) - 1)
        shifts.append(used[-1])
        masks.append(((1 << bits) - 1) << used[-1])
        used[-1] += bits
    sizes = [len(space.values[attribute]) for attribute in space.priority]
    strengths = [np.append(space.strengths[attribute], 0) for attribute in space.priority]
    return AttributeFields(
        words=np.array(words, dtype=np.int64),
        masks=np.array(masks, dtype=np.uint64),
        shifts=np.array(shifts, dtype=np.uint64),
        offsets=np.cumsum([0, *sizes[:-1]], dtype=np.int64),
        values=np.concatenate([space.values[attribute] for attribute in space.priority]),
        spans=space.spans[list(space.priority)],
        strengths=np.concatenate(strengths),
        nested=np.array([bool((s[:-1] > 1).any()) for s in strengths]),
    ), len(used)


def _kernel_requirement(space: CutSpace, cut: Cut, requirement: Requirement) -> ClassNeeds:
    """Return the thresholds, and the consecutive sensitive codes of the attributes that need l."""
    from discreet.kernels.mondrian_cuts import ClassNeeds

    table = space.frequency_set
    diversities = [
        (sets, least)
        for sets, least in zip(table.sensitive, requirement.l_of(table.sensitive_attributes), strict=True)
        if least is not None
    ]
    bases = np.cumsum([0, *(sets.size for sets, _ in diversities)])
    types = np.arange(table.row_types)
    owners = [np.repeat(types, np.diff(sets.offsets)) for sets, _ in diversities]
    codes = [sets.codes + base for (sets, _), base in zip(diversities, bases.tolist(), strict=False)]
    owner = np.concatenate([np.empty(0, dtype=np.int64), *owners])
    order = np.argsort(owner, kind="stable")
    return ClassNeeds(
        k=requirement.k or 1,
        best=cut is Cut.BEST,
        least=np.array([least for _, least in diversities], dtype=np.int64),
        offsets=np.searchsorted(owner[order], np.arange(table.row_types + 1)).astype(np.int64),
        codes=np.concatenate([np.empty(0, dtype=np.int64), *codes])[order].astype(np.int64),
        attribute=np.repeat(np.arange(len(diversities)), [sets.size for sets, _ in diversities]).astype(
            np.int64
        ),
    )


def _cut_on_threads(job: _KernelJob, whole_table: NDArray[np.int64], threads: int) -> None:
    """Cut large segments one cut at a time and submit the halves; cut small segments to the end."""
    grain = max(len(job.begins) // (_TASKS_PER_THREAD * threads), _FEWEST_SHARED_TYPES // 16)
    with ThreadPoolExecutor(threads) as pool:
        running: set[Future[Any]] = {pool.submit(job.cut_down, whole_table, once=True)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                for segment in future.result():
                    small = bool(segment[1] - segment[0] <= grain)
                    running.add(pool.submit(job.cut_down, segment, once=not small))


def divide_by_kernels(space: CutSpace, requirement: Requirement, threads: int) -> RowParts:
    """Divide the rows of a table into classes as ``divide_rows`` does, for k only."""
    from discreet.kernels.mondrian_loops import divide_once
    from discreet.kernels.precompilation import mark_compiled

    order = np.lexsort(space.ranks.T[::-1])
    job = _KernelJob.of(space, Cut.MEDIAN, requirement)
    words = job.buffers[0][:, order]
    classes = [(words, space.frequency_set.rows)]
    work = _relaxed_scratch(job)
    if threads > 1 and len(order) >= _FEWEST_SHARED_TYPES:
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
    return _join_results(results)


def _relaxed_scratch(job: _KernelJob) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]:
    scratch = job.scratch()
    return scratch.rows, np.stack([scratch.low, scratch.high]), scratch.widths


def _divide_down(
    job: _KernelJob, words: NDArray[np.uint64], rows: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Divide a class to the end; return the parts as words, and the start of each final class."""
    from discreet.kernels.mondrian_loops import divide_fully

    k = job.needs.k
    most = rows // k + 1
    parts = np.empty(words.shape[1] + most, dtype=np.uint64)
    begins = np.empty(most, dtype=np.int64)
    work = _relaxed_scratch(job)
    used, classes = divide_fully(words, rows, k, job.fields, *work, parts, begins)
    return parts[:used], begins[:classes]


def _join_results(results: list[tuple[NDArray[np.uint64], NDArray[np.int64]]]) -> RowParts:
    """Concatenate and unpack the parts: rows in the upper half word, row type in the lower."""
    parts = np.concatenate([words for words, _ in results])
    starts = np.cumsum([0, *(len(words) for words, _ in results)])
    begins = np.concatenate([begin + start for (_, begin), start in zip(results, starts, strict=False)])
    classes = np.zeros(len(parts), dtype=np.int64)
    classes[begins[1:]] = 1
    return RowParts(
        row_types=(parts & np.uint64(_HALF_WORD_VALUES - 1)).astype(np.int64),
        classes=np.cumsum(classes),
        rows=(parts >> np.uint64(32)).astype(np.int64),
    )


MondrianNotice = Callable[[str], None]
"""Callback that receives one line about the cause of a delay."""


def partition_table(
    frequency_set: FrequencySet,
    requirement: Requirement,
    settings: Settings,
    options: MondrianOptions = MondrianOptions(),  # noqa: B008
    *,
    class_test: ClassTest | None = None,
    chooser: CutChooser | None = None,
    evaluator: Backend | str = Backend.AUTO,
    notice: MondrianNotice | None = None,
    progress: MondrianProgress | None = None,
) -> ClassRecoding:
    """Partition a table into classes that meet a requirement, by strict or relaxed Mondrian.

    No row is suppressed. The result does not depend on the order of row types, ``settings.threads`` or
    ``evaluator``.

    Parameters
    ----------
    frequency_set
        The counted table.
    requirement
        Criteria that each class must meet. Criteria other than k and distinct l are evaluated in numpy.
    settings
        ``threads`` is the number of threads of the kernels.
    options
        Options of Mondrian.
    class_test
        A further test of the caller that each class must pass; evaluated in numpy.
    chooser
        A chooser of cuts that replaces ``WidestFirst``; evaluated in numpy.
    evaluator
        Kernels, numpy twin, or the choice between them.

    Returns
    -------
    ClassRecoding
        The classes and their published cells.

    Raises
    ------
    NoSolution
        If the table as a whole fails the requirement.
    InputError
        If neither a requirement nor a class test is given, for l of an attribute that is not sensitive, for a
        subject with several rows in relaxed Mondrian or together with a class test, for a criterion that is
        not monotone, and for relaxed Mondrian with more than k and l.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
    """
    counted = drop_unneeded_subjects(frequency_set)
    if counted.subjects is not None:
        if options.relaxed:
            require_one_row_per_subject(frequency_set)
        if class_test is not None:
            raise class_test_of_subjects_error()
        classes = _classes_by_subject(counted, requirement, options, chooser, notice, progress)
        return _build_recoding(frequency_set, classes, requirement, options)
    if options.relaxed:
        _check_relaxed(requirement, class_test, chooser)
    test = _build_class_test(counted, requirement, class_test)
    every = np.arange(counted.row_types)
    if not counted.row_types or not oracle_of_test(counted, test)(every):
        raise _whole_table_error(counted, requirement)
    how = Backend(evaluator)
    if options.relaxed:
        space = CutSpace.of(counted, options)
        if not requirement.of_values and _use_kernels(
            "relaxed", counted, requirement.least_rows, how, notice
        ):
            parts = divide_by_kernels(space, requirement, settings.threads)
        else:
            parts = divide_rows(space, requirement)
        return _build_recoding(frequency_set, parts.classes, requirement, options, parts)
    if class_test is None and chooser is None and not requirement.others:
        classes = strict_classes(
            counted, requirement, settings, options, evaluator=how, notice=notice, progress=progress
        )
    else:
        if requirement.others and notice is not None:
            names = ", ".join(dict.fromkeys(criterion.name for criterion in requirement.others))
            notice(f"no compiled kernel for {names}: using numpy, which is much slower")
        space = CutSpace.of(counted, options)
        widest = chooser or WidestFirst(options, requirement.least_rows)
        classes = cut_greedily(space, widest, oracle_of_test(counted, test), progress)
    return replace(_build_recoding(frequency_set, classes, requirement, options), class_test=class_test)


def strict_classes(
    table: FrequencySet,
    requirement: Requirement,
    settings: Settings,
    options: MondrianOptions,
    *,
    occurring: Sequence[NDArray[np.int64]] | None = None,
    evaluator: Backend = Backend.AUTO,
    notice: MondrianNotice | None = None,
    progress: MondrianProgress | None = None,
) -> NDArray[np.int64]:
    """Return the class of each row type for k and distinct l.

    The table must have no subjects and must meet the requirement as a whole. ``occurring`` is given for a
    fragment of a table (see ``CutSpace.of``).
    """
    if _use_kernels("strict", table, requirement.least_rows, evaluator, notice):
        space = CutSpace.of(table, options, occurring or find_occurring(table, options.categorical))
        return cut_by_kernels(space, options.cut, requirement, settings.threads)
    test = requirement_test(requirement, table.sensitive_attributes)
    space = CutSpace.of(table, options, occurring)
    widest = WidestFirst(options, requirement.least_rows)
    return cut_greedily(space, widest, oracle_of_test(table, test), progress)


def _classes_by_subject(
    table: FrequencySet,
    requirement: Requirement,
    options: MondrianOptions,
    chooser: CutChooser | None,
    notice: MondrianNotice | None,
    progress: MondrianProgress | None,
) -> NDArray[np.int64]:
    """Return the class of each row type, with each class tested by the number of its subjects.

    Cuts are proposed by row counts, because the median of rows divides an analyst's table best; each side
    is then tested by its subjects.
    """
    _build_class_test(table, requirement, None)
    facts = FactCounter.of(table, requirement)
    if not table.row_types or not facts.holds(np.arange(table.row_types)):
        raise _whole_table_error(table, requirement)
    announce_subjects("partitioning", notice)
    space = CutSpace.of(table, options)
    widest = chooser or WidestFirst(options, requirement.least_rows)
    return cut_greedily(space, widest, facts.holds, progress)


def _build_recoding(
    frequency_set: FrequencySet,
    classes: NDArray[np.int64],
    requirement: Requirement,
    options: MondrianOptions,
    parts: RowParts | None = None,
) -> ClassRecoding:
    """Build the recoding of the class of each row type, or of each of the parts that relaxed cuts make."""
    return classes_to_recoding(
        frequency_set,
        classes,
        requirement,
        RecodingModel.ORDERED_MULTI if parts is None else RecodingModel.RELAXED_MULTI,
        options.summary,
        row_types=None if parts is None else parts.row_types,
        rows=None if parts is None else parts.rows,
        suppression=options.suppression,
        by_tree=options.by_tree,
    )


def _build_class_test(
    counted: FrequencySet, requirement: Requirement, class_test: ClassTest | None
) -> ClassTest:
    if requirement.is_empty and class_test is None:
        raise InputError("no requirement", allowed="k, l, or a class test")
    FactCounter.of(counted, requirement)
    known = tuple(sets.of for sets in counted.sensitive)
    plain = requirement_test(requirement, counted.sensitive_attributes, known)
    if class_test is None:
        return plain
    uncounted = [sets.attribute for sets in counted.sensitive if sets.counts is None]
    if uncounted:
        raise InputError(
            f"the frequency set contains no row counts by value of '{uncounted[0]}', which a class test may "
            "need",
            advice="Count the table by count_frequency_set.",
        )
    return AllOf((plain, class_test))


def _whole_table_error(counted: FrequencySet, requirement: Requirement) -> NoSolution:
    return NoSolution(
        f"the table as a whole, {counted.rows:,} rows, does not meet {requirement}"
        if not requirement.is_empty
        else "the table as a whole does not meet the class test",
        advice=None
        if requirement.is_empty
        else f"Relax the requirement: {find_globally_failing(counted, requirement).relaxing}.",
    )


def _check_relaxed(
    requirement: Requirement, class_test: ClassTest | None, chooser: CutChooser | None
) -> None:
    unsupported = [f"{criterion} ({criterion.title})" for criterion in requirement.others]
    unsupported += ["a class test"] if class_test is not None else []
    unsupported += ["a chooser of cuts"] if chooser is not None else []
    if not unsupported:
        return
    raise InputError(
        "relaxed Mondrian assigns equal rows to classes at random when the recoding is applied; "
        f"{unsupported[0]} cannot be guaranteed",
        allowed="k and l with relaxed Mondrian, or strict Mondrian",
    )


def _use_kernels(
    part: str, table: FrequencySet, least_rows: int, evaluator: Backend, notice: MondrianNotice | None
) -> bool:
    if evaluator is Backend.AUTO:
        return choose_partition_kernels(part, table, least_rows, notice)
    if evaluator is Backend.KERNELS and not fits_kernels(table):
        raise InputError("a row type has over 4,294,967,295 rows", allowed="the numpy twin")
    return evaluator is Backend.KERNELS
