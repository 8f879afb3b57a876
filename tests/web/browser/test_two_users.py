"""Two users of one server, each in a separate browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig, add_user
from tests.web.browser.conftest import OpenPage
from tests.web.browser.whole_way import drop_file, go_to, ready
from tests.web.running import RunningWorkbench, running

PASSWORD = "correct horse battery"


@pytest.fixture
def shared(tmp_path: Path, settings: Settings) -> Iterator[RunningWorkbench]:
    users = tmp_path / "users"
    for name in ("anna", "ben"):
        add_user(users, name, f"{PASSWORD} of {name}")
    config = ServerConfig(workspace=tmp_path / "workspace", settings=settings, password_file=users)
    with running(config) as found:
        yield found


def sign_in(open_page: OpenPage, shared: RunningWorkbench, name: str) -> Page:
    page = open_page(shared.url)
    page.get_by_label("User name").fill(name)
    if name == "anna":  # with a mistyped password first
        page.get_by_label("Password").fill("wrong")
        page.keyboard.press("Enter")
        page.get_by_role("alert").get_by_text("wrong").wait_for()
    page.get_by_label("Password").fill(f"{PASSWORD} of {name}")
    page.keyboard.press("Enter")
    ready(page, "load")
    return page


def test_two_users_work_at_once_and_see_nothing_of_each_other(
    open_page: OpenPage, shared: RunningWorkbench, tmp_path: Path
) -> None:
    tables = {"anna": "age,town\n", "ben": "weight,country\n"}
    pages = {name: sign_in(open_page, shared, name) for name in tables}
    for name, page in pages.items():
        path = tmp_path / f"table-of-{name}.csv"
        path.write_text(tables[name] + "".join(f"{i % 7},{i % 3}\n" for i in range(50)))
        drop_file(page, path)
    for name, page in pages.items():
        go_to(page, "columns")
        mine, other = tables[name].strip().split(","), tables["ben" if name == "anna" else "anna"]
        expect(page.locator("#main")).to_contain_text(mine[-1], use_inner_text=True)
        words = page.locator("#main").inner_text()
        assert all(column in words for column in mine)
        assert not any(column in words for column in other.strip().split(","))
        expect(page.locator("#summary")).to_contain_text(f"table-of-{name}.csv", use_inner_text=True)
    pages["anna"].get_by_role("button", name="Sign out").click()
    pages["anna"].get_by_role("heading", name="Sign in to the workbench").wait_for()
    pages["ben"].reload()
    ready(pages["ben"], "columns")
    folders = sorted((shared.folder / "users").iterdir())
    assert [[p.name for p in (f / "uploads").iterdir()] for f in folders] == [
        ["table-of-anna.csv"],
        ["table-of-ben.csv"],
    ]
