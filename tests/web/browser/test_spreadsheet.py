"""The sheet of a workbook that is dropped on the Load screen."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import expect

from tests.waiting import wait_for
from tests.web.browser.conftest import PHONE, OpenPage
from tests.web.browser.workflow import LONG, ready
from tests.web.running import RunningWorkbench

_DROP = """([name, bytes]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([Uint8Array.from(atob(bytes), (each) => each.charCodeAt(0))], name));
  document.querySelector(".drop").dispatchEvent(
    new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: carried}));
}"""
PEOPLE = [["age", "city"], *([20 + i % 9, "ABCD"[i % 4]] for i in range(60))]
VISITS = [["day", "ward"], *([f"2026-01-{1 + i % 9:02}", "xy"[i % 2]] for i in range(40))]


def workbook(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    """Write a workbook with these sheets and an empty one."""
    import openpyxl

    found = openpyxl.Workbook()
    for name, rows in sheets.items():
        sheet = found.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    found.save(path)
    return path


def test_sheet_of_a_workbook_is_chosen_by_keys(
    open_page: OpenPage, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    page = open_page(workbench.start_link, viewport=PHONE)
    ready(page, "load")
    path = workbook(tmp_path / "clinic.xlsx", Visits=VISITS, People=PEOPLE)
    page.evaluate(_DROP, [path.name, base64.b64encode(path.read_bytes()).decode()])
    expect(page.get_by_role("heading", name="Which sheet of clinic.xlsx is the table?")).to_be_visible()
    expect(page.get_by_role("radio", name="Visits")).to_be_focused()
    expect(page.get_by_role("radio")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="clinic.xlsx", level=1).wait_for(timeout=LONG)
    rows = page.get_by_role("region", name="The first rows")
    expect(rows).to_contain_text("city")
    expect(page.get_by_label("Sheet")).to_have_value("People")
    assert workbench.workspace.document()["source"]["table"] == "People"
    page.get_by_label("Sheet").select_option("Visits")
    expect(rows).to_contain_text("ward")
    wait_for(lambda: workbench.workspace.spec().source.table == "Visits", "the other sheet is open")
    assert {each.name for each in workbench.workspace.spec().attributes} == {"day", "ward"}
    drop_again = workbook(tmp_path / "people.xlsx", People=PEOPLE)
    page.get_by_text("Load another table").click()
    page.evaluate(_DROP, [drop_again.name, base64.b64encode(drop_again.read_bytes()).decode()])
    page.get_by_role("heading", name="people.xlsx", level=1).wait_for(timeout=LONG)
    expect(page.get_by_label("Sheet")).to_have_count(0)
