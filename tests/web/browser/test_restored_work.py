"""Undo, versions, addresses, reloads and leaving a screen: work is neither lost nor weakened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.waiting import wait_for
from tests.web.browser.conftest import DESKTOP, PHONE, OpenPage
from tests.web.browser.workflow import LONG, choose, go_to, negotiate, opened, ready, settled
from tests.web.negotiation import write_philosophers
from tests.web.running import RunningWorkbench, running

IN_SIGHT = """e => { const box = e.getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight; }"""
WORDS_OF_FILES = re.compile(r"\[source\]|\[request\]|null_values|--max|--k\b|\blca\b|min-sum|qi-aware|TOML")

SLOW_EDITS = """() => { const real = window.fetch;
  window.fetch = async (path, given) => {
    if (String(path).endsWith('/hierarchies/edit')) await new Promise(done => setTimeout(done, 1500));
    return real(path, given); }; }"""


@pytest.fixture
def philosophers(tmp_path: Path, settings: Settings) -> Iterator[RunningWorkbench]:
    """Yield a server with the example of the documentation."""
    config = ServerConfig(
        workspace=tmp_path / "workspace", settings=settings, root=tmp_path, spec=write_philosophers(tmp_path)
    )
    with running(config) as found:
        yield found


def show_negotiate(page: Page) -> None:
    go_to(page, "negotiate")
    page.wait_for_selector("[data-move]", timeout=LONG)


@pytest.fixture
def page(open_page: OpenPage, philosophers: RunningWorkbench) -> Page:
    """Return a signed-in page."""
    return opened(open_page, philosophers)


def test_undo_and_versions_restore_the_work(
    page: Page, philosophers: RunningWorkbench, tmp_path: Path
) -> None:
    workspace = philosophers.workspace
    text = workspace.spec_path.read_text()
    go_to(page, "columns")
    page.get_by_label("Role of education").select_option("identifier")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_have_attribute("title", "Undo: Role of education")
    go_to(page, "publish")
    page.keyboard.press("Control+z")
    wait_for(lambda: workspace.spec_path.read_text() == text, "the role is undone from another screen")
    assert page.evaluate("() => document.activeElement !== document.body")
    page.keyboard.press("Control+Shift+z")
    wait_for(lambda: len(workspace.spec().quasi_identifiers) == 2, "and given again")
    go_to(page, "hierarchies")
    page.get_by_role("tab", name="Levels").click()
    page.get_by_role("button", name="Versions").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    dialog.get_by_role("button", name="Go back").click()
    wait_for(lambda: workspace.spec_path.read_text() == text, "the first version is restored")
    expect(page.get_by_role("tab", name="Levels", selected=True)).to_be_visible()
    # A spec whose table cannot be read does not overwrite anything.
    (tmp_path / "broken.toml").write_text(text.replace("philosophers.csv", "nowhere.csv"))
    go_to(page, "load")
    page.get_by_text("Load another table, or open a spec").click()
    page.get_by_label("Path below the root").fill(str(tmp_path / "broken.toml"))
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator(".field-error:visible, .notice.bad:visible").first).to_contain_text("nowhere.csv")
    assert workspace.spec_path.read_text() == text


def test_address_and_reload_restore_view_and_input(page: Page) -> None:
    go_to(page, "hierarchies")
    page.get_by_role("button", name=re.compile("^education")).click()
    page.get_by_role("tab", name="Builder").click()
    expect(page).to_have_url(re.compile(r"attribute=education&tab=builder$"))
    page.reload()
    expect(page.get_by_role("heading", name="education")).to_be_visible()
    expect(page.get_by_role("tab", name="Builder", selected=True)).to_be_visible()
    page.set_viewport_size(PHONE)
    settled(page)
    page.evaluate("scrollTo(0, 200)")
    page.wait_for_function("() => history.state?.scroll === 200")
    page.reload()
    page.wait_for_function("() => scrollY === 200")
    page.set_viewport_size(DESKTOP)
    show_negotiate(page)
    k = page.get_by_label("k, as a number")
    k.fill("4")
    page.reload()  # before the request is recorded in the versions
    page.wait_for_selector("[data-move]", timeout=LONG)
    expect(k).to_have_value("4")
    for wrong in ("0", "-3", ""):
        k.fill(wrong)
        k.blur()
        expect(
            page.get_by_text("Enter a whole number of at least 1. The current value is 4.")
        ).to_be_visible()
        expect(k).to_have_attribute("aria-invalid", "true")
    k.fill("3")
    expect(page.locator(".stop-slider .field-error:visible")).to_have_count(0)
    fits = "() => document.documentElement.scrollHeight <= innerHeight"
    assert page.evaluate(fits), "one page, no scrolling at 1280x800"
    inner = """() => [...document.querySelectorAll(".composition *")].filter(e =>
      ["auto", "scroll"].includes(getComputedStyle(e).overflowY) &&
      e.scrollHeight > e.clientHeight + 1).length"""
    assert page.evaluate(inner) == 0, "and none within it"
    page.go_back()
    ready(page, "hierarchies")
    expect(page.get_by_role("heading", name="education")).to_be_visible()


def test_publish_starts_from_the_last_request_and_shows_errors_at_fields(page: Page) -> None:
    show_negotiate(page)
    page.get_by_label("k, as a number").fill("3")
    page.get_by_label("Maximum suppression in percent").fill("30")
    expect(page.get_by_role("button", name="Undo")).to_have_attribute("title", re.compile("k = 3"))
    go_to(page, "publish")
    k, name = page.get_by_label("k", exact=True), page.get_by_label("Name", exact=True)
    for model in ("mondrian", "local", "patterns", "permutation"):
        page.get_by_label("Model", exact=True).select_option(model)
        expect(k).to_have_value("3")
        assert not WORDS_OF_FILES.search(page.locator("form").first.inner_text())
    page.get_by_label("Model", exact=True).select_option("local")
    expect(page.get_by_label("Suppressed at most")).to_have_value("30%")
    send = page.get_by_role("button", name="Publish", exact=True)
    k.fill("abc")
    send.click()
    expect(k).to_be_focused()
    assert page.get_by_text("Enter a whole number of at least 1.").evaluate(IN_SIGHT)
    k.fill("3")
    name.fill("../../evil")
    send.click()
    expect(page.locator("[data-field=name] .field-error")).to_contain_text("such as “evil”")
    expect(name).to_be_focused()
    page.reload()
    expect(name).to_have_value("../../evil")
    name.fill("mine")
    send.click()
    result = page.locator("#publish-work").get_by_text("Audit passed")
    expect(result).to_be_visible(timeout=LONG)
    wait_for(lambda: result.evaluate(IN_SIGHT), "the result is in sight")
    expect(page.get_by_role("table").get_by_text("Local recoding", exact=True)).to_be_visible()


def test_next_screen_waits_for_a_pending_write(page: Page) -> None:
    """The metrics of a chosen node do not apply to another hierarchy, however long saving takes.

    The node is marked as stale, and it cannot be published.
    """
    show_negotiate(page)
    choose(page)
    go_to(page, "hierarchies")
    page.get_by_role("button", name=re.compile("^age")).click()
    page.get_by_role("heading", name="age", level=2).wait_for()
    page.get_by_role("tab", name="Levels").click()
    page.evaluate(SLOW_EDITS)
    page.get_by_role("button", name=re.compile("^Remove level")).first.click()
    go_to(page, "publish")
    page.get_by_label("Model", exact=True).select_option("negotiated")
    expect(page.get_by_text("its figures are out of date")).to_be_visible()
    expect(page.get_by_role("button", name="Publish", exact=True)).to_be_disabled()


def test_lost_server_is_reported_until_it_is_back(
    browser: Browser, tmp_path: Path, settings: Settings
) -> None:
    spec = write_philosophers(tmp_path)
    config = ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec)
    with running(config) as first:
        context = browser.new_context()
        page = context.new_page()
        page.goto(first.start_link)
        page.wait_for_selector("body[data-ready]", timeout=LONG)
        port = int(first.url.rsplit(":", 1)[1])
    page.evaluate("() => { location.hash = '#/attacker'; }")
    expect(page.locator("#line").filter(has_text="The server does not answer")).to_be_visible()
    again = ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec, port=port)
    with running(again):
        expect(page.get_by_text("Signed out. Open the start link again")).to_be_visible()
        page.get_by_role("link", name="Sign in").click()
        expect(page.get_by_role("heading", name="Open the start link")).to_be_visible()
    context.close()


def test_phone_shows_slider_lattice_and_answer_in_one_view(
    open_page: OpenPage, philosophers: RunningWorkbench
) -> None:
    page = negotiate(open_page, philosophers, viewport=PHONE, has_touch=True)
    for place in ("input[name=k]", ".bar-sentence", "canvas.lattice-marks"):
        assert page.locator(place).evaluate(IN_SIGHT), place
    assert page.locator("#steps-open").evaluate(IN_SIGHT)
    expect(page.locator("#steps-open")).to_have_text("Negotiate4 of 7")
    k = page.get_by_label("k, as a number")
    k.fill("40000")
    expect(page.locator(".bar-sentence")).to_have_text("No group can have 40,000 rows: the table has 10.")
    edges = "e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right]"
    words = page.locator(".bar-sentence").evaluate(edges)
    assert page.locator(".bar-k b").evaluate(edges)[1] <= words[0], "a long k is next to the sentence"
    k.fill("3")
    expect(page.locator(".bar-k b")).to_have_text("3")
    before = page.locator(".bar-sentence").inner_text()
    page.get_by_role("button", name="k one step less").click()
    expect(page.locator(".bar-sentence")).not_to_have_text(before)
    page.locator(".request").scroll_into_view_if_needed()
    page.mouse.wheel(0, 1500)
    settled(page)
    assert page.locator(".bar-sentence").evaluate(IN_SIGHT), "it stays in sight"
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
