"""Engine messages are passed on if they contain advice and no data."""

from __future__ import annotations

import duckdb
import pytest

from discreet.engines.duckdb import database as module
from discreet.engines.duckdb.engine import DuckdbEngine
from discreet.engines.failures import from_engine_error, from_start_error
from discreet.errors import InputError, LimitReached
from discreet.settings import Settings

IPYWIDGETS = (
    "Invalid Input Error: Could not change the progress bar setting because: 'required package 'ipywidgets' "
    "is missing, which is needed to render progress bars in Jupyter'"
)
PYTZ = "Invalid Input Error: Required module 'pytz' failed to import, due to the following Python exception:"


@pytest.mark.parametrize(("text", "package"), [(IPYWIDGETS, "ipywidgets"), (PYTZ, "pytz")])
def test_missing_package_is_named(text: str, package: str) -> None:
    found = from_engine_error(duckdb.InvalidInputException(text), limit=1, label="people.csv")
    assert isinstance(found, InputError)
    assert package in found.message
    assert found.advice == f"Install it: pip install {package}."


def test_engine_that_cannot_start_gives_the_reason(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SESSION", ("SET TimeZone = 'Nowhere/Such'",))
    with pytest.raises(InputError, match=r"the engine cannot start: .*Nowhere/Such"):
        DuckdbEngine(settings)
    assert isinstance(from_start_error(duckdb.OutOfMemoryException("x"), limit=7), LimitReached)
