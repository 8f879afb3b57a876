"""The toys of this folder, each imported anew for a test, and taken out of its registry after it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from discreet.model.criteria.registry import CRITERIA


@pytest.fixture
def toy_criterion() -> Iterator[ModuleType]:
    """The module with the criterion ``homogeneity``, whose last line registers it."""
    name = "tests.extending.toy_criterion"
    sys.modules.pop(name, None)
    yield importlib.import_module(name)
    CRITERIA.remove("homogeneity")
    del sys.modules[name]
