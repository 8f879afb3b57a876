"""Releases in memory, from every model: the audited rows are returned, and only they."""

from __future__ import annotations

import builtins
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pytest

import discreet
from discreet.errors import DiscreetError, InputError, LimitReached, NoSolution, RequirementNotMet
from discreet.model.class_recoding import RecodingModel
from discreet.models import Permutation
from discreet.settings import Settings
from discreet.verbs import release_publication
from discreet.verbs.table import Table

ROWS = 90
PEOPLE = pandas.DataFrame(
    {
        "age": [20 + i % 9 for i in range(ROWS)],
        "city": [["Bonn", "Köln", "Ulm"][i % 3] for i in range(ROWS)],
        "disease": [["flu", "cold", "asthma", "gout"][i % 4] for i in range(ROWS)],
        "number": range(ROWS),
    }
)
ROLES = {
    "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [3, 9]}},
    "city": {"role": "quasi-identifier"},
    "disease": {"role": "sensitive"},
    "number": {"role": "insensitive"},
}
SPEC = {"attributes": ROLES}


@pytest.fixture(autouse=True)
def leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of temporary files, which is empty again after every publication."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.fixture
def people(settings: Settings) -> Table:
    return discreet.open(PEOPLE, SPEC, settings=settings)


def texts(rows: Sequence[Sequence[Any]]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(str, row)) for row in rows)


@pytest.mark.parametrize(
    "model", ["full-domain", "mondrian", str(RecodingModel.RELAXED_MULTI), "local", "patterns"]
)
def test_every_model_gives_the_rows_of_its_file(model: str, people: Table, tmp_path: Path) -> None:
    recoding = people.recode(model, k=4)
    release = people.publish(recoding)
    people.publish(recoding, tmp_path / "file.parquet")
    frame, written = release.to_pandas(), pandas.read_parquet(tmp_path / "file.parquet")
    if model == RecodingModel.RELAXED_MULTI:  # draws the side of rows with the same value
        assert sorted(frame["number"]) == sorted(written["number"])
        frame, written = frame[["age", "city"]], written[["age", "city"]]
    assert texts(frame.to_numpy().tolist()) == texts(written.to_numpy().tolist())
    assert frame.groupby(["age", "city"]).size().min() >= 4
    assert release.audit.passed
    assert release.manifest["audit"]["k"] == release.audit.report.k >= 4
    assert release.model == release.manifest["recoding"]["model"]


def test_libraries_agree_on_rows_and_order(people: Table) -> None:
    release = people.publish({"age": 1}, k=3)
    rows = [tuple(row.values()) for row in release.to_arrow().to_pylist()]
    assert release.to_polars().rows() == rows
    frame = release.to_pandas()
    assert list(frame.itertuples(index=False, name=None)) == rows
    assert frame.index.equals(pandas.RangeIndex(len(rows)))
    assert list(release.columns) == list(frame.columns) == ["age", "city", "disease", "number"]
    assert release.to_pandas() is not release.to_pandas()


def test_release_does_not_keep_the_order_of_the_input(people: Table) -> None:
    def numbers(order: str) -> tuple[int, ...]:
        return tuple(people.publish({"age": 2}, k=3, row_order=order).to_pandas()["number"])

    drawn, by_cells = [numbers("random") for _ in range(2)], numbers("sorted")
    assert sorted(drawn[0]) == list(range(ROWS))
    assert len({*drawn, by_cells, tuple(range(ROWS))}) == 4
    assert numbers("sorted") == by_cells


def test_suppressed_rows_are_left_out_or_starred(settings: Settings) -> None:
    people = pandas.concat([PEOPLE, PEOPLE.head(1).assign(city="Rom")])
    table = discreet.open(people, SPEC, settings=settings)
    kept = table.publish({"age": 2}, k=3, max_suppressed=1)
    starred = table.publish({"age": 2}, k=3, max_suppressed=1, suppressed_rows="star")
    assert "Rom" not in set(kept.to_pandas()["city"])
    assert len(kept.to_pandas()) == len(starred.to_pandas()) - 1 == ROWS
    assert Counter(starred.to_polars().rows())[("*",) * 4] == 1
    assert kept.suppressed == kept.manifest["suppression"]["rows"] == 1


def test_permuted_release_has_its_parts(people: Table) -> None:
    one = people.publish(Permutation(), k=3)
    assert one.parts == ("data", "help")
    assert len(one.to_pandas("help")) > 0
    two = people.publish(Permutation(form="two-tables"), k=3)
    assert two.parts == ("data", "sensitive", "help")
    assert set(two.to_pandas("sensitive")["disease"]) == set(PEOPLE["disease"])
    assert "disease" not in two.to_pandas().columns
    assert '.to_pandas("help")' in str(two)
    with pytest.raises(InputError, match="no part 'rows'") as caught:
        two.to_arrow("rows")
    assert caught.value.allowed == "data, sensitive, help"


CELLS = {
    "whole": ["9223372036854775807", None],
    "flag": ["true", None],
    "exact": ["12345678901234567890.12", "0.10"],
    "day": ["0001-01-01", None],
    "moment": ["2262-04-12 00:00:00.123456", None],
    "zoned": ["2020-01-01 00:00:00+00", None],
    "time": ["01:02:03.000004", None],
    "double": ["0.1", None],
    "text": ["", None],
    "word": ["NULL", "*"],
}
TYPES = {"whole": "BIGINT", "flag": "BOOLEAN", "exact": "DECIMAL(38,2)", "day": "DATE", "moment": "TIMESTAMP"}
TYPES |= {"zoned": "TIMESTAMPTZ", "time": "TIME", "double": "DOUBLE"}


def test_cells_keep_their_types_and_values(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "typed.parquet"
    rows = [tuple(cells[i] for cells in CELLS.values()) for i in range(2)]
    kinds = [(name, TYPES.get(name, "VARCHAR")) for name in CELLS]
    places = ", ".join(f"CAST(${i} AS {kind}) AS {name}" for i, (name, kind) in enumerate(kinds, 1))
    cells = ", ".join(f"{name}::VARCHAR" for name in CELLS)
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for number, row in enumerate(rows):
            connection.execute(f"CREATE TABLE t{number} AS SELECT 20 AS age, {places}", list(row))
        connection.execute(f"COPY (FROM t0 UNION ALL FROM t1) TO '{path}' (FORMAT parquet)")
    spec = {
        "source": {"unlisted_columns": "insensitive"},
        "attributes": {"age": {"role": "quasi-identifier"}},
    }
    release = discreet.open(path, spec, settings=settings).publish({}, k=2)
    frames: tuple[Any, ...] = (release.to_arrow(), release.to_pandas(), release.to_polars())
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for frame in frames:
            found = connection.sql(f"SELECT {cells} FROM frame").fetchall()
            assert Counter(found) == Counter(rows), type(frame)
    assert release.to_pandas().dtypes["whole"] == "Int64"


def test_unaudited_bytes_are_not_returned(
    people: Table, monkeypatch: pytest.MonkeyPatch, leftovers: Path
) -> None:
    first_rows = release_publication._read_first_rows

    def changed(path: Path, settings: Settings) -> object:
        found = first_rows(path, settings)
        path.write_bytes(path.read_bytes() + b"x")
        return found

    monkeypatch.setattr(release_publication, "_read_first_rows", changed)
    with pytest.raises(LimitReached, match="changed after it was audited"):
        people.publish({"age": 1}, k=3)
    assert not list(leftovers.iterdir())


@pytest.mark.parametrize(
    ("options", "error"),
    [({"k": 50}, NoSolution), ({"k": 3, "suppressed_rows": "hide"}, InputError)],
    ids=["no solution", "bad policy"],
)
def test_failed_release_leaves_no_file(
    options: dict[str, Any], error: type[DiscreetError], people: Table, leftovers: Path
) -> None:
    with pytest.raises(error):
        people.publish({}, **options)
    with pytest.raises(NoSolution, match="no answer can be published"):
        people.publish(None)
    assert not list(leftovers.iterdir())


def test_failed_audit_returns_no_frame(
    people: Table, monkeypatch: pytest.MonkeyPatch, leftovers: Path
) -> None:
    def failing(*_: object, **__: object) -> object:
        raise RequirementNotMet("the audit of the output failed")

    monkeypatch.setattr("discreet.release.publication.audit_source", failing)
    with pytest.raises(RequirementNotMet):
        people.publish({"age": 1}, k=3)
    assert not list(leftovers.iterdir())


def test_release_in_memory_has_no_path(people: Table, settings: Settings, leftovers: Path) -> None:
    release = people.publish({"age": 1}, k=3)
    assert not list(leftovers.iterdir())
    for place in ("path", "address", "manifest_path"):
        with pytest.raises(InputError, match="in memory: it has no path"):
            getattr(release, place)
    document = release.as_json()
    assert document["manifest"] == release.manifest
    assert "path" not in document
    assert str(leftovers) not in str(release) + release._repr_html_() + json.dumps(document)
    (line,) = settings.private_log.read_text().splitlines()
    assert json.loads(line)["output"] == "a table in memory"
    assert "Published in memory for k=3" in str(release)
    assert "The first 5 of 90 released rows" in release._repr_html_()


@pytest.mark.parametrize(
    ("missing", "method", "needed"),
    [
        ("pandas", "to_pandas", "pandas"),
        ("pyarrow", "to_pandas", "pyarrow"),
        ("pyarrow", "to_arrow", "pyarrow"),
        ("polars", "to_polars", "polars"),
    ],
)
def test_missing_library_is_named_in_the_error(
    missing: str, method: str, needed: str, people: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = people.publish({"age": 1}, k=3)
    genuine = builtins.__import__

    def without(name: str, *others: Any, **more: Any) -> object:
        if name.partition(".")[0] == missing:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return genuine(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=f"needs the package {needed}, which is not installed") as caught:
        getattr(release, method)()
    assert caught.value.advice == f"Install it: pip install {needed}."


def test_arrow_readers_get_the_same_rows_in_the_same_order(people: Table) -> None:
    release = people.publish(people.negotiate(k=3).exact)
    rows = release.to_arrow().to_pylist()
    own = duckdb.connect()
    relation = own.from_arrow(release)
    assert [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()] == rows
    assert relation.aggregate("count(*)").fetchall() == [(len(rows),)]
    assert duckdb.sql("FROM release").fetchall() == relation.fetchall()
    assert polars.DataFrame(release).to_dicts() == rows


@pytest.mark.filterwarnings("ignore")  # Ibis warns of coming changes of DuckDB and pandas
def test_ibis_expressions_go_in_and_out(people: Table, settings: Settings) -> None:
    ibis = pytest.importorskip("ibis")
    expression = ibis.memtable(PEOPLE)
    some = expression.filter(expression.number < 60)
    table = discreet.open(some, SPEC, settings=settings)
    release = table.publish(table.negotiate(k=3).exact)
    found = ibis.memtable(release)
    assert found.to_pyarrow().to_pylist() == release.to_arrow().to_pylist()
    expected = discreet.open(PEOPLE[PEOPLE.number < 60], SPEC, settings=settings)
    same = expected.publish(expected.negotiate(k=3).exact)
    assert found.count().execute() == 60
    assert texts(release.to_pandas().values.tolist()) == texts(same.to_pandas().values.tolist())
