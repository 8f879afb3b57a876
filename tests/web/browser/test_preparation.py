"""Load, Columns and Hierarchies in a real browser, and the navigation around them."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from tests.web.browser.conftest import PHONE, OpenPage
from tests.web.browser.workflow import LONG, go_to, ready, settled
from tests.web.running import RunningWorkbench

ROWS = "id,age,city,sex,disease\n" + "".join(
    f"p{i},{20 + i % 9},{'ABCD'[i % 4]},{'mf'[i % 2]},{'xyz'[i % 3]}\n" for i in range(80)
)


def loaded(page: Page, folder: Path, text: str = ROWS) -> None:
    """Load a small table with the file button."""
    path = folder / "people.csv"
    path.write_text(text, encoding="utf-8")
    ready(page, "load")
    page.set_input_files("input[type=file]", path)
    page.get_by_role("heading", name="people.csv", level=1).wait_for(timeout=LONG)


def row(page: Page, label: str) -> Locator:
    """Return the tree row of a value."""
    return page.get_by_role("treeitem", name=re.compile(f"^{re.escape(label)}, "))


def hierarchy(page: Page, attribute: str) -> None:
    """Open an attribute's tree."""
    go_to(page, "hierarchies")
    page.get_by_role("button", name=re.compile(f"^{attribute}")).click()
    page.get_by_role("heading", name=attribute, level=2).wait_for()
    page.get_by_role("treeitem").first.wait_for()


def test_reading_of_a_file_is_corrected_and_stored(
    page: Page, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    loaded(page, tmp_path, ROWS.replace("p0,20,A", "p0,?,A"))
    expect(page.get_by_role("region", name="The first rows")).to_contain_text("NULL")
    page.get_by_label("Cells read as NULL", exact=True).fill("D")
    page.get_by_label("Cells read as NULL", exact=True).press("Enter")
    expect(page.get_by_role("button", name="Remove D")).to_be_visible()
    page.get_by_label("Encoding").fill("no-such")
    page.get_by_label("Encoding").press("Tab")
    expect(page.get_by_label("Encoding")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[data-field=encoding] .field-error")).to_contain_text("No such encoding")
    page.get_by_label("Encoding").fill("utf-8")
    page.get_by_label("Encoding").press("Tab")
    with page.expect_response(lambda answer: 'subject":"id' in (answer.request.post_data or "")):
        page.get_by_label("Subject").select_option("id")
    page.reload()
    ready(page, "load")
    expect(page.get_by_label("Subject")).to_have_value("id")
    source = workbench.workspace.spec().source
    assert (set(source.null_values), source.subject) == ({"?", "D"}, "id")


def test_roles_change_and_uniqueness_follows_the_ticks(page: Page, tmp_path: Path) -> None:
    loaded(page, tmp_path)
    go_to(page, "columns")
    table = page.get_by_role("table", name=re.compile("Columns, their roles"))
    expect(table.get_by_role("row", name=re.compile("^id"))).to_contain_text("HIPAA R")
    meter = page.get_by_role("region", name="Uniqueness of a set")
    expect(meter).to_contain_text("age, city, sex")
    page.get_by_label("id in the set").check()
    expect(meter.locator("dd").first).to_have_text("100 %")
    page.get_by_label("id in the set").uncheck()
    expect(meter.locator("dd").first).not_to_have_text("100 %")
    page.get_by_label("Role of disease").select_option("quasi-identifier")
    expect(meter).to_contain_text("disease")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Role of disease")).to_have_value("sensitive")
    page.get_by_label("age in the set").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("city in the set")).to_be_focused()
    page.get_by_text("triples", exact=True).click()
    expect(page.locator(".worst li").first).to_contain_text("age + city + sex")


def test_values_are_grouped_by_dragging_and_by_keys(
    page: Page, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    loaded(page, tmp_path)
    hierarchy(page, "city")
    row(page, "A").drag_to(row(page, "C"))
    page.get_by_label("Name of the group").fill("west")
    page.get_by_role("dialog").get_by_role("button", name="Group").click()
    expect(row(page, "west")).to_have_attribute("aria-expanded", "true")
    row(page, "B").drag_to(row(page, "west"))
    expect(row(page, "west")).to_contain_text("60")
    path = workbench.workspace.hierarchies / "city.csv"
    assert sorted(path.read_text().splitlines()) == ["A;west;*", "B;west;*", "C;west;*", "D;D;*"]
    for count in (1, 0):
        page.get_by_role("button", name="Undo").click()
        expect(row(page, "west")).to_have_count(count)
    page.reload()
    page.get_by_role("treeitem").first.wait_for()
    page.get_by_role("button", name=re.compile("^city")).click()
    group_by_keys(page)


def group_by_keys(page: Page) -> None:
    """Group, name, rename and ungroup in the tree of cities with the keyboard only."""
    page.get_by_role("treeitem", name=re.compile(r"^\*, ")).focus()
    for key in ("ArrowDown", "Space", "ArrowDown", "ArrowDown", "Space"):
        page.keyboard.press(key)
    expect(row(page, "A")).to_have_attribute("aria-selected", "true")
    expect(row(page, "C")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    page.keyboard.type("north")
    page.keyboard.press("Enter")
    expect(row(page, "north")).to_be_focused()
    expect(row(page, "A")).to_be_visible()
    page.keyboard.press("F2")
    page.keyboard.type("south")
    page.keyboard.press("Enter")
    expect(row(page, "south")).to_be_visible()
    row(page, "south").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Ungroup").focus()
    page.keyboard.press("Enter")
    expect(row(page, "south")).to_have_count(0)


def test_builder_and_text_are_checked_while_typing(page: Page, tmp_path: Path) -> None:
    loaded(page, tmp_path)
    hierarchy(page, "age")
    page.get_by_role("tab", name="Builder").click()
    page.get_by_label("Widths").fill("5, 7")
    expect(page.locator("[data-field=widths] .field-error")).to_contain_text("do not nest")
    expect(page.get_by_role("button", name="Use this hierarchy")).to_be_disabled()
    page.get_by_label("Widths").fill("5, 10")
    panel = page.get_by_role("tabpanel", name="Builder")
    expect(panel.get_by_role("table")).to_contain_text("20-29")
    panel.get_by_role("button", name="Use this hierarchy").click()
    expect(page.get_by_role("button", name=re.compile("^age"))).to_contain_text("intervals of 5 and 10")
    page.get_by_role("button", name=re.compile("^sex")).click()
    page.get_by_role("heading", name="sex", level=2).wait_for()  # the tab belongs to age until then
    page.get_by_role("tab", name="ARX CSV").click()
    text = page.get_by_label("One line per value")
    text.fill("m;x;*\nf;y;T")
    expect(page.locator(".faults")).to_contain_text("a second top value 'T'")
    text.fill("m;both;*\nf;both;*")
    expect(page.get_by_text("Valid: 2 leaves")).to_be_visible()
    page.get_by_role("tabpanel", name="ARX CSV").get_by_role("button", name="Use this").click()
    page.get_by_role("tab", name="Tree").click()
    expect(row(page, "both")).to_be_visible()


def test_change_during_loading_edits_the_shown_hierarchy(page: Page, tmp_path: Path) -> None:
    """A button of the previous panel still edits the previous attribute after the next one is selected."""
    loaded(page, tmp_path)
    hierarchy(page, "city")
    held: list[Route] = []
    page.route("**/api/hierarchies/one?attribute=sex", lambda route: held.append(route))
    city, sex = (page.get_by_role("button", name=re.compile(f"^{name}")) for name in ("city", "sex"))
    page.get_by_role("tab", name="ARX CSV").click()
    page.get_by_label("One line per value").fill("A;west;*\nB;west;*\nC;east;*\nD;east;*")
    expect(page.get_by_text("Valid: 4 leaves")).to_be_visible()
    sex.click()
    page.get_by_role("tabpanel", name="ARX CSV").get_by_role("button", name="Use this").click()
    expect(city).to_contain_text("2 levels")
    expect(sex).to_contain_text("1 level")
    city.click()
    page.get_by_role("tab", name="Levels").click()
    remove = page.get_by_role("button", name=re.compile("^Remove level")).first
    remove.wait_for()
    sex.click()
    remove.click()
    expect(city).to_contain_text("1 level")
    for route in held:
        route.continue_()
    page.get_by_role("heading", name="sex", level=2).wait_for()


def test_builder_of_bounds_ages_and_built_in_hierarchies(page: Page, tmp_path: Path) -> None:
    rows = "".join(f"19{50 + i}-11-2{i % 9},{20 + i},{('DE', 'FR', 'KE')[i % 3]},{i}\n" for i in range(40))
    loaded(page, tmp_path, f"born,age,country,size\n{rows}")
    hierarchy(page, "country")
    expect(page.get_by_role("button", name=re.compile("^country"))).to_contain_text("country by")
    panel = page.get_by_role("tabpanel", name="Builder")
    hierarchy(page, "age")
    page.get_by_role("tab", name="Builder").click()
    page.get_by_label("Widths").fill("")
    page.get_by_label("Or bounds").fill("30, 20")
    expect(page.locator("[data-field=breaks] .field-error")).to_contain_text("bounds 30, 20")
    page.get_by_label("Or bounds").fill("30, 45; 45")
    expect(panel.get_by_role("table")).to_contain_text("<45")
    panel.get_by_role("button", name="Use this hierarchy").click()
    expect(page.get_by_role("button", name=re.compile("^age"))).to_contain_text("cut at 30 and 45")
    page.get_by_role("button", name=re.compile("^born")).click()
    page.get_by_role("heading", name="born", level=2).wait_for()  # the tab belongs to age until then
    page.get_by_role("tab", name="Builder").click()
    panel.get_by_text("Age", exact=True).click()
    expect(page.locator("[data-field=reference] .field-error")).to_contain_text("reference")
    page.get_by_label("Age on").fill("2026-11-23")
    page.get_by_label("Widths").fill("10")
    page.get_by_label("Highest").fill("70")
    expect(panel.get_by_role("table")).to_contain_text("≥70")
    panel.get_by_role("button", name="Use this hierarchy").click()
    expect(page.get_by_role("button", name=re.compile("^born"))).to_contain_text("age on 2026-11-23")
    panel.get_by_text("Built in", exact=True).click()
    page.get_by_label("Hierarchy", exact=True).select_option("date")
    expect(panel.get_by_role("table")).to_contain_text("Q4")


def test_theme_is_stored_and_a_phone_fits(
    open_page: OpenPage, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    long = "a_very_long_name_of_a_column_that_never_ends_and_goes_on_and_on_and_on_and_on"
    page = open_page(workbench.start_link, viewport=PHONE)
    loaded(page, tmp_path, ROWS.replace("city", f'"{long}"').replace("disease", "<b>Größe</b> 大小"))
    toggle = page.get_by_role("button", name=re.compile("^Theme"))
    toggle.click()
    toggle.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 23, 27)"
    for screen in ("columns", "hierarchies", "load"):
        go_to(page, screen)
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.reload()
    ready(page, "load")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the screen")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_progress_is_shown_while_the_format_is_detected(page: Page, tmp_path: Path) -> None:
    held: list[Route] = []
    page.route("**/api/load/open", lambda route: held.append(route))
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n", encoding="utf-8")
    with page.expect_request("**/api/load/open"):
        page.set_input_files("input[type=file]", tmp_path / "a.csv")
    expect(page.get_by_role("group", name="Opening the table")).to_be_visible()
    held[0].continue_()
    page.get_by_role("heading", name="a.csv", level=1).wait_for()
