"""Sign-in in a real browser: start link, start page, password, and the page of the interface."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig, add_user
from tests.web.browser.conftest import OpenPage
from tests.web.browser.workflow import ready
from tests.web.running import RunningWorkbench, running


def test_start_link_opens_the_workbench_once(open_page: OpenPage, workbench: RunningWorkbench) -> None:
    link = workbench.start_link
    first = open_page(link)
    assert first.url.split("#")[0] == f"{workbench.url}/"
    assert "token" not in first.url
    assert open_page(link).url == f"{workbench.url}/login"
    assert first.evaluate("document.cookie") == ""


def test_start_page_in_a_file_opens_the_workbench(
    open_page: OpenPage, workbench: RunningWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start page is a file, thus another site: the first redirect carries no strict cookie."""
    monkeypatch.setattr("webbrowser.open", lambda _address: True)
    workbench.server.open_browser()
    page = open_page((workbench.folder / "open-workbench.html").as_uri())
    ready(page, "load")
    assert page.url.startswith(f"{workbench.url}/#")


def test_login_page_with_a_wrong_and_a_right_password(
    open_page: OpenPage, tmp_path: Path, settings: Settings
) -> None:
    add_user(tmp_path / "users", "anna", "correct horse battery")
    config = ServerConfig(workspace=tmp_path / "w", settings=settings, password_file=tmp_path / "users")
    with running(config) as shared:
        page = open_page(shared.url)
        page.get_by_label("User name").fill("anna")
        page.get_by_label("Password").fill("wrong")
        page.keyboard.press("Enter")
        page.get_by_role("alert").get_by_text("wrong").wait_for()
        page.get_by_label("Password").fill("correct horse battery")
        page.keyboard.press("Enter")
        ready(page, "load")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("heading", name="Sign in to the workbench").wait_for()


def test_page_of_the_interface_shows_every_route(page: Page, workbench: RunningWorkbench) -> None:
    page.goto(f"{workbench.url}/api-docs")
    page.get_by_role("heading", name="session", exact=True).wait_for()
    expect(page.get_by_text("/api/workspace", exact=True).first).to_be_attached()
    page.get_by_label("Filter").fill("sign in")
    page.locator("summary:visible", has_text="/api/session").click()
    expect(page.get_by_role("row", name="password required")).to_be_visible()
