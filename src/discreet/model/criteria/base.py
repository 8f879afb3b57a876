"""Base class of criteria: a score for every class, and a threshold that each score must reach.

A criterion is an immutable value. Its class declares its name, its parameter, and the input that it requires
of a class. An instance contains the parameter's value and, for criteria of a sensitive attribute, the
attribute (None: every sensitive attribute separately).

**Scores are integers, and larger is safer.** A class passes if its score is at least the criterion's
``threshold``. A lattice therefore stores, for every node, the number of rows in classes of each score, and
answers any parameter by look-up; sliders, frontiers and relaxations require nothing else. A criterion with a
parameter that is not an integer has scores in a fixed unit, which its class states.

**Monotone** means that the union of two passing classes passes. Then, if no class of a node fails, no class
fails above it. **Growing** is stronger: a passing class still passes after a failing class joins it. Only
then does the number of suppressed rows never rise on the way up a lattice, because suppressed rows of a node
join other classes above it. ``model.requirement`` refuses a criterion where an algorithm would rely on a
property that the criterion does not have.

The audit of a release shares no code with this module: it runs the criterion's own SQL (``audit_query``).

Fixed parameters are the additional fields of a criterion: chosen, never negotiated, and declared as options.
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
"""Fields that every criterion has."""

_ACCEPTED_KINDS = (OptionKind.CHOICE, OptionKind.WHOLE, OptionKind.DECIMAL, OptionKind.TEXT, OptionKind.FLAG)


class FlaggedClass(Protocol):
    """A dataclass with a name on the command line, such as a criterion."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    name: ClassVar[str]

    @classmethod
    def flag(cls) -> str:
        """Return the name on the command line."""


@cache
def fixed_parameters(kind: type[FlaggedClass]) -> tuple[Option, ...]:
    """Return the additional fields of a criterion, in order, with flags that begin with the criterion's flag.

    Raises ``InputError`` for a field that cannot be read from text: one without a default, or of a type other
    than numbers, texts, choices and truth values.
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
    """Return the value of a fixed parameter in its own type; raise ``InputError`` if it is invalid.

    The conversion makes values that are equal compare equal.
    """
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
    """Return all fixed parameters by name if one of them is not at its default, otherwise none."""
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
    """Name of a formula of ``kernels.class_scores``, its parameter, and the logarithms that it reads.

    ``logarithms`` contains the criterion's values of the logarithms of 0, 1, 2, … (that of 0 is never read).
    """

    name: str
    number: float = 0.0
    logarithms: NDArray[np.float64] | None = None


MAX_PARAMETER = 2**62
"""Largest integer parameter; larger values are treated as this one."""

_SLIDER_STEPS = 100


def parameter_text(value: Any) -> str:
    """Return the text of a parameter's value."""
    return f"{value:g}" if isinstance(value, float) else f"{value}"


class Need(StrEnum):
    """Input of a criterion for each class: its size, its number of distinct values, or its rows per value.

    If a criterion needs only ``DISTINCT`` values, more distinct values never lower its score.
    """

    SIZE = "size"
    DISTINCT = "distinct"
    COUNTS = "counts"


class AuditedBy(StrEnum):
    """Method by which an audit recomputes a criterion.

    ``SQL``: the criterion's own query. ``SCORE``: computed from the published class sizes, for criteria of
    the release that SQL cannot express. ``NOTHING``: not audited; such a criterion is refused wherever a
    release is made or judged.
    """

    SQL = "sql"
    SCORE = "score"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Parameter:
    """Parameter of a criterion that is requested, negotiated and relaxed.

    ``least`` and ``most`` are its bounds; with ``whole`` only integers are accepted. ``stops`` are the values
    of a slider, ascending; ``hint`` describes the number in one line.
    """

    hint: str
    least: float = 1
    most: float = MAX_PARAMETER
    whole: bool = True
    stops: tuple[float, ...] = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)

    @property
    def allowed(self) -> str:
        """Description of the accepted values."""
        kind = "a whole number" if self.whole else "a number"
        if self.most == MAX_PARAMETER:
            return f"{kind} of at least {self.least:g}"
        return f"{kind} from {self.least:g} to {self.most:g}"

    def checked(self, label: str, value: Any) -> Any:
        """Return the value, at most ``MAX_PARAMETER`` if unbounded; ``InputError`` names ``label``."""
        if isinstance(value, np.integer | np.floating):
            value = value.item()
        kinds = (int,) if self.whole else (int, float)
        right = isinstance(value, kinds) and not isinstance(value, bool) and isfinite(value)
        if not right or value < self.least or (value > self.most and self.most != MAX_PARAMETER):
            raise InputError(f"{label} = {value}", allowed=self.allowed)
        return min(value, self.most)

    def read(self, label: str, text: str) -> int | float:
        """Parse a number, which ``checked`` then validates; raise ``InputError`` for other texts."""
        try:
            return int(text) if re.fullmatch(r"[+-]?\d{1,4000}", text, re.ASCII) else float(text)
        except ValueError:
            raise InputError(f"{label} {text}", allowed=self.allowed) from None

    @property
    def slider(self) -> tuple[float, ...]:
        """Values of a slider: the ``stops`` within the bounds, otherwise equal steps between the bounds."""
        within = tuple(stop for stop in self.stops if self.least <= stop <= self.most)
        if within or self.most == MAX_PARAMETER:
            return within or (self.least,)
        steps = min(int(self.most - self.least), _SLIDER_STEPS) if self.whole else _SLIDER_STEPS
        found = [self.least + (self.most - self.least) * step / max(steps, 1) for step in range(steps + 1)]
        return tuple(dict.fromkeys(round(stop) if self.whole else round(stop, 10) for stop in found))


@dataclass(frozen=True)
class ScoreKey:
    """Identity of a score of classes: a criterion, its sensitive attribute and its fixed parameters.

    Criteria that differ only in their parameter share one score, so one count of a lattice answers both.
    """

    criterion: type[Criterion]
    attribute: str | None = None
    fixed: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Criterion(ABC):
    """A requirement of every class, with the parameter's ``value``; see the module.

    A subclass may have additional fields, its fixed parameters, which negotiation does not change
    (``fixed_parameters``). Raises ``InputError`` for a value or a fixed parameter outside its allowed values.
    """

    value: Any
    attribute: str | None = None

    name: ClassVar[str]
    """Name in specs, JSON and, after two hyphens, on the command line."""
    title: ClassVar[str]
    """Name in the literature; ``citation`` is its source."""
    citation: ClassVar[str]
    parameter: ClassVar[Parameter]
    need: ClassVar[Need]
    of_attribute: ClassVar[bool] = True
    """True if it applies to sensitive attributes, to each separately."""
    of_release: ClassVar[bool] = False
    """True if it is judged on the whole release (``model.criteria.release_level``) instead of on classes."""
    monotone: ClassVar[bool] = False
    """True if the union of two passing classes passes; assumed false unless declared."""
    growing: ClassVar[bool] = False
    """True if the union of a passing class with any other class passes."""
    compares: ClassVar[bool] = False
    """True if it reads more of its attribute than the rows of each class, which an audit must then be given.
    """
    by_distribution: ClassVar[bool] = True
    """For one that ``compares``: whether the rows by value of the whole table count, or only its values."""
    has_keyword: ClassVar[bool] = False
    """True if verbs, specs and documents always have a keyword for it; true only for k and l."""
    counted_by_engines: ClassVar[bool] = False
    """True if every engine counts its score, which is at most the number of rows (``sql.recoded_rows``)."""
    audited_by: ClassVar[AuditedBy] = AuditedBy.SQL
    """Method of the audit: ``audit_query``, or ``audit_against`` for a criterion that ``compares``."""
    floor: ClassVar[float] = 2
    """Weakest value of a relaxation; weaker values guarantee nothing."""

    def __post_init__(self) -> None:
        label = self.name if self.attribute is None else f"{self.name} of {self.attribute}"
        object.__setattr__(self, "value", self.parameter.checked(label, self.value))
        for part in fixed_parameters(type(self)):
            object.__setattr__(self, part.name, check_parameter(part, getattr(self, part.name), label))
        if self.attribute is not None and not self.of_attribute:
            raise InputError(
                f"{self.name} does not apply to a single attribute ('{self.attribute}')",
                allowed="a criterion without attribute",
            )

    @abstractmethod
    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the score of each class, shape ``(classes,)``.

        ``sizes`` contains k's count of each class. ``values`` contains the sensitive attribute in the
        classes, as detailed as ``need`` requires; None for a criterion that only needs sizes.
        """

    @property
    def threshold(self) -> int:
        """Lowest score with which a class passes; the value itself unless overridden."""
        return int(self.value)

    def formula(self, numbers: int) -> KernelFormula | None:
        """Return the formula by which compiled code computes the score; None if there is none.

        Without a formula ``scores`` is used, which is slower. ``numbers`` is the number of logarithms to
        tabulate, for formulas that read logarithms.
        """
        del numbers
        return None

    @property
    def least_rows(self) -> int:
        """Number of rows below which a class certainly fails; 1 if no such number is known."""
        return 1

    def value_of(self, score: int) -> Any:
        """Return the strictest value that a class of this score meets: the inverse of ``threshold``.

        Its threshold must not exceed the score, whatever the rounding.
        """
        return score

    @property
    def floor_score(self) -> int:
        """Threshold of ``floor``: a relaxation to a lower score guarantees nothing."""
        return replace(self, value=self.floor).threshold

    @property
    def needs_original(self) -> bool:
        """True if judging it requires more than the release: the population, or the whole table's values."""
        needs_table = self.by_distribution or self.required_feature is AttributeFeature.HIERARCHY
        return self.of_population or (self.compares and needs_table)

    @property
    def of_population(self) -> bool:
        """True if it requires the number of people matching each class (``population_scores``)."""
        return False

    def population_scores(self, sizes: NDArray[np.int64], population: ClassPopulation) -> NDArray[np.int64]:
        """Return the score of each class for a criterion ``of_population``; replaces ``scores``."""
        raise NotImplementedError(self.name)

    @property
    def judges_suppressed_rows(self) -> bool:
        """True if it also judges the suppressed rows of a node as a whole (``rest_fails``)."""
        return False

    def suppressed_rows_fail(
        self, threshold: int, rows: NDArray[np.int64], people: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return, per node, whether its suppressed rows and unmatched people forbid its publication."""
        raise NotImplementedError(self.name)

    @property
    def of_every_attribute(self) -> bool:
        """True if it applies to all sensitive attributes together, and counts the rows of their values."""
        return False

    @property
    def required_feature(self) -> AttributeFeature | None:
        """Feature that its attribute must have, such as an order; otherwise the criterion is refused."""
        return None

    @property
    def promises(self) -> bool:
        """True if this value protects the sensitive attribute at all; otherwise the publisher is warned."""
        return True

    def warnings(self) -> tuple[tuple[str, str], ...]:
        """Return warnings about this value, as codes and sentences, which disclose nothing about the data."""
        return ()

    def audit_query(self, rows: str) -> str:
        """Return SQL by which the audit recomputes the score of each class, in the engines' common subset.

        ``rows`` names a relation with a row for each published row: ``class`` (a number), and ``value`` (the
        sensitive attribute as text, NULL if missing; absent if ``of_attribute`` is false). The query returns
        the columns ``class`` and ``score``, one line per class; a class without a line fails.
        """
        raise NotImplementedError(self.name)

    def audit_against(self, rows: str, whole: ReferenceTable) -> str:
        """Return the SQL of ``audit_query`` for a criterion that ``compares``; it also reads ``whole``.

        A class with a value that ``whole`` does not contain must have no score.
        """
        del whole
        return self.audit_query(rows)

    def audit_lines(self, sizes: Mapping[int, int], values: int) -> int:
        """Return an upper bound of the lines that the audit's SQL produces.

        An audit does not run statements that take too long unless requested.

        ``sizes`` contains the number of classes of each size, ``values`` is the number of values of the
        attribute. The default is the number of rows.
        """
        del values
        return sum(size * number for size, number in sizes.items())

    def weakened(self, score: int) -> Self:
        """Return the criterion with the value that classes of this score meet, or its own if weaker."""
        return self if score >= self.threshold else replace(self, value=self.value_of(score))

    def at(self, attribute: str) -> Self:
        """Return the criterion for one sensitive attribute."""
        return replace(self, attribute=attribute)

    @property
    def score(self) -> ScoreKey:
        """Identity of the score that it judges."""
        fixed = tuple((part.name, getattr(self, part.name)) for part in fixed_parameters(type(self)))
        return ScoreKey(type(self), self.attribute, fixed)

    @property
    def counted(self) -> ScoreKey:
        """Identity of the score to count for it: its own, unless another score determines it."""
        return self.score

    @classmethod
    def flag(cls) -> str:
        """Return the name on the command line."""
        return f"--{cls.name.replace('_', '-')}"

    @property
    def label(self) -> str:
        """Name with the attribute, if any, and the fixed parameters that differ from their defaults."""
        values = [(part, getattr(self, part.name)) for part in fixed_parameters(type(self))]
        parts = [f"{part.name}={parameter_text(value)}" for part, value in values if value != part.default]
        details = ", ".join(parts if self.attribute is None else [self.attribute, *parts])
        return f"{self.name}({details})" if details else self.name

    def __str__(self) -> str:
        return f"{self.label}={parameter_text(self.value)}"


@dataclass(frozen=True)
class BoundCriterion:
    """A criterion and the index of its sensitive attribute in a table, None for one that only needs sizes."""

    criterion: Criterion
    index: int | None

    def scores(self, facts: ClassStatistics) -> NDArray[np.int64]:
        """Return the score of each class.

        Raises ``InputError`` for a criterion of the population if no population is known.
        """
        if self.criterion.of_population:
            if facts.population is None:
                raise population_criterion_error(self.criterion)
            return self.criterion.population_scores(facts.sizes, facts.population)
        values = None if self.index is None else facts.values[self.index]
        return self.criterion.scores(facts.sizes, values)


def population_criterion_error(criterion: Criterion) -> InputError:
    """Return the error for a criterion of the population where classes are not those of a lattice node."""
    return InputError(
        f"{criterion}: {criterion.title} counts the people who match a class, which are unknown unless "
        "classes are made by levels",
        allowed="levels that are negotiated (no --model), searched, or of the full-domain model",
        advice=f"Use no --model or full-domain, or remove {criterion.name}.",
    )


def bind_criteria(criteria: Sequence[Criterion], sensitive: Sequence[str]) -> tuple[BoundCriterion, ...]:
    """Return each criterion with the index of its sensitive attribute, one entry per attribute.

    Raises ``InputError`` for a criterion of an attribute that is not sensitive, and for a criterion of
    sensitive attributes if there are none.
    """
    found: list[BoundCriterion] = []
    for criterion in criteria:
        of_some = criterion.of_every_attribute or (criterion.of_attribute and criterion.attribute is None)
        if of_some and not sensitive:
            raise InputError(
                f"{criterion.name} = {criterion.value} requires a sensitive attribute, but no attribute is "
                "sensitive",
                advice=f'Give an attribute role = "sensitive", or remove {criterion.name}.',
            )
        if not criterion.of_attribute:
            found.append(BoundCriterion(criterion, None))
        elif criterion.attribute is None:
            found += [BoundCriterion(criterion.at(name), index) for index, name in enumerate(sensitive)]
        elif criterion.attribute in sensitive:
            found.append(BoundCriterion(criterion, list(sensitive).index(criterion.attribute)))
        else:
            raise InputError(
                f"{criterion.name} was given for '{criterion.attribute}', which is not a sensitive attribute",
                allowed=", ".join(sensitive) or "none: no attribute is sensitive",
            )
    return tuple(found)
