"""Import of the compiler during the engine's scan: a failing import does not affect the user."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder

import pytest

from discreet.lattice import evaluation

NAME = "discreet.kernels.plan_evaluation"


class Late(MetaPathFinder):
    """An import that runs while the interpreter shuts down."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        del path, target
        if name == NAME:
            raise RuntimeError("can't register atexit after shutdown")


def test_command_that_ends_at_once_shows_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Late(), *sys.meta_path])
    evaluation._import_compiled_kernels()
    assert NAME not in sys.modules
