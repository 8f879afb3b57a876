"""Privacy models of ARX projects become criteria with the same meaning."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import coming_from
from discreet.cli.main import main
from discreet.foreign.arx import convert_model
from discreet.model.criteria.registry import criteria_from
from tests.foreign.projects import parts, tag, write_project

OF = " for attribute 'diagnosis'"
DIAGNOSIS = {"attribute": "diagnosis"}
CONVERTED: list[tuple[str, dict[str, Any]]] = [
    (f"entropy-2.5-diversity{OF}", {"entropy_l": [{"value": 2.5} | DIAGNOSIS]}),
    (
        f"grassberger-entropy-3.0-diversity{OF}",
        {"entropy_l": [{"value": 3.0, "estimator": "grassberger"} | DIAGNOSIS]},
    ),
    (f"recursive-(4.0,2)-diversity{OF}", {"recursive_c": [{"value": 4.0, "l": 2} | DIAGNOSIS]}),
    (
        f"0.2-closeness with equal ground-distance{OF}",
        {"t": [{"value": 0.2, "distance": "equal"} | DIAGNOSIS]},
    ),
    (
        f"0.35-closeness with ordered distance{OF}",
        {"t": [{"value": 0.35, "distance": "ordered"} | DIAGNOSIS]},
    ),
    (f"enhanced-1.5-likeness{OF}", {"beta": [{"value": 1.5, "variant": "enhanced"} | DIAGNOSIS]}),
    (f"2.0-disclosure privacy{OF}", {"delta_disclosure": [{"value": round(2 * log(2), 9)} | DIAGNOSIS]}),
    ("(0.05)-avg-reidentification-risk", {"average_risk": 0.05}),
    (
        "(0.05, 0.2, 1.0E-2)-avg-reidentification-risk",
        {"average_risk": 0.05, "records_at_risk": [{"value": 0.01, "above": 1 / 6}]},
    ),
    ("(0.01)-sample-uniqueness", {"sample_uniques": 0.01}),
]


def project_requiring(path: Path, *models: str) -> Path:
    criteria = "".join(tag("criterion", model) for model in models)
    config = f"<config>{tag('relativeMaxOutliers', '0.5')}<criteria>{criteria}</criteria></config>"
    return write_project(path, parts(input_config_xml=config))


@pytest.mark.parametrize(("line", "request_of_it"), CONVERTED, ids=[line for line, _ in CONVERTED])
def test_model_becomes_a_criterion(line: str, request_of_it: dict[str, Any], tmp_path: Path) -> None:
    made = coming_from.arx(project_requiring(tmp_path / "one.deid", line))
    found = {k: v for k, v in made.mapping["request"].items() if k not in ("max_suppressed", "max_level")}
    assert found == request_of_it
    assert criteria_from(found)
    assert not any(line in warning for warning in made.warnings)


@pytest.mark.parametrize(
    "line",
    [
        "(5)-map",
        "(0.05,0.15)-presence",
        "(0.01)-population-uniqueness (dankar)",
        "0.2-closeness with equal ground-distance for attribute 'city'",
        "0.2-closeness with hierarchical ground-distance for attribute 'diagnosis'",
        "(0.5, 0.0, 0.1)-avg-reidentification-risk",
        "x-closeness with equal ground-distance for attribute 'diagnosis'",
    ],
)
def test_models_that_cannot_be_converted_are_named(line: str, tmp_path: Path) -> None:
    assert convert_model(line, {"diagnosis"}) is None
    made = coming_from.arx(project_requiring(tmp_path / "one.deid", line))
    assert any(line.split(" for attribute")[0] in warning for warning in made.warnings)


def test_all_models_of_a_project_lead_to_a_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models = [line for line, _ in CONVERTED if "ordered" not in line and "disclosure" not in line]
    project_requiring(tmp_path / "ten.deid", "2-anonymity", *models)
    assert main(["init", "ten.deid", "--extract-data"]) == 0
    assert "entropy_l value 2.5, attribute diagnosis" in capsys.readouterr().out
    table = discreet.open("discreet.toml")
    names = {criterion.name for criterion in table.spec.request.criteria}
    assert names >= {"entropy_l", "recursive_c", "t", "beta", "average_risk", "sample_uniques"}
