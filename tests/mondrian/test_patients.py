"""The six patients of LeFevre et al. (2006): partitions, ranges and means as printed in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from discreet.frequency.class_summary import classes_to_recoding
from discreet.model.class_recoding import ClassRecoding, RecodingModel
from discreet.model.frequency_set import FrequencySet
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.mondrian.mondrian_options import MondrianOptions, Summary, Tie
from discreet.mondrian.partition import partition_table
from discreet.settings import Settings
from tests.oracle.random_tables import frequency_set_of

AGES, SEXES = ("25", "26", "27", "28"), ("Female", "Male")
ZIPS = ("53710", "53711", "53712")
PATIENTS = [
    ("25", "Male", "53711"),
    ("25", "Female", "53712"),
    ("26", "Male", "53711"),
    ("27", "Male", "53710"),
    ("27", "Female", "53712"),
    ("28", "Male", "53711"),
]


@pytest.fixture
def patients() -> FrequencySet:
    columns = (("age", AGES), ("sex", SEXES), ("zip", ZIPS))
    hierarchies = [
        GeneralizationHierarchy(
            name, (leaves, (TOP,)), (np.arange(len(leaves)), np.zeros(len(leaves), dtype=np.int64)), "given"
        )
        for name, leaves in columns
    ]
    codes = [
        tuple(leaves.index(value) for value, (_, leaves) in zip(row, columns, strict=True))
        for row in PATIENTS
    ]
    return frequency_set_of(hierarchies, [(row, ()) for row in codes])


def shown(recoding: ClassRecoding) -> list[tuple[str | None, ...]]:
    """Return the labels of each patient's row."""
    classes: Sequence[int] = recoding.classes.tolist()
    return [
        tuple(cells.labels[recoding.shown[c, i]] for i, cells in enumerate(recoding.cells)) for c in classes
    ]


def test_multidimensional_partition_of_the_patients_equals_the_paper(
    patients: FrequencySet, settings: Settings
) -> None:
    recoding = partition_table(patients, Requirement(2), settings)
    assert sorted(recoding.class_rows()) == [2, 2, 2]
    assert shown(recoding) == [
        ("25 … 26", "Male", "53711"),
        ("25 … 27", "Female", "53712"),
        ("25 … 26", "Male", "53711"),
        ("27 … 28", "Male", "53710 … 53711"),
        ("25 … 27", "Female", "53712"),
        ("27 … 28", "Male", "53710 … 53711"),
    ]


def test_tie_by_first_attribute_gives_the_other_partition(patients: FrequencySet, settings: Settings) -> None:
    """All three ranges are 1, so the tie rule decides the partition."""
    recoding = partition_table(patients, Requirement(2), settings, MondrianOptions(tie=Tie.FIRST))
    assert sorted(recoding.class_rows()) == [3, 3]


def test_single_dimensional_classes_of_the_patients_equal_the_paper(patients: FrequencySet) -> None:
    classes = np.array([0 if zip_code <= "53711" else 1 for _, _, zip_code in PATIENTS])
    recoding = classes_to_recoding(patients, classes, Requirement(2), RecodingModel.ORDERED_SINGLE)
    assert recoding.class_rows().tolist() == [4, 2]
    assert shown(recoding)[0] == ("25 … 28", "Male", "53710 … 53711")


def test_average_of_the_patients_from_means_is_exact(patients: FrequencySet, settings: Settings) -> None:
    recoding = partition_table(patients, Requirement(2), settings, MondrianOptions(summary=Summary.MEANS))
    ages = [label for label, sex, _ in shown(recoding) if sex == "Male"]
    assert ages == ["25.5 (25 … 26)", "25.5 (25 … 26)", "27.5 (27 … 28)", "27.5 (27 … 28)"]
    assert sum(Fraction((age or "").split()[0]) for age in ages) / len(ages) == Fraction("26.5")
    assert "in 3 of 3 classes, of at most 3 rows, mean and range together" in " ".join(recoding.warnings)
