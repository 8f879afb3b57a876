"""The stage of Negotiate: nodes without motion, offers, effects under the slider, suppressed rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from discreet.model.requirement import Requirement
from discreet.screens.node_preview import TableEffects
from discreet.settings import Settings
from discreet.verbs.table import Table
from discreet.web.server_config import ServerConfig
from tests.web.browser.conftest import DESKTOP, PHONE, OpenPage
from tests.web.browser.test_negotiate import Start, after_move, lattice, start
from tests.web.browser.workflow import negotiate, ready, settled
from tests.web.negotiation import ADULT_5, write_adult, write_philosophers
from tests.web.running import RunningWorkbench, running

POSITIONS = "canvas => [0, 50, 120, 200].map(place => canvas.lattice.positionOf(place))"
LEVELS = "canvas => canvas.lattice.nodes.levelsOf(canvas.lattice.marks.answer)"
WORDS_APART = """() => { const box = s => document.querySelector(s).getBoundingClientRect();
  const area = box(".lattice-area"), layout = document.querySelector("canvas.lattice-marks").lattice.layout;
  const rows = Array.from({length: layout.bands}, (_, h) => layout.box(h));
  return [".verdict .sentence", ".offers", ".figures dl", ".lattice-legend"].flatMap(s => { const b = box(s);
    return rows.filter(([x, y, w, h]) => x + area.left < b.right && x + w + area.left > b.left &&
      y + area.top < b.bottom - 4 && y + h + area.top > b.top).map(() => s); }); }"""
MESSAGE = """async () => (await import("/static/components/status.js"))
  .toast("The server cannot be reached.", {tone: "bad"})"""
COVERED = """() => { const toast = document.querySelector(".toast").getBoundingClientRect();
  const parts = ".tray button, .strip canvas, .strip .words, .together-rows li, .bounds, .figures dd";
  return [...document.querySelectorAll(parts)].filter(e => {
    const b = e.getBoundingClientRect();
    return b.width > 1 && b.left < toast.right && b.right > toast.left &&
      b.top < toast.bottom - 1 && b.bottom > toast.top + 1;
  }).map(e => e.className || e.tagName); }"""
MEASURED = """() => { window.measured = [];
  const parts = [[Element, ["clientWidth", "clientHeight", "scrollWidth"]],
    [HTMLElement, ["offsetWidth", "offsetHeight", "offsetLeft", "offsetTop", "innerText"]]];
  for (const [{prototype}, names] of parts) for (const name of names) {
    const own = Object.getOwnPropertyDescriptor(prototype, name);
    const get = function () { window.measured.push(name); return own.get.call(this); };
    Object.defineProperty(prototype, name, {...own, get});
  }
  const boxes = ["getClientRects", "getBoundingClientRect"].map(name => [Element.prototype, name]);
  for (const [of, name] of [...boxes, [window, "getComputedStyle"]]) {
    const own = of[name];
    of[name] = function (...given) { window.measured.push(name); return own.apply(this, given); };
  } }"""
__all__ = ["start"]  # the fixture is imported from here


@pytest.fixture
def adult(tmp_path: Path, settings: Settings, data_dir: Path) -> Iterator[RunningWorkbench]:
    """Yield a workbench on Adult with five quasi-identifiers."""
    spec = write_adult(tmp_path, data_dir, ADULT_5)
    with running(ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec)) as found:
        yield found


def figure(page: Page, place: str) -> float:
    """Return the number that an element shows."""
    words = re.search(r"[\d,.]+", page.locator(place).inner_text())
    assert words
    return float(words[0].replace(",", ""))


def test_move_keeps_node_positions_and_updates_offers_and_previews(
    open_page: OpenPage, adult: RunningWorkbench
) -> None:
    page = negotiate(open_page, adult)
    assert page.evaluate(WORDS_APART) == [], "no word touches a node"
    before = lattice(page).evaluate(POSITIONS)
    after_move(page, lambda: page.get_by_label("k, as a number").fill("20"))
    assert lattice(page).evaluate(POSITIONS) == before
    page.locator(".offers:not(.stale) .offer").first.wait_for()

    table = Table(adult.workspace.spec(), adult.server.config.settings)
    base = TableEffects(table.frequency_set)
    node = tuple(lattice(page).evaluate(LEVELS))
    query: dict[str, list[str]] = page.evaluate(
        "() => JSON.parse(sessionStorage['discreet.draft.question'] ?? 'null')"
    )
    assert query is None, "at first the query is proposed"
    page.get_by_role("button", name=re.compile("^Change the query")).click()
    page.get_by_label("age, from").fill("30")
    page.get_by_label("age, to").fill("39")
    after_move(page, lambda: page.get_by_role("button", name="Count", exact=True).click())
    query = page.evaluate("() => JSON.parse(sessionStorage['discreet.draft.question'])")
    found = base.of_node(node, Requirement.of(20)).answer(query)
    assert figure(page, ".question .hero") == round(found["estimate"])
    assert figure(page, ".question .truth") == found["truth"]
    assert [figure(page, f".question .bounds span >> nth={i}") for i in (0, 1)] == [
        found["low"],
        found["high"],
    ]
    painted = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0)"
    assert all(each.evaluate(painted) for each in page.locator(".strip canvas").all())

    offer = page.locator(".offer button").first
    gain = offer.inner_text()
    after_move(page, offer.click)
    if gain.startswith("k = "):
        expect(page.get_by_label("k, as a number")).to_have_value(gain.removeprefix("k = "))
    expect(page.locator(".answer-words")).to_contain_text("Exact answer")
    assert page.evaluate("() => document.activeElement !== document.body")


def test_print_is_light_and_an_answer_causes_no_layout(open_page: OpenPage, adult: RunningWorkbench) -> None:
    page = negotiate(open_page, adult, color_scheme="dark")
    print_it(page)
    page.evaluate(MEASURED)
    for k in (20, 21, 400):
        after_move(page, lambda k=k: page.get_by_label("k, as a number").fill(str(k)))  # type: ignore[misc]
    assert page.evaluate("window.measured") == [], "reading a position forces a layout"
    page.set_viewport_size({"width": 1000, "height": 720})
    page.wait_for_function(
        "() => [...document.querySelectorAll('.strip canvas')].every(each => each.width === each.clientWidth)"
    )


def test_level_chips_and_suppressed_rows_behind_one_click(
    open_page: OpenPage, adult: RunningWorkbench
) -> None:
    page = negotiate(open_page, adult)
    chip = page.get_by_role("group", name="Levels of age").get_by_role("button").nth(1)
    after_move(page, chip.click)
    expect(page.get_by_label("Greatest level of age, as a number")).to_have_value("1")
    expect(page.get_by_role("group", name="Levels of age").locator(".refused").first).to_be_visible()
    after_move(page, chip.click)
    expect(page.locator(".level.refused")).to_have_count(0)

    page.get_by_role("button", name=re.compile("^Show the .*suppressed row")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Only you see them")
    expect(dialog.get_by_role("table")).to_have_count(0)
    dialog.get_by_role("button", name="Show suppressed rows").click()
    levels = dict(zip(ADULT_5, lattice(page).evaluate(LEVELS), strict=True))
    found = Table(adult.workspace.spec(), adult.server.config.settings).lattice().left_out(levels, k=5, l=2)
    expect(dialog.locator(".sentence")).to_have_text(found.sentence().replace("_", " "))
    expect(dialog.get_by_role("table")).to_have_count(len(ADULT_5))
    dialog.get_by_role("button", name="Close").click()

    page.get_by_role("button", name="Publish this answer").click()
    ready(page, "publish")
    expect(page.get_by_text("The node chosen in Negotiate")).to_be_visible()


def test_messages_cover_neither_the_tray_nor_a_figure(
    open_page: OpenPage, start: Start, tmp_path: Path
) -> None:
    workbench = start(write_philosophers(tmp_path))
    page = negotiate(open_page, workbench)
    for size in (DESKTOP, PHONE):
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        settled(page)
        page.evaluate(MESSAGE)
        page.wait_for_function(
            "() => document.documentElement.style.getPropertyValue('--toast-height') > '0px'"
        )
        assert page.evaluate(COVERED) == []
        page.locator(".tray .publish").click(trial=True)
        page.locator(".toast").get_by_role("button").click()
        page.locator(".toast").wait_for(state="detached")


BEFORE_PRINT = """() => { window.dispatchEvent(new Event("beforeprint"));
  const canvas = document.querySelector("canvas.lattice-marks");
  const cells = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let at = 0; at < cells.length; at += 4)
    if (cells[at + 3] === 255) seen.add(cells.slice(at, at + 3).join());
  const {theme} = document.documentElement.dataset, {foot} = document.querySelector("main").dataset;
  return [theme, seen.size, foot]; }"""


def print_it(page: Page) -> None:
    """The print fits one page with a footer: the lattice is drawn as strokes, and restored afterwards."""
    theme, colours, foot = page.evaluate(BEFORE_PRINT)
    assert (theme, colours > 20) == ("light", True)
    assert re.search(r"discreet · adult_30162\.csv · .*\d+ \w+ \d{4}", foot)
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "auto"
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
