"""Local recoding by cell generalization (LeFevre et al. 2005, section 5.2), with a proven bound.

Equal rows may be recoded differently, each cell contains any ancestor of its value, and no row has to be
suppressed. A class publishes the lowest common ancestor of its members, or the range or set of their
leaves; the measure is granularity (``measures.recoding_metrics``). Classes come from ``greedy_classes`` and
are improved by ``annealing``; every class is counted again at the end.

The bound is a feasible point of the dual of the linear program that covers rows by classes: values α of the
rows such that for each class C of each node with at least k rows, the k largest α in C sum to at most k
times its loss. The α of all rows then sum to at most the loss of any recoding. A heuristic finds them, and
the slacks are checked at the end over all nodes below a cap.

Cost: the greedy about half of one evaluation of the lattice, a round about a second for two million steps
on two threads, the bound three passes over the nodes per iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, InternalError, LimitReached, NoSolution
from discreet.frequency.class_requirement import ClassRequirement, announce_subjects, find_globally_failing
from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.frequency.kernel_choice import choose_kernels
from discreet.kernels.local_recoding_twin import find_slacks_twin
from discreet.local.annealing import AnnealedClasses, improve_classes
from discreet.local.greedy_classes import GreedyClasses, build_greedy_classes
from discreet.local.key_space import KeySpace, build_key_space, iterate_cheapest_nodes
from discreet.local.local_recoding import FAST, CellSummary, CurvePoint, LocalRecoding
from discreet.measures.loss import check_weights
from discreet.measures.recoding_metrics import recoding_granularity
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, ClassTest, RecodingModel
from discreet.model.frequency_set import FrequencySet, drop_unneeded_subjects
from discreet.model.hierarchy import GeneralizationHierarchy
from discreet.model.lattice import LatticeNode
from discreet.model.published_cells import Cells
from discreet.model.request import Backend
from discreet.model.requirement import Requirement
from discreet.model.search_result import SuppressionPolicy
from discreet.settings import Settings


def raise_cells(
    recoding: ClassRecoding, hierarchies: Sequence[GeneralizationHierarchy], levels: Sequence[int]
) -> ClassRecoding:
    """Return the recoding with every cell, a value of its hierarchy, at the attribute's level or above."""
    cell_codes = recoding.shown.copy()
    cells = list(recoding.cells)
    for i, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        if level:
            cells[i], places = _raise_attribute_cells(cells[i], hierarchy, level)
            cell_codes[:, i] = places[cell_codes[:, i]]
    return replace(recoding, cells=tuple(cells), shown=cell_codes)


def _raise_attribute_cells(
    cells: Cells, hierarchy: GeneralizationHierarchy, level: int
) -> tuple[Cells, NDArray[np.int64]]:
    """Return the cells at ``level`` or above, and the index among them of each former cell."""
    found: dict[str | None, tuple[int, int]] = {}
    places = np.empty(len(cells.labels), np.int64)
    for cell, label in enumerate(cells.labels):
        first, last = int(cells.first[cells.offsets[cell]]), int(cells.last[cells.offsets[cell + 1] - 1])
        text, ends = label, (first, last)
        if level == hierarchy.height:
            text, ends = hierarchy.labels[-1][0], (0, hierarchy.null_code)
        elif label is not None and last < hierarchy.null_code:
            ancestors = hierarchy.ancestors[level]
            node = int(ancestors[first])
            if node == int(ancestors[last]):
                begin, end = np.searchsorted(ancestors, [node, node + 1]).tolist()
                text, ends = hierarchy.labels[level][node], (begin, end - 1)
        least, greatest = found.get(text, ends)
        found[text] = (min(least, ends[0]), max(greatest, ends[1]))
        places[cell] = list(found).index(text)
    intervals = np.array(list(found.values()), np.int64).reshape(-1, 2)
    raised = Cells(
        attribute=cells.attribute,
        leaves=cells.leaves,
        labels=tuple(found),
        offsets=np.arange(len(found) + 1, dtype=np.int64),
        first=intervals[:, 0],
        last=intervals[:, 1],
    )
    return raised, places


def check_recoded_classes(
    frequency_set: FrequencySet, demand: ClassRequirement, recoding: ClassRecoding, high: LatticeNode
) -> None:
    """Raise ``InternalError`` if a class fails or exceeds the levels ``high``, or if rows are lost."""
    placed = np.zeros(frequency_set.row_types, np.int64)
    np.add.at(placed, recoding.row_types, recoding.rows)
    if not np.array_equal(placed, frequency_set.counts):
        raise InternalError("local recoding lost rows")
    retained = recoding.classes != SUPPRESSED
    classes, row_types = recoding.classes[retained], recoding.row_types[retained]
    if int(recoding.class_rows().min(initial=demand.need)) < demand.need:
        raise InternalError("local recoding made a class with too few rows")
    if not demand.counts_only:
        _check_values(demand, classes, row_types)
    for i, hierarchy in enumerate(frequency_set.hierarchies):
        if high[i] < hierarchy.height:
            value = hierarchy.level_map(high[i])[frequency_set.codes[row_types, i]]
            if len(np.unique(classes * (len(hierarchy.leaves) + 2) + value)) != recoding.class_count:
                raise InternalError("local recoding made a class above the greatest levels")


def _check_values(demand: ClassRequirement, classes: NDArray[np.int64], row_types: NDArray[np.int64]) -> None:
    order = np.argsort(classes, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(classes[order]) != 0, True)) + 1
    if len(np.unique(row_types)) != len(row_types):
        raise InternalError("local recoding split a row type whose sensitive values must stay together")
    if not all(demand.holds(types) for types in np.split(row_types[order], ends[:-1])):
        raise InternalError("local recoding made a class that fails")


MOST_BOUND_NODES = 3000
"""Number of the cheapest nodes that the bound visits; the least cost of the next node caps the values."""

BOUND_ITERATIONS = 6
_RAISED_SHARE, _RAISE_STEP = 0.1, 0.5
_ROUNDING_SHARE = 1e-9
SlackFunction = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Function from values of the row types to the least slack of each row type's classes."""


def bound_granularity(
    space: KeySpace,
    demand: ClassRequirement,
    placed: NDArray[np.bool_],
    *,
    kernels: bool,
    seed: int = 0,
    threads: int = 1,
    iterations: int = BOUND_ITERATIONS,
) -> float:
    """Return an upper bound of the granularity of recodings that suppress exactly the rows not ``placed``."""
    table = _BoundTable.of(space, demand, placed)
    loss = table.least_loss(kernels, seed, threads, iterations)
    suppressed = int(space.frequency_set.counts[~placed].sum())
    return space.granularity_of(loss + suppressed * space.worst)


@dataclass(frozen=True, eq=False)
class _BoundTable:
    """Placed row types, and the nodes whose classes may lose less than ``cap``."""

    space: KeySpace
    need: int
    keys: NDArray[np.uint64]
    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    masks: NDArray[np.uint64]
    levels: NDArray[np.int64]
    cap: float

    @classmethod
    def of(cls, space: KeySpace, demand: ClassRequirement, placed: NDArray[np.bool_]) -> _BoundTable:
        frequency_set = space.frequency_set
        codes = frequency_set.codes[placed]
        places, costs = [], []
        for j, table in enumerate(space.losses):
            at = [space.levels[j].index(level) for level in space.allowed[j]]
            occurs = np.unique(codes[:, j])
            places.append(np.array(at, np.int64))
            costs.append(table[at][:, occurs].min(axis=1))
        nodes = list(islice(iterate_cheapest_nodes(costs), MOST_BOUND_NODES + 1))
        cap = nodes[-1][0] if len(nodes) > MOST_BOUND_NODES else np.inf
        affordable = np.array([node for cost, node in nodes if cost < cap], np.int64).reshape(-1, len(costs))
        levels = np.stack([places[j][affordable[:, j]] for j in range(len(costs))], axis=1)
        masks = np.zeros((len(affordable), space.words), np.uint64)
        for j, node_masks in enumerate(space.node_masks):
            masks |= node_masks[levels[:, j]]
        return cls(
            space=space,
            need=demand.need,
            keys=space.keys[:, placed],
            rows=frequency_set.counts[placed],
            codes=codes,
            masks=masks,
            levels=levels,
            cap=cap,
        )

    def least_loss(self, kernels: bool, seed: int, threads: int, iterations: int) -> float:
        """Return the sum of feasible values over all rows, a lower bound of the loss."""
        random = np.random.default_rng([seed, len(self.rows)])
        slacks = self._compiled_slacks(threads) if kernels else self._plain_slacks
        values = np.minimum(slacks(np.zeros(len(self.rows))) / self.need, self.cap)
        best, slack = self._sum(values), slacks(values)
        for _ in range(iterations):
            raised = random.random(len(values)) < _RAISED_SHARE
            tried = np.minimum(values + np.where(raised, _RAISE_STEP * slack, 0.0), self.cap)
            tried += np.minimum(slacks(tried), 0.0) / self.need
            tried += np.maximum(slacks(tried), 0.0) / self.need
            tried = np.minimum(tried, self.cap)
            if self._sum(tried) > best:
                values, best = tried, self._sum(tried)
                slack = slacks(values)
        overdrawn = np.minimum(slacks(values), 0.0) / self.need
        return self._sum(values + overdrawn) * (1 - _ROUNDING_SHARE)

    def _sum(self, values: NDArray[np.float64]) -> float:
        return float((values * self.rows).sum())

    def _compiled_slacks(self, threads: int) -> SlackFunction:
        """Return a slack function that divides the nodes among threads, each with its own scratch.

        Row types are sorted by descending value, so that the k largest values of a class come first.
        """
        from discreet.kernels.local_losses import allocate_slack_scratch, find_slacks

        trees = self.space.trees()

        def part(p: int, order: NDArray[np.int64], table: Any) -> NDArray[np.float64]:
            slack = np.full(len(order), np.inf)
            keys, rows, codes, values = table
            masks, levels = self.masks[p::threads], self.levels[p::threads]
            scratch = allocate_slack_scratch(len(order))
            find_slacks(masks, levels, self.need, keys, rows, codes, values, trees, scratch, slack)
            return slack

        def slacks(values: NDArray[np.float64]) -> NDArray[np.float64]:
            order = np.argsort(-values, kind="stable")
            keys = np.ascontiguousarray(self.keys[:, order])
            table = (keys, self.rows[order], self.codes[order], values[order])
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(lambda p: part(p, order, table), range(threads)))
            least = np.empty(len(values))
            least[order] = np.minimum.reduce(found)
            return least

        return slacks

    def _plain_slacks(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        slack = np.full(len(values), np.inf)
        find_slacks_twin(
            self.masks,
            self.levels,
            self.need,
            self.keys,
            self.rows,
            self.codes,
            values,
            self.space.losses,
            slack,
        )
        return slack


LocalProgress = Callable[[int, int], None]
LocalNotice = Callable[[str], None]
_MOST_ROWS = 2**31
_TYPES_WORTH_COMPILING = 2000


def generalize_cells(
    frequency_set: FrequencySet,
    requirement: Requirement,
    settings: Settings,
    *,
    effort: int | str = FAST,
    seed: int = 0,
    time_budget: float | None = None,
    min_node: LatticeNode | None = None,
    max_node: LatticeNode | None = None,
    limit: int = 0,
    summary: CellSummary | str = CellSummary.LCA,
    class_test: ClassTest | None = None,
    weights: Mapping[str, float] | None = None,
    bound: bool = False,
    suppression: SuppressionPolicy = SuppressionPolicy.DROP,
    evaluator: Backend | str = Backend.AUTO,
    progress: LocalProgress | None = None,
    notice: LocalNotice | None = None,
) -> LocalRecoding:
    """Build classes that meet a requirement and lose as little as the search can find.

    Parameters
    ----------
    frequency_set
        The counted table.
    requirement
        Criteria that each class must meet.
    settings
        Memory limit and threads.
    effort
        ``"fast"`` for the greedy only, or a number of rounds of improvement.
    seed
        Seed of the search; the same seed gives the same result on any number of threads.
    time_budget
        Seconds after which the rounds end; it may be given without ``effort``.
    min_node, max_node
        Bounds of the published levels. Rows that no class within them can contain are suppressed: the same
        rows that full-domain recoding to ``max_node`` suppresses, and none if it is the top.
    limit
        Greatest number of suppressed rows.
    summary
        Published cells of a class.
    class_test
        A further test that each class must pass.
    weights
        Factors of the loss of attributes.
    bound
        Compute a proven upper bound of the granularity, too.
    suppression
        Treatment of suppressed rows.
    evaluator
        Kernels, numpy twin, or the choice between them.

    Returns
    -------
    LocalRecoding
        The recoding and its measure.

    Raises
    ------
    NoSolution
        If more than ``limit`` rows would be suppressed, or no row would remain.
    InputError
        For options out of range.
    LimitReached
        Before any work that would not fit ``settings.memory_limit``.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005,
    section 5.2.
    """
    start_time, options = monotonic(), _CheckedOptions.of(effort, time_budget, seed, summary, min_node)
    frequency_set = drop_unneeded_subjects(frequency_set)
    check_weights(dict(weights or {}), frequency_set.attributes)
    demand = ClassRequirement.of(frequency_set, requirement, class_test)
    low, high = _level_limits(frequency_set, min_node, max_node)
    _check_memory(frequency_set, options, settings)
    space = build_key_space(frequency_set, low, high, weights)
    parts = ("local-greedy", "local-anneal") if options.improves else ("local-greedy",)
    compiled = _choose_kernels(frequency_set, requirement, parts, Backend(evaluator), notice)
    kernels = compiled and demand.plain
    placement = build_greedy_classes(space, demand, kernels=kernels, seed=seed)
    _check_suppressed(frequency_set, requirement, placement, limit)
    improved = improve_classes(
        space,
        demand,
        placement,
        rounds=options.rounds,
        time_budget=time_budget,
        seed=seed,
        threads=settings.threads,
        kernels=kernels,
        progress=progress,
    )
    recoding = _build_recoding(space, requirement, improved, options, suppression)
    recoding = replace(recoding, class_test=class_test)
    check_recoded_classes(frequency_set, demand, recoding, high)
    _mark_compiled(parts if kernels else ())
    proven = None
    if bound and frequency_set.subjects is None:
        placed, threads = placement.class_of != SUPPRESSED, settings.threads
        proven = bound_granularity(space, demand, placed, kernels=compiled, seed=seed, threads=threads)
    return LocalRecoding(
        recoding=recoding,
        shown=options.summary,
        granularity=recoding_granularity(frequency_set, recoding),
        rounds=improved.rounds,
        curve=_granularity_curve(space, recoding, improved),
        seconds=monotonic() - start_time,
        bound=proven,
    )


def _mark_compiled(parts: Sequence[str]) -> None:
    if not parts:
        return
    # Only with kernels: this module loads numba.
    from discreet.kernels.precompilation import mark_compiled

    for part in parts:
        mark_compiled(part)


def _granularity_curve(
    space: KeySpace, recoding: ClassRecoding, improved: AnnealedClasses
) -> tuple[CurvePoint, ...]:
    lost = recoding.suppressed * space.worst
    timed = enumerate(zip(improved.losses, improved.seconds, strict=True))
    return tuple(CurvePoint(i, space.granularity_of(loss + lost), s) for i, (loss, s) in timed)


@dataclass(frozen=True)
class _CheckedOptions:
    """Validated options; ``rounds`` is None if only a time budget ends the rounds."""

    rounds: int | None
    improves: bool
    summary: CellSummary

    @classmethod
    def of(
        cls,
        effort: int | str,
        time_budget: float | None,
        seed: int,
        summary: CellSummary | str,
        min_node: LatticeNode | None,
    ) -> _CheckedOptions:
        if isinstance(effort, bool) or not (effort == FAST or (isinstance(effort, int) and effort >= 0)):
            raise InputError(f"an effort of {effort}", allowed="'fast', or a whole number of rounds")
        if time_budget is not None and not 0 < time_budget < float("inf"):
            raise InputError(f"a time budget of {time_budget} seconds", allowed="a number above 0")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InputError(f"a seed of {seed}", allowed="a whole number of at least 0")
        if summary not in tuple(CellSummary):
            raise InputError(f"summary '{summary}'", allowed=", ".join(CellSummary))
        if CellSummary(summary) is not CellSummary.LCA and any(min_node or ()):
            raise InputError(
                f"min_level with summary {summary}",
                allowed="min_level with summary lca",
                advice="Omit min_level, or use summary lca.",
            )
        if isinstance(effort, int):
            return cls(effort, effort > 0, CellSummary(summary))
        return cls(0 if time_budget is None else None, time_budget is not None, CellSummary(summary))


def _choose_kernels(
    frequency_set: FrequencySet,
    requirement: Requirement,
    parts: Sequence[str],
    evaluator: Backend,
    notice: LocalNotice | None,
) -> bool:
    """Return whether kernels are used; report criteria that they do not support."""
    worth = frequency_set.row_types >= _TYPES_WORTH_COMPILING
    compiled = choose_kernels(parts, "local recoding", worth=worth, evaluator=evaluator, notice=notice)
    if frequency_set.subjects is not None:
        announce_subjects("local recoding", notice)
    elif compiled and requirement.others and notice is not None:
        names = ", ".join(dict.fromkeys(criterion.name for criterion in requirement.others))
        notice(f"no compiled kernel for {names}: using plain Python, which is much slower")
    return compiled


def _level_limits(
    frequency_set: FrequencySet, min_node: LatticeNode | None, max_node: LatticeNode | None
) -> tuple[LatticeNode, LatticeNode]:
    top = tuple(h.height for h in frequency_set.hierarchies)
    low = min_node if min_node is not None else (0,) * len(top)
    high = max_node if max_node is not None else top
    if len(low) != len(top) or len(high) != len(top):
        raise InputError(f"expected {len(top)} levels, one per quasi-identifier")
    for name, least, greatest, height in zip(frequency_set.attributes, low, high, top, strict=True):
        if not 0 <= least <= greatest <= height:
            raise InputError(
                f"levels {least} to {greatest} of '{name}'", allowed=f"levels from 0 to {height}"
            )
    return low, high


def _check_memory(frequency_set: FrequencySet, options: _CheckedOptions, settings: Settings) -> None:
    types, attributes = frequency_set.row_types, len(frequency_set.attributes)
    needed = types * (16 * attributes + 160)
    if options.improves:
        needed += types * 160 + min(frequency_set.rows, types * 64) * 64
    if needed > settings.memory_limit or frequency_set.rows >= _MOST_ROWS:
        raise LimitReached(
            f"local recoding of {frequency_set.row_types:,} row types needs about {needed / 1e9:.1f} GB",
            allowed=f"{settings.memory_limit / 1e9:.1f} GB and fewer than {_MOST_ROWS:,} rows",
            advice="Raise the limit, name fewer quasi-identifiers, or use Mondrian.",
        )


def _check_suppressed(
    frequency_set: FrequencySet, requirement: Requirement, placement: GreedyClasses, limit: int
) -> None:
    suppressed = int(frequency_set.counts[placement.class_of == SUPPRESSED].sum())
    if not placement.classes:
        failing = find_globally_failing(frequency_set, requirement)
        raise NoSolution(
            f"{requirement}: all {frequency_set.rows:,} rows together do not meet it",
            advice=f"Raise the greatest levels, or {failing.relaxing}.",
        )
    if suppressed > limit:
        raise NoSolution(
            f"{requirement}: within these levels {suppressed:,} of {frequency_set.rows:,} rows must be "
            f"suppressed; the limit is {limit:,}",
            advice=f"Raise the suppression limit or the greatest levels, or {requirement.relaxing}.",
        )


def _build_recoding(
    space: KeySpace,
    requirement: Requirement,
    improved: AnnealedClasses,
    options: _CheckedOptions,
    suppression: SuppressionPolicy,
) -> ClassRecoding:
    """Build the recoding of the final classes; units of one row type and class are merged into one part."""
    frequency_set = space.frequency_set
    classes = _number_classes(improved.class_of)
    pairs, inverse = np.unique(
        improved.units.kind * (int(classes.max()) + 2) + classes + 1, return_inverse=True
    )
    row_types, of_part = np.divmod(pairs, int(classes.max()) + 2)
    rows = np.zeros(len(pairs), np.int64)
    np.add.at(rows, inverse, improved.units.rows)
    recoding = classes_to_recoding(
        frequency_set,
        of_part - 1,
        requirement,
        RecodingModel.CELL_GENERALIZATION,
        Summary(options.summary),
        row_types=row_types,
        rows=rows,
        suppression=suppression,
        by_tree=True,
    )
    low = [levels[0] for levels in space.allowed]
    return raise_cells(recoding, frequency_set.hierarchies, low) if any(low) else recoding


def _number_classes(class_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber the classes from 0 without gaps; ``SUPPRESSED`` is unchanged."""
    numbers = np.full(int(class_of.max(initial=-1)) + 2, SUPPRESSED, np.int64)
    occurs = np.zeros(len(numbers), np.bool_)
    occurs[class_of] = True
    occurs[SUPPRESSED] = False
    numbers[occurs] = np.arange(int(occurs.sum()))
    return numbers[class_of]
