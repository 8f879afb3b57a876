"""Metrics of one release: publish, audit, inspect --release, report and plain counting agree."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from shutil import copy
from typing import Any

import pytest

from discreet.errors import NoSolution
from discreet.measures.metrics import MetricValue
from discreet.model.class_recoding import SUPPRESSED, RecodingModel
from discreet.model.hierarchy import TOP
from discreet.models import Patterns, Permutation, named
from discreet.report.report import report
from discreet.results.recoding_result import RecodingResult
from discreet.settings import Settings
from discreet.verbs.audits import audit
from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table
from tests.drawing import in_turn
from tests.oracle import plain_metrics as plain

NAMES = ("age", "town", "grade")
NUMERIC = (True, False, False)
K = 2
SEARCHES: dict[str, dict[str, Any]] = {
    **{str(model): {} for model in RecodingModel},
    "mondrian": {"summary": "lca"},
    "patterns": {"max_stars": 1},
    "patterns exact": {"max_stars": 1, "method": "exact"},
    "patterns outliers": {"max_stars": 1, "outliers": "delete"},
}


def open_random(folder: Path, settings: Settings, seed: int, *, sensitive: bool) -> Table:
    """Open 14 random rows, some with NULL; grades are numbers that the spec declares to be names."""
    random = Random(seed)
    columns = [*NAMES, *(["disease"] if sensitive else [])]
    with (folder / "in.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        for _ in range(14):
            row = [
                random.choice((20, 21, 25, 40)),
                random.choice(("Bonn", "Kiel", "")),
                random.choice((1, 2, 7)),
            ]
            out.writerow([*row, *(["flu"] if sensitive else [])])
    attributes: dict[str, Any] = {name: {"role": "quasi-identifier"} for name in NAMES}
    attributes["grade"]["numeric"] = False
    if sensitive:
        attributes["disease"] = {"role": "sensitive"}
    return open_table(folder / "in.csv", {"attributes": attributes}, settings=settings)


def numbers(metrics: tuple[MetricValue, ...]) -> dict[str, Any]:
    return {m.metric.name: m.value for m in metrics}


def counted(path: Path, starred: int, total: int, k: int) -> dict[str, Any]:
    """Compute the metrics of a file with a dictionary; ``starred`` rows of stars are suppressed."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = list(csv.reader(file))
    stars = [row for row in rows if set(row) == {TOP}]
    kept = [row for row in rows if row not in stars] + stars[starred:]
    sizes = sorted(Counter(tuple(row[: len(NAMES)]) for row in kept).values())
    suppressed = total - len(kept)
    return {
        "classes": len(sizes),
        "smallest-class": sizes[0],
        "mean-class": pytest.approx(len(kept) / len(sizes)),
        "largest-class": sizes[-1],
        "c-dm": sum(size**2 for size in sizes) + suppressed * total,
        "c-avg": pytest.approx(total / len(sizes) / k),
        "suppressed-rows": suppressed,
    }


def useful(table: Table, result: RecodingResult) -> float:
    """Compute usefulness (Definition 5 of the paper) by plain loops over the rows of each class."""
    found, recoding = table.frequency_set, result.recoding
    groups: dict[Any, list[tuple[int, ...]]] = {}
    for part, row_type in enumerate(recoding.row_types.tolist()):
        number = int(recoding.classes[part])
        shown = None if number == SUPPRESSED else tuple(recoding.shown[number].tolist())
        groups.setdefault(shown, []).extend(
            [tuple(found.codes[row_type].tolist())] * int(recoding.rows[part])
        )
    original = [row for rows in groups.values() for row in rows]
    return plain.usefulness(list(groups.values()), original, found.hierarchies, NUMERIC)


@pytest.mark.parametrize(("name", "policy"), in_turn(SEARCHES, ["drop", "star"]))
def test_every_verb_reports_the_same_metrics(
    name: str, policy: str, settings: Settings, tmp_path: Path, out: Path
) -> None:
    model, path = name.split()[0], out / "release.csv"
    table = open_random(tmp_path, settings, seed := list(SEARCHES).index(name), sensitive=bool(seed % 2))
    try:
        result = table.recode(named(model)(**SEARCHES[name]), k=K, max_suppressed=3)
    except NoSolution:
        result = table.recode(named(model)(**SEARCHES[name]), k=K, max_suppressed="50%")
    published = table.publish(result, path, suppressed_rows=policy)
    starred = published.suppressed if policy == "star" else 0
    expected = counted(path, starred, table.frequency_set.rows, K)
    audited, compared = numbers(audit(path).metrics), table.compare(path)
    assert audited == expected
    assert numbers(published.audit.metrics) == audited
    found = numbers(compared.metrics)
    assert {each: found[each] for each in audited} == audited
    assert compared.suppressed == published.suppressed == audited["suppressed-rows"]
    evidence = report(path, table=table).evidence
    assert evidence.comparison is not None
    assert numbers(evidence.comparison.metrics) == found
    assert numbers(evidence.audit.metrics) == audited
    facts = result.facts
    assert (facts.classes, facts.smallest, facts.mean, facts.largest, facts.suppressed) == tuple(
        audited[each]
        for each in ("classes", "smallest-class", "mean-class", "largest-class", "suppressed-rows")
    )
    assert found["usefulness"] == pytest.approx(facts.usefulness)
    assert facts.usefulness == pytest.approx(useful(table, result))


def test_class_of_stars_counts_if_the_manifest_records_dropped_rows(
    settings: Settings, tmp_path: Path, out: Path
) -> None:
    """Without other columns such a row looks starred, and without the manifest it counts as starred."""
    table = open_random(tmp_path, settings, 3, sensitive=False)
    path = out / "release.csv"
    result = table.recode(Patterns(pattern=["...", "***"]), k=3)
    for policy in ("star", "drop"):
        published = table.publish(result, path, suppressed_rows=policy, overwrite=True)
        stars = path.read_text(encoding="utf-8").splitlines().count("*,*,*")
        assert (stars > 0, published.suppressed) == (True, 0)
        compared = table.compare(path)
        assert compared.suppressed == 0
        for metrics in (compared.metrics, published.audit.metrics, audit(path).metrics):
            assert numbers(metrics)["largest-class"] == stars
    foreign = copy(path, tmp_path / "foreign.csv")
    assert table.compare(foreign).suppressed == stars
    assert numbers(audit(foreign, quasi_identifiers=NAMES).metrics)["suppressed-rows"] == stars


def test_usefulness_of_overlapping_classes_requires_the_publishers_log(
    settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = open_random(tmp_path, settings, 5, sensitive=False)
    path = out / "release.csv"
    result = table.recode(Patterns(pattern=["...", "*..", "***"]), k=2)
    table.publish(result, path)
    assert numbers(table.compare(path).metrics)["usefulness"] == pytest.approx(result.facts.usefulness)
    elsewhere = replace(settings, private_log=tmp_path / "another.jsonl")
    stranger = open_random(tmp_path, elsewhere, 5, sensitive=False).compare(path)
    assert numbers(stranger.metrics)["usefulness"] is None
    assert any("Usefulness is unknown" in text for text in stranger.warnings)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0], *reversed(lines[1:])]), encoding="utf-8")
    assert numbers(table.compare(path).metrics)["usefulness"] is None


def test_dropped_rows_are_suppressed_in_every_table_of_metrics(
    settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = open_random(tmp_path, settings, 1, sensitive=False)
    published = table.publish({}, out / "release.csv", k=3, max_suppressed="100%")
    assert published.suppressed > 0
    for metrics in (published.audit.metrics, audit(out / "release.csv").metrics):
        assert numbers(metrics)["suppressed-rows"] == published.suppressed


def test_with_subjects_metrics_are_in_rows_everywhere(settings: Settings, tmp_path: Path, out: Path) -> None:
    rows = [f"p{i % 5},{30 + i % 2},d{i % 3}" for i in range(12)]
    source = tmp_path / "visits.csv"
    source.write_text("\n".join(["person,age,disease", *rows, ""]), encoding="utf-8")
    spec = {
        "source": {"subject": "person"},
        "attributes": {"age": {"role": "quasi-identifier"}, "disease": {"role": "sensitive"}},
    }
    table = open_table(source, spec, settings=settings)
    published = table.publish({"age": 0}, out / "release.csv", k=3)
    audited = numbers(audit(out / "release.csv").metrics)
    assert published.audit.report.class_sizes != published.audit.report.class_rows
    assert numbers(published.audit.metrics) == audited
    found = numbers(table.compare(out / "release.csv").metrics)
    assert {each: found[each] for each in audited} == audited


def test_groups_of_a_permuted_release_are_not_called_classes(
    settings: Settings, tmp_path: Path, out: Path
) -> None:
    source = tmp_path / "in.csv"
    source.write_text(
        "\n".join(["age,pay", *(f"{20 + i},{i * 10}" for i in range(12)), ""]), encoding="utf-8"
    )
    roles = {"age": {"role": "quasi-identifier"}, "pay": {"role": "sensitive"}}
    table = open_table(source, {"attributes": roles}, settings=settings)
    table.publish(Permutation(e=20), out / "release.csv", k=3)
    assert audit(out / "release.csv").metrics == ()
    assert numbers(table.compare(out / "release.csv").metrics)["classes"] == 12
