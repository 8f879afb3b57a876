"""Percentages on the pages: shares, and ratios that may be negative or exceed 100 %."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

ALL = """async (values) => {
  const { share, roughShare, ratio } = await import("/static/format.js");
  const plain = (text) => text.replace("\\u00a0", " ");
  return values.map((value) => [share(value), roughShare(value), ratio(value)].map(plain));
}"""
ANSWERS = """async (rows) => {
  const { answers } = await import("/static/analyst/answers.js");
  const found = { columns: ["education"], truth: true, suppressed: 0, warnings: [], rows, sql: null };
  const place = document.createElement("div");
  place.append(...answers(found, { isWhole: true }).flat().filter(Boolean));
  const plain = ({ innerText }) => innerText.replaceAll("\\u00a0", " ");
  const rows_shown = [...place.querySelectorAll("tbody tr")];
  return {
    sentence: plain(place.querySelector(".sentence")),
    cells: rows_shown.map((row) => [...row.children].map(plain)),
  };
}"""
COMPARED = """async (candidates) => {
  const { candidateTable } = await import("/static/compare/candidates.js");
  const { sentenceOf } = await import("/static/compare/sentence.js");
  const found = { candidates, best: {}, queries: 40, request: { k: 5, l: null, max_suppressed: 0 } };
  const table = candidateTable(found, null, { onChoose() {}, onForget() {} });
  const plain = (text) => text.replaceAll("\\u00a0", " ");
  const rows = [...table.querySelectorAll("tbody tr")].map((row) => row.innerText);
  return [sentenceOf(candidates), ...rows].map(plain);
}"""


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (0, ["0 %", "0 %", "0 %"]),
        (1, ["100 %", "100 %", "100 %"]),
        (0.382, ["38.2 %", "38 %", "38.2 %"]),
        (0.004, ["0.4 %", "<1 %", "0.4 %"]),
        (0.00001, ["<0.01 %", "<1 %", "<0.01 %"]),
        (0.9997, ["99.97 %", ">99 %", "100 %"]),
        (0.99999, [">99.99 %", ">99 %", "100 %"]),
        (1 + 1e-12, ["100 %", "100 %", "100 %"]),
        (8.43, ["843 %"] * 3),
        (-0.125, ["-12.5 %"] * 3),
        (14.623, ["1,462 %"] * 3),
    ],
)
def test_share_and_ratio_of_a_value(page: Page, value: float, texts: list[str]) -> None:
    assert page.evaluate(ALL, [value]) == [texts]


def row(group: str, truth: float, estimate: float) -> dict[str, Any]:
    return {
        "group": {"education": group},
        "aggregate": "COUNT(*)",
        "truth": truth,
        "estimate": estimate,
        "lower": 0,
        "upper": 2 * estimate,
        "holds": True,
    }


def test_analyst_shows_errors_above_100_percent(page: Page) -> None:
    found = page.evaluate(ANSWERS, [row("12th", 92, 867.667), row("HS-grad", 100, 150), row("9th", 100, 0)])
    assert found["sentence"] == "3 answers. The mean error is 331 %, the largest 843 %."
    assert [cells[6] for cells in found["cells"]] == ["843 %", "50 %", "100 %"]
    many = page.evaluate(ANSWERS, [*(row(f"g{i}", 10, 10) for i in range(600)), row("last", 10, 26)])
    assert many["sentence"].startswith("601 answers."), "rows that the table leaves out count, too"
    assert many["sentence"].endswith("the largest 160 %.")


def test_compare_shows_errors_above_100_percent(page: Page) -> None:
    def contender(letter: str, detail: float, found: float, error: float) -> dict[str, Any]:
        figures = {
            "detail": detail,
            "found": found,
            "highest": 0.2,
            "kept": 10,
            "query_error": error,
            "why": None,
        }
        about = {"letter": letter, "name": letter, "kind": "answer", "title": "Every column alike"}
        unmet = "its groups do not all meet k = 6" if letter == "A" else None
        request = {"asked": f"k = 5 of {letter}", "meets": unmet is None, "unmet": unmet}
        return {**about, **request, "figures": figures}

    sentence, *rows = page.evaluate(
        COMPARED, [contender("A", 0.9999, 0.098, 8.43), contender("B", 0.45, 0.04, 0.5)]
    )
    assert sentence == "A keeps 2.2 times the detail of B, at 2.5 times the re-identification risk."
    assert "843 %" in rows[0]
    assert ">99 %" in rows[0]
    assert "k = 5 of A" in rows[0]
    assert "k = 5 of B" in rows[1]
    assert "Does not meet the current request: its groups do not all meet k = 6" in rows[0]
    assert "current request" not in rows[1]


def test_sentence_counts_groups_with_one_value(page: Page) -> None:
    answer = {
        "outcome": "exact",
        "rows": 10,
        "request": {"k": 3, "l": None},
        "requirement": "k=3",
        "answers": [{"suppressed": 0}],
        "homogeneous": {"main_diagnosis": 1, "income": 0, "city": 1200},
    }
    sentence = page.evaluate(
        """async (answer) => {
          const { sentenceOf } = await import("/static/negotiate/words.js");
          return sentenceOf(answer, { unit: "rows", sensitive: [], criteria: [] });
        }""",
        answer,
    )
    assert sentence == (
        "No group has fewer than 3 rows. No row is suppressed. In 1 group everyone has the same main "
        "diagnosis. In 1,200 groups everyone has the same city."
    )
