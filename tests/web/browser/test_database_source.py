"""The workbench in a browser with a PostgreSQL table as its source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.engines.clinic import Clinic
from tests.web.browser.conftest import DESKTOP, PHONE, OpenPage
from tests.web.browser.whole_way import LONG, go_to
from tests.web.running import RunningWorkbench, running
from tests.web.test_database_source import SPEC


@pytest.fixture
def in_database(tmp_path: Path, settings: Settings, clinic: Clinic) -> Iterator[RunningWorkbench]:
    """Yield a server that was started with the clinic's table of patients."""
    spec = tmp_path / "clinic.toml"
    spec.write_text(SPEC.format(url=clinic.url), encoding="utf-8")
    with running(ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec)) as found:
        yield found


@pytest.mark.parametrize(
    "size",
    [pytest.param(DESKTOP, id="desktop", marks=pytest.mark.slow), pytest.param(PHONE, id="phone")],
)
def test_from_load_to_a_release_that_is_a_table(
    size: dict[str, int], open_page: OpenPage, in_database: RunningWorkbench, clinic: Clinic
) -> None:
    page = open_page(in_database.start_link, viewport=size, color_scheme="light")
    page.wait_for_selector("body[data-ready]", timeout=LONG)
    go_to(page, "load")
    page.get_by_role("heading", name="clinic.patients", level=1).wait_for(timeout=LONG)
    expect(page.get_by_text("No row is shown or copied")).to_be_visible()
    page.get_by_text("a reason to drop the row").click()
    page.get_by_text("Saved.").wait_for(state="attached")
    for screen in ("columns", "hierarchies", "negotiate"):
        go_to(page, screen)
    go_to(page, "publish")
    page.get_by_label("Model", exact=True).select_option("mondrian")
    page.get_by_label("k", exact=False).first.fill("5")
    page.get_by_text("a table of the database", exact=True).click()
    expect(page.get_by_label("Format")).to_be_hidden()
    page.get_by_label("Table", exact=True).fill("nowhere.people")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_text("the schema 'nowhere' does not exist").wait_for(timeout=LONG)
    page.get_by_label("Table", exact=True).fill("out.people")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("heading", name="Published: out.people").wait_for(timeout=LONG)
    page.get_by_text("out.people_manifest").wait_for()
    assert clinic.published() == ["people", "people_age_idx", "people_manifest"]
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"]
    for screen in ("attacker", "analyst"):
        go_to(page, screen)
        expect(page.get_by_label("Release", exact=True)).to_have_value("out.people (table)")
    go_to(page, "publish")
    page.get_by_role("button", name="Take off the list").click()
    page.get_by_role("dialog").get_by_role("button", name="Take off the list").click()
    page.get_by_text("Nothing is published yet.").wait_for()
    assert "people" in clinic.published()
