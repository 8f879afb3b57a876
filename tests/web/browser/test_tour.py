"""The tour: pressing only the named controls leads from the sample to a printed report."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.web.browser.workflow import LONG, ready


def press_named_control(page: Page) -> tuple[str, str]:
    """Press the control that the tour names; return the sentence and its mark."""
    strip = page.locator(".tour")
    expect(strip).to_contain_text("Press ", timeout=LONG)
    mark, text = strip.get_attribute("data-of") or "", strip.locator("p").inner_text()
    named = strip.locator("p b").inner_text()
    if "in the line above" in text:
        page.locator("#steps a", has_text=named).click()
    else:
        page.locator("dialog[open], main").get_by_text(named, exact=True).locator("visible=true").last.click()
    return text, mark


def test_tour_leads_from_the_sample_to_a_printed_report(page: Page) -> None:
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
    texts: list[str] = []
    while True:
        expect(strip).to_contain_text("Press ", timeout=LONG)
        if "Read the report" in strip.inner_text():
            with page.context.expect_page() as opened:
                texts.append(press_named_control(page)[0])
            break
        sentence, mark = press_named_control(page)
        texts.append(sentence)
        changed = "before => document.querySelector('.tour').dataset.of !== before"
        page.wait_for_function(changed, arg=mark, timeout=LONG)
        assert len(texts) < 15
    report = opened.value
    report.wait_for_load_state()
    assert "classes" in report.inner_text("body")
    assert report.pdf().startswith(b"%PDF")
    report.close()
    expect(strip).to_contain_text("That was the tour.")
    strip.get_by_role("button", name="End").click()
    expect(strip).to_have_count(0)
    assert all(sentence.startswith("Press ") for sentence in texts)
