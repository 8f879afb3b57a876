"""An engine, and a folder that a release goes to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.engines.base import Engine
from discreet.engines.connect import connect
from discreet.settings import Settings


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    with connect(settings) as found:
        yield found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder, which must be empty again after a publication that failed."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
