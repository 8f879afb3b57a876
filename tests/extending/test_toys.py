"""A model, a metric and a cost, each in one file with one public registration, through the whole program."""

from __future__ import annotations

import importlib.metadata
import json
from collections import Counter
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import discreet
from discreet.errors import InputError
from discreet.model.registry import Registry
from discreet.models import Model, named
from discreet.screens.option_forms import model_form, model_forms
from tests.cli.conftest import Run
from tests.web.conftest import MakeClient

SLICES = ("publish", "discreet.toml", "--output", "release.csv", "--model", "slices", "--k", "2")


# --- a model -----------------------------------------------------------------------------------------------


def test_help_names_the_registered_model(toy_model: ModuleType, run: Run, people: Path) -> None:
    text = " ".join(run("publish", "--help").out.split())
    assert "--model slices: --times N A slice has at least N times k rows. [1]" in text
    assert "--summary ranges|sets Values shown for a slice. [ranges]" in text
    assert "--slicing FILE" in text


def test_registered_model_is_published_audited_and_reported(
    toy_model: ModuleType, run: Run, people: Path
) -> None:
    found = run(*SLICES, "--times", "2", "--summary", "sets", "--json")
    assert (found.status, found.err) == (0, ""), found
    assert (found.json["model"], found.json["recoding"]["summary"]) == ("ordered-slices", "sets")
    rows = [tuple(row.split(",")[:2]) for row in (people / "release.csv").read_text().splitlines()[1:]]
    assert set(Counter(rows).values()) == {4}
    document = json.loads((people / "release.csv.manifest.json").read_text())
    assert document["recoding"] == {"model": "ordered-slices", "summary": "sets"}
    assert run("audit", "release.csv").status == 0
    assert run("report", "release.csv", "--output", "report.html").status == 0
    assert "ordered-slices" in (people / "report.html").read_text()
    assert "rows required per slice" in run(*SLICES, "--overwrite").out
    compared = run("inspect", "discreet.toml", "--release", "release.csv", "--json")
    assert compared.json["metrics"]["classes"] == 4


def test_options_of_the_registered_model_are_read_from_a_file(
    toy_model: ModuleType, run: Run, people: Path
) -> None:
    (people / "slices.toml").write_text('times = 2\nsummary = "sets"\n')
    found = run(*SLICES, "--slicing", "slices.toml", "--summary", "ranges", "--json").json
    assert (found["recoding"]["summary"], found["audit"]["classes"]) == ("ranges", 2)
    (people / "slices.toml").write_text("time = 2\n")
    refused = run(*SLICES, "--slicing", "slices.toml", "--json").json["error"]
    assert "slices.toml: unknown key 'time'" in refused["message"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--times", "0"), "times '0' of the ordered-slices model"),
        (("--times", "x"), "--times x"),
        (("--summary", "lca"), "summary 'lca' of the ordered-slices model"),
        (("--cut", "best"), "'cut' does not apply to the ordered-slices model"),
        (("--l", "2"), "slices do not support l"),
        (("--max-level", "age=1"), "a highest level does not apply"),
    ],
)
def test_unknown_options_of_the_registered_model_are_refused(
    options: tuple[str, ...], message: str, toy_model: ModuleType, run: Run, people: Path
) -> None:
    found = run(*SLICES, *options, "--json")
    assert (found.status, found.json["error"]["kind"]) == (2, "bad-input")
    assert message in found.json["error"]["message"]


def test_registered_model_recodes_in_python(toy_model: ModuleType, people: Path) -> None:
    table = discreet.open(people / "discreet.toml")
    result = table.recode(toy_model.Slices(times=2), k=2)
    assert (result.model, result.classes) == ("ordered-slices", 2)
    assert table.publish("slices", people / "release.csv", k=2).audit.k >= 2
    assert named("ordered-slices") is toy_model.Slices
    with pytest.raises(InputError, match="times '0' of the ordered-slices model"):
        toy_model.Slices(times=0)


def test_registered_model_has_a_form(toy_model: ModuleType) -> None:
    form = model_form("slices")
    assert form in model_forms()
    assert [(field.name, str(field.kind), field.choices, field.hint) for field in form.fields] == [
        ("times", "whole", (), "1 where empty"),
        ("summary", "choice", ("", "ranges", "sets"), "ranges where empty"),
    ]
    assert form.model({"times": "3", "summary": ""}) == toy_model.Slices(times=3)


def test_browser_lists_the_registered_model(
    toy_model: ModuleType, make_client: MakeClient, people: Path, tmp_path: Path
) -> None:
    client = make_client()
    models: list[dict[str, Any]] = client.get("/api/publish").json()["models"]
    (shown,) = [model for model in models if model["name"] == "slices"]
    assert (shown["title"], shown["main"], shown["takes_l"]) == ("Slices", False, False)
    assert [field["label"] for field in shown["fields"]] == [
        "Rows per slice, in multiples of k",
        "Shown values",
    ]


def test_permuted_groups_use_the_registered_model(toy_model: ModuleType, run: Run, people: Path) -> None:
    options = ("--model", "permutation", "--partition", "recoding", "--recoding", "slices", "--times", "4")
    found = run("publish", "discreet.toml", "--output", "p.csv", "--k", "2", *options, "--json")
    assert found.status == 2
    assert "slices do not support l" in found.json["error"]["message"]


def installed(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Install a package with one entry point, and a registry that has not searched for packages yet."""
    entries = {"discreet.models": [EntryPoint("slices", place, "discreet.models")]}
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: entries.get(group, []))
    fresh = Registry("model", "discreet.models", Model, aliases=lambda model: model.aliases)
    monkeypatch.setattr("discreet.verbs.models.model_registry.MODELS", fresh)


def test_installed_package_registers_its_model_by_an_entry_point(
    toy_model: ModuleType, run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, f"{toy_model.__name__}:Slices")
    assert run(*SLICES, "--times", "2").status == 0


def test_package_that_cannot_be_loaded_is_named_in_the_error(
    run: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, "no_such_package:Slices")
    found = run(*SLICES, "--json")
    assert (found.status, found.json["error"]["kind"]) == (2, "bad-input")
    assert "model 'slices' of a package cannot be loaded" in found.json["error"]["message"]
    assert run("--help").status == 0


# --- a metric ----------------------------------------------------------------------------------------------


def test_registered_metric_is_in_every_result(toy_metric: ModuleType, run: Run, people: Path) -> None:
    assert (
        run("publish", "discreet.toml", "--output", "release.csv", "--model", "local", "--k", "2").status == 0
    )
    reported = run("inspect", "discreet.toml", "--release", "release.csv", "--json").json["metrics"]
    rows = [tuple(row.split(",")[:2]) for row in (people / "release.csv").read_text().splitlines()[1:]]
    sizes = Counter(rows)
    assert reported["largest-share"] == max(sizes.values()) / sum(sizes.values())
    assert "share of the largest class" in run("inspect", "discreet.toml", "--release", "release.csv").out
    run("report", "release.csv", "--spec", "discreet.toml", "--output", "report.html")
    assert "share of the largest class" in (people / "report.html").read_text()
    table = discreet.open(people / "discreet.toml")
    metrics = {value.metric.name: value.value for value in table.compare(people / "release.csv").metrics}
    assert metrics["largest-share"] == reported["largest-share"]


# --- a cost ------------------------------------------------------------------------------------------------


def test_registered_cost_is_searched_by_its_name(toy_cost: ModuleType, run: Run, people: Path) -> None:
    text = " ".join(run("search", "--help").out.split())
    assert "squared-levels the sum of the squared levels" in text
    found = run(
        "search", "discreet.toml", "--algorithm", "optimal", "--k", "2", "--cost", "squared-levels", "--json"
    )
    assert found.status == 0, found
    table = discreet.open(people / "discreet.toml")
    outcome = table.search("optimal", k=2, cost="squared-levels")
    nodes = [node.node for node in table.search("exhaustive", k=2).solutions]
    assert outcome.levels is not None
    assert sum(level**2 for level in outcome.levels.values()) == min(
        sum(x * x for x in node) for node in nodes
    )
    assert table.publish(outcome.levels, people / "release.csv", k=2).audit.passed
