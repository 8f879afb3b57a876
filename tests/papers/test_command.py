"""``python -m papers``: tables in the terminal, one JSON document, the page, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from papers import negotiation_study
from papers.comparison import Deviation
from tests.cli.conftest import Run


def test_json_option_prints_one_document(
    run: Run, data_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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
    assert {"README.md", "metrics.svg"} <= {path.name for path in (tmp_path / "work" / "here").iterdir()}


@pytest.mark.slow
def test_exit_status_with_unexplained_difference_is_one(
    run: Run, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgotten(paper: str) -> tuple[Deviation, ...]:
        return ()

    monkeypatch.setattr(negotiation_study, "known_deviations", forgotten)
    found = run("negotiation", "--quick", "--data", data_dir)
    assert found.status == 1
    assert "✗" in found.out
    assert "no reason is known" in found.out


def test_unknown_name_is_a_usage_error(run: Run) -> None:
    found = run("mandrian", "--json")
    assert found.status == 2
    assert found.json["error"]["allowed"].startswith("negotiation, partial-lattice, incognito")


def test_missing_data_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    found = run("negotiation", "--data", tmp_path / "nowhere")
    assert found.status == 2
    assert "is not in the data folder" in found.err
    assert "DISCREET_DATA" in found.err
