"""A criterion defined in one file has a slider, which evaluates the lattice for the criterion."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from discreet.settings import Settings
from discreet.web.server_config import ServerConfig
from tests.extending.registered import toy_criterion
from tests.extending.test_toy_criterion import spec
from tests.web.browser.conftest import OpenPage
from tests.web.running import running

__all__ = ["spec", "toy_criterion"]

pytestmark = pytest.mark.usefixtures("toy_criterion")


def test_a_slider_in_the_browser(open_page: OpenPage, spec: Path, tmp_path: Path, settings: Settings) -> None:
    config = ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec)
    with running(config) as workbench:
        page = open_page(workbench.start_link)
        page.goto(f"{workbench.url}/#/negotiate")
        page.wait_for_selector("[data-move]", timeout=180_000)
        ask = page.get_by_label("Ask for another criterion")
        ask.select_option("homogeneity")
        disease = page.get_by_label("homogeneity of a sensitive value of disease, as a number")
        expect(disease).to_have_value("0.9")
        expect(page.get_by_label("homogeneity of a sensitive value of wage, as a number")).to_have_value(
            "0.9"
        )
        assert "homogeneity" not in ask.locator("option").evaluate_all("all => all.map((each) => each.value)")
        expect_answer(
            page,
            "homogeneity of a sensitive value 0.9 (disease), homogeneity of a sensitive value 0.9 (wage)",
        )

        page.get_by_role("button", name="Ask no more for homogeneity of a sensitive value of wage").click()
        base = page.get_by_label("base of homogeneity of a sensitive value of disease")
        base.select_option("values")
        expect_answer(page, "homogeneity of a sensitive value 0.9 (disease, base values)")
        page.get_by_role("slider", name="homogeneity of a sensitive value of disease").press("Home")
        expect(disease).to_have_value("0.2")
        card = page.locator('.relaxation[data-relaxed="homogeneity"]')
        expect(card).to_contain_text("Raise homogeneity of a sensitive value")
        card.get_by_role("button", name="Apply").click()
        expect(page.locator(".answer-words")).to_contain_text("Exact answer")
        expect(disease).not_to_have_value("0.2")

        page.get_by_role("button", name="Keep for the command line").click()
        page.locator("#toasts").get_by_text("the command line asks the same").wait_for()
        (asked,) = workbench.workspace.document()["request"]["homogeneity"]
        assert (asked["attribute"], asked["base"]) == ("disease", "values")
        page.reload()
        page.wait_for_selector("[data-move]", timeout=180_000)
        expect(disease).not_to_have_value("0.2")
        expect(base).to_have_value("values")
        page.goto(f"{workbench.url}/#/publish")
        page.get_by_label("Model", exact=True).select_option("mondrian")
        expect(page.get_by_label("homogeneity of a sensitive value of disease, as a number")).to_be_visible()
        expect(page.get_by_label("base of homogeneity of a sensitive value of disease")).to_have_value(
            "values"
        )


SLOW_ANSWERS = """
const listen = WebSocket.prototype.addEventListener;
WebSocket.prototype.addEventListener = function (kind, told, ...rest) {
  const later = kind === "message" ? (event) => setTimeout(() => told(event), 1500) : told;
  return listen.call(this, kind, later, ...rest);
};
"""  # each event arrives after the request has settled


def test_a_request_that_settles_before_its_answer_is_no_error(
    open_page: OpenPage, spec: Path, tmp_path: Path, settings: Settings
) -> None:
    config = ServerConfig(workspace=tmp_path / "workspace", settings=settings, spec=spec)
    with running(config) as workbench:
        page = open_page(workbench.start_link)
        page.add_init_script(SLOW_ANSWERS)
        page.goto(f"{workbench.url}/#/negotiate")
        page.reload()
        page.wait_for_selector("[data-move]", timeout=180_000)
        with page.expect_response("**/api/negotiate/requests") as first:
            page.get_by_label("Ask for another criterion").select_option("homogeneity")
        assert first.value.status == 409
        with page.expect_response("**/api/negotiate/requests") as second:
            expect_answer(
                page,
                "homogeneity of a sensitive value 0.9 (disease), homogeneity of a sensitive value 0.9 (wage)",
            )
        assert second.value.ok
        expect(page.locator("#toasts .toast")).to_have_count(0)


def expect_answer(page: Page, requirement: str) -> None:
    """Wait until the answer's text contains the requirement."""
    expect(page.locator(".answer-words")).to_contain_text(requirement)
