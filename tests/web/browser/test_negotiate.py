"""Negotiate in a real browser: the screen after each move, down to the pixels of the lattice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.web.browser.conftest import PHONE, OpenPage
from tests.web.browser.workflow import choose, negotiate, settled
from tests.web.negotiation import write_adult, write_large, write_philosophers
from tests.web.running import RunningWorkbench, running

Start = Callable[[Path], RunningWorkbench]
COLOURS = """(canvas, places) => places.map(place => canvas.lattice.colourOf(place).slice(0, 3).join())"""
TOKENS = """names => { const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  return names.map(name => { const e = document.createElement("i"); e.style.color = `var(${name})`;
    document.body.append(e); pen.fillStyle = getComputedStyle(e).color; e.remove(); pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).join(); }); }"""


@pytest.fixture
def start(tmp_path: Path, settings: Settings) -> Iterator[Start]:
    """Yield a function that starts a workbench on a spec."""
    with ExitStack() as stack:
        yield lambda spec: stack.enter_context(
            running(ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec))
        )


def lattice(page: Page) -> Locator:
    return page.locator("canvas.lattice-marks")


def after_move(page: Page, act: Callable[[], object]) -> None:
    """Call ``act`` and wait until the move that it causes has been answered."""
    before = page.locator("[data-move]").get_attribute("data-move")
    act()
    page.wait_for_function(
        "before => document.querySelector('[data-move]').dataset.move !== before", arg=before
    )


def place_of(page: Page, *levels: int) -> int:
    return int(
        lattice(page).evaluate("(canvas, levels) => canvas.lattice.nodes.placeOf(levels)", list(levels))
    )


def test_negotiation_with_relaxations_and_undo(open_page: OpenPage, start: Start, tmp_path: Path) -> None:
    workbench = start(write_philosophers(tmp_path))
    page = negotiate(open_page, workbench)
    meets, lowest = page.evaluate(TOKENS, ["--lattice-meets", "--lattice-lowest"])
    top, low = place_of(page, 4, 3, 2), place_of(page, 2, 2, 1)

    k, l = page.get_by_label("k, as a number"), page.get_by_label("l, as a number")
    expect(l).to_have_value("2")
    after_move(page, lambda: l.fill("1"))
    after_move(page, lambda: k.fill("4"))
    after_move(page, lambda: page.get_by_label("Maximum suppression in rows").fill("0"))
    expect(page.locator(".answer-words")).to_contain_text(
        "No group has fewer than 4 rows. No row is suppressed.", use_inner_text=True
    )
    assert lattice(page).evaluate(COLOURS, [top, low]) == [meets, lowest]

    for name in ("age", "work_class", "education"):
        field = page.get_by_label(f"Greatest level of {name}, as a number")
        after_move(page, lambda field=field: (field.fill("1"), field.press("Tab")))  # type: ignore[misc]
    expect(page.locator(".answer-words")).to_contain_text(
        "At least 6 of 10 rows would have to be suppressed; you allow 0.", use_inner_text=True
    )
    assert [card.get_attribute("data-relaxed") for card in page.locator(".relaxation").all()] == [
        "max_suppressed",
        "height",
        "k",
    ]
    assert lattice(page).evaluate(COLOURS, [low]) != [lowest], "it is outside the levels now"

    expect(page.get_by_role("button", name="Undo")).to_have_attribute("title", re.compile("Undo: Request"))
    card = page.locator('.relaxation[data-relaxed="k"]')
    after_move(page, lambda: card.get_by_role("button", name="Apply").click())
    expect(k).to_have_value("3")
    expect(page.locator(".answer-words")).to_contain_text("fewer than 3 rows", use_inner_text=True)
    expect(page.locator(".relaxation")).to_have_count(0)
    assert page.evaluate("() => document.activeElement !== document.body"), (
        "the focus remains after the card has gone"
    )

    after_move(page, lambda: page.keyboard.press("Control+z"))
    expect(k).to_have_value("4")
    after_move(page, lambda: page.get_by_role("button", name="Redo").click())
    expect(k).to_have_value("3")

    choose(page)
    page.get_by_role("button", name="Save for the command line").click()
    page.locator("#toasts").get_by_text("The command line now uses the same request").wait_for()
    assert workbench.workspace.document()["request"]["k"] == 3
    page.reload()
    page.wait_for_selector("[data-move]")
    expect(page.get_by_label("k, as a number")).to_have_value("3")
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.get_by_role("button", name="Chosen for the release")).to_be_visible()


def test_move_recolours_every_node_and_the_last_of_a_burst_wins(
    open_page: OpenPage, start: Start, tmp_path: Path, data_dir: Path
) -> None:
    page = negotiate(open_page, start(write_adult(tmp_path, data_dir)))
    canvas = lattice(page)
    assert canvas.evaluate("canvas => canvas.lattice.nodes.count") == 3600
    places = list(range(0, 3600, 45))
    before = canvas.evaluate(COLOURS, places)
    after_move(page, lambda: page.get_by_label("k, as a number").fill("60"))
    after = canvas.evaluate(COLOURS, places)
    assert sum(a != b for a, b in zip(before, after, strict=True)) > 30
    burst = """() => { const slider = document.querySelector('input[name=k]');
      for (let stop = 1; stop <= 24; stop += 1) {
        slider.value = stop; slider.dispatchEvent(new Event('input', {bubbles: true})); } }"""
    sent = int(page.locator("[data-move]").get_attribute("data-move") or 0)
    page.evaluate(burst)
    page.wait_for_function(
        "() => document.querySelector('.answer-words').innerText.includes('fewer than 40 rows')"
    )
    settled(page)
    assert int(page.locator("[data-move]").get_attribute("data-move") or 0) <= sent + 4, "latest wins"
    colours = canvas.evaluate(COLOURS, places)
    again = negotiate_again(page, "40")
    assert colours == again


def negotiate_again(page: Page, k: str) -> list[str]:
    """Reload the page, request this k and return the colours of the lattice."""
    page.reload()
    page.wait_for_selector("[data-move]")
    after_move(page, lambda: page.get_by_label("k, as a number").fill("7"))
    after_move(page, lambda: page.get_by_label("k, as a number").fill(k))
    found: list[str] = lattice(page).evaluate(COLOURS, list(range(0, 3600, 45)))
    return found


def test_keys_walk_compare_and_choose(open_page: OpenPage, start: Start, tmp_path: Path) -> None:
    page = negotiate(open_page, start(write_philosophers(tmp_path)))
    slider = page.locator("input[name=k]")
    slider.focus()
    after_move(page, lambda: page.keyboard.press("ArrowLeft"))
    expect(page.get_by_label("k, as a number")).to_have_value("4")
    canvas = lattice(page)
    canvas.focus()
    live = page.locator(".lattice-live")
    after_move(page, lambda: page.keyboard.press("Home"))
    expect(live).to_contain_text("Height 0: age 0, work_class 0, education 0.", use_inner_text=True)
    after_move(page, lambda: page.keyboard.press("Digit3"))
    expect(live).to_contain_text("Height 1: age 0, work_class 0, education 1.", use_inner_text=True)
    after_move(page, lambda: page.keyboard.press("ArrowUp"))
    expect(live).to_contain_text("Height 2: age 1, work_class 0, education 1.", use_inner_text=True)
    after_move(page, lambda: page.keyboard.press("ArrowRight"))
    expect(live).to_contain_text("Height 2:", use_inner_text=True)
    after_move(page, lambda: page.keyboard.press("ArrowDown"))
    expect(live).to_contain_text("Height 1:", use_inner_text=True)
    chosen = page.evaluate(TOKENS, ["--ink"])[0]
    ring = """canvas => { const l = canvas.lattice, pen = canvas.getContext('2d');
      const [x, y] = l.positionOf(l.marks.chosen), found = new Set();
      for (let r = 0; r < 26; r += 0.5) found.add([...pen.getImageData(Math.floor((x - r) * l.ratio),
        Math.floor(y * l.ratio), 1, 1).data].slice(0, 3).join());
      return [...found]; }"""
    assert chosen in canvas.evaluate(ring), "the node that is shown is drawn"
    after_move(page, lambda: page.keyboard.press("Escape"))
    expect(live).to_contain_text("meets the request", use_inner_text=True)
    page.get_by_role("button", name="More", exact=True).press("Enter")
    page.get_by_role("button", name="Compare", exact=True).press("Enter")
    after_move(page, lambda: (canvas.focus(), page.keyboard.press("End")))
    page.get_by_role("button", name="Compare (1)").press("Enter")
    page.locator(".comparison-table thead th").nth(1).wait_for()
    page.get_by_role("tab", name="Rows before and after").press("End")
    page.get_by_role("tab", name="Drop an attribute").press("ArrowLeft")
    page.get_by_text("1–25 of 60").wait_for()
    page.get_by_role("button", name="Choose this node").press("Enter")
    page.locator("#toasts").get_by_text("The node is chosen for the release").wait_for()


def test_pointer_hovers_zooms_and_follows_the_frontier(
    open_page: OpenPage, start: Start, tmp_path: Path
) -> None:
    page = negotiate(open_page, start(write_philosophers(tmp_path)))
    canvas = lattice(page)
    place = place_of(page, 2, 2, 1)
    x, y = canvas.evaluate("(canvas, place) => canvas.lattice.positionOf(place)", place)
    canvas.hover(position={"x": x, "y": y})
    expect(page.locator(".lattice-tip")).to_contain_text(
        "Height 5\nage 2, work_class 2, education 1", use_inner_text=True
    )
    after_move(page, lambda: canvas.click(position={"x": x, "y": y}))
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.locator(".node-head")).to_contain_text("Selected node", use_inner_text=True)
    frontier = "canvas => canvas.lattice.marks.frontier"
    assert canvas.evaluate(frontier) is None, "no answer waits for it while it is not in sight"
    page.get_by_role("tab", name="Frontier").click()
    plot = page.locator(".frontier-plot")
    page.wait_for_function("() => document.querySelector('.lattice-marks').lattice.marks.frontier")
    plot.focus()
    page.keyboard.press("ArrowRight")
    hovered = canvas.evaluate("canvas => canvas.lattice.marks.hovered")
    assert hovered in canvas.evaluate(frontier)
    after_move(page, lambda: page.keyboard.press("Enter"))
    canvas.hover(position={"x": x, "y": y})
    page.mouse.wheel(0, -600)
    page.wait_for_function("() => document.querySelector('.lattice-marks').lattice.view.scale > 2")
    assert canvas.evaluate("canvas => canvas.lattice.positionOf(0)[1]") > y, "the foot has moved away"
    page.get_by_role("button", name="Show the whole lattice").click()
    assert canvas.evaluate("canvas => canvas.lattice.view.scale") == 1


@pytest.mark.slow
def test_large_lattice_is_drawn_in_cells_until_zoomed(
    open_page: OpenPage, start: Start, tmp_path: Path
) -> None:
    page = negotiate(open_page, start(write_large(tmp_path)), color_scheme="dark")
    canvas = lattice(page)
    settled(page)
    assert canvas.evaluate("canvas => canvas.lattice.nodes.count") == 180_000
    assert canvas.evaluate("canvas => canvas.lattice.layout.group") > 4
    colours = canvas.evaluate(COLOURS, list(range(0, 180_000, 2999)))
    assert len(set(colours)) > 3
    after_move(page, lambda: page.get_by_label("Maximum suppression in percent").fill("40"))
    assert canvas.evaluate(COLOURS, list(range(0, 180_000, 2999))) != colours
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(8):
        page.mouse.wheel(0, -400)
    page.wait_for_function("() => document.querySelector('.lattice-marks').lattice.layout.group === 1")


def test_phone_pinches_and_nothing_overflows(open_page: OpenPage, start: Start, tmp_path: Path) -> None:
    page = negotiate(open_page, start(write_philosophers(tmp_path)), viewport=PHONE, has_touch=True)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    canvas = lattice(page)
    pinch = """canvas => { const box = canvas.getBoundingClientRect();
      const at = (id, dx, type) => canvas.dispatchEvent(new PointerEvent(type, {pointerId: id, bubbles: true,
        pointerType: 'touch', clientX: box.left + 150 + dx, clientY: box.top + 150}));
      canvas.setPointerCapture = () => {};
      at(1, -20, 'pointerdown'); at(2, 20, 'pointerdown');
      at(1, -60, 'pointermove'); at(2, 60, 'pointermove');
      at(1, -60, 'pointerup'); at(2, 60, 'pointerup');
      return canvas.lattice.view.scale; }"""
    assert 2.5 < canvas.evaluate(pinch) < 3.5
    place = place_of(page, 1, 1, 1)
    canvas.evaluate("canvas => canvas.lattice.fit()")
    x, y = canvas.evaluate("(canvas, place) => canvas.lattice.positionOf(place)", place)
    after_move(page, lambda: canvas.tap(position={"x": x, "y": y}))
    expect(page.locator(".lattice-live")).to_contain_text(
        "age 1, work_class 1, education 1", use_inner_text=True
    )
