"""The toys of this folder, each imported anew for a test and removed from its registry after it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from discreet.model.criteria.registry import CRITERIA


@pytest.fixture
def toy_criterion() -> Iterator[ModuleType]:
    """Yield the module with the criterion ``homogeneity``, which registers itself in its last line."""
    name = "tests.extending.toy_criterion"
    sys.modules.pop(name, None)
    yield importlib.import_module(name)
    CRITERIA.remove("homogeneity")
    del sys.modules[name]
