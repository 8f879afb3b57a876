"""Find the column that says whose row it is, by what the rows say.

Definition: rows of one person agree in birth date, sex and origin, and nearly in age. A column whose values
repeat, and within whose values these traits agree far more often than between rows at random, identifies
persons. Agreement is measured as Cohen's kappa over the pairs of rows of each value: (a - e) / (1 - e), with
the observed share a of pairs that agree and the share e of any two rows. Ages may move on within a person:
their variance within the values is compared with that of all rows.

Cost: one GROUP BY of the rows per column that is looked at, and groupings of its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf, log

from discreet.engines.base import Engine, SourceTable
from discreet.engines.scratch import TemporaryTables
from discreet.model.table_spec import AttributeRole
from discreet.profile.columns import ColumnProfile
from discreet.profile.names import NameHint, is_money, name_hint
from discreet.profile.person_words import TraitKind, is_household, is_person_key, is_weak_key, trait_kind
from discreet.sql import repeated_traits as sql
from discreet.sql.source import is_binary, is_nested
from discreet.sql.written_steps import stripped

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


class _State(Enum):
    """What a trait says of a key: constant within its values, varying, or neither."""

    CONSTANT = "constant"
    VARIES = "varies"
    OPEN = "open"


@dataclass(frozen=True)
class PersonKey:
    """A column whose values repeat, and that identifies persons by the rows or by its name.

    ``filled`` rows have one of ``values``, the most frequent ``most`` times; ``nulls`` rows have none.
    ``traits`` are constant within its values; there are none where only the name speaks for it.
    """

    column: str
    filled: int
    values: int
    most: int
    nulls: int
    traits: tuple[str, ...] = ()

    @property
    def by_rows(self) -> bool:
        """Whether the rows say so."""
        return bool(self.traits)

    @property
    def can_be_subject(self) -> bool:
        """Whether every row has a value, as a subject needs."""
        return self.nulls == 0


@dataclass(frozen=True)
class PersonKeys:
    """The column that identifies persons, and columns related to it.

    ``units`` group persons, as households do; ``events`` are finer than a person, as stays in hospital are.
    ``suspected`` are keys of persons by their names only.
    """

    person: PersonKey | None = None
    units: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    suspected: tuple[PersonKey, ...] = ()

    @property
    def first(self) -> PersonKey | None:
        """The key that rows should be counted by: that of the rows, else the first by name."""
        return self.person or next(iter(self.suspected), None)


def trait_columns(table: SourceTable) -> tuple[str, ...]:
    """The columns of a table that hold traits by their names, at most four: those that change least first."""
    kinds = {name: kind for name in table.columns if (kind := trait_kind(name)) is not None}
    order = list(TraitKind)
    readable = [name for name in kinds if not (is_nested(table.types[name]) or is_binary(table.types[name]))]
    return tuple(sorted(readable, key=lambda name: order.index(kinds[name]))[:_MOST_TRAITS])


def repeating_columns(engine: Engine, table: SourceTable, names: Sequence[str]) -> tuple[str, ...]:
    """The columns of ``names`` that have a value in several rows.

    Of very many rows an estimate tells those that are unique, so that a few repeats may stay unseen.
    """
    estimated = _values(engine, table, names, exact=False)
    asked = [
        name
        for name, (filled, values) in estimated.items()
        if filled <= _EXACT_ROWS or values < _SURELY_REPEATS * filled
    ]
    counted = _values(engine, table, asked, exact=True)
    return tuple(name for name, (filled, values) in counted.items() if filled > values > 1)


def _values(
    engine: Engine, table: SourceTable, names: Sequence[str], *, exact: bool
) -> dict[str, tuple[int, int]]:
    """Rows with a value, and values, of columns by name."""
    if not names:
        return {}
    texts = [table.text(name) for name in names]
    found = engine.fetch_rows(sql.repeats(table.dialect, table.relation, texts, exact=exact))[0]
    return {n: (int(a), int(b)) for n, a, b in zip(names, found[::2], found[1::2], strict=True)}


def key_candidates(columns: Sequence[ColumnProfile]) -> tuple[str, ...]:
    """The columns that may identify persons, by their profiles: at most eight, the likeliest first.

    Their values repeat; they are no dates, measures or sums of money.
    """
    found = [
        c
        for c in columns
        if c.filled > c.distinct > 2 and not (c.dates or c.fractions) and may_number(c.name)
    ]
    order = sorted(found, key=lambda column: (likeliness(column.name), -column.distinct))
    return tuple(column.name for column in order[:MOST_CANDIDATES])


def may_number(name: str) -> bool:
    """Whether a column of that name may identify persons.

    It is not named like a sum of money, like what others know of a person or like what a person hides.
    """
    if trait_kind(name) is not None or is_money(name):
        return False
    if is_person_key(name) or is_household(name):
        return True
    return name_hint(name)[0] not in (NameHint.QUASI_IDENTIFIER, NameHint.SENSITIVE)


def likeliness(name: str) -> int:
    """The order of columns by their names, those first that likely identify persons."""
    return 0 if is_person_key(name) else 1 if is_household(name) else 2 if is_weak_key(name) else 3


def find_person_keys(
    engine: Engine, table: SourceTable, names: Sequence[str], traits: Sequence[str]
) -> PersonKeys:
    """Look for the key of persons among columns whose values repeat.

    ``traits`` are columns that a person keeps, of which ``names`` has none.
    """
    with TemporaryTables(engine) as tables:
        looks = [_look(engine, tables, table, name, tuple(traits)) for name in names]
        persons = sorted((look for look in looks if look.is_person), key=_Look.rank)
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
        units = _units(engine, tables, table, person.key, coarser)
        events = tuple(look.name for look in finer if look.is_person)
    return PersonKeys(person.key, units, events)


def roles_of_people(people: PersonKeys) -> dict[str, tuple[AttributeRole, str]]:
    """The role of each column that identifies persons or groups of them: never a quasi-identifier."""
    found = dict.fromkeys(people.units, "groups people, as a household does")
    found |= {key.column: "identifies people, by its name" for key in people.suspected}
    found |= dict.fromkeys(people.events, "finer than a person: a stay or another event")
    if people.person is not None:
        found[people.person.column] = "the person, by what is the same within its values"
    return {name: (AttributeRole.IDENTIFIER, reason) for name, reason in found.items()}


@dataclass(frozen=True)
class _Trait:
    """How far a trait agrees within a key's values.

    Of the comparisons, the share that agrees, and the share that would by chance.
    """

    name: str
    kind: TraitKind
    compared: float
    agreed: float
    chance: float
    age_spread: float = inf

    @property
    def informs(self) -> bool:
        """Whether rows differ in the trait, and values of the key have several."""
        return self.compared >= 1 and self.chance < _INFORMATIVE

    @property
    def evidence(self) -> float:
        """How surely agreement is no chance: the logarithm of a bound on the odds."""
        a, e = min(self.agreed, 1 - 1e-12), max(self.chance, 1e-12)
        if a <= e:
            return 0.0
        return self.compared * (a * log(a / e) + (1 - a) * log((1 - a) / max(1 - e, 1e-12)))

    @property
    def state(self) -> _State:
        """What it says of the key."""
        kappa = (self.agreed - self.chance) / (1 - self.chance)
        if kappa >= _CONSTANT:
            return _State.CONSTANT
        if self.age_spread < inf:
            return _State.VARIES if self.age_spread > _OTHER_AGES else _State.OPEN
        return _State.VARIES if kappa < _VARIES[self.kind] else _State.OPEN


@dataclass(frozen=True)
class _Look:
    """A column with what its rows say."""

    key: PersonKey
    traits: tuple[_Trait, ...]
    states: tuple[_State, ...]
    combinations: int

    @property
    def name(self) -> str:
        return self.key.column

    @property
    def constant(self) -> list[_Trait]:
        return [t for t, state in zip(self.traits, self.states, strict=True) if state is _State.CONSTANT]

    @property
    def varies(self) -> bool:
        """Whether rows of one value belong to several persons.

        Of several columns of a kind one may be another person's, as a partner's sex. Ages and origins may be
        recorded otherwise where the date of birth stays.
        """
        kinds = {t.kind for t, state in zip(self.traits, self.states, strict=True) if state is _State.VARIES}
        kept = {
            t.kind for t, state in zip(self.traits, self.states, strict=True) if state is not _State.VARIES
        }
        if TraitKind.BIRTH in {t.kind for t in self.constant}:
            kept |= {TraitKind.AGE, TraitKind.ORIGIN}
        return bool(kinds - kept)

    @property
    def is_person(self) -> bool:
        """Whether traits are constant within the values, and that is neither chance nor their own doing.

        A name that numbers persons needs no more than that. Another column needs two traits, or a date of
        birth, and more values than there are combinations of them: a stratum of sex and age has no more. Ages
        that differ more than a few years within its values speak against it: a survey's weight is that of a
        group of ages.
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
        """Whether only the name says that it numbers persons; few values for many rows number groups."""
        named = is_person_key(self.name) or (is_weak_key(self.name) and not self.varies)
        often = self.key.filled > _REPEATS * self.key.values
        return named and often and self.key.values >= _KEY_DISTINCT * self.key.filled and not self.is_person

    def rank(self) -> tuple[int, int]:
        """The order in which keys of persons are chosen: by name, then the one with fewest values."""
        return (4 if is_household(self.name) else likeliness(self.name), self.key.values)


def _look(
    engine: Engine, tables: TemporaryTables, table: SourceTable, name: str, traits: tuple[str, ...]
) -> _Look:
    """Count how far traits agree within a column's values."""
    dialect = table.dialect
    made = tables.create(
        sql.combinations(table.relation, table.text(name), [_plain(table, trait) for trait in traits])
    )
    nulls, filled, values, most = map(int, engine.fetch_rows(sql.key_sizes(made))[0])
    found = []
    if traits:
        chances = {
            int(p): (float(q), float(n))
            for p, q, n, _ in engine.fetch_rows(sql.chances(dialect, made, len(traits)))
        }
        for place, compared, agreed in engine.fetch_rows(sql.agreements(dialect, made, len(traits))):
            squares, rows = chances[int(place)]
            trait, kind = traits[int(place)], trait_kind(traits[int(place)]) or TraitKind.ORIGIN
            chance = (squares - rows) / (rows * (rows - 1)) if rows > 1 else 1.0
            spread = _age_spread(engine, table, made, int(place), rows) if kind is TraitKind.AGE else inf
            found.append(
                _Trait(trait, kind, float(compared), float(agreed) / float(compared), chance, spread)
            )
    informing = tuple(t for t in found if t.informs)
    states = tuple(t.state for t in informing)
    constant = [t for t, state in zip(informing, states, strict=True) if state is _State.CONSTANT]
    number = 0
    if constant:
        places = [traits.index(t.name) for t in constant]
        number = int(engine.fetch_rows(sql.different(made, places))[0][0])
    tables.drop(made)
    key = PersonKey(name, filled, values, most, nulls, tuple(t.name for t in constant))
    look = _Look(key, informing, states, number)
    return (
        look
        if look.is_person
        else _Look(PersonKey(name, filled, values, most, nulls), informing, states, number)
    )


def _plain(table: SourceTable, trait: str) -> str:
    """A trait's text without blanks around it and without capitals."""
    return f"lower({stripped(table.text(trait))})"


def _age_spread(engine: Engine, table: SourceTable, made: str, place: int, rows: float) -> float:
    """The variance of ages within a key's values over that of all rows; infinite of what is no number."""
    numbers, total, within, values = engine.fetch_rows(sql.spread(table.dialect, made, place))[0]
    if not numbers or float(numbers) < 0.9 * rows or not total:
        return inf
    free = float(numbers) - float(values)
    return (float(within) / free) / (float(total) / (float(numbers) - 1)) if free > 0 else inf


def _units(
    engine: Engine, tables: TemporaryTables, table: SourceTable, person: PersonKey, names: Sequence[str]
) -> tuple[str, ...]:
    """The columns that group few persons each and that a person keeps."""
    named = [name for name in names if is_household(name) or is_weak_key(name) or is_person_key(name)]
    if not named:
        return ()
    dialect = table.dialect
    made = tables.create(
        sql.combinations(table.relation, table.text(person.column), [table.text(name) for name in named])
    )
    shares = {
        int(place): float(agreed) / float(compared)
        for place, compared, agreed in engine.fetch_rows(sql.agreements(dialect, made, len(named)))
    }
    values = {int(p): int(v) for p, _, _, v in engine.fetch_rows(sql.chances(dialect, made, len(named)))}
    return tuple(
        name
        for place, name in enumerate(named)
        if shares.get(place, 0) >= _NESTED and person.values <= _MOST_PERSONS_OF_UNIT * values.get(place, 0)
    )
