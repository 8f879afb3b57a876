"""An engine in one file with one public registration, through the whole program."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli.main import main
from discreet.engines.declaration import EngineDeclaration
from discreet.engines.registry import ENGINES, engine_of
from discreet.errors import InputError
from discreet.extending import register_engine
from discreet.model.table_spec import SourceSpec

PEOPLE = "age,city,illness\n" + "".join(f"{20 + i},town {i % 3},{'abc'[i % 3]}\n" for i in range(30))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """Yield the toy's module, imported anew; its last line registers the engine."""
    name = "tests.extending.toy_engine"
    (tmp_path / "shelf").mkdir()
    monkeypatch.setenv("TOY_SHELF", str(tmp_path / "shelf"))
    monkeypatch.chdir(tmp_path)
    sys.modules.pop(name, None)
    yield importlib.import_module(name)
    ENGINES.remove("toy")
    del sys.modules[name]


@pytest.fixture
def opened(toy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[SourceSpec]:
    """Record the sources that the toy engine opens."""
    sources: list[SourceSpec] = []
    before = toy.ToyEngine.open_source

    def open_source(self: object, source: SourceSpec) -> object:
        sources.append(source)
        return before(self, source)

    monkeypatch.setattr(toy.ToyEngine, "open_source", open_source)
    return sources


def test_registered_engine_publishes_a_file_to_an_audited_release(
    toy: ModuleType, opened: list[SourceSpec], tmp_path: Path
) -> None:
    del toy
    (tmp_path / "people.csv").write_text(PEOPLE)
    assert main(["init", "toy:people.csv", "--json"]) == 0
    assert 'engine = "toy"' in (tmp_path / "discreet.toml").read_text()
    assert engine_of(discreet.open("discreet.toml").spec.source).name == "toy"
    request = ["--k", "3", "--max-suppressed", "20%", "--json"]
    assert main(["negotiate", "discreet.toml", *request]) == 0
    assert main(["publish", "discreet.toml", *request, "--output", "out.csv"]) == 0
    assert main(["audit", "toy:out.csv", "--json"]) == 0
    assert {source.path and source.path.name for source in opened} >= {"people.csv", "out.csv"}


def test_registered_engine_publishes_into_its_own_table(
    toy: ModuleType, opened: list[SourceSpec], tmp_path: Path
) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    with toy.connect(discreet.Settings.from_environment(), None) as engine:
        table = engine.open_source(SourceSpec(path=Path("people.csv")))
        engine.write_file(
            f"SELECT * FROM {table.relation}", toy.shelf("people"), "parquet", ["age", "city", "illness"]
        )
    discreet.init("toy:", "discreet.toml", table="people")
    people = discreet.open("discreet.toml")
    answer = people.lattice().negotiate(k=3, max_suppressed="20%").exact
    assert answer is not None
    release = people.publish(answer, table="released")
    assert release.audit.passed
    assert sorted(path.name for path in (tmp_path / "shelf").iterdir()) == [
        "people.parquet",
        "released.parquet",
        "released_manifest.parquet",
    ]
    assert discreet.audit("toy:", table="released").passed
    assert pq.read_table(toy.shelf("released")).num_rows == 30 - answer.suppressed
    permuted = people.publish("permutation", table="permuted", k=2)
    assert permuted.audit.passed
    assert discreet.query("toy:", "SELECT COUNT(*) FROM release", table="permuted").rows[0].lower == 30
    for target in ("people", "released"):
        with pytest.raises(InputError, match=r"is the input|exists"):
            people.publish(answer, table=target)
    assert {"people", "released", "permuted"} <= {str(source.table) for source in opened}


def test_help_and_errors_name_the_registered_engine(
    toy: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del toy
    helps = {
        "init": "spark: with --table; or toy:FILE, or toy: with --table; a data package",
        "query": "--sql duckdb|postgres|spark|toy|snowflake|bigquery",
        "audit": "postgresql://…, mariadb://…, env:NAME, spark:, or toy:.",
        "publish": "that has the source: PostgreSQL, MariaDB, Spark's catalog, or the toy's shelf.",
    }
    for verb, words in helps.items():
        main([verb, "--help"])
        assert words in " ".join(capsys.readouterr().out.split())
    (tmp_path / "wrong.toml").write_text('[source]\nengine = "oracle"\ntable = "people"\n')
    refused = {
        "spark, toy": lambda: discreet.open("wrong.toml"),
        "duckdb, postgres, spark, toy, snowflake, bigquery": lambda: discreet.query(
            "release.csv", "SELECT", dialect="oracle"
        ),
        "a path, postgresql://…, mariadb://…, env:NAME (a variable that holds such an address), spark:, or "
        "toy:": lambda: discreet.audit("release.csv", table="people"),
    }
    for allowed, call in refused.items():
        with pytest.raises(InputError) as error:
            call()
        assert error.value.allowed == allowed


def test_name_or_source_of_another_engine_is_refused(toy: ModuleType) -> None:
    with pytest.raises(InputError, match="'spark' is registered already"):
        register_engine(EngineDeclaration("spark", "another", toy.connect, toy.DUCKDB))
    register_engine(EngineDeclaration("second", "the second", toy.connect, toy.DUCKDB, scheme="toy:"))
    try:
        with pytest.raises(InputError, match="several engines claim the same source: toy, second"):
            discreet.audit("toy:release.csv")
    finally:
        ENGINES.remove("second")
