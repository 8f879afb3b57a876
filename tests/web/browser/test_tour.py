"""The tour: pressing only the named controls leads from the sample to a printed report."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import OpenPage
from tests.web.browser.whole_way import LONG, ready
from tests.web.running import RunningWorkbench


def press_what_it_says(page: Page) -> tuple[str, str]:
    """Press the control that the tour names; return the sentence and its mark."""
    strip = page.locator(".tour")
    expect(strip).to_contain_text("Press ", timeout=LONG)
    mark, said = strip.get_attribute("data-of") or "", strip.locator("p").inner_text()
    named = strip.locator("p b").inner_text()
    if "in the line above" in said:
        page.locator("#steps a", has_text=named).click()
    else:
        page.locator("dialog[open], main").get_by_text(named, exact=True).locator("visible=true").last.click()
    return said, mark


def test_the_tour_alone_leads_from_the_sample_to_a_printed_report(page: Page) -> None:
    """The tour survives a reload, and can be stopped and restarted."""
    ready(page, "load")
    strip = page.locator(".tour")
    page.get_by_role("button", name="Take the tour of three minutes").click()
    expect(strip).to_contain_text("Open the sample")
    page.reload()
    expect(strip).to_contain_text(re.compile("1 of 8.*Open the sample", re.DOTALL))
    expect(page.locator(".tour-target")).to_have_text("Open the sample")
    page.get_by_role("button", name="Stop the tour").click()
    page.reload()
    ready(page, "load")
    expect(strip).to_have_count(0)
    page.get_by_role("button", name="Take the tour of three minutes").click()
    said: list[str] = []
    while True:
        expect(strip).to_contain_text("Press ", timeout=LONG)
        if "Read the report" in strip.inner_text():
            with page.context.expect_page() as opened:
                said.append(press_what_it_says(page)[0])
            break
        sentence, mark = press_what_it_says(page)
        said.append(sentence)
        changed = "before => document.querySelector('.tour').dataset.of !== before"
        page.wait_for_function(changed, arg=mark, timeout=LONG)
        assert len(said) < 15
    report = opened.value
    report.wait_for_load_state()
    assert "classes" in report.inner_text("body")
    assert report.pdf().startswith(b"%PDF")
    report.close()
    expect(strip).to_contain_text("That was the tour.")
    strip.get_by_role("button", name="End").click()
    expect(strip).to_have_count(0)
    assert all(sentence.startswith("Press ") for sentence in said)


@pytest.mark.slow
def test_the_tour_on_a_phone_covers_nothing_that_it_names(
    open_page: OpenPage, workbench: RunningWorkbench
) -> None:
    page = open_page(workbench.start_link, viewport={"width": 390, "height": 844})
    ready(page, "load")
    page.get_by_role("button", name="Take the tour of three minutes").click()
    press_what_it_says(page)
    expect(page.locator(".tour")).to_contain_text("2 of 8", timeout=LONG)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
