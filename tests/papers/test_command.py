"""``python -m papers``: tables in the terminal, one JSON document, the page, and errors."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from papers import negotiation_study, reproduction
from papers.comparison import Deviation
from tests.cli.conftest import Run


def test_tables_in_the_terminal_and_a_page(run: Run, data_dir: Path, tmp_path: Path) -> None:
    found = run("partial-lattice", "--quick", "--data", data_dir)
    assert found.status == 0
    assert found.out.startswith("Partial lattices against the full one\n")
    assert "Plot metrics.svg: " in found.out
    assert all(len(line) <= 100 for line in found.out.splitlines())
    folder = tmp_path / "work" / "out" / "reproduce" / "partial-lattice"
    assert (folder / "README.md").is_file()
    assert (folder / "metrics.svg").is_file()


def test_one_json_document(run: Run, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_DATA", str(data_dir))
    found = run("partial-lattice", "--quick", "--json", "--output", "here")
    assert found.status == 0
    document = found.json
    assert list(document) == ["name", "title", "source", "quick", "figures", "sections", "page"]
    assert document["quick"] is True
    assert document["page"] == str(Path("here", "README.md"))
    (table, *_) = document["sections"][0]["tables"]
    assert set(table) == {"name", "title", "columns", "rows", "note"}
    assert all(len(row) == len(table["columns"]) for row in table["rows"])


@pytest.mark.slow
def test_a_difference_without_a_reason_is_told_by_the_exit_status(
    run: Run, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgotten(paper: str) -> tuple[Deviation, ...]:
        return ()

    monkeypatch.setattr(negotiation_study, "known_deviations", forgotten)
    found = run("negotiation", "--quick", "--data", data_dir)
    assert found.status == 1
    assert "✗" in found.out
    assert "no reason is known" in found.out


def test_an_unknown_name(run: Run) -> None:
    found = run("mandrian", "--json")
    assert found.status == 2
    assert found.json["error"]["allowed"].startswith("negotiation, partial-lattice, incognito")


def test_missing_data(run: Run, tmp_path: Path) -> None:
    found = run("negotiation", "--data", tmp_path / "nowhere")
    assert found.status == 2
    assert "is not in the data folder" in found.err
    assert "DISCREET_DATA" in found.err


def test_without_matplotlib(run: Run, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = run("partial-lattice", "--quick", "--data", data_dir)
    assert found.status == 2
    assert "pip install matplotlib" in found.err


def test_the_default_folder_of_data_is_beside_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    assert reproduction.data_folder(None) == Path("..", "shared", "data")
