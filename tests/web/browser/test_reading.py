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


def test_forms_are_shown_said_taken_back_and_the_reading_is_corrected(
    page: Page, workbench: RunningWorkbench
) -> None:
    write_people(workbench)
    page.goto(f"{workbench.url}/#/load")
    page.reload()
    page.get_by_role("button", name="people.csv").click()
    rows = page.get_by_role("region", name="The first rows")
    expect(rows.get_by_text("read as dates")).to_be_visible()
    expect(rows.get_by_text("1001.51")).to_be_visible()
    expect(page.get_by_text("Kosten: numbers with decimals behind ','")).to_be_visible()
    page.get_by_text("Say how a column is written").click()
    page.get_by_label("Column", exact=True).select_option("Kosten")
    expect(page.get_by_label("Before decimals")).to_have_value(",")
    expect(page.get_by_label("Units")).to_have_value("€")
    page.get_by_label("Column", exact=True).select_option("Geburtsdatum")
    formats = page.get_by_label("Date formats")
    expect(formats).to_have_value("%d.%m.%Y")
    formats.fill("%d.%m.%Y | %Q")
    page.get_by_role("button", name="Save the form").click()
    faults = page.locator(".field-error:visible, .form-error:visible")
    expect(faults.filter(has_text="%Q")).to_have_count(1)
    formats.fill("%d.%m.%Y | %Y-%m-%d")
    page.get_by_role("button", name="Save the form").click()
    wait_for(
        lambda: workbench.workspace.spec().source.written["Geburtsdatum"].dates == ("%d.%m.%Y", "%Y-%m-%d"),
        "the formats are saved",
    )
    expect(page.get_by_text("Geburtsdatum: dates in the form %d.%m.%Y or %Y-%m-%d")).to_be_visible()
    page.get_by_label("Column", exact=True).select_option("Kosten")
    page.get_by_role("button", name="Read as it stands").click()
    wait_for(lambda: "Kosten" not in workbench.workspace.spec().source.written, "the form is gone")
    expect(page.get_by_text("Kosten: numbers")).to_have_count(0)
    page.get_by_label("Column", exact=True).select_option("Geschlecht")
    page.get_by_label("Before decimals").select_option(",")
    page.get_by_role("button", name="Save the form").click()
    expect(page.get_by_role("alert").filter(has_text="“m”, 30 times, first in row 1")).to_be_visible()
    page.get_by_role("button", name="Leave them as they are").click()
    expect(page.get_by_text("Geschlecht: numbers with decimals")).to_be_visible()
    assert workbench.workspace.spec().source.written["Geschlecht"].others == ("m", "m ")
    strip = page.get_by_role("checkbox", name="Blanks around cells")
    expect(strip).to_be_checked()
    strip.uncheck()
    page.get_by_label("Decimal mark").select_option(",")
    expect(page.get_by_label("Encoding")).to_have_value("windows-1252")
    wait_for(lambda: workbench.workspace.spec().source.decimal == ",", "the decimal mark is saved")
    source = workbench.workspace.spec().source
    assert (source.decimal, source.strip, source.encoding) == (",", False, "windows-1252")
