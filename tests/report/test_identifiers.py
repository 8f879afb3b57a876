"""Identifiers and shifted dates in a report, which contains neither a secret nor a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.report.report import report
from discreet.settings import Settings
from tests.release.test_identifiers import published, visits
from tests.report.test_report import words

KEY = "keys/of_people.key"
SHIFT = {"days": 30, "key": "keys/of_days.key"}


def report_words(folder: Path, settings: Settings, way: dict[str, Any] | None, **options: Any) -> str:
    """Return the words of a release's report, and check that it contains no forbidden value."""
    rows = visits(folder / "visits.csv")
    published(folder, settings, way, **options)
    text = report(folder / "out" / "visits.csv", settings=settings).path.read_text(encoding="utf-8")
    held = [row[name] for row in rows for name in ("person", "admitted", "left")]
    assert not any(value in text for value in {*held, "of_people", "of_days", str(folder)})
    return words(text)


@pytest.mark.parametrize(
    ("way", "inventory", "log"),
    [
        (None, "not published", "left out – –"),
        (
            {"method": "keyed-hash", "key": KEY},
            "a keyed hash, the same in every table that is published with the key; people are counted by it",
            "replaced by a keyed hash, the same in every table that is published with the key – "
            "can be linked by it",
        ),
        (
            {"method": "per-release"},
            "a pseudonym for this release only, whose key is discarded; people are counted by it",
            "replaced by a pseudonym for this release only, whose key is discarded – can be linked by it",
        ),
    ],
)
def test_pseudonym_is_described_by_its_title(
    settings: Settings, tmp_path: Path, way: dict[str, Any] | None, inventory: str, log: str
) -> None:
    text = report_words(tmp_path, settings, way)
    assert f"person identifier identifies a person {inventory} " in text
    assert ("this statement counts rows" in text) is not ("people are counted by it" in inventory)
    assert "Identifiers and dates column method options rows of one person person " + log in text


def test_shifted_dates_are_described(settings: Settings, tmp_path: Path) -> None:
    text = report_words(tmp_path, settings, None, shift=SHIFT)
    assert "admitted insensitive unchanged, not checked unchanged, dates moved by up to 30 days" in text
    assert (
        "left each person's dates moved by one secret number of days, earlier or later "
        "1 to 30 days days between them are kept" in text
    )


@pytest.mark.parametrize("masked", [True, False])
def test_mask_or_no_identifier_in_the_log(settings: Settings, tmp_path: Path, *, masked: bool) -> None:
    visits(tmp_path / "visits.csv")
    role = (
        {"role": "identifier", "pseudonymization": {"method": "mask", "end": "end"}}
        if masked
        else {"role": "insensitive"}
    )
    attributes = {"person": role, "age": {"role": "quasi-identifier"}}
    table = discreet.open(tmp_path / "visits.csv", {"attributes": attributes}, settings=settings)
    table.publish({"age": 1}, tmp_path / "out.csv", k=2)
    text = words(report(tmp_path / "out.csv", settings=settings).path.read_text(encoding="utf-8"))
    assert ("Identifiers and dates" in text) is masked
    mask = "a few of its characters, the others masked"
    assert (f"person replaced by {mask} keep = 1, end = end cannot be linked by it" in text) is masked


def test_unknown_method_is_named(settings: Settings, tmp_path: Path) -> None:
    report_words(tmp_path, settings, {"method": "per-release"})
    path = tmp_path / "out" / "visits.csv"
    manifest = path.with_name("visits.csv.manifest.json")
    document = json.loads(manifest.read_text(encoding="utf-8"))
    next(each for each in document["attributes"] if "identifier" in each)["identifier"] = {"method": "rot13"}
    manifest.write_text(json.dumps(document), encoding="utf-8")
    found = report(path, overwrite=True, settings=settings)
    assert "replaced by 'rot13', a method of another package" in words(found.path.read_text(encoding="utf-8"))
