"""A folder has no file extension and no information about its cells."""

from __future__ import annotations

from pathlib import Path

from discreet.engines.files.sources import describe_cell_reading
from discreet.model.table_spec import SourceSpec


def test_a_folder_tells_nothing_of_its_cells(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    assert describe_cell_reading(SourceSpec(path=folder)) == ()
