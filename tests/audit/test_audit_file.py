"""Audits of arbitrary files, checked by counting in plain Python, with cases that definitions leave open."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as options
from hypothesis import strategies as st

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from discreet.errors import InputError
from discreet.model.audit_report import AuditReport
from discreet.model.requirement import Requirement
from discreet.settings import Settings
from tests.audit.file_audit import audit_file
from tests.drawing import some_of
from tests.oracle.plain_release import Row, write_csv

NONE = Requirement()


def written(folder: Path, text: str, name: str = "f.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def audited(
    engine: Engine,
    path: Path,
    requirement: Requirement = NONE,
    keys: Sequence[str] = ("a", "b"),
    sensitive: Sequence[str] = ("s",),
) -> AuditReport:
    return audit_file(engine, path, quasi_identifiers=keys, sensitive=sensitive, requirement=requirement)


TABLE = "a,b,s\n1,x,flu\n1,x,cold\n1,x,flu\n1,,flu\n1,,\n*,*,*\n2,y,gout\n"


def test_classes_sizes_and_distinct_values(engine: Engine, tmp_path: Path) -> None:
    report = audited(engine, written(tmp_path, TABLE), Requirement(k=2, l=2))
    assert (report.passed, report.rows, report.classes, report.starred) == (False, 6, 3, 1)
    assert (report.k, report.l) == (1, {"s": 1})
    assert report.class_sizes == {1: 1, 2: 1, 3: 1}
    assert [(f.values, f.rows) for f in report.failing] == [
        ({"a": "2", "b": "y"}, 1),
        ({"a": "1", "b": None}, 2),
    ]
    assert report.failing_classes == 2


@pytest.mark.parametrize(
    ("requirement", "passed"),
    [
        (Requirement(k=3), True),
        (Requirement(k=4), False),
        (Requirement(l=2), True),
        (Requirement(l=3), False),
        (Requirement(l=(("s", 2),)), True),
        (Requirement(k=3, l=2), True),
    ],
)
def test_requirements_pass_or_fail_on_a_small_file(
    requirement: Requirement, passed: bool, engine: Engine, tmp_path: Path
) -> None:
    path = written(tmp_path, "a,b,s\n" + "1,x,flu\n1,x,flu\n1,x,cold\n" * 1)
    assert audited(engine, path, requirement).passed is passed


def test_audit_without_criteria_passes_with_a_warning(engine: Engine, tmp_path: Path) -> None:
    report = audited(engine, written(tmp_path, TABLE))
    assert report.passed
    assert "No criterion was required, so nothing was tested." in report.warnings


def test_file_without_rows_passes_no_requirement(engine: Engine, tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,s\n")
    report = audited(engine, path, Requirement(k=1))
    assert (report.passed, report.rows, report.classes, report.k, report.l) == (False, 0, 0, 0, {"s": 0})
    assert "The file has no rows: there was nothing to check." in report.warnings
    assert audited(engine, path).passed


def test_file_of_starred_rows_passes_with_a_warning(engine: Engine, tmp_path: Path) -> None:
    report = audited(engine, written(tmp_path, "a,b,s\n*,*,*\n*,*,*\n"), Requirement(k=5, l=2))
    assert (report.passed, report.rows, report.classes, report.starred) == (True, 0, 0, 2)
    assert "Every row is starred: no row was left to check." in report.warnings


def test_extra_column_keeps_a_row_from_being_starred(engine: Engine, tmp_path: Path) -> None:
    report = audited(engine, written(tmp_path, "a,b,s,t\n*,*,*,\n*,*,*,*\n"), Requirement(k=2))
    assert (report.rows, report.starred, report.passed) == (1, 1, False)


def test_at_most_a_hundred_classes_are_listed_smallest_first(engine: Engine, tmp_path: Path) -> None:
    rows = [(f"{a:03}", "x") for a in range(150) for _ in range(1 + a % 3)]
    Random(3).shuffle(rows)
    path = written(tmp_path, "a,b,s\n" + "".join(f"{a},{b},v\n" for a, b in rows))
    report = audited(engine, path, Requirement(k=4))
    assert report.failing_classes == 150
    listed = [(f.rows, f.values["a"]) for f in report.failing]
    assert len(listed) == 100
    assert listed == sorted((1 + a % 3, f"{a:03}") for a in range(150))[:100]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keys": ["a", "c"]}, "no column 'c'"),
        ({"sensitive": ["t"]}, "no column 't'"),
        ({"keys": []}, "no quasi-identifier"),
        ({"sensitive": ["a"]}, "both as a quasi-identifier and as sensitive"),
        ({"requirement": Requirement(l=(("b", 2),))}, "not a sensitive attribute"),
        ({"requirement": Requirement(l=2), "sensitive": []}, "no attribute is sensitive"),
    ],
)
def test_wrong_columns_are_refused(
    arguments: Mapping[str, object], message: str, engine: Engine, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        audited(engine, written(tmp_path, TABLE), **arguments)  # type: ignore[arg-type]


def test_unknown_column_lists_the_existing_columns(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        audited(engine, written(tmp_path, TABLE), keys=["B"])
    assert raised.value.allowed == "'a', 'b', 's'"
    assert raised.value.advice == "Did you mean 'b'?"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("nothing.csv", None),
        ("empty.csv", b""),
        ("broken.parquet", b"PAR1"),
        ("ragged.csv", b"a,b,s\n1,2\n"),
        ("bytes.csv", b"a,b,s\n\xff,1,2\n"),
        ("f.xlsx", b""),
    ],
)
def test_unreadable_files_are_refused(
    name: str, content: bytes | None, engine: Engine, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError):
        audited(engine, tmp_path / name, Requirement(k=1))


def test_columns_outside_every_check_are_named(engine: Engine, tmp_path: Path) -> None:
    rows = "".join(f"1,x,flu,{i},{i % 2}\n" for i in range(20))
    report = audited(engine, written(tmp_path, "a,b,s,ssn,ward\n" + rows), Requirement(k=2, l=1))
    assert report.passed
    assert report.warnings == (
        "In 1 of 1 groups all people have the same s: anyone who finds a person's group learns it. Require l "
        "= 2 or more.",
        "Published unchanged and unchecked: 'ssn', 'ward'.",
        "ssn: 20 of 20 rows have a value that no other row has; anyone who knows it finds the row. Within "
        "their group 20 are the only ones with theirs.",
    )


def test_audit_leaves_no_tables_in_the_engine(engine: Engine, tmp_path: Path) -> None:
    views = "SELECT count(*) FROM duckdb_views() WHERE temporary"
    tables = f"SELECT (SELECT count(*) FROM duckdb_tables()), ({views})"
    before = engine.fetch_rows(tables)
    audited(engine, written(tmp_path, TABLE), Requirement(k=2))
    with pytest.raises(InputError):
        audited(engine, written(tmp_path, TABLE), keys=["z"])
    assert engine.fetch_rows(tables) == before


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Path]]:
    folder = tmp_path_factory.mktemp("audited")
    with connect(Settings(10**9, 2, folder / "log.jsonl")) as engine:
        yield engine, folder


NUMBER = count()
CELL = st.sampled_from([None, "", "*", "x", "X", "é", "e\u0301", 'q"', ",", "\n", " ", "1", "1.0", "🙂"])


@options(max_examples=some_of(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.fixed_dictionaries({"a": CELL, "b": CELL, "s": CELL, "t": CELL}), max_size=25),
    k=st.none() | st.integers(1, 4),
    l=st.none() | st.integers(1, 3),
    other=st.booleans(),
)
def test_counts_are_those_of_plain_python(
    rows: list[Row], k: int | None, l: int | None, other: bool, shared: tuple[Engine, Path]
) -> None:
    engine, folder = shared
    columns = ["a", "s", "b", "t"] if other else ["b", "t", "a", "s"]
    sensitive = ["s"] if other else ["s", "t"]
    path = folder / f"{next(NUMBER)}.csv"
    write_csv(path, rows, columns)
    report = audited(engine, path, Requirement(k, l), sensitive=sensitive)

    ordinary = [row for row in rows if set(row.values()) != {"*"}]
    classes: dict[tuple[str | None, ...], list[Row]] = defaultdict(list)
    for row in ordinary:
        classes[row["a"], row["b"]].append(row)
    distinct = {
        key: {name: len({row[name] for row in members} - {None, "*"}) for name in sensitive}
        for key, members in classes.items()
    }
    assert (report.rows, report.starred) == (len(ordinary), len(rows) - len(ordinary))
    assert report.class_sizes == Counter(map(len, classes.values()))
    assert report.k == min(map(len, classes.values()), default=0)
    assert report.l == {name: min((d[name] for d in distinct.values()), default=0) for name in sensitive}
    failing = {
        key: len(members)
        for key, members in classes.items()
        if len(members) < (k or 0) or any(d < (l or 0) for d in distinct[key].values())
    }
    assert {(f.values["a"], f.values["b"]): f.rows for f in report.failing} == failing
    assert report.passed == ((k is None and l is None) or (bool(rows) and not failing))
