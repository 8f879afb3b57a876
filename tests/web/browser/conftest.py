"""Browser tests on a real server: a page fails on errors and on requests to other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, expect, sync_playwright

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.web.running import RunningWorkbench, running

BROWSERS = (Path("/usr/lib/chromium/chromium-headless-shell"), Path("/usr/bin/chromium"))
"""The headless shell of Chromium takes half the processor time per page; the full browser is the fallback."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
expect.set_options(timeout=120_000)  # the machines that run the tests may be busy
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

OpenPage = Callable[..., Page]


class Watched:
    """The problems of one page, recorded as they occur."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("request", self._request)
        page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        refused = "Failed to load resource" in message.text and "status of 4" in message.text
        if message.type == "error" and not refused:
            self.problems.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        parts = urlsplit(request.url)
        if parts.scheme not in ("blob", "data", "about", "file") and parts.hostname != "127.0.0.1":
            self.problems.append(f"leaves the machine: {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 500:
            self.problems.append(f"{response.status} {response.url}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield the system's Chromium."""
    path = next((each for each in BROWSERS if each.exists()), None)
    if path is None:
        pytest.skip("the system package chromium is not installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def workbench(tmp_path: Path, settings: Settings) -> Iterator[RunningWorkbench]:
    """Yield a server on a free port of 127.0.0.1 with a new workspace."""
    config = ServerConfig(workspace=tmp_path / "workspace", settings=settings, root=tmp_path)
    with running(config) as found:
        yield found


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Yield a function that opens an address in a new browser context; the pages may have no problem.

    Keywords are Playwright's (``viewport``, ``color_scheme``, …).
    """
    with ExitStack() as stack:
        watched: list[Watched] = []

        def open_at(address: str, **options: object) -> Page:
            context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **options})
            stack.callback(context.close)
            context.set_default_timeout(120_000)
            page = context.new_page()
            watched.append(Watched(page))
            page.goto(address)
            return page

        yield open_at
        problems = [problem for each in watched for problem in each.problems]
    assert problems == []


@pytest.fixture
def page(open_page: OpenPage, workbench: RunningWorkbench) -> Page:
    """Return a signed-in page of the workbench."""
    return open_page(workbench.start_link)
