"""Refused permuted releases write nothing and replace no other file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import DiscreetError, InputError, NoSolution, RequirementNotMet
from discreet.model.release_kind import GroupPartition, GroupRequirement
from discreet.release.permutation_staging import ChosenGroups, StagedRows
from discreet.release.permuted_publication import PermutedPlan, publish_permuted
from discreet.settings import Settings
from discreet.verbs.models.model_registry import resolve_model
from discreet.verbs.table import Table
from tests.oracle.permuted_tables import staff


@pytest.fixture
def table(tmp_path: Path, settings: Settings) -> Table:
    return staff(tmp_path, settings)


REFUSED: list[tuple[dict[str, Any], type[DiscreetError]]] = [
    ({}, InputError),
    ({"k": 0}, InputError),
    ({"k": 2, "e": -1}, InputError),
    ({"k": 2, "e": "much"}, InputError),
    ({"k": 2, "e": float("nan")}, InputError),
    ({"k": 2, "partition": "best"}, InputError),
    ({"k": 2, "form": "three"}, InputError),
    ({"k": 2, "sensitive": "town"}, InputError),
    ({"k": 2, "level": {"age": 9}}, InputError),
    ({"k": 2, "l": 2}, InputError),
    ({"k": 2, "colour": "red"}, InputError),
    ({"k": 2, "recoding": "mondrian"}, InputError),
    ({"k": 2, "first_group": (1, 0)}, InputError),
    ({"k": 2, "suppressed_rows": "star"}, InputError),
    ({"k": 2, "max_level": {"age": 1}}, InputError),
    ({"k": 9}, NoSolution),
    ({"k": 2, "e": 10_000}, NoSolution),
    ({"k": 2, "e": 1000, "partition": "recoding"}, RequirementNotMet),
]


@pytest.mark.parametrize(("options", "kind"), REFUSED, ids=lambda case: str(case))
def test_unfit_permutation_requests_are_refused(
    table: Table, out: Path, options: dict[str, Any], kind: type[DiscreetError]
) -> None:
    shared = {name: options[name] for name in options if name in ("k", "l", "suppressed", "max_level")}
    own = {name: options[name] for name in options if name not in shared}
    with pytest.raises(kind):
        table.publish(resolve_model("permutation", own), out / "p.csv", **shared)
    assert list(out.iterdir()) == []


def test_groups_that_fail_are_not_published(table: Table, out: Path, settings: Settings) -> None:
    requirement = GroupRequirement(2, Decimal(1000))

    def each_by_itself(held: StagedRows) -> ChosenGroups:
        return ChosenGroups(GroupPartition("none", requirement, np.arange(held.rows), held.rows))

    plan = PermutedPlan("pay", requirement, (0, 0))
    with table.engine("") as engine, pytest.raises(RequirementNotMet, match="10 of 10 groups"):
        publish_permuted(
            engine,
            table.spec,
            table.frequency_set,
            plan,
            each_by_itself,
            out / "p.csv",
            overwrite=False,
            settings=settings,
        )
    assert list(out.iterdir()) == []


def test_files_of_others_are_not_replaced(table: Table, out: Path) -> None:
    (out / "p.help.csv").write_text("mine")
    with pytest.raises(InputError, match="exists"):
        table.publish("permutation", out / "p.csv", k=2)
    assert [p.name for p in out.iterdir()] == ["p.help.csv"]
