"""The tracer of journeys: which files count, in which threads, and two journeys from start to end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from threading import Thread

import pytest

from benchmarks.harness import in_child
from benchmarks.journeys import FileTracer, Passage, follow, prepare

MODULES = {
    "__init__": "",
    "called": "def run():\n    from traced import imported\n    return imported.VALUE\n",
    "imported": "from traced.helper import make\nclass Body:\n    pass\nVALUE = make()\n",
    "helper": "def make():\n    return [part for part in (1, 2)]\n",
    "threaded": "def run():\n    return (lambda: 3)()\n",
    "wrapper": (
        "from functools import update_wrapper\n"
        "class Wrapper:\n"
        "    def __init__(self, function):\n        update_wrapper(self, function)\n"
        "    def __call__(self):\n        return 4\n"
    ),
    "wrapped": "from traced.wrapper import Wrapper\n@Wrapper\ndef run():\n    pass\n",
    "idle": "def run():\n    pass\n",
}


@pytest.fixture
def tracer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileTracer]:
    """A tracer of a package ``traced`` that is installed in this thread."""
    folder = tmp_path / "traced"
    folder.mkdir()
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = sys.getprofile()
    tracer = FileTracer(folder)
    tracer.install()
    yield tracer
    tracer.remove()
    sys.setprofile(before)
    for name in [name for name in sys.modules if name.split(".")[0] == "traced"]:
        del sys.modules[name]


def test_tracer_counts_entered_functions_but_not_imports(tracer: FileTracer) -> None:
    with tracer.counting():
        import_module("traced.idle")
        import_module("traced.called").run()
    assert {"traced.helper", "traced.imported"} <= {*sys.modules}
    assert tracer.files() == ("called.py",)


def test_tracer_counts_other_threads_and_wrapped_functions(tracer: FileTracer) -> None:
    modules = [import_module(f"traced.{name}") for name in ("threaded", "wrapped")]
    assert tracer.files() == ()
    with tracer.counting():
        for module in modules:
            thread = Thread(target=module.run)
            thread.start()
            thread.join()
    assert tracer.files() == ("threaded.py", "wrapped.py", "wrapper.py")


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small census and its release."""
    folder = tmp_path_factory.mktemp("journeys")
    prepare(folder, 300)
    return folder


def test_audit_command_enters_command_line_and_audit(census: Path) -> None:
    audited: Passage = in_child(follow, "audit", census, True).result
    assert {"cli/audit.py", "audit/recount.py", "engines/duckdb/engine.py"} <= {*audited.files}
    assert not {"search", "negotiation", "web"} & {*audited.rooms}
    assert len(audited.files) < len(audited.modules)


def test_slider_move_enters_neither_engine_nor_verbs(census: Path) -> None:
    moved: Passage = in_child(follow, "slider move", census).result
    assert {"web/routes/negotiate.py", "negotiation/negotiator.py"} <= {*moved.files}
    assert not {"engines", "verbs", "sample"} & {*moved.rooms}
