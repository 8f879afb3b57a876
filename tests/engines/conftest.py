"""Fixtures: one engine per test, and the rows of a source as plain tuples."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.connection import connect
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.model.table_spec import SourceSpec
from discreet.settings import Settings
from tests.engines.clinic import clinic
from tests.engines.rows import Rows, text_rows

__all__ = ["clinic"]

Read = Callable[..., Rows]


@pytest.fixture
def engine(settings: Settings) -> Iterator[DuckdbEngine]:
    with connect(settings) as opened:
        assert isinstance(opened, DuckdbEngine)
        yield opened


@pytest.fixture
def read(engine: DuckdbEngine, tmp_path: Path) -> Read:
    """Write bytes to a file (or take a table), open it, and fetch the text of every cell."""

    def read_all(content: Any, name: str = "people.csv", **options: Any) -> Rows:
        if isinstance(content, bytes):
            path = tmp_path / name
            path.write_bytes(content)
            source = SourceSpec(path=path, **options)
        else:
            source = SourceSpec(data=content, **options)
        return text_rows(engine, source)

    return read_all


NOBODY = 65534


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Yield a folder that every user may enter, unlike ``tmp_path``, which only its owner may."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextmanager
def as_nobody() -> Iterator[None]:
    """Act as a user subject to permissions: if root runs the tests, switch to the user "nobody"."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
