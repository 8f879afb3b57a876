"""Findings of ``init``: later verbs find them again or repeat them from the spec."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import discreet
from discreet.settings import Settings

ROWS = 60


def proposed(
    folder: Path, settings: Settings, columns: dict[str, list[str]]
) -> tuple[tuple[str, ...], discreet.Table]:
    """Return the warnings of ``init``, and the table opened with the spec that it wrote."""
    lines = [",".join(columns), *(",".join(cells) for cells in zip(*columns.values(), strict=True))]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = discreet.init(folder / "rows.csv", folder / "discreet.toml", settings=settings)
    return found.warnings, discreet.open(folder / "discreet.toml", settings=settings)


BASE = {"sex": ["m", "f"] * (ROWS // 2), "town": ["a", "b", "c"] * (ROWS // 3)}
PARTS = {
    "net": [str(1000 + 7 * i % 97) for i in range(ROWS)],
    "tax": [str(100 + 3 * i % 41) for i in range(ROWS)],
}
ODD: dict[str, tuple[dict[str, list[str]], str]] = {
    "strange age": (
        {"age": ["-9", *(str(20 + i % 40) for i in range(ROWS - 1))]},
        "'age' holds -9, which is not an age",
    ),
    "missing": (
        {"visits": ["9999", *(str(i % 20) for i in range(ROWS - 1))]},
        "Numbers that may mean a missing value, in 'visits'",
    ),
    "lost zeros": (
        {"office": [("0" + str(i % 4 + 1000)) if i % 2 else str(i % 5 + 2000) for i in range(ROWS)]},
        "Some codes begin with a zero",
    ),
    "capitals": (
        {"place": ["Bonn", "bonn", "Jena", "JENA"] * (ROWS // 4)},
        "Values differ only in capitals or blanks, in 'place' (4 values, then 2)",
    ),
    "sums": (
        {**PARTS, "gross": [str(int(a) + int(b)) for a, b in zip(*PARTS.values(), strict=True)]},
        "'gross' = 'net' + 'tax'",
    ),
}


@pytest.mark.parametrize("kind", ODD)
def test_warnings_of_init_are_repeated(tmp_path: Path, settings: Settings, kind: str) -> None:
    columns, words = ODD[kind]
    warnings, table = proposed(tmp_path, settings, {**BASE, **columns})
    assert len([text for text in warnings if words in text]) == 1
    assert len([text for text in table.inspect().warnings if words in text]) == 1
    result = table.negotiate(k=2, max_suppressed="50%")
    assert len([text for text in result.warnings if words in text]) == 1
    released = table.publish(result.exact, tmp_path / "out.csv")
    assert len([text for text in released.release.warnings if words in text]) == 1
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert not [each for each in manifest["warnings"] if words in each["text"]], "no value of a row"


def test_columns_dropped_by_init_are_reported_until_the_line_is_removed(
    tmp_path: Path, settings: Settings
) -> None:
    answers = {f"answer{i}": [str((row * 7 + i) % (5 + i)) for row in range(ROWS)] for i in range(30)}
    warnings, table = proposed(tmp_path, settings, {**BASE, **answers})
    words = "are dropped until you decide"
    assert any(words in text for text in warnings)
    assert any(words in text for text in table.negotiate(k=2, max_suppressed="100%").warnings)
    text = (tmp_path / "discreet.toml").read_text()
    assert "# Every verb repeats these until you remove them." in text
    kept = [line for line in text.splitlines() if not line.startswith("warnings = ")]
    (tmp_path / "discreet.toml").write_text("\n".join(kept))
    again = discreet.open(tmp_path / "discreet.toml", settings=settings)
    assert not any(words in text for text in again.negotiate(k=2, max_suppressed="100%").warnings)


def test_init_proposes_an_l_of_two_for_sensitive_columns(tmp_path: Path, settings: Settings) -> None:
    columns = {**BASE, "diagnosis": ["flu", "cold", "flu"] * (ROWS // 3)}
    _, table = proposed(tmp_path, settings, columns)
    assert table.spec.request.l == 2
    assert "all people of a group may" in (tmp_path / "discreet.toml").read_text()
    assert table.negotiate(k=2, max_suppressed="50%").exact.l == 2


def test_init_proposes_an_l_for_columns_that_can_have_it(tmp_path: Path, settings: Settings) -> None:
    columns = {**BASE, "diagnosis": ["flu", "cold", "flu"] * (ROWS // 3), "income": ["", *["7"] * (ROWS - 1)]}
    _, table = proposed(tmp_path, settings, columns)
    assert table.spec.request.l == {"diagnosis": 2}


def test_l_without_a_sensitive_column_is_not_used(tmp_path: Path, settings: Settings) -> None:
    columns = {**BASE, "diagnosis": ["flu", "cold", "flu"] * (ROWS // 3)}
    proposed(tmp_path, settings, columns)
    spec = (tmp_path / "discreet.toml").read_text().replace('role = "sensitive"', 'role = "identifier"')
    (tmp_path / "discreet.toml").write_text(spec)
    table = discreet.open(tmp_path / "discreet.toml", settings=settings)
    assert "request.l = 2 is not used, as no attribute is sensitive." in table.inspect().warnings
    assert table.negotiate(k=2, max_suppressed="50%").exact.l is None
