"""Presets: their rules are applied strictly and reported, and nothing is added to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import discreet
from discreet.cli.main import main
from discreet.errors import InputError
from discreet.settings import Settings
from discreet.spec.preset import load_presets


def test_every_preset_is_complete() -> None:
    assert set(load_presets()) == {"cms_11", "ema_0070", "hipaa_expert", "hipaa_safe_harbor", "wp216"}
    for one in load_presets().values():
        assert one.title
        assert one.citation
        assert one.as_of.isdecimal()
        assert one.checks
    thresholds = {one.name: [c.threshold for c in one.criteria] for one in load_presets().values()}
    # 1/11 exceeds 0.09: read strictly, the rule requires 12.
    assert thresholds == {
        "cms_11": [11],
        "ema_0070": [12],
        "hipaa_expert": [],
        "hipaa_safe_harbor": [],
        "wp216": [2],
    }


def test_unknown_preset_is_refused() -> None:
    with pytest.raises(InputError, match="the preset 'ema' does not exist"):
        discreet.preset("ema")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    rows = [f"{age},{town}" for age in (30, 30, 40) for town in "ab" for _ in range(6)]
    (tmp_path / "t.csv").write_text("\n".join(["age,town", *rows, ""]))
    path = tmp_path / "discreet.toml"
    path.write_text(
        '[source]\npath = "t.csv"\n[request]\nk = 3\n'
        '[attributes.age]\nrole = "quasi-identifier"\n[attributes.town]\nrole = "quasi-identifier"\n'
    )
    return path


def negotiated(spec: Path, capfd: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, object]]:
    status = main(["negotiate", str(spec), "--json", *options])
    out = capfd.readouterr().out
    return status, json.loads(out) if out else {}


def test_verb_applies_the_criteria_of_the_preset(spec: Path, capfd: pytest.CaptureFixture[str]) -> None:
    own = negotiated(spec, capfd)[1]
    by_rule = negotiated(spec, capfd, "--preset", "cms_11")[1]
    assert by_rule != own
    assert by_rule == negotiated(spec, capfd, "--k", "11")[1]
    # A rule and the user's value for the same criterion: neither is weakened silently.
    assert main(["negotiate", str(spec), "--preset", "cms_11", "--k", "2"]) == 2
    assert "given twice" in capfd.readouterr().err
    assert main(["negotiate", str(spec), "--preset", "hipaa_safe_harbor"]) == 2
    assert "has no numeric criterion" in capfd.readouterr().err


def test_report_contains_the_checks_of_the_preset(
    spec: Path, out: Path, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    path = out / "r.csv"
    assert main(["publish", str(spec), "--preset", "cms_11", "--output", str(path)]) == 0
    assert main(["report", str(path), "--checks", "ema_0070"]) == 0
    page = (out / "r.csv.report.html").read_text()
    rule = discreet.preset("ema_0070")
    assert "classes of at least 12; the smallest has 18" in page
    assert rule.title.replace("&", "&amp;") in page
    assert all(check in page for check in rule.checks)
    assert "meets the rule" not in page
    capfd.readouterr()
    assert main(["list", "presets", "--json"]) == 0
    listed = json.loads(capfd.readouterr().out)["presets"]
    assert [one["name"] for one in listed] == list(load_presets())
    assert main(["list", "presets"]) == 0
    assert "45 CFR 164.514(b)(2)" in capfd.readouterr().out
