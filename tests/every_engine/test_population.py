"""Tests of a subset of a table and its population, counted in every place as in plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.audit.criterion_checks import GeneralizedPopulation
from discreet.errors import InputError, NoSolution
from discreet.frequency.table_scan import count_frequency_set
from discreet.model.audit_report import AuditReport, Release
from discreet.model.criteria.base import Criterion
from discreet.model.criteria.delta_presence import DeltaPresence
from discreet.model.criteria.k_anonymity import KAnonymity
from discreet.model.criteria.k_map import KMap
from discreet.model.frequency_set import FrequencySet, join_population
from discreet.model.requirement import Requirement
from discreet.model.table_spec import NullPolicy, SourceSpec, Subset, TableSpec
from tests.every_engine.auditing import audited, drawn, drawn_enough, published, texts
from tests.every_engine.places import SLOW_ON_SPARK, Place
from tests.frequency.conftest import FirstLetter, table_spec

CELLS = st.sampled_from(["ab", "ac", "b", "", None])
PEOPLE = st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["s", "t", None]), st.booleans()), max_size=14)
Rows = list[tuple[Any, ...]]
EVERYBODY: Rows = [("ab", "b", "s", True), ("ab", "b", "t", True), ("ab", "b", None, False)]
EVERYBODY += [("ac", "", "s", True), ("ac", None, None, True), (None, "", "t", False), ("b", "", "s", False)]
Types = Counter[tuple[str | None, ...]]


def counted(place: Place, spec: TableSpec) -> FrequencySet:
    with place.connect(spec.source) as engine:
        return count_frequency_set(engine, spec, place.settings)


def texts_of(table: FrequencySet, codes: Any, counts: Any) -> Types:
    """Return row types by their texts."""
    leaves = [(*hierarchy.leaves, None) for hierarchy in table.hierarchies]
    return Counter(
        {
            tuple(leaves[i][code] for i, code in enumerate(row)): count
            for row, count in zip(codes.tolist(), counts.tolist(), strict=True)
        }
    )


def check(table: FrequencySet, rows: Rows, people: Rows) -> None:
    """Check rows and people of each combination, separately and together."""
    own, everybody = Counter(row[:2] for row in rows), Counter(row[:2] for row in people)
    assert table.population is not None
    assert texts_of(table, table.codes, table.counts) == own
    assert texts_of(table, table.population.codes, table.population.counts) == everybody
    assert table.population.people == len(people)
    both, found = join_population(table)
    assert texts_of(both, both.codes, found) == everybody
    assert both.counts.tolist() == [*table.counts.tolist(), *[0] * (len(everybody) - len(own))]
    assert both.codes[: table.row_types].tolist() == table.codes.tolist()
    for sets, whole in zip(table.sensitive, both.sensitive, strict=True):
        assert whole.offsets.tolist()[: table.row_types + 1] == sets.offsets.tolist()
        assert set(whole.offsets.tolist()[table.row_types :]) == {len(sets.codes)}


def subset_of(source: SourceSpec, column: str = "study", values: tuple[str, ...] = ("true",)) -> TableSpec:
    spec = table_spec(replace(source, subset=Subset(column, values)), ["x", "y"], ["s"], FirstLetter())
    return replace(spec, population=source)


@drawn(25)
@example(people=EVERYBODY, null_policy=NullPolicy.VALUE)
@given(people=PEOPLE, null_policy=st.sampled_from(list(NullPolicy)))
def test_tiny_populations_are_counted_like_separate_tables(
    place: Place, people: Rows, null_policy: NullPolicy
) -> None:
    """A subset of a table, and the same rows as a separate table."""
    if drawn_enough(place):
        return
    kept = [row for row in people if null_policy is NullPolicy.VALUE or None not in row[:2]]
    rows = [row for row in kept if row[3] and (null_policy is NullPolicy.VALUE or row[2] is not None)]
    if not rows:
        return
    source = place.put(
        {**texts(people, "xys"), "study": ("BOOLEAN", [row[3] for row in people])}, null_policy=null_policy
    )
    spec = subset_of(source)
    check(counted(place, spec), rows, kept)
    apart = place.put(texts([row for row in people if row[3]], "xys"), null_policy=null_policy)
    register = place.put(texts(people, "xy"), null_policy=null_policy)
    check(counted(place, replace(spec, source=apart, population=register)), rows, kept)


@SLOW_ON_SPARK
def test_invalid_populations_are_refused(place: Place) -> None:
    table = place.put(texts([("ab", "b", "s")] * 3 + [("ac", None, "t")], "xys"))
    register = place.put(texts([("ab", "b")] * 2 + [("ac", None)], "xy"))
    spec = replace(table_spec(table, ["x", "y"], ["s"]), population=register)
    with pytest.raises(InputError, match="for 1 combinations of quasi-identifiers it has fewer people"):
        counted(place, spec)
    lacking = place.put(texts([("ab",)] * 9, "x"))
    with pytest.raises(InputError, match="has no column 'y'"):
        counted(place, replace(spec, population=lacking))


@SLOW_ON_SPARK
def test_value_only_in_the_population_needs_a_leaf(place: Place) -> None:
    table = place.put(texts([("ab", "b", "s")], "xys"))
    register = place.put(texts([("ab", "b"), ("?", "b")], "xy"))
    spec = replace(table_spec(table, ["x", "y"], ["s"], FirstLetter()), population=register)
    with pytest.raises(InputError, match="column 'x': '\\?' has no leaf"):
        counted(place, spec)


@SLOW_ON_SPARK
def test_subset_by_a_missing_column_is_refused(place: Place) -> None:
    source = place.put(texts([("ab", "b", "s")], "xys"))
    with pytest.raises(InputError, match="has no column 'study', which the subset refers to"):
        counted(place, subset_of(source))
    with pytest.raises(InputError, match="no rows"):
        counted(place, subset_of(source, "s", ("t",)))
    nothing = replace(source, null_values=("s",))
    with pytest.raises(InputError, match="no rows"):
        counted(place, subset_of(nothing, "s", ("s",)))


# --- audit and publication ---------------------------------------------------------------------------------

SHOWN = st.tuples(st.sampled_from(["a", "b", "*", None]), st.sampled_from(["x", "", None]))


def audit_with(
    place: Place, release: SourceSpec, population: SourceSpec | None, suppressed: int, *criteria: Criterion
) -> AuditReport:
    generalized = None if population is None else GeneralizedPopulation(population, ("y", "x"), suppressed)
    return audited(
        place, release, *criteria, keys=["x", "y"], values=[], population=generalized, starred_apart=False
    )


def publish(place: Place, spec: TableSpec, node: tuple[int, int], *criteria: Criterion) -> Release:
    return published(place, spec, node, Requirement(criteria=criteria))


@SLOW_ON_SPARK
@drawn(30)
@given(st.lists(SHOWN, min_size=1, max_size=9), st.lists(SHOWN, max_size=12), st.integers(0, 3))
def test_audit_counts_people_again(place: Place, rows: Rows, more: Rows, suppressed: int) -> None:
    if drawn_enough(place):
        return
    people = Counter([*rows, *more])
    release = place.put(texts(rows, "xy"))
    population = place.put(texts([(y, x) for x, y in people.elements()], "yx"))
    classes = Counter(rows)
    unmatched = sum(number for cells, number in people.items() if cells not in classes)
    presence, strict = DeltaPresence(0.5), DeltaPresence(0.75, least=0.25)
    report = audit_with(place, release, population, suppressed, KMap(3), presence, strict)
    few = {cells for cells in classes if people[cells] < 3}
    left = suppressed > 0.5 * unmatched
    many = {cells for cells in classes if left or 2 * classes[cells] > people[cells]}
    left = not unmatched <= 4 * suppressed <= 3 * unmatched
    outside = {
        cells for cells in classes if left or not people[cells] <= 4 * classes[cells] <= 3 * people[cells]
    }
    assert [found.failing_classes for found in report.criteria] == [len(few), len(many), len(outside)]
    assert report.criteria[0].found == min(people[cells] for cells in classes)
    assert report.passed == (not few | many | outside)
    assert {tuple(failing.values.values()) for failing in report.failing} == few | many | outside


@SLOW_ON_SPARK
def test_population_criterion_that_cannot_be_audited_fails(place: Place) -> None:
    release = place.put(texts([("a", "x")] * 3, "xy"))
    report = audit_with(place, release, None, 0, KMap(2))
    assert (report.passed, report.criteria[0].found, report.criteria[0].failing_classes) == (False, None, 1)
    assert any("k_map could not be judged" in warning for warning in report.warnings)
    fewer = place.put(texts([("x", "a")] * 2, "yx"))
    assert not audit_with(place, release, fewer, 0, KMap(2)).passed
    others = place.put(texts([("x", "b")] * 9, "yx"))
    assert not audit_with(place, release, others, 0, KMap(2)).passed
    lacking = place.put(texts([("x",)] * 9, "y"))
    with pytest.raises(InputError, match="the population lacks"):
        audit_with(place, release, lacking, 0, KMap(2))


@SLOW_ON_SPARK
def test_estimate_is_audited_by_sizes(place: Place) -> None:
    """Classes of two rows and of five; no population is needed."""
    release = place.put(texts([("a", "x")] * 2 + [("b", None)] * 5, "xy"))
    for k in (2, 3, 8, 20):
        criterion = KMap(k, estimator="poisson", fraction=0.3, significance=0.2)
        report = audit_with(place, release, None, 0, criterion)
        small = [size for size in (2, 5) if size < criterion.rows_needed(k)]
        assert [found.failing_classes for found in report.criteria] == [len(small)]
        assert (report.passed, not report.warnings) == (not small, True)


@SLOW_ON_SPARK
def test_population_criteria_are_published_or_refused(place: Place) -> None:
    """Nine people of ``a``, a third of them in the study, and two of ``b``, both of them."""
    people = [("ab", "s", True), ("ac", "s", False), ("ab", "s", False)] * 3 + [("b", "s", True)] * 2
    source = place.put({**texts(people, "xy"), "study": ("BOOLEAN", [row[2] for row in people])})
    spec = replace(subset_of(source), attributes=subset_of(source).attributes[:2])
    release = publish(place, spec, (1, 1), KMap(2))
    assert [(found.criterion.name, found.found) for found in release.audit.criteria] == [("k_map", 2)]
    release = publish(place, spec, (1, 1), KMap(9))
    assert (release.rows, release.suppressed, release.audit.criteria[0].found) == (5, 2, 9)
    release = publish(place, spec, (2, 2), DeltaPresence(0.5, least=0.4))
    assert release.audit.criteria[0].found == pytest.approx(5 / 11, abs=1e-8)
    with pytest.raises(NoSolution):
        publish(place, spec, (1, 1), KMap(17))
    # A person without a matching class is one of the two whose rows were suppressed.
    with pytest.raises(NoSolution, match="no row would remain"):
        publish(place, spec, (1, 1), DeltaPresence(0.5))


@SLOW_ON_SPARK
def test_share_of_people_who_match_no_class_may_be_suppressed(place: Place) -> None:
    """Nine people of ``a``, four of them in the study; five of ``b``, two of them; one of ``c``, without."""
    people = [("a", "s", number < 4) for number in range(9)] + [("b", "s", number < 2) for number in range(5)]
    people.append(("c", "s", False))
    source = place.put({**texts(people, "xy"), "study": ("BOOLEAN", [row[2] for row in people])})
    spec = replace(subset_of(source), attributes=subset_of(source).attributes[:2])
    k = KAnonymity(3)
    release = publish(place, spec, (0, 0), k, DeltaPresence(0.5, least=1 / 3))
    assert (release.rows, release.suppressed, release.audit.passed) == (6, 2, True)
    assert [found.failing_classes for found in release.audit.criteria] == [0]
    for least, most in ((0.34, 0.5), (0.0, 0.33)):
        with pytest.raises(NoSolution):
            publish(place, spec, (0, 0), k, DeltaPresence(most, least=least))
    with pytest.raises(NoSolution):
        # Nobody is suppressed, and c matches none.
        publish(place, spec, (0, 0), DeltaPresence(0.5, least=0.3))
