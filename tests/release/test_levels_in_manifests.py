"""Manifests and reports reveal no more of suppressed values than the published cells: nothing."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.bounds.queryable_release import open_release
from discreet.engines.base import Engine
from discreet.hierarchy import FileHierarchy, MaskHierarchy
from discreet.model.hierarchy import PublicPart
from discreet.models import Permutation
from discreet.release.manifest import read_manifest
from discreet.release.publication_evidence import find_public_part
from discreet.settings import Settings
from discreet.verbs.table import Table
from tests.drawing import NEW

ZIPS = ("N2138", "N2139")
LONG, SHORT = ("N9999123456789",) * 6, ("N9999",) * 6
ROWS = [["a", "*"], ["b", "*"], ["cc", "*"], ["dddd", "*"]]

KINDS: dict[str, tuple[Any, Sequence[str], Sequence[str], Sequence[str], int | str]] = {
    "mask": ({"kind": "mask"}, ZIPS, SHORT, LONG, 2),
    "mask, every character": ({"kind": "mask"}, ZIPS, SHORT, LONG, 5),
    "mask, the top": ({"kind": "mask"}, ZIPS, SHORT, LONG, "top"),
    "mask, as it is": ({"kind": "mask"}, ZIPS, SHORT, LONG, 0),
    "mask from the left": ({"kind": "mask", "from": "left", "character": "#"}, ZIPS, SHORT, LONG, 5),
    "mask in steps": ({"kind": "mask", "steps": [2, 3, 4]}, ZIPS, SHORT, LONG, 2),
    "mask, padded, the top": ({"kind": "mask", "pad": True}, ZIPS, SHORT, LONG, "top"),
    "mask of a length": ({"kind": "mask", "pad": True, "length": 14}, ZIPS, SHORT, LONG, 10),
    "intervals": ({"kind": "intervals", "widths": [10]}, ("11", "12"), ("55",) * 6, ("550000",) * 6, 1),
    "others": (
        {"kind": "intervals", "widths": [10], "others": ["unknown"]},
        ("unknown",) * 2,
        ("unknown",) * 6,
        ("17",) * 6,
        0,
    ),
    "an open end": (
        {"kind": "intervals", "width": 10, "upper": "data"},
        ("11", "12"),
        ("55",) * 6,
        ("550000",) * 6,
        1,
    ),
    "dates": (
        {"kind": "dates"},
        ("2020-01-01", "2020-01-02"),
        ("1999-01-01",) * 6,
        ("1066-10-14",) * 6,
        1,
    ),
    "order": ({"kind": "order", "fanout": 2}, ("1", "2"), ("3",) * 6, tuple("345678"), "top"),
    "order in sizes": ({"kind": "order", "sizes": [2]}, ("1", "2"), ("3",) * 6, tuple("345678"), "top"),
    "auto": ({"kind": "auto"}, ("1", "2"), ("3",) * 6, tuple("345678"), "top"),
    "frequency": (
        {"kind": "auto", "by": "frequency"},
        ("a", "b"),
        ("c",) * 6,
        ("c", "d", "e", "f", "g", "h"),
        "top",
    ),
    "levels": ({"kind": "levels", "rows": ROWS}, ("a", "b"), ("cc",) * 6, ("dddd",) * 6, 1),
    "taxonomy": ({"kind": "taxonomy", "tree": ["a", "b", "c", "d"]}, ("a", "b"), ("c",) * 6, ("d",) * 6, 1),
    "none": (None, ("a", "b"), ("c",) * 6, tuple("cdefgh"), 1),
}


def table_with(
    folder: Path, settings: Settings, hierarchy: Any, shown: Sequence[str], hidden: Sequence[str]
) -> Table:
    """Return a table of eight rows of two values in Kiel, and six persons each with their own town."""
    folder.mkdir()
    rows = [("Kiel", value, f"ill {i % 3}") for i, value in enumerate(shown * 4)]
    rows += [(f"town {i}", value, f"ill {i % 3}") for i, value in enumerate(hidden)]
    with (folder / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("town", "code", "ill"), *rows])
    code = {"role": "quasi-identifier"} | ({} if hierarchy is None else {"hierarchy": hierarchy})
    attributes = {"town": {"role": "quasi-identifier"}, "code": code, "ill": {"role": "sensitive"}}
    return discreet.open(folder / "rows.csv", {"attributes": attributes}, settings=settings)


def published_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest without the digest of the shuffled rows."""
    document: dict[str, Any] = json.loads(path.with_name(path.name + ".manifest.json").read_text())
    assert re.fullmatch("[0-9a-f]{64}", document["data"].pop("sha256"))
    return document


@pytest.mark.parametrize("name", KINDS)
def test_suppressed_values_do_not_change_the_manifest(name: str, tmp_path: Path, settings: Settings) -> None:
    hierarchy, shown, one, other, level = KINDS[name]
    formats = ("out.csv", "out.parquet") if NEW or name in ("mask", "none") else ("out.csv",)
    manifests, cells, heights = [], [], []
    for folder, hidden in ((tmp_path / "a", one), (tmp_path / "b", other)):
        table = table_with(folder, settings, hierarchy, shown, hidden)
        heights.append(table.frequency_set.hierarchies[1].height)
        node = {"town": 0, "code": heights[-1] if level == "top" else int(level)}
        for output in formats:
            table.publish(node, folder / output, k=4, max_suppressed=6)
        manifests.append([published_manifest(folder / output) for output in formats])
        cells.append((folder / "out.csv").read_text().splitlines())
    assert sorted(cells[0]) == sorted(cells[1])
    assert manifests[0] == manifests[1]
    assert manifests[0][0]["suppression"]["rows"] == 6
    if name in ("mask", "mask, padded, the top", "order", "frequency"):
        assert heights[0] != heights[1]


@pytest.mark.parametrize("level", [0, 2, 5] if NEW else [0, 2])
def test_report_does_not_disclose_the_length_of_suppressed_values(
    level: int, tmp_path: Path, settings: Settings
) -> None:
    pages = []
    for folder, hidden in ((tmp_path / "a", SHORT), (tmp_path / "b", LONG)):
        table = table_with(folder, settings, {"kind": "mask"}, ZIPS, hidden)
        table.publish({"town": 0, "code": level}, folder / "out.csv", k=4, max_suppressed=6)
        made = discreet.report(folder / "out.csv", table=table, settings=settings)
        text = made.path.read_text()
        sha256 = read_manifest(folder / "out.csv").sha256
        pages.append(text.replace(sha256, "").replace(sha256[:16], "").replace(str(folder), ""))
    assert pages[0] == pages[1]
    assert ("<td>above 0</td>" in pages[0]) is (level > 0)
    assert "precision" not in pages[0]


@pytest.mark.parametrize("model", ["full-subtree", "full-domain"])
def test_no_model_discloses_the_length_of_suppressed_values(
    model: str, tmp_path: Path, settings: Settings
) -> None:
    manifests = []
    for folder, hidden in ((tmp_path / "a", SHORT), (tmp_path / "b", LONG)):
        table = table_with(folder, settings, {"kind": "mask"}, ZIPS, hidden)
        table.publish(table.recode(model, k=4, max_suppressed="50%"), folder / "out.csv")
        manifests.append(published_manifest(folder / "out.csv"))
    assert manifests[0] == manifests[1]


def test_column_of_an_omitted_level_counts_as_generalized(
    engine: Engine, tmp_path: Path, settings: Settings
) -> None:
    """A level that the manifest omits counts as a generalized column.

    The publisher still sees the level, and a query of the release treats the cells as labels.
    """
    table = table_with(tmp_path / "a", settings, {"kind": "mask"}, ZIPS, SHORT)
    for model, output in (("full-domain", "out.csv"), ("permutation", "permuted.csv")):
        place = tmp_path / "a" / output
        if model == "permutation":
            release = table.publish(Permutation(level={"town": 0, "code": 2}), place, k=2)
        else:
            release = table.publish({"town": 0, "code": 2}, place, k=4, max_suppressed=6)
        assert release.levels == {"town": 0, "code": 2}
        assert read_manifest(place).levels == {"town": 0}
        assert read_manifest(place).as_json() == json.loads(
            place.with_name(output + ".manifest.json").read_text()
        )
        with open_release(engine, place, settings) as opened:
            assert opened.generalized(("town", "code", "ill")) == ("code",)


def test_source_without_a_public_part_discloses_nothing() -> None:
    class Silent:
        origin = "somebody's own"

    assert find_public_part(Silent()) is PublicPart.NOTHING  # type: ignore[arg-type]
    assert find_public_part(MaskHierarchy()) is PublicPart.NOTHING
    assert find_public_part(MaskHierarchy(pad=True, length=5)) is PublicPart.LEVELS
    assert find_public_part(FileHierarchy(Path("x"))) is PublicPart.HIERARCHY
    assert find_public_part(None) is PublicPart.LEVELS
