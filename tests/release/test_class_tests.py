"""Requirements that no manifest records and no audit counts can be recoded but not published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.local.cell_generalization import generalize_cells
from discreet.model.class_recoding import ClassRecoding, ClassTest
from discreet.model.requirement import Requirement
from discreet.models import Model, Patterns, Permutation
from discreet.mondrian.partition import partition_table
from discreet.results.recoding_result import RecodingResult
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.oracle.class_tests import EntropyDiversity
from tests.oracle.patients import patients

TEST = EntropyDiversity(1.5)
REFUSED = "EntropyDiversity cannot be recorded in a manifest or audited"


def by_patterns(table: Table, test: ClassTest) -> ClassRecoding:
    return table.recode(Patterns(class_test=test), k=2).recoding


def by_mondrian(table: Table, test: ClassTest) -> ClassRecoding:
    return partition_table(table.frequency_set, Requirement(2), table.settings, class_test=test)


def locally(table: Table, test: ClassTest) -> ClassRecoding:
    return generalize_cells(table.frequency_set, Requirement(2), table.settings, class_test=test).recoding


@pytest.mark.parametrize("made", [by_patterns, by_mondrian, locally])
def test_recoding_with_a_class_test_is_not_published(
    made: Callable[[Table, ClassTest], ClassRecoding], settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    recoding = made(table, TEST)
    assert recoding.class_test == TEST
    result = RecodingResult.of(table.frequency_set, recoding)
    with pytest.raises(InputError, match=REFUSED):
        table.publish(result, out / "r.csv")
    with pytest.raises(InputError, match=REFUSED):
        table.publish(Permutation(partition="recoding", recoding=result), out / "r.csv", k=2)
    assert not list(out.iterdir())


@pytest.mark.parametrize(
    "model",
    [
        Patterns(class_test=TEST),
        Permutation(partition="recoding", recoding=Patterns(class_test=TEST)),
    ],
)
def test_model_with_a_class_test_is_not_published(
    model: Model, settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    with pytest.raises(InputError, match=REFUSED):
        table.publish(model, out / "r.csv", k=2)
    assert not table.is_counted
    assert not list(out.iterdir())
