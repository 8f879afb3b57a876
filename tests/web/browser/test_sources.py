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
from tests.web.browser.conftest import DESKTOP, PHONE, OpenPage
from tests.web.browser.whole_way import LONG, go_to, publish, ready
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


@pytest.mark.parametrize(
    "size",  # every run of test_database_source publishes a database table on a phone
    [pytest.param(DESKTOP, id="desktop"), pytest.param(PHONE, id="phone", marks=pytest.mark.slow)],
)
def test_from_a_database_s_name_to_a_release_beside_the_table(
    size: dict[str, int], open_page: OpenPage, named: RunningWorkbench, clinic: Clinic
) -> None:
    page = open_page(named.start_link, viewport=size)
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
    go_to(page, "negotiate")
    page.locator("svg, canvas").first.wait_for()
    go_to(page, "publish")
    page.get_by_label("Model", exact=True).select_option("mondrian")
    page.get_by_text("a table of the database", exact=True).click()
    page.get_by_label("Table", exact=True).fill("out.people")
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("heading", name="Published: out.people").wait_for(timeout=LONG)
    assert clinic.published()[0] == "people"
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_a_folder_of_parquet_and_one_of_delta_are_tables(
    open_page: OpenPage, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    rows = pa.table({"age": [str(20 + i % 9) for i in range(90)], "ward": ["xyz"[i % 3] for i in range(90)]})
    (tmp_path / "parts").mkdir()
    for place in range(2):
        pq.write_table(rows, tmp_path / "parts" / f"part{place}.parquet")
    deltalake.write_deltalake(tmp_path / "logged", rows)
    page = open_page(workbench.start_link)
    for folder, told in (("parts", "A folder of Parquet files."), ("logged", "A table of Delta Lake.")):
        page.goto(f"{workbench.url}/#/load")
        page.reload()
        ready(page, "load")
        if page.get_by_text("Load another table").count():
            page.get_by_text("Load another table").click()
        page.get_by_role("button", name="Browse").click()
        page.get_by_role("button", name=folder, exact=True).click()
        expect(page.get_by_text(told)).to_be_visible()
        page.get_by_role("button", name="Open this folder as one table").click()
        page.get_by_role("heading", name=folder, level=1).wait_for(timeout=LONG)
        expect(page.get_by_role("region", name="The first rows")).to_contain_text("ward")
    go_to(page, "negotiate")
    publish(page, "wards.csv")
    link = tmp_path / "parts" / "elsewhere.parquet"
    link.symlink_to("/etc/hostname")
    document = workbench.workspace.document()
    document["source"]["path"] = workbench.workspace.spec_relative(tmp_path / "parts")
    with pytest.raises(Exception, match="not open to the workbench"):
        workbench.workspace.save_spec(document)
