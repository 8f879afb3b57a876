"""Tests of criteria other than k and l, audited in every place by their own SQL, against plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.model.criteria.base import AuditedBy, Criterion, Need, Parameter
from discreet.model.criterion_inputs import ClassValues
from discreet.model.release_address import ReleaseAddress
from discreet.model.requirement import Requirement
from discreet.report.report import report
from discreet.verbs.audits import audit
from tests.criteria_of_tests import Share
from tests.every_engine.auditing import audited, drawn, drawn_enough, published, texts
from tests.every_engine.places import DATABASE, SLOW_ON_SPARK, Columns, Place, PostgresPlace
from tests.frequency.conftest import table_spec

KEYS, VALUES = ['the "age"', "town"], ["s", "t"]
CELLS = st.sampled_from(["*", "a", "é", "", None])
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS, st.sampled_from(["*", "x", None])), max_size=24)
Rows = list[tuple[Any, ...]]
EVERYTHING: Rows = [("*", "*", "*", "*"), ("*", "a", "*", "x")]
EVERYTHING += [("a", "é", cell, other) for cell in ("a", "a", "", None) for other in ("x", "*")]
EVERYTHING += [(None, "", "é", "x"), (None, "", "é", None), ("", None, None, None), ("a", "é", "a", "x")]
"""Starred and half-starred rows, classes that fail and hold, cells that are NULL or empty."""
Classes = dict[Any, Counter[Any]]


def classes_of(rows: Rows, place: int) -> Classes:
    """Return the cells of a sensitive attribute by class, with stars read as NULL."""
    held: Classes = defaultdict(Counter)
    for row in rows:
        cell = row[2 + place]
        held[row[:2]][None if cell == "*" else cell] += 1
    return held


def plain_score(criterion: Share, cells: Counter[Any]) -> int:
    most = max((n for cell, n in cells.items() if cell is not None), default=0)
    return 1000 - 1000 * max(most - criterion.spare, 0) // sum(cells.values())


def array_scores(criterion: Criterion, classes: Classes) -> list[int]:
    """Return each class's score as the search counts it."""
    found = [
        (owner, code, n)
        for owner, cells in enumerate(classes.values())
        for code, (cell, n) in enumerate(cells.items())
        if cell is not None
    ]
    owners, codes, counts = np.array(found, np.int64).reshape(-1, 3).T
    sizes = np.array([sum(cells.values()) for cells in classes.values()], np.int64)
    distinct = np.bincount(owners, minlength=len(classes))
    return list(criterion.scores(sizes, ClassValues(distinct, owners, codes, counts)))


@drawn(20)
@example(rows=EVERYTHING, value=0.5, spare=1, apart=True)
@given(
    rows=TABLES,
    value=st.sampled_from([0.0, 0.25, 0.5, 0.75]),
    spare=st.integers(0, 2),
    apart=st.booleans(),
)
def test_criteria_of_tiny_tables_equal_plain_counting(
    place: Place, rows: Rows, value: float, spare: int, apart: bool
) -> None:
    if drawn_enough(place):
        return
    shares = Share(value, spare=spare), Share(0.9, "t", spare=7)
    source = place.put(texts(rows, [*KEYS, *VALUES]))
    report = audited(place, source, *shares, keys=KEYS, values=VALUES, starred_apart=apart)
    expected = [shares[0].at("s"), shares[0].at("t"), shares[1]]
    assert [found.criterion for found in report.criteria] == expected
    ordinary = [row for row in rows if not (apart and set(row) == {"*"})]
    failing = set()
    for found, criterion in zip(report.criteria, expected, strict=True):
        classes = classes_of(ordinary, VALUES.index(criterion.attribute or ""))
        scores = {key: plain_score(criterion, cells) for key, cells in classes.items()}
        assert list(scores.values()) == array_scores(criterion, classes)
        below = {key for key, score in scores.items() if score < criterion.threshold}
        assert found.failing_classes == len(below)
        assert found.found == (criterion.value_of(min(scores.values())) if scores else None)
        failing |= below
    assert {tuple(each.values.values()) for each in report.failing} == failing
    assert report.failing_classes == len(failing)
    assert report.passed == (bool(rows) and not failing)


@dataclass(frozen=True)
class Odd(Criterion):
    """A criterion whose query returns an arbitrary line, for a class or for none."""

    line: str = "SELECT class, 5 AS score FROM {rows} GROUP BY class"

    name: ClassVar[str] = "odd"
    title: ClassVar[str] = "an odd score"
    citation: ClassVar[str] = "of this test"
    parameter: ClassVar[Parameter] = Parameter("any number")
    need: ClassVar[Need] = Need.SIZE
    of_attribute: ClassVar[bool] = False

    def scores(self, sizes: NDArray[np.int64], values: ClassValues | None) -> NDArray[np.int64]:
        """Return no scores."""
        raise AssertionError((sizes, values))

    def audit_query(self, rows: str) -> str:
        """Return the line."""
        return self.line.format(rows=rows)


DOUBLE = "SELECT class, {} AS score FROM {{rows}} GROUP BY class"


@pytest.mark.parametrize(
    ("line", "failing", "found"),
    [
        ("SELECT class, 5 AS score FROM {rows} GROUP BY class", 0, 5),
        (
            "WITH x AS (SELECT class FROM {rows}) SELECT class, count(*) * 4 AS score FROM x GROUP BY class",
            1,
            4,
        ),
        ("SELECT class, 5 AS score FROM {rows} GROUP BY class HAVING count(*) > 1", 1, None),
        ("SELECT class, 5 AS score FROM {rows} WHERE class IS NULL", 2, None),
        ("SELECT class, CAST(NULL AS BIGINT) AS score FROM {rows} GROUP BY class", 2, None),
        ("SELECT class, 4.75 AS score FROM {rows} GROUP BY class", 2, 4),
        ("SELECT class, 5 AS score FROM {rows} UNION ALL SELECT class, 3 FROM {rows}", 2, 3),
        (DOUBLE.format("CAST('NaN' AS DOUBLE PRECISION)"), 2, None),
        (DOUBLE.format("CAST('Infinity' AS DOUBLE PRECISION)"), 2, None),
    ],
)
@SLOW_ON_SPARK
def test_class_without_a_score_fails(place: Place, line: str, failing: int, found: int | None) -> None:
    if place.name == "spark":
        line = line.replace("DOUBLE PRECISION", "DOUBLE")
    columns: Columns = {"q": ("VARCHAR", ["a", "a", "b"])}
    report = audited(place, place.put(columns), Odd(5, line=line), values=[])
    assert (report.passed, report.failing_classes) == (failing == 0, failing)
    assert [(each.found, each.failing_classes) for each in report.criteria] == [(found, failing)]


@SLOW_ON_SPARK
def test_every_row_is_in_a_class_whatever_its_type(place: Place) -> None:
    """The texts of numbers distinguish classes: 0.0 and -0.0 differ, as do NULL and the empty text."""
    columns: Columns = {
        "d": ("DOUBLE", [0.0, -0.0, 0.0, -0.0, 1e300, 1e300]),
        "i": ("INTEGER", [None, None, None, None, 2, 2]),
        "s": ("BIGINT", [1, 1, 1, 2, None, None]),
    }
    report = audited(place, place.put(columns), Share(0.5), keys=["d", "i"], values=["s"])
    assert report.class_sizes == {2: 3}
    assert [(each.found, each.failing_classes) for each in report.criteria] == [(1.0, 1)]
    assert report.as_json()["criteria"] == [
        {
            "name": "share",
            "title": "share of a value",
            "attribute": "s",
            "required": 0.5,
            "found": 1.0,
            "failing_classes": 1,
        }
    ]


@SLOW_ON_SPARK
def test_criteria_count_subjects(place: Place) -> None:
    """A criterion of sizes counts subjects; a criterion of values is refused."""
    rows = [("a", "x", "ann", "false"), ("a", "y", "ann", "false"), ("a", "x", "bob", "false")]
    rows += [("b", "x", "eve", "false"), ("b", "y", None, "false"), ("*", "*", "eve", "true")]
    source, witness = place.put(texts(rows)), place.put(texts(rows, ["q", "s", "who", "starred"]))
    size = Odd(2, line="SELECT class, count(*) AS score FROM {rows} GROUP BY class")
    report = audited(place, source, size, k=2, subjects=witness)
    assert (report.k, report.class_sizes, report.failing_classes) == (1, {1: 1, 2: 1}, 1)
    assert [(each.found, each.failing_classes) for each in report.criteria] == [(1, 1)]
    with pytest.raises(InputError, match="share of a value does not support subjects") as error:
        audited(place, source, Share(0.5), subjects=witness)
    assert error.value.allowed == "k and l, which count subjects"


def test_criterion_without_sql_is_refused(place: Place) -> None:
    class Silent(Odd):
        name: ClassVar[str] = "silent"
        audited_by: ClassVar[AuditedBy] = AuditedBy.NOTHING

    source = place.put({"q": ("VARCHAR", ["a"])})
    for criterion, words in (
        (Silent(5), "an odd score cannot be audited"),
        (Share(0.5), "no attribute is sensitive"),
        (Share(0.5, "q"), "not a sensitive attribute"),
    ):
        with pytest.raises(InputError, match=words):
            audited(place, source, criterion, values=[])


def publish(place: Place, *criteria: Criterion) -> ReleaseAddress:
    """Two classes of four; of ``s`` two of each are equal, ``t`` is NULL or a unique value."""
    columns: Columns = {
        "q": ("VARCHAR", ["a"] * 4 + ["b"] * 4),
        "s": ("VARCHAR", ["x", "x", "y", "z"] * 2),
        "t": ("INTEGER", [None, None, 1, 2, None, None, None, 3]),
    }
    spec = table_spec(place.put(columns), ["q"], ["s", "t"])
    return published(place, spec, (0,), Requirement(2, (("s", 2),), criteria)).address


def spoil(place: Place, address: ReleaseAddress) -> None:
    """Make three of the class ``a`` equal, with two values."""
    if isinstance(place, PostgresPlace):
        update = f"UPDATE {address.table} SET s = 'x' WHERE q = 'a' AND s = 'y'"
        place.server.run(update, database=DATABASE)
        return
    path = address.path
    assert path is not None
    rows = pq.read_table(path).to_pylist()
    for row in rows:
        row["s"] = "x" if (row["q"], row["s"]) == ("a", "y") else row["s"]
    for file in path.glob("*.parquet") if path.is_dir() else ():
        file.unlink()
    pq.write_table(pa.Table.from_pylist(rows), path / "r.parquet" if path.is_dir() else path)


@SLOW_ON_SPARK
def test_spoiled_release_fails_its_audit_and_report(place: Place, share: type[Criterion]) -> None:
    del share
    address = publish(place, Share(0.5))
    found = audit(address, settings=place.settings)
    assert found.passed, found.report.warnings
    assert [(f.criterion, f.found) for f in found.report.criteria] == [
        (Share(0.5, "s"), 0.5),
        (Share(0.5, "t"), 0.25),
    ]
    spoil(place, address)
    found = audit(address, settings=place.settings)
    assert (found.passed, found.k, found.l, found.report.failing_classes) == (False, 4, {"s": 2, "t": 1}, 1)
    assert [(f.found, f.failing_classes) for f in found.report.criteria] == [(0.75, 1), (0.25, 0)]
    assert found.report.failing[0].values == {"q": "a"}
    written = report(address, output=place.folder / "r.html", settings=place.settings)
    assert not written.passed
    assert "not passed: 1 class" in written.path.read_text(encoding="utf-8")
