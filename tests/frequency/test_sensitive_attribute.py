"""Table-wide properties of a sensitive attribute that criteria use, from the counted table to every class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.frequency.fact_counter import FactCounter, find_failing_classes
from discreet.frequency.table_scan import count_frequency_set
from discreet.hierarchy import LevelsHierarchy
from discreet.lattice.evaluation import evaluate_lattice
from discreet.model.criteria.base import Criterion, Need, Parameter
from discreet.model.criterion_inputs import ClassValues, SensitiveAttribute
from discreet.model.frequency_set import FrequencySet, drop_unneeded_subjects
from discreet.model.requirement import Requirement
from discreet.model.table_spec import NullPolicy, SourceSpec, TableSpec
from discreet.mondrian.partition import partition_table
from discreet.search.node_counts import StatisticsCounter
from discreet.settings import Settings
from tests.drawing import some_of
from tests.frequency.conftest import Row, table_spec, write_table

ILLNESSES = {
    "flu": ("lungs", "*"),
    "asthma": ("lungs", "*"),
    "ulcer": ("stomach", "*"),
    "cancer": ("stomach", "*"),
}
ROWS: list[Row] = [
    ("a", "ulcer", "10", "x"),
    ("a", "flu", "9", "y"),
    ("b", "flu", "9.0", None),
    ("b", None, "100", "x"),
    (None, "asthma", "9", "x"),
]
seeds = examples(
    max_examples=some_of(24), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def spec_of(folder: Path, rows: list[Row], nulls: NullPolicy = NullPolicy.VALUE) -> TableSpec:
    path = write_table(folder, "t.csv", ["q", "ill", "income", "word"], rows)
    spec = table_spec(SourceSpec(path=path, null_policy=nulls), ["q"], ["ill", "income", "word"])
    of_ill = LevelsHierarchy.of(ILLNESSES)
    return replace(
        spec,
        attributes=tuple(replace(a, hierarchy=of_ill) if a.name == "ill" else a for a in spec.attributes),
    )


def known(table: FrequencySet) -> list[SensitiveAttribute]:
    found = [sets.of for sets in table.sensitive]
    assert None not in found
    return [each for each in found if each is not None]


def test_sensitive_attributes_have_values_rows_order_and_groups(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    ill, income, word = known(count_frequency_set(engine, spec_of(tmp_path, ROWS), settings))
    assert (ill.values, ill.rows.tolist()) == (("asthma", "flu", "ulcer"), [1, 2, 1])
    assert ill.numbers is None
    assert ill.levels is not None
    lungs, stomach = ill.levels[1, 0], ill.levels[1, 2]
    assert ill.levels[1].tolist() == [lungs, lungs, stomach]
    assert lungs != stomach
    assert ill.levels[2].tolist() == [0, 0, 0]
    assert len(set(ill.levels[0].tolist())) == 3
    # Values of one group are adjacent in any order of the texts.
    assert sorted(ill.ranks.tolist()) == [0, 1, 2]
    assert ill.ranks[2] in (0, 2)
    assert (income.values, income.rows.tolist()) == (("10", "100", "9", "9.0"), [1, 1, 2, 1])
    assert income.ranks.tolist() == [2, 3, 0, 1]
    assert income.numbers is not None
    assert income.numbers.tolist() == [10, 100, 9, 9]
    assert income.levels is None
    assert (word.values, word.rows.tolist(), word.ranks.tolist()) == (("x", "y"), [3, 1], [0, 1])
    assert (ill.ordered, income.ordered, word.ordered) == (True, True, False)


def test_table_distribution_follows_the_null_policy(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    table = count_frequency_set(engine, spec_of(tmp_path, ROWS, NullPolicy.DROP), settings)
    assert table.dropped == 3
    ill, income, word = known(table)
    assert (ill.values, ill.rows.tolist()) == (("flu", "ulcer"), [1, 1])
    assert (income.values, income.rows.tolist()) == (("10", "9"), [1, 1])
    assert (word.values, word.rows.tolist()) == (("x", "y"), [1, 1])


def test_sensitive_value_without_a_leaf_is_refused(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    spec = spec_of(tmp_path, [*ROWS, ("a", "gout", "1", "x")])
    with pytest.raises(InputError, match=r"t\.csv, line 7, column 'ill'") as error:
        count_frequency_set(engine, spec, settings)
    assert error.value.advice is not None
    # Only counted attributes need leaves.
    assert count_frequency_set(engine, spec, settings, sensitive=["income"]).rows == 6


@seeds
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([None, *ILLNESSES])), min_size=1))
def test_table_distribution_counts_all_rows(
    engine: Engine, settings: Settings, tmp_path: Path, cells: list[tuple[str, str | None]]
) -> None:
    table = count_frequency_set(
        engine, spec_of(tmp_path, [(q, ill, "1", str(i)) for i, (q, ill) in enumerate(cells)]), settings
    )
    ill = known(table)[0]
    counted = Counter(value for _, value in cells if value is not None)
    assert dict(zip(ill.values, ill.rows.tolist(), strict=True)) == dict(counted)
    sets = table.sensitive[0]
    assert sets.size == len(ill.values)
    assert sets.counts is not None
    assert np.bincount(sets.codes, sets.counts, minlength=sets.size).tolist() == ill.rows.tolist()


def test_subjects_of_one_row_each_count_as_rows(engine: Engine, settings: Settings, tmp_path: Path) -> None:
    spec = spec_of(tmp_path, [(q, ill, "1", f"person {i}") for i, (q, ill, *_) in enumerate(ROWS)])
    spec = replace(
        spec,
        source=replace(spec.source, subject="word"),
        attributes=tuple(a for a in spec.attributes if a.name != "word"),
    )
    table = count_frequency_set(engine, spec, settings)
    assert table.subjects is not None
    assert known(table)[0].rows.tolist() == [1, 2, 1]
    assert [of.rows.tolist() for of in known(drop_unneeded_subjects(table))] == [[1, 2, 1], [5]]


@dataclass(frozen=True)
class Rare(Criterion):
    """Criterion: at least ``value`` rows of the whole table have the rarest value of a class."""

    name: ClassVar[str] = "rare"
    title: ClassVar[str] = "rareness"
    citation: ClassVar[str] = "of this test"
    parameter: ClassVar[Parameter] = Parameter("rows of the rarest value")
    need: ClassVar[Need] = Need.COUNTS
    monotone: ClassVar[bool] = True

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return the number of rows of the table with the rarest value of each class."""
        assert values is not None
        assert values.of is not None
        assert values.owners is not None
        found = np.full(len(sizes), 10**6)
        np.minimum.at(found, values.owners, values.of.rows[values.codes])
        return found


def test_every_class_counter_passes_the_table_distribution(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    cells: list[Row] = [("abcd"[i % 4], "flu" if i % 4 else "ulcer", "1", "x") for i in range(40)]
    table = count_frequency_set(engine, spec_of(tmp_path, cells), settings)
    requirement = Requirement(2, criteria=[Rare(11, "ill")])
    class_of = np.arange(table.row_types)
    expected = [leaf == "a" for leaf in table.hierarchies[0].leaves]
    assert find_failing_classes(table, class_of, 4, requirement).tolist() == expected
    counter = FactCounter.of(table, requirement)
    assert [not counter.holds(np.array([i])) for i in range(4)] == expected
    assert StatisticsCounter(table, requirement, 10**9).count((0,)).failing.tolist() == expected
    evaluated = evaluate_lattice(table, settings, criteria=requirement.others)
    assert [evaluated.suppressed((level,), requirement) for level in (0, 1)] == [10, 40]
    fits = partition_table(table, Requirement(2, criteria=[Rare(10, "ill")]), settings)
    assert fits.class_count == 4
