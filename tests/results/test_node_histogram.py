"""The histogram of a node equals plain counting, however it is computed."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.cli.main import main
from discreet.errors import InputError

CITIES, ILLS = ("Bonn", "Jena", "Kiel"), ("flu", "gout", "ulcer", "")


@pytest.fixture
def rows(tmp_path: Path) -> list[tuple[str, str, str]]:
    random = np.random.default_rng(4)
    found = [
        (str(random.integers(20, 40)), str(random.choice(CITIES)), str(random.choice(ILLS)))
        for _ in range(90)
    ]
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("age", "city", "ill"), *found])
    (tmp_path / "spec.toml").write_text(
        '[source]\npath = "people.csv"\n'
        '[attributes.age]\nrole = "quasi-identifier"\nhierarchy = {kind = "intervals", widths = [5, 10]}\n'
        '[attributes.city]\nrole = "quasi-identifier"\n'
        '[attributes.ill]\nrole = "sensitive"\n',
        encoding="utf-8",
    )
    return found


def plain(rows: list[tuple[str, str, str]], levels: tuple[int, int]) -> tuple[list[tuple[int, ...]], ...]:
    """Return value, classes, rows and cumulative rows, by size and by distinct illnesses."""
    width = (1, 5, 10, 100)[levels[0]]
    classes: dict[object, list[str]] = {}
    for age, city, ill in rows:
        classes.setdefault((int(age) // width, city if not levels[1] else "*"), []).append(ill)
    found = []
    for of_class in (len, lambda ills: len({ill for ill in ills if ill})):
        number: Counter[int] = Counter()
        held: Counter[int] = Counter()
        for ills in classes.values():
            number[of_class(ills)] += 1
            held[of_class(ills)] += len(ills)
        lines, upto = [], 0
        for value in sorted(number):
            upto += held[value]
            lines.append((value, number[value], held[value], upto))
        found.append(lines)
    return tuple(found)


def lines_of(document: list[dict[str, int]]) -> list[tuple[int, ...]]:
    return [tuple(line.values()) for line in document]


@pytest.mark.parametrize("levels", [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_histogram_equals_plain_counting(
    rows: list[tuple[str, str, str]],
    levels: tuple[int, int],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sizes, distinct = plain(rows, levels)
    named = dict(zip(("age", "city"), levels, strict=True))
    table = discreet.open(tmp_path / "spec.toml")
    lattice = table.lattice()
    for found in (table.histogram(named), lattice.histogram(named)):
        document = found.as_json()
        assert lines_of(document["sizes"]) == sizes
        assert lines_of(document["distinct"]["ill"]) == distinct
        assert (document["rows"], document["classes"]) == (90, sum(line[1] for line in sizes))
    for k in (2, 3, 5):
        below = max((line[3] for line in sizes if line[0] < k), default=0)
        assert lattice.node(named, k=k).suppressed == below
    node = ",".join(f"{name}={level}" for name, level in named.items())
    assert main(["lattice", str(tmp_path / "spec.toml"), "--histogram", "--node", node, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document


def test_histogram_in_a_terminal_has_bars(
    rows: list[tuple[str, str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del rows
    spec = str(tmp_path / "spec.toml")
    assert main(["lattice", spec, "--node", "age=2", "--node", "city=1"]) == 0
    text = capsys.readouterr().out
    assert "Node 2 1: 90 rows in 2 classes" in text
    assert "distinct values of ill" in text
    assert "█" * 24 in text
    assert main(["lattice", spec, "--histogram"]) == 0
    assert "Node 0 0: 90 rows" in capsys.readouterr().out


def test_long_histogram_is_cut_only_in_the_terminal(tmp_path: Path) -> None:
    with (tmp_path / "long.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("q",), *((f"v{n}",) for n in range(40) for _ in range(n + 1))])
    found = discreet.open(
        tmp_path / "long.csv", {"attributes": {"q": {"role": "quasi-identifier"}}}
    ).histogram({})
    assert len(found.as_json()["sizes"]) == 40
    assert "Larger values, up to 40: 11 classes of 385 rows." in str(found)


@pytest.mark.parametrize(
    ("levels", "message"), [({"age": 9}, "age"), ({"town": 1}, "town")], ids=["level", "attribute"]
)
def test_node_out_of_range_is_refused(
    rows: list[tuple[str, str, str]], levels: dict[str, int], message: str, tmp_path: Path
) -> None:
    del rows
    with pytest.raises(InputError, match=message):
        discreet.open(tmp_path / "spec.toml").histogram(levels)


def test_histogram_counts_subjects(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("who,city\n1,Bonn\n1,Bonn\n2,Bonn\n3,Kiel\n", encoding="utf-8")
    spec = {
        "source": {"subject": "who"},
        "attributes": {"who": {"role": "identifier"}, "city": {"role": "quasi-identifier"}},
    }
    found = discreet.open(tmp_path / "visits.csv", spec).histogram({})
    assert found.unit == "subjects"
    assert [(line.value, line.classes, line.rows) for line in found.sizes] == [(1, 1, 1), (2, 1, 3)]
