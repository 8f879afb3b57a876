"""Compare in a browser: saved answers, every model, rows side by side, and copied texts."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from discreet.cli.main import main
from tests.waiting import wait_for
from tests.web.browser.conftest import PHONE, OpenPage
from tests.web.browser.test_accessibility import violations
from tests.web.browser.test_release_screens import small
from tests.web.browser.whole_way import LONG, go_to
from tests.web.running import RunningWorkbench

__all__ = ["small"]

SAVE = """async ([name, levels]) => {
  const request = {k: 2, max_suppressed: "50%"};
  const body = JSON.stringify({name, request, levels});
  const headers = {"content-type": "application/json"};
  await fetch("/api/compare/saved", {method: "POST", headers, body});
}"""


def opened(open_page: OpenPage, workbench: RunningWorkbench, **options: object) -> Page:
    page = open_page(workbench.start_link, **options)
    page.wait_for_selector("body[data-ready]", timeout=LONG)
    go_to(page, "negotiate")
    page.wait_for_selector("[data-move]", timeout=LONG)
    return page


def compare(page: Page) -> None:
    for name, levels in (("Fine", {"age": 1, "city": 1}), ("Coarse", {"age": 3, "city": 2})):
        page.evaluate(SAVE, [name, levels])
    page.evaluate("location.hash = '#/compare'")
    page.wait_for_selector("body[data-ready=compare]", timeout=LONG)
    expect(page.locator(".contenders tbody tr")).to_have_count(2)
    expect(page.locator(".compare-work .progress")).to_have_count(0, timeout=LONG)


def test_answers_stand_side_by_side_with_their_rows(open_page: OpenPage, small: RunningWorkbench) -> None:
    page = opened(open_page, small)
    compare(page)
    expect(page.locator("h1")).to_contain_text("Fine keeps")
    expect(page.locator(".scatter-letters .letter")).to_have_count(2)
    rows = page.locator(".paired-rows .paired-row")
    expect(rows.first).to_be_visible()
    assert page.locator(".paired-row.out").count() == 0
    page.get_by_role("button", name="Show who is suppressed").click()
    expect(page.locator(".paired-row.out").first).to_contain_text("suppressed")
    page.get_by_role("button", name="B: Coarse. Show its rows").first.click()
    expect(page.locator(".paired-titles")).to_contain_text("Coarse")
    page.locator(".paired").evaluate("e => e.style.setProperty('--columns', '40')")  # wider than one side
    page.locator(".paired-scroll").press("ArrowRight")
    wait_for(
        lambda: page.locator(".paired").evaluate("e => e.style.getPropertyValue('--shift')") == "70px",
        "moved",
    )
    left = page.locator(".paired-columns .paired-side").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().left)"
    )
    assert left[1] - left[0] > 0, "both sides move as one"
    page.reload()
    expect(page.locator(".paired-titles")).to_contain_text("Coarse", timeout=LONG)
    page.get_by_role("button", name="Publish B").click()
    page.wait_for_selector("body[data-ready=publish]", timeout=LONG)
    expect(page.get_by_text("The node chosen in Negotiate")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_every_model_is_tried_stands_in_the_table_and_passes_axe(
    open_page: OpenPage, small: RunningWorkbench, scheme: str
) -> None:
    page = opened(open_page, small, color_scheme=scheme)
    compare(page)
    page.get_by_role("button", name="Try every model").click()
    expect(page.locator(".contenders tbody tr").nth(5)).to_be_visible(timeout=LONG)
    expect(page.locator(".compare-work .progress")).to_have_count(0, timeout=LONG)
    expect(page.locator(".contenders")).to_contain_text("Mondrian")
    assert violations(page) == []


@pytest.mark.slow
def test_compare_fits_a_phone(open_page: OpenPage, small: RunningWorkbench) -> None:
    page = opened(open_page, small, viewport=PHONE)
    compare(page)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def copied(page: Page, begins: str) -> str:
    """Return the clipboard's text once it begins with ``begins``."""

    def look() -> str:
        text = str(page.evaluate("navigator.clipboard.readText()"))
        return text if text.startswith(begins) else ""

    return wait_for(look, f"a text that begins with {begins} is copied")


def test_what_is_copied_runs(
    open_page: OpenPage, small: RunningWorkbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(open_page, small, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the command").first.click()
    text = copied(page, "discreet")
    program, verb, *words = shlex.split(text)
    assert (program, verb) == ("discreet", "negotiate")
    monkeypatch.chdir(tmp_path)
    assert main([verb, *words]) in (0, 3)
    go_to(page, "publish")
    page.get_by_label("Model", exact=True).select_option("mondrian")
    page.get_by_role("button", name="Copy as Python").click()
    text = copied(page, "import")
    exec(compile(text, "copied", "exec"), {})
    assert len(list(tmp_path.glob("release-*.csv"))) == 1
