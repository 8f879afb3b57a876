"""Pseudonymized identifiers, dates shifted per subject, and subjects counted from the release."""

from __future__ import annotations

import csv
import json
import stat
from collections import defaultdict
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.audit.release_audit import audit_release
from discreet.engines.base import Engine
from discreet.errors import InputError
from discreet.settings import Settings

Rows = list[dict[str, str]]


def visits(path: Path, seed: int = 1, people: int = 12) -> Rows:
    """Write a table of visits, where some people have several, as CSV, and return its rows."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(40):
        person = int(random.integers(people))
        day = date(2024, 1, 1) + timedelta(int(random.integers(60)))
        rows.append(
            {
                "person": f"P-{person:03}",
                "age": str(20 + 10 * (person % 3)),
                "admitted": day.isoformat(),
                "left": (day + timedelta(int(random.integers(1, 9)))).isoformat(),
                "flu": str(i % 4),
            }
        )
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return rows


def published(
    folder: Path,
    settings: Settings,
    way: dict[str, Any] | None,
    shift: dict[str, Any] | None = None,
    name: str = "visits",
    **options: Any,
) -> tuple[Rows, dict[str, Any]]:
    """Return the rows of a release of ``NAME.csv``, and its manifest."""
    dated = {"role": "insensitive", **({} if shift is None else {"date_shift": shift})}
    attributes = {
        "person": {"role": "identifier", **({} if way is None else {"pseudonymization": way})},
        "age": {"role": "quasi-identifier"},
        "admitted": dated,
        "left": dated,
        "flu": {"role": "sensitive"},
    }
    spec = {"source": {"path": f"{name}.csv", "subject": "person"}, "attributes": attributes}
    (folder / f"{name}.toml").write_text(_toml(spec))
    table = discreet.open(folder / f"{name}.toml", settings=settings)
    release = folder / "out" / f"{name}.csv"
    release.parent.mkdir(exist_ok=True)
    table.publish({"age": 0}, release, overwrite=True, **{"k": 2, **options})
    with release.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, json.loads(release.with_name(f"{name}.csv.manifest.json").read_text())


def _toml(spec: dict[str, Any]) -> str:
    from discreet.spec.toml_writer import format_spec

    return format_spec(spec)


def joined_alike(originals: Rows, release: Rows) -> dict[str, str]:
    """Return the person of each pseudonym, by the other cells of the rows; fail unless it is one-to-one."""
    of_person: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    of_pseudonym: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for rows, found in ((originals, of_person), (release, of_pseudonym)):
        for row in rows:
            found[row["person"]].append(tuple(row[c] for c in ("age", "admitted", "left", "flu")))
    profiles = {tuple(sorted(shown)): person for person, shown in of_person.items()}
    assert len(profiles) == len(of_person)
    found = {name: profiles[tuple(sorted(shown))] for name, shown in of_pseudonym.items()}
    assert sorted(found.values()) == sorted(of_person)
    return found


WAYS: list[Callable[[], dict[str, Any]]] = [
    lambda: {"method": "keyed-hash", "key": "keys/a.key"},
    lambda: {"method": "pseudonym", "key": "keys/a.list"},
    lambda: {"method": "per-release"},
]


@pytest.mark.parametrize("way", WAYS)
def test_rows_of_a_person_stay_together_without_names(
    engine: Engine, settings: Settings, tmp_path: Path, way: Callable[[], dict[str, Any]]
) -> None:
    rows = visits(tmp_path / "visits.csv")
    release, manifest = published(tmp_path, settings, way())
    people = joined_alike(rows, release)
    assert len(people) == len({row["person"] for row in rows})
    text = (tmp_path / "out" / "visits.csv").read_text() + json.dumps(manifest)
    assert not any(row["person"] in text for row in rows)
    entry = next(each for each in manifest["attributes"] if each["name"] == "person")
    assert entry == {
        "name": "person",
        "role": "identifier",
        "published": True,
        "identifier": {"method": way()["method"]},
        "subject": True,
    }
    report = audit_release(engine, tmp_path / "out" / "visits.csv")
    classes: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        classes[row["age"]].add(row["person"])
    assert report.passed
    assert report.k == min(map(len, classes.values())) == manifest["audit"]["k"]
    assert report.l == manifest["audit"]["l"]
    assert not any("counted rows" in warning for warning in report.warnings)


def test_audit_of_a_release_counts_subjects_instead_of_rows(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    """The audit counts subjects instead of rows: once all rows have one pseudonym, k is one person."""
    visits(tmp_path / "visits.csv")
    rows, _ = published(tmp_path, settings, {"method": "per-release"})
    path = tmp_path / "out" / "visits.csv"
    text = path.read_text()
    for name in {row["person"] for row in rows}:
        text = text.replace(name, "0" * 32)
    path.write_text(text)
    assert audit_release(engine, path).k == 1


def test_audit_without_pseudonyms_refers_to_the_manifests_count(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    visits(tmp_path / "visits.csv")
    rows, manifest = published(tmp_path, settings, None)
    assert "person" not in rows[0]
    report = audit_release(engine, tmp_path / "out" / "visits.csv")
    assert (
        f"The manifest contains the count of subjects: k = {manifest['audit']['k']}." in report.warnings[-1]
    )


def test_tables_that_share_a_key_share_its_pseudonyms(settings: Settings, tmp_path: Path) -> None:
    for way in (WAYS[0](), WAYS[1]()):
        found = []
        for name, seed in (("visits", 1), ("bills", 2)):
            rows = visits(tmp_path / f"{name}.csv", seed)
            release, _ = published(tmp_path, settings, way, name=name)
            found.append({person: shown for shown, person in joined_alike(rows, release).items()})
        both = found[0].keys() & found[1].keys()
        assert both
        assert all(found[0][person] == found[1][person] for person in both)
        key = tmp_path / way["key"]
        assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_pseudonyms_per_release_differ_between_releases(settings: Settings, tmp_path: Path) -> None:
    visits(tmp_path / "visits.csv")
    shown = [{row["person"] for row in published(tmp_path, settings, WAYS[2]())[0]} for _ in range(2)]
    assert not shown[0] & shown[1]


def test_dates_of_a_person_move_together(settings: Settings, tmp_path: Path) -> None:
    rows = visits(tmp_path / "visits.csv", people=5)
    date_shift = {"days": 30, "key": "keys/shift.key"}
    pseudonymization = {"method": "keyed-hash", "key": "keys/h.key"}
    release, manifest = published(tmp_path, settings, pseudonymization, date_shift, k=1)
    spans: dict[str, list[list[int]]] = {"before": [], "after": []}
    for found, name in ((rows, "before"), (release, "after")):
        days: dict[str, list[int]] = defaultdict(list)
        for row in found:
            days[row["person"]] += [date.fromisoformat(row[c]).toordinal() for c in ("admitted", "left")]
        spans[name] = sorted(sorted(day - min(each) for day in each) for each in days.values())
    assert spans["before"] == spans["after"]
    held = {(row["admitted"], row["left"], row["flu"], row["age"]) for row in rows}
    moved = [row for row in release if (row["admitted"], row["left"], row["flu"], row["age"]) not in held]
    assert len(moved) > len(release) // 2
    entry = next(each for each in manifest["attributes"] if each["name"] == "admitted")
    assert entry["date_shift"] == {"days": 30}


def test_mask_keeps_only_its_characters(settings: Settings, tmp_path: Path) -> None:
    rows = visits(tmp_path / "visits.csv")
    attributes = {
        "person": {"role": "identifier", "pseudonymization": {"method": "mask", "keep": 2, "end": "end"}},
        "age": {"role": "quasi-identifier"},
    }
    table = discreet.open(tmp_path / "visits.csv", {"attributes": attributes}, settings=settings)
    table.publish({"age": 0}, tmp_path / "masked.csv", k=2)
    with (tmp_path / "masked.csv").open(newline="") as file:
        shown = sorted(row["person"] for row in csv.DictReader(file))
    assert shown == sorted(f"***{row['person'][-2:]}" for row in rows)


def test_key_readable_by_others_is_refused(settings: Settings, tmp_path: Path) -> None:
    visits(tmp_path / "visits.csv")
    key = tmp_path / "shared.key"
    key.write_text("00" * 32)
    key.chmod(0o644)
    with pytest.raises(InputError, match="may be read by others"):
        published(tmp_path, settings, {"method": "keyed-hash", "key": "shared.key"})
    assert not (tmp_path / "out" / "visits.csv").exists()
