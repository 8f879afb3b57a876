"""Singling out, linking and inferring, measured against people who are not in the table (Giomi et al. 2023).

The three tests of the data-protection authorities (WP216) ask what a release gives away of those who are in
it. Much of what an attacker guesses right is true of anybody. So every attack is made twice: on the people of
the table, and on a *control set*, people of the same population whose rows were never used. What works better
on the first is what the release gives away of them. Written for synthetic rows, here for generalized cells,
which are sets of values.

- *Singling out.* A class and a sensitive value that it shows are a predicate (without sensitive values the
  class alone is); it is right if exactly one row meets it.
- *Linking.* Two files know some quasi-identifiers of a person each, the first half and the rest. The attacker
  takes a row by the one and a row by the other, and is right if both are one row.
- *Inferring.* The attacker takes the most frequent sensitive value of the classes that the person may be in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from discreet.attacks.declaration import Attack, Need
from discreet.attacks.finding import Figure, Finding, FoundTable, ValueKind, chance, columns, count
from discreet.attacks.grounds import Grounds
from discreet.attacks.guesses import Targets, Whole, inferred, linked, singled_out
from discreet.attacks.linking import Original, hierarchies_of, release_table
from discreet.attacks.outside import OutsideRecords, leaf_codes, read_outside
from discreet.attacks.published import NO_VALUE
from discreet.attacks.success_rates import Rate, mean_rates, risk_beyond
from discreet.errors import InputError
from discreet.measures.generalized_table import GeneralizedTable
from discreet.model.option import OptionKind, option
from discreet.model.table_spec import NullPolicy, SourceSpec
from discreet.places.address import path_of

Rated = tuple[str, Rate, Rate]
"""A test, its rate on the table's people, and that on the control set."""

_UNLIKE = 1.2


@dataclass(frozen=True)
class ControlSet(Attack):
    """The three tests against a control set."""

    name: ClassVar[str] = "control-set"
    title: ClassVar[str] = "The three tests, against a control set"
    text: ClassVar[str] = (
        "An attacker singles out, links and infers: how much better does that work on people of the table "
        "than on others like them?"
    )
    source: ClassVar[str] = "Giomi et al. 2023"
    needs: ClassVar[tuple[Need, ...]] = (Need.ORIGINAL, Need.CLASSES)

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

    def lacks(self, grounds: Grounds) -> tuple[str, str] | None:
        """The control set must be named."""
        if not self.control:
            return "no control set is named", "Name rows of people who are not in the table: --control FILE."
        return super().lacks(grounds)

    def run(self, grounds: Grounds) -> Finding:
        """Every test on both; ``InputError`` for a control set without the release's columns."""
        original = grounds.ground.original
        assert original is not None
        release, main, control = _read(grounds, original, path_of(str(self.control)))
        values = grounds.published.sensitive
        z = NormalDist().inv_cdf((1 + self.confidence) / 2)

        def rated(name: str, rates: Iterable[Rate]) -> Rated:
            first, second = rates
            return name, first, second

        both = (main, control)
        counted = [singled_out(release, values, each) for each in both]
        tests = [rated("singling out", (Rate(*each, z) for each in counted))]
        if len(release.cells) > 1:
            tests.append(rated("linking", mean_rates([linked(release, each) for each in both], z)))
        for place, each in enumerate(values):
            chances = [inferred(release, each, place, people) for people in both]
            tests.append(rated(f"inferring {each.attribute}", mean_rates(chances, z, most=1.0)))
        figures = (
            count("rows", "rows of the table", main.total),
            count("control_rows", "rows of the control set", control.total),
            *(figure for test in tests for figure in _figures(*test)),
        )
        table = _table(tests, self.confidence)
        return self.found(grounds, figures, (table,), _notes(main.total, control.total))


def _read(grounds: Grounds, original: Original, control: Path) -> tuple[GeneralizedTable, Targets, Targets]:
    """The release's classes, the table's people and the control set's, by hierarchies with all values."""
    source = original.spec.source
    other = replace(
        source, path=control, data=None, table=None, url=None, engine=None, version=None, format=None
    )
    records = [_records(grounds, each) for each in (source, replace(other, subset=None, ways={}, shifts={}))]
    keys = grounds.published.attributes
    known = replace(records[1], attributes=keys, columns=keys, texts=records[1].texts[: len(keys)])
    hierarchies = hierarchies_of(grounds.published, grounds.ground, known)
    release = release_table(grounds.published, keys, hierarchies, grounds.ground)
    drops = source.nulls is NullPolicy.DROP
    people = []
    for each in records:
        part = replace(each, attributes=keys, texts=each.texts[: len(keys)], codes=each.codes[:, : len(keys)])
        values = tuple(
            _places(each.texts[len(keys) + i], each.codes[:, len(keys) + i], values.texts)
            for i, values in enumerate(grounds.published.sensitive)
        )
        found = Targets(leaf_codes(part, hierarchies), values, each.rows)
        people.append(_without_null(found, each) if drops else found)
    if not people[1].total:
        raise InputError("the control set has no rows", allowed="people who are not in the table")
    return release, people[0], people[1]


def _records(grounds: Grounds, source: SourceSpec) -> OutsideRecords:
    """The rows of a source by the release's columns."""
    told = grounds.published
    wanted = (*told.attributes, *(values.attribute for values in told.sensitive))
    match = {name: name for name in wanted}
    return read_outside(
        grounds.engine, source, wanted, match, grounds.settings, null_values=source.null_values
    )


def _places(texts: Sequence[str], codes: Whole, shown: Sequence[str]) -> Whole:
    """Codes of a column as places in the texts of the release; the place after the last for others."""
    place = {text: i for i, text in enumerate(shown)}
    to = np.array([*(place.get(text, len(shown)) for text in texts), NO_VALUE], dtype=np.int64)
    return to[codes]


def _without_null(people: Targets, records: OutsideRecords) -> Targets:
    """The people of whom every column is known, as where the spec drops the others."""
    ends = np.array([len(texts) for texts in records.texts])
    kept = (records.codes < ends).all(axis=1)
    return Targets(people.codes[kept], tuple(each[kept] for each in people.values), people.rows[kept])


def _figures(name: str, main: Rate, control: Rate) -> tuple[Figure, ...]:
    key = name.replace(" ", "_")
    risk, low, high = risk_beyond(main, control)
    return (
        chance(f"rate_{key}", f"right, {name}", main.value),
        chance(f"control_{key}", f"right on the control set, {name}", control.value),
        chance(f"risk_{key}", f"risk, {name}", risk),
        chance(f"risk_low_{key}", f"risk at least, {name}", low),
        chance(f"risk_high_{key}", f"risk at most, {name}", high),
    )


def _table(tests: Sequence[Rated], confidence: float) -> FoundTable:
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
                *risk_beyond(main, control),
            )
            for name, main, control in tests
        ),
        note=f"Intervals of {confidence:.4g} confidence (Wilson, by the variance of averaged draws); the "
        "risk is what the attack gains over the control, (rate − control) / (1 − control).",
    )


def _notes(rows: int, others: int) -> tuple[str, ...]:
    if max(rows, others) <= _UNLIKE * min(rows, others):
        return ()
    return (
        f"The table has {rows:,} rows and the control set {others:,}: how often exactly one row meets a "
        "predicate depends on their number, so singling out compares fairly only with sets of like size.",
    )
