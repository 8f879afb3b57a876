from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.frequency.class_summary import Summary, classes_to_recoding
from discreet.hierarchy.intervals import IntervalHierarchy
from discreet.model.class_recoding import RecodingModel
from discreet.model.hierarchy import TOP, GeneralizationHierarchy
from discreet.model.requirement import Requirement
from discreet.workload.published_labels import read_cells
from tests.drawing import some_of
from tests.oracle.random_tables import frequency_set_of

AGES = IntervalHierarchy.of([5, 10]).build("age", ["17", "20", "23", "25", "31", "40"])
ZIPS = GeneralizationHierarchy(
    "zip",
    (("53710", "53711", "53810", "54000"), ("5371*", "5381*", "5400*"), (TOP,)),
    tuple(np.array(a) for a in ([0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 0, 0])),
    "given",
)
NAMES = GeneralizationHierarchy(
    "job",
    (("clerk, senior", "clerk", 'the "boss"', "a … b", "z"), ("clerks", "rest"), ("anybody",)),
    tuple(np.array(a) for a in ([0, 1, 2, 3, 4], [0, 0, 1, 1, 1], [0, 0, 0, 0, 0])),
    "given",
)


def covered(hierarchy: GeneralizationHierarchy, label: str | None, *, nullable: bool = False) -> list[str]:
    cells = read_cells(hierarchy, [label], nullable=nullable).cells
    values = [*hierarchy.leaves, "NULL"]
    return [
        values[code]
        for first, last in zip(cells.first, cells.last, strict=True)
        for code in range(first, last + 1)
    ]


@pytest.mark.parametrize(
    ("label", "leaves"),
    [
        ("23", "23"),
        ("20-24", "20 23"),
        ("20-29", "20 23 25"),
        ("20 … 25", "20 23 25"),
        ("[20, 25]", "20 23 25"),
        ("[20, 25[", "20 23"),
        ("[20, 25)", "20 23"),
        ("]20, 25]", "23 25"),
        ("(20, 25]", "23 25"),
        ("[20-25]", "20 23 25"),
        ("[20 – 25]", "20 23 25"),
        ("21-33", "23 25 31"),
        ("[19.5;23.5]", "20 23"),
        ("<25", "17 20 23"),
        ("<= 25", "17 20 23 25"),
        ("≥31", "31 40"),
        (">31", "40"),
        ("{17, 40}", "17 40"),
        ("{17,20-24}", "17 20 23"),
        ("22.5 (20 … 25)", "20 23 25"),
        ("2*", "20 23 25"),
        ("*", "17 20 23 25 31 40"),
        (None, "NULL"),
    ],
)
def test_label_of_numbers_covers_leaves(label: str | None, leaves: str) -> None:
    assert covered(AGES, label) == leaves.split()


@pytest.mark.parametrize(
    ("label", "leaves"),
    [
        ("clerk, senior", ["clerk, senior"]),
        ("clerks", ["clerk, senior", "clerk"]),
        ("{clerk, senior, clerk, z}", ["clerk, senior", "clerk", "z"]),
        ('{"clerk, senior", clerk}', ["clerk, senior", "clerk"]),
        ("{z,clerk,clerk, senior}", ["clerk, senior", "clerk", "z"]),
        ('{"the \\"boss\\"", z}', ['the "boss"', "z"]),
        ("a … b", ["a … b"]),
        ("clerk … a … b", ["clerk", 'the "boss"', "a … b"]),
        ("a … b … z", ["a … b", "z"]),
        ('"a … b" … z', ["a … b", "z"]),
        ("[clerk, z]", ["clerk", 'the "boss"', "a … b", "z"]),
    ],
)
def test_label_of_words_covers_leaves(label: str, leaves: list[str]) -> None:
    assert covered(NAMES, label) == leaves


def test_top_value_covers_null_if_the_original_has_one() -> None:
    assert covered(NAMES, "anybody")[-1] == "z"
    assert covered(NAMES, "anybody", nullable=True)[-1] == "NULL"
    assert covered(NAMES, "*", nullable=True)[-1] == "NULL"


def test_masks_cover_prefixes() -> None:
    assert covered(ZIPS, "5371*") == ["53710", "53711"]
    assert covered(ZIPS, "53***") == ["53710", "53711", "53810"]


@pytest.mark.parametrize(
    "label", ["99", "[50, 60]", "{17, 99}", "x … y", "<17", "", "1.5 (nothing)", "9*", "{}"]
)
def test_label_that_covers_nothing_is_counted_and_hidden(label: str) -> None:
    with pytest.raises(InputError, match=r"column 'age' of the release: 1 of 2 labels") as caught:
        read_cells(AGES, [label, "23"], nullable=True)
    assert not label or label not in caught.value.message.replace("1 of 2", "")


def test_means_are_read_with_their_rounding() -> None:
    found = read_cells(AGES, ["22.5 (20 … 25)", "20 … 25", "-3 (17 … 20)", None], nullable=False)
    assert found.means.tolist()[::2] == [22.5, -3.0]
    assert found.half_units.tolist()[::2] == pytest.approx([0.05, 0.5])
    assert np.isnan(found.means[[1, 3]]).all()


@settings(max_examples=some_of(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=8),
    st.sampled_from(Summary),
)
def test_labels_of_mondrian_are_read_back(parts: list[tuple[int, int]], summary: Summary) -> None:
    """For every summary, labels of random classes cover the recoding's leaves once they are read back."""
    codes = [code for code, _ in dict(parts).items()]
    table = frequency_set_of([AGES], [((code,), ()) for code in codes])
    _, classes = np.unique([dict(parts)[code] for code in codes], return_inverse=True)
    recoding = classes_to_recoding(
        table, classes.astype(np.int64), Requirement(1), RecodingModel.ORDERED_MULTI, summary
    )
    shown = recoding.cells[0]
    read = read_cells(AGES, shown.labels, nullable=True).cells
    for cell in range(len(shown.labels)):
        every = np.arange(AGES.null_code + 1)
        at = np.full(len(every), cell)
        assert read.cover(at, every).tolist() == shown.cover(at, every).tolist(), shown.labels[cell]
