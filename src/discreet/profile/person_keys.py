"""Columns that identify persons, found from the rows: birth date, sex and origin agree within a key's values.

Agreement is Cohen's kappa over the pairs of rows of each value, (a - e) / (1 - e), with a the agreeing share
of pairs and e the share expected by chance. The spread of ages within values is compared with that of all
rows. Words of headings supply candidates, households and traits. Cost: one GROUP BY per candidate, and
groupings of its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from math import inf, log

from discreet.engines.base import Engine, SourceTable
from discreet.engines.source_tables import TemporaryTables
from discreet.model.table_spec import AttributeRole
from discreet.profile.column_profile import ColumnProfile, is_readable
from discreet.profile.heading_hints import RoleHint, hint_role, is_age, is_money, person_key_word
from discreet.profile.heading_words import split_name
from discreet.profile.word_lists import words_of_headings
from discreet.sql import column_statistics as sql
from discreet.sql.format_parsing import strip_blanks

_NUMBER_WORDS = {"nbr": "nr", "num": "nr", "numb": "nr", "idx": "id", "ident": "id"}


class TraitKind(StrEnum):
    """Kind of a trait of a person that is constant, or that changes slowly with time."""

    BIRTH = "birth"
    SEX = "sex"
    AGE = "age"
    ORIGIN = "origin"


def _words(key: str) -> dict[str, None]:
    return words_of_headings("person_keys", key)


def trait_kind(name: str) -> TraitKind | None:
    """Return the kind of trait that a column's name denotes, or None.

    >>> [str(trait_kind(name)) for name in ("date_of_birth", "Geschlecht", "AGE", "race", "zip")]
    ['birth', 'sex', 'age', 'origin', 'None']
    """
    parts = {*split_name(name), "".join(split_name(name))}
    for kind in TraitKind:
        if parts & _words(kind.value).keys() or (kind is TraitKind.AGE and is_age(name)):
            return kind
    return None


def is_person_key(name: str) -> bool:
    """Return whether a name says that the column numbers persons.

    >>> [is_person_key(name) for name in ("patient_nbr", "PNR", "resp_id", "id", "room_id", "country")]
    [True, True, True, False, False, False]
    """
    parts = split_name(name)
    if "".join(parts) in _words("persons"):
        return True
    word = person_key_word(" ".join(_NUMBER_WORDS.get(part, part) for part in parts))
    return bool(word) and word not in _words("weak")


def names_a_key(name: str) -> bool:
    """Return whether a name says that the column numbers something, possibly persons.

    >>> names_a_key("id"), names_a_key("room_id"), names_a_key("country")
    (True, True, False)
    """
    return bool(person_key_word(name))


def is_household(name: str) -> bool:
    """Return whether a name says that the column numbers households.

    >>> is_household("hhid"), is_household("HH_ID"), is_household("household size")
    (True, True, False)
    """
    return "".join(split_name(name)) in _words("households")


_CONSTANT = 0.8
_VARIES = {TraitKind.BIRTH: 0.6, TraitKind.SEX: 0.6, TraitKind.ORIGIN: 0.4, TraitKind.AGE: 0.3}
_FEW_YEARS, _OTHER_AGES = 0.02, 0.6
_SURE = log(10_000)
_INFORMATIVE = 0.98
_MOST_TRAITS = 4
MOST_CANDIDATES = 8
_NEARLY_UNIQUE = 0.3
_FEWEST_COMPARED = 3
_REPEATS = 1.02
_EXACT_ROWS = 200_000
_SURELY_REPEATS = 0.95
_KEY_DISTINCT = 0.05
_NESTED = 0.95
_MOST_PERSONS_OF_UNIT = 10


class _TraitState(Enum):
    """State of a trait within a key's values."""

    CONSTANT = "constant"
    VARIES = "varies"
    OPEN = "open"


@dataclass(frozen=True)
class PersonKey:
    """A column with repeating values that identifies persons, by the rows or by its name.

    ``filled`` rows have one of ``values``; the most frequent value occurs ``most`` times; ``nulls`` rows have
    none. ``traits`` are constant within its values; the tuple is empty if only the name indicates persons.
    """

    column: str
    filled: int
    values: int
    most: int
    nulls: int
    traits: tuple[str, ...] = ()

    @property
    def is_found_in_rows(self) -> bool:
        """True if the rows show that the column identifies persons."""
        return bool(self.traits)

    @property
    def can_be_subject(self) -> bool:
        """True if every row has a value, which a subject requires."""
        return self.nulls == 0


@dataclass(frozen=True)
class PersonKeys:
    """The column that identifies persons, and columns related to it.

    ``units`` group persons, as households do; ``events`` are finer than a person, such as hospital stays.
    ``suspected`` are keys of persons only by their names.
    """

    person: PersonKey | None = None
    units: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    suspected: tuple[PersonKey, ...] = ()

    @property
    def first(self) -> PersonKey | None:
        """Key by which rows should be counted: the one found in the rows, else the first by name."""
        return self.person or next(iter(self.suspected), None)


def find_trait_columns(table: SourceTable) -> tuple[str, ...]:
    """Return the columns that hold traits by their names, at most four, the most constant ones first."""
    kinds = {name: kind for name in table.columns if (kind := trait_kind(name)) is not None}
    order = list(TraitKind)
    readable = [name for name in kinds if is_readable(table, name)]
    return tuple(sorted(readable, key=lambda name: order.index(kinds[name]))[:_MOST_TRAITS])


def find_repeating_columns(engine: Engine, table: SourceTable, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of ``names`` in which some value occurs in several rows.

    In tables of more than ``_EXACT_ROWS`` rows, columns are excluded as unique by an estimate, which may miss
    a few repetitions.
    """
    estimated = _count_values(engine, table, names, exact=False)
    candidates = [
        name
        for name, (filled, values) in estimated.items()
        if filled <= _EXACT_ROWS or values < _SURELY_REPEATS * filled
    ]
    counted = _count_values(engine, table, candidates, exact=True)
    return tuple(name for name, (filled, values) in counted.items() if filled > values > 1)


def _count_values(
    engine: Engine, table: SourceTable, names: Sequence[str], *, exact: bool
) -> dict[str, tuple[int, int]]:
    if not names:
        return {}
    texts = [table.text(name) for name in names]
    found = engine.fetch_rows(sql.value_repetition(table.dialect, table.relation, texts, exact=exact))[0]
    return {n: (int(a), int(b)) for n, a, b in zip(names, found[::2], found[1::2], strict=True)}


def find_key_candidates(columns: Sequence[ColumnProfile]) -> tuple[str, ...]:
    """Return the columns that may identify persons by their profiles: at most eight, the likeliest first.

    Their values repeat; they are not dates, measures or amounts of money.
    """
    found = [
        c
        for c in columns
        if c.filled > c.distinct > 2 and not (c.dates or c.fractions) and may_identify_persons(c.name)
    ]
    order = sorted(found, key=lambda column: (candidate_rank(column.name), -column.distinct))
    return tuple(column.name for column in order[:MOST_CANDIDATES])


def may_identify_persons(name: str) -> bool:
    """Return whether a column of that name may identify persons.

    Names of money, of quasi-identifiers and of private matters are excluded.
    """
    if trait_kind(name) is not None or is_money(name):
        return False
    if is_person_key(name) or is_household(name):
        return True
    return hint_role(name)[0] not in (RoleHint.QUASI_IDENTIFIER, RoleHint.SENSITIVE)


def candidate_rank(name: str) -> int:
    """Return a sort key for names; the likeliest keys of persons come first."""
    return 0 if is_person_key(name) else 1 if is_household(name) else 2 if names_a_key(name) else 3


def find_person_keys(
    engine: Engine, table: SourceTable, names: Sequence[str], traits: Sequence[str]
) -> PersonKeys:
    """Find the key of persons among columns whose values repeat.

    ``traits`` are columns of constant traits of a person; they are disjoint from ``names``.

    Notes
    -----
    Agreement is measured with Cohen's kappa over the pairs of rows of each value. Cost: one GROUP BY per
    candidate, and groupings of its result.
    """
    with TemporaryTables(engine) as tables:
        looks = [_examine_candidate(engine, tables, table, name, tuple(traits)) for name in names]
        persons = sorted((look for look in looks if look.is_person), key=_Candidate.rank)
        person = next((look for look in persons if look.key.can_be_subject), None) or next(
            iter(persons), None
        )
        suspected = tuple(look.key for look in looks if look.is_suspected)
        if person is None:
            households = tuple(look.name for look in looks if is_household(look.name))
            return PersonKeys(units=households, suspected=suspected)
        others = [look for look in looks if look is not person]
        finer = [look for look in others if look.key.values > person.key.values]
        coarser = [look.name for look in others if look.key.values < person.key.values and look.varies]
        units = _find_units(engine, tables, table, person.key, coarser)
        events = tuple(look.name for look in finer if look.is_person)
    return PersonKeys(person.key, units, events)


def person_key_roles(people: PersonKeys) -> dict[str, tuple[AttributeRole, str]]:
    """Return the role of each column that identifies persons or groups of them: never a quasi-identifier."""
    found = dict.fromkeys(people.units, "groups people, as a household does")
    found |= {key.column: "identifies people, by its name" for key in people.suspected}
    found |= dict.fromkeys(people.events, "finer than a person: a stay or another event")
    if people.person is not None:
        found[people.person.column] = "the person, by constant traits within its values"
    return {name: (AttributeRole.IDENTIFIER, reason) for name, reason in found.items()}


@dataclass(frozen=True)
class _Trait:
    """Agreement of a trait within a key's values.

    ``compared`` is the number of comparisons, ``agreed`` the share of them that agrees, ``chance`` the share
    that would agree by chance. ``age_spread`` is the variance of ages within values relative to all rows.
    """

    name: str
    kind: TraitKind
    compared: float
    agreed: float
    chance: float
    age_spread: float = inf

    @property
    def informs(self) -> bool:
        """True if rows differ in the trait, and values of the key have several rows."""
        return self.compared >= 1 and self.chance < _INFORMATIVE

    @property
    def evidence(self) -> float:
        """Logarithm of a bound on the odds that the agreement is not chance."""
        a, e = min(self.agreed, 1 - 1e-12), max(self.chance, 1e-12)
        if a <= e:
            return 0.0
        return self.compared * (a * log(a / e) + (1 - a) * log((1 - a) / max(1 - e, 1e-12)))

    @property
    def state(self) -> _TraitState:
        """State of the trait with respect to the key."""
        kappa = (self.agreed - self.chance) / (1 - self.chance)
        if kappa >= _CONSTANT:
            return _TraitState.CONSTANT
        if self.age_spread < inf:
            return _TraitState.VARIES if self.age_spread > _OTHER_AGES else _TraitState.OPEN
        return _TraitState.VARIES if kappa < _VARIES[self.kind] else _TraitState.OPEN


@dataclass(frozen=True)
class _Candidate:
    """A column with the evidence from its rows."""

    key: PersonKey
    traits: tuple[_Trait, ...]
    states: tuple[_TraitState, ...]
    combinations: int

    @property
    def name(self) -> str:
        return self.key.column

    @property
    def constant(self) -> list[_Trait]:
        return [t for t, state in zip(self.traits, self.states, strict=True) if state is _TraitState.CONSTANT]

    @property
    def varies(self) -> bool:
        """True if rows of one value belong to several persons.

        Of several columns of a kind, one may describe another person, such as a partner's sex. Ages and
        origins may be recorded differently over time, so they do not count if the date of birth is constant.
        """
        kinds = {
            t.kind for t, state in zip(self.traits, self.states, strict=True) if state is _TraitState.VARIES
        }
        constant_kinds = {
            t.kind
            for t, state in zip(self.traits, self.states, strict=True)
            if state is not _TraitState.VARIES
        }
        if TraitKind.BIRTH in {t.kind for t in self.constant}:
            constant_kinds |= {TraitKind.AGE, TraitKind.ORIGIN}
        return bool(kinds - constant_kinds)

    @property
    def is_person(self) -> bool:
        """True if traits are constant within the values, not by chance or by the values' definition.

        A name that numbers persons needs no further evidence. Another column needs two traits or a date of
        birth, and more values than combinations of these traits: a stratum of sex and age has no more. Ages
        that spread by more than a few years within its values count against it: a survey's weight belongs to
        an age group.
        """
        if self.varies or not self.constant:
            return False
        if is_person_key(self.name) or is_household(self.name):
            return True
        birth = any(t.kind is TraitKind.BIRTH for t in self.constant)
        several = len({t.kind for t in self.constant}) > 1
        ages = (t.age_spread for t in self.traits if t.kind is TraitKind.AGE and t not in self.constant)
        if not birth and any(spread > _FEW_YEARS for spread in ages):
            return False
        return (birth or several) and self._is_sure and (birth or self.key.values > self.combinations)

    @property
    def _is_sure(self) -> bool:
        if max(t.evidence for t in self.constant) >= _SURE:
            return True
        nearly_unique = self.key.values >= _NEARLY_UNIQUE * self.key.filled
        compared = min(t.compared for t in self.constant)
        return nearly_unique and compared >= _FEWEST_COMPARED and all(t.agreed >= 1 for t in self.constant)

    @property
    def is_suspected(self) -> bool:
        """True if only the name indicates persons; few values for many rows number groups instead."""
        named = is_person_key(self.name) or (names_a_key(self.name) and not self.varies)
        often = self.key.filled > _REPEATS * self.key.values
        return named and often and self.key.values >= _KEY_DISTINCT * self.key.filled and not self.is_person

    def rank(self) -> tuple[int, int]:
        """Return the sort key for choosing the key of persons: by name, then fewest values first."""
        return (4 if is_household(self.name) else candidate_rank(self.name), self.key.values)


def _examine_candidate(
    engine: Engine, tables: TemporaryTables, table: SourceTable, name: str, traits: tuple[str, ...]
) -> _Candidate:
    dialect = table.dialect
    texts = [f"lower({strip_blanks(table.text(trait))})" for trait in traits]
    made = tables.create(sql.combinations(table.relation, table.text(name), texts))
    nulls, filled, values, most = map(int, engine.fetch_rows(sql.key_sizes(made))[0])
    found = []
    if traits:
        chances = {
            int(p): (float(q), float(n))
            for p, q, n, _ in engine.fetch_rows(sql.trait_frequencies(dialect, made, len(traits)))
        }
        for index, compared, agreed in engine.fetch_rows(sql.agreements(dialect, made, len(traits))):
            squares, rows = chances[int(index)]
            trait, kind = traits[int(index)], trait_kind(traits[int(index)]) or TraitKind.ORIGIN
            # Share of pairs of different rows that agree: Σ n(n-1) / N(N-1), from Σ n² and N = Σ n.
            chance = (squares - rows) / (rows * (rows - 1)) if rows > 1 else 1.0
            spread = _age_spread(engine, table, made, int(index), rows) if kind is TraitKind.AGE else inf
            found.append(
                _Trait(trait, kind, float(compared), float(agreed) / float(compared), chance, spread)
            )
    informing = tuple(t for t in found if t.informs)
    states = tuple(t.state for t in informing)
    constant = [t for t, state in zip(informing, states, strict=True) if state is _TraitState.CONSTANT]
    number = 0
    if constant:
        places = [traits.index(t.name) for t in constant]
        number = int(engine.fetch_rows(sql.count_combinations(made, places))[0][0])
    tables.drop(made)
    key = PersonKey(name, filled, values, most, nulls, tuple(t.name for t in constant))
    candidate = _Candidate(key, informing, states, number)
    return candidate if candidate.is_person else replace(candidate, key=replace(key, traits=()))


def _age_spread(engine: Engine, table: SourceTable, made: str, index: int, rows: float) -> float:
    """Return the variance of ages within a key's values over that of all rows; infinite if not numeric."""
    numbers, total, within, values = engine.fetch_rows(sql.spread(table.dialect, made, index))[0]
    if not numbers or float(numbers) < 0.9 * rows or not total:
        return inf
    free = float(numbers) - float(values)
    return (float(within) / free) / (float(total) / (float(numbers) - 1)) if free > 0 else inf


def _find_units(
    engine: Engine, tables: TemporaryTables, table: SourceTable, person: PersonKey, names: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns that group a few persons each and are constant within a person."""
    named = [name for name in names if is_household(name) or names_a_key(name) or is_person_key(name)]
    if not named:
        return ()
    dialect = table.dialect
    made = tables.create(
        sql.combinations(table.relation, table.text(person.column), [table.text(name) for name in named])
    )
    shares = {
        int(index): float(agreed) / float(compared)
        for index, compared, agreed in engine.fetch_rows(sql.agreements(dialect, made, len(named)))
    }
    values = {
        int(p): int(v) for p, _, _, v in engine.fetch_rows(sql.trait_frequencies(dialect, made, len(named)))
    }
    return tuple(
        name
        for index, name in enumerate(named)
        if shares.get(index, 0) >= _NESTED and person.values <= _MOST_PERSONS_OF_UNIT * values.get(index, 0)
    )
