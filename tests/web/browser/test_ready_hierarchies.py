"""Built-in hierarchies, dragged interval borders, and typed text that survives a reload."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.waiting import wait_for
from tests.web.browser.test_preparation import loaded
from tests.web.browser.workflow import go_to
from tests.web.running import RunningWorkbench

ROWS = "born,age,country,ward,job\n" + "".join(
    f"19{50 + i % 9}-0{1 + i % 9}-11,{20 + i % 60},{('DE', 'FR', 'KE')[i % 3]},{'ABCD'[i % 4]},x{i % 5}\n"
    for i in range(240)
)
WARDS = "A;north;*\nB;north;*\nC;south;*\nD;south;*\n"
JOBS = "".join(f"x{i};{'low' if i < 3 else 'high'};*\n" for i in range(5))
_DROP = """(files) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) carried.items.add(new File([text], name));
  document.querySelector("details.files").dispatchEvent(
    new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: carried}));
}"""


def builder_of(page: Page, attribute: str) -> None:
    """Open an attribute's builder."""
    go_to(page, "hierarchies")
    choose(page, attribute)
    page.get_by_role("tab", name="Builder").click()


def hierarchy_of(workbench: RunningWorkbench, attribute: str) -> Any:
    """Return an attribute's hierarchy from the spec."""
    return workbench.workspace.document()["attributes"][attribute].get("hierarchy")


def choose(page: Page, attribute: str) -> None:
    """Select an attribute in the list, or in the select box on narrow screens."""
    narrow = page.get_by_label("Quasi-identifier", exact=True)
    if narrow.is_visible():
        narrow.select_option(attribute)
    else:
        page.get_by_role("button", name=re.compile(f"^{attribute}")).click()
    page.get_by_role("heading", name=attribute, level=2).wait_for()


def test_dropped_files_are_matched_and_used_as_one_change(
    page: Page, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    loaded(page, tmp_path, ROWS)
    go_to(page, "hierarchies")
    page.get_by_role("treeitem").first.wait_for()
    others = [["age.csv", "1;*\n2;*\n"], ["n.csv", "what;is;this\n"]]
    page.evaluate(_DROP, [["my_wards.csv", WARDS], ["job.csv", JOBS], *others])
    expect(page.get_by_text("2 columns have a file that fits:")).to_be_visible()
    expect(page.get_by_label("job from job.csv, by its name")).to_be_focused()
    expect(page.get_by_label("ward from my_wards.csv, by its values")).to_be_checked()
    page.get_by_text("2 files without a match").click()
    expect(page.get_by_text("'age' has more values than it has leaves")).to_be_visible()
    before = workbench.workspace.document()
    page.get_by_role("button", name="Use them").click()
    wait_for(lambda: str(hierarchy_of(workbench, "ward")).endswith("ward.csv"), "the files are used")
    assert (workbench.workspace.hierarchies / "job.csv").read_text().splitlines()[0] == "x0;low;*"
    page.get_by_role("button", name="Undo").click()
    wait_for(lambda: workbench.workspace.document() == before, "both files are undone at once")


def test_borders_are_dragged_moved_added_and_removed(
    page: Page, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    loaded(page, tmp_path, ROWS)
    builder_of(page, "age")
    plot = page.get_by_role("group", name=re.compile("Rows by value"))
    expect(plot).to_be_visible()
    page.get_by_label("Or bounds").fill("30, 45; 45")
    handles = plot.get_by_role("slider")
    expect(handles).to_have_count(2)
    handles.nth(1).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Or bounds")).to_have_value("30, 46; 46")
    expect(handles.nth(1)).to_be_focused()
    page.keyboard.press("PageUp")
    expect(handles.nth(1)).to_have_attribute("aria-valuenow", "56")
    page.keyboard.press("Delete")
    expect(page.get_by_label("Or bounds")).to_have_value("30")
    page.get_by_role("button", name="Add a border").click()
    expect(handles).to_have_count(2)
    handles.first.scroll_into_view_if_needed()
    box, wide = handles.first.locator(".grip").bounding_box(), plot.bounding_box()
    assert box is not None
    assert wide is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + wide["width"] / 6, box["y"] + 4, steps=4)
    page.mouse.up()
    moved = int(handles.first.get_attribute("aria-valuenow") or 0)
    assert 37 <= moved <= 43
    dragged = page.get_by_label("Or bounds").input_value()
    page.keyboard.press("Control+z")
    expect(handles.first).to_have_attribute("aria-valuenow", "30")
    expect(handles.first).to_be_focused()
    page.keyboard.press("Control+y")
    expect(page.get_by_label("Or bounds")).to_have_value(dragged)
    within = sum(20 + i % 60 < moved for i in range(240)) / 2.4
    expect(plot.locator(".shares text").first).to_have_text(f"{round(within, 1):g}\u00a0%")
    expect(page.get_by_role("tabpanel", name="Builder").get_by_role("table")).to_contain_text(f"<{moved}")
    page.get_by_role("button", name="Use this hierarchy").click()
    wait_for(lambda: moved in dict(hierarchy_of(workbench, "age")).get("breaks", ()), "the borders are saved")


def test_public_hierarchies_are_offered_with_their_source(
    page: Page, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    loaded(page, tmp_path, ROWS)
    builder_of(page, "country")
    offered = page.get_by_role("region", name="Public hierarchies that fit")
    expect(offered).to_contain_text("DE → ")
    expect(offered).to_contain_text(re.compile(r"Source: .*ISO 3166-1, 20"))
    expect(offered).to_contain_text("in use")
    page.get_by_text("Mask", exact=True).click()
    page.get_by_label("Characters per level").fill("1")
    page.get_by_role("button", name="Use this hierarchy").click()
    wait_for(lambda: dict(hierarchy_of(workbench, "country")).get("kind") == "mask", "another one is used")
    offered.get_by_role("button", name="Use it").click()
    wait_for(lambda: dict(hierarchy_of(workbench, "country")).get("kind") == "builtin", "the offer is used")
    choose(page, "ward")
    expect(offered).to_have_count(0)


def test_unsaved_text_and_forms_survive_a_reload(page: Page, tmp_path: Path) -> None:
    loaded(page, tmp_path, ROWS)
    builder_of(page, "ward")
    page.get_by_role("tab", name="ARX CSV").click()
    text = page.get_by_label("One line per value")
    before = text.input_value()
    text.fill("A;left;*\nB;left;*")
    expect(page.get_by_text("This text is not used yet.")).to_be_visible()
    page.reload()
    expect(text).to_have_value("A;left;*\nB;left;*")
    page.get_by_role("button", name="Back to the hierarchy in use").click()
    expect(text).to_have_value(before)
    builder_of(page, "age")
    page.get_by_label("Widths").fill("")
    page.get_by_label("Or bounds").fill("33, 66")
    page.reload()
    expect(page.get_by_label("Or bounds")).to_have_value("33, 66")
    page.get_by_role("button", name="Use this hierarchy").click()
    expect(page.get_by_role("heading", name="age", level=2)).to_be_visible()
    page.reload()
    expect(page.get_by_label("Or bounds")).to_have_value("33, 66")
