"""The example of ``docs/reproduce.md`` works as printed, and its figures are those of the tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discreet.verbs.table import Table
from discreet.verbs.table import open as open_table
from tests.papers.test_reproductions import WHOLE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reproduce.md").read_text(encoding="utf-8")


def test_the_example_makes_a_table_that_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "reproduce.md", "exec"), names)
    attributes = names["table"].attributes()  # type: ignore[attr-defined]
    table: Table = open_table(tmp_path / "synthetic.csv", {"attributes": attributes})
    assert table.frequency_set.rows == 10_000
    assert table.frequency_set.attributes == ("a1", "a2", "a3", "a4", "a5")


def test_the_page_tells_the_counts_of_a_whole_run() -> None:
    same, known = WHOLE["negotiation"]
    told = re.search(
        r"Of the (\d+) printed figures .*?, (\d+) come out the same and (\d+) differ", PAGE, re.DOTALL
    )
    assert told is not None
    assert [int(number) for number in told.groups()] == [same + known, same, known]
