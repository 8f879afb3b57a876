"""A quasi-identifier of only NULLs works in every model, verb and metric."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.errors import NoSolution
from discreet.model.class_recoding import RecodingModel
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from discreet.verbs.table import Table
from tests.drawing import in_turn
from tests.oracle.plain_release import read_csv

ROWS = ["30,,flu", "31,,cold", "30,,cold", "31,,flu", "30,,gout", "31,,gout", "44,,flu"]
MODELS = [*map(str, RecodingModel), "patterns"]
BUILDERS: list[dict[str, Any]] = [
    {},
    {"hierarchy": {"kind": "mask"}},
    {"hierarchy": {"kind": "mask", "pad": True, "length": 5}},
    {"hierarchy": {"kind": "order", "fanout": 2}},
    {"hierarchy": {"kind": "auto"}},
]


def only_nulls(folder: Path, settings: Settings, built: dict[str, Any], *, single: bool = False) -> Table:
    """Write seven rows with an empty ``zip``, in addition to ``age`` or as the only quasi-identifier."""
    (folder / "people.csv").write_text("\n".join(["age,zip,diagnosis", *ROWS, ""]), encoding="utf-8")
    document = {
        "source": {"path": "people.csv"},
        "attributes": {
            "age": {"role": "insensitive" if single else "quasi-identifier"},
            "zip": {"role": "quasi-identifier", **built},
            "diagnosis": {"role": "sensitive"},
        },
    }
    return Table(spec_from_mapping(document, base=folder, label="only NULLs"), settings)


@pytest.mark.parametrize(("model", "single"), in_turn(MODELS, [False, True]))
def test_every_model_publishes_a_column_of_nulls(
    model: str, single: bool, settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = only_nulls(tmp_path, settings, {}, single=single)
    release = table.publish(model, out / "r.csv", k=3, max_suppressed=1)
    rows = read_csv(out / "r.csv")[1]
    assert len(rows) >= len(ROWS) - 1
    assert {row[1] for row in rows} <= {None, "*"}
    assert release.audit.k >= 3
    found = discreet.report(out / "r.csv", table=table, settings=settings)  # it audits and compares
    assert found.passed
    assert found.evidence.comparison is not None


@pytest.mark.parametrize("built", BUILDERS)
def test_every_builder_accepts_a_column_of_nulls(
    built: dict[str, Any], settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = only_nulls(tmp_path, settings, built)
    assert table.publish("full-subtree", out / "r.csv", k=3, max_suppressed=1).audit.k >= 3
    assert table.inspect().document()


def test_column_of_nulls_is_negotiated(settings: Settings, tmp_path: Path) -> None:
    table = only_nulls(tmp_path, settings, {})
    globally = table.negotiate(k=3, max_suppressed=1).exact
    assert globally is not None
    assert globally.suppressed == 1
    locally = table.negotiate_local(k=3, max_suppressed=1).exact
    assert locally is not None
    assert locally.local_recoding.suppressed <= 1


def test_k_above_the_rows_has_no_solution(settings: Settings, tmp_path: Path, out: Path) -> None:
    table = only_nulls(tmp_path, settings, {}, single=True)
    for model in (model for model in MODELS if model != "patterns"):
        with pytest.raises(NoSolution):
            table.publish(model, out / "r.csv", k=len(ROWS) + 1)
