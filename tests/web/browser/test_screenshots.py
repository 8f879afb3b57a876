"""Screenshots of docs/workbench.md and docs/workbench-negotiate.md, one per screen; no other test takes them.

``pytest -m slow tests/web/browser/test_screenshots.py`` takes them again. Each screen is an entry of
``SCREENS``, with the preparation between showing the screen and taking its picture.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page

from tests.web.browser.conftest import OpenPage
from tests.web.browser.workflow import LONG, choose, go_to, publish, ready, settled
from tests.web.running import RunningWorkbench

IMAGES = Path(__file__).parents[3] / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
MOST_BYTES = 150_000
COLOURS = 96


def _stay(_page: Page) -> None:
    """Leave the screen unchanged."""


def _pairs(page: Page) -> None:
    page.wait_for_selector(".worst li")


def _tree(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^education")).first.click()
    page.get_by_role("heading", name="education", level=2).wait_for()
    page.get_by_role("treeitem").nth(1).click()


def _negotiated(page: Page) -> None:
    page.wait_for_selector("[data-move]", timeout=LONG)
    choose(page)
    settled(page)
    page.get_by_role("button", name="Close the message").last.click()
    page.get_by_role("button", name="More", exact=True).click()


def _published(page: Page) -> None:
    publish(page, "people")
    page.evaluate("document.activeElement.blur()")


@dataclass(frozen=True)
class Picture:
    """The picture of a screen; ``prepare`` is called once the screen is shown."""

    screen: str
    prepare: Callable[[Page], None] = _stay
    scheme: str = "light"


SCREENS = (
    Picture("load"),
    Picture("columns", _pairs),
    Picture("hierarchies", _tree),
    Picture("negotiate", _negotiated),
    Picture("publish", _published),
    Picture("analyst"),
    Picture("attacker"),
)
"""The order matters: choices and releases of one screen are the state of the next."""


def take(page: Page, path: Path) -> None:
    """Save a picture of the window in few colours."""
    page.mouse.move(0, 0)
    settled(page)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    few = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


@pytest.mark.slow
def test_picture_of_each_screen(open_page: OpenPage, workbench: RunningWorkbench) -> None:
    page = open_page(workbench.start_link, viewport=SIZE, color_scheme="light")
    page.set_default_timeout(LONG)
    ready(page, "load")
    page.get_by_role("button", name="Open the sample").click()
    ready(page, "columns")
    page.get_by_role("table").first.wait_for()
    page.get_by_label("Role of person_id").wait_for()
    for picture in SCREENS:
        go_to(page, picture.screen)
        page.emulate_media(color_scheme=picture.scheme)  # type: ignore[arg-type]
        picture.prepare(page)
        page.evaluate("window.scrollTo(0, 0)")
        take(page, IMAGES / f"workbench-{picture.screen}.png")
    sizes = {p.name: p.stat().st_size for p in IMAGES.glob("workbench-*.png")}
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}
    assert len(sizes) >= len(SCREENS)
