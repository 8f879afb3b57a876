"""Fixtures of people with a spec that has public domains and a budget."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from discreet.spec.toml_writer import format_spec
from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table

Row = tuple[str | None, str | None, str | None]
Made = Callable[..., Table]

ATTRIBUTES: dict[str, Any] = {
    "age": {
        "role": "quasi-identifier",
        "hierarchy": {"kind": "intervals", "widths": [10, 20]},
        "domain": {"least": 20, "most": 59},
    },
    "sex": {"role": "quasi-identifier", "domain": ["F", "M"]},
    "disease": {"role": "sensitive"},
}
PEOPLE: list[Row] = [("23", "F", "flu"), ("27", "M", "cold"), ("41", "F", "flu"), (None, "M", "flu")]
PEOPLE += [("77", "F", "cold"), ("58", "x", None)]


def csv_of(rows: Sequence[Sequence[str | None]], names: Sequence[str]) -> str:
    """Return rows as CSV; NULL is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return a function that makes a table of people in its own folder, with its spec."""
    monkeypatch.setenv("DISCREET_LOG", str(tmp_path / "private" / "log.jsonl"))
    monkeypatch.setenv("DISCREET_THREADS", "1")

    def make(
        rows: Sequence[Sequence[str | None]] = tuple(PEOPLE),
        *,
        names: Sequence[str] = ("age", "sex", "disease"),
        folder: str = "work",
        budget: Mapping[str, Any] | None = None,
        attributes: Mapping[str, Any] | None = None,
        **source: Any,
    ) -> Table:
        work = tmp_path / folder
        work.mkdir(exist_ok=True)
        (work / "people.csv").write_text(csv_of(rows, names), encoding="utf-8")
        document = {
            "source": {"path": "people.csv", **source},
            "attributes": {**ATTRIBUTES, **(attributes or {})},
            "privacy_budget": {"epsilon": "1", "delta": "0.001"} if budget is None else budget,
        }
        (work / "discreet.toml").write_text(format_spec(document), encoding="utf-8")
        return open_table(work / "discreet.toml")

    return make
