"""Singling out, linkability and inference (WP216) measured against a control set (Giomi et al. 2023).

Each attack is made on the table's people and on people whose rows were never used. The risk is the gain (rate
− control) / (1 − control) of the interval midpoints, with propagated error. Counted guesses have Wilson
intervals (Wilson 1927); where each guess has a known chance the interval is Wilson's for the effective sample
size (Kish 1965).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.declaration import Attack, AttackInput, AttackRequirement
from discreet.attacks.finding import Figure, Finding, FoundTable, ValueKind, chance, columns, count
from discreet.attacks.linkage import OriginalTable, build_release_table, extend_hierarchies
from discreet.attacks.outside_records import (
    OutsideRecords,
    encode_records,
    find_candidate_classes,
    read_outside,
)
from discreet.attacks.published_table import NO_VALUE, ValueCounts
from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable
from discreet.model.option import OptionKind, option
from discreet.model.table_spec import NullPolicy, SourceSpec
from discreet.places.address import parse_path

IntArray = NDArray[np.int64]
GuessCounts = tuple[int, int]
"""Number of right guesses, and number of guesses."""

_BATCH_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class TargetRecords:
    """Target people by record: leaf codes (records, attributes), sensitive values and number of rows.

    A value is an index into the release's texts, ``NO_VALUE`` for NULL, and any other number for a value that
    the release lacks.
    """

    codes: IntArray
    values: tuple[IntArray, ...]
    rows: IntArray

    @property
    def total(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())


def count_singling_out_guesses(
    release: GeneralizedTable, sensitive: Sequence[ValueCounts], people: TargetRecords
) -> GuessCounts:
    """Count predicates that exactly one row of people meets, and all predicates.

    A predicate is a class and one of its sensitive values, or only the class if there is no sensitive
    attribute.
    """
    right = guesses = 0
    pairs = list(find_candidate_classes(release, people.codes, unknown_matches=False))
    if not sensitive:
        met = np.zeros(release.groups, dtype=np.int64)
        for record, group in pairs:
            np.add.at(met, group, people.rows[record])
        return int((met == 1).sum()), release.groups
    for values, own in zip(sensitive, people.values, strict=True):
        named = values.values != NO_VALUE
        width = len(values.texts) + 1
        predicates = np.unique(values.units[named] * width + values.values[named])
        met = np.zeros(len(predicates), dtype=np.int64)
        for record, group in pairs:
            has_value = own[record] != NO_VALUE
            keys = group[has_value] * width + np.minimum(own[record][has_value], width - 1)
            position = np.searchsorted(predicates, keys)
            known = position < len(predicates)
            known[known] = predicates[position[known]] == keys[known]
            np.add.at(met, position[known], people.rows[record[has_value][known]])
        right += int((met == 1).sum())
        guesses += len(predicates)
    return right, guesses


@dataclass(frozen=True, eq=False)
class GuessChances:
    """Chance that each record's guess is right, and the record's rows (0 where nothing is guessed)."""

    right: NDArray[np.float64]
    rows: IntArray


def compute_linking_chances(release: GeneralizedTable, people: TargetRecords) -> GuessChances:
    """Return the chance that a row by the first half of the attributes and one by the rest are the same."""
    width = release.shown.shape[1]
    half = (width + 1) // 2
    fitting = [
        _count_candidate_rows(release, people, range(*part))
        for part in ((0, half), (half, width), (0, width))
    ]
    first, second, both = fitting
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = np.where(both > 0, both / (first * second), 0.0)
    return GuessChances(chances, people.rows)


def _count_candidate_rows(
    release: GeneralizedTable, people: TargetRecords, places: range
) -> NDArray[np.float64]:
    """Count the rows that may be each person's by some of the attributes."""
    part = GeneralizedTable(
        tuple(release.cells[i] for i in places), release.shown[:, list(places)], release.rows
    )
    result = np.zeros(len(people.rows))
    for record, group in find_candidate_classes(part, people.codes[:, list(places)], unknown_matches=True):
        np.add.at(result, record, release.rows[group])
    return result


def compute_inference_chances(
    release: GeneralizedTable, values: ValueCounts, attribute_index: int, people: TargetRecords
) -> GuessChances:
    """Return the chance that the most frequent value of a person's possible classes is the person's value.

    Equally frequent values are drawn by lot. A person without a value is not guessed; a person whom no class
    matches is guessed wrong.
    """
    right, guesses = np.zeros(len(people.rows)), np.zeros(len(people.rows), np.int64)
    named = np.flatnonzero(values.values != NO_VALUE)
    named = named[np.argsort(values.units[named], kind="stable")]
    # The values of class c are the entries from class_starts[c] to class_starts[c + 1].
    class_starts = np.searchsorted(values.units[named], np.arange(release.groups + 1))
    step = max(1, _BATCH_CELLS // max(len(values.texts), 1))
    for start in range(0, len(people.rows), step):
        chosen = np.arange(start, min(start + step, len(people.rows)))
        counted = np.zeros((len(chosen), len(values.texts) + 1))
        for record, group in find_candidate_classes(release, people.codes[chosen], unknown_matches=True):
            starts, ends = class_starts[group], class_starts[group + 1]
            numbers = ends - starts
            # Expand the segments [start, end) of the groups into one index array.
            at = np.repeat(starts, numbers) + np.arange(int(numbers.sum()))
            at -= np.repeat(np.cumsum(numbers) - numbers, numbers)
            entries = named[at]
            np.add.at(counted, (np.repeat(record, numbers), values.values[entries]), values.rows[entries])
        own = people.values[attribute_index][chosen]
        has_value = own != NO_VALUE
        most = counted.max(axis=1, initial=0)
        modes = (counted == most[:, None]).sum(axis=1)
        mine = counted[np.arange(len(chosen)), np.minimum(np.maximum(own, 0), len(values.texts))]
        hit = has_value & (most > 0) & (mine == most)
        right[chosen[hit]] = 1 / modes[hit]
        guesses[chosen[has_value]] = people.rows[chosen][has_value]
    return GuessChances(right, guesses)


@dataclass(frozen=True)
class SuccessRate:
    """Share of right guesses.

    ``right`` is the number of right guesses, or its expected value, of ``guesses``. ``variance`` is the
    variance of the guesses' chances, None for counted guesses; ``most`` is the largest chance of a guess.
    """

    right: float
    guesses: int
    z: float
    variance: float | None = None
    most: float = 1.0

    @property
    def value(self) -> float:
        """Share of right guesses; 0 without guesses."""
        return self.right / self.guesses if self.guesses else 0.0

    @property
    def trials(self) -> float:
        """Number of single trials, each worth 0 or ``most``, with the variance of the rate."""
        single = self._share * (1 - self._share)
        if self.variance is None or single == 0:
            return self.guesses
        if not self.variance:
            return inf
        return max(self.guesses * single * self.most**2 / self.variance, self.guesses)

    @property
    def centre(self) -> float:
        """Midpoint of the interval; 0.5 without guesses."""
        if not self.guesses:
            return 0.5
        n = self.trials
        return self.most * (self._share + self.z**2 / (2 * n)) / (1 + self.z**2 / n)

    @property
    def error(self) -> float:
        """Half the width of the interval."""
        if not self.guesses:
            return 0.5
        n = self.trials
        spread = self._share * (1 - self._share) / n + self.z**2 / (4 * n * n)
        return self.most * self.z * sqrt(spread) / (1 + self.z**2 / n)

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the interval."""
        return _clip(self.centre - self.error), _clip(self.centre + self.error)

    @property
    def _share(self) -> float:
        """Rate in units of the largest chance."""
        return min(self.value / self.most, 1.0)


def compute_mean_rates(
    samples: Sequence[GuessChances], z: float, most: float | None = None
) -> tuple[SuccessRate, ...]:
    """Return the mean chance of each sample of people.

    ``most`` is the largest chance that a person may have; None means the largest in all samples.
    """
    if most is None:
        most = max(float(each.right[each.rows > 0].max(initial=0.0)) for each in samples) or 1.0
    return tuple(_mean_rate(each, z, most) for each in samples)


def _mean_rate(sample: GuessChances, z: float, most: float) -> SuccessRate:
    guesses = int(sample.rows.sum())
    if not guesses:
        return SuccessRate(0.0, 0, z, 0.0, most)
    right = float((sample.right * sample.rows).sum())
    around = sample.right - right / guesses
    return SuccessRate(right, guesses, z, float((around * around * sample.rows).sum()) / guesses, most)


def compute_attack_risk(main: SuccessRate, control: SuccessRate) -> tuple[float, float, float]:
    """Return the risk, the gain of guesses over the control's, and its interval, clipped to 0 and 1."""
    left = 1 - control.centre
    if left <= 0:
        return 0.0, 0.0, 1.0
    value = (main.centre - control.centre) / left
    error = sqrt((main.error / left) ** 2 + ((main.centre - 1) / left**2 * control.error) ** 2)
    return _clip(value), _clip(value - error), _clip(value + error)


def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


RatedTest = tuple[str, SuccessRate, SuccessRate]
"""Name of a test, its rate on the table's people, and its rate on the control set."""

_MAX_SIZE_RATIO = 1.2


@dataclass(frozen=True)
class ControlSet(Attack):
    """Attack by singling out, linking and inference against a control set."""

    name: ClassVar[str] = "control-set"
    title: ClassVar[str] = "The three tests, against a control set"
    text: ClassVar[str] = (
        "An attacker singles out, links and infers: how much better does that work on people of the table "
        "than on others like them?"
    )
    source: ClassVar[str] = "Giomi et al. 2023"
    requirements: ClassVar[tuple[AttackRequirement, ...]] = (
        AttackRequirement.ORIGINAL,
        AttackRequirement.CLASSES,
    )

    control: str | Path | None = option(
        None,
        kind=OptionKind.FILE,
        metavar="FILE",
        help="rows of people who are not in the table, with its columns",
        label="Rows of people who are not in the table",
    )
    confidence: float = option(
        0.95,
        kind=OptionKind.DECIMAL,
        least=0.5,
        most=0.9999,
        metavar="P",
        help="the confidence of intervals",
        label="Confidence of intervals",
    )

    def missing_requirement(self, attack_input: AttackInput) -> tuple[str, str] | None:
        """Return the missing requirement; the control set must be named."""
        if not self.control:
            return "no control set is named", "Name rows of people who are not in the table: --control FILE."
        return super().missing_requirement(attack_input)

    def run(self, attack_input: AttackInput) -> Finding:
        """Run every test on both samples; raise ``InputError`` if the control set lacks a column."""
        original = attack_input.original_table
        release, main, control = _read_targets(attack_input, original, parse_path(str(self.control)))
        values = attack_input.published.sensitive
        z = NormalDist().inv_cdf((1 + self.confidence) / 2)

        both = (main, control)
        singled_out = [SuccessRate(*count_singling_out_guesses(release, values, each), z) for each in both]
        rates: dict[str, Sequence[SuccessRate]] = {"singling out": singled_out}
        if len(release.cells) > 1:
            rates["linking"] = compute_mean_rates(
                [compute_linking_chances(release, each) for each in both], z
            )
        for index, each in enumerate(values):
            chances = [compute_inference_chances(release, each, index, people) for people in both]
            rates[f"inferring {each.attribute}"] = compute_mean_rates(chances, z, most=1.0)
        tests = [(name, first, second) for name, (first, second) in rates.items()]
        figures = (
            count("rows", "rows of the table", main.total),
            count("control_rows", "rows of the control set", control.total),
            *(figure for test in tests for figure in _figures(*test)),
        )
        table = _table(tests, self.confidence)
        return self.build_finding(attack_input, figures, (table,), _notes(main.total, control.total))


def _read_targets(
    attack_input: AttackInput, original: OriginalTable, control: Path
) -> tuple[GeneralizedTable, TargetRecords, TargetRecords]:
    """Read the release's classes, the table's people and the control set's, with all values known."""
    source = original.spec.source
    other = replace(
        source, path=control, data=None, table=None, url=None, engine=None, version=None, format=None
    )
    records = [
        _read_records(attack_input, each)
        for each in (source, replace(other, subset=None, pseudonymizations={}, date_shifts={}))
    ]
    keys = attack_input.published.attributes
    known = replace(records[1], attributes=keys, columns=keys, texts=records[1].texts[: len(keys)])
    hierarchies = extend_hierarchies(attack_input.published, attack_input.ground, known)
    release = build_release_table(attack_input.published, keys, hierarchies, attack_input.ground)
    drops = source.null_policy is NullPolicy.DROP
    people = []
    for each in records:
        part = replace(each, attributes=keys, texts=each.texts[: len(keys)], codes=each.codes[:, : len(keys)])
        values = tuple(
            _value_positions(each.texts[len(keys) + i], each.codes[:, len(keys) + i], values.texts)
            for i, values in enumerate(attack_input.published.sensitive)
        )
        found = TargetRecords(encode_records(part, hierarchies), values, each.rows)
        people.append(_without_null(found, each) if drops else found)
    if not people[1].total:
        raise InputError("the control set has no rows", allowed="people who are not in the table")
    return release, people[0], people[1]


def _read_records(attack_input: AttackInput, source: SourceSpec) -> OutsideRecords:
    published = attack_input.published
    wanted = (*published.attributes, *(values.attribute for values in published.sensitive))
    match = {name: name for name in wanted}
    return read_outside(
        attack_input.engine, source, wanted, match, attack_input.settings, null_values=source.null_values
    )


def _value_positions(texts: Sequence[str], codes: IntArray, release_texts: Sequence[str]) -> IntArray:
    """Return codes of a column as indices into the release's texts; unknown texts get the next index."""
    position_of = {text: i for i, text in enumerate(release_texts)}
    to = np.array([*(position_of.get(text, len(release_texts)) for text in texts), NO_VALUE], dtype=np.int64)
    return to[codes]


def _without_null(people: TargetRecords, records: OutsideRecords) -> TargetRecords:
    """Return the people without NULL in any column, as where the spec drops rows with NULL."""
    ends = np.array([len(texts) for texts in records.texts])
    retained = (records.codes < ends).all(axis=1)
    return TargetRecords(
        people.codes[retained], tuple(each[retained] for each in people.values), people.rows[retained]
    )


def _figures(name: str, main: SuccessRate, control: SuccessRate) -> tuple[Figure, ...]:
    key = name.replace(" ", "_")
    risk, low, high = compute_attack_risk(main, control)
    return (
        chance(f"rate_{key}", f"right, {name}", main.value),
        chance(f"control_{key}", f"right on the control set, {name}", control.value),
        chance(f"risk_{key}", f"risk, {name}", risk),
        chance(f"risk_low_{key}", f"risk at least, {name}", low),
        chance(f"risk_high_{key}", f"risk at most, {name}", high),
    )


def _table(tests: Sequence[RatedTest], confidence: float) -> FoundTable:
    heads = ("right", "at least", "at most", "control", "at least", "at most", "risk", "at least", "at most")
    return FoundTable(
        "Attack and control",
        columns("test", ("guesses", ValueKind.COUNT), *((head, ValueKind.CHANCE) for head in heads)),
        tuple(
            (
                name,
                main.guesses,
                main.value,
                *main.interval,
                control.value,
                *control.interval,
                *compute_attack_risk(main, control),
            )
            for name, main, control in tests
        ),
        note=f"Intervals of {confidence:.4g} confidence (Wilson, by the variance of averaged draws); the "
        "risk is what the attack gains over the control, (rate − control) / (1 − control).",
    )


def _notes(rows: int, others: int) -> tuple[str, ...]:
    if max(rows, others) <= _MAX_SIZE_RATIO * min(rows, others):
        return ()
    return (
        f"The table has {rows:,} rows and the control set {others:,}: how often exactly one row meets a "
        "predicate depends on their number, so singling out compares fairly only with sets of like size.",
    )
