"""Delta Lake and Iceberg tables, read through their logs: the rows of one version and no others."""

from __future__ import annotations

import json
import shutil
import struct
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import deltalake
import pyarrow
import pyarrow.parquet
import pyroaring
import pytest

import discreet
from discreet.differential.ledger import Ledger
from discreet.errors import InputError
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from discreet.spec.spec_reader import spec_from_mapping
from tests.engines.rows import Rows, rows_of

PEOPLE = {"age": {"role": "quasi-identifier"}, "city": {"role": "quasi-identifier"}}
SCHEMA = pyarrow.schema([("age", pyarrow.int64()), ("city", pyarrow.string()), ("day", pyarrow.date32())])
DAY = date(2024, 2, 29)
FIRST = [(20, "Bonn", DAY), (30, "a b/%2F=ü", DAY), (40, None, None)]
SECOND = [(50, "Köln", DAY), (60, "Bonn", None)]


def arrow(rows: list[tuple[Any, ...]]) -> Any:
    return pyarrow.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)


def texts(rows: list[tuple[Any, ...]]) -> Rows:
    found: Rows = [tuple(None if cell is None else str(cell) for cell in row) for row in rows]
    return sorted(found, key=str)


def write_delta(folder: Path, **options: Any) -> list[int]:
    """Write three versions: the first rows, the second rows added, and one of them deleted."""
    deltalake.write_deltalake(folder, arrow(FIRST), **options)
    deltalake.write_deltalake(folder, arrow(SECOND), mode="append")
    deltalake.DeltaTable(folder).delete("age = 20")
    return [0, 1, 2]


def write_iceberg(folder: Path, **options: Any) -> list[int]:
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalog = InMemoryCatalog("test", warehouse=f"file://{folder.parent}")
    catalog.create_namespace("n")
    table = catalog.create_table("n.people", schema=SCHEMA, location=f"file://{folder}", **options)
    table.append(arrow(FIRST))
    first = table.current_snapshot().snapshot_id
    table.append(arrow(SECOND))
    second = table.current_snapshot().snapshot_id
    table.delete("age = 20")
    return [first, second, table.current_snapshot().snapshot_id]


WRITERS: dict[str, Callable[..., list[int]]] = {"delta": write_delta, "iceberg": write_iceberg}


@pytest.fixture
def read(settings: Settings) -> Callable[..., Rows]:
    def read_all(path: Path, version: int | None = None, engine: str | None = None) -> Rows:
        return sorted(rows_of(settings, SourceSpec(path=path, version=version, engine=engine)), key=str)

    return read_all


@pytest.mark.parametrize("kind", WRITERS)
def test_each_version_is_read_as_written(kind: str, read: Callable[..., Rows], tmp_path: Path) -> None:
    folder = tmp_path / "people at home"
    versions = WRITERS[kind](folder)
    expected = [FIRST, FIRST + SECOND, FIRST[1:] + SECOND]
    for version, rows in zip(versions, expected, strict=True):
        assert read(folder, version) == texts(rows)
    assert read(folder) == texts(expected[-1])
    with pytest.raises(InputError, match="has no version 77"):
        read(folder, 77)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("kind", WRITERS)
def test_spark_reads_the_same_versions(
    kind: str, read: Callable[..., Rows], tmp_path: Path, spark_process: object
) -> None:
    versions = WRITERS[kind](tmp_path / "people")
    assert read(tmp_path / "people", versions[1], "spark") == texts(FIRST + SECOND)


def test_folder_columns_and_later_columns_are_read(read: Callable[..., Rows], tmp_path: Path) -> None:
    folder = tmp_path / "people"
    write_delta(folder, partition_by=["city", "day"])
    assert read(folder) == texts(FIRST[1:] + SECOND)
    more = arrow(SECOND).append_column("zip", pyarrow.array(["1", None]))
    deltalake.write_deltalake(folder, more, mode="append", schema_mode="merge")
    expected = [(*row, None) for row in FIRST[1:] + SECOND]
    expected += [(*row, cell) for row, cell in zip(SECOND, ("1", None), strict=True)]
    assert read(folder) == texts(expected)


def _log(folder: Path, version: int, fields: list[dict[str, Any]], add: dict[str, Any], **more: Any) -> None:
    """Write a log of one version; ``more`` are the table's configuration, and features of the protocol."""
    configuration = more.pop("configuration", {})
    protocol = {"minReaderVersion": version, "minWriterVersion": {1: 2, 2: 5, 3: 7}[version], **more}
    metadata = {
        "id": "8f5c0e9e-6f0e-4f6e-9c43-2d6c5d3a0c11",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": configuration,
    }
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    actions = ({"protocol": protocol}, {"metaData": metadata}, add)
    (log / f"{0:020}.json").write_text("".join(json.dumps(action) + "\n" for action in actions))


def _add(folder: Path, table: Any, **action: Any) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(table, folder / "part.parquet")
    size = (folder / "part.parquet").stat().st_size
    action |= {"size": size, "partitionValues": {}, "modificationTime": 0, "dataChange": True}
    return {"add": {"path": "part.parquet", "stats": json.dumps({"numRecords": table.num_rows}), **action}}


def _field(name: str, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "type": "long", "nullable": True, "metadata": metadata}


def test_columns_renamed_only_in_the_log_are_found(read: Callable[..., Rows], tmp_path: Path) -> None:
    """A reader of the files would return NULL."""
    folder = tmp_path / "people"
    add = _add(folder, pyarrow.table({"age": [1, 2]}))
    names = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "age"}
    mapping = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "1"}
    _log(folder, 2, [_field("years", **names)], add, configuration=mapping)
    assert read(folder) == [("1",), ("2",)]


def _vector_of(rows: list[int]) -> dict[str, Any]:
    """Return a deletion vector as in a log: magic number and bitmap, five characters per four bytes."""
    bitmap = pyroaring.BitMap(rows).serialize()
    content = struct.pack("<iqi", 1681511377, 1, 0) + bitmap
    padded = content + bytes(-len(content) % 4)
    text = ""
    signs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    for (word,) in struct.iter_unpack(">I", padded):
        text += "".join(signs[word // 85**place % 85] for place in (4, 3, 2, 1, 0))
    return {
        "storageType": "i",
        "pathOrInlineDv": text,
        "sizeInBytes": len(content),
        "cardinality": len(rows),
    }


def test_rows_of_a_deletion_vector_are_left_out(read: Callable[..., Rows], tmp_path: Path) -> None:
    folder = tmp_path / "people"
    add = _add(folder, pyarrow.table({"age": [1, 2, 3, 4]}), deletionVector=_vector_of([1, 3]))
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    enabled = {"delta.enableDeletionVectors": "true"}
    _log(folder, 3, [_field("age")], add, configuration=enabled, **features)
    assert read(folder) == [("1",), ("3",)]


@pytest.mark.parametrize("kind", WRITERS)
def test_run_keeps_its_version_and_records_it(kind: str, tmp_path: Path) -> None:
    """A run keeps its version and names it; data written after opening is ignored in every step."""
    versions = WRITERS[kind](tmp_path / "people")
    table = discreet.open(tmp_path / "people", {"attributes": PEOPLE})
    if kind == "delta":
        deltalake.write_deltalake(tmp_path / "people", arrow(SECOND), mode="append")
    table.publish({"age": 0, "city": 0}, tmp_path / "release.csv", k=1)
    manifest = json.loads((tmp_path / "release.csv.manifest.json").read_text())
    assert manifest["input"] == {"version": versions[-1]}
    assert manifest["data"]["rows"] == 4
    assert discreet.audit(tmp_path / "release.csv").passed
    older = discreet.open(tmp_path / "people", {"source": {"version": versions[0]}, "attributes": PEOPLE})
    assert older.frequency_set.rows == 3


def test_subset_is_of_the_same_version_as_its_population(tmp_path: Path) -> None:
    write_delta(tmp_path / "people")
    subset = {"column": "city", "values": ["Bonn"]}
    table = discreet.open(
        tmp_path / "people",
        {"source": {"version": 1, "subset": subset}, "attributes": {"age": {"role": "quasi-identifier"}}},
    )
    assert table.spec.population is not None
    assert table.spec.population.version == table.spec.source.version == 1


@pytest.mark.parametrize("kind", WRITERS)
def test_copy_of_a_table_uses_the_same_budget(kind: str, tmp_path: Path, settings: Settings) -> None:
    def known_by(folder: Path) -> set[str]:
        document = {
            "source": {"path": str(folder)},
            "attributes": PEOPLE,
            "privacy_budget": {"epsilon": 1.0},
        }
        spec = spec_from_mapping(document, base=tmp_path, label="spec", settings=settings)
        return set(Ledger.of(spec, settings).tables)

    for name in ("people", "same-rows"):
        WRITERS[kind](tmp_path / name)
    assert known_by(tmp_path / "people") & known_by(tmp_path / "same-rows")
    if kind == "delta":
        write_delta(tmp_path / "others")
        deltalake.write_deltalake(tmp_path / "others", arrow(SECOND), mode="append")
        assert not known_by(tmp_path / "people") & known_by(tmp_path / "others")
        shutil.copytree(tmp_path / "people", tmp_path / "copy")
        assert known_by(tmp_path / "people") & known_by(tmp_path / "copy")


@pytest.mark.parametrize(("kind", "package"), [("delta", "deltalake"), ("iceberg", "pyiceberg")])
def test_without_the_library_the_extra_is_named(
    kind: str, package: str, read: Callable[..., Rows], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WRITERS[kind](tmp_path / "people")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"needs the package {package}[^$]*discreet\[{kind}\]"):
        read(tmp_path / "people")


@pytest.mark.parametrize("kind", WRITERS)
def test_version_with_missing_files_is_refused(kind: str, read: Callable[..., Rows], tmp_path: Path) -> None:
    versions = WRITERS[kind](tmp_path / "people")
    for path in (tmp_path / "people").rglob("*.parquet"):
        path.unlink()
    for version in versions:
        with pytest.raises(InputError, match=f"a file of version {version} no longer exists"):
            read(tmp_path / "people", version)


def test_ambiguous_metadata_of_iceberg_is_named(read: Callable[..., Rows], tmp_path: Path) -> None:
    write_iceberg(tmp_path / "people")
    names = sorted((tmp_path / "people" / "metadata").glob("*.metadata.json"))
    assert read(names[1]) == texts(FIRST)
    shutil.copy(names[-1], names[-1].with_name("00003-another.metadata.json"))
    with pytest.raises(InputError, match="highest number"):
        read(tmp_path / "people")
    with pytest.raises(InputError, match="no snapshot"):
        read(names[0])
    shutil.copytree(tmp_path / "people", tmp_path / "copy")
    with pytest.raises(InputError, match="names another location"):
        read(tmp_path / "copy" / "metadata" / names[-1].name)


def test_files_on_another_machine_are_refused(read: Callable[..., Rows], tmp_path: Path) -> None:
    folder = tmp_path / "people"
    add = _add(folder, pyarrow.table({"age": [1]}))
    add["add"]["path"] = "s3://bucket/part.parquet"
    _log(folder, 1, [_field("age")], add)
    with pytest.raises(InputError, match="a file of "):
        read(folder)


def test_version_of_other_sources_is_refused(read: Callable[..., Rows], tmp_path: Path) -> None:
    pyarrow.parquet.write_table(arrow(FIRST), tmp_path / "people.parquet")
    with pytest.raises(InputError, match="has no versions"):
        read(tmp_path / "people.parquet", 1)
    with pytest.raises(InputError, match="without source"):
        discreet.open(arrow(FIRST), {"source": {"version": 1}, "attributes": PEOPLE})
