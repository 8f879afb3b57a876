"""A database table, and a folder as one table, chosen on the Load screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.engines.clinic import Clinic
from tests.web.browser.conftest import PHONE, OpenPage
from tests.web.browser.workflow import LONG, go_to, ready
from tests.web.running import RunningWorkbench, running


@pytest.fixture
def named(
    tmp_path: Path, settings: Settings, clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RunningWorkbench]:
    """Yield a server whose environment has the clinic's address and that of an unreachable database."""
    monkeypatch.setenv("CLINIC", clinic.server.network_url(clinic.database, clinic.role, "s3cret"))
    monkeypatch.setenv("FAR", "postgresql://ann:s3cret@127.0.0.1:1/far")
    with running(ServerConfig(workspace=tmp_path / "workspace", settings=settings)) as found:
        yield found


def test_database_is_chosen_by_name_and_gets_a_release(
    open_page: OpenPage, named: RunningWorkbench, clinic: Clinic
) -> None:
    """The screen keeps the password out, and the release becomes a table of the same database."""
    page = open_page(named.start_link, viewport=PHONE)
    ready(page, "load")
    page.get_by_text("A table of a database", exact=True).click()
    page.get_by_role("button", name="FAR").click()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.get_by_text("the database far on 127.0.0.1:1")).to_be_visible()
    page.get_by_role("button", name="CLINIC").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="clinic.patients")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="clinic.patients", level=1).wait_for(timeout=LONG)
    expect(page.get_by_text("the address in the variable CLINIC")).to_be_visible()
    assert named.workspace.document()["source"]["url"] == "env:CLINIC"
    assert "s3cret" not in page.content()
    expect(page.get_by_text("No row is shown or copied")).to_be_visible()
    go_to(page, "publish")
    page.get_by_label("Model", exact=True).select_option("mondrian")
    page.get_by_text("a table of the database", exact=True).click()
    expect(page.get_by_label("Format")).to_be_hidden()
    page.get_by_label("Table", exact=True).fill("nowhere.people")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_text("the schema 'nowhere' does not exist").wait_for(timeout=LONG)
    page.get_by_label("Table", exact=True).fill("out.people")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("heading", name="Published: out.people").wait_for(timeout=LONG)
    page.get_by_text("out.people_manifest").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("button", name="Remove from the list").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove from the list").click()
    page.get_by_text("Nothing is published yet.").wait_for()
    assert clinic.published()[0] == "people"


def test_folder_of_parquet_or_delta_is_opened_as_a_table(
    open_page: OpenPage, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    rows = pa.table({"age": [str(20 + i % 9) for i in range(90)], "ward": ["xyz"[i % 3] for i in range(90)]})
    (tmp_path / "parts").mkdir()
    for place in range(2):
        pq.write_table(rows, tmp_path / "parts" / f"part{place}.parquet")
    deltalake.write_deltalake(tmp_path / "logged", rows)
    page = open_page(workbench.start_link)
    for folder, text in (("parts", "A folder of Parquet files."), ("logged", "A table of Delta Lake.")):
        page.goto(f"{workbench.url}/#/load")
        page.reload()
        ready(page, "load")
        if page.get_by_text("Load another table").count():
            page.get_by_text("Load another table").click()
        page.get_by_role("button", name="Browse").click()
        page.get_by_role("button", name=folder, exact=True).click()
        expect(page.get_by_text(text)).to_be_visible()
        page.get_by_role("button", name="Open this folder as one table").click()
        page.get_by_role("heading", name=folder, level=1).wait_for(timeout=LONG)
        expect(page.get_by_role("region", name="The first rows")).to_contain_text("ward")
