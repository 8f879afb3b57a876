"""Sign-in in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.conftest import OpenPage
from tests.web.running import RunningWorkbench


def test_the_start_link_leads_to_the_workbench_and_works_once(
    open_page: OpenPage, workbench: RunningWorkbench
) -> None:
    link = workbench.start_link
    first = open_page(link)
    assert first.url.split("#")[0] == f"{workbench.url}/"
    assert "token" not in first.url
    second = open_page(link)
    assert second.url == f"{workbench.url}/login"
    assert first.evaluate("document.cookie") == ""


def test_the_page_that_opens_the_browser_leads_to_the_workbench(
    open_page: OpenPage, workbench: RunningWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start page is a file, thus another site: the first redirect carries no strict cookie."""
    monkeypatch.setattr("webbrowser.open", lambda _address: True)
    workbench.server.open_browser()
    page = open_page((workbench.folder / "open-workbench.html").as_uri())
    page.wait_for_selector("body[data-ready=load]")
    assert page.url.startswith(f"{workbench.url}/#")


def test_the_page_of_the_interface_shows_every_route(page: Page, workbench: RunningWorkbench) -> None:
    page.goto(f"{workbench.url}/api-docs")
    page.get_by_role("heading", name="session", exact=True).wait_for()
    expect(page.get_by_text("/api/workspace", exact=True).first).to_be_attached()
    page.get_by_label("Filter").fill("sign in")
    page.locator("summary:visible", has_text="/api/session").click()
    expect(page.get_by_role("row", name="password required")).to_be_visible()
