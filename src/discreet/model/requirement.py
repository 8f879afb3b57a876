"""Privacy requirements: the criteria that each class must meet, and the classes that fail them.

This is the only comparison of class scores with thresholds in arrays; kernels, engines and the audit
intentionally have their own (decision 0005). Searches that need monotone or growing criteria use this module
to refuse others by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criteria.base import BoundCriterion, Criterion, Need, ScoreKey, bind_criteria
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criteria.registry import plain_values
from discreet.model.criteria.release_level import CellsCriterion, ReleaseCriterion
from discreet.model.criterion_inputs import ClassStatistics, SensitiveAttribute, SizeTails, require_feature
from discreet.model.frequency_set import FrequencySet, ValueSets

NO_CLASS_LEFT = 2**62
"""Smallest retained size if every class is suppressed."""


def failing_mask(bound: Sequence[BoundCriterion], facts: ClassStatistics) -> NDArray[np.bool_]:
    """Return whether each class fails one of the criteria, shape ``(classes,)``.

    Raises ``InputError`` for a criterion of a whole release, which ``suppression_mask`` judges.
    """
    fails = np.zeros(facts.classes, np.bool_)
    for one in bound:
        if one.criterion.of_release:
            raise release_criterion_error(one.criterion, "a test of single classes")
        fails |= one.scores(facts) < one.criterion.threshold
    return fails


def suppression_mask(bound: Sequence[BoundCriterion], facts: ClassStatistics) -> NDArray[np.bool_]:
    """Return whether each class is suppressed, given ``facts`` of all classes of a table.

    Failing classes are suppressed, and then those that a criterion of the release suppresses by its rule
    (``model.criteria.release_level``). If a criterion judges the suppressed rows and fails, all classes are
    suppressed.
    """
    fails = failing_mask([one for one in bound if not one.criterion.of_release], facts)
    fails = _suppressed_for_release(bound, facts, fails)
    rest = [one.criterion for one in bound if one.criterion.judges_suppressed_rows]
    if rest and facts.population is not None:
        rows = facts.sizes[fails].sum(keepdims=True)
        people = facts.population.people[fails & (facts.sizes > 0)].sum(keepdims=True)
        for criterion in rest:
            fails |= criterion.suppressed_rows_fail(
                criterion.threshold, rows, people + facts.population.absent
            )
    return fails


def _suppressed_for_release(
    bound: Sequence[BoundCriterion], facts: ClassStatistics, fails: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return the classes that fail or are suppressed by a criterion of the release."""
    check_compatible(tuple(one.criterion for one in bound))
    for one in bound:
        if isinstance(one.criterion, CellsCriterion):
            threshold = one.criterion.threshold
            return fails | (one.criterion.scores_among(facts, ~fails, threshold) < threshold)
    criteria = [one.criterion for one in bound if isinstance(one.criterion, ReleaseCriterion)]
    if not criteria:
        return fails
    return fails | (facts.sizes < smallest_kept_size(criteria, facts.sizes[~fails]))


@lru_cache(maxsize=1024)
def check_compatible(criteria: tuple[Criterion, ...]) -> None:
    """Raise ``InputError`` for criteria of the release that conflict.

    Each of two suppresses classes that the other relies on.

    An audit of published classes may check all of them.
    """
    kinds = (
        [criterion for criterion in criteria if isinstance(criterion, CellsCriterion)],
        [criterion for criterion in criteria if isinstance(criterion, ReleaseCriterion)],
        [criterion for criterion in criteria if criterion.judges_suppressed_rows],
    )
    first, *others = [kind for kind in kinds if kind] or [[]]
    if others or len(kinds[0]) > 1:
        other = others[0][0] if others else kinds[0][1]
        raise InputError(
            f"{first[0]} and {other} together: each suppresses classes that the other relies on",
            allowed="one of them, with any criteria of single classes",
        )


def smallest_kept_size(criteria: Sequence[ReleaseCriterion], sizes: NDArray[np.int64]) -> int:
    """Return the smallest retained size among classes that pass all criteria of classes."""
    sizes = sizes[sizes > 0]
    tails = SizeTails.of_classes(sizes)
    index = int(tails.first(tails_that_hold(criteria, tails))[0])
    return NO_CLASS_LEFT if index < 0 else int(tails.sizes[index])


def tails_that_hold(criteria: Sequence[ReleaseCriterion], tails: SizeTails) -> NDArray[np.bool_]:
    """Return whether each tail meets every criterion, shape ``(entries,)``."""
    holds = np.ones(len(tails.sizes), np.bool_)
    for criterion in criteria:
        holds &= criterion.tail_scores(tails) >= criterion.threshold
    return holds


def release_criterion_error(criterion: Criterion, caller: str, advice: str | None = None) -> InputError:
    """Return the error for a criterion of the whole release where ``caller`` sees only some classes."""
    return InputError(
        f"{criterion} of {caller}: {criterion.title} is judged on all classes of a release together",
        allowed="criteria of single classes",
        advice=advice or "Negotiate over the lattice, or search by optimal or exhaustive.",
    )


def threshold_mask(
    signatures: Sequence[NDArray[np.integer]], thresholds: Sequence[int | None]
) -> NDArray[np.bool_]:
    """Return whether classes fail by their scores; ``thresholds[i]`` applies to ``signatures[i]``."""
    fails = np.zeros(len(signatures[0]) if len(signatures) else 0, np.bool_)
    for scores, least in zip(signatures, thresholds, strict=True):
        if least is not None:
            fails |= scores < least
    return fails


ByAttribute = int | tuple[tuple[str, int], ...]


def no_criterion_error() -> InputError:
    """Return the error if no criterion is required."""
    return InputError(
        "no privacy criterion was given",
        allowed="k, l, or another criterion",
        advice="Give at least one, such as k=10.",
    )


@dataclass(frozen=True, init=False)
class Requirement:
    """Criteria that are required together: a class fails if it fails one of them.

    k-anonymity and distinct l-diversity have their own parameters, ``k`` and ``l``, as in commands, specs and
    documents; every other criterion is given as a value. ``l`` is one number for each sensitive attribute
    separately, or numbers by attribute. Two criteria must not judge the same score. Raises ``InputError`` for
    a parameter out of its range, or a criterion given twice.
    """

    criteria: tuple[Criterion, ...]

    def __init__(
        self, k: int | None = None, l: ByAttribute | None = None, criteria: Iterable[Criterion] = ()
    ) -> None:
        found: list[Criterion] = [] if k is None else [KAnonymity(k)]
        if isinstance(l, tuple):
            found += [DistinctDiversity(least, name) for name, least in l]
        elif l is not None:
            found.append(DistinctDiversity(l))
        found += criteria
        texts_by_score: dict[ScoreKey, list[str | None]] = {}
        for criterion in found:
            of = texts_by_score.setdefault(replace(criterion.score, attribute=None), [])
            # A criterion of every sensitive attribute includes each one, so it excludes another of the same
            # score.
            if of and (criterion.attribute in of or None in (criterion.attribute, *of)):
                raise InputError(f"{criterion.name} was given twice", allowed="one value of each")
            of.append(criterion.attribute)
        object.__setattr__(self, "criteria", tuple(found))

    @classmethod
    def of(
        cls,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Iterable[Criterion] = (),
    ) -> Requirement:
        """Build a requirement from plain values; ``l`` may be a mapping by sensitive attribute."""
        return cls(k, tuple(l.items()) if isinstance(l, Mapping) else l, criteria)

    @property
    def is_empty(self) -> bool:
        """True if there is no criterion."""
        return not self.criteria

    @property
    def k(self) -> int | None:
        """Required smallest size of a class; None if it is not required."""
        return next((c.value for c in self.criteria if isinstance(c, KAnonymity)), None)

    @property
    def l(self) -> ByAttribute | None:  # noqa: E743 - the field's letter
        """Required distinct values of every sensitive attribute, or of some by name."""
        diversities = [c for c in self.criteria if isinstance(c, DistinctDiversity)]
        if not diversities:
            return None
        if diversities[0].attribute is None:
            return int(diversities[0].value)
        return tuple((c.attribute or "", c.value) for c in diversities)

    @property
    def others(self) -> tuple[Criterion, ...]:
        """Criteria except k and l."""
        return tuple(c for c in self.criteria if not c.has_keyword)

    @property
    def of_classes(self) -> Requirement:
        """Requirement with only the criteria of single classes."""
        return self if self._of_classes is None else Requirement(criteria=self._of_classes)

    # Cached, because look-ups read it many times and a requirement is immutable.

    @cached_property
    def _of_classes(self) -> tuple[Criterion, ...] | None:
        """Criteria of single classes; None if all are."""
        found = tuple(c for c in self.criteria if not c.of_release)
        return None if len(found) == len(self.criteria) else found

    @cached_property
    def of_release(self) -> tuple[ReleaseCriterion, ...]:
        """Criteria of the sizes of all classes together."""
        return tuple(c for c in self.criteria if isinstance(c, ReleaseCriterion))

    @cached_property
    def of_cells(self) -> CellsCriterion | None:
        """Criterion of the cells of all classes together."""
        return next((c for c in self.criteria if isinstance(c, CellsCriterion)), None)

    @cached_property
    def is_growing(self) -> bool:
        """True if every criterion is growing (``model.criteria.base``)."""
        return all(criterion.growing for criterion in self.criteria)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the criteria, each once, in order."""
        return tuple(dict.fromkeys(criterion.name for criterion in self.criteria))

    @property
    def relaxing(self) -> str:
        """Advice that names the criteria to relax: ``relax k or pairshare``."""
        *first, last = self.names or ("the requirement",)
        return f"relax {', '.join(first)} or {last}" if first else f"relax {last}"

    @property
    def of_values(self) -> bool:
        """True if a criterion applies to sensitive attributes, so that their values must be counted."""
        return any(c.of_attribute or c.of_every_attribute for c in self.criteria)

    @property
    def least_rows(self) -> int:
        """Number of rows below which a class certainly fails; 1 if no such number is known."""
        return max((criterion.least_rows for criterion in self.criteria), default=1)

    def bound(self, sensitive: Sequence[str]) -> tuple[BoundCriterion, ...]:
        """Return the criteria with the indices of their attributes among a table's sensitive ones.

        Raises ``InputError`` for an attribute that is not among them.
        """
        return _cached_bound(self.criteria, tuple(sensitive))

    def thresholds(self, scores: Sequence[ScoreKey], sensitive: Sequence[str]) -> tuple[int | None, ...]:
        """Return the threshold of each score, None for a score that no criterion judges.

        Raises ``InputError`` for a criterion whose score is not in ``scores``, and for one of the whole
        release: a result without it would be wrong.
        """
        return _cached_thresholds(self.criteria, tuple(scores), tuple(sensitive))

    def l_of(self, attributes: tuple[str, ...]) -> tuple[int | None, ...]:
        """Return the threshold of l of each sensitive attribute.

        Raises ``InputError`` for a criterion of another attribute.
        """
        thresholds: list[int | None] = [None] * len(attributes)
        for bound in self.bound(attributes):
            if bound.index is not None and isinstance(bound.criterion, DistinctDiversity):
                thresholds[bound.index] = bound.criterion.threshold
        return tuple(thresholds)

    def check(self, attributes: tuple[str, ...]) -> None:
        """Raise ``InputError`` without a criterion, or for one of an attribute not in ``attributes``."""
        if self.is_empty:
            raise no_criterion_error()
        self.bound(attributes)

    def weakened(self, name: str, score: int) -> Requirement:
        """Return the requirement with the criteria of a name lowered to the value that this score meets."""
        lowered = (c.weakened(score) if c.name == name else c for c in self.criteria)
        return Requirement(criteria=lowered)

    def relaxed(self, name: str, score: int | None) -> Requirement | None:
        """Return the weakened requirement; None without a score, or for a score below a floor."""
        return None if score is None else _cached_relaxation(self, name, score)

    def l_as_json(self) -> int | dict[str, int] | None:
        """Return ``l`` as given: a number, numbers by attribute, or None."""
        return dict(self.l) if isinstance(self.l, tuple) else self.l

    def as_json(self) -> dict[str, Any]:
        """Return the requirement as a document: always ``k`` and ``l``, and each other criterion.

        A criterion of every sensitive attribute is a number, one of some is numbers by attribute, and one
        with additional fields a list of tables (``criteria.registry.plain_values``).
        """
        return {"k": self.k, "l": self.l_as_json(), **plain_values(self.others)}

    def __str__(self) -> str:
        return ", ".join(map(str, self.criteria)) or "no requirement"


# Cached, because look-ups repeat these calls for few requirements, and a lattice answers within a tenth of a
# millisecond.


@lru_cache(maxsize=1024)
def _cached_bound(criteria: tuple[Criterion, ...], sensitive: tuple[str, ...]) -> tuple[BoundCriterion, ...]:
    return bind_criteria(criteria, sensitive)


@lru_cache(maxsize=1024)
def _cached_thresholds(
    criteria: tuple[Criterion, ...], scores: tuple[ScoreKey, ...], sensitive: tuple[str, ...]
) -> tuple[int | None, ...]:
    least_by_score: dict[ScoreKey, int] = {}
    for bound in _cached_bound(criteria, sensitive):
        if bound.criterion.of_release:
            raise release_criterion_error(bound.criterion, "a look-up of single classes")
        score, least = bound.criterion.counted, bound.criterion.threshold
        least_by_score[score] = max(least_by_score.get(score, least), least)
    for score in least_by_score:
        if score not in scores:
            raise InputError(
                f"{score.criterion.title} was required, but the classes were not counted for it",
                advice="Evaluate the lattice again with that criterion.",
            )
    return tuple(least_by_score.get(score) for score in scores)


@lru_cache(maxsize=1024)
def _cached_relaxation(requirement: Requirement, name: str, score: int) -> Requirement | None:
    floors = [criterion.floor_score for criterion in requirement.criteria if criterion.name == name]
    return requirement.weakened(name, score) if floors and score >= max(floors) else None


MONOTONE_ADVICE = "Use --algorithm exhaustive or optimal, which judge every node of the lattice by itself."
"""Advice for a criterion that is not monotone, where classes are merged."""


def is_growing(requirement: Requirement) -> bool:
    """Return whether suppressed rows never rise on the way up a lattice: every criterion is growing."""
    return requirement.is_growing


def is_monotone(requirement: Requirement) -> bool:
    """Return whether the union of two passing classes passes."""
    return all(criterion.growing or criterion.monotone for criterion in requirement.criteria)


def require_monotone(requirement: Requirement, caller: str, *, advice: str) -> None:
    """Raise ``InputError`` for a criterion that is not monotone; ``caller`` merges passing classes."""
    for criterion in requirement.criteria:
        if criterion.of_release:
            raise release_criterion_error(criterion, caller, advice)
        if not (criterion.growing or criterion.monotone):
            raise InputError(
                f"{criterion} of {caller}: {criterion.title} may fail where two classes that meet it are "
                "merged",
                allowed=_allowed_criteria(requirement, monotone=True),
                advice=advice,
            )


def require_growing(requirement: Requirement, caller: str, *, advice: str) -> None:
    """Raise ``InputError`` for a criterion that is not growing; ``caller`` merges failing rows."""
    for criterion in requirement.criteria:
        if criterion.of_release:
            raise release_criterion_error(criterion, caller, advice)
        if not criterion.growing:
            raise InputError(
                f"{criterion} of {caller}: {criterion.title} may fail where rows of a class that fails join "
                "a class that meets it",
                allowed=_allowed_criteria(requirement, monotone=False),
                advice=advice,
            )


def _allowed_criteria(requirement: Requirement, *, monotone: bool) -> str:
    def fits(criterion: Criterion) -> bool:
        return criterion.growing or (monotone and criterion.monotone)

    names = ", ".join(dict.fromkeys(c.name for c in requirement.criteria if fits(c)))
    kind = "criteria that hold for unions" if monotone else "criteria that no further row breaks"
    return f"{kind}: {names or 'k, l'}"


def check_value_counts(one: BoundCriterion, table: FrequencySet) -> None:
    """Raise ``InputError`` for a criterion whose input the table lacks: rows by value, or a population.

    Also refuses a criterion of the release's records if subjects are counted, and one that requires a feature
    that its attribute lacks: an order, numbers, or a hierarchy.
    """
    if one.criterion.of_release and table.subjects is not None:
        raise subject_count_error(one.criterion)
    if one.criterion.of_population and table.population is None:
        raise InputError(
            f"{one.criterion}: {one.criterion.title} needs the population, and the spec names none",
            advice="Give [population] with a path, or subset in [source].",
        )
    if one.criterion.of_every_attribute:
        if not table.has_all_sensitive:
            raise uncounted_attributes_error(one.criterion)
        for sets in table.sensitive:
            _require_value_counts(one, sets)
    if one.index is None or one.criterion.need is not Need.COUNTS:
        return
    if table.sensitive[one.index].subjects is not None:
        raise InputError(
            f"{one.criterion}: {one.criterion.title} counts the rows of each value, but here subjects are "
            "counted, and some have several rows",
            allowed="criteria of subjects and of distinct values: k, l",
            advice="Reduce the table to one row per subject first, or remove the criterion.",
        )
    sets = table.sensitive[one.index]
    require_feature(
        str(one.criterion), one.criterion.required_feature, sets.attribute, _require_value_counts(one, sets)
    )


def _require_value_counts(one: BoundCriterion, sets: ValueSets) -> SensitiveAttribute:
    if sets.counts is None or sets.of is None:
        raise InputError(
            f"{one.criterion}: the frequency set contains no rows by value of '{sets.attribute}'",
            advice="Count the table by count_frequency_set.",
        )
    return sets.of


def subject_count_error(criterion: Criterion) -> InputError:
    """Return the error for a criterion of a release's records where subjects are counted."""
    return InputError(
        f"{criterion}: {criterion.title} counts records, but here subjects are counted, and some have "
        "several rows",
        allowed="criteria of subjects and of distinct values: k, l, highest_risk",
        advice="Reduce the table to one row per subject first, or remove the criterion.",
    )


def uncounted_attributes_error(criterion: Criterion) -> InputError:
    """Return the error for a criterion of all sensitive attributes where some were not counted."""
    return InputError(
        f"{criterion} was required of every sensitive attribute, but the classes were not counted for it",
        advice="Evaluate the lattice again with that criterion.",
    )
