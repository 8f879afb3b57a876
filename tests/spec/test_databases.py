"""Specs whose source is a database table."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.engines.registry import engine_of
from discreet.errors import InputError
from discreet.model.table_spec import TableSpec
from discreet.spec.spec_reader import load_spec, spec_from_mapping


def spec_of(folder: Path, text: str) -> TableSpec:
    path = folder / "discreet.toml"
    path.write_text(text, encoding="utf-8")
    return load_spec(path)


def test_a_table_of_a_database(tmp_path: Path) -> None:
    text = '[source]\nurl = "postgresql://ann@localhost/clinic"\ntable = "out.people"\nnull_values = ["?"]\n'
    source = spec_of(tmp_path, text).source
    assert (source.url, source.table, source.path) == (
        "postgresql://ann@localhost/clinic",
        "out.people",
        None,
    )
    assert source.label == "the table out.people"
    assert "localhost" not in repr(source)


def test_a_password_never_shows(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        spec_of(tmp_path, '[source]\nurl = "postgresql://me:open-sesame@host/db"\ntable = "t"\n')
    assert "sesame" not in str(caught.value)


def test_tables_of_spark(tmp_path: Path) -> None:
    table = spec_of(tmp_path, '[source]\nengine = "spark"\ntable = "db.people"\n').source
    assert engine_of(table).name == "spark"
    folder = spec_of(tmp_path, '[source]\nengine = "spark"\npath = "people"\n').source
    assert engine_of(folder).name == "spark"
    assert folder.path == tmp_path / "people"


def test_only_a_mapping_may_hold_a_password() -> None:
    address = {"url": "postgresql://me:secret@host/db", "table": "t"}
    found = spec_from_mapping({"source": address}, base=Path(), label="the mapping")
    assert found.source.url == address["url"]
