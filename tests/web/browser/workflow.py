"""Steps of a publisher through the workbench, shared by the tests of the whole workflow."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.web.browser.conftest import OpenPage
from tests.web.running import RunningWorkbench

SCREENS = ("load", "columns", "hierarchies", "negotiate", "analyst", "attacker", "publish")
KEPT = {"age", "education", "marital_status", "race", "sex", "salary_class"}
LONG = 180_000

_DROP = """([name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name, {type: "text/csv"}));
  const zone = document.querySelector(".drop");
  for (const kind of ["dragenter", "dragover", "drop"])
    zone.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: carried}));
}"""


def ready(page: Page, screen: str) -> None:
    """Wait until a screen is shown."""
    page.wait_for_selector(f"body[data-ready={screen}]", timeout=LONG)


def opened(open_page: OpenPage, workbench: RunningWorkbench, **options: object) -> Page:
    """Sign in and wait until a screen is shown."""
    page = open_page(workbench.start_link, **options)
    page.wait_for_selector("body[data-ready]", timeout=LONG)
    return page


def negotiate(open_page: OpenPage, workbench: RunningWorkbench, **options: object) -> Page:
    """Sign in, open Negotiate and wait for its first answer."""
    page = opened(open_page, workbench, **options)
    go_to(page, "negotiate")
    page.wait_for_selector("[data-move]", timeout=LONG)
    return page


def go_to(page: Page, screen: str) -> None:
    """Follow the link of a step, which on a phone is in the list of steps."""
    if page.locator("#steps-open").is_visible():
        page.locator("#steps-open").click()
    page.locator(f"#steps a[href='#/{screen}']").click()
    ready(page, screen)


_STILL = """() => {
  const moves = document.getAnimations().some((each) => each.playState === "running"
    && each.effect.getComputedTiming().endTime !== Infinity);
  const shown = [document.body.outerHTML, scrollX, scrollY, document.fonts.status].join();
  const busy = moves || document.querySelector("main .progress, main [aria-busy], main[aria-busy]");
  window.stillFrames = busy || shown !== window.shownBefore ? 0 : window.stillFrames + 1;
  window.shownBefore = shown;
  return window.stillFrames >= 10;
}"""


def settled(page: Page) -> None:
    """Wait until the page shows no motion, no work and no change for ten frames."""
    page.evaluate("() => { window.shownBefore = null; }")
    page.wait_for_function(_STILL, timeout=LONG)


def drop_file(page: Page, path: Path, *, rows: int | None = None) -> None:
    """Drop a file on the Load screen and wait for its preview."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(lines if rows is None else lines[: rows + 1])
    page.evaluate(_DROP, [path.name, text])
    page.get_by_role("heading", name=path.name, level=1).wait_for(timeout=LONG)


def choose_roles(page: Page, columns: list[str]) -> None:
    """Give every column outside ``KEPT`` the role identifier."""
    for column in columns:
        if column not in KEPT:
            with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
                page.get_by_label(f"Role of {column}").select_option("identifier")


def prepare(page: Page, path: Path, *, rows: int | None = None) -> None:
    """Load a file and set its roles: five quasi-identifiers and a sensitive attribute."""
    drop_file(page, path, rows=rows)
    columns = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    go_to(page, "columns")
    choose_roles(page, columns)


def choose(page: Page) -> None:
    """Choose the node that Negotiate shows."""
    button = page.get_by_role("button", name="Choose this node")
    if not button.is_visible():
        page.get_by_role("button", name="More", exact=True).click()
    button.click()
    page.locator("#toasts").get_by_text("The node is chosen for the release").wait_for()


def publish(page: Page, name: str) -> None:
    """Publish the chosen node and wait for the audit."""
    go_to(page, "publish")
    page.get_by_label("Name", exact=False).first.fill(name)
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("heading", name=f"Published: {name}.csv").wait_for(timeout=LONG)
