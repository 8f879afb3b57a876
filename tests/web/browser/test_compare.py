"""Compare in a browser: saved answers, every model, rows in pairs, and the copy buttons."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.waiting import wait_for
from tests.web.browser.conftest import PHONE, OpenPage
from tests.web.browser.test_accessibility import violations
from tests.web.browser.test_release_screens import small
from tests.web.browser.workflow import LONG, go_to, negotiate
from tests.web.running import RunningWorkbench

__all__ = ["small"]

SAVE = """async ([name, levels]) => {
  const request = {k: 2, max_suppressed: "50%"};
  const body = JSON.stringify({name, request, levels});
  const headers = {"content-type": "application/json"};
  await fetch("/api/compare/saved", {method: "POST", headers, body});
}"""


def compare(open_page: OpenPage, workbench: RunningWorkbench, **options: object) -> Page:
    """Save two answers and open the comparison."""
    page = negotiate(open_page, workbench, **options)
    for name, levels in (("Fine", {"age": 1, "city": 1}), ("Coarse", {"age": 3, "city": 2})):
        page.evaluate(SAVE, [name, levels])
    page.evaluate("location.hash = '#/compare'")
    page.wait_for_selector("body[data-ready=compare]", timeout=LONG)
    expect(page.locator(".candidates tbody tr")).to_have_count(2)
    expect(page.locator(".compare-work .progress")).to_have_count(0, timeout=LONG)
    return page


def test_answers_are_compared_with_their_rows(open_page: OpenPage, small: RunningWorkbench) -> None:
    page = compare(open_page, small)
    expect(page.locator("h1")).to_contain_text("Fine keeps")
    expect(page.locator(".scatter-letters .letter")).to_have_count(2)
    expect(page.locator(".paired-rows .paired-row").first).to_be_visible()
    assert page.locator(".paired-row.out").count() == 0
    page.get_by_role("button", name="Show suppressed rows").click()
    expect(page.locator(".paired-row.out").first).to_contain_text("suppressed")
    page.get_by_role("button", name="B: Coarse. Show its rows").first.click()
    expect(page.locator(".paired-titles")).to_contain_text("Coarse")
    page.locator(".paired").evaluate("e => e.style.setProperty('--columns', '40')")  # wider than one side
    page.locator(".paired-scroll").press("ArrowRight")
    shift = "e => e.style.getPropertyValue('--shift')"
    wait_for(lambda: page.locator(".paired").evaluate(shift) == "70px", "both sides moved")
    left = page.locator(".paired-columns .paired-side").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().left)"
    )
    assert left[1] - left[0] > 0, "both sides move as one"
    page.reload()
    expect(page.locator(".paired-titles")).to_contain_text("Coarse", timeout=LONG)
    page.get_by_role("button", name="Publish B").click()
    page.wait_for_selector("body[data-ready=publish]", timeout=LONG)
    expect(page.get_by_text("The node chosen in Negotiate")).to_be_visible()


@pytest.mark.parametrize(
    "options",
    [{}, pytest.param({"color_scheme": "dark", "viewport": PHONE}, marks=pytest.mark.slow)],
    ids=str,
)
def test_every_model_is_tried_and_passes_axe(
    open_page: OpenPage, small: RunningWorkbench, options: dict[str, object]
) -> None:
    page = compare(open_page, small, **options)
    page.get_by_role("button", name="Try every model").click()
    expect(page.locator(".candidates tbody tr").nth(5)).to_be_visible(timeout=LONG)
    expect(page.locator(".compare-work .progress")).to_have_count(0, timeout=LONG)
    expect(page.locator(".candidates")).to_contain_text("Mondrian")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def test_copy_buttons_fill_the_clipboard(open_page: OpenPage, small: RunningWorkbench) -> None:
    """The routes' tests run the scripts."""
    page = negotiate(open_page, small, permissions=["clipboard-read", "clipboard-write"])
    read = "navigator.clipboard.readText()"
    page.get_by_role("button", name="Copy the command").first.click()
    wait_for(lambda: str(page.evaluate(read)).startswith("discreet negotiate"), "a command is copied")
    go_to(page, "publish")
    page.get_by_label("Model", exact=True).select_option("mondrian")
    page.get_by_role("button", name="Copy as Python").click()
    wait_for(lambda: str(page.evaluate(read)).startswith("import"), "a program is copied")
