"""Every criterion by its definition, in plain Python: the measure of a class, and whether it suffices.

Measures are exact: integers, fractions, or decimals of fifty digits for logarithms. None is the measure of a
class that fails for every parameter. A criterion without a definition here fails the fuzz.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb
from operator import ge, le, lt
from typing import Any

from tests.criteria import plain_known_values as known_values
from tests.criteria import plain_linkage, plain_value_shares
from tests.fuzz.cases import Condition, counted, is_star
from tests.fuzz.recount import diversity

Texts = Mapping[str, str | None]
Cells = tuple[str | None, ...]
Measure = Any
UNJUDGED = object()
"""The measure of a criterion that this module cannot compute: nothing is concluded from it."""


@dataclass(frozen=True)
class PlainClass:
    """The rows with the same published cells, and the person of each row if people count."""

    cells: Cells
    rows: tuple[Texts, ...]
    persons: tuple[Any, ...] = ()

    @property
    def size(self) -> int:
        """The number of rows, or of people if these count."""
        return len(set(self.persons)) if self.persons else len(self.rows)

    def held(self, attribute: str) -> list[str]:
        """Return the values of a sensitive attribute without NULL."""
        return [str(row[attribute]) for row in self.rows if value_of(row[attribute]) is not None]


@dataclass(frozen=True)
class WholeTable:
    """The inputs of a criterion from the whole table.

    ``values`` are the rows by value of each sensitive attribute, ``paths`` the ancestors of each value,
    ``people`` the population by published cells, ``suppressed`` the rows outside of all classes.
    ``people_unknown`` means that there is a population whose labels the fuzz cannot derive.
    """

    values: Mapping[str, Counter[str]]
    paths: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    people: Counter[Cells] | None = None
    suppressed: int = 0
    people_unknown: bool = False


def value_of(cell: str | None) -> str | None:
    """Return a sensitive cell's value; stars are not a value."""
    return None if is_star(cell) else cell


def classes_of(
    rows: Sequence[Texts], keys: Sequence[str], persons: Sequence[Any] | None = None
) -> list[PlainClass]:
    """Group rows by the published cells of the quasi-identifiers."""
    found: dict[Cells, list[int]] = {}
    for place, row in enumerate(rows):
        found.setdefault(tuple(row[name] for name in keys), []).append(place)
    return [
        PlainClass(
            cells,
            tuple(rows[place] for place in places),
            () if persons is None else tuple(persons[place] for place in places),
        )
        for cells, places in found.items()
    ]


def measure(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    """Compute the measure that a condition bounds in one class; the condition names its attribute, if any."""
    return _MEASURES[condition.name](condition, one, table)


def holds(condition: Condition, found: Measure) -> bool:
    """Compare a measure with the parameter."""
    if found is None:
        return False
    return _COMPARISONS[condition.name](found, _exact(condition.value))


def _exact(value: Any) -> Fraction:
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _distinct(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    name = str(condition.attribute)
    persons = one.persons or tuple(range(len(one.rows)))
    pairs = zip((value_of(row[name]) for row in one.rows), persons, strict=True)
    return diversity([(value, person) for value, person in pairs if value is not None])


def _shares(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    """Compute α, β, δ-disclosure, entropy and recursive diversity from the rows by value."""
    name = str(condition.attribute)
    held, whole = Counter(one.held(name)), table.values[name]
    compares = condition.name in ("beta", "delta_disclosure")
    if compares and any(value not in whole for value in held):
        return None
    codes = {value: code for code, value in enumerate(sorted({*held, *whole}))}
    mine = {codes[value]: number for value, number in held.items()}
    theirs = {codes[value]: number for value, number in whole.items()}
    found = plain_value_shares.measure(condition.criterion, mine, theirs)
    return None if found is None else Fraction(found)


def _closeness(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    name, distance = str(condition.attribute), condition.part("distance")
    held, whole = one.held(name), list(table.values[name].elements())
    if any(value not in table.values[name] for value in held):
        return None
    paths = table.paths.get(name, {})
    order = list(paths) if paths else sorted(table.values[name], key=_number_first)
    if all(_is_number(value) for value in table.values[name]):
        order = sorted(table.values[name], key=_number_first)
    return known_values.t_closeness(held, whole, distance, order, paths)


def _number_first(text: str) -> Any:
    return Fraction(text) if _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        Fraction(text)
    except ValueError:
        return False
    return True


def _sensitivity(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    name, level = str(condition.attribute), condition.part("level")
    held = one.held(name)
    if level == 0:
        return len(set(held))
    if any(value not in table.values[name] for value in held):
        return None
    height = len(next(iter(table.paths[name].values()))) - 1
    return known_values.p_sensitive(held, min(level, height), table.paths[name])


def _range(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    held = _known(condition, one, table)
    return None if held is None else known_values.value_range(held)


def _proximity(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    held = _known(condition, one, table)
    epsilon = Fraction(repr(condition.part("epsilon")))
    return None if held is None else known_values.proximity(held, epsilon, condition.part("neighbourhood"))


def _known(condition: Condition, one: PlainClass, table: WholeTable) -> list[str] | None:
    held = one.held(str(condition.attribute))
    return held if all(value in table.values[str(condition.attribute)] for value in held) else None


def _weight(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    held = _known(condition, one, table)
    if held is None:
        return None
    thousandths = [max(Fraction(text), Fraction(0)) * 1000 // 1 for text in held]
    return sum(thousandths, 0) // 1000


def _people(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    """Compute k-map: the matching people, or the largest k that the class's rows make credible."""
    estimator = condition.part("estimator")
    if estimator == "counted":
        return _matching(one, table)
    least = plain_linkage.fewest_rows(
        condition.value,
        condition.part("fraction"),
        condition.part("significance"),
        truncated=estimator != "poisson",
    )
    return condition.value if one.size >= least else 0


def _matching(one: PlainClass, table: WholeTable) -> int | None:
    if table.people is None:
        return None
    people = table.people[one.cells]
    return people if people >= len(one.rows) else None


def _presence(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    people = _matching(one, table)
    if not people:
        return None
    share = Fraction(len(one.rows), people)
    return share if share >= _exact(condition.part("least")) else None


def _gain(condition: Condition, one: PlainClass, table: WholeTable) -> Measure:
    number = one.size if condition.part("attacker") == "prosecutor" else _matching(one, table)
    return None if not number else _exact(condition.part("cost")) * number


def _risk_at_most(found: Any, bound: Fraction) -> bool:
    """Compare both as doubles: classes of three meet a third."""
    return bool(found <= float(bound))


_MEASURES: Mapping[str, Callable[[Condition, PlainClass, WholeTable], Measure]] = {
    "k": lambda _, one, __: one.size,
    "l": _distinct,
    **dict.fromkeys(("entropy_l", "recursive_c", "alpha", "beta", "delta_disclosure"), _shares),
    "t": _closeness,
    "p_sensitive": _sensitivity,
    "range_e": _range,
    "epsilon_m": _proximity,
    "weighted_k": _weight,
    "k_map": _people,
    "delta_presence": _presence,
    "attack_gain": _gain,
    "highest_risk": lambda _, one, __: 1 / one.size,
}
_COMPARISONS: Mapping[str, Callable[[Any, Fraction], bool]] = {
    **dict.fromkeys(("k", "l", "entropy_l", "p_sensitive", "range_e", "epsilon_m"), ge),
    **dict.fromkeys(("weighted_k", "k_map", "attack_gain", "lkc"), ge),
    **dict.fromkeys(("alpha", "beta", "t", "delta_presence"), le),
    **dict.fromkeys(("average_risk", "records_at_risk", "sample_uniques", "population_uniques"), le),
    **dict.fromkeys(("recursive_c", "delta_disclosure"), lt),
    "highest_risk": _risk_at_most,
}


def rest_fails(condition: Condition, suppressed: int, unmatched: int) -> bool:
    """Evaluate δ-presence of the people outside of all published classes."""
    if condition.name != "delta_presence" or not unmatched:
        return False
    least, most = _exact(float(condition.part("least"))), _exact(float(condition.value))
    share = Fraction(suppressed, unmatched)
    return share > most or share < least


def release_measure(condition: Condition, sizes: Sequence[int]) -> Measure:
    """Compute the measure of a condition of the whole release, from the sizes of the published classes."""
    rows = sum(sizes)
    if not rows:
        return None
    match condition.name:
        case "average_risk":
            return Fraction(len(sizes), rows)
        case "records_at_risk":
            return Fraction(sum(size for size in sizes if 1 / size > condition.part("above")), rows)
        case "sample_uniques":
            return Fraction(sizes.count(1), rows)
        case "population_uniques":
            return _uniques(condition, sizes)
    raise KeyError(condition.name)


def _uniques(condition: Condition, sizes: Sequence[int]) -> Measure:
    """Compute Zayatz's estimate with integers; for other estimators only that no unique record means none."""
    if 1 not in sizes:
        return Fraction(0)
    if condition.part("estimator") != "zayatz":
        return UNJUDGED
    rows, population = sum(sizes), condition.part("population")
    chances = [size * comb(population - size, rows - 1) for size in sizes]
    singles = sizes.count(1)
    return min(Fraction(singles * singles * comb(population - 1, rows - 1), sum(chances) * rows), Fraction(1))


OF_CLASSES = tuple(_MEASURES)
OF_RELEASES = ("average_risk", "records_at_risk", "sample_uniques", "population_uniques")
OF_CELLS = ("lkc",)
DEFINED = (*OF_CLASSES, *OF_RELEASES, *OF_CELLS)
"""Every criterion that the fuzz can recount."""


def expanded(conditions: Sequence[Condition], sensitive: Sequence[str]) -> list[Condition]:
    """Return each condition of a sensitive attribute once for every attribute that it concerns."""
    found = []
    for condition in conditions:
        of_each = condition.criterion.of_attribute and condition.attribute is None
        found += [replace(condition, attribute=name) for name in sensitive] if of_each else [condition]
    return found


def table_of(
    rows: Sequence[Texts], sensitive: Sequence[str], paths: Mapping[str, Mapping[str, Sequence[str]]]
) -> WholeTable:
    """Build the whole table's inputs of a recount."""
    return WholeTable({name: counted([value_of(row[name]) for row in rows]) for name in sensitive}, paths)
