"""``import discreet`` is light, and its names are those of ``__all__``."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import discreet
from tests.waiting import PATIENCE

HEAVY = ("numba", "llvmlite", "duckdb", "pydantic", "typer", "rich", "numpy")


def python(code: str) -> str:
    """Return the output of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return done.stdout.strip()


def test_import_loads_no_heavy_module() -> None:
    code = f"import sys, discreet; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert python(code) == "[]"


def test_all_lists_the_visible_names() -> None:
    visible = [name for name in dir(discreet) if not name.startswith("_")]
    assert sorted(discreet.__all__) == visible
    assert len(discreet.__all__) <= 48
    assert len(set(discreet.__all__)) == len(discreet.__all__)
    for name in discreet.__all__:
        assert getattr(discreet, name).__doc__


def test_unknown_name_raises_attribute_error() -> None:
    code = "import discreet\ntry:\n    discreet.anonymize\nexcept AttributeError as e:\n    print(e)"
    assert python(code) == "module 'discreet' has no attribute 'anonymize'"


def test_verb_audit_is_not_replaced_by_the_package_of_that_name() -> None:
    orders = (
        "import discreet; import discreet.audit.class_audit",
        "import discreet.audit.class_audit; import discreet",
        "from discreet.audit.class_audit import audit_source; import discreet; discreet.open",
    )
    for order in orders:
        assert python(f"{order}; print(callable(discreet.audit), discreet.audit.__module__)") == (
            "True discreet.verbs.audits"
        )
    assert python("from discreet import *; print(audit.__name__, init.__name__)") == "audit init"


def test_version_equals_that_of_the_project() -> None:
    project = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    (version,) = re.findall(r'^version = "(.*)"$', project, re.MULTILINE)
    assert discreet.__version__ == version
