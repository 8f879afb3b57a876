"""Toy extensions, each registered during the tests of one module, and a table of people."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from discreet.measures.cost_registry import COSTS
from discreet.measures.metrics import METRICS
from discreet.model.registry import Registry
from discreet.verbs.models.model_registry import MODELS
from tests.cli.conftest import people, run
from tests.web.conftest import make_client

__all__ = ["make_client", "people", "run"]

HERE = Path(__file__).parent


def loaded(name: str) -> ModuleType:
    """Load a toy's file as a new module; importing it would register it for every other test."""
    found = importlib.util.spec_from_file_location(f"discreet_{name}", HERE / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[module.__name__] = module  # dataclasses look up their module here
    found.loader.exec_module(module)
    return module


def registered(name: str, registry: Registry[Any]) -> Iterator[ModuleType]:
    """Yield a loaded toy, and remove it from its registry at the end."""
    before = set(registry.names())
    module = loaded(name)
    yield module
    del sys.modules[module.__name__]
    for added in set(registry.names()) - before:
        registry.remove(added)


@pytest.fixture
def toy_model() -> Iterator[ModuleType]:
    yield from registered("toy_model", MODELS)


@pytest.fixture
def toy_metric() -> Iterator[ModuleType]:
    yield from registered("toy_metric", METRICS)


@pytest.fixture
def toy_cost() -> Iterator[ModuleType]:
    yield from registered("toy_cost", COSTS)
