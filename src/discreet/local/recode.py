"""Local recoding: classes by a greedy over the lattice, improved as far as was asked.

It is the cell generalization of LeFevre et al. (2005, section 5.2).

Cell generalization, the widest of the recoding models: rows that agree may be recoded differently, each cell
shows any ancestor of its value, and no row need be suppressed. A class shows, per attribute, the lowest
common ancestor of its members, or the range or set of their leaves; the measure is granularity
(``measures.granularity``).

The classes come from the greedy of ``local.greedy``; ``effort`` asks for rounds of improvement
(``local.improve``), and ``bound`` for a certificate of how much better any recoding could be
(``local.bound``). Unlike a local recoding that repeats a full-domain search on the rows it suppressed,
nothing is evaluated twice, and the measure decides each step.

Whatever was searched, the classes are counted again at the end, by themselves, before they are handed over.

Cost: of the greedy, about half of evaluating the lattice once; of a round, about a second for two million
steps on two threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, LimitReached, NoSolution
from discreet.frequency.class_cells import Summary
from discreet.frequency.class_demand import Demand
from discreet.frequency.class_summary import classes_to_recoding
from discreet.frequency.failing_criteria import failing_as_a_whole
from discreet.frequency.kernel_choice import choose_kernels
from discreet.frequency.subject_rows import tell_of_subjects
from discreet.local.bound import granularity_bound
from discreet.local.final_check import check_classes
from discreet.local.greedy import Placement, place
from discreet.local.improve import Improved, improve
from discreet.local.keys import KeySpace, key_space
from discreet.local.least_levels import raised_cells
from discreet.local.result import FAST, CurvePoint, LocalRecoding, Shown
from discreet.measures.granularity import granularity
from discreet.measures.loss import check_weights
from discreet.model.class_recoding import SUPPRESSED, ClassRecoding, RecodingModel
from discreet.model.class_test import ClassTest
from discreet.model.evaluator import Evaluator
from discreet.model.frequency_set import FrequencySet
from discreet.model.lattice import LatticeNode
from discreet.model.recoding import SuppressionPolicy
from discreet.model.requirement import Requirement
from discreet.model.subject_rows import counting_rows
from discreet.settings import Settings

Progress = Callable[[int, int], None]
Notice = Callable[[str], None]
_MOST_ROWS = 2**31
_WORTH_COMPILING = 2000


def recode(
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
    shown: Shown | str = Shown.LCA,
    class_test: ClassTest | None = None,
    weights: Mapping[str, float] | None = None,
    bound: bool = False,
    suppression: SuppressionPolicy = SuppressionPolicy.DROP,
    evaluator: Evaluator | str = Evaluator.AUTO,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> LocalRecoding:
    """Classes that meet a requirement, and show as much as could be found.

    ``effort`` is ``"fast"`` or a number of rounds of improvement; ``time_budget`` (seconds) ends them early,
    or stands alone. ``min_node`` and ``max_node`` bound the levels shown; rows that no class within them can
    hold are suppressed, at most ``limit``: the same rows that the full-domain recoding to ``max_node``
    suppresses, and with the top, none. ``class_test`` is asked besides the requirement, and ``weights``
    multiply the loss of attributes. The same seed gives the same answer on any number of threads.

    Raises ``NoSolution`` where more rows would be suppressed or no row were left, ``InputError`` for options
    out of range, ``LimitReached`` before any work that would not fit
    ``settings.memory_limit``.
    """
    begun = monotonic()
    options = _Options.of(effort, time_budget, seed, shown, min_node)
    frequency_set = counting_rows(frequency_set)
    check_weights(dict(weights or {}), frequency_set.attributes)
    demand = Demand.of(frequency_set, requirement, class_test)
    low, high = _limits(frequency_set, min_node, max_node)
    _check_memory(frequency_set, options, settings)
    space = key_space(frequency_set, low, high, weights)
    compiled = _use_kernels(frequency_set, options, Evaluator(evaluator), notice)
    kernels = compiled and demand.plain
    bound = bound and frequency_set.subjects is None
    _tell(frequency_set, requirement, compiled, notice)
    placement = place(space, demand, kernels=kernels, seed=seed)
    _check_suppressed(frequency_set, requirement, placement, limit)
    improved = improve(
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
    recoding = _recoding(space, requirement, improved, options, suppression)
    recoding = replace(recoding, class_test=class_test)
    check_classes(frequency_set, demand, recoding, high)
    if kernels:
        _mark_compiled(options)
    return LocalRecoding(
        recoding=recoding,
        shown=options.shown,
        granularity=granularity(frequency_set, recoding),
        rounds=improved.rounds,
        curve=_curve(space, improved, recoding.suppressed),
        seconds=monotonic() - begun,
        bound=_bound(space, demand, placement, compiled, seed, settings.threads) if bound else None,
    )


@dataclass(frozen=True)
class _Options:
    """Options that were checked; ``rounds`` is None where only a time budget ends them."""

    rounds: int | None
    improves: bool
    shown: Shown

    @classmethod
    def of(
        cls,
        effort: int | str,
        time_budget: float | None,
        seed: int,
        shown: Shown | str,
        min_node: LatticeNode | None,
    ) -> _Options:
        if isinstance(effort, bool) or not (effort == FAST or (isinstance(effort, int) and effort >= 0)):
            raise InputError(f"an effort of {effort}", allowed="'fast', or a whole number of rounds")
        if time_budget is not None and not 0 < time_budget < float("inf"):
            raise InputError(f"a time budget of {time_budget} seconds", allowed="a number above 0")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InputError(f"a seed of {seed}", allowed="a whole number of at least 0")
        if shown not in tuple(Shown):
            raise InputError(f"classes shown as '{shown}'", allowed=", ".join(Shown))
        if Shown(shown) is not Shown.LCA and any(min_node or ()):
            raise InputError(
                f"least levels for classes shown as {shown}",
                allowed="least levels for lowest common ancestors",
                advice="Leave min_level out, or show lowest common ancestors.",
            )
        if isinstance(effort, int):
            return cls(effort, effort > 0, Shown(shown))
        return cls(0 if time_budget is None else None, time_budget is not None, Shown(shown))


def _tell(
    frequency_set: FrequencySet, requirement: Requirement, compiled: bool, notice: Notice | None
) -> None:
    """Say what the kernels do not serve."""
    if frequency_set.subjects is not None:
        tell_of_subjects("local recoding", notice)
    elif compiled and requirement.others and notice is not None:
        names = ", ".join(dict.fromkeys(criterion.name for criterion in requirement.others))
        notice(f"plain Python does the local recoding for {names}, much more slowly")


def _limits(
    frequency_set: FrequencySet, min_node: LatticeNode | None, max_node: LatticeNode | None
) -> tuple[LatticeNode, LatticeNode]:
    top = tuple(h.height for h in frequency_set.hierarchies)
    low = min_node if min_node is not None else (0,) * len(top)
    high = max_node if max_node is not None else top
    if len(low) != len(top) or len(high) != len(top):
        raise InputError(f"levels for {len(top)} quasi-identifiers were not given")
    for name, least, greatest, height in zip(frequency_set.attributes, low, high, top, strict=True):
        if not 0 <= least <= greatest <= height:
            raise InputError(
                f"levels {least} to {greatest} of '{name}'", allowed=f"levels from 0 to {height}"
            )
    return low, high


def _check_memory(frequency_set: FrequencySet, options: _Options, settings: Settings) -> None:
    types, attributes = frequency_set.row_types, len(frequency_set.attributes)
    needed = types * (16 * attributes + 160)
    if options.improves:
        needed += types * 160 + min(frequency_set.rows, types * 64) * 64
    if needed > settings.memory_limit or frequency_set.rows >= _MOST_ROWS:
        raise LimitReached(
            f"local recoding of {frequency_set.row_types:,} row types would take about {needed / 1e9:.1f} GB",
            allowed=f"{settings.memory_limit / 1e9:.1f} GB and fewer than {_MOST_ROWS:,} rows",
            advice="Raise the limit, name fewer quasi-identifiers, or use Mondrian.",
        )


def _use_kernels(
    frequency_set: FrequencySet, options: _Options, evaluator: Evaluator, notice: Notice | None
) -> bool:
    worth = frequency_set.row_types >= _WORTH_COMPILING
    return choose_kernels(_parts(options), "local recoding", worth=worth, evaluator=evaluator, notice=notice)


def _parts(options: _Options) -> tuple[str, ...]:
    return ("local-greedy", "local-anneal") if options.improves else ("local-greedy",)


def _mark_compiled(options: _Options) -> None:
    from discreet.kernels.readiness import mark_compiled

    for part in _parts(options):
        mark_compiled(part)


def _check_suppressed(
    frequency_set: FrequencySet, requirement: Requirement, placement: Placement, limit: int
) -> None:
    suppressed = int(frequency_set.counts[placement.class_of == SUPPRESSED].sum())
    if not placement.classes:
        failing = failing_as_a_whole(frequency_set, requirement)
        raise NoSolution(
            f"{requirement}: not even all {frequency_set.rows:,} rows together meet it",
            advice=f"Raise the greatest levels, or {failing.relaxing}.",
        )
    if suppressed > limit:
        raise NoSolution(
            f"{requirement}: within these levels {suppressed:,} of {frequency_set.rows:,} rows must be "
            f"suppressed; at most {limit:,} may be",
            advice=f"Raise the suppression limit or the greatest levels, or {requirement.relaxing}.",
        )


def _recoding(
    space: KeySpace,
    requirement: Requirement,
    improved: Improved,
    options: _Options,
    suppression: SuppressionPolicy,
) -> ClassRecoding:
    """The recoding of the final classes: units of one row type and class are one part."""
    frequency_set = space.frequency_set
    classes = _numbered(improved.class_of)
    pairs, place = np.unique(
        improved.units.kind * (int(classes.max()) + 2) + classes + 1, return_inverse=True
    )
    row_types, of_part = np.divmod(pairs, int(classes.max()) + 2)
    rows = np.zeros(len(pairs), np.int64)
    np.add.at(rows, place, improved.units.rows)
    recoding = classes_to_recoding(
        frequency_set,
        of_part - 1,
        requirement,
        RecodingModel.CELL_GENERALIZATION,
        Summary(options.shown),
        row_types=row_types,
        rows=rows,
        suppression=suppression,
        by_tree=True,
    )
    low = [levels[0] for levels in space.allowed]
    return raised_cells(recoding, frequency_set.hierarchies, low) if any(low) else recoding


def _numbered(class_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Classes numbered from 0 without a gap; ``SUPPRESSED`` stays."""
    numbers = np.full(int(class_of.max(initial=-1)) + 2, SUPPRESSED, np.int64)
    occurs = np.zeros(len(numbers), np.bool_)
    occurs[class_of] = True
    occurs[SUPPRESSED] = False
    numbers[occurs] = np.arange(int(occurs.sum()))
    return numbers[class_of]


def _curve(space: KeySpace, improved: Improved, suppressed: int) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(rounds, space.granularity_of(loss + suppressed * space.worst), seconds)
        for rounds, (loss, seconds) in enumerate(zip(improved.losses, improved.seconds, strict=True))
    )


def _bound(
    space: KeySpace, demand: Demand, placement: Placement, kernels: bool, seed: int, threads: int
) -> float:
    placed = placement.class_of != SUPPRESSED
    return granularity_bound(space, demand, placed, kernels=kernels, seed=seed, threads=threads)
