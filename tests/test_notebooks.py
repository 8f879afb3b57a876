"""Tests of the documentation's notebooks: stored without outputs; every cell runs, with and without Adult."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.notebook import Kernel, kernel

BOOKS = sorted((Path(__file__).resolve().parent.parent / "docs" / "notebooks").glob("*.ipynb"))
SHOWN = {
    "1-negotiate": ("No exact answer", "<svg", "Audit passed"),
    "2-compare": ("cell-generalization", "mondrian", "full-domain"),
    "3-attack": ("release.csv", "<td"),
    "4-analyse": ("estimate", "discernibility"),
}


def cells(book: Path) -> list[dict[str, Any]]:
    found = json.loads(book.read_text(encoding="utf-8"))
    assert (found["nbformat"], found["metadata"]["kernelspec"]["language"]) == (4, "python")
    return list(found["cells"])


def run(living: Kernel, book: Path) -> str:
    """Return the outputs of a notebook's cells, in order."""
    for cell in cells(book):
        if cell["cell_type"] == "code":
            code = "".join(cell["source"])
            shown = living.run(code)
            assert shown.error == "", (code, shown.error)
    return "\n".join(cell.html + cell.text for cell in living.cells)


@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_notebook_is_short_and_without_outputs(book: Path) -> None:
    code = [cell for cell in cells(book) if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    texts = ["".join(cell["source"]) for cell in cells(book) if cell["cell_type"] == "markdown"]
    assert texts[0].startswith("# ")
    assert all(len(text) < 500 for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_notebook_runs_on_adult(
    book: Path, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_DATA", str(data_dir))
    with kernel(tmp_path) as living:
        shown = run(living, book)
    assert [text for text in SHOWN[book.stem] if text not in shown] == []
    assert "work_class" in shown


@pytest.mark.slow
@pytest.mark.parametrize("book", BOOKS, ids=lambda book: book.stem)
def test_notebook_runs_on_generated_people(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path / "nowhere"))
    with kernel(tmp_path) as living:
        shown = run(living, book)
    assert [text for text in SHOWN[book.stem] if text not in shown] == []
