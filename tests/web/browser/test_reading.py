"""Encodings, and formats of numbers and dates, on the Load screen."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.waiting import wait_for
from tests.web.running import RunningWorkbench


def write_people(workbench: RunningWorkbench) -> None:
    """Write a table in Windows-1252 with German dates and amounts, and with blanks after some cells."""
    rows = "".join(
        f"{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 40};{i % 7}.{i:03},5{i % 10} €;m{' ' * (i % 2)}\n"
        for i in range(60)
    )
    text = "Geburtsdatum;Kosten;Geschlecht\n" + rows
    (workbench.workspace.uploads / "people.csv").write_bytes(text.encode("windows-1252"))


def test_cell_formats_are_shown_changed_and_removed(page: Page, workbench: RunningWorkbench) -> None:
    write_people(workbench)
    page.goto(f"{workbench.url}/#/load")
    page.reload()
    page.get_by_role("button", name="people.csv").click()
    rows = page.get_by_role("region", name="The first rows")
    expect(rows.get_by_text("read as dates")).to_be_visible()
    expect(rows.get_by_text("1001.51")).to_be_visible()
    expect(page.get_by_text("Kosten: numbers with decimals behind ','")).to_be_visible()
    page.get_by_text("Set a column's cell format").click()
    page.get_by_label("Column", exact=True).select_option("Kosten")
    expect(page.get_by_label("Before decimals")).to_have_value(",")
    expect(page.get_by_label("Units")).to_have_value("€")
    page.get_by_label("Column", exact=True).select_option("Geburtsdatum")
    formats = page.get_by_label("Date formats")
    expect(formats).to_have_value("%d.%m.%Y")
    formats.fill("%d.%m.%Y | %Q")
    page.get_by_role("button", name="Save the format").click()
    faults = page.locator(".field-error:visible, .form-error:visible")
    expect(faults.filter(has_text="%Q")).to_have_count(1)
    page.get_by_label("Column", exact=True).select_option("Kosten")
    page.get_by_role("button", name="Read unchanged").click()
    wait_for(lambda: "Kosten" not in workbench.workspace.spec().source.formats, "the form is gone")
    expect(page.get_by_text("Kosten: numbers")).to_have_count(0)
    page.get_by_label("Column", exact=True).select_option("Geschlecht")
    page.get_by_label("Before decimals").select_option(",")
    page.get_by_role("button", name="Save the format").click()
    expect(page.get_by_role("alert").filter(has_text="“m”, 30 times, first in row 1")).to_be_visible()
    page.get_by_role("button", name="Leave them unchanged").click()
    expect(page.get_by_text("Geschlecht: numbers with decimals")).to_be_visible()
    assert workbench.workspace.spec().source.formats["Geschlecht"].others == ("m", "m ")
    strip = page.get_by_role("checkbox", name="Ignore blanks around cells")
    expect(strip).to_be_checked()
    strip.uncheck()
    wait_for(lambda: workbench.workspace.spec().source.strip is False, "the option is saved")
