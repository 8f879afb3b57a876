"""A file with the manifest's name that is not a discreet manifest is never replaced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.drawing import in_turn
from tests.oracle.patients import patients


@pytest.mark.parametrize(
    ("text", "model", "overwrite"),
    in_turn(
        ["my own notes", "", "[]", '{"manifest": 3, "version": "1.2"}', "[" * 100_000, "\udcff"],
        ["full-domain", "permutation"],
        [False, True],
    ),
)
def test_foreign_file_is_not_replaced(
    model: str, text: str, overwrite: bool, settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    notes = out / "r.csv.manifest.json"
    notes.write_text(text, encoding="utf-8", errors="surrogateescape")
    before = notes.read_bytes()
    with pytest.raises(InputError, match=r"exists and is not a discreet manifest.*Move it away"):
        table.publish(model, out / "r.csv", k=2, overwrite=overwrite)
    assert [path.read_bytes() for path in out.iterdir()] == [before]


def test_manifest_without_data_is_replaced_as_a_leftover(
    settings: Settings, tmp_path: Path, out: Path
) -> None:
    table = Table(patients(tmp_path), settings)
    table.publish("full-domain", out / "r.csv", k=2)
    (out / "r.csv").unlink()
    release = table.publish("full-domain", out / "r.csv", k=3)
    assert json.loads(release.manifest_path.read_text())["requirement"]["k"] == 3
