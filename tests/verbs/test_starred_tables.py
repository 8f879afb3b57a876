"""Tables anonymized before, published or audited: starred rows do not count as people, with a notice."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import discreet
from discreet.model.class_recoding import RecodingModel
from discreet.model.coded_warnings import ROWS_WITHOUT_QUASI_IDENTIFIERS, STARRED_CELLS
from discreet.settings import Settings

KEYS = ["age", "gender", "zipcode"]
CLASSES = ["<50,female,81***", "<50,male,81***", ">=50,male,81***"]
ONE = [*(f"{c},{s}" for c in CLASSES[:2] for s in "ab"), "*,*,*,"]
THREE = [*(f"{c},{s}" for c in CLASSES for s in "ab"), "*,*,*,a", "*,*,*,b", "*,*,*,a"]
APART = "with * or NULL in every quasi-identifier"


def mapping(path: Path, keys: Sequence[str] = KEYS, **attributes: Any) -> dict[str, Any]:
    listed = {name: {"role": "quasi-identifier"} for name in keys} | {"ill": {"role": "sensitive"}}
    return {"source": {"path": str(path)}, "attributes": {**listed, **attributes}}


def put(folder: Path, rows: Sequence[str], header: str = "age,gender,zipcode,ill") -> Path:
    path = folder / "before.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def cells(path: Path) -> list[tuple[str, ...]]:
    with path.open(newline="") as text:
        return [tuple(row) for row in csv.reader(text)][1:]


def recounted(path: Path, keys: int) -> int:
    """Return the k of a file, counted from its rows only."""
    return min(Counter(row[:keys] for row in cells(path)).values())


def codes(warnings: Sequence[str]) -> list[str]:
    return [str(getattr(warning, "code", "")) for warning in warnings]


@pytest.mark.parametrize("suppressed", ["drop", "star"])
@pytest.mark.parametrize(("rows", "apart"), [(ONE, 1), (THREE, 3)])
def test_rows_of_stars_force_no_level_and_are_not_published(
    rows: list[str], apart: int, suppressed: str, tmp_path: Path, settings: Settings
) -> None:
    path = put(tmp_path, rows)
    table = discreet.open(path, mapping(path), settings=settings)
    result = table.negotiate(k=2, l=2, max_suppressed=0)
    assert result.exact is not None
    assert result.exact.levels == dict.fromkeys(KEYS, 0)
    assert result.rows == len(rows) - apart
    notice = f"{apart} row{'s' * (apart > 1)} {APART}"
    assert notice in str(result)
    assert [w for w in table.inspect().warnings if notice in w]
    assert table.inspect().as_json()["set_apart"] == apart
    output = tmp_path / "after.csv"
    release = table.publish(result.exact, output, suppressed_rows=suppressed)
    assert notice in str(release)
    assert cells(output) == sorted(tuple(row.split(",")) for row in rows[:-apart])
    manifest = json.loads((tmp_path / "after.csv.manifest.json").read_text())
    assert manifest["nulls"]["set_apart_rows"] == apart
    assert ROWS_WITHOUT_QUASI_IDENTIFIERS in [warning["code"] for warning in manifest["warnings"]]
    assert manifest["audit"]["k"] == discreet.audit(output).report.k == recounted(output, 3) == 2
    page = tmp_path / "page.html"
    discreet.report(output, output=page, settings=settings)
    assert notice in page.read_text().replace("&nbsp;", " ")


@pytest.mark.parametrize(
    "model", [RecodingModel.FULL_SUBTREE, RecodingModel.ORDERED_MULTI, RecodingModel.CELL_GENERALIZATION]
)
def test_starred_rows_of_every_model_are_separate(
    model: RecodingModel, tmp_path: Path, settings: Settings
) -> None:
    path = put(tmp_path, THREE)
    table = discreet.open(path, mapping(path), settings=settings)
    release = table.publish(table.recode(str(model), k=2), tmp_path / "out.csv")
    assert (release.release.rows, release.suppressed) == (6, 0)
    assert len(cells(tmp_path / "out.csv")) == 6
    assert recounted(tmp_path / "out.csv", 3) >= 2


def test_permuted_release_has_no_starred_rows(tmp_path: Path, settings: Settings) -> None:
    path = put(tmp_path, [*THREE, "<50,female,81***,*"])
    table = discreet.open(path, mapping(path), settings=settings)
    output = tmp_path / "out.csv"
    release = table.publish("permutation", output, k=2)
    assert release.release.rows == 7
    found = discreet.audit(output)
    assert found.report.passed
    assert found.report.l == {"ill": 2}
    assert "*" not in {row[-1] for row in cells(output)}


def test_fully_generalized_rows_are_not_counted_as_suppressed(tmp_path: Path, settings: Settings) -> None:
    """Rows that were generalized to stars are not suppressed ones, though both look alike."""
    path = put(tmp_path, ["a,x", "b,y", "c,z"], "p,q")
    spec = mapping(path, ["p", "q"])
    del spec["attributes"]["ill"]
    table = discreet.open(path, spec, settings=settings)
    output = tmp_path / "out.csv"
    audit = table.publish({"p": 1, "q": 1}, output, k=2, suppressed_rows="star").release.audit
    assert (audit.rows, audit.classes, audit.k, audit.starred) == (3, 1, 3, 0)
    again = discreet.audit(output).report
    assert (again.rows, again.k, again.starred, again.passed) == (3, 3, 0, True)
    assert recounted(output, 2) == 3


def test_marks_and_nulls_with_a_star_are_set_apart(tmp_path: Path, settings: Settings) -> None:
    rows = [*(f"{c},{s}" for c in CLASSES[:2] for s in "ab"), "*,,?,a", " * ,**,,b", ",,,a", ",,,b"]
    path = put(tmp_path, rows)
    spec = mapping(path)
    spec["source"]["null_values"] = ["?"]
    release = discreet.open(path, spec, settings=settings).publish(
        dict.fromkeys(KEYS, 0), tmp_path / "out.csv", k=2
    )
    assert release.release.rows == 6
    assert Counter(row[:3] for row in cells(tmp_path / "out.csv"))["", "", ""] == 2


def test_star_in_some_quasi_identifiers_is_reported(tmp_path: Path, settings: Settings) -> None:
    path = put(tmp_path, [*THREE[:6], "*,male,81***,a", "*,male,81***,b"])
    table = discreet.open(path, mapping(path), settings=settings)
    result = table.negotiate(k=2)
    assert codes(result.warnings) == [STARRED_CELLS]
    assert "'age' in 2 rows" in result.warnings[0]
    assert result.exact is not None
    assert result.exact.levels == dict.fromkeys(KEYS, 0), "two stars are alike, and like no age"
    path = put(tmp_path, [*THREE[:6], "*,male,81***,a"])
    table = discreet.open(path, mapping(path), settings=settings)
    assert table.negotiate(k=2, max_level={"age": 0}).exact is None, "nobody hides behind a star"


def test_audit_separates_starred_rows(tmp_path: Path) -> None:
    path = put(tmp_path, THREE)
    report = discreet.audit(path, quasi_identifiers=KEYS, sensitive=["ill"], k=2, l=2).report
    assert (report.passed, report.rows, report.classes, report.set_apart) == (True, 6, 3, 3)
    assert report.class_sizes == {2: 3}
    assert ROWS_WITHOUT_QUASI_IDENTIFIERS in codes(report.warnings)
    assert report.as_json()["set_apart"] == 3


@pytest.mark.parametrize(
    ("rows", "k", "l", "passed"),
    [
        (["*,*,*,a"], 2, None, False),
        (["*,*,*,a", "*,*,*,a"], 2, None, True),
        (["*,*,*,a", "*,*,*,a"], 2, 2, False),
        (["*,*,*,"], 2, 2, True),
        (["*,*,*,*", "*,,*,"], 2, 2, True),
    ],
)
def test_values_of_starred_rows_are_audited(
    rows: list[str], k: int, l: int | None, passed: bool, tmp_path: Path
) -> None:
    path = put(tmp_path, [*THREE[:6], *rows])
    report = discreet.audit(path, quasi_identifiers=KEYS, sensitive=["ill"], k=k, l=l).report
    assert report.passed is passed
    assert report.classes == 3
    statements = discreet.audit_sql(path, quasi_identifiers=KEYS, sensitive=["ill"], k=k, l=l)
    assert "'%*%'" in str(statements)


def test_file_with_only_starred_rows_is_one_class(tmp_path: Path) -> None:
    path = put(tmp_path, ["*,*,*,a", "*,*,*,b"])
    report = discreet.audit(path, quasi_identifiers=KEYS, sensitive=["ill"], k=2, l=2).report
    assert (report.passed, report.rows, report.classes, report.k, report.set_apart) == (True, 2, 1, 2, 0)


def test_semicolons_and_all_columns(tmp_path: Path) -> None:
    rows = [row.rpartition(",")[0].replace(",", ";") for row in [*THREE[:6], THREE[-1]]]
    path = put(tmp_path, rows, "age;gender;zipcode")
    report = discreet.audit(path, quasi_identifiers=KEYS, k=2).report
    assert (report.passed, report.rows, report.classes, report.k, report.starred) == (True, 6, 3, 2, 1)
    assert ROWS_WITHOUT_QUASI_IDENTIFIERS in codes(report.warnings)


def test_init_reports_starred_rows(tmp_path: Path) -> None:
    path = put(tmp_path, THREE, "age,gender,zipcode,diagnosis")
    found = str(discreet.init(path)).replace("\n", " ")
    assert f"3 rows {APART}" in found


def test_starred_rows_of_subjects_and_a_population_are_set_apart(tmp_path: Path, settings: Settings) -> None:
    path = put(tmp_path, ["x,p1,a", "x,p2,b", "*,p3,a", "*,p1,a"], "zip,who,ill")
    people = tmp_path / "people.csv"
    people.write_text("zip\nx\nx\nx\n*\n*\n")
    spec = mapping(path, ["zip"])
    spec["source"]["subject"] = "who"
    table = discreet.open(path, spec, settings=settings)
    assert table.frequency_set.set_apart == 2
    assert table.publish({"zip": 0}, tmp_path / "out.csv", k=2).release.rows == 2
    del spec["source"]["subject"]
    spec["population"] = {"path": str(people)}
    population = discreet.open(path, spec, settings=settings).frequency_set.population
    assert population is not None
    assert (population.people, population.dropped) == (3, 2)


def test_frame_with_starred_rows_is_counted_without_them(settings: Settings) -> None:
    frame = pd.DataFrame({"zip": ["x", "x", "*", None], "ill": ["flu", "*", "gout", "nan"]})
    spec = {"attributes": {"zip": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}}}
    table = discreet.open(frame, spec, settings=settings)
    counted = table.frequency_set
    assert (counted.rows, counted.set_apart, counted.sensitive[0].size) == (3, 1, 2)
    assert "'nan' in 1 row" in " ".join(table.inspect().warnings)
