"""Accessibility: axe-core checks every screen in both themes and both sizes; the keyboard suffices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_core_python
import pytest
from playwright.sync_api import Browser, Page, expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig, add_user
from tests.web.browser.conftest import DESKTOP, PHONE, OpenPage
from tests.web.browser.workflow import LONG, SCREENS, choose, go_to, publish, ready, settled
from tests.web.negotiation import ADULT_5, write_adult
from tests.web.running import RunningWorkbench, running

AXE = next(Path(axe_core_python.__file__).parent.glob("axe*.js"))
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}}


def violations(page: Page, *, contrast: bool = True) -> list[str]:
    """Return axe-core's findings: rule, element, advice. The contrast check takes most of its time."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    rules = {**RULES, "rules": {"color-contrast": {"enabled": contrast}}}
    found: dict[str, Any] = page.evaluate("rules => axe.run(document, rules)", rules)
    return [
        f"{each['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for each in found["violations"]
        for node in each["nodes"][:3]
    ]


@pytest.fixture(scope="module")
def published(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, data_dir: Path
) -> Iterator[RunningWorkbench]:
    """Yield a workbench that has content on every screen."""
    folder = tmp_path_factory.mktemp("published")
    settings = Settings(2 * 10**9, 2, folder / "log.jsonl")
    spec, rows = write_adult(folder, data_dir, ADULT_5), data_dir / "adult" / "adult_30162.csv"
    (folder / "people.csv").write_text("".join(rows.read_text().splitlines(keepends=True)[:1501]))
    spec.write_text(re.sub('path = ".*', 'path = "people.csv"', spec.read_text()))
    with running(ServerConfig(workspace=folder / "w", settings=settings, root=folder, spec=spec)) as found:
        context = browser.new_context(viewport=DESKTOP, reduced_motion="reduce")
        page = context.new_page()
        page.goto(found.start_link)
        page.wait_for_selector("body[data-ready]", timeout=LONG)
        go_to(page, "negotiate")
        page.wait_for_selector("[data-move]", timeout=LONG)
        choose(page)
        publish(page, "people")
        context.close()
        yield found


VIEWS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": PHONE},
    "zoom of 200 %": {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2},
}


@pytest.mark.parametrize(
    "view", ["no contrast", *(pytest.param(each, marks=pytest.mark.slow) for each in VIEWS)]
)
def test_every_screen_passes_axe_and_fits_the_window(
    open_page: OpenPage, published: RunningWorkbench, view: str
) -> None:
    page = open_page(published.start_link, **VIEWS.get(view, {}))
    problems = {}
    for screen in SCREENS:
        go_to(page, screen)
        settled(page)
        problems[screen] = violations(page, contrast=view in VIEWS)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        problems[screen] += [f"{wide} pixels wider than the window"] if wide > 0 else []
    assert {screen: found for screen, found in problems.items() if found} == {}


@pytest.mark.slow
def test_every_screen_without_a_table_passes_axe(open_page: OpenPage, workbench: RunningWorkbench) -> None:
    page = open_page(workbench.start_link)
    problems = {}
    for screen in SCREENS:
        go_to(page, screen)
        problems[screen] = violations(page)
    assert {screen: found for screen, found in problems.items() if found} == {}


def test_pages_before_the_sign_in_pass_axe(
    open_page: OpenPage, workbench: RunningWorkbench, tmp_path: Path, settings: Settings
) -> None:
    page = open_page(f"{workbench.url}/login")
    problems = {"signed out": violations(page)}
    page.goto(workbench.start_link)
    ready(page, "load")
    problems["load, empty"] = violations(page)
    page.goto(f"{workbench.url}/api-docs")
    page.get_by_role("heading", name="session", exact=True).wait_for()
    problems["api-docs"] = violations(page)
    add_user(tmp_path / "users", "anna", "correct horse battery")
    config = ServerConfig(workspace=tmp_path / "w", settings=settings, password_file=tmp_path / "users")
    with running(config) as other:
        login = open_page(other.url)
        problems["login"] = violations(login)
        login.context.close()
    assert {screen: found for screen, found in problems.items() if found} == {}


def test_keyboard_suffices_from_a_table_to_a_release(
    open_page: OpenPage, workbench: RunningWorkbench, tmp_path: Path
) -> None:
    """Tab, arrow keys, Enter, Space and typing suffice, without a pointer."""
    rows = "".join(f"{30 + i % 4},{'AB'[i % 2]},{'xyz'[i % 3]}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("age,city,disease\n" + rows)
    page = open_page(workbench.start_link)
    ready(page, "load")
    press_to(page, "Path below the root")
    page.keyboard.type(str(tmp_path / "people.csv"))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="people.csv", level=1).wait_for(timeout=LONG)

    step(page, "columns")
    press_to(page, "Role of disease")
    page.keyboard.type("sens")
    page.wait_for_function("document.activeElement.value === 'sensitive'")
    step(page, "negotiate")
    page.wait_for_selector("[data-move]", timeout=LONG)
    press_to(page, "k")
    page.keyboard.press("ArrowRight")
    press_to(page, "Publish this answer")
    page.keyboard.press("Enter")
    ready(page, "publish")
    press_to(page, "Publish", tag="BUTTON")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Published:").wait_for(timeout=LONG)
    expect(page.locator("#main")).to_contain_text("Audit passed", use_inner_text=True)


_NAME = """() => { const e = document.activeElement;
  if (!e || e === document.body) return ["", ""];
  const own = e.labels && e.labels[0] && e.labels[0].innerText;
  const label = e.getAttribute("aria-label") || own || e.innerText || "";
  return [e.tagName, label.trim().replace(/\\s+/g, " ")]; }"""


def press_to(page: Page, name: str, *, tag: str | None = None, most: int = 150) -> None:
    """Press Tab until the named control has the focus, which must be visible."""
    for _ in range(most):
        page.keyboard.press("Tab")
        found, label = page.evaluate(_NAME)
        if (label == name or label.startswith(f"{name} ")) and (tag is None or found == tag):
            assert page.evaluate("document.activeElement.matches(':focus-visible')")
            return
    raise AssertionError(f"Tab does not reach '{name}'")


def step(page: Page, screen: str) -> None:
    """Follow the link of a step with Tab and Enter."""
    for _ in range(300):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('href')") == f"#/{screen}":
            page.keyboard.press("Enter")
            ready(page, screen)
            return
    raise AssertionError(f"Tab does not reach the step '{screen}'")
