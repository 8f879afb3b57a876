"""Tests of a function of arrays that is applied to each group where the engine has its rows."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.engines import engine_mixins
from discreet.engines.base import ColumnData, GroupFunction
from discreet.model.requirement import Requirement
from discreet.mondrian.external import FragmentCutter
from discreet.mondrian.mondrian_options import MondrianOptions
from discreet.settings import Settings
from tests.every_engine.places import Place

LABELS = ["it's", 'say "x"', "ünï", "", None, "a\\b", "z\nz"]
COLUMNS = {"g": "BIGINT", "twice": "BIGINT", "label": "VARCHAR"}


def doubling() -> GroupFunction:
    """Return a function that doubles a group's numbers and adds a label; Spark serializes its closure."""
    labels = LABELS

    def double(columns: Mapping[str, NDArray[Any]]) -> ColumnData:
        numbers = columns["v"].astype("int64")
        labels_of_rows = [labels[number % len(labels)] for number in numbers.tolist()]
        return {"g": columns["g"].astype("int64"), "twice": 2 * numbers, "label": labels_of_rows}

    return double


def test_groups_become_one_table(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_mixins, "_ENTRIES_PER_PART", 8)
    values = list(range(30))
    progress: list[tuple[int, int]] = []
    with place.connect() as engine:
        engine.load_table("given", {"v": np.array(values), "h": np.array([2**62 + v for v in values])})
        query = "SELECT v, h, v % 7 AS g FROM given"
        engine.apply_to_groups(
            "made", query, "g", range(7), doubling(), COLUMNS, progress=lambda *done: progress.append(done)
        )
        found = engine.fetch_rows("SELECT g, twice, label FROM made")
        engine.drop_table("made")
    assert sorted(found, key=lambda row: row[1]) == [(v % 7, 2 * v, LABELS[v % 7]) for v in values]
    assert progress[-1] == (7, 7)


def test_fragment_cutter_is_sent_to_other_processes_without_its_notice(settings: Settings) -> None:
    requirement = Requirement(2)
    cutter = FragmentCutter((), (), requirement, settings, MondrianOptions(), (), notice=lambda _text: None)
    sent = pickle.loads(pickle.dumps(cutter))
    assert sent.notice is None
    assert sent.requirement == requirement
