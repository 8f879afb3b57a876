"""Fixture of bounds: an engine that no test changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.engines.base import Engine
from discreet.engines.connection import connect
from tests.bounds.releases import SETTINGS


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[Engine]:
    with connect(SETTINGS) as found:
        yield found
