"""A lock publishes later rows by the same decision or reports the failure; an independent oracle counts."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.cli.main import main
from discreet.criteria import criteria_from
from discreet.errors import InputError, NoSolution
from discreet.results.request_defaults import build_request
from discreet.verbs.locations import PublishTarget
from discreet.verbs.recorded_decisions import publish_and_lock, publish_locked

SPEC = """
[source]
path = "people.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = {kind = "intervals", widths = [10, 50]}
[attributes.city]
role = "quasi-identifier"
hierarchy = "city.csv"
[attributes.job]
role = "quasi-identifier"
hierarchy = {kind = "auto"}
[attributes.disease]
role = "sensitive"
"""
CITIES = ("Bonn", "Köln", "Jena", "Gera")
TREE = "Bonn;West;*\nKöln;West;*\nJena;East;*\nGera;East;*\n"
Row = tuple[int, str, str, str]


def month(folder: Path, seed: int, rows: int = 300) -> list[Row]:
    draw = random.Random(seed)
    found = [
        (
            draw.randrange(100),
            draw.choice(CITIES),
            draw.choice(("Mason", "Baker", "Nurse")),
            draw.choice(("flu", "gout", "cold")),
        )
        for _ in range(rows)
    ]
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("age", "city", "job", "disease"), *found])
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "discreet.toml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "city.csv").write_text(TREE, encoding="utf-8")
    month(tmp_path, 1)
    return tmp_path


def opened(folder: Path) -> discreet.Table:
    return discreet.open(folder / "discreet.toml")


def locked(folder: Path, levels: dict[str, int], **options: Any) -> discreet.ReleaseResult:
    table = opened(folder)
    request = build_request(table.spec, **options)
    return publish_and_lock(
        table, request, PublishTarget(folder / "first.csv"), folder / "discreet.lock", levels=levels
    )


def shown(row: Row, levels: dict[str, int]) -> tuple[str, str, str]:
    """Return a row generalized to the levels, computed by hand."""
    age, city, job, _ = row
    ages = [f"{age}", f"{age // 10}", f"{age // 50}", "*"]
    region = "West" if city in ("Bonn", "Köln") else "East"
    return ages[levels["age"]], [city, region, "*"][levels["city"]], [job, "*"][levels["job"] > 0]


def suppressed_by_hand(rows: list[Row], levels: dict[str, int], k: int, l: int) -> int:
    sizes = Counter(shown(row, levels) for row in rows)
    values = Counter(cell for cell, _ in {(shown(row, levels), row[3]) for row in rows})
    return sum(n for cell, n in sizes.items() if n < k or values[cell] < l)


@pytest.mark.parametrize(("seed", "percent"), [(2, 20), (3, 20), (4, 5), (5, 1), (6, 0)])
def test_lock_decides_like_the_oracle(folder: Path, seed: int, percent: int) -> None:
    """The oracle counts by hand whether a month passes and which rows are suppressed."""
    top = opened(folder).lattice().lattice.heights[2]
    levels = {"age": 1, "city": 1, "job": top}
    lock = folder / "discreet.lock"
    locked(folder, levels, k=8, l=2, max_suppressed="90%")
    text = lock.read_text("utf-8")
    assert '"90%"' in text
    lock.write_text(text.replace('"90%"', f'"{percent}%"'), encoding="utf-8")
    rows = month(folder, seed, 180)
    expected = suppressed_by_hand(rows, levels, 8, 2)
    target = folder / "next.csv"
    if expected * 100 <= percent * len(rows):
        release = publish_locked(opened(folder), lock, target)
        assert (release.levels, release.suppressed) == (levels, expected)
        with target.open(encoding="utf-8") as file:
            assert len(list(csv.reader(file))) == len(rows) - expected + 1
    else:
        with pytest.raises(NoSolution, match=rf"suppresses {expected} of 180 rows") as refused:
            publish_locked(opened(folder), lock, target)
        assert "Nearest: max_suppressed" in str(refused.value.advice)
        assert not target.exists()


def test_equal_decisions_have_equal_locks_without_values(folder: Path) -> None:
    top = opened(folder).lattice().lattice.heights[2]
    locked(folder, {"age": 2, "city": 1, "job": top}, k=2, max_suppressed="50%")
    text = (folder / "discreet.lock").read_text("utf-8")
    assert not any(value in text for value in (*CITIES, "West", "Mason", "flu", str(folder)))
    assert json.loads(text)["levels"] == {"age": 2, "city": 1, "job": "top"}
    (folder / "discreet.lock").rename(folder / "before.lock")
    (folder / "first.csv").unlink()
    (folder / "first.csv.manifest.json").unlink()
    month(folder, 9)
    locked(folder, {"age": 2, "city": 1, "job": top}, k=2, max_suppressed="50%")
    assert (folder / "discreet.lock").read_text("utf-8") == text


CHANGES = {
    "role": ('role = "sensitive"', 'role = "insensitive"', "role"),
    "hierarchy's rule": ("[10, 50]", "[5, 50]", "rule of 'age'"),
    "rows": ('path = "people.csv"', 'path = "people.csv"\nnull_policy = "drop"', "'null_policy' of"),
    "column": ("[attributes.city]", "[attributes.disease2]", "'city'"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_spec_is_refused_with_the_difference(folder: Path, change: str) -> None:
    locked(folder, {"age": 2, "city": 1}, k=2, max_suppressed="90%")
    before, after, named = CHANGES[change]
    spec = SPEC.replace(before, after)
    if change == "column":
        spec = SPEC.replace('[attributes.city]\nrole = "quasi-identifier"\nhierarchy = "city.csv"\n', "")
    (folder / "discreet.toml").write_text(spec, encoding="utf-8")
    with pytest.raises(InputError, match=named):
        publish_locked(opened(folder), folder / "discreet.lock", folder / "next.csv")
    assert not (folder / "next.csv").exists()


def test_another_hierarchy_file_is_refused(folder: Path) -> None:
    locked(folder, {"age": 2, "city": 1}, k=2, max_suppressed="90%")
    (folder / "city.csv").write_text(TREE.replace("Jena;East", "Jena;West"), encoding="utf-8")
    with pytest.raises(InputError, match="hierarchy of 'city'"):
        publish_locked(opened(folder), folder / "discreet.lock", folder / "next.csv")


def test_level_made_from_the_data_is_not_locked(folder: Path) -> None:
    spec = SPEC.replace('{kind = "auto"}', '{kind = "auto", by = "frequency"}')
    (folder / "discreet.toml").write_text(spec, encoding="utf-8")
    with pytest.raises(InputError, match="level 1 of 'job' cannot be locked"):
        locked(folder, {"age": 2, "city": 1, "job": 1}, k=2, max_suppressed="90%")
    assert not (folder / "first.csv").exists()


def test_lock_is_written_and_followed_on_the_command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    spec = ["publish", "discreet.toml", "--lock", "discreet.lock", "--output"]
    assert main([*spec, "june.csv", "--k", "5", "--max-suppressed", "9%", "--max-level", "job=0"]) == 0
    written = Path("discreet.lock").read_text("utf-8")
    month(folder, 2)
    assert main([*spec, "july.csv"]) == 0
    first, second = (
        json.loads(Path(f"{name}.csv.manifest.json").read_text("utf-8")) for name in ("june", "july")
    )
    levels = [[a.get("level") for a in document["attributes"]] for document in (first, second)]
    assert levels[0] == levels[1]
    month(folder, 3, rows=40)
    capsys.readouterr()
    assert main([*spec, "august.csv"]) == 3
    assert "Nearest:" in capsys.readouterr().err
    assert main([*spec, "august.csv", "--k", "2"]) == 2
    assert main([*spec[:3], "other.lock", "--output", "august.csv", "--k", "2", "--model", "local"]) == 2
    assert not Path("august.csv").exists()
    assert Path("discreet.lock").read_text("utf-8") == written


def test_every_criterion_is_locked(folder: Path) -> None:
    table = opened(folder)
    criteria = criteria_from({"t": 0.6, "average_risk": 0.2})
    request = build_request(table.spec, k=4, l={"disease": 2}, max_suppressed="90%", criteria=criteria)
    levels = {"age": 2, "city": 1}
    publish_and_lock(
        table, request, PublishTarget(folder / "first.csv"), folder / "discreet.lock", levels=levels
    )
    again = publish_locked(opened(folder), folder / "discreet.lock", folder / "next.csv")
    assert again.answer is not None
    assert again.answer.answer.requirement == request.requirement
    assert (folder / "first.csv").read_bytes() == (folder / "next.csv").read_bytes()
