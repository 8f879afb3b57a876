"""The privacy requirement of a release: criteria, all of which every class must meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from discreet.errors import InputError
from discreet.model.criteria.base import Bound, Criterion, Score, bind
from discreet.model.criteria.distinct_diversity import DistinctDiversity
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criteria.of_cells import CellsCriterion
from discreet.model.criteria.of_release import ReleaseCriterion
from discreet.model.criteria.plain import plain
from discreet.model.judge import of_release_refused

ByAttribute = int | tuple[tuple[str, int], ...]


def nothing_required() -> InputError:
    """The error where no criterion is required."""
    return InputError(
        "no privacy criterion was given",
        allowed="k, l, or another criterion",
        advice="Give at least one, such as k=10.",
    )


@dataclass(frozen=True, init=False)
class Requirement:
    """Criteria that are asked together: a class fails when it fails one of them.

    k-anonymity and distinct l-diversity have parameters of their own, ``k`` and ``l``, since commands, specs
    and documents do; every other criterion is given as a value. ``l`` is one number for each sensitive
    attribute by itself, or numbers by attribute. Two criteria may not judge one score twice.

    Raises ``InputError`` for a parameter out of its range, or a criterion given twice.
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
        asked: dict[Score, list[str | None]] = {}
        for criterion in found:
            of = asked.setdefault(replace(criterion.score, attribute=None), [])
            # Asked of every sensitive attribute, a criterion is asked of each: nothing stands beside it.
            if of and (criterion.attribute in of or None in (criterion.attribute, *of)):
                raise InputError(f"{criterion.name} was asked twice", allowed="one value of each")
            of.append(criterion.attribute)
        object.__setattr__(self, "criteria", tuple(found))

    @classmethod
    def of(
        cls,
        k: int | None = None,
        l: int | Mapping[str, int] | None = None,
        criteria: Iterable[Criterion] = (),
    ) -> Requirement:
        """A requirement from plain values; ``l`` may be a mapping by sensitive attribute."""
        return cls(k, tuple(l.items()) if isinstance(l, Mapping) else l, criteria)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked."""
        return not self.criteria

    @property
    def k(self) -> int | None:
        """The least size of a class that is asked, None where none is."""
        return next((c.value for c in self.criteria if isinstance(c, KAnonymity)), None)

    @property
    def l(self) -> ByAttribute | None:  # noqa: E743 - the field's letter
        """The distinct values that are asked of every sensitive attribute, or of some by name."""
        asked = [c for c in self.criteria if isinstance(c, DistinctDiversity)]
        if not asked:
            return None
        if asked[0].attribute is None:
            return int(asked[0].value)
        return tuple((c.attribute or "", c.value) for c in asked)

    @property
    def others(self) -> tuple[Criterion, ...]:
        """The criteria beside k and l."""
        return tuple(c for c in self.criteria if not c.has_keyword)

    @property
    def of_classes(self) -> Requirement:
        """What is asked of each class by itself."""
        return self if self._of_classes is None else Requirement(criteria=self._of_classes)

    # A look-up asks these of one requirement many times, and a requirement never changes.

    @cached_property
    def _of_classes(self) -> tuple[Criterion, ...] | None:
        """The criteria of single classes, None where all are."""
        found = tuple(c for c in self.criteria if not c.of_release)
        return None if len(found) == len(self.criteria) else found

    @cached_property
    def of_release(self) -> tuple[ReleaseCriterion, ...]:
        """What is asked of the sizes of all classes together."""
        return tuple(c for c in self.criteria if isinstance(c, ReleaseCriterion))

    @cached_property
    def of_cells(self) -> CellsCriterion | None:
        """What is asked of the cells of all classes together."""
        return next((c for c in self.criteria if isinstance(c, CellsCriterion)), None)

    @cached_property
    def is_growing(self) -> bool:
        """Whether every criterion is growing (``model.criteria.base``)."""
        return all(criterion.growing for criterion in self.criteria)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of what is asked, each once, in order."""
        return tuple(dict.fromkeys(criterion.name for criterion in self.criteria))

    @property
    def relaxing(self) -> str:
        """Advice that names what may give way: ``relax k or pairshare``."""
        *first, last = self.names or ("the requirement",)
        return f"relax {', '.join(first)} or {last}" if first else f"relax {last}"

    @property
    def of_values(self) -> bool:
        """Whether a criterion speaks of sensitive attributes, so that their values must be counted."""
        return any(c.of_attribute or c.of_every_attribute for c in self.criteria)

    @property
    def least_rows(self) -> int:
        """A class of fewer rows fails for certain; 1 where nothing is known."""
        return max((criterion.least_rows for criterion in self.criteria), default=1)

    def bound(self, sensitive: Sequence[str]) -> tuple[Bound, ...]:
        """The criteria with the places of their attributes among a table's sensitive ones.

        ``InputError`` for an attribute that is not among them.
        """
        return _bound(self.criteria, tuple(sensitive))

    def thresholds(self, scores: Sequence[Score], sensitive: Sequence[str]) -> tuple[int | None, ...]:
        """The least of each score that is asked, None where nothing is asked of it.

        ``InputError`` for a criterion whose score is not among them, and for one of the whole release:
        nothing is judged without it.
        """
        return _thresholds(self.criteria, tuple(scores), tuple(sensitive))

    def l_of(self, attributes: tuple[str, ...]) -> tuple[int | None, ...]:
        """The threshold of l of each sensitive attribute; ``InputError`` for one of another attribute."""
        thresholds: list[int | None] = [None] * len(attributes)
        for bound in self.bound(attributes):
            if bound.place is not None and isinstance(bound.criterion, DistinctDiversity):
                thresholds[bound.place] = bound.criterion.threshold
        return tuple(thresholds)

    def check(self, attributes: tuple[str, ...]) -> None:
        """``InputError`` where nothing is asked, or a criterion of an attribute not in ``attributes``."""
        if self.is_empty:
            raise nothing_required()
        self.bound(attributes)

    def weakened(self, name: str, score: int) -> Requirement:
        """The same with every criterion of a name lowered to what classes of this score meet."""
        lowered = (c.weakened(score) if c.name == name else c for c in self.criteria)
        return Requirement(criteria=lowered)

    def relaxed(self, name: str, score: int | None) -> Requirement | None:
        """The same, weakened; None without a score, or for one below a floor: nothing is promised then."""
        return None if score is None else _relaxed(self, name, score)

    def l_as_json(self) -> int | dict[str, int] | None:
        """``l`` as it was asked: a number, numbers by attribute, or None."""
        return dict(self.l) if isinstance(self.l, tuple) else self.l

    def as_json(self) -> dict[str, Any]:
        """The requirement as a document: always ``k`` and ``l``, and each other criterion that is asked.

        A criterion of every sensitive attribute is a number, one of some is numbers by attribute, and one
        with further fields a list of tables (``criteria.plain``).
        """
        return {"k": self.k, "l": self.l_as_json(), **plain(self.others)}

    def __str__(self) -> str:
        return ", ".join(map(str, self.criteria)) or "no requirement"


# Look-ups ask these again and again of few requirements, and an answer of a lattice takes a tenth of a
# millisecond.


@lru_cache(maxsize=1024)
def _bound(criteria: tuple[Criterion, ...], sensitive: tuple[str, ...]) -> tuple[Bound, ...]:
    return bind(criteria, sensitive)


@lru_cache(maxsize=1024)
def _thresholds(
    criteria: tuple[Criterion, ...], scores: tuple[Score, ...], sensitive: tuple[str, ...]
) -> tuple[int | None, ...]:
    asked: dict[Score, int] = {}
    for bound in _bound(criteria, sensitive):
        if bound.criterion.of_release:
            raise of_release_refused(bound.criterion, "a look-up of single classes")
        score, least = bound.criterion.counted, bound.criterion.threshold
        asked[score] = max(asked.get(score, least), least)
    for score in asked:
        if score not in scores:
            raise InputError(
                f"{score.criterion.title} was asked, which these classes were not counted for",
                advice="Evaluate the lattice again with that criterion.",
            )
    return tuple(asked.get(score) for score in scores)


@lru_cache(maxsize=1024)
def _relaxed(requirement: Requirement, name: str, score: int) -> Requirement | None:
    floors = [criterion.floor_score for criterion in requirement.criteria if criterion.name == name]
    return requirement.weakened(name, score) if floors and score >= max(floors) else None
