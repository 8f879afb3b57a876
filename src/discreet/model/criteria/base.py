"""The base class of criteria: a score for every class, and the least score that a class must have.

A criterion is a frozen value. Its class declares what the field calls it, which parameter is asked of it, and
what it needs to know of a class; an instance holds the parameter's value and, where the criterion speaks of a
sensitive attribute, which one (None: every one by itself).

**Scores are whole numbers, and larger is safer.** A class passes where its score is at least the criterion's
``threshold``. So a lattice keeps, for every node, how many rows lie in classes of each score, and answers any
parameter by look-up; sliders, frontiers and relaxations ask nothing else. A parameter that is no whole number
has a score in a fixed unit, which its class states.

**Monotone** says that where two classes pass, their union does: then, where no class of a node fails, none
does above it. **Growing** says more: a class that passes still does when one that fails joins it. Only then
do suppressed rows never rise on the way up a lattice, as what is suppressed at a node joins other classes
above it. ``model.requirement`` refuses a criterion where what is not true of it would be rested on.

The audit of a release shares nothing with this: it asks the criterion's own SQL (``audit_query``).

Fixed parameters are the further fields of a criterion: chosen, never negotiated, and declared as options.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from functools import cache
from math import isfinite
from operator import index
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criterion_inputs import (
    AttributeFeature,
    ClassPopulation,
    ClassStatistics,
    ClassValues,
    ReferenceTable,
)
from discreet.model.option import Option, OptionKind, options_of

NEGOTIATED_FIELDS = ("value", "attribute")
"""The fields that every criterion has."""

_ACCEPTED_KINDS = (OptionKind.CHOICE, OptionKind.WHOLE, OptionKind.DECIMAL, OptionKind.TEXT, OptionKind.FLAG)


class FlaggedClass(Protocol):
    """A dataclass with a word on the command line, as every criterion is."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    name: ClassVar[str]

    @classmethod
    def flag(cls) -> str:
        """The word."""


@cache
def fixed_parameters(kind: type[FlaggedClass]) -> tuple[Option, ...]:
    """The further fields of a criterion in their order, each with a flag that begins with the criterion's.

    ``InputError`` for a field that no text can tell: one without a default, or of another type than numbers,
    texts, choices and truth values.
    """
    declared = {each.name: each for each in options_of(kind)}
    found = []
    for each in fields(kind):
        if each.name in NEGOTIATED_FIELDS:
            continue
        option = declared.get(each.name) or _option_of_default(each)
        if (
            option is None
            or option.kind not in _ACCEPTED_KINDS
            or option.repeatable
            or option.default is None
        ):
            raise InputError(
                f"the field '{each.name}' of the criterion '{kind.name}'",
                allowed="a default that is a number, a text, a choice or a truth value",
            )
        found.append(replace(option, flag=f"{kind.flag()}-{option.spelt}"))
    return tuple(found)


def check_parameter(option: Option, value: Any, owner: str) -> Any:
    """The value of a fixed part in its own type, so that equal ones are equal; ``InputError`` for another."""
    option.check(value, owner)
    fits: Any = None
    if option.kind is OptionKind.WHOLE and not isinstance(value, bool | str | float | Decimal):
        fits = _as_integer(value)
    elif option.kind is OptionKind.DECIMAL and not isinstance(value, bool | str):
        fits = float(value)
    elif option.kind is OptionKind.FLAG and isinstance(value, bool):
        fits = value
    elif option.kind in (OptionKind.CHOICE, OptionKind.TEXT) and isinstance(value, str):
        fits = str(value)
    if fits is None:
        raise InputError(f"{option.spelt} '{value}' of {owner}", allowed=option.allowed)
    return fits


def changed_parameters(criterion: FlaggedClass) -> dict[str, Any]:
    """The fixed parts by name where one of them is not as its class proposes, else none."""
    values = {
        each.name: (getattr(criterion, each.name), each.default) for each in fixed_parameters(type(criterion))
    }
    if all(value == default for value, default in values.values()):
        return {}
    return {name: value for name, (value, _) in values.items()}


def _as_integer(value: Any) -> int | None:
    try:
        return index(value)
    except TypeError:
        return None


def _option_of_default(field: Field[Any]) -> Option | None:
    default = None if field.default is MISSING else field.default
    choices: tuple[str, ...] = ()
    if isinstance(default, StrEnum):
        kind, choices, default = OptionKind.CHOICE, tuple(map(str, type(default))), str(default)
    elif isinstance(default, bool):
        kind = OptionKind.FLAG
    elif isinstance(default, int):
        kind = OptionKind.WHOLE
    elif isinstance(default, float):
        kind = OptionKind.DECIMAL
    elif isinstance(default, str):
        kind = OptionKind.TEXT
    else:
        return None
    return Option(field.name, kind, default, help=field.name.replace("_", " "), choices=choices)


@dataclass(frozen=True, eq=False)
class KernelFormula:
    """The word of a formula of ``kernels.class_scores``, its own number, and logarithms where it takes some.

    ``logarithms`` holds what the criterion takes for the logarithms of 0, 1, 2, … (that of 0 is never asked).
    """

    name: str
    number: float = 0.0
    logarithms: NDArray[np.float64] | None = None


MAX_PARAMETER = 2**62
"""The largest whole parameter that is told from a larger one."""

_SLIDER_STEPS = 100


def parameter_text(value: Any) -> str:
    """A parameter's value as people are told it."""
    return f"{value:g}" if isinstance(value, float) else f"{value}"


class Need(StrEnum):
    """What a criterion must know of a class: rows alone, distinct sensitive values, or rows by value.

    Where ``DISTINCT`` values are all that it asks for, more of them never score less.
    """

    SIZE = "size"
    DISTINCT = "distinct"
    COUNTS = "counts"


class AuditedBy(StrEnum):
    """By what an audit counts a criterion again.

    ``SQL`` of its own; a ``SCORE`` of the published class sizes, of a criterion of the release that no SQL
    tells; or ``NOTHING``: then it is refused wherever a release is made or judged.
    """

    SQL = "sql"
    SCORE = "score"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Parameter:
    """The parameter that is asked, negotiated and relaxed.

    ``least`` and ``most`` bound it; ``whole`` numbers alone are taken, or any. ``stops`` are where a slider
    stops, ascending; ``hint`` says in a line what the number means.
    """

    hint: str
    least: float = 1
    most: float = MAX_PARAMETER
    whole: bool = True
    stops: tuple[float, ...] = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)

    @property
    def allowed(self) -> str:
        """The values that are taken, in words."""
        kind = "a whole number" if self.whole else "a number"
        if self.most == MAX_PARAMETER:
            return f"{kind} of at least {self.least:g}"
        return f"{kind} from {self.least:g} to {self.most:g}"

    def checked(self, label: str, value: Any) -> Any:
        """The value, a whole one above ``LARGEST`` as that; ``InputError`` names it by ``label``."""
        if isinstance(value, np.integer | np.floating):
            value = value.item()
        kinds = (int,) if self.whole else (int, float)
        right = isinstance(value, kinds) and not isinstance(value, bool) and isfinite(value)
        if not right or value < self.least or (value > self.most and self.most != MAX_PARAMETER):
            raise InputError(f"{label} = {value}", allowed=self.allowed)
        return min(value, self.most)

    def read(self, label: str, text: str) -> int | float:
        """The number that a text has, for ``checked`` to judge; ``InputError`` for a text that has none."""
        try:
            return int(text) if re.fullmatch(r"[+-]?\d{1,4000}", text, re.ASCII) else float(text)
        except ValueError:
            raise InputError(f"{label} {text}", allowed=self.allowed) from None

    @property
    def slider(self) -> tuple[float, ...]:
        """Where a slider stops: the ``stops`` within the bounds, else steps from bound to bound."""
        within = tuple(stop for stop in self.stops if self.least <= stop <= self.most)
        if within or self.most == MAX_PARAMETER:
            return within or (self.least,)
        steps = min(int(self.most - self.least), _SLIDER_STEPS) if self.whole else _SLIDER_STEPS
        found = [self.least + (self.most - self.least) * step / max(steps, 1) for step in range(steps + 1)]
        return tuple(dict.fromkeys(round(stop) if self.whole else round(stop, 10) for stop in found))


@dataclass(frozen=True)
class ScoreKey:
    """Which score of a class is meant: a criterion's, of one sensitive attribute or of the class itself.

    Two criteria that differ in their parameter alone have one score, so that one count of a lattice answers
    both.
    """

    criterion: type[Criterion]
    attribute: str | None = None
    fixed: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Criterion(ABC):
    """A requirement of every class, with the parameter's ``value``; see the module.

    A subclass may have further fields, its fixed parts, which negotiation leaves alone
    (``fixed_parameters``). Raises ``InputError`` for a value that its parameter does not take, or a part that
    its option does not.
    """

    value: Any
    attribute: str | None = None

    name: ClassVar[str]
    """The word in specs, JSON and, behind two hyphens, on the command line."""
    title: ClassVar[str]
    """The field's name, with its source in ``citation``."""
    citation: ClassVar[str]
    parameter: ClassVar[Parameter]
    need: ClassVar[Need]
    of_attribute: ClassVar[bool] = True
    """Whether it speaks of sensitive attributes, each by itself."""
    of_release: ClassVar[bool] = False
    """Whether it is judged on the release as a whole (``model.criteria.release_level``), and on no class."""
    monotone: ClassVar[bool] = False
    """Whether the union of two classes that pass does; what does not say so is not relied upon."""
    growing: ClassVar[bool] = False
    """Whether the union of a class that passes with any other class does."""
    compares: ClassVar[bool] = False
    """Whether it reads more of its attribute than the rows of each class, so that an audit is to be told."""
    by_distribution: ClassVar[bool] = True
    """Of one that ``compares``: whether the whole table's rows by value count, or its values alone."""
    has_keyword: ClassVar[bool] = False
    """Whether verbs, specs and documents have a keyword of its own for it, asked or not: k and l alone do."""
    counted_by_engines: ClassVar[bool] = False
    """Whether every engine counts its score, which is at most the rows (``sql.recoded_rows``)."""
    audited_by: ClassVar[AuditedBy] = AuditedBy.SQL
    """By what an audit counts it: ``audit_query``, or ``audit_against`` of one that ``compares``."""
    floor: ClassVar[float] = 2
    """The weakest value that a relaxation falls back to; below it nothing is promised."""

    def __post_init__(self) -> None:
        label = self.name if self.attribute is None else f"{self.name} of {self.attribute}"
        object.__setattr__(self, "value", self.parameter.checked(label, self.value))
        for part in fixed_parameters(type(self)):
            object.__setattr__(self, part.name, check_parameter(part, getattr(self, part.name), label))
        if self.attribute is not None and not self.of_attribute:
            raise InputError(f"{self.name} was asked of '{self.attribute}'", allowed="one for whole classes")

    @abstractmethod
    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Each class's score, shape ``(classes,)``.

        ``sizes`` is what k counts of each class; ``values`` is the sensitive attribute in them, with as much
        as ``need`` says, None for a criterion of sizes alone.
        """

    @property
    def threshold(self) -> int:
        """The least score with which a class passes: the value itself unless overridden."""
        return int(self.value)

    def formula(self, numbers: int) -> KernelFormula | None:
        """How compiled code tells the same score, None where it cannot: ``scores`` serves then, more slowly.

        ``numbers`` is how many logarithms are wanted, where the formula takes any.
        """
        del numbers
        return None

    @property
    def least_rows(self) -> int:
        """A class of fewer rows fails for certain; 1 where nothing is known."""
        return 1

    def value_of(self, score: int) -> Any:
        """The strictest value that a class of this score meets: the inverse of ``threshold``.

        Its threshold must not lie above the score, whatever rounding does.
        """
        return score

    @property
    def floor_score(self) -> int:
        """The threshold of ``floor``: a relaxation to a lower score promises nothing."""
        return replace(self, value=self.floor).threshold

    @property
    def asks_original(self) -> bool:
        """Whether a release alone does not tell all that it asks: its people, or the whole table's values."""
        told_by_table = self.by_distribution or self.asks is AttributeFeature.HIERARCHY
        return self.of_population or (self.compares and told_by_table)

    @property
    def of_population(self) -> bool:
        """Whether it must know how many people of the population match each class (``population_scores``)."""
        return False

    def scores_beside(self, sizes: NDArray[np.int64], population: ClassPopulation) -> NDArray[np.int64]:
        """Each class's score where the population is asked of, in the place of ``scores``."""
        raise NotImplementedError(self.name)

    @property
    def of_rest(self) -> bool:
        """Whether it judges all suppressed rows of a node, too (``rest_fails``)."""
        return False

    def rest_fails(
        self, threshold: int, rows: NDArray[np.int64], people: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether nothing may be published where so many rows are suppressed and people match no class."""
        raise NotImplementedError(self.name)

    @property
    def of_every_attribute(self) -> bool:
        """Whether it speaks of all sensitive attributes together, and counts the rows of their values."""
        return False

    @property
    def asks(self) -> AttributeFeature | None:
        """What its attribute must have as a whole; it is refused where the attribute has none."""
        return None

    @property
    def promises(self) -> bool:
        """Whether this value keeps anything of a sensitive attribute hidden; else a publisher is warned."""
        return True

    def warnings(self) -> tuple[tuple[str, str], ...]:
        """What a publisher should know of this value: codes and sentences, which tell nothing of the data."""
        return ()

    def audit_query(self, rows: str) -> str:
        """SQL that counts each class's score again, for the audit; in the engines' common subset.

        ``rows`` names a relation with a row for each published row: ``class`` (a number), and ``value`` (the
        sensitive attribute as text, NULL where there is none; absent where ``of_attribute`` is false). The
        query has the columns ``class`` and ``score``, a line for each class; a class without a line fails.
        """
        raise NotImplementedError(self.name)

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """The same of a criterion that ``compares``, which asks the relations of ``whole`` as well.

        A class with a value that is not among those of ``whole`` must have no score.
        """
        del whole
        return self.audit_query(rows)

    def audit_lines(self, sizes: Mapping[int, int], values: int) -> int:
        """How many lines the audit's SQL may make, so that none is told unasked that takes too long.

        ``sizes`` has the number of classes of each size, ``values`` is how many the attribute has. What does
        not say otherwise makes as many as there are rows.
        """
        del values
        return sum(size * number for size, number in sizes.items())

    def weakened(self, score: int) -> Self:
        """The same with the value that classes of this score meet, never a stricter one than its own."""
        return self if score >= self.threshold else replace(self, value=self.value_of(score))

    def at(self, attribute: str) -> Self:
        """The same of one sensitive attribute."""
        return replace(self, attribute=attribute)

    @property
    def score(self) -> ScoreKey:
        """Which score it judges."""
        fixed = tuple((part.name, getattr(self, part.name)) for part in fixed_parameters(type(self)))
        return ScoreKey(type(self), self.attribute, fixed)

    @property
    def counted(self) -> ScoreKey:
        """The score that must be counted of classes to answer it: its own, unless another tells it."""
        return self.score

    @classmethod
    def flag(cls) -> str:
        """Its word on the command line."""
        return f"--{cls.name.replace('_', '-')}"

    @property
    def label(self) -> str:
        """The name, with the attribute where it speaks of one, and fixed parts that are not as proposed."""
        values = [(part, getattr(self, part.name)) for part in fixed_parameters(type(self))]
        parts = [f"{part.name}={parameter_text(value)}" for part, value in values if value != part.default]
        told = ", ".join(parts if self.attribute is None else [self.attribute, *parts])
        return f"{self.name}({told})" if told else self.name

    def __str__(self) -> str:
        return f"{self.label}={parameter_text(self.value)}"


@dataclass(frozen=True)
class BoundCriterion:
    """A criterion and the place of its sensitive attribute in a table, None for one of sizes alone."""

    criterion: Criterion
    place: int | None

    def scores(self, facts: ClassStatistics) -> NDArray[np.int64]:
        """Each class's score; ``InputError`` for a criterion of the population, where nobody tells of it."""
        if self.criterion.of_population:
            if facts.population is None:
                raise population_criterion_error(self.criterion)
            return self.criterion.scores_beside(facts.sizes, facts.population)
        values = None if self.place is None else facts.values[self.place]
        return self.criterion.scores(facts.sizes, values)


def population_criterion_error(criterion: Criterion) -> InputError:
    """What refuses a criterion of the population where classes are no classes of a node."""
    return InputError(
        f"{criterion}: {criterion.title} counts the people who match a class, and where classes are not "
        "made by levels nobody can tell them",
        allowed="levels that are negotiated (no --model), searched, or of the full-domain model",
        advice=f"Use no --model or full-domain, or ask without {criterion.name}.",
    )


def bind_criteria(criteria: Sequence[Criterion], sensitive: Sequence[str]) -> tuple[BoundCriterion, ...]:
    """Each criterion with its place among a table's sensitive attributes, once for each that it speaks of.

    ``InputError`` for a criterion of an attribute that is not sensitive, or of sensitive attributes where
    there is none.
    """
    found: list[BoundCriterion] = []
    for criterion in criteria:
        of_some = criterion.of_every_attribute or (criterion.of_attribute and criterion.attribute is None)
        if of_some and not sensitive:
            raise InputError(
                f"{criterion.name} = {criterion.value} was asked, but no attribute is sensitive",
                advice=f'Give an attribute role = "sensitive", or ask without {criterion.name}.',
            )
        if not criterion.of_attribute:
            found.append(BoundCriterion(criterion, None))
        elif criterion.attribute is None:
            found += [BoundCriterion(criterion.at(name), place) for place, name in enumerate(sensitive)]
        elif criterion.attribute in sensitive:
            found.append(BoundCriterion(criterion, list(sensitive).index(criterion.attribute)))
        else:
            raise InputError(
                f"{criterion.name} was asked for '{criterion.attribute}', which is not a sensitive attribute",
                allowed=", ".join(sensitive) or "none: no attribute is sensitive",
            )
    return tuple(found)
